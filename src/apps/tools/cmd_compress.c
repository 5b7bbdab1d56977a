// SPDX-License-Identifier: Apache-2.0
// cmd_compress.c: `ingot compress`: a picture as the weights of a small SIREN, a few bits each. The
// network is trained for the picture, its weights are rounded and range coded
// (apps/neural/packed.h), and a compute kernel makes the picture from them. JPEG files of the same
// picture stand beside it in the table: small networks win where JPEG's blocks fall apart, and lose
// above.
#include "base/files.h"
#include "apps/neural/packed.h"
#include "base/chart.h"
#include "apps/tools/implicit.h"
#include "base/outputs.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "compress";
typedef struct Job {
    const char *input, *output, *decoded, *sweep;
    uint64_t bytes, bits, steps, seed;
    double psnr; // 0: bytes decide
    uint32_t width, height;
    MTLDevice *device;
    Image image;
    size_t input_bytes;
    float *positions, *targets;
} Job;

#define AT(FIELD) OPT_AT(Job, FIELD)
static const Option rows[] = {
    {"-o, --output", "FILE", "output file (default: compressed.ingot, or decompressed.png)",
     OPT_TEXT, AT(output)},
    {"--bytes", "N", "maximum size of the file", OPT_WHOLE, AT(bytes), 100, 1 << 24, "3000"},
    {"--psnr", "DB", "instead: the smallest of several sizes with this quality", OPT_REAL, AT(psnr),
     1, 100},
    {"--bits", "N", "bits per weight, 4 to 12 (default: the best of 6 to 10)", OPT_WHOLE, AT(bits),
     NEURAL_PACKED_MIN_BITS, NEURAL_PACKED_MAX_BITS},
    {"--steps", "N", "training steps", OPT_WHOLE, AT(steps), 1, 1 << 24, "3000"},
    {"--seed", "N", "random seed", OPT_WHOLE, AT(seed), 0, 0x1p53, "0"},
    {"--decoded", "FILE", "also write the decompressed image, as PNG", OPT_TEXT, AT(decoded)},
    {"--sweep", "FILE.svg", "train a range of sizes and plot them against JPEG", OPT_TEXT,
     AT(sweep)},
    {"--size", "WxH", "for decompression: image size (default: the original's)", OPT_SIZE,
     OPT_SPAN(Job, width, height), 1, UINT32_MAX},
};
static const CommandLine line = {
    .program = "ingot compress",
    .usage = "IMAGE [-o FILE.ingot] [options]             compress\n"
             "       ingot compress FILE.ingot [-o OUT.png] [--size WxH]  decompress",
    .about = "Fits a small network to an image and stores its quantised weights.",
    OPT_ROWS(rows),
    OPT_WORD(Job, input),
    .column = 23,
};

// A trained network with the file made from it.
typedef struct Result {
    uint32_t hidden, layers;
    size_t n_params;
    unsigned bits;
    unsigned char *data;
    size_t n_bytes;
    double psnr, float_psnr; // of the file; of the network before rounding
} Result;

static const struct {
    uint32_t hidden, layers;
} ladder[] = {{12, 2}, {16, 2}, {16, 3}, {20, 3}, {24, 3}, {28, 3}, {32, 3},  {36, 4},
              {40, 4}, {48, 4}, {56, 5}, {64, 5}, {80, 5}, {96, 5}, {112, 6}, {128, 6}};
enum { N_LADDER = sizeof ladder / sizeof *ladder };

static size_t count_params(uint32_t hidden, uint32_t layers) {
    return (size_t)hidden * 3 + (size_t)layers * hidden * (hidden + 1) + (size_t)(hidden + 1) * 3;
}

static void make_data(Job *job) {
    const Image *image = &job->image;
    const size_t n = (size_t)image->width * image->height;
    job->positions = must_alloc(n * 2, sizeof(float));
    job->targets = must_alloc(n * 3, sizeof(float));
    for (size_t i = 0; i < n; i++) {
        job->positions[2 * i] = ((float)(i % image->width) + 0.5f) / (float)image->width * 2 - 1;
        job->positions[2 * i + 1] =
            ((float)(i / image->width) + 0.5f) / (float)image->height * 2 - 1;
    }
    for (size_t i = 0; i < n * 3; i++) job->targets[i] = image->rgb[i] / 255.0f;
}

static bool train(const Job *job, NeuralNetwork *net, char *message) {
    const size_t n = (size_t)job->image.width * job->image.height;
    const NeuralDataset data = {(uint32_t)n, 2, 3, job->positions, job->targets};
    const NeuralTrainOptions options = {.batch = n < 4096 ? (uint32_t)n : 4096,
                                        .learning_rate = 5e-3f,
                                        .decay_steps = job->steps,
                                        .final_rate = 0.02f,
                                        .warmup_steps = job->steps > 200 ? 50 : 0,
                                        .seed = job->seed};
    NeuralTrainer *trainer = neural_trainer_new(job->device, net, &data, &options, message);
    if (!trainer) return false;
    return train_to_end(trainer, net, job->steps, 32, NULL, message);
}

static bool measure(const Job *job, const NeuralNetwork *net, double *psnr, Image *keep,
                    char *message) {
    Image image;
    NeuralRenderer *r =
        neural_renderer_new(job->device, net, NEURAL_KERNEL_THREAD, NEURAL_FLOAT, message);
    bool ok =
        r && neural_renderer_image(r, &image, job->image.width, job->image.height, 0, message);
    neural_renderer_free(r);
    if (!ok) return false;
    *psnr = image_psnr(image_mse(&image, &job->image));
    if (keep)
        *keep = image;
    else
        image_free(&image);
    return true;
}

// Rounds and codes with so many bits, and looks at the picture that comes back.
static bool pack(const Job *job, const NeuralNetwork *net, unsigned bits, Result *r,
                 char *message) {
    NeuralNetwork back;
    uint32_t w, h;
    r->bits = bits;
    r->data = neural_pack(net, job->image.width, job->image.height, bits, &r->n_bytes, message);
    if (!r->data) return false;
    bool ok = neural_unpack(&back, &w, &h, r->data, r->n_bytes, "packed", message);
    if (!ok) return false;
    ok = measure(job, &back, &r->psnr, NULL, message);
    neural_network_free(&back);
    return ok;
}

// One size, trained, with the number of bits that costs least: fewer bits are taken as long as they
// lose less than a larger network would win back (about 6 dB for four times the bytes).
static bool compress_one(const Job *job, uint32_t hidden, uint32_t layers, Result *best,
                         char *message) {
    NeuralNetwork net;
    *best = (Result){.hidden = hidden, .layers = layers};
    if (!neural_network_init_siren(&net, hidden, layers, job->seed, message)) return false;
    bool ok = train(job, &net, message) && measure(job, &net, &best->float_psnr, NULL, message);
    const unsigned first = job->bits ? (unsigned)job->bits : 6, last = job->bits ? first : 10;
    double best_score = -INFINITY;
    for (unsigned bits = first; ok && bits <= last; bits++) {
        Result r = *best;
        r.data = NULL;
        ok = pack(job, &net, bits, &r, message);
        double score = r.psnr - 3 * log2((double)(r.n_bytes ? r.n_bytes : 1));
        if (ok && score > best_score) {
            best_score = score;
            free(best->data);
            *best = r;
        } else {
            free(r.data);
        }
    }
    best->n_params = net.n_params;
    neural_network_free(&net);
    if (!ok) {
        free(best->data);
        best->data = NULL;
    }
    return ok;
}

static void print_result(const Job *job, const Result *r) {
    printf("network 2-%u-%ux%u-3, %zu parameters of %u bits: %zu bytes, %.3f bits a pixel, psnr "
           "%.2f dB (before rounding %.2f dB)\n",
           r->hidden, r->layers, r->hidden, r->n_params, r->bits, r->n_bytes,
           8.0 * (double)r->n_bytes / ((double)job->image.width * job->image.height), r->psnr,
           r->float_psnr);
    fflush(stdout);
}

// JPEG of the same picture at several qualities.
static bool jpeg_table(const Job *job, ChartCurve *curve, char *message) {
    static const int qualities[] = {1, 3, 5, 8, 10, 15, 20, 30, 50, 75, 90};
    const double n_pixels = (double)job->image.width * job->image.height;
    enum { JPEG_LONGEST = 65500 };
    if (job->image.width > JPEG_LONGEST || job->image.height > JPEG_LONGEST) {
        printf("JPEG has no pictures of this size\n");
        return true;
    }
    for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++) {
        size_t n;
        Image back;
        unsigned char *data = image_encode_jpeg(&job->image, qualities[i], &n, message);
        bool ok = data && image_decode(&back, data, n, "JPEG", message);
        free(data);
        if (!ok) return false;
        double psnr = image_psnr(image_mse(&back, &job->image));
        image_free(&back);
        if (curve) chart_curve_add(curve, (double)n, psnr);
        printf("JPEG quality %-3d %8zu %8.3f %8.2f\n", qualities[i], n, 8 * (double)n / n_pixels,
               psnr);
    }
    return true;
}

static bool print_table(const Job *job, const Result *r, ChartCurve *jpeg, char *message) {
    const double n_pixels = (double)job->image.width * job->image.height;
    printf("\n%-16s %8s %8s %8s\n", "", "bytes", "bits/px", "PSNR dB");
    printf("%-16s %8zu %8.3f %8s\n", "original file", job->input_bytes,
           8 * (double)job->input_bytes / n_pixels, "");
    if (r)
        printf("%-16s %8zu %8.3f %8.2f\n", "this network", r->n_bytes,
               8 * (double)r->n_bytes / n_pixels, r->psnr);
    return jpeg_table(job, jpeg, message);
}

// The size for a number of bytes: the largest whose weights would fit with 8 bits; smaller ones as
// long as the file is too large.
static bool compress_to_bytes(const Job *job, Result *r, char *message) {
    int i = N_LADDER - 1;
    while (i > 0 && count_params(ladder[i].hidden, ladder[i].layers) + 90 > job->bytes) i--;
    for (; i >= 0; i--) {
        if (!compress_one(job, ladder[i].hidden, ladder[i].layers, r, message)) return false;
        print_result(job, r);
        if (r->n_bytes <= job->bytes) return true;
        free(r->data);
        r->data = NULL;
    }
    return message_fail(message, "no network fits %llu bytes", (unsigned long long)job->bytes);
}

static bool compress_to_psnr(const Job *job, Result *r, char *message) {
    for (int i = 0; i < N_LADDER; i++) {
        if (!compress_one(job, ladder[i].hidden, ladder[i].layers, r, message)) return false;
        print_result(job, r);
        if (r->psnr >= job->psnr) return true;
        // Sizes between are not worth their training when much is missing.
        if (job->psnr - r->psnr > 3 && i + 2 < N_LADDER) i++;
        free(r->data);
        r->data = NULL;
    }
    return message_fail(message,
                        "no network of the sizes that are tried reaches %.2f dB; more "
                        "--steps may",
                        job->psnr);
}

static bool sweep(const Job *job, char *message) {
    ChartCurve curves[2] = {{0}};
    bool ok = true;
    for (int i = 0; ok && i < 11; i += 2) {
        Result r;
        ok = compress_one(job, ladder[i].hidden, ladder[i].layers, &r, message);
        if (!ok) break;
        print_result(job, &r);
        chart_curve_add(curves, (double)r.n_bytes, r.psnr);
        free(r.data);
    }
    ok = ok && print_table(job, NULL, curves + 1, message);
    const char *const names[] = {"network", "JPEG"};
    const ChartPanel panel = {
        "Size and fidelity", "bytes", "PSNR (dB)", curves, names, 2, true, false, true};
    ok = ok && (chart_save(job->sweep, chart_curves(&panel, 1)) ||
                message_fail(message, "cannot write '%s': %s", job->sweep, strerror(errno)));
    if (ok) printf("Curves saved to %s\n", job->sweep);
    chart_curve_free(curves), chart_curve_free(curves + 1);
    return ok;
}

static bool compress(Job *job, char *message) {
    Result r = {0};
    NeuralNetwork back = {0};
    Image decoded = {0};
    uint32_t w, h;
    double psnr;
    make_data(job);
    if (job->sweep) return sweep(job, message);
    bool ok =
        job->psnr > 0 ? compress_to_psnr(job, &r, message) : compress_to_bytes(job, &r, message);
    if (ok && !file_write_atomic(job->output, r.data, r.n_bytes, true))
        ok = message_fail(message, "cannot write '%s': %s", job->output, strerror(errno));
    if (ok && job->decoded)
        ok = neural_unpack(&back, &w, &h, r.data, r.n_bytes, job->output, message) &&
             measure(job, &back, &psnr, &decoded, message) &&
             image_save(&decoded, job->decoded, false, message);
    ok = ok && print_table(job, &r, NULL, message);
    if (ok) printf("\nSaved to %s\n", job->output);
    neural_network_free(&back);
    image_free(&decoded);
    free(r.data);
    return ok;
}

static bool decompress(Job *job, const unsigned char *data, size_t n, char *message) {
    NeuralNetwork net;
    Image image = {0};
    uint32_t w, h;
    if (!neural_unpack(&net, &w, &h, data, n, job->input, message)) return false;
    const double aspect = (double)w / h;
    if (job->width) w = job->width, h = job->height;
    NeuralRenderer *r =
        neural_renderer_new(job->device, &net, NEURAL_KERNEL_COOP, NEURAL_FLOAT, message);
    bool ok = r && neural_renderer_image(r, &image, w, h, aspect, message) &&
              image_save(&image, job->output, false, message);
    if (ok)
        printf("%u x %u pixels from %zu bytes in %.3f s, saved to %s\n", w, h, n,
               neural_renderer_seconds(r), job->output);
    neural_renderer_free(r);
    image_free(&image);
    neural_network_free(&net);
    return ok;
}

int cmd_compress(int argc, char **argv) {
    Job job = {0};
    char message[MESSAGE_BYTES] = "";
    bool ok = false;
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.input) return options_wrong(&line, "an image is required (see --help)");
    unsigned char *data = file_read(job.input, &job.input_bytes);
    if (!data) {
        message_fail(message, "Failed to open image at %s: %s", job.input, strerror(errno));
        goto done;
    }
    const bool back = neural_packed_recognised(data, job.input_bytes);
    if (!job.output) job.output = back ? "decompressed.png" : "compressed.ingot";
    const char *const outputs[] = {job.sweep ? NULL : job.output, job.decoded, job.sweep};
    if (!outputs_check(outputs, 3, &job.input, 1, message)) goto done;
    if (!back && !image_decode(&job.image, data, job.input_bytes, job.input, message)) goto done;
    if (!(job.device = open_device(command))) goto done;
    ok = back ? decompress(&job, data, job.input_bytes, message) : compress(&job, message);
done:
    if (!ok && *message) complain(EXIT_INPUT, command, "%s", message);
    free(data);
    free(job.positions), free(job.targets);
    image_free(&job.image);
    mtl_release(job.device);
    return ok ? EXIT_FINE : EXIT_INPUT;
}

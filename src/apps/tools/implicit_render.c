// SPDX-License-Identifier: Apache-2.0
// implicit_render.c: `ingot implicit render`, `eval` and `picture`.
#include "apps/tools/implicit.h"
#include "apps/neural/picture.h"
#include "base/outputs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    const char *command, *weights, *output, *image, *device;
    uint32_t width, height;
    NeuralKernel kernel;
    NeuralPrecision precision;
    enum { AS_FILE, CENTRES, ENDS } coordinates;
    bool fill;
    uint64_t repeat;
    double min_psnr, detail;
} Job;

static void choose_coordinates(const Job *job, NeuralNetwork *net) {
    if (job->coordinates == CENTRES) net->coordinates = NEURAL_PIXEL_CENTRES;
    if (job->coordinates == ENDS)
        net->coordinates = net->model == NEURAL_INSTANT_NGP ? NEURAL_UNIT_ENDS : NEURAL_SIGNED_ENDS;
}

static const char *const kernels[] = {"coop", "thread", NULL};             // NeuralKernel
static const char *const precisions[] = {"float", "half", "bfloat", NULL}; // NeuralPrecision
static const char *const coordinates[] = {"as-file", "centres", "ends", NULL};

#define AT(FIELD) OPT_AT(Job, FIELD)
enum { N_SHARED = 4 };
static const Option shared[N_SHARED] = {
    // of render and eval
    {"--kernel", "KIND",
     "coop: batches of pixels, layers as matmul2d (default);\nthread: one thread per pixel",
     OPT_CHOICE, AT(kernel), .words = kernels},
    {"--precision", "TYPE",
     "precision of matrix products (coop): float (default), half, bfloat;\naccumulation is in "
     "float",
     OPT_CHOICE, AT(precision), .words = precisions},
    {"--coordinates", "KIND",
     "centres: trained on pixel centres; ends: the first and last pixel are\n"
     "the ends of the range; as-file: inferred from the file (default)",
     OPT_CHOICE, AT(coordinates), .words = coordinates},
    DEVICE_ROW(AT(device)),
};

static const Option render_rows[] = {
    {"-o, --output", "FILE", "the image, PNG", OPT_TEXT, AT(output), .initial = "rendered.png"},
    {"--size", "WxH",
     "image size (default: as trained, or 512x512); with another aspect\n"
     "ratio the image is centred with black borders",
     OPT_SIZE, OPT_SPAN(Job, width, height), 1, UINT32_MAX},
    {"--fill", NULL, "stretch it instead", OPT_FLAG, AT(fill)},
    {"--repeat", "N", "render N times and report the fastest", OPT_WHOLE, AT(repeat), 1, 1000, "1"},
};
static const CommandLine render_line = {
    .program = "ingot implicit render",
    .usage = "WEIGHTS.json [options]",
    .about = "Renders a network to a PNG of any size. Reads weights of train_siren and of other\n"
             "trainers: SIREN, instant-ngp, fourier; up to 16 layers of any width.",
    OPT_ROWS(render_rows),
    .shared = shared,
    .n_shared = N_SHARED,
    OPT_WORD(Job, weights),
    .column = 24,
};

static const Option eval_rows[] = {
    {"--image", "FILE", "a PNG or JPEG; the network is rendered at its size", OPT_TEXT, AT(image)},
    {"--min-psnr", "DB", "exit status 1 if a comparison is below this", OPT_REAL, AT(min_psnr),
     -100, 1000},
};
static const CommandLine eval_line = {
    .program = "ingot implicit eval",
    .usage = "WEIGHTS.json [options]",
    .about = "Compares a network with the samples in its file and with an image.",
    OPT_ROWS(eval_rows),
    .shared = shared,
    .n_shared = N_SHARED,
    OPT_WORD(Job, weights),
    .column = 24,
};

static const Option picture_rows[] = {
    {"-o, --output", "FILE", "the image, PNG", OPT_TEXT, AT(output), .initial = "picture.png"},
    {"--size", "WxH", "its size", OPT_SIZE, OPT_SPAN(Job, width, height), 1, UINT32_MAX, "512x512"},
    {"--detail", "X", "0 (smooth) to 2", OPT_REAL, AT(detail), 0, 2, "0.5"},
};
static const CommandLine picture_line = {
    .program = "ingot implicit picture",
    .usage = "[-o FILE.png] [--size WxH] [--detail X]",
    .about = "Draws the landscape of the demos as test image.",
    OPT_ROWS(picture_rows),
};

static const char *kernel_name(NeuralKernel kernel) {
    return kernel == NEURAL_KERNEL_COOP ? "coop" : "thread";
}

static int render(Job *job) {
    int status = EXIT_INPUT;
    char message[MESSAGE_BYTES] = "";
    NeuralWeights w;
    Image image = {0};
    MTLDevice *device = NULL;
    NeuralRenderer *r = NULL;
    if (!neural_weights_load(&w, job->weights, message) ||
        !outputs_check(&job->output, 1, &job->weights, 1, message))
        goto done;
    choose_coordinates(job, &w.net);
    if (w.mode != NEURAL_MODE_IMAGE) {
        message_fail(message, "%s: metadata.mode is sdf (use `ingot implicit sdf`)", job->weights);
        goto done;
    }
    if (!job->width) {
        job->width = w.width ? w.width : 512;
        job->height = w.height ? w.height : 512;
    }
    if (!(device = open_device_named(job->device, job->command))) goto done;
    if (!(r = neural_renderer_new(device, &w.net, job->kernel, job->precision, message))) goto done;
    double best = 0;
    for (uint64_t i = 0; i < job->repeat; i++) {
        image_free(&image);
        if (!neural_renderer_image(r, &image, job->width, job->height,
                                   job->fill ? 0 : (double)w.aspect_ratio, message))
            goto done;
        double s = neural_renderer_seconds(r);
        if (!i || s < best) best = s;
    }
    if (!image_save(&image, job->output, true, message)) goto done;
    printf("Rendered %u x %u in %.3f s (%.2f Mpixel/s, %s kernel)\n", job->width, job->height, best,
           (double)job->width * job->height / best * 1e-6, kernel_name(job->kernel));
    printf("Image saved to %s\n", job->output);
    status = EXIT_FINE;
done:
    if (status && *message) complain(status, job->command, "%s", message);
    neural_renderer_free(r);
    mtl_release(device);
    image_free(&image);
    neural_weights_free(&w);
    return status;
}

int implicit_render(int argc, char **argv) {
    Job job = {.command = "implicit render"};
    int status = options_read(&render_line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.weights) return options_wrong(&render_line, "a weights file is required (see --help)");
    return render(&job);
}

// Prints a comparison; false if it is below what was asked for.
static bool report(const Job *job, const char *what, double mse, double worst) {
    printf("%s  mse %.6f  psnr %.2f dB  largest error %.4f\n", what, mse, image_psnr(mse), worst);
    return image_psnr(mse) >= job->min_psnr;
}

static bool eval_samples(const Job *job, NeuralRenderer *r, const NeuralWeights *w, bool *good,
                         char *message) {
    const uint32_t d = w->net.n_coordinates, c = w->net.layers[w->net.n_layers - 1].n_out;
    float *in = must_alloc((size_t)w->n_samples * d, sizeof *in);
    float *out = must_alloc((size_t)w->n_samples * c, sizeof *out);
    for (uint32_t i = 0; i < w->n_samples; i++)
        memcpy(in + (size_t)i * d, w->samples[i].position, d * sizeof *in);
    bool ok = neural_renderer_points(r, in, w->n_samples, out, message);
    double sum = 0, worst = 0;
    for (uint32_t i = 0; ok && i < w->n_samples; i++)
        for (uint32_t k = 0; k < c; k++) {
            double e = (double)out[(size_t)i * c + k] - (double)w->samples[i].value[k];
            sum += e * e;
            worst = fmax(worst, fabs(e));
        }
    free(in);
    free(out);
    char what[64];
    snprintf(what, sizeof what, "samples %u", w->n_samples);
    if (ok) *good &= report(job, what, sum / ((double)w->n_samples * c), worst);
    return ok;
}

static bool eval_image(const Job *job, NeuralRenderer *r, const Image *target, bool *good,
                       char *message) {
    Image image;
    if (!neural_renderer_image(r, &image, target->width, target->height, 0, message)) return false;
    int worst = 0;
    for (size_t i = 0; i < (size_t)image.width * image.height * 3; i++)
        worst =
            abs(image.rgb[i] - target->rgb[i]) > worst ? abs(image.rgb[i] - target->rgb[i]) : worst;
    char what[64];
    snprintf(what, sizeof what, "image %u x %u", image.width, image.height);
    *good &= report(job, what, image_mse(&image, target), worst / 255.0);
    image_free(&image);
    return true;
}

static int eval(const Job *job) {
    int status = EXIT_INPUT;
    char message[MESSAGE_BYTES] = "";
    NeuralWeights w;
    Image target = {0};
    MTLDevice *device = NULL;
    NeuralRenderer *r = NULL;
    bool good = true;
    if (!neural_weights_load(&w, job->weights, message)) goto done;
    choose_coordinates(job, &w.net);
    if (job->image && !image_load(&target, job->image, message)) goto done;
    if (!w.n_samples && !job->image) {
        message_fail(message, "%s: no samples, and no --image was given", job->weights);
        goto done;
    }
    static const char *const models[] = {"siren", "instant-ngp", "fourier"};
    printf("%s: %s, %u layers, %zu parameters", job->weights, models[w.net.model], w.net.n_layers,
           w.net.n_params);
    if (w.net.grid.table)
        printf(" and a hash table of %u x %u x %u", w.net.grid.n_levels, 1u << w.net.grid.log2_size,
               w.net.grid.n_features);
    putchar('\n');
    if (!(device = open_device_named(job->device, job->command))) goto done;
    if (!(r = neural_renderer_new(device, &w.net, job->kernel, job->precision, message))) goto done;
    if (w.n_samples && !eval_samples(job, r, &w, &good, message)) goto done;
    if (job->image && !eval_image(job, r, &target, &good, message)) goto done;
    status = good ? EXIT_FINE : EXIT_INPUT;
    if (!good) message_fail(message, "below --min-psnr %g", job->min_psnr);
done:
    if (status && *message) complain(status, job->command, "%s", message);
    neural_renderer_free(r);
    mtl_release(device);
    image_free(&target);
    neural_weights_free(&w);
    return status;
}

int implicit_eval(int argc, char **argv) {
    Job job = {.command = "implicit eval", .min_psnr = -INFINITY};
    int status = options_read(&eval_line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.weights) return options_wrong(&eval_line, "a weights file is required (see --help)");
    return eval(&job);
}

int implicit_picture(int argc, char **argv) {
    Job job = {.command = "implicit picture"};
    char message[MESSAGE_BYTES];
    int status = options_read(&picture_line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    Image image;
    bool ok = output_check(job.output, message) &&
              neural_picture_make(&image, job.width, job.height, job.detail, message);
    if (!ok) return complain(EXIT_INPUT, job.command, "%s", message);
    ok = image_save(&image, job.output, false, message);
    image_free(&image);
    if (!ok) return complain(EXIT_INPUT, job.command, "%s", message);
    printf("Image of %u x %u saved to %s\n", job.width, job.height, job.output);
    return EXIT_FINE;
}

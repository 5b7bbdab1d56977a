// SPDX-License-Identifier: Apache-2.0
// implicit_render.c: `ingot implicit render`, `eval` and `picture`.
#include "tools/implicit.h"
#include "neural/picture.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char render_usage[] =
    "usage: ingot implicit render WEIGHTS.json [options]\n"
    "\n"
    "Computes the picture a network stands for, at any size, and writes it as PNG. Reads files of\n"
    "train_siren and of other trainers: SIREN, instant-ngp, fourier; up to 16 layers of any "
    "width.\n"
    "\n"
    "  -o, --output FILE     the picture (default: rendered.png)\n"
    "  --size WxH            its size (default: what it was trained on, or 512x512); a picture of\n"
    "                        another shape stands in the middle, with black around it\n"
    "  --fill                stretch it over the whole size instead\n"
    "  --kernel KIND         coop: batches of pixels, layers as matmul2d (default);\n"
    "                        thread: one pixel a thread\n"
    "  --precision TYPE      of the products of the coop kernel: float (default), half, bfloat;\n"
    "                        sums are float\n"
    "  --coordinates KIND    centres: the network saw the centres of pixels; ends: the first and\n"
    "                        the last pixel were the ends (default: what the file tells)\n"
    "  --repeat N            render N times and report the fastest\n";

static const char eval_usage[] =
    "usage: ingot implicit eval WEIGHTS.json [options]\n"
    "\n"
    "Compares a network with the samples in its file and with a picture.\n"
    "\n"
    "  --image FILE          a PNG or JPEG; the network is rendered at its size\n"
    "  --kernel KIND         coop or thread, as for render\n"
    "  --precision TYPE      float, half or bfloat, as for render\n"
    "  --coordinates KIND    centres or ends, as for render\n"
    "  --min-psnr DB         exit status 1 if a comparison is below this\n";

static const char picture_usage[] =
    "usage: ingot implicit picture [-o FILE.png] [--size WxH] [--detail X]\n"
    "\n"
    "Paints a landscape (the one of the demos) to try networks on: default picture.png, 512x512,\n"
    "detail 0.5 of 0 (smooth) to 2.\n";

typedef struct Job {
    const char *command, *weights, *output, *image;
    uint32_t width, height;
    NeuralKernel kernel;
    NeuralPrecision precision;
    const char *coordinates;
    bool fill;
    uint64_t repeat;
    double min_psnr;
} Job;

static bool choose_coordinates(const Job *job, NeuralNetwork *net) {
    if (!job->coordinates) return true;
    if (!strcmp(job->coordinates, "centres"))
        net->coordinates = NEURAL_PIXEL_CENTRES;
    else if (!strcmp(job->coordinates, "ends"))
        net->coordinates = net->model == NEURAL_INSTANT_NGP ? NEURAL_UNIT_ENDS : NEURAL_SIGNED_ENDS;
    else
        return complain(0, job->command, "--coordinates is centres or ends, not '%s'",
                        job->coordinates);
    return true;
}

// Options that render and eval share. True if the argument was one.
static bool common_option(Job *job, Args *a, int *status) {
    char *v;
    if ((v = args_value(a, "--kernel"))) {
        if (!parse_kernel(v, &job->kernel))
            *status = complain(EXIT_USAGE, job->command, "--kernel is coop or thread, not '%s'", v);
    } else if ((v = args_value(a, "--precision"))) {
        if (!parse_precision(v, &job->precision))
            *status = complain(EXIT_USAGE, job->command,
                               "--precision is float, half or bfloat, not '%s'", v);
    } else if ((v = args_value(a, "--coordinates"))) {
        job->coordinates = v;
        if (strcmp(v, "centres") && strcmp(v, "ends"))
            *status =
                complain(EXIT_USAGE, job->command, "--coordinates is centres or ends, not '%s'", v);
    } else if (!args_is_option(a) && !job->weights) {
        job->weights = args_here(a);
    } else {
        return false;
    }
    return true;
}

static const char *kernel_name(NeuralKernel kernel) {
    return kernel == NEURAL_KERNEL_COOP ? "coop" : "thread";
}

static int render(Job *job) {
    int status = EXIT_INPUT;
    char message[NEURAL_ERROR_BYTES] = "";
    NeuralWeights w;
    NeuralImage image = {0};
    MTLDevice *device = NULL;
    NeuralRenderer *r = NULL;
    if (!neural_weights_load(&w, job->weights, message) ||
        !neural_outputs_check(&job->output, 1, &job->weights, 1, message))
        goto done;
    if (!choose_coordinates(job, &w.net)) goto done;
    if (w.mode != NEURAL_MODE_IMAGE) {
        neural_fail(message, "%s: metadata.mode: is sdf (`ingot implicit sdf` draws those)",
                    job->weights);
        goto done;
    }
    if (!job->width) {
        job->width = w.width ? w.width : 512;
        job->height = w.height ? w.height : 512;
    }
    if (!(device = open_device(job->command))) goto done;
    if (!(r = neural_renderer_new(device, &w.net, job->kernel, job->precision, message))) goto done;
    double best = 0;
    for (uint64_t i = 0; i < job->repeat; ++i) {
        neural_image_free(&image);
        if (!neural_renderer_image(r, &image, job->width, job->height,
                                   job->fill ? 0 : (double)w.aspect_ratio, message))
            goto done;
        double s = neural_renderer_seconds(r);
        if (!i || s < best) best = s;
    }
    if (!neural_image_save(&image, job->output, true, message)) goto done;
    printf("Rendered %u x %u in %.3f s (%.2f Mpixel/s, %s kernel)\n", job->width, job->height, best,
           (double)job->width * job->height / best * 1e-6, kernel_name(job->kernel));
    printf("Picture saved to %s\n", job->output);
    status = EXIT_FINE;
done:
    if (status && *message) complain(status, job->command, "%s", message);
    neural_renderer_free(r);
    mtl_release(device);
    neural_image_free(&image);
    neural_weights_free(&w);
    return status;
}

int implicit_render(int argc, char **argv) {
    Job job = {.command = "implicit render", .output = "rendered.png", .repeat = 1};
    Args a = {argc, 0, argv, NULL};
    int status = EXIT_FINE;
    char *v;
    while (!status && args_next(&a)) {
        if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(render_usage, stdout);
            return EXIT_FINE;
        } else if ((v = args_value(&a, "-o")) || (v = args_value(&a, "--output"))) {
            job.output = v;
        } else if ((v = args_value(&a, "--size"))) {
            if (!parse_picture_size(v, &job.width, &job.height))
                status = complain(EXIT_USAGE, job.command, "--size is WxH, not '%s'", v);
        } else if ((v = args_value(&a, "--repeat"))) {
            if (!parse_whole(job.command, "--repeat", v, 1, 1000, &job.repeat)) status = EXIT_USAGE;
        } else if (args_flag(&a, "--fill")) {
            job.fill = true;
        } else if (!common_option(&job, &a, &status)) {
            status = args_unknown(&a, job.command);
        }
    }
    if (a.missing && !status) status = args_unknown(&a, job.command);
    if (status) return status;
    if (!job.weights) return complain(EXIT_USAGE, job.command, "which weights file? (see --help)");
    return render(&job);
}

// Prints a comparison; false if it is below what was asked for.
static bool report(const Job *job, const char *what, double mse, double worst) {
    printf("%s  mse %.6f  psnr %.2f dB  largest error %.4f\n", what, mse, neural_psnr(mse), worst);
    return neural_psnr(mse) >= job->min_psnr;
}

static bool eval_samples(const Job *job, NeuralRenderer *r, const NeuralWeights *w, bool *good,
                         char *message) {
    const uint32_t d = w->net.n_coordinates, c = w->net.layers[w->net.n_layers - 1].n_out;
    float *in = must_alloc((size_t)w->n_samples * d, sizeof *in);
    float *out = must_alloc((size_t)w->n_samples * c, sizeof *out);
    for (uint32_t i = 0; i < w->n_samples; ++i)
        memcpy(in + (size_t)i * d, w->samples[i].position, d * sizeof *in);
    bool ok = neural_renderer_points(r, in, w->n_samples, out, message);
    double sum = 0, worst = 0;
    for (uint32_t i = 0; ok && i < w->n_samples; ++i)
        for (uint32_t k = 0; k < c; ++k) {
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

static bool eval_image(const Job *job, NeuralRenderer *r, const NeuralImage *target, bool *good,
                       char *message) {
    NeuralImage image;
    if (!neural_renderer_image(r, &image, target->width, target->height, 0, message)) return false;
    int worst = 0;
    for (size_t i = 0; i < (size_t)image.width * image.height * 3; ++i)
        worst =
            abs(image.rgb[i] - target->rgb[i]) > worst ? abs(image.rgb[i] - target->rgb[i]) : worst;
    char what[64];
    snprintf(what, sizeof what, "image %u x %u", image.width, image.height);
    *good &= report(job, what, neural_image_mse(&image, target), worst / 255.0);
    neural_image_free(&image);
    return true;
}

static int eval(const Job *job) {
    int status = EXIT_INPUT;
    char message[NEURAL_ERROR_BYTES] = "";
    NeuralWeights w;
    NeuralImage target = {0};
    MTLDevice *device = NULL;
    NeuralRenderer *r = NULL;
    bool good = true;
    if (!neural_weights_load(&w, job->weights, message)) goto done;
    if (!choose_coordinates(job, &w.net)) goto done;
    if (job->image && !neural_image_load(&target, job->image, message)) goto done;
    if (!w.n_samples && !job->image) {
        neural_fail(message, "%s: samples: there are none, and no --image was given", job->weights);
        goto done;
    }
    static const char *const models[] = {"siren", "instant-ngp", "fourier"};
    printf("%s: %s, %u layers, %zu parameters", job->weights, models[w.net.model], w.net.n_layers,
           w.net.n_params);
    if (w.net.grid.table)
        printf(" and a hash table of %u x %u x %u", w.net.grid.n_levels, 1u << w.net.grid.log2_size,
               w.net.grid.n_features);
    putchar('\n');
    if (!(device = open_device(job->command))) goto done;
    if (!(r = neural_renderer_new(device, &w.net, job->kernel, job->precision, message))) goto done;
    if (w.n_samples && !eval_samples(job, r, &w, &good, message)) goto done;
    if (job->image && !eval_image(job, r, &target, &good, message)) goto done;
    status = good ? EXIT_FINE : EXIT_INPUT;
    if (!good) neural_fail(message, "below --min-psnr %g", job->min_psnr);
done:
    if (status && *message) complain(status, job->command, "%s", message);
    neural_renderer_free(r);
    mtl_release(device);
    neural_image_free(&target);
    neural_weights_free(&w);
    return status;
}

int implicit_eval(int argc, char **argv) {
    Job job = {.command = "implicit eval", .min_psnr = -INFINITY};
    Args a = {argc, 0, argv, NULL};
    int status = EXIT_FINE;
    char *v;
    while (!status && args_next(&a)) {
        if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(eval_usage, stdout);
            return EXIT_FINE;
        } else if ((v = args_value(&a, "--image"))) {
            job.image = v;
        } else if ((v = args_value(&a, "--min-psnr"))) {
            if (!parse_real(job.command, "--min-psnr", v, -100, 1000, &job.min_psnr))
                status = EXIT_USAGE;
        } else if (!common_option(&job, &a, &status)) {
            status = args_unknown(&a, job.command);
        }
    }
    if (a.missing && !status) status = args_unknown(&a, job.command);
    if (status) return status;
    if (!job.weights) return complain(EXIT_USAGE, job.command, "which weights file? (see --help)");
    return eval(&job);
}

int implicit_picture(int argc, char **argv) {
    const char *command = "implicit picture", *output = "picture.png";
    uint32_t width = 512, height = 512;
    double detail = 0.5;
    Args a = {argc, 0, argv, NULL};
    char *v, message[NEURAL_ERROR_BYTES];
    while (args_next(&a)) {
        if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(picture_usage, stdout);
            return EXIT_FINE;
        } else if ((v = args_value(&a, "-o")) || (v = args_value(&a, "--output"))) {
            output = v;
        } else if ((v = args_value(&a, "--size"))) {
            if (!parse_picture_size(v, &width, &height))
                return complain(EXIT_USAGE, command, "--size is WxH, not '%s'", v);
        } else if ((v = args_value(&a, "--detail"))) {
            if (!parse_real(command, "--detail", v, 0, 2, &detail)) return EXIT_USAGE;
        } else {
            return args_unknown(&a, command);
        }
    }
    if (a.missing) return args_unknown(&a, command);
    NeuralImage image;
    bool ok = neural_output_check(output, message) &&
              neural_picture_make(&image, width, height, detail, message);
    if (!ok) return complain(EXIT_INPUT, command, "%s", message);
    ok = neural_image_save(&image, output, false, message);
    neural_image_free(&image);
    if (!ok) return complain(EXIT_INPUT, command, "%s", message);
    printf("Picture of %u x %u saved to %s\n", width, height, output);
    return EXIT_FINE;
}

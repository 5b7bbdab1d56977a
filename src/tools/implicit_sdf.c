// SPDX-License-Identifier: Apache-2.0
// implicit_sdf.c: `ingot implicit sdf`: a network that knows how far it is to a shape: learnt from
// a formula or from a silhouette, and drawn: lines of equal distance in the plane, sphere tracing
// in space.
#include "base/progress.h"
#include "neural/sdf.h"
#include "neural/train.h"
#include "tools/implicit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "implicit sdf";
static const char usage[] =
    "usage: ingot implicit sdf --shape NAME | --image FILE [options]   train and draw\n"
    "       ingot implicit sdf WEIGHTS.json [-o FILE.png] [--size WxH]  draw\n"
    "\n"
    "A network that computes the signed distance to a shape (negative inside).\n"
    "\n"
    "  --shape NAME          star, ring; in space: torus, box\n"
    "  --image FILE          the dark silhouette of a picture (--light: the light one)\n"
    "  --threshold F         what is dark, 0 to 1 (default: 0.5)\n"
    "  -w, --weights FILE    where to write the network (default: sdf.json)\n"
    "  -o, --output FILE     the picture (default: sdf.png)\n"
    "  --size WxH            its size (default: 512x512)\n"
    "  --steps N             training steps (default: 1500)\n"
    "  --hidden N, --layers N  neurons and hidden layers (default: 64, 3)\n"
    "  --seed N              (default: 0)\n";

typedef struct Job {
    const char *file, *image, *weights, *output;
    const NeuralShape *shape;
    uint32_t width, height;
    uint64_t steps, hidden, layers, seed;
    double threshold;
    bool light;
    NeuralWeights w;
    MTLDevice *device;
} Job;

enum { N_POINTS = 1 << 17 };

// Half of the points anywhere, half moved close to the surface, where precision matters.
static void shape_points(const Job *job, float *p, float *d) {
    NeuralRandom r;
    const uint32_t n = job->shape->n_coordinates;
    neural_random_init(&r, job->seed, 30);
    for (size_t i = 0; i < N_POINTS; ++i) {
        double q[3] = {0};
        for (uint32_t k = 0; k < n; ++k) q[k] = (double)neural_random_uniform(&r, -1, 1);
        for (int again = 0; i % 2 && again < 3; ++again) {
            double here = job->shape->distance(q), g[3], norm = 0;
            for (uint32_t k = 0; k < n; ++k) {
                double was = q[k];
                q[k] += 1e-4;
                g[k] = (job->shape->distance(q) - here) / 1e-4;
                q[k] = was;
                norm += g[k] * g[k];
            }
            double wanted = again < 2 ? 0 : (double)neural_random_uniform(&r, -0.05f, 0.05f);
            for (uint32_t k = 0; k < n; ++k)
                q[k] = fmax(-1, fmin(1, q[k] - g[k] * (here - wanted) / fmax(norm, 1e-3)));
        }
        for (uint32_t k = 0; k < n; ++k) p[i * n + k] = (float)q[k];
        d[i] = (float)job->shape->distance(q);
    }
}

static bool image_points(const Job *job, float **p, float **d, size_t *n, char *message) {
    NeuralImage image;
    if (!neural_image_load(&image, job->image, message)) return false;
    const size_t w = image.width, h = image.height, longer = w > h ? w : h;
    *n = w * h;
    *d = neural_silhouette(&image, job->threshold, !job->light, message);
    neural_image_free(&image);
    if (!*d) return false;
    *p = must_alloc(*n * 2, sizeof **p);
    for (size_t i = 0; i < *n; ++i) {
        (*p)[2 * i] = (float)((2 * ((double)(i % w) + 0.5) - (double)w) / (double)longer);
        (*p)[2 * i + 1] = (float)((2 * ((double)(i / w) + 0.5) - (double)h) / (double)longer);
    }
    return true;
}

static bool init_network(Job *job, uint32_t n_in, char *message) {
    NeuralNetwork *net = &job->w.net;
    uint32_t sizes[NEURAL_MAX_LAYERS + 1] = {n_in};
    for (uint64_t i = 0; i <= job->layers; ++i) sizes[i + 1] = (uint32_t)job->hidden;
    sizes[job->layers + 2] = 1;
    if (!neural_network_init(net, (uint32_t)job->layers + 2, sizes, NEURAL_SINE, NEURAL_LINEAR,
                             message))
        return false;
    net->layers[0].omega = 20; // distances have no fine texture
    NeuralRandom r;
    neural_random_init(&r, job->seed, 31);
    for (uint32_t i = 0; i < net->n_layers; ++i) {
        const NeuralLayer *l = net->layers + i;
        const bool last = i + 1 == net->n_layers;
        const float bound =
            i ? sqrtf((last ? 0.5f : 6.0f) / (float)l->n_in) : 1.0f / (float)l->n_in;
        for (size_t k = 0; k < (size_t)l->n_in * l->n_out; ++k)
            l->weights[k] = neural_random_uniform(&r, -bound, bound);
        for (uint32_t k = 0; !last && k < l->n_out; ++k)
            l->biases[k] = neural_random_uniform(&r, -bound, bound);
    }
    return true;
}

static bool train(Job *job, char *message) {
    float *p = NULL, *d = NULL;
    size_t n = N_POINTS;
    uint32_t n_in = job->shape ? job->shape->n_coordinates : 2;
    NeuralTrainer *t = NULL;
    bool ok = true;
    if (job->shape) {
        p = must_alloc(n * n_in, sizeof *p);
        d = must_alloc(n, sizeof *d);
        shape_points(job, p, d);
    } else {
        ok = image_points(job, &p, &d, &n, message);
    }
    ok = ok && init_network(job, n_in, message);
    const NeuralDataset data = {(uint32_t)n, n_in, 1, p, d};
    const NeuralTrainOptions options = {.batch = 2048,
                                        .learning_rate = 2e-3f,
                                        .decay_steps = job->steps,
                                        .final_rate = 0.02f,
                                        .seed = job->seed};
    if (ok) ok = (t = neural_trainer_new(job->device, &job->w.net, &data, &options, message));
    Progress progress;
    progress_begin(&progress, "training", job->steps);
    for (uint64_t done = 0; ok && done < job->steps;) {
        uint32_t now = job->steps - done < 16 ? (uint32_t)(job->steps - done) : 16;
        ok = neural_trainer_step(t, now, NULL, message);
        done += now;
        progress_step(&progress, done, NULL);
    }
    progress_end(&progress);
    NeuralEvaluation e;
    ok = ok && neural_trainer_evaluate(t, &e, NULL, NULL, message);
    if (ok) {
        neural_trainer_get_network(t, &job->w.net);
        neural_weights_add_samples(&job->w, p, d, n, 256, 1337);
        job->w.mode = NEURAL_MODE_SDF;
        job->w.sdf_resolution = job->width > job->height ? job->width : job->height;
        printf("%llu steps, %zu parameters: root mean square error of the distance %.5f\n",
               (unsigned long long)job->steps, job->w.net.n_params, sqrt(e.mse));
        ok = neural_weights_save(&job->w, job->weights, message);
        if (ok) printf("Weights saved to %s\n", job->weights);
    }
    neural_trainer_free(t);
    free(p), free(d);
    return ok;
}

static bool draw(Job *job, char *message) {
    NeuralImage image = {0};
    NeuralRenderer *r =
        neural_renderer_new(job->device, &job->w.net, NEURAL_KERNEL_THREAD, NEURAL_FLOAT, message);
    bool ok = r && (job->w.net.n_coordinates == 3
                        ? neural_sdf_trace(r, &image, job->width, job->height, message)
                        : neural_sdf_draw(r, &image, job->width, job->height, message));
    ok = ok && neural_image_save(&image, job->output, false, message);
    if (ok) printf("Picture saved to %s\n", job->output);
    neural_image_free(&image);
    neural_renderer_free(r);
    return ok;
}

static int parse(Job *job, int argc, char **argv, bool *done) {
    Args a = {argc, 0, argv, NULL};
    bool ok = true;
    char *v;
    while (ok && args_next(&a)) {
        if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(usage, stdout);
            *done = true;
            return EXIT_FINE;
        } else if ((v = args_value(&a, "-o")) || (v = args_value(&a, "--output"))) {
            job->output = v;
        } else if ((v = args_value(&a, "-w")) || (v = args_value(&a, "--weights"))) {
            job->weights = v;
        } else if ((v = args_value(&a, "--image"))) {
            job->image = v;
        } else if ((v = args_value(&a, "--shape"))) {
            job->shape = neural_shape(v);
            if (!job->shape)
                ok = !complain(EXIT_USAGE, command, "--shape is star, ring, torus or box, not '%s'",
                               v);
        } else if ((v = args_value(&a, "--size"))) {
            if (!parse_picture_size(v, &job->width, &job->height))
                ok = !complain(EXIT_USAGE, command, "--size is WxH, not '%s'", v);
        } else if ((v = args_value(&a, "--steps"))) {
            ok = parse_whole(command, "--steps", v, 1, 1u << 24, &job->steps);
        } else if ((v = args_value(&a, "--hidden"))) {
            ok = parse_whole(command, "--hidden", v, 1, NEURAL_MAX_WIDTH, &job->hidden);
        } else if ((v = args_value(&a, "--layers"))) {
            ok = parse_whole(command, "--layers", v, 0, NEURAL_MAX_FILE_LAYERS - 2, &job->layers);
        } else if ((v = args_value(&a, "--seed"))) {
            ok = parse_whole(command, "--seed", v, 0, (uint64_t)1 << 53, &job->seed);
        } else if ((v = args_value(&a, "--threshold"))) {
            ok = parse_real(command, "--threshold", v, 0, 1, &job->threshold);
        } else if (args_flag(&a, "--light")) {
            job->light = true;
        } else if (!args_is_option(&a) && !job->file) {
            job->file = args_here(&a);
        } else {
            return args_unknown(&a, command);
        }
    }
    if (!ok) return EXIT_USAGE;
    if (a.missing) return args_unknown(&a, command);
    if (!job->file + !job->shape + !job->image != 2)
        return complain(EXIT_USAGE, command,
                        "one of --shape, --image and a weights file (see --help)");
    return EXIT_FINE;
}

int implicit_sdf(int argc, char **argv) {
    Job job = {.weights = "sdf.json",
               .output = "sdf.png",
               .width = 512,
               .height = 512,
               .steps = 1500,
               .hidden = 64,
               .layers = 3,
               .threshold = 0.5};
    char message[NEURAL_ERROR_BYTES] = "";
    bool done = false;
    int status = parse(&job, argc, argv, &done);
    if (status || done) return status;
    const char *const outputs[] = {job.output, job.file ? NULL : job.weights};
    const char *const inputs[] = {job.file, job.image};
    bool ok = neural_outputs_check(outputs, 2, inputs, 2, message);
    if (ok && job.file) {
        ok = neural_weights_load(&job.w, job.file, message);
        if (ok && job.w.mode != NEURAL_MODE_SDF)
            ok = neural_fail(message, "%s: metadata.mode: is not sdf", job.file);
    }
    if (ok && !(job.device = open_device(command))) ok = false;
    ok = ok && (job.file || train(&job, message)) && draw(&job, message);
    if (!ok && *message) complain(EXIT_INPUT, command, "%s", message);
    neural_weights_free(&job.w);
    mtl_release(job.device);
    return ok ? EXIT_FINE : EXIT_INPUT;
}

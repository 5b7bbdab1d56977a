// SPDX-License-Identifier: Apache-2.0
// implicit_sdf.c: `ingot implicit sdf`: a network that knows how far it is to a shape: learnt from
// a formula or from a silhouette, and drawn: lines of equal distance in the plane, sphere tracing
// in space.
#include "apps/neural/sdf.h"
#include "apps/tools/implicit.h"
#include "base/outputs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "implicit sdf";
typedef struct Job {
    const char *file, *image, *weights, *output, *wanted;
    const NeuralShape *shape;
    uint32_t width, height;
    uint64_t steps, hidden, layers, seed;
    double threshold;
    bool light;
    NeuralWeights w;
    MTLDevice *device;
} Job;

static int take_shape(const CommandLine *line, const Option *row, void *options, char *value) {
    Job *job = options;
    (void)row;
    job->shape = neural_shape(value);
    return job->shape ? EXIT_FINE
                      : options_wrong(line, "--shape is star, ring, torus or box, not '%s'", value);
}

#define AT(FIELD) OPT_AT(Job, FIELD)
static const Option rows[] = {
    {"--shape", "NAME", "star, ring; in 3D: torus, box", OPT_CALL, .take = take_shape},
    {"--image", "FILE", "the dark silhouette of an image", OPT_TEXT, AT(image)},
    {"--light", NULL, "the light silhouette instead", OPT_FLAG, AT(light)},
    {"--threshold", "F", "threshold between dark and light, 0 to 1", OPT_REAL, AT(threshold), 0, 1,
     "0.5"},
    {"-w, --weights", "FILE", "weights file to write, JSON", OPT_TEXT, AT(weights),
     .initial = "sdf.json"},
    {"-o, --output", "FILE", "the image, PNG", OPT_TEXT, AT(output), .initial = "sdf.png"},
    {"--size", "WxH", "image size", OPT_SIZE, OPT_SPAN(Job, width, height), 1, UINT32_MAX,
     "512x512"},
    {"--steps", "N", "training steps", OPT_WHOLE, AT(steps), 1, 1 << 24, "1500"},
    {"--hidden", "N", "neurons per hidden layer", OPT_WHOLE, AT(hidden), 1, NEURAL_MAX_WIDTH, "64"},
    {"--layers", "N", "hidden layers", OPT_WHOLE, AT(layers), 0, NEURAL_MAX_FILE_LAYERS - 2, "3"},
    {"--seed", "N", "random seed", OPT_WHOLE, AT(seed), 0, 0x1p53, "0"},
    DEVICE_ROW(AT(wanted)),
};
static const CommandLine line = {
    .program = "ingot implicit sdf",
    .usage = "--shape NAME | --image FILE [options]   train and render\n"
             "       ingot implicit sdf WEIGHTS.json [-o FILE.png] [--size WxH]  render",
    .about = "Fits a network to the signed distance to a shape (negative inside), and renders it.",
    OPT_ROWS(rows),
    OPT_WORD(Job, file),
    .column = 24,
};

enum { N_POINTS = 1 << 17 };

// Half of the points anywhere, half moved close to the surface, where precision matters.
static void shape_points(const Job *job, float *p, float *d) {
    NeuralRandom r;
    const uint32_t n = job->shape->n_coordinates;
    neural_random_init(&r, job->seed, 30);
    for (size_t i = 0; i < N_POINTS; i++) {
        double q[3] = {0};
        for (uint32_t k = 0; k < n; k++) q[k] = (double)neural_random_uniform(&r, -1, 1);
        for (int again = 0; i % 2 && again < 3; again++) {
            double here = job->shape->distance(q), g[3], norm = 0;
            for (uint32_t k = 0; k < n; k++) {
                double was = q[k];
                q[k] += 1e-4;
                g[k] = (job->shape->distance(q) - here) / 1e-4;
                q[k] = was;
                norm += g[k] * g[k];
            }
            double wanted = again < 2 ? 0 : (double)neural_random_uniform(&r, -0.05f, 0.05f);
            for (uint32_t k = 0; k < n; k++)
                q[k] = fmax(-1, fmin(1, q[k] - g[k] * (here - wanted) / fmax(norm, 1e-3)));
        }
        for (uint32_t k = 0; k < n; k++) p[i * n + k] = (float)q[k];
        d[i] = (float)job->shape->distance(q);
    }
}

static bool image_points(const Job *job, float **p, float **d, size_t *n, char *message) {
    Image image;
    if (!image_load(&image, job->image, message)) return false;
    const size_t w = image.width, h = image.height, longer = w > h ? w : h;
    *n = w * h;
    *d = neural_silhouette(&image, job->threshold, !job->light, message);
    image_free(&image);
    if (!*d) return false;
    *p = must_alloc(*n * 2, sizeof **p);
    for (size_t i = 0; i < *n; i++) {
        (*p)[2 * i] = (float)((2 * ((double)(i % w) + 0.5) - (double)w) / (double)longer);
        (*p)[2 * i + 1] = (float)((2 * ((double)(i / w) + 0.5) - (double)h) / (double)longer);
    }
    return true;
}

static bool init_network(Job *job, uint32_t n_in, char *message) {
    NeuralNetwork *net = &job->w.net;
    uint32_t sizes[NEURAL_MAX_LAYERS + 1] = {n_in};
    for (uint64_t i = 0; i <= job->layers; i++) sizes[i + 1] = (uint32_t)job->hidden;
    sizes[job->layers + 2] = 1;
    if (!neural_network_init(net, (uint32_t)job->layers + 2, sizes, NEURAL_SINE, NEURAL_LINEAR,
                             message))
        return false;
    net->layers[0].omega = 20; // distances have no fine texture
    NeuralRandom r;
    neural_random_init(&r, job->seed, 31);
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        const bool last = i + 1 == net->n_layers;
        const float bound =
            i ? sqrtf((last ? 0.5f : 6.0f) / (float)l->n_in) : 1.0f / (float)l->n_in;
        for (size_t k = 0; k < (size_t)l->n_in * l->n_out; k++)
            l->weights[k] = neural_random_uniform(&r, -bound, bound);
        for (uint32_t k = 0; !last && k < l->n_out; k++)
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
    ok = ok && train_steps(t, job->steps, 16, NULL, message);
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
    Image image = {0};
    NeuralRenderer *r =
        neural_renderer_new(job->device, &job->w.net, NEURAL_KERNEL_THREAD, NEURAL_FLOAT, message);
    bool ok = r && (job->w.net.n_coordinates == 3
                        ? neural_sdf_trace(r, &image, job->width, job->height, message)
                        : neural_sdf_draw(r, &image, job->width, job->height, message));
    ok = ok && image_save(&image, job->output, false, message);
    if (ok) printf("Image saved to %s\n", job->output);
    image_free(&image);
    neural_renderer_free(r);
    return ok;
}

int implicit_sdf(int argc, char **argv) {
    Job job = {0};
    char message[MESSAGE_BYTES] = "";
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.file + !job.shape + !job.image != 2)
        return options_wrong(&line,
                             "one of --shape, --image or a weights file is required (see --help)");
    const char *const outputs[] = {job.output, job.file ? NULL : job.weights};
    const char *const inputs[] = {job.file, job.image};
    bool ok = outputs_check(outputs, 2, inputs, 2, message);
    if (ok && job.file) {
        ok = neural_weights_load(&job.w, job.file, message);
        if (ok && job.w.mode != NEURAL_MODE_SDF)
            ok = message_fail(message, "%s: metadata.mode is not sdf", job.file);
    }
    if (ok && !(job.device = open_device_named(job.wanted, command))) ok = false;
    ok = ok && (job.file || train(&job, message)) && draw(&job, message);
    if (!ok && *message) complain(EXIT_INPUT, command, "%s", message);
    neural_weights_free(&job.w);
    mtl_release(job.device);
    return ok ? EXIT_FINE : EXIT_INPUT;
}

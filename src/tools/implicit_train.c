// SPDX-License-Identifier: Apache-2.0
// implicit_train.c: `ingot implicit train`: a network for a picture, of any of the three models.
// The options and lines are those of train_siren; SIREN and Fourier features go through its
// trainer, the hash grid through its own (neural/train_grid.h).
#include "tools/implicit.h"
#include "base/progress.h"
#include "neural/plot.h"
#include "neural/train_grid.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "implicit train";
static const char usage[] =
    "usage: ingot implicit train --model MODEL --input IMAGE [options]\n"
    "\n"
    "Trains a network to be a picture and writes its weights and what it has learnt.\n"
    "\n"
    "  --model MODEL             siren, fourier (random Fourier features) or instant-ngp (hash "
    "grid)\n"
    "  -i, --input PATH          PNG or JPEG (required)\n"
    "  -w, --weights PATH        JSON weights (default: trained_MODEL.json)\n"
    "  -o, --output-image PATH   the picture it has become, PNG (default: trained_output.png)\n"
    "  --curve PATH              loss and PSNR over the steps, SVG\n"
    "  -s, --steps INT           training steps (default: 500)\n"
    "  -l, --log-interval INT    print the loss every N steps (default: 50)\n"
    "  -e, --eval-interval INT   evaluate every N steps (default: 50)\n"
    "  --lr, --learning-rate F   of Adam (default: siren 1e-3, else 1e-2)\n"
    "  --limit INT               learn N pixels only, chosen for the seed\n"
    "  --train-batch INT         pixels a step (default: 2048; instant-ngp 8192)\n"
    "  --seed INT                everything random follows from it (default: 1337)\n"
    "  --hidden INT              neurons of a layer (default: 64)\n"
    "  --layers INT              hidden layers (default: siren 8, fourier 3, instant-ngp 1)\n"
    "  --frequencies INT         fourier: frequencies (default: 64)\n"
    "  --sigma F                 fourier: their standard deviation (default: 4)\n"
    "  --levels INT              instant-ngp: levels (default: 16)\n"
    "  --features INT            instant-ngp: features of an entry (default: 2)\n"
    "  --log2-hashmap-size INT   instant-ngp: entries of a level (default: 14)\n";

#define MAX_FEATURES ((size_t)1 << 29) // of Fourier features kept for all pixels: 2 GiB

typedef struct Options {
    NeuralModel model;
    const char *input, *output, *curve;
    char weights[4096];
    uint64_t steps, log_interval, eval_interval, limit, batch, seed, hidden, layers;
    uint64_t frequencies, levels, features, log2_size;
    bool has_layers;
    double rate, sigma;
} Options;

// What is trained and with what; one of the two trainers is NULL.
typedef struct Run {
    NeuralWeights w;
    NeuralImage image;
    float *positions, *targets; // (n, 2), (n, 3)
    size_t n;
    NeuralTrainer *trainer;
    NeuralGridTrainer *grid;
    NeuralRenderer *renderer;
    float *outputs; // (n, 3)
    NeuralCurve losses, psnrs;
} Run;

static volatile sig_atomic_t interrupted;
static void on_interrupt(int signal_number) {
    interrupted = 1;
    signal(signal_number, SIG_DFL); // a second one ends the program at once
}

static int whole(const char *name, const char *text, uint64_t high, uint64_t *to) {
    // As train_siren has it: what is below 1 is 1, but there may be no layers.
    if (text[0] == '-' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1)) text = "0";
    if (!parse_whole(command, name, text, 0, high, to)) return EXIT_USAGE;
    if (!*to && strcmp(name, "--layers")) *to = 1;
    return EXIT_FINE;
}

static int parse_model(const char *text, Options *o, bool *has_model) {
    static const char *const names[] = {"siren", "instant-ngp", "fourier"};
    for (int i = 0; i < 3; ++i)
        if (!strcmp(text, names[i])) {
            o->model = (NeuralModel)i;
            *has_model = true;
            return EXIT_FINE;
        }
    return complain(EXIT_USAGE, command, "--model is siren, fourier or instant-ngp, not '%s'",
                    text);
}

static int parse(Options *o, int argc, char **argv, bool *done) {
    const struct {
        const char *name, *other;
        uint64_t high, *to;
    } numbers[] = {{"--steps", "-s", 1u << 30, &o->steps},
                   {"--log-interval", "-l", 1u << 30, &o->log_interval},
                   {"--eval-interval", "-e", 1u << 30, &o->eval_interval},
                   {"--limit", NULL, NEURAL_MAX_PIXELS, &o->limit},
                   {"--train-batch", NULL, 1u << 20, &o->batch},
                   {"--hidden", NULL, NEURAL_MAX_WIDTH, &o->hidden},
                   {"--layers", NULL, NEURAL_MAX_FILE_LAYERS - 2, &o->layers},
                   {"--frequencies", NULL, NEURAL_MAX_WIDTH / 2, &o->frequencies},
                   {"--levels", NULL, 32, &o->levels},
                   {"--features", NULL, 8, &o->features},
                   {"--log2-hashmap-size", NULL, 22, &o->log2_size}};
    enum { N = sizeof numbers / sizeof *numbers };
    Args a = {argc, 0, argv, NULL};
    bool has_model = false;
    const char *weights = NULL;
    int status = EXIT_FINE;
    char *v;
    while (!status && args_next(&a)) {
        size_t i = 0;
        for (v = NULL; i < N; ++i)
            if ((v = args_value(&a, numbers[i].name)) ||
                (numbers[i].other && (v = args_value(&a, numbers[i].other))))
                break;
        if (v) {
            status = whole(numbers[i].name, v, numbers[i].high, numbers[i].to);
            o->has_layers |= numbers[i].to == &o->layers;
        } else if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(usage, stdout);
            *done = true;
            return EXIT_FINE;
        } else if ((v = args_value(&a, "--model"))) {
            status = parse_model(v, o, &has_model);
        } else if ((v = args_value(&a, "--input")) || (v = args_value(&a, "-i"))) {
            o->input = v;
        } else if ((v = args_value(&a, "--weights")) || (v = args_value(&a, "-w"))) {
            weights = v;
        } else if ((v = args_value(&a, "--output-image")) || (v = args_value(&a, "-o"))) {
            o->output = v;
        } else if ((v = args_value(&a, "--curve"))) {
            o->curve = v;
        } else if ((v = args_value(&a, "--seed"))) {
            if (!parse_whole(command, "--seed", v, 0, (uint64_t)1 << 53, &o->seed))
                status = EXIT_USAGE;
        } else if ((v = args_value(&a, "--lr")) || (v = args_value(&a, "--learning-rate"))) {
            if (!parse_real(command, "--learning-rate", v, -INFINITY, 10, &o->rate))
                status = EXIT_USAGE;
            o->rate = fmax(o->rate, 1e-6);
        } else if ((v = args_value(&a, "--sigma"))) {
            if (!parse_real(command, "--sigma", v, 1e-3, 1e4, &o->sigma)) status = EXIT_USAGE;
        } else {
            status = args_unknown(&a, command);
        }
    }
    if (!status && a.missing) status = args_unknown(&a, command);
    if (status) return status;
    if (!has_model) return complain(EXIT_USAGE, command, "Missing --model (see --help)");
    if (!o->input) return complain(EXIT_USAGE, command, "Missing --input path (see --help)");
    static const char *const names[] = {"siren", "instant_ngp", "fourier"};
    if (weights)
        snprintf(o->weights, sizeof o->weights, "%s", weights);
    else
        snprintf(o->weights, sizeof o->weights, "trained_%s.json", names[o->model]);
    return EXIT_FINE;
}

// What was not said depends on the model.
static void fill_defaults(Options *o) {
    static const uint64_t layers[] = {8, 1, 3}, batches[] = {2048, 8192, 2048};
    static const double rates[] = {1e-3, 1e-2, 1e-2};
    if (!o->has_layers) o->layers = layers[o->model];
    if (!o->batch) o->batch = batches[o->model];
    if (!(o->rate > 0)) o->rate = rates[o->model];
}

static double gaussian(NeuralRandom *r) { // Box and Muller
    double u = (neural_random_u32(r) + 1.0) / 4294967297.0, v = neural_random_u32(r) / 4294967296.0;
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

static bool make_fourier(const Options *o, NeuralNetwork *net, char *message) {
    uint32_t sizes[NEURAL_MAX_LAYERS + 1] = {(uint32_t)o->frequencies * 2};
    for (uint64_t i = 0; i < o->layers; ++i) sizes[i + 1] = (uint32_t)o->hidden;
    sizes[o->layers + 1] = 3;
    if (!neural_network_init(net, (uint32_t)o->layers + 1, sizes, NEURAL_RELU, NEURAL_SIGMOID,
                             message))
        return false;
    net->model = NEURAL_FOURIER;
    net->n_coordinates = 2;
    net->fourier.n_frequencies = (uint32_t)o->frequencies;
    net->fourier.matrix = must_alloc(o->frequencies * 2, sizeof(float));
    NeuralRandom r;
    neural_random_init(&r, o->seed, 2);
    for (uint64_t i = 0; i < o->frequencies * 2; ++i)
        net->fourier.matrix[i] = (float)(o->sigma * gaussian(&r));
    for (uint32_t i = 0; i < net->n_layers; ++i) {
        const NeuralLayer *l = net->layers + i;
        const float bound = sqrtf(6.0f / (float)l->n_in);
        for (size_t k = 0; k < (size_t)l->n_in * l->n_out; ++k)
            l->weights[k] = neural_random_uniform(&r, -bound, bound);
    }
    return true;
}

// Positions and colours of the pixels to learn: all, or as many as the limit says.
static void make_positions(Run *run, uint64_t seed) {
    const NeuralImage *image = &run->image;
    const size_t total = (size_t)image->width * image->height;
    const bool ends = run->w.net.model == NEURAL_INSTANT_NGP;
    const double w = image->width, h = image->height;
    NeuralRandom r;
    neural_random_init(&r, seed, 2); // as train_siren chooses them
    for (size_t i = 0, at = 0; i < total && at < run->n; ++i) {
        if (run->n < total && !neural_random_selects(&r, total - i, run->n - at)) continue;
        double x = (double)(i % image->width), y = (double)(i / image->width);
        run->positions[2 * at] =
            (float)(ends ? (w > 1 ? x / (w - 1) : 0.5) : (x + 0.5) / w * 2 - 1);
        run->positions[2 * at + 1] =
            (float)(ends ? (h > 1 ? y / (h - 1) : 0.5) : (y + 0.5) / h * 2 - 1);
        for (size_t c = 0; c < 3; ++c) run->targets[3 * at + c] = image->rgb[3 * i + c] / 255.0f;
        ++at;
    }
}

// The inputs of the first layer: Fourier features do not change while training.
static float *encode_fourier(const Run *run) {
    const NeuralFourier *f = &run->w.net.fourier;
    const size_t n = f->n_frequencies;
    float *out = must_alloc(run->n * 2 * n, sizeof *out);
    for (size_t i = 0; i < run->n; ++i)
        for (size_t k = 0; k < n; ++k) {
            double turns = (double)run->positions[2 * i] * (double)f->matrix[2 * k] +
                           (double)run->positions[2 * i + 1] * (double)f->matrix[2 * k + 1];
            turns = 2 * 3.14159265358979323846 * (turns - floor(turns));
            out[i * 2 * n + k] = (float)sin(turns);
            out[i * 2 * n + n + k] = (float)cos(turns);
        }
    return out;
}

static bool make_network(const Options *o, NeuralNetwork *net, char *message) {
    const NeuralHashGrid sizes = {
        (uint32_t)o->levels, (uint32_t)o->features, (uint32_t)o->log2_size, 16, 2048, NULL};
    if (o->model == NEURAL_FOURIER) return make_fourier(o, net, message);
    if (o->model == NEURAL_INSTANT_NGP)
        return neural_network_init_grid(net, &sizes, (uint32_t)o->hidden, (uint32_t)o->layers,
                                        o->seed, message);
    return neural_network_init_siren(net, (uint32_t)o->hidden, (uint32_t)o->layers, o->seed,
                                     message);
}

static bool prepare(Run *run, const Options *o, MTLDevice *device, char *message) {
    NeuralImage *image = &run->image;
    if (!neural_image_load(image, o->input, message)) return false;
    run->n = (size_t)image->width * image->height;
    if (o->limit && o->limit < run->n) run->n = (size_t)o->limit;
    if (!make_network(o, &run->w.net, message)) return false;
    run->w.width = image->width, run->w.height = image->height;
    run->w.aspect_ratio = (float)((double)image->width / image->height);
    run->positions = must_alloc(run->n * 2, sizeof(float));
    run->targets = must_alloc(run->n * 3, sizeof(float));
    run->outputs = must_alloc(run->n * 3, sizeof(float));
    make_positions(run, o->seed);
    const NeuralTrainOptions options = {.batch = (uint32_t)o->batch,
                                        .learning_rate = (float)o->rate,
                                        .decay_from =
                                            o->model == NEURAL_SIREN ? o->steps - o->steps / 5 : 0,
                                        .decay_steps = o->steps,
                                        .final_rate = o->model == NEURAL_SIREN ? 0.05f : 0.1f,
                                        .seed = o->seed};
    NeuralDataset data = {(uint32_t)run->n, 2, 3, run->positions, run->targets};
    if (o->model == NEURAL_INSTANT_NGP) {
        run->grid = neural_grid_trainer_new(device, &run->w.net, &data, &options, message);
    } else {
        const size_t n_features = o->model == NEURAL_FOURIER ? run->n * 2 * o->frequencies : 0;
        if (n_features > MAX_FEATURES)
            return neural_fail(message,
                               "%s: %zu pixels with %llu frequencies need too much memory; "
                               "--limit takes fewer pixels",
                               o->input, run->n, (unsigned long long)o->frequencies);
        float *encoded = n_features ? encode_fourier(run) : NULL;
        if (encoded) data.inputs = encoded, data.n_in = run->w.net.layers[0].n_in;
        run->trainer = neural_trainer_new(device, &run->w.net, &data, &options, message);
        free(encoded);
    }
    if (!run->grid && !run->trainer) return false;
    run->renderer =
        neural_renderer_new(device, &run->w.net, NEURAL_KERNEL_THREAD, NEURAL_FLOAT, message);
    return run->renderer != NULL;
}

static bool evaluate(Run *run, double *mse, char *message) {
    if (run->grid)
        neural_grid_trainer_get_network(run->grid, &run->w.net);
    else
        neural_trainer_get_network(run->trainer, &run->w.net);
    if (!neural_renderer_update(run->renderer, &run->w.net, message) ||
        !neural_renderer_points(run->renderer, run->positions, run->n, run->outputs, message))
        return false;
    double sum = 0;
    for (size_t i = 0; i < run->n * 3; ++i) {
        double e = (double)run->outputs[i] - (double)run->targets[i];
        sum += e * e;
    }
    *mse = sum / (double)(run->n * 3);
    return true;
}

// Steps up to the next one that is logged or evaluated.
static bool train(Run *run, const Options *o, double *seconds, char *message) {
    Progress progress;
    uint64_t step = 0;
    float losses[16];
    bool ok = true, last = false; // looked at once a round: the last one is evaluated
    progress_begin(&progress, "training", o->steps);
    while (ok && !last) {
        uint64_t log_at = step ? (step / o->log_interval + 1) * o->log_interval : 1;
        uint64_t eval_at = (step / o->eval_interval + 1) * o->eval_interval, next = o->steps;
        next = log_at < next ? log_at : next;
        next = eval_at < next ? eval_at : next;
        if (next > step + 16) next = step + 16; // so that a bar moves and Ctrl-C is heard
        const uint32_t n = (uint32_t)(next - step);
        double began = seconds_now();
        ok = run->grid ? neural_grid_trainer_step(run->grid, n, losses, message)
                       : neural_trainer_step(run->trainer, n, losses, message);
        *seconds += seconds_now() - began;
        if (!ok) break;
        for (uint32_t i = 0; i < n; ++i)
            neural_curve_add(&run->losses, (double)(step + i + 1), (double)losses[i]);
        step = next;
        last = step == o->steps || interrupted;
        progress_step(&progress, step, NULL);
        if (step == log_at || last)
            printf("step %4llu  loss %.6f\n", (unsigned long long)step, (double)losses[n - 1]);
        if (step == eval_at || last) {
            double mse;
            if (!(ok = evaluate(run, &mse, message))) break;
            printf("          psnr %.2f dB  mse %.6f\n", neural_psnr(mse), mse);
            neural_curve_add(&run->psnrs, (double)step, neural_psnr(mse));
        }
        fflush(stdout);
    }
    progress_end(&progress);
    if (!ok && strstr(message, "not a finite")) {
        size_t at = strlen(message);
        snprintf(message + at, NEURAL_ERROR_BYTES - at, ": try a smaller --lr than %g", o->rate);
    }
    return ok;
}

static bool save(Run *run, const Options *o, char *message) {
    NeuralImage out;
    const bool whole_picture = run->n == (size_t)run->image.width * run->image.height;
    if (!neural_image_create(&out, whole_picture ? run->image.width : (uint32_t)run->n,
                             whole_picture ? run->image.height : 1, message))
        return false;
    for (size_t i = 0; i < run->n * 3; ++i) {
        float v = run->outputs[i] * 255 + 0.5f;
        out.rgb[i] = (unsigned char)(v >= 255 ? 255 : v > 0 ? v : 0);
    }
    neural_weights_add_samples(&run->w, run->positions, run->targets, run->n, 256, 1337);
    bool ok = neural_weights_save(&run->w, o->weights, message) &&
              neural_image_save(&out, o->output, true, message);
    neural_image_free(&out);
    const NeuralPanel panels[] = {
        {"Loss of the batch", "step", "mean squared error", &run->losses, NULL, 1, false, true,
         false},
        {"The whole picture", "step", "PSNR (dB)", &run->psnrs, NULL, 1, false, false, true}};
    if (ok && o->curve) ok = neural_plot_save(o->curve, panels, 2, message);
    return ok;
}

int implicit_train(int argc, char **argv) {
    Options o = {.output = "trained_output.png",
                 .steps = 500,
                 .log_interval = 50,
                 .eval_interval = 50,
                 .hidden = 64,
                 .frequencies = 64,
                 .sigma = 4,
                 .levels = 16,
                 .features = 2,
                 .log2_size = 14,
                 .seed = 1337};
    bool done = false;
    int status = parse(&o, argc, argv, &done);
    if (status || done) return status;
    fill_defaults(&o);
    char message[NEURAL_ERROR_BYTES] = "";
    Run run = {0};
    double seconds = 0;
    MTLDevice *device = NULL;
    status = EXIT_INPUT;
    const char *const outputs[] = {o.weights, o.output, o.curve};
    if (!neural_outputs_check(outputs, 3, &o.input, 1, message)) goto done;
    if (!(device = open_device(command)) || !prepare(&run, &o, device, message)) goto done;
    signal(SIGINT, on_interrupt);
    const size_t n_table = run.w.net.grid.table
                               ? (((size_t)run.w.net.grid.n_levels) << run.w.net.grid.log2_size) *
                                     run.w.net.grid.n_features
                               : 0;
    printf("%zu parameters", run.w.net.n_params + n_table);
    if (n_table) printf(" (hash encoder %zu, MLP %zu)", n_table, run.w.net.n_params);
    putchar('\n');
    if (!train(&run, &o, &seconds, message) || !save(&run, &o, message)) goto done;
    if (run.losses.n && run.psnrs.n)
        printf("Finished. Loss %.6f, PSNR %.2f dB\n", run.losses.y[run.losses.n - 1],
               run.psnrs.y[run.psnrs.n - 1]);
    char *real = realpath(o.weights, NULL), *picture = realpath(o.output, NULL);
    printf("Weights saved to %s\nReconstruction saved to %s\n", real ? real : o.weights,
           picture ? picture : o.output);
    free(real), free(picture);
    if (o.curve) printf("Curve saved to %s\n", o.curve);
    printf("Average training step %.3f ms\n",
           seconds * 1e3 / (double)(run.losses.n + !run.losses.n));
    status = EXIT_FINE;
done:
    if (status && *message) complain(status, command, "%s", message);
    neural_trainer_free(run.trainer);
    neural_grid_trainer_free(run.grid);
    neural_renderer_free(run.renderer);
    neural_weights_free(&run.w);
    neural_image_free(&run.image);
    neural_curve_free(&run.losses), neural_curve_free(&run.psnrs);
    free(run.positions), free(run.targets), free(run.outputs);
    mtl_release(device);
    return status;
}

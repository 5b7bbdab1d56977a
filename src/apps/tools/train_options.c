// SPDX-License-Identifier: Apache-2.0
// train_options.c: the command line of the trainer, one row of a table for each option (train.h).
#include "base/options.h"
#include "apps/neural/weights.h"
#include "apps/tools/train.h"

static const char *const models[] = {"siren", "instant-ngp", "fourier", NULL}; // NeuralModel
static const char *const precisions[] = {"float", "half", "bfloat", NULL};     // NeuralPrecision
const char *train_model_name(NeuralModel model) { return models[model]; }

#define AT(FIELD) OPT_AT(TrainOptions, FIELD)
#define SAID(OPTION) OPT_GIVEN(TrainOptions, said[OPTION])
static const Option rows[TRAIN_N_OPTIONS] = {
    [TRAIN_MODEL] = {"--model", "NAME",
                     "siren (sines), fourier (random Fourier features) or\n"
                     "instant-ngp (hash grid)",
                     OPT_CHOICE, AT(model), .words = models, SAID(TRAIN_MODEL)},
    [TRAIN_INPUT] = {"-i, --input", "PATH", "PNG or JPEG to learn (required)", OPT_TEXT, AT(input)},
    [TRAIN_WEIGHTS] = {"-w, --weights", "PATH",
                       "weights to write, JSON (default: trained_siren.json)", OPT_TEXT,
                       AT(weights)},
    [TRAIN_OUTPUT] = {"-o, --output-image", "PATH", "reconstruction to write, PNG", OPT_TEXT,
                      AT(output_image), .initial = "trained_output.png"},
    [TRAIN_CURVE] = {"--curve", "PATH", "loss and PSNR over the steps, SVG", OPT_TEXT, AT(curve)},
    [TRAIN_RESUME] = {"--resume", "PATH", "continue from the weights file of an interrupted run",
                      OPT_TEXT, AT(resume)},
    [TRAIN_DEVICE] = {"--device", "NAME",
                      "cpu, cuda, cuda:1; or part of its name, or its index\n(default: "
                      "$INGOT_DEVICE, or the CPU)",
                      OPT_TEXT, AT(device)},
    [TRAIN_STEPS] = {"-s, --steps", "INT", "training steps", OPT_WHOLE, AT(steps), 1, 0x1p53, "500",
                     SAID(TRAIN_STEPS)},
    [TRAIN_LOG] = {"-l, --log-interval", "INT", "print the loss every INT steps", OPT_WHOLE,
                   AT(log_interval), 1, 0x1p53, "50"},
    [TRAIN_EVALUATE] = {"-e, --eval-interval", "INT", "evaluate the PSNR every INT steps",
                        OPT_WHOLE, AT(eval_interval), 1, 0x1p53, "50"},
    [TRAIN_RATE] = {"--lr, --learning-rate", "FLOAT",
                    "Adam's learning rate (default: siren 1e-3, others 1e-2); it\n"
                    "decays to 1/20 over the last fifth of the steps (siren),\n"
                    "to 1/10 over all steps (others)",
                    OPT_REAL, AT(rate), 1e-6, 1e6, SAID(TRAIN_RATE)},
    [TRAIN_LIMIT] = {"--limit", "INT", "use only INT pixels, chosen by the seed", OPT_WHOLE,
                     AT(limit), 1, 0x1p53, SAID(TRAIN_LIMIT)},
    [TRAIN_BATCH] = {"--train-batch", "INT", "pixels per step (default: 2048, instant-ngp 8192)",
                     OPT_WHOLE, AT(batch), 1, 1 << 24, SAID(TRAIN_BATCH)},
    [TRAIN_SEED] = {"--seed", "INT", "random seed for weights and pixels", OPT_WHOLE, AT(seed), 0,
                    0x1p53, "1337", SAID(TRAIN_SEED)},
    [TRAIN_HIDDEN] = {"--hidden", "INT", "neurons per hidden layer, 1 to 1024", OPT_WHOLE,
                      AT(hidden), 1, NEURAL_MAX_WIDTH, "64", SAID(TRAIN_HIDDEN)},
    [TRAIN_LAYERS] = {"--layers", "INT",
                      "hidden layers (siren: after the first), 0 to 14\n"
                      "(default: siren 8, fourier 3, instant-ngp 1)",
                      OPT_WHOLE, AT(layers), 0, NEURAL_MAX_FILE_LAYERS - 2, SAID(TRAIN_LAYERS)},
    [TRAIN_PRECISION] = {"--precision", "NAME",
                         "precision of matrix products: float, half or bfloat, with\n"
                         "float accumulation and master weights (default: float, or\n"
                         "half if the network fits the device's threadgroup memory)",
                         OPT_CHOICE, AT(precision), .words = precisions, SAID(TRAIN_PRECISION)},
    [TRAIN_FREQUENCIES] = {"--frequencies", "INT", "fourier: number of frequencies", OPT_WHOLE,
                           AT(frequencies), 1, NEURAL_MAX_WIDTH / 2, "64", SAID(TRAIN_FREQUENCIES)},
    [TRAIN_SIGMA] = {"--sigma", "FLOAT", "fourier: their standard deviation", OPT_REAL, AT(sigma),
                     1e-3, 1e4, "4", SAID(TRAIN_SIGMA)},
    [TRAIN_LEVELS] = {"--levels", "INT", "instant-ngp: levels, 1 to 32", OPT_WHOLE, AT(levels), 1,
                      NEURAL_MAX_LEVELS, "16", SAID(TRAIN_LEVELS)},
    [TRAIN_FEATURES] = {"--features", "INT", "instant-ngp: features per entry, 1 to 8", OPT_WHOLE,
                        AT(features), 1, 8, "2", SAID(TRAIN_FEATURES)},
    [TRAIN_LOG2_SIZE] = {"--log2-hashmap-size", "INT",
                         "instant-ngp: log2 of the entries per level, 1 to 22", OPT_WHOLE,
                         AT(log2_size), 1, 22, "14", SAID(TRAIN_LOG2_SIZE)},
};
_Static_assert(sizeof(NeuralModel) == 4 && sizeof(NeuralPrecision) == 4, "choices have 4 bytes");

const char *train_option_name(TrainOption option) { return options_name(&rows[option]); }

int train_options_read(TrainOptions *o, const TrainName *name, int argc, char **argv) {
    const CommandLine line = {
        .program = name->name,
        .usage = name->usage,
        .about = "Fits a network to an image; writes its weights and the reconstruction.",
        .rows = rows,
        .n_rows = TRAIN_N_OPTIONS,
        .tail = "Ctrl-C ends a run early and saves its state; --resume continues from there.",
        .column = 29,
        .classic = name->classic,
    };
    *o = (TrainOptions){0};
    int status = options_read(&line, o, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    const char *missing = NULL;
    if (name->any_model && !o->said[TRAIN_MODEL] && !o->resume) missing = "--model (see --help)";
    if (!missing && (!o->input || !*o->input)) missing = "--input path";
    if (!missing) return OPTIONS_GO_ON;
    status = options_wrong(&line, "Missing %s", missing);
    if (name->classic) options_usage(&line, stderr);
    return status;
}

void train_options_complete(TrainOptions *o) {
    static const uint64_t layers[] = {8, 1, 3}, batches[] = {2048, 8192, 2048};
    static const double rates[] = {1e-3, 1e-2, 1e-2};
    static const char *const files[] = {"trained_siren.json", "trained_instant_ngp.json",
                                        "trained_fourier.json"};
    if (!o->said[TRAIN_LAYERS]) o->layers = layers[o->model];
    if (!o->batch) o->batch = batches[o->model];
    if (!(o->rate > 0)) o->rate = rates[o->model];
    if (!o->weights) o->weights = files[o->model];
}

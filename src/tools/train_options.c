// SPDX-License-Identifier: Apache-2.0
// train_options.c: the command line of the trainer, one row of a table for each option (train.h).
#include "tools/train.h"
#include "neural/error.h"
#include "neural/weights.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] =
    "Trains a network to be a picture; writes its weights and what it draws.\n"
    "\n"
    "      --model NAME           siren (sines), fourier (random Fourier features) or\n"
    "                             instant-ngp (hash grid)\n"
    "  -i, --input PATH           PNG or JPEG to learn (required)\n"
    "  -w, --weights PATH         weights to write, JSON (default: trained_siren.json)\n"
    "  -o, --output-image PATH    reconstruction to write, PNG (default: trained_output.png)\n"
    "      --curve PATH           loss and PSNR over the steps, SVG\n"
    "  -s, --steps INT            training steps (default: 500)\n"
    "  -l, --log-interval INT     print the loss every INT steps (default: 50)\n"
    "  -e, --eval-interval INT    evaluate the PSNR every INT steps (default: 50)\n"
    "      --lr, --learning-rate FLOAT\n"
    "                             Adam's learning rate (default: siren 1e-3, others 1e-2); it\n"
    "                             falls to a twentieth over the last fifth of a siren's steps,\n"
    "                             to a tenth over all of the others'\n"
    "      --limit INT            learn INT pixels only, chosen for the seed\n"
    "      --train-batch INT      pixels of a step (default: 2048, instant-ngp 8192)\n"
    "      --seed INT             of weights and of the choice of pixels (default: 1337)\n"
    "      --hidden INT           neurons of a hidden layer, 1 to 1024 (default: 64)\n"
    "      --layers INT           hidden layers, a siren's after the first, 0 to 14\n"
    "                             (default: siren 8, fourier 3, instant-ngp 1)\n"
    "      --precision NAME       of the inputs of matrix products: float, half or bfloat;\n"
    "                             sums and master weights are float (default: float)\n"
    "      --frequencies INT      fourier: frequencies (default: 64)\n"
    "      --sigma FLOAT          fourier: their standard deviation (default: 4)\n"
    "      --levels INT           instant-ngp: levels, 1 to 32 (default: 16)\n"
    "      --features INT         instant-ngp: features of an entry, 1 to 8 (default: 2)\n"
    "      --log2-hashmap-size INT\n"
    "                             instant-ngp: entries of a level, 1 to 22 (default: 14)\n"
    "      --device NAME          name or number of the Metal device (default: the first)\n"
    "      --resume PATH          go on from the weights file of an interrupted run\n"
    "  -h, --help                 this text\n"
    "\n"
    "Ctrl-C ends a run early and saves what there is; --resume goes on from there.\n";

void train_print_usage(const TrainName *name, FILE *file) {
    fprintf(file, "usage: %s\n%s", name->usage, usage_text);
}

static const char *const models[] = {"siren", "instant-ngp", "fourier"};
static const char *const precisions[] = {"float", "half", "bfloat"};
const char *train_model_name(NeuralModel model) { return models[model]; }

typedef enum Kind {
    TEXT,
    WHOLE,  // what is below the least becomes it
    RANGE,  // a whole number; outside is a mistake
    REAL,   // as RANGE
    CHOICE, // one of three names
} Kind;

static const struct Row {
    const char *name, *other; // two spellings
    Kind kind;
    size_t at; // in TrainOptions
    double low, high;
    const char *const *names; // CHOICE
} table[TRAIN_N_OPTIONS] = {
#define AT(FIELD) offsetof(TrainOptions, FIELD)
    [TRAIN_MODEL] = {"--model", "", CHOICE, AT(model), 0, 0, models},
    [TRAIN_INPUT] = {"--input", "-i", TEXT, AT(input), 0, 0, NULL},
    [TRAIN_WEIGHTS] = {"--weights", "-w", TEXT, AT(weights), 0, 0, NULL},
    [TRAIN_OUTPUT] = {"--output-image", "-o", TEXT, AT(output_image), 0, 0, NULL},
    [TRAIN_CURVE] = {"--curve", "", TEXT, AT(curve), 0, 0, NULL},
    [TRAIN_RESUME] = {"--resume", "", TEXT, AT(resume), 0, 0, NULL},
    [TRAIN_DEVICE] = {"--device", "", TEXT, AT(device), 0, 0, NULL},
    [TRAIN_STEPS] = {"--steps", "-s", WHOLE, AT(steps), 1, 0x1p53, NULL},
    [TRAIN_LOG] = {"--log-interval", "-l", WHOLE, AT(log_interval), 1, 0x1p53, NULL},
    [TRAIN_EVALUATE] = {"--eval-interval", "-e", WHOLE, AT(eval_interval), 1, 0x1p53, NULL},
    [TRAIN_RATE] = {"--learning-rate", "--lr", REAL, AT(rate), -INFINITY, 1e6, NULL},
    [TRAIN_LIMIT] = {"--limit", "", WHOLE, AT(limit), 1, 0x1p53, NULL},
    [TRAIN_BATCH] = {"--train-batch", "", WHOLE, AT(batch), 1, 1 << 24, NULL},
    [TRAIN_SEED] = {"--seed", "", RANGE, AT(seed), 0, 0x1p53, NULL},
    [TRAIN_HIDDEN] = {"--hidden", "", RANGE, AT(hidden), 1, NEURAL_MAX_WIDTH, NULL},
    [TRAIN_LAYERS] = {"--layers", "", RANGE, AT(layers), 0, NEURAL_MAX_FILE_LAYERS - 2, NULL},
    [TRAIN_PRECISION] = {"--precision", "", CHOICE, AT(precision), 0, 0, precisions},
    [TRAIN_FREQUENCIES] = {"--frequencies", "", RANGE, AT(frequencies), 1, NEURAL_MAX_WIDTH / 2,
                           NULL},
    [TRAIN_SIGMA] = {"--sigma", "", REAL, AT(sigma), 1e-3, 1e4, NULL},
    [TRAIN_LEVELS] = {"--levels", "", RANGE, AT(levels), 1, NEURAL_MAX_LEVELS, NULL},
    [TRAIN_FEATURES] = {"--features", "", RANGE, AT(features), 1, 8, NULL},
    [TRAIN_LOG2_SIZE] = {"--log2-hashmap-size", "", RANGE, AT(log2_size), 1, 22, NULL},
#undef AT
};
_Static_assert(TRAIN_N_OPTIONS <= 32, "TrainOptions.said has a bit for each");
_Static_assert(sizeof(NeuralModel) == sizeof(int) && sizeof(NeuralPrecision) == sizeof(int),
               "choices are written as int");

const char *train_option_name(TrainOption option) { return table[option].name; }

static bool take_whole(const struct Row *row, const char *value, uint64_t *to, char *message) {
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (end == value || *end || errno || strchr(" \t\n\v\f\r", *value))
        return neural_fail(message, "Invalid integer for %s", row->name);
    if (row->kind == WHOLE && (double)n < row->low) n = (long long)row->low;
    if (row->kind == WHOLE && (double)n > row->high)
        return neural_fail(message, "%s must be at most %.0f", row->name, row->high);
    if ((double)n < row->low || (double)n > row->high)
        return neural_fail(message, "%s must be %.0f to %.0f, not %s", row->name, row->low,
                           row->high, value);
    *to = (uint64_t)n;
    return true;
}

static bool take_real(const struct Row *row, const char *value, double *to, char *message) {
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || !isfinite(x) || strchr(" \t\n\v\f\r", *value))
        return neural_fail(message, "Invalid float for %s", row->name);
    if (x < row->low || x > row->high)
        return neural_fail(message, "%s %s is out of range", row->name, value);
    *to = x;
    return true;
}

static bool take_choice(const struct Row *row, const char *value, int *to, char *message) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(value, row->names[i])) return *to = i, true;
    return neural_fail(message, "Invalid %s '%s': %s, %s or %s", row->name, value, row->names[0],
                       row->names[1], row->names[2]);
}

static bool take(TrainOptions *o, TrainOption option, const char *value, char *message) {
    const struct Row *row = &table[option];
    void *at = (char *)o + row->at;
    o->said |= 1u << option;
    switch (row->kind) {
    case TEXT: *(const char **)at = value; return true;
    case WHOLE:
    case RANGE: return take_whole(row, value, at, message);
    case REAL: return take_real(row, value, at, message);
    case CHOICE: return take_choice(row, value, at, message);
    }
    return false;
}

// "--steps 5", "--steps=5", "-s 5", "-s5": the value of argv[*i], or NULL if it is another option.
static const char *value_of(const struct Row *row, int argc, char **argv, int *i, bool *missing) {
    const char *const names[] = {row->name, row->other};
    for (int k = 0; k < 2; k++) {
        const char *name = names[k], *arg = argv[*i];
        size_t n = strlen(name);
        if (!n || strncmp(arg, name, n)) continue;
        if (arg[n] == '=') return arg + n + 1;
        if (n == 2 && arg[n]) return arg + n;
        if (arg[n]) continue;
        *missing = *i + 1 >= argc;
        return *missing ? NULL : argv[++*i];
    }
    return NULL;
}

bool train_options_parse(TrainOptions *o, const TrainName *name, int argc, char **argv,
                         char *message, bool *show_usage) {
    *o = (TrainOptions){.output_image = "trained_output.png",
                        .steps = 500,
                        .log_interval = 50,
                        .eval_interval = 50,
                        .seed = 1337,
                        .hidden = 64,
                        .frequencies = 64,
                        .sigma = 4,
                        .levels = 16,
                        .features = 2,
                        .log2_size = 14};
    *show_usage = false;
    for (int i = 1; i < argc; i++) // wherever it stands
        if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) return o->help = true;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL, *arg = argv[i];
        bool missing = false;
        int k = 0;
        for (; k < TRAIN_N_OPTIONS; k++)
            if ((value = value_of(&table[k], argc, argv, &i, &missing)) || missing) break;
        if (!value) *show_usage = true;
        if (missing) return neural_fail(message, "Missing value for %s", table[k].name);
        if (!value) return neural_fail(message, "Unknown argument: %s", arg);
        if (!take(o, (TrainOption)k, value, message)) return false;
    }
    if (train_said(o, TRAIN_RATE) && o->rate < 1e-6) o->rate = 1e-6;
    *show_usage = true;
    if (name->any_model && !train_said(o, TRAIN_MODEL) && !o->resume)
        return neural_fail(message, "Missing --model (see --help)");
    if (!o->input || !*o->input) return neural_fail(message, "Missing --input path");
    return true;
}

void train_options_complete(TrainOptions *o) {
    static const uint64_t layers[] = {8, 1, 3}, batches[] = {2048, 8192, 2048};
    static const double rates[] = {1e-3, 1e-2, 1e-2};
    static const char *const files[] = {"trained_siren.json", "trained_instant_ngp.json",
                                        "trained_fourier.json"};
    if (!train_said(o, TRAIN_LAYERS)) o->layers = layers[o->model];
    if (!o->batch) o->batch = batches[o->model];
    if (!(o->rate > 0)) o->rate = rates[o->model];
    if (!o->weights) o->weights = files[o->model];
}

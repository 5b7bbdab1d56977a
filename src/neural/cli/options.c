// SPDX-License-Identifier: Apache-2.0
// options.c: the command line of train_siren, one row of a table for each option.
#include "options.h"
#include "neural/error.h"
#include "neural/weights.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char usage_text[] =
    "usage: train_siren --input IMAGE [options]\n"
    "Trains a SIREN (a network of sines) on a picture; writes its weights and what it draws.\n"
    "\n"
    "  -i, --input PATH           PNG or JPEG to learn (required)\n"
    "  -w, --weights PATH         weights to write, JSON (default: trained_siren.json)\n"
    "  -o, --output-image PATH    reconstruction to write, PNG (default: trained_output.png)\n"
    "  -s, --steps INT            training steps (default: 500)\n"
    "  -l, --log-interval INT     print the loss every INT steps (default: 50)\n"
    "  -e, --eval-interval INT    evaluate the PSNR every INT steps (default: 50)\n"
    "      --lr, --learning-rate FLOAT\n"
    "                             Adam's learning rate; over the last fifth of the steps it falls\n"
    "                             to a twentieth (default: 1e-3)\n"
    "      --limit INT            learn INT pixels only, chosen for the seed\n"
    "      --train-batch INT      pixels of a step (default: 2048)\n"
    "      --seed INT             of weights and of the choice of pixels (default: 1337)\n"
    "      --hidden INT           neurons of a hidden layer, 1 to 1024 (default: 64)\n"
    "      --layers INT           hidden layers after the first, 0 to 14 (default: 8)\n"
    "      --precision NAME       of the inputs of matrix products: float, half or bfloat;\n"
    "                             sums and master weights are float (default: float)\n"
    "      --device NAME          name or number of the Metal device (default: the first)\n"
    "      --resume PATH          go on from the weights file of an interrupted run\n"
    "  -h, --help                 this text\n"
    "\n"
    "Ctrl-C ends a run early and saves what there is; --resume goes on from there.\n";

static bool parse_integer(const char *s, int64_t *n) {
    char *end;
    errno = 0;
    long long x = strtoll(s, &end, 10);
    if (end == s || *end || errno || strchr(" \t\n\v\f\r", *s)) return false;
    *n = x;
    return true;
}

// At least `low` (smaller numbers become it), as the first train_siren had it.
static bool integer(const char *name, const char *value, int64_t low, uint64_t *to, char *message) {
    int64_t n;
    if (!parse_integer(value, &n)) return neural_fail(message, "Invalid integer for %s", name);
    *to = (uint64_t)(n < low ? low : n);
    return true;
}

static bool in_range(const char *name, const char *value, uint64_t low, uint64_t high, uint64_t *to,
                     char *message) {
    int64_t n;
    if (!parse_integer(value, &n)) return neural_fail(message, "Invalid integer for %s", name);
    if (n < (int64_t)low || (uint64_t)n > high)
        return neural_fail(message, "%s must be %llu to %llu, not %s", name,
                           (unsigned long long)low, (unsigned long long)high, value);
    *to = (uint64_t)n;
    return true;
}

static bool rate(const char *value, double *to, char *message) {
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || !isfinite(x) || strchr(" \t\n\v\f\r", *value))
        return neural_fail(message, "Invalid float for --learning-rate");
    *to = x > 1e-6 ? x : 1e-6;
    if (*to > 1e6) return neural_fail(message, "--learning-rate %s is out of range", value);
    return true;
}

static bool precision(const char *value, NeuralPrecision *to, char *message) {
    static const char *const names[] = {"float", "half", "bfloat"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(value, names[i])) return *to = (NeuralPrecision)i, true;
    return neural_fail(message, "Invalid --precision '%s': float, half or bfloat", value);
}

typedef enum Id {
    INPUT,
    WEIGHTS,
    OUTPUT,
    STEPS,
    LOG,
    EVALUATE,
    RATE,
    LIMIT,
    BATCH,
    SEED,
    HIDDEN,
    LAYERS,
    PRECISION,
    DEVICE,
    RESUME,
    HELP
} Id;
static const struct {
    const char *name, *other; // two spellings
    Id id;
} table[] = {
    {"--input", "-i", INPUT},          {"--weights", "-w", WEIGHTS},
    {"--output-image", "-o", OUTPUT},  {"--steps", "-s", STEPS},
    {"--log-interval", "-l", LOG},     {"--eval-interval", "-e", EVALUATE},
    {"--learning-rate", "--lr", RATE}, {"--limit", "", LIMIT},
    {"--train-batch", "", BATCH},      {"--seed", "", SEED},
    {"--hidden", "", HIDDEN},          {"--layers", "", LAYERS},
    {"--precision", "", PRECISION},    {"--device", "", DEVICE},
    {"--resume", "", RESUME},          {"--help", "-h", HELP},
};

static bool take(Options *o, Id id, const char *name, const char *value, char *message) {
    uint64_t n = 0;
    bool ok = true;
    switch (id) {
    case INPUT: o->input = value; break;
    case WEIGHTS: o->weights = value; break;
    case OUTPUT: o->output_image = value; break;
    case DEVICE: o->device = value; break;
    case RESUME: o->resume = value; break;
    case STEPS:
        o->has_steps = true;
        ok = integer(name, value, 1, &o->steps, message);
        if (ok && o->steps > UINT64_C(1) << 53)
            ok = neural_fail(message, "--steps %s is out of range", value);
        break;
    case LOG: return integer(name, value, 1, &o->log_interval, message);
    case EVALUATE: return integer(name, value, 1, &o->eval_interval, message);
    case LIMIT: o->has_limit = true; return integer(name, value, 1, &o->limit, message);
    case RATE: o->has_rate = true; return rate(value, &o->learning_rate, message);
    case PRECISION: o->has_precision = true; return precision(value, &o->precision, message);
    case SEED:
        o->has_seed = true;
        return in_range(name, value, 0, UINT64_C(1) << 53, &o->seed, message);
    case BATCH:
        o->has_batch = true;
        ok = integer(name, value, 1, &n, message);
        if (ok && n > 1u << 24)
            ok = neural_fail(message, "--train-batch must be at most %u", 1u << 24);
        o->batch = (uint32_t)n;
        break;
    case HIDDEN:
        o->has_hidden = true;
        ok = in_range(name, value, 1, NEURAL_MAX_WIDTH, &n, message);
        o->hidden = (uint32_t)n;
        break;
    case LAYERS:
        o->has_layers = true;
        ok = in_range(name, value, 0, NEURAL_MAX_FILE_LAYERS - 2, &n, message);
        o->layers = (uint32_t)n;
        break;
    case HELP: break;
    }
    return ok;
}

bool options_parse(Options *o, int argc, char **argv, char *message, bool *show_usage) {
    *o = (Options){.weights = "trained_siren.json",
                   .output_image = "trained_output.png",
                   .steps = 500,
                   .log_interval = 50,
                   .eval_interval = 50,
                   .learning_rate = 1e-3,
                   .batch = 2048,
                   .seed = 1337,
                   .hidden = 64,
                   .layers = 8};
    *show_usage = false;
    for (int i = 1; i < argc; i++) // wherever it stands
        if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) return o->help = true;
    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = sizeof table / sizeof *table;
        while (k < n && strcmp(argv[i], table[k].name) && strcmp(argv[i], table[k].other)) k++;
        if (k == n || !*argv[i]) {
            *show_usage = true;
            return neural_fail(message, "Unknown argument: %s", argv[i]);
        }
        if (i + 1 >= argc) {
            *show_usage = true;
            return neural_fail(message, "Missing value for %s", table[k].name);
        }
        if (!take(o, table[k].id, table[k].name, argv[++i], message)) return false;
    }
    if (!o->input || !*o->input) {
        *show_usage = true;
        return neural_fail(message, "Missing --input path");
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// run_options.c: the command line of `ingot run`.
#include "apps/tools/run_int.h"
#include "base/array.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Splits "key=rest" in place; NULL if there is no key or no '='.
static char *split(char *text, char separator) {
    char *s = strchr(text, separator);
    if (!s || s == text) return NULL;
    *s = 0;
    return s + 1;
}

static bool parse_count(const char *s, unsigned long long max, unsigned long long *out) {
    char *end;
    errno = 0;
    if (*s < '0' || *s > '9') return false;
    *out = strtoull(s, &end, 10);
    return !errno && !*end && *out <= max;
}

static int take_arg(const CommandLine *line, const Option *row, void *options, char *text) {
    RunOptions *o = options;
    char *value = split(text, '=');
    if (!value) return options_wrong(line, "%s needs %s, not '%s'", row->names, row->value, text);
    for (size_t i = 0; i < o->n_args; i++)
        if (!strcmp(o->args[i].key, text))
            return options_wrong(line, "--arg %s is given twice", text);
    must_have(array_more(&o->args, o->n_args));
    RunArg *a = &o->args[o->n_args++];
    *a = (RunArg){.key = text};
    char *why = run_value_parse(value, &a->array, &a->is_value);
    if (!why) return EXIT_FINE;
    complain(EXIT_INPUT, "run", "--arg %s: %s", text, why);
    free(why);
    return EXIT_INPUT;
}

static int take_group(const CommandLine *line, const Option *row, void *options, char *text) {
    RunOptions *o = options;
    char *value = split(text, '=');
    unsigned long long n;
    if (!value || !parse_count(value, 1u << 30, &n))
        return options_wrong(line, "%s needs %s, not '%s'", row->names, row->value, text);
    must_have(array_more(&o->groups, o->n_groups));
    o->groups[o->n_groups++] = (RunGroup){.key = text, .n_bytes = (size_t)n};
    return EXIT_FINE;
}

static int take_output(const CommandLine *line, const Option *row, void *options, char *text) {
    RunOptions *o = options;
    bool print = !strcmp(row->names, "--print");
    RunOutput out = {.key = text};
    if (print) {
        unsigned long long n = 0;
        char *count = split(text, ':');
        if (count && !parse_count(count, SIZE_MAX, &n))
            return options_wrong(line, "--print needs N or N:COUNT");
        out.count = (size_t)n;
    } else if (!(out.file = split(text, '=')) || !*out.file) {
        return options_wrong(line, "%s needs %s, not '%s'", row->names, row->value, text);
    }
    must_have(array_more(&o->outputs, o->n_outputs));
    o->outputs[o->n_outputs++] = out;
    return EXIT_FINE;
}

#define AT(FIELD) OPT_AT(RunOptions, FIELD)
static const Option rows[] = {
    {"--grid", "X[,Y[,Z]]", "threads in the grid", OPT_SIZE, AT(grid), 1, UINT32_MAX},
    {"--group", "X[,Y[,Z]]", "threads per threadgroup (default: chosen automatically)", OPT_SIZE,
     AT(group), 1, UINT32_MAX},
    {"--arg", "N=VALUE",
     "contents of buffer N (an index or an argument name):\n"
     "  data.npy          contents of a NumPy file\n"
     "  f32[1024]         1024 zeros; also f32[64,64]\n"
     "  f32[1024]=iota    0, 1, 2, ...\n"
     "  f32[1024]=random:7    random numbers with seed 7: floats from\n"
     "                        0 to 1, integers of the full range\n"
     "  f32[1024]=fill:0.5    one value everywhere\n"
     "  u32:7             one value; f32:1,2,3,4 for a vector or struct\n"
     "types: f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 bool",
     OPT_CALL, .take = take_arg},
    {"--tg", "N=BYTES", "length of threadgroup memory argument N", OPT_CALL, .take = take_group},
    {"--constant", "N=VALUE", "value of a function constant, by index or name", OPT_CALL,
     AT(constants), .take = take_constant},
    {"--out", "N=FILE.npy", "write buffer N to a NumPy file after the run", OPT_CALL,
     .take = take_output},
    {"--print", "N[:COUNT]", "print buffer N, or its first COUNT elements", OPT_CALL,
     .take = take_output},
    {"--repeat", "N", "run N times and report the time; results are those of the first run",
     OPT_WHOLE, AT(repeat), 1, 1e9},
    {"--timeout", "MS", "stop the kernel after this time", OPT_WHOLE, AT(timeout_ms), 1,
     UINT32_MAX},
    DEVICE_ROW(AT(device)),
    {"-q", NULL, "print no summary", OPT_FLAG, AT(quiet)},
};

static const CommandLine command_line = {
    .program = "ingot run",
    .usage = "FILE.metal KERNEL --grid X[,Y[,Z]] [options]",
    .about = "Runs a kernel over a grid of threads and prints its results and its time.",
    OPT_ROWS(rows),
    SOURCE_ROWS(RunOptions, source),
    .words = {offsetof(RunOptions, path), offsetof(RunOptions, kernel)},
    .n_words = 2,
    .tail = SOURCE_HELP
    "\n\n"
    "Without --out and --print the first elements of every writable buffer are printed.\n"
    "\n"
    "Example:\n"
    "  ingot run add.metal add --grid 1000 --arg 0=a.npy --arg 1=f32[1000]=fill:1 \\\n"
    "      --arg 2=f32[1000] --out 2=sum.npy\n"
    "\n"
    "Exit status: 0 success, 1 error in the shader or the data, 2 usage error.",
};

int run_options(int argc, char **argv, RunOptions *o) {
    int status = options_read(&command_line, o, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!o->path || !o->kernel || !o->grid.width)
        return options_wrong(&command_line, "%s (`ingot run --help` shows an example)",
                             !o->path     ? "a file and a kernel are required"
                             : !o->kernel ? "a kernel name is required"
                                          : "--grid X[,Y[,Z]] is required");
    return OPTIONS_GO_ON;
}

void run_options_free(RunOptions *o) {
    for (size_t i = 0; i < o->n_args; i++) {
        mtl_release(o->args[i].buffer);
        npy_free(&o->args[i].array);
    }
    free(o->args);
    free(o->groups);
    free(o->outputs);
    strings_free(&o->constants);
    source_options_free(&o->source);
}

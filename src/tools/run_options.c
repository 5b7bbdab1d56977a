// SPDX-License-Identifier: Apache-2.0
// run_options.c: the command line of `ingot run`.
#include "tools/run_int.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ingot run FILE.metal KERNEL --grid X[,Y[,Z]] [options]\n"
    "\n"
    "Runs a kernel over a grid of threads and prints what it wrote and how long it took.\n"
    "\n"
    "  --grid X[,Y[,Z]]    threads in the grid\n"
    "  --group X[,Y[,Z]]   threads of a threadgroup; otherwise a good size is chosen\n"
    "  --arg N=VALUE       what buffer N (or the argument of that name) gets:\n"
    "                        data.npy          the numbers of a NumPy file\n"
    "                        f32[1024]         1024 zeros; also f32[64,64]\n"
    "                        f32[1024]=iota    0, 1, 2, ...\n"
    "                        f32[1024]=random:7    random numbers with seed 7: real ones from\n"
    "                                              0 to 1, whole ones of the whole range\n"
    "                        f32[1024]=fill:0.5    the same number everywhere\n"
    "                        u32:7             one value; f32:1,2,3,4 for a vector or struct\n"
    "                      types: f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 bool\n"
    "  --tg N=BYTES        length of threadgroup memory N\n"
    "  --constant N=VALUE  value of a function constant, by index or name\n"
    "  --out N=FILE.npy    write buffer N to a NumPy file after the run\n"
    "  --print N[:COUNT]   print buffer N, or its first numbers\n"
    "  --repeat N          run N times for the clock; the results are those of the first run\n"
    "  --timeout MS        give up on a kernel that runs longer\n"
    "  -I DIR, -D NAME[=VALUE], --math=MODE, -std=metalM.N   as in `ingot build`\n"
    "  -q                  no line about the run itself\n"
    "\n"
    "Without --out and --print the first numbers of everything the kernel may write are shown.\n"
    "\n"
    "Example:\n"
    "  ingot run add.metal add --grid 1000 --arg 0=a.npy --arg 1=f32[1000]=fill:1 \\\n"
    "      --arg 2=f32[1000] --out 2=sum.npy\n"
    "\n"
    "Exit status: 0 fine, 1 the shader or the data is wrong, 2 the command line is wrong.\n";

static void *grow(void *list, size_t n, size_t size) {
    void *more = realloc(list, (n + 1) * size);
    if (more) return more;
    fputs("ingot: out of memory\n", stderr);
    exit(EXIT_INPUT);
}

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

static int add_arg(RunOptions *o, char *text) {
    char *value = split(text, '=');
    if (!value) return complain(EXIT_USAGE, "run", "--arg needs N=VALUE, not '%s'", text);
    for (size_t i = 0; i < o->n_args; ++i)
        if (!strcmp(o->args[i].key, text))
            return complain(EXIT_USAGE, "run", "--arg %s is given twice", text);
    o->args = grow(o->args, o->n_args, sizeof *o->args);
    RunArg *a = &o->args[o->n_args++];
    *a = (RunArg){.key = text};
    char *why = run_value_parse(value, &a->array, &a->is_value);
    if (!why) return EXIT_FINE;
    complain(EXIT_INPUT, "run", "--arg %s: %s", text, why);
    free(why);
    return EXIT_INPUT;
}

static int add_group(RunOptions *o, char *text) {
    char *value = split(text, '=');
    unsigned long long n;
    if (!value || !parse_count(value, 1u << 30, &n))
        return complain(EXIT_USAGE, "run", "--tg needs N=BYTES, not '%s'", text);
    o->groups = grow(o->groups, o->n_groups, sizeof *o->groups);
    o->groups[o->n_groups++] = (RunGroup){.key = text, .n_bytes = (size_t)n};
    return EXIT_FINE;
}

static int add_output(RunOptions *o, char *text, bool print) {
    RunOutput out = {.key = text};
    if (print) {
        unsigned long long n = 0;
        char *count = split(text, ':');
        if (count && !parse_count(count, SIZE_MAX, &n))
            return complain(EXIT_USAGE, "run", "--print needs N or N:COUNT");
        out.count = (size_t)n;
    } else if (!(out.file = split(text, '=')) || !*out.file) {
        return complain(EXIT_USAGE, "run", "--out needs N=FILE.npy, not '%s'", text);
    }
    o->outputs = grow(o->outputs, o->n_outputs, sizeof *o->outputs);
    o->outputs[o->n_outputs++] = out;
    return EXIT_FINE;
}

// Options with a value; EXIT_FINE with *known false if the argument is none of them.
static int valued(RunOptions *o, Args *a, bool *known) {
    char *v;
    unsigned long long n;
    int status = EXIT_FINE;
    if ((v = args_value(a, "--grid"))) {
        if (!parse_size(v, &o->grid))
            return complain(EXIT_USAGE, "run", "--grid needs 1 to 3 positive numbers, not '%s'", v);
    } else if ((v = args_value(a, "--group"))) {
        if (!parse_size(v, &o->group))
            return complain(EXIT_USAGE, "run", "--group needs 1 to 3 positive numbers, not '%s'",
                            v);
    } else if ((v = args_value(a, "--arg")))
        return add_arg(o, v);
    else if ((v = args_value(a, "--tg")))
        return add_group(o, v);
    else if ((v = args_value(a, "--out")))
        return add_output(o, v, false);
    else if ((v = args_value(a, "--print")))
        return add_output(o, v, true);
    else if ((v = args_value(a, "--constant"))) {
        if (!strchr(v, '=') || *v == '=')
            return complain(EXIT_USAGE, "run", "--constant needs N=VALUE, not '%s'", v);
        strings_add(&o->constants, v);
    } else if ((v = args_value(a, "--repeat"))) {
        if (!parse_count(v, 1000000000, &n) || !n)
            return complain(EXIT_USAGE, "run", "--repeat needs a number from 1 on, not '%s'", v);
        o->repeat = (size_t)n;
    } else if ((v = args_value(a, "--timeout"))) {
        if (!parse_count(v, UINT32_MAX, &n))
            return complain(EXIT_USAGE, "run", "--timeout needs milliseconds, not '%s'", v);
        o->timeout_ms = (uint32_t)n;
    } else if (!source_option(&o->source, a, "run", &status)) {
        *known = false;
    }
    return status;
}

int run_options(int argc, char **argv, RunOptions *o) {
    Args a = {argc, 0, argv, NULL};
    while (args_next(&a)) {
        if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(usage, stdout);
            o->help = true;
            return EXIT_FINE;
        }
        if (args_flag(&a, "-q")) {
            o->quiet = true;
            continue;
        }
        if (!args_is_option(&a)) {
            if (!o->path)
                o->path = args_here(&a);
            else if (!o->kernel)
                o->kernel = args_here(&a);
            else
                return args_unknown(&a, "run");
            continue;
        }
        bool known = true;
        int status = valued(o, &a, &known);
        if (status) return status;
        if (!known || a.missing) return args_unknown(&a, "run");
    }
    if (!o->path || !o->kernel || !o->grid.width)
        return complain(EXIT_USAGE, "run", "%s (`ingot run --help` shows an example)",
                        !o->path     ? "which file and which kernel?"
                        : !o->kernel ? "which kernel of the file?"
                                     : "how many threads? --grid X[,Y[,Z]]");
    return EXIT_FINE;
}

void run_options_free(RunOptions *o) {
    for (size_t i = 0; i < o->n_args; ++i) {
        mtl_release(o->args[i].buffer);
        npy_free(&o->args[i].array);
    }
    free(o->args);
    free(o->groups);
    free(o->outputs);
    strings_free(&o->constants);
    source_options_free(&o->source);
}

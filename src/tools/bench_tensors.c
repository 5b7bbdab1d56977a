// SPDX-License-Identifier: Apache-2.0
// bench_tensors.c: `ingot bench tensors`: the command line. Measures, prints, writes, compares.
#include "tools/bench_tensors.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "tools/tools.h"

enum { EXIT_SLOWER = 3 };

static const char usage[] =
    "usage: ingot bench tensors [options]\n"
    "\n"
    "Measures the tensor library: products of matrices, element-wise operations,\n"
    "sums, transfers, fused against separate operations, pooled against fresh\n"
    "memory, the cost of small operations and a training loop.\n"
    "\n"
    "  --runs N          runs of each row (100)\n"
    "  --warmups N       runs before these that do not count (10)\n"
    "  --seconds S       a row ends after this and at least three runs (1)\n"
    "  --quick           small sizes, three runs\n"
    "  --only TEXT       rows whose operation contains TEXT\n"
    "  --json FILE       writes the figures, for --compare\n"
    "  --compare FILE    ratio of each row's shortest time to that of an earlier\n"
    "                    --json; exit status 3 if a row became slower by more than\n"
    "  --threshold P     this many per cent (20)\n"
    "  --svg FILE        draws a chart\n"
    "\n"
    "Columns: mean, shortest and longest time of a run in ms, from the first call\n"
    "until the result is there; GFLOPS and GB/s (bytes read and written once) of\n"
    "the mean. Exit status: 0 fine, 1 a file or the machine is at fault, 2 the\n"
    "command line is, 3 slower than the baseline.\n";

typedef struct Files {
    const char *json, *compare, *svg;
    double percent;
} Files;

static bool number(const char *text, double low, double high, double *value) {
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end || errno || !(v >= low && v <= high)) return false;
    *value = v;
    return true;
}

static int wrong(const char *name, const char *what, const char *value) {
    return complain(EXIT_USAGE, "bench tensors", "%s takes %s, not '%s'", name, what, value);
}

// -1: go on.
static int parse(int argc, char **argv, BenchOptions *o, Files *files) {
    static const struct {
        const char *name, *what;
        double low, high;
    } numbers[] = {{"--runs", "1 to 100000", 1, 100000},
                   {"--warmups", "0 to 100000", 0, 100000},
                   {"--seconds", "0 to 3600", 0, 3600},
                   {"--threshold", "0 to 10000 per cent", 0, 10000}};
    double values[] = {100, 10, 1, 20};
    Args a = {argc, 0, argv, NULL};
    while (args_next(&a)) {
        const char *v = NULL;
        size_t k = 0;
        while (k < 4 && !(v = args_value(&a, numbers[k].name))) k++;
        if (v && !number(v, numbers[k].low, numbers[k].high, &values[k]))
            return wrong(numbers[k].name, numbers[k].what, v);
        if (v) continue;
        if ((v = args_value(&a, "--only"))) {
            o->only = v;
        } else if ((v = args_value(&a, "--json"))) {
            files->json = v;
        } else if ((v = args_value(&a, "--compare"))) {
            files->compare = v;
        } else if ((v = args_value(&a, "--svg"))) {
            files->svg = v;
        } else if (args_flag(&a, "--quick")) {
            o->quick = true;
            values[0] = 3, values[1] = 1;
        } else if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(usage, stdout);
            return EXIT_FINE;
        } else {
            return args_unknown(&a, "bench tensors");
        }
    }
    o->runs = (int)values[0], o->warmups = (int)values[1], o->seconds = values[2];
    files->percent = values[3];
    return -1;
}

static int write_file(const char *path, char *text) {
    bool ok = text && file_write_atomic(path, text, strlen(text), false);
    if (!ok) complain(EXIT_INPUT, "bench tensors", "cannot write '%s': %s", path, strerror(errno));
    free(text);
    return ok ? EXIT_FINE : EXIT_INPUT;
}

int bench_tensors(int argc, char **argv) {
    BenchOptions options = {0};
    Files files = {0};
    int status = parse(argc, argv, &options, &files);
    if (status >= 0) return status;
    BenchReport *now = must_alloc(1, sizeof *now), *before = NULL;
    status = EXIT_INPUT;
    if (files.compare) { // before the minute of measuring
        before = must_alloc(1, sizeof *before);
        if (!bench_tensors_read(files.compare, before)) goto done;
    }
    if (!bench_tensors_run(&options, now)) goto done;
    if (now->n == 0 && !now->trained) {
        complain(EXIT_INPUT, "bench tensors", "no row's operation contains '%s'", options.only);
        goto done;
    }
    bench_tensors_print(now);
    if (files.json && write_file(files.json, bench_tensors_json(now))) goto done;
    if (files.svg && write_file(files.svg, bench_tensors_svg(now, before))) goto done;
    status = EXIT_FINE;
    if (!before) goto done;
    size_t common = 0;
    if (bench_tensors_compare(now, before, files.percent, &common)) status = EXIT_SLOWER;
    if (common == 0)
        status = complain(EXIT_INPUT, "bench tensors", "'%s' has none of these rows",
                          files.compare);
done:
    free(before);
    free(now);
    return status;
}

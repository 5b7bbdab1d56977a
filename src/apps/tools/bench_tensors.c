// SPDX-License-Identifier: Apache-2.0
// bench_tensors.c: `ingot bench tensors`: the command line. Measures, prints, writes, compares.
#include "apps/tools/bench_tensors.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "apps/tools/tools.h"

enum { EXIT_SLOWER = 3 };

typedef struct Job {
    BenchOptions options;
    bool has_runs, has_warmups;
    const char *json, *compare, *svg;
    double percent;
} Job;

#define AT(FIELD) OPT_AT(Job, FIELD)
static const Option rows[] = {
    {"--runs", "N", "runs of each row", OPT_WHOLE, AT(options.runs), 1, 100000, "100",
     OPT_GIVEN(Job, has_runs)},
    {"--warmups", "N", "warm-up runs before these", OPT_WHOLE, AT(options.warmups), 0, 100000, "10",
     OPT_GIVEN(Job, has_warmups)},
    {"--seconds", "S", "time limit of a row, after at least three runs", OPT_REAL,
     AT(options.seconds), 0, 3600, "1"},
    {"--quick", NULL, "small sizes, three runs", OPT_FLAG, AT(options.quick)},
    {"--only", "TEXT", "rows whose operation contains TEXT", OPT_TEXT, AT(options.only)},
    {"--json", "FILE", "write the results, for --compare", OPT_TEXT, AT(json)},
    {"--compare", "FILE",
     "compare each row's best time with an earlier --json; exit\n"
     "status 3 if a row is slower by more than the threshold",
     OPT_TEXT, AT(compare)},
    {"--threshold", "P", "in per cent", OPT_REAL, AT(percent), 0, 10000, "20"},
    {"--svg", "FILE", "draw a chart", OPT_TEXT, AT(svg)},
};
static const CommandLine line = {
    .program = "ingot bench tensors",
    .usage = "[options]",
    .about =
        "Measures the tensor library: matrix multiplication, element-wise operations, sums,\n"
        "transfers, fusion, memory pooling, the overhead of small operations and a training loop.",
    OPT_ROWS(rows),
    .column = 20,
    .tail = "Columns: mean, best and worst time of a run in ms, from the first call until the "
            "result is\n"
            "available; GFLOPS and GB/s (bytes read and written once) of the mean. Exit status:\n"
            "0 success, 1 file or device error, 2 usage error, 3 slower than the baseline.",
};

static int write_file(const char *path, char *text) {
    bool ok = text && file_write_atomic(path, text, strlen(text), false);
    if (!ok) complain(EXIT_INPUT, "bench tensors", "cannot write '%s': %s", path, strerror(errno));
    free(text);
    return ok ? EXIT_FINE : EXIT_INPUT;
}

int bench_tensors(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (job.options.quick && !job.has_runs) job.options.runs = 3;
    if (job.options.quick && !job.has_warmups) job.options.warmups = 1;
    BenchReport *now = must_alloc(1, sizeof *now), *before = NULL;
    status = EXIT_INPUT;
    if (job.compare) { // before the minute of measuring
        before = must_alloc(1, sizeof *before);
        if (!bench_tensors_read(job.compare, before)) goto done;
    }
    if (!bench_tensors_run(&job.options, now)) goto done;
    if (now->n == 0 && !now->trained) {
        complain(EXIT_INPUT, "bench tensors", "no row's operation contains '%s'", job.options.only);
        goto done;
    }
    bench_tensors_print(now);
    if (job.json && write_file(job.json, bench_tensors_json(now))) goto done;
    if (job.svg && write_file(job.svg, bench_tensors_svg(now, before))) goto done;
    status = EXIT_FINE;
    if (!before) goto done;
    size_t common = 0;
    if (bench_tensors_compare(now, before, job.percent, &common)) status = EXIT_SLOWER;
    if (common == 0)
        status = complain(EXIT_INPUT, "bench tensors", "'%s' has none of these rows", job.compare);
done:
    free(before);
    free(now);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// bench_tensors_report.c: the figures of `ingot bench tensors` as tables and as JSON, back from
// JSON, and beside earlier ones. Rows are compared by their shortest times: what else the machine
// does makes the others longer.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "apps/tools/bench_tensors.h"
#include "apps/tools/tools.h"

static const char *const group_names[BENCH_N_GROUPS] = { // as in files
    "matmul", "elementwise", "reduction", "transfer", "fusion", "pool", "launch", "training"};
static const char format_name[] = "ingot-bench-tensors";

// ---- Tables ----

static void print_figure(double value) {
    if (value > 0)
        printf(" %9.2f", value);
    else
        printf(" %9s", "-");
}

static bool has_group(const BenchReport *r, BenchGroup group) {
    for (size_t i = 0; i < r->n; i++)
        if (r->rows[i].group == group) return true;
    return false;
}

static void print_line(int n) {
    while (n-- > 0) putchar('-');
    putchar('\n');
}

// Two ways of the same.
static void print_ways(const BenchReport *r, BenchGroup group, const char *other,
                       const char *this) {
    if (!has_group(r, group)) return;
    printf("\n%-28s %-18s %15s %12s %8s\n", "Operation", "Size", other, this, "Speedup");
    print_line(85);
    for (size_t i = 0; i < r->n; i++) {
        const BenchRow *row = &r->rows[i];
        if (row->group == group)
            printf("%-28s %-18s %15.4f %12.4f %7.2fx\n", row->operation, row->size, row->other_ms,
                   row->avg_ms, row->other_ms / row->avg_ms);
    }
}

static void print_summary(const BenchReport *r) {
    double flops = 0, bytes = 0;
    puts("\nSummary");
    for (size_t i = 0; i < r->n; i++) {
        if (r->rows[i].gflops > flops) flops = r->rows[i].gflops;
        if (r->rows[i].gbs > bytes) bytes = r->rows[i].gbs;
    }
    if (flops > 0) printf("  peak %.1f GFLOPS\n", flops);
    if (bytes > 0) printf("  peak %.1f GB/s\n", bytes);
    for (int g = 0; g <= BENCH_TRANSFER; g++) {
        double sum = 0;
        int n = 0;
        for (size_t i = 0; i < r->n; i++)
            if ((int)r->rows[i].group == g) sum += r->rows[i].avg_ms, n++;
        if (n) printf("  mean latency of %s: %.4f ms\n", group_names[g], sum / n);
    }
    for (size_t i = 0; i < r->n; i++)
        if (r->rows[i].group == BENCH_LAUNCH)
            printf("  %s: %.2f us each\n", r->rows[i].operation, r->rows[i].avg_ms * 1e3);
    if (r->trained)
        printf("  training loop: %.1f %% of the buffers reused, %.0f kernels a step, %lld bytes "
               "of growth\n",
               100 * r->reuse, r->kernels_per_step, (long long)r->growth);
}

void bench_tensors_print(const BenchReport *r) {
    printf("%s, %llu threads\n\n", r->device, (unsigned long long)r->threads);
    printf("%-28s %-18s %10s %10s %10s %9s %9s\n", "Operation", "Size", "Avg (ms)", "Min (ms)",
           "Max (ms)", "GFLOPS", "GB/s");
    print_line(100);
    for (size_t i = 0; i < r->n; i++) {
        const BenchRow *row = &r->rows[i];
        if (row->other_ms > 0) continue;
        printf("%-28s %-18s %10.4f %10.4f %10.4f", row->operation, row->size, row->avg_ms,
               row->min_ms, row->max_ms);
        print_figure(row->gflops);
        print_figure(row->gbs);
        putchar('\n');
    }
    print_ways(r, BENCH_FUSION, "Separate (ms)", "Fused (ms)");
    print_ways(r, BENCH_POOL, "No pool (ms)", "Pooled (ms)");
    print_summary(r);
}

// ---- Files ----

char *bench_tensors_json(const BenchReport *r) {
    Text t = {0};
    text_printf(&t, "{\n\"format\": \"%s\",\n\"version\": 1,\n\"device\": ", format_name);
    json_string(&t, r->device);
    text_printf(&t, ",\n\"threads\": %llu,\n\"rows\": [", (unsigned long long)r->threads);
    for (size_t i = 0; i < r->n; i++) {
        const BenchRow *row = &r->rows[i];
        text_printf(&t, "%s\n{\"group\": \"%s\", \"operation\": ", i ? "," : "",
                    group_names[row->group]);
        json_string(&t, row->operation);
        text_add(&t, ", \"size\": ");
        json_string(&t, row->size);
        text_printf(&t,
                    ", \"runs\": %d, \"avg_ms\": %.9g, \"min_ms\": %.9g, \"max_ms\": %.9g, "
                    "\"gflops\": %.6g, \"gbs\": %.6g, \"other_ms\": %.9g}",
                    row->runs, row->avg_ms, row->min_ms, row->max_ms, row->gflops, row->gbs,
                    row->other_ms);
    }
    text_add(&t, "\n]");
    if (r->trained)
        text_printf(&t,
                    ",\n\"training\": {\"reuse\": %.6g, \"kernels_per_step\": %.6g, "
                    "\"growth_bytes\": %lld}",
                    r->reuse, r->kernels_per_step, (long long)r->growth);
    text_add(&t, "\n}\n");
    return text_take(&t);
}

static bool read_group(JsonReader *json, BenchGroup *group) {
    char name[32];
    if (!json_string_value(json, name, sizeof name)) return false;
    for (int g = 0; g < BENCH_N_GROUPS; g++)
        if (!strcmp(name, group_names[g])) {
            *group = (BenchGroup)g;
            return true;
        }
    return json_fail(json, "no group is named '%s'", name);
}

static bool read_row(JsonReader *json, BenchRow *row) {
    const char *key;
    bool group = false;
    if (!json_enter_object(json)) return false;
    while (json_next_key(json, &key)) {
        uint64_t runs;
        if (!strcmp(key, "group"))
            group = read_group(json, &row->group);
        else if (!strcmp(key, "operation"))
            json_string_value(json, row->operation, sizeof row->operation);
        else if (!strcmp(key, "size"))
            json_string_value(json, row->size, sizeof row->size);
        else if (!strcmp(key, "runs") && json_uint(json, &runs, 1, 1000000))
            row->runs = (int)runs;
        else if (!strcmp(key, "avg_ms"))
            json_double(json, &row->avg_ms);
        else if (!strcmp(key, "min_ms"))
            json_double(json, &row->min_ms);
        else if (!strcmp(key, "max_ms"))
            json_double(json, &row->max_ms);
        else if (!strcmp(key, "gflops"))
            json_double(json, &row->gflops);
        else if (!strcmp(key, "gbs"))
            json_double(json, &row->gbs);
        else if (!strcmp(key, "other_ms"))
            json_double(json, &row->other_ms);
        else if (json_ok(json))
            json_skip(json);
    }
    if (!json_ok(json)) return false;
    if (!group) return json_fail_key(json, "group", "is missing");
    if (!*row->operation) return json_fail_key(json, "operation", "is missing");
    if (!(row->min_ms > 0 && row->min_ms < 1e12))
        return json_fail_key(json, "min_ms", "is missing or no time");
    return true;
}

static bool read_rows(JsonReader *json, BenchReport *r) {
    if (!json_enter_array(json)) return false;
    while (json_next_item(json)) {
        if (r->n == BENCH_MAX_ROWS) return json_fail(json, "more than %d rows", BENCH_MAX_ROWS);
        if (!read_row(json, &r->rows[r->n])) return false;
        r->n++;
    }
    return json_ok(json);
}

static bool read_report(JsonReader *json, BenchReport *r) {
    const char *key;
    char format[64] = "";
    bool rows = false;
    uint64_t version = 0;
    if (!json_enter_object(json)) return false;
    while (json_next_key(json, &key)) {
        if (!strcmp(key, "format"))
            json_string_value(json, format, sizeof format);
        else if (!strcmp(key, "version"))
            json_uint(json, &version, 0, 1000);
        else if (!strcmp(key, "device"))
            json_string_value(json, r->device, sizeof r->device);
        else if (!strcmp(key, "threads"))
            json_uint(json, &r->threads, 0, 1u << 20);
        else if (!strcmp(key, "rows") && !rows)
            rows = read_rows(json, r);
        else
            json_skip(json);
    }
    if (!json_ok(json)) return false;
    if (strcmp(format, format_name)) return json_fail_key(json, "format", "is not this tool's");
    if (version != 1) return json_fail_key(json, "version", "is not 1");
    return rows || json_fail_key(json, "rows", "is missing");
}

bool bench_tensors_read(const char *path, BenchReport *r) {
    size_t n;
    char message[JSON_MESSAGE_BYTES] = "";
    unsigned char *text = file_read(path, &n);
    if (!text) {
        complain(EXIT_INPUT, "bench tensors", "cannot read '%s'", path);
        return false;
    }
    JsonReader json;
    json_begin(&json, (const char *)text, n, path, message);
    bool ok = read_report(&json, r) && json_finish(&json);
    if (!ok) complain(EXIT_INPUT, "bench tensors", "%s", message);
    free(text);
    return ok;
}

// ---- Comparison ----

const BenchRow *bench_tensors_find(const BenchReport *r, const BenchRow *like) {
    for (size_t i = 0; r && i < r->n; i++)
        if (r->rows[i].group == like->group && !strcmp(r->rows[i].operation, like->operation) &&
            !strcmp(r->rows[i].size, like->size))
            return &r->rows[i];
    return NULL;
}

size_t bench_tensors_compare(const BenchReport *now, const BenchReport *before, double percent,
                             size_t *common) {
    size_t slower = 0;
    double logs = 0;
    *common = 0;
    for (size_t i = 0; i < now->n; i++) {
        const BenchRow *row = &now->rows[i], *old = bench_tensors_find(before, row);
        if (!old) continue;
        if (!(*common)++) {
            printf("\n%-28s %-18s %13s %10s %7s\n", "Operation", "Size", "Baseline (ms)",
                   "Now (ms)", "Ratio");
            print_line(88);
        }
        double ratio = row->min_ms / old->min_ms;
        bool worse = ratio > 1 + percent / 100;
        slower += worse;
        logs += log(ratio);
        printf("%-28s %-18s %13.4f %10.4f %6.2fx%s\n", row->operation, row->size, old->min_ms,
               row->min_ms, ratio,
               worse                             ? "  SLOWER"
               : ratio < 1 / (1 + percent / 100) ? "  faster"
                                                 : "");
    }
    if (*common)
        printf("\n%zu rows, typical ratio %.2f; %zu slower by more than %g %%\n", *common,
               exp(logs / (double)*common), slower, percent);
    return slower;
}

// SPDX-License-Identifier: Apache-2.0
// test_random.c: random fragment functions, vectorised against reference code, bit for bit: nested
// branches and loops that lanes take apart, discard anywhere, derivatives, writes to a buffer.
//   test_stage_random STDLIB PCH_DIR [first seed [count]]
// A failure prints the function and the command that runs it alone.
#include "stage_test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 16384, N_VARIABLES = 5, N_STEPS = 12 };

typedef struct Writer {
    char text[MAX_TEXT];
    size_t n;
    uint32_t seed;
    int loops;     // made so far, for names
    bool returned; // some lanes may be gone: quads are not complete any more
} Writer;

static uint32_t roll(Writer *w, uint32_t n) { return next_random(&w->seed) % n; }

static void put(Writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->n, sizeof w->text - w->n, format, args);
    va_end(args);
    w->n += (size_t)n < sizeof w->text - w->n ? (size_t)n : sizeof w->text - w->n - 1;
}

// An int expression: all operations are defined for all values.
static void expression(Writer *w, int depth) {
    static const char *const leaves[] = {"px", "py", "id", "u", "v"};
    uint32_t kind = depth <= 0 ? roll(w, 3) : roll(w, 9);
    switch (kind) {
    case 0: put(w, "a%u", roll(w, N_VARIABLES)); return;
    case 1: put(w, "%s", leaves[roll(w, 5)]); return;
    case 2: put(w, "%d", (int)roll(w, 20) - 5); return;
    case 3: put(w, "k[("), expression(w, depth - 1), put(w, ") & 15]"); return;
    default: break;
    }
    static const char *const operators[] = {"+", "-", "*", "^", "&", "|"};
    put(w, "("), expression(w, depth - 1);
    put(w, " %s ", operators[roll(w, 6)]);
    expression(w, depth - 1), put(w, ")");
}

static void condition(Writer *w) {
    static const char *const compare[] = {"<", ">", "==", "!="};
    put(w, "(("), expression(w, 1), put(w, ") & 7) %s %u", compare[roll(w, 4)], roll(w, 7));
}

// together: all lanes of a quad are here. in_loop: break and continue make sense.
static void statement(Writer *w, int depth, bool together, bool in_loop) {
    uint32_t kind = roll(w, depth > 0 ? 12 : 7);
    switch (kind) {
    case 0:
    case 1:
    case 2: put(w, "a%u = ", roll(w, N_VARIABLES)), expression(w, 2), put(w, ";\n"); return;
    case 3: put(w, "out[at] += "), expression(w, 1), put(w, ";\n"); return;
    case 4: put(w, "if ("), condition(w), put(w, " && (a0 & 1)) discard_fragment();\n"); return;
    case 5:
        if (together && !w->returned)
            put(w, "a%u ^= int(dfd%c(float((%s) & 1023)));\n", roll(w, N_VARIABLES),
                roll(w, 2) ? 'x' : 'y', roll(w, 2) ? "a1" : "px * 3 + py * 5 + u");
        else if (in_loop)
            put(w, "if ("), condition(w), put(w, ") %s;\n", roll(w, 2) ? "break" : "continue");
        return;
    case 6:
        put(w, "tmp[("), expression(w, 1),
            put(w, ") & 3] = a%u; a%u += tmp[a%u & 3];\n", roll(w, N_VARIABLES),
                roll(w, N_VARIABLES), roll(w, N_VARIABLES));
        return;
    case 7:
        if (together) return;
        w->returned = true;
        put(w, "if ("), condition(w), put(w, ") return int4(a0, a1, a2, 77);\n");
        return;
    case 8:
    case 9: {
        int n = w->loops++;
        put(w, "for (int i%d = 0; i%d < ((", n, n), expression(w, 1),
            put(w, ") & 3); i%d++) {\n", n);
        for (uint32_t k = 1 + roll(w, 3); k > 0; k--) statement(w, depth - 1, false, true);
        put(w, "}\n");
        return;
    }
    default:
        put(w, "if ("), condition(w), put(w, ") {\n");
        for (uint32_t k = 1 + roll(w, 3); k > 0; k--) statement(w, depth - 1, false, in_loop);
        if (roll(w, 2)) {
            put(w, "} else {\n");
            for (uint32_t k = 1 + roll(w, 2); k > 0; k--) statement(w, depth - 1, false, in_loop);
        }
        put(w, "}\n");
    }
}

static void write_function(Writer *w) {
    put(w, "#include <metal_stdlib>\n"
           "using namespace metal;\n"
           "struct In { float4 p [[position]]; float2 uv; int id [[flat]]; };\n"
           "fragment int4 f(In in [[stage_in]], device int *out [[buffer(0)]], constant int *k "
           "[[buffer(1)]]) {\n"
           "int px = int(in.p.x), py = int(in.p.y), at = (py & 3) * 8 + (px & 7), id = in.id;\n"
           "int u = int(in.uv.x * 16), v = int(in.uv.y * 16);\n"
           "int a0 = px, a1 = py, a2 = u, a3 = v, a4 = id, tmp[4] = {1, px, py, 7};\n");
    for (uint32_t k = 3 + roll(w, 5); k > 0; k--) statement(w, 3, true, false);
    put(w, "return int4(a0, a1 ^ a3, a2 + a4, tmp[a1 & 3]); }\n");
}

typedef struct Result {
    uint32_t kept[N_STEPS];
    int32_t out[N_STEPS][LANES];
    uint32_t colors[N_STEPS][4 * LANES];
} Result;

static void run_all(Stage *s, uint32_t seed, Result *result) {
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    int32_t k[16];
    for (int i = 0; i < 16; i++) k[i] = (int32_t)next_random(&seed) % 100;
    for (int step = 0; step < N_STEPS; step++) {
        uint32_t covered = next_random(&seed) | (step % 3 ? 0 : next_random(&seed));
        if (step % 4 == 1) covered &= next_random(&seed) & next_random(&seed);
        fragment_begin(r, (int)(next_random(&seed) % 64) * 8, (int)(next_random(&seed) % 64) * 4,
                       covered);
        r->planes[0] = (CpuPlane){(float)(next_random(&seed) % 64) / 16, .0625f, .125f};
        r->planes[1] = (CpuPlane){(float)(next_random(&seed) % 64) / 16, -.125f, .0625f};
        r->planes[2].at = as_float(next_random(&seed) % 16);
        memset(result->out[step], 0, sizeof result->out[step]);
        s->args[0] = result->out[step], s->args[1] = k;
        s->lengths[0] = sizeof result->out[step], s->lengths[1] = sizeof k;
        cpu_code_fragment(s->code)(&s->launch, &r->step);
        result->kept[step] = r->step.kept;
        for (int c = 0; c < 4 * LANES; c++) // what a dropped pixel gives is of no interest
            result->colors[step][c] = r->step.kept >> c % LANES & 1 ? r->colors[c] : 0;
    }
    free(r);
}

static uint32_t first_seed = 1, count = 12;

TEST(vectorised_as_lane_by_lane) {
    Result *results = calloc(2, sizeof *results);
    for (uint32_t seed = first_seed; seed < first_seed + count; seed++) {
        Writer w = {.seed = seed * 2654435761u};
        write_function(&w);
        for (int way = 0; way < 2; way++) {
            setenv("INGOT_WIDTH", way ? "1" : "0", 1);
            Stage *s = stage_open(w.text, "f", NULL);
            run_all(s, seed, &results[way]);
            stage_close(s);
        }
        if (memcmp(&results[0], &results[1], sizeof *results) == 0) continue;
        const Result *a = &results[0], *b = &results[1];
        for (int step = 0; step < N_STEPS; step++) {
            if (a->kept[step] != b->kept[step])
                print_error("step %d: kept %08x and %08x\n", step, a->kept[step], b->kept[step]);
            for (int l = 0; l < LANES; l++)
                if (a->out[step][l] != b->out[step][l])
                    print_error("step %d: out[%d] %d and %d\n", step, l, a->out[step][l],
                                b->out[step][l]);
            for (int c = 0; c < 4 * LANES; c++)
                if (a->colors[step][c] != b->colors[step][c])
                    print_error("step %d: component %d, lane %d: %08x and %08x\n", step, c / LANES,
                                c % LANES, a->colors[step][c], b->colors[step][c]);
        }
        fail_msg("vectorised and reference code differ; rerun with seed %u 1\n%s", seed, w.text);
    }
    free(results);
}

int main(int argc, char **argv) {
    stage_folders(argc, argv);
    if (argc > 3) first_seed = (uint32_t)strtoul(argv[3], NULL, 10);
    if (argc > 4) count = (uint32_t)strtoul(argv[4], NULL, 10);
    return unit_run(NULL, NULL);
}

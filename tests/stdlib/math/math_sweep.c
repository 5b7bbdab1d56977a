// SPDX-License-Identifier: Apache-2.0
// math_sweep: worst error of each function of one argument over all floats, or every n-th of them.
//   math_sweep [STEP [NAME ...]]   STEP 1 is exhaustive: minutes per function. Feeds
//   docs/guide/math.md.
#include <stdio.h>
#include <stdlib.h>

#include "math_functions.h"

typedef struct {
    double ulp;
    uint32_t at;
} worst;

static void note(worst *w, double ulp, uint32_t at) {
    if (ulp > w->ulp) {
        w->ulp = ulp;
        w->at = at;
    }
}

static void sweep(const function *f, uint64_t step) {
    worst precise = {0, 0}, fast = {0, 0};
    double fast_abs = 0;
    for (uint64_t u = 0; u <= UINT32_MAX; u += step) {
        float x = float_of((uint32_t)u);
        double want = f->reference((double)x);
        note(&precise, ulp_error(f->precise(x), want), (uint32_t)u);
        float ax = fabsf(x), got = f->fast(x);
        if (!(ax >= f->lo_fast && ax <= f->hi_fast)) {
            continue;
        }
        double off = fabs((double)got - want);
        if (off > f->abs_fast || isnan(off)) {
            note(&fast, ulp_error(got, want), (uint32_t)u);
        }
        if (off < INFINITY && off > fast_abs) {
            fast_abs = off;
        }
    }
    printf("%-7s precise %10.4f ulp at %-16.9g (%08x)   fast %10.4f ulp at %-16.9g (abs %.3g)%s\n",
           f->name, precise.ulp, (double)float_of(precise.at), precise.at, fast.ulp,
           (double)float_of(fast.at), fast_abs,
           precise.ulp > f->ulp_precise || fast.ulp > f->ulp_fast ? "  OVER" : "");
    fflush(stdout);
}

int main(int argc, char **argv) {
    uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 257;
    if (step == 0) {
        fprintf(stderr, "math_sweep: the step must be a positive number\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        int wanted = argc <= 2;
        for (int a = 2; a < argc; a++) {
            wanted |= strcmp(argv[a], functions[i].name) == 0;
        }
        if (wanted) {
            sweep(&functions[i], step);
        }
    }
    return 0;
}

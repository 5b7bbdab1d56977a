// SPDX-License-Identifier: Apache-2.0
// math_functions.h: the functions of one argument with their references and bounds, as a table.
#ifndef INGOT_TESTS_MATH_FUNCTIONS_H
#define INGOT_TESTS_MATH_FUNCTIONS_H
#include "math_reference.h"

typedef struct {
    const char *name;
    float (*precise)(float);
    float (*fast)(float);
    double (*reference)(double);
    double ulp_precise, ulp_fast, abs_fast, lo_fast, hi_fast;
} function;

#define F(n, p, f, r, up, uf, af, lo, hi) {#n, p, f, r, up, uf, af, lo, hi},
static const function functions[] = {
#include "math_functions.def"
};
#undef F
#endif

// SPDX-License-Identifier: Apache-2.0
// grad_check.c: gradients against central differences. The function is called on copies: the
// caller's tensors and their gradients are left alone.
#include <math.h>
#include <stdlib.h>
#include "tensor/tensor_int.h"

// The sum of what the function gives, in double: differences of large sums lose little.
static bool value_of(IgFunction *function, void *context, int n, IgTensor *const *inputs,
                     double *out, MTLError **error) {
    IgTensor *y = function(context, n, inputs, error);
    void *data = NULL;
    IgTensor *packed = ig_contiguous(y, error);
    bool ok = packed && ig_map(packed, &data, error);
    *out = 0;
    for (int64_t i = 0; ok && i < ig_numel(packed); i++)
        *out += ig_element_get(ig_type(packed), data, i);
    return ok;
}

typedef struct Sums {
    double relative, absolute;
} Sums;

static void compare(double got, double want, const IgGradientCheckOptions *o, IgGradientCheck *r,
                    Sums *sums) {
    double absolute = fabs(got - want), scale = fmax(fabs(got), fabs(want));
    double relative = scale > 0 ? absolute / scale : 0;
    bool bad = !(absolute <= o->absolute || relative <= o->relative); // not a number is bad
    r->max_absolute = fmax(r->max_absolute, absolute);
    r->max_relative = fmax(r->max_relative, relative);
    sums->absolute += absolute;
    sums->relative += relative;
    r->n_checked++;
    r->n_failed += bad;
}

// Element by element of one input; inputs are leaves of ours.
static bool check_input(IgFunction *function, void *context, int n, IgTensor **inputs, int which,
                        IgTensor *grad, const IgGradientCheckOptions *o, IgGradientCheck *r,
                        Sums *sums, MTLError **error) {
    IgTensor *x = inputs[which];
    IgType type = ig_type(x);
    size_t n_bytes = (size_t)ig_numel(x) * ig_type_size(type);
    char *values = malloc(n_bytes + 1), *slopes = malloc(n_bytes + 1);
    bool ok = values && slopes;
    if (!ok) ig_fail_no_memory(error);
    ok = ok && ig_read(x, values, n_bytes, error) && ig_read(grad, slopes, n_bytes, error);
    for (int64_t i = 0; ok && i < ig_numel(x); i++) {
        IgScope *scope = ig_scope_begin();
        double was = ig_element_get(type, values, i), up = 0, down = 0, high, low;
        ig_element_set(type, values, i, was + o->step);
        high = ig_element_get(type, values, i); // as far as the type lets it go
        ok = ig_write(x, values, n_bytes, error) &&
             value_of(function, context, n, inputs, &up, error);
        ig_element_set(type, values, i, was - o->step);
        low = ig_element_get(type, values, i);
        ok = ok && ig_write(x, values, n_bytes, error) &&
             value_of(function, context, n, inputs, &down, error);
        ig_element_set(type, values, i, was);
        if (ok) compare(ig_element_get(type, slopes, i), (up - down) / (high - low), o, r, sums);
        ig_scope_end(scope);
    }
    ok = ok && ig_write(x, values, n_bytes, error);
    free(values);
    free(slopes);
    return ok;
}

static IgTensor *sum_of(IgTensor *y, MTLError **error) { return ig_sum(y, IG_ALL, false, error); }

bool ig_gradient_check(IgFunction *function, void *context, int n, IgTensor *const *inputs,
                       const IgGradientCheckOptions *options, IgGradientCheck *result,
                       MTLError **error) {
    if (!function || n < 1 || !inputs || !result)
        return ig_fail(error, IgErrorArgument, "ig_gradient_check: no function, inputs or result");
    IgGradientCheckOptions o = options ? *options : (IgGradientCheckOptions){0};
    if (!(o.step > 0)) o.step = 1e-2;
    if (!(o.relative > 0)) o.relative = 1e-2;
    if (!(o.absolute > 0)) o.absolute = 1e-3;
    *result = (IgGradientCheck){0};
    IgTensor **copies = calloc((size_t)n * 2, sizeof *copies), **grads = copies ? copies + n : NULL;
    if (!copies) return ig_fail_no_memory(error);
    IgScope *scope = ig_scope_begin();
    bool ok = scope != NULL;
    for (int i = 0; ok && i < n; i++) {
        IgTensor *plain = ig_detach(inputs[i], error);
        copies[i] = plain ? ig_contiguous(plain, error) : NULL;
        ok = copies[i] && ig_set_requires_grad(copies[i], true, error);
    }
    IgTensor *y = ok ? sum_of(function(context, n, copies, error), error) : NULL;
    ok = y && ig_grad_of(1, &y, NULL, n, copies, NULL, grads, error);
    ig_no_grad_begin();
    Sums sums = {0};
    for (int i = 0; ok && i < n; i++)
        ok = check_input(function, context, n, copies, i, grads[i], &o, result, &sums, error);
    ig_no_grad_end();
    ig_scope_end(scope);
    free(copies);
    if (result->n_checked) {
        result->mean_absolute = sums.absolute / (double)result->n_checked;
        result->mean_relative = sums.relative / (double)result->n_checked;
    }
    result->passed = ok && result->n_failed == 0;
    return ok;
}

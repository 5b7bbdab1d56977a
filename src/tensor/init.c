// SPDX-License-Identifier: Apache-2.0
// init.c: first values of parameters. Kaiming: He et al., "Delving deep into rectifiers", 2015;
// Xavier: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
// networks", 2010. Fans as PyTorch computes them: the first axis is the outputs, the second the
// inputs, the others are what each sees.
#include <math.h>
#include "ingot/tensor_nn.h"
#include "tensor/alias.h"

static bool fill_random(const char *call, IgTensor *t, bool normal, double a, double b,
                        uint64_t seed, MTLError **error) {
    if (!t) return false;
    if (!ig_is_leaf(t)) return ig_fail(error, IgErrorGradient, "%s: the tensor is a result", call);
    if (!isfinite(a) || !isfinite(b))
        return ig_fail(error, IgErrorArgument, "%s: %g and %g are no range", call, a, b);
    IgScope *scope = ig_scope_begin();
    if (!scope) return ig_fail_no_memory(error);
    ig_no_grad_begin();
    IgTensor *v = NULL;
    if (!normal) {
        v = ig_uniform(ig_device(t), ig_type(t), ig_rank(t), ig_shape(t), a, b, seed, error);
    } else {
        IgTensor *z = ig_randn(ig_device(t), IgFloat32, ig_rank(t), ig_shape(t), seed, error);
        v = ig_add_scalar(ig_mul_scalar(z, b, error), a, error);
        if (v) v = ig_cast(v, ig_type(t), error);
        if (v && !ig_is_float(ig_type(t))) {
            ig_fail(error, IgErrorType, "%s: a floating type is needed", call);
            v = NULL;
        }
    }
    bool ok = v && ig_eval(v, error);
    ok = ok && ig_give(t, v, error);
    ig_no_grad_end();
    ig_scope_end(scope);
    return ok;
}

static bool fans(const char *call, const IgTensor *t, double *in, double *out, MTLError **error) {
    if (!t) return false;
    if (ig_rank(t) < 2)
        return ig_fail(error, IgErrorShape, "%s: shape %s has no inputs and outputs", call,
                       ig_shape_text(ig_rank(t), ig_shape(t)));
    double rest = 1;
    for (int i = 2; i < ig_rank(t); i++) rest *= (double)ig_shape(t)[i];
    *in = (double)ig_shape(t)[1] * rest;
    *out = (double)ig_shape(t)[0] * rest;
    return true;
}

// The deviation that is wanted; nothing to choose where there are no inputs.
static bool scaled(const char *call, IgTensor *t, bool xavier, bool normal, double gain,
                   uint64_t seed, MTLError **error) {
    double in = 0, out = 0;
    if (!fans(call, t, &in, &out, error)) return false;
    double fan = xavier ? (in + out) / 2 : in, deviation = fan > 0 ? gain / sqrt(fan) : 0;
    if (normal) return fill_random(call, t, true, 0, deviation, seed, error);
    double bound = sqrt(3) * deviation;
    return fill_random(call, t, false, -bound, bound, seed, error);
}

bool ig_init_uniform(IgTensor *t, double low, double high, uint64_t seed, MTLError **error) {
    return fill_random("ig_init_uniform", t, false, low, high, seed, error);
}
bool ig_init_normal(IgTensor *t, double mean, double deviation, uint64_t seed, MTLError **error) {
    return fill_random("ig_init_normal", t, true, mean, deviation, seed, error);
}
bool ig_init_kaiming_uniform(IgTensor *t, double gain, uint64_t seed, MTLError **error) {
    return scaled("ig_init_kaiming_uniform", t, false, false, gain, seed, error);
}
bool ig_init_kaiming_normal(IgTensor *t, double gain, uint64_t seed, MTLError **error) {
    return scaled("ig_init_kaiming_normal", t, false, true, gain, seed, error);
}
bool ig_init_xavier_uniform(IgTensor *t, double gain, uint64_t seed, MTLError **error) {
    return scaled("ig_init_xavier_uniform", t, true, false, gain, seed, error);
}
bool ig_init_xavier_normal(IgTensor *t, double gain, uint64_t seed, MTLError **error) {
    return scaled("ig_init_xavier_normal", t, true, true, gain, seed, error);
}

bool ig_init_layer(IgTensor *weight, IgTensor *bias, uint64_t seed, MTLError **error) {
    double in = 0, out = 0;
    if (!fans("ig_init_layer", weight, &in, &out, error)) return false;
    double bound = in > 0 ? 1 / sqrt(in) : 0;
    return fill_random("ig_init_layer", weight, false, -bound, bound, seed, error) &&
           (!bias || fill_random("ig_init_layer", bias, false, -bound, bound, ~seed, error));
}

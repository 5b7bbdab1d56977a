// SPDX-License-Identifier: Apache-2.0
// batch_norm.c: batch, instance and group normalisation: per channel (over batch and positions), or
// per image and group of channels. In float; the element-wise parts are fused with the reductions.
#include "tensor/normalize.h"

static bool check_parameter(const char *call, const IgTensor *x, const IgTensor *parameter,
                            MTLError **error) {
    if (!parameter) return true;
    if (!ig_same_device(call, x, parameter, error)) return false;
    if (ig_rank(parameter) == 1 && ig_dim(parameter, 0) == ig_dim(x, 1)) return true;
    return ig_fail(error, IgErrorShape, "%s: a parameter of shape %s for the channels of shape %s",
                   call, ig_shape_text(ig_rank(parameter), ig_shape(parameter)),
                   ig_shape_text(ig_rank(x), ig_shape(x)));
}

static bool check(const char *call, const IgTensor *x, MTLError **error) {
    if (ig_rank(x) < 2)
        return ig_fail(error, IgErrorShape, "%s: shape %s has no channels: (N, C, ..)", call,
                       ig_shape_text(ig_rank(x), ig_shape(x)));
    return ig_is_float(ig_type(x)) ||
           ig_fail(error, IgErrorType, "%s: a floating type is needed, not %s", call,
                   ig_type_name(ig_type(x)));
}

// (C) as (C, 1, ..) beside x.
static IgTensor *per_channel(IgTensor *parameter, const IgTensor *x, MTLError **error) {
    int64_t n[IG_MAX_RANK] = {ig_numel(parameter)};
    for (int i = 1; i < ig_rank(x) - 1; i++) n[i] = 1;
    return parameter ? ig_reshape(parameter, ig_rank(x) - 1, n, error) : NULL;
}

static IgTensor *apply(IgTensor *y, const IgTensor *x, IgTensor *weight, IgTensor *bias,
                       MTLError **error) {
    if (weight) y = ig_mul(y, per_channel(weight, x, error), error);
    if (bias) y = ig_add(y, per_channel(bias, x, error), error);
    return y ? ig_cast(y, ig_type(x), error) : NULL;
}

// running = (1 - momentum) running + momentum value
static bool follow(IgTensor *running, IgTensor *value, double momentum, MTLError **error) {
    if (!running) return true;
    IgTensor *old = ig_mul_scalar(ig_cast(running, IgFloat32, error), 1 - momentum, error);
    IgTensor *flat = value ? ig_reshape(value, 1, ig_shape(running), error) : NULL;
    return ig_assign(running, ig_add(old, ig_mul_scalar(flat, momentum, error), error), error);
}

IgTensor *ig_batch_norm(IgTensor *x, IgTensor *running_mean, IgTensor *running_variance,
                        IgTensor *weight, IgTensor *bias, bool training, double momentum,
                        double epsilon, MTLError **error) {
    static const char call[] = "ig_batch_norm";
    IgTensor *parameters[4] = {running_mean, running_variance, weight, bias};
    if (!x || !check(call, x, error)) return NULL;
    for (int i = 0; i < 4; i++)
        if (!check_parameter(call, x, parameters[i], error)) return NULL;
    int64_t n = ig_dim(x, 1) ? ig_numel(x) / ig_dim(x, 1) : 0;
    if (training ? n < 2 && ig_dim(x, 1) : !running_mean || !running_variance) {
        ig_fail(error, IgErrorArgument,
                training ? "%s: shape %s has no two values per channel to train with"
                         : "%s: no running mean and variance for shape %s",
                call, ig_shape_text(ig_rank(x), ig_shape(x)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *single = ig_cast(x, IgFloat32, error), *mean, *variance, *y = NULL;
    bool ok = single != NULL;
    if (ok && training) {
        int axes[IG_MAX_RANK] = {0}, n_axes = 1;
        for (int i = 2; i < ig_rank(x); i++) axes[n_axes++] = i;
        bool is_kernel = ig_batch_is_kernel(x);
        y = is_kernel
                ? ig_batch_kernel(call, x, weight, bias, epsilon, &mean, &variance, error)
                : ig_normalize(call, single, n_axes, axes, true, epsilon, &mean, &variance, error);
        if (is_kernel) weight = bias = NULL; // they are in it
        ig_no_grad_begin();
        IgTensor *unbiased =
            ig_mul_scalar(variance, (double)n / (double)(n > 1 ? n - 1 : 1), error);
        ok = y && follow(running_mean, mean, momentum, error) &&
             follow(running_variance, unbiased, momentum, error);
        ig_no_grad_end();
    } else if (ok) {
        mean = per_channel(ig_cast(running_mean, IgFloat32, error), x, error);
        variance = per_channel(ig_cast(running_variance, IgFloat32, error), x, error);
        IgTensor *scale = ig_rsqrt(ig_add_scalar(variance, epsilon, error), error);
        y = ig_mul(ig_sub(single, mean, error), scale, error);
    }
    y = ok ? apply(y, x, weight, bias, error) : NULL;
    return ig_scope_return(scope, y);
}

static IgTensor *by_groups(const char *call, IgTensor *x, int64_t n_groups, IgTensor *weight,
                           IgTensor *bias, double epsilon, MTLError **error) {
    if (!x || !check(call, x, error) || !check_parameter(call, x, weight, error) ||
        !check_parameter(call, x, bias, error))
        return NULL;
    if (n_groups < 1 || ig_dim(x, 1) % n_groups) {
        ig_fail(error, IgErrorArgument, "%s: %lld groups of the channels of shape %s", call,
                (long long)n_groups, ig_shape_text(ig_rank(x), ig_shape(x)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    int64_t batch = ig_dim(x, 0), rows = batch * n_groups, n = rows ? ig_numel(x) / rows : 0;
    IgTensor *d = ig_reshape(ig_cast(x, IgFloat32, error), 2, (int64_t[]){rows, n}, error);
    d = ig_normalize(call, d, 1, (int[]){1}, true, epsilon, NULL, NULL, error);
    IgTensor *y = ig_reshape(d, ig_rank(x), ig_shape(x), error);
    return ig_scope_return(scope, apply(y, x, weight, bias, error));
}

IgTensor *ig_group_norm(IgTensor *x, int64_t n_groups, IgTensor *weight, IgTensor *bias,
                        double epsilon, MTLError **error) {
    return by_groups("ig_group_norm", x, n_groups, weight, bias, epsilon, error);
}

IgTensor *ig_instance_norm(IgTensor *x, IgTensor *weight, IgTensor *bias, double epsilon,
                           MTLError **error) {
    int64_t channels = ig_dim(x, 1);
    return by_groups("ig_instance_norm", x, channels ? channels : 1, weight, bias, epsilon, error);
}

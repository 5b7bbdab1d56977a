// SPDX-License-Identifier: Apache-2.0
// layers.c: the modules that come with the library. Each keeps its numbers in a context of its own;
// tensors are parts of the module. First values are PyTorch's: ig_init_layer for linear and
// convolution, normal for embeddings, 1 and 0 for norms.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "tensor/alias.h"
#include "tensor/module.h"

typedef struct Numbers {
    double epsilon, momentum, p;
    int axes[2];
    IgActivation activation;
    IgConvolution convolution;
    uint64_t seed;
    atomic_uint_fast64_t calls;
} Numbers;

static IgModule *new_layer(const char *kind, IgModuleForward *forward, Numbers numbers,
                           MTLError **error) {
    Numbers *own = malloc(sizeof *own);
    if (!own) {
        ig_fail_no_memory(error);
        return NULL;
    }
    *own = numbers;
    atomic_init(&own->calls, 0);
    return ig_module_new(kind, forward, own, free, error);
}

// A parameter or buffer with its first values; released with the scope but for the module's
// reference.
static bool give(IgModule *m, bool parameter, const char *name, IgTensor *t, MTLError **error) {
    if (!t) return false;
    ig_keep(t);
    bool ok = parameter ? ig_module_add_parameter(m, name, t, error)
                        : ig_module_add_buffer(m, name, t, error);
    ig_release(t);
    return ok;
}

// Ends the scope of a constructor.
static IgModule *finish(IgScope *scope, IgModule *m, bool ok) {
    ig_scope_end(scope);
    if (ok) return m;
    ig_module_release(m);
    return NULL;
}

static bool good_sizes(const char *call, IgDevice *device, IgType type, int n, const int64_t *sizes,
                       MTLError **error) {
    if (!device) return ig_fail(error, IgErrorDevice, "%s: no device", call);
    if (!ig_is_type(type) || !ig_is_float(type))
        return ig_fail(error, IgErrorType, "%s: a floating type is needed", call);
    for (int i = 0; i < n; i++)
        if (sizes[i] < 1)
            return ig_fail(error, IgErrorArgument, "%s: a size of %lld", call, (long long)sizes[i]);
    return true;
}

// Parameters are written to by optimisers: each has memory of its own.
static IgTensor *filled(IgDevice *device, IgType type, int rank, const int64_t *shape, double value,
                        MTLError **error) {
    return ig_contiguous(ig_full(device, type, rank, shape, value, error), error);
}

// A weight of this shape, a bias of its first axis or none, and their first values. Takes m over,
// which may be NULL.
static IgModule *weight_and_bias(IgModule *m, IgDevice *device, IgType type, int rank,
                                 const int64_t *shape, bool bias, uint64_t seed, MTLError **error) {
    IgScope *scope = m ? ig_scope_begin() : NULL;
    bool ok = scope && give(m, true, "weight", ig_zeros(device, type, rank, shape, error), error) &&
              (!bias || give(m, true, "bias", ig_zeros(device, type, 1, shape, error), error)) &&
              ig_init_layer(ig_module_own(m, "weight"), ig_module_own(m, "bias"), seed, error);
    return finish(scope, m, ok);
}

// ---- Linear ----

// With the activation that follows it.
static IgTensor *linear_and(IgModule *m, IgTensor *x, IgActivation activation, MTLError **error) {
    IgTensor *weight = ig_transpose(ig_module_own(m, "weight"), 0, 1, error);
    return ig_fused_linear(x, weight, ig_module_own(m, "bias"), NULL, activation, error);
}

static IgTensor *forward_linear(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    (void)context;
    return linear_and(m, x, IgActivationNone, error);
}

static bool is_linear(const IgModule *m) { return m && m->forward == forward_linear; }

IgModule *ig_linear_new(IgDevice *device, IgType type, int64_t in, int64_t out, bool bias,
                        uint64_t seed, MTLError **error) {
    if (!good_sizes("ig_linear_new", device, type, 2, (int64_t[]){in, out}, error)) return NULL;
    IgModule *m = new_layer("linear", forward_linear, (Numbers){0}, error);
    return weight_and_bias(m, device, type, 2, (int64_t[]){out, in}, bias, seed, error);
}

// ---- Convolution ----

static IgTensor *forward_conv2d(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    const Numbers *n = context;
    return ig_conv2d(x, ig_module_own(m, "weight"), ig_module_own(m, "bias"), &n->convolution,
                     error);
}

IgModule *ig_conv2d_new(IgDevice *device, IgType type, int64_t in, int64_t out,
                        const int64_t kernel[2], const IgConvolution *options, bool bias,
                        uint64_t seed, MTLError **error) {
    Numbers numbers = {.convolution = options ? *options : (IgConvolution){.groups = 1}};
    int64_t groups = numbers.convolution.groups ? numbers.convolution.groups : 1;
    if (!kernel) {
        ig_fail(error, IgErrorArgument, "ig_conv2d_new: no kernel");
        return NULL;
    }
    if (!good_sizes("ig_conv2d_new", device, type, 5,
                    (int64_t[]){in, out, kernel[0], kernel[1], groups}, error))
        return NULL;
    if (in % groups || out % groups) {
        ig_fail(error, IgErrorArgument,
                "ig_conv2d_new: %lld groups do not divide %lld and %lld channels",
                (long long)groups, (long long)in, (long long)out);
        return NULL;
    }
    IgModule *m = new_layer("conv2d", forward_conv2d, numbers, error);
    const int64_t shape[4] = {out, in / groups, kernel[0], kernel[1]};
    return weight_and_bias(m, device, type, 4, shape, bias, seed, error);
}

// ---- Norms ----

static IgTensor *forward_layer_norm(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    const Numbers *n = context;
    return ig_layer_norm(x, n->axes[0], ig_module_own(m, "weight"), ig_module_own(m, "bias"),
                         n->epsilon, error);
}

static IgTensor *forward_rms_norm(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    const Numbers *n = context;
    return ig_rms_norm(x, n->axes[0], ig_module_own(m, "weight"), n->epsilon, error);
}

static IgModule *new_norm(const char *call, bool layer, IgDevice *device, IgType type, int rank,
                          const int64_t *shape, double epsilon, bool affine, MTLError **error) {
    if (rank < 1 || rank > IG_MAX_RANK || !shape || !(epsilon >= 0)) {
        ig_fail(error, IgErrorArgument, "%s: %d axes, epsilon %g", call, rank, epsilon);
        return NULL;
    }
    if (!good_sizes(call, device, type, rank, shape, error)) return NULL;
    Numbers numbers = {.epsilon = epsilon > 0 ? epsilon : 1e-5, .axes = {rank}};
    IgModule *m = new_layer(layer ? "layer_norm" : "rms_norm",
                            layer ? forward_layer_norm : forward_rms_norm, numbers, error);
    IgScope *scope = m ? ig_scope_begin() : NULL;
    bool ok = scope != NULL;
    if (ok && affine)
        ok = give(m, true, "weight", filled(device, type, rank, shape, 1, error), error) &&
             (!layer || give(m, true, "bias", filled(device, type, rank, shape, 0, error), error));
    return finish(scope, m, ok);
}

IgModule *ig_layer_norm_new(IgDevice *device, IgType type, int rank, const int64_t *shape,
                            double epsilon, bool affine, MTLError **error) {
    return new_norm("ig_layer_norm_new", true, device, type, rank, shape, epsilon, affine, error);
}

IgModule *ig_rms_norm_new(IgDevice *device, IgType type, int rank, const int64_t *shape,
                          double epsilon, bool affine, MTLError **error) {
    return new_norm("ig_rms_norm_new", false, device, type, rank, shape, epsilon, affine, error);
}

// The number of batches is a tensor because files of PyTorch have it.
static bool count_batch(IgModule *m, MTLError **error) {
    IgTensor *count = ig_module_own(m, "num_batches_tracked");
    IgTensor *more = ig_add_scalar(count, 1, error);
    return ig_give(count, more, error);
}

static IgTensor *forward_batch_norm(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    const Numbers *n = context;
    bool training = ig_module_training(m);
    IgTensor *y = ig_batch_norm(x, ig_module_own(m, "running_mean"),
                                ig_module_own(m, "running_var"), ig_module_own(m, "weight"),
                                ig_module_own(m, "bias"), training, n->momentum, n->epsilon, error);
    return y && (!training || count_batch(m, error)) ? y : NULL;
}

IgModule *ig_batch_norm_new(IgDevice *device, IgType type, int64_t channels, double epsilon,
                            double momentum, bool affine, MTLError **error) {
    if (!good_sizes("ig_batch_norm_new", device, type, 1, &channels, error)) return NULL;
    if (!(epsilon >= 0) || !(momentum >= 0) || momentum > 1) {
        ig_fail(error, IgErrorArgument, "ig_batch_norm_new: epsilon %g, momentum %g", epsilon,
                momentum);
        return NULL;
    }
    Numbers numbers = {.epsilon = epsilon > 0 ? epsilon : 1e-5,
                       .momentum = momentum > 0 ? momentum : 0.1};
    IgModule *m = new_layer("batch_norm", forward_batch_norm, numbers, error);
    IgScope *scope = m ? ig_scope_begin() : NULL;
    bool ok = scope != NULL;
    if (ok && affine)
        ok = give(m, true, "weight", filled(device, type, 1, &channels, 1, error), error) &&
             give(m, true, "bias", filled(device, type, 1, &channels, 0, error), error);
    ok = ok &&
         give(m, false, "running_mean", filled(device, IgFloat32, 1, &channels, 0, error), error) &&
         give(m, false, "running_var", filled(device, IgFloat32, 1, &channels, 1, error), error) &&
         give(m, false, "num_batches_tracked", ig_scalar(device, IgInt64, 0, error), error);
    return finish(scope, m, ok);
}

// ---- Others ----

static IgTensor *forward_dropout(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    Numbers *n = context;
    if (!ig_module_training(m)) return x;
    uint64_t call = atomic_fetch_add(&n->calls, 1);
    // Far apart in the space of seeds, and the same in every run.
    return ig_dropout(x, n->p, true, n->seed + call * 0x9E3779B97F4A7C15u, error);
}

IgModule *ig_dropout_new(double p, uint64_t seed, MTLError **error) {
    if (!(p >= 0 && p <= 1)) {
        ig_fail(error, IgErrorArgument, "ig_dropout_new: p must be from 0 to 1, not %g", p);
        return NULL;
    }
    return new_layer("dropout", forward_dropout, (Numbers){.p = p, .seed = seed}, error);
}

static IgTensor *forward_embedding(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    (void)context;
    return ig_embedding(ig_module_own(m, "weight"), x, error);
}

IgModule *ig_embedding_new(IgDevice *device, IgType type, int64_t n, int64_t dim, uint64_t seed,
                           MTLError **error) {
    if (!good_sizes("ig_embedding_new", device, type, 2, (int64_t[]){n, dim}, error)) return NULL;
    IgModule *m = new_layer("embedding", forward_embedding, (Numbers){0}, error);
    IgScope *scope = m ? ig_scope_begin() : NULL;
    bool ok = scope && give(m, true, "weight",
                            ig_randn(device, type, 2, (int64_t[]){n, dim}, seed, error), error);
    return finish(scope, m, ok);
}

static IgTensor *forward_activation(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    (void)m;
    return ig_activation(x, ((const Numbers *)context)->activation, error);
}

static bool is_activation(const IgModule *m, IgActivation *activation) {
    if (!m || m->forward != forward_activation) return false;
    *activation = ((const Numbers *)m->context)->activation;
    return true;
}

IgModule *ig_activation_new(IgActivation activation, MTLError **error) {
    if ((unsigned)activation > IgActivationTanh) {
        ig_fail(error, IgErrorArgument, "ig_activation_new: no such activation: %d",
                (int)activation);
        return NULL;
    }
    return new_layer("activation", forward_activation, (Numbers){.activation = activation}, error);
}

static IgTensor *forward_softmax(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    (void)m;
    return ig_softmax(x, ((const Numbers *)context)->axes[0], error);
}

IgModule *ig_softmax_new(int axis, MTLError **error) {
    return new_layer("softmax", forward_softmax, (Numbers){.axes = {axis}}, error);
}

static IgTensor *forward_flatten(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    (void)m;
    const Numbers *n = context;
    return ig_flatten(x, n->axes[0], n->axes[1], error);
}

IgModule *ig_flatten_new(int first_axis, int last_axis, MTLError **error) {
    return new_layer("flatten", forward_flatten, (Numbers){.axes = {first_axis, last_axis}}, error);
}

// A linear module and the activation behind it are one kernel at every rank.
static IgTensor *forward_sequential(void *context, IgModule *m, IgTensor *x, MTLError **error) {
    (void)context;
    int n = ig_module_child_count(m);
    for (int i = 0; x && i < n; i++) {
        IgModule *now = ig_module_child(m, i);
        IgActivation activation;
        if (is_linear(now) && is_activation(ig_module_child(m, i + 1), &activation)) {
            x = linear_and(now, x, activation, error);
            i++;
        } else {
            x = ig_module_forward(now, x, error);
        }
    }
    return x;
}

IgModule *ig_sequential_new(int n, IgModule *const *modules, MTLError **error) {
    bool ok = n >= 0 && (modules || n == 0);
    for (int i = 0; ok && i < n; i++) ok = modules[i] != NULL; // it has its error already
    IgModule *m = ok ? new_layer("sequential", forward_sequential, (Numbers){0}, error) : NULL;
    int i = 0;
    for (ok = m != NULL; ok && i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        ok = ig_module_add_module(m, name, modules[i], error);
    }
    for (; modules && i < n; i++) ig_module_release(modules[i]);
    if (ok) return m;
    ig_module_release(m);
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
// conv.c: convolution: argument checks, choice of the algorithm, and gradients. The three passes of
// conv.h are each other's gradients: with y = forward(x, w), x' = back(y', w) and w' = weights(x,
// y'), and the same again for the gradients of those two. So second derivatives need nothing more.
#include "tensor/conv.h"
#include <stdlib.h>

static const char *const names[] = {"ig_conv2d", "ig_conv_transpose2d", "ig_conv2d_weights"};

// In the order of their cost: the first that fits is the fastest measured. The last fits always.
static const IgConvAlgorithm *const algorithms[] = {
    &ig_conv_depthwise, &ig_conv_direct,        &ig_conv_gemm,         &ig_conv_im2col,
    &ig_conv_winograd,  &ig_conv_winograd_rows, &ig_conv_implicit_gemm};

static const IgConvAlgorithm *choose(const IgConv *v, IgConvPass pass, IgTensor *a) {
    const IgConvAlgorithm *const *at = algorithms;
    while (!(*at)->fits(v, pass, a)) at++;
    return *at;
}

static IgTensor *record(IgConvPass pass, const IgConv *v, IgTensor *a, IgTensor *b, IgTensor *bias,
                        MTLError **error);

// a, b: x, w (forward); y, w (back); x, y (weights).
static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    const IgConv *v = node->extra;
    IgTensor *a = ig_saved(node, 0), *b = ig_saved(node, 1);
    bool first = node->inputs[0], second = node->inputs[1];
    switch ((IgConvPass)node->op) {
    case IG_CONV_FORWARD:
        if (first) out[0] = record(IG_CONV_BACK, v, g, b, NULL, error);
        if (second) out[1] = record(IG_CONV_WEIGHTS, v, a, g, NULL, error);
        break;
    case IG_CONV_BACK:
        if (first) out[0] = record(IG_CONV_FORWARD, v, g, b, NULL, error);
        if (second) out[1] = record(IG_CONV_WEIGHTS, v, g, a, NULL, error);
        break;
    case IG_CONV_WEIGHTS:
        if (first) out[0] = record(IG_CONV_BACK, v, b, g, NULL, error);
        if (second) out[1] = record(IG_CONV_FORWARD, v, a, g, NULL, error);
        break;
    }
    if ((first && !out[0]) || (second && !out[1])) return false;
    if (node->n_inputs < 3 || !node->inputs[2]) return true;
    out[2] = ig_sum_axes(g, 3, (int[]){0, 2, 3}, false, error);
    return out[2] != NULL;
}

static IgTensor *record(IgConvPass pass, const IgConv *v, IgTensor *a, IgTensor *b, IgTensor *bias,
                        MTLError **error) {
    if (!a || !b) return NULL;
    IgScope *scope = ig_scope_begin();
    ig_no_grad_begin();
    IgTensor *result = choose(v, pass, a)->run(v, pass, a, b, bias, error);
    ig_no_grad_end();
    result = ig_scope_return(scope, result);
    IgTensor *in[3] = {a, b, bias};
    int n = bias ? 3 : 2;
    if (!result || !ig_grad_enabled_for(n, in)) return result;
    IgGradNode *node = ig_node_new(names[pass], rule, n, in, error);
    IgConv *copy = node ? malloc(sizeof *copy) : NULL;
    if (node) node->extra = copy;
    if (node && !copy) ig_fail_no_memory(error);
    if (!copy || (node->inputs[1] && !ig_node_save(node, 0, a, error)) ||
        (node->inputs[0] && !ig_node_save(node, 1, b, error))) {
        ig_node_release(node);
        node = NULL;
    } else {
        *copy = *v;
        node->op = (int)pass;
    }
    return ig_node_attach(result, node, false, error);
}

// ---- What is asked for ----

static bool whole_number(const char *call, const char *what, int64_t v, MTLError **error) {
    return (v >= 0 && v <= INT32_MAX) ||
           ig_fail(error, IgErrorArgument, "%s: a %s of %lld", call, what, (long long)v);
}

static bool take_options(const char *call, const IgConvolution *options, IgConv *v,
                         MTLError **error) {
    static const IgConvolution plain;
    if (!options) options = &plain;
    for (int i = 0; i < 2; i++) {
        if (!whole_number(call, "stride", options->stride[i], error) ||
            !whole_number(call, "padding", options->padding[i], error) ||
            !whole_number(call, "dilation", options->dilation[i], error) ||
            !whole_number(call, "output padding", options->output_padding[i], error))
            return false;
        v->stride[i] = options->stride[i] ? options->stride[i] : 1;
        v->padding[i] = options->padding[i];
        v->dilation[i] = options->dilation[i] ? options->dilation[i] : 1;
    }
    if (!whole_number(call, "number of groups", options->groups, error)) return false;
    v->groups = options->groups ? options->groups : 1;
    return true;
}

static bool mismatch(const char *call, const IgTensor *x, const IgTensor *w, int64_t groups,
                     MTLError **error) {
    return ig_fail(error, IgErrorShape, "%s: x of shape %s, weight of shape %s, %lld group%s", call,
                   ig_shape_text(ig_rank(x), ig_shape(x)), ig_shape_text(ig_rank(w), ig_shape(w)),
                   (long long)groups, groups == 1 ? "" : "s");
}

// The lengths beside those of the channels.
static bool take_shapes(const char *call, const IgTensor *x, const IgTensor *w, bool transposed,
                        const IgConvolution *options, IgConv *v, MTLError **error) {
    v->n = ig_shape(x)[0];
    for (int i = 0; i < 2; i++) {
        int64_t have = ig_shape(x)[2 + i], k = ig_shape(w)[2 + i];
        int64_t reach = v->dilation[i] * (k - 1) + 1;
        v->kernel[i] = k;
        if (transposed) {
            int64_t more = options ? options->output_padding[i] : 0;
            v->out[i] = have;
            v->in[i] = (have - 1) * v->stride[i] - 2 * v->padding[i] + reach + more;
            if (more && more >= v->stride[i] && more >= v->dilation[i])
                return ig_fail(error, IgErrorArgument,
                               "%s: an output padding of %lld with a stride of %lld", call,
                               (long long)more, (long long)v->stride[i]);
        } else {
            v->in[i] = have;
            int64_t room = have + 2 * v->padding[i] - reach;
            v->out[i] = room < 0 ? 0 : room / v->stride[i] + 1;
        }
        if (k < 1 || (transposed ? v->in[i] : v->out[i]) < 1) {
            ig_fail(error, IgErrorShape,
                    "%s: a kernel of %lld, dilated to %lld, for a length of %lld with padding %lld "
                    "(x of shape %s, weight of shape %s)",
                    call, (long long)k, (long long)reach, (long long)have, (long long)v->padding[i],
                    ig_shape_text(ig_rank(x), ig_shape(x)), ig_shape_text(ig_rank(w), ig_shape(w)));
            return false;
        }
    }
    return true;
}

static bool check_bias(const char *call, const IgTensor *x, const IgTensor *bias, int64_t n,
                       MTLError **error) {
    if (!bias) return true;
    if (!ig_same_device(call, x, bias, error)) return false;
    return (ig_rank(bias) == 1 && ig_dim(bias, 0) == n) ||
           ig_fail(error, IgErrorShape, "%s: a bias of shape %s for %lld channels", call,
                   ig_shape_text(ig_rank(bias), ig_shape(bias)), (long long)n);
}

static IgTensor *convolve(const char *call, IgTensor *x, IgTensor *w, IgTensor *bias,
                          const IgConvolution *options, bool transposed, MTLError **error) {
    if (!x || !w || !ig_same_device(call, x, w, error)) return NULL;
    IgConv v = {0};
    if (!take_options(call, options, &v, error)) return NULL;
    int64_t channels = ig_dim(x, 1), first = ig_dim(w, 0), second = ig_dim(w, 1);
    if (ig_rank(x) != 4 || ig_rank(w) != 4 || first < 1 || first % v.groups || second < 1 ||
        channels != (transposed ? first : second * v.groups)) {
        mismatch(call, x, w, v.groups, error);
        return NULL;
    }
    v.o = first / v.groups;
    v.c = second;
    IgType type = ig_promote(ig_type(x), ig_type(w));
    if (!ig_is_float(type)) {
        ig_fail(error, IgErrorType, "%s: a floating type is needed, not %s", call,
                ig_type_name(type));
        return NULL;
    }
    if (!take_shapes(call, x, w, transposed, options, &v, error) ||
        !check_bias(call, x, bias, transposed ? v.groups * v.c : first, error))
        return NULL;
    IgScope *scope = ig_scope_begin();
    x = ig_cast(x, type, error);
    w = ig_cast(w, type, error);
    if (bias) bias = ig_cast(bias, type, error);
    IgTensor *y =
        x && w ? record(transposed ? IG_CONV_BACK : IG_CONV_FORWARD, &v, x, w, bias, error) : NULL;
    return ig_scope_return(scope, y);
}

IgTensor *ig_conv2d(IgTensor *x, IgTensor *weight, IgTensor *bias, const IgConvolution *options,
                    MTLError **error) {
    return convolve("ig_conv2d", x, weight, bias, options, false, error);
}

IgTensor *ig_conv_transpose2d(IgTensor *x, IgTensor *weight, IgTensor *bias,
                              const IgConvolution *options, MTLError **error) {
    return convolve("ig_conv_transpose2d", x, weight, bias, options, true, error);
}

// Lines as pictures of one row.
static IgTensor *convolve_lines(const char *call, IgTensor *x, IgTensor *weight, IgTensor *bias,
                                const IgConvolution *options, bool transposed, MTLError **error) {
    if (!x || !weight) return NULL;
    if (ig_rank(x) != 3 || ig_rank(weight) != 3) {
        mismatch(call, x, weight, options && options->groups ? options->groups : 1, error);
        return NULL;
    }
    IgConvolution row = {.stride = {1, options ? options->stride[0] : 0},
                         .padding = {0, options ? options->padding[0] : 0},
                         .dilation = {1, options ? options->dilation[0] : 0},
                         .groups = options ? options->groups : 0,
                         .output_padding = {0, options ? options->output_padding[0] : 0}};
    IgScope *scope = ig_scope_begin();
    IgTensor *y = convolve(call, ig_unsqueeze(x, 2, error), ig_unsqueeze(weight, 2, error), bias,
                           &row, transposed, error);
    return ig_scope_return(scope, ig_squeeze(y, 2, error));
}

IgTensor *ig_conv1d(IgTensor *x, IgTensor *weight, IgTensor *bias, const IgConvolution *options,
                    MTLError **error) {
    return convolve_lines("ig_conv1d", x, weight, bias, options, false, error);
}

IgTensor *ig_conv_transpose1d(IgTensor *x, IgTensor *weight, IgTensor *bias,
                              const IgConvolution *options, MTLError **error) {
    return convolve_lines("ig_conv_transpose1d", x, weight, bias, options, true, error);
}

// SPDX-License-Identifier: Apache-2.0
// attention.c: scaled dot-product attention, softmax(query key^T scale) value. Without gradients it
// is one fused kernel (as flash attention), in which a block of scores stays in the cache;
// otherwise, for other types and on a GPU, a composition of operations.
#include "ingot/tensor_nn.h"
#include "tensor/work.h"
#include "ig_texts.h"
#include <string.h>

static const char call[] = "ig_attention";

enum { MOST_VALUES = 128, FEW_GROUPS = 16 };

static bool check(const IgTensor *q, const IgTensor *k, const IgTensor *v, MTLError **error) {
    bool ok = ig_rank(q) >= 2 && ig_rank(k) >= 2 && ig_rank(v) >= 2 &&
              ig_dim(q, -1) == ig_dim(k, -1) && ig_dim(k, -2) == ig_dim(v, -2);
    return ok ||
           ig_fail(error, IgErrorShape, "%s: queries of shape %s, keys %s, values %s", call,
                   ig_shape_text(ig_rank(q), ig_shape(q)), ig_shape_text(ig_rank(k), ig_shape(k)),
                   ig_shape_text(ig_rank(v), ig_shape(v)));
}

static bool is_one_kernel(IgTensor *const in[3]) {
    int rank = ig_rank(in[0]);
    if (ig_device(in[0])->gpu || ig_grad_enabled_for(3, in) || ig_dim(in[2], -1) > MOST_VALUES)
        return false;
    for (int i = 0; i < 3; i++) {
        if (ig_type(in[i]) != IgFloat32 || ig_rank(in[i]) != rank || ig_numel(in[i]) == 0)
            return false;
        for (int a = 0; a < rank - 2; a++)
            if (ig_shape(in[i])[a] != ig_shape(in[0])[a]) return false;
    }
    return true;
}

static IgTensor *in_one_kernel(IgTensor *const in[3], double scale, MTLError **error) {
    static const char *const macros[2][3] = {
        {"QUERIES=64 VALUES=32", "QUERIES=64 VALUES=64", "QUERIES=64 VALUES=128"},
        {"QUERIES=32 VALUES=32", "QUERIES=32 VALUES=64", "QUERIES=32 VALUES=128"}};
    int64_t l = ig_dim(in[0], -2), s = ig_dim(in[1], -2), e = ig_dim(in[1], -1),
            width = ig_dim(in[2], -1), batch = ig_numel(in[0]) / (l * e);
    bool few = (l + 63) / 64 * batch < FEW_GROUPS;
    int64_t each = few ? 32 : 64, groups = (l + each - 1) / each;
    IgWork w = {.kernel = {ig_text_attention_metal, "attention", NULL,
                           macros[few][width <= 32   ? 0
                                       : width <= 64 ? 1
                                                     : 2]},
                .words = {(int32_t)l, (int32_t)s, (int32_t)e, (int32_t)width},
                .grid = mtl_size_make((size_t)groups, (size_t)batch, 1),
                .group = mtl_size_make(32, 1, 1),
                .groups = true,
                .scratch = (size_t)(groups * batch * (e + width) * each) * sizeof(float),
                .products = batch * l * s * (e + width)};
    float number = (float)scale;
    memcpy(&w.words[4], &number, sizeof number);
    IgTensor *packed[3];
    for (int i = 0; i < 3; i++) packed[i] = ig_contiguous(in[i], error);
    IgShape shape = in[0]->view.shape;
    shape.n[shape.rank - 1] = width;
    return ig_work(call, &w, 3, packed, &shape, IgFloat32, error);
}

IgTensor *ig_attention(IgTensor *query, IgTensor *key, IgTensor *value, double scale,
                       MTLError **error) {
    if (!query || !key || !value || !ig_same_device(call, query, key, error) ||
        !ig_same_device(call, query, value, error) || !check(query, key, value, error))
        return NULL;
    IgTensor *in[3] = {query, key, value};
    IgScope *scope = ig_scope_begin();
    if (is_one_kernel(in)) return ig_scope_return(scope, in_one_kernel(in, scale, error));
    IgTensor *scores =
        ig_matmul(ig_mul_scalar(query, scale, error), ig_transpose(key, -2, -1, error), error);
    return ig_scope_return(scope, ig_matmul(ig_softmax(scores, -1, error), value, error));
}

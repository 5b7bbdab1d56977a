// SPDX-License-Identifier: Apache-2.0
// sort.c: sorting along an axis. Everything is brought to rows of keys, unsigned numbers in the
// requested order, whose sorted positions are computed:
//   short rows   by a SIMD-group each, with a sorting network (on a GPU, and for 64-bit keys:
//                rank sort, each element counts in parallel how many come before it);
//   long rows    radix sort, 8 bits per pass from the least significant: a row is split into
//                blocks, a thread makes the histogram of a block, a scan of all histograms gives
//                offsets, and the thread scatters its elements (stable);
//   top k        of a row: a SIMD-group selects the next one k times.
// A GPU sorts long rows by merge sort (sort_gpu.metal). The values are then gathered from their
// positions (along_axis.h), and gradients scattered back.
#include <stdlib.h>
#include <string.h>
#include "tensor/along_axis.h"
#include "ig_texts.h"

enum {
    MAX_RANKED = 256,
    MAX_NETWORK = 4096,
    MAX_SELECTED = 32,
    DIGITS = 256,
    MIN_BLOCK = 512,
    TARGET_BLOCKS = 256
};

static const char small_keys[] = "KEY=uint", large_keys[] = "KEY=ulong WIDE=1";
// ---- Long rows ----

typedef struct Radix {
    int64_t n;
    int n_passes;
} Radix;

static bool dispatch(IgDevice *device, const char *function, bool wide, const int32_t *words,
                     const IgBinding *bindings, size_t n, size_t threads, MTLError **error) {
    IgKernel *kernel = ig_kernel_of(
        device,
        &(IgKernelFile){ig_text_sort_metal, function, .macros = wide ? large_keys : small_keys},
        error);
    return kernel && ig_encode(device, kernel, words, 6 * sizeof *words, bindings, n,
                               mtl_size_make(threads, 1, 1),
                               mtl_size_make(threads < 64 ? threads : 64, 1, 1), false, error);
}

static bool run_passes(IgDevice *device, IgData *data, IgBuffer *const scratch[4],
                       MTLError **error) {
    const Radix *r = data->expr->extra;
    const IgView *in = &data->expr->inputs[0];
    bool wide = in->data->type == IgInt64;
    int64_t rows = data->n / r->n, blocks = (TARGET_BLOCKS + rows - 1) / rows;
    int64_t most = (r->n + MIN_BLOCK - 1) / MIN_BLOCK;
    blocks = blocks > most ? most : blocks;
    int64_t each = (r->n + blocks - 1) / blocks;
    IgBinding keys = {in->data->memory, (size_t)in->offset * (wide ? 8 : 4)};
    IgBinding from = {data->memory, 0}, counts = {scratch[2], 0};
    for (int pass = 0; pass < r->n_passes; pass++) {
        bool last = pass == r->n_passes - 1;
        int32_t words[6] = {(int32_t)r->n, (int32_t)blocks, (int32_t)each,
                            pass * 8,      pass == 0,       last};
        // Positions end in the result; before, they change places with the other buffer.
        IgBinding to = {(r->n_passes - 1 - pass) % 2 ? scratch[3] : data->memory, 0};
        IgBinding next = {scratch[pass % 2], 0};
        size_t threads = (size_t)(rows * blocks);
        if (!dispatch(device, "count", wide, words, (IgBinding[]){keys, counts}, 2, threads,
                      error) ||
            !dispatch(device, "places", wide, words, &counts, 1, (size_t)rows, error) ||
            !dispatch(device, "move", wide, words, (IgBinding[]){keys, from, counts, next, to}, 5,
                      threads, error))
            return false;
        keys = next;
        from = to;
    }
    return true;
}

// ---- The same on a GPU, for keys of 32 bits ----

enum { BLOCK = 2048, BLOCK_THREADS = 512 }; // of sort_gpu.metal

static bool merge_all(IgDevice *device, IgData *data, IgBuffer *const scratch[2],
                      MTLError **error) {
    const Radix *r = data->expr->extra;
    const IgView *in = &data->expr->inputs[0];
    size_t rows = (size_t)(data->n / r->n), n = (size_t)r->n;
    int32_t size = 2, words[3] = {(int32_t)r->n, 0, r->n <= BLOCK};
    while (size < BLOCK && size < r->n) size *= 2;
    words[1] = size;
    const IgKernelFile blocks = {ig_text_sort_gpu_metal, "sort_blocks", NULL, NULL},
                       merge = {ig_text_sort_gpu_metal, "merge_runs", NULL, NULL};
    IgKernel *kernel = ig_kernel_of(device, &blocks, error);
    IgBinding to[3] = {
        {in->data->memory, (size_t)in->offset * 4}, {scratch[0], 0}, {data->memory, 0}};
    bool ok = kernel && ig_encode(device, kernel, words, sizeof words, to, 3,
                                  mtl_size_make((n + BLOCK - 1) / BLOCK, rows, 1),
                                  mtl_size_make(BLOCK_THREADS, 1, 1), true, error);
    int at = 0;
    for (int64_t run = BLOCK; ok && run < r->n; run *= 2, at = !at) {
        words[1] = (int32_t)run, words[2] = 2 * run >= r->n;
        to[0] = (IgBinding){scratch[at], 0}, to[1] = (IgBinding){scratch[!at], 0};
        kernel = ig_kernel_of(device, &merge, error);
        ok = kernel && ig_encode(device, kernel, words, sizeof words, to, 3,
                                 mtl_size_make(n, rows, 1), mtl_size_make(256, 1, 1), false, error);
    }
    return ok;
}

static bool run_gpu(IgDevice *device, IgData *data, MTLError **error) {
    IgBuffer *scratch[2] = {NULL, NULL};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++)
        ok = (scratch[i] = ig_pool_take(device, (size_t)data->n * 8, false, error)) != NULL;
    ok = ok && merge_all(device, data, scratch, error);
    for (int i = 0; i < 2; i++)
        if (scratch[i]) ig_pool_give(device, scratch[i]); // what comes later may have it
    return ok;
}

static bool run_sort(IgDevice *device, IgData *data, MTLError **error) {
    const Radix *r = data->expr->extra;
    IgData *in = data->expr->inputs[0].data;
    if (!ig_data_make(in, error) || !ig_data_allocate(data, error)) return false;
    if (data->n == 0) return true;
    if (device->gpu && in->type != IgInt64) return run_gpu(device, data, error);
    size_t n = (size_t)data->n, rows = n / (size_t)r->n, size = ig_type_size(in->type);
    size_t blocks = rows > TARGET_BLOCKS ? 1 : (TARGET_BLOCKS + rows - 1) / rows;
    size_t bytes[4] = {n * size, n * size, rows * blocks * DIGITS * 4, n * 4};
    IgBuffer *scratch[4] = {NULL, NULL, NULL, NULL};
    bool ok = true;
    for (int i = 0; ok && i < 4; i++)
        ok = (scratch[i] = ig_pool_take(device, bytes[i], false, error)) != NULL;
    ok = ok && run_passes(device, data, scratch, error);
    for (int i = 0; i < 4; i++)
        if (scratch[i]) ig_pool_give(device, scratch[i]); // what comes later may have it
    return ok;
}

static IgTensor *by_digits(IgTensor *keys, int n_passes, MTLError **error) {
    if (!keys) return NULL;
    const Radix r = {ig_dim(keys, 1), n_passes};
    IgExpr *expr = ig_expr_with(run_sort, &r, sizeof r, 1, &keys->view, &keys->view.shape, error);
    return expr ? ig_tensor_of_expr(ig_device(keys), IgInt32, expr, error) : NULL;
}

// ---- Any rows ----

// The first k positions of rows x (R, n), up to MAX_NETWORK long, by one SIMD-group a row.
static IgTensor *by_network(const char *call, IgTensor *x, int64_t k, uint32_t flip,
                            MTLError **error) {
    int64_t rows = ig_dim(x, 0), n = ig_dim(x, 1);
    int32_t size = n <= 32 ? 32 : n <= 64 ? 64 : 128;
    IgWork work = {.kernel = {ig_text_sort_keys_metal, "rows", ig_type_metal(ig_type(x)),
                              n <= 32   ? "KEY=uint V=1"
                              : n <= 64 ? "KEY=uint V=2"
                                        : "KEY=uint V=4"},
                   .grid = mtl_size_make((size_t)rows, 1, 1),
                   .group = mtl_size_make(32, 1, 1),
                   .groups = true};
    while (size < n) size *= 2;
    const int32_t words[] = {(int32_t)flip, 0, (int32_t)n, (int32_t)k, size};
    memcpy(work.words, words, sizeof words);
    IgTensor *packed = ig_contiguous(x, error);
    return ig_work(call, &work, 1, &packed, &(IgShape){2, {rows, k}}, IgInt32, error);
}

// The first k positions in order of rows x (R, n). Inside a scope.
static IgTensor *positions(const char *call, IgTensor *x, int64_t k, bool descending,
                           MTLError **error) {
    static const struct { // of the key
        int bits;
    } known[IG_N_TYPES] = {[IgFloat16] = {16}, [IgFloat32] = {32}, [IgBFloat16] = {16},
                           [IgInt8] = {8},     [IgInt32] = {32},   [IgInt64] = {64},
                           [IgBool] = {8},     [IgUInt8] = {8},    [IgInt16] = {16}};
    IgType type = ig_type(x);
    int64_t rows = ig_dim(x, 0), n = ig_dim(x, 1);
    bool wide = type == IgInt64;
    const char *macros = wide ? large_keys : small_keys;
    uint64_t flip = !descending ? 0 : wide ? UINT64_MAX : (1ull << known[type].bits) - 1;
    bool few_of_many = n > 32 && k <= MAX_SELECTED && k * 4 <= n && !wide;
    if (!ig_device(x)->gpu && !wide && n > 16 && n <= (few_of_many ? 128 : MAX_NETWORK))
        return by_network(call, x, k, (uint32_t)flip, error);
    IgWork work = {.kernel = {ig_text_sort_keys_metal, "keys", ig_type_metal(type), macros}};
    memcpy(work.words, &flip, sizeof flip);
    ig_work_threads(&work, rows * n, 1);
    IgShape shape = {2, {rows, n}}, few = {2, {rows, k}};
    IgTensor *packed = ig_contiguous(x, error);
    IgTensor *keys = ig_work(call, &work, 1, &packed, &shape, wide ? IgInt64 : IgInt32, error);
    IgWork rank = {.kernel = {ig_text_sort_metal, .macros = macros},
                   .words = {(int32_t)n, (int32_t)k}};
    if (few_of_many) {
        rank.kernel.function = "select";
        rank.grid = mtl_size_make((size_t)rows, 1, 1);
        rank.group = mtl_size_make(32, 1, 1);
        rank.groups = true;
        return ig_work(call, &rank, 1, &keys, &few, IgInt32, error);
    }
    if (n > MAX_RANKED) {
        IgTensor *all = by_digits(keys, known[type].bits / 8, error);
        return ig_contiguous(ig_slice(all, 1, 0, k, 1, error), error);
    }
    if (n <= 16) {
        rank.kernel.function = "short_ranks";
        ig_work_threads(&rank, rows * n, 1);
    } else {
        size_t width = n < 256 ? (size_t)(n + 31) / 32 * 32 : 256;
        rank.kernel.function = "ranks";
        rank.grid = mtl_size_make(((size_t)n + width - 1) / width, (size_t)rows, 1);
        rank.group = mtl_size_make(width, 1, 1);
        rank.groups = true;
    }
    return ig_work(call, &rank, 1, &keys, &few, IgInt32, error);
}

// Inside a scope: values and indices, either may be NULL.
static bool order(const char *call, IgTensor *x, int axis, int64_t k, bool descending,
                  IgTensor **values, IgTensor **indices, MTLError **error) {
    static const IgPoolWindow once;
    IgTensor *last = ig_transpose(x, axis, -1, error);
    int64_t n = ig_dim(x, axis), rows = n ? ig_numel(x) / n : 0;
    IgShape shape = last ? last->view.shape : (IgShape){0};
    if (shape.rank) shape.n[shape.rank - 1] = k;
    IgTensor *flat = ig_reshape(last, 2, (int64_t[]){rows, n}, error);
    IgTensor *place = flat ? positions(call, flat, k, descending, error) : NULL;
    if (values) {
        IgTensor *y = ig_take_along(call, flat, place, &once, error);
        y = y ? ig_reshape(y, shape.rank, shape.n, error) : NULL;
        *values = ig_transpose(y, axis, -1, error);
        if (!*values) return false;
    }
    if (indices) {
        IgTensor *wide = place ? ig_cast(place, IgInt64, error) : NULL;
        wide = ig_reshape(wide, shape.rank, shape.n, error);
        *indices = ig_transpose(wide, axis, -1, error);
        if (!*indices) return false;
    }
    return place != NULL;
}

static bool sort(const char *call, IgTensor *x, int axis, int64_t k, bool descending,
                 IgTensor **values, IgTensor **indices, MTLError **error) {
    if (values) *values = NULL;
    if (indices) *indices = NULL;
    if (!x || (!values && !indices)) return false;
    if (ig_rank(x) == 0) return ig_fail(error, IgErrorShape, "%s: a scalar has no axis", call);
    if (!ig_axis(call, ig_rank(x), axis, 0, &axis, error)) return false;
    int64_t n = ig_dim(x, axis);
    if (k == -1) k = n;
    if (k < 0 || k > n)
        return ig_fail(error, IgErrorArgument, "%s: %lld of axis %d of shape %s", call,
                       (long long)k, axis, ig_shape_text(ig_rank(x), ig_shape(x)));
    IgScope *scope = ig_scope_begin();
    IgTensor *out[2] = {NULL, NULL};
    bool ok = scope && order(call, x, axis, k, descending, values ? &out[0] : NULL,
                             indices ? &out[1] : NULL, error);
    if (!ig_scope_return_many(scope, ok, 2, out, error)) return false;
    if (values) *values = out[0];
    if (indices) *indices = out[1];
    return true;
}

bool ig_sort(IgTensor *x, int axis, bool descending, IgTensor **values, IgTensor **indices,
             MTLError **error) {
    return sort("ig_sort", x, axis, -1, descending, values, indices, error);
}

IgTensor *ig_argsort(IgTensor *x, int axis, bool descending, MTLError **error) {
    IgTensor *indices = NULL;
    return sort("ig_argsort", x, axis, -1, descending, NULL, &indices, error) ? indices : NULL;
}

bool ig_topk(IgTensor *x, int64_t k, int axis, bool largest, IgTensor **values, IgTensor **indices,
             MTLError **error) {
    if (k < 0) {
        if (values) *values = NULL;
        if (indices) *indices = NULL;
        return x && ig_fail(error, IgErrorArgument, "ig_topk: %lld of shape %s", (long long)k,
                            ig_shape_text(ig_rank(x), ig_shape(x)));
    }
    return sort("ig_topk", x, axis, k, largest, values, indices, error);
}

// SPDX-License-Identifier: Apache-2.0
// reduce.c: reductions: sums, means, extremes and their positions, over any axes. The input may be
// an element-wise expression, which is fused: a mean of squares is one pass over memory.
//
// Two kernels. "Rows": the reduced axes are innermost, the threads of a SIMD-group share one
// result. "Columns": each thread has a result of its own and walks over the reduced axes; where
// several axes stay, threads lie along the innermost of them, so that neighbours are seen. When
// there are few results, the outermost reduced axis is cut into parts, and a second pass brings the
// parts together. How it is cut depends on the shape alone, so results do not depend on the
// machine, except that a GPU has kernels and cuts of its own (reduce_gpu.c).
#include <stdlib.h>
#include <string.h>
#include "tensor/reduce.h"

static const char *const names[IG_N_REDUCTIONS] = {"ig_sum", "ig_mean",   "ig_prod",  "ig_max",
                                                   "ig_min", "ig_argmax", "ig_argmin"};

#define TARGET_GROUPS 128 // threadgroups that keep a machine busy: some for each of many threads
#define MIN_PART 32768    // elements a threadgroup is worth
#define MIN_LINE 32       // results side by side that threads may be laid along

typedef struct Reduction {
    IgReduction kind;
    unsigned axes;  // bits of the reduced ones
    IgType element; // of what is reduced
} Reduction;

// ---- Source ----

const char *ig_reduce_accumulator(const IgReduce *p) {
    if (ig_is_float(p->value)) return "float";
    return p->kind <= IG_PRODUCT ? "long" : p->value == IgInt64 ? "long" : "int";
}

bool ig_reduce_has_place(const IgReduce *p) { return p->kind >= IG_ARGMAX; }

void ig_reduce_write_combine(Text *out, const IgReduce *p) {
    bool least = p->kind == IG_MIN || p->kind == IG_ARGMIN;
    const char *better = least ? "<" : ">";
    switch (p->kind) {
    case IG_SUM:
    case IG_MEAN: text_printf(out, "    acc += v;\n"); break;
    case IG_PRODUCT: text_printf(out, "    acc *= v;\n"); break;
    case IG_MAX:
    case IG_MIN: text_printf(out, "    acc = v %s acc || v != v ? v : acc;\n", better); break;
    default: // the first of equals; what is not a number wins, as in NumPy
        text_printf(out,
                    "    { bool nan = v != v, was = acc != acc;\n"
                    "      bool take = none || (nan && !was) || (nan == was && (v %s acc || "
                    "(!(acc %s v) && place < where)));\n"
                    "      acc = take ? v : acc; where = take ? place : where; none = false; }\n",
                    better, better);
    }
}

const char *ig_reduce_start(const IgReduce *p) {
    bool wide = *ig_reduce_accumulator(p) == 'l';
    if (p->kind == IG_PRODUCT) return "1";
    if (p->kind != IG_MAX && p->kind != IG_MIN) return "0";
    if (ig_is_float(p->value)) return p->kind == IG_MIN ? "INFINITY" : "-INFINITY";
    return p->kind == IG_MIN ? (wide ? "LONG_MAX" : "INT_MAX") : (wide ? "LONG_MIN" : "INT_MIN");
}

static void write_begin(Text *out, const IgReduce *p) {
    text_printf(out, "    %s acc = %s;\n", ig_reduce_accumulator(p), ig_reduce_start(p));
    if (ig_reduce_has_place(p)) text_printf(out, "    int where = 0; bool none = true;\n");
}

static void write_place(Text *out, const IgReduce *p) {
    if (!p->first) {
        text_printf(out, "    int place = l1;\n");
        return;
    }
    text_printf(out, "    int place = 0;\n");
    for (int a = p->n_reduced - 1; a >= 0; a--)
        text_printf(out, "    place = place * p[%d] + i%d;\n", a, a);
}

// What is done with one element.
static void write_element(Text *out, const IgReduce *p) {
    ig_fuse_write_value(out, &p->f);
    text_printf(out, "    const %s v = %s(%s%d);\n", ig_reduce_accumulator(p),
                ig_reduce_accumulator(p), p->root < 0 ? "l" : "n",
                p->root < 0 ? -1 - p->root : p->root);
    if (ig_reduce_has_place(p)) write_place(out, p);
    ig_reduce_write_combine(out, p);
}

// The innermost axis of "rows": 32 elements at a time, which all threads have, then the rest.
static void write_lanes(Text *out, const IgReduce *p, bool is_outer) {
    if (is_outer)
        text_printf(out, "    const int from = low, to0 = high;\n");
    else
        text_printf(out, "    const int from = 0, to0 = p[0];\n");
    text_printf(out, "    const int whole = from + (to0 - from) / 32 * 32;\n"
                     "    for (int b = from; b < whole; b += 32) {\n"
                     "    const int i0 = b + lane;\n");
    write_element(out, p);
    text_printf(out, "    }\n    if (whole + lane < to0) {\n    const int i0 = whole + lane;\n");
    write_element(out, p);
    text_printf(out, "    }\n");
}

static void write_loops(Text *out, const IgReduce *p, int extra) {
    int outer = p->n_reduced - 1; // the one that is cut into parts
    if (outer >= 0)
        text_printf(out,
                    "    const int low = int(group.y) * p[%d], high = min(low + p[%d], p[%d]);\n",
                    extra + IG_REDUCE_CHUNK, extra + IG_REDUCE_CHUNK, outer);
    int last = p->rows ? 1 : 0; // axis 0 of rows is the lanes'
    for (int a = outer; a >= last; a--) {
        text_printf(out, "    for (int i%d = %s; i%d < ", a, a == outer ? "low" : "0", a);
        if (a == outer)
            text_printf(out, "high");
        else
            text_printf(out, "p[%d]", a);
        text_printf(out, "; i%d++) {\n", a);
    }
    text_printf(out, "    {\n");
    if (p->rows)
        write_lanes(out, p, outer == 0);
    else
        write_element(out, p);
    text_printf(out, "    }\n");
    for (int a = outer; a >= last; a--) text_printf(out, "    }\n");
}

// The first place of the best value of a SIMD-group's threads, of which at least one has some;
// values of 32 bits.
static void write_best_place(Text *out, const IgReduce *p) {
    bool least = p->kind == IG_ARGMIN, is_float = ig_is_float(p->value);
    text_printf(out,
                "    const %s best = simd_%s(none || acc != acc ? %s : acc);\n"
                "    const bool nan = !none && acc != acc, any = simd_any(nan);\n"
                "    where = simd_min((any ? nan : !none && acc == best) ? where : INT_MAX);\n"
                "    acc = any ? %s : best;\n    if (lane != 0) return;\n",
                ig_reduce_accumulator(p), least ? "min" : "max",
                is_float ? (least ? "INFINITY" : "-INFINITY") : (least ? "INT_MAX" : "INT_MIN"),
                is_float ? "NAN" : "best");
}

// The results of the threads of a SIMD-group become one.
static void write_meeting(Text *out, const IgReduce *p) {
    bool place = ig_reduce_has_place(p);
    if (place && *ig_reduce_accumulator(p) != 'l') {
        write_best_place(out, p);
        return;
    }
    text_printf(out, "    for (ushort step = 16; step > 0; step /= 2) {\n"
                     "    const auto v = simd_shuffle_down(acc, step);\n");
    if (place)
        text_printf(out, "    const int place = simd_shuffle_down(where, step);\n"
                         "    const bool empty = simd_shuffle_down(int(none), step) != 0;\n"
                         "    if (!empty) {\n");
    ig_reduce_write_combine(out, p);
    text_printf(out, place ? "    } }\n" : "    }\n");
    text_printf(out, "    if (lane != 0) return;\n");
}

void ig_reduce_write_store(Text *out, const IgReduce *p, int extra, const char *to) {
    bool place = ig_reduce_has_place(p);
    const char *stored = p->last ? ig_type_metal(p->result) : ig_reduce_accumulator(p);
    if (p->last && p->kind == IG_MEAN)
        text_printf(out, "    result[%s] = %s(float(acc) / float(p[%d]));\n", to, stored,
                    extra + IG_REDUCE_COUNT);
    else
        text_printf(out, "    result[%s] = %s(%s%s);\n", to, stored,
                    p->last && place ? "where" : "acc",
                    p->last && p->result == IgBool ? " != 0" : "");
    if (place && !p->last) text_printf(out, "    places[%s] = where;\n", to);
}

static void write_source(Text *out, const IgReduce *p) {
    const IgFused *f = &p->f;
    int32_t words[IG_FUSE_WORDS];
    int extra = (int)ig_fuse_words(f, words);
    bool place = ig_reduce_has_place(p);
    const char *stored = p->last ? ig_type_metal(p->result) : ig_reduce_accumulator(p);
    ig_fuse_write_prelude(out);
    text_printf(out, "kernel void reduce(constant int *p [[buffer(0)]],\n");
    ig_fuse_write_leaves(out, f);
    text_printf(out, "    device %s *result [[buffer(%d)]],\n", stored, f->n_leaves + 1);
    if (place && !p->last)
        text_printf(out, "    device int *places [[buffer(%d)]],\n", f->n_leaves + 2);
    // A threadgroup is one thread high and has eight SIMD-groups, or it is the only one: what all
    // threads of a SIMD-group have in common is seen to be so.
    text_printf(out, "    uint3 at [[thread_position_in_grid]],\n"
                     "    uint3 group [[threadgroup_position_in_grid]],\n"
                     "    uint simdgroup [[simdgroup_index_in_threadgroup]],\n"
                     "    uint simd_lane [[thread_index_in_simdgroup]]) {\n");
    int stays = p->n_reduced;
    if (p->lines)
        text_printf(out,
                    "    const int i%d = int(at.x), o = int(at.z) * p[%d] + i%d;\n"
                    "    int rest = int(at.z);\n",
                    stays, stays, stays);
    else
        text_printf(out, "    const int o = int(%s);\n    int rest = o;\n",
                    p->rows ? "group.x * 8 + simdgroup" : "at.x");
    if (p->rows) text_printf(out, "    const int lane = int(simd_lane);\n");
    for (int a = stays + p->lines; a < f->n_axes - 1; a++)
        text_printf(out, "    const int i%d = rest %% p[%d]; rest /= p[%d];\n", a, a, a);
    // No remainder for the last: neighbours are seen to be neighbours.
    if (f->n_axes > p->n_reduced) text_printf(out, "    const int i%d = rest;\n", f->n_axes - 1);
    write_begin(out, p);
    write_loops(out, p, extra);
    if (p->rows) write_meeting(out, p);
    text_printf(out, "    const int to = int(group.y) * p[%d] + o;\n", extra + IG_REDUCE_RESULTS);
    ig_reduce_write_store(out, p, extra, "to");
    text_printf(out, "}\n");
}

static char *source(void *context) {
    const IgReduce *p = context;
    Text text = {0}, *out = &text;
    if (p->gpu)
        ig_reduce_gpu_write(out, p);
    else
        write_source(out, p);
    return text_take(out);
}

// ---- Running ----

int64_t ig_reduce_count(const IgReduce *p) {
    int64_t n = 1;
    int first = p->gpu && !p->rows ? p->f.n_axes - p->n_reduced : 0;
    for (int a = 0; a < p->n_reduced; a++) n *= p->f.axes[first + a];
    return n;
}

// Threads share a result where that makes their reads neighbours.
bool ig_reduce_by_rows(const IgReduce *p) {
    if (p->n_reduced == 0 || p->f.axes[0] < 16) return false;
    for (int l = 0; l < p->f.n_leaves; l++)
        if (p->f.strides[l][0] == 1) return true;
    return p->f.n_axes == p->n_reduced;
}

// Results of one threadgroup that are made from neighbours, and threadgroups without parts.
static int64_t width_of(const IgReduce *p, int64_t n_results, int64_t *n_groups) {
    int64_t most = p->rows ? 8 : 256, line = p->lines ? p->f.axes[p->n_reduced] : n_results;
    *n_groups = (line + most - 1) / most * (n_results / (line ? line : 1));
    return line < most ? line : most;
}

static int64_t chunk_of(const IgReduce *p, int64_t n_results) {
    if (p->n_reduced == 0) return 1;
    int64_t outer = p->f.axes[p->n_reduced - 1], count = ig_reduce_count(p), n_groups;
    int64_t worth = count * width_of(p, n_results, &n_groups) / MIN_PART;
    int64_t parts = TARGET_GROUPS / (n_groups ? n_groups : 1);
    parts = parts > worth ? worth : parts;
    if (parts <= 2) return outer; // a pass more costs as much as they bring
    int64_t chunk = (outer + parts - 1) / parts;
    if (p->rows && p->n_reduced == 1) chunk = (chunk + 31) / 32 * 32;
    return chunk;
}

static void plan(IgReduce *p, unsigned axes, int64_t n_results) {
    ig_fuse_fold(&p->f, axes);
    p->n_reduced = p->f.n_axes;
    ig_fuse_fold(&p->f, ~axes);
    p->rows = p->first && ig_reduce_by_rows(p);
    p->lines = p->first && !p->rows && p->f.n_axes > p->n_reduced + 1 &&
               p->f.axes[p->n_reduced] >= MIN_LINE;
    int64_t outer = p->n_reduced ? p->f.axes[p->n_reduced - 1] : 1;
    p->chunk = p->first ? chunk_of(p, n_results) : outer;
    p->n_parts = p->chunk ? (outer + p->chunk - 1) / p->chunk : 1;
    if (p->n_parts < 1) p->n_parts = 1;
    size_t lines = p->lines ? (size_t)(n_results / p->f.axes[p->n_reduced]) : 1;
    size_t x = (size_t)n_results / lines * (p->rows ? 32 : 1);
    p->grid = mtl_size_make(x, (size_t)p->n_parts, lines);
    p->group = mtl_size_make(x < 256 ? x : 256, 1, 1);
}

static bool encode(IgDevice *device, IgReduce *p, int64_t n_results, int64_t count,
                   const IgBinding *outputs, size_t n_outputs, MTLError **error) {
    unsigned char key[8 + IG_FUSE_KEY] = {
        'r',
        (unsigned char)p->kind,
        (unsigned char)p->n_reduced,
        (unsigned char)(p->gpu * 16 + p->lines * 8 + p->rows * 4 + p->first * 2 + p->last),
        (unsigned char)p->value,
        (unsigned char)p->result,
        (unsigned char)(p->root + 64),
        (unsigned char)(p->shared / 4)};
    int32_t words[IG_FUSE_WORDS + IG_REDUCE_WORDS];
    size_t n_key = 8 + ig_fuse_key(&p->f, key + 8), n_words = ig_fuse_words(&p->f, words);
    words[n_words + IG_REDUCE_CHUNK] = (int32_t)p->chunk;
    words[n_words + IG_REDUCE_RESULTS] = (int32_t)n_results;
    words[n_words + IG_REDUCE_COUNT] = (int32_t)count;
    words[n_words + IG_REDUCE_LENGTH] = (int32_t)ig_reduce_count(p);
    IgKernel *kernel = ig_kernel(device, key, n_key, "reduce", source, p, error);
    if (!kernel) return false;
    IgBinding bindings[IG_FUSE_LEAVES + 2];
    size_t n = 0;
    for (int l = 0; l < p->f.n_leaves; l++)
        bindings[n++] = (IgBinding){p->f.leaves[l].view.data->memory, 0};
    for (size_t i = 0; i < n_outputs; i++) bindings[n++] = outputs[i];
    return ig_encode(device, kernel, words, (n_words + IG_REDUCE_WORDS) * 4, bindings, n, p->grid,
                     p->group, p->gpu, error);
}

// The second pass: parts (P, results) become one.
static bool bring_together(IgDevice *device, const IgReduce *first, IgData *data, IgBuffer *values,
                           IgBuffer *places, int64_t count, MTLError **error) {
    const char *type = ig_reduce_accumulator(first);
    IgData parts = {.type = *type == 'f'   ? IgFloat32
                            : *type == 'i' ? IgInt32
                                           : IgInt64,
                    .memory = values},
           wheres = {.type = IgInt32, .memory = places};
    IgView view = {
        .data = &parts, .shape = {2, {first->n_parts, data->n}}, .strides = {data->n, 1}};
    IgReduce p = {.kind = first->kind,
                  .last = true,
                  .root = -1,
                  .value = parts.type,
                  .result = data->type,
                  .gpu = first->gpu};
    p.f.shape = view.shape;
    p.f.leaves[p.f.n_leaves++].view = view;
    view.data = &wheres;
    if (places) p.f.leaves[p.f.n_leaves++].view = view;
    (p.gpu ? ig_reduce_gpu_plan : plan)(&p, 1, data->n);
    IgBinding out = {data->memory, 0};
    return encode(device, &p, data->n, count, &out, 1, error);
}

static bool run_reduction(IgDevice *device, IgData *data, MTLError **error) {
    const Reduction *r = data->expr->extra;
    IgReduce p = {.kind = r->kind,
                  .first = true,
                  .value = r->element,
                  .result = data->type,
                  .gpu = device->gpu};
    if (!ig_fuse_collect(&p.f, &data->expr->inputs[0], &p.root, error) ||
        !ig_data_allocate(data, error))
        return false;
    if (data->n == 0) return true;
    (p.gpu ? ig_reduce_gpu_plan : plan)(&p, r->axes, data->n);
    int64_t count = ig_reduce_count(&p);
    p.last = p.n_parts == 1;
    if (p.last) {
        IgBinding out = {data->memory, 0};
        return encode(device, &p, data->n, count, &out, 1, error);
    }
    size_t n_parts = (size_t)p.n_parts * (size_t)data->n;
    bool place = ig_reduce_has_place(&p);
    IgBuffer *values = ig_pool_take(device, n_parts * 8, false, error);
    IgBuffer *places = values && place ? ig_pool_take(device, n_parts * 4, false, error) : NULL;
    IgBinding out[2] = {{values, 0}, {places, 0}};
    bool ok = values && (places || !place) &&
              encode(device, &p, data->n, count, out, places ? 2 : 1, error) &&
              bring_together(device, &p, data, values, places, count, error);
    if (values) ig_pool_give(device, values); // what comes later in the queue may have it
    if (places) ig_pool_give(device, places);
    return ok;
}

// ---- Recording ----

static IgType result_type(IgReduction kind, IgType type) {
    if (kind >= IG_ARGMAX) return IgInt64;
    if (kind == IG_MAX || kind == IG_MIN || ig_is_float(type)) return type;
    return kind == IG_MEAN ? IgFloat32 : IgInt64;
}

static IgTensor *reduce(IgReduction kind, IgTensor *x, unsigned axes, bool keepdim,
                        MTLError **error);

// ---- Gradients; numbers: kind, axes ----

// g as if the reduced axes had been kept.
static IgTensor *kept(const IgGradNode *node, IgTensor *g, MTLError **error) {
    IgShape shape = node->inputs[0]->shape;
    for (int i = 0; i < shape.rank; i++)
        if (node->numbers[1] >> i & 1) shape.n[i] = 1;
    return ig_reshape(g, shape.rank, shape.n, error);
}

static IgTensor *again(const IgGradNode *node, IgReduction kind, IgTensor *x, MTLError **error) {
    return x ? reduce(kind, x, (unsigned)node->numbers[1], true, error) : NULL;
}

// g p / x without the zeros: p is the product of the others; one zero gets it, of two none does.
static IgTensor *rule_product(IgGradNode *node, IgTensor *g, MTLError **error) {
    IgTensor *x = ig_saved(node, 0), *is_zero = ig_eq_scalar(x, 0, error);
    IgTensor *one = ig_ones(node->device, ig_type(x), 0, NULL, error);
    IgTensor *others = ig_where(is_zero, one, x, error);
    IgTensor *zeros = again(node, IG_SUM, is_zero, error);
    IgTensor *slope = ig_div(again(node, IG_PRODUCT, others, error), others, error);
    IgTensor *counts =
        ig_where(is_zero, ig_eq_scalar(zeros, 1, error), ig_eq_scalar(zeros, 0, error), error);
    return ig_where(counts, ig_mul(g, slope, error),
                    ig_zeros(node->device, ig_type(x), 0, NULL, error), error);
}

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgReduction kind = (IgReduction)node->numbers[0];
    const IgShape *from = &node->inputs[0]->shape;
    g = kept(node, g, error);
    if (kind == IG_MEAN) {
        double n = (double)ig_shape_numel(from) / (double)(ig_numel(g) ? ig_numel(g) : 1);
        g = ig_div_scalar(g, n > 0 ? n : 1, error);
    } else if (kind == IG_PRODUCT) {
        g = rule_product(node, g, error);
    } else if (kind != IG_SUM) { // the equals share it
        IgTensor *x = ig_saved(node, 0), *best = kept(node, ig_saved_result(node, error), error);
        IgTensor *is_best = ig_cast(ig_eq(x, best, error), ig_type(x), error);
        IgTensor *share = ig_div(g, again(node, IG_SUM, is_best, error), error);
        g = ig_mul(share, is_best, error);
    }
    out[0] = g; // what is smaller is expanded
    return g != NULL;
}

static IgTensor *record(IgReduction kind, IgTensor *x, unsigned axes, IgTensor *result,
                        MTLError **error) {
    if (!result || kind >= IG_ARGMAX || !ig_is_float(ig_type(x)) || !ig_grad_enabled_for(1, &x))
        return result;
    IgGradNode *node = ig_node_new(names[kind], rule, 1, &x, error);
    if (node && kind >= IG_PRODUCT && !ig_node_save(node, 0, x, error)) {
        ig_node_release(node);
        node = NULL;
    }
    if (node) {
        node->numbers[0] = kind;
        node->numbers[1] = axes & 0xFF;
    }
    return ig_node_attach(result, node, kind == IG_MAX || kind == IG_MIN, error);
}

static IgTensor *reduce(IgReduction kind, IgTensor *x, unsigned axes, bool keepdim,
                        MTLError **error) {
    const IgShape *from = &x->view.shape;
    IgShape shape = {0}, short_shape = {0};
    int64_t count = 1;
    for (int i = 0; i < from->rank; i++) {
        bool reduced = axes >> i & 1;
        if (reduced) count *= from->n[i];
        shape.n[shape.rank++] = reduced ? 1 : from->n[i];
        if (!reduced) short_shape.n[short_shape.rank++] = from->n[i];
    }
    if (count == 0 && kind >= IG_MAX && ig_shape_numel(&shape) > 0) {
        ig_fail(error, IgErrorShape, "%s: shape %s has nothing to choose from", names[kind],
                ig_shape_text(from->rank, from->n));
        return NULL;
    }
    const Reduction r = {kind, axes, ig_type(x)};
    const IgShape *to = keepdim ? &shape : &short_shape;
    IgExpr *expr = ig_expr_with(run_reduction, &r, sizeof r, 1, &x->view, to, error);
    if (!expr) return NULL;
    expr->dispatches = true;
    return record(kind, x, axes,
                  ig_tensor_of_expr(ig_device(x), result_type(kind, ig_type(x)), expr, error),
                  error);
}

static IgTensor *reduce_axis(IgReduction kind, IgTensor *x, int axis, bool keepdim,
                             MTLError **error) {
    if (!x) return NULL;
    if (axis == IG_ALL) return reduce(kind, x, ~0u, keepdim, error);
    if (!ig_axis(names[kind], ig_rank(x), axis, 0, &axis, error)) return NULL;
    return reduce(kind, x, 1u << axis, keepdim, error);
}

#define REDUCTION(NAME, KIND)                                                                      \
    IgTensor *ig_##NAME(IgTensor *x, int axis, bool keepdim, MTLError **error) {                   \
        return reduce_axis(KIND, x, axis, keepdim, error);                                         \
    }
REDUCTION(sum, IG_SUM)
REDUCTION(mean, IG_MEAN)
REDUCTION(prod, IG_PRODUCT)
REDUCTION(max, IG_MAX)
REDUCTION(min, IG_MIN)
REDUCTION(argmax, IG_ARGMAX)
REDUCTION(argmin, IG_ARGMIN)

IgTensor *ig_sum_axes(IgTensor *x, int n_axes, const int *axes, bool keepdim, MTLError **error) {
    unsigned mask = 0;
    for (int i = 0; x && i < n_axes; i++) {
        int axis;
        if (!axes || !ig_axis("ig_sum_axes", ig_rank(x), axes[i], 0, &axis, error)) return NULL;
        mask |= 1u << axis;
    }
    return x ? reduce(IG_SUM, x, mask, keepdim, error) : NULL;
}

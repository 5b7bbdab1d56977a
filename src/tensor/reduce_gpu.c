// SPDX-License-Identifier: Apache-2.0
// reduce_gpu.c: reductions on a GPU: how they are cut, and the text of the kernels. A GPU wants
// a hundred thousand threads with 16 bytes each under way.
//
// Rows: a SIMD-group for a result, or a threadgroup where there is much to reduce, in packs along
// the reduced axis. Columns: threads lie side by side along the results, a pack each, and in rows
// that share the reduced elements and meet in threadgroup memory; axes that stay are folded first.
// Few results are cut into parts, as on the CPU. The cuts depend on the shape alone.
#include "tensor/reduce.h"
#include <stdio.h>

enum {
    THREADS = 256,        // of a threadgroup
    TARGET_GROUPS = 1024, // keep a GPU busy
    MIN_STEPS = 8,        // of a thread in a part
    UNITS = 128,          // threadgroups that give each part of a GPU something to do
    SIMD_ITEMS = 1024,    // up to so many a SIMD-group has a result
};

static int width(const IgReduce *p) { return p->f.pack ? p->f.pack : 1; }

// Cut so that there are enough threadgroups; `at_once`: items that one takes in a step.
static void cut(IgReduce *p, int64_t items, int64_t groups, int64_t at_once) {
    int64_t parts = TARGET_GROUPS / groups, most = items / (at_once * MIN_STEPS);
    parts = parts < most ? parts : most;
    if (parts < 1 || !p->first) parts = 1;
    p->chunk = (items + parts - 1) / parts;
    p->n_parts = p->chunk ? (items + p->chunk - 1) / p->chunk : 1;
}

// Of a SIMD-group so many lanes have a result: four steps each where rows are short.
static int lanes_for(int64_t items) {
    int lanes = 4;
    while (lanes < 32 && items >= 8 * lanes) lanes *= 2;
    return lanes;
}

static void plan_rows(IgReduce *p, int64_t n_results) {
    p->f.pack = ig_fuse_pack(&p->f, true);
    int64_t items = ig_reduce_count(p) / width(p);
    p->shared = items <= SIMD_ITEMS ? lanes_for(items) : THREADS;
    int64_t rows = THREADS / p->shared, groups = (n_results + rows - 1) / rows;
    if (p->shared <= 32)
        p->chunk = items, p->n_parts = 1;
    else
        cut(p, items, groups, THREADS);
    p->grid = mtl_size_make((size_t)groups, (size_t)p->n_parts, 1);
    p->group = mtl_size_make(THREADS, 1, 1);
}

static void plan_columns(IgReduce *p, int64_t n_results) {
    int stays = p->f.n_axes - p->n_reduced;
    p->f.pack = stays ? ig_fuse_pack(&p->f, true) : 0;
    if (p->f.pack > 4) p->f.pack = 4;
    int64_t side = n_results / width(p), x = 1;
    // At least 128 bytes side by side, at most a SIMD-group.
    while (x < side && (x < 8 || (x < 32 && side / (2 * x) >= UNITS))) x *= 2;
    int64_t groups = (side + x - 1) / x;
    cut(p, ig_reduce_count(p), groups, THREADS / x);
    p->grid = mtl_size_make((size_t)groups, (size_t)p->n_parts, 1);
    p->group = mtl_size_make((size_t)x, (size_t)(THREADS / x), 1);
}

void ig_reduce_gpu_plan(IgReduce *p, unsigned axes, int64_t n_results) {
    ig_fuse_fold(&p->f, axes);
    p->n_reduced = p->f.n_axes;
    ig_fuse_fold(&p->f, ~axes);
    p->rows = true;
    if ((p->rows = ig_reduce_by_rows(p))) {
        plan_rows(p, n_results);
        return;
    }
    p->f.n_axes = 0;
    ig_fuse_fold(&p->f, ~axes);
    int stays = p->f.n_axes;
    ig_fuse_fold(&p->f, axes);
    p->n_reduced = p->f.n_axes - stays;
    plan_columns(p, n_results);
}

// ---- Source ----

// What threads keep, and how two of them become one.
static void write_acc(Text *out, const IgReduce *p) {
    bool place = ig_reduce_has_place(p);
    const char *type = ig_reduce_accumulator(p);
    text_printf(out, "typedef %s A;\nstruct Acc { A acc; %s};\n", type,
                place ? "int where; int none; " : "");
    text_printf(out,
                "inline void take(thread Acc &a, const A v, const int place) {\n"
                "    A acc = a.acc;\n%s",
                place ? "    int where = a.where; bool none = a.none;\n" : "    (void)place;\n");
    ig_reduce_write_combine(out, p);
    text_printf(out, "    a.acc = acc;\n%s}\n",
                place ? "    a.where = where; a.none = none;\n" : "");
    text_printf(out, "inline void join(thread Acc &a, const Acc b) { %s; }\n",
                place ? "if (!b.none) take(a, b.acc, b.where)" : "take(a, b.acc, 0)");
    text_printf(out, "inline Acc lower(Acc a, ushort by) {\n"
                     "    Acc b;\n    b.acc = simd_shuffle_down(a.acc, by);\n");
    if (place)
        text_printf(out, "    b.where = simd_shuffle_down(a.where, by);\n"
                         "    b.none = simd_shuffle_down(a.none, by);\n");
    text_printf(out, "    return b;\n}\n");
}

// Positions of n axes from `first` on, out of the variable `of`, which they use up. The first of
// all is in packs.
static void write_positions(Text *out, const IgReduce *p, int first, int n, const char *of) {
    for (int a = first; a < first + n; a++) {
        int wide = a == 0 ? width(p) : 1;
        if (a == first + n - 1) {
            text_printf(out, "    const int i%d = %s * %d;\n", a, of, wide);
            continue;
        }
        text_printf(out, "    const int n%d_ = p[%d] / %d, i%d = %s %% n%d_ * %d; %s /= n%d_;\n", a,
                    a, wide, a, of, a, wide, of, a);
    }
}

// One step: the elements of a pack, or one.
static void write_step(Text *out, const IgReduce *p) {
    int reduced = p->rows ? 0 : p->f.n_axes - p->n_reduced;
    text_printf(out, "    int rest_ = j;\n");
    write_positions(out, p, reduced, p->n_reduced, "rest_");
    ig_fuse_write_packs(out, &p->f);
    if (p->f.n_axes)
        text_printf(out,
                    "    const int first_ = i0;\n    for (int e = 0; e < %d; e++) {\n"
                    "    const int i0 = first_ + e;\n",
                    width(p));
    else
        text_printf(out, "    { const int e = 0;\n");
    ig_fuse_write_value(out, &p->f);
    text_printf(out, "    int place = 0;\n");
    if (ig_reduce_has_place(p) && !p->first) text_printf(out, "    place = l1;\n");
    for (int a = p->n_reduced - 1; ig_reduce_has_place(p) && p->first && a >= 0; a--)
        text_printf(out, "    place = place * p[%d] + i%d;\n", reduced + a, reduced + a);
    text_printf(out, "    take(a[e], A(%s%d), place);\n    }\n", p->root < 0 ? "l" : "n",
                p->root < 0 ? -1 - p->root : p->root);
}

static void write_loop(Text *out, const IgReduce *p, int extra, const char *thread,
                       const char *threads) {
    text_printf(out,
                "    const int low = int(group.y) * p[%d], high = min(low + p[%d], p[%d] / %d);\n",
                extra + IG_REDUCE_CHUNK, extra + IG_REDUCE_CHUNK, extra + IG_REDUCE_LENGTH,
                p->rows ? width(p) : 1);
    text_printf(out, "#pragma unroll(4)\n    for (int j = low + %s; j < high; j += %s) {\n", thread,
                threads);
    write_step(out, p);
    text_printf(out, "    }\n");
}

static void write_begin(Text *out, const IgReduce *p) {
    text_printf(out, "    Acc a[%d];\n    for (int e = 0; e < %d; e++) a[e] = {%s%s};\n", width(p),
                width(p), ig_reduce_start(p), ig_reduce_has_place(p) ? ", 0, 1" : "");
}

static void write_store(Text *out, const IgReduce *p, int extra, const char *acc, const char *at) {
    text_printf(out, "    const A acc = %s.acc;\n    const int to = int(group.y) * p[%d] + %s;\n",
                acc, extra + IG_REDUCE_RESULTS, at);
    if (ig_reduce_has_place(p)) text_printf(out, "    const int where = %s.where;\n", acc);
    ig_reduce_write_store(out, p, extra, "to");
}

static void write_rows(Text *out, const IgReduce *p, int extra) {
    bool alone = p->shared <= 32; // a SIMD-group, or a part of it
    if (!alone) text_printf(out, "    threadgroup Acc parts[8];\n");
    if (alone)
        text_printf(
            out, "    const int o = int(group.x) * %d + int(local.x) / %d, me = int(lane) %% %d;\n",
            THREADS / p->shared, p->shared, p->shared);
    else
        text_printf(out, "    const int o = int(group.x), me = int(local.x);\n");
    text_printf(out, "    if (o >= p[%d]) return;\n    int rest = o;\n", extra + IG_REDUCE_RESULTS);
    write_positions(out, p, p->n_reduced, p->f.n_axes - p->n_reduced, "rest");
    write_begin(out, p);
    char threads[8];
    snprintf(threads, sizeof threads, "%d", p->shared);
    write_loop(out, p, extra, "me", threads);
    text_printf(out, "    for (int e = 1; e < %d; e++) join(a[0], a[e]);\n", width(p));
    text_printf(out, "    for (ushort by = %d; by > 0; by /= 2) join(a[0], lower(a[0], by));\n",
                alone ? p->shared / 2 : 16);
    if (!alone)
        text_printf(out, "    if (lane == 0) parts[simdgroup] = a[0];\n"
                         "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                         "    for (int k = 1; k < 8 && me == 0; k++) join(a[0], parts[k]);\n");
    text_printf(out, "    if (me != 0) return;\n");
    write_store(out, p, extra, "a[0]", "o");
}

static void write_columns(Text *out, const IgReduce *p, int extra) {
    int wide = width(p), stays = p->f.n_axes - p->n_reduced;
    text_printf(out,
                "    threadgroup Acc all[%d];\n"
                "    const int side = int(group.x * size.x + local.x), o = side * %d;\n"
                "    const int self = int(local.y * size.x + local.x) * %d;\n"
                "    int rest = side;\n",
                THREADS * wide, wide, wide);
    write_positions(out, p, 0, stays, "rest");
    write_begin(out, p);
    text_printf(out, "    if (o < p[%d]) {\n", extra + IG_REDUCE_RESULTS);
    write_loop(out, p, extra, "int(local.y)", "int(size.y)");
    text_printf(out, "    }\n");
    text_printf(out,
                "    for (int e = 0; e < %d; e++) all[self + e] = a[e];\n"
                "    for (int by = int(size.y) / 2; by > 0; by /= 2) {\n"
                "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                "    if (int(local.y) < by)\n"
                "    for (int e = 0; e < %d; e++) {\n"
                "    join(a[e], all[self + by * int(size.x) * %d + e]);\n"
                "    all[self + e] = a[e];\n    } }\n"
                "    if (local.y != 0 || o >= p[%d]) return;\n"
                "    for (int e = 0; e < %d; e++) {\n",
                wide, wide, wide, extra + IG_REDUCE_RESULTS, wide);
    write_store(out, p, extra, "a[e]", "o + e");
    text_printf(out, "    }\n");
}

void ig_reduce_gpu_write(Text *out, const IgReduce *p) {
    const IgFused *f = &p->f;
    int32_t words[IG_FUSE_WORDS];
    int extra = (int)ig_fuse_words(f, words);
    ig_fuse_write_prelude(out);
    write_acc(out, p);
    text_printf(out, "kernel void reduce(constant int *p [[buffer(0)]],\n");
    ig_fuse_write_leaves(out, f);
    text_printf(out, "    device %s *result [[buffer(%d)]],\n",
                p->last ? ig_type_metal(p->result) : "A", f->n_leaves + 1);
    if (ig_reduce_has_place(p) && !p->last)
        text_printf(out, "    device int *places [[buffer(%d)]],\n", f->n_leaves + 2);
    text_printf(out, "    uint3 group [[threadgroup_position_in_grid]],\n"
                     "    uint3 local [[thread_position_in_threadgroup]]");
    text_printf(out, p->rows ? ",\n    uint simdgroup [[simdgroup_index_in_threadgroup]],\n"
                               "    uint lane [[thread_index_in_simdgroup]]) {\n"
                             : ",\n    uint3 size [[threads_per_threadgroup]]) {\n");
    (p->rows ? write_rows : write_columns)(out, p, extra);
    text_printf(out, "}\n");
}

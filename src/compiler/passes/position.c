// SPDX-License-Identifier: Apache-2.0
// position.c: thread positions and the other calls the vectoriser lowers by name.
// Lane l of a vector step is thread first + l of the threadgroup, x fastest. With s the size of the
// fastest dimension that is not 1:
//   nothing but that dimension            its coordinate is linear, the others 0
//   s a multiple of the width             linear, the slower coordinates uniform
//   gcd(s, width) lanes make a segment    linear in segments: each segment lies in one row
//   vectors of a step one row apart       the same, each vector being a segment
//   else, or a group cut by the edge      varying, by division of first + lane by the actual sizes
// Positions in the grid are taken to lie below 2^31 where they are used as int.
#include <string.h>
#include "abi/cpu_kernel.h"
#include "abi/reflect.h"
#include "compiler/passes/passes_int.h"

enum { SIMD_LANES = ABI_SIMD_WIDTH, QUAD_LANES = 4, MAX_THREADS = ABI_MAX_THREADS };

Builtin msl_builtin_of(Value call) {
    static const struct {
        const char *name;
        Op op;
    } table[] = {
        {"sum", OP_SUM},
        {"product", OP_PRODUCT},
        {"min", OP_MIN},
        {"max", OP_MAX},
        {"and", OP_AND},
        {"or", OP_OR},
        {"xor", OP_XOR},
        {"prefix_inclusive_sum", OP_SCAN_SUM},
        {"prefix_exclusive_sum", OP_SCAN_SUM_EX},
        {"prefix_inclusive_product", OP_SCAN_PRODUCT},
        {"prefix_exclusive_product", OP_SCAN_PRODUCT_EX},
        {"broadcast", OP_BROADCAST},
        {"shuffle", OP_SHUFFLE},
        {"shuffle_up", OP_UP},
        {"shuffle_down", OP_DOWN},
        {"shuffle_xor", OP_SHUFFLE_XOR},
        {"shuffle_rotate_up", OP_ROTATE_UP},
        {"shuffle_rotate_down", OP_ROTATE_DOWN},
        {"broadcast_first", OP_FIRST},
        {"shuffle_and_fill_up", OP_FILL_UP},
        {"shuffle_and_fill_down", OP_FILL_DOWN},
        {"ballot", OP_BALLOT},
        {"all", OP_ALL},
        {"any", OP_ANY},
        {"is_first", OP_IS_FIRST},
        {"active_mask", OP_ACTIVE},
    };
    Builtin none = {OP_NONE, false, false};
    const char *n = callee_of(call);
    if (starts_with(n, "_Z")) {
        Op tensor = msl_tensor_op(call);
        return (Builtin){tensor ? tensor : msl_texture_op(call, NULL), false, false};
    }
    if (!starts_with(n, "__ingot_")) return none;
    n += 8;
    if (!strcmp(n, "position")) return (Builtin){OP_POSITION, false, false};
    if (!strcmp(n, "launch")) return (Builtin){OP_LAUNCH, false, false};
    if (!strcmp(n, "threadgroup_barrier")) return (Builtin){OP_BARRIER, false, false};
    if (!strcmp(n, "simdgroup_barrier")) return (Builtin){OP_SIMD_BARRIER, false, false};
    if (!strcmp(n, "inside")) return (Builtin){OP_INSIDE, false, false};
    if (!strcmp(n, "never")) return (Builtin){OP_NEVER, false, false};
    if (!strcmp(n, "frame")) return (Builtin){OP_FRAME, false, false};
    if (!strcmp(n, "observe")) return (Builtin){OP_OBSERVE, false, false};
    if (starts_with(n, "dispatch_")) return (Builtin){OP_DISPATCH, false, false};
    if (starts_with(n, "simdgroup_")) {
        Op op = starts_with(n + 10, "mma_")     ? OP_MMA
                : starts_with(n + 10, "load_")  ? OP_MATRIX_LOAD
                : starts_with(n + 10, "store_") ? OP_MATRIX_STORE
                                                : OP_NONE;
        return (Builtin){op, false, false};
    }
    if (starts_with(n, "fragment_")) {
        Op op = starts_with(n + 9, "mma_")     ? OP_FRAGMENT_MMA
                : starts_with(n + 9, "load_")  ? OP_FRAGMENT_LOAD
                : starts_with(n + 9, "store_") ? OP_FRAGMENT_STORE
                : starts_with(n + 9, "rows_")  ? OP_FRAGMENT_ROWS
                                               : OP_FRAGMENT_LANE;
        return (Builtin){op, false, false};
    }
    bool quad = starts_with(n, "quad_");
    if (!quad && !starts_with(n, "simd_")) return none;
    n += 5;
    size_t length = strlen(n);
    bool typed =
        length > 4 && (!strcmp(n + length - 4, "_i32") || !strcmp(n + length - 4, "_u32") ||
                       !strcmp(n + length - 4, "_i64") || !strcmp(n + length - 4, "_u64") ||
                       !strcmp(n + length - 4, "_f32"));
    bool is_unsigned = typed && n[length - 3] == 'u';
    if (typed) length -= 4;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (strlen(table[k].name) == length && !strncmp(table[k].name, n, length))
            return (Builtin){table[k].op, quad, is_unsigned};
    return none;
}

bool msl_uses_matrices(LLVMValueRef thread) {
    for (Block b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            Op op = LLVMIsACallInst(i) ? msl_builtin_of(i).op : OP_NONE;
            if (op == OP_MMA || op == OP_MATRIX_LOAD || op == OP_MATRIX_STORE) return true;
        }
    return false;
}

bool msl_may_stand_apart(LLVMValueRef thread) {
    for (Block b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            Op op = LLVMIsACallInst(i) ? msl_builtin_of(i).op : OP_NONE;
            int64_t k = op == OP_POSITION ? (int64_t)LLVMConstIntGetZExtValue(operand(i, 0)) : 0;
            if (op >= OP_SUM || op == OP_FRAME ||
                (op == OP_POSITION &&
                 (k == RF_THREAD_INDEX_IN_THREADGROUP || k == RF_THREAD_INDEX_IN_SIMDGROUP ||
                  k == RF_THREAD_INDEX_IN_QUADGROUP || k == RF_QUADGROUP_INDEX_IN_THREADGROUP ||
                  k == RF_SIMDGROUP_INDEX_IN_THREADGROUP)))
                return false;
        }
    return true;
}

bool msl_uses_simd(LLVMValueRef thread) {
    for (Block b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && msl_builtin_of(i).op >= OP_SUM) return true;
    return false;
}

// ---- classes ----

static unsigned gcd(unsigned a, unsigned b) { return b ? gcd(b, a % b) : a; }

void msl_plan_positions(Vec *x) {
    const uint32_t *s = x->shape;
    x->positions = POSITIONS_VARY;
    x->segment = x->width;
    x->n_segments = x->parts;
    x->fast = 0;
    for (int d = 0; d < 3; d++)
        if (s[(d + 1) % 3] == 1 && s[(d + 2) % 3] == 1) {
            x->fast = d;
            x->positions = POSITIONS_LINEAR;
            return;
        }
    if (!x->full || !s[0] || !s[1] || !s[2]) return;
    while (s[x->fast] == 1) x->fast++;
    unsigned g = gcd(s[x->fast], x->lanes);
    if (x->apart) {
        x->positions = POSITIONS_SEGMENTED;
        return;
    }
    if (g == x->lanes) {
        x->positions = POSITIONS_LINEAR;
        return;
    }
    if (g > x->width) g = x->width;
    if (g < 4) return; // so many bases cost more than gathers
    x->positions = POSITIONS_SEGMENTED;
    x->segment = g;
    x->n_segments = x->lanes / g;
}

static void arguments(Vec *x, Value call, int *builtin, int *dim) {
    int64_t b, d;
    if (!get_const(operand(call, 0), &b) || !get_const(operand(call, 1), &d) || b < 0 ||
        b >= RF_N_BUILTINS || d < 0 || d > 2)
        msl_fail_at(x, "unknown thread position", call);
    *builtin = (int)b;
    *dim = (int)d;
}

static Class with_max(Class c, uint64_t max) {
    c.max = max;
    c.sure = true;
    return c;
}

static Class with_bits(Class c, uint64_t bits) {
    c.bits = bits;
    return c;
}

// Bits of the number of a step's first thread: steps are of `lanes`, a power of two.
static uint64_t first_bits(const Vec *x, uint64_t below) {
    uint64_t all = 1;
    while (all < below) all *= 2;
    return (all - 1) & ~((uint64_t)x->lanes - 1);
}

static int64_t size_below(const Vec *x, int d) { // threads in one step of coordinate d
    int64_t n = 1;
    for (int k = 0; k < d; k++) n *= x->shape[k] ? x->shape[k] : 1;
    return n;
}

// Coordinate d where rows are segments; see coordinate() for the cases.
static Class segmented_class(const Vec *x, int d, Class c) {
    int64_t below = size_below(x, d), size = x->shape[d], segment = x->segment, lanes = x->lanes;
    if (x->apart) {
        c.segmented = c.rows = d == x->fast || below == x->apart;
        c.row = d != x->fast;
        return c;
    }
    if (below % lanes == 0) return c; // the same for all lanes of a step
    c.segmented = true;
    bool last = true;
    for (int k = d + 1; k < 3; k++) last &= x->shape[k] == 1;
    if (d == x->fast) {
        c.rows = size == segment;
        c.row = 0;
    } else {
        c.rows = below == segment && (last || size % (lanes / below) == 0);
        c.row = 1;
    }
    return c;
}

static int64_t lane_in(unsigned l, unsigned n) { return l % n; }
static int64_t group_of(unsigned l, unsigned n) { return l / n; }

// The lanes of a step taken apart into groups of n: the number in the group, or of the group.
static Class shaped(Vec *x, int64_t (*number)(unsigned, unsigned), unsigned n) {
    int64_t at[MAX_WIDTH * MAX_PARTS];
    Class c = msl_linear(1, true, true);
    for (unsigned l = 0; l < x->lanes; l++) at[l] = number(l, n);
    msl_set_shape(x, &c, at);
    return c;
}

bool msl_known_position(Vec *x, Value call, uint64_t *at) {
    int builtin, d;
    arguments(x, call, &builtin, &d);
    unsigned n = builtin == RF_THREAD_INDEX_IN_SIMDGROUP   ? SIMD_LANES
                 : builtin == RF_THREAD_INDEX_IN_QUADGROUP ? QUAD_LANES
                                                           : 0;
    if (!n || x->lanes % n) return false; // a step begins in the middle of a group
    for (unsigned l = 0; l < x->lanes; l++) at[l] = l % n;
    return true;
}

Class msl_position_class(Vec *x, Value call) {
    int builtin, d;
    arguments(x, call, &builtin, &d);
    Class uniform = msl_linear(0, true, true), lane = msl_linear(1, true, true),
          vary = {VARYING, .max = UINT64_MAX};
    switch (builtin) {
    case RF_THREAD_POSITION_IN_GRID:
    case RF_THREAD_POSITION_IN_THREADGROUP: {
        Class c = x->positions == POSITIONS_VARY ? vary : d == x->fast ? lane : uniform;
        bool alone = x->shape[d] == 1; // nothing but 0 in the threadgroup
        if (alone)
            c = uniform;
        else if (x->positions == POSITIONS_SEGMENTED)
            c = segmented_class(x, d, c);
        if (builtin == RF_THREAD_POSITION_IN_THREADGROUP) {
            uint64_t n = x->shape[d] && x->shape[d] <= MAX_THREADS ? x->shape[d] : MAX_THREADS;
            c = with_max(c, n - 1);
            if (c.kind == LINEAR && c.stride && !c.segmented) c.bits = first_bits(x, n);
        }
        return c;
    }
    case RF_THREAD_INDEX_IN_THREADGROUP: {
        uint64_t n = (uint64_t)x->shape[0] * x->shape[1] * x->shape[2];
        if (!n || n > MAX_THREADS) n = MAX_THREADS;
        return with_bits(with_max(lane, n - 1), first_bits(x, n));
    }
    case RF_THREAD_INDEX_IN_SIMDGROUP:
        return with_bits(with_max(shaped(x, lane_in, SIMD_LANES), SIMD_LANES - 1),
                         first_bits(x, SIMD_LANES));
    case RF_THREAD_INDEX_IN_QUADGROUP:
        return with_max(shaped(x, lane_in, QUAD_LANES), QUAD_LANES - 1);
    case RF_QUADGROUP_INDEX_IN_THREADGROUP:
        return with_max(shaped(x, group_of, QUAD_LANES), MAX_THREADS / QUAD_LANES - 1);
    case RF_THREADS_PER_THREADGROUP:
    case RF_DISPATCH_THREADS_PER_THREADGROUP: return with_max(uniform, MAX_THREADS);
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP:
        return with_max(shaped(x, group_of, SIMD_LANES), SIMD_LANES - 1);
    case RF_THREADS_PER_SIMDGROUP:
    case RF_THREAD_EXECUTION_WIDTH:
    case RF_SIMDGROUPS_PER_THREADGROUP:
    case RF_DISPATCH_SIMDGROUPS_PER_THREADGROUP: return with_max(uniform, SIMD_LANES);
    default: return uniform;
    }
}

// ---- emission ----

static Value c32(Vec *x, int64_t v) { return const_int(x->i32, v); }

static Value launch_field(Vec *x, size_t offset, int d) {
    Value o = const_int(x->i64, offset + sizeof(uint32_t) * (size_t)d);
    Value v = LLVMBuildLoad2(x->b, x->i32, LLVMBuildGEP2(x->b, x->i8, x->launch, &o, 1, ""), "");
    LLVMSetAlignment(v, 4);
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(x->llvm, "invariant.load", 14),
                    LLVMMetadataAsValue(x->llvm, LLVMMDNodeInContext2(x->llvm, NULL, 0)));
    return v;
}

static Value dispatched_size(Vec *x, int d) {
    return x->shape[d] ? c32(x, x->shape[d]) : launch_field(x, offsetof(CpuLaunch, group_size), d);
}
static Value actual_size(Vec *x, int d) {
    return (x->full && x->shape[d]) || x->shape[d] == 1 ? c32(x, x->shape[d]) : x->size[d];
}

static Value volume(Vec *x, Value (*size)(Vec *, int)) {
    return LLVMBuildMul(x->b, LLVMBuildMul(x->b, size(x, 0), size(x, 1), ""), size(x, 2), "");
}
static Value groups_of(Vec *x, Value n, unsigned lanes) { // rounded up
    return LLVMBuildUDiv(x->b, LLVMBuildAdd(x->b, n, c32(x, lanes - 1), ""), c32(x, lanes), "");
}

static Value plus(Vec *x, Value v, int64_t k) {
    return k ? LLVMBuildNUWAdd(x->b, v, c32(x, k), "") : v;
}

// Coordinate d of the first lane of a segment: i = first + ahead, taken apart by the shape as
// i / below % size. `first` is a multiple of the lanes of a step, so that the constant part can
// often be kept apart: rows at constant distances share one address.
static Value coordinate(Vec *x, int d, unsigned segment) {
    if (x->shape[d] == 1) return c32(x, 0);
    int64_t below = size_below(x, d), above = 1, size = x->shape[d],
            ahead = (int64_t)segment * x->segment, lanes = x->lanes;
    for (int k = d + 1; k < 3; k++) above *= x->shape[k] ? x->shape[k] : 1;
    Value i = x->first;
    if (x->apart) { // the rows of a step lie in one plane
        if (below > 1) i = LLVMBuildUDiv(x->b, i, c32(x, below), "");
        if (above > 1) i = LLVMBuildURem(x->b, i, c32(x, size), "");
        return below == x->apart ? plus(x, i, segment) : i;
    }
    if (lanes % below == 0) { // first / below is exact
        if (below > 1) i = LLVMBuildUDiv(x->b, i, c32(x, below), "");
        ahead /= below;
        lanes /= below;
    } else {
        i = LLVMBuildUDiv(x->b, plus(x, i, ahead), c32(x, below), "");
        ahead = 0;
        lanes = 1;
    }
    if (above == 1) return plus(x, i, ahead);
    if (size % lanes == 0) return plus(x, LLVMBuildURem(x->b, i, c32(x, size), ""), ahead);
    if (lanes % size == 0) return c32(x, ahead % size); // first / below is a multiple of the size
    return LLVMBuildURem(x->b, plus(x, i, ahead), c32(x, size), "");
}

// v / s for v < 1024 and a uniform s in 1..1024: by a reciprocal of 20 bits, exact there.
static Value small_quotient(Vec *x, Value v, Value s) {
    Value m = LLVMBuildUDiv(x->b, c32(x, 1 << 20), s, "");
    m = msl_splat(x, LLVMBuildAdd(x->b, m, c32(x, 1), ""));
    return LLVMBuildLShr(x->b, LLVMBuildMul(x->b, v, m, ""), msl_splat(x, c32(x, 20)), "");
}

static Value index_vector(Vec *x) {
    Value first = LLVMBuildAdd(x->b, x->first, c32(x, (int64_t)x->part * x->width), "");
    return LLVMBuildAdd(x->b, msl_splat(x, first), msl_lane_offsets(x, x->i32, 1, x->width), "");
}

static Value varying_coordinate(Vec *x, int d) {
    Value i = index_vector(x), sx = actual_size(x, 0), sy = actual_size(x, 1);
    Value q = small_quotient(x, i, sx);
    if (d == 0) return LLVMBuildSub(x->b, i, LLVMBuildMul(x->b, q, msl_splat(x, sx), ""), "");
    Value z = small_quotient(x, q, sy);
    return d == 2 ? z : LLVMBuildSub(x->b, q, LLVMBuildMul(x->b, z, msl_splat(x, sy), ""), "");
}

static Value in_grid(Vec *x, int d) {
    return LLVMBuildMul(x->b, x->group[d], dispatched_size(x, d), "");
}

Value msl_position_base(Vec *x, Value call, unsigned segment) {
    int builtin, d;
    arguments(x, call, &builtin, &d);
    switch (builtin) {
    case RF_THREAD_POSITION_IN_GRID:
        return LLVMBuildAdd(x->b, in_grid(x, d), coordinate(x, d, segment), "");
    case RF_THREAD_POSITION_IN_THREADGROUP: return coordinate(x, d, segment);
    case RF_THREAD_INDEX_IN_THREADGROUP: return x->first;
    case RF_THREADGROUP_POSITION_IN_GRID: return x->group[d];
    case RF_THREADS_PER_THREADGROUP: return actual_size(x, d);
    case RF_DISPATCH_THREADS_PER_THREADGROUP: return dispatched_size(x, d);
    case RF_THREADS_PER_GRID: return launch_field(x, offsetof(CpuLaunch, threads_per_grid), d);
    case RF_GRID_SIZE: return launch_field(x, offsetof(CpuLaunch, grid_size), d);
    case RF_THREADGROUPS_PER_GRID: return launch_field(x, offsetof(CpuLaunch, groups_per_grid), d);
    case RF_GRID_ORIGIN: return launch_field(x, offsetof(CpuLaunch, grid_origin), d);
    case RF_VIEW: return launch_field(x, offsetof(CpuLaunch, view), 0);
    case RF_N_VIEWS: return launch_field(x, offsetof(CpuLaunch, n_views), 0);
    case RF_THREAD_INDEX_IN_SIMDGROUP:
        return x->lanes >= SIMD_LANES ? c32(x, 0)
                                      : LLVMBuildAnd(x->b, x->first, c32(x, SIMD_LANES - 1), "");
    case RF_THREAD_INDEX_IN_QUADGROUP: return c32(x, 0);
    case RF_QUADGROUP_INDEX_IN_THREADGROUP:
        return LLVMBuildUDiv(x->b, x->first, c32(x, QUAD_LANES), "");
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP:
        return LLVMBuildUDiv(x->b, x->first, c32(x, SIMD_LANES), "");
    case RF_THREADS_PER_SIMDGROUP:
    case RF_THREAD_EXECUTION_WIDTH: return c32(x, SIMD_LANES);
    case RF_SIMDGROUPS_PER_THREADGROUP: return groups_of(x, volume(x, actual_size), SIMD_LANES);
    case RF_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
        return groups_of(x, volume(x, dispatched_size), SIMD_LANES);
    case RF_QUADGROUPS_PER_THREADGROUP: return groups_of(x, volume(x, actual_size), QUAD_LANES);
    case RF_DISPATCH_QUADGROUPS_PER_THREADGROUP:
        return groups_of(x, volume(x, dispatched_size), QUAD_LANES);
    default: msl_fail_at(x, "unknown thread position", call);
    }
}

void msl_emit_position(Vec *x, Value call, Val *o) {
    int builtin, d;
    arguments(x, call, &builtin, &d);
    if (o->c.kind != VARYING) {
        for (unsigned k = 0; k < msl_n_bases(x, o->c); k++)
            o->base[k] = msl_position_base(x, call, k);
        return;
    }
    switch (builtin) {
    case RF_THREAD_POSITION_IN_GRID:
        o->v[0] = LLVMBuildAdd(x->b, msl_splat(x, in_grid(x, d)), varying_coordinate(x, d), "");
        return;
    case RF_THREAD_POSITION_IN_THREADGROUP: o->v[0] = varying_coordinate(x, d); return;
    default: msl_fail_at(x, "unknown thread position", call);
    }
}

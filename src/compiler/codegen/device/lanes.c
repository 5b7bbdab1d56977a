// SPDX-License-Identifier: Apache-2.0
// lanes.c: ingot_kernel of the reference code: every thread of a threadgroup runs scalar code on
// its own stack, and stops at barriers and SIMD-group functions. Slow and independent of the
// vectoriser, which is checked against it.
//
// Which threads meet in a SIMD-group function under divergence: when all threads of a SIMD-group
// have stopped, those at the least position of the program take part. A position is the list
// (place, iteration, place, iteration, ..., place) through the loops around the call;
// codegen/lanes.c inserts the calls that keep it (ingot_lane_enter, _iterate, _at).
#include "base/reflect.h"
#include "compiler/tensor_call.h"
#include "cpu/kernel_abi.h"

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef float f32x2 __attribute__((ext_vector_type(2)));

enum { MAX_DEPTH = 31 };
typedef enum State { READY, AT_OPERATION, AT_BARRIER, DONE } State;
typedef enum Type { T_i32, T_u32, T_i64, T_u64, T_f32 } Type;
typedef enum Op {
    OP_sum,
    OP_product,
    OP_min,
    OP_max,
    OP_and,
    OP_or,
    OP_xor,
    OP_prefix_inclusive_sum,
    OP_prefix_exclusive_sum,
    OP_prefix_inclusive_product,
    OP_prefix_exclusive_product,
    OP_broadcast,
    OP_shuffle,
    OP_shuffle_up,
    OP_shuffle_down,
    OP_shuffle_xor,
    OP_shuffle_rotate_up,
    OP_shuffle_rotate_down,
    OP_broadcast_first,
    OP_shuffle_and_fill_up,
    OP_shuffle_and_fill_down,
    OP_ballot,
    OP_all,
    OP_any,
    OP_is_first,
    OP_active_mask,
    OP_mma,
    OP_tensor_matmul,
    OP_tensor_convolution,
    OP_meet,
    OP_log,
    OP_texture_sample, // from here on: texture functions
    OP_texture_read,
    OP_texture_write,
    OP_texture_atomic,
} Op;

typedef struct Lane Lane;
typedef struct Group {
    const CpuLaunch *launch;
    void *memory, *home; // home: stack pointer of the scheduler
    u32 position[3], size[3], n;
} Group;
struct Lane {
    void *sp;
    Group *group;
    u32 position[3], index;
    State state;
    Op op;
    Type type;
    u32 quad; // the operation works on groups of four
    u64 in[4], out;
    f32x2 matrix[4]; // a, b, c, result
    const void *text[3];
    struct {
        u64 texture, sampler;
        u32 op;
        const u32 *rows; // [CPU_TEX_ROWS]
        u32 *out;        // [4]
    } texel;
    u32 n_key, key[2 * MAX_DEPTH + 2];
};

// provided by codegen/lanes.c
extern const u64 ingot_stack;    // bytes of one thread's stack and Lane
extern const u32 ingot_suspends; // threads may stop
extern void ingot_thread(const CpuLaunch *launch, Lane *lane, void *memory);

// ---- switching stacks

#if defined(__x86_64__)
__attribute__((naked, noinline)) static void switch_stack(void **save, void *load) {
    __asm__("pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
            "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
            "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret");
}
__attribute__((naked, noinline)) static void first_step(void) {
    __asm__("movq %rbx, %rdi\ncallq *%r12\nud2");
}
static void *first_stack(char *top, Lane *lane, void (*run)(Lane *)) {
    u64 *s = (u64 *)((u64)top & ~15ull);
    *--s = (u64)first_step; // there the stack pointer is a multiple of 16, as before any call
    s -= 6;
    s[4] = (u64)lane; // rbx
    s[3] = (u64)run;  // r12
    return s;
}
#elif defined(__aarch64__)
__attribute__((naked, noinline)) static void switch_stack(void **save, void *load) {
    __asm__(
        "sub sp, sp, #160\nstp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\n"
        "stp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, "
        "[sp, #144]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, "
        "#48]\n"
        "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, "
        "[sp, #112]\n"
        "ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\nadd sp, sp, #160\nret");
}
__attribute__((naked, noinline)) static void first_step(void) {
    __asm__("mov x0, x19\nblr x20\nbrk #1");
}
static void *first_stack(char *top, Lane *lane, void (*run)(Lane *)) {
    u64 *s = (u64 *)((u64)top & ~15ull) - 20;
    s[0] = (u64)lane;        // x19
    s[1] = (u64)run;         // x20
    s[11] = (u64)first_step; // x30
    return s;
}
#else
#error "no stack switch for this machine"
#endif

static void stop(Lane *lane, State state) {
    lane->state = state;
    switch_stack(&lane->sp, lane->group->home);
}
static void run_lane(Lane *lane) {
    ingot_thread(lane->group->launch, lane, lane->group->memory);
    stop(lane, DONE);
}

// ---- where a thread stands

void ingot_lane_enter(Lane *l, u32 depth, u32 place) {
    if (depth < MAX_DEPTH) l->key[2 * depth] = place, l->key[2 * depth + 1] = 0;
}
void ingot_lane_iterate(Lane *l, u32 depth) {
    if (depth < MAX_DEPTH) l->key[2 * depth + 1]++;
}
void ingot_lane_at(Lane *l, u32 depth, u32 place) {
    if (depth > MAX_DEPTH) depth = MAX_DEPTH;
    l->key[2 * depth] = place;
    l->n_key = 2 * depth + 1;
}
static int compare(const Lane *a, const Lane *b) {
    for (u32 i = 0; i < a->n_key && i < b->n_key; i++)
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i] ? -1 : 1;
    return (int)a->n_key - (int)b->n_key;
}

u32 ingot_lane_position(const Lane *l, u32 builtin, u32 dim) {
    const Group *g = l->group;
    const CpuLaunch *n = g->launch;
    u32 all = n->group_size[0] * n->group_size[1] * n->group_size[2];
    switch ((RfBuiltin)builtin) {
    case RF_THREAD_POSITION_IN_GRID:
        return g->position[dim] * n->group_size[dim] + l->position[dim];
    case RF_THREAD_POSITION_IN_THREADGROUP: return l->position[dim];
    case RF_THREAD_INDEX_IN_THREADGROUP: return l->index;
    case RF_THREADGROUP_POSITION_IN_GRID: return g->position[dim];
    case RF_THREADS_PER_THREADGROUP: return g->size[dim];
    case RF_DISPATCH_THREADS_PER_THREADGROUP: return n->group_size[dim];
    case RF_THREADS_PER_GRID:
    case RF_GRID_SIZE: return n->threads_per_grid[dim];
    case RF_THREADGROUPS_PER_GRID: return n->groups_per_grid[dim];
    case RF_GRID_ORIGIN: return n->grid_origin[dim];
    case RF_THREAD_INDEX_IN_SIMDGROUP: return l->index % 32;
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP: return l->index / 32;
    case RF_THREADS_PER_SIMDGROUP:
    case RF_THREAD_EXECUTION_WIDTH: return 32;
    case RF_SIMDGROUPS_PER_THREADGROUP: return (g->n + 31) / 32;
    case RF_DISPATCH_SIMDGROUPS_PER_THREADGROUP: return (all + 31) / 32;
    case RF_THREAD_INDEX_IN_QUADGROUP: return l->index % 4;
    case RF_QUADGROUP_INDEX_IN_THREADGROUP: return l->index / 4;
    case RF_QUADGROUPS_PER_THREADGROUP: return (g->n + 3) / 4;
    case RF_DISPATCH_QUADGROUPS_PER_THREADGROUP: return (all + 3) / 4;
    case RF_N_BUILTINS: break;
    }
    return 0;
}
const CpuLaunch *ingot_lane_launch(const Lane *l) { return l->group->launch; }

// ---- the operations, as functions a thread calls

static u64 operate(Lane *l, Op op, Type type, u32 quad, u64 a, u64 b, u64 c, u64 d) {
    l->op = op, l->type = type, l->quad = quad;
    l->in[0] = a, l->in[1] = b, l->in[2] = c, l->in[3] = d;
    stop(l, AT_OPERATION);
    return l->out;
}
static u64 bits_f32(f32 x) { return (u64) __builtin_bit_cast(u32, x); }
static f32 f32_bits(u64 x) { return __builtin_bit_cast(f32, (u32)x); }
static u64 bits_i32(i32 x) { return (u64)(u32)x; }
static i32 i32_bits(u64 x) { return (i32)(u32)x; }
static u64 bits_u32(u32 x) { return x; }
static u32 u32_bits(u64 x) { return (u32)x; }
static u64 bits_i64(i64 x) { return (u64)x; }
static i64 i64_bits(u64 x) { return (i64)x; }
static u64 bits_u64(u64 x) { return x; }
static u64 u64_bits(u64 x) { return x; }

#define VALUE(kind, q, op, t)                                                                      \
    t ingot_lane_##kind##_##op##_##t(Lane *l, t x) {                                               \
        return t##_bits(operate(l, OP_##op, T_##t, q, bits_##t(x), 0, 0, 0));                      \
    }
#define INDEXED(kind, q, op, t)                                                                    \
    t ingot_lane_##kind##_##op##_##t(Lane *l, t x, u32 i) {                                        \
        return t##_bits(operate(l, OP_##op, T_##t, q, bits_##t(x), i, 0, 0));                      \
    }
#define FILLED(kind, q, op, t)                                                                     \
    t ingot_lane_##kind##_##op##_##t(Lane *l, t x, t fill, u32 delta, u32 modulo) {                \
        return t##_bits(                                                                           \
            operate(l, OP_##op, T_##t, q, bits_##t(x), bits_##t(fill), delta, modulo));            \
    }
#define BOTH(M, op, t) M(simd, 0, op, t) M(quad, 1, op, t)
#define REDUCE_INT(op)                                                                             \
    BOTH(VALUE, op, i32) BOTH(VALUE, op, u32) BOTH(VALUE, op, i64) BOTH(VALUE, op, u64)
#define REDUCE(op) REDUCE_INT(op) BOTH(VALUE, op, f32)
#define SCAN(op) REDUCE(op)
#define SHUFFLE(op) BOTH(INDEXED, op, i32) BOTH(INDEXED, op, i64) BOTH(INDEXED, op, f32)
#define SHUFFLE1(op) BOTH(VALUE, op, i32) BOTH(VALUE, op, i64) BOTH(VALUE, op, f32)
#define SHUFFLE4(op) BOTH(FILLED, op, i32) BOTH(FILLED, op, i64) BOTH(FILLED, op, f32)
#define VOTE(op)
#define VOTE0(op)
#define OTHER(op)
#include "compiler/builtins.def"

u64 ingot_lane_simd_ballot(Lane *l, _Bool x) { return operate(l, OP_ballot, T_u64, 0, x, 0, 0, 0); }
u32 ingot_lane_quad_ballot(Lane *l, _Bool x) {
    return (u32)operate(l, OP_ballot, T_u64, 1, x, 0, 0, 0);
}
_Bool ingot_lane_simd_all(Lane *l, _Bool x) {
    return operate(l, OP_all, T_u64, 0, x, 0, 0, 0) != 0;
}
_Bool ingot_lane_quad_all(Lane *l, _Bool x) {
    return operate(l, OP_all, T_u64, 1, x, 0, 0, 0) != 0;
}
_Bool ingot_lane_simd_any(Lane *l, _Bool x) {
    return operate(l, OP_any, T_u64, 0, x, 0, 0, 0) != 0;
}
_Bool ingot_lane_quad_any(Lane *l, _Bool x) {
    return operate(l, OP_any, T_u64, 1, x, 0, 0, 0) != 0;
}
_Bool ingot_lane_simd_is_first(Lane *l) {
    return operate(l, OP_is_first, T_u64, 0, 0, 0, 0, 0) != 0;
}
_Bool ingot_lane_quad_is_first(Lane *l) {
    return operate(l, OP_is_first, T_u64, 1, 0, 0, 0, 0) != 0;
}
u64 ingot_lane_simd_active_mask(Lane *l) {
    return operate(l, OP_active_mask, T_u64, 0, 0, 0, 0, 0);
}
u32 ingot_lane_quad_active_mask(Lane *l) {
    return (u32)operate(l, OP_active_mask, T_u64, 1, 0, 0, 0, 0);
}
void ingot_lane_simdgroup_barrier(Lane *l, u32 flags) {
    (void)flags, operate(l, OP_meet, T_u64, 0, 0, 0, 0, 0);
}
void ingot_lane_threadgroup_barrier(Lane *l, u32 flags) { (void)flags, stop(l, AT_BARRIER); }
f32x2 ingot_lane_simdgroup_mma_f32(Lane *l, f32x2 a, f32x2 b, f32x2 c) {
    l->matrix[0] = a, l->matrix[1] = b, l->matrix[2] = c;
    operate(l, OP_mma, T_f32, 0, 0, 0, 0, 0);
    return l->matrix[3];
}
void ingot_lane_tensor_matmul(Lane *l, const u64 *args) {
    operate(l, OP_tensor_matmul, T_u64, 0, (u64)args, 0, 0, 0);
}
void ingot_lane_tensor_convolution(Lane *l, const u64 *args) {
    operate(l, OP_tensor_convolution, T_u64, 0, (u64)args, 0, 0, 0);
}
static void write_log(const CpuLaunch *n, u32 type, const void *category, const void *format,
                      const void *args, u32 count) {
    if (n->log) n->log(n, type, category, format, args, count);
}
// The host's log function wants a real stack: a thread with a small one stops for it.
void ingot_lane_log(Lane *l, u32 type, const char *category, const char *format, const u64 *args,
                    u32 n) {
    if (!ingot_suspends) {
        write_log(l->group->launch, type, category, format, args, n);
        return;
    }
    l->text[0] = category, l->text[1] = format, l->text[2] = args;
    operate(l, OP_log, T_u64, 0, type, n, 0, 0);
}

// ---- textures

// The device's function for one thread (n 1) or a quad.
static void call_texture(const CpuTextureOps *ops, Op op, const Lane *l, u32 n, u32 on,
                         const u32 *rows, u32 *out) {
    u64 t = l->texel.texture, s = l->texel.sampler;
    u32 what = l->texel.op;
    switch (op) {
    case OP_texture_sample: ops->sample(t, s, what, n, &on, rows, out); break;
    case OP_texture_read: ops->read(t, what, n, &on, rows, out); break;
    case OP_texture_write: ops->write(t, what, n, &on, rows, out); break;
    default: ops->atomic(t, what, n, &on, rows, out); break;
    }
}
static int needs_quad(const Lane *l) {
    u32 lod = l->texel.op & CPU_TEX_LOD_MASK;
    return l->op == OP_texture_sample && lod < CPU_TEX_LOD_LEVEL && !(l->texel.op & CPU_TEX_GATHER);
}
// An implicit level of detail needs the quad; the device's functions want a real stack.
static void texture(Lane *l, Op op, u64 t, u64 s, u32 what, const u32 *rows, u32 *out) {
    const u32 *offset = rows + CPU_TEX_OFFSETS;
    if (op == OP_texture_sample && !(offset[0] | offset[1] | offset[2])) what &= ~CPU_TEX_OFFSET;
    l->op = op;
    l->texel.texture = t, l->texel.sampler = s, l->texel.op = what;
    l->texel.rows = rows, l->texel.out = out;
    if (!ingot_suspends)
        call_texture(l->group->launch->textures, op, l, 1, 1, rows, out);
    else
        operate(l, op, T_u32, (u32)needs_quad(l), 0, 0, 0, 0);
}
#define TEXTURE(name)                                                                              \
    void ingot_lane_texture_##name(Lane *l, u64 t, u64 s, u32 op, const u32 *rows, u32 *out) {     \
        texture(l, OP_texture_##name, t, s, op, rows, out);                                        \
    }
TEXTURE(sample) TEXTURE(read) TEXTURE(write) TEXTURE(atomic)

// Threads of a quad with the same texture and sampler go together.
static void sample_quad(Lane **lane, u32 on) {
    _Alignas(16) u32 rows[CPU_TEX_ROWS][4] = {{0}};
    for (u32 i = 0; i < 4; i++)
        for (u32 r = 0; on >> i & 1 && r < CPU_TEX_ROWS; r++) rows[r][i] = lane[i]->texel.rows[r];
    for (u32 left = on; left;) {
        _Alignas(16) u32 out[4][4];
        const Lane *model = lane[__builtin_ctz(left)];
        u32 now = 0;
        for (u32 i = 0; i < 4; i++)
            if (left >> i & 1 && lane[i]->texel.texture == model->texel.texture &&
                lane[i]->texel.sampler == model->texel.sampler)
                now |= 1u << i;
        call_texture(model->group->launch->textures, OP_texture_sample, model, 4, now, rows[0],
                     out[0]);
        for (u32 i = 0; i < 4; i++)
            for (u32 c = 0; now >> i & 1 && c < 4; c++) lane[i]->texel.out[c] = out[c][i];
        left &= ~now;
    }
}

// ---- what they compute

static u64 identity(Op op, Type t) {
    switch (op) {
    case OP_product:
    case OP_prefix_inclusive_product:
    case OP_prefix_exclusive_product: return t == T_f32 ? bits_f32(1) : 1;
    case OP_min:
        return t == T_f32   ? bits_f32(__builtin_inff())
               : t == T_i32 ? 0x7fffffff
               : t == T_i64 ? ~0ull >> 1
                            : ~0ull;
    case OP_max:
        return t == T_f32   ? bits_f32(-__builtin_inff())
               : t == T_i32 ? 0x80000000
               : t == T_i64 ? 1ull << 63
                            : 0;
    case OP_and: return ~0ull;
    case OP_sum: return t == T_f32 ? bits_f32(-0.0f) : 0;
    default: return 0;
    }
}
static u64 combine(Op op, Type t, u64 a, u64 b) {
    f32 x = f32_bits(a), y = f32_bits(b);
    switch (op) {
    case OP_sum:
    case OP_prefix_inclusive_sum:
    case OP_prefix_exclusive_sum: return t == T_f32 ? bits_f32(x + y) : a + b;
    case OP_product:
    case OP_prefix_inclusive_product:
    case OP_prefix_exclusive_product: return t == T_f32 ? bits_f32(x * y) : a * b;
    case OP_min:
        switch (t) {
        case T_f32: return bits_f32(__builtin_fminf(x, y));
        case T_i32: return (i32)a < (i32)b ? a : b;
        case T_i64: return (i64)a < (i64)b ? a : b;
        case T_u32: return (u32)a < (u32)b ? a : b;
        case T_u64: return a < b ? a : b;
        }
        return 0;
    case OP_max:
        switch (t) {
        case T_f32: return bits_f32(__builtin_fmaxf(x, y));
        case T_i32: return (i32)a > (i32)b ? a : b;
        case T_i64: return (i64)a > (i64)b ? a : b;
        case T_u32: return (u32)a > (u32)b ? a : b;
        case T_u64: return a > b ? a : b;
        }
        return 0;
    case OP_and: return a & b;
    case OP_or: return a | b;
    default: return a ^ b;
    }
}

// One operation on `w` neighbours (32 or 4), `on`: those that take part; lane[i] may be NULL past
// the end of the threadgroup. Reductions add the upper half to the lower, as the vectoriser does.
static void reduce(Lane **lane, u32 w, u32 on, Op op, Type t) {
    u64 v[32];
    for (u32 i = 0; i < w; i++) v[i] = on >> i & 1 ? lane[i]->in[0] : identity(op, t);
    for (u32 half = w / 2; half; half /= 2)
        for (u32 i = 0; i < half; i++) v[i] = combine(op, t, v[i], v[i + half]);
    for (u32 i = 0; i < w; i++)
        if (on >> i & 1) lane[i]->out = v[0];
}
static void scan(Lane **lane, u32 w, u32 on, Op op, Type t, int inclusive) {
    u64 v[32], before[32];
    for (u32 i = 0; i < w; i++) v[i] = on >> i & 1 ? lane[i]->in[0] : identity(op, t);
    for (u32 step = 1; step < w; step *= 2) {
        for (u32 i = 0; i < w; i++) before[i] = v[i];
        for (u32 i = step; i < w; i++) v[i] = combine(op, t, before[i - step], before[i]);
    }
    for (u32 i = 0; i < w; i++)
        if (on >> i & 1) lane[i]->out = inclusive ? v[i] : i ? v[i - 1] : identity(op, t);
}

// Lane a shuffle reads; `fill`: it reads the filling value. -1 means its own lane.
static int source_of(const Lane *l, u32 w, u32 i, u32 first_on, int *fill) {
    u32 k = (u32)l->in[1], delta, m;
    *fill = 0;
    switch (l->op) {
    case OP_broadcast:
    case OP_shuffle: return (int)(k % w);
    case OP_broadcast_first: return (int)first_on;
    case OP_shuffle_up: return i >= k ? (int)(i - k) : -1;
    case OP_shuffle_down: return k < w - i ? (int)(i + k) : -1;
    case OP_shuffle_xor: return (int)((i ^ k) % w);
    case OP_shuffle_rotate_up: return (int)((i - k) % w);
    case OP_shuffle_rotate_down: return (int)((i + k) % w);
    case OP_shuffle_and_fill_up:
        delta = (u32)l->in[2], m = (u32)l->in[3];
        if (m == 0 || m > w || (m & (m - 1))) m = w;
        *fill = i % m < delta;
        return (int)(i / m * m + (i % m + m - delta) % m);
    case OP_shuffle_and_fill_down:
        delta = (u32)l->in[2], m = (u32)l->in[3];
        if (m == 0 || m > w || (m & (m - 1))) m = w;
        *fill = i % m + delta >= m;
        return (int)(i / m * m + (i % m + delta) % m);
    default: return -1;
    }
}
static void shuffle(Lane **lane, u32 w, u32 on) {
    u32 first_on = (u32)__builtin_ctz(on);
    for (u32 i = 0; i < w; i++) {
        if (!(on >> i & 1)) continue;
        int fill, from = source_of(lane[i], w, i, first_on, &fill);
        const Lane *source = from < 0 ? lane[i] : lane[from];
        if (from >= 0 && !(on >> from & 1)) source = NULL; // undefined in Metal: zero here
        lane[i]->out = source ? source->in[fill] : 0;
    }
}
static void vote(Lane **lane, u32 w, u32 on) {
    u32 yes = 0;
    for (u32 i = 0; i < w; i++)
        if (on >> i & 1 && lane[i]->in[0]) yes |= 1u << i;
    for (u32 i = 0; i < w; i++) {
        if (!(on >> i & 1)) continue;
        switch (lane[i]->op) {
        case OP_ballot: lane[i]->out = yes; break;
        case OP_all: lane[i]->out = yes == on; break;
        case OP_any: lane[i]->out = yes != 0; break;
        case OP_is_first: lane[i]->out = i == (u32)__builtin_ctz(on); break;
        default: lane[i]->out = on; break;
        }
    }
}
// Thread t holds row (t/4 & 4) + (t/2 & 3), columns (t/4 & 2) * 2 + (t & 1) * 2 and the next.
static void multiply(Lane **lane, u32 on) {
    f32 a[8][8] = {{0}}, b[8][8] = {{0}};
    for (u32 t = 0; t < 32; t++) {
        u32 row = (t / 4 & 4) + (t / 2 & 3), column = (t / 4 & 2) * 2 + (t & 1) * 2;
        if (!(on >> t & 1)) continue;
        for (u32 k = 0; k < 2; k++)
            a[row][column + k] = lane[t]->matrix[0][k], b[row][column + k] = lane[t]->matrix[1][k];
    }
    for (u32 t = 0; t < 32; t++) {
        u32 row = (t / 4 & 4) + (t / 2 & 3), column = (t / 4 & 2) * 2 + (t & 1) * 2;
        if (!(on >> t & 1)) continue;
        for (u32 j = 0; j < 2; j++) {
            f32 sum = lane[t]->matrix[2][j];
            for (u32 k = 0; k < 8; k++) sum = __builtin_fmaf(a[row][k], b[k][column + j], sum);
            lane[t]->matrix[3][j] = sum;
        }
    }
}


// Small floats by their bits, so that nothing here rests on the compiler's conversions.
static f32 float_of_half(u32 h) {
    u32 sign = (h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    if (e == 31) return f32_bits(sign | 0x7f800000 | m << 13);
    if (e) return f32_bits(sign | (e + 112) << 23 | m << 13);
    f32 small = (f32)m * 0x1p-24f;
    return sign ? -small : small;
}
static u32 half_of_float(f32 x) {
    u32 b = (u32)bits_f32(x), sign = b >> 16 & 0x8000, a = b & 0x7fffffff;
    if (a > 0x7f800000) return sign | 0x7e00;
    if (a >= 0x477ff000) return sign | 0x7c00; // 65520 and above
    if (a < 0x38800000) {                      // below 2^-14: multiples of 2^-24
        f32 ulps = f32_bits(a) * 0x1p24f, down = (f32)(u32)ulps, rest = ulps - down;
        u32 n = (u32)ulps;
        return sign | (n + (rest > 0.5f || (rest == 0.5f && (n & 1))));
    }
    u32 rounded = a + 0xfff + (a >> 13 & 1);
    return sign | ((rounded >> 13) - (112u << 10));
}
static u32 bfloat_of_float(f32 x) {
    u32 b = (u32)bits_f32(x);
    if ((b & 0x7fffffff) > 0x7f800000) return b >> 16 | 0x40;
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

static int is_float_type(u32 t) {
    return t == CPU_TENSOR_FLOAT32 || t == CPU_TENSOR_FLOAT16 || t == CPU_TENSOR_BFLOAT16;
}
static u32 element_bytes(u32 t) {
    switch (t) {
    case CPU_TENSOR_FLOAT32:
    case CPU_TENSOR_INT32: return 4;
    case CPU_TENSOR_FLOAT16:
    case CPU_TENSOR_BFLOAT16: return 2;
    default: return 1;
    }
}
static f32 get_float(const char *p, u32 type, i64 i) {
    u32 nibble;
    switch (type) {
    case CPU_TENSOR_FLOAT32: return ((const f32 *)p)[i];
    case CPU_TENSOR_FLOAT16: return float_of_half(((const uint16_t *)p)[i]);
    case CPU_TENSOR_BFLOAT16: return f32_bits((u32)((const uint16_t *)p)[i] << 16);
    case CPU_TENSOR_INT32: return (f32)((const i32 *)p)[i];
    case CPU_TENSOR_INT8: return (f32)((const int8_t *)p)[i];
    case CPU_TENSOR_UINT8: return (f32)((const uint8_t *)p)[i];
    case CPU_TENSOR_INT4:
        nibble = ((const uint8_t *)p)[i >> 1] >> (i & 1) * 4 & 15;
        return (f32)((i32)(nibble ^ 8) - 8);
    case CPU_TENSOR_UINT4: return (f32)(((const uint8_t *)p)[i >> 1] >> (i & 1) * 4 & 15);
    default: return 0;
    }
}
static void set_float(char *p, u32 type, i64 i, f32 v) {
    switch (type) {
    case CPU_TENSOR_FLOAT32: ((f32 *)p)[i] = v; break;
    case CPU_TENSOR_FLOAT16: ((uint16_t *)p)[i] = (uint16_t)half_of_float(v); break;
    default: ((uint16_t *)p)[i] = (uint16_t)bfloat_of_float(v); break;
    }
}

// Position `at` of a slab, in the storage of the thread that holds it; its own pointer is argument
// `data` of its call.
static char *held(Lane **lane, u32 on, u32 data, u32 layout, u32 type, i64 *at) {
    u32 n = tensor_capacity(layout) * 32;
    for (u32 q = 0; q < n; q++) {
        u32 p = tensor_multiplier(layout) == 1
                    ? (u32)*at
                    : (q * tensor_multiplier(layout) + TENSOR_SHIFT) % n;
        if (tensor_multiplier(layout) == 1) q = p;
        if (p != (u32)*at) continue;
        if (!(on >> q % 32 & 1)) return 0;
        *at = 0;
        const u64 *own = (const u64 *)lane[q % 32]->in[0];
        return (char *)own[data] + (u64)(q / 32) * element_bytes(type);
    }
    return 0;
}
// Matrix m of a product: element `at` in steps of its strides lies in memory, or in a slab.
static char *element_at(Lane **lane, u32 on, const u64 *args, u32 m, i64 *at) {
    u32 layout = (u32)args[TENSOR_LAYOUT_A + m], type = (u32)args[TENSOR_TYPES] >> 8 * m & 0xff;
    if (!layout) return (char *)args[m * TENSOR_MATRIX_ARGS];
    return held(lane, on, m * TENSOR_MATRIX_ARGS, layout, type, at);
}

// Element by element; a factor that does not exist is 0.
static void multiply_tensors(Lane **lane, u32 on) {
    const u64 *args = (const u64 *)lane[__builtin_ctz(on)]->in[0];
    const u64 *a = args + TENSOR_A, *b = args + TENSOR_B, *c = args + TENSOR_C;
    u32 types = (u32)args[TENSOR_TYPES], ta = types & 0xff, tb = types >> 8 & 0xff,
        tc = types >> 16 & 0xff;
    i32 first = (i32)args[TENSOR_FIRST_ROW], k = (i32)args[TENSOR_K];
    int floats = is_float_type(ta) || is_float_type(tb) || is_float_type(tc);
    for (i32 r = first; r < first + (i32)args[TENSOR_N_ROWS] && r < (i32)c[TENSOR_ROWS]; r++)
        for (i32 j = 0; j < (i32)args[TENSOR_N] && j < (i32)c[TENSOR_COLS]; j++) {
            i64 to = (r - first) * (i64)c[TENSOR_ROW_STRIDE] + j * (i64)c[TENSOR_COL_STRIDE];
            char *out = element_at(lane, on, args, 2, &to);
            if (!out) continue;
            int adds = (args[TENSOR_FLAGS] & CPU_MATMUL_ACCUMULATE) != 0;
            f32 sum = adds ? get_float(out, tc, to) : 0;
            u32 whole = adds && !floats ? ((const u32 *)out)[to] : 0;
            for (i32 i = 0; i < k; i++) {
                if (r >= (i32)a[TENSOR_ROWS] || i >= (i32)a[TENSOR_COLS] ||
                    i >= (i32)b[TENSOR_ROWS] || j >= (i32)b[TENSOR_COLS])
                    continue;
                i64 ai = r * (i64)a[TENSOR_ROW_STRIDE] + i * (i64)a[TENSOR_COL_STRIDE],
                    bi = i * (i64)b[TENSOR_ROW_STRIDE] + j * (i64)b[TENSOR_COL_STRIDE];
                const char *pa = element_at(lane, on, args, 0, &ai),
                           *pb = element_at(lane, on, args, 1, &bi);
                f32 x = pa ? get_float(pa, ta, ai) : 0, y = pb ? get_float(pb, tb, bi) : 0;
                if (floats)
                    sum = __builtin_fmaf(x, y, sum);
                else
                    whole += (u32)(i32)x * (u32)(i32)y;
            }
            if (floats)
                set_float(out, tc, to, sum);
            else
                ((u32 *)out)[to] = whole;
        }
}

// One element of a convolution: the sum over the window and the channels.
static void convolve_at(const u64 *args, char *out, i64 to, i64 x, i64 y, i64 image, i64 o) {
    const u64 *s = args + TENSOR_SOURCE, *w = args + TENSOR_WEIGHTS;
    const i64 *se = (const i64 *)s + TENSOR_EXTENTS, *ss = (const i64 *)s + TENSOR_STRIDES,
              *we = (const i64 *)w + TENSOR_EXTENTS, *ws = (const i64 *)w + TENSOR_STRIDES;
    u32 types = (u32)args[TENSOR_CONVOLUTION_TYPES], ts = types & 0xff, tw = types >> 8 & 0xff,
        td = types >> 16 & 0xff;
    int floats = is_float_type(ts) || is_float_type(tw) || is_float_type(td);
    int adds = (args[TENSOR_CONVOLUTION_FLAGS] & CPU_MATMUL_ACCUMULATE) != 0;
    f32 sum = adds ? get_float(out, td, to) : 0;
    u32 whole = adds && !floats ? ((const u32 *)out)[to] : 0;
    int there = o < we[0] && image < se[3];
    for (i64 ky = 0; there && ky < we[3]; ky++)
        for (i64 kx = 0; kx < we[2]; kx++) {
            i64 sx = x * (i32)args[TENSOR_STEP] + kx * (i32)args[TENSOR_DILATION] +
                     (i32)args[TENSOR_OFFSET],
                sy = y * (i32)args[TENSOR_STEP + 1] + ky * (i32)args[TENSOR_DILATION + 1] +
                     (i32)args[TENSOR_OFFSET + 1];
            if (sx < 0 || sx >= se[1] || sy < 0 || sy >= se[2]) continue;
            for (i64 c = 0; c < se[0] && c < we[1]; c++) {
                f32 a = get_float((const char *)s[0], ts,
                                  c * ss[0] + sx * ss[1] + sy * ss[2] + image * ss[3]);
                f32 b = get_float((const char *)w[0], tw,
                                  o * ws[0] + c * ws[1] + kx * ws[2] + ky * ws[3]);
                if (floats)
                    sum = __builtin_fmaf(a, b, sum);
                else
                    whole += (u32)(i32)a * (u32)(i32)b;
            }
        }
    if (floats)
        set_float(out, td, to, sum);
    else
        ((u32 *)out)[to] = whole;
}

static void convolve_tensors(Lane **lane, u32 on) {
    const u64 *args = (const u64 *)lane[__builtin_ctz(on)]->in[0], *d = args + TENSOR_DESTINATION;
    const i64 *extents = (const i64 *)d + TENSOR_EXTENTS, *strides = (const i64 *)d + TENSOR_STRIDES;
    u32 layout = (u32)args[TENSOR_CONVOLUTION_LAYOUT],
        type = (u32)args[TENSOR_CONVOLUTION_TYPES] >> 16 & 0xff;
    i32 n = (i32)args[TENSOR_SIZE], width = (i32)args[TENSOR_SIZE + 1],
        height = (i32)args[TENSOR_SIZE + 2], first = (i32)args[TENSOR_FIRST];
    for (i32 p = first; p < first + (i32)args[TENSOR_COUNT]; p++) {
        i64 x = p % width, y = p / width % height, image = p / width / height;
        if (x >= extents[1] || y >= extents[2] || image >= extents[3]) continue;
        for (i64 o = 0; o < n && o < extents[0]; o++) {
            i64 to = o * strides[0] + x * strides[1] + y * strides[2] + image * strides[3];
            char *out = (char *)d[0];
            if (layout) {
                to = (i64)(p - first) * n + o;
                out = held(lane, on, TENSOR_DESTINATION, layout, type, &to);
            }
            if (out) convolve_at(args, out, to, x, y, image, o);
        }
    }
}

static void evaluate(Lane **lane, u32 w, u32 on, const Lane *model) {
    Op op = model->op;
    if (!on || op == OP_meet) return;
    if (op == OP_tensor_matmul) {
        multiply_tensors(lane, on);
        return;
    }
    if (op == OP_tensor_convolution) {
        convolve_tensors(lane, on);
        return;
    }
    if (op == OP_texture_sample) {
        sample_quad(lane, on);
        return;
    }
    if (op <= OP_xor)
        reduce(lane, w, on, op, model->type);
    else if (op <= OP_prefix_exclusive_product)
        scan(lane, w, on, op, model->type,
             op == OP_prefix_inclusive_sum || op == OP_prefix_inclusive_product);
    else if (op <= OP_shuffle_and_fill_down)
        shuffle(lane, w, on);
    else if (op <= OP_active_mask)
        vote(lane, w, on);
    else
        multiply(lane, on);
}

// ---- the scheduler

static Lane *lane_at(char *frames, u32 i) { return (Lane *)(frames + i * ingot_stack); }

// Resumes a lane until it needs others.
static void advance(Lane *l) {
    do {
        l->state = READY;
        switch_stack(&l->group->home, l->sp);
        if (l->state != AT_OPERATION || l->op < OP_log || l->quad) return;
        if (l->op == OP_log)
            write_log(l->group->launch, (u32)l->in[0], l->text[0], l->text[1], l->text[2],
                      (u32)l->in[1]);
        else
            call_texture(l->group->launch->textures, l->op, l, 1, 1, l->texel.rows, l->texel.out);
    } while (1);
}

// Runs the SIMD-group that starts at thread `first` until its threads are done or at a barrier.
static void run_simdgroup(char *frames, u32 first, u32 n) {
    Lane *lane[32] = {0};
    u32 w = n - first < 32 ? n - first : 32;
    for (u32 i = 0; i < w; i++) lane[i] = lane_at(frames, first + i);
    for (;;) {
        const Lane *least = NULL;
        for (u32 i = 0; i < w; i++)
            if (lane[i]->state == READY) advance(lane[i]);
        for (u32 i = 0; i < w; i++)
            if (lane[i]->state == AT_OPERATION && (!least || compare(lane[i], least) < 0))
                least = lane[i];
        if (!least) return;
        u32 on = 0;
        for (u32 i = 0; i < w; i++)
            if (lane[i]->state == AT_OPERATION && compare(lane[i], least) == 0) on |= 1u << i;
        const Lane model = *least;
        if (model.quad)
            for (u32 q = 0; q < 32; q += 4) evaluate(lane + q, 4, on >> q & 15, &model);
        else
            evaluate(lane, 32, on, &model);
        for (u32 i = 0; i < w; i++)
            if (on >> i & 1) lane[i]->state = READY;
    }
}

static void place(Lane *l, Group *g, u32 i) {
    l->group = g, l->index = i, l->n_key = 0;
    l->position[0] = i % g->size[0], l->position[1] = i / g->size[0] % g->size[1],
    l->position[2] = i / g->size[0] / g->size[1];
}

static void run_suspending(Group *g, char *frames) {
    for (u32 i = 0; i < g->n; i++) {
        Lane *l = lane_at(frames, i);
        place(l, g, i);
        l->state = READY;
        l->sp = first_stack((char *)l + ingot_stack, l, run_lane);
    }
    for (u32 waiting = 1; waiting;) {
        waiting = 0;
        for (u32 first = 0; first < g->n; first += 32) run_simdgroup(frames, first, g->n);
        for (u32 i = 0; i < g->n; i++) // every thread is done or at a barrier: all pass it
            if (lane_at(frames, i)->state == AT_BARRIER)
                lane_at(frames, i)->state = READY, waiting = 1;
    }
}

static u32 least_of(u32 a, u32 b) { return a < b ? a : b; }

__attribute__((visibility("default"))) void ingot_kernel(const CpuLaunch *launch, u64 first,
                                                         u64 end, void *memory, void *frames) {
    u32 nx = launch->groups_per_grid[0], ny = launch->groups_per_grid[1];
    for (u64 i = first; i < end && nx && ny; i++) {
        Group g = {.launch = launch,
                   .memory = memory,
                   .position = {(u32)(i % nx), (u32)(i / nx % ny), (u32)(i / nx / ny)}};
        for (u32 d = 0; d < 3; d++)
            g.size[d] = least_of(launch->group_size[d], launch->threads_per_grid[d] -
                                                            g.position[d] * launch->group_size[d]);
        g.n = g.size[0] * g.size[1] * g.size[2];
        if (ingot_suspends) {
            run_suspending(&g, frames);
            continue;
        }
        for (u32 t = 0; t < g.n; t++) {
            Lane l;
            place(&l, &g, t);
            ingot_thread(launch, &l, memory);
        }
    }
}

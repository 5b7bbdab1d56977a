// SPDX-License-Identifier: Apache-2.0
// lanes.c: ingot_kernel of the reference code: every thread of a threadgroup runs scalar code on
// its own stack, and stops at barriers and SIMD-group functions. Slow and independent of the
// vectoriser, which is checked against it.
//
// Which threads meet in a SIMD-group function under divergence: when all threads of a SIMD-group
// have stopped, those at the least position of the program take part. A position is the list
// (place, iteration, place, iteration, ..., place) through the loops around the call;
// codegen/lanes.c inserts the calls that keep it (ingot_lane_enter, _iterate, _at).
#include "abi/reflect.h"
#include "abi/cpu_stage.h"
#include "compiler/tensor_call.h"

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
    OP_texture_trace, // of ray tracing
    OP_texture_path,
    OP_texture_matrix,
} Op;

typedef struct Lane Lane;
typedef struct Group {
    const CpuLaunch *launch;
    void *memory, *home; // home: stack pointer of the scheduler
    u32 position[3], size[3], n;
    RfStage stage;
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
        u32 *out;        // [4], of ray tracing more
    } texel;
    u32 n_key, key[2 * MAX_DEPTH + 2];
};

_Static_assert(__builtin_offsetof(Lane, index) == 28 && __builtin_offsetof(Lane, state) == 32 &&
                   __builtin_offsetof(Group, position) == 24 &&
                   __builtin_offsetof(Group, stage) == 52 &&
                   __builtin_offsetof(CpuLaunch, group_size) == 32 &&
                   __builtin_offsetof(CpuVertexStep, vertices) == 24 &&
                   __builtin_offsetof(CpuFragmentStep, x) == 0,
               "tools/gdb/ingot_gdb.py knows these");

// provided by codegen/lanes.c
extern const u64 ingot_stack;    // bytes of one thread's stack and Lane
extern const u32 ingot_suspends; // threads may stop
extern const u32 ingot_debugged; // codegen/debug.c: somebody may look
extern void ingot_thread(const CpuLaunch *launch, Lane *lane, void *memory);

// ---- switching stacks ----

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
    u64 *s = (u64 *)((u64)top & ~15ull) - 2;
    s[0] = s[1] = 0;        // where walks up the stack end
    *--s = (u64)first_step; // there the stack pointer is a multiple of 16, as before any call
    s -= 6;
    s[5] = 0;         // rbp
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
    s[10] = 0;               // x29: where walks up the stack end
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

// ---- for who debugs ----

// Which thread runs, by the names that Metal has for it. codegen/debug.c tells debuggers of them:
// conditions of breakpoints read them.
#define SEEN(name, n) u32 ingot_at_##name[n];
#include "compiler/seen.def"
// The threadgroup, for ingot_gdb.py: see there.
u64 ingot_debug[8];

// The thread that a debugger asks for: what it is one of, and its position in the grid, its pixel
// or its vertex_id. Where its turn begins and ends these functions are called, for breakpoints:
// those in the code would stop at every thread.
enum { WANTED_NONE, WANTED_THREAD, WANTED_PIXEL, WANTED_VERTEX };
u32 ingot_wanted[4];
static u32 wanted_runs;
#define EMPTY __attribute__((noinline)) void
EMPTY ingot_thread_wanted(void) { __asm__ volatile(""); }
EMPTY ingot_thread_left(void) { __asm__ volatile(""); }

static void note_threadgroup(const Group *g, const char *frames) {
    if (!ingot_debugged) return;
    ingot_debug[0] = (u64)g, ingot_debug[1] = ingot_suspends ? (u64)frames : 0;
    ingot_debug[2] = ingot_stack, ingot_debug[3] = g->n;
    ingot_debug[4] = __builtin_offsetof(Lane, state);
}
static void note_thread(const Lane *l) {
    if (!ingot_debugged) return;
    const Group *g = l->group;
    ingot_debug[5] = (u64)l;
    u32 quad = l->index / 4, x = quad % 4 * 2 + l->index % 2, y = quad / 4 * 2 + l->index / 2 % 2;
    u32 kind = WANTED_THREAD, at[3] = {0, 0, 0};
    for (u32 d = 0; d < 3; d++) {
        ingot_at_thread_position_in_grid[d] =
            g->position[d] * g->launch->group_size[d] + l->position[d];
        ingot_at_thread_position_in_threadgroup[d] = l->position[d];
        ingot_at_threadgroup_position_in_grid[d] = g->position[d];
    }
    for (u32 d = 0; d < 3; d++) at[d] = ingot_at_thread_position_in_grid[d];
    if (g->stage == RF_VERTEX) {
        const CpuVertexStep *s = g->memory;
        kind = WANTED_VERTEX;
        at[0] = ingot_at_vertex_id[0] = s->vertices[l->index];
        at[1] = at[2] = 0;
        ingot_at_instance_id[0] = s->instance;
    } else if (g->stage == RF_FRAGMENT) {
        const CpuFragmentStep *s = g->memory;
        kind = s->covered >> l->index & 1 ? WANTED_PIXEL : WANTED_NONE; // not one that only helps
        at[0] = ingot_at_pixel_position[0] = (u32)s->x + x;
        at[1] = ingot_at_pixel_position[1] = (u32)s->y + y;
        at[2] = 0;
    }
    u32 wanted = kind && ingot_wanted[0] == kind;
    for (u32 d = 0; d < 3; d++) wanted &= at[d] == ingot_wanted[d + 1];
    if (wanted && !wanted_runs) ingot_thread_wanted();
    if (!wanted && wanted_runs) ingot_thread_left();
    wanted_runs = wanted;
    ingot_at_thread_index_in_threadgroup[0] = l->index;
    ingot_at_thread_index_in_simdgroup[0] = l->index % 32;
    ingot_at_simdgroup_index_in_threadgroup[0] = l->index / 32;
}

// ---- where a thread stands ----

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
    case RF_THREADS_PER_GRID: return n->threads_per_grid[dim];
    case RF_GRID_SIZE: return n->grid_size[dim];
    case RF_THREADGROUPS_PER_GRID: return n->groups_per_grid[dim];
    case RF_GRID_ORIGIN: return n->grid_origin[dim];
    case RF_VIEW: return n->view;
    case RF_N_VIEWS: return n->n_views;
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
_Bool ingot_lane_never(const Lane *l) { return (void)l, 0; }

// ---- the operations, as functions a thread calls ----

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
#define VOTE(op, simd, quad)
#define OTHER(op, signature)
#define TEMPLATE(op, signature)
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

// ---- textures ----

// The device's function for one thread (n 1) or a quad.
static void call_texture(const CpuLaunch *launch, Op op, const Lane *l, u32 n, u32 on,
                         const u32 *rows, u32 *out) {
    const CpuTextureOps *ops = launch->textures;
    u64 t = l->texel.texture, s = l->texel.sampler;
    u32 what = l->texel.op;
    switch (op) {
    case OP_texture_sample: ops->sample(t, s, what, n, &on, rows, out); break;
    case OP_texture_read: ops->read(t, what, n, &on, rows, out); break;
    case OP_texture_write: ops->write(t, what, n, &on, rows, out); break;
    case OP_texture_trace: launch->rays->trace(t, what, n, &on, rows, out); break;
    case OP_texture_path: launch->rays->path(t, what, n, &on, rows, out); break;
    case OP_texture_matrix: launch->rays->transform(t, what, n, &on, rows, out); break;
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
        call_texture(l->group->launch, op, l, 1, 1, rows, out);
    else
        operate(l, op, T_u32, (u32)needs_quad(l), 0, 0, 0, 0);
}
#define TEXTURE(name)                                                                              \
    void ingot_lane_texture_##name(Lane *l, u64 t, u64 s, u32 op, const u32 *rows, u32 *out) {     \
        texture(l, OP_texture_##name, t, s, op, rows, out);                                        \
    }
// clang-format off: macros that are functions
// clang-format off: macros that are functions
TEXTURE(sample)
TEXTURE(read)
TEXTURE(write)
TEXTURE(atomic)
TEXTURE(trace)
TEXTURE(path)
TEXTURE(matrix)
// clang-format on
// clang-format on

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
        call_texture(model->group->launch, OP_texture_sample, model, 4, now, rows[0], out[0]);
        for (u32 i = 0; i < 4; i++)
            for (u32 c = 0; now >> i & 1 && c < 4; c++) lane[i]->texel.out[c] = out[c][i];
        left &= ~now;
    }
}

// ---- what they compute ----

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

#include "compiler/codegen/support/lanes_tensor.h"

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

// ---- the scheduler ----

static Lane *lane_at(char *frames, u32 i) { return (Lane *)(frames + i * ingot_stack); }

// Resumes a lane until it needs others.
static void advance(Lane *l) {
    do {
        l->state = READY;
        note_thread(l);
        switch_stack(&l->group->home, l->sp);
        if (l->state != AT_OPERATION || l->op < OP_log || l->quad) return;
        if (l->op == OP_log)
            write_log(l->group->launch, (u32)l->in[0], l->text[0], l->text[1], l->text[2],
                      (u32)l->in[1]);
        else
            call_texture(l->group->launch, l->op, l, 1, 1, l->texel.rows, l->texel.out);
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

static void run_alone(Group *g, u32 i, void *memory) {
    Lane l;
    place(&l, g, i);
    note_thread(&l);
    ingot_thread(g->launch, &l, memory);
}

// on: of the first 32 threads, those that run.
static void run_suspending(Group *g, char *frames, u32 on) {
    for (u32 i = 0; i < g->n; i++) {
        Lane *l = lane_at(frames, i);
        place(l, g, i);
        l->state = i >= 32 || on >> i & 1 ? READY : DONE;
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
        g.stage = RF_KERNEL;
        note_threadgroup(&g, frames);
        if (ingot_suspends)
            run_suspending(&g, frames, ~0u);
        else
            for (u32 t = 0; t < g.n; t++) run_alone(&g, t, memory);
    }
}

// ---- vertex and fragment functions: one SIMD-group (as codegen/support/stage.c) ----

static void run_step(const CpuLaunch *launch, void *step, RfStage stage, u32 on) {
    Group g = {.launch = launch,
               .memory = step,
               .size = {CPU_STAGE_LANES, 1, 1},
               .n = CPU_STAGE_LANES,
               .stage = stage};
    if (ingot_suspends) {
        char *frames = __builtin_alloca_with_align(CPU_STAGE_LANES * ingot_stack, 128 * 8);
        note_threadgroup(&g, frames);
        run_suspending(&g, frames, on);
        return;
    }
    note_threadgroup(&g, 0);
    for (u32 t = 0; t < g.n; t++)
        if (on >> t & 1) run_alone(&g, t, step);
}

__attribute__((visibility("default"))) void ingot_vertex(const CpuLaunch *launch,
                                                         const CpuVertexStep *step) {
    run_step(launch, (void *)step, RF_VERTEX,
             step->n >= CPU_STAGE_LANES ? ~0u : (1u << step->n) - 1);
}

__attribute__((visibility("default"))) void ingot_fragment(const CpuLaunch *launch,
                                                           CpuFragmentStep *step) {
    u32 on = 0;
    for (u32 q = 0; q < CPU_STAGE_LANES; q += 4)
        if (step->covered >> q & 15) on |= 15u << q;
    step->kept = step->covered;
    run_step(launch, step, RF_FRAGMENT, on);
}

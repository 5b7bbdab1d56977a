// SPDX-License-Identifier: Apache-2.0
// harness.c: runs test kernels lane by lane (native code of the same C source) and vectorised, on
// full groups, cut groups and random masks, and compares all memory bit for bit. With SIMD-group
// functions the reference runs every lane as a coroutine: when all have stopped at such a call,
// those at the least position of the program (statement numbers and iteration counts) are the
// active lanes of one operation.
//   cc -DWIDTH=32 -DSX=16 -DSY=16 -DSZ=1 [-DTOGETHER_REFERENCE] -Ilist-folder harness.c k.c k.o
// With -DOBJECTS the program compares code objects of the same kernel in Metal, which it is given
// the paths of, on a grid with cut groups.
// list.h in that folder: K(name) for each kernel k_<name>.
#include "kernel.h"
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "abi/cpu_kernel.h"
#include "abi/reflect.h"

#ifndef WIDTH
#define WIDTH 32
#endif
#ifndef SX
#define SX 64
#define SY 1
#define SZ 1
#endif
enum { WORDS = 1 << 16, STACK = 1 << 17 };

// ---- one thread ----
static CpuLaunch launch;
static uint32_t group[3], size[3], first_of_step;

typedef struct Lane {
    ucontext_t context;
    int key[64], n_key, done, op, quad;
    uint64_t x, y, result;
    uint32_t by, modulo;
    char *stack;
} Lane;
static Lane lanes[32];
static ucontext_t scheduler;
static int current; // lane that runs

static uint32_t volume(const uint32_t *s) { return s[0] * s[1] * s[2]; }

int __ingot_position(int builtin, int d) {
    uint32_t i = first_of_step + (uint32_t)current;
    uint32_t at[3] = {i % size[0], i / size[0] % size[1], i / (size[0] * size[1])};
    switch (builtin) {
    case RF_THREAD_POSITION_IN_GRID: return (int)(group[d] * launch.group_size[d] + at[d]);
    case RF_THREAD_POSITION_IN_THREADGROUP: return (int)at[d];
    case RF_THREAD_INDEX_IN_THREADGROUP: return (int)i;
    case RF_THREADGROUP_POSITION_IN_GRID: return (int)group[d];
    case RF_THREADS_PER_THREADGROUP: return (int)size[d];
    case RF_DISPATCH_THREADS_PER_THREADGROUP: return (int)launch.group_size[d];
    case RF_THREADS_PER_GRID:
    case RF_GRID_SIZE: return (int)launch.threads_per_grid[d];
    case RF_THREADGROUPS_PER_GRID: return (int)launch.groups_per_grid[d];
    case RF_GRID_ORIGIN: return (int)launch.grid_origin[d];
    case RF_THREAD_INDEX_IN_SIMDGROUP: return (int)(i % 32);
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP: return (int)(i / 32);
    case RF_THREADS_PER_SIMDGROUP:
    case RF_THREAD_EXECUTION_WIDTH: return 32;
    case RF_SIMDGROUPS_PER_THREADGROUP: return (int)((volume(size) + 31) / 32);
    case RF_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
        return (int)((volume(launch.group_size) + 31) / 32);
    case RF_THREAD_INDEX_IN_QUADGROUP: return (int)(i % 4);
    case RF_QUADGROUP_INDEX_IN_THREADGROUP: return (int)(i / 4);
    case RF_QUADGROUPS_PER_THREADGROUP: return (int)((volume(size) + 3) / 4);
    default: return (int)((volume(launch.group_size) + 3) / 4);
    }
}

// ---- SIMD-group functions ----
void ref_at(int d, int n) {
    lanes[current].key[d] = n;
    lanes[current].n_key = d + 1;
}
void ref_iter(int d) {
    lanes[current].key[d]++;
    lanes[current].n_key = d + 1;
}

enum {
    SUM,
    PRODUCT,
    MIN,
    MAX,
    AND,
    OR,
    XOR,
    SCAN,
    SCAN_EX,
    PROD,
    PROD_EX,
    SHUFFLE,
    UP,
    DOWN,
    SXOR,
    RUP,
    RDOWN,
    FIRST,
    FILL_UP,
    FILL_DOWN,
    BALLOT,
    ALL,
    ANY,
    IS_FIRST,
    ACTIVE,
    MMA
};
enum { T_i32, T_u32, T_i64, T_u64, T_f32 };

static uint64_t stop(int op, int type, int quad, uint64_t x, uint64_t y, uint32_t by,
                     uint32_t modulo) {
    Lane *l = &lanes[current];
    l->op = op * 8 + type;
    l->quad = quad;
    l->x = x;
    l->y = y;
    l->by = by;
    l->modulo = modulo;
    swapcontext(&l->context, &scheduler);
    return lanes[current].result;
}
static uint64_t pack_f(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static float unpack_f(uint64_t v) {
    uint32_t u = (uint32_t)v;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
#define PACK(v) _Generic((v), float: pack_f, default: pack_i)(v)
static uint64_t pack_i(long v) { return (uint64_t)v; }
#define UNPACK(T, v) _Generic((T)0, float: unpack_f(v), default: (T)(v))
#define OP1(name, s, T, op, quad)                                                                  \
    T __ingot_##name##_##s(T v) { return UNPACK(T, stop(op, T_##s, quad, PACK(v), 0, 0, 0)); }
#define OP2(name, s, T, op, quad)                                                                  \
    T __ingot_##name##_##s(T v, unsigned by) {                                                     \
        return UNPACK(T, stop(op, T_##s, quad, PACK(v), 0, by, 0));                                \
    }
#define OP4(name, s, T, op, quad)                                                                  \
    T __ingot_##name##_##s(T v, T f, unsigned by, unsigned m) {                                    \
        return UNPACK(T, stop(op, T_##s, quad, PACK(v), PACK(f), by, m));                          \
    }
// clang-format off: lists of macros
#define ALL5(M, n, op, q) ALL4(M, n, op, q) M(n, f32, float, op, q)
#define ALL4(M, n, op, q) \
    M(n, i32, int, op, q) M(n, u32, unsigned, op, q) M(n, i64, long, op, q) M(n, u64, unsigned long, op, q)
#define ALL3(M, n, op, q) M(n, i32, int, op, q) M(n, i64, long, op, q) M(n, f32, float, op, q)
ALL5(OP1, simd_sum, SUM, 0)
ALL5(OP1, simd_product, PRODUCT, 0)
ALL5(OP1, simd_min, MIN, 0)
ALL5(OP1, simd_max, MAX, 0)
ALL5(OP1, quad_sum, SUM, 1)
ALL5(OP1, quad_product, PRODUCT, 1)
ALL5(OP1, quad_min, MIN, 1)
ALL5(OP1, quad_max, MAX, 1)
ALL4(OP1, simd_and, AND, 0)
ALL4(OP1, simd_or, OR, 0)
ALL4(OP1, simd_xor, XOR, 0)
ALL4(OP1, quad_and, AND, 1)
ALL4(OP1, quad_or, OR, 1)
ALL4(OP1, quad_xor, XOR, 1)
ALL5(OP1, simd_prefix_inclusive_sum, SCAN, 0)
ALL5(OP1, simd_prefix_exclusive_sum, SCAN_EX, 0)
ALL5(OP1, simd_prefix_inclusive_product, PROD, 0)
ALL5(OP1, simd_prefix_exclusive_product, PROD_EX, 0)
ALL3(OP2, simd_broadcast, SHUFFLE, 0)
ALL3(OP2, simd_shuffle, SHUFFLE, 0)
ALL3(OP2, simd_shuffle_up, UP, 0)
ALL3(OP2, simd_shuffle_down, DOWN, 0)
ALL3(OP2, simd_shuffle_xor, SXOR, 0)
ALL3(OP2, simd_shuffle_rotate_up, RUP, 0)
ALL3(OP2, simd_shuffle_rotate_down, RDOWN, 0)
ALL3(OP2, quad_broadcast, SHUFFLE, 1)
ALL3(OP2, quad_shuffle, SHUFFLE, 1)
ALL3(OP2, quad_shuffle_up, UP, 1)
ALL3(OP2, quad_shuffle_down, DOWN, 1)
ALL3(OP2, quad_shuffle_xor, SXOR, 1)
ALL3(OP2, quad_shuffle_rotate_up, RUP, 1)
ALL3(OP2, quad_shuffle_rotate_down, RDOWN, 1)
ALL3(OP1, simd_broadcast_first, FIRST, 0)
ALL3(OP1, quad_broadcast_first, FIRST, 1)
ALL3(OP4, simd_shuffle_and_fill_up, FILL_UP, 0)
ALL3(OP4, simd_shuffle_and_fill_down, FILL_DOWN, 0)
ALL3(OP4, quad_shuffle_and_fill_up, FILL_UP, 1)
ALL3(OP4, quad_shuffle_and_fill_down, FILL_DOWN, 1)
// clang-format on
unsigned long __ingot_simd_ballot(_Bool v) { return stop(BALLOT, 0, 0, v, 0, 0, 0); }
unsigned __ingot_quad_ballot(_Bool v) { return (unsigned)stop(BALLOT, 0, 1, v, 0, 0, 0); }
_Bool __ingot_simd_all(_Bool v) { return stop(ALL, 0, 0, v, 0, 0, 0) & 1; }
_Bool __ingot_simd_any(_Bool v) { return stop(ANY, 0, 0, v, 0, 0, 0) & 1; }
_Bool __ingot_quad_all(_Bool v) { return stop(ALL, 0, 1, v, 0, 0, 0) & 1; }
_Bool __ingot_quad_any(_Bool v) { return stop(ANY, 0, 1, v, 0, 0, 0) & 1; }
_Bool __ingot_simd_is_first(void) { return stop(IS_FIRST, 0, 0, 0, 0, 0, 0) & 1; }
_Bool __ingot_quad_is_first(void) { return stop(IS_FIRST, 0, 1, 0, 0, 0, 0) & 1; }
unsigned long __ingot_simd_active_mask(void) { return stop(ACTIVE, 0, 0, 0, 0, 0, 0); }
unsigned __ingot_quad_active_mask(void) { return (unsigned)stop(ACTIVE, 0, 1, 0, 0, 0, 0); }
static f2 matrices[3][32];
f2 __ingot_simdgroup_mma_f32(f2 x, f2 y, f2 z) {
    matrices[0][current] = x;
    matrices[1][current] = y;
    matrices[2][current] = z;
    uint64_t r = stop(MMA, 0, 0, 0, 0, 0, 0);
    f2 out = {unpack_f(r & 0xffffffff), unpack_f(r >> 32)};
    return out;
}

static float least(float a, float b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static float most(float a, float b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

static uint64_t combine(int op, int type, uint64_t a, uint64_t b) {
    if (type == T_f32) {
        float x = unpack_f(a), y = unpack_f(b);
        return pack_f(op == SUM       ? x + y
                      : op == PRODUCT ? x * y
                      : op == MIN     ? least(x, y)
                                      : most(x, y));
    }
    bool narrow = type == T_i32 || type == T_u32, is_signed = type == T_i32 || type == T_i64;
    int64_t sa = narrow ? (int32_t)a : (int64_t)a, sb = narrow ? (int32_t)b : (int64_t)b;
    uint64_t ua = narrow ? (uint32_t)a : a, ub = narrow ? (uint32_t)b : b;
    bool less = is_signed ? sa < sb : ua < ub;
    switch (op) {
    case SUM: return a + b;
    case PRODUCT: return a * b;
    case MIN: return less ? a : b;
    case MAX: return less ? b : a;
    case AND: return a & b;
    case OR: return a | b;
    default: return a ^ b;
    }
}
static uint64_t neutral(int op, int type) {
    if (type == T_f32) return pack_f(op == SUM ? -0.0f : op == PRODUCT ? 1.0f : NAN);
    bool narrow = type == T_i32 || type == T_u32, is_signed = type == T_i32 || type == T_i64;
    switch (op) {
    case PRODUCT: return 1;
    case MIN: return !is_signed ? ~0ull : narrow ? INT32_MAX : INT64_MAX;
    case MAX: return !is_signed ? 0 : narrow ? (uint64_t)(int64_t)INT32_MIN : (uint64_t)INT64_MIN;
    case AND: return ~0ull;
    default: return 0;
    }
}

static uint64_t matrix_at(int which, int row, int column) {
    for (int l = 0; l < 32; l++)
        if ((l / 4 & 4) + (l / 2 & 3) == row && (l / 4 & 2) * 2 + (l & 1) * 2 == (column & ~1))
            return pack_f(matrices[which][l][column & 1]);
    abort();
}

// One operation: lanes `on` take part; results for them.
static void perform(int op, int type, int quad, uint32_t on) {
    int g = quad ? 4 : 32;
    uint64_t t[32], r[32];
    int reduce = op <= XOR ? op : op == PROD || op == PROD_EX ? PRODUCT : SUM;
    for (int l = 0; l < 32; l++)
        r[l] = t[l] = op > PROD_EX || on >> l & 1 ? lanes[l].x : neutral(reduce, type);
    if (op <= XOR) {
        for (int base = 0; base < 32; base += g)
            for (int d = g / 2; d; d /= 2)
                for (int l = 0; l < d; l++)
                    t[base + l] = combine(op, type, t[base + l], t[base + l + d]);
        for (int l = 0; l < 32; l++) r[l] = t[l / g * g];
    } else if (op <= PROD_EX) {
        for (int d = 1; d < 32; d *= 2)
            for (int l = 31; l >= d; l--) t[l] = combine(reduce, type, t[l], t[l - d]);
        for (int l = 0; l < 32; l++) {
            r[l] = op == SCAN || op == PROD ? t[l] : l ? t[l - 1] : neutral(reduce, type);
            if (op == SCAN_EX && type == T_f32) r[l] = pack_f(unpack_f(r[l]) + 0.0f);
        }
    } else {
        for (int l = 0; l < 32; l++) {
            int at = l % g, base = l - at;
            int64_t by = lanes[l].by, from = op == UP ? at - by : at + by;
            uint32_t bits = 0, yes = 0, mine = (on >> base) & (quad ? 15u : ~0u);
            for (int k = 0; k < g; k++)
                if (mine >> k & 1) {
                    bits |= 1u << k;
                    if (lanes[base + k].x) yes |= 1u << k;
                }
            switch (op) {
            case SHUFFLE: r[l] = t[base + (int)(by & (g - 1))]; break;
            case UP:
            case DOWN: r[l] = t[from < 0 || from >= g ? l : base + from]; break;
            case SXOR: r[l] = t[base + ((at ^ (int)by) & (g - 1))]; break;
            case RUP: r[l] = t[base + (int)((at - by) & (g - 1))]; break;
            case RDOWN: r[l] = t[base + (int)((at + by) & (g - 1))]; break;
            case FIRST: r[l] = t[base + (bits ? __builtin_ctz(bits) : 0)]; break;
            case FILL_UP:
            case FILL_DOWN: {
                int m = (int)lanes[l].modulo, in = l % m, d = (int)lanes[l].by & (m - 1),
                    s = op == FILL_UP ? in - d : in + d;
                r[l] = s < 0    ? lanes[l - in + s + m].y
                       : s >= m ? lanes[l - in + s - m].y
                                : t[l - in + s];
                break;
            }
            case BALLOT: r[l] = yes; break;
            case ALL: r[l] = yes == bits; break;
            case ANY: r[l] = yes != 0; break;
            case IS_FIRST: r[l] = bits && __builtin_ctz(bits) == at; break;
            case ACTIVE: r[l] = bits; break;
            case MMA: {
                int row = (l / 4 & 4) + (l / 2 & 3), column = (l / 4 & 2) * 2 + (l & 1) * 2;
                float d[2];
                for (int e = 0; e < 2; e++) {
                    d[e] = matrices[2][l][e];
                    for (int k = 0; k < 8; k++)
                        d[e] = fmaf(unpack_f(matrix_at(0, row, k)),
                                    unpack_f(matrix_at(1, k, column + e)), d[e]);
                }
                r[l] = pack_f(d[0]) | pack_f(d[1]) << 32;
                break;
            }
            default: abort();
            }
        }
    }
    for (int l = 0; l < 32; l++)
        if (on >> l & 1) lanes[l].result = r[l];
}

// ---- running ----
typedef void Thread(KARGS);
typedef void Step(const Args *, const CpuLaunch *, const uint32_t at[7], const void *mask);
#ifdef OBJECTS
#define K(name) extern Thread k_##name;
#else
#define K(name)                                                                                    \
    extern Thread k_##name;                                                                        \
    extern Step k_##name##_whole, k_##name##_full, k_##name##_edge;
#endif
#include "list.h"
#undef K
static const struct {
    const char *name;
    Thread *thread;
    Step *whole, *full, *edge; // all lanes there; full groups; cut ones
} kernels[] = {
#ifdef OBJECTS
#define K(name) {#name, k_##name, NULL, NULL, NULL},
#else
#define K(name) {#name, k_##name, k_##name##_whole, k_##name##_full, k_##name##_edge},
#endif
#include "list.h"
};

static Thread *running;
static const Args *running_args;
static void call_thread(void) {
    const Args *g = running_args;
    running(g->a, g->b, g->c, g->p, g->q, g->n, g->w, g->h);
}

#ifdef TOGETHER_REFERENCE
static void enter(void) {
    call_thread();
    lanes[current].done = 1;
    swapcontext(&lanes[current].context, &scheduler);
}
static int before(const Lane *a, const Lane *b) {
    for (int i = 0; i < a->n_key && i < b->n_key; i++)
        if (a->key[i] != b->key[i]) return a->key[i] - b->key[i];
    return a->n_key - b->n_key;
}
static void run_reference(const uint32_t *masks) {
    uint32_t mask = *masks;
    for (int l = 0; l < 32; l++) {
        Lane *k = &lanes[l];
        if (!k->stack) k->stack = malloc(STACK);
        k->done = !(mask >> l & 1);
        k->n_key = 0;
        k->x = k->y = 0;
        getcontext(&k->context);
        k->context.uc_stack.ss_sp = k->stack;
        k->context.uc_stack.ss_size = STACK;
        makecontext(&k->context, enter, 0);
        current = l;
        if (!k->done) swapcontext(&scheduler, &k->context);
    }
    for (;;) {
        int least_lane = -1;
        for (int l = 0; l < 32; l++)
            if (!lanes[l].done && (least_lane < 0 || before(&lanes[l], &lanes[least_lane]) < 0))
                least_lane = l;
        if (least_lane < 0) return;
        Lane key = lanes[least_lane];
        uint32_t on = 0;
        for (int l = 0; l < 32; l++) {
            if (lanes[l].done || before(&lanes[l], &key)) continue;
            if (lanes[l].op != key.op) {
                puts("reference: two operations at one place");
                exit(3);
            }
            on |= 1u << l;
        }
        perform(key.op / 8, key.op % 8, key.quad, on);
        for (int l = 0; l < 32; l++)
            if (on >> l & 1) {
                current = l;
                swapcontext(&scheduler, &lanes[l].context);
            }
    }
}
#else
static void run_reference(const uint32_t *mask) {
    for (current = 0; current < WIDTH; current++)
        if (mask[current / 32] >> current % 32 & 1) call_thread();
}
#endif

typedef struct Memory {
    float a[WORDS], b[WORDS], c[WORDS];
    int p[WORDS], q[WORDS];
} Memory;
static _Alignas(64) Memory start, expected, got;

static uint32_t seed = 99;
static uint32_t rnd(void) { return (seed = seed * 1664525u + 1013904223u) >> 8; }

static bool same_memory(const char *what, int mode) {
    if (!memcmp(&expected, &got, sizeof got)) return true;
    const uint32_t *x = (const uint32_t *)&expected, *y = (const uint32_t *)&got;
    size_t i = 0, n_bad = 0, first_bad = sizeof got / 4;
    for (i = 0; i < sizeof got / 4; i++) {
        if (x[i] == y[i]) continue;
        // two NaNs are equal: their payload is not defined
        if (i < 3 * WORDS && (x[i] & 0x7fffffff) > 0x7f800000 && (y[i] & 0x7fffffff) > 0x7f800000)
            continue;
        if (!n_bad++) first_bad = i;
    }
    if (!n_bad) return true;
    printf("DIFF k_%s mode %d: %zu words, first buffer %zu word %zu: expected %08x got %08x\n",
           what, mode, n_bad, first_bad / WORDS, first_bad % WORDS, x[first_bad], y[first_bad]);
    return false;
}

#ifdef OBJECTS
// The whole grid, all its SIMD-groups one after the other.
static void run_grid(int k, const Args *args) {
    running = kernels[k].thread;
    running_args = args;
    for (group[2] = 0; group[2] < launch.groups_per_grid[2]; group[2]++)
        for (group[1] = 0; group[1] < launch.groups_per_grid[1]; group[1]++)
            for (group[0] = 0; group[0] < launch.groups_per_grid[0]; group[0]++) {
                for (int d = 0; d < 3; d++) {
                    uint32_t left = launch.threads_per_grid[d] - group[d] * launch.group_size[d];
                    size[d] = left < launch.group_size[d] ? left : launch.group_size[d];
                }
                uint32_t total = volume(size);
                for (first_of_step = 0; first_of_step < total; first_of_step += 32) {
                    uint32_t left = total - first_of_step,
                             mask = left < 32 ? (1u << left) - 1 : ~0u;
                    run_reference(&mask);
                }
            }
}

static bool run_object(const char *path, const Args *g) {
    static _Alignas(4096) char memory[65536], frames[64 << 20];
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL),
         *symbol = so ? dlsym(so, CPU_KERNEL_SYMBOL) : NULL;
    if (!symbol) return false;
    CpuKernelFn *kernel;
    memcpy(&kernel, &symbol, sizeof kernel);
    int32_t sizes[4] = {g->n, g->w, g->h, 0};
    void *args[] = {(void *)g->a, (void *)g->b, g->c, g->p, g->q, sizes};
    uint64_t lengths[] = {WORDS * 4, WORDS * 4, WORDS * 4, WORDS * 4, WORDS * 4, sizeof sizes};
    launch.args = args;
    launch.lengths = lengths;
    kernel(&launch, 0, volume(launch.groups_per_grid), memory, frames);
    return true;
}

static int compare_objects(int n, char **paths) {
    static const uint32_t shape[3] = {SX, SY, SZ};
    int bad = 0;
    Args ref = {expected.a, expected.b, expected.c,     expected.p,
                expected.q, 64,         SX * 7 / 4 + 3, SY * 3 / 2 + 5},
         vec = {got.a, got.b, got.c, got.p, got.q, ref.n, ref.w, ref.h};
    for (int d = 0; d < 3; d++) {
        launch.group_size[d] = shape[d];
        launch.groups_per_grid[d] = d ? 2 : 3;
        launch.threads_per_grid[d] = launch.groups_per_grid[d] * shape[d] - shape[d] / 3;
    }
    expected = start;
    run_grid(0, &ref);
    for (int k = 0; k < n; k++) {
        got = start;
        if (!run_object(paths[k], &vec)) return printf("%s: no code\n", paths[k]), 1;
        bad |= !same_memory(paths[k], 0);
    }
    return bad;
}
#else
static void run_step(int k, bool full, const Args *ref, const Args *vec, const uint32_t *mask) {
    uint32_t at[7] = {group[0], group[1], group[2], size[0], size[1], size[2], first_of_step};
    running = kernels[k].thread;
    running_args = ref;
    run_reference(mask);
    bool whole = full;
    for (int l = 0; l < WIDTH; l++) whole &= mask[l / 32] >> l % 32 & 1;
    (whole ? kernels[k].whole : full ? kernels[k].full : kernels[k].edge)(vec, &launch, at, mask);
}

// mode 0: full groups; 1: groups cut in every dimension; 2: full groups under random masks
static bool compare(int k, int mode) {
    static const uint32_t shape[3] = {SX, SY, SZ};
    expected = start;
    got = start;
    int n = 64, w = SX * 7 / 4 + 3,
        h = SY * 3 / 2 + 5; // borders of a clamp inside the second group
    Args ref = {expected.a, expected.b, expected.c, expected.p, expected.q, n, w, h};
    Args vec = {got.a, got.b, got.c, got.p, got.q, n, w, h};
    launch = (CpuLaunch){.threads_per_grid = {3 * SX, 2 * SY, 2 * SZ},
                         .groups_per_grid = {3, 2, 2},
                         .group_size = {SX, SY, SZ},
                         .grid_origin = {1, 2, 3},
                         .grid_size = {3 * SX, 2 * SY, 2 * SZ}};
    for (int d = 0; d < 3; d++) {
        group[d] = (uint32_t)(mode + 1 + d) % launch.groups_per_grid[d];
        size[d] = mode == 1 ? (shape[d] * 2 + 2) / 3 : shape[d];
    }
    uint32_t total = volume(size);
    for (first_of_step = 0; first_of_step < total; first_of_step += WIDTH) {
        uint32_t left = total - first_of_step, any = 0;
        _Alignas(32) uint32_t mask[8] = {0};
        for (uint32_t l = 0; l < left && l < WIDTH; l++) mask[l / 32] |= 1u << l % 32;
        for (int k8 = 0; k8 < 8; k8++) {
            if (mode == 2) mask[k8] &= rnd() ^ rnd() << 13;
            any |= mask[k8];
        }
        if (!any) continue;
        run_step(k, mode != 1, &ref, &vec, mask);
    }
    return same_memory(kernels[k].name, mode);
}
#endif

int main(int argc, char **argv) {
    for (int i = 0; i < WORDS; i++) {
        start.a[i] = (float)(rnd() & 2047) / 64 - 8;
        start.b[i] = (float)(rnd() & 2047) / 64 - 8;
        uint32_t r = rnd() << 8 | (rnd() & 255);
        start.p[i] = (int)(r >> (r >> 28 & 1 ? 7 : 20));
        start.q[i] = (int)(rnd() & 0x7fffff);
        start.c[i] = 3;
    }
#ifdef OBJECTS
    return compare_objects(argc - 1, argv + 1);
#else
    (void)argc, (void)argv;
    int bad = 0, n = sizeof kernels / sizeof *kernels;
    for (int k = 0; k < n; k++)
        for (int mode = 0; mode < 3; mode++)
            if (!compare(k, mode)) {
                bad++;
                break;
            }
    printf("%d kernels, %d differ\n", n, bad);
    return bad != 0;
#endif
}

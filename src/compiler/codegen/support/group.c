// SPDX-License-Identifier: Apache-2.0
// group.c: ingot_kernel of vectorised code: the loop over threadgroups and over their SIMD-groups.
// Compiled to bitcode when mslc is built, and linked into every kernel: the layout of CpuLaunch is
// then the one of abi/cpu_kernel.h by construction. The names in `provided by wrap.c` are filled in
// before optimisation; the constants fold, the calls are inlined. There is one of it for each kind
// of loop (INGOT_KIND), as values and in few functions already: half of all that a small kernel's
// code took to make was this file. Baseline code is linked to an object that was made of this file
// with mslc (INGOT_PREBUILT): there is nothing left to compile of it.
//
// Two versions of a kernel run here:
//   full  all lanes active, threads in the arrangement it was compiled for: the shape, or if none
//         is known a line (nothing but x)
//   some  any mask. Threadgroups cut by the grid's edge are packed anew, x fastest; a kernel that
//         cannot tell (`ingot_loose`) keeps the arrangement of the shape, lanes outside masked off,
//         because that is faster. Not inlined: it serves edges.
#include "abi/cpu_kernel.h"

typedef uint32_t u32;
typedef uint64_t u64;

#ifdef INGOT_PREBUILT // as objects, for baseline code: one version, for any shape
static const u32 ingot_shape[3];
#ifdef INGOT_WAITS // one for kernels with barriers
extern const u64 ingot_stride;
enum { ingot_suspends = 1, ingot_rows = 0 };
#else
extern const u32 ingot_rows;
enum { ingot_suspends, ingot_stride = 0 };
#endif
enum {
    ingot_loose,
    ingot_has_full = 0,
    ingot_full_suspends = 0,
    ingot_stream_bytes = 0,
    ingot_shuffles = 0,
    ingot_width = 32,
    ingot_full_width = 32,
    ingot_full_rows = 1
};
#else
#define STEPS 0
#define ROWS 1     // no shape, and the kernel looks only at its position in the grid
#define WAITING 2  // `some` is a coroutine
#define SHUFFLED 3 // SIMD-groups run in the order of CpuLaunch.schedule; `some` may be a coroutine
enum { ingot_rows = INGOT_KIND == ROWS, ingot_shuffles = INGOT_KIND == SHUFFLED };
#if INGOT_KIND == SHUFFLED
extern const u32 ingot_suspends;
#else
enum { ingot_suspends = INGOT_KIND == WAITING };
#endif
// provided by wrap.c
extern const u32 ingot_shape[3]; // 0,0,0: not known
extern const u32 ingot_loose;    // `some` expects threads where they stand in the shape, cut or not
extern const u32 ingot_width;    // threads a call of some runs,
extern const u32 ingot_full_width;    // and of full: the same, or several SIMD-groups side by side
extern const u32 ingot_full_rows;     // of the shape, above each other, that full runs a piece of
extern const u32 ingot_has_full;      // whether there is a `full` version
extern const u32 ingot_full_suspends; // `full` is one: not if it runs the threadgroup at once
extern const u64 ingot_stride;        // bytes of a frame
extern const u32 ingot_stream_bytes;  // that a thread moves, if nobody reads soon what it stores
                                      // (codegen/nontemporal.c); 0: unknown
#endif
extern void ingot_full(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx,
                       u32 sy, u32 sz, u32 first, u32 large);
extern void ingot_some(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx,
                       u32 sy, u32 sz, u32 first, u32 mask);
extern void ingot_full_start(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx,
                             u32 sy, u32 sz, u32 first, void *frame);
extern void ingot_some_start(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx,
                             u32 sy, u32 sz, u32 first, u32 mask, void *frame);

void ingot_log(const CpuLaunch *launch, u32 type, const char *category, const char *format,
               const u64 *args, u32 n);
__attribute__((noinline)) void ingot_log(const CpuLaunch *launch, u32 type, const char *category,
                                         const char *format, const u64 *args, u32 n) {
    if (launch->log) launch->log(launch, type, category, format, args, n);
}

#define INLINE static inline __attribute__((always_inline))

typedef struct Group {
    u32 gx, gy, gz, sx, sy, sz, n, line, large;
} Group;

// Bytes that a grid moves: more than lies in the caches until it is read again. Of 32 MiB relu of 4
// M floats takes 0.36 to 0.58 ms with plain stores, 0.66 past the caches; of 48 their sum 0.94 and
// 0.7.
enum { LARGE = 36 << 20 };

INLINE u32 least(u32 a, u32 b) { return a < b ? a : b; }

INLINE u32 mask_of(u32 left) { return left >= 32 ? ~0u : (1u << left) - 1; }

// May `full` run this threadgroup?
INLINE int is_full(const Group *g) {
    if (!ingot_has_full) return 0;
    if (!ingot_shape[0]) return g->line;
    return g->sx == ingot_shape[0] && g->sy == ingot_shape[1] && g->sz == ingot_shape[2];
}

// The lanes from `first` on that lie in the grid, when threads stand where the shape puts them.
INLINE u32 mask_in_shape(const Group *g, u32 first) {
    u32 mask = 0;
    for (u32 lane = 0; lane < ingot_width;) {
        u32 i = first + lane, x = i % ingot_shape[0], y = i / ingot_shape[0] % ingot_shape[1];
        u32 z = i / ingot_shape[0] / ingot_shape[1],
            run = least(ingot_shape[0] - x, ingot_width - lane);
        if (x < g->sx && y < g->sy && z < g->sz) mask |= mask_of(least(run, g->sx - x)) << lane;
        lane += run;
    }
    return mask;
}

// Threads `some` has to walk over, and the mask of one step; 0: nothing to do there.
INLINE u32 some_end(const Group *g) {
    return ingot_loose ? ingot_shape[0] * ingot_shape[1] * ingot_shape[2] : g->n;
}
INLINE u32 some_mask(const Group *g, u32 first) {
    return ingot_loose ? mask_in_shape(g, first) : mask_of(least(g->n - first, ingot_width));
}

// A copy of the group: the loop's own need not be in memory.
__attribute__((noinline)) static void run_some(const CpuLaunch *l, void *memory, Group g,
                                               u32 first) {
    for (u32 end = some_end(&g); first < end; first += ingot_width) {
        u32 mask = some_mask(&g, first);
        if (mask) ingot_some(l, memory, g.gx, g.gy, g.gz, g.sx, g.sy, g.sz, first, mask);
    }
}

// Only positions in the grid matter: each row is a line, as if threadgroups were one thread high.
// The versions then take the row's place in the grid for the threadgroup's.
INLINE void run_rows(const CpuLaunch *l, void *memory, const Group *g, u32 y0, u32 z0) {
    u32 end = g->sx - g->sx % ingot_width;
    for (u32 z = z0; z < z0 + g->sz; z++)
        for (u32 y = y0; y < y0 + g->sy; y++) {
            if (!ingot_has_full) {
                for (u32 first = 0; first < g->sx; first += ingot_width)
                    ingot_some(l, memory, g->gx, y, z, g->sx, 1, 1, first,
                               mask_of(least(ingot_width, g->sx - first)));
                continue;
            }
#pragma clang loop unroll(disable)
            for (u32 first = 0; first < end; first += ingot_width)
                ingot_full(l, memory, g->gx, y, z, g->sx, 1, 1, first, g->large);
            if (end < g->sx)
                ingot_some(l, memory, g->gx, y, z, g->sx, 1, 1, end, mask_of(g->sx - end));
        }
}

// ---- SIMD-groups in another order ----

enum { MAX_STEPS = ABI_MAX_THREADS / 8 };

// The numbers 0 .. n-1 in an order that hangs on the schedule, the threadgroup and the round.
INLINE void shuffle_steps(const CpuLaunch *l, const Group *g, u32 round, u32 n,
                          u32 order[MAX_STEPS]) {
    u64 state = l->schedule + ((u64)g->gx << 40) + ((u64)g->gy << 20) + g->gz +
                (u64)round * 0x9e3779b97f4a7c15u;
    for (u32 i = 0; i < n; i++) order[i] = i;
    for (u32 i = n; i > 1; i--) {
        u64 z = state += 0x9e3779b97f4a7c15u; // splitmix64
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        u32 k = (u32)((z ^ (z >> 31)) % i), other = order[k];
        order[k] = order[i - 1];
        order[i - 1] = other;
    }
}

// The version that any threads may run, so that the order is all that differs.
INLINE void run_shuffled(const CpuLaunch *l, void *memory, const Group *g) {
    u32 order[MAX_STEPS], n = (some_end(g) + ingot_width - 1) / ingot_width;
    shuffle_steps(l, g, 0, n, order);
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < n; i++) {
        u32 first = order[i] * ingot_width, mask = some_mask(g, first);
        if (mask) ingot_some(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first, mask);
    }
}

INLINE void run_group(const CpuLaunch *l, void *memory, const Group *g) {
    u32 first = 0;
    if (ingot_shuffles && l->schedule && !ingot_suspends) {
        run_shuffled(l, memory, g);
        return;
    }
    if (is_full(g)) {
        u32 end = g->n - g->n % ingot_full_width;
#pragma clang loop unroll(disable)
        for (; first < end; first += ingot_full_width / ingot_full_rows) {
            ingot_full(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first, g->large);
            if (ingot_full_rows > 1 &&
                (first + ingot_full_width / ingot_full_rows) % ingot_shape[0] == 0)
                first += ingot_shape[0] * (ingot_full_rows - 1);
        }
        if (end == g->n) return;
    }
    if (!ingot_suspends) run_some(l, memory, *g, first);
}

// A frame starts with the address of its resume function; NULL there means it is done.
INLINE int is_done(const void *frame) { return !*(void *const *)frame; }
INLINE void resume(void *frame) { (*(void (**)(void *))frame)(frame); }

// SIMD-groups take turns, from barrier to barrier, until all are done. One that returned early just
// does not take part any more. Here in another order each round; a start is the first.
INLINE void run_suspending_shuffled(const CpuLaunch *l, void *memory, char *frames,
                                    const Group *g) {
    u32 order[MAX_STEPS], n = (some_end(g) + ingot_width - 1) / ingot_width, round = 0, alive;
    shuffle_steps(l, g, round++, n, order);
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < n; i++) {
        u32 first = order[i] * ingot_width;
        ingot_some_start(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first,
                         some_mask(g, first), frames + order[i] * ingot_stride);
    }
    do {
        alive = 0;
        shuffle_steps(l, g, round++, n, order);
#pragma clang loop unroll(disable)
        for (u32 i = 0; i < n; i++) {
            void *frame = frames + order[i] * ingot_stride;
            if (is_done(frame)) continue;
            resume(frame);
            alive |= !is_done(frame);
        }
    } while (alive);
}

// The same in their own order.
INLINE void run_suspending(const CpuLaunch *l, void *memory, char *frames, const Group *g) {
    if (ingot_shuffles && l->schedule) {
        run_suspending_shuffled(l, memory, frames, g);
        return;
    }
    u32 n = 0, alive; // frames in use
    u32 end = ingot_full_suspends && is_full(g) ? g->n - g->n % ingot_full_width : 0;
#pragma clang loop unroll(disable)
    for (u32 first = 0; first < end; first += ingot_full_width)
        ingot_full_start(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first,
                         frames + n++ * ingot_stride);
#pragma clang loop unroll(disable)
    for (u32 first = end; first < some_end(g); first += ingot_width) {
        u32 mask = some_mask(g, first);
        if (mask)
            ingot_some_start(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first, mask,
                             frames + n++ * ingot_stride);
    }
    do {
        alive = 0;
#pragma clang loop unroll(disable)
        for (u32 s = 0; s < n; s++) {
            void *frame = frames + s * ingot_stride;
            if (is_done(frame)) continue;
            resume(frame);
            alive |= !is_done(frame);
        }
    } while (alive);
}

__attribute__((visibility("default"))) void ingot_kernel(const CpuLaunch *launch, u64 first,
                                                         u64 end, void *memory, void *frames) {
    // Copies: the kernel's stores may be anywhere as far as the optimiser knows.
    const u32 nx = launch->groups_per_grid[0], ny = launch->groups_per_grid[1];
    const u32 tx = launch->threads_per_grid[0], ty = launch->threads_per_grid[1],
              tz = launch->threads_per_grid[2];
    const u32 dx = ingot_shape[0] ? ingot_shape[0] : launch->group_size[0];
    const u32 dy = ingot_shape[0] ? ingot_shape[1] : launch->group_size[1];
    const u32 dz = ingot_shape[0] ? ingot_shape[2] : launch->group_size[2];
    if (first >= end || !nx || !ny) return;
    const u32 large = ingot_stream_bytes &&
                      (u64)tx * ty * tz >= LARGE / (ingot_stream_bytes ? ingot_stream_bytes : 1);
    Group g = {.line = dy == 1 && dz == 1,
               .large = large,
               .gx = (u32)(first % nx),
               .gy = (u32)(first / nx % ny),
               .gz = (u32)(first / nx / ny)};
#pragma clang loop unroll(disable)
    for (u64 i = first; i < end; i++) {
        g.sx = least(dx, tx - g.gx * dx), g.sy = least(dy, ty - g.gy * dy),
        g.sz = least(dz, tz - g.gz * dz);
        g.n = g.sx * g.sy * g.sz;
        if (ingot_rows)
            run_rows(launch, memory, &g, g.gy * dy, g.gz * dz);
        else if (ingot_suspends && (ingot_full_suspends || !is_full(&g)))
            run_suspending(launch, memory, frames, &g);
        else
            run_group(launch, memory, &g);
        if (++g.gx == nx) {
            g.gx = 0;
            if (++g.gy == ny) g.gy = 0, g.gz++;
        }
    }
#if defined(__x86_64__)
    if (large) __asm__ volatile("sfence" ::: "memory"); // non-temporal stores before what follows
#elif defined(__aarch64__)
    if (large) __asm__ volatile("dmb ishst" ::: "memory");
#endif
}

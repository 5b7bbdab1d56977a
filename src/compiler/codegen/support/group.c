// SPDX-License-Identifier: Apache-2.0
// group.c: ingot_kernel of vectorised code: the loop over threadgroups and over their SIMD-groups.
// An object that is made with mslc and linked to every kernel's code: nothing of it is left to
// compile with a kernel. There are two, one (INGOT_WAITING) for kernels whose SIMD-groups wait for
// each other or run in another order. The layout of CpuLaunch is the one of abi/cpu_kernel.h by
// construction.
//
// Two versions of a kernel run here:
//   full  all lanes active, threads in the arrangement it was compiled for: the shape, or if none
//         is known a line (nothing but x). The loop over its steps is in the kernel's code
//         (steps.c): it runs all whole threadgroups of a row in one call
//   some  any mask. Threadgroups cut by the grid's edge are packed anew, x fastest; a kernel that
//         cannot tell (`loose`) keeps the arrangement of the shape, lanes outside masked off,
//         because that is faster
#include "abi/cpu_kernel.h"
#include "compiler/group_loop.h"

typedef uint32_t u32;
typedef uint64_t u64;

// Of the kernel's code; weak: which of the functions there are depends on the kernel.
extern __attribute__((visibility("hidden"))) const LoopPlan ingot_loop;
#define OPTIONAL extern __attribute__((weak, visibility("hidden"))) void
OPTIONAL ingot_run_full(const CpuLaunch *launch, void *memory, u32 gx, u32 gx_end, u32 gy, u32 gz,
                        u32 sx, u32 sy, u32 sz, u32 large);
OPTIONAL ingot_run_rows(const CpuLaunch *launch, void *memory, u32 gx, u32 gx_end, u32 y, u32 y_end,
                        u32 z, u32 sx, u32 large);
OPTIONAL ingot_some(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx, u32 sy,
                    u32 sz, u32 first, u32 mask);
OPTIONAL ingot_full_start(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx,
                          u32 sy, u32 sz, u32 first, void *frame);
OPTIONAL ingot_some_start(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx,
                          u32 sy, u32 sz, u32 first, u32 mask, void *frame);

#ifdef INGOT_WAITING
#define SUSPENDS ingot_loop.suspends
#define SHUFFLES ingot_loop.shuffles
#else
enum { SUSPENDS, SHUFFLES = 0 };
#endif

void ingot_log(const CpuLaunch *launch, u32 type, const char *category, const char *format,
               const u64 *args, u32 n);
__attribute__((noinline)) void ingot_log(const CpuLaunch *launch, u32 type, const char *category,
                                         const char *format, const u64 *args, u32 n) {
    if (launch->log) launch->log(launch, type, category, format, args, n);
}

#define INLINE static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline)) // small code before quick code

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
    const u32 *shape = ingot_loop.shape;
    if (!ingot_loop.has_full) return 0;
    if (!shape[0]) return g->line;
    return g->sx == shape[0] && g->sy == shape[1] && g->sz == shape[2];
}

// How many threads of a group of so many whole steps of `full` run.
INLINE u32 full_end(u32 n) { return n - n % ingot_loop.full_width; }

typedef struct Place { // of a thread in the shape
    u32 x, y, z;
} Place;

INLINE Place place_of(u32 thread) {
    const u32 *shape = ingot_loop.shape;
    if (!thread || !ingot_loop.loose) return (Place){0};
    return (Place){thread % shape[0], thread / shape[0] % shape[1], thread / shape[0] / shape[1]};
}

// The lanes from this place on that lie in the grid, when threads stand where the shape puts them.
// The place then is that of the next step.
INLINE u32 mask_in_shape(const Group *g, Place *at) {
    const u32 *shape = ingot_loop.shape, width = ingot_loop.width;
    u32 mask = 0;
    for (u32 lane = 0, run; lane < width && at->z < g->sz; lane += run) {
        run = least(shape[0] - at->x, width - lane);
        if (at->x < g->sx && at->y < g->sy) mask |= mask_of(least(run, g->sx - at->x)) << lane;
        if ((at->x += run) < shape[0]) continue;
        at->x = 0;
        if (++at->y == shape[1]) at->y = 0, at->z++;
    }
    return mask;
}

// Threads `some` has to walk over, and the mask of one step; 0: nothing to do there.
INLINE u32 shape_size(void) {
    return ingot_loop.shape[0] * ingot_loop.shape[1] * ingot_loop.shape[2];
}
INLINE u32 some_end(const Group *g) { return ingot_loop.loose ? shape_size() : g->n; }
INLINE u32 some_mask(const Group *g, u32 first, Place *at) {
    return ingot_loop.loose && g->n != shape_size()
               ? mask_in_shape(g, at)
               : mask_of(least(g->n - first, ingot_loop.width));
}

// A copy of the group: the loop's own need not be in memory.
RARE void run_some(const CpuLaunch *l, void *memory, Group g, u32 first) {
    Place at = place_of(first);
    for (u32 end = some_end(&g); first < end; first += ingot_loop.width) {
        u32 mask = some_mask(&g, first, &at);
        if (mask) ingot_some(l, memory, g.gx, g.gy, g.gz, g.sx, g.sy, g.sz, first, mask);
    }
}

// The same for a row of one threadgroup (steps.c), from `first` on.
INLINE void run_some_of_row(const CpuLaunch *l, void *memory, const Group *g, u32 y, u32 z,
                            u32 first) {
    for (; first < g->sx; first += ingot_loop.width)
        ingot_some(l, memory, g->gx, y, z, g->sx, 1, 1, first,
                   mask_of(least(ingot_loop.width, g->sx - first)));
}

// Returns how many threadgroups of at most so many that follow each other in x and have the same
// size it has run.
INLINE u32 run_rows(const CpuLaunch *l, void *memory, const Group *g, u32 most, u32 y0, u32 z0) {
    u32 end = ingot_loop.has_full ? full_end(g->sx) : 0, run = end == g->sx ? most : 1;
    for (u32 z = z0; z < z0 + g->sz; z++) {
        if (end) ingot_run_rows(l, memory, g->gx, g->gx + run, y0, y0 + g->sy, z, g->sx, g->large);
        if (end == g->sx) continue;
        for (u32 y = y0; y < y0 + g->sy; y++) run_some_of_row(l, memory, g, y, z, end);
    }
    return run;
}

// ---- SIMD-groups in another order ----

enum { MAX_STEPS = ABI_MAX_THREADS / 8 };

// The numbers 0 .. n-1 in an order that hangs on the schedule, the threadgroup and the round.
RARE void shuffle_steps(const CpuLaunch *l, const Group *g, u32 round, u32 n,
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
RARE void run_shuffled(const CpuLaunch *l, void *memory, const Group *g) {
    u32 order[MAX_STEPS], n = (some_end(g) + ingot_loop.width - 1) / ingot_loop.width;
    shuffle_steps(l, g, 0, n, order);
    for (u32 i = 0; i < n; i++) {
        u32 first = order[i] * ingot_loop.width;
        Place at = place_of(first);
        u32 mask = some_mask(g, first, &at);
        if (mask) ingot_some(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first, mask);
    }
}

// As run_rows.
INLINE u32 run_group(const CpuLaunch *l, void *memory, const Group *g, u32 most) {
    if (SHUFFLES && l->schedule) {
        run_shuffled(l, memory, g);
        return 1;
    }
    if (!is_full(g)) {
        run_some(l, memory, *g, 0);
        return 1;
    }
    u32 end = full_end(g->n), run = end == g->n ? most : 1;
    ingot_run_full(l, memory, g->gx, g->gx + run, g->gy, g->gz, g->sx, g->sy, g->sz, g->large);
    if (end < g->n) run_some(l, memory, *g, end);
    return run;
}

// A frame starts with the address of its resume function; NULL there means it is done.
INLINE int is_done(const void *frame) { return !*(void *const *)frame; }
INLINE void resume(void *frame) { (*(void (**)(void *))frame)(frame); }

// SIMD-groups take turns, from barrier to barrier, until all are done. One that returned early just
// does not take part any more. Here in another order each round; a start is the first.
RARE void run_suspending_shuffled(const CpuLaunch *l, void *memory, char *frames, const Group *g) {
    u32 order[MAX_STEPS], n = (some_end(g) + ingot_loop.width - 1) / ingot_loop.width, round = 0,
                          alive;
    shuffle_steps(l, g, round++, n, order);
    for (u32 i = 0; i < n; i++) {
        u32 first = order[i] * ingot_loop.width;
        Place at = place_of(first);
        ingot_some_start(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first,
                         some_mask(g, first, &at), frames + order[i] * ingot_loop.stride);
    }
    do {
        alive = 0;
        shuffle_steps(l, g, round++, n, order);
        for (u32 i = 0; i < n; i++) {
            void *frame = frames + order[i] * ingot_loop.stride;
            if (is_done(frame)) continue;
            resume(frame);
            alive |= !is_done(frame);
        }
    } while (alive);
}

// The same in their own order.
INLINE void run_suspending(const CpuLaunch *l, void *memory, char *frames, const Group *g) {
    if (SHUFFLES && l->schedule) {
        run_suspending_shuffled(l, memory, frames, g);
        return;
    }
    u32 n = 0, alive; // frames in use
    u32 end = ingot_loop.full_suspends && is_full(g) ? full_end(g->n) : 0;
    for (u32 first = 0; first < end; first += ingot_loop.full_width)
        ingot_full_start(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first,
                         frames + n++ * ingot_loop.stride);
    Place at = place_of(end);
    for (u32 first = end; first < some_end(g); first += ingot_loop.width) {
        u32 mask = some_mask(g, first, &at);
        if (mask)
            ingot_some_start(l, memory, g->gx, g->gy, g->gz, g->sx, g->sy, g->sz, first, mask,
                             frames + n++ * ingot_loop.stride);
    }
    do {
        alive = 0;
        for (u32 s = 0; s < n; s++) {
            void *frame = frames + s * ingot_loop.stride;
            if (is_done(frame)) continue;
            resume(frame);
            alive |= !is_done(frame);
        }
    } while (alive);
}

// How many threadgroups from this one on, of at most so many, follow each other in x and have the
// same size. `whole`: of a row that the grid's edge does not cut.
INLINE u32 same_size(const Group *g, u32 whole, u64 left) {
    u32 most = g->gx < whole ? whole - g->gx : 1;
    return left < most ? (u32)left : most;
}

__attribute__((visibility("default"))) void ingot_kernel(const CpuLaunch *launch, u64 first,
                                                         u64 end, void *memory, void *frames) {
    const u32 nx = launch->groups_per_grid[0], ny = launch->groups_per_grid[1];
    const u32 tx = launch->threads_per_grid[0], ty = launch->threads_per_grid[1],
              tz = launch->threads_per_grid[2];
    const u32 *size = ingot_loop.shape[0] ? ingot_loop.shape : launch->group_size;
    const u32 dx = size[0], dy = size[1], dz = size[2], stream = ingot_loop.stream_bytes;
    if (first >= end || !nx || !ny) return;
    const u32 large = stream && (u64)tx * ty * tz >= LARGE / stream, whole = tx / dx;
    Group g = {.line = dy == 1 && dz == 1,
               .large = large,
               .gx = (u32)(first % nx),
               .gy = (u32)(first / nx % ny),
               .gz = (u32)(first / nx / ny)};
    for (u64 i = first; i < end;) {
        u32 run = same_size(&g, whole, end - i);
        g.sx = least(dx, tx - g.gx * dx), g.sy = least(dy, ty - g.gy * dy),
        g.sz = least(dz, tz - g.gz * dz);
        g.n = g.sx * g.sy * g.sz;
        if (ingot_loop.rows)
            run = run_rows(launch, memory, &g, run, g.gy * dy, g.gz * dz);
        else if (SUSPENDS && (ingot_loop.full_suspends || !is_full(&g)))
            run_suspending(launch, memory, frames, &g), run = 1;
        else
            run = run_group(launch, memory, &g, run);
        i += run;
        if ((g.gx += run) == nx) {
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

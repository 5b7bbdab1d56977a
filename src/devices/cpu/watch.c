// SPDX-License-Identifier: Apache-2.0
// watch.c: the race detector's entry points for instrumented code (abi/cpu_watch.h): accesses go to
// the shadow memory in runs of lanes, barriers advance epochs (happens-before), and arguments of
// SIMD-group functions are checked here.
#include <string.h>
#include "abi/pixel_format.h"
#include "abi/texture_layout.h"
#include "devices/cpu/texture/view_pool.h"
#include "devices/cpu/watch_int.h"

enum { LANES = ABI_SIMD_WIDTH, QUAD = 4 };
#define ALL UINT32_MAX                                      // lanes
enum { FLAG_DEVICE = 1, FLAG_GROUP = 2, FLAG_TEXTURE = 4 }; // mem_flags

// The threads that a SIMD-group has.
static uint32_t all_lanes(const CpuWatcher *w, uint32_t first) {
    return first < w->n_threads ? lanes_from(w->n_threads - first) : 0;
}

static void report_lane(CpuWatcher *w, AbiBadAccess what, const CpuSite *site, uint32_t thread,
                        uint64_t offset, uint64_t length) {
    AbiReport *r = cpu_watch_find(w, what, site, NULL);
    if (!r) return;
    cpu_watch_thread(w, w->group_base, thread, r->thread);
    r->offset = (int64_t)offset;
    r->length = length;
}

// ---- Accesses ----

// A pointer may be one of several: where it points says of which memory it is.
static bool in_group(const CpuWatcher *w, const CpuSite *site, uint64_t address) {
    return site->space == ABI_SPACE_THREADGROUP ||
           (site->space == ABI_SPACE_POINTER &&
            address - (uint64_t)(uintptr_t)w->memory < w->n_memory);
}

static void touch_lanes(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask,
                        const uint64_t *at) {
    uint32_t group = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (in_group(w, site, at[lane])) group |= 1u << lane;
    }
    if (group) {
        Toucher t = toucher(w, site, MEMORY_GROUP, first);
        cpu_lines_lanes(w, &t, group, at);
    }
    if (mask & ~group) {
        Toucher t = toucher(w, site, MEMORY_DEVICE, first);
        cpu_touch_lanes(w, &t, mask & ~group, at);
    }
}

// ---- Barriers ----

static bool is_same_place(const CpuSite *a, const CpuSite *b) {
    return a->id == b->id || (a->line && a->line == b->line && a->column == b->column);
}

// The barrier that was waited at is passed, or the threadgroup is done.
static void close_round(CpuWatcher *w) {
    if (!w->barrier || w->mixed || w->n_arrived == w->n_threads) return;
    uint32_t came = 0, missing = 0;
    while (!(w->arrived[came / LANES] >> came % LANES & 1)) came++;
    while (w->arrived[missing / LANES] >> missing % LANES & 1) missing++;
    AbiReport *r = cpu_watch_find(w, ABI_BARRIER_LEFT, &w->sites[w->barrier], NULL);
    if (!r) return;
    cpu_watch_thread(w, w->group_base, came, r->thread);
    cpu_watch_thread(w, w->group_base, missing, r->other.thread);
    r->offset = (int64_t)w->n_arrived;
    r->length = w->n_threads;
}

void cpu_watch_group_end(CpuWatcher *w) { close_round(w); }

static const uint32_t flag_of[N_MEMORIES] = {
    [MEMORY_DEVICE] = FLAG_DEVICE, [MEMORY_GROUP] = FLAG_GROUP, [MEMORY_TEXTURE] = FLAG_TEXTURE};

// A SIMD-group does nothing between coming to a barrier and having passed it: its next epoch begins
// here.
static inline void count_epochs(CpuWatcher *w, uint32_t simd, uint64_t flags) {
    for (int m = 0; m < N_MEMORIES; m++) {
        if (!(flags & flag_of[m])) continue;
        uint32_t epoch = ++w->epoch[simd][m];
        w->sub[simd][m] = 0;
        if (epoch > w->top) w->top = epoch;
    }
}

static inline void come_to_barrier(CpuWatcher *w, const CpuSite *site, uint32_t first,
                                   uint32_t mask, uint64_t flags) {
    uint32_t simd = first / LANES, round = ++w->passed[simd];
    if (round > w->round) {
        close_round(w);
        memset(w->arrived, 0, sizeof w->arrived);
        w->round = round;
        w->n_arrived = 0;
        w->barrier = site->id;
        w->mixed = false;
    } else if (!w->mixed && !is_same_place(site, &w->sites[w->barrier])) {
        w->mixed = true;
        uint32_t came = 0;
        while (!(w->arrived[came / LANES] >> came % LANES & 1)) came++;
        AbiReport *r = cpu_watch_find(w, ABI_BARRIER_MIXED, site, &w->sites[w->barrier]);
        if (r) {
            cpu_watch_thread(w, w->group_base, first + (uint32_t)__builtin_ctz(mask), r->thread);
            cpu_watch_thread(w, w->group_base, came, r->other.thread);
        }
    }
    w->arrived[simd] |= mask;
    w->n_arrived += (uint32_t)__builtin_popcount(mask);
    count_epochs(w, simd, flags);
}

static void need_all(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask) {
    uint32_t all = all_lanes(w, first);
    if ((mask & all) == all) return;
    report_lane(w, ABI_PARTIAL, site, first + (uint32_t)__builtin_ctz(mask),
                (uint64_t)__builtin_popcount(mask), (uint64_t)__builtin_popcount(all));
}

static void meet(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask,
                 uint64_t flags) {
    uint32_t simd = first / LANES;
    need_all(w, site, first, mask);
    for (int m = 0; m < N_MEMORIES; m++)
        if (flags & flag_of[m] && w->sub[simd][m] < MAX_SUB) w->sub[simd][m]++;
}

static void fence(CpuWatcher *w, uint32_t simd) {
    uint32_t epoch = w->epoch[simd][MEMORY_DEVICE];
    WatchedGroup *g = &w->groups[w->n_groups - 1];
    for (int m = 0; m < N_MEMORIES; m++)
        if (w->epoch[simd][m] > epoch) epoch = w->epoch[simd][m];
    g->fence = epoch > g->fence ? epoch : g->fence;
    w->fenced = true;
}

// ---- SIMD-group functions ----

// The lane that a value is taken of; -1: its own, or a filling; LANES and more: there is none.
static int source_of(const CpuSite *site, uint32_t width, uint32_t lane, uint64_t value) {
    uint32_t i = lane % width, base = lane - i, n = (uint32_t)value, of = (uint32_t)(value >> 32);
    switch ((CpuSiteKind)site->kind) {
    case CPU_SITE_LANE: return n < width ? (int)(base + n) : LANES;
    case CPU_SITE_UP: return n > i ? -1 : (int)(lane - n);
    case CPU_SITE_DOWN: return n >= width - i ? -1 : (int)(lane + n);
    case CPU_SITE_XOR: return n < width ? (int)(base + (i ^ n)) : LANES;
    case CPU_SITE_ROTATE_UP: return (int)(base + (i - n) % width);
    case CPU_SITE_ROTATE_DOWN: return (int)(base + (i + n) % width);
    default: break;
    }
    if (of == 0 || of > width || of & (of - 1)) of = width;
    uint32_t in = i % of;
    if (site->kind == CPU_SITE_FILL_UP ? in < n : n >= of - in) {
        // The filling comes from a lane too: the one that is reached around the end.
        uint32_t from = site->kind == CPU_SITE_FILL_UP ? (in + of - n % of) % of : (in + n) % of;
        return (int)(base + i - in + from);
    }
    return (int)(site->kind == CPU_SITE_FILL_UP ? lane - n : lane + n);
}

// All lanes are here: whether what each asks for is one of them.
static bool finds_lanes(const CpuSite *site, uint32_t width, const uint64_t *values) {
    uint64_t differ = 0, any = 0;
    for (uint32_t l = 0; l < LANES; l++) differ |= values[l] ^ values[0], any |= values[l];
    bool bounded = site->kind == CPU_SITE_LANE || site->kind == CPU_SITE_XOR;
    return !(site->flags & CPU_SITE_UNIFORM && differ) && !(bounded && (uint32_t)any >= width);
}

static void look_at_lanes(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask,
                          const uint64_t *values) {
    uint32_t width = site->flags & CPU_SITE_QUAD ? QUAD : LANES;
    if (mask == ALL && finds_lanes(site, width, values)) return;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), group = lane / width * width,
                 here = mask & (lanes_from(width) << group), model = (uint32_t)__builtin_ctz(here);
        if (site->flags & CPU_SITE_UNIFORM && values[lane] != values[model]) {
            report_lane(w, ABI_NOT_UNIFORM, site, first + lane, (uint32_t)values[lane],
                        (uint32_t)values[model]);
            return;
        }
        int from = source_of(site, width, lane, values[lane]);
        if (from < 0 || (from < LANES && mask >> from & 1)) continue;
        report_lane(w, ABI_INACTIVE, site, first + lane,
                    from < LANES ? (uint64_t)from % width : (uint32_t)values[lane],
                    from < LANES ? width : 0);
        return;
    }
}

static void same_everywhere(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask,
                            const uint64_t *values) {
    uint32_t model = (uint32_t)__builtin_ctz(mask);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (values[lane] == values[model]) continue;
        report_lane(w, ABI_NOT_UNIFORM, site, first + lane, values[lane], values[model]);
        return;
    }
}

// ---- Texels ----

typedef struct Texel {
    uint32_t x, y, z, level; // z: or the slice; level: or the sample
} Texel;

static bool is_inside(const AbiTexture *t, uint32_t type, const Texel *at) {
    bool sampled = type == ABI_TEXTURE_2D_MS || type == ABI_TEXTURE_2D_MS_ARRAY;
    uint32_t level = sampled || type == ABI_TEXTURE_BUFFER ? 0 : at->level;
    if (level >= t->n_levels || (sampled && at->level >= t->n_samples)) return false;
    const AbiTextureLevel *l = &t->levels[level];
    if (at->x >= l->width) return false;
    switch (type) {
    case ABI_TEXTURE_1D:
    case ABI_TEXTURE_BUFFER: return true;
    case ABI_TEXTURE_1D_ARRAY: return at->z < t->array_length;
    case ABI_TEXTURE_2D:
    case ABI_TEXTURE_2D_MS: return at->y < l->height;
    case ABI_TEXTURE_CUBE: return at->y < l->height && at->z < 6;
    case ABI_TEXTURE_CUBE_ARRAY: return at->y < l->height && at->z < 6 * t->array_length;
    case ABI_TEXTURE_3D: return at->y < l->height && at->z < l->depth;
    default: return at->y < l->height && at->z < t->array_length;
    }
}

static uint64_t address_of(const AbiTexture *t, uint32_t type, const Texel *at) {
    bool sampled = type == ABI_TEXTURE_2D_MS || type == ABI_TEXTURE_2D_MS_ARRAY,
         flat =
             type == ABI_TEXTURE_1D || type == ABI_TEXTURE_1D_ARRAY || type == ABI_TEXTURE_BUFFER,
         single = type == ABI_TEXTURE_1D || type == ABI_TEXTURE_2D || type == ABI_TEXTURE_2D_MS ||
                  type == ABI_TEXTURE_BUFFER;
    const AbiTextureLevel *l = &t->levels[sampled || type == ABI_TEXTURE_BUFFER ? 0 : at->level];
    return (uint64_t)(uintptr_t)l->data + (single ? 0 : at->z * l->layer_bytes) +
           (flat ? 0 : at->y * l->row_bytes) + (uint64_t)at->x * t->format->block_bytes +
           (sampled ? at->level * t->sample_bytes : 0);
}

static void touch_texels(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask,
                         const uint64_t *values) {
    Toucher who = toucher(w, site, MEMORY_TEXTURE, first);
    uint32_t type = site->type & CPU_TEX_TYPE_MASK;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        const AbiTexture *t = cpu_texture_of(w->texture[lane] & ~ABI_TEXTURE_RESIDENCY);
        Texel at = {(uint32_t)w->xy[lane], (uint32_t)(w->xy[lane] >> 32), (uint32_t)values[lane],
                    (uint32_t)(values[lane] >> 32)};
        if (!t || t->type != type) continue; // reported elsewhere
        if (!is_inside(t, type, &at)) {
            report_lane(w, ABI_TEXEL, site, first + lane, at.x | (uint64_t)at.y << 32,
                        at.z | (uint64_t)at.level << 32);
            continue;
        }
        if (site->flags & CPU_SITE_BOUNDS || t->format->block_width > 1) continue;
        cpu_touch_run(w, &who, lane, 1, address_of(t, type, &at), t->format->block_bytes);
    }
}

// ---- What code calls ----

// What is the same for all lanes.
static inline bool observe_one(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask,
                               uint64_t value) {
    switch ((CpuSiteKind)site->kind) {
    case CPU_SITE_BARRIER: come_to_barrier(w, site, first, mask, value); return true;
    case CPU_SITE_SIMD_BARRIER: meet(w, site, first, mask, value); return true;
    case CPU_SITE_FENCE: fence(w, first / LANES); return true;
    case CPU_SITE_WHOLE: need_all(w, site, first, mask); return true;
    case CPU_SITE_UNWRITTEN:
        for (uint32_t left = mask; left; left &= left - 1)
            report_lane(w, ABI_UNWRITTEN, site, first + (uint32_t)__builtin_ctz(left), 0, 0);
        return true;
    case CPU_SITE_HEAD:
    case CPU_SITE_TEXTURE_FENCE:
    case CPU_N_SITE_KINDS: return true;
    default: return false;
    }
}

static void observe(CpuWatcher *w, const CpuSite *site, uint32_t first, uint32_t mask,
                    const uint64_t *values) {
    if (observe_one(w, site, first, mask, values[__builtin_ctz(mask)])) return;
    switch ((CpuSiteKind)site->kind) {
    case CPU_SITE_READ:
    case CPU_SITE_WRITE:
    case CPU_SITE_ATOMIC: touch_lanes(w, site, first, mask, values); return;
    case CPU_SITE_SIZE: memcpy(w->n_bytes, values, sizeof w->n_bytes); return;
    case CPU_SITE_SAME: same_everywhere(w, site, first, mask, values); return;
    case CPU_SITE_TEXTURE: memcpy(w->texture, values, sizeof w->texture); return;
    case CPU_SITE_TEXEL_XY: memcpy(w->xy, values, sizeof w->xy); return;
    case CPU_SITE_TEXEL_READ:
    case CPU_SITE_TEXEL_WRITE:
    case CPU_SITE_TEXEL_ATOMIC: touch_texels(w, site, first, mask, values); return;
    default: look_at_lanes(w, site, first, mask, values);
    }
}

void cpu_observe_lanes(const CpuLaunch *launch, uint32_t site, uint32_t first, uint32_t mask,
                       const uint64_t *values) {
    CpuWatcher *w = watcher_of(launch);
    if (mask) observe(w, &w->sites[site], first, mask, values);
}

void cpu_observe_line(const CpuLaunch *launch, uint32_t number, uint32_t first, uint32_t mask,
                      uint64_t base, int64_t stride) {
    CpuWatcher *w = watcher_of(launch);
    const CpuSite *site = &w->sites[number];
    if (!mask) return;
    if (site->kind <= CPU_SITE_ATOMIC && site->space != ABI_SPACE_POINTER) {
        bool group = site->space == ABI_SPACE_THREADGROUP;
        Toucher t = toucher(w, site, group ? MEMORY_GROUP : MEMORY_DEVICE, first);
        if (group)
            cpu_lines_line(w, &t, mask, base, stride);
        else
            cpu_touch_line(w, &t, mask, base, stride);
        return;
    }
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    if (observe_one(w, site, first, mask, base + lane * (uint64_t)stride)) return;
    uint64_t values[LANES];
    for (uint32_t l = 0; l < LANES; l++) values[l] = base + l * (uint64_t)stride;
    observe(w, site, first, mask, values);
}

WIDE_BITS void cpu_observe_barrier(const CpuLaunch *launch, uint32_t site, uint32_t first,
                                   uint32_t mask, uint64_t base, int64_t stride) {
    CpuWatcher *w = watcher_of(launch);
    (void)stride; // flags are numbers of the program
    if (mask) come_to_barrier(w, &w->sites[site], first, mask, base);
}

void cpu_observe_one(const CpuLaunch *launch, uint32_t site, uint64_t value, uint32_t x, uint32_t y,
                     uint32_t z) {
    CpuWatcher *w = watcher_of(launch);
    uint32_t at[3] = {x, y, z}, thread = 0;
    for (int d = 3; d-- > 0;)
        thread = thread * w->size[d] + (at[d] - w->group[d] * launch->group_size[d]) % w->size[d];
    uint64_t values[LANES];
    for (uint32_t l = 0; l < LANES; l++) values[l] = value;
    observe(w, &w->sites[site], thread / LANES * LANES, 1u << thread % LANES, values);
}

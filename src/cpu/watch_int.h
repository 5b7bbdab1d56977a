// SPDX-License-Identifier: Apache-2.0
// watch_int.h: between the files of the watcher.
//
// Time is counted in epochs. A threadgroup begins with an epoch of its own, above all before it;
// its SIMD-groups count one up at each barrier that they pass, each of the three kinds of memory
// for itself (mem_flags). What two SIMD-groups of a threadgroup do is ordered if their epochs
// differ, what two threads of a SIMD-group do also by simdgroup_barrier, which counts `sub`. What
// two threadgroups do is never ordered, except by fences.
//
// A touch is who was there last: epoch 32 | thread 10 | sub 6 | atomic 1 | site 15 bits. Compared
// as a number: everything in older epochs is smaller.
#ifndef INGOT_CPU_WATCH_INT_H
#define INGOT_CPU_WATCH_INT_H
#include "cpu/watch.h"

typedef uint64_t Touch;
enum {
    TOUCH_SITE_BITS = 15,
    TOUCH_ATOMIC = 1 << TOUCH_SITE_BITS,
    TOUCH_SUB = 16,
    TOUCH_THREAD = 22,
    TOUCH_EPOCH = 32,
    MAX_SUB = 63,
};
static inline uint32_t touch_epoch(Touch t) { return (uint32_t)(t >> TOUCH_EPOCH); }
static inline uint32_t touch_thread(Touch t) { return (uint32_t)(t >> TOUCH_THREAD) & 1023; }
static inline uint32_t touch_sub(Touch t) { return (uint32_t)(t >> TOUCH_SUB) & MAX_SUB; }
static inline uint32_t touch_site(Touch t) { return (uint32_t)t & (TOUCH_ATOMIC - 1); }

typedef enum Memory { MEMORY_DEVICE, MEMORY_GROUP, MEMORY_TEXTURE, N_MEMORIES } Memory;

// Who touched the bytes of 4096, in cells of 1 << shift bytes: the last write, and two reads, by
// threads of two SIMD-groups if there were such: with any write one of them is in conflict if any
// read was.
enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS };
typedef struct Page {
    uint64_t key; // address / PAGE_BYTES, and the memory above it
    uint32_t shift, n;
    Touch *written, *read, *also_read; // [n]
} Page;

typedef struct Found { // reports that differ
    AbiReport report;
    uint32_t sites[2];
} Found;
enum { MAX_FOUND = 256, MAX_GROUPS_OF_SIMD = ABI_MAX_THREADS / ABI_SIMD_WIDTH };

typedef struct WatchedGroup {
    uint32_t base;  // its first epoch
    uint32_t fence; // of the last fence in it; 0: none
    uint64_t number;
} WatchedGroup;

struct CpuWatcher {
    CpuWatch watch; // first: what code sees
    const CpuLaunch *launch;
    const CpuSite *sites;
    uint32_t n_slots;
    uint8_t *reads; // [max_slots + 1] CpuWatch.reads
    size_t max_slots;
    const char *memory; // the threadgroup's
    // Time.
    uint32_t dispatch_base, group_base, top; // epochs; top: the greatest in use
    uint32_t epoch[MAX_GROUPS_OF_SIMD][N_MEMORIES];
    uint8_t sub[MAX_GROUPS_OF_SIMD][N_MEMORIES];
    // The threadgroup that runs, and those before it.
    uint32_t group[3], size[3], n_threads;
    WatchedGroup *groups;
    size_t n_groups, max_groups;
    bool fenced;
    // Its barriers: who came to the one that is waited at.
    uint32_t passed[MAX_GROUPS_OF_SIMD], arrived[MAX_GROUPS_OF_SIMD];
    uint32_t round, n_arrived, barrier; // barrier: the site; 0: none yet
    bool mixed;
    // What belongs to the next call, of each lane.
    uint64_t n_bytes[ABI_SIMD_WIDTH], texture[ABI_SIMD_WIDTH], xy[ABI_SIMD_WIDTH];
    // Shadow.
    Page **table; // [mask + 1] by key, never full
    uint64_t mask, n_pages;
    struct Chunk *chunks; // all memory, newest first
    size_t chunk_used, n_chunk_bytes;
    bool full; // there is no more
    Page *recent[16];
    Found found[MAX_FOUND];
    size_t n_found;
};

// watch.c
CpuObserveFn cpu_observe_lanes;
CpuObserveLineFn cpu_observe_line;
CpuObserveOneFn cpu_observe_one;

// watch_shadow.c
typedef struct Toucher { // who touches what, how
    const CpuSite *site;
    Memory memory;
    uint32_t first; // thread of lane 0
    uint32_t simd;  // its SIMD-group
} Toucher;
// n lanes from `lane` on, each its n_bytes, one behind the other.
void cpu_touch_run(CpuWatcher *w, const Toucher *t, uint32_t lane, uint32_t n, uint64_t address,
                   uint64_t n_bytes);
void cpu_shadow_clear(CpuWatcher *w);
void cpu_shadow_free(CpuWatcher *w);

// watch_groups.c
// The report of this kind of a site, and another one's if there is one; NULL: it is too much, or
// was reported already, and counted.
AbiReport *cpu_watch_find(CpuWatcher *w, AbiBadAccess what, const CpuSite *site,
                          const CpuSite *other);
void cpu_watch_thread(const CpuWatcher *w, uint32_t epoch, uint32_t thread, uint32_t out[3]);
void cpu_watch_address(const CpuWatcher *w, const CpuSite *site, uint64_t address, AbiReport *r);
WatchedGroup *cpu_watch_group_at(const CpuWatcher *w, uint32_t epoch);
#endif

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
#include "devices/cpu/watch.h"

typedef uint64_t Touch;
enum {
    TOUCH_SITE_BITS = 15,
    TOUCH_ATOMIC = 1 << TOUCH_SITE_BITS,
    TOUCH_SUB = 16,
    TOUCH_THREAD = 22,
    TOUCH_EPOCH = 32,
    MAX_SUB = 63,
};
static inline Touch touch_of(uint32_t epoch, uint32_t thread, uint32_t sub, uint32_t site,
                             bool relaxed) {
    return (Touch)epoch << TOUCH_EPOCH | (Touch)(thread & 1023) << TOUCH_THREAD |
           (Touch)sub << TOUCH_SUB | (relaxed ? (Touch)TOUCH_ATOMIC : 0) | site;
}
static inline uint32_t touch_epoch(Touch t) { return (uint32_t)(t >> TOUCH_EPOCH); }
static inline uint32_t touch_thread(Touch t) { return (uint32_t)(t >> TOUCH_THREAD) & 1023; }
static inline uint32_t touch_sub(Touch t) { return (uint32_t)(t >> TOUCH_SUB) & MAX_SUB; }
static inline uint32_t touch_site(Touch t) { return (uint32_t)t & (TOUCH_ATOMIC - 1); }

typedef enum Memory { MEMORY_DEVICE, MEMORY_GROUP, MEMORY_TEXTURE, N_MEMORIES } Memory;

enum { LINE_BITS = 6, LINE_BYTES = 1 << LINE_BITS }; // of what is kept in short

// 64 bytes whose touches of this dispatch are one picture: one epoch, byte b by thread
// first + (b >> shift), all reads at one place of the program and all writes at one. Streams
// through memory are. Anything else is told cell by cell.
typedef struct Brief {
    uint64_t written, read; // a bit for each byte
    uint32_t epoch;         // 0: nothing yet
    int32_t first;
    uint16_t write_site, read_site;
    uint8_t shift, sub;
    bool cells, relaxed; // cells: it is told there; relaxed: by atomic functions
} Brief;

// Who touched the bytes of 4096: in short, or in cells of 1 << shift bytes: the last write, and two
// reads, by threads of two SIMD-groups if there were such: with any write one of them is in
// conflict if any read was.
enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, PAGE_LINES = PAGE_BYTES / LINE_BYTES };
typedef struct Page {
    uint64_t key; // address / PAGE_BYTES, and the memory above it
    uint32_t shift, n;
    Touch *written, *read, *also_read; // [n], 0 at first
    Brief lines[PAGE_LINES];
} Page;

// 64 bytes of threadgroup memory (watch_lines.c), a bit for each byte.
enum { LINE_WORDS = LINE_BYTES / 4 };
typedef uint16_t Threads __attribute__((vector_size(16))); // what every processor has
typedef struct Line {
    union {
        Threads half[2];
        uint16_t word[LINE_WORDS];
    } who;                          // touched each word in this epoch, if anybody
    uint64_t ever;                  // written in this threadgroup
    uint64_t written, read;         // in this epoch
    uint64_t several;               // of `read`: surely by several threads
    uint64_t was_written, was_read; // before the last simdgroup_barrier of `simd` in it
    uint32_t base, epoch;           // of the threadgroup, and the epoch in it, that this is about
    uint8_t simd, sub;              // who touched it; MANY: several SIMD-groups
} Line;

typedef struct Logged { // an access to threadgroup memory in the epoch that runs
    uint32_t site, first, mask, sub;
    int32_t at;     // offset of lane 0,
    int32_t stride; // of the lanes behind it,
    uint32_t list;  // or the offsets of all: which of CpuWatcher.lists; NO_LIST: none
} Logged;
enum { MAX_LOGGED = 1 << 15, MAX_LISTS = 1 << 11 };

// Reads of threadgroup memory that this epoch has seen: the same bytes at the same place of the
// program. Once two SIMD-groups did it, one more changes nothing; nor does a SIMD-group's own
// again.
typedef struct Seen {
    uint32_t epoch, site;
    int32_t at, stride; // of the first lane that is on
    uint8_t n, lane;    // lanes, one behind the other; which is the first
    uint8_t simd, sub;  // who: the first
    bool twice;         // and another SIMD-group
} Seen;
enum { N_SEEN = 256 };

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
    uint64_t n_memory;  // bytes of it
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
    // Its memory.
    Line *lines; // [max_lines]
    size_t max_lines;
    Logged *log;
    uint32_t (*lists)[ABI_SIMD_WIDTH];
    uint32_t n_logged, n_lists, log_epoch;
    bool exact; // this epoch's accesses are in the shadow, not in the log
    Seen seen[N_SEEN];
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
CpuObserveLineFn cpu_observe_line, cpu_observe_barrier;
CpuObserveOneFn cpu_observe_one;
CpuObserveLineFn cpu_observe_group; // watch_lines.c
CpuObserveRowsFn cpu_observe_rows;

// watch_shadow.c
typedef struct Toucher { // who touches what, how
    const CpuSite *site;
    Memory memory;
    uint32_t first; // thread of lane 0
    uint32_t epoch, sub;
} Toucher;
// n lanes from `lane` on, each its n_bytes, one behind the other.
void cpu_touch_run(CpuWatcher *w, const Toucher *t, uint32_t lane, uint32_t n, uint64_t address,
                   uint64_t n_bytes);
// Lanes of the mask, anywhere.
void cpu_touch_lanes(CpuWatcher *w, const Toucher *t, uint32_t mask, const uint64_t *at);
void cpu_touch_line(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t base, int64_t stride);
void cpu_shadow_clear(CpuWatcher *w);
void cpu_shadow_free(CpuWatcher *w);

// Comparisons of many at a time where there are such instructions.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#define WIDE_BITS __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#define WIDE_BITS
#endif

static inline uint32_t lanes_from(uint32_t n) { return n >= ABI_SIMD_WIDTH ? ~0u : (1u << n) - 1; }

static inline Toucher toucher(const CpuWatcher *w, const CpuSite *site, Memory m, uint32_t first) {
    uint32_t simd = first / ABI_SIMD_WIDTH;
    return (Toucher){site, m, first, w->epoch[simd][m], w->sub[simd][m]};
}
static inline CpuWatcher *watcher_of(const CpuLaunch *launch) {
    return (CpuWatcher *)(uintptr_t)launch->watch;
}

// watch_lines.c
bool cpu_lines_reserve(CpuWatcher *w); // for n_memory bytes. False: no memory
void cpu_lines_clear(CpuWatcher *w);   // epochs begin again
void cpu_lines_free(CpuWatcher *w);
// Accesses to threadgroup memory.
void cpu_lines_line(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t base, int64_t stride);
void cpu_lines_lanes(CpuWatcher *w, const Toucher *t, uint32_t mask, const uint64_t *at);

// watch_groups.c
// The report of this kind of a site, and another one's if there is one; NULL: it is too much, or
// was reported already, and counted.
AbiReport *cpu_watch_find(CpuWatcher *w, AbiBadAccess what, const CpuSite *site,
                          const CpuSite *other);
void cpu_watch_thread(const CpuWatcher *w, uint32_t epoch, uint32_t thread, uint32_t out[3]);
void cpu_watch_address(const CpuWatcher *w, const CpuSite *site, uint64_t address, AbiReport *r);
WatchedGroup *cpu_watch_group_at(const CpuWatcher *w, uint32_t epoch);
#endif

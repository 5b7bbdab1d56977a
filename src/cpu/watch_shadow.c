// SPDX-License-Identifier: Apache-2.0
// watch_shadow.c: who touched which bytes last, and whether the next one is ordered after him.
// Pages of shadow come as memory is touched; they stay for later dispatches, whose epochs are
// greater. Cells are of four bytes until somebody touches less.
//
// Memory comes from mmap, never from malloc: a kernel that takes too long is left in the middle.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cpu/watch_int.h"

#define CHUNK_BYTES (4u << 20)
#define MAX_SHADOW ((size_t)6 << 30)
enum { FIRST_TABLE = 1 << 12 };

typedef struct Chunk {
    struct Chunk *next;
    size_t n_bytes;
} Chunk;

// ---- Memory ----

static void *more(CpuWatcher *w, size_t n_bytes) {
    n_bytes = (n_bytes + 63) & ~(size_t)63;
    if (!w->chunks || w->chunk_used + n_bytes > w->chunks->n_bytes) {
        size_t size = n_bytes + 64 > CHUNK_BYTES ? n_bytes + 64 : CHUNK_BYTES;
        if (w->n_chunk_bytes + size > MAX_SHADOW) return NULL;
        Chunk *c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (c == MAP_FAILED) return NULL;
        c->n_bytes = size;
        c->next = w->chunks;
        w->chunks = c;
        w->chunk_used = 64;
        w->n_chunk_bytes += size;
    }
    void *p = (char *)w->chunks + w->chunk_used;
    w->chunk_used += n_bytes;
    return p;
}

void cpu_shadow_free(CpuWatcher *w) {
    while (w->chunks) {
        Chunk *next = w->chunks->next;
        munmap(w->chunks, w->chunks->n_bytes);
        w->chunks = next;
    }
    w->table = NULL;
    w->mask = w->n_pages = w->chunk_used = w->n_chunk_bytes = 0;
    w->full = false;
    memset(w->recent, 0, sizeof w->recent);
}

void cpu_shadow_clear(CpuWatcher *w) {
    cpu_shadow_free(w);
    w->top = 0;
}

// ---- Pages ----

static uint64_t place_of(uint64_t key) { return (key * 0x9e3779b97f4a7c15u) >> 20; }

static void insert(Page **table, uint64_t mask, Page *p) {
    uint64_t at = place_of(p->key) & mask;
    while (table[at]) at = (at + 1) & mask;
    table[at] = p;
}

static bool grow(CpuWatcher *w) {
    uint64_t n = w->table ? 2 * (w->mask + 1) : FIRST_TABLE;
    Page **table = more(w, n * sizeof *table);
    if (!table) return false;
    for (uint64_t i = 0; w->table && i <= w->mask; i++)
        if (w->table[i]) insert(table, n - 1, w->table[i]);
    w->table = table;
    w->mask = n - 1;
    return true;
}

static bool give_cells(CpuWatcher *w, Page *p, uint32_t shift) {
    uint32_t n = PAGE_BYTES >> shift;
    Touch *cells = more(w, 3 * n * sizeof *cells);
    if (!cells) return false;
    Touch *to[3] = {cells, cells + n, cells + 2 * n},
          *from[3] = {p->written, p->read, p->also_read};
    for (int k = 0; k < 3 && p->n; k++)
        for (uint32_t i = 0; i < n; i++) to[k][i] = from[k][i >> (p->shift - shift)];
    p->written = to[0], p->read = to[1], p->also_read = to[2];
    p->n = n;
    p->shift = shift;
    return true;
}

static Page *new_page(CpuWatcher *w, uint64_t key) {
    enum { WORDS = 2 };
    if ((!w->table || w->n_pages >= w->mask / 2) && !grow(w)) return NULL;
    Page *p = more(w, sizeof *p);
    if (!p) return NULL;
    p->key = key;
    if (!give_cells(w, p, WORDS)) return NULL;
    insert(w->table, w->mask, p);
    w->n_pages++;
    return p;
}

// The page of an address, with cells that the access consists of. NULL: there is no more memory.
static Page *page_at(CpuWatcher *w, Memory memory, uint64_t address, uint64_t n_bytes) {
    uint64_t key = address >> PAGE_BITS | (uint64_t)(memory == MEMORY_TEXTURE) << 63;
    Page **recent = &w->recent[key % 16], *p = *recent;
    if (!p || p->key != key) {
        p = NULL;
        for (uint64_t at = place_of(key) & w->mask; w->table && w->table[at];
             at = (at + 1) & w->mask)
            if (w->table[at]->key == key) {
                p = w->table[at];
                break;
            }
        if (!p && !w->full) p = new_page(w, key);
        if (!p) {
            w->full = true;
            return NULL;
        }
        *recent = p;
    }
    uint32_t shift = (uint32_t)__builtin_ctzll(address | n_bytes | 4);
    if (shift < p->shift && !give_cells(w, p, shift)) {
        w->full = true;
        return NULL;
    }
    return p;
}

// ---- One cell, exactly ----

typedef struct Bounds { // of touches, as numbers
    Touch below;        // before it: of no concern
    Touch group;        // from it on: of this threadgroup
    Touch now;          // before it, and of this threadgroup: ordered by barriers
    Touch own;          // of lane 0
    Touch written;      // reads of what was last written before it: never written
} Bounds;

static bool fences_order(const CpuWatcher *w, Touch t) {
    if (!w->fenced) return false;
    const WatchedGroup *before = cpu_watch_group_at(w, touch_epoch(t)),
                       *now = &w->groups[w->n_groups - 1];
    return now->fence && before && before->fence >= touch_epoch(t);
}

static bool is_ordered(const CpuWatcher *w, const Bounds *b, Touch t, Touch own) {
    if (t < b->below) return true;
    if (t >= b->group) {
        uint32_t epoch = touch_epoch(t), now = touch_epoch(own), a = touch_thread(t),
                 me = touch_thread(own);
        if (a == me) return true;
        if (a / ABI_SIMD_WIDTH != me / ABI_SIMD_WIDTH
                ? epoch < now
                : epoch < now || touch_sub(t) == MAX_SUB || touch_sub(t) < touch_sub(own))
            return true;
    }
    return fences_order(w, t);
}

static AbiBadAccess deed_of(const CpuSite *s) {
    switch (s->kind) {
    case CPU_SITE_READ:
    case CPU_SITE_TEXEL_READ: return s->flags & CPU_SITE_RELAXED ? ABI_BAD_ATOMIC : ABI_BAD_LOAD;
    case CPU_SITE_WRITE:
    case CPU_SITE_TEXEL_WRITE: return s->flags & CPU_SITE_RELAXED ? ABI_BAD_ATOMIC : ABI_BAD_STORE;
    default: return ABI_BAD_ATOMIC;
    }
}

static void report_race(CpuWatcher *w, const CpuSite *site, Touch own, Touch t, uint64_t address) {
    const CpuSite *other = &w->sites[touch_site(t)];
    AbiReport *r = cpu_watch_find(w, ABI_RACE, site, other);
    if (!r) return;
    cpu_watch_address(w, site, address, r);
    r->length = deed_of(site);
    cpu_watch_thread(w, touch_epoch(own), touch_thread(own), r->thread);
    cpu_watch_thread(w, touch_epoch(t), touch_thread(t), r->other.thread);
    r->other.access = deed_of(other);
}

static void report_unwritten(CpuWatcher *w, const CpuSite *site, Touch own, uint64_t address) {
    AbiReport *r = cpu_watch_find(w, ABI_UNWRITTEN, site, NULL);
    if (!r) return;
    cpu_watch_address(w, site, address, r);
    cpu_watch_thread(w, touch_epoch(own), touch_thread(own), r->thread);
}

static bool is_live(const Bounds *b, Touch t) { return t >= b->below; }

static bool is_same_thread(Touch a, Touch own) { return !((a ^ own) >> TOUCH_THREAD & 1023); }

// In a SIMD-group that is not this thread's.
static bool is_far(const Bounds *b, Touch t, Touch own) {
    return t < b->group || ((t ^ own) >> (TOUCH_THREAD + 5) & 31);
}

static void note_read(Page *p, uint32_t i, const Bounds *b, Touch own) {
    Touch last = p->read[i], also = p->also_read[i];
    bool same = last >= b->group && is_same_thread(last, own);
    if (is_live(b, last) && !same &&
        (is_far(b, last, own) || !(is_live(b, also) && is_far(b, also, own))))
        p->also_read[i] = last;
    p->read[i] = own;
}

static void touch_cell(CpuWatcher *w, const CpuSite *site, Page *p, uint32_t i, const Bounds *b,
                       Touch own, uint64_t address, bool writes) {
    Touch before[3] = {p->written[i], p->read[i], p->also_read[i]};
    bool reads = site->kind != CPU_SITE_WRITE && site->kind != CPU_SITE_TEXEL_WRITE;
    if (reads && before[0] < b->written) report_unwritten(w, site, own, address);
    for (int k = 0; k < (writes ? 3 : 1); k++) {
        if (before[k] & own & TOUCH_ATOMIC) continue;
        if (!is_ordered(w, b, before[k], own)) report_race(w, site, own, before[k], address);
    }
    if (writes)
        p->written[i] = own;
    else
        note_read(p, i, b, own);
}

// ---- Runs of cells ----
// The usual case, without a branch in the loop: nothing is wrong. Else cell by cell.

typedef struct Run {
    Page *p;
    uint32_t at, n; // cells
    uint32_t wide;  // cells of a lane are 1 << wide
    Touch own;      // of the first
} Run;

static inline Touch own_of(const Run *r, uint32_t j) {
    return r->own + ((Touch)(j >> r->wide) << TOUCH_THREAD);
}

static inline bool is_fine(const Bounds *b, Touch t, Touch own) {
    return (t < b->below) | ((t >= b->group) & (t < b->now)) | !((t ^ own) >> TOUCH_THREAD);
}

// Comparisons of 64 bits, eight or four at a time where there are such.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

WIDE static bool read_run(const Run *r, const Bounds *bounds) {
    const Bounds b = *bounds;
    Touch *restrict written = r->p->written + r->at, *restrict read = r->p->read + r->at,
                    *restrict also = r->p->also_read + r->at;
    uint32_t bad = 0;
    for (uint32_t j = 0; j < r->n; j++)
        bad |= !is_fine(&b, written[j], own_of(r, j)) | (written[j] < b.written);
    if (bad) return false;
    for (uint32_t j = 0; j < r->n; j++) {
        Touch own = own_of(r, j), last = read[j], second = also[j];
        bool same = (last >= b.group) & !((last ^ own) >> TOUCH_THREAD & 1023);
        bool far = (last < b.group) | (((last ^ own) >> (TOUCH_THREAD + 5) & 31) != 0);
        bool second_far = (second >= b.below) &
                          ((second < b.group) | (((second ^ own) >> (TOUCH_THREAD + 5) & 31) != 0));
        bool move = (last >= b.below) & !same & (far | !second_far);
        also[j] = move ? last : second;
        read[j] = own;
    }
    return true;
}

WIDE static bool write_run(const Run *r, const Bounds *bounds) {
    const Bounds b = *bounds;
    Touch *restrict written = r->p->written + r->at;
    const Touch *restrict read = r->p->read + r->at, *restrict also = r->p->also_read + r->at;
    uint32_t bad = 0;
    for (uint32_t j = 0; j < r->n; j++) {
        Touch own = own_of(r, j);
        bad |=
            !is_fine(&b, written[j], own) | !is_fine(&b, read[j], own) | !is_fine(&b, also[j], own);
    }
    if (bad) return false;
    for (uint32_t j = 0; j < r->n; j++) written[j] = own_of(r, j);
    return true;
}

static Bounds bounds_of(const CpuWatcher *w, const Toucher *t, uint32_t lane) {
    const CpuSite *s = t->site;
    bool group = t->memory == MEMORY_GROUP, relaxed = s->flags & CPU_SITE_RELAXED;
    uint32_t epoch = w->epoch[t->simd][t->memory];
    Touch base = (Touch)w->group_base << TOUCH_EPOCH;
    return (Bounds){.below = group ? base : (Touch)w->dispatch_base << TOUCH_EPOCH,
                    .group = base,
                    .now = (Touch)epoch << TOUCH_EPOCH,
                    .own = (Touch)epoch << TOUCH_EPOCH |
                           (Touch)((t->first + lane) & 1023) << TOUCH_THREAD |
                           (Touch)w->sub[t->simd][t->memory] << TOUCH_SUB |
                           (relaxed ? (Touch)TOUCH_ATOMIC : 0) | s->id,
                    .written = group ? base : 0};
}

static void touch_cells(CpuWatcher *w, const Toucher *t, Run *r, const Bounds *b,
                        uint64_t address) {
    bool writes = t->site->kind != CPU_SITE_READ && t->site->kind != CPU_SITE_TEXEL_READ,
         relaxed = t->site->flags & CPU_SITE_RELAXED;
    if (!relaxed && (writes ? write_run(r, b) : read_run(r, b))) return;
    for (uint32_t j = 0; j < r->n; j++)
        touch_cell(w, t->site, r->p, r->at + j, b, own_of(r, j),
                   address + ((uint64_t)j << r->p->shift), writes);
}

// `count` lanes of `bytes` each, all in one page.
static void touch_part(CpuWatcher *w, const Toucher *t, uint32_t lane, uint32_t count,
                       uint64_t address, uint64_t bytes) {
    Page *p = page_at(w, t->memory, address, bytes);
    if (!p) return;
    Bounds b = bounds_of(w, t, lane);
    uint64_t cells = bytes >> p->shift, at = (address & (PAGE_BYTES - 1)) >> p->shift;
    bool even = !(cells & (cells - 1));
    for (uint32_t k = 0; k < count; k += even ? count : 1) {
        Run r = {.p = p,
                 .at = (uint32_t)(at + k * cells),
                 .n = (uint32_t)(even ? cells * count : cells),
                 .wide = even ? (uint32_t)__builtin_ctzll(cells) : 31,
                 .own = b.own + ((Touch)k << TOUCH_THREAD)};
        touch_cells(w, t, &r, &b, address + k * bytes);
    }
}

void cpu_touch_run(CpuWatcher *w, const Toucher *t, uint32_t lane, uint32_t n, uint64_t address,
                   uint64_t n_bytes) {
    while (n && n_bytes) {
        uint64_t room = PAGE_BYTES - (address & (PAGE_BYTES - 1)),
                 lanes = room / n_bytes < n ? room / n_bytes : n;
        if (lanes) {
            touch_part(w, t, lane, (uint32_t)lanes, address, n_bytes);
            address += lanes * n_bytes;
            lane += (uint32_t)lanes, n -= (uint32_t)lanes;
            continue;
        }
        for (uint64_t left = n_bytes; left;) { // one lane across pages
            uint64_t part = left < room ? left : room;
            touch_part(w, t, lane, 1, address, part);
            address += part, left -= part;
            room = PAGE_BYTES;
        }
        lane++, n--;
    }
}

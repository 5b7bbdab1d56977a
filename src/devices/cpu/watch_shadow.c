// SPDX-License-Identifier: Apache-2.0
// watch_shadow.c: shadow memory: who touched which bytes last, and whether the next access happens
// after that. Shadow pages are allocated as memory is touched and kept for later dispatches, whose
// epochs are greater. A page begins with a compact record for each 64 bytes; the first access that
// it cannot represent turns it into cells of four bytes, smaller for smaller accesses.
//
// Memory comes from mmap, never from malloc: a kernel may be aborted at any point.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "devices/cpu/watch_int.h"

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
    cpu_lines_clear(w);
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

enum { WORDS = 2 }; // shift of the usual cells

// Cells as fine as that, or finer.
static bool give_cells(CpuWatcher *w, Page *p, uint32_t shift) {
    uint32_t n = PAGE_BYTES >> shift;
    if (p->n && p->shift <= shift) return true;
    if (shift > WORDS) shift = WORDS, n = PAGE_BYTES >> WORDS;
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
    if ((!w->table || w->n_pages >= w->mask / 2) && !grow(w)) return NULL;
    Page *p = more(w, sizeof *p);
    if (!p) return NULL;
    p->key = key;
    p->shift = WORDS;
    insert(w->table, w->mask, p);
    w->n_pages++;
    return p;
}

// The page of an address. NULL: there is no more memory.
static Page *page_at(CpuWatcher *w, Memory memory, uint64_t address) {
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
    return p;
}

// ---- One cell, exactly ----

typedef struct Bounds { // of touches, as numbers
    Touch below;        // before it: of no concern
    Touch group;        // from it on: of this threadgroup
    Touch now;          // before it, and of this threadgroup: ordered by barriers
    Touch own;          // of lane 0
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

WIDE static bool read_run(const Run *r, const Bounds *bounds) {
    const Bounds b = *bounds;
    Touch *restrict written = r->p->written + r->at, *restrict read = r->p->read + r->at,
                    *restrict also = r->p->also_read + r->at;
    uint32_t bad = 0;
    for (uint32_t j = 0; j < r->n; j++) bad |= !is_fine(&b, written[j], own_of(r, j));
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
    Touch base = (Touch)w->group_base << TOUCH_EPOCH, epoch = (Touch)t->epoch << TOUCH_EPOCH;
    return (Bounds){.below = group ? base : (Touch)w->dispatch_base << TOUCH_EPOCH,
                    .group = base,
                    .now = epoch,
                    .own = touch_of(t->epoch, t->first + lane, t->sub, s->id, relaxed)};
}

static bool is_write(const CpuSite *s) {
    return s->kind != CPU_SITE_READ && s->kind != CPU_SITE_TEXEL_READ;
}

static void touch_cells(CpuWatcher *w, const Toucher *t, Run *r, const Bounds *b,
                        uint64_t address) {
    bool writes = is_write(t->site), relaxed = t->site->flags & CPU_SITE_RELAXED;
    if (!relaxed && (writes ? write_run(r, b) : read_run(r, b))) return;
    for (uint32_t j = 0; j < r->n; j++)
        touch_cell(w, t->site, r->p, r->at + j, b, own_of(r, j),
                   address + ((uint64_t)j << r->p->shift), writes);
}

// ---- In short ----

static bool is_same_line(const CpuWatcher *w, uint32_t a, uint32_t b) {
    const CpuSite *p = &w->sites[a], *q = &w->sites[b];
    return a == b ||
           (p->line && p->line == q->line && p->column == q->column && p->n_bytes == q->n_bytes);
}

// Says these bytes of a line in short, if that is possible. `first`: the thread of its byte 0.
static bool say_briefly(const CpuWatcher *w, const Toucher *t, Brief *l, uint64_t bytes,
                        int32_t first, uint8_t shift) {
    const CpuSite *s = t->site;
    bool writes = is_write(s), relaxed = s->flags & CPU_SITE_RELAXED;
    if (l->epoch < (t->memory == MEMORY_GROUP ? w->group_base : w->dispatch_base)) {
        *l = (Brief){.epoch = t->epoch,
                     .first = first,
                     .shift = shift,
                     .sub = (uint8_t)t->sub,
                     .relaxed = relaxed};
    } else if (l->cells || l->epoch != t->epoch || l->first != first || l->shift != shift ||
               l->sub != t->sub || l->relaxed != relaxed) {
        return false;
    }
    uint16_t *site = writes ? &l->write_site : &l->read_site;
    if (*site && !is_same_line(w, *site, s->id)) return false;
    *site = (uint16_t)s->id;
    *(writes ? &l->written : &l->read) |= bytes;
    return true;
}

// What was said of a line in short, as cells.
static bool give_line_cells(CpuWatcher *w, Page *p, Brief *l, uint32_t shift) {
    uint32_t line = (uint32_t)(l - p->lines);
    if (!give_cells(w, p, !l->cells && l->shift < shift ? l->shift : shift)) return false;
    uint32_t n = LINE_BYTES >> p->shift, at = line * n;
    for (uint32_t i = 0; i < n && !l->cells; i++) {
        uint64_t byte = (uint64_t)1 << (i << p->shift);
        uint32_t thread = (uint32_t)(l->first + (int32_t)((i << p->shift) >> l->shift));
        if (l->written & byte)
            p->written[at + i] = touch_of(l->epoch, thread, l->sub, l->write_site, l->relaxed);
        if (l->read & byte)
            p->read[at + i] = touch_of(l->epoch, thread, l->sub, l->read_site, l->relaxed);
    }
    l->cells = true;
    return true;
}

static bool touch_briefly(CpuWatcher *w, const Toucher *t, Page *p, uint32_t lane, uint64_t at,
                          uint64_t end, uint32_t shift, uint64_t *done) {
    int32_t thread = (int32_t)(t->first + lane);
    for (uint64_t next, start = at; at < end; at = next) {
        next = (at | (LINE_BYTES - 1)) + 1;
        uint64_t bytes = ~(uint64_t)0 << (at & (LINE_BYTES - 1));
        if (next > end) bytes &= ~(uint64_t)0 >> (next - end);
        int64_t ahead = (int64_t)(at & ~(uint64_t)(LINE_BYTES - 1)) - (int64_t)start;
        Brief *l = &p->lines[(at & (PAGE_BYTES - 1)) >> LINE_BITS];
        *done = at;
        if (!say_briefly(w, t, l, bytes, thread + (int32_t)(ahead >> shift), (uint8_t)shift))
            return false;
    }
    return true;
}

// `count` lanes of `bytes` each, all in one page.
static void touch_part(CpuWatcher *w, const Toucher *t, uint32_t lane, uint32_t count,
                       uint64_t address, uint64_t bytes) {
    Page *p = page_at(w, t->memory, address);
    if (!p) return;
    uint32_t shift = (uint32_t)__builtin_ctzll(address | bytes | 1u << WORDS);
    if (!(bytes & (bytes - 1)) && bytes <= LINE_BYTES && address % bytes == 0) {
        uint64_t left;
        if (touch_briefly(w, t, p, lane, address, address + count * bytes,
                          (uint32_t)__builtin_ctzll(bytes), &left))
            return;
        left -= address;
        lane += (uint32_t)(left / bytes), count -= (uint32_t)(left / bytes);
        address += left;
    }
    for (uint64_t at = address & (PAGE_BYTES - 1) & ~(uint64_t)(LINE_BYTES - 1),
                  end = (address & (PAGE_BYTES - 1)) + count * bytes;
         at < end; at += LINE_BYTES) {
        Brief *l = &p->lines[at >> LINE_BITS];
        bool live = l->epoch >= (t->memory == MEMORY_GROUP ? w->group_base : w->dispatch_base);
        if (!live) *l = (Brief){.cells = true};
        if (!give_line_cells(w, p, l, shift)) {
            w->full = true;
            return;
        }
        l->epoch = t->epoch;
    }
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

// ---- Lanes ----

// All lanes of the mask at one place. Two threads stand for all: a write meets itself there, and of
// reads two are kept.
static void touch_together(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t address,
                           uint64_t n_bytes) {
    uint32_t first = (uint32_t)__builtin_ctz(mask), last = 31 - (uint32_t)__builtin_clz(mask);
    cpu_touch_run(w, t, first, 1, address, n_bytes);
    if (last != first) cpu_touch_run(w, t, last, 1, address, n_bytes);
}

void cpu_touch_lanes(CpuWatcher *w, const Toucher *t, uint32_t mask, const uint64_t *at) {
    enum { LANES = ABI_SIMD_WIDTH };
    while (mask) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask), n = 1;
        uint64_t bytes = t->site->n_bytes ? t->site->n_bytes : w->n_bytes[lane];
        uint64_t step = lane + 1 < LANES && mask >> lane & 2 ? at[lane + 1] - at[lane] : 1;
        bool steady = t->site->n_bytes && (step == 0 || step == bytes);
        while (steady && lane + n < LANES && mask >> (lane + n) & 1 &&
               at[lane + n] - at[lane + n - 1] == step)
            n++;
        uint32_t run = lanes_from(n) << lane;
        if (n > 1 && !step)
            touch_together(w, t, run, at[lane], bytes);
        else
            cpu_touch_run(w, t, lane, n, at[lane], bytes);
        mask &= ~run;
    }
}

void cpu_touch_line(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t base, int64_t stride) {
    uint32_t lane = (uint32_t)__builtin_ctz(mask), together = mask >> lane, n = t->site->n_bytes;
    if (n && !stride) {
        touch_together(w, t, mask, base, n);
    } else if (n && stride == (int64_t)n && !(together & (together + 1))) {
        cpu_touch_run(w, t, lane, (uint32_t)__builtin_popcount(mask),
                      base + lane * (uint64_t)stride, n);
    } else {
        uint64_t at[ABI_SIMD_WIDTH];
        for (uint32_t l = 0; l < ABI_SIMD_WIDTH; l++) at[l] = base + l * (uint64_t)stride;
        cpu_touch_lanes(w, t, mask, at);
    }
}

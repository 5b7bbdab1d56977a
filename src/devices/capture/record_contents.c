// SPDX-License-Identifier: Apache-2.0
// record_contents.c: what memory holds, for a capture. A hash of every block that was used says
// what the file knows of it: what differs before a run's commands was written by the host and goes
// into the file; what differs behind them is their result. Hashing is as fast as reading, which a
// command buffer does anyway (measured 2026-11: comparing with a copy took twice as long, and twice
// the memory). Memory that stays as it is for a while is watched instead: the system says whether
// anybody wrote it.
#include <stdlib.h>
#include <string.h>
#include "devices/capture/codec_int.h"
#include "devices/capture/record_int.h"
#include "os/pages.h"
#include "os/written.h"
#include "os/pool.h"

static Record *const r = &cap_record;

static size_t n_blocks(const Memory *m) { return (m->n_bytes + CAP_BLOCK - 1) / CAP_BLOCK; }

static size_t block_bytes(const Memory *m, size_t block) {
    size_t left = m->n_bytes - block * CAP_BLOCK;
    return left < CAP_BLOCK ? left : CAP_BLOCK;
}

// Memory begins as zeros, for the file.
static bool make_hashes(Memory *m) {
    static const char zeros[CAP_BLOCK];
    if (m->hashes) return true;
    m->hashes = malloc(n_blocks(m) * sizeof *m->hashes);
    if (!m->hashes) return false;
    uint64_t whole = cap_hash(zeros, CAP_BLOCK);
    for (size_t i = 0; i < n_blocks(m); i++) {
        size_t n = block_bytes(m, i);
        m->hashes[i] = n == CAP_BLOCK ? whole : cap_hash(zeros, n);
    }
    return true;
}

// The bytes of a block; in `room` where the host does not see them. NULL: the device gives none.
static const char *look(const Memory *m, size_t block, char *room) {
    const DevTable *inner = r->inner;
    size_t at = block * CAP_BLOCK;
    if (!inner->memory_make) return m->host + at;
    bool ok = inner->copy &&
              inner->copy(DEV_OUTSIDE(r->context), room, m->address + at, block_bytes(m, block));
    return ok ? room : NULL;
}

// ---- What has changed ----

enum { MAX_POINTS = 4096 };
enum { GROUP = 16, LARGE = 64 }; // blocks: that a thread looks at, that all threads look at

typedef struct Search {
    const Memory *m;
    uint64_t *now; // hashes
} Search;

static void search(void *context, size_t group) {
    const Search *s = context;
    size_t n = n_blocks(s->m), from = group * GROUP;
    for (size_t i = from; i < n && i < from + GROUP; i++)
        s->now[i] = cap_hash(s->m->host + i * CAP_BLOCK, block_bytes(s->m, i));
}

static void hash_now(const Memory *m, uint64_t *now, char *room) {
    Search s = {m, now};
    size_t n = n_blocks(m), groups = (n + GROUP - 1) / GROUP;
    if (!r->inner->memory_make) {
        if (n >= LARGE)
            os_parallel(groups, search, &s);
        else
            for (size_t g = 0; g < groups; g++) search(&s, g);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *bytes = look(m, i, room);
        now[i] = bytes ? cap_hash(bytes, block_bytes(m, i)) : m->hashes[i];
    }
}

// ---- What need not be looked at ----

// Times that it was the same; and again, each time longer, where it was watched in vain: somebody
// writes what is there already. Less than a MiB is soon hashed.
enum { QUIET = 2, MORE_QUIET = 8, MOST_QUIET = 1 << 20, WATCHED_BYTES = 1 << 20 };

void contents_unwatch(Memory *m) {
    if (m->watched) os_written_unwatch(m->host, m->n_bytes);
    m->watched = false;
    m->quiet = 0;
}

static bool is_untouched(Memory *m) {
    if (!m->watched) return false;
    if (!os_written(m->host, m->n_bytes)) return true;
    contents_unwatch(m);
    if (m->patience < MOST_QUIET) m->patience = (m->patience ? m->patience : QUIET) * MORE_QUIET;
    return false;
}

// Before it is hashed, so that no write falls between. Only memory of our own: what else the
// program does with its pages is not known.
static bool begin_to_watch(Memory *m) {
    return m->quiet >= (m->patience ? m->patience : QUIET) && m->n_bytes >= WATCHED_BYTES &&
           !r->inner->memory_make && os_is_place((uintptr_t)m->host) &&
           (uintptr_t)m->host % 4096 == 0 && os_written_watch(m->host, m->n_bytes);
}

typedef void Changed(Memory *m, size_t block, char *room, void *context);

// Calls `changed` for every block that is not what it was, whose hash is then the new one.
static void compare(Memory *m, Changed *changed, void *context) {
    size_t n = n_blocks(m), n_changed = 0;
    if (is_untouched(m)) return;
    m->watched = begin_to_watch(m);
    char *room = malloc(CAP_BLOCK);
    uint64_t *now = malloc(n * sizeof *now);
    if (room && now) {
        if (r->inner->memory_make && r->n_commands && r->run)
            dev_finish(r->inner, (DevRun *)(uintptr_t)r->run);
        hash_now(m, now, room);
        for (size_t i = 0; i < n; i++) {
            if (now[i] == m->hashes[i]) continue;
            m->hashes[i] = now[i];
            changed(m, i, room, context);
            n_changed++;
        }
    }
    m->quiet++;
    if (n_changed || !room || !now) contents_unwatch(m);
    free(now);
    free(room);
}

// ---- Written by the host ----

static bool all_zeros(const char *bytes, size_t n) {
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

// Programs may name resources in buffers and nowhere else. Addresses that we chose cannot be taken
// for numbers: all that look like one are kept, and what they name is used whenever this is.
static void find_points(Memory *m, const char *bytes, size_t n) {
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        bool pooled = (word & ~(ABI_VIEW_POOL_SLOTS - 1)) == ABI_TEXTURE_POOLED;
        if (!pooled && (!os_is_place(word & ABI_HANDLE_ADDRESS) || word >> 62)) continue;
        bool known = false;
        for (size_t k = m->n_points; k-- && !known;) known = m->points[k] == word;
        if (known || m->n_points >= MAX_POINTS ||
            !array_reserve(&m->points, &m->points_capacity, m->n_points + 1))
            continue;
        m->points[m->n_points++] = word;
    }
}

static void written(Memory *m, size_t block, char *room, void *context) {
    (void)context;
    size_t n = block_bytes(m, block);
    const char *bytes = look(m, block, room);
    if (!bytes) return;
    // A copy: the program may be writing there, and what is hashed is what is stored.
    if (bytes != room) memcpy(room, bytes, n);
    m->hashes[block] = cap_hash(room, n);
    find_points(m, room, n);
    CapEvent e = {
        .kind = CAP_CONTENTS,
        .contents = {.memory = m->id, .offset = block * CAP_BLOCK, .n_bytes = (uint32_t)n}};
    e.contents.zeros = all_zeros(room, n);
    if (!e.contents.zeros) cap_write_block(r->writer, room, n, e.contents.hash);
    cap_put_event(&r->events, &e);
}

void contents_touch(Memory *m) {
    if (m->used) return;
    if (!array_reserve(&r->used, &r->used_capacity, r->n_used + 1)) return;
    r->used[r->n_used++] = m;
    m->used = true;
    m->writes = false;
    if (!make_hashes(m)) {
        cap_put(&(CapEvent){.kind = CAP_UNKNOWN,
                            .operation = {.title = "there was no memory to record the contents of "
                                                   "a resource"}});
        return;
    }
    if (!m->announced) {
        m->announced = true;
        CapEvent e = {.kind = CAP_MEMORY,
                      .memory = {m->id, (uintptr_t)m->address, m->n_bytes, m->storage}};
        cap_put_event(&r->events, &e);
    }
    compare(m, written, NULL);
    for (size_t i = 0; i < m->n_points; i++) record_reach(m->points[i]);
}

void contents_again(void) {
    for (size_t i = 0; i < r->n_used; i++)
        if (r->used[i]->hashes) compare(r->used[i], written, NULL);
}

// ---- Computed by the commands ----

typedef struct Changes {
    struct CapHash *blocks;
    size_t n, capacity;
} Changes;

static void computed(Memory *m, size_t block, char *room, void *context) {
    Changes *c = context;
    (void)room;
    if (!array_reserve(&c->blocks, &c->capacity, c->n + 1)) return;
    c->blocks[c->n++] = (struct CapHash){(uint32_t)block, m->hashes[block]};
}

void contents_results(void) {
    Changes c = {0};
    for (size_t i = 0; i < r->n_used; i++) {
        Memory *m = r->used[i];
        if (!m->writes || !m->hashes) continue;
        c.n = 0;
        compare(m, computed, &c);
        CapEvent e = {.kind = CAP_RESULT,
                      .result = {.memory = m->id, .n = (uint32_t)c.n, .blocks = c.blocks}};
        if (c.n) cap_put_event(&r->events, &e);
    }
    free(c.blocks);
}

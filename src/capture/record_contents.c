// SPDX-License-Identifier: Apache-2.0
// record_contents.c: what memory holds, for a capture. A shadow of all memory that was used says
// what the file knows of it: what differs before a run's commands was written by the host and goes
// into the file; what differs behind them is their result, and is hashed. Comparing is as fast as
// reading, which a command buffer does anyway.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "capture/codec_int.h"
#include "capture/record_int.h"

static Record *const r = &cap_record;

static bool make_shadow(Memory *m) {
    if (m->shadow) return true;
    void *p = mmap(NULL, m->n_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    m->shadow = p == MAP_FAILED ? NULL : p;
    return m->shadow != NULL;
}

// The bytes of a block, in `room` where the host does not see them.
static const char *look(const Memory *m, size_t offset, size_t n, char *room) {
    const DevTable *inner = r->inner;
    if (!inner->memory_make) return m->host + offset;
    return inner->copy && inner->copy(NULL, room, m->address + offset, n) ? room : NULL;
}

static bool all_zeros(const char *bytes, size_t n) {
    return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

static void put_contents(const Memory *m, size_t offset, size_t n) {
    CapEvent e = {.kind = CAP_CONTENTS,
                  .contents = {.memory = m->id, .offset = offset, .n_bytes = (uint32_t)n}};
    // The shadow: what the program writes meanwhile is not looked at twice.
    e.contents.zeros = all_zeros(m->shadow + offset, n);
    if (!e.contents.zeros) cap_write_block(r->writer, m->shadow + offset, n, e.contents.hash);
    cap_put_event(&r->events, &e);
}

// Calls `changed` for every block that differs from the shadow, which is then the same.
static void compare(Memory *m,
                    void (*changed)(const Memory *m, size_t offset, size_t n, void *context),
                    void *context) {
    char *room = r->inner->memory_make ? malloc(CAP_BLOCK) : NULL;
    if (r->inner->memory_make && !room) return;
    if (room && r->n_commands && r->run) dev_finish(r->inner, (DevRun *)(uintptr_t)r->run);
    for (size_t at = 0; at < m->n_bytes; at += CAP_BLOCK) {
        size_t n = m->n_bytes - at < CAP_BLOCK ? m->n_bytes - at : CAP_BLOCK;
        const char *now = look(m, at, n, room);
        if (!now || memcmp(now, m->shadow + at, n) == 0) continue;
        memcpy(m->shadow + at, now, n);
        changed(m, at, n, context);
    }
    free(room);
}

static void written(const Memory *m, size_t offset, size_t n, void *context) {
    (void)context;
    put_contents(m, offset, n);
}

void contents_touch(Memory *m) {
    if (m->used) return;
    if (!record_grow(&r->used, &r->used_capacity, r->n_used + 1, sizeof(Memory *))) return;
    r->used[r->n_used++] = m;
    m->used = true;
    m->writes = false;
    if (m->shadow_failed) return;
    bool new_one = !m->announced;
    if (!make_shadow(m)) {
        m->shadow_failed = true;
        cap_put(&(CapEvent){.kind = CAP_UNKNOWN,
                            .operation = {.title = "there was no memory to record the contents of "
                                                   "a resource"}});
        return;
    }
    if (new_one) {
        m->announced = true;
        CapEvent e = {.kind = CAP_MEMORY,
                      .memory = {m->id, (uintptr_t)m->address, m->n_bytes, m->storage}};
        cap_put_event(&r->events, &e);
    }
    compare(m, written, NULL);
}

void contents_again(void) {
    for (size_t i = 0; i < r->n_used; i++)
        if (r->used[i]->shadow) compare(r->used[i], written, NULL);
}

typedef struct Changes {
    struct CapHash *blocks;
    size_t n, capacity;
} Changes;

static void computed(const Memory *m, size_t offset, size_t n, void *context) {
    Changes *c = context;
    if (!record_grow(&c->blocks, &c->capacity, c->n + 1, sizeof *c->blocks)) return;
    c->blocks[c->n++] =
        (struct CapHash){(uint32_t)(offset / CAP_BLOCK), cap_hash(m->shadow + offset, n)};
}

void contents_results(void) {
    Changes c = {0};
    for (size_t i = 0; i < r->n_used; i++) {
        Memory *m = r->used[i];
        if (!m->writes || !m->shadow) continue;
        c.n = 0;
        compare(m, computed, &c);
        CapEvent e = {.kind = CAP_RESULT,
                      .result = {.memory = m->id, .n = (uint32_t)c.n, .blocks = c.blocks}};
        if (c.n) cap_put_event(&r->events, &e);
    }
    free(c.blocks);
}

// SPDX-License-Identifier: Apache-2.0
// replay_memory.c: memory of a replay: at the addresses it had where the device's memory is the
// host's, else wherever the device makes it. Then words in it that are old addresses or handles are
// translated on their way in, and back on their way out.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "devices/capture/replay_int.h"
#include "os/pages.h"

#define BEHIND 65536u // as os/pages.h has them
#define MAX_MEMORY ((uint64_t)1 << 40)

bool replay_say(char why[CAP_WHY], const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(why, CAP_WHY, format, list);
    va_end(list);
    return false;
}

// ---- Pages at old addresses ----

static bool is_mapped(const CapReplay *r, uintptr_t page) {
    for (size_t i = r->n_mapped; i--;)
        if (page >= r->mapped[i].start && page < r->mapped[i].end) return true;
    return false;
}

static bool map_range(CapReplay *r, uintptr_t start, size_t n) {
    if (!array_reserve(&r->mapped, &r->mapped_capacity, r->n_mapped + 1)) return false;
    void *p = mmap((void *)start, n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != (void *)start) {
        if (p != MAP_FAILED) munmap(p, n);
        return false;
    }
    r->mapped[r->n_mapped++] = (Range){start, start + n};
    return true;
}

bool replay_map(CapReplay *r, uintptr_t address, size_t n_bytes, bool *fresh) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = address & ~(page - 1), end = (address + n_bytes + page - 1) & ~(page - 1);
    if (end <= start) return false;
    *fresh = map_range(r, start, end - start);
    if (*fresh) return true;
    // A part may be there: memory of the program's own that shares pages.
    if ((end - start) / page > 1 << 16) return false;
    for (uintptr_t at = start; at < end; at += page)
        if (!is_mapped(r, at) && !map_range(r, at, page)) return false;
    return true;
}

// ---- Which there are ----

static size_t place_behind(const CapReplay *r, uint64_t address) {
    size_t low = 0, high = r->n_places;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->places[middle]->was.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Memory may overlap: parts of heaps, the program's own.
static Place *place_of(const CapReplay *r, uint64_t address, uint64_t n_bytes) {
    size_t i = place_behind(r, address);
    for (unsigned tries = 0; i-- && tries < 64; tries++) {
        Place *p = r->places[i];
        uint64_t offset = address - p->was.address;
        if (offset < p->was.n_bytes && n_bytes <= p->was.n_bytes - offset) return p;
    }
    return NULL;
}

Place *replay_place(const CapReplay *r, uint64_t address) { return place_of(r, address, 1); }

static Place *by_id(const CapReplay *r, uint64_t id) {
    uint64_t hash = hash_bytes(&id, sizeof id);
    for (HashNode *n = hash_chain(&r->ids, hash); n; n = n->next)
        if (((Place *)n)->was.id == id) return (Place *)n;
    return NULL;
}

static size_t n_blocks(const Place *p) { return (p->was.n_bytes + CAP_BLOCK - 1) / CAP_BLOCK; }

static size_t block_bytes(const Place *p, size_t block) {
    size_t left = p->was.n_bytes - block * CAP_BLOCK;
    return left < CAP_BLOCK ? left : CAP_BLOCK;
}

static void free_place(CapReplay *r, Place *p) {
    if (p->now.address && r->device.table->memory_free)
        r->device.table->memory_free(r->device.context, &p->now);
    free(p->expected);
    free(p);
}

static bool make_place(CapReplay *r, Place *p, char why[CAP_WHY]) {
    const CapMemory *m = &p->was;
    const DevTable *table = r->device.table;
    if (dev_has_memory(table)) {
        if (!table->memory_make(r->device.context, m->n_bytes, DEV_SHARED, &p->now))
            return replay_say(why, "the device has no memory for %llu bytes",
                              (unsigned long long)m->n_bytes);
        p->at = p->now.address;
        return true;
    }
    p->at = (char *)(uintptr_t)m->address;
    bool fresh;
    if (!replay_map(r, (uintptr_t)m->address, m->n_bytes, &fresh))
        return replay_say(why,
                          "%llu bytes at address 0x%llx are not to be had in this process: "
                          "try again",
                          (unsigned long long)m->n_bytes, (unsigned long long)m->address);
    if (os_is_place(m->address)) { // zeros behind it that nobody has; not there: so be it
        const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t end = (m->address + m->n_bytes + page - 1) & ~(page - 1);
        map_range(r, end, BEHIND);
    }
    // Something else may have been there. New pages are zeros, and cost nothing until they are
    // used.
    if (!fresh) memset(p->at, 0, m->n_bytes);
    return true;
}

bool replay_add_memory(CapReplay *r, const CapMemory *memory, char why[CAP_WHY]) {
    if (!memory->n_bytes || memory->n_bytes > MAX_MEMORY || memory->address >> 47 ||
        memory->address < 1 << 16 || by_id(r, memory->id))
        return replay_say(why, "damaged: memory of %llu bytes at 0x%llx",
                          (unsigned long long)memory->n_bytes, (unsigned long long)memory->address);
    Place *p = calloc(1, sizeof *p);
    bool ok = p && array_reserve(&r->places, &r->places_capacity, r->n_places + 1);
    if (ok) p->was = *memory;
    if (ok) p->expected = calloc(n_blocks(p) + 1, sizeof *p->expected);
    if (!ok || !p->expected) {
        free(p);
        return replay_say(why, "out of memory");
    }
    p->node.hash = hash_bytes(&memory->id, sizeof memory->id);
    if (!make_place(r, p, why) || !hash_add(&r->ids, &p->node)) {
        free_place(r, p);
        return false;
    }
    size_t at = place_behind(r, memory->address);
    memmove(r->places + at + 1, r->places + at, (r->n_places - at) * sizeof *r->places);
    r->places[at] = p;
    r->n_places++;
    return true;
}

void replay_drop_memory(CapReplay *r, uint64_t id) {
    Place *p = by_id(r, id);
    if (!p) return;
    size_t i = place_behind(r, p->was.address);
    while (i && r->places[i - 1] != p) i--;
    if (!i--) return;
    hash_remove(&r->ids, &p->node);
    free_place(r, p); // what is mapped stays: others may share it
    r->n_places--;
    memmove(r->places + i, r->places + i + 1, (r->n_places - i) * sizeof *r->places);
}

static void keep_node(HashNode *node) { (void)node; }

void replay_drop_all_memory(CapReplay *r) {
    hash_clear(&r->ids, keep_node);
    for (size_t i = 0; i < r->n_waiting; i++) free(r->waiting[i].bytes);
    r->n_waiting = 0;
    for (size_t i = 0; i < r->n_places; i++) free_place(r, r->places[i]);
    r->n_places = 0;
    for (size_t i = 0; i < r->n_mapped; i++)
        munmap((void *)r->mapped[i].start, r->mapped[i].end - r->mapped[i].start);
    r->n_mapped = 0;
}

// ---- Translation ----

uint64_t replay_address(const CapReplay *r, uint64_t old, uint64_t n_bytes) {
    const Place *p = place_of(r, old, n_bytes);
    return !p ? 0 : (uintptr_t)p->at + (old - p->was.address);
}

// A word on its way to the device.
static uint64_t word_in(const CapReplay *r, uint64_t word) {
    const Stand *s = replay_stand(r, word);
    if (s && s->made) return s->now.value;
    uint64_t now = replay_address(r, word, 1);
    return now ? now : word;
}

// And back: few replays need it, so it looks at all of them.
static uint64_t word_out(const CapReplay *r, uint64_t word) {
    for (size_t i = 0; i < r->n_places; i++) {
        const Place *p = r->places[i];
        if (word - (uintptr_t)p->at < p->was.n_bytes)
            return p->was.address + (word - (uintptr_t)p->at);
    }
    for (size_t b = 0; word && b < r->stands.n_buckets; b++)
        for (const HashNode *n = r->stands.buckets[b]; n; n = n->next)
            if (((const Stand *)n)->made && ((const Stand *)n)->now.value == word)
                return ((const Stand *)n)->old;
    return word;
}

static void translate(const CapReplay *r, char *bytes, size_t n,
                      uint64_t (*word)(const CapReplay *, uint64_t)) {
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t value;
        memcpy(&value, bytes + i, sizeof value);
        if (value < 1 << 16) continue;
        value = word(r, value);
        memcpy(bytes + i, &value, sizeof value);
    }
}

// ---- Contents ----

// Contents that wait for what they may point to. Takes the bytes over if they are kept.
static bool put(CapReplay *r, const Place *p, size_t offset, char **bytes, size_t n) {
    if (!r->translates) {
        memcpy(p->at + offset, *bytes, n);
        return true;
    }
    if (!array_reserve(&r->waiting, &r->waiting_capacity, r->n_waiting + 1)) return false;
    r->waiting[r->n_waiting++] = (Waiting){p->was.id, offset, n, *bytes};
    *bytes = NULL;
    return true;
}

bool replay_put_waiting(CapReplay *r, char why[CAP_WHY]) {
    bool ok = true;
    for (size_t i = 0; i < r->n_waiting; i++) {
        Waiting *w = &r->waiting[i];
        const Place *p = by_id(r, w->memory);
        if (ok && p) {
            translate(r, w->bytes, w->n_bytes, word_in);
            ok = dev_copy(r->device.table, DEV_OUTSIDE(r->device.context), p->at + w->offset,
                          w->bytes, w->n_bytes) ||
                 replay_say(why, "the device took no contents");
        }
        free(w->bytes);
    }
    r->n_waiting = 0;
    return ok;
}

static bool get(const CapReplay *r, const Place *p, size_t offset, char *bytes, size_t n) {
    if (!r->translates) {
        memcpy(bytes, p->at + offset, n);
        return true;
    }
    if (!dev_copy(r->device.table, DEV_OUTSIDE(r->device.context), bytes, p->at + offset, n))
        return false;
    translate(r, bytes, n, word_out);
    return true;
}

bool replay_fill(CapReplay *r, const CapContents *c, char why[CAP_WHY]) {
    Place *p = by_id(r, c->memory);
    if (!p || c->offset >= p->was.n_bytes || c->n_bytes != block_bytes(p, c->offset / CAP_BLOCK))
        return replay_say(why, "damaged: contents of memory that is not there");
    char *bytes = calloc(1, CAP_BLOCK);
    if (!bytes) return replay_say(why, "out of memory");
    bool ok = c->zeros || cap_read_block(r->capture, c->hash, bytes, c->n_bytes, why);
    if (ok) p->expected[c->offset / CAP_BLOCK] = cap_hash(bytes, c->n_bytes);
    if (ok && !put(r, p, c->offset, &bytes, c->n_bytes)) ok = replay_say(why, "out of memory");
    free(bytes);
    return ok;
}

void replay_use(CapReplay *r, const CapUse *use) {
    Place *p = by_id(r, use->memory);
    if (!p) return;
    p->used = true;
    p->writes = p->writes || use->writes;
}

void replay_expect(CapReplay *r, const CapResult *result) {
    Place *p = by_id(r, result->memory);
    for (uint32_t i = 0; p && i < result->n; i++)
        if (result->blocks[i].block < n_blocks(p))
            p->expected[result->blocks[i].block] = result->blocks[i].hash;
}

bool replay_check(CapReplay *r, char why[CAP_WHY]) {
    char *bytes = malloc(CAP_BLOCK);
    bool ok = bytes || replay_say(why, "out of memory");
    for (size_t i = 0; ok && i < r->n_places; i++) {
        const Place *p = r->places[i];
        for (size_t b = 0; ok && p->writes && b < n_blocks(p); b++) {
            size_t n = block_bytes(p, b);
            uint64_t expected = p->expected[b];
            if (!expected) {
                memset(bytes, 0, n);
                expected = cap_hash(bytes, n);
            }
            if (!get(r, p, b * CAP_BLOCK, bytes, n))
                ok = replay_say(why, "the device gave no contents");
            else if (cap_hash(bytes, n) != expected)
                ok = replay_say(why,
                                "results differ: memory %llu (0x%llx, %llu bytes), in bytes %zu to "
                                "%zu",
                                (unsigned long long)p->was.id, (unsigned long long)p->was.address,
                                (unsigned long long)p->was.n_bytes, b * CAP_BLOCK,
                                b * CAP_BLOCK + n);
        }
    }
    free(bytes);
    return ok;
}

bool cap_replay_read(CapReplay *r, uint64_t address, void *to, size_t n_bytes) {
    const Place *p = place_of(r, address, n_bytes);
    if (!p) return false;
    uint64_t offset = address - p->was.address;
    // Words are where they are in memory: whole ones are read.
    if (!r->translates) return get(r, p, offset, to, n_bytes);
    uint64_t from = offset & ~(uint64_t)7, end = (offset + n_bytes + 7) & ~(uint64_t)7;
    if (end > p->was.n_bytes) end = p->was.n_bytes;
    char *bytes = malloc(end - from + 1);
    bool ok = bytes && get(r, p, from, bytes, end - from);
    if (ok) memcpy(to, bytes + (offset - from), n_bytes);
    free(bytes);
    return ok;
}

bool cap_replay_has(const CapReplay *r, uint64_t address, uint64_t n_bytes) {
    return place_of(r, address, n_bytes) != NULL;
}

bool cap_replay_memory_at(const CapReplay *r, uint64_t address, uint64_t *start,
                          uint64_t *n_bytes) {
    const Place *p = replay_place(r, address);
    if (p) *start = p->was.address, *n_bytes = p->was.n_bytes;
    return p != NULL;
}

bool cap_replay_written(const CapReplay *r, size_t i, CapMemory *memory) {
    for (size_t k = 0; k < r->n_places; k++)
        if (r->places[k]->writes && i-- == 0) {
            *memory = r->places[k]->was;
            return true;
        }
    return false;
}

// SPDX-License-Identifier: Apache-2.0
// guard.h: memory whose last byte lies against a page nobody may touch, or whose first does.
#ifndef INGOT_TESTS_GUARD_H
#define INGOT_TESTS_GUARD_H
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Guarded {
    uint8_t *bytes;
    size_t n;
    void *map;
    size_t n_mapped;
} Guarded;

// at_end: bytes + n is the forbidden page; else bytes - 1 is.
static inline Guarded guarded(size_t n, bool at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (n + page - 1) / page * page;
    Guarded g = {.n = n, .n_mapped = body + 2 * page};
    g.map = mmap(NULL, g.n_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED) fail_msg("mmap");
    uint8_t *first = (uint8_t *)g.map + page;
    mprotect(g.map, page, PROT_NONE);
    mprotect(first + body, page, PROT_NONE);
    g.bytes = at_end ? first + body - n : first;
    memset(g.bytes, 0xa5, n);
    return g;
}

static inline void unguard(Guarded *g) { munmap(g->map, g->n_mapped); }

// Numbers that repeat nowhere near each other.
static inline uint32_t noise(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    return *state = x;
}
#endif

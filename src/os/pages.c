// SPDX-License-Identifier: Apache-2.0
// pages.c: see pages.h.
#include "os/pages.h"
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE_PAGE ((size_t)2 << 20)
#define BEHIND ((size_t)64 << 10) // addresses only: pages that nobody writes take no memory

static size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

static size_t with_zeros(size_t n_bytes) {
    return round_up(n_bytes, (size_t)sysconf(_SC_PAGESIZE)) + BEHIND;
}

// ---- At addresses of our choice ----

#define PLACES ((uintptr_t)2 << 44) // os_zeros has its own from 3 << 44 on
#define PLACES_END ((uintptr_t)0x2ff << 36)
#define PLACE ((size_t)64 << 10)

static _Atomic uintptr_t next_place; // 0: wherever the system likes
static void (*gone_hook)(void *pages, size_t n_bytes);

void os_pages_place(void (*gone)(void *pages, size_t n_bytes)) {
    gone_hook = gone;
    atomic_store(&next_place, PLACES);
}

static void *pages_at_place(size_t n_bytes) {
    const size_t mapped = with_zeros(n_bytes),
                 step = n_bytes >= 2 * LARGE_PAGE ? LARGE_PAGE : PLACE;
    for (int tries = 0; tries < 64; tries++) {
        uintptr_t at = atomic_load(&next_place), start, end;
        do {
            start = round_up(at, step);
            end = round_up(start + mapped, PLACE);
            if (end > PLACES_END || end < start) return NULL;
        } while (!atomic_compare_exchange_weak(&next_place, &at, end));
        void *p = mmap((void *)start, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == (void *)start) {
            if (step == LARGE_PAGE) madvise(p, n_bytes, MADV_HUGEPAGE);
            return p;
        }
        if (p != MAP_FAILED) munmap(p, mapped); // a kernel that does not know the flag
    }
    return NULL;
}

void *os_pages(size_t n_bytes) {
    if (n_bytes > SIZE_MAX / 2) return NULL;
    void *placed = atomic_load(&next_place) ? pages_at_place(n_bytes) : NULL;
    if (placed) return placed;
    const size_t mapped = with_zeros(n_bytes);
    const size_t reserved = mapped + (n_bytes >= 2 * LARGE_PAGE ? LARGE_PAGE : 0);
    char *p = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (reserved == mapped) return p;
    // It begins on a large page: the surplus in front and behind is given back.
    char *start = (char *)round_up((size_t)p, LARGE_PAGE);
    if (start > p) munmap(p, (size_t)(start - p));
    if (start + mapped < p + reserved)
        munmap(start + mapped, (size_t)(p + reserved - (start + mapped)));
    madvise(start, n_bytes, MADV_HUGEPAGE);
    return start;
}

void os_pages_free(void *pages, size_t n_bytes) {
    if (gone_hook) gone_hook(pages, n_bytes); // before another thread has it again
    munmap(pages, with_zeros(n_bytes));
}

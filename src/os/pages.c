// SPDX-License-Identifier: Apache-2.0
// pages.c: see pages.h.
#include "os/pages.h"
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE_PAGE ((size_t)2 << 20)
#define BEHIND ((size_t)64 << 10) // addresses only: pages that nobody writes take no memory

static size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

static size_t with_zeros(size_t n_bytes) {
    return round_up(n_bytes, (size_t)sysconf(_SC_PAGESIZE)) + BEHIND;
}

void *os_pages(size_t n_bytes) {
    if (n_bytes > SIZE_MAX / 2) return NULL;
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

void os_pages_free(void *pages, size_t n_bytes) { munmap(pages, with_zeros(n_bytes)); }

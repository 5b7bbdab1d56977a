// SPDX-License-Identifier: Apache-2.0
// zeros.c: a reservation of addresses that is only ever read costs page tables and nothing else.
#include "os/zeros.h"
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#define HALF ((size_t)1 << 36) // 2^32 elements of 16 bytes: what 32-bit indices reach

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *middle;

static void map_zeros(void) {
    // Asked for where no process has its libraries: another process may want them at this address.
    char *p = mmap((void *)((uintptr_t)3 << 44), 2 * HALF, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) middle = p + HALF;
}

bool os_zeros_at(void *address) {
    char *from = (char *)address - HALF;
    char *p = mmap(from, 2 * HALF, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED && p != from) munmap(p, 2 * HALF);
    return p == from;
}

void *os_zeros(void) {
    pthread_once(&once, map_zeros);
    return middle;
}

bool os_among_zeros(const void *address) {
    uintptr_t at = (uintptr_t)address, from = (uintptr_t)middle - HALF;
    return middle && at >= from && at - from < 2 * HALF;
}

// SPDX-License-Identifier: Apache-2.0
// zeros.c: a reservation of addresses that is only ever read costs page tables and nothing else.
#include "os/zeros.h"
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#define HALF ((size_t)1 << 36) // 2^32 elements of 16 bytes: what 32-bit indices reach

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *middle;

static void make(void) {
    char *p = mmap(NULL, 2 * HALF, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) middle = p + HALF;
}

void *os_zeros(void) {
    pthread_once(&once, make);
    return middle;
}

bool os_among_zeros(const void *address) {
    uintptr_t at = (uintptr_t)address, from = (uintptr_t)middle - HALF;
    return middle && at >= from && at - from < 2 * HALF;
}

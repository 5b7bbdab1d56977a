// SPDX-License-Identifier: Apache-2.0
// claim.c: addresses of memory that only a child's device has. A number must not mean two things,
// for copies are told addresses of the program or of the device and find out themselves: so the
// program keeps these addresses free, with mappings that nobody can read. They are never given
// back: devices that come later have the same.
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/array.h"
#include "devices/isolate/isolate_int.h"

#define STEP ((uintptr_t)2 << 20) // drivers take as much at a time

typedef struct Span {
    uintptr_t from, to;
} Span;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static Span *spans; // in order, apart from each other; under lock
static size_t n_spans, capacity;

static size_t first_behind(uintptr_t address) { // the first that ends behind it
    size_t low = 0, high = n_spans;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans[middle].to <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool iso_is_claimed(uintptr_t address) {
    pthread_rwlock_rdlock(&lock);
    size_t i = first_behind(address);
    bool is = i < n_spans && spans[i].from <= address;
    pthread_rwlock_unlock(&lock);
    return is;
}

// A driver in this process keeps addresses for its devices too, and a child's has the same: where
// nothing can be read, the program has nothing.
static bool is_unreadable(uintptr_t from, uintptr_t to) {
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) return false;
    char line[512], rights[8];
    uint64_t start, end;
    bool ok = true;
    while (ok && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, rights) == 3)
            ok = start >= to || end <= from || !strncmp(rights, "---", 3);
    fclose(maps);
    return ok;
}

static bool keep_free(uintptr_t from, uintptr_t to) {
    void *at = (void *)from;
    void *p = mmap(at, to - from, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == at) return true;
    if (p != MAP_FAILED) munmap(p, to - from); // of a system that does not know the flag
    return is_unreadable(from, to);
}

// One more, joined with those that it touches; lock is held.
static bool add_span(uintptr_t from, uintptr_t to) {
    size_t first = first_behind(from - 1), last = first;
    while (last < n_spans && spans[last].from <= to) last++;
    if (first == last && !array_reserve(&spans, &capacity, n_spans + 1)) return false;
    if (first < last && spans[first].from < from) from = spans[first].from;
    if (first < last && spans[last - 1].to > to) to = spans[last - 1].to;
    size_t n_behind = n_spans - last;
    memmove(spans + first + 1, spans + last, n_behind * sizeof *spans);
    spans[first] = (Span){from, to};
    n_spans = first + 1 + n_behind;
    return true;
}

bool iso_claim(uintptr_t address, size_t n_bytes) {
    uintptr_t from = address & ~(STEP - 1), to = (address + n_bytes + STEP - 1) & ~(STEP - 1);
    if (!address || to <= from) return false;
    bool ok = true;
    pthread_rwlock_wrlock(&lock);
    while (ok && from < to) {
        size_t i = first_behind(from);
        if (i < n_spans && spans[i].from <= from) {
            from = spans[i].to;
            continue;
        }
        uintptr_t end = i < n_spans && spans[i].from < to ? spans[i].from : to;
        ok = keep_free(from, end) && add_span(from, end);
        from = end;
    }
    pthread_rwlock_unlock(&lock);
    return ok;
}

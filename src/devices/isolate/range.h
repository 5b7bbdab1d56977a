// SPDX-License-Identifier: Apache-2.0
// range.h: the memory that the host and the child share: one anonymous file, as long as what has
// been taken of it, in a range of addresses that is reserved once. What is known of it (which parts
// are taken) is kept apart, where no kernel reaches.
#ifndef INGOT_ISOLATE_RANGE_H
#define INGOT_ISOLATE_RANGE_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct IsoFree { // a part that was given back; in order, neighbours joined
    struct IsoFree *next;
    size_t at, n_bytes;
} IsoFree;

typedef struct IsoRange {
    int file;
    char *base;
    size_t n_bytes; // reserved
    pthread_mutex_t lock;
    size_t used;   // from here on nothing was ever taken; under lock
    size_t length; // of the file; under lock
    IsoFree *free; // under lock
} IsoRange;

// At an address that nobody can guess. `most` is reserved, or, of large ranges, as much as there is
// room for. The file never becomes shorter, whoever has it: what is there can always be read.
bool iso_range_open(IsoRange *range, size_t most);
// One that another process opened, mapped where that has it; only one of them takes and gives.
bool iso_range_join(IsoRange *range, int file, void *base, size_t n_bytes);
// The same file at any other address, for one who needs no pointers into it. NULL: it cannot.
void *iso_range_map(int file, size_t n_bytes);
void iso_range_close(IsoRange *range);
// Zeroed, of whole pages; NULL: no memory, or no room. Large ones have zeros behind, as os/pages.h.
void *iso_range_take(IsoRange *range, size_t n_bytes);
void iso_range_give(IsoRange *range, void *at, size_t n_bytes); // as many as were asked for
static inline bool iso_range_has(const IsoRange *range, const void *at) {
    return (const char *)at >= range->base && (const char *)at < range->base + range->n_bytes;
}
// Is all of it there to be read? For ranges that another process takes of.
bool iso_range_holds(const IsoRange *range, const void *at, uint64_t n_bytes);
#endif

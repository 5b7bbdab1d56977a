// SPDX-License-Identifier: Apache-2.0
// ranges.c: a list of what is free.
#include "base/ranges.h"
#include <stdlib.h>

typedef struct Range {
    struct Range *next;
    size_t first, n;
} Range;

bool ranges_begin(Ranges *ranges, size_t n) {
    Range *all = malloc(sizeof *all);
    if (!all) return false;
    *all = (Range){.n = n};
    ranges->free = all;
    return true;
}

void ranges_end(Ranges *ranges) {
    for (Range *r = ranges->free, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    ranges->free = NULL;
}

bool ranges_take(Ranges *ranges, size_t n, size_t *first) {
    Range **at = &ranges->free;
    while (*at && (*at)->n < n) at = &(*at)->next;
    Range *r = *at;
    if (!r) return false;
    *first = r->first;
    r->first += n;
    r->n -= n;
    if (r->n == 0) {
        *at = r->next;
        free(r);
    }
    return true;
}

void ranges_give(Ranges *ranges, size_t first, size_t n) {
    Range *before = NULL, **at = &ranges->free;
    while (*at && (*at)->first < first) before = *at, at = &(*at)->next;
    Range *after = *at;
    bool joins_before = before && before->first + before->n == first;
    bool joins_after = after && first + n == after->first;
    if (joins_before) {
        before->n += n;
        if (joins_after) {
            before->n += after->n;
            before->next = after->next;
            free(after);
        }
    } else if (joins_after) {
        after->first = first;
        after->n += n;
    } else {
        Range *r = malloc(sizeof *r);
        if (!r) return;
        *r = (Range){.next = after, .first = first, .n = n};
        *at = r;
    }
}

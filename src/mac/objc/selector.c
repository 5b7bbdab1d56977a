// SPDX-License-Identifier: Apache-2.0
// selector.c: one address for each name of a method. Names are never freed. Selectors stand at
// multiples of 8 so that the cache of a class can take its place from the address.
#include "mac/objc/objc_int.h"
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for all of these
static const char **names;                               // open addressing
static size_t n_names, room;
static char *chunk; // of memory for names
static size_t chunk_left;

struct ObjcSelectors objc_sel;

static size_t text_hash(const char *s) {
    size_t h = 1469598103934665603u;
    while (*s) h = (h ^ (unsigned char)*s++) * 1099511628211u;
    return h ^ h >> 29;
}

static size_t place(const char **table, size_t n, const char *name) {
    size_t at = text_hash(name) & (n - 1);
    while (table[at] && strcmp(table[at], name)) at = (at + 1) & (n - 1);
    return at;
}

static void grow(void) {
    size_t bigger_room = room ? room * 2 : 4096;
    const char **bigger = objc_zeroed(bigger_room * sizeof *bigger);
    for (size_t i = 0; i < room; i++)
        if (names[i]) bigger[place(bigger, bigger_room, names[i])] = names[i];
    free(names);
    names = bigger, room = bigger_room;
}

static const char *keep(const char *name) {
    size_t n = (strlen(name) + 1 + 7) & ~(size_t)7;
    if (n > chunk_left) {
        chunk_left = n > 65536 ? n : 65536;
        chunk = objc_must(aligned_alloc(16, (chunk_left + 15) & ~(size_t)15));
    }
    char *copy = chunk;
    chunk += n, chunk_left -= n;
    return strcpy(copy, name);
}

SEL objc_selector(const char *name) {
    pthread_mutex_lock(&lock);
    if ((n_names + 1) * 2 > room) grow();
    size_t at = place(names, room, name);
    if (!names[at]) names[at] = keep(name), n_names++;
    const char *found = names[at];
    pthread_mutex_unlock(&lock);
    return (SEL)(uintptr_t)found;
}

SEL sel_registerName(const char *name) { return name ? objc_selector(name) : NULL; }
SEL sel_getUid(const char *name) { return sel_registerName(name); }
const char *sel_getName(SEL s) { return s ? (const char *)s : "<null selector>"; }
BOOL sel_isEqual(SEL a, SEL b) { return a == b; }

BOOL sel_isMapped(SEL s) {
    if (!s) return NO;
    pthread_mutex_lock(&lock);
    bool known = room && names[place(names, room, (const char *)s)] == (const char *)s;
    pthread_mutex_unlock(&lock);
    return known;
}

void objc_selectors_start(void) {
#define X(field, text) objc_sel.field = objc_selector(text);
    OBJC_SELECTORS(X)
#undef X
}

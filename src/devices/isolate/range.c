// SPDX-License-Identifier: Apache-2.0
// range.c: see range.h. The file grows with what is taken: a kernel that writes behind that meets
// SIGBUS and not the machine's last memory. Pages that are given back leave the file.
#include "devices/isolate/range.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE ((size_t)16384) // Apple's; a multiple of ours
#define LARGE ((size_t)64 << 10)
#define BEHIND ((size_t)64 << 10) // addresses only
#define GROWTH ((size_t)64 << 20)
#define LEAST ((size_t)1 << 30)
#define LARGE_PAGE ((size_t)2 << 20)

// Between the program's heap and its libraries, where the child has nothing either: large ranges on
// any 2 MiB of 16 TiB, small ones on any page of another 16, which large ones cannot fill.
static char *reserve(size_t n_bytes) {
    const bool small = n_bytes < LEAST;
    const uintptr_t from = (uintptr_t)1 << (small ? 46 : 44), step = small ? PAGE : LARGE_PAGE;
    for (int attempt = 0; attempt < 8; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random) return NULL;
        char *hint = (char *)(from + random % (((uintptr_t)1 << 44) / step) * step);
        char *p = mmap(hint, n_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == hint) return p;
        if (p != MAP_FAILED) munmap(p, n_bytes);
    }
    return NULL;
}

void *iso_range_map(int file, size_t n_bytes) {
    char *base = reserve(n_bytes);
    void *p = base ? mmap(base, n_bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0)
                   : MAP_FAILED;
    if (p == MAP_FAILED && base) munmap(base, n_bytes);
    return p == MAP_FAILED ? NULL : p;
}

bool iso_range_open(IsoRange *range, size_t most) {
    *range = (IsoRange){.file = memfd_create("ingot-device", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (range->file < 0) return false;
    const size_t least = most < LEAST ? most : LEAST;
    if (!fcntl(range->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL))
        for (size_t n = most; !range->base && n >= least; n /= 4) {
            range->base = iso_range_map(range->file, n);
            range->n_bytes = n;
        }
    if (!range->base) {
        close(range->file);
        return false;
    }
    pthread_mutex_init(&range->lock, NULL);
    return true;
}

bool iso_range_holds(const IsoRange *range, const void *at, uint64_t n_bytes) {
    struct stat file;
    if (!range->base || !iso_range_has(range, at) || fstat(range->file, &file)) return false;
    size_t from = (size_t)((const char *)at - range->base);
    return from <= (size_t)file.st_size && n_bytes <= (size_t)file.st_size - from;
}

bool iso_range_join(IsoRange *range, int file, void *base, size_t n_bytes) {
    *range = (IsoRange){.file = file, .base = base, .n_bytes = n_bytes};
    pthread_mutex_init(&range->lock, NULL);
    return mmap(base, n_bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0) == base;
}

void iso_range_close(IsoRange *range) {
    munmap(range->base, range->n_bytes);
    close(range->file);
    for (IsoFree *f = range->free, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    pthread_mutex_destroy(&range->lock);
}

static size_t whole(size_t n_bytes) {
    size_t n = (n_bytes + PAGE - 1) & ~(PAGE - 1);
    return n_bytes > PAGE ? n + BEHIND : n ? n : PAGE;
}

// lock is held. SIZE_MAX: there is no such part.
static size_t take_free(IsoRange *range, size_t n) {
    for (IsoFree **at = &range->free; *at; at = &(*at)->next) {
        IsoFree *f = *at;
        if (f->n_bytes < n) continue;
        size_t from = f->at;
        f->at += n;
        f->n_bytes -= n;
        if (!f->n_bytes) {
            *at = f->next;
            free(f);
        }
        return from;
    }
    return SIZE_MAX;
}

static size_t take_fresh(IsoRange *range, size_t n) {
    if (n > range->n_bytes - range->used) return SIZE_MAX;
    size_t end = range->used + n;
    if (end > range->length) {
        size_t length = (end + GROWTH - 1) / GROWTH * GROWTH;
        length = length > range->n_bytes ? range->n_bytes : length;
        if (ftruncate(range->file, (off_t)length)) return SIZE_MAX;
        range->length = length;
    }
    range->used = end;
    return end - n;
}

void *iso_range_take(IsoRange *range, size_t n_bytes) {
    if (n_bytes > range->n_bytes) return NULL;
    size_t n = whole(n_bytes);
    pthread_mutex_lock(&range->lock);
    size_t at = take_free(range, n);
    if (at == SIZE_MAX) at = take_fresh(range, n);
    pthread_mutex_unlock(&range->lock);
    return at == SIZE_MAX ? NULL : range->base + at;
}

void iso_range_give(IsoRange *range, void *memory, size_t n_bytes) {
    size_t at = (size_t)((char *)memory - range->base), n = whole(n_bytes);
    // Empty pages read as zeros again; small parts are cleared where they lie.
    if (n < LARGE ||
        fallocate(range->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n))
        memset(memory, 0, n);
    IsoFree *fresh = malloc(sizeof *fresh);
    if (!fresh) return; // lost until the device goes
    pthread_mutex_lock(&range->lock);
    IsoFree **link = &range->free, *before = NULL;
    while (*link && (*link)->at < at) before = *link, link = &before->next;
    *fresh = (IsoFree){*link, at, n};
    *link = fresh;
    if (fresh->next && fresh->at + fresh->n_bytes == fresh->next->at) {
        IsoFree *after = fresh->next;
        fresh->n_bytes += after->n_bytes;
        fresh->next = after->next;
        free(after);
    }
    if (before && before->at + before->n_bytes == fresh->at) {
        before->n_bytes += fresh->n_bytes;
        before->next = fresh->next;
        free(fresh);
    }
    pthread_mutex_unlock(&range->lock);
}

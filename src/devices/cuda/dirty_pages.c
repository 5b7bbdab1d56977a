// SPDX-License-Identifier: Apache-2.0
// dirty_pages.c: dirty-page tracking: which pages the program wrote since the last query. Pages are
// write-protected, and a write by the program, or by a system call for it, removes the protection
// in the kernel, without a fault in user space (userfaultfd with WP_ASYNC; PAGEMAP_SCAN reads the
// written pages and protects them again atomically). Writes by a GPU are not seen.
// Needs Linux 6.7 and no privileges; without it, everything counts as written.
#include "devices/cuda/cuda_int.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// As in linux/fs.h and linux/userfaultfd.h of 6.7: systems to build on may have older ones.
typedef struct ScanArg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
} ScanArg;
typedef struct PageRegion {
    uint64_t start, end, categories;
} PageRegion;
#define SCAN _IOWR('f', 16, ScanArg)
enum { PROTECT_MATCHING = 1, CHECK_ASYNC = 2, IS_WRITTEN = 2 };
#define WP_UNPOPULATED ((uint64_t)1 << 13)
#define WP_ASYNC ((uint64_t)1 << 15)
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PAGE = 4096 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int faults = -1, pages = -1; // of the process

static void start(void) {
    struct uffdio_api api = {.api = UFFD_API, .features = WP_UNPOPULATED | WP_ASYNC};
    if (sysconf(_SC_PAGESIZE) != PAGE) return;
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 &&
        (pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) >= 0)
        faults = fd;
    else if (fd >= 0)
        close(fd);
}

// The first `n_regions` ranges that were written, protected again. Their number; -1: not known.
static long scan(uint64_t *from, uint64_t to, PageRegion *regions, size_t n_regions) {
    ScanArg arg = {.size = sizeof arg,
                   .flags = PROTECT_MATCHING | CHECK_ASYNC,
                   .start = *from,
                   .end = to,
                   .vec = (uintptr_t)regions,
                   .vec_len = n_regions,
                   .category_mask = IS_WRITTEN,
                   .return_mask = IS_WRITTEN};
    long n = ioctl(pages, SCAN, &arg);
    *from = arg.walk_end;
    return n;
}

bool cuda_watch(char *memory, size_t n_bytes) {
    if (dev_pages) return false; // another process writes there
    pthread_once(&once, start);
    if (faults < 0 || (uintptr_t)memory % PAGE || n_bytes % PAGE) return false;
    struct uffdio_register area = {.range = {(uintptr_t)memory, n_bytes},
                                   .mode = UFFDIO_REGISTER_MODE_WP};
    if (ioctl(faults, UFFDIO_REGISTER, &area)) return false;
    if (cuda_watched(memory, n_bytes, NULL, NULL)) return true;
    cuda_unwatch(memory, n_bytes);
    return false;
}

void cuda_unwatch(char *memory, size_t n_bytes) {
    struct uffdio_range range = {(uintptr_t)memory, n_bytes};
    if (faults >= 0) ioctl(faults, UFFDIO_UNREGISTER, &range);
}

bool cuda_watched(char *memory, size_t n_bytes, CudaWritten *written, void *context) {
    PageRegion regions[128];
    uint64_t from = (uintptr_t)memory & ~(uint64_t)(PAGE - 1),
             to = ((uintptr_t)memory + n_bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    while (from < to) {
        uint64_t before = from;
        long n = scan(&from, to, regions, sizeof regions / sizeof *regions);
        if (n < 0 || (n == 0 && from == before)) return false;
        for (long i = 0; written && i < n; i++)
            if (!written(context, (char *)regions[i].start, regions[i].end - regions[i].start))
                return false;
        if (n == 0) break;
    }
    return true;
}

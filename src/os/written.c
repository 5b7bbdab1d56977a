// SPDX-License-Identifier: Apache-2.0
// written.c: asynchronous write protection. The headers of older systems do not have all of it:
// what the kernel takes is written down here.
#include "os/written.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// linux/userfaultfd.h
enum { USER_MODE_ONLY = 1, FEATURE_WP_UNPOPULATED = 1 << 13, FEATURE_WP_ASYNC = 1 << 15 };
// linux/fs.h
struct region {
    uint64_t start, end, categories;
};
struct scan {
    uint64_t size, flags, start, end, walk_end, regions, n_regions, max_pages;
    uint64_t inverted, all_of, any_of, returned;
};
enum { SCAN_CHECK_WPASYNC = 1 << 1, PAGE_IS_WRITTEN = 1 << 1 };
#define SCAN _IOWR('f', 16, struct scan)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int faults = -1, pages = -1; // -1: the system cannot

static void begin(void) {
    struct uffdio_api api = {.api = UFFD_API,
                             .features = FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED};
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
    pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (faults >= 0 && pages >= 0 && !ioctl(faults, UFFDIO_API, &api)) return;
    if (faults >= 0) close(faults);
    if (pages >= 0) close(pages);
    faults = pages = -1;
}

static struct uffdio_range range(const void *at, size_t n_bytes) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (struct uffdio_range){(uintptr_t)at, (n_bytes + page - 1) / page * page};
}

bool os_written_watch(void *at, size_t n_bytes) {
    pthread_once(&once, begin);
    struct uffdio_register r = {.range = range(at, n_bytes), .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect p = {.range = r.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    if (faults < 0 || ioctl(faults, UFFDIO_REGISTER, &r)) return false;
    if (!ioctl(faults, UFFDIO_WRITEPROTECT, &p) && !os_written(at, n_bytes)) return true;
    os_written_unwatch(at, n_bytes);
    return false;
}

bool os_written(void *at, size_t n_bytes) {
    struct uffdio_range r = range(at, n_bytes);
    struct region first;
    struct scan s = {.size = sizeof s,
                     .flags = SCAN_CHECK_WPASYNC, // it fails where nobody watches
                     .start = r.start,
                     .end = r.start + r.len,
                     .regions = (uintptr_t)&first,
                     .n_regions = 1,
                     .max_pages = 1,
                     .all_of = PAGE_IS_WRITTEN,
                     .returned = PAGE_IS_WRITTEN};
    return faults < 0 || ioctl(pages, SCAN, &s) != 0 || s.walk_end != s.end;
}

void os_written_unwatch(void *at, size_t n_bytes) {
    struct uffdio_range r = range(at, n_bytes);
    if (faults >= 0) ioctl(faults, UFFDIO_UNREGISTER, &r);
}

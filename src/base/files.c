// SPDX-License-Identifier: Apache-2.0
// files.c: whole files, atomic replacement (temporary file in the same folder, then rename),
// folders (see files.h).
#include "base/files.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_STREAM_BYTES ((size_t)1 << 26) // of what is no regular file: /dev/zero does not end

// All that `fd` gives, which is closed. fd < 0: it could not be opened.
static unsigned char *read_and_close(int fd, size_t *n_bytes) {
    *n_bytes = 0;
    unsigned char *data = NULL;
    int why = 0;
    if (fd < 0) return NULL;
    struct stat st;
    if (fstat(fd, &st)) goto fail;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        goto fail;
    }
    // One byte more than the size: the read that finds the end needs no growth.
    size_t capacity = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size + 1 : 65536, n = 0;
    data = malloc(capacity + 1);
    if (!data) goto fail;
    for (;;) {
        if (n == capacity && !S_ISREG(st.st_mode) && n >= MAX_STREAM_BYTES) {
            errno = EFBIG;
            goto fail;
        }
        if (n == capacity) {
            unsigned char *more = realloc(data, capacity * 2 + 1);
            if (!more) goto fail;
            data = more;
            capacity *= 2;
        }
        ssize_t got = read(fd, data + n, capacity - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) goto fail;
        if (!got) break;
        n += (size_t)got;
    }
    close(fd);
    data[n] = 0;
    *n_bytes = n;
    return data;
fail:
    why = errno;
    free(data);
    close(fd);
    errno = why;
    return NULL;
}

unsigned char *file_read(const char *path, size_t *n_bytes) {
    return read_and_close(open(path, O_RDONLY | O_CLOEXEC), n_bytes);
}

unsigned char *file_read_own(const char *folder, const char *name, size_t *n_bytes) {
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return NULL;
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), why = errno;
    close(at);
    errno = why;
    return read_and_close(fd, n_bytes);
}

bool write_all(int fd, const void *data, size_t n) {
    const char *p = data;
    while (n) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

static bool write_direct(const char *path, const void *data, size_t n) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    bool ok = write_all(fd, data, n);
    int why = errno;
    if (close(fd) && ok) return false;
    errno = why;
    return ok;
}

// A name beside `path` that nobody else uses. Not mkstemp: its mode 0600 would stay on the result.
static char *temporary_name(const char *path) {
    static atomic_uint counter;
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        random = (uintptr_t)&random;
    return text_format("%s.%ld-%u-%08x.tmp", path, (long)getpid(), atomic_fetch_add(&counter, 1),
                       (unsigned)random);
}

bool file_write_atomic(const char *path, const void *data, size_t n, bool durable) {
    struct stat st;
    char *real = NULL, *temporary = NULL;
    int fd = -1, why;
    if (!stat(path, &st)) {
        if (S_ISDIR(st.st_mode)) {
            errno = EISDIR;
            return false;
        }
        if (!S_ISREG(st.st_mode)) return write_direct(path, data, n);
        real = realpath(path, NULL); // replace what a symbolic link names, not the link
        if (!real) return false;
    }
    temporary = temporary_name(real ? real : path);
    if (!temporary) goto fail;
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) goto fail;
    if (!write_all(fd, data, n) || (durable && fdatasync(fd))) goto fail_written;
    int closed = close(fd);
    fd = -1;
    if (closed || rename(temporary, real ? real : path)) goto fail_written;
    free(temporary);
    free(real);
    return true;
fail_written:
    why = errno;
    unlink(temporary);
    errno = why;
fail:
    why = errno;
    if (fd >= 0) close(fd);
    free(temporary);
    free(real);
    errno = why;
    return false;
}

bool is_dir(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool make_dirs(const char *path, unsigned mode) {
    if (is_dir(path)) return true;
    char *copy = strdup(path);
    if (!copy) return false;
    bool ok = true;
    for (char *p = copy + 1; ok && *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        ok = !mkdir(copy, mode) || errno == EEXIST || is_dir(copy);
        *p = '/';
    }
    if (ok && mkdir(copy, mode) && errno != EEXIST) ok = false;
    free(copy);
    return ok && is_dir(path);
}

char *path_join(const char *folder, const char *name) {
    size_t n = strlen(folder);
    return text_format("%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

char *path_under(const char *folder, const char *path) {
    return path[0] == '/' ? strdup(path) : path_join(folder, path);
}

char *executable_dir(void) {
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return NULL;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) return NULL;
    slash[slash == path] = 0;
    return strdup(path);
}

static char *cache_name(void) {
    const char *own = getenv("INGOT_CACHE_DIR");
    if (own && !strcmp(own, "off")) return NULL;
    if (own && *own) return strdup(own);
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && *xdg == '/')
        return path_join(xdg, "ingot"); // the XDG rule: relative ones are ignored
    const char *home = getenv("HOME");
    if (home && *home == '/') return path_join(home, ".cache/ingot");
    return NULL;
}

// Nobody but this user, and root, can put anything there.
static bool ours_alone(const char *path) {
    struct stat st;
    if (stat(path, &st)) return true; // it will be made with the right mode
    if (st.st_uid != geteuid() && st.st_uid != 0) return false;
    return !(st.st_mode & (S_IWOTH | S_IWGRP));
}

char *cache_dir(void) {
    char *path = cache_name();
    if (!path || ours_alone(path)) return path;
    free(path);
    return NULL;
}

unsigned long long env_number(const char *name, unsigned long long fallback) {
    const char *s = getenv(name);
    if (!s || !*s || *s == '-') return fallback;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    return errno || *end || end == s ? fallback : v;
}

// SPDX-License-Identifier: Apache-2.0
// rustc_preload.c: libingot-rustc, which `ingot cargo` puts before rustc and rustdoc (LD_PRELOAD).
// A Rust source that they open is read as rust_source.h says; its name, size and lines are the
// file's. Nothing else of the process changes, and what it starts (the linker) is not preloaded.
//   INGOT_RUSTC_MODE    "mac": the crate is a Mac's; "linux": frameworks alone
//   INGOT_RUSTC_NOTES   a file that is told of frameworks that are not beside this library, a line
//                       each: framework, a blank, crate
//   INGOT_RUSTC_SCRIPT  a script for the linker: a line for each other crate that is a Mac's
#include "mac/cargo/rust_source.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static enum { OFF, LINUX, MAC } mode;
static char folder[PATH_MAX - 256]; // of this library

static int is_driver(struct dl_phdr_info *info, size_t n, void *context) {
    (void)n, (void)context;
    return info->dlpi_name && strstr(info->dlpi_name, "/librustc_driver-") != NULL;
}

// The compiler's own children are not compilers. A launcher in front of it (rustup's) hands on.
static void stop_here(const char *self) {
    const char *list = getenv("LD_PRELOAD");
    if (!list || !dl_iterate_phdr(is_driver, NULL)) return;
    const size_t n = strlen(self);
    if (strncmp(list, self, n) == 0 && list[n] == ':')
        setenv("LD_PRELOAD", list + n + 1, 1);
    else if (strcmp(list, self) == 0)
        unsetenv("LD_PRELOAD");
}

__attribute__((constructor)) static void start(void) {
    const char *asked = getenv("INGOT_RUSTC_MODE");
    Dl_info info;
    if (asked) mode = strcmp(asked, "mac") == 0 ? MAC : LINUX;
    if (!dladdr(folder, &info) || !info.dli_fname || strlen(info.dli_fname) >= sizeof folder)
        return;
    stop_here(info.dli_fname);
    strcpy(folder, info.dli_fname);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
}

// Adds a line to a file that has it not yet.
static void note(const char *file, const char *line) {
    char text[65536];
    int fd = open(file, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    bool known = false;
    text[n > 0 ? n : 0] = 0;
    for (const char *at = text; !known && (at = strstr(at, line)); at++)
        known = at == text || at[-1] == '\n';
    if (n < 0 || (!known && write(fd, line, strlen(line)) != (ssize_t)strlen(line)))
        fprintf(stderr, "ingot cargo: cannot write %s\n", file);
    if (fd >= 0) close(fd);
}

// A framework that a program is linked with is loaded on a Mac, even if the program names nothing
// of it but classes when it runs. rustc links as needed: so the linker is told again, by a script.
static void note_framework(void *context, const char *name, size_t n) {
    (void)context;
    char path[PATH_MAX], real[PATH_MAX], line[512];
    const char *notes = getenv("INGOT_RUSTC_NOTES"), *script = getenv("INGOT_RUSTC_SCRIPT");
    const char *crate = getenv("CARGO_PKG_NAME");
    if (n > 128 || memchr(name, '/', n) || memchr(name, ')', n)) return;
    snprintf(path, sizeof path, "%s/lib%.*s.so", folder, (int)n, name);
    if (!realpath(path, real)) {
        snprintf(line, sizeof line, "%.*s %s\n", (int)n, name, crate ? crate : "?");
        if (notes) note(notes, line);
    } else if (mode == MAC && script && !strstr(real, "/libingot-empty.so")) {
        snprintf(line, sizeof line, "INPUT(-l%.*s)\n", (int)n, name);
        note(script, line);
    }
}

// All of a plain file, or NULL.
static char *read_source(int fd, size_t *n_bytes) {
    struct stat about;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size <= 0) return NULL;
    char *text = malloc((size_t)about.st_size);
    ssize_t n = 1;
    *n_bytes = 0;
    while (text && n > 0 && *n_bytes < (size_t)about.st_size) {
        n = pread(fd, text + *n_bytes, (size_t)about.st_size - *n_bytes, (off_t)*n_bytes);
        if (n > 0) *n_bytes += (size_t)n;
    }
    return text;
}

// The file behind fd, or in its place one in memory with the text as a Mac means it.
static int as_a_mac_means(const char *path, int fd) {
    const size_t length = strlen(path);
    if (mode == OFF || fd < 0 || length < 3 || strcmp(path + length - 3, ".rs") != 0) return fd;
    size_t n;
    char *text = read_source(fd, &n);
    const RustSource how = {.is_mac = mode == MAC, .framework = note_framework};
    if (text && rust_source_rewrite(&how, text, n)) {
        int memory = memfd_create("rust source", MFD_CLOEXEC);
        if (memory >= 0 && write(memory, text, n) == (ssize_t)n && lseek(memory, 0, SEEK_SET) == 0)
            dup3(memory, fd, O_CLOEXEC);
        if (memory >= 0) close(memory);
    }
    free(text);
    return fd;
}

#define OPEN(name)                                                                                 \
    EXPORT int name(const char *path, int flags, ...) {                                            \
        static __typeof__(&name) real;                                                             \
        if (!real) real = (__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name);                   \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t bits = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;                  \
        va_end(list);                                                                              \
        int fd = real(path, flags, bits);                                                          \
        return (flags & O_ACCMODE) == O_RDONLY ? as_a_mac_means(path, fd) : fd;                    \
    }
OPEN(open)
OPEN(open64)

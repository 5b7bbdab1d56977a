// SPDX-License-Identifier: Apache-2.0
// rustc_preload.c: libingot-rustc, which `ingot cargo` puts before rustc and rustdoc (LD_PRELOAD).
// A Rust source that they open is read as rust_source.h says; its name, size and lines are the
// file's. Nothing else of the process changes, and what rustc starts (the linker) is not preloaded.
// rustdoc --test starts rustc for the examples in comments, which come by a file or by stdin, and
// then the examples.
//   INGOT_RUSTC_MODE    "mac": the crate is a Mac's; "linux": frameworks alone
//   INGOT_RUSTC_NOTES   a file that is told of frameworks that are not beside this library, a line
//                       each: framework, a blank, crate
//   INGOT_RUSTC_STDIN   set by rustdoc --test: what rustc reads from stdin is a crate's own text
//   INGOT_RUSTC_SCRIPT  a script for the linker: a line for each other crate that is a Mac's
#include "mac/cargo/rust_source.h"
#include <dlfcn.h>
#include <errno.h>
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

static void stop_here(const char *self) {
    const char *list = getenv("LD_PRELOAD");
    if (!list) return;
    const size_t n = strlen(self);
    if (strncmp(list, self, n) == 0 && list[n] == ':')
        setenv("LD_PRELOAD", list + n + 1, 1);
    else if (strcmp(list, self) == 0)
        unsetenv("LD_PRELOAD");
}

static bool has_argument(int argc, char **argv, const char *text) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], text) == 0) return true;
    return false;
}

static bool ends_in_rustdoc(const char *program) {
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, "rustdoc") == 0;
}

static void rewrite_stdin(void);

// A compiler's children are not compilers, but rustdoc's are while it tests. A launcher in front of
// a compiler (rustup's) hands on; any other program is an example that rustdoc runs.
static void take_part(const char *self, int argc, char **argv) {
    const bool compiles = dl_iterate_phdr(is_driver, NULL), tested = getenv("INGOT_RUSTC_STDIN");
    const char *asked = getenv("INGOT_RUSTC_MODE");
    if (compiles && asked) mode = strcmp(asked, "mac") == 0 ? MAC : LINUX;
    if (compiles && argc > 0 && ends_in_rustdoc(argv[0]) && has_argument(argc, argv, "--test"))
        setenv("INGOT_RUSTC_STDIN", "1", 1);
    else if (compiles || tested)
        stop_here(self);
    if (compiles && tested && has_argument(argc, argv, "-")) rewrite_stdin();
}

__attribute__((constructor)) static void start(int argc, char **argv) {
    Dl_info info;
    if (!dladdr(folder, &info) || !info.dli_fname || strlen(info.dli_fname) >= sizeof folder)
        return;
    strcpy(folder, info.dli_fname);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    take_part(info.dli_fname, argc, argv);
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

// Puts the text as a Mac means it in the place of fd, if it differs.
static void put_rewritten(char *text, size_t n, int fd, bool must) {
    const RustSource how = {.is_mac = mode == MAC, .framework = note_framework};
    if (!rust_source_rewrite(&how, text, n) && !must) return;
    int memory = memfd_create("rust source", MFD_CLOEXEC);
    const bool put = memory >= 0 && write(memory, text, n) == (ssize_t)n &&
                     lseek(memory, 0, SEEK_SET) == 0 && dup3(memory, fd, O_CLOEXEC) == fd;
    if (must && !put) abort(); // its pipe is read: rustc would compile nothing and be content
    if (memory >= 0) close(memory);
}

// The file behind fd, or in its place one in memory with the text as a Mac means it.
static int as_a_mac_means(const char *path, int fd) {
    const size_t length = strlen(path);
    if (mode == OFF || fd < 0 || length < 3 || strcmp(path + length - 3, ".rs") != 0) return fd;
    size_t n;
    char *text = read_source(fd, &n);
    if (text) put_rewritten(text, n, fd, false);
    free(text);
    return fd;
}

// An example in a comment comes through a pipe, which is read to its end here.
static void rewrite_stdin(void) {
    char *text = NULL;
    size_t n = 0, room = 0;
    for (ssize_t got = 1; got > 0; n += got > 0 ? (size_t)got : 0) {
        if (n == room) {
            char *more = realloc(text, room = 2 * room + 65536);
            if (!more) abort(); // half a program is none
            text = more;
        }
        while ((got = read(STDIN_FILENO, text + n, room - n)) < 0 && errno == EINTR) continue;
    }
    put_rewritten(text, n, STDIN_FILENO, true);
    free(text);
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

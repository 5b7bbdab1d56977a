// SPDX-License-Identifier: Apache-2.0
// preload.c: libingot-mac, which `ingot mac` puts before a program (LD_PRELOAD). Two things of a
// Mac that no search path gives:
//   libraries  dlopen of "/usr/lib/libobjc.A.dylib",
//              "/System/Library/Frameworks/Metal.framework/Metal" and the like opens the library
//              of that name beside this one
//   one file   /System/Library/CoreServices/SystemVersion.plist, where Python's platform.mac_ver()
//              and others read the version of macOS
// Everything else goes to the C library as it was. Calls end in a jump to the real function, so
// that dlopen sees its true caller, whose search path counts.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
// The function of the C library, looked up once. dlsym gives a pointer to an object; POSIX promises
// that it holds a function's address.
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real) real = (__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name)

static char folder[PATH_MAX - 256]; // of the libraries: this one's

__attribute__((constructor)) static void find_folder(void) {
    Dl_info info;
    if (!dladdr(folder, &info) || !info.dli_fname) return;
    char path[PATH_MAX];
    if (!realpath(info.dli_fname, path) || strlen(path) >= sizeof folder) return;
    *strrchr(path, '/') = 0;
    strcpy(folder, path);
}

// ---- Libraries ----

static bool starts(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

// "Metal" of ".../Metal.framework/Versions/A/Metal", "objc" of "libobjc.A.dylib"; 0: no such name.
static size_t short_name(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n;
    if (strstr(path, ".framework/")) {
        n = strlen(name);
    } else {
        const char *dot = strchr(name, '.');
        bool apples = dot && strlen(name) > 6 && !strcmp(name + strlen(name) - 6, ".dylib");
        // GNU's Objective-C runtime, which find_library("objc") of this system finds, has no
        // objc_msgSend: who asks for it here means ours.
        bool gnus = starts(name, "libobjc.so");
        if (!starts(name, "lib") || (!apples && !gnus)) return 0;
        name += 3;
        n = (size_t)(dot - name);
    }
    if (!n || n >= size) return 0;
    memcpy(out, name, n);
    out[n] = 0;
    return n;
}

// The file for a name of a Mac; false: it is none, or we have no such library.
static bool translate(const char *path, char *out, size_t size) {
    char name[128];
    if (!path || !*folder || starts(path, folder) || !short_name(path, name, sizeof name))
        return false;
    snprintf(out, size, "%s/lib%s.so.0", folder, name); // libSystem.so is a linker's script
    if (!access(out, R_OK)) return true;
    snprintf(out, size, "%s/lib%s.so", folder, name);
    return !access(out, R_OK);
}

EXPORT void *dlopen(const char *path, int mode) {
    REAL(dlopen);
    static _Thread_local char ours[PATH_MAX];
    if (translate(path, ours, sizeof ours)) path = ours;
    return real(path, mode);
}

// ---- The one file ----

static const char *file(const char *path) {
    static char ours[PATH_MAX];
    if (!path || path[0] != '/' || path[1] != 'S' ||
        strcmp(path, "/System/Library/CoreServices/SystemVersion.plist") || !*folder)
        return path;
    snprintf(ours, sizeof ours, "%s/SystemVersion.plist", folder); // the same each time
    return ours;
}

static mode_t mode_of(int flags, va_list list) {
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    EXPORT int name(const char *path, int flags, ...) {                                            \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        REAL(name);                                                                                \
        return real(file(path), flags, mode);                                                      \
    }
#define OPENAT(name)                                                                               \
    EXPORT int name(int at, const char *path, int flags, ...) {                                    \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        REAL(name);                                                                                \
        return real(at, file(path), flags, mode);                                                  \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
EXPORT FILE *fopen(const char *path, const char *mode) {
    REAL(fopen);
    return real(file(path), mode);
}
EXPORT FILE *fopen64(const char *path, const char *mode) {
    REAL(fopen64);
    return real(file(path), mode);
}
EXPORT int access(const char *path, int mode) {
    REAL(access);
    return real(file(path), mode);
}
EXPORT int stat(const char *path, struct stat *out) {
    REAL(stat);
    return real(file(path), out);
}
EXPORT int stat64(const char *path, struct stat64 *out) {
    REAL(stat64);
    return real(file(path), out);
}
EXPORT int fstatat(int at, const char *path, struct stat *out, int flags) {
    REAL(fstatat);
    return real(at, file(path), out, flags);
}
EXPORT int fstatat64(int at, const char *path, struct stat64 *out, int flags) {
    REAL(fstatat64);
    return real(at, file(path), out, flags);
}
// Programs built against an older C library call this for stat.
EXPORT int __xstat(int version, const char *path, struct stat *out);
EXPORT int __xstat(int version, const char *path, struct stat *out) {
    (void)version;
    REAL(stat);
    return real(file(path), out);
}

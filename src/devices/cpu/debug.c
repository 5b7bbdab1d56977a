// SPDX-License-Identifier: Apache-2.0
// debug.c: support for debugging kernels (MTL_SHADER_DEBUG=1). Code objects are files that a
// debugger can open, so that it knows them like any library, breakpoints that wait for them
// included; and one thread at a time runs them: what reference code tells a debugger about its
// thread is one for all (codegen/support/lanes.c).
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/files.h"
#include "base/sha256.h"
#include "devices/cpu/engine.h"

#define KEPT_SECONDS (7 * 24 * 3600)

bool cpu_debugged;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t turn; // recursive: a receiver of logs may run kernels

static void begin(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&turn, &attributes);
    pthread_mutexattr_destroy(&attributes);
    cpu_debugged = env_number("MTL_SHADER_DEBUG", 0) != 0;
}

void cpu_debug_enter(void) { pthread_mutex_lock(&turn); }
void cpu_debug_leave(void) { pthread_mutex_unlock(&turn); }

// Files of programs that ran long ago.
static void remove_old(const char *folder) {
    DIR *dir = opendir(folder);
    time_t now = time(NULL);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        const char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".so")) continue;
        if (!fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
            st.st_mtime + KEPT_SECONDS < now)
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir) closedir(dir);
}

// Named after its contents: equal code is one file, and one library of the process.
static char *write_file(const void *bytes, size_t n_bytes) {
    unsigned char hash[SHA256_BYTES];
    char name[32] = "kernel-", *cache = cache_dir();
    char *folder = cache ? path_join(cache, "debug") : NULL;
    sha256(bytes, n_bytes, hash);
    for (int i = 0; i < 8; i++) sprintf(name + 7 + 2 * i, "%02x", hash[i]);
    strcat(name, ".so");
    char *path = folder ? path_join(folder, name) : NULL;
    if (path && make_dirs(folder, 0700)) {
        remove_old(folder);
        if (!file_write_atomic(path, bytes, n_bytes, false)) free(path), path = NULL;
    } else {
        free(path), path = NULL;
    }
    free(folder);
    free(cache);
    return path;
}

char *cpu_debug_open(const void *bytes, size_t n_bytes, void **library) {
    pthread_once(&once, begin); // code is loaded before any runs
    char *path = cpu_debugged ? write_file(bytes, n_bytes) : NULL;
    const struct link_map *map = NULL;
    *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(path);
    if (*library && dlinfo(*library, RTLD_DI_LINKMAP, &map)) {
        dlclose(*library);
        *library = NULL;
    }
    return *library ? (char *)(uintptr_t)map->l_addr : NULL;
}

void cpu_debug_close(void *library) { dlclose(library); }

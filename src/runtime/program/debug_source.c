// SPDX-License-Identifier: Apache-2.0
// debug_source.c: the source of a library as a file that a debugger or a profile can show. A
// program gives the compiler a text; where its name is not that of a file with this text, the text
// is written into the cache folder.
#include "runtime/program/library.h"
#include "base/files.h"
#include "base/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_file_of(const char *path, const char *text, size_t n_bytes) {
    size_t n = 0;
    unsigned char *bytes = file_read(path, &n);
    bool same = bytes && n == n_bytes && !memcmp(bytes, text, n);
    free(bytes);
    return same;
}

// The last part of a name, of letters that a file name may have.
static void plain_name(char *to, size_t room, const char *name) {
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    size_t n = 0;
    for (; last[n] && n + 1 < room; n++)
        to[n] = (last[n] >= 'a' && last[n] <= 'z') || (last[n] >= 'A' && last[n] <= 'Z') ||
                        (last[n] >= '0' && last[n] <= '9') || strchr("._-", last[n])
                    ? last[n]
                    : '_';
    to[n] = 0;
}

char *rt_debug_source(const char *name, const char *text, size_t n_bytes) {
    unsigned char hash[SHA256_BYTES];
    char sub_folder[40] = "debug/", file[80], plain[64];
    if (is_file_of(name, text, n_bytes)) return realpath(name, NULL);
    sha256(text, n_bytes, hash);
    for (int i = 0; i < 8; i++) sprintf(sub_folder + 6 + 2 * i, "%02x", hash[i]);
    plain_name(plain, sizeof plain, name);
    snprintf(file, sizeof file, "%s%s", plain, strchr(plain, '.') ? "" : ".metal");
    char *cache = cache_dir(), *folder = cache ? path_join(cache, sub_folder) : NULL;
    char *path = folder ? path_join(folder, file) : NULL;
    bool there = path && make_dirs(folder, 0700) &&
                 (is_file_of(path, text, n_bytes) || file_write_atomic(path, text, n_bytes, false));
    free(folder);
    free(cache);
    if (there) return path;
    free(path);
    return NULL;
}

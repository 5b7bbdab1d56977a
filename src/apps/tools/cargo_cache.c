// SPDX-License-Identifier: Apache-2.0
// cargo_cache.c: what `ingot cargo` found out the last time, so that a build with nothing to do
// does not ask rustc and cargo again (0.2 s). A file in the cache folder holds the question, the
// answer, and a stamp (time, size) of each file that the answer came from: manifests, the lock
// file, rustc.
#include "apps/tools/cargo_int.h"
#include "base/files.h"
#include "base/hash_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *cache_path(const char *question) {
    char *cache = cache_dir();
    char *path =
        cache ? text_format("%s/cargo/%016llx", cache, (unsigned long long)hash_text(question))
              : NULL;
    free(cache);
    return path;
}

// "time size path\n"; a file that is not there has a stamp too.
static void add_stamp(Text *t, const char *path) {
    struct stat about;
    if (stat(path, &about))
        text_printf(t, "- - %s\n", path);
    else
        text_printf(t, "%lld.%09ld %lld %s\n", (long long)about.st_mtim.tv_sec,
                    about.st_mtim.tv_nsec, (long long)about.st_size, path);
}

// Cuts the next line off *at; NULL: there is none.
static char *next_line(char **at) {
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (!end) return NULL;
    *end = 0;
    *at = end + 1;
    return line;
}

static bool is_as_it_was(const char *line) {
    const char *space = strchr(line, ' '), *path = space ? strchr(space + 1, ' ') : NULL;
    Text now = {0};
    if (path) add_stamp(&now, path + 1);
    bool same =
        now.data && strlen(line) + 1 == now.n_bytes && !strncmp(line, now.data, strlen(line));
    text_free(&now);
    return same;
}

bool cargo_recall(const char *question, char **host, char **folder) {
    size_t n;
    char *path = cache_path(question), *text = path ? (char *)file_read(path, &n) : NULL,
         *at = text;
    const char *asked = next_line(&at), *its_host = next_line(&at), *its_folder = next_line(&at);
    bool same = asked && its_host && its_folder && !strcmp(asked, question);
    for (const char *line; same && (line = next_line(&at));) same = is_as_it_was(line);
    if (same) *host = strdup(its_host), *folder = strdup(its_folder);
    free(path), free(text);
    return same && *host && *folder;
}

void cargo_remember(const char *question, const char *host, const char *folder,
                    const Strings *files) {
    Text t = {0};
    char *path = cache_path(question), *end = path ? strrchr(path, '/') : NULL;
    text_printf(&t, "%s\n%s\n%s\n", question, host, folder);
    for (size_t i = 0; i < files->n; i++) add_stamp(&t, files->items[i]);
    if (end) {
        *end = 0;
        bool there = make_dirs(path, 0700);
        *end = '/';
        if (there && !t.failed) file_write_atomic(path, t.data, t.n_bytes, false); // or asked again
    }
    free(path);
    text_free(&t);
}

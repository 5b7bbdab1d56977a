// SPDX-License-Identifier: Apache-2.0
// testing.h: cmocka with the headers it wants, and a folder that goes away.
#ifndef INGOT_TESTS_BASE_TESTING_H
#define INGOT_TESTS_BASE_TESTING_H
#include "../unit.h"
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int testing_remove(const char *path, const struct stat *st, int flag,
                                 struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static inline char *testing_folder(void) {
    char *path = strdup("/tmp/ingot-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

// A file of the folder, in one of a few buffers.
static inline char *testing_path(const char *folder, const char *name) {
    static char path[4][4096];
    static int i;
    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s/%s", folder, name);
    return path[i];
}

static inline void testing_remove_folder(char *path) {
    nftw(path, testing_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

// Plain files in a folder whose name does not begin with a dot; 0 if it is not there.
static inline int testing_count(const char *folder, const char *sub) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, sub);
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}
#endif

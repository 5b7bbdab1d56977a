// SPDX-License-Identifier: Apache-2.0
// cmd_cache.c: `ingot cache`: where the compiler's results are kept, how much there is, and
// clearing. Only files in the folders that the cache itself makes are touched.
#include "base/files.h"
#include "apps/tools/tools.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Job {
    const char *what;
} Job;

static const CommandLine line = {
    .program = "ingot cache",
    .usage = "[size | clear | dir]",
    .about = "Compiled libraries and kernels are cached on disk, so that programs start faster the "
             "next\n"
             "time. The cache can be deleted at any time: missing entries are compiled again.\n"
             "\n"
             "  size    print the size of the cache (default)\n"
             "  clear   delete all entries\n"
             "  dir     print the directory\n"
             "\n"
             "The directory is $INGOT_CACHE_DIR, $XDG_CACHE_HOME/ingot or ~/.cache/ingot.\n"
             "INGOT_CACHE_DIR=off disables the cache; INGOT_CACHE_LIMIT_MB (1024) limits its size.",
    OPT_WORD(Job, what),
};

static const char *const kinds[] = {"libraries", "kernels", "pch", "locks"};
enum { N_KINDS = 4, N_COUNTED = 3 };

typedef struct Tally {
    size_t n, n_failed;
    unsigned long long n_bytes;
} Tally;

static Tally walk(const char *dir, const char *kind, bool clear) {
    Tally t = {0};
    char *folder = path_join(dir, kind);
    DIR *d = folder ? opendir(folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        t.n++;
        t.n_bytes += (unsigned long long)st.st_size;
        if (clear && unlinkat(dirfd(d), e->d_name, 0) && errno != ENOENT) t.n_failed++;
    }
    if (d) closedir(d);
    free(folder);
    return t;
}

static int size(const char *dir) {
    static const char *const names[] = {"libraries", "kernels", "precompiled headers"};
    unsigned long long total = 0;
    printf("%s\n", dir);
    for (int i = 0; i < N_COUNTED; i++) {
        Tally t = walk(dir, kinds[i], false);
        total += t.n_bytes;
        printf("  %-20s %6zu files %10.2f MiB\n", names[i], t.n, (double)t.n_bytes / 1048576);
    }
    printf("  %-20s %23.2f MiB of %llu\n", "total", (double)total / 1048576,
           env_number("INGOT_CACHE_LIMIT_MB", 1024));
    return EXIT_FINE;
}

static int clear(const char *dir) {
    size_t n = 0, n_failed = 0;
    unsigned long long n_bytes = 0;
    for (int i = 0; i < N_KINDS; i++) {
        Tally t = walk(dir, kinds[i], true);
        if (i < N_COUNTED) {
            n += t.n;
            n_bytes += t.n_bytes;
        }
        n_failed += t.n_failed;
    }
    if (n_failed)
        return complain(EXIT_INPUT, "cache", "%zu files in '%s' cannot be removed: %s", n_failed,
                        dir, strerror(errno));
    printf("removed %zu files, %.2f MiB\n", n, (double)n_bytes / 1048576);
    return EXIT_FINE;
}

int cmd_cache(int argc, char **argv) {
    Job job = {"size"};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    const char *what = job.what;
    if (strcmp(what, "size") && strcmp(what, "clear") && strcmp(what, "dir"))
        return options_wrong(&line, "expected size, clear or dir (see `ingot cache --help`)");
    char *dir = cache_dir();
    if (!dir) {
        puts("no cache folder (INGOT_CACHE_DIR is off, HOME is not set, or others may "
             "write to it)");
        return EXIT_FINE;
    }
    status = EXIT_FINE;
    if (!strcmp(what, "dir"))
        puts(dir);
    else
        status = *what == 's' ? size(dir) : clear(dir);
    free(dir);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// seeds_main.c: seeds_main FOLDER: a driver over the seeds of its format, without libFuzzer: each
// as it is, cut off at many places, and with bytes and words changed at many places. What libFuzzer
// found once is a seed. Ends by a signal, or well.
#include "fuzz.h"
#include "base/files.h"
#include <dirent.h>
#include <stdio.h>

enum { PLACES = 400 };

// Of its own size: sanitizers see its end.
static void run_copy(const unsigned char *data, size_t n) {
    unsigned char *copy = malloc(n ? n : 1);
    if (!copy) return;
    if (n) memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static size_t run_seed(unsigned char *data, size_t n) {
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t step = n / PLACES + 1, n_runs = 1;
    run_copy(data, n);
    for (size_t at = 0; at < n; at += step, n_runs++) run_copy(data, at);
    for (size_t at = 0; at < n; at += step) {
        unsigned char old[4];
        size_t n_word = n - at < 4 ? n - at : 4;
        memcpy(old, data + at, n_word);
        for (size_t k = 0; k < sizeof values; k++, n_runs++) {
            data[at] = values[k];
            run_copy(data, n);
        }
        memset(data + at, 0xff, n_word); // a length that is huge
        run_copy(data, n);
        memcpy(data + at, old, n_word);
    }
    return n_runs;
}

int main(int argc, char **argv) {
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    size_t n_files = 0, n_runs = 0;
    if (!folder) {
        fprintf(stderr, "usage: seeds_main FOLDER\n");
        return 2;
    }
    for (struct dirent *e; (e = readdir(folder));) {
        size_t n;
        char *path = path_join(argv[1], e->d_name);
        unsigned char *data = e->d_name[0] != '.' && path ? file_read(path, &n) : NULL;
        if (data) n_files++, n_runs += run_seed(data, n);
        free(data);
        free(path);
    }
    closedir(folder);
    printf("%zu files, %zu runs\n", n_files, n_runs);
    return n_files == 0;
}

// SPDX-License-Identifier: Apache-2.0
// folder.c: the folder of a driver (see fuzz.h).
#include "base/files.h"
#include "base/text.h"
#include "fuzz.h"
#include <stdio.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void) {
    char *words = text_format("rm -r '%s'", folder);
    if (words && system(words)) fprintf(stderr, "%s stays\n", folder);
    free(words);
}

const char *fuzz_folder(void) {
    if (folder[0]) return folder;
    snprintf(folder, sizeof folder, "%s/ingot-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
    return folder;
}

void fuzz_put(const char *name, const void *data, size_t n) {
    char *path = path_join(fuzz_folder(), name);
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (!f || (n && fwrite(data, 1, n, f) != n) || fclose(f)) abort();
    free(path);
}

// SPDX-License-Identifier: Apache-2.0
// files.c: the files that Clang was lent. Each path is asked for once, however often Clang looks
// for it and however many rounds there are: the answer may have come from another process, and what
// was hashed for the cache is then what was compiled.
#include "base/blob.h"
#include "base/array.h"
#include "compiler/frontend/frontend_int.h"
#include <stdlib.h>
#include <string.h>

struct FoundFile {
    char *path;
    MslFile file;
};

static FoundFile *lookup(const Found *f, const char *path) {
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->at[i].path, path)) return &f->at[i];
    return NULL;
}

static FoundFile *ask(Found *f, const char *path) {
    FoundFile *file = lookup(f, path);
    if (file) return file;
    if (!array_reserve(&f->at, &f->capacity, f->n + 1)) return NULL;
    file = &f->at[f->n];
    *file = (FoundFile){.path = strdup(path)};
    if (!file->path) return NULL;
    f->n++;
    if (f->files && f->files->find) file->file = f->files->find(f->files->context, path);
    return file;
}

BridgeLent found_ask(Found *f, const char *path) {
    const FoundFile *file = ask(f, path);
    MslFound found = file ? file->file.found : MSL_FILE_NONE;
    BridgeLent lent = {found >= MSL_FILE_FOLDER, found == MSL_FILE_FOLDER, 0, "", 0};
    // The first place that is looked at is the one that was meant: others may be closed, or empty.
    if (found == MSL_FILE_FOUND)
        f->searching = f->refused = false;
    else if (found != MSL_FILE_FOLDER && !f->searching)
        f->searching = true, f->refused = found == MSL_FILE_REFUSED;
    if (lent.found) lent.id = file->file.id;
    if (found == MSL_FILE_FOUND) {
        lent.text = (const char *)file->file.bytes->data;
        lent.n_bytes = file->file.bytes->n_bytes;
    }
    return lent;
}

// Whoever lists the files that were read leaves a "./" in front out.
static const char *plain(const char *path) {
    while (path[0] == '.' && path[1] == '/')
        for (path++; *path == '/';) path++;
    return path;
}

const Blob *found_bytes(const Found *f, const char *path) {
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(plain(f->at[i].path), plain(path)) && f->at[i].file.bytes)
            return f->at[i].file.bytes;
    return NULL;
}

bool found_refused(Found *f) {
    bool refused = f->refused;
    f->searching = f->refused = false;
    return refused;
}

void found_free(Found *f) {
    for (size_t i = 0; i < f->n; i++) {
        free(f->at[i].path);
        blob_release(f->at[i].file.bytes);
    }
    free(f->at);
    *f = (Found){0};
}

// SPDX-License-Identifier: Apache-2.0
// source_files.c: see source_files.h. A path is looked at twice: as it is written, so that nothing
// is learnt about what lies outside, and as the kernel resolved it, by the open file itself.
#include "abi/source_files.h"
#include "base/blob.h"
#include "base/files.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 64 << 20 };

typedef struct Folder {
    char *written, *real; // absolute; without dots, and without symbolic links
} Folder;

struct SourceFiles {
    char *cwd;
    Folder *folders;
    size_t n;
    bool own; // the last folder is that of the source's file
};

// Folds "." and ".." in an absolute path.
static void fold(char *path) {
    char *out = path;
    for (const char *s = path; *s;) {
        while (*s == '/') s++;
        size_t n = strcspn(s, "/");
        if (n == 2 && s[0] == '.' && s[1] == '.') {
            while (out > path && *--out != '/') {
            }
        } else if (n && !(n == 1 && *s == '.')) {
            *out++ = '/';
            memmove(out, s, n);
            out += n;
        }
        s += n;
    }
    if (out == path) *out++ = '/';
    *out = 0;
}

static char *absolute(const SourceFiles *f, const char *path) {
    char *full = path_under(f->cwd, path);
    if (full) fold(full);
    return full;
}

static bool add_folder(SourceFiles *f, const char *path) {
    char *written = absolute(f, path), *full = path_under(f->cwd, path);
    char *real = full ? realpath(full, NULL) : NULL;
    bool ok = written && full;
    free(full);
    if (ok && real && is_dir(real)) {
        f->folders[f->n++] = (Folder){written, real};
        return true;
    }
    free(written);
    free(real);
    return ok; // a folder that is not there holds no files
}

static bool add_own(SourceFiles *f, const char *name) {
    char *full = path_under(f->cwd, name);
    struct stat st;
    bool is_file = full && stat(full, &st) == 0 && S_ISREG(st.st_mode), ok = full;
    char *slash = is_file ? strrchr(full, '/') : NULL;
    size_t before = f->n;
    if (slash) {
        slash[slash == full] = 0;
        ok = add_folder(f, full);
        f->own = f->n > before;
    }
    free(full);
    return ok;
}

SourceFiles *source_files_new(const MslSource *source, const char *cwd) {
    SourceFiles *f = calloc(1, sizeof *f);
    char here[PATH_MAX];
    if (!f) return NULL;
    if (!cwd) cwd = getcwd(here, sizeof here) ? here : "/";
    f->cwd = strdup(cwd);
    f->folders = calloc(source->n_include_dirs + 1, sizeof *f->folders);
    bool ok = f->cwd && f->folders;
    for (size_t i = 0; ok && i < source->n_include_dirs; i++)
        ok = add_folder(f, source->include_dirs[i]);
    if (ok && source->name) ok = add_own(f, source->name);
    if (ok) return f;
    source_files_free(f);
    return NULL;
}

void source_files_free(SourceFiles *f) {
    if (!f) return;
    for (size_t i = 0; i < f->n; i++) {
        free(f->folders[i].written);
        free(f->folders[i].real);
    }
    free(f->folders);
    free(f->cwd);
    free(f);
}

static bool lies_under(const char *folder, const char *path) {
    size_t n = strlen(folder);
    if (n == 1) return true; // "/"
    return !strncmp(folder, path, n) && (path[n] == '/' || !path[n]);
}

static bool allowed(const SourceFiles *f, const char *path, bool real) {
    for (size_t i = 0; i < f->n; i++)
        if (lies_under(real ? f->folders[i].real : f->folders[i].written, path)) return true;
    return false;
}

static bool named_as_header(const char *path) {
    static const char *const ends[] = {".h",   ".hh",  ".hpp", ".hxx",   ".h++",
                                       ".inc", ".inl", ".def", ".metal", ".msl"};
    const char *name = strrchr(path, '/'), *dot = name ? strrchr(name, '.') : NULL;
    for (size_t i = 0; dot && dot > name + 1 && i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(dot, ends[i])) return true;
    return false;
}

// Whether a path leads by `..` from the source's own folder or those allowed to another one beside
// it. asked: as Clang put it together, folder first.
static bool climbs(const SourceFiles *f, const char *asked, const char *path) {
    if (!f->own || !strstr(asked, "../")) return false;
    char *start = path_under(f->cwd, asked);
    char *up = start ? strstr(start, "/../") : NULL;
    if (up) *up = 0, fold(start);
    bool ok = up && allowed(f, start, false);
    size_t same = 0; // the folders that both have
    for (size_t i = 0; ok && start[i] && start[i] == path[i]; i++)
        if (path[i] == '/') same = i;
    free(start);
    return ok && !strstr(path + same, "/.");
}

static Blob *read_file(const char *link, off_t size) {
    size_t n;
    unsigned char *data = size <= MAX_FILE ? file_read(link, &n) : NULL;
    return data ? blob_take(data, n) : NULL;
}

// A path that may be looked at; climbed: outside of the folders.
static MslFile look(const SourceFiles *f, const char *full, bool climbed) {
    int fd = open(full, O_PATH | O_CLOEXEC);
    struct stat st;
    char link[64], real[PATH_MAX];
    MslFile file = {MSL_FILE_NONE, 0, NULL};
    if (fd < 0) return file;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, sizeof real - 1);
    if (n > 0 && fstat(fd, &st) == 0) {
        real[n] = 0;
        bool is_file = S_ISREG(st.st_mode);
        if (!allowed(f, real, true) && !(climbed && (!is_file || named_as_header(real))))
            file.found = MSL_FILE_REFUSED;
        else if (S_ISDIR(st.st_mode))
            file.found = MSL_FILE_FOLDER;
        else if (is_file && (file.bytes = read_file(link, st.st_size)))
            file.found = MSL_FILE_FOUND;
        file.id = (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 40;
    }
    close(fd);
    return file;
}

MslFile source_files_find(void *files, const char *path) {
    const SourceFiles *f = files;
    char *full = path_under(f->cwd, path), *folded = absolute(f, path);
    MslFile file = {MSL_FILE_REFUSED, 0, NULL};
    if (full && folded) {
        bool inside = allowed(f, folded, false) || allowed(f, folded, true);
        bool climbed = !inside && climbs(f, path, folded);
        if (inside || climbed) file = look(f, full, climbed);
        if (climbed && file.found == MSL_FILE_NONE)
            file.found = MSL_FILE_REFUSED; // and nothing is learnt
    }
    free(full);
    free(folded);
    return file;
}

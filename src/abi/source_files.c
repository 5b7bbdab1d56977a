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
    bool project;         // nobody named it: hidden folders in it are not for sources
} Folder;

struct SourceFiles {
    char *cwd;
    Folder *folders;
    size_t n;
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
        f->folders[f->n++] = (Folder){written, real, false};
        return true;
    }
    free(written);
    free(real);
    return ok; // a folder that is not there holds no files
}

// The folder of a file that was named. False without memory.
static bool add_folder_of(SourceFiles *f, const char *file) {
    char *full = path_under(f->cwd, file);
    struct stat st;
    bool is_file = full && stat(full, &st) == 0 && S_ISREG(st.st_mode), ok = full;
    char *slash = is_file ? strrchr(full, '/') : NULL;
    if (slash) {
        slash[slash == full] = 0;
        ok = add_folder(f, full);
    }
    free(full);
    return ok;
}

// ---- The project ----

static bool holds_one(const char *folder, const char *const *names) {
    bool found = false;
    for (; !found && *names; names++) {
        char *path = path_join(folder, *names);
        found = path && !access(path, F_OK);
        free(path);
    }
    return found;
}

// The root of the project that a folder is in: of its version control, else the outermost folder
// with a file of a build system, else the current folder. A home folder is none, nor is anything
// above it. The length of its path; 0: the folder is in no project.
static size_t project_root(const char *folder, const char *cwd) {
    static const char *const control[] = {".git", ".hg", ".svn", ".jj", NULL};
    static const char *const builds[] = {"CMakeLists.txt", "Makefile",     "meson.build",
                                         "Package.swift",  "Cargo.toml",   "package.json",
                                         "pyproject.toml", "premake5.lua", "BUILD.bazel",
                                         "xmake.lua",      "WORKSPACE",    NULL};
    const char *home = getenv("HOME");
    size_t n_home = home ? strlen(home) : 0, outermost = 0;
    char *path = strdup(folder);
    while (n_home > 1 && home[n_home - 1] == '/') n_home--;
    for (size_t n = path ? strlen(path) : 0; n > 1; n = (size_t)(strrchr(path, '/') - path)) {
        path[n] = 0;
        if (n <= n_home && !strncmp(path, home, n) && (home[n] == '/' || n == n_home)) break;
        if (holds_one(path, control)) {
            outermost = n;
            break;
        }
        if (holds_one(path, builds)) outermost = n;
    }
    free(path);
    size_t n = strlen(cwd);
    bool in_home = n_home >= n && !strncmp(home, cwd, n) && (home[n] == '/' || n == n_home);
    if (!outermost && n > 1 && !in_home && !strncmp(folder, cwd, n) && folder[n] == '/')
        outermost = n;
    return outermost;
}

// The project of the folder that was added last, the source's own.
static bool add_project(SourceFiles *f) {
    char *cwd = realpath(f->cwd, NULL);
    const char *own = f->folders[f->n - 1].real;
    size_t n = cwd ? project_root(own, cwd) : 0;
    char *root = n ? strndup(own, n) : NULL;
    bool ok = !n || (root && add_folder(f, root));
    if (root && ok) f->folders[f->n - 1].project = true;
    free(root);
    free(cwd);
    return ok;
}

SourceFiles *source_files_new(const MslSource *source, const char *cwd) {
    SourceFiles *f = calloc(1, sizeof *f);
    char here[PATH_MAX];
    if (!f) return NULL;
    if (!cwd) cwd = getcwd(here, sizeof here) ? here : "/";
    f->cwd = strdup(cwd);
    f->folders = calloc(source->n_include_dirs + source->n_extra + 2, sizeof *f->folders);
    bool ok = f->cwd && f->folders;
    for (size_t i = 0; ok && i < source->n_include_dirs; i++)
        ok = add_folder(f, source->include_dirs[i]);
    for (size_t i = 1; ok && i < source->n_extra; i++)
        if (!strcmp(source->extra[i - 1], "-include")) ok = add_folder_of(f, source->extra[i]);
    size_t before = f->n;
    if (ok && source->name) ok = add_folder_of(f, source->name);
    if (ok && f->n > before) ok = add_project(f);
    if (ok) return f;
    source_files_free(f);
    return NULL;
}

const char *source_files_folder(const SourceFiles *f, size_t i) {
    return i < f->n ? f->folders[i].real : NULL;
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
    for (size_t i = 0; i < f->n; i++) {
        const char *folder = real ? f->folders[i].real : f->folders[i].written;
        if (lies_under(folder, path) &&
            !(f->folders[i].project && strstr(path + strlen(folder), "/.")))
            return true;
    }
    return false;
}

static Blob *read_file(const char *link, off_t size) {
    size_t n;
    unsigned char *data = size <= MAX_FILE ? file_read(link, &n) : NULL;
    return data ? blob_take(data, n) : NULL;
}

// A path that may be looked at.
static MslFile look_up_path(const SourceFiles *f, const char *full) {
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
        if (!allowed(f, real, true))
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
    if (full && folded && (allowed(f, folded, false) || allowed(f, folded, true)))
        file = look_up_path(f, full);
    free(full);
    free(folded);
    return file;
}

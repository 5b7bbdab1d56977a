// SPDX-License-Identifier: Apache-2.0
// build_inputs.c: what `mslc build` is given becomes one library. An input is a source, an object
// (.air) or library of ours, or an `ar` archive of objects (metal-ar); its first bytes say which.
#include "abi/compiler_id.h"
#include "base/array.h"
#include "base/files.h"
#include "compiler/build_int.h"
#include "compiler/driver.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Objects { // containers, and what messages call them
    Metallib **items;
    char **names;
    size_t n;
} Objects;

// Takes both; false without memory.
static bool add_object(Objects *all, Metallib *lib, char *name) {
    if (!lib || !name || !array_more(&all->items, all->n) || !array_more(&all->names, all->n)) {
        metallib_release(lib);
        free(name);
        return false;
    }
    all->items[all->n] = lib;
    all->names[all->n++] = name;
    return true;
}

static void free_objects(Objects *all) {
    for (size_t i = 0; i < all->n; i++) {
        metallib_release(all->items[i]);
        free(all->names[i]);
    }
    free(all->items);
    free(all->names);
}

unsigned char *build_read(const BuildOptions *o, const char *path, size_t *n) {
    unsigned char *text = file_read(strcmp(path, "-") ? path : "/dev/stdin", n);
    if (!text) build_fail_file(o, "read", path);
    return text;
}

// ---- Sources ----

bool build_folders(const BuildOptions *o, BuildFolders *f) {
    *f = (BuildFolders){driver_stdlib_dir(), driver_pch_dir(), driver_shipped_pch_dir()};
    if (f->stdlib) return true;
    fprintf(stderr, "%s: the Metal headers are missing; set INGOT_STDLIB to their folder\n",
            o->program);
    build_folders_free(f);
    return false;
}

void build_folders_free(BuildFolders *f) {
    free(f->stdlib);
    free(f->pch);
    free(f->shipped);
    *f = (BuildFolders){0};
}

MslSource build_source(const BuildOptions *o, const BuildFolders *folders, const char *path,
                       const unsigned char *text, size_t n) {
    return (MslSource){
        .name = strcmp(path, "-") ? path : "<stdin>",
        .text = (const char *)text,
        .n_bytes = n,
        .macros = (const char *const *)o->macros.items,
        .n_macros = o->macros.n,
        .include_dirs = (const char *const *)o->include_dirs.items,
        .n_include_dirs = o->include_dirs.n,
        .language_version = o->language_version,
        .math_mode = o->math_mode,
        .warnings_as_errors = o->warnings_as_errors,
        .enable_logging = o->enable_logging,
        .debug = o->debug                  ? o->debug
                 : o->validate || o->races ? MSL_DEBUG_LINES
                                           : MSL_DEBUG_NONE,
        .stdlib_dir = folders->stdlib,
        .pch_dir = folders->pch,
        .pch_shipped_dir = folders->shipped,
        .extra = (const char *const *)o->extra.items,
        .n_extra = o->extra.n,
    };
}

MslFiles build_files(const MslSource *source) {
    SourceFiles *files = source_files_new(source, NULL);
    return (MslFiles){files, files ? source_files_find : NULL};
}

// as_object: what it does not define may come from another object.
static Metallib *compile(const BuildOptions *o, const char *path, const unsigned char *text,
                         size_t n, bool as_object, const char *const *links) {
    BuildFolders folders;
    char here[PATH_MAX];
    const char *why = "out of memory";
    Metallib *lib = NULL;
    if (!build_folders(o, &folders)) return NULL;
    MslSource source = build_source(o, &folders, path, text, n);
    MslFiles files = build_files(&source);
    source.files = &files;
    source.library_type = as_object ? METALLIB_OBJECT : o->install_name ? 1 : 0;
    source.install_name = as_object ? NULL : o->install_name;
    source.links = links;
    source.n_links = o->links.n;
    source.allow_undefined = as_object || o->install_name || o->links.n;
    source.check_only = !o->remarks && (!as_object && !o->output && !o->emit && !o->check);
    MslLibrary out;
    Blob *bytes = NULL;
    bool ok = driver_library(&source, getcwd(here, sizeof here) ? here : "/", &out, &bytes);
    if (out.log) fputs(out.log, stderr);
    if (ok) {
        lib = bytes ? metallib_open(bytes, &why) : NULL;
        if (!lib) fprintf(stderr, "%s: '%s': %s\n", o->program, path, why);
    } else if (!out.log || !*out.log) {
        fprintf(stderr, "%s: '%s' does not compile\n", o->program, path);
    }
    blob_release(bytes);
    msl_library_free(&out);
    source_files_free(files.context);
    build_folders_free(&folders);
    return lib;
}

// ---- Objects and archives ----

static bool starts(const unsigned char *data, size_t n, const char *magic, size_t length) {
    return n >= length && !memcmp(data, magic, length);
}

// Files of Apple's own compiler, which hold code for Apple's processors: say so.
static bool is_apples(const unsigned char *data, size_t n) {
    return starts(data, n, "MTLB", 4) || starts(data, n, "BC\xC0\xDE", 4) ||
           starts(data, n, "\xDE\xC0\x17\x0B", 4);
}

static bool open_object(const BuildOptions *o, Objects *all, const char *name,
                        const unsigned char *data, size_t n) {
    const char *why = "out of memory";
    Blob *bytes = blob_copy(data, n);
    Metallib *lib = bytes ? metallib_open(bytes, &why) : NULL;
    blob_release(bytes);
    if (lib && lib->library_type == 1 && (o->inputs.n > 1 || o->object)) {
        metallib_release(lib);
        lib = NULL;
        why = "it is a dynamic library: --link takes it";
    }
    if (!lib) {
        fprintf(stderr, "%s: '%s': %s\n", o->program, name, why);
        return false;
    }
    if (add_object(all, lib, strdup(name))) return true;
    fprintf(stderr, "%s: out of memory\n", o->program);
    return false;
}

static const char ar_magic[] = "!<arch>\n";

// The members that are ours, in order. An entry is a header of 60 bytes (name 16, size at 48 in
// decimal) and its bytes, padded to an even number; names such as "/" are ar's own tables.
static bool open_archive(const BuildOptions *o, Objects *all, const char *path,
                         const unsigned char *data, size_t n) {
    enum { HEADER = 60, SIZE_AT = 48, SIZE_BYTES = 10 };
    size_t at = sizeof ar_magic - 1, before = all->n;
    while (at + HEADER <= n) {
        char size_text[SIZE_BYTES + 1] = {0}, name[PATH_MAX];
        memcpy(size_text, data + at + SIZE_AT, SIZE_BYTES);
        size_t size = strtoull(size_text, NULL, 10);
        if (memcmp(data + at + HEADER - 2, "`\n", 2) || size > n - at - HEADER) break;
        int length = (int)strcspn((const char *)data + at, "/ ");
        snprintf(name, sizeof name, "%s(%.*s)", path, length < 16 ? length : 16, data + at);
        at += HEADER;
        if (metallib_recognised(data + at, size) && !open_object(o, all, name, data + at, size))
            return false;
        at += size + (size & 1);
    }
    if (at < n) {
        fprintf(stderr, "%s: '%s': the archive is damaged\n", o->program, path);
        return false;
    }
    if (all->n > before) return true;
    fprintf(stderr, "%s: '%s': the archive has no objects\n", o->program, path);
    return false;
}

static bool open_input(const BuildOptions *o, Objects *all, const char *path, bool as_object,
                       const char *const *links) {
    size_t n;
    unsigned char *data = build_read(o, path, &n);
    bool ok = false;
    if (!data) return false;
    if (!n && !strcmp(path, "-")) {
        fprintf(stderr,
                "%s: standard input is empty: the command before the pipe may have failed\n",
                o->program);
    } else if (!n) { // an application may compile nothing; a build has lost something
        fprintf(stderr, "%s: '%s' is empty\n", o->program, path);
    } else if (metallib_recognised(data, n)) {
        ok = open_object(o, all, path, data, n);
    } else if (starts(data, n, ar_magic, sizeof ar_magic - 1)) {
        ok = open_archive(o, all, path, data, n);
    } else if (is_apples(data, n)) {
        fprintf(stderr, "%s: '%s' was made by Apple's compiler; build it from its source\n",
                o->program, path);
    } else {
        Metallib *lib = compile(o, path, data, n, as_object, links);
        ok = lib && add_object(all, lib, strdup(path));
    }
    free(data);
    return ok;
}

// ---- Linking ----

// A list of names without repetitions; borrowed.
static uint32_t all_links(const BuildOptions *o, const char *const *names, const Objects *all,
                          char **out) {
    uint32_t n = 0;
    for (size_t i = 0; i < o->links.n; i++) out[n++] = (char *)(uintptr_t)names[i];
    for (size_t i = 0; i < all->n; i++)
        for (uint32_t k = 0; k < all->items[i]->n_links; k++) {
            bool there = false;
            for (uint32_t j = 0; j < n; j++) there |= !strcmp(out[j], all->items[i]->links[k]);
            if (!there) out[n++] = all->items[i]->links[k];
        }
    return n;
}

static Metallib *pack(const BuildOptions *o, const Objects *all, const char *const *names,
                      const MslLibrary *merged) {
    size_t n_files = 0, n_links = o->links.n;
    for (size_t i = 0; i < all->n; i++) {
        n_files += all->items[i]->n_files;
        n_links += all->items[i]->n_links;
    }
    const Metallib *first = all->items[0];
    Metallib m = {.compiler_id = (char *)(uintptr_t)compiler_id(),
                  .source_name = first->source_name,
                  .math_mode = first->math_mode,
                  .log = (char *)(uintptr_t)"",
                  .library_type = o->install_name ? 1 : 0,
                  .install_name = (char *)(uintptr_t)(o->install_name ? o->install_name : ""),
                  .reflection = merged->reflection,
                  .bitcode = merged->bitcode,
                  .bitcode_bytes = merged->bitcode_bytes,
                  .files = calloc(n_files + 1, sizeof *m.files),
                  .links = calloc(n_links + 1, sizeof *m.links)};
    Blob *bytes = NULL;
    if (m.files && m.links) {
        for (size_t i = 0; i < all->n; i++) {
            const Metallib *part = all->items[i];
            if (part->language_version > m.language_version)
                m.language_version = part->language_version;
            for (uint32_t k = 0; k < part->n_files; k++) m.files[m.n_files++] = part->files[k];
        }
        m.n_links = all_links(o, names, all, m.links);
        bytes = metallib_encode(&m);
    }
    const char *why = "out of memory";
    Metallib *lib = bytes ? metallib_open(bytes, &why) : NULL;
    if (!lib) fprintf(stderr, "%s: %s\n", o->program, why);
    blob_release(bytes);
    free(m.files), free(m.links);
    return lib;
}

static Metallib *link_objects(const BuildOptions *o, const Objects *all, const char *const *names) {
    MslObject *objects = calloc(all->n + 1, sizeof *objects);
    MslLibrary merged = {0};
    Metallib *lib = NULL;
    bool undefined = o->install_name || o->links.n;
    for (size_t i = 0; objects && i < all->n; i++) {
        const Metallib *m = all->items[i];
        objects[i] = (MslObject){all->names[i], m->bitcode, m->bitcode_bytes, m->reflection};
        undefined |= m->n_links > 0;
    }
    if (objects && msl_merge(objects, all->n, undefined, &merged))
        lib = pack(o, all, names, &merged);
    else
        fprintf(stderr, "%s: cannot link\n%s", o->program, merged.log ? merged.log : "");
    msl_library_free(&merged);
    free(objects);
    return lib;
}

Metallib *build_library(const BuildOptions *o, const char *const *link_names) {
    Objects all = {0};
    Metallib *lib = NULL;
    bool ok = true;
    for (size_t i = 0; i < o->inputs.n; i++) // all of them: every error is worth seeing
        ok &= open_input(o, &all, o->inputs.items[i], o->object || o->inputs.n > 1, link_names);
    if (ok && all.n == 1 && (o->object || all.items[0]->library_type != METALLIB_OBJECT))
        lib = metallib_retain(all.items[0]);
    else if (ok)
        lib = link_objects(o, &all, link_names);
    free_objects(&all);
    return lib;
}

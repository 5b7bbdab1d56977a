// SPDX-License-Identifier: Apache-2.0
// cmd_objdump.c: `ingot objdump`: what a metallib holds, be it Apple's or Ingot's: the functions
// with their stage and, for Apple's, version and size of the bitcode. Nothing is compiled.
#include "abi/apple_metallib.h"
#include "abi/metallib.h"
#include "abi/mtlb.h"
#include "apps/tools/tools.h"
#include "base/files.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    const char *path;
} Job;
static const CommandLine line = {
    .program = "ingot objdump",
    .usage = "FILE.metallib",
    .about =
        "Lists the functions of a metallib that Apple's compiler or Ingot made, with stage and\n"
        "version. Apple's objects (.air) and universal files are read, too.",
    OPT_WORD(Job, path),
};

// ---- Apple's ----

static void print_file_tags(AppleBytes tags) {
    for (AppleTag t; apple_tag_next(&tags, &t);)
        show_line("  section %s, %zu bytes", t.name, t.value.n_bytes);
}

static void print_apple(const AppleMetallib *lib) {
    if (lib->is_object) {
        printf("Apple object (.air): %zu bytes of bitcode\n", lib->file.n_bytes);
        return;
    }
    printf("Apple metallib, version %u.%u, %s, for %s %u.%u: %u functions\n", lib->major,
           lib->minor, apple_type_name(lib->type), apple_system_name(lib), lib->os_major,
           lib->os_minor, lib->n_functions);
    print_file_tags(lib->file_tags);
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        const AppleFunction *f = &lib->functions[i];
        show_line("%s %s, AIR %u.%u, Metal %u.%u, %zu bytes", apple_stage_name(f->stage), f->name,
                  f->air_major, f->air_minor, f->language_major, f->language_minor,
                  f->bitcode.n_bytes);
    }
}

static int check_apple(const AppleMetallib *lib, const char *path) {
    for (uint32_t i = 0; i < lib->n_functions; i++)
        if (!apple_function_intact(&lib->functions[i]))
            return complain(EXIT_INPUT, "objdump",
                            "'%s': it is damaged: the bitcode of '%s' does not match its hash",
                            path, lib->functions[i].name);
    return EXIT_FINE;
}

static int dump_apple(const void *data, size_t n, const char *path) {
    AppleMetallib lib;
    AppleProblem why;
    if (!apple_metallib_open(data, n, &lib, &why))
        return complain(EXIT_INPUT, "objdump", "'%s': %s", path, why.text);
    int status = check_apple(&lib, path);
    if (status == EXIT_FINE) print_apple(&lib);
    apple_metallib_close(&lib);
    return status;
}

// ---- Ingot's ----

static void print_ours(const Metallib *m) {
    static const char *const types[] = {"executable", "dynamic", "object"};
    const RfLibrary *rf = m->reflection;
    show_line("Ingot metallib, %s, Metal %u.%u, of %s: %u functions, %zu bytes of bitcode",
              types[m->library_type], m->language_version >> 16, m->language_version & 0xffff,
              m->source_name, rf->n_functions, m->bitcode_bytes);
    for (uint32_t i = 0; i < rf->n_functions; i++)
        show_line("%s %s", rf_stage_name(rf->functions[i].stage), rf->functions[i].name);
}

static int dump_ours(const void *data, size_t n, const char *path) {
    const char *why = "out of memory";
    Blob *bytes = blob_copy(data, n);
    Metallib *m = bytes ? metallib_open(bytes, &why) : NULL;
    int status = EXIT_FINE;
    if (m)
        print_ours(m);
    else
        status = complain(EXIT_INPUT, "objdump", "'%s': %s", path, why);
    metallib_release(m);
    blob_release(bytes);
    return status;
}

int cmd_objdump(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.path) return options_wrong(&line, "a file is required (see `ingot objdump --help`)");
    size_t n;
    unsigned char *data = file_read(job.path, &n);
    if (!data) return complain(EXIT_INPUT, "objdump", "'%s': %s", job.path, strerror(errno));
    Mtlb wrapped;
    if (mtlb_open(data, n, &wrapped))
        status = dump_ours(wrapped.library, wrapped.library_bytes, job.path);
    else if (metallib_recognised(data, n))
        status = dump_ours(data, n, job.path);
    else
        status = dump_apple(data, n, job.path);
    free(data);
    return status;
}

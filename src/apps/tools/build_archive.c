// SPDX-License-Identifier: Apache-2.0
// build_archive.c: `ingot build FILE --archive OUT`: machine code of all kernels of a file in a
// binary archive, for programs that are to start without a compiler.
#include "base/files.h"
#include "apps/tools/build_archive.h"
#include "apps/tools/run_values.h"
#include "apps/tools/tools.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    const char *path, *archive, *output;
    SourceOptions source;
    Strings groups, functions, constants;
} Options;

static int take_group(const CommandLine *line, const Option *row, void *options, char *value) {
    Options *o = options;
    MTLSize size;
    (void)row;
    if (!parse_size(value, &size))
        return options_wrong(line, "'%s' is not a threadgroup size", value);
    return strings_add(&o->groups, value) ? EXIT_FINE : EXIT_INPUT;
}

#define AT(FIELD) OPT_AT(Options, FIELD)
static const Option rows[] = {
    {"--archive", "FILE", NULL, OPT_TEXT, AT(archive)},
    {"-o", "FILE", "write the library too; archive and library belong together", OPT_TEXT,
     AT(output)},
    {"--group", "X[,Y[,Z]]",
     "also code for this threadgroup size (may be repeated); code for any\nsize is always made",
     OPT_CALL, .take = take_group},
    {"--function", "NAME", "only this kernel (may be repeated)", OPT_LIST, AT(functions)},
    {"--constant", "K=VALUE", "value of a function constant, by index or name (may be repeated)",
     OPT_CALL, AT(constants), .take = take_constant},
    {"-Werror", NULL, "warnings are errors", OPT_FLAG, AT(source.options.warnings_as_errors)},
    {"-fmetal-enable-logging", NULL, "os_log logs; otherwise it does nothing", OPT_FLAG,
     AT(source.options.enable_logging)},
};
static const CommandLine line = {
    .program = "ingot build",
    .usage = "FILE --archive OUT.binarchive [-o OUT.metallib] [options]",
    .about =
        "Compiles every kernel of a .metal or .metallib file for this machine and keeps the "
        "machine\n"
        "code in a binary archive. A program that opens the archive "
        "(mtl_device_new_binary_archive)\n"
        "and the library needs no compiler. `ingot reflect OUT.binarchive` lists what is inside.",
    OPT_ROWS(rows),
    SOURCE_ROWS(Options, source),
    OPT_WORD(Options, path),
    .tail = SOURCE_HELP,
};

bool wants_archive(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "--archive", 9) && (!argv[i][9] || argv[i][9] == '=')) return true;
    return false;
}

// The constant a key names, by name or index; NULL: the function has none.
static MTLFunctionConstant *find_constant(const MTLFunction *f, const char *key, size_t n) {
    for (size_t k = 0; k < mtl_function_function_constant_count(f); k++) {
        MTLFunctionConstant *c = mtl_function_function_constant(f, k);
        const char *name = mtl_function_constant_name(c);
        char index[24];
        snprintf(index, sizeof index, "%zu", mtl_function_constant_index(c));
        if ((strlen(name) == n && !memcmp(name, key, n)) ||
            (strlen(index) == n && !memcmp(index, key, n)))
            return c;
    }
    return NULL;
}

// The kernel with those of the constants that it has; NULL: said why.
static MTLFunction *specialised(const Options *o, MTLLibrary *library, const char *name,
                                bool *used) {
    MTLFunction *plain = mtl_library_new_function(library, name), *special = NULL;
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    MTLError *error = NULL;
    for (size_t i = 0; plain && values && i < o->constants.n; i++) {
        const char *key = o->constants.items[i], *eq = strchr(key, '=');
        MTLFunctionConstant *c = find_constant(plain, key, (size_t)(eq - key));
        if (!c) continue;
        used[i] = true;
        unsigned char value[32];
        MTLDataType type = mtl_function_constant_type(c);
        if (!constant_parse((uint32_t)type, eq + 1, value)) {
            complain(EXIT_INPUT, "build", "'%s' is not a value of the function constant '%s'",
                     eq + 1, mtl_function_constant_name(c));
            goto done;
        }
        mtl_function_constant_values_set_constant_value(values, value, type,
                                                        mtl_function_constant_index(c));
    }
    special = mtl_library_new_function_with_constant_values(library, name, values, &error);
    if (!special)
        complain(EXIT_INPUT, "build", "'%s': %s", name, mtl_error_localized_description(error));
done:
    mtl_release(error);
    mtl_release(values);
    mtl_release(plain);
    return special;
}

static bool add_function(MTLBinaryArchive *archive, MTLFunction *f, MTLSize group) {
    MTLError *error = NULL;
    MTLComputePipelineDescriptor d = {.compute_function = f,
                                      .required_threads_per_threadgroup = group};
    bool ok = mtl_binary_archive_add_compute_pipeline_functions(archive, &d, &error);
    if (!ok)
        complain(EXIT_INPUT, "build", "'%s': %s", mtl_function_name(f),
                 mtl_error_localized_description(error));
    mtl_release(error);
    return ok;
}

static bool wanted(const Options *o, const char *name) {
    for (size_t i = 0; i < o->functions.n; i++)
        if (!strcmp(o->functions.items[i], name)) return true;
    return !o->functions.n;
}

// All kernels; goes on after one that fails so that all are named. Exit status.
static int add_all(const Options *o, MTLLibrary *library, MTLBinaryArchive *archive) {
    bool *used = must_alloc(o->constants.n, sizeof *used);
    int status = EXIT_FINE;
    size_t n = 0;
    for (size_t i = 0; i < mtl_library_function_name_count(library); i++) {
        const char *name = mtl_library_function_name(library, i);
        if (!wanted(o, name)) continue;
        MTLFunction *f = specialised(o, library, name, used);
        if (f && mtl_function_function_type(f) != MTLFunctionTypeKernel) {
            mtl_release(f);
            continue;
        }
        bool ok = f && add_function(archive, f, (MTLSize){0, 0, 0});
        for (size_t k = 0; ok && k < o->groups.n; k++) {
            MTLSize group = {0, 0, 0};
            parse_size(o->groups.items[k], &group);
            ok = add_function(archive, f, group);
        }
        if (!ok) status = EXIT_INPUT;
        n++;
        mtl_release(f);
    }
    for (size_t i = 0; i < o->functions.n; i++) {
        MTLFunction *f = mtl_library_new_function(library, o->functions.items[i]);
        if (!f)
            status = complain(EXIT_INPUT, "build", "'%s' has no kernel '%s'", o->path,
                              o->functions.items[i]);
        mtl_release(f);
    }
    for (size_t i = 0; i < o->constants.n; i++)
        if (!used[i])
            status = complain(EXIT_INPUT, "build", "no kernel has the function constant of '%s'",
                              o->constants.items[i]);
    free(used);
    if (!n && !status) status = complain(EXIT_INPUT, "build", "'%s' has no kernels", o->path);
    return status;
}

static int write_outputs(const Options *o, MTLLibrary *library, MTLBinaryArchive *archive) {
    MTLError *error = NULL;
    int status = EXIT_FINE;
    size_t n;
    void *data = o->output ? mtl_library_copy_data(library, &n) : NULL;
    if (o->output && (!data || !file_write_atomic(o->output, data, n, false)))
        status = complain(EXIT_INPUT, "build", "cannot write '%s': %s", o->output,
                          data ? strerror(errno) : "out of memory");
    mtl_free_data(data);
    if (!status && !mtl_binary_archive_serialize_to_url(archive, o->archive, &error))
        status = complain(EXIT_INPUT, "build", "%s", mtl_error_localized_description(error));
    mtl_release(error);
    return status;
}

int build_archive(int argc, char **argv) {
    Options o = {0};
    int status = options_read(&line, &o, argc, argv);
    if (status == OPTIONS_GO_ON && !o.path)
        status = options_wrong(&line, "a file is required (see `ingot build --archive --help`)");
    if (status == OPTIONS_GO_ON) {
        status = EXIT_INPUT;
        MTLDevice *device = open_device("build");
        MTLLibrary *library = device ? load_library(device, &o.source, o.path, "build") : NULL;
        MTLBinaryArchive *archive =
            library ? mtl_device_new_binary_archive(device, NULL, NULL) : NULL;
        if (archive) status = add_all(&o, library, archive);
        if (archive && !status) status = write_outputs(&o, library, archive);
        mtl_release(archive);
        mtl_release(library);
        mtl_release(device);
    }
    source_options_free(&o.source);
    strings_free(&o.groups);
    strings_free(&o.functions);
    strings_free(&o.constants);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// build.c: `mslc build`: files from the command line. Diagnostics go to standard error as Clang
// prints them; results to a file (in one step: never half a file) or standard output.
#include "abi/data_types.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text.h"
#include "compiler/build_int.h"
#include "compiler/driver.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int build_fail_file(const BuildOptions *o, const char *what, const char *path) {
    fprintf(stderr, "%s: cannot %s '%s': %s\n", o->program, what, path, strerror(errno));
    return 1;
}

bool build_write(const BuildOptions *o, const char *path, const void *data, size_t n) {
    if (strcmp(path, "-"))
        return file_write_atomic(path, data, n, true) || (build_fail_file(o, "write", path), false);
    if (fwrite(data, 1, n, stdout) == n && !fflush(stdout)) return true;
    build_fail_file(o, "write to", "standard output");
    return false;
}

static const ConstantOption *find_option(const BuildOptions *o, const RfConstant *c) {
    char index[16];
    snprintf(index, sizeof index, "%u", c->index);
    for (size_t i = 0; i < o->n_constants; i++)
        if (!strcmp(o->constants[i].key, c->name) || !strcmp(o->constants[i].key, index))
            return &o->constants[i];
    return NULL;
}

// The attributes of a vertex function one after the other in buffer 30, each in the format of its
// type: code to look at, where no pipeline says how vertices lie in memory.
static void plain_descriptor(const RfFunction *f, MslVertexDescriptor *d) {
    static const struct {
        uint8_t scalar, one, two, bytes; // data type; MslVertexFormat of one and two components
    } table[] = {{DT_FLOAT, MSL_VERTEX_Float, MSL_VERTEX_Float2, 4},
                 {DT_HALF, MSL_VERTEX_Half, MSL_VERTEX_Half2, 2},
                 {DT_INT, MSL_VERTEX_Int, MSL_VERTEX_Int2, 4},
                 {DT_UINT, MSL_VERTEX_UInt, MSL_VERTEX_UInt2, 4},
                 {DT_SHORT, MSL_VERTEX_Short, MSL_VERTEX_Short2, 2},
                 {DT_USHORT, MSL_VERTEX_UShort, MSL_VERTEX_UShort2, 2},
                 {DT_CHAR, MSL_VERTEX_Char, MSL_VERTEX_Char2, 1},
                 {DT_UCHAR, MSL_VERTEX_UChar, MSL_VERTEX_UChar2, 1}};
    enum { BUFFER = 30, OF_PATCH = 29 };
    uint32_t offset = 0;
    *d = (MslVertexDescriptor){0};
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        const RfValue *v = &f->inputs[i];
        uint32_t n, scalar = rf_scalar_of(v->data_type, &n);
        if (v->role != RF_ATTRIBUTE || v->index >= MSL_MAX_VERTEX) continue;
        for (size_t k = 0; k < sizeof table / sizeof *table; k++)
            if (table[k].scalar == scalar) {
                d->attributes[v->index] =
                    (MslVertexAttribute){n == 1 ? table[k].one : table[k].two + n - 2u, offset,
                                         f->patch && !v->points ? OF_PATCH : BUFFER};
                offset += (n * table[k].bytes + 3u) & ~3u;
            }
    }
    d->layouts[BUFFER] =
        (MslVertexLayout){offset, f->patch ? MSL_STEP_PER_CONTROL_POINT : MSL_STEP_PER_VERTEX, 1};
    d->layouts[OF_PATCH] = (MslVertexLayout){offset, MSL_STEP_PER_PATCH, 1};
}

bool build_kernel(const BuildOptions *o, const Metallib *lib, const RfFunction *f, bool fill,
                  MslKernel *out) {
    const RfLibrary *rf = lib->reflection;
    *out = (MslKernel){0};
    MslConstantValue *values = calloc(f->n_constants + 1, sizeof *values);
    unsigned char (*bytes)[32] = calloc(f->n_constants + 1, sizeof *bytes);
    size_t n = 0;
    bool ok = false;
    if (!values || !bytes) {
        out->error = strdup("out of memory");
        goto done;
    }
    for (uint32_t i = 0; i < f->n_constants; i++) {
        const RfConstant *c = &rf->constants[f->constants[i]];
        const ConstantOption *given = find_option(o, c);
        if (!given && !fill) continue;
        uint32_t type = rf->types[c->type].data_type;
        size_t size =
            given ? constant_parse(type, given->value, bytes[n]) : rf->types[c->type].size;
        if (!size || size > sizeof bytes[n]) {
            out->error = text_format("'%s' is not a value of the function constant '%s' (%s)",
                                     given ? given->value : "0", c->name, rf->types[c->type].name);
            goto done;
        }
        values[n] = (MslConstantValue){NULL, c->index, type, bytes[n], size};
        n++;
    }
    MslPart *parts = calloc(o->links.n + 1, sizeof *parts);
    uint32_t *numbers = calloc(o->links.n + 1, sizeof *numbers);
    for (size_t i = 0; parts && numbers && i < o->links.n; i++) {
        const Metallib *m = o->linked[i];
        parts[i] = (MslPart){m->bitcode, m->bitcode_bytes, m->reflection};
        numbers[i] = (uint32_t)i + 1;
    }
    MslVertexDescriptor descriptor;
    plain_descriptor(f, &descriptor);
    MslKernelRequest request = {
        .parts = parts,
        .n_parts = o->links.n,
        .dynamic = numbers,
        .n_dynamic = o->links.n,
        .bitcode = lib->bitcode,
        .bitcode_bytes = lib->bitcode_bytes,
        .reflection = rf,
        .function = f->name,
        .constants = values,
        .n_constants = n,
        .shape = {o->shape[0], o->shape[1], o->shape[2]},
        .vertex = &descriptor,
        .target = o->target,
        .cpu = o->cpu,
        .features = o->features,
        .width = o->width,
        .validate = o->validate || o->races,
        .watch = o->races ? MSL_WATCH_RACES : 0,
        .debug = o->debug == MSL_DEBUG_FULL && o->width != 1 ? MSL_DEBUG_LINES : o->debug,
        .math_mode = (MslMathMode)lib->math_mode,
        .emit = o->emit && strcmp(o->emit, "obj") ? o->emit : NULL,
        .dump_after = o->dump_after,
        .remarks = o->remarks_to,
    };
    ok = parts && numbers && msl_backend(&request, out);
    free(parts);
    free(numbers);
done:
    free(values);
    free(bytes);
    return ok;
}

bool build_has_code(const RfFunction *f) {
    return f->stage <= RF_MESH; // kernel, vertex, fragment, object, mesh
}

static bool wanted(const BuildOptions *o, const RfFunction *f) {
    if (!build_has_code(f)) return false;
    for (size_t i = 0; i < o->functions.n; i++)
        if (!strcmp(o->functions.items[i], f->name)) return true;
    return !o->functions.n;
}

// Text (or an object) of each kernel asked for, one after the other.
static int emit(const BuildOptions *o, const Metallib *lib) {
    Text all = {0};
    size_t n_failed = 0;
    for (uint32_t i = 0; i < lib->reflection->n_functions; i++) {
        const RfFunction *f = &lib->reflection->functions[i];
        if (!wanted(o, f)) continue;
        MslKernel k;
        if (build_kernel(o, lib, f, false, &k)) {
            bool object = !strcmp(o->emit, "obj");
            const char *comment = !strcmp(o->emit, "asm")   ? "#"
                                  : !strcmp(o->emit, "ptx") ? "//"
                                                            : ";";
            if (!object) text_printf(&all, "%s kernel %s\n", comment, f->name);
            text_add_bytes(&all, (const char *)k.code, k.code_bytes);
            if (!object && all.n_bytes && all.data[all.n_bytes - 1] != '\n') text_add(&all, "\n");
        } else {
            fprintf(stderr, "%s: error: kernel '%s': %s\n", lib->source_name, f->name, k.error);
            n_failed++;
        }
        if (k.log && *k.log) fputs(k.log, stderr);
        msl_kernel_free(&k);
    }
    int status = n_failed ? 1 : 0;
    if (all.failed) {
        fprintf(stderr, "%s: out of memory\n", o->program);
        status = 1;
    } else if (all.n_bytes && !status &&
               !build_write(o, o->output ? o->output : "-", all.data, all.n_bytes)) {
        status = 1;
    }
    text_free(&all);
    return status;
}

// The dynamic libraries to link against, and their names for the library. False: said why.
static bool open_links(BuildOptions *o, const char **names) {
    o->linked = calloc(o->links.n + 1, sizeof *o->linked);
    for (size_t i = 0; o->linked && i < o->links.n; i++) {
        size_t n;
        unsigned char *data = file_read(o->links.items[i], &n);
        if (!data) return build_fail_file(o, "read", o->links.items[i]), false;
        const char *why = "out of memory";
        Blob *bytes = blob_take(data, n);
        o->linked[i] = bytes ? metallib_open(bytes, &why) : NULL;
        blob_release(bytes);
        if (o->linked[i] && o->linked[i]->library_type != 1) why = "not a dynamic library";
        if (!o->linked[i] || o->linked[i]->library_type != 1) {
            fprintf(stderr, "%s: '%s': %s\n", o->program, o->links.items[i], why);
            return false;
        }
        names[i] = o->linked[i]->install_name;
    }
    return o->linked != NULL;
}

static int build_one(BuildOptions *o) {
    if (build_wants_text(o)) {
        int status = build_text(o);
        if (status || o->preprocess || o->rules || o->user_rules) return status;
    }
    const char **names = calloc(o->links.n + 1, sizeof *names);
    Metallib *lib = names && open_links(o, names) ? build_library(o, names) : NULL;
    free(names);
    if (!lib) return 1;
    int status = 0;
    for (size_t i = 0; i < o->functions.n; i++) {
        const RfFunction *f = rf_find_function(lib->reflection, o->functions.items[i]);
        if (f && build_has_code(f)) continue;
        fprintf(stderr, "%s: '%s' has no kernel '%s'\n", o->program, o->inputs.items[0],
                o->functions.items[i]);
        status = 1;
    }
    if (!status && o->check && build_check(o, lib)) status = 1;
    if (!status && o->remarks) status = build_remarks(o, lib);
    char *output = build_output(o);
    if (!status && o->emit)
        status = emit(o, lib);
    else if (!status && output && !build_write(o, output, lib->bytes->data, lib->bytes->n_bytes))
        status = 1;
    free(output);
    metallib_release(lib);
    return status;
}

static int build(void *p) {
    BuildOptions *o = p;
    int status = 0;
    if (!o->object || o->inputs.n == 1) return build_one(o);
    for (size_t i = 0; i < o->inputs.n; i++) { // an object of each
        BuildOptions one = *o;
        one.inputs = (Strings){&o->inputs.items[i], 1};
        if (build_one(&one)) status = 1;
        for (size_t k = 0; one.linked && k < o->links.n; k++) metallib_release(one.linked[k]);
        free(one.linked);
    }
    return status;
}

static void too_long(int signal_number) {
    static const char text[] = "error: compiling took too long and was stopped "
                               "(INGOT_COMPILE_TIMEOUT_MS sets the limit)\n";
    (void)signal_number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
    } // nobody left to tell
    _exit(1);
}

static void no_memory(void) {
    static const char text[] = "error: " DRIVER_NO_MEMORY "\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
    }
    _exit(1);
}

// ---- What it may see ----

static void add_path(Strings *list, const char *path) {
    if (!strings_add(list, (char *)(uintptr_t)path)) no_memory();
}

// Where a result goes: its folder, in which it is put in one step; or itself, if it is no file
// (/dev/null). Takes the path.
static void add_result(Strings *write, char *path) {
    struct stat st;
    if (!path || !strcmp(path, "-")) return;
    char *slash = strrchr(path, '/');
    if (stat(path, &st) || S_ISREG(st.st_mode)) {
        if (slash)
            slash[slash == path] = 0;
        else
            path = strdup(".");
    }
    add_path(write, path);
}

// Files that are named, and the folders that #include may look into; written are the folders of
// the results, and the cache. A source that breaks Clang has gained no more than that.
static void confine(const BuildOptions *o) {
    Strings read = {0}, write = {0}; // what they name stays to the end
    BuildFolders folders;
    if (!build_folders(o, &folders)) exit(1);
    add_path(&read, folders.stdlib), add_path(&read, folders.shipped), add_path(&read, "/dev/null");
    add_path(&write, folders.pch);
    for (size_t i = 0; i < o->inputs.n; i++) {
        const char *input = strcmp(o->inputs.items[i], "-") ? o->inputs.items[i] : "/dev/stdin";
        MslSource source = build_source(o, &folders, input, NULL, 0);
        SourceFiles *files = source_files_new(&source, NULL);
        const char *folder;
        for (size_t k = 0; files && (folder = source_files_folder(files, k)); k++)
            add_path(&read, folder);
        add_path(&read, input);
        add_result(&write, build_rules(o, o->inputs.items[i]));
    }
    for (size_t i = 0; i < o->links.n; i++) add_path(&read, o->links.items[i]);
    add_result(&write, build_output(o));
    driver_confine((const char *const *)read.items, read.n, (const char *const *)write.items,
                   write.n);
}

int build_main(int argc, char **argv) {
    BuildOptions o;
    int status = build_options(argc, argv, &o);
    if (status == OPTIONS_GO_ON) {
        driver_limits();
        confine(&o);
        signal(SIGALRM, too_long);
        msl_on_no_memory(no_memory);
        // The front end's share of each file; checking limits each kernel by itself.
        unsigned long long ms = env_number("INGOT_COMPILE_TIMEOUT_MS", 120000) * o.inputs.n;
        alarm((unsigned)((ms + 999) / 1000));
        driver_run_deep(build, &o);
        status = 0;
    }
    build_options_free(&o);
    return status;
}

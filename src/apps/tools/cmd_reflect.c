// SPDX-License-Identifier: Apache-2.0
// cmd_reflect.c: `ingot reflect`: the entry points of a file, their arguments, the structs these
// use, and the function constants. For people, or as JSON.
#include "base/json.h"
#include "abi/metallib.h"
#include "apps/tools/reflect_archive.h"
#include "apps/tools/tools.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    const char *path;
    bool json;
    SourceOptions source;
} Job;

static const Option rows[] = {
    {"--json", NULL, "machine-readable output", OPT_FLAG, OPT_AT(Job, json)},
};
static const CommandLine line = {
    .program = "ingot reflect",
    .usage = "FILE.metal [--json] [-I DIR] [-D NAME[=VALUE]] [--math=MODE]",
    .about =
        "Lists the kernels of a shader (or .metallib): every argument with its index, type and\n"
        "access, struct layouts, and function constants. For a binary archive: the code it holds.",
    OPT_ROWS(rows),
    SOURCE_ROWS(Job, source),
    OPT_WORD(Job, path),
    .column = 11,
};

static const char *const accesses[] = {"read", "read and write", "write"};
static const char *const spaces[] = {"", "device", "constant", "threadgroup", "thread"};
static const char *const kinds[] = {"buffer",   "threadgroup", "texture", "sampler", "stage_in",
                                    "built-in", "table",       "tensor",  "payload", "mesh grid",
                                    "mesh",     "imageblock",  "rays"};

// Marks a struct and what it holds as used, to be printed below.
static void mark(const RfLibrary *rf, uint32_t ix, bool *used) {
    const RfType *t = &rf->types[ix];
    if (used[ix]) return;
    used[ix] = true;
    if (t->element != UINT32_MAX) mark(rf, t->element, used);
    for (uint32_t i = 0; i < t->n_members; i++) mark(rf, t->members[i].type, used);
}

static void print_arg(const RfLibrary *rf, const RfArg *a) {
    const RfType *t = &rf->types[a->type];
    char index[32];
    if (a->kind == RF_ARG_BUILTIN) {
        show_line("  %-14s %-16s %s %s", "built-in", a->name, t->name, rf_builtin_name(a->builtin));
        return;
    }
    if (a->count > 1)
        snprintf(index, sizeof index, "%s %u-%u", kinds[a->kind], a->index,
                 a->index + a->count - 1);
    else
        snprintf(index, sizeof index, "%s %u", kinds[a->kind], a->index);
    Text text = {0};
    text_printf(&text, "  %-14s %-16s ", index, a->name);
    if (a->kind == RF_ARG_TENSOR || a->kind == RF_ARG_ACCELERATION) // its type says the rest
        text_add(&text, t->name);
    else
        text_printf(&text, "%s %s, %u bytes each", spaces[a->space], t->name, t->size);
    if (a->kind == RF_ARG_BUFFER || a->kind == RF_ARG_TENSOR)
        text_printf(&text, ", %s", accesses[a->access]);
    if (*a->condition) text_add(&text, ", only if a function constant says so");
    show_line("%s", text.data ? text.data : "");
    text_free(&text);
}

static void print_function(const RfLibrary *rf, const RfFunction *f) {
    show_line("%s %s", rf_stage_name(f->stage), f->name);
    if (f->max_total_threads)
        printf("  threads per threadgroup, at most %u\n", f->max_total_threads);
    if (f->required_threads[0])
        printf("  threads per threadgroup, exactly %u x %u x %u\n", f->required_threads[0],
               f->required_threads[1] ? f->required_threads[1] : 1,
               f->required_threads[2] ? f->required_threads[2] : 1);
    for (uint32_t i = 0; i < f->n_args; i++) print_arg(rf, &f->args[i]);
    for (uint32_t i = 0; i < f->n_constants; i++) {
        const RfConstant *c = &rf->constants[f->constants[i]];
        show_line("  %-8s %-5u %-16s %s", "constant", c->index, c->name, rf->types[c->type].name);
    }
}

static void print_text(const RfLibrary *rf) {
    bool *used = must_alloc(rf->n_types, sizeof *used);
    for (uint32_t i = 0; i < rf->n_functions; i++) {
        print_function(rf, &rf->functions[i]);
        for (uint32_t k = 0; k < rf->functions[i].n_args; k++)
            mark(rf, rf->functions[i].args[k].type, used);
    }
    for (uint32_t i = 0; i < rf->n_types; i++) {
        const RfType *t = &rf->types[i];
        if (!used[i] || !t->n_members) continue;
        show_line("struct %s, %u bytes, aligned to %u", t->name, t->size, t->align);
        for (uint32_t k = 0; k < t->n_members; k++)
            show_line("  %6u  %-16s %s", t->members[k].offset, t->members[k].name,
                      rf->types[t->members[k].type].name);
    }
    if (!rf->n_functions) puts("no entry points");
    free(used);
}

// ---- JSON ----

static void put_key(Text *t, const char *key, const char *value) {
    text_printf(t, "\"%s\": ", key);
    json_string(t, value);
}

static void put_arg(Text *t, const RfLibrary *rf, const RfArg *a) {
    const RfType *type = &rf->types[a->type];
    text_add(t, "{");
    put_key(t, "name", a->name);
    text_add(t, ", ");
    put_key(t, "kind", a->kind == RF_ARG_BUILTIN ? "builtin" : kinds[a->kind]);
    text_add(t, ", ");
    put_key(t, "type", type->name);
    text_printf(t, ", \"data_type\": %u, \"size\": %u, \"align\": %u", type->data_type, type->size,
                type->align);
    if (a->kind == RF_ARG_BUILTIN) {
        text_add(t, ", ");
        put_key(t, "builtin", rf_builtin_name(a->builtin));
    } else {
        text_printf(t, ", \"index\": %u, \"count\": %u, ", a->index, a->count);
        put_key(t, "space", spaces[a->space]);
        text_add(t, ", ");
        put_key(t, "access", accesses[a->access]);
        text_printf(t, ", \"optional\": %s", *a->condition ? "true" : "false");
    }
    text_add(t, "}");
}

static void put_function(Text *t, const RfLibrary *rf, const RfFunction *f) {
    text_add(t, "    {");
    put_key(t, "name", f->name);
    text_add(t, ", ");
    put_key(t, "stage", rf_stage_name(f->stage));
    text_printf(
        t, ", \"max_total_threads\": %u, \"required_threads\": [%u, %u, %u],\n     \"args\": [",
        f->max_total_threads, f->required_threads[0], f->required_threads[1],
        f->required_threads[2]);
    for (uint32_t i = 0; i < f->n_args; i++) {
        text_add(t, i ? ",\n       " : "\n       ");
        put_arg(t, rf, &f->args[i]);
    }
    text_add(t, "],\n     \"constants\": [");
    for (uint32_t i = 0; i < f->n_constants; i++) {
        const RfConstant *c = &rf->constants[f->constants[i]];
        text_add(t, i ? ", {" : "{");
        put_key(t, "name", c->name);
        text_printf(t, ", \"index\": %u, ", c->index);
        put_key(t, "type", rf->types[c->type].name);
        text_add(t, "}");
    }
    text_add(t, "]}");
}

static void put_struct(Text *t, const RfLibrary *rf, const RfType *type) {
    text_add(t, "    {");
    put_key(t, "name", type->name);
    text_printf(t, ", \"size\": %u, \"align\": %u, \"members\": [", type->size, type->align);
    for (uint32_t i = 0; i < type->n_members; i++) {
        text_add(t, i ? ", {" : "{");
        put_key(t, "name", type->members[i].name);
        text_printf(t, ", \"offset\": %u, ", type->members[i].offset);
        put_key(t, "type", rf->types[type->members[i].type].name);
        text_add(t, "}");
    }
    text_add(t, "]}");
}

static int print_json(const RfLibrary *rf) {
    Text t = {0};
    text_add(&t, "{\n  \"functions\": [\n");
    for (uint32_t i = 0; i < rf->n_functions; i++) {
        put_function(&t, rf, &rf->functions[i]);
        text_add(&t, i + 1 < rf->n_functions ? ",\n" : "\n");
    }
    text_add(&t, "  ],\n  \"structs\": [\n");
    bool first = true;
    for (uint32_t i = 0; i < rf->n_types; i++) {
        if (!rf->types[i].n_members) continue;
        if (!first) text_add(&t, ",\n");
        put_struct(&t, rf, &rf->types[i]);
        first = false;
    }
    text_add(&t, first ? "  ]\n}\n" : "\n  ]\n}\n");
    bool ok = !t.failed;
    if (ok) fputs(t.data, stdout);
    text_free(&t);
    return ok ? EXIT_FINE : complain(EXIT_INPUT, "reflect", "out of memory");
}

int cmd_reflect(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) goto done;
    const char *path = job.path;
    if (!path) {
        status = options_wrong(&line, "a file is required (see `ingot reflect --help`)");
        goto done;
    }
    if (is_archive_file(path)) {
        status = reflect_archive(path, job.json);
        goto done;
    }
    status = EXIT_INPUT;
    MTLDevice *device = open_device("reflect");
    MTLLibrary *library = device ? load_library(device, &job.source, path, "reflect") : NULL;
    size_t n;
    void *data = library ? mtl_library_copy_data(library, &n) : NULL;
    Blob *bytes = data ? blob_copy(data, n) : NULL;
    const char *why = "out of memory";
    Metallib *m = bytes ? metallib_open(bytes, &why) : NULL;
    if (m) {
        status = EXIT_FINE;
        if (job.json)
            status = print_json(m->reflection);
        else
            print_text(m->reflection);
    } else if (library) {
        complain(EXIT_INPUT, "reflect", "'%s': %s", path, why);
    }
    metallib_release(m);
    blob_release(bytes);
    mtl_free_data(data);
    mtl_release(library);
    mtl_release(device);
done:
    source_options_free(&job.source);
    return status;
}

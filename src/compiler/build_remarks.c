// SPDX-License-Identifier: Apache-2.0
// build_remarks.c: `ingot build --remarks`: compiles the kernels and prints what passes/remarks.c
// has to say about them, in the order of their lines, as text or as JSON. Without --group the
// threadgroup has 256 threads in a row, or 16 x 16 where a kernel asks for two of its positions.
#include "compiler/build_int.h"
#include "base/array.h"
#include "abi/data_types.h"
#include "base/json.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Remark {
    char *file, *kind, *text;
    unsigned line, column;
    const char *kernel;
} Remark;

typedef struct Remarks {
    Remark *at;
    size_t n;
    char **texts; // that the remarks point into
    size_t n_texts;
} Remarks;

static bool is_plane(const RfLibrary *lib, const RfFunction *f) {
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *a = &f->args[i];
        if (a->kind != RF_ARG_BUILTIN || a->type >= lib->n_types) continue;
        if (a->builtin != RF_THREAD_POSITION_IN_GRID &&
            a->builtin != RF_THREAD_POSITION_IN_THREADGROUP)
            continue;
        uint32_t type = lib->types[a->type].data_type;
        if (type != DT_UINT && type != DT_USHORT) return true;
    }
    return false;
}

static char *cut(char **at, char separator) {
    char *word = *at, *end = strchr(word, separator);
    if (!end) return NULL;
    *end = 0;
    *at = end + 1;
    return word;
}

// Takes the text over. False: no memory.
static bool add_remarks(Remarks *r, char *text, const char *kernel) {
    if (!array_more(&r->texts, r->n_texts)) return free(text), false;
    r->texts[r->n_texts++] = text;
    for (char *at = text; *at;) {
        Remark m = {.kernel = kernel};
        char *line, *column;
        m.file = cut(&at, '\t'), line = m.file ? cut(&at, '\t') : NULL;
        column = line ? cut(&at, '\t') : NULL, m.kind = column ? cut(&at, '\t') : NULL;
        m.text = m.kind ? cut(&at, '\n') : NULL;
        if (!m.text) break;
        m.line = (unsigned)strtoul(line, NULL, 10), m.column = (unsigned)strtoul(column, NULL, 10);
        if (!array_more(&r->at, r->n)) return false;
        r->at[r->n++] = m;
    }
    return true;
}

static int by_place(const void *a, const void *b) {
    const Remark *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    if (files) return files;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return strcmp(x->text, y->text);
}

// A loop begins with a branch around it.
static bool is_loop(const Remarks *r, const Remark *branch) {
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i].line == branch->line && !strcmp(r->at[i].kind, "loop") &&
            !strcmp(r->at[i].file, branch->file))
            return true;
    return false;
}

static void print_remarks(const BuildOptions *o, const Remarks *r) {
    Text t = {0};
    if (o->remarks_json) text_add(&t, "[");
    for (size_t i = 0; i < r->n; i++) {
        const Remark *m = &r->at[i];
        if (i && !by_place(m, m - 1)) continue; // of two kernels that call one function
        if (!strcmp(m->kind, "branch") && is_loop(r, m)) continue;
        if (!o->remarks_json) {
            text_printf(&t, "%s:%u:%u: remark: %s [%s]\n", m->file, m->line, m->column, m->text,
                        m->kind);
            continue;
        }
        text_add(&t, t.n_bytes > 1 ? ",\n{\"file\":" : "\n{\"file\":");
        json_string(&t, m->file);
        text_printf(&t, ",\"line\":%u,\"column\":%u,\"kind\":\"%s\",\"kernel\":", m->line,
                    m->column, m->kind);
        json_string(&t, m->kernel);
        text_add(&t, ",\"text\":");
        json_string(&t, m->text);
        text_add(&t, "}");
    }
    if (o->remarks_json) text_add(&t, "\n]\n");
    if (t.data) fputs(t.data, stdout);
    text_free(&t);
}

int build_remarks(const BuildOptions *o, const Metallib *lib) {
    Remarks all = {0};
    int status = 0;
    for (uint32_t i = 0; i < lib->reflection->n_functions && !status; i++) {
        const RfFunction *f = &lib->reflection->functions[i];
        bool named = !o->functions.n;
        for (size_t k = 0; k < o->functions.n; k++)
            named |= !strcmp(o->functions.items[k], f->name);
        if (!named || !build_has_code(f)) continue;
        char *text = NULL;
        BuildOptions one = *o;
        one.remarks_to = &text;
        one.emit = "obj";
        if (!one.shape[0] && f->stage == RF_KERNEL) {
            bool plane = is_plane(lib->reflection, f);
            one.shape[0] = plane ? 16 : 256, one.shape[1] = plane ? 16 : 1, one.shape[2] = 1;
        }
        MslKernel k;
        if (!build_kernel(&one, lib, f, false, &k)) {
            fprintf(stderr, "%s: error: kernel '%s': %s\n", lib->source_name, f->name, k.error);
            status = 1;
        }
        msl_kernel_free(&k);
        if (text && !add_remarks(&all, text, f->name)) status = 1;
    }
    if (all.n) qsort(all.at, all.n, sizeof *all.at, by_place);
    if (!status) print_remarks(o, &all);
    for (size_t i = 0; i < all.n_texts; i++) free(all.texts[i]);
    free(all.texts);
    free(all.at);
    return status;
}

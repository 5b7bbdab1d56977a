// SPDX-License-Identifier: Apache-2.0
// check_msl.c: compiles one .metal file with the front end and compares what it says with what the
// file's comments expect.
//   check_msl STDLIB PCH_DIR file.metal [--dump]
// In the file:
//   code // expect-error: text        an error on this line whose message contains the text
//   // expect-warning@12: text        on line 12 (also expect-note)
//   // reflect: line                  a line of the reflection dump, all of them, in order
// Errors and warnings that are not expected fail, and so do expectations that are not met. A file
// without expect-error must be accepted.
//
// A file with lines `// ==== [2.1] title` is a table of programs, one behind each such line, each
// compiled alone with what stands before the first; a number is the version of the language.
#include "abi/source_files.h"
#include "base/files.h"
#include "base/text.h"
#include "compiler/compiler.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Expectation {
    int severity;
    uint32_t line;
    char text[256];
    bool met;
} Expectation;
enum { MAX_EXPECTATIONS = 256 };

static const char *const spaces[] = {"", "device", "constant", "threadgroup", "thread"};
static const char *const accesses[] = {"read", "read_write", "write"};

static void dump_values(const RfValue *values, uint32_t n, const char *way, Text *t) {
    static const char *const roles[RF_N_ROLES] = {"value",
                                                  "attribute",
                                                  "position",
                                                  "point_size",
                                                  "clip_distance",
                                                  "layer",
                                                  "viewport",
                                                  "color",
                                                  "depth",
                                                  "stencil",
                                                  "sample_mask",
                                                  "vertex_id",
                                                  "instance_id",
                                                  "base_vertex",
                                                  "base_instance",
                                                  "amplification_id",
                                                  "amplification_count",
                                                  "front_facing",
                                                  "point_coord",
                                                  "primitive_id",
                                                  "sample_id",
                                                  "barycentric"};
    static const char *const interpolations[] = {"perspective", "linear", "flat"};
    static const char *const places[] = {"center", "centroid", "sample"};
    for (uint32_t i = 0; i < n; i++) {
        const RfValue *v = &values[i];
        text_printf(t, "  %s %s%s%s %s type %u n %u +%u", way, v->user ? "user(" : "", v->name,
                    v->user ? ")" : "", roles[v->role], v->data_type, v->n, v->offset);
        if (v->role == RF_VALUE)
            text_printf(t, " row %u %s %s", v->row, interpolations[v->interpolation],
                        places[v->place]);
        if (v->role == RF_ATTRIBUTE || v->role == RF_COLOR) text_printf(t, " index %u", v->index);
        if (v->source) text_add(t, " second");
        if (v->role == RF_DEPTH) text_printf(t, " qualifier %u", v->qualifier);
        if (v->invariant) text_add(t, " invariant");
        if (*v->condition) text_printf(t, " if %s", v->condition);
        text_add(t, "\n");
    }
}

// The reflection as text: constants, then entry points with their arguments, then structs.
static void dump(const RfLibrary *r, Text *t) {
    for (uint32_t i = 0; i < r->n_constants; i++)
        text_printf(t, "constant %u %s %s\n", r->constants[i].index,
                    r->types[r->constants[i].type].name, r->constants[i].name);
    for (uint32_t i = 0; i < r->n_functions; i++) {
        const RfFunction *f = &r->functions[i];
        bool graphics = f->stage == RF_VERTEX || f->stage == RF_FRAGMENT;
        text_printf(t, "%s %s",
                    !graphics               ? "kernel"
                    : f->stage == RF_VERTEX ? "vertex"
                                            : "fragment",
                    f->name);
        if (f->early_tests) text_add(t, " early");
        if (f->max_total_threads) text_printf(t, " max %u", f->max_total_threads);
        if (f->required_threads[0])
            text_printf(t, " required %u,%u,%u", f->required_threads[0], f->required_threads[1],
                        f->required_threads[2]);
        for (uint32_t k = 0; k < f->n_constants; k++)
            text_printf(t, " uses %s", r->constants[f->constants[k]].name);
        text_add(t, "\n");
        for (uint32_t k = 0; k < f->n_args; k++) {
            const RfArg *a = &f->args[k];
            const RfType *type = &r->types[a->type];
            text_printf(t, "  %s %s", a->name, type->name);
            if (a->kind == RF_ARG_BUILTIN)
                text_printf(t, " %s", rf_builtin_name(a->builtin));
            else
                text_printf(t, " %s %s index %u count %u slot %u", spaces[a->space],
                            accesses[a->access], a->index, a->count, a->slot);
            if (*a->condition) text_printf(t, " if %s", a->condition);
            text_printf(t, " type %u size %u align %u\n", type->data_type, type->size, type->align);
        }
        dump_values(f->inputs, f->n_inputs, "in", t);
        dump_values(f->outputs, f->n_outputs, "out", t);
    }
    for (uint32_t i = 0; i < r->n_types; i++) {
        const RfType *s = &r->types[i];
        if (!s->n_members) continue;
        text_printf(t, "struct %s size %u align %u\n", s->name, s->size, s->align);
        for (uint32_t k = 0; k < s->n_members; k++) {
            const RfType *m = &r->types[s->members[k].type];
            text_printf(t, "  +%u %s %s type %u", s->members[k].offset, m->name, s->members[k].name,
                        m->data_type);
            if (m->data_type == 2)
                text_printf(t, " elements %u stride %u", m->n_elements, m->stride);
            text_printf(t, s->members[k].id >= 0 ? " id %d\n" : "\n", s->members[k].id);
        }
    }
}

// Reads one "expect-<severity>[@line]: text" at `at` (behind "expect-").
static bool parse(const char *at, uint32_t line, Expectation *e) {
    static const char *const names[] = {"", "note", "warning", "error"};
    for (int s = 1; s <= 3; s++) {
        size_t n = strlen(names[s]);
        if (strncmp(at, names[s], n) != 0) continue;
        at += n;
        *e = (Expectation){.severity = s, .line = line};
        if (*at == '@') e->line = (uint32_t)strtoul(at + 1, (char **)&at, 10);
        if (*at++ != ':') return false;
        while (*at == ' ') at++;
        size_t length = strcspn(at, "\n");
        while (length && isspace((unsigned char)at[length - 1])) length--;
        snprintf(e->text, sizeof e->text, "%.*s", (int)length, at);
        return true;
    }
    return false;
}

static size_t read_expectations(const char *text, uint32_t line, Expectation *list,
                                Text *reflection) {
    size_t n = 0;
    for (const char *s = text; *s; line++) {
        const char *end = strchrnul(s, '\n');
        for (const char *at = s; (at = strstr(at, "// ")) && at < end; at += 3) {
            if (strncmp(at, "// expect-", 10) == 0 && n < MAX_EXPECTATIONS &&
                parse(at + 10, line, &list[n]))
                n++;
            if (strncmp(at, "// reflect: ", 12) == 0) {
                text_add_bytes(reflection, at + 12, (size_t)(end - at - 12));
                text_add(reflection, "\n");
            }
        }
        s = *end ? end + 1 : end;
    }
    return n;
}

static int compare(const char *path, const MslLibrary *lib, Expectation *list, size_t n) {
    int failures = 0;
    for (size_t i = 0; i < lib->n_diagnostics; i++) {
        const MslDiagnostic *d = &lib->diagnostics[i];
        bool expected = d->severity == 1; // notes may go unmentioned
        for (size_t k = 0; k < n; k++)
            if (list[k].line == d->line &&
                list[k].severity == (d->severity > 3 ? 3 : d->severity) &&
                strstr(d->message, list[k].text)) {
                list[k].met = expected = true;
                break;
            }
        if (!expected) {
            fprintf(stderr, "%s:%u: not expected: %s\n", path, d->line, d->message);
            failures++;
        }
    }
    for (size_t k = 0; k < n; k++)
        if (!list[k].met) {
            fprintf(stderr, "%s:%u: expected but not said: %s\n", path, list[k].line, list[k].text);
            failures++;
        }
    return failures;
}

typedef struct Place { // where the headers and their images are, and the file
    const char *stdlib, *pch, *path;
} Place;

// Compiles and compares with what the text of the program itself, from `line` on, expects; the
// number of complaints.
static int check(const Place *at, const char *text, size_t n_bytes, const char *own, uint32_t line,
                 uint32_t version, bool show) {
    static Expectation list[MAX_EXPECTATIONS];
    Text wanted = {0}, got = {0};
    size_t n = read_expectations(own, line, list, &wanted);
    MslSource source = {.name = at->path,
                        .text = text,
                        .n_bytes = n_bytes,
                        .math_mode = MSL_MATH_FAST,
                        .language_version = version,
                        .stdlib_dir = at->stdlib,
                        .pch_dir = at->pch};
    MslFiles files = {source_files_new(&source, NULL), source_files_find};
    source.files = &files;
    MslLibrary lib;
    bool ok = msl_frontend(&source, &lib), error_expected = false;
    int failures = compare(at->path, &lib, list, n);
    for (size_t i = 0; i < n; i++) error_expected |= list[i].severity == 3;
    if (ok == error_expected) {
        fprintf(stderr, "%s:%u: %s\n", at->path, line,
                ok ? "accepted, though errors are expected" : "rejected");
        failures++;
    }
    if (ok) dump(lib.reflection, &got);
    if (wanted.data && (!got.data || strcmp(wanted.data, got.data) != 0)) {
        fprintf(stderr, "%s: reflection expected:\n%sgot:\n%s", at->path, wanted.data,
                got.data ? got.data : "");
        failures++;
    }
    if (show && got.data) fputs(got.data, stdout);
    if (failures || show) fputs(lib.log ? lib.log : "", stderr);
    msl_library_free(&lib);
    source_files_free(files.context);
    text_free(&wanted);
    text_free(&got);
    return failures;
}

static const char separator[] = "// ====";

// The programs of a table, each with the common head, at its own lines.
static int check_table(const Place *at, const char *text, const char *first) {
    int failures = 0;
    uint32_t n = 0, line = 1;
    for (const char *s = text; s < first; s++) line += *s == '\n';
    for (const char *s = first, *next; s && *s; s = next) {
        next = strstr(s + 1, "\n// ====");
        next = next ? next + 1 : NULL;
        unsigned major = 0, minor = 0;
        sscanf(s + sizeof separator - 1, "%u.%u", &major, &minor);
        Text program = {0};
        text_add_bytes(&program, text, (size_t)(first - text));
        text_printf(&program, "#line %u\n", line);
        size_t head = program.n_bytes;
        text_add_bytes(&program, s, next ? (size_t)(next - s) : strlen(s));
        failures += check(at, program.data, program.n_bytes, program.data + head, line,
                          major << 16 | minor, false) != 0;
        for (const char *c = s; c < (next ? next : s + strlen(s)); c++) line += *c == '\n';
        text_free(&program);
        n++;
    }
    printf("%u programs, %d wrong answers\n", n, failures);
    return failures;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: check_msl STDLIB PCH_DIR file.metal [--dump]\n");
        return 2;
    }
    Place at = {argv[1], argv[2], argv[3]};
    size_t n_bytes = 0;
    char *text = (char *)file_read(at.path, &n_bytes);
    if (!text) {
        perror(at.path);
        return 2;
    }
    const char *table = strstr(text, "\n// ====");
    int failures =
        table ? check_table(&at, text, table + 1) : check(&at, text, n_bytes, text, 1, 0, argc > 4);
    if (failures)
        fprintf(stderr, "rerun: %s %s %s %s --dump\n", argv[0], argv[1], argv[2], at.path);
    free(text);
    return failures != 0;
}

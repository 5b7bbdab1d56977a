// SPDX-License-Identifier: Apache-2.0
// build_text.c: what the preprocessor has to say: `-E` (the text), `-H` (the headers, on standard
// error) and `-M`, `-MM`, `-MD`, `-MMD` (rules for make). Clang writes headers and rules itself;
// here is who gets them and what the target is called. Headers of Metal are named by -M and -MD
// only.
#include "base/text.h"
#include "compiler/build_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool only_rules(const BuildOptions *o) { return o->rules || o->user_rules; }
static bool any_rules(const BuildOptions *o) {
    return only_rules(o) || o->side_rules || o->side_user_rules;
}

bool build_wants_text(const BuildOptions *o) { return o->preprocess || o->headers || any_rules(o); }

static char *with_suffix(const char *path, const char *suffix, bool in_folder) {
    const char *slash = strrchr(path, '/'), *name = slash && !in_folder ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - name) : strlen(name);
    return text_format("%.*s%s", (int)n, name, suffix);
}

char *build_output(const BuildOptions *o) {
    if (o->output) return strdup(o->output);
    const char *input = o->inputs.items[0];
    if (!o->object) return NULL;
    return strcmp(input, "-") ? with_suffix(input, ".air", false) : strdup("-");
}

// -MF; else -o with -M; else beside the output.
char *build_rules(const BuildOptions *o, const char *input) {
    if (!any_rules(o)) return NULL;
    if (o->rules_file) return strdup(o->rules_file);
    if (only_rules(o)) return strdup(o->output ? o->output : "-");
    return o->output && strcmp(o->output, "-") ? with_suffix(o->output, ".d", true)
                                               : with_suffix(input, ".d", false);
}

static void add_text(Strings *s, const char *text) { strings_add(s, (char *)(uintptr_t)text); }

static int preprocess(const BuildOptions *o, const BuildFolders *folders, const char *input,
                      Text *all) {
    size_t n;
    unsigned char *data = build_read(o, input, &n);
    if (!data) return 1;
    if (metallib_recognised(data, n)) { // nothing to preprocess in an object
        free(data);
        return 0;
    }
    Strings options = {0};
    char *path = NULL, *target = NULL;
    for (size_t i = 0; i < o->shape_of_text.n; i++) add_text(&options, o->shape_of_text.items[i]);
    if (o->headers) add_text(&options, "-H");
    if (any_rules(o)) {
        path = build_rules(o, input);
        target =
            !only_rules(o) && o->output ? strdup(o->output) : with_suffix(input, ".air", false);
        add_text(&options, "-dependency-file");
        add_text(&options, path);
        for (size_t i = 0; i < o->targets.n; i++)
            add_text(&options, "-MT"), add_text(&options, o->targets.items[i]);
        if (!o->targets.n) add_text(&options, "-MT"), add_text(&options, target);
        if (o->phony_rules) add_text(&options, "-MP");
        if (o->rules || o->side_rules) add_text(&options, "-sys-header-deps");
    }
    MslSource source = build_source(o, folders, input, data, n);
    MslFiles files = build_files(&source);
    source.files = &files;
    MslPreprocess p = {.options = (const char *const *)options.items, .n_options = options.n};
    bool ok = msl_preprocess(&source, &p);
    // The compiler repeats warnings when it comes to the same lines.
    if (p.log && (!ok || o->preprocess)) fputs(p.log, stderr);
    if (ok && o->preprocess) text_add_bytes(all, p.text, p.n_text);
    free(p.log), free(p.text), free(path), free(target), free(data);
    source_files_free(files.context);
    strings_free(&options);
    return ok ? 0 : 1;
}

int build_text(const BuildOptions *o) {
    BuildFolders folders;
    Text all = {0};
    int status = 0;
    if (!build_folders(o, &folders)) return 1;
    for (size_t i = 0; i < o->inputs.n; i++)
        if (preprocess(o, &folders, o->inputs.items[i], &all)) status = 1;
    if (!status && o->preprocess && !only_rules(o) &&
        !build_write(o, o->output ? o->output : "-", all.data ? all.data : "", all.n_bytes))
        status = 1;
    text_free(&all);
    build_folders_free(&folders);
    return status;
}

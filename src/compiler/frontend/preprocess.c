// SPDX-License-Identifier: Apache-2.0
// preprocess.c: msl_preprocess, the preprocessor alone: the text for `-E`, and on the way what
// Clang itself writes when asked (-H: headers on standard error, -dependency-file: rules for make).
// Our headers lend their macros only (-imacros): their text, which every source has in front of it,
// is nothing that a reader of the output looks for.
#include "compiler/frontend/frontend_int.h"
#include <stdlib.h>
#include <string.h>

typedef struct Run {
    Diagnoser diagnoser;
    Found found;
    Text text;
} Run;

static void on_diagnostic(void *context, BridgeJob *job, const BridgeDiagnostic *d) {
    Run *run = context;
    run->diagnoser.refused_file = found_refused(&run->found);
    diagnose(&run->diagnoser, job, d);
}

static void on_file(void *context, const char *path, bool system) {
    (void)context, (void)path, (void)system;
}

static BridgeLent on_find(void *context, const char *path) {
    return found_ask(&((Run *)context)->found, path);
}

static void on_text(void *context, const char *text, size_t n) {
    text_add_bytes(&((Run *)context)->text, text, n);
}

bool msl_preprocess(const MslSource *given, MslPreprocess *p) {
    MslSource source = *given;
    BaseArena arena = {0};
    Options o = {.arena = &arena};
    Run run = {.found.files = given->files};
    size_t n_files = 0;
    if (!source.name || !*source.name) source.name = "program_source";
    BridgeFile *files = frontend_files(&source, &arena, &n_files);
    options_dialect(&o, &source);
    options_source(&o, &source);
    options_push(&o, "-imacros");
    options_push(&o, "detail/prelude.h");
    for (size_t i = 0; i < source.n_extra; i++) options_push(&o, source.extra[i]);
    options_push(&o, "-E");
    for (size_t i = 0; i < p->n_options; i++) options_push(&o, p->options[i]);
    options_push(&o, source.name);
    const BridgeClient client = {.context = &run,
                                 .stdlib = source.stdlib_dir,
                                 .find = on_find,
                                 .diagnostic = on_diagnostic,
                                 .pragma = allow_pragma,
                                 .file = on_file,
                                 .text = on_text};
    bool ok = files && !o.failed &&
              bridge_run(BRIDGE_PREPROCESS, o.at, o.n, files, n_files,
                         source.math_mode != MSL_MATH_SAFE, &client);
    diagnose_end(&run.diagnoser);
    ok = ok && !run.diagnoser.n_errors && !run.diagnoser.failed && !run.text.failed;
    p->log = text_take(&run.diagnoser.log);
    p->n_text = run.text.n_bytes;
    p->text = text_take(&run.text);
    diagnose_free(&run.diagnoser);
    found_free(&run.found);
    base_arena_free(&arena);
    return ok && p->text;
}

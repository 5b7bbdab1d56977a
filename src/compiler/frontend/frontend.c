// SPDX-License-Identifier: Apache-2.0
// frontend.c: msl_frontend, MSL source -> library. Gathers Clang's options, finds the precompiled
// prelude, runs Clang through the bridge, repeats with repairs where an error asked for one
// (bounded), and assembles the result: bitcode, reflection, diagnostics, files read.
#include "compiler/frontend/frontend_int.h"
#include "base/array.h"
#include "base/blob.h"
#include "compiler/frontend/shares.h"
#include <stdlib.h>
#include <string.h>

// A round in which a repair was found leaves what follows uninstantiated, and the next one finds
// the repairs in there; but only so often.
enum { MAX_ROUNDS = 8, SHORT_ROUNDS = 2 };

typedef struct Round { // one run of Clang
    const MslSource *source;
    BaseArena arena;
    TokenList tokens;
    Diagnoser diagnoser;
    ReflectBuilder reflection;
    Repairs *repairs;  // over all rounds
    bool learnt;       // a repair was found
    bool may_be_short; // once a repair is found
    bool bare;         // the language and its types, without its library
    bool library;      // one of our headers was included
    Found *found;      // files that were asked for, over all rounds
    MslFileRead *files;
    size_t n_files, capacity_files;
    unsigned char *bitcode;
    size_t bitcode_bytes;
    Shares shares;
    bool alone;  // is not to be shared among processes
    bool failed; // out of memory
} Round;

static const MslToken *on_tokens(void *context, BridgeJob *job, const MslToken *in, size_t n,
                                 size_t *n_out) {
    Round *r = context;
    if (!r->bare && !r->library) return NULL; // its names are not there: again, without them
    if (!tokens_edit(job, &r->arena, version_asked(r->source), in, n, &r->tokens) ||
        !repairs_apply(r->repairs, &r->tokens)) {
        r->failed = true;
        return NULL;
    }
    *n_out = r->tokens.n;
    return r->tokens.at;
}

static void on_diagnostic(void *context, BridgeJob *job, const BridgeDiagnostic *d) {
    Round *r = context;
    bool learnt = d->severity >= 3 && repairs_learn(r->repairs, d);
    r->diagnoser.refused_file = found_refused(r->found);
    if (d->severity >= 3 && r->shares.number && !learnt && !r->learnt) shares_give_up();
    r->learnt |= learnt;
    diagnose(&r->diagnoser, job, d);
}

static bool on_in_vain(void *context) {
    const Round *r = context;
    bool in_vain = r->learnt && r->may_be_short;
    if (in_vain && r->shares.number) shares_answer_repairs(&r->shares, r->repairs);
    return in_vain;
}

static BridgeShare on_divide(void *context, size_t n) {
    Round *r = context;
    if (!r->alone) shares_begin(&r->shares, n, &r->diagnoser, r->repairs);
    return shares_of(&r->shares, n);
}

static void on_file(void *context, const char *path, bool system) {
    Round *r = context;
    if (system) {
        const size_t n = strlen(BRIDGE_STDLIB);
        r->library |= strncmp(path, BRIDGE_STDLIB, n) == 0 && !strstr(path + n, "/detail/");
        return;
    }
    if (strcmp(path, r->source->name) == 0 || strncmp(path, "/memory/", 8) == 0 ||
        strstr(path, "/prelude-"))
        return;
    const Blob *bytes = found_bytes(r->found, path);
    if (!bytes) return; // in memory
    for (size_t i = 0; i < r->n_files; i++)
        if (strcmp(r->files[i].path, path) == 0) return;
    if (!array_reserve(&r->files, &r->capacity_files, r->n_files + 1)) {
        r->failed = true;
        return;
    }
    MslFileRead *file = &r->files[r->n_files];
    file->path = strdup(path);
    sha256(bytes->data, bytes->n_bytes, file->hash);
    r->failed |= !file->path;
    r->n_files += file->path != NULL;
}

static BridgeLent on_find(void *context, const char *path) {
    return found_ask(((Round *)context)->found, path);
}

static uint32_t on_new_type(void *context) {
    return reflect_new_type(&((Round *)context)->reflection);
}
static void on_set_type(void *context, uint32_t type, const BridgeType *info) {
    reflect_set_type(&((Round *)context)->reflection, type, info);
}
static void on_variable(void *context, BridgeJob *job, const BridgeDecl *decl) {
    reflect_variable(&((Round *)context)->reflection, job, decl);
}
static void on_function(void *context, BridgeJob *job, const BridgeFunction *f) {
    Round *r = context;
    const RfLibrary *lib = r->reflection.lib;
    const uint32_t before = lib->n_functions;
    reflect_function(&r->reflection, job, f);
    if (r->shares.n && lib->n_functions > before)
        r->failed |= !shares_note(&r->shares, before, f->defined);
}
static void on_module(void *context, BridgeJob *job, struct LLVMOpaqueModule *module) {
    Round *r = context;
    if (!r->source->enable_logging) module_mute(module);
    if (r->source->debug) bridge_forget_headers(module);
    const bool part = r->shares.number;
    if (part && r->failed) shares_give_up();
    bool ok = module_finish(module, job, r->reflection.lib, part ? r->shares.made : NULL,
                            r->source->allow_undefined, &r->bitcode, &r->bitcode_bytes);
    if (!part) return;
    if (!ok || r->failed) shares_give_up();
    shares_answer(&r->shares, r->reflection.lib, &r->diagnoser, r->bitcode, r->bitcode_bytes);
}

static void round_free(Round *r) {
    reflect_end(&r->reflection);
    token_list_free(&r->tokens);
    diagnose_free(&r->diagnoser);
    for (size_t i = 0; i < r->n_files; i++) free(r->files[i].path);
    free(r->files);
    free(r->bitcode);
    shares_free(&r->shares);
    base_arena_free(&r->arena);
}

BridgeFile *frontend_files(const MslSource *source, BaseArena *arena, size_t *n) {
    BridgeFile *files = base_arena_alloc(arena, source->n_headers + 1 + PCH_SOURCES, sizeof *files);
    *n = source->n_headers + 1 + PCH_SOURCES;
    if (!files) return NULL;
    files[0] = (BridgeFile){source->name, source->text ? source->text : "", source->n_bytes};
    for (size_t i = 0; i < PCH_SOURCES; i++) // the image names its own
        files[source->n_headers + 1 + i] = pch_sources[i];
    for (size_t i = 0; i < source->n_headers; i++) {
        char *path = text_format("/memory/%s", source->headers[i].name);
        files[i + 1] = (BridgeFile){path ? base_arena_str(arena, path, strlen(path)) : NULL,
                                    source->headers[i].text, source->headers[i].n_bytes};
        free(path);
        if (!files[i + 1].path) return NULL;
    }
    return files;
}

static bool run_round(Round *r, const Options *dialect, const char *pch) {
    Options o = {.arena = &r->arena};
    size_t n_files = 0;
    BridgeFile *files = frontend_files(r->source, &r->arena, &n_files);
    for (size_t i = 0; i < dialect->n; i++) options_push(&o, dialect->at[i]);
    options_source(&o, r->source);
    options_push(&o, pch ? "-include-pch" : "-include");
    options_push(&o, pch ? pch : r->bare ? "detail/types.h" : "detail/prelude.h");
    for (size_t i = 0; i < r->source->n_extra; i++) options_push(&o, r->source->extra[i]);
    options_push(&o, r->source->name);
    const BridgeClient client = {.context = r,
                                 .version = version_asked(r->source),
                                 .stdlib = r->source->stdlib_dir,
                                 .image = pch,
                                 .find = on_find,
                                 .tokens = on_tokens,
                                 .diagnostic = on_diagnostic,
                                 .in_vain = on_in_vain,
                                 .divide = on_divide,
                                 .pragma = allow_pragma,
                                 .file = on_file,
                                 .new_type = on_new_type,
                                 .set_type = on_set_type,
                                 .variable = on_variable,
                                 .function = on_function,
                                 .module = on_module};
    if (!files || o.failed || !reflect_begin(&r->reflection, &r->arena)) {
        r->failed = true;
        return false;
    }
    bool ok = bridge_run(BRIDGE_COMPILE, o.at, o.n, files, n_files,
                         r->source->math_mode != MSL_MATH_SAFE, &client);
    if (r->shares.number && r->learnt) shares_answer_repairs(&r->shares, r->repairs);
    if (r->shares.number) shares_give_up(); // its module would have ended it
    diagnose_end(&r->diagnoser);
    size_t repairs = r->repairs->n;
    if (ok && r->bitcode && r->shares.n && r->diagnoser.n_errors == 0)
        ok = shares_end(&r->shares, r->reflection.lib, &r->diagnoser, r->repairs, &r->bitcode,
                        &r->bitcode_bytes);
    r->learnt |= r->repairs->n > repairs;
    r->failed |= r->diagnoser.failed || r->reflection.failed || r->diagnoser.log.failed;
    return ok && r->bitcode && !r->failed && r->diagnoser.n_errors == 0;
}

// Moves what the caller keeps out of the last round.
static void take_result(Round *r, bool ok, MslLibrary *out) {
    Diagnoser *g = &r->diagnoser;
    if (!ok && g->n_errors == 0)
        text_add(&g->log, r->failed ? "error: out of memory\n"
                                    : "error: the compiler stopped without a reason\n");
    out->ok = ok;
    out->log = text_take(&g->log);
    out->diagnostics = g->list, out->n_diagnostics = g->n;
    g->list = NULL, g->n = 0;
    out->files = r->files, out->n_files = r->n_files;
    r->files = NULL, r->n_files = 0;
    if (!ok) return;
    out->reflection = r->reflection.lib;
    r->reflection.lib = NULL;
    if (!r->source->check_only) {
        out->bitcode = r->bitcode, out->bitcode_bytes = r->bitcode_bytes;
        r->bitcode = NULL;
    }
}

// Whether anything in the source or its options can include a header. A guess that may err to one
// side: that of a round too many.
static bool may_include(const MslSource *source) {
    return source->n_extra || memmem(source->text, source->n_bytes, "include", 7) ||
           memmem(source->text, source->n_bytes, "import", 6);
}

bool msl_frontend(const MslSource *given, MslLibrary *out) {
    MslSource source = *given;
    BaseArena arena = {0};
    Repairs repairs = {0};
    Found found = {.files = given->files};
    Options dialect = {.arena = &arena};
    bool ok = false, alone = !given->processes, bare = !given->text || !may_include(given);
    bool whole =
        false; // bare was not enough: Apple's compiler knows the library without its headers
    *out = (MslLibrary){0};
    if (!source.name || !*source.name) source.name = "program_source";
    if (!source.stdlib_dir) {
        out->log = strdup("error: the folder of the Metal headers is not known\n");
        return false;
    }
    options_dialect(&dialect, &source);
    const char *pch = dialect.failed ? NULL : pch_find(&source, &dialect, bare, &arena);
    for (int i = 0; i < MAX_ROUNDS; i++) {
        Round r = {.source = &source, .repairs = &repairs, .found = &found, .bare = bare};
        r.may_be_short = i < SHORT_ROUNDS;
        r.alone = alone, r.library = whole;
        r.diagnoser.version = version_asked(&source);
        ok = !dialect.failed && run_round(&r, &dialect, pch);
        bool no_library =
            !ok && !r.failed && !bare && !whole && !r.library && r.diagnoser.n_errors == 0;
        bool bare_fails = !ok && bare && !r.learnt && r.diagnoser.n_errors;
        bool gave_up = !ok && r.shares.n && !r.learnt; // what is wrong, one process tells
        bool again = !ok && !r.failed && i + 1 < MAX_ROUNDS &&
                     (r.learnt || no_library || bare_fails || gave_up ||
                      (pch && r.diagnoser.broken_prelude));
        alone |= gave_up || i + 3 >= MAX_ROUNDS;
        if (no_library) bare = true, pch = pch_find(&source, &dialect, true, &arena);
        if (bare_fails)
            bare = false, whole = true, pch = pch_find(&source, &dialect, false, &arena);
        if (pch && r.diagnoser.broken_prelude) {
            pch_discard(pch);
            pch = NULL;
        }
        if (!again) take_result(&r, ok, out);
        round_free(&r);
        if (!again) break;
    }
    free(repairs.at);
    found_free(&found);
    base_arena_free(&arena);
    return ok;
}

void msl_library_free(MslLibrary *lib) {
    free(lib->log);
    for (size_t i = 0; i < lib->n_diagnostics; i++) {
        free((char *)lib->diagnostics[i].file);
        free((char *)lib->diagnostics[i].message);
    }
    free(lib->diagnostics);
    free(lib->bitcode);
    rf_free(lib->reflection);
    for (size_t i = 0; i < lib->n_files; i++) free(lib->files[i].path);
    free(lib->files);
    *lib = (MslLibrary){0};
}

void msl_on_no_memory(void (*then)(void)) { bridge_on_no_memory(then); }

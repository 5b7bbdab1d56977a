// SPDX-License-Identifier: Apache-2.0
// build_options.c: the command line of `mslc build` (and so of `ingot build`).
#include "compiler/build_int.h"
#include "base/options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_std(const CommandLine *line, const Option *row, void *options, char *value) {
    BuildOptions *o = options;
    (void)row;
    return msl_language_version(value, &o->language_version)
               ? 0
               : options_wrong(line, MSL_NO_LANGUAGE_VERSION, value);
}

static int take_constant(const CommandLine *line, const Option *row, void *options, char *value) {
    BuildOptions *o = options;
    char *eq = strchr(value, '=');
    if (!eq || eq == value)
        return options_wrong(line, "%s needs %s, not '%s'", row->names, row->value, value);
    ConstantOption *more = realloc(o->constants, (o->n_constants + 1) * sizeof *more);
    if (!more) return options_wrong(line, "out of memory");
    o->constants = more;
    *eq = 0;
    more[o->n_constants++] = (ConstantOption){value, eq + 1};
    return 0;
}

static int take_width(const CommandLine *line, const Option *row, void *options, char *value) {
    BuildOptions *o = options;
    (void)row;
    if (strcmp(value, "32") && strcmp(value, "16") && strcmp(value, "8") && strcmp(value, "1"))
        return options_wrong(line, "--width is 32, 16, 8 or 1, not '%s'", value);
    o->width = (uint32_t)atoi(value);
    return 0;
}

static const char *const emits[] = {"asm", "ll", "scalar-ll", "obj", NULL};
static const char *const math_modes[] = {
    [MSL_MATH_SAFE] = "safe", [MSL_MATH_RELAXED] = "relaxed", [MSL_MATH_FAST] = "fast", NULL};

#define AT(FIELD) OPT_AT(BuildOptions, FIELD)
static const Option rows[] = {
    {"-o", "FILE", "write the library (a .metallib), or what --emit asks for", OPT_TEXT,
     AT(output)},
    {"-I", "DIR", "look for #include files here too (may be repeated)", OPT_LIST, AT(include_dirs)},
    {"-D", "NAME[=VALUE]", "define a macro (may be repeated)", OPT_LIST, AT(macros)},
    {"--install-name", "NAME",
     "make a dynamic library of this name (a path, as others will find it)", OPT_TEXT,
     AT(install_name)},
    {"--link", "FILE", "a dynamic library whose functions may be called (may be repeated)",
     OPT_LIST, AT(links)},
    {"--check", NULL, "make machine code for every kernel and name those that fail", OPT_FLAG,
     AT(check)},
    {"--emit", "=WHAT",
     "show the code of the kernels: asm, ll (vectorised LLVM IR),\n"
     "scalar-ll (before vectorising), obj (needs -o and one --function)",
     OPT_TEXT, AT(emit), .words = emits},
    {"--function", "NAME", "only this kernel (may be repeated; for --emit and --check)", OPT_LIST,
     AT(functions)},
    {"--constant", "K=VALUE", "value of a function constant, by index or name (may be repeated)",
     OPT_CALL, .take = take_constant},
    {"--group", "X[,Y[,Z]]", "make code for this threadgroup size; otherwise for any size",
     OPT_SIZE, AT(shape), 1, 1024},
    {"--cpu", "NAME", "LLVM name of the CPU, such as x86-64-v3; otherwise this machine", OPT_TEXT,
     AT(cpu)},
    {"--features", "LIST", "LLVM CPU features, such as +avx2,-fma", OPT_TEXT, AT(features)},
    {"--width", "N", "lanes of one vector step: 32, 16, 8, or 1 (one thread at a time)", OPT_CALL,
     .take = take_width},
    {"--math", "=MODE", "fast (as Metal does), relaxed or safe", OPT_CHOICE, AT(math_mode),
     .words = math_modes, .initial = "fast"},
    {"--validate", NULL, "check every memory access, as MTL_SHADER_VALIDATION=1 does", OPT_FLAG,
     AT(validate)},
    {"-std", "=metalM.N", "language version, such as -std=metal3.1; otherwise the newest", OPT_CALL,
     .take = take_std},
    {"-Werror", NULL, "warnings are errors", OPT_FLAG, AT(warnings_as_errors)},
    {"--dump-after", "=PASS", "LLVM IR after a pass of the vectoriser", OPT_TEXT, AT(dump_after)},
    {"-q, --quiet", NULL, "no lines about the progress", OPT_FLAG, AT(quiet)},
};

int build_options(int argc, char **argv, BuildOptions *o) {
    const char *program = getenv("INGOT_PROGRAM"); // set by `ingot build`
    *o = (BuildOptions){.program = program && *program ? program : "mslc build"};
    const CommandLine line = {
        .program = o->program,
        .usage = "FILE.metal [options]",
        .about =
            "Compiles a Metal Shading Language file and prints what is wrong with it, as Clang "
            "does.\n"
            "Without -o, --emit or --check nothing is written: the file is only looked at for "
            "errors.\n"
            "FILE may also be a .metallib (for --emit and --check) or - for standard input.",
        OPT_ROWS(rows),
        OPT_WORD(BuildOptions, input),
        .tail = "Exit status: 0 fine, 1 the source is wrong, 2 the command line is wrong.",
    };
    const char *layout = getenv("INGOT_TENSOR_LAYOUT");
    if (layout && !strcmp(layout, "random")) { // as src/runtime/program/library.c does
        static char random[] = "__INGOT_TENSOR_LAYOUT_RANDOM=1";
        if (!strings_add(&o->macros, random)) return options_wrong(&line, "out of memory");
    }
    int status = options_read(&line, o, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!o->input) return options_wrong(&line, "which file? (try --help)");
    if (o->emit && !strcmp(o->emit, "obj") && (!o->output || o->functions.n != 1))
        return options_wrong(&line, "--emit=obj needs -o FILE and one --function NAME");
    return OPTIONS_GO_ON;
}

void build_options_free(BuildOptions *o) {
    strings_free(&o->include_dirs);
    strings_free(&o->macros);
    strings_free(&o->functions);
    for (size_t i = 0; o->linked && i < o->links.n; i++) metallib_release(o->linked[i]);
    free(o->linked);
    strings_free(&o->links);
    free(o->constants);
}

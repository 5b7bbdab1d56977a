// SPDX-License-Identifier: Apache-2.0
// build_options.c: the command line of `mslc build` (and so of `ingot build`).
#include "compiler/build_int.h"
#include "base/array.h"
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
    if (!array_more(&o->constants, o->n_constants)) return options_wrong(line, "out of memory");
    *eq = 0;
    o->constants[o->n_constants++] = (ConstantOption){value, eq + 1};
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

// ---- Options that Apple's `metal` has ----

static int keep(const CommandLine *line, Strings *list, const char *text) {
    return strings_add(list, (char *)(uintptr_t)text) ? 0 : options_wrong(line, "out of memory");
}

// To Clang as it is: the option and its value, if it takes one.
static int take_clang(const CommandLine *line, const Option *row, void *options, char *value) {
    Strings *list = (Strings *)((char *)options + row->at);
    int status = keep(line, list, options_name(row));
    return status || !value ? status : keep(line, list, value);
}

static int take_nothing(const CommandLine *line, const Option *row, void *options, char *value) {
    (void)line, (void)row, (void)options, (void)value;
    return 0;
}

// -g, -gline-tables-only, -g0 and what other compilers have.
static int take_debug(const CommandLine *line, const Option *row, void *options, char *value) {
    (void)line, (void)row;
    BuildOptions *o = options;
    o->debug = !value || !*value                    ? MSL_DEBUG_FULL
               : !strcmp(value, "0")                ? MSL_DEBUG_NONE
               : !strcmp(value, "line-tables-only") ? MSL_DEBUG_LINES
                                                    : MSL_DEBUG_FULL;
    return 0;
}

static int take_remarks(const CommandLine *line, const Option *row, void *options, char *value) {
    (void)row;
    BuildOptions *o = options;
    if (value && strcmp(value, "json"))
        return options_wrong(line, "--remarks takes no value or =json, not '%s'", value);
    o->remarks = true;
    o->remarks_json = value != NULL;
    if (!o->debug) o->debug = MSL_DEBUG_LINES;
    return 0;
}

static int warn(const CommandLine *line, void *options, char *arg) {
    (void)options;
    if (!strncmp(arg, "--", 2)) // one of ours, misspelt
        return options_wrong(line, "unknown option '%s' (`%s --help` lists the options)", arg,
                             line->program);
    fprintf(stderr, "%s: warning: ignoring unknown option '%s'\n", line->program, arg);
    return 0;
}

static bool starts(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

// -f...: the math mode; some that have no meaning here.
static int take_f(const CommandLine *line, const Option *row, void *options, char *value) {
    static const char *const idle[] = {"modules",
                                       "record-sources",
                                       "preserve-invariance",
                                       "no-caret-diagnostics",
                                       "color-diagnostics",
                                       "no-color-diagnostics",
                                       "diagnostics-",
                                       "metal-math-fp32-functions=fast"};
    static const char *const modes[] = {"metal-math-mode=safe", "metal-math-mode=relaxed",
                                        "metal-math-mode=fast"}; // MslMathMode
    BuildOptions *o = options;
    (void)row;
    const char *word = value ? value : "";
    for (int i = 0; i < 3; i++)
        if (!strcmp(word, modes[i])) return o->math_mode = (MslMathMode)i, 0;
    if (!strcmp(word, "fast-math")) return o->math_mode = MSL_MATH_FAST, 0;
    if (!strcmp(word, "no-fast-math")) return o->math_mode = MSL_MATH_SAFE, 0;
    // As MTLMathFloatingPointFunctionsPrecise: the precise functions come with the mode safe.
    if (!strcmp(word, "metal-math-fp32-functions=precise")) return o->precise_functions = true, 0;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (starts(word, idle[i])) return 0;
    return warn(line, options, value ? value - 2 : "-f");
}

// -Wno-x goes to Clang. What else there is to warn of, Metal's compiler shows anyway: Clang's
// further groups find fault with our own words for Metal's.
static int take_warning(const CommandLine *line, const Option *row, void *options, char *value) {
    BuildOptions *o = options;
    (void)row;
    return value && starts(value, "no-") ? keep(line, &o->extra, value - 2) : 0;
}

static int take_language(const CommandLine *line, const Option *row, void *options, char *value) {
    (void)row, (void)options;
    if (strcmp(value, "metal") && strcmp(value, "air") && strcmp(value, "none"))
        return options_wrong(line, "-x is metal, not '%s'", value);
    return 0;
}

// "aarch64", "x86_64-linux-gnu", "sm_90": what processors the code is for. "14.0", "macos14",
// "air64-apple-macosx14.0": the version of macOS decides the language's.
static int take_system(const CommandLine *line, const Option *row, void *options, char *value) {
    BuildOptions *o = options;
    const char *mac = strstr(value, "macos"), *at = mac ? mac + 5 : value;
    unsigned major = 0, minor = 0;
    (void)line, (void)row;
    if (starts(value, MSL_TARGET_AARCH64)) return o->target = MSL_TARGET_AARCH64, 0;
    if (starts(value, MSL_TARGET_X86_64)) return o->target = MSL_TARGET_X86_64, 0;
    if (starts(value, MSL_TARGET_NVPTX)) return o->target = value, 0;
    if (mac && *at == 'x') at++;
    if (sscanf(at, "%u.%u", &major, &minor) >= 1) o->system_version = major * 100 + minor;
    return 0;
}

static uint32_t language_of(uint32_t system) {
    static const struct {
        uint32_t system, language;
    } table[] = {{2600, 4u << 16},     {1500, 3u << 16 | 2}, {1400, 3u << 16 | 1},
                 {1300, 3u << 16},     {1200, 2u << 16 | 4}, {1100, 2u << 16 | 3},
                 {1015, 2u << 16 | 2}, {1014, 2u << 16 | 1}, {1013, 2u << 16},
                 {1012, 1u << 16 | 2}, {0, 1u << 16 | 1}};
    size_t i = 0;
    while (table[i].system > system) i++;
    return table[i].language;
}

static int take_fast(const CommandLine *line, const Option *row, void *options, char *value) {
    (void)line, (void)row, (void)value;
    ((BuildOptions *)options)->math_mode = MSL_MATH_FAST;
    return 0;
}

static const char *const emits[] = {"asm", "ll", "scalar-ll", "obj", "ptx", NULL};
static const char *const math_modes[] = {
    [MSL_MATH_SAFE] = "safe", [MSL_MATH_RELAXED] = "relaxed", [MSL_MATH_FAST] = "fast", NULL};

#define AT(FIELD) OPT_AT(BuildOptions, FIELD)
static const Option rows[] = {
    {"-o", "FILE",
     "output file: a .metallib, or the output of -c, -E or --emit; -: standard\n"
     "output",
     OPT_TEXT, AT(output)},
    {"-c", NULL, "write an object (.air) to be linked later", OPT_FLAG, AT(object)},
    {"-I", "DIR", "add a directory to search for #include files (repeatable)", OPT_LIST,
     AT(include_dirs)},
    {"-D", "NAME[=VALUE]", "define a macro (repeatable)", OPT_LIST, AT(macros)},
    {"--install-name", "NAME",
     "make a dynamic library with this install name (its path at load time)", OPT_TEXT,
     AT(install_name)},
    {"--link", "FILE", "link against a dynamic library (repeatable)", OPT_LIST, AT(links)},
    {"--check", NULL, "compile every kernel to machine code and report failures", OPT_FLAG,
     AT(check)},
    {"--remarks", "[=json]",
     "optimisation remarks for source lines: gathers, divergent branches,\n"
     "work that is serialised over threads",
     OPT_CALL, .take = take_remarks},
    {"--emit", "=WHAT",
     "print the kernels' code: asm, ll (vectorised LLVM IR),\n"
     "scalar-ll (before vectorisation), obj (needs -o and one --function),\n"
     "ptx (for NVIDIA GPUs)",
     OPT_TEXT, AT(emit), .words = emits},
    {"--function", "NAME", "only this kernel (repeatable; for --emit and --check)", OPT_LIST,
     AT(functions)},
    {"--constant", "K=VALUE", "set a function constant, by index or name (repeatable)", OPT_CALL,
     .take = take_constant},
    {"--group", "X[,Y[,Z]]", "specialise for this threadgroup size (default: any size)", OPT_SIZE,
     AT(shape), 1, 1024},
    {"--target", "ARCHITECTURE",
     "aarch64, x86_64, or sm_80 and later for GPUs (with --check, --emit);\n"
     "default: this machine, PTX for sm_90",
     OPT_CALL, .take = take_system},
    {"--cpu", "NAME",
     "LLVM CPU name, such as x86-64-v3 or neoverse-n1 (default: this machine,\n"
     "or a generic CPU of the target)",
     OPT_TEXT, AT(cpu)},
    {"--features", "LIST",
     "LLVM CPU features, such as +avx2,-fma or +fullfp16; also the SVE vector\n"
     "length: +sve,sve-bits=256",
     OPT_TEXT, AT(features)},
    {"--width", "N", "vector width in lanes: 32, 16, 8, or 1 (scalar)", OPT_CALL,
     .take = take_width},
    {"--math", "=MODE", "math mode: fast (as in Metal), relaxed or safe", OPT_CHOICE, AT(math_mode),
     .words = math_modes, .initial = "fast"},
    {"--validate", NULL, "check every memory access, like MTL_SHADER_VALIDATION=1", OPT_FLAG,
     AT(validate)},
    {"--races", NULL, "detect data races, like MTL_SHADER_VALIDATION=races", OPT_FLAG, AT(races)},
    {"-std", "=metalM.N", "language version, such as -std=metal3.1 (default: the newest)", OPT_CALL,
     .take = take_std},
    {"-Werror", NULL, "treat warnings as errors", OPT_FLAG, AT(warnings_as_errors)},
    {"--dump-after", "=PASS", "print LLVM IR after a vectoriser pass", OPT_TEXT, AT(dump_after)},
    {"-q, --quiet", NULL, "no progress messages", OPT_FLAG, AT(quiet)},
    {"Options of Apple's `metal`:", .kind = OPT_HEADING},
    {"-fmetal-enable-logging", NULL, "enable os_log (default: it does nothing)", OPT_FLAG,
     AT(enable_logging)},
    {"-E", NULL, "only preprocess; -P, -C, -CC and -dM as in Clang", OPT_FLAG, AT(preprocess)},
    {"-H", NULL, "print the included headers to standard error", OPT_FLAG, AT(headers)},
    {"-M", NULL,
     "dependency rules for make. -MM: without Metal's headers; -MD and -MMD:\n"
     "while compiling; -MF FILE, -MT TARGET, -MP",
     OPT_FLAG, AT(rules)},
    {"-U", "NAME", "undefine a macro", OPT_CALL, AT(extra), .take = take_clang},
    {"-include", "FILE", "include this file first", OPT_CALL, AT(extra), .take = take_clang},
    {"-isystem", "DIR", "like -I, searched after those", OPT_LIST, AT(system_dirs)},
    {"-mmacosx-version-min", "=N",
     "the default language version of that macOS, unless -std is given;\n"
     "-target likewise",
     OPT_CALL, .take = take_system},
    {"-ffast-math", NULL, "same as --math=fast; -fno-fast-math: --math=safe", OPT_CALL,
     .take = take_fast},
    {"-Wno-NAME", NULL, "disable a warning; -w: all warnings", OPT_CALL, .take = take_nothing},
    {"-x", "metal", "language of the following files; - is standard input", OPT_CALL,
     .take = take_language},
    {"-P", NULL, NULL, OPT_CALL, AT(shape_of_text), .take = take_clang},
    {"-C", NULL, NULL, OPT_CALL, AT(shape_of_text), .take = take_clang},
    {"-CC", NULL, NULL, OPT_CALL, AT(shape_of_text), .take = take_clang},
    {"-dM", NULL, NULL, OPT_CALL, AT(shape_of_text), .take = take_clang},
    {"-MM", NULL, NULL, OPT_FLAG, AT(user_rules)},
    {"-MD", NULL, NULL, OPT_FLAG, AT(side_rules)},
    {"-MMD", NULL, NULL, OPT_FLAG, AT(side_user_rules)},
    {"-MP", NULL, NULL, OPT_FLAG, AT(phony_rules)},
    {"-MF", "FILE", NULL, OPT_TEXT, AT(rules_file)},
    {"-MT, -MQ", "TARGET", NULL, OPT_LIST, AT(targets)},
    {"-iquote, -idirafter", "DIR", NULL, OPT_LIST, AT(system_dirs)},
    {"-mmacos-version-min", "=N", NULL, OPT_CALL, .take = take_system},
    {"-mtargetos", "=SYSTEM", NULL, OPT_CALL, .take = take_system},
    {"-target", "TRIPLE", NULL, OPT_CALL, .take = take_system},
    {"-f", "[=...]", NULL, OPT_CALL, .take = take_f},
    {"-W", "[=...]", NULL, OPT_CALL, .take = take_warning},
    {"-w", NULL, NULL, OPT_CALL, AT(extra), .take = take_clang},
    {"-install_name", "NAME", NULL, OPT_TEXT, AT(install_name)},
    // Nothing to do: code is optimised when it is made, for the machine that runs it.
    {"-O", "[=...]", NULL, OPT_CALL, .take = take_nothing},
    {"-g", "[=...]", NULL, OPT_CALL, .take = take_debug},
    {"-v", NULL, NULL, OPT_CALL, .take = take_nothing},
    {"-dynamiclib", NULL, NULL, OPT_CALL, .take = take_nothing},
    {"-split-module", NULL, NULL, OPT_CALL, .take = take_nothing},
    {"-arch, -isysroot, --sysroot", "...", NULL, OPT_CALL, .take = take_nothing},
};

int build_options(int argc, char **argv, BuildOptions *o) {
    const char *program = getenv("INGOT_PROGRAM"); // set by `ingot build`
    *o = (BuildOptions){.program = program && *program ? program : "mslc build"};
    const CommandLine line = {
        .program = o->program,
        .usage = "FILE... [options]",
        .about = "Compiles Metal Shading Language and prints Clang's diagnostics. Several files "
                 "are linked\n"
                 "into one library. Without -o, -c, -E, --emit or --check files are only checked "
                 "for errors\n"
                 "and nothing is written. FILE is a .metal file, an object (.air), a .metallib, an "
                 "archive\n"
                 "of objects, or - for standard input.",
        OPT_ROWS(rows),
        .list = offsetof(BuildOptions, inputs) + 1,
        .unknown = warn,
        .tail = "Exit status: 0 fine, 1 the source is wrong, 2 the command line is wrong.",
    };
    const char *layout = getenv("INGOT_TENSOR_LAYOUT");
    if (layout && !strcmp(layout, "random")) { // as src/runtime/program/library.c does
        static char random[] = "__INGOT_TENSOR_LAYOUT_RANDOM=1";
        if (!strings_add(&o->macros, random)) return options_wrong(&line, "out of memory");
    }
    int status = options_read(&line, o, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!o->inputs.n) return options_wrong(&line, "which file? (try --help)");
    if (o->object && o->inputs.n > 1 && o->output)
        return options_wrong(&line, "-c with -o takes one file, not %zu", o->inputs.n);
    for (size_t i = 0; i < o->system_dirs.n; i++)
        if (!strings_add(&o->include_dirs, o->system_dirs.items[i]))
            return options_wrong(&line, "out of memory");
    if (!o->language_version && o->system_version)
        o->language_version = language_of(o->system_version);
    if (o->precise_functions) o->math_mode = MSL_MATH_SAFE;
    if (o->emit && !strcmp(o->emit, "obj") && (!o->output || o->functions.n != 1))
        return options_wrong(&line, "--emit=obj needs -o FILE and one --function NAME");
    if (o->emit && !strcmp(o->emit, "ptx") && !o->target) o->target = MSL_TARGET_NVPTX "90";
    return OPTIONS_GO_ON;
}

void build_options_free(BuildOptions *o) {
    strings_free(&o->inputs);
    strings_free(&o->include_dirs);
    strings_free(&o->system_dirs);
    strings_free(&o->extra);
    strings_free(&o->shape_of_text);
    strings_free(&o->targets);
    strings_free(&o->macros);
    strings_free(&o->functions);
    for (size_t i = 0; o->linked && i < o->links.n; i++) metallib_release(o->linked[i]);
    free(o->linked);
    strings_free(&o->links);
    free(o->constants);
}

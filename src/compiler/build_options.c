// SPDX-License-Identifier: Apache-2.0
// build_options.c: the command line of `mslc build` (and so of `ingot build`).
#include "compiler/build_int.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: %s FILE.metal [options]\n"
    "\n"
    "Compiles a Metal Shading Language file and prints what is wrong with it, as Clang does.\n"
    "Without -o, --emit or --check nothing is written: the file is only looked at for errors.\n"
    "FILE may also be a .metallib (for --emit and --check) or - for standard input.\n"
    "\n"
    "  -o FILE             write the library (a .metallib), or what --emit asks for\n"
    "  -I DIR              look for #include files here too (may be repeated)\n"
    "  -D NAME[=VALUE]     define a macro (may be repeated)\n"
    "  --install-name NAME make a dynamic library of this name (a path, as others will find it)\n"
    "  --link FILE         a dynamic library whose functions may be called (may be repeated)\n"
    "  --check             make machine code for every kernel and name those that fail\n"
    "  --emit=WHAT         show the code of the kernels: asm, ll (vectorised LLVM IR),\n"
    "                      scalar-ll (before vectorising), obj (needs -o and one --function)\n"
    "  --function NAME     only this kernel (may be repeated; for --emit and --check)\n"
    "  --constant K=VALUE  value of a function constant, by index or name (may be repeated)\n"
    "  --group X[,Y[,Z]]   make code for this threadgroup size; otherwise for any size\n"
    "  --cpu NAME          LLVM name of the CPU, such as x86-64-v3; otherwise this machine\n"
    "  --features LIST     LLVM CPU features, such as +avx2,-fma\n"
    "  --width N           lanes of one vector step: 32, 16, 8, or 1 (one thread at a time)\n"
    "  --math=MODE         fast (as Metal does), relaxed or safe\n"
    "  --validate          check every memory access, as MTL_SHADER_VALIDATION=1 does\n"
    "  -std=metalM.N       language version, such as -std=metal3.1; otherwise the newest\n"
    "  -Werror             warnings are errors\n"
    "  --dump-after=PASS   LLVM IR after a pass of the vectoriser\n"
    "\n"
    "Exit status: 0 fine, 1 the source is wrong, 2 the command line is wrong.\n";

static bool push(const char ***list, size_t *n, const char *s) {
    const char **more = realloc(*list, (*n + 1) * sizeof *more);
    if (!more) return false;
    *list = more;
    more[(*n)++] = s;
    return true;
}

static int bad(const BuildOptions *o, const char *what, const char *value) {
    fprintf(stderr, "%s: %s '%s' (try --help)\n", o->program, what, value);
    return 2;
}

static bool parse_shape(const char *s, uint32_t shape[3]) {
    for (int i = 0; i < 3; ++i) shape[i] = 1;
    for (int i = 0; i < 3; ++i) {
        char *end;
        errno = 0;
        unsigned long v = strtoul(s, &end, 10);
        if (errno || end == s || *s == '-' || !v || v > 1024) return false;
        shape[i] = (uint32_t)v;
        if (!*end) return true;
        if (*end != ',' && *end != 'x') return false;
        s = end + 1;
    }
    return false;
}

static bool parse_std(const char *s, uint32_t *version) {
    unsigned major, minor;
    char rest;
    if (!strncmp(s, "macos-", 6) || !strncmp(s, "ios-", 4))
        s = strchr(s, '-') + 1; // -std=macos-metal2.4
    if (sscanf(s, "metal%u.%u%c", &major, &minor, &rest) != 2) return false;
    static const unsigned last_minor[] = {0, 2, 4, 2, 0}; // of Metal 1 to 4
    if (major < 1 || major > 4 || minor > last_minor[major]) return false;
    *version = major << 16 | minor;
    return true;
}

static bool add_constant(BuildOptions *o, char *arg) {
    char *eq = strchr(arg, '=');
    if (!eq || eq == arg) return false;
    ConstantOption *more = realloc(o->constants, (o->n_constants + 1) * sizeof *more);
    if (!more) return false;
    o->constants = more;
    *eq = 0;
    more[o->n_constants++] = (ConstantOption){arg, eq + 1};
    return true;
}

// The value of "--name=value" or "--name value" (then *i moves on); NULL if arg is another option
// or the value is missing (*missing).
static char *value_of(const char *name, int argc, char **argv, int *i, bool *missing) {
    size_t n = strlen(name);
    char *arg = argv[*i];
    if (strncmp(arg, name, n)) return NULL;
    if (name[1] != '-' && arg[n]) return arg + n; // -Idir
    if (arg[n] == '=') return arg + n + 1;
    if (arg[n]) return NULL;
    if (*i + 1 >= argc) {
        *missing = true;
        return NULL;
    }
    return argv[++*i];
}

// An option that takes a value. 0: done, 2: wrong, -1: not one of these.
static int valued(BuildOptions *o, int argc, char **argv, int *i) {
    bool missing = false;
    char *v;
    if ((v = value_of("-std", argc, argv, i, &missing))) {
        if (*v == '=') ++v; // the single-dash form keeps its '='
        return parse_std(v, &o->language_version) ? 0 : bad(o, "not a language version (metal1.0 to 1.2, 2.0 to 2.4, 3.0 to 3.2, 4.0; macos- or ios- may stand before it)", v);
    }
    if ((v = value_of("-o", argc, argv, i, &missing)))
        o->output = v;
    else if ((v = value_of("-I", argc, argv, i, &missing)))
        push(&o->include_dirs, &o->n_include_dirs, v);
    else if ((v = value_of("-D", argc, argv, i, &missing)))
        push(&o->macros, &o->n_macros, v);
    else if ((v = value_of("--function", argc, argv, i, &missing)))
        push(&o->functions, &o->n_functions, v);
    else if ((v = value_of("--install-name", argc, argv, i, &missing)))
        o->install_name = v;
    else if ((v = value_of("--link", argc, argv, i, &missing)))
        push(&o->links, &o->n_links, v);
    else if ((v = value_of("--cpu", argc, argv, i, &missing)))
        o->cpu = v;
    else if ((v = value_of("--features", argc, argv, i, &missing)))
        o->features = v;
    else if ((v = value_of("--dump-after", argc, argv, i, &missing)))
        o->dump_after = v;
    else if ((v = value_of("--constant", argc, argv, i, &missing))) {
        if (!add_constant(o, v)) return bad(o, "--constant needs KEY=VALUE, not", v);
    } else if ((v = value_of("--group", argc, argv, i, &missing))) {
        if (!parse_shape(v, o->shape)) return bad(o, "not a threadgroup size:", v);
    } else if ((v = value_of("--emit", argc, argv, i, &missing))) {
        if (strcmp(v, "ll") && strcmp(v, "scalar-ll") && strcmp(v, "asm") && strcmp(v, "obj"))
            return bad(o, "--emit knows asm, ll, scalar-ll and obj, not", v);
        o->emit = v;
    } else if ((v = value_of("--width", argc, argv, i, &missing))) {
        if (strcmp(v, "32") && strcmp(v, "16") && strcmp(v, "8") && strcmp(v, "1"))
            return bad(o, "--width is 32, 16, 8 or 1, not", v);
        o->width = (uint32_t)atoi(v);
    } else if ((v = value_of("--math", argc, argv, i, &missing))) {
        if (strcmp(v, "fast") && strcmp(v, "relaxed") && strcmp(v, "safe"))
            return bad(o, "--math is fast, relaxed or safe, not", v);
        o->math_mode = *v == 'f' ? MSL_MATH_FAST : *v == 'r' ? MSL_MATH_RELAXED : MSL_MATH_SAFE;
    } else {
        return missing ? bad(o, "a value is missing after", argv[*i]) : -1;
    }
    return 0;
}

int build_options(int argc, char **argv, BuildOptions *o) {
    const char *program = getenv("INGOT_PROGRAM"); // set by `ingot build`
    *o = (BuildOptions){.program = program && *program ? program : "mslc build",
                        .math_mode = MSL_MATH_FAST};
    const char *layout = getenv("INGOT_TENSOR_LAYOUT");
    if (layout && !strcmp(layout, "random")) // as src/runtime/program/library.c does
        push(&o->macros, &o->n_macros, "__INGOT_TENSOR_LAYOUT_RANDOM=1");
    for (int i = 1; i < argc; ++i) {
        char *arg = argv[i];
        if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
            printf(usage, o->program);
            return 1;
        }
        if (!strcmp(arg, "--check"))
            o->check = true;
        else if (!strcmp(arg, "--validate"))
            o->validate = true;
        else if (!strcmp(arg, "-Werror"))
            o->warnings_as_errors = true;
        else if (!strcmp(arg, "-q") || !strcmp(arg, "--quiet"))
            o->quiet = true;
        else if (*arg == '-' && arg[1]) {
            int r = valued(o, argc, argv, &i);
            if (r > 0) return r;
            if (r < 0) return bad(o, "unknown option", arg);
        } else if (o->input)
            return bad(o, "one file at a time; what about", arg);
        else
            o->input = arg;
    }
    if (!o->input) {
        fprintf(stderr, "%s: which file? (try --help)\n", o->program);
        return 2;
    }
    if (o->emit && !strcmp(o->emit, "obj") && (!o->output || o->n_functions != 1)) {
        fprintf(stderr, "%s: --emit=obj needs -o FILE and one --function NAME\n", o->program);
        return 2;
    }
    return 0;
}

void build_options_free(BuildOptions *o) {
    free(o->include_dirs);
    free(o->macros);
    free(o->functions);
    for (size_t i = 0; o->linked && i < o->n_links; ++i) metallib_release(o->linked[i]);
    free(o->linked);
    free(o->links);
    free(o->constants);
}

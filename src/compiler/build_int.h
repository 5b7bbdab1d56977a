// SPDX-License-Identifier: Apache-2.0
// build_int.h: shared by the files behind `mslc build` (build*.c, check.c).
#ifndef INGOT_COMPILER_BUILD_INT_H
#define INGOT_COMPILER_BUILD_INT_H
#include "abi/metallib.h"
#include "abi/source_files.h"
#include "base/options.h"
#include "compiler/compiler.h"

typedef struct ConstantOption {
    const char *key, *value; // "3" or "name", and the text after '='
} ConstantOption;

typedef struct BuildOptions {
    const char *program; // "mslc build" or "ingot build", for messages
    Strings inputs;      // paths; "-": standard input
    const char *output;  // NULL: no file (--check, diagnostics only) or standard output (--emit);
                         // "-": standard output
    Strings include_dirs, system_dirs, macros, functions, links; // links: of dynamic libraries
    Strings extra;                                               // Clang's own: -U X, -Wno-x, ...
    Metallib **linked;                                           // of the links, opened
    const char *install_name;                                    // NULL: not a dynamic library
    ConstantOption *constants;
    size_t n_constants;
    const char *emit; // NULL, "ll", "scalar-ll", "asm", "obj"
    const char *target, *cpu, *features, *dump_after;
    uint32_t shape[3], width, language_version;
    uint32_t system_version; // of -mmacosx-version-min or -target: major * 100 + minor; 0: none
    MslMathMode math_mode;
    bool precise_functions; // -fmetal-math-fp32-functions=precise
    bool check, warnings_as_errors, enable_logging, quiet, validate, races;
    MslDebug debug; // -g
    bool remarks, remarks_json;
    char **remarks_to;     // while kernels are compiled for their remarks
    bool object;           // -c
    bool preprocess;       // -E
    bool headers;          // -H
    Strings shape_of_text; // -P, -C, -CC, -dM
    bool rules, user_rules, side_rules, side_user_rules; // -M, -MM, -MD, -MMD
    bool phony_rules;                                    // -MP
    const char *rules_file;                              // -MF
    Strings targets;                                     // -MT, -MQ
} BuildOptions;

// As options_read.
int build_options(int argc, char **argv, BuildOptions *o);
void build_options_free(BuildOptions *o);

// "ingot build: cannot WHAT 'path': why" from errno; returns 1.
int build_fail_file(const BuildOptions *o, const char *what, const char *path);
// Into the file, in one step, or to standard output ("-"). False: said why.
bool build_write(const BuildOptions *o, const char *path, const void *data, size_t n);
// Where the result goes: -o, or with -c the input's name with .air. NULL: nowhere. malloc'd.
char *build_output(const BuildOptions *o);
// Where the rules for make of an input go; "-": standard output. NULL: there are none. malloc'd.
char *build_rules(const BuildOptions *o, const char *input);

// build_inputs.c: the inputs as one library (with -c: as an object): sources are compiled, several
// are linked. NULL: said why. link_names: install names of the links.
Metallib *build_library(const BuildOptions *o, const char *const *link_names);
// The bytes of an input, and a zero behind them; NULL: said why.
unsigned char *build_read(const BuildOptions *o, const char *path, size_t *n);
// The source as the options want it compiled; what it borrows belongs to the folders.
typedef struct BuildFolders {
    char *stdlib, *pch, *shipped;
} BuildFolders;
bool build_folders(const BuildOptions *o, BuildFolders *folders); // false: said why
void build_folders_free(BuildFolders *folders);
MslSource build_source(const BuildOptions *o, const BuildFolders *folders, const char *path,
                       const unsigned char *text, size_t n);
// What its #include may read; the context is source_files_free's.
MslFiles build_files(const MslSource *source);

// build_text.c: -E, -H and the rules for make. Exit status.
bool build_wants_text(const BuildOptions *o);
int build_remarks(const BuildOptions *o, const Metallib *lib); // build_remarks.c
int build_text(const BuildOptions *o);

bool build_has_code(const RfFunction *f); // whether machine code can be made of it
// One kernel of a library with the options' constants; with `fill`, those not given are zero.
// NULL-terminated error in out->error. Returns out->ok.
bool build_kernel(const BuildOptions *o, const Metallib *lib, const RfFunction *f, bool fill,
                  MslKernel *out);
// Machine code for every entry point (or those named). Returns how many failed; says which.
size_t build_check(const BuildOptions *o, const Metallib *lib);
#endif

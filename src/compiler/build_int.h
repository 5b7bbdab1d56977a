// SPDX-License-Identifier: Apache-2.0
// build_int.h: shared by the files behind `mslc build` (build.c, build_options.c, check.c).
#ifndef INGOT_COMPILER_BUILD_INT_H
#define INGOT_COMPILER_BUILD_INT_H
#include "abi/metallib.h"
#include "base/options.h"
#include "compiler/compiler.h"

typedef struct ConstantOption {
    const char *key, *value; // "3" or "name", and the text after '='
} ConstantOption;

typedef struct BuildOptions {
    const char *program; // "mslc build" or "ingot build", for messages
    const char *input;   // path; "-": standard input
    const char *output;  // NULL: no file (--check, diagnostics only) or standard output (--emit)
    Strings include_dirs, macros, functions, links; // links: files of dynamic libraries
    Metallib **linked;                              // of the links, opened
    const char *install_name;                       // NULL: not a dynamic library
    ConstantOption *constants;
    size_t n_constants;
    const char *emit; // NULL, "ll", "scalar-ll", "asm", "obj"
    const char *cpu, *features, *dump_after;
    uint32_t shape[3], width, language_version;
    MslMathMode math_mode;
    bool check, warnings_as_errors, quiet, validate;
} BuildOptions;

// As options_read.
int build_options(int argc, char **argv, BuildOptions *o);
void build_options_free(BuildOptions *o);

bool build_has_code(const RfFunction *f); // whether machine code can be made of it
// One kernel of a library with the options' constants; with `fill`, those not given are zero.
// NULL-terminated error in out->error. Returns out->ok.
bool build_kernel(const BuildOptions *o, const Metallib *lib, const RfFunction *f, bool fill,
                  MslKernel *out);
// Machine code for every entry point (or those named). Returns how many failed; says which.
size_t build_check(const BuildOptions *o, const Metallib *lib);
#endif

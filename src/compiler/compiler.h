// SPDX-License-Identifier: Apache-2.0
// compiler.h: the compiler as its driver (mslc.c, serve.c) sees it: two steps.
//   msl_frontend: MSL source -> library (bitcode of all functions + reflection) or diagnostics
//   msl_backend:  library + function + constants + threadgroup shape -> code object for a CPU
// The library step parses once; the kernel step touches one function. Both are pure: no globals
// that outlive a call except LLVM's own, no output but the result.
#ifndef INGOT_COMPILER_H
#define INGOT_COMPILER_H
#include "abi/requests.h"
#include "base/sha256.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MslFileRead {
    char *path;
    unsigned char hash[SHA256_BYTES];
} MslFileRead;

// All members owned by the result; msl_library_free releases them.
typedef struct MslLibrary {
    bool ok;
    char *log; // as Clang prints it, with carets; "" if nothing to say
    MslDiagnostic *diagnostics;
    size_t n_diagnostics;
    unsigned char *bitcode;
    size_t bitcode_bytes;
    RfLibrary *reflection;
    MslFileRead *files;
    size_t n_files; // every file read by #include outside the stdlib (cache dependencies)
} MslLibrary;

// frontend/frontend.c on frontend/bridge.cpp. Returns out->ok.
bool msl_frontend(const MslSource *source, MslLibrary *out);
// Called where front end or back end get no memory: does not return. Else the process aborts.
void msl_on_no_memory(void (*then)(void));
void msl_library_free(MslLibrary *lib);

// frontend/preprocess.c: what the preprocessor makes of a source, as `metal -E` writes it.
typedef struct MslPreprocess {
    const char *const *options; // of Clang's -cc1, beside those of the source: -P, -C, -H, -MP, ...
    size_t n_options;
    char *log, *text; // results, malloc'd: diagnostics, and the source without directives
    size_t n_text;
} MslPreprocess;
// False after an error; the results are the caller's either way.
bool msl_preprocess(const MslSource *source, MslPreprocess *p);

// frontend/merge.c: objects (libraries whose functions may be defined in one another) -> a library.
typedef struct MslObject {
    const char *name; // for messages
    const unsigned char *bitcode;
    size_t bitcode_bytes;
    const RfLibrary *reflection;
} MslObject;
// Returns out->ok; the log says why not. allow_undefined: as in MslSource.
bool msl_merge(const MslObject *objects, size_t n, bool allow_undefined, MslLibrary *out);

typedef struct MslKernel {
    bool ok;
    char *error; // why not, in the user's words; "" if ok
    unsigned char *code;
    size_t code_bytes; // ELF shared object, or the text asked for
    char *log;         // dumps; "" otherwise
} MslKernel;

// codegen/backend.c. Returns out->ok.
bool msl_backend(const MslKernelRequest *request, MslKernel *out);
void msl_kernel_free(MslKernel *k);

// frontend/bridge.cpp: which lines of the source places (offsets) of a code object come from: for
// each the functions that are inlined there, the innermost first. False: it is no code object.
typedef void MslNamePlace(void *context, size_t place, const char *function, const char *file,
                          uint32_t line);
bool msl_name_places(const void *elf, size_t n_bytes, const uint64_t *places, size_t n,
                     MslNamePlace *name, void *context);

// codegen/stitch.c: a library of visible functions, one for each graph. Returns out->ok; the log
// says why not.
bool msl_stitch(const MslStitchRequest *request, MslLibrary *out);

#ifdef __cplusplus
}
#endif
#endif

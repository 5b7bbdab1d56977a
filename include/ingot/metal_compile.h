// SPDX-License-Identifier: Apache-2.0
// metal_compile.h: how a source is compiled. Included by metal.h.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_COMPILE_H
#define INGOT_METAL_COMPILE_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLPreprocessorMacro {
    const char *name;
    const char *value; // NULL: 1, as with -D
} MTLPreprocessorMacro;

typedef struct MTLHeader { // not Apple's: a file that #include finds in memory
    const char *name;      // as #include spells it
    const char *text;
    size_t length; // bytes; 0: up to the NUL
} MTLHeader;

struct MTLCompileOptions {
    const MTLPreprocessorMacro *preprocessor_macros;
    size_t preprocessor_macro_count;
    const char *const *include_paths; // folders for #include, which sees no other files
    size_t include_path_count;
    const MTLHeader *headers; // searched before the folders
    size_t header_count;
    MTLLanguageVersion language_version; // 0: newest
    bool math_mode_is_set;               // false: math_mode is ignored and MTLMathModeFast is used
    MTLMathMode math_mode;
    MTLMathFloatingPointFunctions
        math_floating_point_functions; // Precise: as if math_mode were Safe
    MTLLibraryType library_type;
    const char *install_name;            // dynamic libraries only
    MTLDynamicLibrary *const *libraries; // to link against: their functions may be called
    size_t library_count;
    bool allow_referencing_undefined_symbols; // pipelines find them: linked functions, preloaded
                                              // libraries
    MTLLibraryOptimizationLevel optimization_level; // a hint
    bool preserve_invariance;                       // code is always invariant here
    bool warnings_as_errors;                        // not Apple's
    const char *source_name;                        // "program_source"; of a file: sees its folder
    size_t max_total_threads_per_threadgroup;       // 0: as the functions say, or 1024
    bool enable_logging;                            // false: os_log does nothing
};

#ifdef __cplusplus
}
#endif
#endif

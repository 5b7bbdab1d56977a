// SPDX-License-Identifier: Apache-2.0
// options.c: the dialect as Clang's arguments. OpenCL C++ is the closest thing in Clang to MSL;
// what arguments cannot say, bridge.cpp sets in LangOptions.
#include "compiler/frontend/frontend_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_push(Options *o, const char *arg) {
    if (o->n == o->capacity) {
        size_t capacity = o->capacity ? o->capacity * 2 : 64;
        const char **at = base_arena_alloc(o->arena, capacity, sizeof *at);
        if (!at) {
            o->failed = true;
            return;
        }
        if (o->n) memcpy(at, o->at, o->n * sizeof *at);
        o->at = at, o->capacity = capacity;
    }
    o->failed |= !arg;
    o->at[o->n++] = arg;
}

static void push_all(Options *o, const char *const *args, size_t n) {
    for (size_t i = 0; i < n; i++) options_push(o, args[i]);
}

#define PUSH_ALL(o, list) push_all(o, list, sizeof(list) / sizeof *(list))

void options_dialect(Options *o, const MslSource *source) {
    static const char *const fixed[] = {
        "-x",
        "cl",
        "-cl-std=clc++2021",
        "-triple",
        "spir64-unknown-unknown",
        "-cl-ext=+cl_khr_fp16,+__cl_clang_function_pointers,+__cl_clang_variadic_functions",
        "-cl-ext=+__cl_clang_bitfields,+__cl_clang_non_portable_kernel_param_types",
        "-cl-single-precision-constant",
        "-cl-fp32-correctly-rounded-divide-sqrt",
        "-fdeclspec",
        "-O2",
        "-disable-llvm-passes",
        "-disable-lifetime-markers",
        "-relaxed-aliasing",
        "-nostdsysteminc",
        "-nobuiltininc",
        "-fno-threadsafe-statics",
        "-fno-validate-pch",
        "-fpch-instantiate-templates",
        "-fno-pch-timestamp",
        // Bounds for hostile input: nesting, instantiation depth, constant evaluation, errors.
        "-fbracket-depth",
        "256",
        "-ftemplate-depth=512",
        "-fconstexpr-depth=256",
        "-fconstexpr-steps=1000000",
        "-ferror-limit",
        "200",
        "-U__OPENCL_CPP_VERSION__",
        "-U__OPENCL_VERSION__",
        "-U__OPENCL_C_VERSION__",
        "-U__cplusplus",
        "-Wno-builtin-macro-redefined",
    };
    uint32_t v = source->language_version ? source->language_version : (4u << 16);
    PUSH_ALL(o, fixed);
    options_push(
        o, arena_format(o->arena, "-D__METAL_VERSION__=%u", (v >> 16) * 100 + (v & 0xffff) * 10));
    // Apple: Metal 1 to 3 are based on C++14, Metal 4 on C++17.
    options_push(o, v < (4u << 16) ? "-D__cplusplus=201402L" : "-D__cplusplus=201703L");
    options_push(o, "-D__METAL__=1");
    options_push(o, "-D__METAL_MACOS__=1");
    if (source->math_mode != MSL_MATH_SAFE) {
        options_push(o, "-D__FAST_MATH__=1");
        options_push(o, "-D__METAL_FAST_MATH__=1");
    }
    options_push(o, "-isystem");
    options_push(o, BRIDGE_STDLIB);
}

void options_source(Options *o, const MslSource *source) {
    // Clang's default warnings plus those Metal shows; not those about spellings only we produce.
    static const char *const warnings[] = {
        "-fno-elide-type",
        "-Wunused-variable",
        "-Wno-unused-const-variable",
        "-Wno-unused-value",
        "-Wno-duplicate-decl-specifier",
        "-Wno-undefined-internal",
        "-Wno-undefined-inline",
        "-Wno-undefined-var-template",
        "-Wno-gcc-compat",
        "-Wno-unknown-pragmas",
        "-Wno-c++20-designator",
        "-Wno-c99-designator",
        "-Wno-microsoft",
        "-Wno-deprecated",
        "-Wno-c++23-extensions",
        "-Wno-pass-failed",
        "-Wno-elaborated-enum-base",
        "-Wno-c++98-compat",
        "-Wno-unsupported-floating-point-opt",
        "-Wno-overriding-option",
    };
    PUSH_ALL(o, warnings);
    if (source->warnings_as_errors) options_push(o, "-Werror");
    if (!source->debug) {
        options_push(o, "-discard-value-names"); // reports name variables
    } else {
        options_push(o, source->debug == MSL_DEBUG_FULL ? "-debug-info-kind=standalone"
                                                        : "-debug-info-kind=line-tables-only");
        options_push(o, "-dwarf-version=4"); // every debugger and profiler reads it
        options_push(o, "-main-file-name");
        options_push(o, source->name);
    }
    for (size_t i = 0; i < source->n_macros; i++) {
        options_push(o, "-D");
        options_push(o, source->macros[i]);
    }
    if (source->n_headers) {
        options_push(o, "-I");
        options_push(o, "/memory");
    }
    for (size_t i = 0; i < source->n_include_dirs; i++) {
        options_push(o, "-I");
        options_push(o, source->include_dirs[i]);
    }
}

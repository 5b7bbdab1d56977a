// SPDX-License-Identifier: Apache-2.0
// test_frontend.c: msl_frontend as its callers use it: options, headers in memory, the precompiled
// prelude, and hostile input. What the compiler says about programs is tested by check_msl.
//   test_frontend STDLIB PCH_DIR TEST_DIR
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "abi/source_files.h"
#include "base/files.h"
#include "compiler/compiler.h"
#include "compiler/frontend/bridge.h"
#include "compiler/frontend/frontend_int.h"
#include <dirent.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *stdlib_dir, *pch_dir;

static MslSource source_of(const char *text) {
    return (MslSource){.name = "program_source",
                       .text = text,
                       .n_bytes = strlen(text),
                       .math_mode = MSL_MATH_FAST,
                       .stdlib_dir = stdlib_dir,
                       .pch_dir = pch_dir};
}

static bool says(const MslLibrary *lib, const char *text) {
    return lib->log && strstr(lib->log, text);
}

static void accepts(const MslSource *source) {
    MslLibrary lib;
    bool ok = msl_frontend(source, &lib);
    if (!ok) print_error("%s\n", lib.log);
    assert_true(ok);
    assert_non_null(lib.reflection);
    assert_true(source->check_only || lib.bitcode_bytes > 0);
    msl_library_free(&lib);
}

static void rejects(const MslSource *source, const char *text) {
    MslLibrary lib;
    assert_false(msl_frontend(source, &lib));
    if (!says(&lib, text))
        print_error("expected '%s' in:\n%.2000s\n", text, lib.log ? lib.log : "(no log)");
    assert_true(says(&lib, text));
    assert_null(lib.bitcode);
    assert_null(lib.reflection);
    msl_library_free(&lib);
}

static void empty_source_is_an_empty_library(void **state) {
    (void)state;
    MslLibrary lib;
    MslSource s = source_of("");
    assert_true(msl_frontend(&s, &lib));
    assert_int_equal(lib.reflection->n_functions, 0);
    assert_string_equal(lib.log, "");
    msl_library_free(&lib);
    s.text = NULL;
    s.name = NULL;
    accepts(&s);
    s = source_of("// nothing but a comment");
    accepts(&s);
}

static void diagnostics_have_place_and_caret(void **state) {
    (void)state;
    MslLibrary lib;
    MslSource s =
        source_of("kernel void f(device float *a) {\n    a[0] = nope;\n    a[1] = never;\n}\n");
    assert_false(msl_frontend(&s, &lib));
    assert_int_equal(lib.n_diagnostics, 2);
    assert_int_equal(lib.diagnostics[0].severity, 3);
    assert_string_equal(lib.diagnostics[0].file, "program_source");
    assert_int_equal(lib.diagnostics[0].line, 2);
    assert_int_equal(lib.diagnostics[0].column, 12);
    assert_string_equal(lib.diagnostics[0].message, "use of undeclared identifier 'nope'");
    assert_true(says(&lib, "program_source:2:12: error: use of undeclared identifier 'nope'\n"));
    assert_true(says(&lib, "    2 |     a[0] = nope;\n      |            ^~~~\n"));
    msl_library_free(&lib);
}

static void macros_reach_the_source(void **state) {
    (void)state;
    static const char *const macros[] = {"SIZE=7", "FLAG", "NAME=scaled"};
    MslSource s = source_of("#if !defined(FLAG) || FLAG != 1 || SIZE != 7\n#error macros\n#endif\n"
                            "kernel void NAME(device int *a) { a[SIZE] = FLAG; }\n");
    s.macros = macros, s.n_macros = 3;
    MslLibrary lib;
    assert_true(msl_frontend(&s, &lib));
    assert_string_equal(lib.reflection->functions[0].name, "scaled");
    msl_library_free(&lib);
}

static void predefined_macros(void **state) {
    (void)state;
    MslSource s = source_of("#if __METAL_VERSION__ != 400 || !__METAL__ || !__METAL_MACOS__ || "
                            "!__FAST_MATH__\n#error newest\n#endif\n"
                            "#if defined(__OPENCL_VERSION__) || defined(__OPENCL_CPP_VERSION__) || "
                            "defined(__SPIR__)\n#error foreign\n#endif\n");
    accepts(&s);
    s = source_of("#if __METAL_VERSION__ != 310\n#error old\n#endif\n");
    s.language_version = (3u << 16) | 1;
    accepts(&s);
    s = source_of("#ifdef __FAST_MATH__\n#error fast\n#endif\n");
    s.math_mode = MSL_MATH_SAFE;
    accepts(&s);
}

static void headers_in_memory_and_on_disk(void **state) {
    (void)state;
    char folder[] = "/tmp/ingot-msl-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = path_join(folder, "disk.h");
    static const char disk[] =
        "#pragma once\n#include <metal_stdlib>\nstruct Disk { float4 v; };\n";
    assert_true(file_write_atomic(path, disk, sizeof disk - 1, false));
    const MslHeader headers[] = {{"inner/types.h", "struct Memory { int n; };\n", 26}};
    const char *dirs[] = {folder};
    MslSource s =
        source_of("#include <metal_stdlib>\n#include \"inner/types.h\"\n#include "
                  "<inner/types.h>\n#include \"disk.h\"\n#include \"disk.h\"\n"
                  "kernel void f(device Disk *a, constant Memory &m) { a[m.n].v = 1; }\n");
    rejects(&s, "file not found");
    s.include_dirs = dirs, s.n_include_dirs = 1;
    s.headers = headers, s.n_headers = 1;
    MslFiles files = {source_files_new(&s, NULL), source_files_find};
    s.files = &files;
    rejects(&s, "redefinition of 'Memory'");
    s.text = strstr(s.text, "#include \"disk.h\"");
    s.n_bytes = strlen(s.text);
    const MslHeader once[] = {
        {"disk.h", "struct Disk { float v; }; struct Memory { int n; };\n#pragma once\n", 66}};
    s.headers = once;
    accepts(&s); // memory comes before folders
    s.n_headers = 0;
    s = source_of("#include \"disk.h\"\nkernel void f(device Disk *a) { a[0].v = 1; }\n");
    s.include_dirs = dirs, s.n_include_dirs = 1;
    rejects(&s, "file not found"); // nobody reads files for it
    s.files = &files;
    MslLibrary lib;
    assert_true(msl_frontend(&s, &lib));
    source_files_free(files.context);
    assert_int_equal(lib.n_files, 1);
    assert_string_equal(lib.files[0].path, path);
    msl_library_free(&lib);
    unlink(path);
    rmdir(folder);
    free(path);
}

static void warnings_can_be_errors(void **state) {
    (void)state;
    MslSource s = source_of("kernel void f(device int *a) { int unused = 1; a[0] = 2; }\n");
    accepts(&s);
    s.warnings_as_errors = true;
    rejects(&s, "unused variable 'unused'");
}

static void check_only_gives_no_code(void **state) {
    (void)state;
    MslLibrary lib;
    MslSource s = source_of("kernel void f(device int *a) { a[0] = 2; }\n");
    s.check_only = true;
    assert_true(msl_frontend(&s, &lib));
    assert_null(lib.bitcode);
    msl_library_free(&lib);
}

// Whether some floating-point multiplication of the module may be contracted.
static bool contracts(MslMathMode mode) {
    MslLibrary lib;
    MslSource s = source_of("kernel void f(device float *a) { a[0] = a[1] * a[2] + a[3]; }\n");
    s.math_mode = mode;
    assert_true(msl_frontend(&s, &lib));
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef bytes =
        LLVMCreateMemoryBufferWithMemoryRange((const char *)lib.bitcode, lib.bitcode_bytes, "f", 0);
    LLVMModuleRef m = NULL;
    assert_false(LLVMParseBitcodeInContext2(context, bytes, &m));
    LLVMDisposeMemoryBuffer(bytes);
    char *text = LLVMPrintModuleToString(m);
    bool found = strstr(text, "fmul nsz arcp contract afn") != NULL;
    assert_null(strstr(text, "nnan"));
    assert_null(strstr(text, "reassoc"));
    LLVMDisposeMessage(text);
    LLVMDisposeModule(m);
    LLVMContextDispose(context);
    msl_library_free(&lib);
    return found;
}

static void math_mode_sets_flags(void **state) {
    (void)state;
    assert_true(contracts(MSL_MATH_FAST));
    assert_true(contracts(MSL_MATH_RELAXED));
    assert_false(contracts(MSL_MATH_SAFE));
}

static void garbage_is_an_error(void **state) {
    (void)state;
    size_t n = 10u << 20;
    char *bytes = malloc(n + 1);
    assert_non_null(bytes);
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        bytes[i] = (char)(x >> 32);
    }
    bytes[n] = 0;
    MslSource s = {.name = "noise",
                   .text = bytes,
                   .n_bytes = n,
                   .math_mode = MSL_MATH_FAST,
                   .stdlib_dir = stdlib_dir,
                   .pch_dir = pch_dir};
    rejects(&s, "error:");
    memset(bytes, '(', n); // nesting
    rejects(&s, "the source is too large");
    s.n_bytes = 1u << 20;
    rejects(&s, "bracket nesting level exceeded");
    memset(bytes, '{', n);
    rejects(&s, "error:");
    memset(bytes, '[', n);
    rejects(&s, "error:");
    free(bytes);
    MslSource latin = source_of("kernel void f(device int *a) { a[0] = \xe9\xff; }\n");
    rejects(&latin, "error:");
    MslSource null = source_of("x");
    null.text = "kernel\0void f() {}", null.n_bytes = 18;
    accepts(&null); // a NUL between tokens is white space to Clang, with a warning
}

static void loops_and_bombs_end(void **state) {
    (void)state;
    const MslHeader loop[] = {{"loop.h", "#include \"loop.h\"\n", 18}};
    MslSource s = source_of("#include \"loop.h\"\n");
    s.headers = loop, s.n_headers = 1;
    rejects(&s, "#include nested too deeply");
    s = source_of("template <int N> struct A { static constexpr constant int v = A<N + 1>::v; };\n"
                  "kernel void f(device int *a) { a[0] = A<0>::v; }\n");
    rejects(&s, "recursive template instantiation exceeded maximum depth");
    s = source_of("constexpr int spin(int n) { while (n < 2) n = n ? 0 : 0; return n; }\n"
                  "kernel void f(device int *a) { constexpr int x = spin(0); a[0] = x; }\n");
    rejects(&s, "must be initialized by a constant expression");
}

// `n` times the same in one line; a '#' becomes the number.
static char *repeated(const char *what, size_t n) {
    static const char head[] = "#include <metal_stdlib>\nusing namespace metal; struct S {};\n";
    size_t room = sizeof head + n * (strlen(what) + 16) + 2;
    char *text = malloc(room), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", head);
    for (size_t i = 0; i < n; i++)
        for (const char *c = what; *c; c++) at += *c == '#' ? sprintf(at, "%zu", i) : (*at = *c, 1);
    strcpy(at, "\n");
    return text;
}

static void of_many_errors_some_are_told(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "kernel void k(device int *a) { a[0] = 1; } ", // Clang tells of the first, and goes on
        "kernel void k#(device int *a) { S s; a[0] = s + 1; } ", // each asks for a repair
        "kernel void k#(device int *a, constant int *c) { *(a[0] ? a : c) = 2; } ",
        "kernel void k#(int b [[buffer(1)]]) {} ",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *text = repeated(wrong[i], 10000);
        MslSource s = source_of(text);
        MslLibrary lib;
        assert_false(msl_frontend(&s, &lib));
        if (!says(&lib, "too many errors emitted, stopping now"))
            fail_msg("%s: %.300s", wrong[i], lib.log ? lib.log : "(no log)");
        assert_in_range(lib.n_diagnostics, 1, 402); // a note each
        msl_library_free(&lib);
        free(text);
    }
}

// More places that Clang must be helped with than it may have errors; braces of an expression at
// program scope do not end it.
static void many_repairs(void **state) {
    (void)state;
    char *text = repeated("template <class T> float f#(T v) { return (v.xy * 2 + -v.yx).x; } "
                          "constant float c# = S2{float4(1)}.v.x * 2; "
                          "kernel void k#(device float *a) { a[0] = f#(float4(a[1])) + c#; }\n"
                          "struct T# {}; ",
                          300);
    size_t room = strlen(text) + 64;
    char *whole = malloc(room);
    assert_non_null(whole);
    snprintf(whole, room, "#include <metal_stdlib>\nstruct S2 { metal::float4 v; };\n%s", text);
    MslSource s = source_of(whole);
    accepts(&s);
    free(whole);
    free(text);
}

static void kernels_may_fill_the_index_space(void **state) {
    (void)state;
    char text[4096] = "kernel void f(";
    for (int i = 0; i < 32; i++)
        sprintf(text + strlen(text), "%sdevice int *a%d", i ? ", " : "", i);
    strcat(text, ") { a0[0] = 1; }\n");
    MslSource s = source_of(text);
    rejects(&s, "no 'buffer' resource location is left for parameter 'a31'");
    char *last = strstr(text, ", device int *a31");
    memmove(last, strchr(last, ')'), strlen(strchr(last, ')')) + 1);
    s = source_of(text);
    MslLibrary lib;
    assert_true(msl_frontend(&s, &lib));
    assert_int_equal(lib.reflection->functions[0].args[30].index, 30);
    assert_int_equal(lib.reflection->functions[0].n_slots, 31);
    msl_library_free(&lib);
}

static size_t count_images(const char *folder, char *path, size_t n_path) {
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        size_t k = strlen(e->d_name);
        if (k > 4 && strcmp(e->d_name + k - 4, ".pch") == 0) {
            snprintf(path, n_path, "%s/%s", folder, e->d_name);
            n++;
        }
    }
    closedir(d);
    return n;
}

static void image_is_built_once(const char *text, const char *prefix) {
    char folder[] = "/tmp/ingot-pch-XXXXXX", path[512], sum[520];
    assert_non_null(mkdtemp(folder));
    MslSource s = source_of(text);
    s.pch_dir = folder;
    accepts(&s);
    assert_int_equal(count_images(folder, path, sizeof path), 1);
    assert_non_null(strstr(path, prefix));
    accepts(&s);
    assert_int_equal(count_images(folder, path, sizeof path), 1);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    for (long at = 100; at < 100000; at += 977) {
        fseek(f, at, SEEK_SET);
        fputc(0x5a, f);
    }
    fclose(f);
    accepts(&s);
    assert_int_equal(truncate(path, 1000), 0);
    accepts(&s);
    snprintf(sum, sizeof sum, "%s.sum", path);
    unlink(path);
    unlink(sum);
    assert_int_equal(rmdir(folder), 0); // nothing else was left behind
    s.pch_dir = "/proc/no-such-folder";
    accepts(&s);
    s.pch_dir = NULL;
    accepts(&s);
    s.stdlib_dir = "/no-such-folder";
    rejects(&s, "file not found");
}

static void prelude_is_built_once_and_rebuilt_when_damaged(void **state) {
    (void)state;
    image_is_built_once("#include <metal_stdlib>\nkernel void f(device metal::float4 *a) { "
                        "a[0] = metal::sin(a[1]); }\n",
                        "/prelude-");
    // A source that includes nothing has an image of its own, of the types.
    image_is_built_once("kernel void f(device float4 *a) { a[0] = a[1].yxwz * 2; }\n", "/bare-");
}

static void words_are_metals(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"'__global float *__private'", "'device float *'"},
        {"'__private float *' and '__private int'", "'thread float *' and 'int'"},
        {"'const __constant metal::vec<unsigned int, 3> &'", "'constant uint3 &'"},
        {"'vec<float, 3>' (aka 'metal::vec<float, 3>')", "'float3'"},
        {"'Color' (aka 'vec<float, 3>')", "'Color' (aka 'float3')"},
        {"'metal::matrix<float, 4, 3>' 'packed_vec<__bf16, 2>'", "'float4x3' 'packed_bfloat2'"},
        {"'vec<T, N>' 'vec<float, N + 1>'", "'vec<T, N>' 'vec<float, N + 1>'"},
        {"'metal::array<metal::vec<__bf16, 4>, 2>'", "'metal::array<bfloat4, 2>'"},
        {"my__global __global_id __local", "my__global __global_id threadgroup"},
        {"vec<", "vec<"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *got = words_metal(pairs[i][0]);
        assert_non_null(got);
        assert_string_equal(got, pairs[i][1]);
        free(got);
    }
}

static void linking_reports_errors(void **state) {
    (void)state;
    unsigned char *so = NULL;
    size_t n = 0;
    char *error = NULL;
    assert_false(msl_link_shared(&(MslElf){"not an object", 13}, 1, &so, &n, &error));
    assert_null(so);
    assert_non_null(error);
    free(error);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: test_frontend STDLIB PCH_DIR TEST_DIR\n");
        return 2;
    }
    stdlib_dir = argv[1], pch_dir = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_source_is_an_empty_library),
        cmocka_unit_test(diagnostics_have_place_and_caret),
        cmocka_unit_test(macros_reach_the_source),
        cmocka_unit_test(predefined_macros),
        cmocka_unit_test(headers_in_memory_and_on_disk),
        cmocka_unit_test(warnings_can_be_errors),
        cmocka_unit_test(check_only_gives_no_code),
        cmocka_unit_test(math_mode_sets_flags),
        cmocka_unit_test(garbage_is_an_error),
        cmocka_unit_test(loops_and_bombs_end),
        cmocka_unit_test(of_many_errors_some_are_told),
        cmocka_unit_test(many_repairs),
        cmocka_unit_test(kernels_may_fill_the_index_space),
        cmocka_unit_test(prelude_is_built_once_and_rebuilt_when_damaged),
        cmocka_unit_test(words_are_metals),
        cmocka_unit_test(linking_reports_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

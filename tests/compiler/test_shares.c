// SPDX-License-Identifier: Apache-2.0
// A library whose kernels are made by several processes is the one that a single process makes: the
// same entry points, constants and complaints, and code for all of them. The folders of headers are
// set by the build.
#include "fixture.h"
#include "abi/modules.h"
#include "compiler/frontend/shares.h"
#include <string.h>

// 80 kernels of two templates, with everything between them that could get lost: plain kernels and
// functions, function constants, one that is derived, one that an argument hangs on, a table.
#define HEAD                                                                                       \
    "#include <metal_stdlib>\n"                                                                    \
    "using namespace metal;\n"                                                                     \
    "constant int first [[function_constant(0)]];\n"                                               \
    "constant bool second [[function_constant(1)]];\n"                                             \
    "constant int derived = first * 2;\n"                                                          \
    "constant float table[4] = {1, 2, 4, 8};\n"                                                    \
    "kernel void before(device float *a [[buffer(0)]]) { a[0] = table[1]; }\n"                     \
    "float helper(float x) { return x * table[2] + derived; }\n"                                   \
    "template <typename T> T shared(T x) { return T(helper(float(x))); }\n"                        \
    "template <typename T, int N> kernel void f(device T *a [[buffer(0)]],\n"                      \
    "    device float *b [[buffer(1), function_constant(second)]],\n"                              \
    "    uint i [[thread_position_in_grid]]) { a[i] = shared(a[i]) + T(N); }\n"                    \
    "template <typename T, int N> kernel void g(device T *a [[buffer(0)]],\n"                      \
    "    uint i [[thread_position_in_grid]]) {\n"                                                  \
    "    threadgroup T all[32];\n"                                                                 \
    "    all[i % 32] = a[i];\n"                                                                    \
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"                                       \
    "    for (int k = 0; k < N; k++) if (simd_sum(k) > 3) break;\n"
#define MAKE                                                                                       \
    "}\n"                                                                                          \
    "#define F(t, n) template [[host_name(\"f_\" #t #n)]] kernel void f<t, n>(device t *, \\\n"    \
    "    device float *, uint);\n"                                                                 \
    "#define G(t, n) template [[host_name(\"g_\" #t #n)]] kernel void g<t, n>(device t *, "        \
    "uint);\n"                                                                                     \
    "#define FOUR(n) F(float, n) G(half, n) F(int, n) G(uint, n)\n"                                \
    "FOUR(1) FOUR(2) FOUR(3) FOUR(4) FOUR(5) FOUR(6) FOUR(7) FOUR(8) FOUR(9) FOUR(10)\n"           \
    "kernel void between(device float *a [[buffer(0)]]) { a[0] = helper(a[1]) + first; }\n"        \
    "FOUR(11) FOUR(12) FOUR(13) FOUR(14) FOUR(15) FOUR(16) FOUR(17) FOUR(18) FOUR(19) FOUR(20)\n"
enum { KERNELS = 82 };
#define GOOD HEAD "    a[i] = all[0];\n" MAKE

static bool compile(const char *text, bool processes, MslLibrary *out) {
    MslSource source = {.name = "source.metal",
                        .text = text,
                        .n_bytes = strlen(text),
                        .math_mode = MSL_MATH_FAST,
                        .stdlib_dir = TEST_STDLIB,
                        .pch_dir = TEST_PCH,
                        .processes = processes};
    return msl_frontend(&source, out);
}

static void same_reflection(const RfLibrary *a, const RfLibrary *b) {
    WireOut x = {0}, y = {0};
    rf_encode(a, &x), rf_encode(b, &y);
    assert_int_equal(x.n_bytes, y.n_bytes);
    assert_memory_equal(x.data, y.data, x.n_bytes);
    wire_free(&x), wire_free(&y);
}

// What the compiler says of a source, by one process and by several.
static void same_words(const char *text, bool good, const char *part) {
    MslLibrary one, many;
    assert_int_equal(compile(text, false, &one), good);
    assert_int_equal(compile(text, true, &many), good);
    assert_string_equal(one.log, many.log);
    assert_int_equal(one.n_diagnostics, many.n_diagnostics);
    assert_non_null(strstr(one.log, part));
    if (good) same_reflection(one.reflection, many.reflection);
    msl_library_free(&one), msl_library_free(&many);
}

TEST(same_library) {
    MslLibrary one, many, again;
    assert_true(compile(GOOD, false, &one));
    assert_true(compile(GOOD, true, &many));
    assert_true(compile(GOOD, true, &again));
    assert_int_equal(one.reflection->n_functions, KERNELS);
    assert_string_equal(one.reflection->functions[0].name, "before");
    assert_string_equal(one.reflection->functions[41].name, "between");
    same_reflection(one.reflection, many.reflection);
    assert_int_equal(abi_modules_count(one.bitcode, one.bitcode_bytes), 1);
    assert_int_equal(abi_modules_count(many.bitcode, many.bitcode_bytes), MAX_SHARES + 1);
    assert_int_equal(many.bitcode_bytes, again.bitcode_bytes);
    assert_memory_equal(many.bitcode, again.bitcode, many.bitcode_bytes);
    msl_library_free(&one), msl_library_free(&many), msl_library_free(&again);
}

static MslKernel code_of(const MslLibrary *lib, const char *name) {
    static const unsigned char value[4] = {3};
    const MslConstantValue values[] = {{NULL, 0, 29, value, 4}, {NULL, 1, 53, value + 1, 1}};
    MslKernelRequest request = {.bitcode = lib->bitcode,
                                .bitcode_bytes = lib->bitcode_bytes,
                                .reflection = lib->reflection,
                                .function = name,
                                .constants = values,
                                .n_constants = 2,
                                .math_mode = MSL_MATH_FAST};
    MslKernel k;
    if (!msl_backend(&request, &k)) fail_msg("%s: %s", name, k.error);
    return k;
}

// A kernel of each part, and both that no template is behind.
TEST(same_code) {
    static const char *const names[] = {"before",  "f_float1",  "g_half2",  "f_int6",  "g_uint10",
                                        "between", "f_float11", "g_half16", "g_uint20"};
    MslLibrary one, many;
    assert_true(compile(GOOD, false, &one));
    assert_true(compile(GOOD, true, &many));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        MslKernel a = code_of(&one, names[i]), b = code_of(&many, names[i]);
        assert_int_equal(a.code_bytes, b.code_bytes);
        assert_memory_equal(a.code, b.code, a.code_bytes);
        msl_kernel_free(&a), msl_kernel_free(&b);
    }
    msl_library_free(&one), msl_library_free(&many);
}

TEST(linked_with_another) {
    MslLibrary many, other, both;
    assert_true(compile(GOOD, true, &many));
    assert_true(compile("#include <metal_stdlib>\nfloat helper(int);\n"
                        "kernel void last(device float *a [[buffer(0)]]) { a[0] = 2; }\n",
                        true, &other));
    const MslObject objects[] = {{"many", many.bitcode, many.bitcode_bytes, many.reflection},
                                 {"other", other.bitcode, other.bitcode_bytes, other.reflection}};
    assert_true(msl_merge(objects, 2, true, &both)); // as one module
    assert_int_equal(both.reflection->n_functions, KERNELS + 1);
    MslKernel k = code_of(&both, "f_int6");
    msl_kernel_free(&k);
    msl_library_free(&many), msl_library_free(&other), msl_library_free(&both);
}

TEST(few_kernels_are_not_shared) {
    MslLibrary lib;
    assert_true(
        compile("#include <metal_stdlib>\n"
                "template <int N> kernel void f(device int *a [[buffer(0)]]) { a[0] = N; }\n"
                "template [[host_name(\"one\")]] kernel void f<1>(device int *);\n"
                "template [[host_name(\"two\")]] kernel void f<2>(device int *);\n",
                true, &lib));
    assert_int_equal(abi_modules_count(lib.bitcode, lib.bitcode_bytes), 1);
    msl_library_free(&lib);
}

TEST(same_warnings) {
    same_words(HEAD "    if constexpr (N == 7) { T unused = a[i]; }\n" MAKE, true, "unused");
    // one in a function that every part makes
    same_words("#include <metal_stdlib>\n"
               "template <typename T> void every(device T *a) { char c = T(300); a[0] = c; }\n" HEAD
               "    every<int>((device int *)a);\n" MAKE,
               true, "changes value");
}

TEST(same_errors) {
    same_words(HEAD "    static_assert(N != 18, \"not eighteen\");\n" MAKE, false, "not eighteen");
    same_words(HEAD "    if constexpr (N > 4) a[i].nothing = 1;\n" MAKE, false, "not a structure");
    same_words("template <typename T> int deep(int n) { return n ? deep<T>(n - 1) + deep<T>(n - 2) "
               ": 1; }\n" HEAD "    if constexpr (N == 20) a[i] = deep<T>(i);\n" MAKE,
               false, "recursive call");
}

TEST(repairs) { // a conditional of two address spaces, in some parts alone
    same_words(HEAD "    vec<T, 2> here = 1;\n"
                    "    if constexpr (N > 9)\n"
                    "        a[i] = (i > 3 ? ((device vec<T, 2> *)a)[i] : here).x;\n"
                    "    int never;\n" MAKE,
               true, "never");
}

int main(void) { return unit_run(NULL, NULL); }

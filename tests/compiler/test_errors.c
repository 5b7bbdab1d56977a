// SPDX-License-Identifier: Apache-2.0
// What msl_backend refuses, and what it says; the texts it can emit.
#include "fixture.h"
#include <string.h>

static const RfArg args[] = {BUFFER(0, 0), BUILTIN(1, RF_THREAD_POSITION_IN_GRID, TY_UINT)};
#define KERNEL(body) "define void @k(ptr %out, i32 %g) {\n" body "  ret void\n}\n"
static const Fixture good = {.ir = KERNEL("  store i32 %g, ptr %out\n"),
                             .args = args,
                             .n_args = 2,
                             .n_slots = 1,
                             .width = 1};

TEST(requests) {
    Fixture f = good;
    f.function = "nothing";
    expect_error(&f, "no function 'nothing'");
    f = good, f.width = 7;
    expect_error(&f, "vector width of 7");
    f = good, f.shape[0] = 64;
    expect_error(&f, "64 x 0 x 0");
    f = good, f.shape[0] = f.shape[1] = 64, f.shape[2] = 1;
    expect_error(&f, "64 x 64 x 1");
    f = good, f.cpu = "no such cpu";
    expect_error(&f, "unknown CPU");
    f = good, f.emit = "pdf";
    expect_error(&f, "unknown output 'pdf'");
}

TEST(bad_kernels) {
    Fixture f = good;
    f.ir = "define void @r(i32 %n) {\n  %c = icmp eq i32 %n, 0\n  br i1 %c, label %e, label %l\n"
           "l:\n  %m = sub i32 %n, 1\n  call void @r(i32 %m)\n  br label %e\ne:\n  ret "
           "void\n}\n" KERNEL("  call void @r(i32 %g)\n");
    expect_error(&f, "recurs");
    f.ir = "declare void @elsewhere()\n" KERNEL("  call void @elsewhere()\n");
    expect_error(&f, "'elsewhere', which no linked function");
    f.ir = "declare ptr @_Z10__ingot_tgILm40000ELm4EZ1kE1aEPvv()\n" KERNEL(
        "  %t = call ptr @_Z10__ingot_tgILm40000ELm4EZ1kE1aEPvv()\n  store i32 %g, ptr %t\n  %v = "
        "load volatile i32, ptr %t\n");
    expect_error(&f, "40000 bytes of threadgroup memory, more than the 32768");
    f = good;
    f.ir = "define i32 @k(ptr %out, i32 %g) {\n  ret i32 0\n}\n";
    expect_error(&f, "must return void");
}

TEST(damaged_bitcode) {
    static RfType type = {
        .data_type = 3, .name = (char *)"float", .size = 4, .align = 4, .element = UINT32_MAX};
    RfFunction kernel = {.name = (char *)"k", .symbol = (char *)"k"};
    RfLibrary lib = {.n_types = 1, .types = &type, .n_functions = 1, .functions = &kernel};
    unsigned char bytes[4096];
    for (size_t n = 0; n <= sizeof bytes; n += 512) {
        for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(i * 37 + n);
        if (n > 1024) memcpy(bytes, "BC\xC0\xDE", 4);
        MslKernelRequest request = {
            .bitcode = bytes, .bitcode_bytes = n, .reflection = &lib, .function = "k"};
        MslKernel k;
        assert_false(msl_backend(&request, &k));
        assert_true(strlen(k.error) > 0);
        msl_kernel_free(&k);
    }
}

TEST(only_what_the_kernel_reaches) {
    Fixture f = good;
    f.emit = "scalar-ll";
    f.ir = "define internal void @used(ptr %p) {\n  store i32 41, ptr %p\n  ret void\n}\n"
           "define void @unused(ptr %p) {\n  store i32 43, ptr %p\n  ret void\n}\n" KERNEL(
               "  call void @used(ptr %out)\n");
    MslKernel k = compile_fixture(&f);
    assert_true(k.ok);
    assert_non_null(strstr((char *)k.code, "i32 41"));
    assert_null(strstr((char *)k.code, "i32 43"));
    msl_kernel_free(&k);
}

TEST(texts) {
    Fixture f = good;
    f.emit = "asm";
    MslKernel k = compile_fixture(&f);
    assert_true(k.ok);
    assert_non_null(strstr((char *)k.code, "ingot_kernel:"));
    msl_kernel_free(&k);
    f.emit = "ll", f.dump_after = "entry";
    k = compile_fixture(&f);
    assert_true(k.ok);
    assert_non_null(strstr((char *)k.code, "@ingot_kernel("));
    assert_non_null(strstr(k.log, "__ingot_position"));
    msl_kernel_free(&k);
}

int main(void) { return unit_run(NULL, NULL); }

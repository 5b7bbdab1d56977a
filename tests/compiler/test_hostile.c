// SPDX-License-Identifier: Apache-2.0
// Bitcode that our front end did not write: who writes a metallib may put anything into it. Each
// attempt is a module that LLVM finds valid; codegen/verify.c refuses it, or says which part of it
// nobody defines, before code is made.
#include "fixture.h"
#include <string.h>

static const RfArg args[] = {BUFFER(0, 0), BUILTIN(1, RF_THREAD_POSITION_IN_GRID, TY_UINT)};
#define KERNEL(body) "define void @k(ptr %out, i32 %g) {\n" body "  ret void\n}\n"
#define PLAIN KERNEL("  store i32 %g, ptr %out\n")
static const Fixture good = {.ir = PLAIN, .args = args, .n_args = 2, .n_slots = 1, .width = 1};

typedef struct Attempt {
    const char *ir, *outcome; // what the error says
} Attempt;

static const Attempt attempts[] = {
    // code and data where the linker or the loader would find it
    {"module asm \".byte 0xc3\"\n" PLAIN, "module assembly"},
    {"module asm \".section .init_array\"\nmodule asm \".quad k\"\n" PLAIN, "module assembly"},
    {"@x = constant [1 x i8] c\"\\C3\", section \".text\"\n" PLAIN, "data in a section ('.text')"},
    {"@x = constant ptr @k, section \".init_array\"\n" PLAIN, "data in a section ('.init_array')"},
    {"@x = constant ptr @k, section \".preinit_array\"\n" PLAIN, "data in a section"},
    {"@x = constant ptr @k, section \".fini_array\"\n" PLAIN, "data in a section"},
    {"@x = internal global i32 0, section \".dynamic\"\n" PLAIN, "data in a section"},
    {"define void @f() section \".init\" {\n  ret void\n}\n" KERNEL("  call void @f()\n"),
     "a function in a section ('.init')"},
    {"@a = alias i32, ptr @x\n@x = global i32 0\n" PLAIN, "an alias"},
    {"@a = alias void (ptr, i32), ptr @k\n" PLAIN, "an alias"},
    {"@i = ifunc void (), ptr @r\ndefine ptr @r() {\n  ret ptr null\n}\n" PLAIN,
     "an indirect function"},
    {"@x = thread_local global i32 0\n" PLAIN, "each thread of the host"},
    {"@x = external thread_local(initialexec) global i32\n" PLAIN, "each thread of the host"},
    {"@x = extern_weak global i32\n" PLAIN, "that the host would define"},
    {"@x = common global i32 0\n" PLAIN, "that the host would define"},
    {"@x = externally_initialized global i32 0\n" PLAIN, "that the host would define"},
    {"@x = appending global [1 x i32] zeroinitializer\n" PLAIN, "that the host would define"},
    {"@x = internal global i32 0, align 2147483648\n" PLAIN, "huge alignment"},
    {"@x = addrspace(257) global i32 0\n" PLAIN, "address space"},
    {"@llvm.used = appending global [1 x ptr] [ptr @k], section \"llvm.metadata\"\n" PLAIN,
     "a reserved name ('llvm.used')"},
    {"@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 0, "
     "ptr "
     "@f, ptr null }]\ndefine void @f() {\n  ret void\n}\n" PLAIN,
     "a reserved name ('llvm.global_dtors')"},
    {"@ingot_kernel_info = constant [64 x i8] zeroinitializer\n" PLAIN, "a reserved name"},
    // notes that change what is made or linked
    {PLAIN "!llvm.dependent-libraries = !{!0}\n!0 = !{!\"/etc/passwd\"}\n", "notes for somebody"},
    {PLAIN "!llvm.linker.options = !{!0}\n!0 = !{!\"-lc\"}\n", "notes for somebody"},
    {PLAIN "!llvm.commandline = !{!0}\n!0 = !{!\"x\"}\n", "notes for somebody"},
    {PLAIN "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"cf-protection-branch\", i32 1}\n",
     "a flag for somebody"},
    {PLAIN "!llvm.module.flags = !{!0}\n!0 = !{i32 4, !\"kcfi\", i32 1}\n", "a flag for somebody"},
    {KERNEL("  store i32 %g, ptr %out, !pcsections !0\n") "!0 = !{!\"init_array\"}\n",
     "notes on an instruction"},
    {KERNEL("  store i32 %g, ptr %out, !mine !0\n") "!0 = !{}\n", "notes on an instruction"},
    // functions that mean something
    {"define ptr @__ingot_launch() {\n  ret ptr null\n}\n" PLAIN,
     "the definition of a reserved name"},
    {"define void @ingot_kernel(ptr %a) {\n  ret void\n}\n" PLAIN,
     "the definition of a reserved name"},
    {"define void @ingot_log() {\n  ret void\n}\n" PLAIN, "the definition of a reserved name"},
    {"define void @ingot.linked.0() {\n  ret void\n}\n" PLAIN, "the definition of a reserved name"},
    {"define ptr @_Z10__ingot_tgILm4ELm4EZ1kE1aEPvv() {\n  ret ptr null\n}\n" PLAIN,
     "the definition of a reserved name"},
    {"declare ptr @__ingot_launch()\n" KERNEL("  %l = call ptr @__ingot_launch()\n  store i32 %g, "
                                              "ptr %l\n"),
     "a built-in function that does not exist"},
    {"declare ptr @__ingot_place(i64, i64, i32)\n" PLAIN, "a built-in function that does not"},
    {"declare void @__ingot_simd_sum_f32(ptr)\n" PLAIN, "a built-in function that does not"},
    {"declare void @__ingot_log(i32, ptr, ptr, ptr, i64)\n" PLAIN, "a built-in function that does"},
    {"declare i32 @_Z21__ingot_texture_writeILj0EEvmmj(i64, i64)\n" PLAIN, "a built-in function"},
    {"declare void @ingot_report(ptr)\n" PLAIN, "a built-in function that does not exist"},
    {"declare ptr @memcpy(ptr, ptr, i64)\n" KERNEL("  store ptr @memcpy, ptr %out\n"),
     "a function of the host ('memcpy')"},
    {"declare ptr @memset(ptr, i32, i64)\n" PLAIN, "a function of the host"},
    {"declare ptr @__tls_get_addr(ptr)\n" KERNEL(
         "  %r = call ptr @__tls_get_addr(ptr %out)\n  store i32 %g, ptr %r\n"),
     "'__tls_get_addr', which"},
    {"declare i32 @system(ptr)\n" KERNEL("  %r = call i32 @system(ptr %out)\n"), "'system', which"},
    {"declare i32 @system(ptr)\n" KERNEL("  store ptr @system, ptr %out\n"), "'system', which"},
    {"@environ = external global ptr\n" KERNEL("  %e = load ptr, ptr @environ\n  store ptr %e, ptr "
                                               "%out\n"),
     "'environ'"},
    // instructions and intrinsics
    {KERNEL("  call void asm sideeffect \"nop\", \"\"()\n"), "assembly"},
    {"declare void @llvm.eh.return.i64(i64, ptr)\n" PLAIN, "an intrinsic"},
    {"declare void @llvm.debugtrap()\n" KERNEL("  call void @llvm.debugtrap()\n"), "an intrinsic"},
    {"declare ptr @llvm.returnaddress(i32)\n" PLAIN, "an intrinsic"},
    {"declare ptr @llvm.frameaddress.p0(i32)\n" PLAIN, "an intrinsic"},
    {"declare ptr @llvm.addressofreturnaddress.p0()\n" PLAIN, "an intrinsic"},
    {"declare ptr @llvm.stacksave.p0()\n" PLAIN, "an intrinsic"},
    {"declare void @llvm.stackrestore.p0(ptr)\n" PLAIN, "an intrinsic"},
    {"declare i32 @llvm.eh.sjlj.setjmp(ptr)\n" PLAIN, "an intrinsic"},
    {"declare i64 @llvm.read_register.i64(metadata)\n" PLAIN, "an intrinsic"},
    {"declare void @llvm.write_register.i64(metadata, i64)\n" PLAIN, "an intrinsic"},
    {"declare ptr @llvm.thread.pointer.p0()\n" PLAIN, "an intrinsic"},
    {"declare void @llvm.x86.int(i8)\n" PLAIN, "an intrinsic"},
    {"declare i64 @llvm.x86.rdtsc()\n" PLAIN, "an intrinsic"},
    {"declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n" PLAIN, "an intrinsic"},
    {"declare void @llvm.va_start.p0(ptr)\n" PLAIN, "an intrinsic"},
    {"declare void @llvm.init.trampoline(ptr, ptr, ptr)\n" PLAIN, "an intrinsic"},
    {"define void @k(ptr %out, i32 %g) {\n  %t = load ptr, ptr %out\n  indirectbr ptr %t, [label "
     "%a, label %b]\na:\n  ret void\nb:\n  ret void\n}\n",
     "an instruction"},
    {"define void @k(ptr %out, i32 %g) {\n  br label %a\na:\n  store ptr blockaddress(@k, %a), ptr "
     "%out\n  ret void\n}\n",
     "the address of a piece of code"},
    {"declare i32 @p(...)\ndefine void @f(ptr %out) personality ptr @p {\n  ret void\n}\n" KERNEL(
         "  call void @f(ptr %out)\n"),
     "refused"},
    {"define void @f(ptr %out) gc \"statepoint-example\" {\n  ret void\n}\n" KERNEL(
         "  call void @f(ptr %out)\n"),
     "garbage collection"},
    {"define void @f(ptr %out) prefix i32 -1 {\n  ret void\n}\n" KERNEL(
         "  call void @f(ptr %out)\n"),
     "in front of code"},
    {"define void @f(ptr %out) prologue i8 -61 {\n  ret void\n}\n" KERNEL(
         "  call void @f(ptr %out)\n"),
     "in front of code"},
    {"define void @f(ptr %out) naked {\n  unreachable\n}\n" KERNEL("  call void @f(ptr %out)\n"),
     "an attribute"},
    {"define void @f(ptr %out) \"patchable-function\"=\"prologue-short-redirect\" {\n  ret "
     "void\n}\n" KERNEL("  call void @f(ptr %out)\n"),
     "an attribute"},
    {"define void @f(ptr %out) \"target-features\"=\"+amx-tile\" {\n  ret void\n}\n" KERNEL(
         "  call void @f(ptr %out)\n"),
     "an attribute"},
    {"define ghccc void @f(ptr %out) {\n  ret void\n}\n" KERNEL("  call ghccc void @f(ptr %out)\n"),
     "a calling convention"},
    {"define void @f(ptr swiftself %out) {\n  ret void\n}\n" KERNEL(
         "  call void @f(ptr swiftself %out)\n"),
     "an attribute"},
    {"define void @f(ptr %out, i32 %g) {\n  ret void\n}\ndefine void @k(ptr %out, i32 %g) {\n  "
     "musttail call void @f(ptr %out, i32 %g)\n  ret void\n}\n",
     "a jump to another function"},
    {"define void @f(ptr %out) {\n  ret void\n}\n" KERNEL("  call void @f(i32 %g)\n"), "refused"},
    {KERNEL("  %a = alloca i8, i32 %g\n  store ptr %a, ptr %out\n"), "stack that grows"},
    {KERNEL("  %a = alloca i8, align 1048576\n  store ptr %a, ptr %out\n"), "huge alignment"},
    {KERNEL("  %a = alloca [4611686018427387905 x i64]\n  store ptr %a, ptr %out\n"), "256 TB"},
    {KERNEL("  %p = inttoptr i64 40 to ptr addrspace(257)\n  %v = load i32, ptr addrspace(257) %p\n"
            "  store i32 %v, ptr %out\n"),
     "address space"},
    {KERNEL("  %v = load fp128, ptr %out\n  store fp128 %v, ptr %out\n"), "a type that Metal"},
    {KERNEL("  %v = load x86_fp80, ptr %out\n  store x86_fp80 %v, ptr %out\n"),
     "a type that Metal"},
    {KERNEL("  %v = load <vscale x 4 x i32>, ptr %out\n  store <vscale x 4 x i32> %v, ptr %out\n"),
     "a type that Metal"},
    {KERNEL("  %v = load i8388608, ptr %out\n  store i8388608 %v, ptr %out\n"), "too wide"},
    {"define void @f(ptr %out, ...) {\n  ret void\n}\n" KERNEL(
         "  call void (ptr, ...) @f(ptr %out, i32 %g)\n"),
     "a type that Metal"},
    {KERNEL("  %v = va_arg ptr %out, i32\n"), "an instruction"},
};

TEST(attempts_are_refused) {
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        Fixture f = good;
        f.ir = attempts[i].ir;
        MslKernel k = compile_fixture(&f);
        if (k.ok || !strstr(k.error, attempts[i].outcome))
            fail_msg("%s\nis '%s', should be '%s'", attempts[i].ir, k.ok ? "compiled" : k.error,
                     attempts[i].outcome);
        msl_kernel_free(&k);
    }
}

TEST(what_is_good) {
    Fixture f = good;
    MslKernel k = compile_fixture(&f);
    assert_true(k.ok);
    msl_kernel_free(&k);
}

int main(void) { return unit_run(NULL, NULL); }

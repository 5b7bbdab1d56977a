// SPDX-License-Identifier: Apache-2.0
// The group loop: large streams, logging once per thread, what ingot_kernel_info says.
#include "fixture.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const RfArg copy_args[] = {BUFFER(0, 0), BUFFER(1, 1),
                                  BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_UINT)};
static const Fixture copy = {.args = copy_args,
                             .n_args = 3,
                             .n_slots = 2,
                             .ir = "define void @k(ptr %in, ptr %out, i32 %g) {\n"
                                   "  %i = zext i32 %g to i64\n  %pi = getelementptr float, ptr "
                                   "%in, i64 %i\n  %po = getelementptr float, ptr %out, i64 %i\n"
                                   "  %v = load float, ptr %pi\n  %w = fadd float %v, 1.0\n  store "
                                   "float %w, ptr %po\n  ret void\n}\n"};

// Large enough for non-temporal stores, at an address that starts a cache line and at one that does
// not.
TEST(large_stream) {
    enum { N = (37 << 20) / 8, GUARD = 64 }; // eight bytes a thread
    float *in = aligned_alloc(64, (N + 2 * GUARD) * 4),
          *out = aligned_alloc(64, (N + 2 * GUARD) * 4);
    for (int i = 0; i < N; i++) in[i] = (float)(i & 0xffff);
    for (int shift = 0; shift <= 3; shift += 3) {
        Fixture f = copy;
        f.width = 32, f.shape[0] = 256, f.shape[1] = f.shape[2] = 1;
        memset(out, 0, (N + 2 * GUARD) * 4);
        uint32_t n = N - 77; // the last threadgroup is cut
        run_fixture(&f, (uint32_t[]){n, 1, 1}, (uint32_t[]){256, 1, 1}, (void *[]){in, out + shift},
                    0);
        for (uint32_t i = 0; i < n; i++)
            if (out[i + shift] != (float)(i & 0xffff) + 1)
                fail_msg("shift %d: out[%u] = %g", shift, i, (double)out[i + shift]);
        for (int i = 0; i < GUARD; i++) assert_true(out[n + (uint32_t)shift + (uint32_t)i] == 0);
    }
    free(in);
    free(out);
}

TEST(stores_past_the_caches) {
    Fixture f = copy;
    f.width = 32, f.shape[0] = 256, f.shape[1] = f.shape[2] = 1, f.emit = "ll", f.cpu = "x86-64-v4";
    MslKernel k = compile_fixture(&f);
    assert_true(k.ok);
    assert_non_null(strstr((char *)k.code, "!nontemporal"));
    msl_kernel_free(&k);
    // In place: the line is in the cache anyway.
    f.ir = "define void @k(ptr %in, ptr %out, i32 %g) {\n"
           "  %i = zext i32 %g to i64\n  %pi = getelementptr float, ptr %in, i64 %i\n"
           "  %v = load float, ptr %pi\n  %w = fadd float %v, 1.0\n  store float %w, ptr %pi\n  "
           "ret void\n}\n";
    k = compile_fixture(&f);
    assert_true(k.ok);
    assert_null(strstr((char *)k.code, "!nontemporal"));
    msl_kernel_free(&k);
}

static unsigned n_logged;
static uint64_t seen;
static void on_log(const CpuLaunch *launch, uint32_t type, const char *category, const char *format,
                   const uint64_t *args, uint32_t n) {
    assert_ptr_equal(launch->log_context, &n_logged);
    assert_int_equal(type, 2);
    assert_string_equal(category, "a:b");
    assert_string_equal(format, "%d");
    assert_int_equal(n, 1);
    assert_int_equal(args[0], 7);
    n_logged++;
    seen |= 1ull << args[1];
}

#define LOG_IR                                                                                     \
    "@c = private constant [4 x i8] c\"a:b\\00\"\n@f = private constant [3 x i8] c\"%d\\00\"\n"    \
    "declare void @__ingot_log(i32, ptr, ptr, ptr, i32)\ndeclare void "                            \
    "@__ingot_threadgroup_barrier(i32) convergent\n"                                               \
    "define void @k(ptr %out, ptr %unused, i32 %g) {\n  %a = alloca [2 x i64], align 8\n"          \
    "  %odd = and i32 %g, 1\n  %is = icmp ne i32 %odd, 0\n  br i1 %is, label %yes, label %no\n"    \
    "yes:\n  %g64 = zext i32 %g to i64\n  %a1 = getelementptr i64, ptr %a, i64 1\n"                \
    "  store i64 7, ptr %a\n  store i64 %g64, ptr %a1\n"                                           \
    "  call void @__ingot_log(i32 2, ptr @c, ptr @f, ptr %a, i32 1)\n  br label %no\nno:\n"

// A sum that begins with nothing: its value is the program's fault, its code is ours.
TEST(sum_that_is_never_set) {
    Fixture f = copy;
    f.ir =
        "declare <2 x float> @__ingot_simdgroup_mma_f32(<2 x float>, <2 x float>, <2 x float>) #0\n"
        "define void @k(ptr %in, ptr %out, i32 %g) {\n"
        "entry:\n"
        "  %i = zext i32 %g to i64\n  %pi = getelementptr float, ptr %in, i64 %i\n"
        "  %po = getelementptr float, ptr %out, i64 %i\n"
        "  %v = load <2 x float>, ptr %pi, align 4\n  %n = load i32, ptr %in\n"
        "  br label %loop\n"
        "loop:\n"
        "  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]\n"
        "  %s = phi <2 x float> [ undef, %entry ], [ %t, %loop ]\n"
        "  %t = call <2 x float> @__ingot_simdgroup_mma_f32(<2 x float> %v, <2 x float> %v, "
        "<2 x float> %s) #0\n"
        "  %k1 = add i32 %k, 1\n  %c = icmp slt i32 %k1, %n\n"
        "  br i1 %c, label %loop, label %end\n"
        "end:\n"
        "  %e = extractelement <2 x float> %t, i32 0\n  store float %e, ptr %po\n"
        "  ret void\n}\n"
        "attributes #0 = { convergent nounwind }\n";
    for (size_t w = 0; w < n_ways; w++) {
        f.width = ways[w].width, f.cpu = ways[w].cpu;
        f.shape[0] = ways[w].shaped ? 32 : 0, f.shape[1] = f.shape[2] = ways[w].shaped ? 1 : 0;
        MslKernel k = compile_fixture(&f);
        if (!k.ok) fail_msg("width %u: %s", f.width, k.error);
        msl_kernel_free(&k);
    }
}

TEST(log_once_per_active_thread) {
    static const char *const bodies[] = {
        LOG_IR "  ret void\n}\n",
        LOG_IR "  call void @__ingot_threadgroup_barrier(i32 0)\n  ret void\n}\n"};
    for (int body = 0; body < 2; body++)
        for (uint32_t width = 1; width <= 32; width = width == 1 ? 16 : width * 2) {
            Fixture f = copy;
            f.width = width, f.ir = bodies[body];
            MslKernel k = compile_fixture(&f);
            if (!k.ok) fail_msg("%s", k.error);
            CpuKernelInfo info;
            CpuKernelFn *run = load_kernel(&k, &info);
            assert_true(info.flags & CPU_KERNEL_LOG);
            assert_int_equal(!!(info.flags & CPU_KERNEL_BARRIER), body);
            CpuLaunch launch = {.args = (void *[]){NULL, NULL},
                                .threads_per_grid = {50, 1, 1},
                                .groups_per_grid = {1, 1, 1},
                                .group_size = {64, 1, 1},
                                .log = on_log,
                                .log_context = &n_logged};
            void *frames = info.frame_stride ? aligned_alloc(128, 2 * info.frame_stride) : NULL;
            n_logged = 0, seen = 0;
            run(&launch, 0, 1, NULL, frames);
            free(frames);
            if (n_logged != 25 || seen != (0xAAAAAAAAAAAAAAAAull & ((1ull << 50) - 1)))
                fail_msg("width %u: %u messages, threads %llx", width, n_logged,
                         (unsigned long long)seen);
            launch.log = NULL; // nobody listens: nothing happens
            frames = info.frame_stride ? aligned_alloc(128, 2 * info.frame_stride) : NULL;
            run(&launch, 0, 1, NULL, frames);
            free(frames);
            msl_kernel_free(&k);
        }
}

// A column of one buffer times a row of another: with AVX2 a step is four rows of sixteen columns.
TEST(rows_above_each_other) {
    static const RfArg args[] = {BUFFER(0, 0), BUFFER(1, 1),
                                 BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_UINT2)};
    Fixture f = {.args = args,
                 .n_args = 3,
                 .n_slots = 2,
                 .width = 32,
                 .shape = {32, 8, 1},
                 .emit = "ll",
                 .cpu = "x86-64-v3",
                 .ir = "define void @k(ptr %in, ptr %out, <2 x i32> %g) {\n"
                       "entry:\n"
                       "  %x32 = extractelement <2 x i32> %g, i32 0\n"
                       "  %y32 = extractelement <2 x i32> %g, i32 1\n"
                       "  %x = zext i32 %x32 to i64\n  %y = zext i32 %y32 to i64\n"
                       "  %row = mul i64 %y, 64\n  br label %loop\n"
                       "loop:\n"
                       "  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]\n"
                       "  %s = phi float [ 0.0, %entry ], [ %t, %loop ]\n"
                       "  %ia = add i64 %row, %k\n  %kb = mul i64 %k, 64\n"
                       "  %ib = add i64 %kb, %x\n"
                       "  %pa = getelementptr float, ptr %in, i64 %ia\n"
                       "  %pb = getelementptr float, ptr %in, i64 %ib\n"
                       "  %a = load float, ptr %pa\n  %b = load float, ptr %pb\n"
                       "  %m = fmul float %a, %b\n  %t = fadd float %s, %m\n"
                       "  %k1 = add i64 %k, 1\n  %c = icmp ult i64 %k1, 64\n"
                       "  br i1 %c, label %loop, label %end\n"
                       "end:\n"
                       "  %io = add i64 %row, %x\n"
                       "  %po = getelementptr float, ptr %out, i64 %io\n"
                       "  store float %t, ptr %po\n  ret void\n}\n"};
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    assert_non_null(strstr((char *)k.code, "phi <16 x float>"));
    msl_kernel_free(&k);
    f.emit = NULL;
    float *in = malloc(64 * 64 * 4), *out = calloc(64 * 64, 4);
    for (int i = 0; i < 64 * 64; i++) in[i] = (float)(i * 7 % 11);
    run_fixture(&f, (uint32_t[]){64, 60, 1}, f.shape, (void *[]){in, out}, 0);
    for (int i = 0; i < 64 * 64; i++) {
        float sum = 0;
        for (int j = 0; j < 64; j++) sum += in[i / 64 * 64 + j] * in[j * 64 + i % 64];
        if (out[i] != (i < 60 * 64 ? sum : 0)) fail_msg("out[%d] = %g", i, (double)out[i]);
    }
    free(in);
    free(out);
}

// An index clamped by numbers from memory: a line with two ends, no gather where all threads run.
TEST(clamped_lines) {
    Fixture f = copy;
    f.width = 32, f.shape[0] = 64, f.shape[1] = f.shape[2] = 1, f.emit = "ll", f.cpu = "x86-64-v3";
    f.ir = "declare i32 @llvm.smin.i32(i32, i32)\ndeclare i32 @llvm.smax.i32(i32, i32)\n"
           "define void @k(ptr %in, ptr %out, i32 %g) {\n"
           "  %by = load i32, ptr %in\n  %pm = getelementptr i32, ptr %in, i64 1\n"
           "  %most = load i32, ptr %pm\n  %x = add i32 %g, %by\n"
           "  %low = call i32 @llvm.smax.i32(i32 %x, i32 5)\n"
           "  %at = call i32 @llvm.smin.i32(i32 %low, i32 %most)\n"
           "  %i = zext i32 %g to i64\n  %j = sext i32 %at to i64\n"
           "  %pi = getelementptr float, ptr %in, i64 %j\n"
           "  %po = getelementptr float, ptr %out, i64 %i\n"
           "  %v = load float, ptr %pi\n  store float %v, ptr %po\n  ret void\n}\n";
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    int gathers = 0; // the short code for cut threadgroups has one
    for (char *at = (char *)k.code; (at = strstr(at, "call <32 x float> @llvm.masked.gather"));
         at++)
        gathers++;
    assert_int_equal(gathers, 1);
    msl_kernel_free(&k);
}

// Rows of a window share what they load, and it does not wait on the stack for the next row.
TEST(windows_stay_in_registers) {
    enum { SIZE = 5, ROOM = 16384 };
    static const RfArg args[] = {BUFFER(0, 0), BUFFER(1, 1),
                                 BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_UINT2)};
    char *ir = malloc(ROOM), *to = ir;
    to += sprintf(to, "declare float @llvm.fmuladd.f32(float, float, float)\n"
                      "declare i32 @llvm.smin.i32(i32, i32)\ndeclare i32 @llvm.smax.i32(i32, i32)\n"
                      "define void @k(ptr %%in, ptr %%out, <2 x i32> %%g) {\n"
                      "  %%x = extractelement <2 x i32> %%g, i32 0\n"
                      "  %%y = extractelement <2 x i32> %%g, i32 1\n"
                      "  %%w = load i32, ptr %%in\n  %%ph = getelementptr i32, ptr %%in, i64 1\n"
                      "  %%h = load i32, ptr %%ph\n  %%s0 = fadd float 0.0, 0.0\n");
    for (int n = 0; n < SIZE * SIZE; n++)
        to += sprintf(to,
                      "  %%a%d = add i32 %%y, %d\n"
                      "  %%b%d = call i32 @llvm.smax.i32(i32 %%a%d, i32 0)\n"
                      "  %%c%d = call i32 @llvm.smin.i32(i32 %%b%d, i32 %%h)\n"
                      "  %%d%d = mul nsw i32 %%c%d, %%w\n  %%e%d = add i32 %%x, %d\n"
                      "  %%f%d = add nsw i32 %%d%d, %%e%d\n  %%i%d = sext i32 %%f%d to i64\n"
                      "  %%p%d = getelementptr float, ptr %%in, i64 %%i%d\n"
                      "  %%v%d = load float, ptr %%p%d\n"
                      "  %%q%d = getelementptr float, ptr %%out, i64 %d\n"
                      "  %%u%d = load float, ptr %%q%d\n  %%s%d = call float "
                      "@llvm.fmuladd.f32(float %%v%d, float %%u%d, float %%s%d)\n",
                      n, n / SIZE - 2, n, n, n, n, n, n, n, n % SIZE - 2, n, n, n, n, n, n, n, n, n,
                      n, n, n, n, n + 1, n, n, n);
    sprintf(to, "  %%r = mul i32 %%y, 1024\n  %%j = add i32 %%r, %%x\n"
                "  %%l = zext i32 %%j to i64\n  %%m = add i64 %%l, 64\n"
                "  %%po = getelementptr float, ptr %%out, i64 %%m\n"
                "  store float %%s25, ptr %%po\n  ret void\n}\n");
    Fixture f = {.args = args,
                 .n_args = 3,
                 .n_slots = 2,
                 .width = 32,
                 .shape = {32, 8, 1},
                 .emit = "asm",
                 .cpu = "x86-64-v3",
                 .ir = ir};
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    int spilt = 0;
    for (char *at = (char *)k.code; (at = strstr(at, "(%rsp), %ymm")); at++) spilt++;
    if (spilt > 60) fail_msg("%d vectors are read back from the stack", spilt);
    msl_kernel_free(&k);
    free(ir);
}

TEST(info_of_a_kernel) {
    Fixture f = copy;
    f.width = 16, f.shape[0] = 8, f.shape[1] = 4, f.shape[2] = 2;
    MslKernel k = compile_fixture(&f);
    assert_true(k.ok);
    CpuKernelInfo info;
    load_kernel(&k, &info);
    assert_int_equal(info.width, 16);
    assert_int_equal(info.n_slots, 2);
    assert_int_equal(info.shape[0] * 100 + info.shape[1] * 10 + info.shape[2], 842);
    assert_int_equal(info.flags, 0);
    assert_int_equal(info.frame_stride, 0);
    assert_int_equal(info.threadgroup_bytes, 0);
    msl_kernel_free(&k);
}

int main(void) { return unit_run(NULL, NULL); }

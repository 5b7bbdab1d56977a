// SPDX-License-Identifier: Apache-2.0
// Sums in loops: of dot products by components, loads in the order of memory; barriers; loops that
// unpack; rows that are asked for ahead.
#include "fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 96, ROUNDS = 23, ROOM = 8192 };

static const RfArg args[] = {BUFFER(0, 0), BUFFER(1, 1),
                             BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_UINT)};

// s += dot(in4[96 k + g], out4[96 (k + 1) + g]), from 0.5 on, as often as the word behind the
// results says; `free_math`: as fast mathematics has it.
static Fixture dots(char *ir, bool free_math) {
    const char *flags = free_math ? "nsz arcp contract afn" : "";
    int n = snprintf(
        ir, ROOM,
        "define void @k(ptr %%in, ptr %%out, i32 %%g) {\nentry:\n  %%i = zext i32 %%g to i64\n"
        "  %%pn = getelementptr i32, ptr %%out, i64 %d\n  %%n = load i32, ptr %%pn\n"
        "  %%rounds = sext i32 %%n to i64\n  br label %%head\nhead:\n"
        "  %%s = phi float [ 0.5, %%entry ], [ %%more, %%body ]\n"
        "  %%k = phi i64 [ 0, %%entry ], [ %%next, %%body ]\n"
        "  %%on = icmp slt i64 %%k, %%rounds\n  br i1 %%on, label %%body, label %%done\nbody:\n"
        "  %%row = mul i64 %%k, %d\n  %%at = add i64 %%row, %%i\n"
        "  %%pa = getelementptr <4 x float>, ptr %%in, i64 %%at\n"
        "  %%pb = getelementptr <4 x float>, ptr %%out, i64 %%at\n"
        "  %%pc = getelementptr <4 x float>, ptr %%pb, i64 %d\n"
        "  %%a = load <4 x float>, ptr %%pa, align 16\n"
        "  %%b = load <4 x float>, ptr %%pc, align 16\n"
        "  %%p = fmul %s <4 x float> %%a, %%b\n",
        THREADS, THREADS, THREADS, flags);
    for (int c = 0; c < 4; c++)
        n += snprintf(ir + n, (size_t)(ROOM - n),
                      "  %%e%d = extractelement <4 x float> %%p, i64 %d\n", c, c);
    snprintf(ir + n, (size_t)(ROOM - n),
             "  %%f = fadd %s float %%e0, %%e1\n  %%h = fadd %s float %%f, %%e2\n"
             "  %%d = fadd %s float %%h, %%e3\n  %%more = fadd %s float %%s, %%d\n"
             "  %%next = add i64 %%k, 1\n  br label %%head\ndone:\n"
             "  %%po = getelementptr float, ptr %%out, i64 %%i\n  store float %%s, ptr %%po\n"
             "  ret void\n}\n",
             flags, flags, flags, flags);
    return (Fixture){.args = args, .n_args = 3, .n_slots = 2, .ir = ir};
}

// Products are exact, sums are not.
static float number(int i) {
    unsigned r = (unsigned)i * 2654435761u;
    return (float)((int)(r >> 8 & 2047) - 1000) * (float)(1 << (r >> 28 & 7));
}

static void check_dots(const Way *way, void **slots) {
    const float *in = slots[0], *out = slots[1];
    for (int i = 0; i < THREADS; i++) {
        float e[4] = {0.5f};
        for (int k = 0; k < ROUNDS; k++)
            for (int c = 0; c < 4; c++)
                e[c] += in[4 * (THREADS * k + i) + c] * out[4 * (THREADS * (k + 1) + i) + c];
        float want = (e[0] + e[1]) + (e[2] + e[3]);
        if (out[i] != want)
            fail_msg("width %u, %s: out[%d] = %.9g, not %.9g", way->width,
                     way->cpu ? way->cpu : "this machine", i, (double)out[i], (double)want);
    }
}

static void reset_dots(void **slots) {
    memset(slots[1], 0, THREADS * sizeof(float));
    ((int32_t *)slots[1])[THREADS] = ROUNDS;
}

TEST(dots_by_components) {
    enum { N = 4 * THREADS * (ROUNDS + 1) };
    char *ir = malloc(ROOM);
    float *in = aligned_alloc(64, N * sizeof *in), *out = aligned_alloc(64, N * sizeof *out);
    for (int i = 0; i < N; i++) in[i] = number(i), out[i] = number(N + i);
    Fixture f = dots(ir, true);
    run_all_ways(&f, (uint32_t[]){THREADS, 1, 1}, (uint32_t[]){32, 1, 1}, (void *[]){in, out}, 0,
                 check_dots, reset_dots);
    free(in);
    free(out);
    free(ir);
}

static bool carries_vector(const Fixture *like) {
    Fixture f = *like;
    f.emit = "scalar-ll";
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    bool found = strstr((char *)k.code, "phi <4 x float>") != NULL;
    msl_kernel_free(&k);
    return found;
}

TEST(order_of_the_source_without_fast_mathematics) {
    char *ir = malloc(ROOM);
    Fixture f = dots(ir, true);
    assert_true(carries_vector(&f));
    f = dots(ir, false);
    assert_false(carries_vector(&f));
    f = dots(ir, true); // the number is asked for in the loop
    char *use = strstr(ir, "  %next");
    memmove(use + 27, use, strlen(use) + 1);
    memcpy(use, "  store float %s, ptr %out\n", 27);
    assert_false(carries_vector(&f));
    free(ir);
}

// The processor fetches ahead of a stream; it does not follow one that jumps back and forth.
TEST(streams_ascend) {
    char *ir = malloc(ROOM);
    Fixture f = dots(ir, true);
    f.width = 32, f.shape[0] = 32, f.shape[1] = f.shape[2] = 1, f.emit = "asm", f.cpu = "x86-64-v4";
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    char base[64], last_base[64] = "";
    long offset, last = 0;
    int n = 0;
    for (char *at = (char *)k.code; (at = strstr(at, "vmovups\t")); at++) {
        char *text = at + 8, *end = strchr(text, '\n');
        offset = strtol(text, &text, 10);
        bool whole = !memchr(text, '{', (size_t)(end - text)); // not of some lanes only
        if (sscanf(text, "(%63[^)]), %%zmm", base) != 1 || strstr(base, "rsp") || !whole) continue;
        if (!strcmp(base, last_base) && offset <= last && offset > last - 448) // not the next round
            fail_msg("%ld comes behind %ld at %s", offset, last, base);
        strcpy(last_base, base);
        last = offset;
        n++;
    }
    assert_true(n >= 8);
    msl_kernel_free(&k);
    free(ir);
}

// A sum that goes around two barriers has one place in the frame, and nothing copies it.
static const char waiting[] =
    "declare void @__ingot_threadgroup_barrier(i32) convergent\n"
    "define void @k(ptr %in, ptr %out, i32 %g) {\nentry:\n  %i = zext i32 %g to i64\n"
    "  %pn = getelementptr float, ptr %in, i64 1024\n  %n = load i32, ptr %pn\n"
    "  br label %body\nbody:\n  %s = phi float [ 0.5, %entry ], [ %t, %body ]\n"
    "  %k = phi i32 [ 0, %entry ], [ %next, %body ]\n"
    "  call void @__ingot_threadgroup_barrier(i32 2)\n"
    "  %x = add i32 %k, %g\n  %y = and i32 %x, 1023\n  %z = zext i32 %y to i64\n"
    "  %p = getelementptr float, ptr %in, i64 %z\n  %v = load float, ptr %p\n"
    "  %t = fadd float %s, %v\n  call void @__ingot_threadgroup_barrier(i32 2)\n"
    "  %next = add i32 %k, 1\n  %more = icmp slt i32 %next, %n\n"
    "  br i1 %more, label %body, label %done\ndone:\n"
    "  %po = getelementptr float, ptr %out, i64 %i\n  store float %t, ptr %po\n  ret void\n}\n";
static const Fixture around = {.args = args, .n_args = 3, .n_slots = 2, .ir = waiting};

static void check_around(const Way *way, void **slots) {
    const float *out = slots[1];
    for (int i = 0; i < 1024; i++) {
        float want = 0.5f;
        for (int k = 0; k < 7; k++) want += (float)((i + k) % 1024);
        if (out[i] != want)
            fail_msg("width %u: out[%d] = %g, not %g", way->width, i, (double)out[i], (double)want);
    }
}

TEST(sums_around_barriers) {
    float in[1025], out[1024];
    int32_t rounds = 7;
    for (int i = 0; i < 1024; i++) in[i] = (float)i;
    memcpy(in + 1024, &rounds, sizeof rounds);
    run_all_ways(&around, (uint32_t[]){1024, 1, 1}, (uint32_t[]){512, 1, 1}, (void *[]){in, out}, 0,
                 check_around, NULL);
    Fixture f = around;
    f.width = 32, f.shape[0] = 512, f.shape[1] = f.shape[2] = 1, f.cpu = "x86-64-v3";
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    CpuKernelInfo info;
    load_kernel(&k, &info);
    // 64 threads a step: 256 bytes of sums, and what else is saved
    if (info.frame_stride > 384) fail_msg("a frame has %u bytes", (unsigned)info.frame_stride);
    msl_kernel_free(&k);
}

// in[i * n + k] with uints, i the same for all threads: one address, not a sum and its extension.
TEST(uint_indices) {
    static const char ir[] =
        "declare float @llvm.fmuladd.f32(float, float, float)\n"
        "define void @k(ptr %in, ptr %out, i32 %g) {\nentry:\n  %i = zext i32 %g to i64\n"
        "  %n = load i32, ptr %out\n  %some = icmp sgt i32 %n, 0\n"
        "  br i1 %some, label %body, label %done\nbody:\n"
        "  %s = phi float [ 0.0, %entry ], [ %t, %body ]\n"
        "  %k = phi i32 [ 0, %entry ], [ %next, %body ]\n"
        "  %row = mul i32 %n, 3\n  %at = add i32 %row, %k\n  %j = zext i32 %at to i64\n"
        "  %p = getelementptr float, ptr %in, i64 %j\n  %v = load float, ptr %p\n"
        "  %l = mul i32 %k, 64\n  %m = add i32 %l, %g\n  %o = zext i32 %m to i64\n"
        "  %q = getelementptr float, ptr %in, i64 %o\n  %w = load float, ptr %q\n"
        "  %t = call float @llvm.fmuladd.f32(float %v, float %w, float %s)\n"
        "  %next = add nsw i32 %k, 1\n  %more = icmp slt i32 %next, %n\n"
        "  br i1 %more, label %body, label %done\ndone:\n"
        "  %r = phi float [ 0.0, %entry ], [ %t, %body ]\n"
        "  %po = getelementptr float, ptr %out, i64 %i\n  store float %r, ptr %po\n"
        "  ret void\n}\n";
    Fixture f = {.args = args, .n_args = 3, .n_slots = 2, .ir = ir, .emit = "asm", .width = 32};
    f.shape[0] = 64, f.shape[1] = f.shape[2] = 1, f.cpu = "x86-64-v3";
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    char *at = strstr((char *)k.code, "vfmadd231ps");
    assert_non_null(at);
    while (at[-1] != ':') at--; // the loop's label
    int sums = 0;
    for (char *end = strstr(at, "\tj"); (at = strstr(at, "\n\t")) && at < end; at++)
        sums += !strncmp(at + 2, "leal", 4) || !strncmp(at + 2, "movl", 4);
    if (sums) fail_msg("%d sums of words in the loop", sums);
    msl_kernel_free(&k);
}

// Sixteen weights of a block into variables of the thread: all places are known, none is in memory.
TEST(loops_that_unpack) {
    static const char ir[] =
        "declare float @llvm.fmuladd.f32(float, float, float)\n"
        "define void @k(ptr %in, ptr %out, i32 %g) {\nentry:\n  %v = alloca [16 x half], align 8\n"
        "  %i = zext i32 %g to i64\n  %o = mul i64 %i, 144\n"
        "  %p = getelementptr i8, ptr %in, i64 %o\n  %l = load float, ptr %p\n"
        "  %odd = and i32 %g, 1\n  %low = icmp eq i32 %odd, 0\n"
        "  %mask = select i1 %low, i32 15, i32 240\n  br label %body\nbody:\n"
        "  %k = phi i32 [ 0, %entry ], [ %next, %body ]\n  %j = zext i32 %k to i64\n"
        "  %q = getelementptr i8, ptr %p, i64 %j\n  %b = load i8, ptr %q\n"
        "  %w = zext i8 %b to i32\n  %m = and i32 %w, %mask\n  %f = uitofp i32 %m to float\n"
        "  %s = call float @llvm.fmuladd.f32(float %f, float %l, float %l)\n"
        "  %t = fmul float %s, %l\n  %u = fadd float %t, %f\n  %y = fmul float %u, %f\n"
        "  %h = fptrunc float %y to half\n  %d = sdiv i32 %k, 4\n  %r = srem i32 %k, 4\n"
        "  %d4 = mul i32 %d, 4\n  %place = add i32 %d4, %r\n  %x = zext i32 %place to i64\n"
        "  %to = getelementptr half, ptr %v, i64 %x\n  store half %h, ptr %to\n"
        "  %next = add i32 %k, 1\n  %more = icmp slt i32 %next, 16\n"
        "  br i1 %more, label %body, label %done\ndone:\n"
        "  %first = load half, ptr %v\n  %pl = getelementptr half, ptr %v, i64 15\n"
        "  %last = load half, ptr %pl\n  %sum = fadd half %first, %last\n"
        "  %po = getelementptr half, ptr %out, i64 %i\n  store half %sum, ptr %po\n"
        "  ret void\n}\n";
    Fixture f = {
        .args = args, .n_args = 3, .n_slots = 2, .ir = ir, .emit = "scalar-ll", .width = 32};
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    assert_null(strstr((char *)k.code, "alloca"));
    msl_kernel_free(&k);
}

// A tile's loop: each thread adds up its row, `step` times four floats further with every round.
static const char tile[] =
    "declare void @__ingot_threadgroup_barrier(i32) convergent\n"
    "define void @k(ptr %%in, ptr %%out, i32 %%g) {\nentry:\n  %%i = zext i32 %%g to i64\n"
    "  %%n = load i32, ptr %%out\n  %%row = mul i64 %%i, 256\n"
    "  %%first = getelementptr <4 x float>, ptr %%in, i64 %%row\n  br label %%body\nbody:\n"
    "  %%s = phi <4 x float> [ zeroinitializer, %%entry ], [ %%t, %%on ]\n"
    "  %%k = phi i32 [ 0, %%entry ], [ %%next, %%on ]\n"
    "  %%p = phi ptr [ %%first, %%entry ], [ %%more, %%on ]\n"
    "  %%odd = and i32 %%k, 1\n  %%is = icmp eq i32 %%odd, 0\n"
    "  br i1 %%is, label %%way, label %%on\nway:\n  %%by = load i64, ptr %%out\n"
    "  %%k64 = zext i32 %%k to i64\n  %%far = mul i64 %%k64, %%by\n"
    "  %%q = getelementptr float, ptr %%p, i64 %%far\n  br label %%on\non:\n"
    "  %%at = phi ptr [ %%p, %%body ], [ %%q, %%way ]\n"
    "  %%u = load <4 x float>, ptr %%at, align 4\n  %%v = load <4 x float>, ptr %%p, align 4\n"
    "  %%w = fadd <4 x float> %%u, %%v\n  call void @__ingot_threadgroup_barrier(i32 2)\n"
    "  %%t = fadd <4 x float> %%s, %%w\n  call void @__ingot_threadgroup_barrier(i32 2)\n"
    "  %%more = getelementptr <4 x float>, ptr %%p, i64 %d\n  %%next = add i32 %%k, 1\n"
    "  %%again = icmp slt i32 %%next, %%n\n  br i1 %%again, label %%body, label %%done\ndone:\n"
    "  %%po = getelementptr <4 x float>, ptr %%out, i64 %%i\n  store <4 x float> %%t, ptr %%po\n"
    "  ret void\n}\n";

static int count_ahead(int step) {
    char ir[sizeof tile + 16];
    snprintf(ir, sizeof ir, tile, step);
    Fixture f = {.args = args, .n_args = 3, .n_slots = 2, .ir = ir, .emit = "asm", .width = 32};
    f.shape[0] = 128, f.shape[1] = f.shape[2] = 1, f.cpu = "x86-64-v3";
    MslKernel k = compile_fixture(&f);
    if (!k.ok) fail_msg("%s", k.error);
    int n = 0;
    for (char *at = (char *)k.code; (at = strstr(at, "prefetcht1\t")); at++) n++;
    msl_kernel_free(&k);
    return n;
}

// More rows than the processor follows by itself: the next round's lines are asked for.
TEST(rows_ahead) {
    assert_true(count_ahead(4) >= 32);
    assert_int_equal(count_ahead(0), 0);
}

int main(void) { return unit_run(NULL, NULL); }

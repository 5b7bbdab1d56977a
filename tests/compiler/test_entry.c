// SPDX-License-Identifier: Apache-2.0
// Parameters of an entry point reach the kernel in every form Clang gives them.
#include "fixture.h"
#include <string.h>

enum { W = 19, H = 7, N = W * H };
static float a[N], b[N];
static const uint32_t grid[3] = {W, H, 1}, group[3] = {8, 4, 1};

static void reset(void **slots) {
    (void)slots;
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = -1;
}

static void check_double(const Way *way, void **slots) {
    (void)slots;
    for (int i = 0; i < N; i++)
        if (b[i] != 2 * (float)i)
            fail_msg("width %u %s: b[%d] = %g", way->width, way->cpu ? way->cpu : "", i,
                     (double)b[i]);
}

#define BODY                                                                                       \
    "  %row = mul i32 %y, 19\n  %i32 = add i32 %row, %x\n  %i = zext i32 %i32 to i64\n"            \
    "  %pa = getelementptr float, ptr %a, i64 %i\n  %pb = getelementptr float, ptr %b, i64 %i\n"   \
    "  %v = load float, ptr %pa\n  %d = fadd float %v, %v\n  store float %d, ptr %pb\n  ret "      \
    "void\n}\n"

static void expect_double(const RfArg *args, uint32_t n_args, const char *ir) {
    Fixture f = {.args = args, .n_args = n_args, .n_slots = 2, .ir = ir};
    run_all_ways(&f, grid, group, (void *[]){a, b}, 0, check_double, reset);
}

TEST(vector_class_by_hidden_pointer) {
    static const RfArg args[] = {BUFFER(0, 0), BUFFER(1, 1),
                                 BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_UINT2)};
    expect_double(args, 3,
                  "%v2 = type { <2 x i32> }\n"
                  "define void @k(ptr %a, ptr %b, ptr byval(%v2) align 8 %g) {\n"
                  "  %x = load i32, ptr %g\n  %py = getelementptr i8, ptr %g, i64 4\n  %y = "
                  "load i32, ptr %py\n" BODY);
}

TEST(short_vector_by_value) {
    static const RfArg args[] = {BUFFER(0, 0), BUFFER(1, 1),
                                 BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_USHORT3)};
    expect_double(args, 3,
                  "define void @k(ptr %a, ptr %b, <3 x i16> %g) {\n"
                  "  %x16 = extractelement <3 x i16> %g, i32 0\n  %y16 = extractelement <3 x "
                  "i16> %g, i32 1\n"
                  "  %x = zext i16 %x16 to i32\n  %y = zext i16 %y16 to i32\n" BODY);
}

TEST(scalars_of_three_attributes) {
    // x from the position in the grid; y from position in the group and group position
    static const RfArg args[] = {BUFFER(0, 0),
                                 BUFFER(1, 1),
                                 BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_UINT),
                                 BUILTIN(3, RF_THREAD_POSITION_IN_THREADGROUP, TY_UINT2),
                                 BUILTIN(4, RF_THREADGROUP_POSITION_IN_GRID, TY_USHORT2),
                                 BUILTIN(5, RF_DISPATCH_THREADS_PER_THREADGROUP, TY_UINT3)};
    expect_double(
        args, 6,
        "define void @k(ptr %a, ptr %b, i32 %x, <2 x i32> %l, <2 x i16> %t, <3 x i32> %s) {\n"
        "  %ly = extractelement <2 x i32> %l, i32 1\n  %ty16 = extractelement <2 x i16> %t, "
        "i32 1\n"
        "  %ty = zext i16 %ty16 to i32\n  %sy = extractelement <3 x i32> %s, i32 1\n"
        "  %m = mul i32 %ty, %sy\n  %y = add i32 %m, %ly\n" BODY);
}

TEST(array_of_pointers) {
    static const RfArg args[] = {BINDING("both", RF_ARG_BUFFER, RF_DEVICE, 0, 3, 2, 0, TY_FLOAT),
                                 BUILTIN(1, RF_THREAD_POSITION_IN_GRID, TY_UINT2)};
    expect_double(args, 2,
                  "define void @k(ptr byval([2 x ptr]) align 8 %both, <2 x i32> %g) {\n"
                  "  %a = load ptr, ptr %both\n  %p1 = getelementptr ptr, ptr %both, i64 1\n  "
                  "%b = load ptr, ptr %p1\n"
                  "  %x = extractelement <2 x i32> %g, i32 0\n  %y = extractelement <2 x i32> "
                  "%g, i32 1\n" BODY);
}

// Threads write to static and dynamic threadgroup memory and read their neighbour's entry.
static uint32_t out[N];
static void check_neighbours(const Way *way, void **slots) {
    (void)slots;
    for (uint32_t i = 0; i < 128; i++) {
        uint32_t other = i / 64 * 64 + (i + 1) % 64;
        if (out[i] != other * 3 + other * 1000)
            fail_msg("width %u: out[%u] = %u", way->width, i, out[i]);
    }
}

TEST(threadgroup_memory) {
    static const RfArg args[] = {
        BUFFER(0, 0), BINDING("dynamic", RF_ARG_THREADGROUP, RF_THREADGROUP, 1, 0, 1, 1, TY_UINT),
        BUILTIN(2, RF_THREAD_POSITION_IN_GRID, TY_UINT),
        BUILTIN(3, RF_THREAD_INDEX_IN_THREADGROUP, TY_UINT)};
    Fixture f = {.args = args,
                 .n_args = 4,
                 .n_slots = 2,
                 .ir =
                     "declare ptr @_Z10__ingot_tgILm256ELm4EZ1kE1aEPvv()\ndeclare ptr "
                     "@_Z10__ingot_tgILm8ELm64EZ1kE1bEPvv()\n"
                     "declare void @__ingot_threadgroup_barrier(i32) convergent\n"
                     "define void @k(ptr %out, ptr %dyn, i32 %g, i32 %l) {\n"
                     "  %s = call ptr @_Z10__ingot_tgILm256ELm4EZ1kE1aEPvv()\n  %u = call ptr "
                     "@_Z10__ingot_tgILm8ELm64EZ1kE1bEPvv()\n"
                     "  %l64 = zext i32 %l to i64\n  %ps = getelementptr i32, ptr %s, i64 %l64\n  "
                     "%pd = getelementptr i32, ptr %dyn, i64 %l64\n"
                     "  %v3 = mul i32 %g, 3\n  store i32 %v3, ptr %ps\n  %v1000 = mul i32 %g, "
                     "1000\n  store i32 %v1000, ptr %pd\n"
                     "  store i32 %g, ptr %u\n"
                     "  call void @__ingot_threadgroup_barrier(i32 2)\n"
                     "  %n0 = add i32 %l, 1\n  %n = and i32 %n0, 63\n  %n64 = zext i32 %n to i64\n"
                     "  %qs = getelementptr i32, ptr %s, i64 %n64\n  %qd = getelementptr i32, ptr "
                     "%dyn, i64 %n64\n"
                     "  %x = load i32, ptr %qs\n  %y = load i32, ptr %qd\n  %z = add i32 %x, %y\n"
                     "  %g64 = zext i32 %g to i64\n  %po = getelementptr i32, ptr %out, i64 %g64\n "
                     " store i32 %z, ptr %po\n  ret void\n}\n"};
    // 256 bytes, then 8 at the next multiple of 64: 264, rounded to 272; the dynamic part follows
    run_all_ways(&f, (uint32_t[]){128, 1, 1}, (uint32_t[]){64, 1, 1}, (void *[]){out, (void *)272},
                 256, check_neighbours, NULL);
}

int main(void) { return unit_run(NULL, NULL); }

// SPDX-License-Identifier: Apache-2.0
// Function constants: values, types, unset ones, derived ones, conditional arguments.
#include "fixture.h"
#include <string.h>

static float out[64];
static const uint32_t grid[3] = {64, 1, 1}, group[3] = {32, 1, 1};
static const RfArg args[] = {BUFFER(0, 0), BUILTIN(1, RF_THREAD_POSITION_IN_GRID, TY_UINT)};
static const RfConstant constants[] = {
    {.name = (char *)"scale", .symbol = (char *)"scale", .index = 3, .type = TY_FLOAT},
    {.name = (char *)"on", .symbol = (char *)"on", .index = 5, .type = TY_BOOL}};

#define STORE                                                                                      \
    "  %g64 = zext i32 %g to i64\n  %p = getelementptr float, ptr %out, i64 %g64\n"                \
    "  store float %v, ptr %p\n  ret void\n}\n"
#define PLAIN                                                                                      \
    "@scale = external constant float\n@on = external constant i8\n"                               \
    "define void @k(ptr %out, i32 %g) {\n  %v = load float, ptr @scale\n" STORE

static Fixture fixture(const char *ir, const MslConstantValue *values, size_t n) {
    return (Fixture){.ir = ir,
                     .args = args,
                     .n_args = 2,
                     .n_slots = 1,
                     .constants = constants,
                     .n_constants = 2,
                     .values = values,
                     .n_values = n,
                     .width = 1};
}

static void computes(const Fixture *f, float v) {
    memset(out, 0, sizeof out);
    run_fixture(f, grid, group, (void *[]){out}, 0);
    for (int i = 0; i < 64; i++) assert_true(out[i] == v);
}

static const float two = 2.5f;
static const uint8_t yes = 1, no = 0;

TEST(by_index_and_by_name) {
    MslConstantValue by_index = {.index = 3, .data_type = 3, .data = &two, .n_bytes = 4};
    MslConstantValue by_name = {.name = "scale", .data_type = 3, .data = &two, .n_bytes = 4};
    Fixture f = fixture(PLAIN, &by_index, 1);
    computes(&f, 2.5f);
    f = fixture(PLAIN, &by_name, 1);
    computes(&f, 2.5f);
}

TEST(unset_and_used) {
    Fixture f = fixture(PLAIN, NULL, 0);
    expect_error(&f, "function constant 'scale' (index 3) is not set");
}

TEST(left_out) {
    MslConstantValue other = {.index = 5, .data_type = 53, .data = &yes, .n_bytes = 1};
    Fixture f = fixture(PLAIN, &other, 1);
    computes(&f, 0);
}

TEST(wrong_type) {
    uint32_t i = 1;
    MslConstantValue v = {.index = 3, .data_type = 33, .data = &i, .n_bytes = 4};
    Fixture f = fixture(PLAIN, &v, 1);
    expect_error(&f, "function constant 'scale' (index 3) is of type float");
    MslConstantValue small = {.index = 3, .data_type = 3, .data = &i, .n_bytes = 8};
    f = fixture(PLAIN, &small, 1);
    expect_error(&f, "8 bytes given");
}

#define GUARDED                                                                                    \
    "@scale = external constant float\n@on = external constant i8\n"                               \
    "declare i64 @__ingot_fc_defined(ptr)\n"                                                       \
    "define void @k(ptr %out, i32 %g) {\n  %d = call i64 @__ingot_fc_defined(ptr @scale)\n"        \
    "  %c = icmp ne i64 %d, 0\n  br i1 %c, label %set, label %go\n"                                \
    "set:\n  %s = load float, ptr @scale\n  br label %go\n"                                        \
    "go:\n  %v = phi float [ %s, %set ], [ 7.0, %0 ]\n" STORE

TEST(guarded_by_is_defined) {
    Fixture f = fixture(GUARDED, NULL, 0);
    computes(&f, 7);
    MslConstantValue v = {.index = 3, .data_type = 3, .data = &two, .n_bytes = 4};
    f = fixture(GUARDED, &v, 1);
    computes(&f, 2.5f);
}

// constant float doubled = scale * 2; constant float unused = on ? 1 : 0; as Clang initialises them
#define DERIVED                                                                                    \
    "@scale = external constant float\n@on = external constant i8\n"                               \
    "@doubled = internal global float 0.0\n@other = internal global float 0.0\n"                   \
    "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 "      \
    "65535, ptr @init, ptr null }]\n"                                                              \
    "define internal void @init1() {\n  %b = load i8, ptr @on\n  %f = uitofp i8 %b to float\n  "   \
    "store float %f, ptr @other\n  ret void\n}\n"                                                  \
    "define internal void @init2() {\n  %b = load float, ptr @scale\n  %f = fadd float %b, %b\n  " \
    "store float %f, ptr @doubled\n  ret void\n}\n"                                                \
    "define internal void @init() {\n  call void @init1()\n  call void @init2()\n  ret void\n}\n"  \
    "define void @k(ptr %out, i32 %g) {\n  %v = load float, ptr @doubled\n" STORE

TEST(derived_constants) {
    MslConstantValue v = {.index = 3, .data_type = 3, .data = &two, .n_bytes = 4};
    Fixture f =
        fixture(DERIVED, &v, 1); // `other` depends on an unset constant, but nobody needs it
    computes(&f, 5);
    f = fixture(DERIVED, NULL, 0);
    expect_error(&f, "not set");
}

TEST(conditional_argument) {
    static RfArg two_args[] = {BUFFER(0, 0), BUILTIN(1, RF_THREAD_POSITION_IN_GRID, TY_UINT),
                               BUFFER(2, 1)};
    two_args[2].condition = (char *)"on";
    Fixture f = {.args = two_args,
                 .n_args = 3,
                 .n_slots = 2,
                 .constants = constants,
                 .n_constants = 2,
                 .width = 1,
                 .ir = "@on = external constant i8\n"
                       "define void @k(ptr %out, i32 %g, ptr %extra) {\n  %b = load i8, ptr @on\n  "
                       "%c = icmp ne i8 %b, 0\n"
                       "  br i1 %c, label %set, label %go\nset:\n  %s = load float, ptr %extra\n  "
                       "br label %go\n"
                       "go:\n  %v = phi float [ %s, %set ], [ 7.0, %0 ]\n" STORE};
    float extra = 9;
    MslConstantValue v = {.name = "on", .data_type = 53, .data = &yes, .n_bytes = 1};
    f.values = &v, f.n_values = 1;
    run_fixture(&f, grid, group, (void *[]){out, &extra}, 0);
    assert_true(out[63] == 9);
    v.data = &no;
    run_fixture(&f, grid, group, (void *[]){out, NULL}, 0);
    assert_true(out[63] == 7);
}

int main(void) { return unit_run(NULL, NULL); }

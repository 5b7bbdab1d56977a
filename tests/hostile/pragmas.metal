// Pragmas that place code and data, mark declarations, or end the compiler.
#include <metal_stdlib>
using namespace metal;
// ====
#pragma clang section bss = ".init_array" data = ".init_array" rodata = ".init_array" text = ".init" // expect-error: '#pragma clang section' is not supported in Metal
constant ulong start[] = {1};
// ====
_Pragma("clang section rodata = \".init_array\"") constant ulong start[] = {1}; // expect-error: '#pragma clang section' is not supported
// ====
#define PLACE(x) _Pragma(#x)
PLACE(clang section rodata = ".init_array") constant ulong start[] = {1}; // expect-error: '#pragma clang section' is not supported
// ====
  #  pragma \
clang/**/section rodata = ".init_array"
constant ulong start[] = {1};
// expect-error@13: '#pragma clang section' is not supported
// ====
#pragma clang attribute push(__attribute__((constructor)), apply_to = function) // expect-error: '#pragma clang attribute' is not supported
void f() {}
#pragma clang attribute pop // expect-error: '#pragma clang attribute' is not supported
// ====
#pragma weak f = g // expect-error: '#pragma weak f' is not supported
// ====
#pragma redefine_extname f system // expect-error: '#pragma redefine_extname f' is not supported
// ====
#pragma GCC visibility push(default) // expect-error: '#pragma GCC visibility' is not supported
// ====
#pragma clang __debug crash // expect-error: '#pragma clang __debug' is not supported
// ====
#pragma clang __debug llvm_fatal_error // expect-error: '#pragma clang __debug' is not supported
// ====
#pragma clang __debug overflow_stack // expect-error: '#pragma clang __debug' is not supported
// ====
#pragma clang __debug parser_crash // expect-error: '#pragma clang __debug' is not supported
// ====
#pragma clang module import std // expect-error: '#pragma clang module' is not supported
// ====
#pragma GCC system_header // expect-error: '#pragma GCC system_header' is not supported
// ====
#pragma clang system_header // expect-error: '#pragma clang system_header' is not supported
// ====
#pragma OPENCL EXTENSION all : enable // expect-error: '#pragma OPENCL EXTENSION' is not supported
// ====
#pragma comment(lib, "c") // expect-error: '#pragma comment' is not supported
// ====
#pragma init_seg(".init_array") // expect-error: '#pragma init_seg' is not supported
// ==== allowed
#pragma once // expect-warning: #pragma once in main file
#pragma mark - don't
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-variable"
#pragma METAL fp math_mode(safe)
#pragma nobody knows this one's meaning
#pragma pack(push, 1)
struct S { char a; int b; };
#pragma pack(pop)
#define UNROLL _Pragma("clang loop unroll(full)")
#define N 4
kernel void k(device float *a) {
    int unused = 1;
    UNROLL for (int i = 0; i < 4; i++) a[i] = sizeof(S);
#pragma unroll
    for (int i = 0; i < 4; i++) a[i] += 1;
#pragma unroll N
    for (int i = 0; i < 4; i++) a[i] += 1;
#pragma clang loop unroll_count(N)
    for (int i = 0; i < 4; i++) a[i] += 1;
}
#pragma clang diagnostic pop
static_assert(sizeof(S) == 5);

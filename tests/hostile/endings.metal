// Sources that ended the compiler once, found by tests/fuzz/source_fuzz.py: they get an error like any other.
// ====
[[ sampler ]] // expect-error: expected unqualified-id
// ====
[[ threadgroup ]] // expect-error: expected unqualified-id
// ====
using ; [[ sampler ( ]] // expect-error: expected
// ====
template <typename T, T... I> struct S {};
using X = __make_integer_seq<S, int, 2000000000>; // expect-error: '__make_integer_seq' is not supported in Metal
// ====
#include <metal_stdlib>
using namespace metal;
using X = make_index_sequence<4294967296>; // expect-error: a sequence has no more than 65536 numbers
// ====
#include <metal_stdlib>
using namespace metal;
using X = make_integer_sequence<int, -1>; // expect-error: a sequence has no more than 65536 numbers
// ====
struct A {};
struct B : A {};
kernel void k(device B *p [[buffer(0)]], B b [[stage_in]]) { p[0] = b; } // expect-error: the stage_in structure of kernel 'k' has no members
// ====
kernel void k(device int *p) { int (^b)(void) = ^{ return 3; }; p[0] = b(); } // expect-error: a block is not supported in Metal
// ====
#include <metal_stdlib>
using namespace metal;
kernel void k(device int *o [[buffer(0)]]) { array<sampler, 0x7fffffff> s; o[0] = 1; } // expect-error: an array has at most 1000000 samplers

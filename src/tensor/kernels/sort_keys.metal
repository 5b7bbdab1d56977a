// SPDX-License-Identifier: Apache-2.0
// sort_keys.metal: unsigned numbers in the order that is wanted (sort.c).
//
// Macros: ELEMENT=half,float,bfloat,char,short,int,uchar KEY=uint
// Macros: ELEMENT=long KEY=ulong
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

inline uint order(float x) {
    uint u = as_type<uint>(x == 0 ? 0.0f : x); // -0 is 0
    return isnan(x) ? 0xFFFFFFFFu : u >> 31 ? ~u : u | 0x80000000u;
}

// 16 bits of it say everything; a half has as many after a shift of its exponent.
inline uint key(float x) { return order(x); }
inline uint key(bfloat x) { return order(float(x)) >> 16; }
inline uint key(half x) {
    uint u = as_type<ushort>(x == half(0) ? half(0) : x);
    return isnan(x) ? 0xFFFFu : u >> 15 ? u ^ 0xFFFFu : u | 0x8000u;
}

inline uint key(char x) { return uint(int(x) + 128); }
inline uint key(uchar x) { return x; }
inline uint key(short x) { return uint(int(x) + 32768); }
inline uint key(int x) { return uint(x) ^ 0x80000000u; }
inline ulong key(long x) { return ulong(x) ^ (1ul << 63); }
// p: xor, as two words
kernel void keys(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device KEY *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    y[i] = key(x[i]) ^ KEY(as_type<ulong>(int2(p[0], p[1])));
}

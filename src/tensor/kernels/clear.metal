// SPDX-License-Identifier: Apache-2.0
// clear.metal: zeros, for kernels that do not write everything (work.c).
//
// Macros: ELEMENT=half,float,bfloat,char,short,int,long,uchar
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

kernel void clear(constant int *p [[buffer(0)]], device T *y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = T(0);
}

// SPDX-License-Identifier: Apache-2.0
// NaNs that are made of numbers (MTL_SHADER_VALIDATION=races,nan).
#include <metal_stdlib>
using namespace metal;

// run grid 32 group 32 fill 1=0.0
kernel void zero_by_zero(device float *out [[buffer(0)]], device const float *x [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
    out[i] = x[i] / x[i + 1]; //! nan
}
// run grid 32 group 32 fill 1=2.0
kernel void two_by_two(device float *out [[buffer(0)]], device const float *x [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
    out[i] = x[i] / x[i + 1];
}
// run grid 32 group 32 fill 1=-2.0
kernel void root(device float *out [[buffer(0)]], device const float *x [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    out[i] = sqrt(x[i]); //! nan
}
// run grid 32 group 32 fill 1=2143289344
kernel void was_one_before(device float *out [[buffer(0)]], device const float *x [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
    out[i] = x[i] * 2 + 1;
}

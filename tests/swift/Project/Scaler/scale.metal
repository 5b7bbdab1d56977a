// SPDX-License-Identifier: Apache-2.0
kernel void scale(device float *a [[buffer(0)]], constant float &by [[buffer(1)]], uint i [[thread_position_in_grid]]) { a[i] *= by; }

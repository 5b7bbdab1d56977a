// SPDX-License-Identifier: Apache-2.0
// SIMD-group functions whose value Metal leaves open, and arguments that must be uniform.
#include <metal_stdlib>
using namespace metal;

// run grid 32 group 32
kernel void shuffle_inactive(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    if (l < 16) out[l] = simd_shuffle(l, (ushort)(l + 16)); //! inactive
}
// run grid 32 group 32
kernel void shuffle_active(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    if (l < 16) out[l] = simd_shuffle(l, (ushort)(15 - l));
}
// run grid 32 group 32
kernel void shuffle_nowhere(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle(l, (ushort)(l + 8)); //! inactive
}
// run grid 20 group 32
kernel void shuffle_past_the_end(device uint *out [[buffer(0)]],
                                 uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle(l, (ushort)(l ^ 16)); //! inactive
}
// run grid 32 group 32
kernel void shuffle_anywhere(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle(l, (ushort)(l * 7 % 32));
}
// run grid 32 group 32
kernel void broadcast_varies(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_broadcast(l, (ushort)(l / 16)); //! uniform
}
// run grid 32 group 32
kernel void broadcast(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_broadcast(l, (ushort)3);
}
// run grid 32 group 32
kernel void broadcast_inactive(device uint *out [[buffer(0)]],
                               uint l [[thread_index_in_simdgroup]]) {
    if (l > 5) out[l] = simd_broadcast(l * 3, (ushort)3); //! inactive
}
// run grid 32 group 32
kernel void broadcast_first(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    if (l > 5) out[l] = simd_broadcast_first(l * 3);
}
// run grid 32 group 32
kernel void up_varies(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_up(l, (ushort)(l % 3)); //! uniform
}
// run grid 32 group 32
kernel void up(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_up(l, (ushort)5);
}
// run grid 32 group 32
kernel void down_inactive(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    if (l % 2 == 0) out[l] = simd_shuffle_down(l, (ushort)1); //! inactive
}
// run grid 32 group 32
kernel void down(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    uint v = l;
    for (ushort n = 16; n > 0; n /= 2) v += simd_shuffle_down(v, n);
    out[l] = v;
}
// run grid 32 group 32
kernel void xor_varies(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_xor(l, (ushort)(l < 16 ? 1 : 2)); //! uniform
}
// run grid 32 group 32
kernel void butterfly(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    uint v = l;
    for (ushort n = 1; n < 32; n *= 2) v += simd_shuffle_xor(v, n);
    out[l] = v;
}
// run grid 32 group 32
kernel void butterfly_cut(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    uint v = l;
    if (l < 24) v += simd_shuffle_xor(v, (ushort)16); //! inactive
    out[l] = v;
}
// run grid 32 group 32
kernel void rotate_varies(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_rotate_up(l, (ushort)(l / 8)); //! uniform
}
// run grid 32 group 32
kernel void rotate(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_rotate_down(l, (ushort)11);
}
// run grid 24 group 32
kernel void rotate_cut(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_rotate_down(l, (ushort)11); //! inactive
}
// run grid 32 group 32
kernel void quad_inactive(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    if (l % 4 != 2) out[l] = quad_broadcast(l, (ushort)2); //! inactive
}
// run grid 32 group 32
kernel void quad(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    if (l / 4 != 2) out[l] = quad_broadcast(l, (ushort)2);
}
// run grid 32 group 32
kernel void quad_each_its_own(device uint *out [[buffer(0)]],
                              uint l [[thread_index_in_simdgroup]]) {
    out[l] = quad_broadcast(l, (ushort)(l / 4 % 4));
}
// run grid 32 group 32
kernel void quad_varies(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = quad_shuffle_xor(l, (ushort)(l % 4 / 2 + 1)); //! uniform
}
// run grid 32 group 32
kernel void sums_of_some(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    if (l % 3) out[l] = simd_sum(l) + simd_prefix_exclusive_sum(l) + (uint)(ulong)simd_ballot(l > 4);
}
// run grid 32 group 32
kernel void matrix_of_some(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                           uint l [[thread_index_in_simdgroup]]) {
    simdgroup_float8x8 a, b, c = simdgroup_float8x8(0);
    simdgroup_load(a, in, 8);
    simdgroup_load(b, in + 64, 8);
    if (l < 16) simdgroup_multiply(c, a, b); //! partial
    simdgroup_store(c, out, 8);
}
// run grid 32 group 32
kernel void matrix(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    simdgroup_float8x8 a, b, c;
    simdgroup_load(a, in, 8);
    simdgroup_load(b, in + 64, 8);
    simdgroup_multiply(c, a, b);
    simdgroup_store(c, out, 8);
}
// run grid 64 group 64
kernel void matrix_twice(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    simdgroup_float8x8 a;
    simdgroup_load(a, in, 8);
    simdgroup_store(a, out, 8); //! race a
}
// run grid 32 group 32
kernel void in_a_loop(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    for (uint k = 0; k < l; k++) out[l] += simd_shuffle(k, (ushort)0); //! inactive
}
// run grid 32 group 32
kernel void fill(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_and_fill_up(l, 100 + l, (ushort)4);
}
// run grid 32 group 32
kernel void fill_varies(device uint *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
    out[l] = simd_shuffle_and_fill_up(l, 100 + l, (ushort)(l / 16)); //! uniform
}

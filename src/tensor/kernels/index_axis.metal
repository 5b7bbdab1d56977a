// SPDX-License-Identifier: Apache-2.0
// index_axis.metal: elements by position along an axis (index_axis.c). x is (outer, n, inner), the
// index and what it names (outer, k, inner). ELEMENT: for "take_axis", which copies bits, an unsigned
// type as large as an element; for "add_axis" the type itself.
//
// Macros: ELEMENT=uchar,ushort,uint,ulong INDEX=int,long
// Macros: ELEMENT=float INDEX=int,long
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// Is one of the indices below 0, or n or more? Each thread says it of its own; a threadgroup is a
// SIMD-group. p: how many indices, how many of a threadgroup, n
kernel void outside(constant int *p [[buffer(0)]], device const INDEX *index [[buffer(1)]],
                    device uint *seen [[buffer(2)]], uint group [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_threadgroup]]) {
    const int first = int(group) * p[1], end = min(first + p[1], p[0]);
    const INDEX n = p[2];
    uint any = 0;
    for (int i = first + int(lane); i < end; i += 32) any |= uint(index[i] < 0) | uint(index[i] >= n);
    seen[group * 32 + lane] = any;
}

// A line is inner or, where that is 1, k elements long.
// p: length of a line, lines of an outer element, n * inner, inner
kernel void take_axis(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                      device const INDEX *index [[buffer(2)]], device T *y [[buffer(3)]],
                      uint2 at [[thread_position_in_grid]]) {
    const int line = int(at.y), i = int(at.x), e = line * p[0] + i;
    y[e] = x[line / p[1] * p[2] + int(index[e]) * p[3] + (p[3] > 1 ? i : 0)];
}

// The same from many rows that lie apart: 32 columns of them lie together while they are read. At
// the distance of rows they would share a few sets of the caches, and a page each.
// p: n, k, inner; near: (outer, inner / 32, n, 32)
kernel void take_axis_near(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                           device const INDEX *index [[buffer(2)]], device T *y [[buffer(3)]],
                           device T *near [[buffer(4)]],
                           uint2 group [[threadgroup_position_in_grid]],
                           uint2 groups [[threadgroups_per_grid]],
                           uint lane [[thread_index_in_threadgroup]]) {
    const int n = p[0], k = p[1], inner = p[2], column = int(group.x) * 32 + int(lane);
    if (column >= inner) return;
    const int first = int(group.y) * n * inner + column, to = int(group.y) * k * inner + column;
    device T *mine = near + int(group.y * groups.x + group.x) * n * 32 + int(lane);
    for (int r = 0; r < n; r++) mine[r * 32] = x[first + r * inner];
    for (int j = 0; j < k; j++) y[to + j * inner] = mine[int(index[to + j * inner]) * 32];
}

// x, and for each position of the other axes what the index sends there, one after the other.
// p: n, k, inner
kernel void add_axis(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                     device const INDEX *index [[buffer(2)]], device const T *source [[buffer(3)]],
                     device T *y [[buffer(4)]], uint2 at [[thread_position_in_grid]]) {
    const int n = p[0], k = p[1], inner = p[2];
    const int first = int(at.y) * n * inner + int(at.x), from = int(at.y) * k * inner + int(at.x);
    for (int r = 0; r < n; r++) y[first + r * inner] = x[first + r * inner];
    for (int j = 0; j < k; j++) {
        const int e = from + j * inner;
        y[first + int(index[e]) * inner] += source[e];
    }
}

// The same for many rows, as in take_axis_near.
// p: n, k, inner; near: (outer, inner / 32, n, 32)
kernel void add_axis_near(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                          device const INDEX *index [[buffer(2)]],
                          device const T *source [[buffer(3)]], device T *y [[buffer(4)]],
                          device T *near [[buffer(5)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint2 groups [[threadgroups_per_grid]],
                          uint lane [[thread_index_in_threadgroup]]) {
    const int n = p[0], k = p[1], inner = p[2], column = int(group.x) * 32 + int(lane);
    if (column >= inner) return;
    const int first = int(group.y) * n * inner + column, from = int(group.y) * k * inner + column;
    device T *mine = near + int(group.y * groups.x + group.x) * n * 32 + int(lane);
    for (int r = 0; r < n; r++) mine[r * 32] = x[first + r * inner];
    for (int j = 0; j < k; j++) {
        const int e = from + j * inner;
        mine[int(index[e]) * 32] += source[e];
    }
    for (int r = 0; r < n; r++) y[first + r * inner] = mine[r * 32];
}

// As take_axis, the other way; y is 0 before. What the index sends to one place comes in any order.
kernel void spread_axis(constant int *p [[buffer(0)]], device const INDEX *index [[buffer(1)]],
                        device const float *source [[buffer(2)]],
                        device atomic_float *y [[buffer(3)]],
                        uint2 at [[thread_position_in_grid]]) {
    const int line = int(at.y), i = int(at.x), e = line * p[0] + i;
    atomic_fetch_add_explicit(y + line / p[1] * p[2] + int(index[e]) * p[3] + (p[3] > 1 ? i : 0),
                              source[e], memory_order_relaxed);
}

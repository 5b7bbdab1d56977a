// SPDX-License-Identifier: Apache-2.0
// scan.metal: running sums and products along an axis (scan.c). SUM is the type they are kept in,
// OPERATION + or *, START its neutral element, SIMD what SIMD-groups call it, if they have it.
//
// Macros: ELEMENT=half,float,bfloat SUM=float OPERATION=+ START=0 SIMD=sum
// Macros: ELEMENT=long SUM=long OPERATION=* START=1
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;
typedef SUM A;

// p: length, inner, from the end, blocks of a line, elements of a block, lines if neighbours among
// threads are lines, not blocks. Totals lie line by line.
#define LINE                                                                                       \
    int n = p[0], inner = p[1], line = int(t) / p[3], block = int(t) % p[3];                       \
    if (p[5]) line = int(t) % p[5], block = int(t) / p[5];                                         \
    const int own = line * p[3] + block;                                                           \
    int first = line / inner * n * inner + line % inner, step = p[2] ? -inner : inner;             \
    int i = block * p[4], end = min(n, i + p[4]);                                                  \
    int at = first + (p[2] ? n - 1 - i : i) * inner
kernel void totals(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                   device A *y [[buffer(2)]], uint t [[thread_position_in_grid]]) {
    LINE;
    A all = A(START);
    for (; i < end; i++, at += step) all = all OPERATION A(x[at]);
    y[own] = all;
}

kernel void begins(constant int *p [[buffer(0)]], device A *y [[buffer(1)]],
                   uint line [[thread_position_in_grid]]) {
    A all = A(START);
    for (int i = 0; i < p[3]; i++) {
        A v = y[int(line) * p[3] + i];
        y[int(line) * p[3] + i] = all;
        all = all OPERATION v;
    }
}

kernel void walk(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device T *y [[buffer(2)]], device const A *begin [[buffer(3)]],
                 uint t [[thread_position_in_grid]]) {
    LINE;
    A all = A(START);
    if (p[3] > 1) all = begin[own];
    for (; i < end; i++, at += step) {
        all = all OPERATION A(x[at]);
        y[at] = T(all);
    }
}

// The same where the elements of a line are neighbours: a SIMD-group walks over a block, 32 at a
// time, so that memory is read and written in one piece.
#ifdef SIMD
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define BLOCK                                                                                      \
    int n = p[0], first = int(group) / p[3] * n, begins_at = int(group) % p[3] * p[4];             \
    int end = min(n, begins_at + p[4])
kernel void line_totals(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                        device A *y [[buffer(2)]], uint lane [[thread_index_in_simdgroup]],
                        uint group [[threadgroup_position_in_grid]]) {
    BLOCK;
    // A block seen from the other end is a block as well.
    const int from = first + (p[2] ? n - end : begins_at), count = end - begins_at;
    A sums[4] = {A(START), A(START), A(START), A(START)};
    int i = 0;
    for (; i + 128 <= count; i += 128)
        for (int j = 0; j < 4; j++)
            sums[j] = sums[j] OPERATION A(x[from + i + 32 * j + int(lane)]);
    for (; i < count; i += 32)
        if (i + int(lane) < count) sums[0] = sums[0] OPERATION A(x[from + i + int(lane)]);
    A all = (sums[0] OPERATION sums[1]) OPERATION (sums[2] OPERATION sums[3]);
    all = JOIN(simd_, SIMD)(all);
    if (lane == 0) y[group] = all;
}

// Lane 31 - l for lane l.
inline A turned(A v, bool back) { return back ? simd_shuffle_xor(v, 31) : v; }

// Whole pieces of 32 need no masks, and lie in line from either end.
inline void walk_line(device const T *x, device T *y, int count, int lane, bool back, A all) {
    int i = 0;
    for (; i + 32 <= count; i += 32) {
        const int at = (back ? count - 32 - i : i) + lane;
        const A v = JOIN(simd_prefix_inclusive_, SIMD)(turned(A(x[at]), back));
        const A sum = all OPERATION v;
        y[at] = T(turned(sum, back));
        all = all OPERATION simd_broadcast(v, 31);
    }
    if (i == count) return;
    const int k = i + lane, at = back ? count - 1 - k : k;
    A v = A(START);
    if (k < count) v = A(x[at]);
    v = all OPERATION JOIN(simd_prefix_inclusive_, SIMD)(v);
    if (k < count) y[at] = T(v);
}

kernel void line_walk(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                      device T *y [[buffer(2)]], device const A *begin [[buffer(3)]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint group [[threadgroup_position_in_grid]]) {
    BLOCK;
    const A all = p[3] > 1 ? begin[group] : A(START);
    const int from = first + (p[2] ? n - end : begins_at);
    if (p[2])
        walk_line(x + from, y + from, end - begins_at, int(lane), true, all);
    else
        walk_line(x + from, y + from, end - begins_at, int(lane), false, all);
}
#endif

// The same by threadgroups of 256, for a GPU: four neighbours a thread.
enum { GROUP = 256, EACH = 4 };
inline A before_lane(A v, uint lane, thread A &all) { // of lanes below; all: with its own
    for (ushort by = 1; by < 32; by *= 2) {
        const A lower = simd_shuffle_up(v, by);
        if (lane >= by) v = lower OPERATION v;
    }
    all = v;
    const A lower = simd_shuffle_up(v, 1);
    return lane > 0 ? lower : A(START);
}

#define GROUP_BLOCK                                                                                \
    const int n = p[0], first = int(group) / p[3] * n, begins_at = int(group) % p[3] * p[4];       \
    const int end = min(n, begins_at + p[4])
kernel void group_totals(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                         device A *y [[buffer(2)]], uint group [[threadgroup_position_in_grid]],
                         uint self [[thread_position_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup A sums[GROUP / 32];
    GROUP_BLOCK;
    A all = A(START);
    for (int k = begins_at + int(self); k < end; k += GROUP)
        all = all OPERATION A(x[first + (p[2] ? n - 1 - k : k)]);
    A sum;
    before_lane(all, lane, sum);
    if (lane == 31) sums[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (self != 0) return;
    all = A(START);
    for (int s = 0; s < GROUP / 32; s++) all = all OPERATION sums[s];
    y[group] = all;
}

kernel void group_begins(constant int *p [[buffer(0)]], device A *y [[buffer(1)]],
                         uint line [[threadgroup_position_in_grid]],
                         uint self [[thread_position_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup A sums[GROUP / 32];
    A all = A(START);
    for (int b = 0; b < p[3]; b += GROUP) {
        const int i = b + int(self), at = int(line) * p[3] + i;
        A v = A(START), sum;
        if (i < p[3]) v = y[at];
        A before = before_lane(v, lane, sum);
        if (lane == 31) sums[simdgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        A lower = all;
        for (int s = 0; s < GROUP / 32; s++) {
            if (s == int(simdgroup)) lower = all;
            all = all OPERATION sums[s];
        }
        if (i < p[3]) y[at] = lower OPERATION before;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

kernel void group_walk(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                       device T *y [[buffer(2)]], device const A *begin [[buffer(3)]],
                       uint group [[threadgroup_position_in_grid]],
                       uint self [[thread_position_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup A sums[GROUP / 32];
    GROUP_BLOCK;
    A all = A(START);
    if (p[3] > 1) all = begin[group];
    for (int i = begins_at; i < end; i += GROUP * EACH) {
        const int from = i + int(self) * EACH;
        A v[EACH], sum;
        for (int e = 0; e < EACH; e++) {
            const int k = from + e;
            v[e] = A(START);
            if (k < end) v[e] = A(x[first + (p[2] ? n - 1 - k : k)]);
            if (e > 0) v[e] = v[e - 1] OPERATION v[e];
        }
        A before = before_lane(v[EACH - 1], lane, sum);
        if (lane == 31) sums[simdgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        A lower = all;
        for (int s = 0; s < GROUP / 32; s++) {
            if (s == int(simdgroup)) lower = all;
            all = all OPERATION sums[s];
        }
        before = lower OPERATION before;
        for (int e = 0; e < EACH; e++) {
            const int k = from + e;
            if (k < end) y[first + (p[2] ? n - 1 - k : k)] = T(before OPERATION v[e]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

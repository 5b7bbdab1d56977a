// SPDX-License-Identifier: Apache-2.0
// sort.metal: the positions of keys in order (sort.c). WIDE: the keys have 64 bits.
//
// Macros: KEY=uint
// Macros: KEY=ulong WIDE=1
#include <metal_stdlib>
using namespace metal;

// p: n, k, rows of threadgroups (else threads count through all rows)
inline void rank_of(int n, int k, device const KEY *all, device int *y, int row, int me) {
    device const KEY *x = all + row * n;
    const KEY own = x[me];
    int rank = 0;
    for (int i = 0; i < n; i++) {
        const KEY other = x[i];
        rank += int(other < own || (other == own && i < me));
    }
    if (rank < k) y[row * k + rank] = me;
}

kernel void ranks(constant int *p [[buffer(0)]], device const KEY *x [[buffer(1)]],
                  device int *y [[buffer(2)]], uint2 group [[threadgroup_position_in_grid]],
                  uint2 size [[threads_per_threadgroup]],
                  uint2 local [[thread_position_in_threadgroup]]) {
    int me = int(group.x * size.x + local.x);
    if (me < p[0]) rank_of(p[0], p[1], x, y, int(group.y), me);
}

kernel void short_ranks(constant int *p [[buffer(0)]], device const KEY *x [[buffer(1)]],
                        device int *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    rank_of(p[0], p[1], x, y, int(i) / p[0], int(i) % p[0]);
}

// The k smallest. Of what the threads of a SIMD-group find least, each in its share of the row, the
// k-th is a limit that at least k elements keep, and few others as a rule: those are written down
// and ranked. Where they are too many they are found one after the other.
#ifndef WIDE
enum { MOST = 256 };
kernel void select(constant int *p [[buffer(0)]], device const uint *all [[buffer(1)]],
                   device int *y [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                   uint self [[thread_index_in_threadgroup]]) {
    threadgroup uint keys[MOST];
    threadgroup int places[MOST];
    const int n = p[0], k = p[1], lane = int(self);
    device const uint *x = all + int(row) * n;
    int count = MOST + 1;
    if (k <= 32) {
        uint least = 0xFFFFFFFFu;
        for (int j = lane; j < n; j += 32) least = min(least, x[j]);
        int rank = 0;
        for (int l = 0; l < 32; l++) {
            const uint other = simd_shuffle(least, ushort(l));
            rank += int(other < least || (other == least && l < lane));
        }
        const uint limit = simd_max(rank == k - 1 ? least : 0u);
        count = 0;
        for (int b = 0; b < n; b += 32) {
            const uint v = b + lane < n ? x[b + lane] : 0xFFFFFFFFu;
            const bool in = v <= limit && b + lane < n;
            if (!simd_any(in)) continue;
            const int at = count + simd_prefix_exclusive_sum(int(in));
            if (in && at < MOST) {
                keys[at] = v;
                places[at] = b + lane;
            }
            count += simd_sum(int(in));
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (count <= MOST) { // in the order of the row, so equal ones keep theirs
        for (int i = lane; i < count; i += 32) {
            int rank = 0;
            for (int j = 0; j < count; j++)
                rank += int(keys[j] < keys[i] || (keys[j] == keys[i] && j < i));
            if (rank < k) y[int(row) * k + rank] = places[i];
        }
        return;
    }
    uint last = 0;
    int at = -1;
    for (int i = 0; i < k; i++) {
        uint best = 0xFFFFFFFFu;
        int where = INT_MAX;
        for (int j = lane; j < n; j += 32) {
            const uint v = x[j];
            const bool take =
                (v > last || (v == last && j > at)) && (v < best || (v == best && j < where));
            best = take ? v : best;
            where = take ? j : where;
        }
        last = simd_min(best);
        at = simd_min(best == last ? where : INT_MAX);
        if (lane == 0) y[int(row) * k + i] = at;
    }
}
#endif

// p: n, blocks of a row, elements of a block, shift; counts (rows, digits, blocks)
kernel void count(constant int *p [[buffer(0)]], device const KEY *x [[buffer(1)]],
                  device int *counts [[buffer(2)]], uint t [[thread_position_in_grid]]) {
    int blocks = p[1], row = int(t) / blocks, block = int(t) % blocks;
    device int *own = counts + row * 256 * blocks + block;
    for (int d = 0; d < 256; d++) own[d * blocks] = 0;
    int end = min(p[0], (block + 1) * p[2]);
    for (int i = block * p[2]; i < end; i++) own[int(x[row * p[0] + i] >> p[3] & 255) * blocks]++;
}

// Counts become the places where each begins.
kernel void places(constant int *p [[buffer(0)]], device int *counts [[buffer(1)]],
                   uint row [[thread_position_in_grid]]) {
    device int *own = counts + int(row) * 256 * p[1];
    int sum = 0;
    for (int i = 0; i < 256 * p[1]; i++) {
        int n = own[i];
        own[i] = sum;
        sum += n;
    }
}

// p[4]: the first pass, positions are those in x; p[5]: the last one, keys are not wanted
kernel void move(constant int *p [[buffer(0)]], device const KEY *x [[buffer(1)]],
                 device const int *from [[buffer(2)]], device int *counts [[buffer(3)]],
                 device KEY *y [[buffer(4)]], device int *to [[buffer(5)]],
                 uint t [[thread_position_in_grid]]) {
    int blocks = p[1], row = int(t) / blocks, block = int(t) % blocks, all = row * p[0];
    device int *own = counts + row * 256 * blocks + block;
    int end = min(p[0], (block + 1) * p[2]);
    for (int i = block * p[2]; i < end; i++) {
        KEY key = x[all + i];
        int at = own[int(key >> p[3] & 255) * blocks]++;
        if (!p[5]) y[all + at] = key;
        to[all + at] = p[4] ? i : from[all + i];
    }
}

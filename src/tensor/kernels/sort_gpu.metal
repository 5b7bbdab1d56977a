// SPDX-License-Identifier: Apache-2.0
// sort_gpu.metal: the positions of keys in order, on a GPU (sort.c): blocks are sorted in threadgroup
// memory, then runs are merged in pairs, each element finding its place by itself. A key and its
// position are one number, so no two are equal and the order is that of the row for equal keys.
#include <metal_stdlib>
using namespace metal;

enum { BLOCK = 2048, THREADS = 512 };

// p: n, a power of two that blocks are sorted as, whether positions are wanted, not numbers
kernel void sort_blocks(constant int *p [[buffer(0)]], device const uint *x [[buffer(1)]],
                        device ulong *y [[buffer(2)]], device int *places [[buffer(3)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint2 local [[thread_position_in_threadgroup]]) {
    threadgroup ulong keys[BLOCK];
    const int n = p[0], size = p[1], self = int(local.x), start = int(group.x) * BLOCK;
    const int row = int(group.y) * n;
    for (int i = self; i < size; i += THREADS)
        keys[i] = start + i < n ? ulong(x[row + start + i]) << 32 | ulong(start + i) : ~0ul;
    for (int k = 2; k <= size; k *= 2) // Batcher's bitonic sort
        for (int j = k / 2; j > 0; j /= 2) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (int t = self; t < size / 2; t += THREADS) {
                const int i = 2 * t - (t & (j - 1));
                const ulong a = keys[i], b = keys[i + j];
                if ((a > b) == ((i & k) == 0)) {
                    keys[i] = b;
                    keys[i + j] = a;
                }
            }
        }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = self; i < size && start + i < n; i += THREADS) {
        if (p[2])
            places[row + start + i] = int(keys[i]);
        else
            y[row + start + i] = keys[i];
    }
}

// p: n, length of the runs, whether positions are wanted
kernel void merge_runs(constant int *p [[buffer(0)]], device const ulong *all [[buffer(1)]],
                       device ulong *y [[buffer(2)]], device int *places [[buffer(3)]],
                       uint2 at [[thread_position_in_grid]]) {
    const int n = p[0], run = p[1], i = int(at.x), row = int(at.y) * n;
    device const ulong *x = all + row;
    const int first = i / run / 2 * 2 * run, middle = min(first + run, n), end = min(middle + run, n);
    const bool left = i < middle;
    const ulong own = x[i];
    int low = left ? middle : first, high = left ? end : middle; // those of the other run before it
    while (low < high) {
        const int m = (low + high) / 2;
        if (x[m] < own)
            low = m + 1;
        else
            high = m;
    }
    const int to = left ? i + low - middle : i - middle + low;
    if (p[2])
        places[row + to] = int(own);
    else
        y[row + to] = own;
}

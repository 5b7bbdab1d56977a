// SPDX-License-Identifier: Apache-2.0
// gemm_simt.metal: GEMM of floats that is small for a GPU (matmul.c), by multiply-adds of plain
// threads (SIMT): no tensor core waits for operands, and a tile is shared by 256 threads. A thread
// has 4 x 4 results; where a tile has fewer than 256 of those, threads share them along k and meet
// at the end. Operands lie in threadgroup memory as in memory: in lines along k, or across.
// RANK, A_T, B_T, OTHERS, STORE: as in gemm.metal. ALIGNED: lines begin at multiples of 16 bytes
// and may be read up to one.
//
// Macros: TILE=32 RANK=0,2 A_T=false,true B_T=false,true ALIGNED=1
// Macros: TILE=64 RANK=1 A_T=true B_T=false ALIGNED=0,1
#include <metal_stdlib>
using namespace metal;

#ifndef OTHERS
#define OTHERS device float *o0 [[buffer(3)]],
#endif

enum {
    SIDE = TILE / 4,             // threads along each side
    PARTS = 256 / (SIDE * SIDE), // that share results along k
    DEPTH = 2048 / TILE,         // of a chunk along k
    PAD = 4,
    ROOM = TILE * (DEPTH + PAD) > DEPTH * (TILE + PAD) ? TILE * (DEPTH + PAD) : DEPTH * (TILE + PAD)
};

// Four elements of a line from `at` on; 0 beyond its end, and for lines that are none.
inline float4 piece(device const float *x, int line, int lines, int at, int length, int step) {
    const int left = line < lines ? length - at : 0;
    device const float *from = x + line * step + at;
    float v0 = 0, v1 = 0, v2 = 0, v3 = 0;
#if ALIGNED
    if (left > 0) {
        const float4 v = *(device const float4 *)from;
        v0 = v.x, v1 = v.y, v2 = v.z, v3 = v.w;
    }
    return float4(v0, left > 1 ? v1 : 0, left > 2 ? v2 : 0, left > 3 ? v3 : 0);
#else
    if (left > 0) v0 = from[0];
    if (left > 1) v1 = from[1];
    if (left > 2) v2 = from[2];
    if (left > 3) v3 = from[3];
    return float4(v0, v1, v2, v3);
#endif
}

// Pieces of a chunk, two for each thread. ACROSS: lines are not along k, but of one k.
template <bool ACROSS>
inline void fetch(thread float4 *to, device const float *x, int first, int n, int k0, int K, int step,
                  int self) {
    for (int r = 0; r < 2; r++) {
        const int p = self + r * 256;
        if (ACROSS)
            to[r] = piece(x, k0 + p / (TILE / 4), K, first + p % (TILE / 4) * 4, n, step);
        else
            to[r] = piece(x, first + p / (DEPTH / 4), n, k0 + p % (DEPTH / 4) * 4, K, step);
    }
}

template <bool ACROSS> inline void keep(threadgroup float *to, thread const float4 *from, int self) {
    for (int r = 0; r < 2; r++) {
        const int p = self + r * 256;
        const int at = ACROSS ? p / (TILE / 4) * (TILE + PAD) + p % (TILE / 4) * 4
                              : p / (DEPTH / 4) * (DEPTH + PAD) + p % (DEPTH / 4) * 4;
        *(threadgroup float4 *)(to + at) = from[r];
    }
}

// What a thread needs of an operand for four steps of k: x[index][k].
template <bool ACROSS>
inline void take(thread float (&x)[4][4], threadgroup const float *from, int place, int k) {
    for (int e = 0; e < 4; e++) {
        const float4 v = ACROSS
                             ? *(threadgroup const float4 *)(from + (k + e) * (TILE + PAD) + place * 4)
                             : *(threadgroup const float4 *)(from + (place + e * SIDE) * (DEPTH + PAD) + k);
        for (int f = 0; f < 4; f++) x[ACROSS ? f : e][ACROSS ? e : f] = v[f];
    }
}

// The row, or column, of a thread's e-th.
template <bool ACROSS> inline int place_of(int place, int e) {
    return ACROSS ? place * 4 + e : place + e * SIDE;
}

// p: as gemm.metal.
kernel void product(constant int *p [[buffer(0)]], device const float *a [[buffer(1)]],
                    device const float *b [[buffer(2)]],
                    OTHERS uint3 group [[threadgroup_position_in_grid]],
                    uint3 local [[thread_position_in_threadgroup]]) {
    threadgroup float near[2 * ROOM > 4096 ? 2 * ROOM : 4096];
    threadgroup float *near_a = near, *near_b = near + ROOM;
    const int M = p[0], N = p[1], K = p[2], self = int(local.x);
    const int row0 = int(group.y) * TILE, column0 = int(group.x) * TILE;
    int rest = int(group.z), first_a = p[5], first_b = p[6];
    for (int r = 0; r < RANK; r++) {
        constant int *axis = p + 7 + 3 * r;
        first_a += rest % axis[0] * axis[1];
        first_b += rest % axis[0] * axis[2];
        rest /= axis[0];
    }
    a += first_a;
    b += first_b;
    const int part = self / (SIDE * SIDE), own = self % (SIDE * SIDE), x = own % SIDE, y = own / SIDE;
    float sum[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    float4 next_a[2], next_b[2];
    fetch<A_T>(next_a, a, row0, M, 0, K, p[3], self);
    fetch<!B_T>(next_b, b, column0, N, 0, K, p[4], self);
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        keep<A_T>(near_a, next_a, self);
        keep<!B_T>(near_b, next_b, self);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (k0 + DEPTH < K) {
            fetch<A_T>(next_a, a, row0, M, k0 + DEPTH, K, p[3], self);
            fetch<!B_T>(next_b, b, column0, N, k0 + DEPTH, K, p[4], self);
        }
        for (int s = 0; s < DEPTH / PARTS; s += 4) {
            float u[4][4], v[4][4];
            const int k = part * (DEPTH / PARTS) + s;
            take<A_T>(u, near_a, y, k);
            take<!B_T>(v, near_b, x, k);
            for (int e = 0; e < 4; e++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++) sum[i][j] = fma(u[i][e], v[j][e], sum[i][j]);
        }
    }
    const int each = 16 / PARTS;
    if (PARTS > 1) { // and each part brings some of the results together
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int e = 0; e < 16; e++) near[(part * 16 + e) * SIDE * SIDE + own] = sum[e / 4][e % 4];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (int e = 0; e < each; e++) {
        const int which = PARTS > 1 ? part * each + e : e;
        float value = sum[e / 4][e % 4];
        if (PARTS > 1) {
            value = 0;
            for (int g = 0; g < PARTS; g++) value += near[(g * 16 + which) * SIDE * SIDE + own];
        }
        const int row = row0 + place_of<A_T>(y, which / 4);
        const int column = column0 + place_of<!B_T>(x, which % 4);
        if (row >= M || column >= N) continue;
        const int at = (int(group.z) * M + row) * N + column;
#ifdef STORE
        STORE(value);
#else
        o0[at] = value;
#endif
    }
}

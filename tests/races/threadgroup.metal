// SPDX-License-Identifier: Apache-2.0
// Threadgroup memory: who writes and reads it without a barrier between. What is to be found stands
// at the end of its line (test_races.py); a kernel without such a mark must give no report.
#include <metal_stdlib>
using namespace metal;

#define TG mem_flags::mem_threadgroup

// run grid 64 group 64
kernel void no_barrier(device float *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup float tile[64];
    tile[l] = l;                 //! race a
    out[l] = tile[(l + 1) % 64]; //! race a
}
// run grid 64 group 64
kernel void with_barrier(device float *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup float tile[64];
    tile[l] = l;
    threadgroup_barrier(TG);
    out[l] = tile[(l + 1) % 64];
}
// run grid 32 group 32
kernel void neighbour_in_simdgroup(device uint *out [[buffer(0)]],
                                   uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[32];
    tile[l] = l;          //! race a
    out[l] = tile[l ^ 1]; //! race a
}
// run grid 32 group 32
kernel void neighbour_met(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[32];
    tile[l] = l;
    simdgroup_barrier(TG);
    out[l] = tile[l ^ 1];
}
// run grid 64 group 64
kernel void met_too_near(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    tile[l] = l;               //! race a
    simdgroup_barrier(TG);     // orders a SIMD-group, not two
    out[l] = tile[l ^ 32];     //! race a
}
// run grid 64 group 64
kernel void own_only(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    tile[l] = l;
    tile[l] += 2;
    out[l] = tile[l];
}
// run grid 64 group 64
kernel void all_to_one(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint last;
    last = l; //! race a
    threadgroup_barrier(TG);
    out[l] = last;
}
// run grid 64 group 64
kernel void one_to_all(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint last;
    if (l == 5) last = l;
    threadgroup_barrier(TG);
    out[l] = last;
}
// run grid 64 group 64
kernel void same_value(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint flag;
    flag = 1; //! race a
    threadgroup_barrier(TG);
    out[l] = flag;
}
// run grid 64 group 64
kernel void counted(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint n;
    if (l == 0) n = 0;
    threadgroup_barrier(TG);
    n += l; //! race a
    threadgroup_barrier(TG);
    out[l] = n;
}
// run grid 64 group 64
kernel void counted_atomically(device uint *out [[buffer(0)]],
                               uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint n;
    if (l == 0) atomic_store_explicit(&n, 0, memory_order_relaxed);
    threadgroup_barrier(TG);
    atomic_fetch_add_explicit(&n, l, memory_order_relaxed);
    threadgroup_barrier(TG);
    out[l] = atomic_load_explicit(&n, memory_order_relaxed);
}
// run grid 64 group 64
kernel void atomic_and_plain(device uint *out [[buffer(0)]],
                             uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint n;
    threadgroup uint *plain = (threadgroup uint *)&n;
    if (l == 0) *plain = 0;
    threadgroup_barrier(TG);
    atomic_fetch_add_explicit(&n, 1, memory_order_relaxed); //! race a
    out[l] = *plain;                                        //! race a
}
// run grid 128 group 64
kernel void reduction(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]],
                      uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint sum[64];
    sum[l] = l;
    threadgroup_barrier(TG);
    for (uint n = 32; n > 0; n /= 2) {
        if (l < n) sum[l] += sum[l + n];
        threadgroup_barrier(TG);
    }
    if (l == 0) out[g] = sum[0];
}
// run grid 128 group 64
kernel void reduction_without(device uint *out [[buffer(0)]],
                              uint l [[thread_index_in_threadgroup]],
                              uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint sum[64];
    sum[l] = l;
    threadgroup_barrier(TG);
    for (uint n = 32; n > 0; n /= 2)
        if (l < n) sum[l] += sum[l + n]; //! race a
    if (l == 0) out[g] = sum[0];
}
// run grid 64 group 64
kernel void barrier_of_device(device uint *out [[buffer(0)]],
                              uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    tile[l] = l;                                 //! race a
    threadgroup_barrier(mem_flags::mem_device);  // not of this memory
    out[l] = tile[63 - l];                       //! race a
}
// run grid 64 group 64
kernel void barrier_of_nothing(device uint *out [[buffer(0)]],
                               uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    tile[l] = l;                              //! race a
    threadgroup_barrier(mem_flags::mem_none);
    out[l] = tile[63 - l];                    //! race a
}
// run grid 64 group 64
kernel void barrier_of_both(device uint *out [[buffer(0)]],
                            uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    tile[l] = l;
    threadgroup_barrier(mem_flags::mem_device | TG);
    out[l] = tile[63 - l];
}
// run grid 64 group 64
kernel void read_then_write(device uint *out [[buffer(0)]],
                            uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    tile[l] = l;
    threadgroup_barrier(TG);
    uint a = tile[63 - l]; //! race a
    tile[l] = a + 1;       //! race a
    threadgroup_barrier(TG);
    out[l] = tile[l];
}
// run grid 64 group 64
kernel void read_barrier_write(device uint *out [[buffer(0)]],
                               uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    tile[l] = l;
    threadgroup_barrier(TG);
    uint a = tile[63 - l];
    threadgroup_barrier(TG);
    tile[l] = a + 1;
    threadgroup_barrier(TG);
    out[l] = tile[l];
}
// run grid 64 group 64
kernel void loop_forgets(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    uint sum = 0;
    for (uint k = 0; k < 4; k++) {
        tile[l] = l + k; //! race a
        threadgroup_barrier(TG);
        sum += tile[63 - l]; //! race a
    }
    out[l] = sum;
}
// run grid 64 group 64
kernel void loop_twice(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    uint sum = 0;
    for (uint k = 0; k < 4; k++) {
        tile[l] = l + k;
        threadgroup_barrier(TG);
        sum += tile[63 - l];
        threadgroup_barrier(TG);
    }
    out[l] = sum;
}
// run grid 64 group 64
kernel void two_buffers(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[2][64];
    uint sum = 0;
    for (uint k = 0; k < 6; k++) {
        tile[k % 2][l] = l + k;
        threadgroup_barrier(TG);
        sum += tile[k % 2][63 - l];
    }
    out[l] = sum;
}
// run grid 64 group 64
kernel void bytes_apart(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uchar tile[64];
    tile[l] = l;
    threadgroup_barrier(TG);
    out[l] = tile[63 - l];
}
// run grid 64 group 64
kernel void bytes_shared(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uchar tile[64];
    tile[l % 16] = l; //! race a
    threadgroup_barrier(TG);
    out[l] = tile[l % 16];
}
// run grid 64 group 64
kernel void halves_apart(device half *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup half tile[64];
    tile[l] = l;
    threadgroup_barrier(TG);
    out[l] = tile[63 - l];
}
// run grid 64 group 64
kernel void halves_overlap(device half *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup half tile[66];
    tile[l] = l;     //! race a
    tile[l + 2] = l; //! race a
    threadgroup_barrier(TG);
    out[l] = tile[l];
}
// run grid 32 group 32
kernel void vectors_overlap(device float4 *out [[buffer(0)]],
                            uint l [[thread_index_in_threadgroup]]) {
    threadgroup float tile[132];
    for (uint k = 0; k < 5; k++) tile[4 * l + k] = l; //! race a
    threadgroup_barrier(TG);
    out[l] = float4(tile[4 * l], tile[4 * l + 1], 0, 0);
}
// run grid 32 group 32
kernel void vectors_apart(device float4 *out [[buffer(0)]],
                          uint l [[thread_index_in_threadgroup]]) {
    threadgroup float4 tile[32];
    tile[l] = float4(l);
    threadgroup_barrier(TG);
    out[l] = tile[31 - l];
}
// run grid 64 group 64 threadgroup 256
kernel void argument(device uint *out [[buffer(0)]], threadgroup uint *tile [[threadgroup(0)]],
                     uint l [[thread_index_in_threadgroup]]) {
    tile[l] = l;           //! race a
    out[l] = tile[63 - l]; //! race a
}
// run grid 64 group 64 threadgroup 256
kernel void argument_right(device uint *out [[buffer(0)]],
                           threadgroup uint *tile [[threadgroup(0)]],
                           uint l [[thread_index_in_threadgroup]]) {
    tile[l] = l;
    threadgroup_barrier(TG);
    out[l] = tile[63 - l];
}
// run grid 128 group 64
kernel void groups_apart(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]],
                         uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint tile[64]; // each threadgroup has its own
    tile[l] = g;
    threadgroup_barrier(TG);
    out[64 * g + l] = tile[63 - l];
}
// run grid 16x4 group 16x4
kernel void rows(device uint *out [[buffer(0)]], uint2 l [[thread_position_in_threadgroup]]) {
    threadgroup uint tile[4][16];
    tile[l.y][l.x] = l.x;                    //! race a
    out[l.y * 16 + l.x] = tile[l.y][15 - l.x]; //! race a
}
// run grid 16x4 group 16x4
kernel void rows_right(device uint *out [[buffer(0)]], uint2 l [[thread_position_in_threadgroup]]) {
    threadgroup uint tile[4][16];
    tile[l.y][l.x] = l.x;
    threadgroup_barrier(TG);
    out[l.y * 16 + l.x] = tile[3 - l.y][15 - l.x];
}
// run grid 64 group 64
kernel void by_function(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    struct { static void put(threadgroup uint *t, uint at) { t[at] = at; } } f; //! race a
    f.put(tile, l);
    out[l] = tile[63 - l]; //! race a
}
// run grid 64 group 64
kernel void copies(device uint4 *out [[buffer(0)]], device uint4 *in [[buffer(1)]],
                   uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint4 tile[64];
    tile[l] = in[l];
    threadgroup_barrier(TG);
    for (uint k = 0; k < 4; k++) out[l][k] = tile[63 - l][k];
}
// Many read the same bytes: the checker stops counting, and still knows them when one writes.
// run grid 16x16 group 16x16
kernel void rows_read_then_written(device float *out [[buffer(0)]],
                                   uint2 p [[thread_position_in_threadgroup]]) {
    threadgroup float tile[16][16];
    tile[p.y][p.x] = p.x;
    threadgroup_barrier(TG);
    float sum = 0;
    for (uint k = 0; k < 16; k++) sum += tile[k][p.x]; //! race a
    tile[p.y][p.x] = sum;                              //! race a
    threadgroup_barrier(TG);
    out[16 * p.y + p.x] = tile[p.y][p.x];
}
// run grid 16x16 group 16x16
kernel void rows_read_and_met(device float *out [[buffer(0)]],
                              uint2 p [[thread_position_in_threadgroup]]) {
    threadgroup float tile[16][16];
    tile[p.y][p.x] = p.x;
    threadgroup_barrier(TG);
    float sum = 0;
    for (uint k = 0; k < 16; k++) sum += tile[k][p.x] + tile[p.y][k];
    threadgroup_barrier(TG);
    tile[p.y][p.x] = sum;
    threadgroup_barrier(TG);
    out[16 * p.y + p.x] = tile[p.y][p.x];
}
// run grid 16x16 group 16x16
kernel void last_rows_written(device float *out [[buffer(0)]],
                              uint2 p [[thread_position_in_threadgroup]]) {
    threadgroup float tile[16][16];
    tile[p.y][p.x] = p.x;
    threadgroup_barrier(TG);
    float sum = tile[3][p.x]; //! race a
    if (p.y == 15) tile[3][p.x] = 1; //! race a
    threadgroup_barrier(TG);
    out[16 * p.y + p.x] = tile[3][p.x] + sum;
}
// run grid 16x4 group 16x4
kernel void rows_never_written(device float *out [[buffer(0)]],
                               uint2 p [[thread_position_in_threadgroup]]) {
    threadgroup float tile[4][16];
    if (p.y < 3) tile[p.y][p.x] = p.x;
    threadgroup_barrier(TG);
    float sum = 0;
    for (uint k = 0; k < 4; k++) sum += tile[k][p.x]; //! unwritten
    out[16 * p.y + p.x] = sum;
}
// run grid 128 group 128
kernel void read_by_two_ordered_for_one(device uint *out [[buffer(0)]],
                                        uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint x[32];
    if (l < 32) x[l] = l;
    threadgroup_barrier(TG);
    uint sum = x[7]; //! race a
    simdgroup_barrier(TG);
    if (l == 7) x[7] = 1; //! race a
    threadgroup_barrier(TG);
    out[l] = sum + x[l % 32];
}
// run grid 128 group 128
kernel void read_again_by_one(device uint *out [[buffer(0)]],
                              uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint x[32];
    if (l < 32) x[l] = l;
    threadgroup_barrier(TG);
    uint sum = 0;
    if (l < 32) {
        for (uint k = 0; k < 4; k++) {
            sum += x[(l + 1) % 32];
            simdgroup_barrier(TG);
            x[l] = sum;
            simdgroup_barrier(TG);
        }
    }
    out[l] = sum;
}
// Pointers that stand in an array of the thread.
// run grid 64 group 64 fill 1=4
kernel void pointers_kept(device float *out [[buffer(0)]], device const int *n [[buffer(1)]],
                          uint l [[thread_index_in_threadgroup]]) {
    threadgroup float a[64], b[64];
    threadgroup float *p[4];
    a[l] = l, b[l] = 2 * l;
    for (int k = 0; k < *n; k++) p[k] = k & 1 ? b + k : a + k;
    threadgroup_barrier(TG);
    float sum = 0;
    for (int k = 0; k < *n; k++) sum += p[k][(l + k) % 32];
    out[l] = sum;
}
// run grid 64 group 64 fill 1=4 threadgroup 512
kernel void pointers_kept_of_argument(device float *out [[buffer(0)]], device const int *n [[buffer(1)]],
                                      threadgroup float *shared [[threadgroup(0)]],
                                      uint l [[thread_index_in_threadgroup]]) {
    threadgroup float *p[4];
    shared[l] = l, shared[64 + l] = 2 * l;
    for (int k = 0; k < *n; k++) p[k] = shared + 32 * k;
    threadgroup_barrier(TG);
    float sum = 0;
    for (int k = 0; k < *n; k++) sum += p[k][l % 32];
    out[l] = sum;
}
// run grid 64 group 64 fill 1=4
kernel void pointers_kept_unordered(device float *out [[buffer(0)]], device const int *n [[buffer(1)]],
                                    uint l [[thread_index_in_threadgroup]]) {
    threadgroup float a[64], b[64];
    threadgroup float *p[4];
    a[l] = l; //! race a
    b[l] = 2 * l; //! race b
    for (int k = 0; k < *n; k++) p[k] = k & 1 ? b + k : a + k;
    float sum = 0;
    for (int k = 0; k < *n; k++) sum += p[k][(l + k) % 32]; //! race a //! race b
    out[l] = sum;
}

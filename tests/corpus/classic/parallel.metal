// SPDX-License-Identifier: Apache-2.0
// parallel.metal: scans, sorts, histograms, compaction, graphs, sparse matrices.
#include <metal_stdlib>
#include <metal_atomic>
#include <metal_simdgroup>
using namespace metal;

// ---- histograms

kernel void histogram_device(device const uchar *data [[buffer(0)]],
                             device atomic_uint *bins [[buffer(1)]],
                             constant uint &n [[buffer(2)]],
                             uint i [[thread_position_in_grid]],
                             uint step [[threads_per_grid]])
{
    for (; i < n; i += step)
        atomic_fetch_add_explicit(&bins[data[i]], 1u, memory_order_relaxed);
}

kernel void histogram_threadgroup(device const uchar *data [[buffer(0)]],
                                  device atomic_uint *bins [[buffer(1)]],
                                  constant uint &n [[buffer(2)]],
                                  uint i [[thread_position_in_grid]],
                                  uint step [[threads_per_grid]],
                                  uint lid [[thread_index_in_threadgroup]],
                                  uint3 size [[threads_per_threadgroup]])
{
    threadgroup atomic_uint local_bins[256];
    const uint count = size.x * size.y * size.z;
    for (uint b = lid; b < 256; b += count)
        atomic_store_explicit(&local_bins[b], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    while (i < n) {
        atomic_fetch_add_explicit(local_bins + data[i], 1, memory_order_relaxed);
        i += step;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint b = lid; b < 256; b += count) {
        uint v = atomic_load_explicit(&local_bins[b], memory_order_relaxed);
        if (v) atomic_fetch_add_explicit(&bins[b], v, memory_order_relaxed);
    }
}

struct Extremes {
    atomic_int lowest;
    atomic_int highest;
    atomic_uint bits;
    atomic_float total;
};

kernel void extremes(device const int *data [[buffer(0)]], device Extremes &e [[buffer(1)]],
                     uint i [[thread_position_in_grid]])
{
    int v = data[i];
    atomic_fetch_min_explicit(&e.lowest, v, memory_order_relaxed);
    atomic_fetch_max_explicit(&e.highest, v, memory_order_relaxed);
    atomic_fetch_or_explicit(&e.bits, 1u << (uint(v) & 31u), memory_order_relaxed);
    atomic_fetch_add_explicit(&e.total, float(v), memory_order_relaxed);
}

// a spin-free update by compare-exchange: float max kept as bits
kernel void cas_max(device const float *data [[buffer(0)]], device atomic_uint *best [[buffer(1)]],
                    uint i [[thread_position_in_grid]])
{
    uint seen = atomic_load_explicit(best, memory_order_relaxed);
    while (as_type<float>(seen) < data[i]) {
        if (atomic_compare_exchange_weak_explicit(best, &seen, as_type<uint>(data[i]), memory_order_relaxed,
                                                  memory_order_relaxed))
            break;
    }
}

// ---- scans

// Blelloch: up-sweep and down-sweep in threadgroup memory, block sums go out
kernel void scan_blelloch(device const uint *in [[buffer(0)]],
                          device uint *out [[buffer(1)]],
                          device uint *sums [[buffer(2)]],
                          constant uint &n [[buffer(3)]],
                          threadgroup uint *temp [[threadgroup(0)]],
                          uint tid [[thread_position_in_threadgroup]],
                          uint wg [[threadgroup_position_in_grid]],
                          uint size [[threads_per_threadgroup]])
{
    const uint len = 2 * size;
    const uint base = wg * len;
    temp[2 * tid] = base + 2 * tid < n ? in[base + 2 * tid] : 0;
    temp[2 * tid + 1] = base + 2 * tid + 1 < n ? in[base + 2 * tid + 1] : 0;
    uint offset = 1;
    for (uint d = len >> 1; d > 0; d >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid < d) {
            uint a = offset * (2 * tid + 1) - 1;
            uint b = offset * (2 * tid + 2) - 1;
            temp[b] += temp[a];
        }
        offset <<= 1;
    }
    if (tid == 0) {
        sums[wg] = temp[len - 1];
        temp[len - 1] = 0;
    }
    for (uint d = 1; d < len; d <<= 1) {
        offset >>= 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid < d) {
            uint a = offset * (2 * tid + 1) - 1;
            uint b = offset * (2 * tid + 2) - 1;
            uint t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (base + 2 * tid < n) out[base + 2 * tid] = temp[2 * tid];
    if (base + 2 * tid + 1 < n) out[base + 2 * tid + 1] = temp[2 * tid + 1];
}

// SIMD-group scans, one per SIMD-group, then a scan of the totals
kernel void scan_simd(device const int *in [[buffer(0)]],
                      device int *out [[buffer(1)]],
                      constant uint &n [[buffer(2)]],
                      uint gid [[thread_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]],
                      uint n_sg [[simdgroups_per_threadgroup]])
{
    threadgroup int totals[32];
    int v = gid < n ? in[gid] : 0;
    int inclusive = simd_prefix_inclusive_sum(v);
    if (lane == 31)
        totals[sg] = inclusive;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 0) {
        int t = lane < n_sg ? totals[lane] : 0;
        totals[lane] = simd_prefix_exclusive_sum(t);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gid < n)
        out[gid] = inclusive + totals[sg];
}

// Hillis-Steele by shuffles
kernel void scan_shuffle(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                         uint gid [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]])
{
    int v = in[gid];
    for (ushort d = 1; d < 32; d <<= 1) {
        int other = simd_shuffle_up(v, d);
        if (lane >= d) v += other;
    }
    out[gid] = v;
}

// ---- compaction with ballots: places within a SIMD-group from the vote, between them from an atomic

kernel void compact_ballot(device const int *in [[buffer(0)]],
                           device int *out [[buffer(1)]],
                           device atomic_uint *count [[buffer(2)]],
                           constant uint &n [[buffer(3)]],
                           uint gid [[thread_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]])
{
    bool keep = gid < n && in[gid] % 3 == 0;
    simd_vote vote = simd_ballot(keep);
    ulong mask = (simd_vote::vote_t)vote;
    uint total = popcount(mask);
    uint before = popcount(mask & ((1ul << lane) - 1));
    uint base = 0;
    if (lane == 0)
        base = atomic_fetch_add_explicit(count, total, memory_order_relaxed);
    base = simd_broadcast_first(base);
    if (keep)
        out[base + before] = in[gid];
}

// the same inside a divergent branch: only the active lanes take part
kernel void compact_divergent(device const int *in [[buffer(0)]],
                              device int *out [[buffer(1)]],
                              device atomic_uint *count [[buffer(2)]],
                              uint gid [[thread_position_in_grid]],
                              uint lane [[thread_index_in_simdgroup]])
{
    int v = in[gid];
    if (v > 0) {
        ulong mask = (ulong)simd_active_threads_mask();
        uint rank = popcount(mask & ((1ul << lane) - 1));
        uint total = popcount(mask);
        uint base = 0;
        if (simd_is_first())
            base = atomic_fetch_add_explicit(count, total, memory_order_relaxed);
        base = simd_broadcast_first(base);
        out[base + rank] = v;
    }
}

// ---- sorts

kernel void bitonic_step(device uint *data [[buffer(0)]], constant uint2 &jk [[buffer(1)]],
                         uint i [[thread_position_in_grid]])
{
    uint l = i ^ jk.x;
    if (l > i) {
        uint a = data[i], b = data[l];
        bool ascending = (i & jk.y) == 0;
        if ((a > b) == ascending) {
            data[i] = b;
            data[l] = a;
        }
    }
}

// a whole threadgroup's share in shared memory
kernel void bitonic_local(device float *data [[buffer(0)]], threadgroup float *s [[threadgroup(0)]],
                          uint tid [[thread_position_in_threadgroup]], uint gid [[thread_position_in_grid]],
                          uint n [[threads_per_threadgroup]])
{
    s[tid] = data[gid];
    for (uint k = 2; k <= n; k <<= 1)
        for (uint j = k >> 1; j > 0; j >>= 1) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            uint l = tid ^ j;
            if (l > tid) {
                bool up = (tid & k) == 0;
                if ((s[tid] > s[l]) == up) {
                    float t = s[tid];
                    s[tid] = s[l];
                    s[l] = t;
                }
            }
        }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    data[gid] = s[tid];
}

// one pass of a stable 4-bit radix sort within a threadgroup
kernel void radix_pass(device const uint *in [[buffer(0)]],
                       device uint *out [[buffer(1)]],
                       constant uint &shift [[buffer(2)]],
                       uint tid [[thread_position_in_threadgroup]],
                       uint wg [[threadgroup_position_in_grid]],
                       uint size [[threads_per_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint n_sg [[simdgroups_per_threadgroup]])
{
    threadgroup uint counts[16][32];
    uint key = in[wg * size + tid];
    uint digit = (key >> shift) & 15;
    uint rank = 0;
    for (uint d = 0; d < 16; ++d) {
        ulong same = (ulong)simd_ballot(digit == d);
        if (digit == d)
            rank = popcount(same & ((1ul << lane) - 1));
        if (lane == 0)
            counts[d][sg] = popcount(same);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) {
        uint running = 0;
        for (uint d = 0; d < 16; ++d)
            for (uint s = 0; s < n_sg; ++s) {
                uint c = counts[d][s];
                counts[d][s] = running;
                running += c;
            }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[wg * size + counts[digit][sg] + rank] = key;
}

kernel void odd_even_sort(device short *data [[buffer(0)]], constant uint &n [[buffer(1)]],
                          uint tid [[thread_position_in_threadgroup]], uint size [[threads_per_threadgroup]])
{
    for (uint phase = 0; phase < n; ++phase) {
        for (uint i = 2 * tid + (phase & 1); i + 1 < n; i += 2 * size)
            if (data[i] > data[i + 1]) {
                short t = data[i];
                data[i] = data[i + 1];
                data[i + 1] = t;
            }
        threadgroup_barrier(mem_flags::mem_device);
    }
}

// ---- reductions

template <typename T, typename Op> T tree(threadgroup T *s, uint tid, uint n, Op op) {
    for (uint half_n = n / 2; half_n > 0; half_n >>= 1) {
        if (tid < half_n)
            s[tid] = op(s[tid], s[tid + half_n]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    return s[0];
}

kernel void reduce_tree(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                        constant uint &n [[buffer(2)]], threadgroup float *s [[threadgroup(0)]],
                        uint tid [[thread_position_in_threadgroup]], uint gid [[thread_position_in_grid]],
                        uint wg [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]])
{
    s[tid] = gid < n ? in[gid] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = tree(s, tid, size, [](float a, float b) { return a + b; });
    threadgroup_barrier(mem_flags::mem_threadgroup);
    s[tid] = gid < n ? in[gid] : -INFINITY;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float top = tree(s, tid, size, [](float a, float b) { return max(a, b); });
    if (tid == 0) {
        out[2 * wg] = sum;
        out[2 * wg + 1] = top;
    }
}

// the last threadgroup to finish adds up what the others left
kernel void reduce_last_group(device const uint *in [[buffer(0)]], device uint *partial [[buffer(1)]],
                              device atomic_uint *done [[buffer(2)]], device uint *result [[buffer(3)]],
                              constant uint &n [[buffer(4)]],
                              uint tid [[thread_position_in_threadgroup]],
                              uint wg [[threadgroup_position_in_grid]],
                              uint n_wg [[threadgroups_per_grid]],
                              uint gid [[thread_position_in_grid]],
                              uint total_threads [[threads_per_grid]])
{
    threadgroup atomic_uint sum;
    threadgroup bool is_last;
    if (tid == 0) atomic_store_explicit(&sum, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint mine = 0;
    for (uint i = gid; i < n; i += total_threads) mine += in[i];
    atomic_fetch_add_explicit(&sum, mine, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) {
        partial[wg] = atomic_load_explicit(&sum, memory_order_relaxed);
        atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
        is_last = atomic_fetch_add_explicit(done, 1u, memory_order_relaxed) == n_wg - 1;
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (is_last && tid == 0) {
        uint all = 0;
        for (uint g = 0; g < n_wg; ++g) all += partial[g];
        *result = all;
    }
}

// ---- sparse and graphs

kernel void spmv_scalar(device const uint *row_ptr [[buffer(0)]], device const uint *col [[buffer(1)]],
                        device const float *val [[buffer(2)]], device const float *x [[buffer(3)]],
                        device float *y [[buffer(4)]], constant uint &rows [[buffer(5)]],
                        uint r [[thread_position_in_grid]])
{
    if (r >= rows) return;
    float sum = 0;
    for (uint k = row_ptr[r]; k < row_ptr[r + 1]; ++k)
        sum = fma(val[k], x[col[k]], sum);
    y[r] = sum;
}

kernel void spmv_vector(device const uint *row_ptr [[buffer(0)]], device const uint *col [[buffer(1)]],
                        device const float *val [[buffer(2)]], device const float *x [[buffer(3)]],
                        device float *y [[buffer(4)]], constant uint &rows [[buffer(5)]],
                        uint wg [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]],
                        uint n_sg [[simdgroups_per_threadgroup]])
{
    uint r = wg * n_sg + sg;
    if (r >= rows) return;
    float sum = 0;
    for (uint k = row_ptr[r] + lane; k < row_ptr[r + 1]; k += 32)
        sum += val[k] * x[col[k]];
    sum = simd_sum(sum);
    if (lane == 0) y[r] = sum;
}

kernel void bfs_step(device const uint *row_ptr [[buffer(0)]], device const uint *col [[buffer(1)]],
                     device atomic_int *level [[buffer(2)]], device const uint *frontier [[buffer(3)]],
                     device uint *next [[buffer(4)]], device atomic_uint *n_next [[buffer(5)]],
                     constant uint &n_frontier [[buffer(6)]], constant int &depth [[buffer(7)]],
                     uint i [[thread_position_in_grid]])
{
    if (i >= n_frontier) return;
    uint v = frontier[i];
    for (uint k = row_ptr[v]; k < row_ptr[v + 1]; k++) {
        uint w = col[k];
        int unseen = -1;
        if (atomic_load_explicit(&level[w], memory_order_relaxed) != -1) continue;
        bool mine = false;
        do {
            mine = atomic_compare_exchange_weak_explicit(&level[w], &unseen, depth, memory_order_relaxed,
                                                         memory_order_relaxed);
        } while (!mine && unseen == -1);
        if (mine)
            next[atomic_fetch_add_explicit(n_next, 1u, memory_order_relaxed)] = w;
    }
}

kernel void components_hook(device atomic_uint *label [[buffer(0)]], device const uint2 *edges [[buffer(1)]],
                            device atomic_uint *changed [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    uint2 e = edges[i];
    uint a = atomic_load_explicit(label + e.x, memory_order_relaxed);
    uint b = atomic_load_explicit(label + e.y, memory_order_relaxed);
    if (a == b) return;
    uint low = min(a, b);
    uint old_a = atomic_fetch_min_explicit(label + e.x, low, memory_order_relaxed);
    uint old_b = atomic_fetch_min_explicit(label + e.y, low, memory_order_relaxed);
    if (old_a > low || old_b > low)
        atomic_store_explicit(changed, 1u, memory_order_relaxed);
}

// ---- clustering

kernel void kmeans_assign(device const packed_float3 *points [[buffer(0)]],
                          constant float3 *centres [[buffer(1)]],
                          device uint *owner [[buffer(2)]],
                          device atomic_float *sums [[buffer(3)]],
                          device atomic_uint *counts [[buffer(4)]],
                          constant uint2 &nk [[buffer(5)]],
                          uint i [[thread_position_in_grid]])
{
    if (i >= nk.x) return;
    float3 p = points[i];
    float best = MAXFLOAT;
    uint at = 0;
    for (uint k = 0; k < nk.y; ++k) {
        float d = distance_squared(p, centres[k]);
        if (d < best) { best = d; at = k; }
    }
    owner[i] = at;
    for (uint c = 0; c < 3; ++c)
        atomic_fetch_add_explicit(&sums[3 * at + c], p[c], memory_order_relaxed);
    atomic_fetch_add_explicit(&counts[at], 1u, memory_order_relaxed);
}

// ---- sequences

// Smith-Waterman by anti-diagonals: one threadgroup, a barrier per diagonal
kernel void smith_waterman(device const char *a [[buffer(0)]], device const char *b [[buffer(1)]],
                           device int *h [[buffer(2)]], constant uint2 &len [[buffer(3)]],
                           device atomic_int *best [[buffer(4)]],
                           uint tid [[thread_position_in_threadgroup]], uint size [[threads_per_threadgroup]])
{
    const uint w = len.y + 1;
    int mine = 0;
    for (uint d = 2; d <= len.x + len.y; ++d) {
        uint first = d > len.y ? d - len.y : 1;
        uint last = min(d - 1, len.x);
        for (uint i = first + tid; i <= last; i += size) {
            uint j = d - i;
            int match = a[i - 1] == b[j - 1] ? 3 : -3;
            int v = max(0, h[(i - 1) * w + j - 1] + match);
            v = max3(v, h[(i - 1) * w + j] - 2, h[i * w + j - 1] - 2);
            h[i * w + j] = v;
            mine = max(mine, v);
        }
        threadgroup_barrier(mem_flags::mem_device);
    }
    atomic_fetch_max_explicit(best, mine, memory_order_relaxed);
}

// every place where a pattern starts, with early exit
kernel void find_all(device const uchar *text [[buffer(0)]], constant uchar *pattern [[buffer(1)]],
                     constant uint2 &len [[buffer(2)]], device uchar *hit [[buffer(3)]],
                     uint i [[thread_position_in_grid]])
{
    if (i + len.y > len.x) { hit[i] = 0; return; }
    for (uint k = 0; k < len.y; ++k)
        if (text[i + k] != pattern[k] && pattern[k] != '?') {
            hit[i] = 0;
            return;
        }
    hit[i] = 1;
}

// words: a state machine with switch, a run per thread
kernel void count_words(device const uchar *text [[buffer(0)]], constant uint &n [[buffer(1)]],
                        constant uint &run [[buffer(2)]], device uint4 *out [[buffer(3)]],
                        uint t [[thread_position_in_grid]])
{
    uint4 counts = 0;
    enum State { OUTSIDE, WORD, NUMBER } state = OUTSIDE;
    const uint end = min(n, (t + 1) * run);
    for (uint i = t * run; i < end; ++i) {
        uchar c = text[i];
        switch (c) {
            case ' ': case '\n': case '\t':
                counts.w++;
                state = OUTSIDE;
                break;
            case '0' ... '9':
                if (state == OUTSIDE) { state = NUMBER; counts.y++; }
                break;
            default:
                if (c >= 'a' && c <= 'z') {
                    if (state == OUTSIDE) { state = WORD; counts.x++; }
                } else {
                    counts.z++;
                    state = OUTSIDE;
                }
        }
    }
    out[t] = counts;
}

// SPDX-License-Identifier: Apache-2.0
// reduce.metal: reductions of everything, of rows and of columns; arg-reductions; scans; sorts.
#include "../include/traits.h"

using namespace metal;
using forge::Range;
using forge::wide_t;

// ---- reducers: neutral element, combination, SIMD form
template <typename U>
struct Sum {
  FORGE_CONST U init = U(0);
  template <typename T> U operator()(T a, U b) { return b + U(a); }
  U simd(U v) { return simd_sum(v); }
};
template <>
struct Sum<cplx> {
  FORGE_CONST cplx init = cplx(0.0f, 0.0f);
  cplx operator()(cplx a, cplx b) { return a + b; }
  cplx simd(cplx v) { return {simd_sum(v.re), simd_sum(v.im)}; }
};
template <>
struct Sum<long> {
  FORGE_CONST long init = 0;
  template <typename T> long operator()(T a, long b) { return b + long(a); }
  long simd(long v) {
    FORGE_UNROLL
    for (ushort d = 16; d > 0; d /= 2) v += forge::lane_down(v, d);
    return v;
  }
};
template <typename U>
struct Prod {
  FORGE_CONST U init = U(1);
  template <typename T> U operator()(T a, U b) { return b * U(a); }
  U simd(U v) { return simd_product(v); }
};
template <typename U>
struct Max {
  FORGE_CONST U init = Range<U>::bottom;
  template <typename T> U operator()(T a, U b) { return U(a) > b ? U(a) : b; }
  U simd(U v) { return simd_max(v); }
};
template <typename U>
struct Min {
  FORGE_CONST U init = Range<U>::top;
  template <typename T> U operator()(T a, U b) { return U(a) < b ? U(a) : b; }
  U simd(U v) { return simd_min(v); }
};
struct All {
  FORGE_CONST bool init = true;
  template <typename T> bool operator()(T a, bool b) { return bool(a) && b; }
  bool simd(bool v) { return simd_all(v); }
};
struct Any {
  FORGE_CONST bool init = false;
  template <typename T> bool operator()(T a, bool b) { return bool(a) || b; }
  bool simd(bool v) { return simd_any(v); }
};

// ---- all: many threadgroups leave partial results
template <typename T, typename U, typename Op, int N = 4>
[[kernel]] void reduce_all(const device T* in [[buffer(0)]],
                           device U* out [[buffer(1)]],
                           const constant size_t& size [[buffer(2)]],
                           uint3 gid [[threadgroup_position_in_grid]],
                           uint3 lid [[thread_position_in_threadgroup]],
                           uint3 lsize [[threads_per_threadgroup]],
                           uint3 groups [[threadgroups_per_grid]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]],
                           uint n_sg [[simdgroups_per_threadgroup]]) {
  threadgroup U parts[32];
  Op op;
  U total = Op::init;
  const size_t stride = size_t(groups.x) * lsize.x * N;
  for (size_t base = (size_t(gid.x) * lsize.x + lid.x) * N; base < size; base += stride) {
    if (base + N <= size) {
      T v[N];
      FORGE_UNROLL
      for (int i = 0; i < N; ++i) v[i] = in[base + i];
      FORGE_UNROLL
      for (int i = 0; i < N; ++i) total = op(v[i], total);
    } else {
      for (size_t i = base; i < size; ++i) total = op(in[i], total);
    }
  }
  total = op.simd(total);
  if (lane == 0) parts[sg] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = lane < n_sg ? parts[lane] : U(Op::init);
  total = op.simd(total);
  if (lid.x == 0) out[gid.x] = total;
}

// ---- rows: a SIMD-group per row, or a loop for short rows
template <typename T, typename U, typename Op>
[[kernel]] void reduce_row(const device T* in [[buffer(0)]],
                           device U* out [[buffer(1)]],
                           const constant uint& row_size [[buffer(2)]],
                           const constant uint& rows [[buffer(3)]],
                           uint row [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]],
                           uint n_sg [[simdgroups_per_threadgroup]]) {
  row = row * n_sg + sg;
  if (row >= rows) return;
  in += size_t(row) * row_size;
  Op op;
  U total = Op::init;
  for (uint i = lane; i < row_size; i += 32) total = op(in[i], total);
  total = op.simd(total);
  if (lane == 0) out[row] = total;
}

// ---- columns: 8x32 tiles, transposed in threadgroup memory
template <typename T, typename U, typename Op, int BM = 32, int BN = 8>
[[kernel, max_total_threads_per_threadgroup(256)]] void reduce_col(
    const device T* in [[buffer(0)]],
    device U* out [[buffer(1)]],
    const constant uint2& shape [[buffer(2)]],
    uint3 gid [[threadgroup_position_in_grid]],
    uint lid [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint sg [[simdgroup_index_in_threadgroup]]) {
  static_assert(BM == 32, "a SIMD-group finishes a column");
  threadgroup U tile[BN][BM + 1];
  Op op;
  const uint r = lid / BN, c = lid % BN;
  const uint column = gid.x * BN + c;
  U total = Op::init;
  if (column < shape.x)
    for (uint y = r; y < shape.y; y += BM) total = op(in[y * shape.x + column], total);
  tile[c][r] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = op.simd(tile[sg][lane]);
  if (lane == 0 && gid.x * BN + sg < shape.x) out[gid.x * BN + sg] = total;
}

#define reduce_set(op, Op, tname, T, U)                  \
  expose("all_" #op "_" #tname, reduce_all, T, U, Op)    \
  expose("row_" #op "_" #tname, reduce_row, T, U, Op)    \
  expose("col_" #op "_" #tname, reduce_col, T, U, Op)
#define reduce_ints(op, Op)                              \
  reduce_set(op, Op<int>, int8, char, int)               \
  reduce_set(op, Op<uint>, uint8, uchar, uint)           \
  reduce_set(op, Op<int>, int16, short, int)             \
  reduce_set(op, Op<int>, int32, int, int)               \
  reduce_set(op, Op<uint>, uint32, uint, uint)
#define reduce_reals(op, Op)                             \
  reduce_set(op, Op<float>, float32, float, float)       \
  reduce_set(op, Op<float>, float16, half, float)        \
  reduce_set(op, Op<float>, bfloat16, bf16, float)
reduce_ints(sum, Sum)
reduce_ints(max, Max)
reduce_ints(min, Min)
reduce_reals(sum, Sum)
reduce_reals(prod, Prod)
reduce_reals(max, Max)
reduce_reals(min, Min)
reduce_set(prod, Prod<int>, int32, int, int)
reduce_set(sum, Sum<cplx>, complex64, cplx, cplx)
reduce_set(sum, Sum<long>, int64, long, long)
reduce_set(all, All, bool, bool, bool)
reduce_set(any, Any, bool, bool, bool)

// ---- arg-reductions: a pair goes through the shuffles
template <typename T>
struct Indexed {
  uint index;
  T value;
};

template <typename T>
struct ArgMax {
  static constexpr constant T init = Range<T>::bottom;
  Indexed<T> best(Indexed<T> a, Indexed<T> b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
};
template <typename T>
struct ArgMin {
  static constexpr constant T init = Range<T>::top;
  Indexed<T> best(Indexed<T> a, Indexed<T> b) {
    return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
};

template <typename U>
Indexed<U> simd_shuffle_down(Indexed<U> data, uint16_t delta) {
  return Indexed<U>{metal::simd_shuffle_down(data.index, delta), metal::simd_shuffle_down(data.value, delta)};
}

template <typename T, typename Op, int N = 4>
[[kernel]] void arg_reduce(const device T* in [[buffer(0)]],
                           device uint* out [[buffer(1)]],
                           const constant size_t& axis [[buffer(2)]],
                           uint gid [[threadgroup_position_in_grid]],
                           uint lid [[thread_position_in_threadgroup]],
                           uint lsize [[threads_per_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup Indexed<T> local[32];
  Op op;
  in += gid * axis;
  Indexed<T> best{0xffffffffu, Op::init};
  for (uint r = 0; r < forge::ceil_div(axis, size_t(N) * lsize); r++) {
    const uint at = r * lsize * N + lid * N;
    T vals[N];
    for (int i = 0; i < N; i++) vals[i] = (at + i < axis) ? in[at + i] : T(Op::init);
    for (int i = 0; i < N; i++)
      if (at + i < axis) best = op.best(best, Indexed<T>{at + i, vals[i]});
  }
  for (uint16_t d = 16; d > 0; d /= 2) best = op.best(best, simd_shuffle_down(best, d));
  if (lane == 0) local[sg] = best;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (sg != 0) return;
  const uint n_sg = (lsize + 31) / 32;
  if (lane < n_sg) best = local[lane]; else best = Indexed<T>{0xffffffffu, Op::init};
  for (uint16_t d = 16; d > 0; d /= 2) best = op.best(best, simd_shuffle_down(best, d));
  if (lid == 0) out[gid] = best.index;
}
expose("argmax_float32", arg_reduce, float, ArgMax<float>)
expose("argmin_float32", arg_reduce, float, ArgMin<float>)
expose("argmax_float16", arg_reduce, half, ArgMax<half>)
expose("argmin_int32", arg_reduce, int, ArgMin<int>)
expose("argmax_uint8", arg_reduce, uchar, ArgMax<uchar>)
expose("argmax_bfloat16", arg_reduce, bf16, ArgMax<bf16>)

// ---- scans along rows: inclusive or exclusive, forwards or backwards
template <typename U>
struct CumSum {
  FORGE_CONST U init = U(0);
  U operator()(U a, U b) { return a + b; }
  U simd_exclusive(U x) { return simd_prefix_exclusive_sum(x); }
};
template <typename U>
struct CumMax {
  FORGE_CONST U init = Range<U>::bottom;
  U operator()(U a, U b) { return metal::max(a, b); }
  U simd_exclusive(U x) {
    const ushort lane = lane_index();
    for (ushort d = 1; d <= 16; d *= 2) {
      U other = simd_shuffle_up(x, d);
      x = lane >= d ? operator()(x, other) : x;
    }
    x = simd_shuffle_and_fill_up(x, U(init), ushort(1));
    return x;
  }
  static ushort lane_index() { return simd_prefix_exclusive_sum(ushort(1)); }
};

template <typename T, typename U, typename Op, int N, bool inclusive, bool reverse>
[[kernel]] void scan_rows(const device T* in [[buffer(0)]],
                          device U* out [[buffer(1)]],
                          const constant uint& axis [[buffer(2)]],
                          uint row [[threadgroup_position_in_grid]],
                          uint lid [[thread_position_in_threadgroup]],
                          uint lsize [[threads_per_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]]) {
  Op op;
  threadgroup U sums[32];
  in += row * axis;
  out += row * axis;
  const uint n_sg = lsize / 32;
  U prefix = Op::init;
  U values[N];
  for (uint base = 0; base < axis; base += N * lsize) {
    const uint off = base + lid * N;
    FORGE_UNROLL
    for (int i = 0; i < N; ++i) {
      const uint at = reverse ? axis - 1 - (off + i) : off + i;
      values[i] = off + i < axis ? U(in[at]) : U(Op::init);
    }
    FORGE_UNROLL
    for (int i = 1; i < N; ++i) values[i] = op(values[i], values[i - 1]);
    U before = op.simd_exclusive(values[N - 1]);
    if (lane == 31) sums[sg] = op(before, values[N - 1]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 0) {
      U s = lane < n_sg ? sums[lane] : U(Op::init);
      sums[lane] = op.simd_exclusive(s);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    before = op(op(before, sums[sg]), prefix);
    if constexpr (inclusive) {
      for (int i = 0; i < N; ++i) values[i] = op(values[i], before);
    } else {
      for (int i = N - 1; i > 0; --i) values[i] = op(values[i - 1], before);
      values[0] = before;
    }
    U last;
    {
      threadgroup U& carry = sums[0];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (lid == lsize - 1) {
        U total = inclusive ? values[N - 1] : op(values[N - 1], U(off + N - 1 < axis ? in[reverse ? axis - off - N : off + N - 1] : T(Op::init)));
        carry = total;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      last = carry;
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    prefix = last;
    for (int i = 0; i < N; ++i) {
      const uint at = reverse ? axis - 1 - (off + i) : off + i;
      if (off + i < axis) out[at] = values[i];
    }
  }
}
#define scans(op, Op, tn, T, U)                                                   \
  expose("scan_inc_" #op "_" #tn, scan_rows, T, U, Op<U>, 4, true, false)         \
  expose("scan_exc_" #op "_" #tn, scan_rows, T, U, Op<U>, 4, false, false)        \
  expose("scan_rinc_" #op "_" #tn, scan_rows, T, U, Op<U>, 3, true, true)         \
  expose("scan_rexc_" #op "_" #tn, scan_rows, T, U, Op<U>, 2, false, true)
scans(sum, CumSum, int32, int, int)
scans(sum, CumSum, uint8, uchar, uint)
scans(sum, CumSum, float32, float, float)
scans(sum, CumSum, bool, bool, int)
scans(max, CumMax, int32, int, int)
scans(max, CumMax, float32, float, float)

// ---- block merge sort of rows that fit a threadgroup
template <typename T>
struct Less {
  FORGE_CONST T init = Range<T>::top;
  FORGE_FUNC bool operator()(T a, T b) { return a < b; }
};

template <typename V, typename I, bool ARG, int NT, int NV, typename Cmp>
struct BlockMergeSort {
  using Thread = BlockMergeSort;
  static FORGE_FUNC void odd_even(thread V (&v)[NV], thread I (&ix)[NV]) {
    Cmp less;
    FORGE_UNROLL
    for (short i = 0; i < NV; ++i) {
      FORGE_UNROLL
      for (short j = i & 1; j < NV - 1; j += 2) {
        if (less(v[j + 1], v[j])) {
          V tv = v[j]; v[j] = v[j + 1]; v[j + 1] = tv;
          I ti = ix[j]; ix[j] = ix[j + 1]; ix[j + 1] = ti;
        }
      }
    }
  }
  // how many of a[0, na) come before place `mid` of the merge
  static FORGE_FUNC int split(const threadgroup V* a, const threadgroup V* b, short na, short nb, short mid) {
    Cmp less;
    short lo = max(0, mid - nb), hi = min(mid, na);
    while (lo < hi) {
      const short m = lo + (hi - lo) / 2;
      if (less(b[mid - 1 - m], a[m])) hi = m; else lo = m + 1;
    }
    return hi;
  }
  static FORGE_FUNC void sort(threadgroup V* tv, threadgroup I* ti, short lid) {
    Cmp less;
    const short first = lid * NV;
    thread V v[NV];
    thread I ix[NV];
    for (short i = 0; i < NV; ++i) { v[i] = tv[first + i]; ix[i] = ti[first + i]; }
    odd_even(v, ix);
    FORGE_KEEP_LOOP
    for (short merge = 2; merge <= NT; merge *= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (short i = 0; i < NV; ++i) { tv[first + i] = v[i]; ti[first + i] = ix[i]; }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const short group = lid / merge, within = lid % merge;
      const short size = NV * merge, start = size * group, half_size = size / 2;
      const threadgroup V* a = tv + start;
      const threadgroup V* b = a + half_size;
      const threadgroup I* ai = ti + start;
      const threadgroup I* bi = ai + half_size;
      const short mid = NV * within;
      short ka = split(a, b, half_size, half_size, mid);
      short kb = mid - ka;
      for (short i = 0; i < NV; ++i) {
        const bool take_b = kb < half_size && (ka >= half_size || less(b[kb], a[ka]));
        v[i] = take_b ? b[kb] : a[ka];
        ix[i] = take_b ? bi[kb] : ai[ka];
        ka += short(!take_b);
        kb += short(take_b);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short i = 0; i < NV; ++i) { tv[first + i] = v[i]; ti[first + i] = ix[i]; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
};

template <typename T, bool ARG, int NT, int NV>
[[kernel, max_total_threads_per_threadgroup(NT)]] void block_sort(
    const device T* in [[buffer(0)]],
    device conditional_t<ARG, uint, T>* out [[buffer(1)]],
    const constant int& axis [[buffer(2)]],
    uint row [[threadgroup_position_in_grid]],
    uint lid [[thread_position_in_threadgroup]]) {
  using Sorter = BlockMergeSort<T, uint, ARG, NT, NV, Less<T>>;
  threadgroup T tv[NT * NV];
  threadgroup uint ti[NT * NV];
  for (short i = lid; i < NT * NV; i += NT) {
    tv[i] = i < axis ? in[row * axis + i] : T(Less<T>::init);
    ti[i] = i;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Sorter::sort(tv, ti, lid);
  for (int i = lid; i < axis; i += NT) {
    if constexpr (ARG) out[row * axis + i] = ti[i];
    else out[row * axis + i] = tv[i];
  }
}
expose("sort_float32_32_4", block_sort, float, false, 32, 4)
expose("argsort_float32_64_4", block_sort, float, true, 64, 4)
expose("sort_int8_128_8", block_sort, char, false, 128, 8)
expose("argsort_int64_32_2", block_sort, long, true, 32, 2)
expose("sort_bfloat16_64_4", block_sort, bf16, false, 64, 4)
expose("sort_float32_256_8", block_sort, float, false, 256, 8)

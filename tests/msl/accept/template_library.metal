// A kernel library in the style of array frameworks: functors, traits, loaders as class templates with
// constexpr static members, macros that instantiate every kernel for every type with a host name.
#include <metal_stdlib>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>

using namespace metal;

#define LIB_CONST static constant constexpr const
#define LIB_UNROLL _Pragma("clang loop unroll(full)")

///////////////////////////////////////////////////////////////////////////////////////////////////
// Limits and traits
///////////////////////////////////////////////////////////////////////////////////////////////////

template <typename U>
struct Limits {
  static const constant U max = metal::numeric_limits<U>::max();
  static const constant U min = metal::numeric_limits<U>::min();
  static const constant U finite_max = metal::numeric_limits<U>::max();
};

#define instantiate_float_limit(type)                                   \
  template <>                                                           \
  struct Limits<type> {                                                 \
    static constexpr constant type max = metal::numeric_limits<type>::infinity();   \
    static constexpr constant type min = -metal::numeric_limits<type>::infinity();  \
    static constexpr constant type finite_max = metal::numeric_limits<type>::max(); \
  };

instantiate_float_limit(half);
instantiate_float_limit(float);
instantiate_float_limit(bfloat);

template <typename T>
struct AccumOf {
  typedef float type;
};
template <>
struct AccumOf<int> {
  typedef int type;
};
template <typename T>
using accum_t = typename AccumOf<T>::type;

template <typename T, int n>
struct alignas(sizeof(T) * n) ReadVector {
  uint8_t v[sizeof(T) * n];
};

///////////////////////////////////////////////////////////////////////////////////////////////////
// A complex number, with operators in several address spaces
///////////////////////////////////////////////////////////////////////////////////////////////////

struct complex64_t {
  float real;
  float imag;

  constexpr complex64_t(float r, float i) : real(r), imag(i) {};
  constexpr complex64_t() : real(0), imag(0) {};
  constexpr complex64_t() threadgroup : real(0), imag(0) {};

  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type>
  constexpr complex64_t(T x) thread : real(x), imag(0) {}

  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type>
  constexpr complex64_t(T x) threadgroup : real(x), imag(0) {}

  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type>
  constexpr complex64_t(T x) device : real(x), imag(0) {}

  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type>
  constexpr complex64_t(T x) constant : real(x), imag(0) {}

  template <typename T, typename = typename enable_if<!is_same_v<T, complex64_t> && is_convertible_v<float, T>>::type>
  constexpr operator T() const thread {
    return static_cast<T>(real);
  }
  template <typename T, typename = typename enable_if<!is_same_v<T, complex64_t> && is_convertible_v<float, T>>::type>
  constexpr operator T() const device {
    return static_cast<T>(real);
  }
};

constexpr complex64_t operator+(complex64_t a, complex64_t b) { return {a.real + b.real, a.imag + b.imag}; }
constexpr complex64_t operator-(complex64_t a) { return {-a.real, -a.imag}; }
constexpr thread complex64_t &operator+=(thread complex64_t &a, complex64_t b) {
  a.real += b.real;
  a.imag += b.imag;
  return a;
}
constexpr threadgroup complex64_t &operator+=(threadgroup complex64_t &a, complex64_t b) {
  a.real += b.real;
  a.imag += b.imag;
  return a;
}
constexpr complex64_t operator*(complex64_t a, complex64_t b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
constexpr bool operator==(complex64_t a, complex64_t b) { return a.real == b.real && a.imag == b.imag; }

///////////////////////////////////////////////////////////////////////////////////////////////////
// Functors
///////////////////////////////////////////////////////////////////////////////////////////////////

struct Add {
  template <typename T>
  T operator()(T x, T y) {
    return x + y;
  }
};
struct Maximum {
  template <typename T>
  metal::enable_if_t<metal::is_integral_v<T>, T> operator()(T x, T y) {
    return metal::max(x, y);
  }
  template <typename T>
  metal::enable_if_t<!metal::is_integral_v<T>, T> operator()(T x, T y) {
    if (metal::isnan(x)) {
      return x;
    }
    return x > y ? x : y;
  }
  template <>
  complex64_t operator()(complex64_t x, complex64_t y) {
    return x.real > y.real ? x : y;
  }
};
struct Sigmoid {
  template <typename T>
  T operator()(T x) {
    auto y = 1 / (1 + metal::exp(metal::abs(x)));
    return (x < 0) ? y : 1 - y;
  }
};
struct Square {
  template <typename T>
  T operator()(T x) {
    return x * x;
  };
};

template <typename U>
struct SumOp {
  LIB_CONST U init = U(0);
  METAL_FUNC U operator()(U a, U b) const {
    return a + b;
  }
  METAL_FUNC U simd_reduce(U v) const {
    return simd_sum(v);
  }
  METAL_FUNC void atomic_update(volatile device metal::atomic<U> *out, U v) {
    atomic_fetch_add_explicit(out, v, memory_order_relaxed);
  }
};

template <typename U>
struct MaxOp {
  LIB_CONST U init = Limits<U>::min;
  METAL_FUNC U operator()(U a, U b) const {
    return a > b ? a : b;
  }
  METAL_FUNC U simd_reduce(U v) const {
    return simd_max(v);
  }
};

///////////////////////////////////////////////////////////////////////////////////////////////////
// Indexing
///////////////////////////////////////////////////////////////////////////////////////////////////

template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc(IdxT elem, constant const int *shape, constant const int64_t *strides, int ndim) {
  IdxT loc = 0;
  for (int i = ndim - 1; i >= 0 && elem > 0; --i) {
    loc += (elem % shape[i]) * IdxT(strides[i]);
    elem /= shape[i];
  }
  return loc;
}

template <typename IdxT = int64_t>
METAL_FUNC vec<IdxT, 2> elem_to_loc_2_nd(uint3 elem, constant const int *shape, constant const int64_t *a_strides,
                                         constant const int64_t *b_strides, int ndim) {
  vec<IdxT, 2> loc = {
      IdxT(elem.x * IdxT(a_strides[ndim - 1]) + IdxT(elem.y) * IdxT(a_strides[ndim - 2])),
      IdxT(elem.x * IdxT(b_strides[ndim - 1]) + elem.y * IdxT(b_strides[ndim - 2]))};
  for (int d = ndim - 3; d >= 0; --d) {
    uint l = elem.z % shape[d];
    loc.x += l * IdxT(a_strides[d]);
    loc.y += l * IdxT(b_strides[d]);
    elem.z /= shape[d];
  }
  return loc;
}

template <typename OffsetT, int DIM>
struct LoopedElemToLoc {
  int dim;
  LoopedElemToLoc<OffsetT, DIM - 1> inner;
  OffsetT offset{0};
  int index{0};

  LoopedElemToLoc(int dim) : dim(dim), inner(dim - 1) {}

  void next(const constant int *shape, const constant int64_t *strides) {
    if (dim == 0) {
      return;
    }
    index++;
    offset += OffsetT(strides[dim - 1]);
    if (index >= shape[dim - 1]) {
      index = 0;
      inner.next(shape, strides);
      offset = inner.offset;
    }
  }
  OffsetT location() {
    return offset;
  }
};

template <typename OffsetT>
struct LoopedElemToLoc<OffsetT, 1> {
  int dim;
  OffsetT offset{0};
  uint index{0};
  LoopedElemToLoc(int dim) : dim(dim) {}
  void next(const constant int *shape, const constant int64_t *strides) {
    index++;
    offset += OffsetT(strides[0]);
    (void)shape;
  }
  OffsetT location() {
    return offset;
  }
};

///////////////////////////////////////////////////////////////////////////////////////////////////
// Element-wise kernels
///////////////////////////////////////////////////////////////////////////////////////////////////

template <typename T, typename U, typename Op>
[[kernel]] void unary_v(device const T *in, device U *out, uint index [[thread_position_in_grid]]) {
  out[index] = Op()(in[index]);
}

template <typename T, typename U, typename Op, int N = 4>
[[kernel]] void binary_vv(device const T *a, device const T *b, device U *c, constant uint &size,
                          uint index [[thread_position_in_grid]]) {
  index *= N;
  if (N > 1 && index + N > size) {
    for (int i = 0; index + i < size; ++i) {
      c[index + i] = Op()(a[index + i], b[index + i]);
    }
  } else {
    for (int i = 0; i < N; ++i) {
      c[index + i] = Op()(a[index + i], b[index + i]);
    }
  }
}

template <typename T, typename U, typename Op, typename IdxT = int>
[[kernel]] void binary_g(device const T *a, device const T *b, device U *c, constant const int *shape,
                         constant const int64_t *a_strides, constant const int64_t *b_strides, constant const int &ndim,
                         uint3 index [[thread_position_in_grid]], uint3 grid_dim [[threads_per_grid]]) {
  auto idx = elem_to_loc_2_nd<IdxT>(index, shape, a_strides, b_strides, ndim);
  LoopedElemToLoc<IdxT, 3> looped(ndim);
  looped.next(shape, a_strides);
  IdxT out_idx = index.x + IdxT(grid_dim.x) * (index.y + IdxT(grid_dim.y) * index.z) + looped.location();
  c[out_idx] = Op()(a[idx.x], b[idx.y]);
}

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;

#define instantiate_unary(op, tname, type) instantiate_kernel("v_" #op #tname, unary_v, type, type, op)
#define instantiate_binary(op, tname, type)                        \
  instantiate_kernel("vv_" #op #tname, binary_vv, type, type, op)  \
  instantiate_kernel("g_" #op #tname, binary_g, type, type, op)
#define instantiate_binary_types(op)       \
  instantiate_binary(op, int32, int)       \
  instantiate_binary(op, int64, int64_t)   \
  instantiate_binary(op, uint8, uint8_t)   \
  instantiate_binary(op, float16, half)    \
  instantiate_binary(op, float32, float)   \
  instantiate_binary(op, bfloat16, bfloat) \
  instantiate_binary(op, complex64, complex64_t)

instantiate_binary_types(Add)
instantiate_binary_types(Maximum)
instantiate_unary(Sigmoid, float32, float)
instantiate_unary(Sigmoid, float16, half)
instantiate_unary(Square, complex64, complex64_t) // clang-format on

///////////////////////////////////////////////////////////////////////////////////////////////////
// Reductions
///////////////////////////////////////////////////////////////////////////////////////////////////

template <typename T, typename U, typename Op, int N_READS = 4>
METAL_FUNC void per_thread_reduce(thread U *totals, const device T *row, int n, uint lid) {
  Op op;
  totals[0] = Op::init;
  LIB_UNROLL
  for (int i = 0; i < N_READS; i++) {
    int at = lid * N_READS + i;
    if (at < n)
      totals[0] = op(static_cast<U>(row[at]), totals[0]);
  }
}

template <typename T, typename U, typename Op, int N_READS = 4>
[[kernel]] void all_reduce(const device T *in [[buffer(0)]], device U *out [[buffer(1)]], const constant size_t &in_size [[buffer(2)]],
                           uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]],
                           uint3 lsize [[threads_per_threadgroup]], uint simd_per_group [[simdgroups_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]], uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  Op op;
  threadgroup U shared_vals[32];
  U total = Op::init;
  const device T *row = in + gid.x * in_size;
  thread U totals[1];
  per_thread_reduce<T, U, Op, N_READS>(totals, row, int(in_size), lid.x);
  total = op(totals[0], total);
  total = op.simd_reduce(total);
  if (simd_per_group > 1) {
    if (simd_lane_id == 0) {
      shared_vals[simd_group_id] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = (lid.x < simd_per_group) ? shared_vals[lid.x] : op.init;
    total = op.simd_reduce(total);
  }
  if (lid.x == 0) {
    out[gid.x] = total;
  }
  (void)lsize;
}

instantiate_kernel("all_reduce_sum_f32", all_reduce, float, float, SumOp<float>)
instantiate_kernel("all_reduce_sum_f16", all_reduce, half, float, SumOp<float>, 8)
instantiate_kernel("all_reduce_max_i32", all_reduce, int, int, MaxOp<int>)

///////////////////////////////////////////////////////////////////////////////////////////////////
// Matrix multiplication: loaders and fragments as class templates
///////////////////////////////////////////////////////////////////////////////////////////////////

template <typename T, short BROWS, short BCOLS, short dst_ld, short reduction_dim, short tgp_size, short alignment = 1,
          short n_reads = (BCOLS * BROWS) / (tgp_size), short TCOLS = BCOLS / n_reads, short TROWS = tgp_size / TCOLS>
struct BlockLoader {
  LIB_CONST short n_rows = (BROWS + TROWS - 1) / TROWS;
  LIB_CONST short vec_size = n_reads;

  const int src_ld;
  const int tile_stride;
  const short thread_idx;
  const short bi;
  const short bj;
  threadgroup T *dst;
  const device T *src;

  METAL_FUNC BlockLoader(const device T *src_, const int src_ld_, threadgroup T *dst_,
                         ushort simd_group_id [[simdgroup_index_in_threadgroup]],
                         ushort simd_lane_id [[thread_index_in_simdgroup]])
      : src_ld(src_ld_), tile_stride(reduction_dim ? BCOLS : BROWS * src_ld), thread_idx(simd_group_id * 32 + simd_lane_id),
        bi(thread_idx / TCOLS), bj(vec_size * (thread_idx % TCOLS)), dst(dst_ + bi * dst_ld + bj), src(src_ + bi * src_ld + bj) {}

  METAL_FUNC void load_unsafe() const {
    LIB_UNROLL
    for (short i = 0; i < BROWS; i += TROWS) {
      *((threadgroup ReadVector<T, vec_size> *)(&dst[i * dst_ld])) = *((const device ReadVector<T, vec_size> *)(&src[i * src_ld]));
    }
  }
  METAL_FUNC void load_safe(short2 src_tile_dim) const {
    src_tile_dim = src_tile_dim - short2(bj, bi);
    if (src_tile_dim.x <= 0 || src_tile_dim.y <= 0) {
      for (short i = 0; i < BROWS; i += TROWS)
        for (short j = 0; j < vec_size; j++)
          dst[i * dst_ld + j] = T(0);
      return;
    }
    bool tmp_idx[vec_size];
    T tmp_val[vec_size];
    for (short i = 0; i < BROWS; i += TROWS) {
      for (short j = 0; j < vec_size; j++)
        tmp_idx[j] = (i < src_tile_dim.y) && (j < src_tile_dim.x);
      for (short j = 0; j < vec_size; j++)
        tmp_val[j] = src[(tmp_idx[j] ? i * src_ld + j : 0)];
      for (short j = 0; j < vec_size; j++)
        dst[i * dst_ld + j] = tmp_idx[j] ? tmp_val[j] : T(0);
    }
  }
  METAL_FUNC void next() {
    src += tile_stride;
  }
};

template <typename T, int BM, int BN, int BK, int WM, int WN, short lda_tgp, short ldb_tgp, typename AccumType = float>
struct BlockMMA {
  LIB_CONST short TM = BM / (8 * WM);
  LIB_CONST short TN = BN / (8 * WN);
  simdgroup_matrix<AccumType, 8, 8> results[TM * TN] = {simdgroup_matrix<AccumType, 8, 8>(0)};
  short sm, sn;

  METAL_FUNC BlockMMA(ushort simd_group_id, ushort simd_lane_id) {
    short qid = simd_lane_id / 4;
    sm = (qid & 4) + (simd_lane_id / 2) % 4;
    sn = (qid & 2) * 2 + (simd_lane_id % 2) * 2;
    sm += 8 * (simd_group_id / WN);
  }
  METAL_FUNC void mma(const threadgroup T *As, const threadgroup T *Bs) {
    simdgroup_matrix<AccumType, 8, 8> Asimd[TM];
    simdgroup_matrix<AccumType, 8, 8> Bsimd[TN];
    LIB_UNROLL
    for (short kk = 0; kk < BK; kk += 8) {
      simdgroup_barrier(mem_flags::mem_none);
      LIB_UNROLL
      for (short i = 0; i < TM; i++) {
        Asimd[i].thread_elements()[0] = static_cast<AccumType>(As[i * lda_tgp + kk]);
        Asimd[i].thread_elements()[1] = static_cast<AccumType>(As[i * lda_tgp + kk + 1]);
      }
      simdgroup_barrier(mem_flags::mem_none);
      LIB_UNROLL
      for (short j = 0; j < TN; j++) {
        simdgroup_load(Bsimd[j], (const threadgroup AccumType *)Bs, ldb_tgp);
      }
      simdgroup_barrier(mem_flags::mem_none);
      LIB_UNROLL
      for (short i = 0; i < TM; i++) {
        LIB_UNROLL
        for (short j = 0; j < TN; j++) {
          short j_serp = (i % 2) ? (TN - 1 - j) : j;
          simdgroup_multiply_accumulate(results[i * TN + j_serp], Asimd[i], Bsimd[j_serp], results[i * TN + j_serp]);
        }
      }
    }
  }
  METAL_FUNC void store_result(device T *C, const int ldc) const {
    C += sm * ldc + sn;
    for (short i = 0; i < TM; i++) {
      for (short j = 0; j < TN; j++) {
        thread const auto &accum = results[i * TN + j].thread_elements();
        int offset = (i * 8) * ldc + (j * 8);
        T outs[2] = {static_cast<T>(accum[0]), static_cast<T>(accum[1])};
        C[offset] = outs[0];
        C[offset + 1] = outs[1];
      }
    }
  }
};

template <typename T, int BM, int BN, int BK, int WM, int WN, bool transpose_a, bool transpose_b, bool MN_aligned = true>
struct GEMMKernel {
  LIB_CONST short tgp_padding_a = 16 / sizeof(T);
  LIB_CONST short lda_tgp = BK + tgp_padding_a;
  LIB_CONST short ldb_tgp = (transpose_b ? BK : BN) + tgp_padding_a;
  LIB_CONST short tgp_mem_a = BM * lda_tgp;
  LIB_CONST short tgp_mem_b = BN * (BK + tgp_padding_a);
  LIB_CONST short tgp_size = WM * WN * 32;
  using loader_a_t = BlockLoader<T, BM, BK, lda_tgp, !transpose_a, tgp_size>;
  using loader_b_t = BlockLoader<T, transpose_b ? BN : BK, transpose_b ? BK : BN, ldb_tgp, transpose_b, tgp_size>;
  using mma_t = BlockMMA<T, BM, BN, BK, WM, WN, lda_tgp, ldb_tgp, float>;

  static METAL_FUNC void run(const device T *A [[buffer(0)]], const device T *B, device T *D, constant int4 &params,
                             threadgroup T *As [[threadgroup(0)]], threadgroup T *Bs [[threadgroup(1)]], uint simd_lane_id,
                             uint simd_group_id, uint3 tid) {
    thread loader_a_t loader_a(A + tid.y * BM * params.x, params.x, As, simd_group_id, simd_lane_id);
    thread loader_b_t loader_b(B + tid.x * BN, params.y, Bs, simd_group_id, simd_lane_id);
    thread mma_t mma_op(simd_group_id, simd_lane_id);
    for (int k = 0; k < params.z; k++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (MN_aligned) {
        loader_a.load_unsafe();
        loader_b.load_unsafe();
      } else {
        loader_a.load_safe(short2(BK, BM));
        loader_b.load_safe(short2(BN, BK));
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      mma_op.mma(As, Bs);
      loader_a.next();
      loader_b.next();
    }
    threadgroup_barrier(mem_flags::mem_none);
    mma_op.store_result(D, params.w);
  }
};

template <typename T, int BM, int BN, int BK, int WM, int WN, bool ta, bool tb>
[[kernel, max_total_threads_per_threadgroup(WM *WN * 32)]] void gemm(
    const device T *A [[buffer(0)]], const device T *B [[buffer(1)]], device T *D [[buffer(3)]], constant int4 &params [[buffer(4)]],
    uint simd_lane_id [[thread_index_in_simdgroup]], uint simd_group_id [[simdgroup_index_in_threadgroup]],
    uint3 tid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  using gemm_kernel = GEMMKernel<T, BM, BN, BK, WM, WN, ta, tb>;
  threadgroup T As[gemm_kernel::tgp_mem_a];
  threadgroup T Bs[gemm_kernel::tgp_mem_b];
  gemm_kernel::run(A, B, D, params, As, Bs, simd_lane_id, simd_group_id, tid);
  (void)lid;
}

#define instantiate_gemm(tname, trans_a, trans_b, iname, itype, bm, bn, bk, wm, wn) \
  template [[host_name("gemm_" #tname "_" #iname "_bm" #bm)]] [[kernel]] void gemm<itype, bm, bn, bk, wm, wn, trans_a, trans_b>( \
      const device itype *A [[buffer(0)]], const device itype *B [[buffer(1)]], device itype *D [[buffer(3)]],                   \
      constant int4 &params [[buffer(4)]], uint simd_lane_id [[thread_index_in_simdgroup]],                                      \
      uint simd_group_id [[simdgroup_index_in_threadgroup]], uint3 tid [[threadgroup_position_in_grid]],                         \
      uint3 lid [[thread_position_in_threadgroup]]);

#define instantiate_gemm_transpose(iname, itype, bm, bn, bk, wm, wn)      \
  instantiate_gemm(nn, false, false, iname, itype, bm, bn, bk, wm, wn)    \
  instantiate_gemm(nt, false, true, iname, itype, bm, bn, bk, wm, wn)

instantiate_gemm_transpose(f32, float, 32, 32, 16, 2, 2)
instantiate_gemm_transpose(f16, half, 64, 32, 16, 2, 2)

///////////////////////////////////////////////////////////////////////////////////////////////////
// Sorting with function constants and conditional arguments
///////////////////////////////////////////////////////////////////////////////////////////////////

constant bool has_mask [[function_constant(200)]];
constant bool align_n [[function_constant(201)]];
constant bool masked = has_mask && !align_n;

template <typename T, int N>
[[kernel]] void rms_norm(const device T *x, const device T *w, device T *out, constant float &eps, constant uint &axis_size,
                         const device bool *mask [[buffer(11), function_constant(masked)]],
                         uint gid [[threadgroup_position_in_grid]], uint lid [[thread_position_in_threadgroup]],
                         uint simd_lane_id [[thread_index_in_simdgroup]], uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  constexpr int SIMD_SIZE = 32;
  threadgroup float local_inv_mean[1];
  threadgroup float local_sums[SIMD_SIZE];
  float acc = 0;
  x += gid * size_t(axis_size) + lid * N;
  for (int i = 0; i < N; i++) {
    float xi = x[i];
    if (masked && mask[lid * N + i])
      continue;
    acc += xi * xi;
  }
  acc = simd_sum(acc);
  if (simd_group_id == 0) {
    local_sums[simd_lane_id] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_lane_id == 0) {
    local_sums[simd_group_id] = acc;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_group_id == 0) {
    acc = simd_sum(local_sums[simd_lane_id]);
    if (simd_lane_id == 0) {
      local_inv_mean[0] = metal::precise::rsqrt(acc / axis_size + eps);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = 0; i < N; i++) {
    out[gid * size_t(axis_size) + lid * N + i] = w[i] * static_cast<T>(x[i] * local_inv_mean[0]);
  }
}
instantiate_kernel("rms_f32", rms_norm, float, 4)
instantiate_kernel("rms_f16", rms_norm, half, 4)
instantiate_kernel("rms_bf16", rms_norm, bfloat, 4)

// SPDX-License-Identifier: Apache-2.0
// gemm.metal: matrix products: blocked GEMM with function constants, GEMV, 4-bit affine GEMM.
#include "../include/config.h"
#include "../include/tile/loader.h"
#include "../include/tile/mma.h"

using namespace metal;
using namespace forge;

struct GemmParams {
  const int M, N, K;
  const int lda, ldb, ldd;
  const int64_t batch_a, batch_b, batch_d;
  const int swizzle_log;
  const int ldc;
};

constant bool m_aligned [[function_constant(200)]];
constant bool n_aligned [[function_constant(201)]];
constant bool k_aligned [[function_constant(202)]];
constant bool has_add [[function_constant(110)]];
constant bool do_axpby [[function_constant(111)]];
constant float alpha_value [[function_constant(112)]];
constant bool everything_aligned = m_aligned && n_aligned && k_aligned;
constant float alpha = is_function_constant_defined(alpha_value) ? alpha_value : 1.0f;

template <typename T, int BM, int BN, int BK, int WM, int WN, bool TA, bool TB, typename Acc = float>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void gemm(
    const device T* A [[buffer(0)]],
    const device T* B [[buffer(1)]],
    const device T* C [[buffer(2), function_constant(has_add)]],
    device T* D [[buffer(3)]],
    const constant GemmParams* params [[buffer(4)]],
    const constant float2& axpby [[buffer(5), function_constant(do_axpby)]],
    uint lane [[thread_index_in_simdgroup]],
    uint sg [[simdgroup_index_in_threadgroup]],
    uint3 tid [[threadgroup_position_in_grid]],
    uint3 lid [[thread_position_in_threadgroup]]) {
  (void)lid;
  constexpr short kPad = 16 / sizeof(T);
  constexpr short kLdA = (TA ? BM : BK) + kPad;
  constexpr short kLdB = (TB ? BK : BN) + kPad;
  using LoadA = tile::BlockLoader<T, TA ? BK : BM, TA ? BM : BK, kLdA, WM * WN * 32, !TA>;
  using LoadB = tile::BlockLoader<T, TB ? BN : BK, TB ? BK : BN, kLdB, WM * WN * 32, TB>;
  using Mma = tile::BlockMMA<T, T, BM, BN, BK, WM, WN, kLdA, kLdB, TA, TB, Acc>;

  threadgroup T as[(TA ? BK : BM) * kLdA];
  threadgroup T bs[(TB ? BN : BK) * kLdB];

  const int ty = ((tid.y) << params->swizzle_log) + (tid.x & ((1 << params->swizzle_log) - 1));
  const int tx = (tid.x) >> params->swizzle_log;
  const int row = ty * BM, col = tx * BN;
  if (row >= params->M || col >= params->N) return;

  A += params->batch_a * tid.z;
  B += params->batch_b * tid.z;
  D += params->batch_d * tid.z;
  if (has_add) C += params->batch_d * tid.z;

  A += TA ? row : row * params->lda;
  B += TB ? col * params->ldb : col;

  thread LoadA load_a(A, params->lda, as, sg * 32 + lane);
  thread LoadB load_b(B, params->ldb, bs, sg * 32 + lane);
  thread Mma mma(sg, lane);

  const short m_left = m_aligned ? BM : short(min(BM, params->M - row));
  const short n_left = n_aligned ? BN : short(min(BN, params->N - col));
  const int full = params->K / BK;
  const short k_left = params->K - full * BK;

  for (int k = 0; k < full; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (everything_aligned || (m_left == BM && n_left == BN)) {
      load_a.load_fast();
      load_b.load_fast();
    } else {
      load_a.load_safe(TA ? short2(m_left, BK) : short2(BK, m_left));
      load_b.load_safe(TB ? short2(BK, n_left) : short2(n_left, BK));
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    mma.multiply(as, bs);
    load_a.next();
    load_b.next();
  }
  if (!k_aligned && k_left > 0) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    load_a.load_safe(TA ? short2(m_left, k_left) : short2(k_left, m_left));
    load_b.load_safe(TB ? short2(k_left, n_left) : short2(n_left, k_left));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    mma.multiply(as, bs);
  }

  D += row * params->ldd + col;
  const short2 limit(n_left, m_left);
  if (has_add) {
    C += row * params->ldc + col;
    if (do_axpby) {
      const tile::AddScaled<T, Acc> out(axpby.x, axpby.y);
      mma.store(D, params->ldd, limit, C, params->ldc, out);
    } else {
      const tile::AddScaled<T, Acc> out(alpha, 1.0f);
      mma.store(D, params->ldd, limit, C, params->ldc, out);
    }
  } else {
    const tile::Identity<T, Acc> out;
    mma.store(D, params->ldd, limit, (const device T*)nullptr, 0, out);
  }
}

#define gemm_shape(tn, T, BM, BN, BK, WM, WN)                                                              \
  expose("gemm_nn_" #tn "_" #BM "_" #BN "_" #BK, gemm, T, BM, BN, BK, WM, WN, false, false)                \
  expose("gemm_nt_" #tn "_" #BM "_" #BN "_" #BK, gemm, T, BM, BN, BK, WM, WN, false, true)                 \
  expose("gemm_tn_" #tn "_" #BM "_" #BN "_" #BK, gemm, T, BM, BN, BK, WM, WN, true, false)                 \
  expose("gemm_tt_" #tn "_" #BM "_" #BN "_" #BK, gemm, T, BM, BN, BK, WM, WN, true, true)
#define gemm_types(BM, BN, BK, WM, WN)                \
  gemm_shape(float32, float, BM, BN, BK, WM, WN)      \
  gemm_shape(float16, half, BM, BN, BK, WM, WN)       \
  gemm_shape(bfloat16, bf16, BM, BN, BK, WM, WN)
gemm_types(32, 32, 16, 2, 2)
gemm_types(64, 32, 16, 2, 1)

// ---- GEMV: rows of a SIMD-group's tile kept in registers
template <typename T, int BM, int TM, int TN>
[[kernel]] void gemv(const device T* mat [[buffer(0)]],
                     const device T* in [[buffer(1)]],
                     device T* out [[buffer(2)]],
                     const constant int2& shape [[buffer(3)]],
                     uint tid [[threadgroup_position_in_grid]],
                     uint sg [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
  const int rows = shape.x, cols = shape.y;
  thread float result[TM] = {0};
  int row = (tid * BM + sg) * TM;
  if (row >= rows) return;
  row = row + TM <= rows ? row : rows - TM; // the last tile moves up
  mat += row * cols;
  for (int c = lane * TN; c < cols; c += 32 * TN) {
    thread T v[TN], m[TN];
    const bool whole = c + TN <= cols;
    FORGE_UNROLL
    for (int j = 0; j < TN; j++) v[j] = whole || c + j < cols ? in[c + j] : T(0);
    FORGE_UNROLL
    for (int i = 0; i < TM; i++) {
      FORGE_UNROLL
      for (int j = 0; j < TN; j++) m[j] = whole || c + j < cols ? mat[i * cols + c + j] : T(0);
      FORGE_UNROLL
      for (int j = 0; j < TN; j++) result[i] += float(m[j]) * float(v[j]);
    }
  }
  FORGE_UNROLL
  for (int i = 0; i < TM; i++) {
    FORGE_UNROLL
    for (ushort d = 16; d >= 1; d >>= 1) result[i] += simd_shuffle_down(result[i], d);
  }
  if (lane == 0) {
    FORGE_UNROLL
    for (int i = 0; i < TM; i++) out[row + i] = static_cast<T>(result[i]);
  }
}
expose("gemv_float32", gemv, float, 4, 4, 4)
expose("gemv_float16", gemv, half, 2, 4, 4)
expose("gemv_bfloat16", gemv, bf16, 8, 1, 8)

// ---- affine quantisation: bits 2, 4, 8; a group of weights shares scale and bias
template <int bits> struct Pack;
template <> struct Pack<2> { FORGE_CONST int per_word = 16; };
template <> struct Pack<4> { FORGE_CONST int per_word = 8; };
template <> struct Pack<8> { FORGE_CONST int per_word = 4; };

template <typename T, int group_size, int bits>
[[kernel]] void qmv(const device uint32_t* w [[buffer(0)]],
                    const device T* scales [[buffer(1)]],
                    const device T* biases [[buffer(2)]],
                    const device T* x [[buffer(3)]],
                    device T* y [[buffer(4)]],
                    const constant int& in_size [[buffer(5)]],
                    const constant int& out_size [[buffer(6)]],
                    uint3 tid [[threadgroup_position_in_grid]],
                    uint sg [[simdgroup_index_in_threadgroup]],
                    uint n_sg [[simdgroups_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
  constexpr int per = Pack<bits>::per_word;
  constexpr uint mask = (1u << bits) - 1;
  static_assert(group_size % per == 0, "whole words");
  const int row = tid.x * n_sg + sg;
  if (row >= out_size) return;
  const int words = in_size / per, groups = in_size / group_size;
  w += row * words;
  scales += row * groups;
  biases += row * groups;
  x += tid.y * in_size;
  typedef float U;
  U acc = 0;
  for (int i = lane; i < words; i += 32) {
    const uint32_t word = w[i];
    const int g = i * per / group_size;
    U dot = 0, sum = 0;
    FORGE_UNROLL
    for (int j = 0; j < per; ++j) {
      const U xv = x[i * per + j];
      dot += xv * ((word >> (j * bits)) & mask);
      sum += xv;
    }
    acc += dot * U(scales[g]) + sum * U(biases[g]);
  }
  acc = simd_sum(acc);
  if (lane == 0) y[tid.y * out_size + row] = static_cast<T>(acc);
}

// a block of the product with the weights unpacked into threadgroup memory
template <typename T, short ROWS, short COLS, short STRIDE, short THREADS, int group_size, int bits>
struct QuantLoader {
  FORGE_CONST short per = Pack<bits>::per_word;
  FORGE_CONST short words_per_row = COLS / per;
  const device uint32_t* w;
  const device T* scales;
  const device T* biases;
  threadgroup T* dst;
  const int words, groups;
  const short t;
  int k = 0;
  FORGE_FUNC QuantLoader(const device uint32_t* w_, const device T* s_, const device T* b_, int in_size, threadgroup T* d, short t_)
      : w(w_), scales(s_), biases(b_), dst(d), words(in_size / per), groups(in_size / group_size), t(t_) {}
  FORGE_FUNC void load(short rows) const {
    for (short i = t; i < ROWS * words_per_row; i += THREADS) {
      const short r = i / words_per_row, q = i % words_per_row;
      if (r >= rows) {
        for (short j = 0; j < per; ++j) dst[r * STRIDE + q * per + j] = 0;
        continue;
      }
      uint32_t word = w[r * words + k / per + q];
      const int g = (k + q * per) / group_size;
      const T s = scales[r * groups + g], b = biases[r * groups + g];
      for (short j = 0; j < per; ++j) {
        dst[r * STRIDE + q * per + j] = s * T(word & ((1u << bits) - 1)) + b;
        word >>= bits;
      }
    }
  }
  FORGE_FUNC void next() { k += COLS; }
};

template <typename T, int group_size, int bits>
[[kernel]] void qmm_t(const device uint32_t* w [[buffer(0)]],
                      const device T* scales [[buffer(1)]],
                      const device T* biases [[buffer(2)]],
                      const device T* x [[buffer(3)]],
                      device T* y [[buffer(4)]],
                      const constant int3& mnk [[buffer(5)]],
                      uint3 tid [[threadgroup_position_in_grid]],
                      uint lid [[thread_index_in_threadgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
  constexpr int BM = 32, BN = 32, BK = 32, WM = 2, WN = 2;
  constexpr short ld = BK + 16 / sizeof(T);
  threadgroup T xs[BM * ld];
  threadgroup T ws[BN * ld];
  const int row = tid.y * BM, col = tid.x * BN;
  using LoadX = tile::BlockLoader<T, BM, BK, ld, WM * WN * 32, true>;
  using Mma = tile::BlockMMA<T, T, BM, BN, BK, WM, WN, ld, ld, false, true>;
  LoadX load_x(x + row * mnk.z, mnk.z, xs, lid);
  QuantLoader<T, BN, BK, ld, WM * WN * 32, group_size, bits> load_w(
      w + col * (mnk.z / Pack<bits>::per_word), scales + col * (mnk.z / group_size), biases + col * (mnk.z / group_size),
      mnk.z, ws, lid);
  Mma mma(sg, lane);
  const short m_left = min(BM, mnk.x - row), n_left = min(BN, mnk.y - col);
  for (int k = 0; k < mnk.z; k += BK) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (m_left < BM) load_x.load_safe(short2(BK, m_left)); else load_x.load_fast();
    load_w.load(n_left);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    mma.multiply(xs, ws);
    load_x.next();
    load_w.next();
  }
  const tile::Identity<T, float> out;
  mma.store(y + row * mnk.y + col, mnk.y, short2(n_left, m_left), (const device T*)nullptr, 0, out);
}

#define quant_bits(tn, T, g, b)                                    \
  expose("qmv_" #tn "_gs" #g "_b" #b, qmv, T, g, b)                \
  expose("qmm_t_" #tn "_gs" #g "_b" #b, qmm_t, T, g, b)
#define quant_groups(tn, T) quant_bits(tn, T, 32, 4) quant_bits(tn, T, 64, 4) quant_bits(tn, T, 64, 2) quant_bits(tn, T, 64, 8)
quant_groups(float32, float)
quant_groups(float16, half)
quant_groups(bfloat16, bf16)

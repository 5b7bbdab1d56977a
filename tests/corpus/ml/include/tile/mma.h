// SPDX-License-Identifier: Apache-2.0
// mma.h: fragments of SIMD-group matrices and the block multiply made of them.
#pragma once
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include "transform.h"

namespace forge {
namespace tile {

// An 8x8 matrix as the two elements each thread holds.
template <typename T>
struct Fragment {
  using matrix_t = metal::simdgroup_matrix<T, 8, 8>;
  using pair_t = metal::vec<T, 2>;

  // (column, row) of the first element of a thread
  static FORGE_FUNC short2 where(ushort lane) {
    const short q = lane / 4;
    return short2((q & 2) * 2 + (lane % 2) * 2, (q & 4) + (lane / 2) % 4);
  }

  template <typename Ptr>
  static FORGE_FUNC void load(thread pair_t& dst, Ptr src, int row_stride, int col_stride) {
    dst[0] = static_cast<T>(src[0]);
    dst[1] = static_cast<T>(src[col_stride]);
    (void)row_stride;
  }

  static FORGE_FUNC void mma(thread pair_t& d, thread const pair_t& a, thread const pair_t& b, thread const pair_t& c) {
    matrix_t md, ma, mb, mc;
    reinterpret_cast<thread pair_t&>(ma.thread_elements()) = a;
    reinterpret_cast<thread pair_t&>(mb.thread_elements()) = b;
    reinterpret_cast<thread pair_t&>(mc.thread_elements()) = c;
    simdgroup_multiply_accumulate(md, ma, mb, mc);
    d = reinterpret_cast<thread pair_t&>(md.thread_elements());
  }
};

template <typename T, int R, int C>
struct Tile {
  using frag = Fragment<T>;
  typename frag::pair_t pairs[R * C] = {typename frag::pair_t(0)};

  FORGE_FUNC Tile() thread {}
  FORGE_FUNC constexpr thread typename frag::pair_t& at(const short r, const short c) { return pairs[r * C + c]; }
  FORGE_FUNC constexpr const thread typename frag::pair_t& at(const short r, const short c) const { return pairs[r * C + c]; }
  FORGE_FUNC void clear() {
    FORGE_UNROLL
    for (short i = 0; i < R * C; ++i) pairs[i] = typename frag::pair_t(0);
  }
};

template <typename T, typename U, int BM, int BN, int BK, int WM, int WN, short LDA, short LDB, bool TA, bool TB,
          typename Acc = float, typename Out = Identity<U, Acc>>
struct BlockMMA {
  FORGE_CONST short TM = BM / (8 * WM);
  FORGE_CONST short TN = BN / (8 * WN);
  static_assert(TM > 0 && TN > 0, "tile too small for its SIMD-groups");

  Tile<Acc, TM, TN> c;
  Tile<Acc, TM, 1> a;
  Tile<Acc, 1, TN> b;
  const short2 spot;
  const short m0;
  const short n0;

  FORGE_FUNC BlockMMA(ushort sg, ushort lane)
      : spot(Fragment<Acc>::where(lane)), m0(8 * (sg / WN) + spot.y), n0(8 * (sg % WN) + spot.x) {}

  FORGE_FUNC void multiply(const threadgroup T* as, const threadgroup T* bs) {
    // strides of a: (m, k); of b: (k, n)
    constexpr short am = TA ? 1 : LDA, ak = TA ? LDA : 1;
    constexpr short bk = TB ? 1 : LDB, bn = TB ? LDB : 1;
    const short am0 = 8 * ((m0 - spot.y) / 8) + spot.y, ak0 = spot.x;
    const short bk0 = spot.y, bn0 = n0;
    FORGE_UNROLL
    for (short k = 0; k < BK; k += 8) {
      simdgroup_barrier(metal::mem_flags::mem_none);
      FORGE_UNROLL
      for (short i = 0; i < TM; i++)
        Fragment<Acc>::load(a.at(i, 0), as + (am0 + i * 8 * WM) * am + (ak0 + k) * ak, am, ak);
      simdgroup_barrier(metal::mem_flags::mem_none);
      FORGE_UNROLL
      for (short j = 0; j < TN; j++)
        Fragment<Acc>::load(b.at(0, j), bs + (bk0 + k) * bk + (bn0 + j * 8 * WN) * bn, bk, bn);
      FORGE_UNROLL
      for (short i = 0; i < TM; i++) {
        FORGE_UNROLL
        for (short j = 0; j < TN; j++) {
          // serpentine, so that neighbours share an operand
          const short js = (i % 2) ? (TN - 1 - j) : j;
          Fragment<Acc>::mma(c.at(i, js), a.at(i, 0), b.at(0, js), c.at(i, js));
        }
      }
    }
  }

  template <typename Epilogue>
  FORGE_FUNC void store(device U* d, const int ld, short2 limit, const device U* add, const int ld_add, thread const Epilogue& out) const {
    FORGE_UNROLL
    for (short i = 0; i < TM; i++) {
      FORGE_UNROLL
      for (short j = 0; j < TN; j++) {
        const short r = m0 + i * 8 * WM, q = n0 + j * 8 * WN;
        for (short k = 0; k < 2; ++k)
          if (r < limit.y && q + k < limit.x) {
            if (add) d[r * ld + q + k] = out.apply(c.at(i, j)[k], add[r * ld_add + q + k]);
            else d[r * ld + q + k] = out.apply(c.at(i, j)[k]);
          }
      }
    }
  }
};

} // namespace tile
} // namespace forge

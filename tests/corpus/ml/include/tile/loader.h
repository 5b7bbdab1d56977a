// SPDX-License-Identifier: Apache-2.0
// loader.h: a threadgroup brings a tile of device memory into threadgroup memory.
#pragma once
#include "../config.h"

namespace forge {
namespace tile {

template <typename T, short ROWS, short COLS, short STRIDE, short THREADS, bool ALONG_K>
struct BlockLoader {
  FORGE_CONST short kVec = (ROWS * COLS) / THREADS < 8 ? (ROWS * COLS) / THREADS : 8;
  FORGE_CONST short kPerRow = COLS / kVec;
  FORGE_CONST short kRowsAtOnce = THREADS / kPerRow;
  static_assert(ROWS * COLS % THREADS == 0, "threads share the tile evenly");

  const int ld;
  const int step;
  const short row;
  const short col;
  threadgroup T* dst;
  const device T* src;

  struct alignas(1) Chunk {
    uint8_t bytes[sizeof(T) * kVec];
  };

  FORGE_FUNC BlockLoader(const device T* base, const int leading, threadgroup T* shared, ushort thread_index)
      : ld(leading),
        step(ALONG_K ? COLS : ROWS * leading),
        row(thread_index / kPerRow),
        col(kVec * (thread_index % kPerRow)),
        dst(shared + row * STRIDE + col),
        src(base + row * leading + col) {}

  FORGE_FUNC void load_fast() const {
    FORGE_UNROLL
    for (short i = 0; i < ROWS; i += kRowsAtOnce) {
      *((threadgroup Chunk*)(&dst[i * STRIDE])) = *((const device Chunk*)(&src[i * ld]));
    }
  }

  // limit: columns, rows of the tile that exist
  FORGE_FUNC void load_safe(short2 limit) const {
    limit -= short2(col, row);
    FORGE_UNROLL
    for (short i = 0; i < ROWS; i += kRowsAtOnce) {
      bool inside[kVec];
      T value[kVec];
      FORGE_UNROLL
      for (short j = 0; j < kVec; j++) inside[j] = (i < limit.y) && (j < limit.x);
      FORGE_UNROLL
      for (short j = 0; j < kVec; j++) value[j] = src[inside[j] ? i * ld + j : 0 - row * ld - col];
      FORGE_UNROLL
      for (short j = 0; j < kVec; j++) dst[i * STRIDE + j] = inside[j] ? value[j] : T(0);
    }
  }

  FORGE_FUNC void next() { src += step; }
};

} // namespace tile
} // namespace forge

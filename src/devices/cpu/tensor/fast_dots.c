// SPDX-License-Identifier: Apache-2.0
// fast_dots.c: blocks of results by the dot products of AVX-512's extensions for bfloats and bytes.
//
// vdpbf16ps takes denormal inputs as 0, flushes denormal results and rounds to nearest even
// whatever the mode. Metal promises nothing stricter for bfloat.
#include "devices/cpu/tensor/fast_tiles.h"

INLINE vw mac_bfloat(vw sum, vw x, vw y) {
    return _mm512_castps_si512(
        _mm512_dpbf16_ps(_mm512_castsi512_ps(sum), (__m512bh)x, (__m512bh)y));
}
INLINE vw mac_byte(vw sum, vw x, vw y) { return _mm512_dpbusd_epi32(sum, x, y); }

DEFINE_TILES(cpu_tiles_bfloat, CPU_KIND_BFLOAT, mac_bfloat)
DEFINE_TILES(cpu_tiles_byte, CPU_KIND_BYTE, mac_byte)

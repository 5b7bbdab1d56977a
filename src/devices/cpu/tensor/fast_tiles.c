// SPDX-License-Identifier: Apache-2.0
// fast_tiles.c: the GEMM micro-kernels (register tiles) for the element kinds that every
// instruction set has.
#include "devices/cpu/tensor/fast_tiles.h"

INLINE vw mac_int(vw sum, vw x, vw y) { return w_add_int(sum, w_mul_int(x, y)); }
// Exact modulo 2^32, also for -32768 * -32768 twice.
INLINE vw mac_short(vw sum, vw x, vw y) { return w_add_int(sum, w_mul_shorts(x, y)); }

#define TILES(name, kind, mac) TILES_OF(ISA(name), kind, mac)
#define TILES_OF(name, kind, mac) DEFINE_TILES(name, kind, mac)
TILES(cpu_tiles_float, CPU_KIND_FLOAT, w_fma)
TILES(cpu_tiles_float_half, CPU_KIND_FLOAT_HALF, w_fma)
TILES(cpu_tiles_float_bfloat, CPU_KIND_FLOAT_BFLOAT, w_fma)
TILES(cpu_tiles_int, CPU_KIND_INT, mac_int)
TILES(cpu_tiles_short, CPU_KIND_SHORT, mac_short)

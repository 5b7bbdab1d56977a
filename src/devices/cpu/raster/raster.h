// SPDX-License-Identifier: Apache-2.0
// raster.h: the rasteriser of the CPU device. cpu_raster runs a pass (devices/table/pass.h) on the
// pool and returns when the attachments hold the result.
//
// The way of a primitive, file by file (docs/internals/rasteriser.md says why):
//   pass.c       draws are cut into units of some thousand primitives, in batches of bounded memory
//   draw.c       what a draw's state means for the loops
//   tessellate.c patches become triangles; mesh.c: object and mesh functions make them
//   geometry.c   a unit: vertices in steps of 32, each once (assemble.c: which), what is left of
//   the
//                primitives (clip.c), edges and planes (setup.c), and a list of triangles per tile
//   tile.c       a tile of 64 x 64 pixels: the lists of all units in order; tile_memory.c: in and
//   out rasterise.c  a triangle in a tile: covered lanes of 8 x 4 blocks shade.c      a block:
//   depth, stencil, a step of the fragment function output.c     blending and conversion into tile
//   memory; packed.c: formats of bit fields imageblock.c tile functions, which run between the
//   draws of a tile, and what is theirs
// The result does not depend on the number of threads.
#ifndef INGOT_CPU_RASTER_H
#define INGOT_CPU_RASTER_H
#include <stdbool.h>
#include "devices/cpu/cpu.h"
#include "devices/table/pass.h"

// Metal's default positions, in sixteenths of a pixel: x0, y0, x1, ...
const uint8_t *cpu_raster_default_positions(uint32_t n_samples);

// Runs a pass: load actions, draws in order, store actions. False: the run has a fault (also an
// earlier one); attachments then hold anything.
bool cpu_raster(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws);
#endif

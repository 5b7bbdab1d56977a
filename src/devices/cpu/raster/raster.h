// SPDX-License-Identifier: Apache-2.0
// raster.h: the rasteriser of the CPU device, a sort-middle tile renderer. cpu_raster runs a pass
// (devices/table/pass.h) on the pool and returns when the attachments hold the result.
//
// The pipeline, file by file (docs/internals/rasteriser.md explains the design):
// - pass.c: draws are split into units of some thousand primitives, in batches of bounded memory
// - draw.c: the state of a draw, prepared for the loops
// - tessellate.c: patches become triangles; mesh.c: object and mesh functions make them
// - geometry.c: a unit: vertex shading in steps of 32, vertex reuse (assemble.c), clipping
//   (clip.c), triangle setup (setup.c), binning into a list of triangles per tile
// - tile.c: a tile of 64 x 64 pixels: the bins of all units in order; tile_memory.c: load and store
// - rasterise.c: coverage of a triangle in a tile, in blocks of 8 x 4 pixels
// - shade.c: a block: depth, stencil, a step of the fragment function
// - output.c: blending and conversion into tile memory; packed.c: bit-field formats
// - imageblock.c: tile functions, which run between the draws of a tile, and their imageblocks
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

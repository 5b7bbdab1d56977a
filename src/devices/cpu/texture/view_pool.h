// SPDX-License-Identifier: Apache-2.0
// view_pool.h: slots of texture view pools. Their ids count up by one, as Metal promises (an id is
// base_resource_id + index), while an AbiTexture is larger than one byte: so the ids are numbers of
// slots in one array, marked with ABI_TEXTURE_POOLED, and everybody who meets a handle looks at the
// mark (abi/cpu_texture.h).
#ifndef INGOT_CPU_TEXTURE_VIEW_POOL_H
#define INGOT_CPU_TEXTURE_VIEW_POOL_H
#include "abi/cpu_texture.h"

// The id of the first of n slots in a row, zeroed; 0: no room or no memory. Any thread.
uint64_t cpu_view_pool_take(size_t n);
void cpu_view_pool_give(uint64_t first, size_t n);
// The array is this one, which another process fills: nothing is taken or given here.
void cpu_view_pool_use(AbiTexture *memory);
// The slot behind an id that cpu_view_pool_take gave, or one of those after it.
AbiTexture *cpu_view_pool_slot(uint64_t id);
// What a handle stands for: NULL for 0 and for slots that show nothing.
const AbiTexture *cpu_texture_of(uint64_t handle);
#endif

// SPDX-License-Identifier: Apache-2.0
// slab_int.h: memory for small buffers and textures: slots of a few sizes in regions of the
// system's memory. Quicker than a mapping each, and without the limit on the number of those.
#ifndef INGOT_RUNTIME_SLAB_INT_H
#define INGOT_RUNTIME_SLAB_INT_H
#include <stdbool.h>
#include <stddef.h>

#define RT_SLAB_MAX_BYTES 16384u

typedef struct RtSlab RtSlab;

// Bytes of the slot for n_bytes (up to RT_SLAB_MAX_BYTES): a power of two from 256 on.
size_t rt_slab_slot_bytes(size_t n_bytes);
// A slot for n_bytes, zeroed if asked for (else: the bytes behind n_bytes are), aligned to 256, and
// to 4096 if it is that large. *slab is for giving it back. NULL: no memory.
char *rt_slab_take(size_t n_bytes, bool zeroed, RtSlab **slab);
void rt_slab_give(RtSlab *slab, char *slot);
#endif

// SPDX-License-Identifier: Apache-2.0
// sparse.h: sparse textures and buffers: which tiles have memory, and whose. Mappings change in the
// order of commands, on the thread that runs a queue; kernels of others read them meanwhile.
#ifndef INGOT_RUNTIME_SPARSE_H
#define INGOT_RUNTIME_SPARSE_H
#include "abi/sparse.h"
#include "runtime/memory/texture.h"

typedef struct RtHome { // pages of a placement heap
    MTLHeap *heap;      // retained; NULL: not mapped
    size_t page;        // the first
    bool alias;         // of a buffer: its addresses are that page
} RtHome;

typedef struct RtSparse {
    AbiSparse abi;
    size_t page_bytes;
    MTLSparsePageSize page_size;
    uint32_t tail_pages; // of a slice
    size_t tail_bytes;
    bool placement;
    pthread_mutex_t lock;
    RtHome *homes; // placement: [n_tiles]; under lock
} RtSparse;

// Bytes of a page; 0: no such size.
size_t rt_sparse_page_bytes(MTLSparsePageSize size);
// Texels of a tile; false: there are no such sparse textures.
bool rt_sparse_tile(uint32_t type, uint32_t format, size_t n_samples, MTLSparsePageSize size,
                    uint32_t tile[3]);
// For a texture of this shape, whose levels are known. NULL: no memory, or no such tiles.
RtSparse *rt_sparse_new(const AbiTexture *texture, MTLSparsePageSize size, bool placement);
// The texture goes: its tiles go back to the heap.
void rt_sparse_free(RtSparse *sparse, MTLHeap *heap);

typedef struct RtTiles { // tiles of a level of a slice
    uint32_t level, slice;
    uint32_t x, y, z, width, height, depth;
} RtTiles;
// Is it a sparse texture, and are these tiles of it? Says so if not.
bool rt_sparse_valid(const RtSite *site, const MTLTexture *texture, MTLRegion region, size_t level,
                     size_t slice, bool placement, RtTiles *tiles);
// Cuts tiles that a command read from memory to those there are.
RtTiles rt_sparse_cut(const MTLTexture *texture, const MTLMapIndirectArguments *from);

// Sparse heaps: tiles that have none get memory, in order while there is some (false: there was too
// little), or lose it.
bool rt_sparse_map(MTLTexture *texture, const RtTiles *tiles);
void rt_sparse_unmap(MTLTexture *texture, const RtTiles *tiles);
void rt_sparse_move(MTLTexture *from, const RtTiles *tiles, MTLTexture *to, const RtTiles *places);
// Placement: tile i of them is at page first_page + i of the heap.
void rt_sparse_place(MTLTexture *texture, MTLHeap *heap, const RtTiles *tiles, size_t first_page);
void rt_sparse_share(MTLTexture *from, const RtTiles *tiles, MTLTexture *to, const RtTiles *places);

// ---- Buffers (sparse_buffer.c) ----

typedef struct RtSparseBuffer {
    size_t page_bytes, n_pages;
    MTLSparsePageSize page_size;
    RtHome *homes;   // [n_pages]
    MTLBuffer *next; // in the list of all
} RtSparseBuffer;

bool rt_sparse_buffer_valid(MTLDevice *device, const MTLBuffer *buffer, MTLRange pages,
                            const char *call);
void rt_sparse_buffer_place(MTLBuffer *buffer, MTLHeap *heap, MTLRange pages, size_t first_page,
                            bool map);
void rt_sparse_buffer_share(MTLBuffer *from, MTLRange pages, MTLBuffer *to, size_t first);
void rt_sparse_buffer_free(MTLBuffer *buffer);
// Commands have run: what they wrote to pages without memory is dropped.
extern atomic_uint rt_n_sparse_buffers;
void rt_sparse_buffers_scrub(void);
#endif

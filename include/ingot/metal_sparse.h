// SPDX-License-Identifier: Apache-2.0
// metal_sparse.h: sparse textures and buffers: memory for some of their tiles.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A texture of a sparse heap has no memory until tiles of it are mapped, by a resource state
// encoder:
//
//     MTLHeap *heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){
//         .type = MTLHeapTypeSparse, .size = 64 * mtl_device_sparse_tile_size_in_bytes(device)});
//     MTLTexture *texture = mtl_heap_new_texture(heap, &descriptor); // private, as the heap
//     MTLResourceStateCommandEncoder *e =
//         mtl_command_buffer_resource_state_command_encoder(commands);
//     mtl_resource_state_command_encoder_update_texture_mapping(e, texture,
//         MTLSparseTextureMappingModeMap, mtl_region_make_2d(0, 0, 2, 2), 0, 0); // in tiles
//     mtl_resource_state_command_encoder_end_encoding(e);
//
// In tiles without memory reads give 0 and writes are dropped. Tiles are new (zeros) when they are
// mapped. A heap gives out as many tiles as its size holds; beyond that there is a message and the
// tile stays without memory. Levels that are smaller than a tile are the tail: one mapping for all.
//
// Placement sparse resources (Metal 4) are made by the device and take pages of a placement heap
// that the program chooses. A page is where it was mapped last: what was written through one
// mapping is seen through another when the second is made, not before.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_SPARSE_H
#define INGOT_METAL_SPARSE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MTLSparseTextureMappingMode {
    MTLSparseTextureMappingModeMap = 0,
    MTLSparseTextureMappingModeUnmap = 1,
} MTLSparseTextureMappingMode;

typedef enum MTLSparseTextureRegionAlignmentMode {
    MTLSparseTextureRegionAlignmentModeOutward = 0, // all tiles that the region touches
    MTLSparseTextureRegionAlignmentModeInward = 1,  // those that lie inside it
} MTLSparseTextureRegionAlignmentMode;

typedef enum MTLBufferSparseTier {
    MTLBufferSparseTierNone = 0,
    MTLBufferSparseTier1 = 1,
} MTLBufferSparseTier;

typedef enum MTLTextureSparseTier {
    MTLTextureSparseTierNone = 0,
    MTLTextureSparseTier1 = 1,
    MTLTextureSparseTier2 = 2,
} MTLTextureSparseTier;

typedef struct MTLResourceStateCommandEncoder MTLResourceStateCommandEncoder;

typedef struct MTLMapIndirectArguments { // in tiles
    uint32_t region_origin_x, region_origin_y, region_origin_z;
    uint32_t region_size_width, region_size_height, region_size_depth;
    uint32_t mip_map_level, slice_id;
} MTLMapIndirectArguments;

typedef struct MTLResourceStatePassDescriptor {
    MTLPassSampleBufferAttachment sample_buffer_attachments[4];
} MTLResourceStatePassDescriptor;

// ---- MTLDevice ----

MTL_API size_t mtl_device_sparse_tile_size_in_bytes(const MTLDevice *device); // 16 KiB
MTL_API size_t mtl_device_sparse_tile_size_in_bytes_for_sparse_page_size(const MTLDevice *device,
                                                                         MTLSparsePageSize size);
// In texels. 0, 0, 0: there are no sparse textures of this kind (1D and multisample ones, texture
// buffers, formats that are none).
MTL_API MTLSize mtl_device_sparse_tile_size(const MTLDevice *device, MTLTextureType texture_type,
                                            MTLPixelFormat pixel_format, size_t sample_count);
MTL_API MTLSize mtl_device_sparse_tile_size_with_sparse_page_size(const MTLDevice *device,
                                                                  MTLTextureType texture_type,
                                                                  MTLPixelFormat pixel_format,
                                                                  size_t sample_count,
                                                                  MTLSparsePageSize size);
MTL_API void mtl_device_convert_sparse_pixel_regions(const MTLDevice *device,
                                                     const MTLRegion *pixel_regions,
                                                     MTLRegion *tile_regions, MTLSize tile_size,
                                                     MTLSparseTextureRegionAlignmentMode mode,
                                                     size_t count);
MTL_API void mtl_device_convert_sparse_tile_regions(const MTLDevice *device,
                                                    const MTLRegion *tile_regions,
                                                    MTLRegion *pixel_regions, MTLSize tile_size,
                                                    size_t count);

// ---- MTLTexture ----

// The first level of the tail; of a texture with none: the number of its levels.
MTL_API size_t mtl_texture_first_mipmap_in_tail(const MTLTexture *texture);
MTL_API size_t mtl_texture_tail_size_in_bytes(const MTLTexture *texture); // of a slice; 0: no tail
MTL_API MTLTextureSparseTier mtl_texture_sparse_texture_tier(const MTLTexture *texture);

// ---- MTLResourceStateCommandEncoder ----

MTL_API MTLResourceStateCommandEncoder *mtl_command_buffer_resource_state_command_encoder(
    MTLCommandBuffer *buffer);
MTL_API MTLResourceStateCommandEncoder *
mtl_command_buffer_resource_state_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLResourceStatePassDescriptor *pass);
MTL_API MTLDevice *mtl_resource_state_command_encoder_device(
    const MTLResourceStateCommandEncoder *encoder);
MTL_API MTLCommandBuffer *mtl_resource_state_command_encoder_command_buffer(
    const MTLResourceStateCommandEncoder *encoder);
MTL_API const char *mtl_resource_state_command_encoder_label(
    const MTLResourceStateCommandEncoder *encoder);
MTL_API void mtl_resource_state_command_encoder_set_label(MTLResourceStateCommandEncoder *encoder,
                                                          const char *label);
MTL_API void mtl_resource_state_command_encoder_insert_debug_signpost(
    MTLResourceStateCommandEncoder *encoder, const char *name);
MTL_API void mtl_resource_state_command_encoder_push_debug_group(
    MTLResourceStateCommandEncoder *encoder, const char *name);
MTL_API void mtl_resource_state_command_encoder_pop_debug_group(
    MTLResourceStateCommandEncoder *encoder);
MTL_API void mtl_resource_state_command_encoder_end_encoding(
    MTLResourceStateCommandEncoder *encoder);
MTL_API void mtl_resource_state_command_encoder_update_fence(
    MTLResourceStateCommandEncoder *encoder, MTLFence *fence);
MTL_API void mtl_resource_state_command_encoder_wait_for_fence(
    MTLResourceStateCommandEncoder *encoder, MTLFence *fence);
// Regions are in tiles; any region of a level of the tail stands for the tail.
MTL_API void mtl_resource_state_command_encoder_update_texture_mapping(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *texture, MTLSparseTextureMappingMode mode,
    MTLRegion region, size_t level, size_t slice);
MTL_API void mtl_resource_state_command_encoder_update_texture_mappings(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *texture, MTLSparseTextureMappingMode mode,
    const MTLRegion *regions, const size_t *levels, const size_t *slices, size_t count);
// The buffer holds a MTLMapIndirectArguments; what is outside the texture is left out.
MTL_API void mtl_resource_state_command_encoder_update_texture_mapping_indirect(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *texture, MTLSparseTextureMappingMode mode,
    MTLBuffer *indirect_buffer, size_t indirect_buffer_offset);
// Tiles with what is in them; the places they leave have none. Both textures have tiles of one
// size.
MTL_API void mtl_resource_state_command_encoder_move_texture_mappings(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLOrigin source_origin, MTLSize source_size, MTLTexture *destination,
    size_t destination_slice, size_t destination_level, MTLOrigin destination_origin);

// ---- Placement sparse resources ----

// A buffer without memory, on pages of this size; private.
MTL_API MTLBuffer *mtl_device_new_buffer_with_placement_sparse_page_size(MTLDevice *device,
                                                                         size_t length,
                                                                         MTLResourceOptions options,
                                                                         MTLSparsePageSize size);
MTL_API MTLBufferSparseTier mtl_buffer_sparse_buffer_tier(const MTLBuffer *buffer);
MTL_API bool mtl_device_supports_placement_sparse(const MTLDevice *device);

// Structs as Objective-C has them: enumerations are as wide as NSUInteger. Regions in tiles, ranges
// and offsets of buffers in pages, heap offsets in tiles or pages of the resource.
typedef struct MTL4UpdateSparseTextureMappingOperation {
    size_t mode; // MTLSparseTextureMappingMode
    MTLRegion texture_region;
    size_t texture_level, texture_slice;
    size_t heap_offset; // where the first tile lies, the others behind it
} MTL4UpdateSparseTextureMappingOperation;
typedef struct MTL4CopySparseTextureMappingOperation {
    MTLRegion source_region;
    size_t source_level, source_slice;
    MTLOrigin destination_origin;
    size_t destination_level, destination_slice;
} MTL4CopySparseTextureMappingOperation;
typedef struct MTL4UpdateSparseBufferMappingOperation {
    size_t mode;
    MTLRange buffer_range;
    size_t heap_offset;
} MTL4UpdateSparseBufferMappingOperation;
typedef struct MTL4CopySparseBufferMappingOperation {
    MTLRange source_range;
    size_t destination_offset;
} MTL4CopySparseBufferMappingOperation;

// In the order of the queue. The heap is a placement heap whose
// max_compatible_placement_sparse_page_size is at least the resource's page size.
MTL_API void mtl4_command_queue_update_texture_mappings(
    MTL4CommandQueue *queue, MTLTexture *texture, MTLHeap *heap,
    const MTL4UpdateSparseTextureMappingOperation *operations, size_t count);
MTL_API void mtl4_command_queue_copy_texture_mappings(
    MTL4CommandQueue *queue, MTLTexture *source, MTLTexture *destination,
    const MTL4CopySparseTextureMappingOperation *operations, size_t count);
MTL_API void mtl4_command_queue_update_buffer_mappings(
    MTL4CommandQueue *queue, MTLBuffer *buffer, MTLHeap *heap,
    const MTL4UpdateSparseBufferMappingOperation *operations, size_t count);
MTL_API void mtl4_command_queue_copy_buffer_mappings(
    MTL4CommandQueue *queue, MTLBuffer *source, MTLBuffer *destination,
    const MTL4CopySparseBufferMappingOperation *operations, size_t count);

#ifdef __cplusplus
}
#endif
#endif

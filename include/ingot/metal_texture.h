// SPDX-License-Identifier: Apache-2.0
// metal_texture.h: textures, their views, pixel formats and samplers.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A texture from memory and back (examples/texture_blur.c does it with a kernel in between):
//
//     MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 256, 256,
//     false); d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite; MTLTexture *texture
//     = mtl_device_new_texture(device, &d); mtl_texture_replace_region(texture,
//     mtl_region_make_2d(0, 0, 256, 256), 0, pixels, 4 * 256);
//     mtl_compute_command_encoder_set_texture(encoder, texture, 0);
//     ...
//     mtl_texture_get_bytes(texture, pixels, 4 * 256, mtl_region_make_2d(0, 0, 256, 256), 0);
//
// In kernels: reads outside a texture give zero (outside a texture buffer without alpha: 0, 0, 0,
// 1), writes there are dropped. Formats follow Apple's tables for Apple silicon and Mac together.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_TEXTURE_H
#define INGOT_METAL_TEXTURE_H

#ifdef __cplusplus
extern "C" {
#endif

// ---- Enumerations: Apple's values ----

typedef enum MTLPixelFormat {
    MTLPixelFormatInvalid = 0,
    MTLPixelFormatA8Unorm = 1,
    MTLPixelFormatR8Unorm = 10,
    MTLPixelFormatR8Unorm_sRGB = 11,
    MTLPixelFormatR8Snorm = 12,
    MTLPixelFormatR8Uint = 13,
    MTLPixelFormatR8Sint = 14,
    MTLPixelFormatR16Unorm = 20,
    MTLPixelFormatR16Snorm = 22,
    MTLPixelFormatR16Uint = 23,
    MTLPixelFormatR16Sint = 24,
    MTLPixelFormatR16Float = 25,
    MTLPixelFormatRG8Unorm = 30,
    MTLPixelFormatRG8Unorm_sRGB = 31,
    MTLPixelFormatRG8Snorm = 32,
    MTLPixelFormatRG8Uint = 33,
    MTLPixelFormatRG8Sint = 34,
    MTLPixelFormatB5G6R5Unorm = 40,
    MTLPixelFormatA1BGR5Unorm = 41,
    MTLPixelFormatABGR4Unorm = 42,
    MTLPixelFormatBGR5A1Unorm = 43,
    MTLPixelFormatR32Uint = 53,
    MTLPixelFormatR32Sint = 54,
    MTLPixelFormatR32Float = 55,
    MTLPixelFormatRG16Unorm = 60,
    MTLPixelFormatRG16Snorm = 62,
    MTLPixelFormatRG16Uint = 63,
    MTLPixelFormatRG16Sint = 64,
    MTLPixelFormatRG16Float = 65,
    MTLPixelFormatRGBA8Unorm = 70,
    MTLPixelFormatRGBA8Unorm_sRGB = 71,
    MTLPixelFormatRGBA8Snorm = 72,
    MTLPixelFormatRGBA8Uint = 73,
    MTLPixelFormatRGBA8Sint = 74,
    MTLPixelFormatBGRA8Unorm = 80,
    MTLPixelFormatBGRA8Unorm_sRGB = 81,
    MTLPixelFormatRGB10A2Unorm = 90,
    MTLPixelFormatRGB10A2Uint = 91,
    MTLPixelFormatRG11B10Float = 92,
    MTLPixelFormatRGB9E5Float = 93,
    MTLPixelFormatBGR10A2Unorm = 94,
    MTLPixelFormatRG32Uint = 103,
    MTLPixelFormatRG32Sint = 104,
    MTLPixelFormatRG32Float = 105,
    MTLPixelFormatRGBA16Unorm = 110,
    MTLPixelFormatRGBA16Snorm = 112,
    MTLPixelFormatRGBA16Uint = 113,
    MTLPixelFormatRGBA16Sint = 114,
    MTLPixelFormatRGBA16Float = 115,
    MTLPixelFormatRGBA32Uint = 123,
    MTLPixelFormatRGBA32Sint = 124,
    MTLPixelFormatRGBA32Float = 125,
    MTLPixelFormatBC1_RGBA = 130,
    MTLPixelFormatBC1_RGBA_sRGB = 131,
    MTLPixelFormatBC2_RGBA = 132,
    MTLPixelFormatBC2_RGBA_sRGB = 133,
    MTLPixelFormatBC3_RGBA = 134,
    MTLPixelFormatBC3_RGBA_sRGB = 135,
    MTLPixelFormatBC4_RUnorm = 140,
    MTLPixelFormatBC4_RSnorm = 141,
    MTLPixelFormatBC5_RGUnorm = 142,
    MTLPixelFormatBC5_RGSnorm = 143,
    MTLPixelFormatBC6H_RGBFloat = 150,
    MTLPixelFormatBC6H_RGBUfloat = 151,
    MTLPixelFormatBC7_RGBAUnorm = 152,
    MTLPixelFormatBC7_RGBAUnorm_sRGB = 153,
    MTLPixelFormatPVRTC_RGB_2BPP = 160,
    MTLPixelFormatPVRTC_RGB_2BPP_sRGB = 161,
    MTLPixelFormatPVRTC_RGB_4BPP = 162,
    MTLPixelFormatPVRTC_RGB_4BPP_sRGB = 163,
    MTLPixelFormatPVRTC_RGBA_2BPP = 164,
    MTLPixelFormatPVRTC_RGBA_2BPP_sRGB = 165,
    MTLPixelFormatPVRTC_RGBA_4BPP = 166,
    MTLPixelFormatPVRTC_RGBA_4BPP_sRGB = 167,
    MTLPixelFormatEAC_R11Unorm = 170,
    MTLPixelFormatEAC_R11Snorm = 172,
    MTLPixelFormatEAC_RG11Unorm = 174,
    MTLPixelFormatEAC_RG11Snorm = 176,
    MTLPixelFormatEAC_RGBA8 = 178,
    MTLPixelFormatEAC_RGBA8_sRGB = 179,
    MTLPixelFormatETC2_RGB8 = 180,
    MTLPixelFormatETC2_RGB8_sRGB = 181,
    MTLPixelFormatETC2_RGB8A1 = 182,
    MTLPixelFormatETC2_RGB8A1_sRGB = 183,
    MTLPixelFormatASTC_4x4_sRGB = 186,
    MTLPixelFormatASTC_5x4_sRGB = 187,
    MTLPixelFormatASTC_5x5_sRGB = 188,
    MTLPixelFormatASTC_6x5_sRGB = 189,
    MTLPixelFormatASTC_6x6_sRGB = 190,
    MTLPixelFormatASTC_8x5_sRGB = 192,
    MTLPixelFormatASTC_8x6_sRGB = 193,
    MTLPixelFormatASTC_8x8_sRGB = 194,
    MTLPixelFormatASTC_10x5_sRGB = 195,
    MTLPixelFormatASTC_10x6_sRGB = 196,
    MTLPixelFormatASTC_10x8_sRGB = 197,
    MTLPixelFormatASTC_10x10_sRGB = 198,
    MTLPixelFormatASTC_12x10_sRGB = 199,
    MTLPixelFormatASTC_12x12_sRGB = 200,
    MTLPixelFormatASTC_4x4_LDR = 204,
    MTLPixelFormatASTC_5x4_LDR = 205,
    MTLPixelFormatASTC_5x5_LDR = 206,
    MTLPixelFormatASTC_6x5_LDR = 207,
    MTLPixelFormatASTC_6x6_LDR = 208,
    MTLPixelFormatASTC_8x5_LDR = 210,
    MTLPixelFormatASTC_8x6_LDR = 211,
    MTLPixelFormatASTC_8x8_LDR = 212,
    MTLPixelFormatASTC_10x5_LDR = 213,
    MTLPixelFormatASTC_10x6_LDR = 214,
    MTLPixelFormatASTC_10x8_LDR = 215,
    MTLPixelFormatASTC_10x10_LDR = 216,
    MTLPixelFormatASTC_12x10_LDR = 217,
    MTLPixelFormatASTC_12x12_LDR = 218,
    MTLPixelFormatASTC_4x4_HDR = 222,
    MTLPixelFormatASTC_5x4_HDR = 223,
    MTLPixelFormatASTC_5x5_HDR = 224,
    MTLPixelFormatASTC_6x5_HDR = 225,
    MTLPixelFormatASTC_6x6_HDR = 226,
    MTLPixelFormatASTC_8x5_HDR = 228,
    MTLPixelFormatASTC_8x6_HDR = 229,
    MTLPixelFormatASTC_8x8_HDR = 230,
    MTLPixelFormatASTC_10x5_HDR = 231,
    MTLPixelFormatASTC_10x6_HDR = 232,
    MTLPixelFormatASTC_10x8_HDR = 233,
    MTLPixelFormatASTC_10x10_HDR = 234,
    MTLPixelFormatASTC_12x10_HDR = 235,
    MTLPixelFormatASTC_12x12_HDR = 236,
    MTLPixelFormatGBGR422 = 240,
    MTLPixelFormatBGRG422 = 241,
    MTLPixelFormatDepth16Unorm = 250,
    MTLPixelFormatDepth32Float = 252,
    MTLPixelFormatStencil8 = 253,
    MTLPixelFormatDepth24Unorm_Stencil8 = 255,
    MTLPixelFormatDepth32Float_Stencil8 = 260,
    MTLPixelFormatX32_Stencil8 = 261,
    MTLPixelFormatX24_Stencil8 = 262,
    MTLPixelFormatUnspecialized = 263, // of pipelines only
    MTLPixelFormatBGRA10_XR = 552,
    MTLPixelFormatBGRA10_XR_sRGB = 553,
    MTLPixelFormatBGR10_XR = 554,
    MTLPixelFormatBGR10_XR_sRGB = 555,
} MTLPixelFormat;

typedef enum MTLTextureType {
    MTLTextureType1D = 0,
    MTLTextureType1DArray = 1,
    MTLTextureType2D = 2,
    MTLTextureType2DArray = 3,
    MTLTextureType2DMultisample = 4,
    MTLTextureTypeCube = 5,
    MTLTextureTypeCubeArray = 6,
    MTLTextureType3D = 7,
    MTLTextureType2DMultisampleArray = 8,
    MTLTextureTypeTextureBuffer = 9,
} MTLTextureType;

typedef uint32_t MTLTextureUsage;
enum {
    MTLTextureUsageUnknown = 0, // anything
    MTLTextureUsageShaderRead = 1,
    MTLTextureUsageShaderWrite = 2,
    MTLTextureUsageRenderTarget = 4,
    MTLTextureUsagePixelFormatView = 16,
    MTLTextureUsageShaderAtomic = 32,
};

typedef enum MTLTextureSwizzle {
    MTLTextureSwizzleZero = 0,
    MTLTextureSwizzleOne = 1,
    MTLTextureSwizzleRed = 2,
    MTLTextureSwizzleGreen = 3,
    MTLTextureSwizzleBlue = 4,
    MTLTextureSwizzleAlpha = 5,
} MTLTextureSwizzle;

typedef enum MTLTextureCompressionType {
    MTLTextureCompressionTypeLossless = 0,
    MTLTextureCompressionTypeLossy = 1, // allowed to lose; loses nothing here
} MTLTextureCompressionType;

typedef enum MTLSparsePageSize { // metal_sparse.h
    MTLSparsePageSize16 = 101,
    MTLSparsePageSize64 = 102,
    MTLSparsePageSize256 = 103,
} MTLSparsePageSize;

typedef enum MTLReadWriteTextureTier {
    MTLReadWriteTextureTierNone = 0,
    MTLReadWriteTextureTier1 = 1, // R32Float, R32Uint, R32Sint
    MTLReadWriteTextureTier2 = 2, // and those of 8, 16 and 32 bits in one or four components
} MTLReadWriteTextureTier;

typedef enum MTLSamplerMinMagFilter {
    MTLSamplerMinMagFilterNearest = 0,
    MTLSamplerMinMagFilterLinear = 1,
} MTLSamplerMinMagFilter;

typedef enum MTLSamplerMipFilter {
    MTLSamplerMipFilterNotMipmapped = 0,
    MTLSamplerMipFilterNearest = 1,
    MTLSamplerMipFilterLinear = 2,
} MTLSamplerMipFilter;

typedef enum MTLSamplerAddressMode {
    MTLSamplerAddressModeClampToEdge = 0,
    MTLSamplerAddressModeMirrorClampToEdge = 1,
    MTLSamplerAddressModeRepeat = 2,
    MTLSamplerAddressModeMirrorRepeat = 3,
    MTLSamplerAddressModeClampToZero = 4,
    MTLSamplerAddressModeClampToBorderColor = 5,
} MTLSamplerAddressMode;

typedef enum MTLSamplerBorderColor {
    MTLSamplerBorderColorTransparentBlack = 0,
    MTLSamplerBorderColorOpaqueBlack = 1,
    MTLSamplerBorderColorOpaqueWhite = 2,
} MTLSamplerBorderColor;

typedef enum MTLSamplerReductionMode {
    MTLSamplerReductionModeWeightedAverage = 0,
    MTLSamplerReductionModeMinimum = 1,
    MTLSamplerReductionModeMaximum = 2,
} MTLSamplerReductionMode;

typedef enum MTLCompareFunction {
    MTLCompareFunctionNever = 0,
    MTLCompareFunctionLess = 1,
    MTLCompareFunctionEqual = 2,
    MTLCompareFunctionLessEqual = 3,
    MTLCompareFunctionGreater = 4,
    MTLCompareFunctionNotEqual = 5,
    MTLCompareFunctionGreaterEqual = 6,
    MTLCompareFunctionAlways = 7,
} MTLCompareFunction;

// ---- Plain structs and descriptors ----

typedef struct MTLTextureSwizzleChannels {
    uint8_t red, green, blue, alpha; // MTLTextureSwizzle; all four 0: the default (r, g, b, a)
} MTLTextureSwizzleChannels;

static inline MTLTextureSwizzleChannels mtl_texture_swizzle_channels_make(MTLTextureSwizzle red,
                                                                          MTLTextureSwizzle green,
                                                                          MTLTextureSwizzle blue,
                                                                          MTLTextureSwizzle alpha) {
    MTLTextureSwizzleChannels channels = {(uint8_t)red, (uint8_t)green, (uint8_t)blue,
                                          (uint8_t)alpha};
    return channels;
}

// Begin with mtl_texture_descriptor_make_default or one of its kin: they hold Apple's defaults. In
// a struct that begins as {0}, fields hold Apple's values all the same: texture_type 0 is 1D and
// usage 0 is MTLTextureUsageUnknown, which allows everything. Counts of 0 stand for 1.
typedef struct MTLTextureDescriptor {
    MTLTextureType texture_type; // default 2D
    MTLPixelFormat pixel_format; // default RGBA8Unorm; 0 (invalid) is an error
    // 1. Only dimensions that the type does not have may be left 0.
    size_t width, height, depth;
    size_t mipmap_level_count; // 1
    size_t sample_count;       // 1
    size_t array_length;       // 1; cube arrays: cubes
    // A storage mode, cache mode or hazard tracking mode may stand in either place.
    MTLResourceOptions resource_options;
    MTLCPUCacheMode cpu_cache_mode;
    MTLStorageMode storage_mode; // shared
    MTLHazardTrackingMode hazard_tracking_mode;
    MTLTextureUsage usage;                        // default ShaderRead
    bool allow_gpu_optimized_contents;            // default true; no difference here
    MTLTextureCompressionType compression_type;   // lossless
    MTLTextureSwizzleChannels swizzle;            // r, g, b, a
    MTLSparsePageSize placement_sparse_page_size; // 0: not sparse (metal_sparse.h)
} MTLTextureDescriptor;

typedef struct MTLTextureViewDescriptor { // what a view shows; {0}: all of it, as it is
    MTLPixelFormat pixel_format;          // 0: the texture's
    bool texture_type_is_set;             // false: texture_type 0 is the texture's type, not 1D
    MTLTextureType texture_type;
    MTLRange level_range, slice_range; // length 0: all from location on. Slices count cube faces
    MTLTextureSwizzleChannels swizzle;
} MTLTextureViewDescriptor;

typedef struct MTLResourceViewPoolDescriptor {
    size_t resource_view_count; // at least 1
    const char *label;          // NULL: none
} MTLResourceViewPoolDescriptor;

typedef struct MTLSamplerDescriptor {                                     // {0}: Apple's defaults
    MTLSamplerMinMagFilter min_filter, mag_filter;                        // nearest
    MTLSamplerMipFilter mip_filter;                                       // not mipmapped
    size_t max_anisotropy;                                                // 1 .. 16; 0: 1
    MTLSamplerAddressMode s_address_mode, t_address_mode, r_address_mode; // clamp to edge
    MTLSamplerBorderColor border_color;                                   // transparent black
    MTLSamplerReductionMode reduction_mode;                               // weighted average
    bool unnormalized_coordinates; // Apple's normalizedCoordinates, turned so that 0 is the default
    float lod_min_clamp;           // 0
    float lod_max_clamp;           // 0: no limit (FLT_MAX), unless lod_max_clamp_is_set
    bool lod_max_clamp_is_set;
    bool lod_average;
    float lod_bias;
    MTLCompareFunction compare_function; // never
    bool support_argument_buffers;       // needed for gpu_resource_id
    const char *label;                   // NULL: none
} MTLSamplerDescriptor;

MTL_API MTLTextureDescriptor mtl_texture_descriptor_make_default(void);
// Apple's texture2DDescriptor...: usage ShaderRead. mipmapped: all levels down to 1 x 1.
MTL_API MTLTextureDescriptor mtl_texture_descriptor_2d(MTLPixelFormat format, size_t width,
                                                       size_t height, bool mipmapped);
MTL_API MTLTextureDescriptor mtl_texture_descriptor_cube(MTLPixelFormat format, size_t size,
                                                         bool mipmapped);
MTL_API MTLTextureDescriptor mtl_texture_descriptor_texture_buffer(MTLPixelFormat format,
                                                                   size_t width,
                                                                   MTLResourceOptions options,
                                                                   MTLTextureUsage usage);

// ---- MTLDevice: textures and samplers ----

// NULL: no memory, or a rule is broken. Memory begins as zeros. Memoryless textures can only be
// render targets.
MTL_API MTLTexture *mtl_device_new_texture(MTLDevice *device,
                                           const MTLTextureDescriptor *descriptor);
// Bytes and alignment a texture takes in a heap; {0, 0} and a message for a bad descriptor.
MTL_API MTLSizeAndAlign
mtl_device_heap_texture_size_and_align(MTLDevice *device, const MTLTextureDescriptor *descriptor);
// Of offset and bytes_per_row in mtl_buffer_new_texture. 0 and a message: not for such a format.
MTL_API size_t mtl_device_minimum_linear_texture_alignment_for_pixel_format(MTLDevice *device,
                                                                            MTLPixelFormat format);
MTL_API size_t mtl_device_minimum_texture_buffer_alignment_for_pixel_format(MTLDevice *device,
                                                                            MTLPixelFormat format);
MTL_API bool mtl_device_supports_texture_sample_count(const MTLDevice *device, size_t count);
MTL_API MTLReadWriteTextureTier mtl_device_read_write_texture_support(const MTLDevice *device);
MTL_API bool mtl_device_supports_bc_texture_compression(const MTLDevice *device);
MTL_API bool mtl_device_supports_query_texture_lod(const MTLDevice *device);
MTL_API bool mtl_device_supports_32_bit_msaa(const MTLDevice *device);
MTL_API bool mtl_device_is_depth24_stencil8_pixel_format_supported(const MTLDevice *device);
MTL_API MTLSamplerState *mtl_device_new_sampler_state(MTLDevice *device,
                                                      const MTLSamplerDescriptor *descriptor);
MTL_API MTLTextureViewPool *mtl_device_new_texture_view_pool(
    MTLDevice *device, const MTLResourceViewPoolDescriptor *descriptor, MTLError **error);

// A 2D texture of one level, or a texture buffer, over the buffer's memory; keeps the buffer alive.
// The descriptor's storage mode is the buffer's.
MTL_API MTLTexture *mtl_buffer_new_texture(MTLBuffer *buffer,
                                           const MTLTextureDescriptor *descriptor, size_t offset,
                                           size_t bytes_per_row);

// ---- MTLTexture (a MTLResource) ----

MTL_API MTLDevice *mtl_texture_device(const MTLTexture *texture);
MTL_API const char *mtl_texture_label(const MTLTexture *texture);
MTL_API void mtl_texture_set_label(MTLTexture *texture, const char *label);
MTL_API MTLTextureType mtl_texture_texture_type(const MTLTexture *texture);
MTL_API MTLPixelFormat mtl_texture_pixel_format(const MTLTexture *texture);
MTL_API size_t mtl_texture_width(const MTLTexture *texture); // of level 0
MTL_API size_t mtl_texture_height(const MTLTexture *texture);
MTL_API size_t mtl_texture_depth(const MTLTexture *texture);
MTL_API size_t mtl_texture_mipmap_level_count(const MTLTexture *texture);
MTL_API size_t mtl_texture_sample_count(const MTLTexture *texture);
MTL_API size_t mtl_texture_array_length(const MTLTexture *texture);
MTL_API MTLTextureUsage mtl_texture_usage(const MTLTexture *texture);
MTL_API MTLTextureSwizzleChannels mtl_texture_swizzle(const MTLTexture *texture);
MTL_API MTLTextureCompressionType mtl_texture_compression_type(const MTLTexture *texture);
MTL_API bool mtl_texture_allow_gpu_optimized_contents(const MTLTexture *texture);
MTL_API bool mtl_texture_is_framebuffer_only(const MTLTexture *texture); // false
MTL_API bool mtl_texture_is_shareable(const MTLTexture *texture);        // metal_share.h
MTL_API bool mtl_texture_is_sparse(const MTLTexture *texture);
MTL_API MTLStorageMode mtl_texture_storage_mode(const MTLTexture *texture);
MTL_API MTLCPUCacheMode mtl_texture_cpu_cache_mode(const MTLTexture *texture);
MTL_API MTLHazardTrackingMode mtl_texture_hazard_tracking_mode(const MTLTexture *texture);
MTL_API MTLResourceOptions mtl_texture_resource_options(const MTLTexture *texture);
MTL_API size_t mtl_texture_allocated_size(const MTLTexture *texture);
MTL_API MTLHeap *mtl_texture_heap(const MTLTexture *texture);
MTL_API size_t mtl_texture_heap_offset(const MTLTexture *texture);
MTL_API MTLPurgeableState mtl_texture_set_purgeable_state(MTLTexture *texture,
                                                          MTLPurgeableState state);
// A view's parent and where in it the view begins; NULL and 0 for others. Borrowed.
MTL_API MTLTexture *mtl_texture_parent_texture(const MTLTexture *texture);
MTL_API size_t mtl_texture_parent_relative_level(const MTLTexture *texture);
MTL_API size_t mtl_texture_parent_relative_slice(const MTLTexture *texture);
// The texture or buffer whose memory it is, in the end; the texture itself if its own.
MTL_API MTLResource *mtl_texture_root_resource(const MTLTexture *texture);
// Of a texture made by mtl_buffer_new_texture, or a view of one.
MTL_API MTLBuffer *mtl_texture_buffer(const MTLTexture *texture);
MTL_API size_t mtl_texture_buffer_offset(const MTLTexture *texture);
MTL_API size_t mtl_texture_buffer_bytes_per_row(const MTLTexture *texture);
// What stands for the texture in argument buffers of plain structs. Valid while the texture is.
MTL_API MTLResourceID mtl_texture_gpu_resource_id(const MTLTexture *texture);

// Copies texels in, at once: `slice` of level `level`, region inside that level. bytes_per_row is
// the distance between rows (of blocks, where compressed), bytes_per_image between planes of a 3D
// texture; 0 is allowed where there is one row or one plane. Of PVRTC whole levels are copied, in Z
// order, of two blocks by two at least: bytes_per_row is 0. Not for private, memoryless or
// multisample textures. Does not wait for kernels.
MTL_API void mtl_texture_replace_region(MTLTexture *texture, MTLRegion region, size_t level,
                                        const void *bytes, size_t bytes_per_row);
MTL_API void mtl_texture_replace_region_slice(MTLTexture *texture, MTLRegion region, size_t level,
                                              size_t slice, const void *bytes, size_t bytes_per_row,
                                              size_t bytes_per_image);
// The other way round.
MTL_API void mtl_texture_get_bytes(const MTLTexture *texture, void *bytes, size_t bytes_per_row,
                                   MTLRegion region, size_t level);
MTL_API void mtl_texture_get_bytes_slice(const MTLTexture *texture, void *bytes,
                                         size_t bytes_per_row, size_t bytes_per_image,
                                         MTLRegion region, size_t level, size_t slice);

// Views: the same memory with another format (of the same size of texel, or another of the same
// compression), type, levels, slices or swizzle. Another format needs
// MTLTextureUsagePixelFormatView, unless only sRGB differs.
MTL_API MTLTexture *mtl_texture_new_texture_view(MTLTexture *texture, MTLPixelFormat format);
MTL_API MTLTexture *mtl_texture_new_texture_view_with_ranges(MTLTexture *texture,
                                                             MTLPixelFormat format,
                                                             MTLTextureType type, MTLRange levels,
                                                             MTLRange slices);
MTL_API MTLTexture *mtl_texture_new_texture_view_with_swizzle(MTLTexture *texture,
                                                              MTLPixelFormat format,
                                                              MTLTextureType type, MTLRange levels,
                                                              MTLRange slices,
                                                              MTLTextureSwizzleChannels swizzle);
MTL_API MTLTexture *mtl_texture_new_texture_view_with_descriptor(
    MTLTexture *texture, const MTLTextureViewDescriptor *descriptor);
// NULL, and a message: remote views are for the devices of a peer group.
MTL_API MTLTexture *mtl_texture_new_remote_texture_view_for_device(MTLTexture *texture,
                                                                   MTLDevice *device);

// ---- MTLTextureViewPool: views that are only a resource id ----
// The pool keeps the textures and buffers of its views alive until a slot is set again. The calls
// return the id of the slot, {0} after a message. The slot's contents must not change while
// committed work uses them.

MTL_API MTLDevice *mtl_texture_view_pool_device(const MTLTextureViewPool *pool);
MTL_API const char *mtl_texture_view_pool_label(const MTLTextureViewPool *pool);
MTL_API size_t mtl_texture_view_pool_resource_view_count(const MTLTextureViewPool *pool);
// The id of slot 0. That of slot i is i more. Those that set views give the id of the slot, or of
// the first; {0}: a rule was broken, or there is no memory.
MTL_API MTLResourceID mtl_texture_view_pool_base_resource_id(const MTLTextureViewPool *pool);
MTL_API MTLResourceID mtl_texture_view_pool_resource_id(const MTLTextureViewPool *pool,
                                                        size_t index); // not Apple's
MTL_API MTLResourceID mtl_texture_view_pool_set_texture_view(MTLTextureViewPool *pool,
                                                             MTLTexture *texture, size_t index);
MTL_API MTLResourceID mtl_texture_view_pool_set_texture_view_with_descriptor(
    MTLTextureViewPool *pool, MTLTexture *texture, const MTLTextureViewDescriptor *descriptor,
    size_t index);
MTL_API MTLResourceID mtl_texture_view_pool_set_texture_view_from_buffer(
    MTLTextureViewPool *pool, MTLBuffer *buffer, const MTLTextureDescriptor *descriptor,
    size_t offset, size_t bytes_per_row, size_t index);
MTL_API MTLResourceID mtl_texture_view_pool_copy_resource_views(MTLTextureViewPool *pool,
                                                                const MTLTextureViewPool *source,
                                                                MTLRange source_range,
                                                                size_t destination_index);

// ---- MTLSamplerState ----

MTL_API MTLDevice *mtl_sampler_state_device(const MTLSamplerState *state);
MTL_API const char *mtl_sampler_state_label(const MTLSamplerState *state);
// Needs support_argument_buffers.
MTL_API MTLResourceID mtl_sampler_state_gpu_resource_id(const MTLSamplerState *sampler);

// ---- MTLComputeCommandEncoder: textures and samplers ----

// Texture indices are 0 .. 127, sampler indices 0 .. 15. NULL unbinds.
MTL_API void mtl_compute_command_encoder_set_texture(MTLComputeCommandEncoder *encoder,
                                                     MTLTexture *texture, size_t index);
MTL_API void mtl_compute_command_encoder_set_textures(MTLComputeCommandEncoder *encoder,
                                                      MTLTexture *const *textures, MTLRange range);
MTL_API void mtl_compute_command_encoder_set_sampler_state(MTLComputeCommandEncoder *encoder,
                                                           MTLSamplerState *sampler, size_t index);
MTL_API void mtl_compute_command_encoder_set_sampler_states(MTLComputeCommandEncoder *encoder,
                                                            MTLSamplerState *const *samplers,
                                                            MTLRange range);
// With other level-of-detail limits than the sampler's own.
MTL_API void mtl_compute_command_encoder_set_sampler_state_with_lod_clamps(
    MTLComputeCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index);
MTL_API void mtl_compute_command_encoder_set_sampler_states_with_lod_clamps(
    MTLComputeCommandEncoder *encoder, MTLSamplerState *const *samplers,
    const float *lod_min_clamps, const float *lod_max_clamps, MTLRange range);

// ---- Reflection ----

typedef struct MTLTextureReferenceType MTLTextureReferenceType;
// Of texture bindings: what the kernel's argument is.
MTL_API MTLTextureType mtl_binding_texture_type(const MTLBinding *binding);
MTL_API MTLDataType mtl_binding_texture_data_type(const MTLBinding *binding); // of a component
MTL_API bool mtl_binding_is_depth_texture(const MTLBinding *binding);
// Of members, elements and pointees that are textures; NULL if they are none.
MTL_API MTLTextureReferenceType *mtl_struct_member_texture_reference_type(
    const MTLStructMember *member);
MTL_API MTLTextureReferenceType *mtl_array_type_element_texture_reference_type(
    const MTLArrayType *type);
MTL_API MTLDataType
mtl_texture_reference_type_texture_data_type(const MTLTextureReferenceType *type);
MTL_API MTLTextureType mtl_texture_reference_type_texture_type(const MTLTextureReferenceType *type);
MTL_API MTLBindingAccess mtl_texture_reference_type_access(const MTLTextureReferenceType *type);
MTL_API bool mtl_texture_reference_type_is_depth_texture(const MTLTextureReferenceType *type);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// metal_rate.h: rasterization rate maps: parts of a picture with fewer pixels.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A map cuts the screen into columns and rows, each with a rate. A pass with a map draws in screen
// coordinates (viewports, scissors, positions) into textures of the physical size, where a column
// of 100 units at rate 0.5 is 50 pixels wide. A fragment's [[position]] is physical.
//
//     const float columns[] = {0.5f, 1, 0.5f}, rows[] = {1};
//     MTLRasterizationRateLayerDescriptor layer = {3, 1, columns, rows};
//     MTLRasterizationRateMap *map = mtl_device_new_rasterization_rate_map(device,
//         &(MTLRasterizationRateMapDescriptor){
//             .screen_size = {300, 200, 0}, .layers = &layer, .layer_count = 1});
//     // 50 + 100 + 50 pixels wide: textures of mtl_rasterization_rate_map_physical_size(map, 0)
//
// Here columns and rows begin and end at whole units and whole pixels, rates that do not come out
// are raised to the next that does, and the least rate is 1/8. Points and lines keep their width in
// pixels.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_RATE_H
#define INGOT_METAL_RATE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef MTLSamplePosition MTLCoordinate2D;
#define MTL_MAX_RATE_SAMPLES 256 // columns or rows of a layer

typedef struct MTLRasterizationRateLayerDescriptor {
    size_t horizontal_count, vertical_count; // 1 to MTL_MAX_RATE_SAMPLES
    const float *horizontal, *vertical;      // a rate for each, 0 to 1
} MTLRasterizationRateLayerDescriptor;

typedef struct MTLRasterizationRateMapDescriptor {
    MTLSize screen_size; // 1 to 16384 each way; depth is not looked at
    const MTLRasterizationRateLayerDescriptor *layers;
    size_t layer_count; // at least 1
    const char *label;  // NULL: none
} MTLRasterizationRateMapDescriptor;

MTL_API bool mtl_device_supports_rasterization_rate_map(const MTLDevice *device,
                                                        size_t layer_count);
// NULL: a message, or no memory.
MTL_API MTLRasterizationRateMap *mtl_device_new_rasterization_rate_map(
    MTLDevice *device, const MTLRasterizationRateMapDescriptor *descriptor);
MTL_API MTLDevice *mtl_rasterization_rate_map_device(const MTLRasterizationRateMap *map);
MTL_API const char *mtl_rasterization_rate_map_label(const MTLRasterizationRateMap *map);
MTL_API MTLSize mtl_rasterization_rate_map_screen_size(const MTLRasterizationRateMap *map);
// Rates change at whole pixels: 1 x 1 x 0.
MTL_API MTLSize mtl_rasterization_rate_map_physical_granularity(const MTLRasterizationRateMap *map);
MTL_API size_t mtl_rasterization_rate_map_layer_count(const MTLRasterizationRateMap *map);
MTL_API MTLSize mtl_rasterization_rate_map_physical_size(const MTLRasterizationRateMap *map,
                                                         size_t layer_index);
// Beyond the edges: those of the edge.
MTL_API MTLSamplePosition mtl_rasterization_rate_map_map_screen_to_physical_coordinates(
    const MTLRasterizationRateMap *map, MTLSamplePosition screen_coordinates, size_t layer_index);
MTL_API MTLSamplePosition mtl_rasterization_rate_map_map_physical_to_screen_coordinates(
    const MTLRasterizationRateMap *map, MTLSamplePosition physical_coordinates, size_t layer_index);
// What a shader takes as rasterization_rate_map_data.
MTL_API MTLSizeAndAlign
mtl_rasterization_rate_map_parameter_buffer_size_and_align(const MTLRasterizationRateMap *map);
MTL_API void mtl_rasterization_rate_map_copy_parameter_data_to_buffer(
    const MTLRasterizationRateMap *map, MTLBuffer *buffer, size_t offset);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// rate_map.c: MTLRasterizationRateMap: edges of columns and rows, in the words that shaders read.
#include "runtime/command/rate_map_int.h"
#include <math.h>
#include <string.h>
#include "abi/rate_map.h"
#include "runtime/memory/buffer.h"
#include "runtime/object/validation.h"

#define MAX_SCREEN 16384u
#define MAX_LAYERS 2048u
#define LEAST_RATE 0.125

static void map_destroy(void *self) {
    MTLRasterizationRateMap *map = self;
    rt_free(map->words);
    rt_free(map->layers);
    rt_label_free(&map->label);
    mtl_release(map->device);
    rt_free(map);
}

RT_CLASS rt_rate_map_class = {.name = "MTLRasterizationRateMap",
                              .destroy = map_destroy,
                              .label_at = offsetof(MTLRasterizationRateMap, label)};

// ---- Making ----

static bool valid_axis(const float *rates, size_t n, size_t size) {
    bool ok = rates && n > 0 && n <= MTL_MAX_RATE_SAMPLES && n <= size;
    for (size_t i = 0; ok && i < n; i++) ok = rates[i] >= 0 && rates[i] <= 1; // and a number
    return ok;
}

static bool valid(MTLDevice *device, const MTLRasterizationRateMapDescriptor *d, const char *call) {
    if (!device || !d || !d->layers) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, call, "%s",
                  !d ? "descriptor" : "layers");
        return false;
    }
    size_t width = d->screen_size.width, height = d->screen_size.height;
    if (width == 0 || height == 0 || width > MAX_SCREEN || height > MAX_SCREEN ||
        d->layer_count == 0 || d->layer_count > MAX_LAYERS) {
        rt_misuse(device, RT_RULE_rate_map, call, "screen %zu x %zu, %zu layers", width, height,
                  d->layer_count);
        return false;
    }
    for (size_t i = 0; i < d->layer_count; i++) {
        const MTLRasterizationRateLayerDescriptor *l = &d->layers[i];
        if (valid_axis(l->horizontal, l->horizontal_count, width) &&
            valid_axis(l->vertical, l->vertical_count, height))
            continue;
        rt_misuse(device, RT_RULE_rate_map, call, "layer %zu: %zu x %zu rates", i,
                  l->horizontal_count, l->vertical_count);
        return false;
    }
    return true;
}

static void set_axis(float *pairs, const float *rates, size_t n, size_t size) {
    size_t physical = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t at = (size * i + n / 2) / n;
        if (i > 0) {
            double rate = rates[i - 1] > LEAST_RATE ? rates[i - 1] : LEAST_RATE;
            physical += (size_t)ceil((double)((float)at - pairs[2 * i - 2]) * rate - 1e-4);
        }
        pairs[2 * i] = (float)at;
        pairs[2 * i + 1] = (float)physical;
    }
}

static bool fill(MTLRasterizationRateMap *map, const MTLRasterizationRateMapDescriptor *d) {
    size_t n = ABI_RATE_HEAD + ABI_RATE_LAYER_WORDS * d->layer_count;
    for (size_t i = 0; i < d->layer_count; i++)
        n += 2 * (d->layers[i].horizontal_count + d->layers[i].vertical_count + 2);
    map->words = rt_alloc(n * sizeof *map->words);
    map->layers = rt_alloc(d->layer_count * sizeof *map->layers);
    if (!map->words || !map->layers) return false;
    map->n_words = n;
    map->words[ABI_RATE_LAYERS] = (uint32_t)d->layer_count;
    size_t at = ABI_RATE_HEAD + ABI_RATE_LAYER_WORDS * d->layer_count;
    for (size_t i = 0; i < d->layer_count; i++) {
        const MTLRasterizationRateLayerDescriptor *l = &d->layers[i];
        uint32_t *head = map->words + ABI_RATE_HEAD + ABI_RATE_LAYER_WORDS * i;
        head[ABI_RATE_COLUMNS] = (uint32_t)l->horizontal_count;
        head[ABI_RATE_ROWS] = (uint32_t)l->vertical_count;
        head[ABI_RATE_EDGES] = (uint32_t)at;
        float *columns = (float *)(void *)(map->words + at);
        float *rows = columns + 2 * (l->horizontal_count + 1);
        set_axis(columns, l->horizontal, l->horizontal_count, d->screen_size.width);
        set_axis(rows, l->vertical, l->vertical_count, d->screen_size.height);
        map->layers[i] = (DevRateLayer){.n_columns = head[ABI_RATE_COLUMNS],
                                        .n_rows = head[ABI_RATE_ROWS],
                                        .columns = columns,
                                        .rows = rows};
        at += 2 * (l->horizontal_count + l->vertical_count + 2);
    }
    map->rates = (DevRates){.layers = map->layers,
                            .n_layers = (uint32_t)d->layer_count,
                            .width = (uint32_t)d->screen_size.width,
                            .height = (uint32_t)d->screen_size.height};
    return true;
}

MTLRasterizationRateMap *mtl_device_new_rasterization_rate_map(
    MTLDevice *device, const MTLRasterizationRateMapDescriptor *descriptor) {
    if (!valid(device, descriptor, __func__) || !rt_device_needs(device, DEV_RENDER, __func__))
        return NULL;
    MTLRasterizationRateMap *map = rt_new(&rt_rate_map_class, sizeof *map);
    if (!map) return NULL;
    map->device = mtl_retain(device);
    rt_label_set(&map->label, descriptor->label);
    if (fill(map, descriptor)) return map;
    mtl_release(map);
    return NULL;
}

bool mtl_device_supports_rasterization_rate_map(const MTLDevice *device, size_t layer_count) {
    return rt_device_has(device, DEV_RENDER) && layer_count > 0 && layer_count <= MAX_LAYERS;
}

// ---- Properties ----

MTLSize mtl_rasterization_rate_map_screen_size(const MTLRasterizationRateMap *map) {
    return map ? (MTLSize){map->rates.width, map->rates.height, 0} : (MTLSize){0, 0, 0};
}

MTLSize mtl_rasterization_rate_map_physical_granularity(const MTLRasterizationRateMap *map) {
    (void)map;
    return (MTLSize){1, 1, 0};
}

static const DevRateLayer *layer_of(const MTLRasterizationRateMap *map, size_t i,
                                    const char *call) {
    if (rt_is(map, &rt_rate_map_class) && i < map->rates.n_layers) return &map->layers[i];
    rt_misuse(map ? map->device : NULL, map ? RT_RULE_rate_map : RT_RULE_null_object, call,
              "layer %zu", i);
    return NULL;
}

MTLSize mtl_rasterization_rate_map_physical_size(const MTLRasterizationRateMap *map,
                                                 size_t layer_index) {
    const DevRateLayer *l = layer_of(map, layer_index, __func__);
    if (!l) return (MTLSize){0, 0, 0};
    return (MTLSize){(size_t)l->columns[2 * l->n_columns + 1], (size_t)l->rows[2 * l->n_rows + 1],
                     0};
}

static MTLSamplePosition convert(const MTLRasterizationRateMap *map, int from, MTLSamplePosition at,
                                 size_t layer, const char *call) {
    const DevRateLayer *l = layer_of(map, layer, call);
    if (!l) return (MTLSamplePosition){0, 0};
    return (MTLSamplePosition){abi_rate_map(l->columns, l->n_columns, from, at.x),
                               abi_rate_map(l->rows, l->n_rows, from, at.y)};
}

MTLSamplePosition mtl_rasterization_rate_map_map_screen_to_physical_coordinates(
    const MTLRasterizationRateMap *map, MTLSamplePosition screen_coordinates, size_t layer_index) {
    return convert(map, 0, screen_coordinates, layer_index, __func__);
}

MTLSamplePosition mtl_rasterization_rate_map_map_physical_to_screen_coordinates(
    const MTLRasterizationRateMap *map, MTLSamplePosition physical_coordinates,
    size_t layer_index) {
    return convert(map, 1, physical_coordinates, layer_index, __func__);
}

MTLSizeAndAlign mtl_rasterization_rate_map_parameter_buffer_size_and_align(
    const MTLRasterizationRateMap *map) {
    return map ? (MTLSizeAndAlign){map->n_words * sizeof *map->words, 16} : (MTLSizeAndAlign){0, 0};
}

void mtl_rasterization_rate_map_copy_parameter_data_to_buffer(const MTLRasterizationRateMap *map,
                                                              MTLBuffer *buffer, size_t offset) {
    if (!rt_is(map, &rt_rate_map_class) || !rt_is(buffer, &rt_buffer_class)) {
        rt_misuse(map ? map->device : NULL, map ? RT_RULE_null_argument : RT_RULE_null_object,
                  __func__, "buffer");
        return;
    }
    size_t n = map->n_words * sizeof *map->words;
    if (offset % 4 || offset > buffer->length || n > buffer->length - offset || !buffer->contents)
        rt_misuse(map->device, RT_RULE_rate_map, __func__,
                  "%zu bytes at offset %zu of a buffer of %zu bytes", n, offset, buffer->length);
    else
        memcpy(buffer->contents + offset, map->words, n);
}

#include "accessors/command/rate_map.inc" // plain accessors, from the table

// SPDX-License-Identifier: Apache-2.0
// hand_rate.c: descriptors of rasterization rate maps: rates in memory that programs may write
// through a pointer, and arrays that are views of them.
#include <string.h>
#include "face_objects.h"

typedef O_MTLRasterizationRateLayerDescriptor Layer;
typedef O_MTLRasterizationRateMapDescriptor Map;

// ---- Layers ----

static id make_layer(Layer *layer, MTLSize count, const float *horizontal, const float *vertical) {
    const float *const rates[2] = {horizontal, vertical};
    const size_t n[2] = {count.width, count.height};
    id *const slots[2] = {&layer->horizontalRates, &layer->verticalRates};
    for (int i = 0; i < 2; i++) {
        id data = face_zeros(n[i] * sizeof(float));
        if (rates[i]) memcpy((void *)(uintptr_t)face_bytes(data), rates[i], n[i] * sizeof(float));
        face_store(slots[i], data, false);
    }
    layer->maxSampleCount = layer->sampleCountNow = (MTLSize){count.width, count.height, 0};
    return (id)layer;
}

id face_MTLRasterizationRateLayerDescriptor_initWithSampleCount_(id self, SEL _cmd,
                                                                 MTLSize sampleCount) {
    (void)_cmd;
    return make_layer((Layer *)self, sampleCount, NULL, NULL);
}

id face_MTLRasterizationRateLayerDescriptor_initWithSampleCount_horizontal_vertical_(
    id self, SEL _cmd, MTLSize sampleCount, void *horizontal, void *vertical) {
    (void)_cmd;
    return make_layer((Layer *)self, sampleCount, horizontal, vertical);
}

MTLSize face_MTLRasterizationRateLayerDescriptor_sampleCount(id self, SEL _cmd) {
    (void)_cmd;
    return ((Layer *)self)->sampleCountNow;
}

// Fewer than it was made for: the first ones count.
void face_MTLRasterizationRateLayerDescriptor_setSampleCount_(id self, SEL _cmd, MTLSize value) {
    (void)_cmd;
    Layer *layer = (Layer *)self;
    if (value.width <= layer->maxSampleCount.width && value.height <= layer->maxSampleCount.height)
        layer->sampleCountNow = (MTLSize){value.width, value.height, 0};
    else
        face_refuse("-[MTLRasterizationRateLayerDescriptor setSampleCount:]",
                    "there are more than maxSampleCount");
}

void *face_MTLRasterizationRateLayerDescriptor_horizontalSampleStorage(id self, SEL _cmd) {
    (void)_cmd;
    return (void *)(uintptr_t)face_bytes(((Layer *)self)->horizontalRates);
}

void *face_MTLRasterizationRateLayerDescriptor_verticalSampleStorage(id self, SEL _cmd) {
    (void)_cmd;
    return (void *)(uintptr_t)face_bytes(((Layer *)self)->verticalRates);
}

static id samples(id layer, bool vertical) {
    O_MTLRasterizationRateSampleArray *array =
        (O_MTLRasterizationRateSampleArray *)face_make_object("MTLRasterizationRateSampleArray");
    face_store(&array->layer, layer, false);
    array->isVertical = vertical;
    return objc_autorelease((id)array);
}

id face_MTLRasterizationRateLayerDescriptor_horizontal(id self, SEL _cmd) {
    (void)_cmd;
    return samples(self, false);
}

id face_MTLRasterizationRateLayerDescriptor_vertical(id self, SEL _cmd) {
    (void)_cmd;
    return samples(self, true);
}

static float *sample_at(id self, unsigned long index) {
    const O_MTLRasterizationRateSampleArray *array =
        (const O_MTLRasterizationRateSampleArray *)self;
    const Layer *layer = (const Layer *)array->layer;
    id data = array->isVertical ? layer->verticalRates : layer->horizontalRates;
    bool inside = index < face_length(data) / sizeof(float);
    return inside ? (float *)(uintptr_t)face_bytes(data) + index : NULL;
}

id face_MTLRasterizationRateSampleArray_objectAtIndexedSubscript_(id self, SEL _cmd,
                                                                  unsigned long index) {
    (void)_cmd;
    const float *at = sample_at(self, index);
    return face_float(at ? *at : 0);
}

void face_MTLRasterizationRateSampleArray_setObject_atIndexedSubscript_(id self, SEL _cmd, id value,
                                                                        unsigned long index) {
    (void)_cmd;
    float *at = sample_at(self, index);
    if (at) *at = face_float_value(value);
}

MTLRasterizationRateLayerDescriptor *face_fill_MTLRasterizationRateLayerDescriptor(
    MTLRasterizationRateLayerDescriptor *to, id from, FaceArena *arena) {
    const Layer *layer = (const Layer *)from;
    (void)arena;
    *to = (MTLRasterizationRateLayerDescriptor){
        layer->sampleCountNow.width, layer->sampleCountNow.height,
        face_bytes(layer->horizontalRates), face_bytes(layer->verticalRates)};
    return to;
}

// ---- Maps ----

static id layer_at(const Map *map, unsigned long i) {
    FaceArena arena = {0};
    id layer = i < face_count(map->layerList) ? face_items(&arena, map->layerList)[i] : NULL;
    face_arena_free(&arena);
    return layer;
}

// A layer behind the last is added; nil takes the last away; gaps are layers of the lowest rate.
static void set_layer(Map *map, id layer, unsigned long i) {
    FaceArena arena = {0};
    size_t n = face_count(map->layerList), most = n > i + 1 ? n : i + 1;
    if (i >= 2048) return;
    id *items = face_alloc(&arena, (most + 1) * sizeof *items);
    id *old = face_items(&arena, map->layerList);
    for (size_t k = 0; k < most; k++) {
        items[k] = k == i ? layer : k < n ? old[k] : NULL;
        if (!items[k])
            items[k] = objc_autorelease(
                make_layer((Layer *)face_make_object("MTLRasterizationRateLayerDescriptor"),
                           (MTLSize){1, 1, 0}, NULL, NULL));
    }
    if (!layer && i + 1 >= most) most = i < n ? i : n;
    face_store(&map->layerList, face_array(items, most), false);
    face_arena_free(&arena);
}

id face_MTLRasterizationRateMapDescriptor_layerAtIndex_(id self, SEL _cmd,
                                                        unsigned long layerIndex) {
    (void)_cmd;
    return face_lend(layer_at((const Map *)self, layerIndex));
}

void face_MTLRasterizationRateMapDescriptor_setLayer_atIndex_(id self, SEL _cmd, id layer,
                                                              unsigned long layerIndex) {
    (void)_cmd;
    set_layer((Map *)self, layer, layerIndex);
}

unsigned long face_MTLRasterizationRateMapDescriptor_layerCount(id self, SEL _cmd) {
    (void)_cmd;
    return face_count(((const Map *)self)->layerList);
}

id face_MTLRasterizationRateMapDescriptor_layers(id self, SEL _cmd) {
    (void)_cmd;
    O_MTLRasterizationRateLayerArray *array =
        (O_MTLRasterizationRateLayerArray *)face_make_object("MTLRasterizationRateLayerArray");
    face_store(&array->map, self, false);
    return objc_autorelease((id)array);
}

id face_MTLRasterizationRateLayerArray_objectAtIndexedSubscript_(id self, SEL _cmd,
                                                                 unsigned long layerIndex) {
    (void)_cmd;
    return face_lend(
        layer_at((const Map *)((O_MTLRasterizationRateLayerArray *)self)->map, layerIndex));
}

void face_MTLRasterizationRateLayerArray_setObject_atIndexedSubscript_(id self, SEL _cmd, id layer,
                                                                       unsigned long layerIndex) {
    (void)_cmd;
    set_layer((Map *)((O_MTLRasterizationRateLayerArray *)self)->map, layer, layerIndex);
}

static id make_map(MTLSize screen, id const *layers, size_t n) {
    Map *map = (Map *)face_make_object("MTLRasterizationRateMapDescriptor");
    map->screenSize = screen;
    if (n) face_store(&map->layerList, face_array(layers, n), false);
    return objc_autorelease((id)map);
}

id face_MTLRasterizationRateMapDescriptor_class_rasterizationRateMapDescriptorWithScreenSize_(
    id self, SEL _cmd, MTLSize screenSize) {
    (void)self, (void)_cmd;
    return make_map(screenSize, NULL, 0);
}

id face_MTLRasterizationRateMapDescriptor_class_rasterizationRateMapDescriptorWithScreenSize_layer_(
    id self, SEL _cmd, MTLSize screenSize, id layer) {
    (void)self, (void)_cmd;
    return make_map(screenSize, &layer, layer ? 1 : 0);
}

id face_MTLRasterizationRateMapDescriptor_class_rasterizationRateMapDescriptorWithScreenSize_layerCount_layers_(
    id self, SEL _cmd, MTLSize screenSize, unsigned long layerCount, void *layers) {
    (void)self, (void)_cmd;
    return make_map(screenSize, layers, layerCount);
}

void face_after_MTLRasterizationRateMapDescriptor(const Map *from,
                                                  MTLRasterizationRateMapDescriptor *to,
                                                  FaceArena *arena) {
    size_t n = face_count(from->layerList);
    id *items = face_items(arena, from->layerList);
    MTLRasterizationRateLayerDescriptor *layers = face_alloc(arena, (n + 1) * sizeof *layers);
    for (size_t i = 0; i < n; i++)
        face_fill_MTLRasterizationRateLayerDescriptor(&layers[i], items[i], arena);
    to->layers = layers;
    to->layer_count = n;
}

// SPDX-License-Identifier: Apache-2.0
// rate_map_int.h: MTLRasterizationRateMap, for render passes.
#ifndef INGOT_RUNTIME_RATE_MAP_H
#define INGOT_RUNTIME_RATE_MAP_H
#include "devices/table/pass.h"
#include "runtime/object/device.h"

struct MTLRasterizationRateMap {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    uint32_t *words; // abi/rate_map.h
    size_t n_words;
    DevRates rates; // the same for devices
    DevRateLayer *layers;
};
extern RtClass rt_rate_map_class;
#endif

// SPDX-License-Identifier: Apache-2.0
// rate_map.h: <metal_graphics>: rasterization rate maps in shaders. The words are those of
// src/abi/rate_map.h: heads of layers, then pairs of edges on the screen and in the target.
#pragma once

namespace metal {
struct rasterization_rate_map_data {
    uint __words[4];
};

struct rasterization_rate_map_decoder {
    METAL_FUNC explicit rasterization_rate_map_decoder(constant rasterization_rate_map_data &data)
        : __in_constant(&data.__words[0]), __in_device(nullptr), __in_group(nullptr) {}
    METAL_FUNC explicit rasterization_rate_map_decoder(
        device const rasterization_rate_map_data &data)
        : __in_constant(nullptr), __in_device(&data.__words[0]), __in_group(nullptr) {}
    METAL_FUNC explicit rasterization_rate_map_decoder(
        threadgroup const rasterization_rate_map_data &data)
        : __in_constant(nullptr), __in_device(nullptr), __in_group(&data.__words[0]) {}
    METAL_FUNC float2 map_screen_to_physical_coordinates(float2 screen_coordinates,
                                                         uint layer_index = 0) const {
        return __map(screen_coordinates, layer_index, 0);
    }
    METAL_FUNC uint2 map_screen_to_physical_coordinates(uint2 screen_coordinates,
                                                        uint layer_index = 0) const {
        return uint2(__map(float2(screen_coordinates), layer_index, 0));
    }
    METAL_FUNC float2 map_physical_to_screen_coordinates(float2 physical_coordinates,
                                                         uint layer_index = 0) const {
        return __map(physical_coordinates, layer_index, 1);
    }
    METAL_FUNC uint2 map_physical_to_screen_coordinates(uint2 physical_coordinates,
                                                        uint layer_index = 0) const {
        return uint2(__map(float2(physical_coordinates), layer_index, 1));
    }

    METAL_FUNC uint __word(uint i) const {
        return __in_constant ? __in_constant[i] : __in_device ? __in_device[i] : __in_group[i];
    }
    METAL_FUNC float __edge(uint i) const { return as_type<float>(__word(i)); }
    METAL_FUNC float __axis(uint pairs, uint n, uint from, float at) const {
        uint i = 0;
        while (i + 1 < n && at >= __edge(pairs + 2 * (i + 1) + from)) i++;
        float a0 = __edge(pairs + 2 * i + from), a1 = __edge(pairs + 2 * i + 2 + from);
        float b0 = __edge(pairs + 2 * i + 1 - from), b1 = __edge(pairs + 2 * i + 3 - from);
        return b0 + saturate((at - a0) / (a1 - a0)) * (b1 - b0);
    }
    METAL_FUNC float2 __map(float2 at, uint layer, uint from) const {
        uint head = 4 + 4 * min(layer, __word(0) - 1);
        uint columns = __word(head), rows = __word(head + 1), edges = __word(head + 2);
        return float2(__axis(edges, columns, from, at.x),
                      __axis(edges + 2 * (columns + 1), rows, from, at.y));
    }
    constant const uint *__in_constant;
    device const uint *__in_device;
    threadgroup const uint *__in_group;
};
} // namespace metal

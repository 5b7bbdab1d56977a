// SPDX-License-Identifier: Apache-2.0
// mesh.h: what the geometry stages of a pipeline speak through (part of <metal_graphics> and of
// <metal_mesh>). The control points of a patch are an array that codegen/stage.c fills before the
// function begins. A mesh is the address of memory that the rasteriser reads when the threadgroup
// is done, laid out as reflect_mesh.c says: count, indices, vertices, primitives. Places that a mesh
// does not have are written nowhere.
#pragma once

// Named without a namespace, as the host has them too.
struct MTLTriangleTessellationFactorsHalf {
    half edgeTessellationFactor[3];
    half insideTessellationFactor;
};
struct MTLQuadTessellationFactorsHalf {
    half edgeTessellationFactor[4];
    half insideTessellationFactor[2];
};

namespace metal {
template <class T> struct patch_control_point {
    METAL_FUNC T operator[](size_t i) const { return __points[i]; }
    METAL_FUNC size_t size() const { return __n; }
    const thread T *__points;
    size_t __n;
};

enum class topology { point, line, triangle };

struct mesh_grid_properties {
    METAL_FUNC void set_threadgroups_per_grid(uint3 n) const {
        __grid[0] = n.x;
        __grid[1] = n.y;
        __grid[2] = n.z;
    }
    device uint *__grid;
};

constexpr uint __mesh_align(uint n) { return (n + 15) / 16 * 16; }

template <class V, class P, uint NV, uint NP, topology T> struct __mesh_places {
    METAL_FUNC void set_primitive_count(uint n) const { *(device uint *)__at = n; }
    METAL_FUNC void set_vertex(uint i, V v) const {
        if (i < NV) ((device V *)(__at + __vertices))[i] = v;
    }
    METAL_FUNC void set_index(uint i, uchar v) const {
        if (i < NP * __corners) __at[__indices + i] = v;
    }
    METAL_FUNC void set_indices(uint i, uchar2 v) const {
        set_index(i, v.x);
        set_index(i + 1, v.y);
    }
    METAL_FUNC void set_indices(uint i, uchar4 v) const {
        set_indices(i, v.xy);
        set_indices(i + 2, v.zw);
    }
    static constexpr constant uint max_vertices = NV;
    static constexpr constant uint max_primitives = NP;
    static constexpr constant uint __corners = (uint)T + 1;
    static constexpr constant uint __indices = 16;
    static constexpr constant uint __vertices = __mesh_align(__indices + NP * __corners);
    static constexpr constant uint __primitives = __mesh_align(__vertices + NV * sizeof(V));
    device uchar *__at;
};

template <class V, class P, uint NV, uint NP, topology T>
struct mesh : __mesh_places<V, P, NV, NP, T> {
    METAL_FUNC void set_primitive(uint i, P p) const {
        if (i < NP) ((device P *)(this->__at + this->__primitives))[i] = p;
    }
};
template <class V, uint NV, uint NP, topology T>
struct mesh<V, void, NV, NP, T> : __mesh_places<V, void, NV, NP, T> {};
} // namespace metal

// SPDX-License-Identifier: Apache-2.0
// ray_query.h: intersection_query<tags...>: the kernel looks at each primitive that needs it, in
// the order of distance, and says which it takes. A query is the last event and the best one so
// far; next() traces once.
#pragma once

namespace metal {
namespace raytracing {
template <class... T> class intersection_query {
    static constant constexpr bool __instancing = __has_tag<instancing, T...>,
                                   __motion = __in_motion<T...>;
    static constant constexpr uint __op = (__instancing ? 4 : 0) | (__motion ? 1 : 0);

public:
    METAL_FUNC intersection_query() : __done(true) { __best.kind = __now.kind = 0; }
    template <class... A> METAL_FUNC explicit intersection_query(ray r, A... a) { reset(r, a...); }

    template <class... A>
    METAL_FUNC void reset(ray r, acceleration_structure<A...> a,
                          intersection_params p = intersection_params())
        requires(!__motion)
    {
        __begin(r, a.__handle, ~0u, 0.0f, p);
    }
    template <class... A>
    METAL_FUNC void reset(ray r, acceleration_structure<A...> a, uint mask,
                          intersection_params p = intersection_params())
        requires(__instancing && !__motion)
    {
        __begin(r, a.__handle, mask, 0.0f, p);
    }
    template <class... A>
    METAL_FUNC void reset(ray r, acceleration_structure<A...> a, float time,
                          intersection_params p = intersection_params())
        requires(!__instancing && __motion)
    {
        __begin(r, a.__handle, ~0u, time, p);
    }
    template <class... A>
    METAL_FUNC void reset(ray r, acceleration_structure<A...> a, uint mask, float time,
                          intersection_params p = intersection_params())
        requires(__instancing && __motion)
    {
        __begin(r, a.__handle, mask, time, p);
    }

    // To the next primitive that the kernel has to look at.
    METAL_FUNC bool next() {
        if (__done) return false;
        __now = __started ? __next_event<__op>(__ray, __t, __most, __now)
                          : __first_event<__op>(__ray, __t, __most);
        __started = true;
        bool look = __now.type() == intersection_type::bounding_box || !__now.opaque();
        if (__now.type() != intersection_type::none && look) return true;
        // All that lies before an opaque primitive was looked at: it is the nearest.
        if (__now.type() != intersection_type::none) __best = __now, __most = __now.distance;
        __done = true;
        return false;
    }
    METAL_FUNC void abort() { __done = true; }
    METAL_FUNC void commit_triangle_intersection() { __commit(__now.distance); }
    METAL_FUNC void commit_curve_intersection() { __commit(__now.distance); }
    METAL_FUNC void commit_bounding_box_intersection(float distance) { __commit(distance); }

    METAL_FUNC float get_ray_min_distance() const { return __ray.min_distance; }
    METAL_FUNC float3 get_world_space_ray_origin() const { return __ray.origin; }
    METAL_FUNC float3 get_world_space_ray_direction() const { return __ray.direction; }
    METAL_FUNC intersection_params get_intersection_params() const { return __params; }

    METAL_FUNC float get_candidate_triangle_distance() const { return __now.distance; }
    METAL_FUNC float get_candidate_curve_distance() const { return __now.distance; }
    METAL_FUNC float get_committed_distance() const { return __most; }
    METAL_FUNC bool is_candidate_non_opaque_bounding_box() const {
        return __now.type() == intersection_type::bounding_box && !__now.opaque();
    }
#define __MSL_EVENT(WHICH, E) \
    METAL_FUNC intersection_type get_##WHICH##_intersection_type() const { return E.type(); } \
    METAL_FUNC uint get_##WHICH##_instance_id() const { return E.instance; } \
    METAL_FUNC uint get_##WHICH##_instance_id(uint level) const { return __ids(E, level).x; } \
    METAL_FUNC uint get_##WHICH##_user_instance_id() const { return E.user; } \
    METAL_FUNC uint get_##WHICH##_user_instance_id(uint level) const { \
        return __ids(E, level).y; \
    } \
    METAL_FUNC uint get_##WHICH##_instance_count() const { return E.levels(); } \
    METAL_FUNC uint get_##WHICH##_geometry_id() const { return E.geometry; } \
    METAL_FUNC uint get_##WHICH##_primitive_id() const { return E.primitive; } \
    METAL_FUNC const device void *get_##WHICH##_primitive_data() const { \
        return (const device void *)E.data; \
    } \
    METAL_FUNC float2 get_##WHICH##_triangle_barycentric_coord() const { \
        return float2(E.u, E.v); \
    } \
    METAL_FUNC bool is_##WHICH##_triangle_front_facing() const { return E.front(); } \
    METAL_FUNC float get_##WHICH##_curve_parameter() const { return E.u; } \
    METAL_FUNC float4x3 get_##WHICH##_object_to_world_transform() const { \
        return __matrices_of(__t.structure, E, __t.time).to_world; \
    } \
    METAL_FUNC float4x3 get_##WHICH##_world_to_object_transform() const { \
        return __matrices_of(__t.structure, E, __t.time).to_object; \
    } \
    METAL_FUNC float3 get_##WHICH##_ray_origin() const { \
        return __matrices_of(__t.structure, E, __t.time).to_object * float4(__ray.origin, 1.0f); \
    } \
    METAL_FUNC float3 get_##WHICH##_ray_direction() const { \
        return __matrices_of(__t.structure, E, __t.time).to_object * \
               float4(__ray.direction, 0.0f); \
    }
    __MSL_EVENT(candidate, __now)
    __MSL_EVENT(committed, __best)
#undef __MSL_EVENT

private:
    ray __ray;
    __trace __t;
    intersection_params __params;
    __event __now, __best;
    float __most;
    bool __started, __done;

    METAL_FUNC void __begin(ray r, ulong structure, uint mask, float time, intersection_params p) {
        __ray = r, __params = p, __most = r.max_distance;
        __t = {structure, p.__flags | __RAY_LOOK, mask, time};
        __now.kind = __best.kind = 0;
        __started = __done = false;
    }
    METAL_FUNC void __commit(float distance) {
        __best = __now, __best.distance = __most = distance;
        if (__params.__flags & __RAY_ANY) __done = true;
    }
    METAL_FUNC uint2 __ids(const __event e, uint level) const {
        return __instance_at(__t.structure, e, __t.time, level);
    }
};
} // namespace raytracing
} // namespace metal

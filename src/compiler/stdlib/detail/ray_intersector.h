// SPDX-License-Identifier: Apache-2.0
// ray_intersector.h: intersector<tags...> and intersection_result<tags...>: the nearest hit of a
// ray in one call of the device's trace.
#pragma once

namespace metal {
namespace raytracing {
// What tags add to a result.
template <bool, uint> struct __result_instances {
    METAL_FUNC void __set(ulong, const __event, float) {}
};
template <> struct __result_instances<true, 0> {
    uint instance_id, user_instance_id;
    METAL_FUNC void __set(ulong, const __event e, float) {
        instance_id = e.instance, user_instance_id = e.user;
    }
};
template <uint N> struct __result_instances<true, N> {
    uint instance_count, instance_id[N], user_instance_id[N];
    METAL_FUNC void __set(ulong structure, const __event e, float time) {
        instance_count = e.levels();
        for (uint i = 0; i < N; i++) {
            uint2 ids = i < instance_count ? __instance_at(structure, e, time, i) : uint2(0);
            instance_id[i] = ids.x, user_instance_id[i] = ids.y;
        }
    }
};
template <bool> struct __result_triangle {
    METAL_FUNC void __set(const __event) {}
};
template <> struct __result_triangle<true> {
    float2 triangle_barycentric_coord;
    bool triangle_front_facing;
    METAL_FUNC void __set(const __event e) {
        triangle_barycentric_coord = float2(e.u, e.v), triangle_front_facing = e.front();
    }
};
template <bool> struct __result_curve {
    METAL_FUNC void __set(const __event) {}
};
template <> struct __result_curve<true> {
    float curve_parameter;
    METAL_FUNC void __set(const __event e) { curve_parameter = e.u; }
};
template <bool> struct __result_world {
    METAL_FUNC void __set(ulong, const __event, float) {}
};
template <> struct __result_world<true> {
    float4x3 world_to_object_transform, object_to_world_transform;
    METAL_FUNC void __set(ulong structure, const __event e, float time) {
        __matrices m = __matrices_of(structure, e, time);
        world_to_object_transform = m.to_object, object_to_world_transform = m.to_world;
    }
};

template <class... T>
struct intersection_result
    : __result_instances<__has_tag<instancing, T...>, __levels<T...>>,
      __result_triangle<__has_tag<triangle_data, T...>>,
      __result_curve<__has_tag<curve_data, T...>>,
      __result_world<__has_tag<world_space_data, T...>> {
    intersection_type type;
    float distance;
    uint primitive_id, geometry_id;
    const device void *primitive_data;

    METAL_FUNC void __take(const __trace t, const __event e) {
        type = e.type(), distance = e.distance;
        primitive_id = e.primitive, geometry_id = e.geometry;
        primitive_data = (const device void *)e.data;
        __result_instances<__has_tag<instancing, T...>, __levels<T...>>::__set(t.structure, e,
                                                                               t.time);
        __result_triangle<__has_tag<triangle_data, T...>>::__set(e);
        __result_curve<__has_tag<curve_data, T...>>::__set(e);
        __result_world<__has_tag<world_space_data, T...>>::__set(t.structure, e, t.time);
    }
};

template <class... T> class intersector : public intersection_params {
    static constant constexpr bool __instancing = __has_tag<instancing, T...>,
                                   __motion = __in_motion<T...>;

public:
    using result_type = intersection_result<T...>;
    intersector() = default;

    template <class... A>
    METAL_FUNC result_type intersect(ray r, acceleration_structure<A...> a) const
        requires(!__motion)
    {
        return __nearest<0>(r, a, ~0u, 0.0f);
    }
    template <class... A>
    METAL_FUNC result_type intersect(ray r, acceleration_structure<A...> a, uint mask) const
        requires(__instancing && !__motion)
    {
        return __nearest<4>(r, a, mask, 0.0f);
    }
    template <class... A>
    METAL_FUNC result_type intersect(ray r, acceleration_structure<A...> a, float time) const
        requires(!__instancing && __motion)
    {
        return __nearest<1>(r, a, ~0u, time);
    }
    template <class... A>
    METAL_FUNC result_type intersect(ray r, acceleration_structure<A...> a, uint mask,
                                     float time) const
        requires(__instancing && __motion)
    {
        return __nearest<5>(r, a, mask, time);
    }

private:
    // Nobody looks at primitives: boxes, which need somebody, are not there.
    template <uint Op, class... A>
    METAL_FUNC result_type __nearest(ray r, acceleration_structure<A...> a, uint mask,
                                     float time) const {
        static_assert(__has_tag<instancing, A...> == __instancing,
                      "the acceleration structure has instances if the intersector has "
                      "'instancing'");
        __trace t = {a.__handle, __flags | __RAY_CULL_BOXES, mask, time};
        __event e = __first_event<Op>(r, t, r.max_distance);
        result_type result;
        result.__take(t, e);
        return result;
    }
};
} // namespace raytracing
} // namespace metal

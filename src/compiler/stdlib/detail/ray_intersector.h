// SPDX-License-Identifier: Apache-2.0
// ray_intersector.h: intersector<tags...> and intersection_result<tags...>: the nearest hit of a
// ray, in one call of the device's trace, or, where functions look at primitives, in a search
// (ray_functions.h).
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

// The result of a search where it stands, for a function of the kernel to look at.
template <class... T> class intersection_result_ref {
    static constant constexpr bool __instancing = __has_tag<instancing, T...>,
                                   __leveled = __levels<T...> != 0;

public:
    METAL_FUNC intersection_result_ref(const ray r, const __trace t, const __event e)
        : __ray(r), __t(t), __e(e) {}
    METAL_FUNC intersection_type get_type() const { return __e.type(); }
    METAL_FUNC float get_distance() const { return __e.distance; }
    METAL_FUNC uint get_primitive_id() const { return __e.primitive; }
    METAL_FUNC uint get_geometry_id() const { return __e.geometry; }
    METAL_FUNC const device void *get_primitive_data() const {
        return (const device void *)__e.data;
    }
    METAL_FUNC float3 get_ray_origin() const { return __ray.origin; }
    METAL_FUNC float3 get_ray_direction() const { return __ray.direction; }
    METAL_FUNC float get_ray_min_distance() const { return __ray.min_distance; }
    METAL_FUNC uint get_instance_id() const requires(__instancing && !__leveled) {
        return __e.instance;
    }
    METAL_FUNC uint get_user_instance_id() const requires(__instancing && !__leveled) {
        return __e.user;
    }
    METAL_FUNC uint get_instance_count() const requires(__leveled) { return __e.levels(); }
    METAL_FUNC uint get_instance_id(uint level) const requires(__leveled) {
        return __instance_at(__t.structure, __e, __t.time, level).x;
    }
    METAL_FUNC uint get_user_instance_id(uint level) const requires(__leveled) {
        return __instance_at(__t.structure, __e, __t.time, level).y;
    }
    METAL_FUNC float2 get_triangle_barycentric_coord() const
        requires(__has_tag<triangle_data, T...>)
    {
        return float2(__e.u, __e.v);
    }
    METAL_FUNC bool is_triangle_front_facing() const requires(__has_tag<triangle_data, T...>) {
        return __e.front();
    }
    METAL_FUNC float get_curve_parameter() const requires(__has_tag<curve_data, T...>) {
        return __e.u;
    }
    METAL_FUNC float4x3 get_object_to_world_transform() const
        requires(__has_tag<world_space_data, T...>)
    {
        return __matrices_of(__t.structure, __e, __t.time).to_world;
    }
    METAL_FUNC float4x3 get_world_to_object_transform() const
        requires(__has_tag<world_space_data, T...>)
    {
        return __matrices_of(__t.structure, __e, __t.time).to_object;
    }

private:
    ray __ray;
    __trace __t;
    __event __e;
};

template <class... R> constant constexpr bool __begins_with_number = false;
template <class A, class... R>
constant constexpr bool __begins_with_number<A, R...> = is_arithmetic_v<__bare<remove_reference_t<A>>>;
template <class F, class... A>
constant constexpr bool __takes = requires(F &&f, A... a) { f(a...); };

// `intersect` takes a ray and a structure; then, as the tags say, a mask of instances and a time;
// then functions, in a table or a buffer, and their payload; at last what is to be done with the
// result, if that is not to be returned.
template <class... T> class intersector : public intersection_params {
    static constant constexpr bool __instancing = __has_tag<instancing, T...>,
                                   __motion = __in_motion<T...>,
                                   __buffers = __has_tag<intersection_function_buffer, T...>,
                                   __user = __has_tag<user_data, T...>;
    using __functions = intersection_function_table<T...>;
    using __reference = intersection_result_ref<T...>;

public:
    using result_type = intersection_result<T...>;
    intersector() = default;
    METAL_FUNC void set_base_id(uint id)
        requires(__buffers)
    {
        __base = id & 15;
    }
    METAL_FUNC void set_geometry_multiplier(uint n)
        requires(__buffers)
    {
        __multiplier = n & 15;
    }
    template <class... A, class... R>
    METAL_FUNC auto intersect(ray r, acceleration_structure<A...> a, R &&...rest) const {
        static_assert(__has_tag<instancing, A...> == __instancing,
                      "the acceleration structure has instances if the intersector has "
                      "'instancing'");
        return __options(r, a.__handle, rest...);
    }

private:
    uint __base = 0, __multiplier = 1;

    // Mask and time, as the tags say.
    template <class... R>
    METAL_FUNC auto __options(const ray r, ulong structure, R &&...rest) const
        requires(!__motion && !__begins_with_number<R...>)
    {
        return __with<0>(r, {structure, __flags, ~0u, 0.0f}, rest...);
    }
    template <class... R>
    METAL_FUNC auto __options(const ray r, ulong structure, uint mask, R &&...rest) const
        requires(__instancing && !__motion)
    {
        return __with<4>(r, {structure, __flags, mask, 0.0f}, rest...);
    }
    template <class... R>
    METAL_FUNC auto __options(const ray r, ulong structure, float time, R &&...rest) const
        requires(!__instancing && __motion)
    {
        return __with<1>(r, {structure, __flags, ~0u, time}, rest...);
    }
    template <class... R>
    METAL_FUNC auto __options(const ray r, ulong structure, uint mask, float time,
                              R &&...rest) const
        requires(__instancing && __motion)
    {
        return __with<5>(r, {structure, __flags, mask, time}, rest...);
    }

    // Functions, or none: then boxes, which need somebody who looks at them, are not there.
    template <uint Op, class... F>
    METAL_FUNC auto __with(const ray r, __trace t, F &&...f) const
        requires(sizeof...(F) == 0 || (__takes<F, __reference> || ...))
    {
        t.flags |= __RAY_CULL_BOXES;
        return __end(r, t, __first_event<Op>(r, t, r.max_distance), f...);
    }
    template <uint Op, class... R>
    METAL_FUNC auto __with(const ray r, __trace t, __functions f, R &&...rest) const
        requires(!__buffers)
    {
        return __asking<Op>(r, t, __table_choice{f.__table}, rest...);
    }
    template <uint Op, class... R>
    METAL_FUNC auto __with(const ray r, __trace t, intersection_function_buffer_arguments f,
                           R &&...rest) const
        requires(__buffers && !__user)
    {
        return __asking<Op>(r, t, __buffer_choice{f, __base, __multiplier, nullptr}, rest...);
    }
    template <uint Op, class... R>
    METAL_FUNC auto __with(const ray r, __trace t, intersection_function_buffer_arguments f,
                           const device void *data, R &&...rest) const
        requires(__buffers && __user)
    {
        return __asking<Op>(r, t, __buffer_choice{f, __base, __multiplier, data}, rest...);
    }

    // A payload, or none.
    template <uint Op, class C, class... F>
    METAL_FUNC auto __asking(const ray r, __trace t, C choice, F &&...f) const
        requires(sizeof...(F) == 0 || (sizeof...(F) == 1 && (__takes<F, __reference> && ...)))
    {
        t.flags |= __RAY_LOOK;
        return __end(r, t, __search<Op, T...>(r, t, choice, nullptr, 0), f...);
    }
    template <uint Op, class C, class P>
    METAL_FUNC auto __asking(const ray r, __trace t, C choice, thread P &payload) const
        requires(!__takes<thread P &, __reference>)
    {
        t.flags |= __RAY_LOOK;
        return __end(r, t, __search<Op, T...>(r, t, choice, &payload, sizeof(P)));
    }
    template <uint Op, class C, class P, class F>
    METAL_FUNC void __asking(const ray r, __trace t, C choice, const thread P &given,
                             F &&f) const {
        t.flags |= __RAY_LOOK;
        P payload = given;
        __event e = __search<Op, T...>(r, t, choice, &payload, sizeof(P));
        f(__reference(r, t, e), (const thread P &)payload);
    }

    METAL_FUNC result_type __end(const ray, const __trace t, const __event e) const {
        result_type result;
        result.__take(t, e);
        return result;
    }
    template <class F>
    METAL_FUNC void __end(const ray r, const __trace t, const __event e, F &&f) const {
        f(__reference(r, t, e));
    }
};
} // namespace raytracing
} // namespace metal

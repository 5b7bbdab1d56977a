// SPDX-License-Identifier: Apache-2.0
// ray.h: rays, acceleration structures, and what intersectors (ray_intersector.h, with functions:
// ray_functions.h) and queries (ray_query.h) share: tags, options, events along a ray. An event is one row of results of the
// device's trace, which remembers nothing: src/abi/cpu_rays.h says what rows and bits mean.
#pragma once

typedef uint __ingot_u32x16 __attribute__((ext_vector_type(16)));
typedef uint __ingot_u32x32 __attribute__((ext_vector_type(32)));
// (acceleration structure, 0, rows)
#define __MSL_RAYS(TYPE, NAME) \
    template <uint Op> \
    __attribute__((noconvergent, nothrow)) TYPE NAME(ulong, ulong, uint, uint, uint, uint, uint, \
                                                     uint, uint, uint, uint, uint, uint, uint, \
                                                     uint, uint, uint, uint);
__MSL_RAYS(__ingot_u32x16, __ingot_rays_trace)
__MSL_RAYS(__ingot_u32x4, __ingot_rays_path)
__MSL_RAYS(__ingot_u32x32, __ingot_rays_matrix)
#undef __MSL_RAYS

namespace metal {
namespace raytracing {
enum class geometry_type { none = 0, triangle = 1, bounding_box = 2, curve = 4, all = 7 };
enum class forced_opacity { none, opaque, non_opaque };
enum class triangle_cull_mode { none, front, back };
enum class geometry_cull_mode { none = 0, triangle = 1, bounding_box = 2, curve = 4 };
enum class opacity_cull_mode { none, opaque, non_opaque };
enum class intersection_type { none, triangle, bounding_box, curve };
enum class curve_type { round = 1, flat = 2, all = 3 };
enum class curve_basis { bspline = 1, catmull_rom = 2, linear = 4, bezier = 8, all = 15 };
METAL_FUNC constexpr geometry_cull_mode operator|(geometry_cull_mode a, geometry_cull_mode b) {
    return (geometry_cull_mode)((int)a | (int)b);
}
METAL_FUNC constexpr geometry_type operator|(geometry_type a, geometry_type b) {
    return (geometry_type)((int)a | (int)b);
}
METAL_FUNC constexpr curve_basis operator|(curve_basis a, curve_basis b) {
    return (curve_basis)((int)a | (int)b);
}

// ---- tags ----

struct instancing;
struct triangle_data;
struct world_space_data;
struct primitive_motion;
struct instance_motion;
struct extended_limits;
struct curve_data;
struct intersection_function_buffer;
struct user_data;
template <uint Count> struct max_levels { // of structures: one less are of instances
    static_assert(Count >= 2 && Count <= 32, "max_levels is 2 to 32");
};
template <class T> constant constexpr uint __levels_of = 0;
template <uint Count> constant constexpr uint __levels_of<max_levels<Count>> = Count - 1;
template <class Tag, class... T> constant constexpr bool __has_tag = (__is_same(Tag, T) || ...);
template <class... T> constant constexpr uint __levels = (0u + ... + __levels_of<T>);
// MTLIntersectionFunctionSignature
template <class... T>
constant constexpr uint __tag_bits =
    __has_tag<instancing, T...> | __has_tag<triangle_data, T...> << 1 |
    __has_tag<world_space_data, T...> << 2 | __has_tag<instance_motion, T...> << 3 |
    __has_tag<primitive_motion, T...> << 4 | __has_tag<extended_limits, T...> << 5 |
    (__levels<T...> != 0) << 6 | __has_tag<curve_data, T...> << 7 |
    __has_tag<intersection_function_buffer, T...> << 8 | __has_tag<user_data, T...> << 9;
template <class... T>
constant constexpr bool __in_motion =
    __has_tag<primitive_motion, T...> || __has_tag<instance_motion, T...>;

// ---- objects ----

struct ray {
    METAL_FUNC ray(float3 o = 0.0f, float3 d = 0.0f, float least = 0.0f, float most = INFINITY)
        : origin(o), direction(d), min_distance(least), max_distance(most) {}
    float3 origin, direction;
    float min_distance, max_distance;
};

template <class... T> struct acceleration_structure {
    acceleration_structure() = default;
    METAL_FUNC constexpr acceleration_structure(nullptr_t) : __handle(0) {}
    ulong __handle;
};
using primitive_acceleration_structure = acceleration_structure<>;
using instance_acceleration_structure = acceleration_structure<instancing>;
template <class... T> METAL_FUNC bool is_null_acceleration_structure(acceleration_structure<T...> a) {
    return a.__handle == 0;
}
template <class... T>
METAL_FUNC bool is_null_primitive_acceleration_structure(acceleration_structure<T...> a) {
    return a.__handle == 0;
}
template <class... T>
METAL_FUNC bool is_null_instance_acceleration_structure(acceleration_structure<T...> a) {
    return a.__handle == 0;
}

// ---- options ----

enum { // CPU_RAY_CULL_FRONT ...
    __RAY_CULL_FRONT = 1, __RAY_COUNTERCLOCKWISE = 4, __RAY_CULL_TRIANGLES = 8,
    __RAY_CULL_BOXES = 16, __RAY_CULL_OPAQUE = 64, __RAY_FORCE_OPAQUE = 256, __RAY_ANY = 1024,
    __RAY_LOOK = 2048
};

class intersection_params {
public:
    // Promises: remembered, and not needed.
    METAL_FUNC void assume_geometry_type(geometry_type t) { __geometry = (uchar)t; }
    METAL_FUNC void assume_identity_transforms(bool identity) { __identity = identity; }
    METAL_FUNC void assume_curve_type(curve_type t) { __curve = (uchar)t; }
    METAL_FUNC void assume_curve_basis(curve_basis b) { __basis = (uchar)b; }
    METAL_FUNC void assume_curve_control_point_count(uint n) { __points = n; }
    METAL_FUNC void force_opacity(forced_opacity o) {
        __set(3 * __RAY_FORCE_OPAQUE, (uint)o * __RAY_FORCE_OPAQUE);
    }
    METAL_FUNC void set_triangle_cull_mode(triangle_cull_mode m) {
        __set(3 * __RAY_CULL_FRONT, (uint)m * __RAY_CULL_FRONT);
    }
    METAL_FUNC void set_triangle_front_facing_winding(winding w) {
        __set(__RAY_COUNTERCLOCKWISE, w == winding::counterclockwise ? __RAY_COUNTERCLOCKWISE : 0);
    }
    METAL_FUNC void set_geometry_cull_mode(geometry_cull_mode m) {
        __set(7 * __RAY_CULL_TRIANGLES, (uint)m * __RAY_CULL_TRIANGLES);
    }
    METAL_FUNC void set_opacity_cull_mode(opacity_cull_mode m) {
        __set(3 * __RAY_CULL_OPAQUE, (uint)m * __RAY_CULL_OPAQUE);
    }
    METAL_FUNC void accept_any_intersection(bool any) { __set(__RAY_ANY, any ? __RAY_ANY : 0); }

    METAL_FUNC forced_opacity get_forced_opacity() const {
        return (forced_opacity)(__flags / __RAY_FORCE_OPAQUE & 3);
    }
    METAL_FUNC triangle_cull_mode get_triangle_cull_mode() const {
        return (triangle_cull_mode)(__flags / __RAY_CULL_FRONT & 3);
    }
    METAL_FUNC winding get_triangle_front_facing_winding() const {
        return __flags & __RAY_COUNTERCLOCKWISE ? winding::counterclockwise : winding::clockwise;
    }
    METAL_FUNC geometry_cull_mode get_geometry_cull_mode() const {
        return (geometry_cull_mode)(__flags / __RAY_CULL_TRIANGLES & 7);
    }
    METAL_FUNC opacity_cull_mode get_opacity_cull_mode() const {
        return (opacity_cull_mode)(__flags / __RAY_CULL_OPAQUE & 3);
    }
    METAL_FUNC bool should_accept_any_intersection() const { return (__flags & __RAY_ANY) != 0; }
    METAL_FUNC bool should_assume_identity_transforms() const { return __identity; }
    METAL_FUNC geometry_type get_geometry_type() const { return (geometry_type)__geometry; }
    METAL_FUNC curve_type get_curve_type() const { return (curve_type)__curve; }
    METAL_FUNC curve_basis get_curve_basis() const { return (curve_basis)__basis; }
    METAL_FUNC uint get_curve_control_point_count() const { return __points; }

    uint __flags = 0, __points = 0;
    uchar __geometry = (uchar)geometry_type::triangle | (uchar)geometry_type::bounding_box;
    uchar __curve = (uchar)curve_type::all, __basis = (uchar)curve_basis::all;
    bool __identity = false;

private:
    METAL_FUNC void __set(uint bits, uint value) { __flags = (__flags & ~bits) | value; }
};

// ---- events ----

struct __event {
    uint kind; // CPU_HIT_KIND
    float distance;
    uint primitive, geometry;
    float u, v;
    uint instance, user, path_low, path_high;
    ulong data;
    uint function, instance_function;
    float start, end;
    METAL_FUNC intersection_type type() const { return (intersection_type)(kind & 3); }
    METAL_FUNC bool opaque() const { return kind & 4; }
    METAL_FUNC bool front() const { return kind & 8; }
    METAL_FUNC uint levels() const { return kind >> 8 & 255; }
    METAL_FUNC uint keyframes() const { return kind >> 16; }
};

METAL_FUNC uint __ray_word(float x) { return __builtin_bit_cast(uint, x); }
METAL_FUNC float __ray_float(uint x) { return __builtin_bit_cast(float, x); }

// What a trace needs besides the ray.
struct __trace {
    ulong structure;
    uint flags, mask;
    float time;
};

METAL_FUNC __event __event_of(__ingot_u32x16 r) {
    __event e;
    e.kind = r[0], e.distance = __ray_float(r[1]), e.primitive = r[2], e.geometry = r[3];
    e.u = __ray_float(r[4]), e.v = __ray_float(r[5]), e.instance = r[6], e.user = r[7];
    e.path_low = r[8], e.path_high = r[9], e.data = r[10] | (ulong)r[11] << 32;
    e.function = r[12], e.instance_function = r[13];
    e.start = __ray_float(r[14]), e.end = __ray_float(r[15]);
    return e;
}

// The first event of the ray, or the first behind `last`.
template <uint Op> METAL_FUNC __event __first_event(const ray r, const __trace t, float most) {
    return __event_of(__ingot_rays_trace<Op>(
        t.structure, 0, __ray_word(r.origin.x), __ray_word(r.origin.y), __ray_word(r.origin.z),
        __ray_word(r.direction.x), __ray_word(r.direction.y), __ray_word(r.direction.z),
        __ray_word(r.min_distance), __ray_word(most), t.mask, t.flags, __ray_word(t.time), 0, 0, 0,
        0, 0));
}
template <uint Op>
METAL_FUNC __event __next_event(const ray r, const __trace t, float most, const __event last) {
    return __event_of(__ingot_rays_trace<Op | 2>(
        t.structure, 0, __ray_word(r.origin.x), __ray_word(r.origin.y), __ray_word(r.origin.z),
        __ray_word(r.direction.x), __ray_word(r.direction.y), __ray_word(r.direction.z),
        __ray_word(r.min_distance), __ray_word(most), t.mask, t.flags, __ray_word(t.time),
        __ray_word(last.distance), last.path_low, last.path_high, last.geometry, last.primitive));
}

// The instance at a level of the event's path.
METAL_FUNC uint2 __instance_at(ulong structure, const __event e, float time, uint level) {
    __ingot_u32x4 r = __ingot_rays_path<0>(structure, 0, e.path_low, e.path_high, __ray_word(time),
                                           level, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return uint2(r[0], r[1]);
}

// Both ways between the space of the event's primitive and the ray's.
struct __matrices {
    float4x3 to_world, to_object;
};
METAL_FUNC __matrices __matrices_of(ulong structure, const __event e, float time) {
    __ingot_u32x32 r = __ingot_rays_matrix<0>(structure, 0, e.path_low, e.path_high,
                                              __ray_word(time), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                              0);
#define __MSL_C(k) \
    float3(__ray_float(r[k]), __ray_float(r[(k) + 1]), __ray_float(r[(k) + 2]))
    return {float4x3(__MSL_C(0), __MSL_C(3), __MSL_C(6), __MSL_C(9)),
            float4x3(__MSL_C(12), __MSL_C(15), __MSL_C(18), __MSL_C(21))};
#undef __MSL_C
}
} // namespace raytracing
} // namespace metal

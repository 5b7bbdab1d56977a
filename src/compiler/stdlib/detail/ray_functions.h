// SPDX-License-Identifier: Apache-2.0
// ray_functions.h: functions that look at primitives while a ray is traced: the tables that hold
// them, what they are told (a candidate, abi/candidate.h), and the search that asks them. A search
// is the loop of a query (ray_query.h): each event that needs it is shown to the function that
// geometry and instances choose.
#pragma once

namespace metal {
namespace raytracing {
struct __candidate { // ABI_CAND_KIND ...
    uint kind, accept, go_on;
    float distance, origin[3], direction[3], least, most;
    uint primitive, geometry, instance, user;
    float u, v;
    uint front, opaque, instance_offset, geometry_offset;
    float time, start, end;
    uint keyframes;
    float world_origin[3], world_direction[3], to_world[12], to_object[12];
    uint function, levels;
    const device void *data, *user_data;
    uint instances[32], users[32];
};
static_assert(sizeof(__candidate) == 126 * 4, "abi/candidate.h");
using __intersection_function = void(thread __candidate *, thread void *, ulong,
                                     const device __ingot_table *);
} // namespace raytracing
} // namespace metal
// The function with a number of the pipeline, null if it is no intersection function of the tags.
template <uint Tags>
__attribute__((nothrow, const)) metal::raytracing::__intersection_function *
__ingot_function_entry(uint number);

namespace metal {
namespace raytracing {
// ---- tables ----

template <class... T> struct intersection_function_table {
    intersection_function_table() = default;
    METAL_FUNC constexpr intersection_function_table(nullptr_t) : __table(nullptr) {}
    METAL_FUNC uint size() const { return __table ? __table->count : 0; }
    METAL_FUNC bool empty() const { return size() == 0; }
    template <class B> METAL_FUNC B get_buffer(uint index) const {
        if constexpr (__is_reference(B))
            return *(__remove_reference_t(B) *)__slots()[index];
        else
            return (B)__slots()[index];
    }
    template <class S> METAL_FUNC visible_function_table<S> get_visible_function_table(uint i) const {
        visible_function_table<S> t;
        t.__table = (const device __ingot_table *)__slots()[i];
        return t;
    }
    METAL_FUNC void set_buffer(const device void *b, uint index) { __slots()[index] = (ulong)b; }
    METAL_FUNC void set_buffer(constant void *b, uint index) { __slots()[index] = (ulong)b; }
    template <class S>
    METAL_FUNC void set_visible_function_table(visible_function_table<S> t, uint index) {
        __slots()[index] = (ulong)t.__table;
    }
    const device __ingot_table *__table;

private:
    METAL_FUNC device ulong *__slots() const {
        return (device ulong *)((device char *)(ulong)__table + __table->buffers);
    }
};
template <class... T>
METAL_FUNC bool is_null_intersection_function_table(intersection_function_table<T...> t) {
    return t.__table == nullptr;
}

struct intersection_function_buffer_arguments {
    const device void *intersection_function_buffer;
    size_t intersection_function_buffer_size;
    size_t intersection_function_stride;
};

// ---- which function ----

struct __table_choice {
    const device __ingot_table *table;
    METAL_FUNC uint index(const __event e) const { return e.function + e.instance_function; }
    METAL_FUNC uint number(uint i) const {
        return table && i < table->count ? ((const device uint *)(table + 1))[i] : 0;
    }
    METAL_FUNC const device __ingot_table *bound() const { return table; }
    METAL_FUNC const device void *user() const { return nullptr; }
};
struct __buffer_choice {
    intersection_function_buffer_arguments at;
    uint base, multiplier;
    const device void *data;
    METAL_FUNC uint index(const __event e) const {
        return e.instance_function + e.function * multiplier + base;
    }
    METAL_FUNC uint number(uint i) const {
        ulong from = i * (ulong)(at.intersection_function_stride & 0xfff);
        ulong end = at.intersection_function_buffer_size;
        if (!at.intersection_function_buffer || end < 8 || from > end - 8) return 0;
        ulong id = *(const device ulong *)((const device char *)at.intersection_function_buffer +
                                           from);
        return id > 0xffffffff ? 0 : (uint)id;
    }
    METAL_FUNC const device __ingot_table *bound() const { return nullptr; }
    METAL_FUNC const device void *user() const { return data; }
};

// ---- the search ----

METAL_FUNC void __take3(thread float *to, float3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }
METAL_FUNC void __take_matrix(thread float *to, float4x3 m) {
    for (uint c = 0; c < 4; c++) __take3(to + c * 3, m[c]);
}

template <class... T>
METAL_FUNC __candidate __candidate_of(const ray r, const __trace t, float most, const __event e) {
    __candidate c;
    c.kind = e.kind & 3, c.accept = 0, c.go_on = 1, c.distance = e.distance;
    c.least = r.min_distance, c.most = most;
    c.primitive = e.primitive, c.geometry = e.geometry;
    c.u = e.u, c.v = e.v, c.front = e.front(), c.opaque = e.opaque();
    c.instance = e.instance, c.user = e.user, c.levels = e.levels();
    c.instance_offset = e.instance_function, c.geometry_offset = e.function;
    c.time = t.time, c.start = e.start, c.end = e.end, c.keyframes = e.keyframes();
    c.data = (const device void *)e.data;
    __take3(c.world_origin, r.origin), __take3(c.world_direction, r.direction);
    if constexpr (__has_tag<instancing, T...>) {
        __matrices m = __matrices_of(t.structure, e, t.time);
        __take3(c.origin, m.to_object * float4(r.origin, 1.0f));
        __take3(c.direction, m.to_object * float4(r.direction, 0.0f));
        __take_matrix(c.to_world, m.to_world), __take_matrix(c.to_object, m.to_object);
    } else {
        __take3(c.origin, r.origin), __take3(c.direction, r.direction);
    }
    for (uint i = 0; i < 32 && i < __levels<T...>; i++) {
        uint2 ids = i < c.levels ? __instance_at(t.structure, e, t.time, i) : uint2(0);
        c.instances[i] = ids.x, c.users[i] = ids.y;
    }
    return c;
}

// Asks the function that the event chooses.
template <class... T, class C>
METAL_FUNC void __ask(C choice, const __event e, thread __candidate &c, thread void *payload,
                      ulong payload_bytes) {
    uint number = choice.number(c.function = choice.index(e));
    c.user_data = choice.user();
    if (number >= 0xfffffffe) { // ABI_FUNCTION_OPAQUE_CURVE, ABI_FUNCTION_OPAQUE_TRIANGLE
        c.accept = c.kind == (number == 0xffffffff ? 1 : 3);
        return;
    }
    __ingot_function_entry<__tag_bits<T...>>(number)(&c, payload, payload_bytes, choice.bound());
}

// The nearest hit that the functions accept.
template <uint Op, class... T, class C>
METAL_FUNC __event __search(const ray r, const __trace t, C choice, thread void *payload,
                            ulong payload_bytes) {
    __event best;
    best.kind = 0, best.distance = 0.0f, best.primitive = best.geometry = 0;
    best.u = best.v = 0.0f, best.instance = best.user = best.path_low = best.path_high = 0;
    best.data = 0;
    float most = r.max_distance;
    __event now = __first_event<Op>(r, t, most);
    while (now.type() != intersection_type::none) {
        bool box = now.type() == intersection_type::bounding_box;
        if (now.opaque() && !box) { // all that lies before it was looked at
            best = now;
            break;
        }
        __candidate c = __candidate_of<T...>(r, t, most, now);
        __ask<T...>(choice, now, c, payload, payload_bytes);
        if (c.accept && (!box || (c.distance >= r.min_distance && c.distance <= most))) {
            best = now, best.distance = most = c.distance;
            if (!c.go_on || t.flags & __RAY_ANY) break;
        }
        now = __next_event<Op>(r, t, most, now);
    }
    return best;
}
} // namespace raytracing
} // namespace metal

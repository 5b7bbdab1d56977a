// SPDX-License-Identifier: Apache-2.0
// Intersection functions and kernels of test_rays_functions.c.
#include <metal_stdlib>
#include <metal_raytracing>
using namespace metal;
using namespace metal::raytracing;
struct Ray { packed_float3 o; packed_float3 d; float least, most; };
struct Hit { uint type; float t; uint primitive, geometry, instance, user; float u, v; uint front; float more; };
ray of(device const Ray &r) { return ray(r.o, r.d, r.least, r.most); }
struct Seen { uint n, wrong; float sum; uint last; };
struct Large { uint words[64]; };
struct Answer { bool yes [[accept_intersection]]; bool more [[continue_search]]; };
struct BoxAnswer { float t [[distance]]; bool yes [[accept_intersection]]; };
bool differ(float3 a, float3 b) { return distance(a, b) > 1e-3f * (1 + length(a)); }
// Every third triangle, from one that a buffer names; the hit must lie where the corners say.
[[intersection(triangle, triangle_data)]] bool third(float3 o [[origin]],
    float3 d [[direction]], float least [[min_distance]], float most [[max_distance]],
    float t [[distance]], uint p [[primitive_id]], ushort g [[geometry_id]],
    float2 b [[barycentric_coord]], bool front [[front_facing]],
    uint at [[geometry_intersection_function_table_offset]],
    const device float &own [[primitive_data]],
    const device packed_float3 *corners [[buffer(3)]], constant uint &first [[buffer(0)]],
    ray_data Seen &seen [[payload]]) {
    const device packed_float3 *c = corners + 3 * p;
    float3 q = float3(c[0]) * (1 - b.x - b.y) + float3(c[1]) * b.x + float3(c[2]) * b.y;
    float3 n = cross(float3(c[1]) - float3(c[0]), float3(c[2]) - float3(c[0]));
    seen.n++, seen.sum += t, seen.last = p;
    seen.wrong += differ(o + t * d, q) + (t < least || t > most) + (g != 1) + (at != 2);
    seen.wrong += (own != p + 0.5f) + (front != (dot(n, d) < 0));
    return p % 3 == first;
}
[[intersection(triangle, triangle_data)]] Answer stop(ray_data Seen &seen [[payload]]) {
    seen.n++;
    return {true, false};
}
[[intersection(triangle, triangle_data)]] bool greedy(ray_data Large &l [[payload]]) {
    l.words[63] = 1;
    return true;
}
[[intersection(triangle)]] bool untagged() { return true; }
[[visible]] float radius(float4 s) { return s.w; }
BoxAnswer sphere(float3 o, float3 d, float least, float most, float3 c, float r) {
    float3 p = o - c;
    float a = dot(d, d), b = dot(p, d), q = b * b - a * (dot(p, p) - r * r);
    if (q < 0) return {0, false};
    float t = (-b - sqrt(q)) / a;
    if (t < least) t = (-b + sqrt(q)) / a;
    return {t, t >= least && t <= most};
}
[[intersection(bounding_box)]] BoxAnswer ball(float3 o [[origin]], float3 d [[direction]],
    float least [[min_distance]], float most [[max_distance]], uint p [[primitive_id]],
    bool opaque [[opaque]], const device float4 *balls [[buffer(1)]],
    visible_function_table<float(float4)> sizes [[buffer(2)]]) {
    return sphere(o, d, least, most, balls[p].xyz, opaque ? sizes[0](balls[p]) : 0);
}
[[intersection(bounding_box, instancing, world_space_data)]] BoxAnswer placed(
    float3 o [[origin]], float3 d [[direction]], float least [[min_distance]],
    float most [[max_distance]], uint p [[primitive_id]], uint i [[instance_id]],
    ushort u [[user_instance_id]], float3 wo [[world_space_origin]],
    float3 wd [[world_space_direction]], float4x3 out [[object_to_world_transform]],
    float4x3 in [[world_to_object_transform]],
    uint at [[instance_intersection_function_table_offset]],
    const device float4 *balls [[buffer(1)]], ray_data Seen &seen [[payload]]) {
    seen.n++, seen.wrong += differ(out * float4(o, 1), wo) + differ(in * float4(wd, 0), d);
    seen.wrong += (u != i + 40) + (at != i % 2);
    return sphere(o, d, least, most, balls[p].xyz, balls[p].w);
}
[[intersection(triangle, triangle_data, primitive_motion)]] bool moved(float t [[time]],
    float from [[motion_start_time]], float to [[motion_end_time]],
    uint n [[key_frame_count]], ray_data Seen &seen [[payload]]) {
    seen.n++, seen.wrong += (t != 2.5f) + (from != 2) + (to != 4) + (n != 2);
    return true;
}
struct Balls { const device float4 *at; uint index; };
[[intersection(bounding_box, intersection_function_buffer, user_data)]] BoxAnswer by_buffer(
    float3 o [[origin]], float3 d [[direction]], float least [[min_distance]],
    float most [[max_distance]], uint p [[primitive_id]], uint f [[function_id]],
    const device Balls &b [[user_data_buffer]]) {
    BoxAnswer a = sphere(o, d, least, most, b.at[p].xyz, b.at[p].w);
    a.yes = a.yes && f == b.index;
    return a;
}
[[intersection(triangle, instancing, max_levels<3>)]] bool listed(
    array_ref<uint> ids [[instance_id]], array_ref<uint> users [[user_instance_id]]) {
    return ids.size() == 1 && ids[0] == 2 && users[0] == 42;
}
#define ARGUMENTS device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\
    constant uint *options [[buffer(3)]], uint i [[thread_position_in_grid]]
kernel void triangles(primitive_acceleration_structure s [[buffer(0)]], ARGUMENTS,
    intersection_function_table<triangle_data> f [[buffer(4)]]) {
    Seen seen = {0, 0, 0, 0};
    intersector<triangle_data> x;
    x.accept_any_intersection(options[0]);
    x.force_opacity(forced_opacity(options[1]));
    auto h = x.intersect(of(rays[i]), s, f, seen);
    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, seen.wrong, seen.last,
              h.triangle_barycentric_coord.x, seen.sum, f.size(), float(seen.n)};
}
kernel void called_back(primitive_acceleration_structure s [[buffer(0)]], ARGUMENTS,
    intersection_function_table<triangle_data> f [[buffer(4)]]) {
    Seen seen = {0, 0, 0, 0};
    uint first = f.get_buffer<constant uint &>(0);
    intersector<triangle_data>().intersect(of(rays[i]), s, f, seen,
        [&](intersection_result_ref<triangle_data> h, const ray_data Seen &end) {
            out[i] = {uint(h.get_type()), h.get_distance(), h.get_primitive_id(),
                      h.get_geometry_id(), end.wrong, end.last,
                      h.get_triangle_barycentric_coord().x, end.sum, first + seen.n,
                      float(end.n)};
        });
}
kernel void plain(primitive_acceleration_structure s [[buffer(0)]], ARGUMENTS,
    intersection_function_table<> f [[buffer(4)]]) {
    auto h = intersector<>().intersect(of(rays[i]), s, f);
    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, 0, 0, 0, 0, 0, 0};
}
struct Tables { intersection_function_table<> f; };
kernel void by_argument(primitive_acceleration_structure s [[buffer(0)]], ARGUMENTS,
    constant Tables &t [[buffer(4)]]) {
    auto h = intersector<>().intersect(of(rays[i]), s, t.f);
    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, 0, 0, 0, 0, 0, 0};
}
kernel void instances(instance_acceleration_structure s [[buffer(0)]], ARGUMENTS,
    intersection_function_table<instancing, world_space_data> f [[buffer(4)]]) {
    Seen seen = {0, 0, 0, 0};
    auto h = intersector<instancing, world_space_data>().intersect(of(rays[i]), s, 0xff, f,
                                                                   seen);
    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, h.instance_id,
              seen.wrong, 0, 0, 0, float(seen.n)};
}
kernel void lists(instance_acceleration_structure s [[buffer(0)]], ARGUMENTS,
    intersection_function_table<instancing, max_levels<3>> f [[buffer(4)]]) {
    auto h = intersector<instancing, max_levels<3>>().intersect(of(rays[i]), s, f);
    out[i] = {uint(h.type), h.distance, h.primitive_id, 0, h.instance_id[0], 0, 0, 0, 0, 0};
}
kernel void moving(acceleration_structure<primitive_motion> s [[buffer(0)]], ARGUMENTS,
    intersection_function_table<triangle_data, primitive_motion> f [[buffer(4)]]) {
    Seen seen = {0, 0, 0, 0};
    auto h = intersector<triangle_data, primitive_motion>().intersect(of(rays[i]), s, 2.5f, f,
                                                                      seen);
    out[i] = {uint(h.type), h.distance, h.primitive_id, 0, 0, seen.wrong, 0, 0, 0,
              float(seen.n)};
}
kernel void buffers(primitive_acceleration_structure s [[buffer(0)]], ARGUMENTS,
    constant intersection_function_buffer_arguments &f [[buffer(4)]],
    const device Balls *b [[buffer(5)]]) {
    intersector<intersection_function_buffer, user_data> x;
    x.set_base_id(options[0]);
    x.set_geometry_multiplier(options[1]);
    auto h = x.intersect(of(rays[i]), s, f, b);
    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, 0, 0, 0, 0, 0, 0};
}

// Rays are part of <metal_stdlib>: programs for a Mac include nothing else.
#include <metal_stdlib>
using namespace metal;
struct ray { float x; }; // the program's own
kernel void k(raytracing::instance_acceleration_structure s [[buffer(0)]],
              raytracing::intersection_function_table<raytracing::instancing> f [[buffer(1)]],
              device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    raytracing::intersector<raytracing::instancing> x;
    ray own = {1};
    raytracing::ray r(float3(own.x, i, 0), float3(0, 0, 1));
    auto h = x.intersect(r, s, 0xFF, f);
    out[i] = h.type == raytracing::intersection_type::none ? 0 : h.distance;
}

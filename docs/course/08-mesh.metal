/*play {
 "title": "8. Mesh functions",
 "function": "paint",
 "mesh": "fan",
 "grid": [
  4
 ],
 "group": [
  32
 ],
 "size": [
  256,
  256
 ],
 "clear": [
  0.1,
  0.1,
  0.14,
  1
 ],
 "checks": [
  {
   "expect": [
    {
     "pixel": [
      64,
      44
     ],
     "color": [
      0.9,
      0.5,
      0.3,
      1
     ],
     "tolerance": 0.12
    },
    {
     "pixel": [
      64,
      84
     ],
     "color": [
      0.9,
      0.5,
      0.3,
      1
     ],
     "tolerance": 0.12
    },
    {
     "pixel": [
      44,
      64
     ],
     "color": [
      0.9,
      0.5,
      0.3,
      1
     ],
     "tolerance": 0.12
    },
    {
     "pixel": [
      84,
      64
     ],
     "color": [
      0.9,
      0.5,
      0.3,
      1
     ],
     "tolerance": 0.12
    },
    {
     "pixel": [
      192,
      172
     ],
     "color": [
      0.3,
      0.7,
      0.9,
      1
     ],
     "tolerance": 0.12
    },
    {
     "pixel": [
      192,
      212
     ],
     "color": [
      0.3,
      0.7,
      0.9,
      1
     ],
     "tolerance": 0.12
    },
    {
     "pixel": [
      128,
      128
     ],
     "color": [
      0.1,
      0.1,
      0.14,
      1
     ]
    }
   ]
  }
 ]
} */
/*lesson
# 8. Mesh functions

A vertex function sees one vertex at a time, and which vertices there are was decided before. A **mesh function** runs
as a threadgroup and *makes* vertices and triangles:

    out.set_vertex(k, vertex);         // vertex k of this mesh
    out.set_index(3 * t + c, k);       // corner c of triangle t is vertex k
    out.set_primitive_count(n);        // how many triangles there are

The type of `out` says how many there are at most. Its threads share the work: here thread `t` sets vertex `t`, and
triangle `t`. With an **object function** before it, a program can decide on the GPU which meshes are made at all.

Below, each of 4 threadgroups makes a disc as a fan: vertex 0 in the middle, 24 vertices around it.

## Exercise

Only the first 12 of the 24 triangles are there: half a disc. Make all 24. The last triangle
must close the circle: behind vertex 24 comes vertex 1.
*/
#include <metal_stdlib>
using namespace metal;

struct Vertex {
    float4 position [[position]];
    float3 color;
};
using Disc = mesh<Vertex, void, 25, 24, topology::triangle>;

[[mesh, max_total_threads_per_threadgroup(32)]]
void fan(Disc out, uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    float2 center = float2(g % 2, g / 2) - 0.5;
    float3 color = g < 2 ? float3(0.3, 0.7, 0.9) : float3(0.9, 0.5, 0.3);
    if (t < 25) {
        float angle = t / 24.0 * 2 * M_PI_F;
        float2 p = center + (t == 0 ? 0.0 : 0.4) * float2(cos(angle), sin(angle));
        out.set_vertex(t, {float4(p, 0, 1), color * (t == 0 ? 1.0 : 0.85)});
    }
    const uint count = 12;
    if (t < count) {
        out.set_index(3 * t, 0);
        out.set_index(3 * t + 1, t + 1);
        out.set_index(3 * t + 2, t + 2);
    }
    if (t == 0) out.set_primitive_count(count);
}

fragment float4 paint(Vertex in [[stage_in]]) {
    return float4(in.color, 1);
}

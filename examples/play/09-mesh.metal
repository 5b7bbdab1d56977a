/*play {"title": "A mesh function", "function": "petal", "mesh": "ring", "grid": [12], "group": [32],
 "clear": [0.05, 0.05, 0.08, 1], "values": {"u.rings": 12, "u.twist": 0.6},
 "ranges": {"u.rings": [1, 12], "u.twist": [0, 2]}} */
// No vertex buffer and no vertex function: every threadgroup of the mesh function writes the
// vertices and triangles of one ring.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float time;
    float rings;
    float twist;
};
struct Vertex {
    float4 position [[position]];
    float3 color;
};
using Ring = mesh<Vertex, void, 32, 32, topology::triangle>;

[[mesh, max_total_threads_per_threadgroup(32)]]
void ring(Ring out, constant Uniforms &u [[buffer(0)]], uint t [[thread_index_in_threadgroup]],
          uint g [[threadgroup_position_in_grid]]) {
    float turn = (t / 2) / 16.0 * 6.2832 + u.time * 0.3 * (g & 1 ? 1 : -1) + g * u.twist;
    float far = (g + (t & 1 ? 0.95 : 0.2)) / u.rings * 0.95;
    far *= 0.9 + 0.1 * sin(turn * 5 + u.time);
    out.set_vertex(t, {float4(far * cos(turn), far * sin(turn), 0, 1),
                       0.5 + 0.5 * cos(g * 0.5 + float3(0, 2, 4) + (t & 1) * 1.2)});
    for (uint k = 0; k < 3; k++) out.set_index(3 * t + k, (t + k) % 32);
    if (t == 0) out.set_primitive_count(32);
}

fragment float4 petal(Vertex in [[stage_in]]) { return float4(in.color, 1); }

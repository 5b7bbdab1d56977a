// What the functions of the tables are given: buffers, textures, and addresses and handles that
// are good, forged or of objects that are gone (attempts.c).
#include <metal_stdlib>
#include <metal_tensor>
#include <metal_command_buffer>
#include <metal_logging>
#include <metal_raytracing>
using namespace metal;
struct World {
    ulong secret, hole, scratch; // memory that is no resource's, an address of nothing, a buffer
    ulong texture, sampler, tensor, structure, commands;
    ulong fake_texture, fake_sampler, fake_tensor, fake_structure, fake_table, fake_commands;
    ulong dead_texture, dead_sampler, dead_tensor, dead_buffer;
    ulong cube, texels, deep, sparse;
    ulong secret_text, self;
};
#define ARGS \
    device World &w [[buffer(0)]], device ulong *out [[buffer(1)]], \
        device ulong *scratch [[buffer(2)]], uint i [[thread_position_in_grid]]
template <class T> T as(ulong h) { return *(thread T *)&h; }
template <class T> ulong handle(T t) { return *(thread ulong *)&t; }

struct V { float4 p [[position]]; };
vertex V whole_vertex(uint i [[vertex_id]]) {
    return {float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1)};
}
fragment float4 whole_fragment() { return 1; }
using Mesh = mesh<V, void, 3, 1, topology::triangle>;
[[mesh]] void whole_mesh(Mesh m, uint i [[thread_index_in_threadgroup]]) {
    if (i < 3) m.set_vertex(i, {float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1)});
    if (i < 3) m.set_index(i, i);
    if (i == 0) m.set_primitive_count(1);
}

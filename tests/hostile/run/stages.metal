// The other stages: vertex, fragment, object and mesh functions want the same.
#define STAGE device World &w [[buffer(0)]], device ulong *out [[buffer(1)]], device ulong *scratch [[buffer(2)]]
using Read = texture2d<float, access::read>;
static float4 place(uint i) { return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1); }

// ==== checked: reported, plain: lives
vertex V load_in_vertex(STAGE, uint i [[vertex_id]]) { out[i] = *(device ulong *)w.secret; return {place(i)}; }
// ==== checked: reported, plain: lives
vertex V store_in_vertex(STAGE, uint i [[vertex_id]]) { *(device ulong *)w.secret = i; return {place(i)}; }
// ==== checked: reported, plain: fault
vertex V hole_in_vertex(STAGE, uint i [[vertex_id]]) { out[i] = *(device ulong *)w.hole; return {place(i)}; }
// ==== checked: reported, plain: lives
vertex V texture_in_vertex(STAGE, uint i [[vertex_id]]) {
    ((device float4 *)out)[i] = as<Read>(w.fake_texture).read(uint2(i, 0));
    return {place(i)};
}
// ==== checked: kept, plain: lives
vertex V size_in_vertex(STAGE, uint i [[vertex_id]]) { out[i] = as<Read>(w.secret).get_width(); return {place(i)}; }
// ==== checked: reported, plain: lives
vertex V array_in_vertex(STAGE, uint i [[vertex_id]]) {
    ulong a[4] = {i, 1, 2, 3};
    a[scratch[64] + 100000 + i] = 9;
    out[i] = a[i & 3];
    return {place(i)};
}
// ==== checked: reported, plain: lives
vertex V chained_in_vertex(STAGE, uint i [[vertex_id]]) {
    device ulong *device *device *p = (device ulong *device *device *)(scratch + 200);
    scratch[200] = (ulong)(scratch + 300), scratch[300] = w.secret;
    out[i] = ***p;
    return {place(i)};
}
// ==== checked: kept, plain: kept
vertex V anywhere(STAGE, uint i [[vertex_id]]) { return {float4(NAN, INFINITY, -1e38, i == 1 ? 0 : -1e-38)}; }

// ==== checked: reported, plain: lives
fragment float4 load_in_fragment(V v [[stage_in]], STAGE) { return as<float4>(0).x + *(device float4 *)w.secret; }
// ==== checked: reported, plain: lives
fragment float4 store_in_fragment(V v [[stage_in]], STAGE) { *(device ulong *)w.secret = 5; return 1; }
// ==== checked: reported, plain: fault
fragment float4 hole_in_fragment(V v [[stage_in]], STAGE) { return *(device float4 *)w.hole; }
// ==== checked: reported, plain: lives
fragment float4 texture_in_fragment(V v [[stage_in]], STAGE) { return as<Read>(w.fake_texture).read(uint2(v.p.xy) & 3); }
// ==== checked: reported, plain: lives
fragment float4 sample_in_fragment(V v [[stage_in]], STAGE) {
    constexpr sampler s;
    return as<texture2d<float>>(w.fake_texture).sample(s, v.p.xy * 0.01);
}
// ==== checked: reported, plain: lives
fragment float4 dead_in_fragment(V v [[stage_in]], STAGE) { return as<Read>(w.dead_texture).read(uint2(v.p.xy)); }
// ==== checked: kept, plain: fault
fragment float4 size_in_fragment(V v [[stage_in]], STAGE) { return as<Read>(w.hole).get_width(); }
// ==== checked: reported, plain: lives
fragment float4 by_position(V v [[stage_in]], STAGE) { return out[(ulong)(v.p.x * 1e9) + 100000] + 1; }
// ==== checked: reported, plain: lives
fragment float4 mixture_in_fragment(V v [[stage_in]], STAGE) {
    float a[4] = {v.p.x, 1, 2, 3}, b[4] = {v.p.y, 1, 2, 3};
    thread float *p = v.p.x > 4 ? a : v.p.y > 4 ? b : (thread float *)(w.secret + 4 * uint(v.p.x));
    return *p;
}
// ==== checked: kept, plain: kept
fragment float4 text_in_fragment(V v [[stage_in]], STAGE) {
    if (v.p.x < 1 && v.p.y < 1) os_log_default.log("%s", (constant char *)w.secret_text);
    return 1;
}

// ==== checked: reported, plain: lives
[[mesh]] void load_in_mesh(Mesh m, STAGE, uint i [[thread_index_in_threadgroup]]) { out[i] = *(device ulong *)w.secret; }
// ==== checked: reported, plain: lives
[[mesh]] void store_in_mesh(Mesh m, STAGE, uint i [[thread_index_in_threadgroup]]) { *(device ulong *)w.secret = i; }
// ==== checked: reported, plain: lives
[[mesh]] void texture_in_mesh(Mesh m, STAGE, uint i [[thread_index_in_threadgroup]]) { ((device float4 *)out)[i] = as<Read>(w.fake_texture).read(uint2(i & 3, 0)); }
// ==== checked: kept, plain: kept
[[mesh]] void vertex_behind_the_last(Mesh m, STAGE, uint i [[thread_index_in_threadgroup]]) {
    m.set_vertex(100000 + i + (uint)scratch[64], {float4(1)});
    m.set_primitive_count(1);
}
// ==== checked: kept, plain: kept
[[mesh]] void index_behind_the_last(Mesh m, STAGE, uint i [[thread_index_in_threadgroup]]) { m.set_index(100000 + i + (uint)scratch[64], 200); }
// ==== checked: kept, plain: kept
[[mesh]] void indices_of_nothing(Mesh m, STAGE, uint i [[thread_index_in_threadgroup]]) {
    if (i < 3) m.set_index(i, 255 - i);
    m.set_primitive_count(1);
}
// ==== checked: kept, plain: kept
[[mesh]] void too_many_primitives(Mesh m, STAGE, uint i [[thread_index_in_threadgroup]]) {
    if (i < 3) m.set_vertex(i, {place(i)}), m.set_index(i, i);
    m.set_primitive_count(0xffffffff);
}
struct Payload { uint n; float x[4]; };
// ==== checked: reported, plain: lives
[[object]] void load_in_object(mesh_grid_properties g, STAGE, uint i [[thread_index_in_threadgroup]]) { out[i] = *(device ulong *)w.secret; g.set_threadgroups_per_grid(uint3(1)); }
// ==== checked: reported, plain: lives
[[object]] void store_in_object(mesh_grid_properties g, STAGE, uint i [[thread_index_in_threadgroup]]) { *(device ulong *)w.secret = 1; }
// ==== checked: reported, plain: none
[[object]] void behind_the_payload(mesh_grid_properties g, object_data Payload &p [[payload]], STAGE, uint i [[thread_index_in_threadgroup]]) {
    p.x[100000 + i + (uint)scratch[64]] = 1;
    g.set_threadgroups_per_grid(uint3(1));
}
// ==== checked: kept, plain: kept
[[object]] void huge_grid(mesh_grid_properties g, STAGE, uint i [[thread_index_in_threadgroup]]) { g.set_threadgroups_per_grid(uint3(0xffffffff)); }

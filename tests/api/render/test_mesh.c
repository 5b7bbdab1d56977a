// SPDX-License-Identifier: Apache-2.0
// test_mesh.c: object and mesh functions, and vertex amplification, through the public API: what is
// in the texture afterwards. Payloads, mesh grids, values of vertices and primitives, topologies,
// threadgroup memory and barriers, order, culling, indices that lead nowhere, every rule.
#include "scene.h"

static const char source[] = HEAD
    "struct V { float4 position [[position]]; float4 color; };\n"
    "struct P { float4 tint; uint id [[primitive_id]]; };\n"
    "struct In { V v; P p; };\n"
    // A quad for each threadgroup in a grid of n x n cells, by threads of its own.
    "using Quad = mesh<V, P, 4, 2, topology::triangle>;\n"
    "float2 corner(uint i) { return float2(i & 1, i >> 1); }\n"
    "V at(float2 p, float4 c) { return {float4(p.x * 2 - 1, 1 - p.y * 2, 0, 1), c}; }\n"
    "[[mesh, max_total_threads_per_threadgroup(64)]]\n"
    "void cells(Quad m, constant uint &n [[buffer(0)]], uint t [[thread_index_in_threadgroup]],\n"
    "           uint2 g [[threadgroup_position_in_grid]], uint2 grid [[threadgroups_per_grid]]) {\n"
    "  if (t < 4) m.set_vertex(t, at((float2(g) + corner(t)) / float2(grid),\n"
    "                                float4(0, 0, float(n) / 255, 1)));\n"
    "  if (t < 2) {\n"
    "    for (uint k = 0; k < 3; k++) m.set_index(t * 3 + k, t ? 3 - k : k);\n"
    "    m.set_primitive(t, {float4(float(g.x) / 255, float(g.y) / 255, 0, 0), t * 10 + 5}); }\n"
    "  if (t == 0) m.set_primitive_count(2); }\n"
    "fragment float4 cell(In in [[stage_in]]) { return in.v.color + in.p.tint; }\n"
    "fragment float4 id(uint id [[primitive_id]]) { return float4(float(id) / 255, 0, 0, 1); }\n"
    // Objects: group g has g + 1 mesh threadgroups, and a payload of colours.
    "struct Payload { uint row, n; float4 colors[8]; };\n"
    "[[object]] void rows(object_data Payload &p [[payload]], mesh_grid_properties grid,\n"
    "    constant float4 &base [[buffer(1)]], threadgroup float *shared [[threadgroup(0)]],\n"
    "    uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {\n"
    "  shared[t] = float(t * 16) / 255;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  p.colors[t] = base + float4(shared[7 - t], 0, 0, 1);\n"
    "  if (t == 0) { p.row = g; p.n = 8; grid.set_threadgroups_per_grid(uint3(g + 1, 1, 1)); } }\n"
    "using Plain = mesh<V, void, 4, 2, topology::triangle>;\n"
    "[[mesh]] void row(Plain m, object_data const Payload &p [[payload]],\n"
    "    uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {\n"
    "  threadgroup float2 place;\n"
    "  if (t == 31) place = float2(g, p.row);\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (t < 4) m.set_vertex(t, at((place + corner(t)) / 8, p.colors[g % p.n]));\n"
    "  if (t == 0) { m.set_primitive_count(2); m.set_indices(0, uchar4(0, 1, 2, 2));\n"
    "                m.set_indices(4, uchar2(1, 3)); } }\n"
    // As large as it gets: 256 threads in eight SIMD-groups that wait for each other, textures.
    "struct Wide { float4 colors[256]; };\n"
    "[[object]] void wide_object(object_data Wide &p [[payload]], mesh_grid_properties g,\n"
    "    texture2d<float> t [[texture(2)]], sampler s [[sampler(1)]],\n"
    "    uint i [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup float4 shared[256];\n"
    "  shared[i] = t.sample(s, float2(0.5, 0.5), level(0)) * (float(i) / 255);\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  p.colors[i] = shared[255 - i];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (i == 255) g.set_threadgroups_per_grid(uint3(1)); }\n"
    "[[mesh]] void wide_mesh(mesh<V, void, 256, 512, topology::triangle> m,\n"
    "    object_data const Wide *p [[payload]], texture2d<float> t [[texture(0)]],\n"
    "    uint i [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup uint order[256];\n"
    "  for (uint k = 0; k < 4; k++) {\n"
    "    order[i] = k & 1 ? 255 - i : i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup); }\n"
    "  uint n = order[255 - i];\n" // i again, through another SIMD-group
    "  m.set_vertex(n, at(float2(float(n / 2) / 127, n & 1),\n"
    "                     p->colors[255 - n] + t.read(uint2(0, 0))));\n"
    "  for (uint k = 0; i < 254 && k < 3; k++) m.set_index(3 * i + k, i + k);\n"
    "  m.set_primitive_count(254); }\n"
    "fragment float4 color(V in [[stage_in]]) { return in.color; }\n";
// Points, lines; layers by primitive; primitives that are culled; bad indices and counts.
static const char more_source[] = HEAD
    "struct V { float4 position [[position]]; float4 color; };\n"
    "float2 corner(uint i) { return float2(i & 1, i >> 1); }\n"
    "V at(float2 p, float4 c) { return {float4(p.x * 2 - 1, 1 - p.y * 2, 0, 1), c}; }\n"
    "using Plain = mesh<V, void, 4, 2, topology::triangle>;\n"
    "struct S { float4 position [[position]]; float size [[point_size]]; half2 h; };\n"
    "[[mesh]] void points(mesh<S, void, 4, 4, topology::point> m,\n"
    "                     uint t [[thread_index_in_threadgroup]]) {\n"
    "  if (t < 4) { m.set_vertex(t, {at((corner(t) * 4 + 2) / 8, 0).position, 2, half2(t, 1)});\n"
    "               m.set_index(t, t); }\n"
    "  if (t == 0) m.set_primitive_count(4); }\n"
    "struct SIn { half2 h; };\n"
    "fragment float4 halves(SIn in [[stage_in]]) {\n"
    "  return float4(float(in.h.x) / 255, float(in.h.y), 0, 1); }\n"
    "[[mesh]] void lines(mesh<V, void, 2, 1, topology::line> m) {\n"
    "  m.set_vertex(0, at(float2(0, 4.5 / 8), 1)); m.set_vertex(1, at(float2(1, 4.5 / 8), 1));\n"
    "  m.set_index(0, 0); m.set_index(1, 1); m.set_primitive_count(1); }\n"
    "struct L { uint layer [[render_target_array_index]]; bool culled [[primitive_culled]];\n"
    "           ushort n; };\n"
    "struct LIn { V v; ushort n; };\n"
    "[[mesh]] void layers(mesh<V, L, 256, 512, topology::triangle> m,\n"
    "                     uint t [[thread_index_in_threadgroup]]) {\n"
    "  if (t < 3) m.set_vertex(t, at(corner(t) * 2, 1));\n"
    "  if (t < 4) { for (uint k = 0; k < 3; k++) m.set_index(t * 3 + k, k);\n"
    "    m.set_primitive(t, {t % 2, t >= 2, ushort(t + 1)}); }\n"
    "  m.set_primitive_count(4); }\n"
    "fragment float4 layer(LIn in [[stage_in]]) { return float4(float(in.n) / 255, 0, 0, 1); }\n"
    "[[mesh]] void wild(mesh<V, void, 4, 4, topology::triangle> m,\n"
    "                   constant uint &count [[buffer(0)]],\n"
    "                   uint t [[thread_index_in_threadgroup]]) {\n"
    "  m.set_vertex(t * 1000 + 4, {}); m.set_index(t * 1000 + 12, 1);\n"
    "  m.set_index(0, 255); m.set_index(1, 4); m.set_primitive_count(count); }\n"
    "[[object]] void flood(mesh_grid_properties g) {\n"
    "  g.set_threadgroups_per_grid(uint3(0xffffffff)); }\n"
    "[[mesh]] void fault(Plain m, device uint *far [[buffer(0)]]) { far[1ul << 40] = 1; }\n"
    "struct Big { uint n[4096]; };\n"
    "[[object]] void big(object_data Big &p [[payload]], mesh_grid_properties g) { p.n[0] = 1; }\n"
    // Values of primitives arrive as they were, however the corners lie.
    "struct E { float third; half h; float2 two [[user(two)]]; };\n"
    "struct EIn { V v; E e; };\n"
    "[[mesh]] void exact(mesh<V, E, 3, 1, topology::triangle> m) {\n"
    "  for (uint i = 0; i < 3; i++) { V v = at(corner(i) * 2, 1); v.position *= 1 + 7.3 * i;\n"
    "    m.set_vertex(i, v); m.set_index(i, i); }\n"
    "  m.set_primitive(0, {1.0f / 3, 0.1h, float2(7.7, 1e-3)}); m.set_primitive_count(1); }\n"
    "fragment float4 equal(EIn in [[stage_in]]) {\n"
    "  return in.e.third == 1.0f / 3 && in.e.h == 0.1h && all(in.e.two == float2(7.7, 1e-3))\n"
    "         ? 1 : 0.5; }\n";
static const char views_source[] = HEAD
    "float2 corner(uint i) { return float2(i & 1, i >> 1); }\n"
    "struct A { float4 position [[position]]; float4 color [[flat]]; };\n"
    "vertex A views(uint i [[vertex_id]], ushort v [[amplification_id]],\n"
    "               ushort n [[amplification_count]]) {\n"
    "  return {float4(corner(i) * 4 - 1, 0, 1), float4(float(v + 1) / 255, float(n) / 255, 0, 1)}; "
    "}\n"
    "struct Seen { ushort view, views; };\n"
    "[[object]] void look(object_data Seen &p [[payload]], mesh_grid_properties g,\n"
    "    ushort v [[amplification_id]], uint n [[amplification_count]]) {\n"
    "  p = {v, ushort(n)}; g.set_threadgroups_per_grid(uint3(4, 2, 1)); }\n"
    "using Band = mesh<A, void, 4, 2, topology::triangle>;\n"
    // Eight cells of two columns and four rows, of which the fourth threadgroup has none.
    "static void band(Band m, uint3 g, uint v, uint n, float seen, uint i) {\n"
    "  if (i < 4) { float2 c = corner(i);\n"
    "    m.set_vertex(i, {float4((float2(g.xy) + c) / float2(2, 1) - 1, 0, 1),\n"
    "        float4(float(v + 1) / 255, float(n) / 255, seen, 1)}); }\n"
    "  if (i < 6) m.set_index(i, uint(0x123210 >> (4 * (5 - i)) & 3));\n"
    "  if (i == 0) m.set_primitive_count(g.x == 3 ? 0 : 2); }\n"
    "[[mesh]] void bands(Band m, uint3 g [[threadgroup_position_in_grid]],\n"
    "    uint v [[amplification_id]], ushort n [[amplification_count]],\n"
    "    object_data const Seen &p [[payload]], uint i [[thread_index_in_threadgroup]]) {\n"
    "  band(m, g, v, n, float(p.view + 16 * p.views) / 255, i); }\n"
    "[[mesh]] void alone(Band m, uint3 g [[threadgroup_position_in_grid]],\n"
    "    ushort v [[amplification_id]], uint n [[amplification_count]],\n"
    "    uint i [[thread_index_in_threadgroup]]) { band(m, g, v, n, 0, i); }\n"
    "fragment float4 view(A in [[stage_in]], uint v [[amplification_id]]) {\n"
    "  return in.color + float4(0, 0, float(v + 7) / 255, 0); }\n";
static MTLLibrary *library, *more, *of_views;

static int open_mesh(void **state) {
    if (open_render(state)) return -1;
    library = compile(source);
    more = compile(more_source);
    of_views = compile(views_source);
    return 0;
}

static int close_mesh(void **state) {
    mtl_release(library), mtl_release(of_views), mtl_release(more);
    return close_render(state);
}

static MTLFunction *function(const char *name) {
    MTLFunction *f = name ? mtl_library_new_function(library, name) : NULL;
    if (!f && name) f = mtl_library_new_function(more, name);
    return f || !name ? f : mtl_library_new_function(of_views, name);
}

static MTLMeshRenderPipelineDescriptor describe(const char *object, const char *mesh,
                                                const char *fragment) {
    MTLMeshRenderPipelineDescriptor d = {.label = mesh,
                                         .object_function = function(object),
                                         .mesh_function = function(mesh),
                                         .fragment_function = function(fragment)};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    return d;
}

static void release(MTLMeshRenderPipelineDescriptor *d) {
    mtl_release(d->object_function), mtl_release(d->mesh_function);
    mtl_release(d->fragment_function);
}

static MTLRenderPipelineState *make(const char *object, const char *mesh, const char *fragment) {
    MTLError *error = NULL;
    MTLMeshRenderPipelineDescriptor d = describe(object, mesh, fragment);
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    release(&d);
    return p;
}

static MTLSize size(size_t x, size_t y, size_t z) { return mtl_size_make(x, y, z); }

// ---- Pictures ----

static void assert_cells(MTLTexture *t, size_t nx, size_t ny, size_t cell, uint32_t blue) {
    for (size_t y = 0; y < ny * cell; y++)
        for (size_t x = 0; x < nx * cell; x++)
            assert_int_equal(pixel(t, x, y), 0xff000000u | blue << 16 | (uint32_t)(y / cell) << 8 |
                                                 (uint32_t)(x / cell));
}

static void grids(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(NULL, "cells", "cell");
    const uint32_t n = 99, grid[3] = {12, 20, 1};
    for (int how = 0; how < 3; how++) {
        Scene s = begin(p, 12 * 8, 20 * 8);
        mtl_render_command_encoder_set_mesh_bytes(s.e, &n, sizeof n, 0);
        MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, grid, sizeof grid, 0);
        if (how == 0)
            mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(12, 20, 1), size(0, 0, 0),
                                                              size(8, 4, 1));
        else if (how == 1) // what is over is left out
            mtl_render_command_encoder_draw_mesh_threads(s.e, size(12 * 8 + 7, 20 * 4 + 3, 1),
                                                         size(1, 1, 1), size(8, 4, 1));
        else
            mtl_render_command_encoder_draw_mesh_threadgroups_indirect(s.e, b, 0, size(1, 1, 1),
                                                                       size(64, 1, 1));
        end(&s);
        assert_cells(s.t, 12, 20, 8, 99);
        mtl_release(s.t), mtl_release(b);
    }
    mtl_release(p);
}

static void ids_of_primitives(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(NULL, "cells", "id");
    const uint32_t n = 0;
    Scene s = begin(p, 8, 8);
    mtl_render_command_encoder_set_mesh_bytes(s.e, &n, sizeof n, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(1, 1, 1), size(1, 1, 1),
                                                      size(32, 1, 1));
    end(&s);
    assert_int_equal(pixel(s.t, 0, 0), 0xff000005u);
    assert_int_equal(pixel(s.t, 7, 7), 0xff00000fu);
    mtl_release(s.t), mtl_release(p);
}

static void objects(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make("rows", "row", "color");
    const float base[4] = {0, 1, 0, 0};
    Scene s = begin(p, 64, 64);
    mtl_render_command_encoder_set_object_bytes(s.e, base, sizeof base, 1);
    mtl_render_command_encoder_set_object_threadgroup_memory_length(s.e, 32, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(8, 1, 1), size(8, 1, 1),
                                                      size(32, 1, 1));
    end(&s);
    for (size_t y = 0; y < 64; y++)
        for (size_t x = 0; x < 64; x++) {
            uint32_t color = 0xff00ff00u | (uint32_t)(7 - x / 8) * 16;
            assert_int_equal(pixel(s.t, x, y), x / 8 <= y / 8 ? color : 0xff000000u);
        }
    mtl_release(s.t);
    // As threads: the last group of eight is cut to one, which is enough for its first thread.
    s = begin(p, 64, 64);
    mtl_render_command_encoder_set_object_bytes(s.e, base, sizeof base, 1);
    mtl_render_command_encoder_set_object_threadgroup_memory_length(s.e, 32, 0);
    mtl_render_command_encoder_draw_mesh_threads(s.e, size(8 * 7 + 1, 1, 1), size(8, 1, 1),
                                                 size(32, 1, 1));
    end(&s);
    assert_int_equal(pixel(s.t, 0, 55), 0xff00ff70u);
    assert_int_equal(pixel(s.t, 63, 55), 0xff000000u);
    assert_int_equal(pixel(s.t, 0, 63) & 0xff00ff00u, 0xff00ff00u);
    mtl_release(s.t), mtl_release(p);
}

// Many objects and meshes, in order: the last one stays.
static void order(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(NULL, "cells", "cell");
    Scene s = begin(p, 8, 8);
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t n = i % 256;
        mtl_render_command_encoder_set_mesh_bytes(s.e, &n, sizeof n, 0);
        mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(1, 1, 1), size(1, 1, 1),
                                                          size(4, 1, 1));
    }
    end(&s);
    assert_cells(s.t, 1, 1, 8, 299 % 256);
    mtl_release(s.t), mtl_release(p);
    p = make("rows", "row", "color");
    const float base[4] = {0, 1, 0, 0};
    s = begin(p, 64, 64);
    mtl_render_command_encoder_set_object_bytes(s.e, base, sizeof base, 1);
    mtl_render_command_encoder_set_object_threadgroup_memory_length(s.e, 32, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(300, 1, 1), size(8, 1, 1),
                                                      size(32, 1, 1)); // most are outside
    end(&s);
    assert_int_equal(pixel(s.t, 63, 63), 0xff00ff00u);
    mtl_release(s.t), mtl_release(p);
}

// The picture of one threadgroup of a mesh function.
static MTLTexture *one_mesh(const char *mesh, const char *fragment, size_t side, size_t threads) {
    MTLRenderPipelineState *p = make(NULL, mesh, fragment);
    Scene s = begin(p, side, side);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(1, 1, 1), size(1, 1, 1),
                                                      size(threads, 1, 1));
    end(&s);
    mtl_release(p);
    return s.t;
}

static void points_and_lines(void **state) {
    (void)state;
    MTLTexture *t = one_mesh("points", "halves", 8, 4);
    for (size_t y = 0; y < 8; y++)
        for (size_t x = 0; x < 8; x++) {
            bool in = (x + 1) % 4 >= 2 && (y + 1) % 4 >= 2;
            uint32_t i = (uint32_t)(x / 4 + y / 4 * 2);
            assert_int_equal(pixel(t, x, y), in ? 0xff00ff00u | i : 0xff000000u);
        }
    mtl_release(t);
    t = one_mesh("lines", "color", 8, 1);
    for (size_t y = 0; y < 8; y++)
        for (size_t x = 0; x < 8; x++)
            assert_int_equal(pixel(t, x, y), y == 4 ? 0xffffffffu : 0xff000000u);
    mtl_release(t);
}

static MTLTexture *two_layers(void) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 8, 8, false);
    d.texture_type = MTLTextureType2DArray;
    d.array_length = 2;
    d.usage = MTLTextureUsageRenderTarget;
    return mtl_device_new_texture(device, &d);
}

static uint32_t layer_pixel(MTLTexture *t, size_t x, size_t y, size_t slice) {
    uint32_t value = 0;
    mtl_texture_get_bytes_slice(t, &value, 32, 32 * 8, mtl_region_make_2d(x, y, 1, 1), 0, slice);
    return value;
}

static Scene begin_layers(MTLRenderPipelineState *p) {
    Scene s = {.t = two_layers()};
    MTLRenderPassDescriptor d = pass_of(s.t);
    d.render_target_array_length = 2;
    s.commands = mtl_command_queue_command_buffer(queue);
    s.e = mtl_command_buffer_render_command_encoder(s.commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(s.e, p);
    return s;
}

static void layers_and_culled(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(NULL, "layers", "layer");
    Scene s = begin_layers(p);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(1, 1, 1), size(1, 1, 1),
                                                      size(32, 1, 1));
    end(&s);
    for (size_t slice = 0; slice < 2; slice++)
        for (size_t i = 0; i < 64; i++)
            assert_int_equal(layer_pixel(s.t, i % 8, i / 8, slice), 0xff000001u + slice);
    mtl_release(s.t), mtl_release(p);
}

static MTLTexture *one_texel(uint32_t texel) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 1, 1, false);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 1, 1), 0, &texel, 4);
    return t;
}

static void wide_groups(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make("wide_object", "wide_mesh", "color");
    MTLTexture *red = one_texel(0x000000ffu), *green = one_texel(0xff00ff00u);
    MTLSamplerState *sampler = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    Scene s = begin(p, 127, 4);
    mtl_render_command_encoder_set_object_texture(s.e, red, 2);
    mtl_render_command_encoder_set_object_sampler_state(s.e, sampler, 1);
    mtl_render_command_encoder_set_mesh_texture(s.e, green, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(1, 1, 1), size(16, 16, 1),
                                                      size(32, 4, 2));
    end(&s);
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 127; x++) {
            uint32_t c = pixel(s.t, x, y), red_here = c & 255; // 2 x at the left, + 1 below
            assert_int_equal(c & 0xffffff00u, 0xff00ff00u);
            assert_in_range(red_here, 2 * x, 2 * x + 3);
        }
    mtl_release(s.t), mtl_release(p), mtl_release(red), mtl_release(green), mtl_release(sampler);
}

static void values_are_exact(void **state) {
    (void)state;
    MTLTexture *t = one_mesh("exact", "equal", 64, 1);
    for (size_t i = 0; i < 64 * 64; i++) assert_int_equal(pixel(t, i % 64, i / 64), 0xffffffffu);
    mtl_release(t);
}

typedef struct Views {
    bool objects, layers;
    int how; // threadgroups, threads, an indirect command
} Views;

static void draw_views(MTLRenderCommandEncoder *e, const Views *how, MTLRenderPipelineState *p) {
    MTLSize grid = how->objects ? size(1, 1, 1) : size(4, 2, 1);
    if (how->how == 0) {
        mtl_render_command_encoder_draw_mesh_threadgroups(e, grid, size(1, 1, 1), size(32, 1, 1));
        return;
    }
    if (how->how == 1) {
        MTLSize each = how->objects ? size(1, 1, 1) : size(32, 1, 1);
        mtl_render_command_encoder_draw_mesh_threads(
            e, size(grid.width * each.width, grid.height, 1), size(1, 1, 1), size(32, 1, 1));
        return;
    }
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){
            .command_types = MTLIndirectCommandTypeDrawMeshThreadgroups, .inherit_buffers = true},
        1, 0);
    MTLIndirectRenderCommand *c =
        mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 0);
    mtl_indirect_render_command_set_render_pipeline_state(c, p);
    mtl_indirect_render_command_draw_mesh_threadgroups(c, grid, size(1, 1, 1), size(32, 1, 1));
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
    mtl_release(icb);
}

static void assert_view(uint32_t texel, size_t x, size_t width, uint32_t view, bool objects) {
    uint32_t blue = view + 7 + (objects ? view + 16 * 2 : 0);
    bool there = x * 4 / width < 3; // the last column has no primitives
    assert_int_equal(texel, there ? 0xff000200u + (view + 1) + (blue << 16) : 0xff000000u);
}

static void amplified_meshes(void **state) {
    (void)state;
    for (int i = 0; i < 12; i++) {
        const Views how = {.objects = i & 1, .layers = i & 2, .how = i / 4};
        MTLError *error = NULL;
        MTLMeshRenderPipelineDescriptor d =
            describe(how.objects ? "look" : NULL, how.objects ? "bands" : "alone", "view");
        d.max_vertex_amplification_count = 2;
        d.support_indirect_command_buffers = true;
        MTLRenderPipelineState *p =
            mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
        if (!p) fail_msg("%s", mtl_error_localized_description(error));
        release(&d);
        Scene s = how.layers ? begin_layers(p) : begin(p, 16, 8);
        const MTLViewport halves[2] = {{8, 0, 8, 8, 0, 1}, {0, 0, 8, 8, 0, 1}};
        const MTLVertexAmplificationViewMapping by_layer[2] = {
            {.render_target_array_index_offset = 1}, {.render_target_array_index_offset = 0}};
        const MTLVertexAmplificationViewMapping by_viewport[2] = {
            {.viewport_array_index_offset = 0}, {.viewport_array_index_offset = 1}};
        if (!how.layers) mtl_render_command_encoder_set_viewports(s.e, halves, 2);
        mtl_render_command_encoder_set_vertex_amplification_count(
            s.e, 2, how.layers ? by_layer : by_viewport);
        draw_views(s.e, &how, p);
        end(&s);
        for (size_t k = 0; k < 128; k++) {
            size_t x = k % 16, y = k / 16;
            uint32_t texel = how.layers ? layer_pixel(s.t, x % 8, y, x / 8) : pixel(s.t, x, y);
            assert_view(texel, x % 8, 8, x < 8, how.objects); // the views change places
        }
        mtl_release(s.t), mtl_release(p);
    }
}

static void amplification(void **state) {
    (void)state;
    assert_true(mtl_device_supports_vertex_amplification_count(device, 2));
    assert_false(mtl_device_supports_vertex_amplification_count(device, 3));
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.vertex_function = function("views"),
                                     .fragment_function = function("view"),
                                     .max_vertex_amplification_count = 2,
                                     .input_primitive_topology = MTLPrimitiveTopologyClassTriangle};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    // Layers: the views change places.
    Scene s = begin_layers(p);
    const MTLVertexAmplificationViewMapping by_layer[2] = {{.render_target_array_index_offset = 1},
                                                           {.render_target_array_index_offset = 0}};
    mtl_render_command_encoder_set_vertex_amplification_count(s.e, 2, by_layer);
    mtl_render_command_encoder_draw_primitives(s.e, MTLPrimitiveTypeTriangle, 0, 3);
    end(&s);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(layer_pixel(s.t, i % 8, i / 8, 1), 0xff070201u);
        assert_int_equal(layer_pixel(s.t, i % 8, i / 8, 0), 0xff080202u);
    }
    mtl_release(s.t);
    // Viewports: left and right half; then one view only.
    s = begin(p, 8, 8);
    const MTLViewport halves[2] = {{0, 0, 4, 8, 0, 1}, {4, 0, 4, 8, 0, 1}};
    const MTLVertexAmplificationViewMapping by_viewport[2] = {{.viewport_array_index_offset = 0},
                                                              {.viewport_array_index_offset = 1}};
    mtl_render_command_encoder_set_viewports(s.e, halves, 2);
    mtl_render_command_encoder_set_vertex_amplification_count(s.e, 2, by_viewport);
    mtl_render_command_encoder_draw_primitives(s.e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_set_vertex_amplification_count(s.e, 1, NULL);
    mtl_render_command_encoder_set_scissor_rects(s.e,
                                                 (MTLScissorRect[]){{0, 0, 1, 1}, {0, 0, 1, 1}}, 2);
    mtl_render_command_encoder_draw_primitives(s.e, MTLPrimitiveTypeTriangle, 0, 3);
    end(&s);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(pixel(s.t, i % 8, i / 8), i == 0      ? 0xff070101u
                                                   : i % 8 < 4 ? 0xff070201u
                                                               : 0xff080202u);
    mtl_release(s.t), mtl_release(p);
}

// ---- What is wrong ----

// Indices, counts and places that do not exist; grids without end.
static void wild(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(NULL, "wild", "color");
    static const uint32_t counts[] = {0, 1, 4, 5, UINT32_MAX};
    for (int i = 0; i < 5; i++) {
        Scene s = begin(p, 8, 8);
        mtl_render_command_encoder_set_mesh_bytes(s.e, &counts[i], 4, 0);
        mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(3, 1, 1), size(1, 1, 1),
                                                          size(64, 1, 1));
        end(&s);
        assert_int_equal(pixel(s.t, 4, 4), 0xff000000u);
        mtl_release(s.t);
    }
    mtl_release(p);
    p = make("flood", "lines", "color");
    Scene s = begin(p, 8, 8);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(5000, 1, 1), size(1, 1, 1),
                                                      size(1, 1, 1));
    const uint32_t none[3] = {1, 0, 1};
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, none, sizeof none, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups_indirect(s.e, b, 0, size(1, 1, 1),
                                                               size(1, 1, 1));
    end(&s);
    for (size_t i = 0; i < 64; i++) assert_int_equal(pixel(s.t, i % 8, i / 8), 0xff000000u);
    mtl_release(s.t), mtl_release(p), mtl_release(b);
}

static void a_fault(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(NULL, "fault", "color");
    MTLBuffer *b = mtl_device_new_buffer(device, 16, 0);
    Scene s = begin(p, 8, 8);
    mtl_render_command_encoder_set_mesh_buffer(s.e, b, 0, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, size(1, 1, 1), size(1, 1, 1),
                                                      size(1, 1, 1));
    mtl_render_command_encoder_end_encoding(s.e);
    commit_and_wait(s.commands);
    if (getenv("MTL_SHADER_VALIDATION")) { // the store was left out, and is named
        assert_completed(s.commands);
        assert_int_equal(mtl_command_buffer_log_count(s.commands), 1);
        const char *text = mtl_function_log_description(mtl_command_buffer_log(s.commands, 0));
        if (!strstr(text, "'fault'") || !strstr(text, "'far'")) fail_msg("%s", text);
    } else {
        assert_int_equal(mtl_command_buffer_status(s.commands), MTLCommandBufferStatusError);
    }
    mtl_release(s.commands), mtl_release(s.t), mtl_release(p), mtl_release(b);
}

static void refuse(MTLMeshRenderPipelineDescriptor d, const char *what) {
    MTLError *error = NULL;
    assert_null(mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error));
    if (!strstr(mtl_error_localized_description(error), what))
        fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(error);
    release(&d);
}

static void bad_pipelines(void **state) {
    (void)state;
    refuse(describe("rows", "rows", "color"), "not a mesh function");
    refuse(describe("row", "row", "color"), "not an object function");
    refuse(describe(NULL, "cells", "cells"), "not a fragment function");
    refuse(describe(NULL, "row", "color"), "payload");
    refuse(describe("flood", "row", "color"), "payload");
    refuse(describe(NULL, "lines", "cell"), "was not found");
    refuse(describe("rows", NULL, "color"), "NULL");
    MTLMeshRenderPipelineDescriptor d = describe("rows", "row", "color");
    d.payload_memory_length = 16400;
    refuse(d, "too large");
    d = describe("rows", "row", "color");
    d.payload_memory_length = 16;
    refuse(d, "less than");
    d = describe("rows", "row", "color");
    d.max_total_threads_per_mesh_threadgroup = 2000;
    refuse(d, "at most 1024");
    d = describe("rows", "row", "color");
    d.color_attachments[0].pixel_format = MTLPixelFormatDepth32Float;
    refuse(d, "color renderable");
    MTLError *error = NULL;
    assert_null(mtl_device_new_render_pipeline_state_with_mesh_descriptor(NULL, &d, &error));
    mtl_release(error);
    assert_null(mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, NULL, NULL));
    MTLRenderPipelineState *p = make("big", "lines", "color"); // 16384 bytes, the most there may be
    mtl_release(p);
}

static void limits(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make("rows", "row", "color"), *plain;
    assert_int_equal(mtl_render_pipeline_state_max_total_threads_per_object_threadgroup(p), 1024);
    assert_int_equal(mtl_render_pipeline_state_object_thread_execution_width(p), 32);
    assert_int_equal(mtl_render_pipeline_state_mesh_thread_execution_width(p), 32);
    mtl_release(p);
    p = make(NULL, "cells", "cell");
    assert_int_equal(mtl_render_pipeline_state_max_total_threads_per_object_threadgroup(p), 0);
    assert_int_equal(mtl_render_pipeline_state_max_total_threads_per_mesh_threadgroup(p), 64);
    assert_true(mtl_render_pipeline_state_max_total_threadgroups_per_mesh_grid(p) >= 1024);
    mtl_release(p);
    plain = pipeline("positions", "tint", (Options){0});
    assert_int_equal(mtl_render_pipeline_state_mesh_thread_execution_width(plain), 0);
    mtl_release(plain);
}

static void bad_draws(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make("rows", "row", "color"), *q = make(NULL, "cells", "cell");
    const uint32_t n = 1;
    MTLSize one = size(1, 1, 1);
    clear_messages();
    Scene s = begin(q, 8, 8);
    mtl_render_command_encoder_set_mesh_bytes(s.e, &n, 4, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, one, one, size(65, 1, 1));
    expect(&s, "mesh_threadgroup_size");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, one, one, size(0, 1, 1));
    expect(&s, "mesh_threadgroup_size");
    s = begin(p, 8, 8);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, one, size(1025, 1, 1), one);
    expect(&s, "mesh_threadgroup_size");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, one, one, one);
    expect(&s, "draw_missing_buffer");
    s = begin(p, 8, 8);
    const float base[4] = {0};
    mtl_render_command_encoder_set_object_bytes(s.e, base, 16, 1);
    mtl_render_command_encoder_draw_mesh_threadgroups(s.e, one, one, one);
    expect(&s, "dispatch_missing_threadgroup_memory");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_draw_primitives(s.e, MTLPrimitiveTypeTriangle, 0, 3);
    expect(&s, "draw_kind");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_draw_mesh_threadgroups_indirect(s.e, NULL, 0, one, one);
    expect(&s, "null_argument");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_set_mesh_threadgroup_memory_length(s.e, 8, 0);
    expect(&s, "threadgroup_memory_multiple");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_set_object_threadgroup_memory_length(s.e, 16, 31);
    expect(&s, "threadgroup_memory_index");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_set_object_threadgroup_memory_length(s.e, 1 << 20, 0);
    expect(&s, "threadgroup_memory_limit");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_set_mesh_buffer_offset(s.e, 0, 31);
    expect(&s, "buffer_index");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_set_vertex_amplification_count(s.e, 2, NULL);
    expect(&s, "amplification_count");
    s = begin(q, 8, 8);
    mtl_render_command_encoder_set_vertex_amplification_count(s.e, 0, NULL);
    expect(&s, "amplification_count");
    mtl_render_command_encoder_draw_mesh_threads(NULL, one, one, one);
    assert_string_equal(last_rule, "null_object");
    mtl_release(p), mtl_release(q);
}

int main(void) {
    setenv("MTL_DEBUG_LAYER", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids),
        cmocka_unit_test(ids_of_primitives),
        cmocka_unit_test(objects),
        cmocka_unit_test(order),
        cmocka_unit_test(points_and_lines),
        cmocka_unit_test(layers_and_culled),
        cmocka_unit_test(wide_groups),
        cmocka_unit_test(values_are_exact),
        cmocka_unit_test(amplification),
        cmocka_unit_test(amplified_meshes),
        cmocka_unit_test(wild),
        cmocka_unit_test(a_fault),
        cmocka_unit_test(bad_pipelines),
        cmocka_unit_test(limits),
        cmocka_unit_test(bad_draws),
    };
    return cmocka_run_group_tests(tests, open_mesh, close_mesh);
}

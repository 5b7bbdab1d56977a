// SPDX-License-Identifier: Apache-2.0
// test_tiles.c: tile functions and imageblocks through the public API, by exact pixels: implicit
// imageblocks of every tile size between draws, explicit ones that fragment functions fill, several
// samples, memory that the functions of a tile share, memoryless attachments, every rule.
#include "render_test.h"

static const char source[] = HEAD
    "struct V { float4 p [[position]]; float4 color [[flat]]; };\n"
    "struct Draw { float4 color; float z; };\n"
    "vertex V full(uint i [[vertex_id]], constant Draw &d [[buffer(0)]]) {\n"
    "  return {float4((i & 1) * 4.0 - 1, (i >> 1) * 4.0 - 1, d.z, 1), d.color}; }\n"
    "vertex V corner(uint i [[vertex_id]], constant Draw &d [[buffer(0)]]) {\n"
    "  return {float4((i & 1) * 2.0 - 1, (i >> 1) * 2.0 - 1, d.z, 1), d.color}; }\n"
    "fragment float4 tint(V in [[stage_in]]) { return in.color; }\n"
    // The colour of before, turned, and where the thread is.
    "struct One { half4 c [[color(0)]]; };\n"
    "kernel void turn(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]],\n"
    "    uint2 all [[thread_position_in_grid]], ushort2 tile [[threadgroup_position_in_grid]],\n"
    "    constant float4 &add [[buffer(2)]]) {\n"
    "  One v = b.read(at);\n"
    "  v.c = half4(v.c.g, v.c.r, half(all.x + all.y * 2) / 255,\n"
    "              half(tile.x + 4 * tile.y) / 255) + half4(add);\n"
    "  b.write(v, at); }\n"
    "kernel void sizes(imageblock<One, imageblock_layout_implicit> b,\n"
    "    device uint *out [[buffer(0)]], uint2 tile [[threadgroup_position_in_grid]],\n"
    "    uint2 n [[threadgroups_per_grid]], uint2 t [[threads_per_threadgroup]]) {\n"
    "  device uint *o = out + (tile.x + tile.y * n.x) * 8;\n"
    "  o[0] = b.get_width(); o[1] = b.get_height(); o[2] = b.get_num_samples(); o[3] = n.x;\n"
    "  o[4] = n.y; o[5] = t.x; o[6] = uint(b.read(ushort2(3, 5)).c.x * 255 + 0.5h);\n"
    // Pixels that are not there.
    "  o[7] = uint(b.read(ushort2(60000, 60000)).c.x >= 0);\n"
    "  b.write(One{half4(1)}, ushort2(b.get_width(), 0));\n"
    "  b.write(One{half4(1)}, ushort2(0, 65535)); }\n"
    // Other formats: 32-bit floats through halves, integers, three components of four.
    "struct Many { half4 f [[color(0)]]; uint n [[color(1)]]; half3 c [[color(2)]];\n"
    "  short2 s [[color(3)]]; };\n"
    "kernel void many(imageblock<Many> b, ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  Many m = b.read(at);\n"
    "  if (at.x == 1) { m.f = half4(m.f.x * 2, 1, 2, 3); m.n += 7; m.c = m.c.bgr;\n"
    "                   m.s = short2(m.s.y, -m.s.x); }\n"
    "  b.write(m, at); }\n"
    // Colours as textures: all of color(3), then a corner of color(2).
    "kernel void sliced(imageblock<Many> b, ushort2 at [[thread_position_in_threadgroup]],\n"
    "    texture2d<short, access::write> s [[texture(0)]], ushort2 all "
    "[[thread_position_in_grid]],\n"
    "    texture2d<half, access::write> c [[texture(1)]]) {\n"
    "  if (all.x % 32 == 0 && all.y % 32 == 0) { s.write(b.slice<short2>(3u), all);\n"
    "    c.write(b.slice<half3>(2, ushort2(2, 1)), all); } }\n"
    // Samples.
    "kernel void average(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]],\n"
    "    device atomic_uint *one [[buffer(0)]]) {\n"
    "  half4 sum = 0; ushort n = b.get_num_colors(at), all = 0;\n"
    "  for (ushort i = 0; i < n; i++) {\n"
    "    ushort mask = b.get_color_coverage_mask(at, i); all |= mask;\n"
    "    sum += b.read(at, i, imageblock_data_rate::color).c * popcount(mask); }\n"
    "  if (n == 1) atomic_fetch_add_explicit(one, 1u, memory_order_relaxed);\n"
    "  if (all == 0xf) b.write(One{sum / b.get_num_samples()}, at); }\n"
    "kernel void one_sample(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  b.write(One{half4(0, 1, 0, 1)}, at, ushort(2));\n"
    "  b.write(One{b.read(at, 1, imageblock_data_rate::sample).c + half4(0, 0, 1, 0)}, at, 3,\n"
    "          imageblock_data_rate::sample); }\n";
static const char explicit_source[] = HEAD
    "struct V { float4 p [[position]]; float4 color [[flat]]; };\n"
    // The four nearest layers of a pixel, in order; then put one over the other.
    "struct Layers { rgba8unorm<half4> colors [[raster_order_group(0)]] [4];\n"
    "  half depths [[raster_order_group(0)]] [4]; };\n"
    "struct Store { Layers v [[imageblock_data]]; };\n"
    "kernel void none(imageblock<Layers, imageblock_layout_explicit> b,\n"
    "                 ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  threadgroup_imageblock Layers *p = b.data(at);\n"
    "  for (ushort i = 0; i < 4; i++) {\n"
    "    p->colors[i] = half4(0); p->depths[i] = half(INFINITY); } }\n"
    "fragment Store add(V in [[stage_in]], Layers v [[imageblock_data]]) {\n"
    "  Store o; o.v = v; half4 c = half4(in.color); half d = half(in.p.z);\n"
    "  for (short i = 0; i < 4; i++) {\n"
    "    bool first = d <= o.v.depths[i]; half4 lc = o.v.colors[i]; half ld = o.v.depths[i];\n"
    "    o.v.colors[i] = first ? c : lc; o.v.depths[i] = first ? d : ld;\n"
    "    c = first ? lc : c; d = first ? ld : d; }\n"
    "  if (in.p.x < 4 && in.color.b == 1) discard_fragment();\n"
    "  return o; }\n"
    "fragment half4 over(Layers v [[imageblock_data]],\n"
    "    half4 c [[color(0), raster_order_group(0)]], ushort2 at [[pixel_position_in_tile]],\n"
    "    ushort2 size [[pixels_per_tile]], uint tile [[tile_index]]) {\n"
    "  for (short i = 3; i >= 0; i--) {\n"
    "    half4 l = v.colors[i]; c = half4(mix(c.xyz, l.xyz, l.w), 1); }\n"
    "  c.w = half(at.x + at.y + size.x + size.y * 2 + tile) / 255;\n"
    "  return c; }\n"
    // A G-buffer and light for it, in one pass.
    "struct G { rgba8unorm<half4> albedo; rg11b10f<half3> light; rgb10a2<half4> wide;\n"
    "  srgba8unorm<half4> srgb; r8unorm<half> r; rg16snorm<float2> n; float depth; };\n"
    "struct GOut { G g [[imageblock_data]]; };\n"
    "fragment GOut fill(V in [[stage_in]]) {\n"
    "  GOut o; o.g.albedo = half4(in.color); o.g.light = half3(0.5h, 1.0h, 2.0h);\n"
    "  o.g.wide = half4(0.25h); o.g.srgb = half4(0.5h); o.g.r = 0.5h;\n"
    "  o.g.n = float2(-1, 0.5); o.g.depth = in.p.z; return o; }\n"
    "struct One { half4 c [[color(0)]]; };\n"
    "kernel void dump(imageblock<G> b, ushort2 at [[thread_position_in_threadgroup]],\n"
    "                 device float *out [[buffer(0)]]) {\n"
    "  if (at.x == 1 && at.y == 2) { G g = *b.data(at); out[0] = half4(g.albedo).x;\n"
    "    out[1] = half3(g.light).z; out[2] = half4(g.wide).y; out[3] = half4(g.srgb).z;\n"
    "    out[4] = half(g.r); out[5] = float2(g.n).y; out[6] = g.depth;\n"
    "    out[7] = float2(g.n).x; } }\n"
    // Memory of a tile: fragments count, the tile function says how many.
    "fragment float4 count(V in [[stage_in]], threadgroup atomic_uint *n [[threadgroup(1)]],\n"
    "    threadgroup uint *last [[threadgroup(0)]]) {\n"
    "  if (in.p.x > 50) discard_fragment();\n"
    "  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); last[2] = 77;\n"
    "  return in.color; }\n"
    "kernel void counted(threadgroup uint *n [[threadgroup(1)]], device uint *out [[buffer(0)]],\n"
    "    threadgroup uint *last [[threadgroup(0)]], uint2 tile [[threadgroup_position_in_grid]],\n"
    "    uint2 all [[threadgroups_per_grid]], uint t [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup uint own[32];\n"
    "  own[t] = n[0]; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (t == 0) { out[tile.x + tile.y * all.x] += own[31] + last[2]; n[0] += 1000; } }\n"
    "kernel void far(imageblock<One> b, device uint *p [[buffer(0)]]) { p[1ul << 40] = 1; }\n"
    "kernel void plain(device uint *p [[buffer(0)]]) { p[0] = 1; }\n"
    // Both kinds of imageblocks: light from the one into the other.
    "kernel void lit(imageblock<One> to, imageblock<G, imageblock_layout_explicit> from,\n"
    "                ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  G g = *from.data(at); One o = to.read(at);\n"
    "  o.c = half4(half4(g.albedo).rg, o.c.b, half(to.get_width() + from.get_height()) / 255);\n"
    "  from.data(at)->albedo = half4(0.2h); to.write(o, at); }\n"
    "kernel void lit_again(imageblock<G> from, imageblock<One, imageblock_layout_implicit> to,\n"
    "                      ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  One o = to.read(at); o.c.b += half4(from.data(at)->albedo).g; to.write(o, at); }\n"
    "struct Ints { int4 c [[color(0)]]; };\n"
    "kernel void ints(imageblock<Ints> b) {}\n";

static MTLLibrary *libraries[2];

static MTLFunction *function(const char *name) {
    for (int i = 0; i < 2; i++) {
        MTLFunction *f = mtl_library_new_function(libraries[i], name);
        if (f) return f;
    }
    fail_msg("no '%s'", name);
    return NULL;
}

static int open_tiles(void **state) {
    if (open_render(state)) return -1;
    libraries[0] = compile(source), libraries[1] = compile(explicit_source);
    return 0;
}

static int close_tiles(void **state) {
    mtl_release(libraries[0]), mtl_release(libraries[1]);
    return close_render(state);
}

static MTLRenderPipelineState *draws(const char *vertex, const char *fragment, size_t samples) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.label = fragment,
                                     .vertex_function = function(vertex),
                                     .fragment_function = function(fragment),
                                     .raster_sample_count = samples};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return p;
}

static MTLRenderPipelineState *tiles(const char *name, size_t samples) {
    MTLError *error = NULL;
    MTLTileRenderPipelineDescriptor d = {
        .label = name, .tile_function = function(name), .raster_sample_count = samples};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.tile_function);
    return p;
}

typedef struct Scene {
    MTLTexture *t;
    MTLRenderPassDescriptor d;
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e;
} Scene;

static void begin(Scene *s) {
    s->commands = mtl_command_queue_command_buffer(queue);
    s->e = mtl_command_buffer_render_command_encoder(s->commands, &s->d);
    if (!s->e) fail_msg("%s", last_text);
}

static void end(Scene *s) {
    mtl_render_command_encoder_end_encoding(s->e);
    if (*last_text) fail_msg("%s", last_text);
    finish(s->commands);
}

static void draw(Scene *s, MTLRenderPipelineState *p, const float color[4], float z, size_t x,
                 size_t width) {
    const float bytes[8] = {color[0], color[1], color[2], color[3], z};
    mtl_render_command_encoder_set_render_pipeline_state(s->e, p);
    mtl_render_command_encoder_set_vertex_bytes(s->e, bytes, sizeof bytes, 0);
    mtl_render_command_encoder_set_scissor_rect(
        s->e, (MTLScissorRect){x, 0, width, mtl_texture_height(s->t)});
    mtl_render_command_encoder_draw_primitives(s->e, MTLPrimitiveTypeTriangle, 0, 3);
}

static void dispatch(Scene *s, MTLRenderPipelineState *p, size_t w, size_t h) {
    mtl_render_command_encoder_set_render_pipeline_state(s->e, p);
    mtl_render_command_encoder_dispatch_threads_per_tile(s->e, mtl_size_make(w, h, 1));
}

static const size_t tile_sizes[3][2] = {{16, 16}, {32, 16}, {32, 32}};

// A draw, the function, a draw over a part, the function again.
static void between_draws(void **state) {
    (void)state;
    MTLRenderPipelineState *tint = draws("full", "tint", 1), *turn = tiles("turn", 1);
    const float none[4] = {0}, some[4] = {0.2f, 0, 0, 0};
    enum { W = 150, H = 70 };
    for (int k = 0; k < 3; k++) {
        size_t w = tile_sizes[k][0], h = tile_sizes[k][1];
        Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, W, H, 1)};
        s.d = pass_of(s.t);
        s.d.tile_width = w, s.d.tile_height = h;
        begin(&s);
        assert_int_equal(mtl_render_command_encoder_tile_width(s.e), w);
        assert_int_equal(mtl_render_command_encoder_tile_height(s.e), h);
        draw(&s, tint, RED, 0, 10, 30);
        mtl_render_command_encoder_set_tile_bytes(s.e, none, sizeof none, 2);
        dispatch(&s, turn, w, h);
        draw(&s, tint, RED, 0, 20, 5);
        mtl_render_command_encoder_set_tile_bytes(s.e, some, sizeof some, 2);
        dispatch(&s, turn, w, h);
        draw(&s, tint, BLUE, 0, 0, 2);
        end(&s);
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++) {
                bool first = x >= 10 && x < 40, second = x >= 20 && x < 25;
                uint32_t place = x + 2 * y < 255 ? x + 2 * y : 255;
                uint32_t tile = (uint32_t)(x / w + 4 * (y / h));
                uint32_t red = !second && first ? 255 : 51, green = second ? 255 : 0;
                uint32_t want = red | green << 8 | place << 16 | tile << 24;
                if (x < 2) want = 0xffff0000u;
                assert_int_equal(pixel(s.t, x, y), want);
            }
        mtl_release(s.t);
    }
    mtl_release(tint), mtl_release(turn);
}

static void sizes_and_wild_places(void **state) {
    (void)state;
    MTLRenderPipelineState *tint = draws("full", "tint", 1), *p = tiles("sizes", 1);
    const float grey[4] = {0.4f, 0.4f, 0.4f, 1};
    for (int k = 0; k < 3; k++) {
        size_t w = tile_sizes[k][0], h = tile_sizes[k][1];
        size_t columns = (100 + w - 1) / w, rows = (40 + h - 1) / h;
        MTLBuffer *out = mtl_device_new_buffer(device, columns * rows * 32, 0);
        Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, 100, 40, 1)};
        s.d = pass_of(s.t);
        s.d.tile_width = w, s.d.tile_height = h;
        begin(&s);
        draw(&s, tint, grey, 0, 0, 100);
        mtl_render_command_encoder_set_tile_buffer(s.e, out, 0, 0);
        dispatch(&s, p, 1, 1);
        end(&s);
        const uint32_t want[8] = {(uint32_t)w,    (uint32_t)h, 1,   (uint32_t)columns,
                                  (uint32_t)rows, 1,           102, 1};
        for (size_t i = 0; i < columns * rows; i++)
            assert_memory_equal((char *)mtl_buffer_contents(out) + 32 * i, want, sizeof want);
        for (size_t i = 0; i < 4000; i++)
            assert_int_equal(pixel(s.t, i % 100, i / 100), 0xff666666u);
        mtl_release(s.t), mtl_release(out);
    }
    mtl_release(tint), mtl_release(p);
}

static void fill(MTLTexture *t, const void *texel, size_t n_bytes) {
    unsigned char row[16 * 40];
    for (size_t i = 0; i < 40; i++) memcpy(row + i * n_bytes, texel, n_bytes);
    for (size_t y = 0; y < 40; y++)
        mtl_texture_replace_region(t, mtl_region_make_2d(0, y, 40, 1), 0, row, 40 * n_bytes);
}

static void at(MTLTexture *t, size_t x, size_t y, void *texel) {
    mtl_texture_get_bytes(t, texel, 16 * 40, mtl_region_make_2d(x, y, 1, 1), 0);
}

static MTLTexture *storage(MTLPixelFormat format) {
    MTLTextureDescriptor d = texture_shape(MTLTextureType2D, format, 40, 40, 1, 1, 1);
    d.usage = MTLTextureUsageShaderWrite;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    return t;
}

// What a function does not change keeps its bits, whatever it sees of them.
static void other_formats(void **state) {
    (void)state;
    static const MTLPixelFormat formats[4] = {MTLPixelFormatRGBA32Float, MTLPixelFormatR32Uint,
                                              MTLPixelFormatRGBA8Unorm, MTLPixelFormatRG16Sint};
    static const size_t n_bytes[4] = {16, 4, 4, 4};
    const float floats[4] = {0.1f, 1e-9f, 70000, 1.0f / 3};
    const uint32_t n = 4000000000u, rgba = 0x80604020u;
    const int16_t shorts[2] = {-300, 20000};
    const void *texels[4] = {floats, &n, &rgba, shorts};
    MTLTexture *t[4];
    MTLError *error = NULL;
    MTLTileRenderPipelineDescriptor d = {.tile_function = function("many")};
    Scene s = {.d = mtl_render_pass_descriptor_make()};
    for (int i = 0; i < 4; i++) {
        t[i] = target(formats[i], 40, 40, 1);
        fill(t[i], texels[i], n_bytes[i]);
        d.color_attachments[i].pixel_format = formats[i];
        s.d.color_attachments[i].texture = t[i];
        s.d.color_attachments[i].load_action = MTLLoadActionLoad;
    }
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    assert_int_equal(mtl_render_pipeline_state_imageblock_sample_length(p), 32);
    mtl_release(d.tile_function);
    d.tile_function = function("sliced");
    MTLRenderPipelineState *slices =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    if (!slices) fail_msg("%s", mtl_error_localized_description(error));
    MTLTexture *copy = storage(MTLPixelFormatRG16Sint), *part = storage(MTLPixelFormatRGBA8Unorm);
    begin(&s);
    mtl_render_command_encoder_set_tile_texture(s.e, copy, 0);
    mtl_render_command_encoder_set_tile_texture(s.e, part, 1);
    dispatch(&s, p, 32, 32);
    dispatch(&s, slices, 32, 32);
    end(&s);
    for (size_t x = 0; x < 40; x++)
        for (size_t y = 0; y < 40; y += 3) {
            float f[4];
            uint32_t u, c;
            int16_t i[2];
            at(t[0], x, y, f), at(t[1], x, y, &u), at(t[2], x, y, &c), at(t[3], x, y, i);
            bool changed = x % 32 == 1;
            int16_t also[2];
            uint32_t some;
            at(copy, x, y, also), at(part, x, y, &some);
            assert_memory_equal(also, i, 4);
            assert_int_equal(some, x % 32 < 2 && y % 32 == 0 ? c & 0xffffffu : 0);
            if (!changed) {
                assert_memory_equal(f, floats, 16);
                assert_int_equal(u, n);
                assert_int_equal(c, rgba);
                assert_memory_equal(i, shorts, 4);
                continue;
            }
            assert_true(f[0] > 0.1998f && f[0] < 0.2002f && f[1] == 1 && f[2] == 2 && f[3] == 3);
            assert_int_equal(u, n + 7);
            assert_int_equal(c, 0x80204060u);
            assert_int_equal(i[0], 20000);
            assert_int_equal(i[1], 300);
        }
    for (int i = 0; i < 4; i++) mtl_release(t[i]);
    mtl_release(copy), mtl_release(part);
    mtl_release(p), mtl_release(slices), mtl_release(d.tile_function);
}

// Four samples: averaged in the tile, all samples equal afterwards; then single samples.
static void samples(void **state) {
    (void)state;
    MTLRenderPipelineState *tint = draws("corner", "tint", 4), *average = tiles("average", 4);
    MTLTexture *ms = target(MTLPixelFormatRGBA8Unorm, 48, 48, 4), *results[2];
    MTLBuffer *one = mtl_device_new_buffer(device, 4, 0);
    for (int k = 0; k < 2; k++) { // resolved as usual, and averaged by the function before
        Scene s = {.t = results[k] = target(MTLPixelFormatRGBA8Unorm, 48, 48, 1)};
        s.d = pass_of(ms);
        s.d.color_attachments[0].resolve_texture = s.t;
        s.d.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
        begin(&s);
        draw(&s, tint, RED, 0, 0, 48);
        mtl_render_command_encoder_set_tile_buffer(s.e, one, 0, 0);
        if (k) dispatch(&s, average, 32, 32);
        end(&s);
    }
    size_t edge = 0;
    for (size_t i = 0; i < 48 * 48; i++) {
        uint32_t a = pixel(results[0], i % 48, i / 48), b = pixel(results[1], i % 48, i / 48);
        edge += a != 0xff0000ffu && a != 0xff000000u;
        assert_int_equal(a, b);
    }
    assert_int_equal(edge, 48);
    // Those of the tiles that lie outside of the target are of one colour, too.
    assert_int_equal(*(uint32_t *)mtl_buffer_contents(one), 64 * 64 - 48);
    MTLRenderPipelineState *single = tiles("one_sample", 4);
    Scene s = {.t = results[0]};
    s.d = pass_of(ms);
    s.d.color_attachments[0].resolve_texture = s.t;
    s.d.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    begin(&s);
    dispatch(&s, single, 32, 32);
    end(&s);
    assert_int_equal(pixel(s.t, 20, 20), 0xff408000u); // black, green, black, cyan
    mtl_release(tint), mtl_release(average), mtl_release(single), mtl_release(ms);
    mtl_release(results[0]), mtl_release(results[1]), mtl_release(one);
}

static void layers(Scene *s, MTLRenderPipelineState *none, MTLRenderPipelineState *add,
                   MTLRenderPipelineState *over, bool barriers) {
    static const float colors[5][4] = {
        {1, 0, 0, 0.5f}, {0, 1, 0, 0.25f}, {0, 0, 1, 0.5f}, {1, 1, 0, 0.5f}, {0, 1, 1, 0.75f}};
    static const float depths[5] = {0.75f, 0.25f, 0.5f, 0.125f, 0.875f};
    begin(s);
    dispatch(s, none, s->d.tile_width, s->d.tile_height);
    for (int i = 0; i < 5; i++) { // the fifth is the farthest: there is no room for it
        draw(s, add, colors[i], depths[i], 0, 40);
        if (barriers)
            mtl_render_command_encoder_memory_barrier_with_scope(
                s->e, MTLBarrierScopeBuffers, MTLRenderStageFragment, MTLRenderStageVertex);
    }
    draw(s, over, RED, 0, 0, 50);
    end(s);
}

// Order-independent transparency. With barriers the pass takes several turns over the tiles.
static void explicit_imageblock(void **state) {
    (void)state;
    MTLRenderPipelineState *none = tiles("none", 1), *add = draws("full", "add", 1);
    MTLRenderPipelineState *over = draws("full", "over", 1);
    assert_int_equal(mtl_render_pipeline_state_imageblock_sample_length(none), 24);
    assert_int_equal(mtl_render_pipeline_state_imageblock_sample_length(add), 24);
    assert_int_equal(mtl_render_pipeline_state_imageblock_memory_length_for_dimensions(
                         none, mtl_size_make(16, 16, 1)),
                     24 * 256);
    for (int k = 0; k < 6; k++) {
        uint32_t w = (uint32_t)tile_sizes[k % 3][0], h = (uint32_t)tile_sizes[k % 3][1];
        Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, 50, 40, 1)};
        s.d = pass_of(s.t);
        s.d.tile_width = w, s.d.tile_height = h;
        s.d.imageblock_sample_length = 24;
        layers(&s, none, add, over, k >= 3);
        for (uint32_t y = 0; y < 40; y++)
            for (uint32_t x = 0; x < 50; x++) {
                // black, red, blue (discarded at the left), green and yellow over each other
                float c[3] = {0.5f, 0, 0};
                float mixed[3] = {c[0] / 2, 0, 0.5f};
                if (x >= 4) memcpy(c, mixed, sizeof c);
                const float green[3] = {0, 1, 0}, yellow[3] = {1, 1, 0};
                for (int i = 0; i < 3; i++) c[i] = c[i] * 0.75f + green[i] * 0.25f;
                for (int i = 0; i < 3; i++) c[i] = c[i] * 0.5f + yellow[i] * 0.5f;
                uint32_t p = pixel(s.t, x, y), tile = x / w + y / h * ((50 + w - 1) / w);
                assert_int_equal(p >> 24, x % w + y % h + w + 2 * h + tile);
                for (int i = 0; i < 3; i++) { // alphas were rounded to 1/255
                    float got = (float)(p >> 8 * i & 255), want = x < 40 ? c[i] * 255 : 0;
                    if (got < want - 1.6f || got > want + 1.6f)
                        fail_msg("%u, %u: %08x, %d is not %g", x, y, p, i, (double)want);
                }
            }
        mtl_release(s.t);
    }
    mtl_release(none), mtl_release(add), mtl_release(over);
}

static void pixel_types(void **state) {
    (void)state;
    MTLRenderPipelineState *fill_in = draws("full", "fill", 1), *dump = tiles("dump", 1);
    MTLBuffer *out = mtl_device_new_buffer(device, 8 * 4, 0);
    Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, 16, 16, 1)};
    const float color[4] = {0.4f, 0, 0, 1};
    s.d = pass_of(s.t);
    s.d.imageblock_sample_length = mtl_render_pipeline_state_imageblock_sample_length(dump);
    begin(&s);
    draw(&s, fill_in, color, 0.625f, 0, 16);
    mtl_render_command_encoder_set_tile_buffer(s.e, out, 0, 0);
    dispatch(&s, dump, 16, 16);
    end(&s);
    const float want[8] = {0.4f, 2.0f, 0.25f, 0.5f, 128 / 255.0f, 0.5f, 0.625f, -1};
    const float *got = mtl_buffer_contents(out);
    for (int i = 0; i < 8; i++)
        if (got[i] < want[i] - 0.004f || got[i] > want[i] + 0.004f)
            fail_msg("%d: %g, not %g", i, (double)got[i], (double)want[i]);
    mtl_release(fill_in), mtl_release(dump), mtl_release(out), mtl_release(s.t);
}

// A tile function with an imageblock of each kind, in either order.
static void both_kinds(void **state) {
    (void)state;
    MTLRenderPipelineState *fill_in = draws("full", "fill", 1), *lit = tiles("lit", 1),
                           *again = tiles("lit_again", 1), *dump = tiles("dump", 1);
    Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, 70, 40, 1)};
    const float color[4] = {0.4f, 0.8f, 0, 1};
    s.d = pass_of(s.t);
    size_t data = mtl_render_pipeline_state_imageblock_sample_length(dump);
    assert_int_equal(mtl_render_pipeline_state_imageblock_sample_length(lit), data + 8);
    s.d.imageblock_sample_length = data;
    s.d.color_attachments[0].clear_color = (MTLClearColor){0, 0, 0.4, 1};
    begin(&s);
    draw(&s, fill_in, color, 0.5f, 10, 50);
    dispatch(&s, lit, 32, 32);
    dispatch(&s, again, 32, 32);
    end(&s);
    for (size_t y = 0; y < 40; y += 3)
        for (size_t x = 0; x < 70; x++)
            assert_int_equal(pixel(s.t, x, y), x >= 10 && x < 60 ? 0x4099cc66u : 0x40990000u);
    mtl_release(fill_in), mtl_release(lit), mtl_release(again), mtl_release(dump);
    mtl_release(s.t);
}

// Fragments count in memory of their tile; discarded ones do not.
static void shared_memory(void **state) {
    (void)state;
    MTLRenderPipelineState *count = draws("full", "count", 1), *counted = tiles("counted", 1);
    MTLBuffer *out = mtl_device_new_buffer(device, 6 * 4, 0);
    Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, 70, 40, 1)};
    s.d = pass_of(s.t);
    s.d.threadgroup_memory_length = 64;
    begin(&s);
    mtl_render_command_encoder_set_threadgroup_memory_length(s.e, 16, 32, 1);
    mtl_render_command_encoder_set_threadgroup_memory_length(s.e, 16, 0, 0);
    draw(&s, count, RED, 0, 0, 70);
    mtl_render_command_encoder_set_tile_buffer(s.e, out, 0, 0);
    dispatch(&s, counted, 32, 1);
    draw(&s, count, RED, 0, 0, 32);
    mtl_render_command_encoder_memory_barrier_with_scope(
        s.e, MTLBarrierScopeBuffers, MTLRenderStageFragment, MTLRenderStageVertex);
    dispatch(&s, counted, 32, 1);
    end(&s);
    const uint32_t *n = mtl_buffer_contents(out), width[3] = {32, 18, 0}, height[2] = {32, 8};
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t pixels = width[i % 3] * height[i / 3], marks = width[i % 3] ? 154 : 0;
        assert_int_equal(n[i], pixels * (i % 3 ? 2 : 3) + 1000 + marks);
    }
    mtl_release(count), mtl_release(counted), mtl_release(out), mtl_release(s.t);
}

static void memoryless_and_faults(void **state) {
    (void)state;
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 64, 64, false);
    td.usage = MTLTextureUsageRenderTarget;
    td.storage_mode = MTLStorageModeMemoryless;
    MTLRenderPipelineState *tint = draws("full", "tint", 1), *p = tiles("sizes", 1);
    MTLBuffer *out = mtl_device_new_buffer(device, 4 * 32, 0);
    const float grey[4] = {0.4f, 0.4f, 0.4f, 1};
    Scene s = {.t = mtl_device_new_texture(device, &td)};
    s.d = pass_of(s.t);
    s.d.color_attachments[0].store_action = MTLStoreActionDontCare;
    begin(&s);
    draw(&s, tint, grey, 0, 0, 64);
    mtl_render_command_encoder_set_tile_buffer(s.e, out, 0, 0);
    dispatch(&s, p, 1, 1);
    end(&s);
    assert_int_equal(((uint32_t *)mtl_buffer_contents(out))[6], 102);
    mtl_release(p);
    p = tiles("far", 1);
    begin(&s);
    mtl_render_command_encoder_set_tile_buffer(s.e, out, 0, 0);
    dispatch(&s, p, 1, 1);
    mtl_render_command_encoder_end_encoding(s.e);
    commit_and_wait(s.commands);
    if (!getenv("MTL_SHADER_VALIDATION"))
        assert_int_equal(mtl_command_buffer_status(s.commands), MTLCommandBufferStatusError);
    mtl_release(s.commands), mtl_release(s.t), mtl_release(out), mtl_release(tint), mtl_release(p);
    clear_messages();
}

static void broken(const char *rule) {
    if (strcmp(last_rule, rule) != 0)
        fail_msg("'%s' instead of '%s': %s", last_rule, rule, last_text);
    clear_messages();
}

static void wrong_pipeline(MTLTileRenderPipelineDescriptor d, const char *text) {
    MTLError *error = NULL;
    assert_null(mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error));
    if (!strstr(mtl_error_localized_description(error), text))
        fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(error), mtl_release(d.tile_function);
    clear_messages();
}

static void wrong_pass(MTLRenderPassDescriptor d, const char *rule) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    assert_null(mtl_command_buffer_render_command_encoder(commands, &d));
    broken(rule);
    mtl_release(commands);
}

static void rules(void **state) {
    (void)state;
    MTLTileRenderPipelineDescriptor d = {.tile_function = function("tint")};
    wrong_pipeline(d, "not a kernel");
    d.tile_function = function("turn");
    wrong_pipeline(d, "no color attachment 0");
    d.tile_function = function("ints");
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    wrong_pipeline(d, "not compatible");
    d.tile_function = function("turn");
    d.max_total_threads_per_threadgroup = 2000;
    wrong_pipeline(d, "at most 1024");
    wrong_pipeline((MTLTileRenderPipelineDescriptor){0}, "tile_function is NULL");
    MTLFunction *turn_function = function("turn");
    MTLError *error = NULL;
    assert_null(mtl_device_new_compute_pipeline_state(device, turn_function, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "imageblock"));
    mtl_release(error), mtl_release(turn_function);

    Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, 64, 64, 1)};
    s.d = pass_of(s.t);
    MTLRenderPassDescriptor other = s.d;
    other.tile_width = 16, other.tile_height = 32;
    wrong_pass(other, "tile_size");
    other = s.d, other.imageblock_sample_length = 300;
    wrong_pass(other, "tile_memory");
    other = s.d, other.imageblock_sample_length = 128;
    wrong_pass(other, "tile_memory");
    other = s.d, other.threadgroup_memory_length = 8;
    wrong_pass(other, "tile_memory");

    MTLRenderPipelineState *tint = draws("full", "tint", 1), *turn = tiles("turn", 1);
    MTLRenderPipelineState *none = tiles("none", 1), *counted = tiles("counted", 1);
    s.d.threadgroup_memory_length = 32;
    begin(&s);
    mtl_render_command_encoder_dispatch_threads_per_tile(s.e, mtl_size_make(1, 1, 1));
    broken("draw_without_pipeline");
    dispatch(&s, tint, 1, 1);
    broken("draw_kind");
    draw(&s, turn, RED, 0, 0, 64);
    broken("draw_kind");
    dispatch(&s, none, 1, 1);
    broken("imageblock_sample_length");
    dispatch(&s, turn, 1, 1);
    broken("draw_missing_buffer");
    mtl_render_command_encoder_set_tile_bytes(s.e, RED, 16, 2);
    dispatch(&s, turn, 33, 1);
    broken("tile_threads");
    dispatch(&s, turn, 0, 1);
    broken("tile_threads");
    mtl_render_command_encoder_set_threadgroup_memory_length(s.e, 16, 32, 0);
    broken("tile_threadgroup_memory");
    mtl_render_command_encoder_set_threadgroup_memory_length(s.e, 16, 8, 0);
    broken("tile_threadgroup_memory");
    mtl_render_command_encoder_set_threadgroup_memory_length(s.e, 16, 0, 31);
    broken("threadgroup_memory_index");
    MTLBuffer *buffer = mtl_device_new_buffer(device, 64, 0);
    mtl_render_command_encoder_set_tile_buffer(s.e, buffer, 0, 0);
    dispatch(&s, counted, 1, 1);
    broken("dispatch_missing_threadgroup_memory");
    mtl_render_command_encoder_set_tile_buffer_offset(s.e, 100, 0);
    assert_true(*last_rule);
    clear_messages();
    mtl_render_command_encoder_dispatch_threads_per_tile(NULL, mtl_size_make(1, 1, 1));
    broken("null_object");
    mtl_render_command_encoder_end_encoding(s.e);
    mtl_release(s.commands);
    mtl_release(tint), mtl_release(turn), mtl_release(none), mtl_release(counted);
    mtl_release(buffer), mtl_release(s.t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_draws),
        cmocka_unit_test(sizes_and_wild_places),
        cmocka_unit_test(other_formats),
        cmocka_unit_test(samples),
        cmocka_unit_test(explicit_imageblock),
        cmocka_unit_test(pixel_types),
        cmocka_unit_test(both_kinds),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(memoryless_and_faults),
        cmocka_unit_test(rules),
    };
    return cmocka_run_group_tests_name("tiles", tests, open_tiles, close_tiles);
}

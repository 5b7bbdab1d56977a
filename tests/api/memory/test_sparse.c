// SPDX-License-Identifier: Apache-2.0
// test_sparse.c: sparse textures and buffers: tiles, mappings by every command, reads and writes
// with and without memory (kernels, copies, draws), heaps that run out, moves, views, placement.
#include "library_test.h"

static const char source[] =
    HEAD "kernel void fill(texture2d<float, access::write> t [[texture(0)]], constant float &v "
         "[[buffer(0)]],\n"
         "  uint2 i [[thread_position_in_grid]]) { t.write(float4(v), i); }\n"
         "kernel void show(texture2d<float> t [[texture(0)]], device float *out [[buffer(0)]],\n"
         "  constant uint &level [[buffer(1)]], uint2 i [[thread_position_in_grid]], uint2 n "
         "[[threads_per_grid]]) {\n"
         "  constexpr sampler s(coord::pixel); out[i.y * n.x + i.x] = t.read(i, level).x; }\n"
         "kernel void there(texture2d<float> t [[texture(0)]], device uint *out [[buffer(0)]],\n"
         "  uint2 i [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {\n"
         "  constexpr sampler s(coord::pixel, filter::linear, address::clamp_to_zero);\n"
         "  constexpr sampler nearest(coord::pixel);\n"
         "  float2 at = float2(i) * 16 + 8;\n"
         "  auto r = t.sparse_read(i * 16 + 8);\n"
         "  auto p = t.sparse_sample(s, at), q = t.sparse_sample(nearest, at);\n"
         "  auto g = t.sparse_gather(s, at);\n"
         "  auto e = t.sparse_sample(s, float2(i) * 64); // on the edges of tiles\n"
         "  out[i.y * n.x + i.x] = uint(r.resident()) | uint(p.resident()) << 1 |\n"
         "    uint(q.resident()) << 2 | uint(g.resident()) << 3 | uint(e.resident()) << 4 |\n"
         "    uint(p.value().x) << 8; }\n"
         "kernel void mark(device uint *x [[buffer(0)]], constant uint &v [[buffer(1)]],\n"
         "  uint i [[thread_position_in_grid]]) { x[i] = v + i; }\n"
         "kernel void copy(device const uint *x [[buffer(0)]], device uint *out [[buffer(1)]],\n"
         "  uint i [[thread_position_in_grid]]) { out[i] = x[i]; }\n";

enum { SIZE = 256, TILE = 64, TILES = SIZE / TILE }; // R32Float: 4 bytes, 64 x 64 texels a tile

static int open_all(void **state) {
    int failed = open_library(state, source);
    if (failed || !may_lack()) return failed;
    print_message("[ LEFT OUT ] all: '%s' has no sparse textures\n", mtl_device_name(device));
    exit(77);
}

static MTLHeap *heap_of(size_t n_tiles) {
    MTLHeap *heap = mtl_device_new_heap(
        device,
        &(MTLHeapDescriptor){.type = MTLHeapTypeSparse,
                             .size = n_tiles * mtl_device_sparse_tile_size_in_bytes(device)});
    if (!heap) fail_msg("%s", last_text);
    return heap;
}

static MTLTextureDescriptor plain(bool mipmapped) {
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatR32Float, SIZE, SIZE, mipmapped);
    d.storage_mode = MTLStorageModePrivate;
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite | MTLTextureUsageRenderTarget |
              MTLTextureUsagePixelFormatView;
    return d;
}

static void done(MTLCommandBuffer *commands) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    if (mtl_command_buffer_error(commands))
        fail_msg("%s", mtl_error_localized_description(mtl_command_buffer_error(commands)));
    mtl_release(commands);
}

static void map(MTLTexture *texture, MTLSparseTextureMappingMode mode, MTLRegion region,
                size_t level) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLResourceStateCommandEncoder *e = mtl_command_buffer_resource_state_command_encoder(commands);
    mtl_resource_state_command_encoder_update_texture_mapping(e, texture, mode, region, level, 0);
    mtl_resource_state_command_encoder_end_encoding(e);
    done(commands);
}

static void fill(MTLTexture *texture, float value) {
    MTLComputePipelineState *p = pipeline_of(library, "fill");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_texture(e, texture, 0);
    mtl_compute_command_encoder_set_bytes(e, &value, 4, 0);
    mtl_compute_command_encoder_dispatch_threads(
        e, (MTLSize){mtl_texture_width(texture), mtl_texture_height(texture), 1},
        (MTLSize){32, 4, 1});
    mtl_compute_command_encoder_end_encoding(e);
    done(commands);
    mtl_release(p);
}

static float *show(MTLTexture *texture, uint32_t level) {
    static float out[SIZE * SIZE];
    uint32_t n = SIZE >> level;
    MTLComputePipelineState *p = pipeline_of(library, "show");
    MTLBuffer *buffer = mtl_device_new_buffer(device, sizeof out, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_texture(e, texture, 0);
    mtl_compute_command_encoder_set_buffer(e, buffer, 0, 0);
    mtl_compute_command_encoder_set_bytes(e, &level, 4, 1);
    mtl_compute_command_encoder_dispatch_threads(e, (MTLSize){n, n, 1}, (MTLSize){n, 1, 1});
    mtl_compute_command_encoder_end_encoding(e);
    done(commands);
    memcpy(out, mtl_buffer_contents(buffer), sizeof out);
    mtl_release(buffer), mtl_release(p);
    return out;
}

// Every texel of tile (x, y) is `value`.
static void check_tile(const float *texels, size_t x, size_t y, float value) {
    for (size_t i = 0; i < TILE * TILE; i++) {
        float got = texels[(y * TILE + i / TILE) * SIZE + x * TILE + i % TILE];
        if (got != value)
            fail_msg("tile %zu, %zu, texel %zu: %g, not %g", x, y, i, (double)got, (double)value);
    }
}

static void sizes(void **state) {
    (void)state;
    assert_int_equal(mtl_device_sparse_tile_size_in_bytes(device), 16384);
    assert_int_equal(
        mtl_device_sparse_tile_size_in_bytes_for_sparse_page_size(device, MTLSparsePageSize256),
        262144);
    static const struct {
        MTLPixelFormat format;
        MTLTextureType type;
        size_t width, height, depth;
    } tiles[] = {
        {MTLPixelFormatR8Unorm, MTLTextureType2D, 128, 128, 1},
        {MTLPixelFormatRG8Unorm, MTLTextureType2DArray, 128, 64, 1},
        {MTLPixelFormatRGBA8Unorm, MTLTextureType2D, 64, 64, 1},
        {MTLPixelFormatRGBA16Float, MTLTextureTypeCube, 64, 32, 1},
        {MTLPixelFormatRGBA32Float, MTLTextureType2D, 32, 32, 1},
        {MTLPixelFormatBC1_RGBA, MTLTextureType2D, 256, 128, 1},
        {MTLPixelFormatRGBA8Unorm, MTLTextureType3D, 16, 16, 16},
        {MTLPixelFormatRGBA8Unorm, MTLTextureType2DMultisample, 0, 0, 0},
        {MTLPixelFormatRGBA8Unorm, MTLTextureType1D, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        MTLSize s =
            mtl_device_sparse_tile_size(device, tiles[i].type, tiles[i].format,
                                        tiles[i].type == MTLTextureType2DMultisample ? 4 : 1);
        assert_int_equal(s.width, tiles[i].width);
        assert_int_equal(s.height, tiles[i].height);
        assert_int_equal(s.depth, tiles[i].depth);
    }
    MTLRegion pixels = {{60, 64, 0}, {70, 64, 1}}, out, back;
    MTLSize tile = {64, 64, 1};
    mtl_device_convert_sparse_pixel_regions(device, &pixels, &out, tile,
                                            MTLSparseTextureRegionAlignmentModeOutward, 1);
    assert_true(out.origin.x == 0 && out.size.width == 3 && out.origin.y == 1 &&
                out.size.height == 1);
    mtl_device_convert_sparse_tile_regions(device, &out, &back, tile, 1);
    assert_true(back.origin.x == 0 && back.size.width == 192 && back.size.height == 64);
    mtl_device_convert_sparse_pixel_regions(device, &pixels, &out, tile,
                                            MTLSparseTextureRegionAlignmentModeInward, 1);
    assert_true(out.origin.x == 1 && out.size.width == 1 && out.origin.y == 1 &&
                out.size.height == 1);
}

static void mappings(void **state) {
    (void)state;
    uint64_t before = mtl_device_current_allocated_size(device);
    MTLHeap *heap = heap_of(8);
    MTLTextureDescriptor d = plain(false);
    MTLTexture *texture = mtl_heap_new_texture(heap, &d);
    if (!texture) fail_msg("%s", last_text);
    assert_true(mtl_texture_is_sparse(texture));
    assert_int_equal(mtl_texture_sparse_texture_tier(texture), MTLTextureSparseTier2);
    assert_int_equal(mtl_texture_first_mipmap_in_tail(texture), 1);
    assert_int_equal(mtl_texture_tail_size_in_bytes(texture), 0);
    assert_ptr_equal(mtl_texture_heap(texture), heap);
    assert_int_equal(mtl_heap_used_size(heap), 0);
    fill(texture, 5); // nothing has memory
    check_tile(show(texture, 0), 0, 0, 0);
    map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(1, 0, 2, 2), 0);
    map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(1, 1, 1, 1), 0); // again
    assert_int_equal(mtl_heap_used_size(heap), 4 * 16384);
    fill(texture, 7);
    float *t = show(texture, 0);
    for (size_t y = 0; y < TILES; y++)
        for (size_t x = 0; x < TILES; x++) check_tile(t, x, y, (x == 1 || x == 2) && y < 2 ? 7 : 0);
    map(texture, MTLSparseTextureMappingModeUnmap, mtl_region_make_2d(0, 0, 2, 1), 0);
    assert_int_equal(mtl_heap_used_size(heap), 3 * 16384);
    t = show(texture, 0);
    check_tile(t, 1, 0, 0);
    check_tile(t, 2, 0, 7);
    map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(1, 0, 1, 1), 0);
    check_tile(show(texture, 0), 1, 0, 0); // new, not what it was
    // The heap has eight tiles.
    clear_messages();
    map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(0, 0, 4, 4), 0);
    assert_string_equal(last_rule, "sparse_full");
    assert_int_equal(mtl_heap_used_size(heap), 8 * 16384);
    assert_int_equal(mtl_heap_max_available_size(heap, 1), 0);
    mtl_release(texture);
    assert_int_equal(mtl_heap_used_size(heap), 0);
    mtl_release(heap);
    assert_int_equal(mtl_device_current_allocated_size(device), before);
}

// Which texels are there, as kernels see it: 16 x 16 places in the middle of tiles and, in bit 4,
// the corners where four tiles meet.
static void residency(void **state) {
    (void)state;
    MTLHeap *heap = heap_of(8);
    const MTLTextureDescriptor d = plain(false);
    MTLTexture *sparse = mtl_heap_new_texture(heap, &d),
               *whole = mtl_device_new_texture(device, &d);
    MTLBuffer *out = mtl_device_new_buffer(device, 16 * 16 * 4, 0);
    map(sparse, MTLSparseTextureMappingModeMap, mtl_region_make_2d(1, 1, 2, 1), 0);
    map(sparse, MTLSparseTextureMappingModeMap, mtl_region_make_2d(0, 0, 1, 1), 0);
    fill(sparse, 3);
    fill(whole, 3);
    MTLComputePipelineState *p = pipeline_of(library, "there");
    for (int k = 0; k < 2; k++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_texture(e, k ? whole : sparse, 0);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, (MTLSize){16, 16, 1}, (MTLSize){16, 4, 1});
        mtl_compute_command_encoder_end_encoding(e);
        done(commands);
        const uint32_t *got = mtl_buffer_contents(out);
        for (int i = 0; i < 256; i++) {
            int x = i % 16 / 4, y = i / 16 / 4; // the tile
            bool there = k || (y == 1 && (x == 1 || x == 2)) || (x == 0 && y == 0);
            assert_int_equal(got[i] & 15, there ? 15 : 0);
            assert_int_equal(got[i] >> 8, there ? 3 : 0);
            // around the corner (i, j) of tiles; what lies outside the texture counts for nothing
            bool corner = true;
            for (int n = 0; n < 4 && !k; n++) {
                int tx = i % 16 - n % 2, ty = i / 16 - n / 2;
                bool inside = tx >= 0 && ty >= 0 && tx < TILES && ty < TILES;
                corner &= !inside || (ty == 1 && (tx == 1 || tx == 2)) || (tx == 0 && ty == 0);
            }
            assert_int_equal(got[i] >> 4 & 1, corner);
        }
    }
    mtl_release(p), mtl_release(out), mtl_release(whole), mtl_release(sparse), mtl_release(heap);
}

static void copies_and_draws(void **state) {
    (void)state;
    MTLHeap *heap = heap_of(32);
    MTLTextureDescriptor d = plain(false);
    MTLTexture *texture = mtl_heap_new_texture(heap, &d);
    map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(0, 1, 1, 2), 0);
    MTLBuffer *ones = mtl_device_new_buffer(device, SIZE * SIZE * 4, 0);
    for (size_t i = 0; i < SIZE * SIZE; i++) ((float *)mtl_buffer_contents(ones))[i] = 1;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_buffer_to_texture(blit, ones, 0, SIZE * 4, 0,
                                                         (MTLSize){SIZE, SIZE, 1}, texture, 0, 0,
                                                         (MTLOrigin){0, 0, 0}, 0);
    mtl_blit_command_encoder_end_encoding(blit);
    done(commands);
    float *t = show(texture, 0);
    check_tile(t, 0, 0, 0), check_tile(t, 0, 1, 1), check_tile(t, 0, 2, 1), check_tile(t, 1, 1, 0);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = texture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(3, 0, 0, 0);
    commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    if (!e) fail_msg("%s", last_text);
    mtl_render_command_encoder_end_encoding(e);
    done(commands);
    t = show(texture, 0);
    check_tile(t, 0, 0, 0), check_tile(t, 0, 1, 3), check_tile(t, 0, 2, 3), check_tile(t, 3, 3, 0);
    // Through a view of another format.
    MTLTexture *view = mtl_texture_new_texture_view(texture, MTLPixelFormatR32Float);
    assert_true(mtl_texture_is_sparse(view));
    fill(view, 9);
    t = show(texture, 0);
    check_tile(t, 0, 1, 9), check_tile(t, 1, 2, 0);
    mtl_release(view), mtl_release(ones), mtl_release(texture), mtl_release(heap);
}

static void levels(void **state) {
    (void)state;
    MTLHeap *heap = heap_of(32);
    MTLTextureDescriptor d = plain(true);
    MTLTexture *texture = mtl_heap_new_texture(heap, &d);
    assert_int_equal(mtl_texture_first_mipmap_in_tail(texture), 3); // 32 x 32
    assert_int_equal(mtl_texture_tail_size_in_bytes(texture), 16384);
    map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(0, 0, 4, 4), 0);
    map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(1, 1, 1, 1), 1);
    assert_int_equal(mtl_heap_used_size(heap), 17 * 16384);
    fill(texture, 4);
    for (int mapped = 0; mapped < 2; mapped++) {
        if (mapped) map(texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(0, 0, 1, 1), 5);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
        mtl_blit_command_encoder_generate_mipmaps(blit, texture);
        mtl_blit_command_encoder_end_encoding(blit);
        done(commands);
        const float *t = show(texture, 1);
        assert_true(t[0] == 0 && t[64 * 128 + 64] == 4); // level 1: one tile of four
        t = show(texture, 4);
        assert_true(t[0] == 0); // made of level 3, 2: nothing there
    }
    assert_int_equal(mtl_heap_used_size(heap), 18 * 16384);
    mtl_release(texture), mtl_release(heap);
}

static void indirect_and_move(void **state) {
    (void)state;
    MTLHeap *heap = heap_of(8);
    MTLTextureDescriptor d = plain(false);
    MTLTexture *a = mtl_heap_new_texture(heap, &d), *b = mtl_heap_new_texture(heap, &d);
    // More than there is: cut to what there is.
    const MTLMapIndirectArguments arguments = {2, 3, 0, 100, 100, 1, 0, 0};
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, &arguments, sizeof arguments, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLResourceStateCommandEncoder *e = mtl_command_buffer_resource_state_command_encoder(commands);
    mtl_resource_state_command_encoder_set_label(e, "maps");
    mtl_resource_state_command_encoder_update_texture_mapping_indirect(
        e, a, MTLSparseTextureMappingModeMap, buffer, 0);
    mtl_resource_state_command_encoder_end_encoding(e);
    done(commands);
    assert_int_equal(mtl_heap_used_size(heap), 2 * 16384);
    fill(a, 2);
    commands = mtl_command_queue_command_buffer(queue);
    e = mtl_command_buffer_resource_state_command_encoder_with_descriptor(
        commands, &(MTLResourceStatePassDescriptor){0});
    mtl_resource_state_command_encoder_move_texture_mappings(
        e, a, 0, 0, (MTLOrigin){3, 3, 0}, (MTLSize){1, 1, 1}, b, 0, 0, (MTLOrigin){0, 1, 0});
    mtl_resource_state_command_encoder_end_encoding(e);
    done(commands);
    assert_int_equal(mtl_heap_used_size(heap), 2 * 16384);
    check_tile(show(a, 0), 3, 3, 0), check_tile(show(a, 0), 2, 3, 2),
        check_tile(show(b, 0), 0, 1, 2);
    mtl_release(buffer), mtl_release(a), mtl_release(b), mtl_release(heap);
}

static void rules(void **state) {
    (void)state;
    MTLHeap *heap = heap_of(4);
    MTLTextureDescriptor d = plain(false);
    MTLTexture *texture = mtl_heap_new_texture(heap, &d),
               *usual = mtl_device_new_texture(device, &d);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLResourceStateCommandEncoder *e = mtl_command_buffer_resource_state_command_encoder(commands);
    clear_messages();
    mtl_resource_state_command_encoder_update_texture_mapping(
        e, usual, MTLSparseTextureMappingModeMap, mtl_region_make_2d(0, 0, 1, 1), 0, 0);
    assert_string_equal(last_rule, "sparse_texture");
    mtl_resource_state_command_encoder_update_texture_mapping(
        e, texture, MTLSparseTextureMappingModeMap, mtl_region_make_2d(3, 0, 2, 1), 0, 0);
    assert_string_equal(last_rule, "sparse_region");
    mtl_resource_state_command_encoder_update_texture_mapping(
        e, texture, (MTLSparseTextureMappingMode)4, mtl_region_make_2d(0, 0, 1, 1), 0, 0);
    assert_string_equal(last_rule, "encoder_option");
    mtl_resource_state_command_encoder_end_encoding(e);
    mtl_release(commands);
    d.texture_type = MTLTextureType1D, d.height = 1;
    assert_null(mtl_heap_new_texture(heap, &d));
    assert_string_equal(last_rule, "heap_sparse");
    mtl_release(texture), mtl_release(usual), mtl_release(heap);
}

// ---- Placement ----

static void wait_for(MTL4CommandQueue *q) {
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    mtl4_command_queue_signal_event(q, (MTLEvent *)event, 1);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 1, 10000));
    mtl_release(event);
}

static void place(MTL4CommandQueue *q, MTLTexture *texture, MTLHeap *heap, size_t mode, size_t x,
                  size_t n, size_t offset) {
    const MTL4UpdateSparseTextureMappingOperation o = {mode, mtl_region_make_2d(x, 0, n, 1), 0, 0,
                                                       offset};
    mtl4_command_queue_update_texture_mappings(q, texture, heap, &o, 1);
    wait_for(q);
}

static MTLHeap *placement_heap(void) {
    MTLHeap *heap = mtl_device_new_heap(
        device,
        &(MTLHeapDescriptor){.type = MTLHeapTypePlacement,
                             .size = 16 * 16384,
                             .max_compatible_placement_sparse_page_size = MTLSparsePageSize16});
    if (!heap) fail_msg("%s", last_text);
    return heap;
}

static void placement_textures(void **state) {
    (void)state;
    MTL4CommandQueue *q = mtl_device_new_mtl4_command_queue(device);
    MTLHeap *heap = placement_heap();
    MTLTextureDescriptor d = plain(false);
    d.placement_sparse_page_size = MTLSparsePageSize16;
    MTLTexture *a = mtl_device_new_texture(device, &d), *b = mtl_device_new_texture(device, &d);
    if (!a || !b) fail_msg("%s", last_text);
    place(q, a, heap, MTLSparseTextureMappingModeMap, 0, 2, 3); // pages 3, 4
    fill(a, 6);
    float *t = show(a, 0);
    check_tile(t, 0, 0, 6), check_tile(t, 1, 0, 6), check_tile(t, 2, 0, 0);
    place(q, a, heap, MTLSparseTextureMappingModeUnmap, 1, 1, 0);
    check_tile(show(a, 0), 1, 0, 0);
    place(q, b, heap, MTLSparseTextureMappingModeMap, 3, 1, 4); // the page that a left
    check_tile(show(b, 0), 3, 0, 6);
    const MTL4CopySparseTextureMappingOperation copy = {
        mtl_region_make_2d(0, 0, 1, 1), 0, 0, {2, 2, 0}, 0, 0};
    mtl4_command_queue_copy_texture_mappings(q, a, b, &copy, 1);
    wait_for(q);
    check_tile(show(b, 0), 2, 2, 6);
    clear_messages();
    place(q, a, heap, MTLSparseTextureMappingModeMap, 0, 2, 15);
    assert_string_equal(last_rule, "sparse_region");
    MTLHeap *other = heap_of(4);
    place(q, a, other, MTLSparseTextureMappingModeMap, 0, 1, 0);
    assert_string_equal(last_rule, "sparse_heap");
    mtl_release(a), mtl_release(b), mtl_release(other), mtl_release(heap), mtl_release(q);
}

static void run_kernel(const char *name, MTLBuffer *first, MTLBuffer *second, uint32_t value,
                       size_t n) {
    MTLComputePipelineState *p = pipeline_of(library, name);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, first, 0, 0);
    if (second)
        mtl_compute_command_encoder_set_buffer(e, second, 0, 1);
    else
        mtl_compute_command_encoder_set_bytes(e, &value, 4, 1);
    mtl_compute_command_encoder_dispatch_threads(e, (MTLSize){n, 1, 1}, (MTLSize){256, 1, 1});
    mtl_compute_command_encoder_end_encoding(e);
    done(commands);
    mtl_release(p);
}

static void placement_buffers(void **state) {
    (void)state;
    enum { PAGE = 16384 / 4, N = 4 * PAGE };
    MTL4CommandQueue *q = mtl_device_new_mtl4_command_queue(device);
    MTLHeap *heap = placement_heap();
    MTLBuffer *sparse = mtl_device_new_buffer_with_placement_sparse_page_size(
        device, 4 * N, MTLResourceStorageModePrivate, MTLSparsePageSize16);
    assert_int_equal(mtl_buffer_sparse_buffer_tier(sparse), MTLBufferSparseTier1);
    MTLBuffer *out = mtl_device_new_buffer(device, 4 * N, 0);
    assert_int_equal(mtl_buffer_sparse_buffer_tier(out), MTLBufferSparseTierNone);
    const MTL4UpdateSparseBufferMappingOperation o = {MTLSparseTextureMappingModeMap, {1, 2}, 5};
    mtl4_command_queue_update_buffer_mappings(q, sparse, heap, &o, 1);
    wait_for(q);
    run_kernel("mark", sparse, NULL, 100, N);
    run_kernel("copy", sparse, out, 0, N);
    const uint32_t *got = mtl_buffer_contents(out);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(got[i], i >= PAGE && i < 3 * PAGE ? 100 + i : 0);
    const MTL4CopySparseBufferMappingOperation copy = {{2, 1}, 0};
    mtl4_command_queue_copy_buffer_mappings(q, sparse, sparse, &copy, 1);
    wait_for(q);
    run_kernel("copy", sparse, out, 0, N);
    assert_int_equal(got[7], 100 + 2 * PAGE + 7);
    const MTL4UpdateSparseBufferMappingOperation off = {
        MTLSparseTextureMappingModeUnmap, {0, 4}, 0};
    mtl4_command_queue_update_buffer_mappings(q, sparse, heap, &off, 1);
    wait_for(q);
    run_kernel("copy", sparse, out, 0, N);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(got[i], 0);
    clear_messages();
    const MTL4UpdateSparseBufferMappingOperation far = {MTLSparseTextureMappingModeMap, {3, 2}, 0};
    mtl4_command_queue_update_buffer_mappings(q, sparse, heap, &far, 1);
    assert_string_equal(last_rule, "sparse_region");
    mtl4_command_queue_update_buffer_mappings(q, out, heap, &o, 1);
    assert_string_equal(last_rule, "sparse_buffer");
    mtl_release(out), mtl_release(sparse), mtl_release(heap), mtl_release(q);
}

// One page of a heap at two places of a buffer, and in another buffer: the same memory.
static void pages_alias(void **state) {
    (void)state;
    enum { PAGE = 16384 / 4, N = 3 * PAGE };
    MTL4CommandQueue *q = mtl_device_new_mtl4_command_queue(device);
    MTLHeap *heap = placement_heap();
    MTLBuffer *a = mtl_device_new_buffer_with_placement_sparse_page_size(
                  device, 4 * N, MTLResourceStorageModePrivate, MTLSparsePageSize16),
              *b = mtl_device_new_buffer_with_placement_sparse_page_size(
                  device, 4 * N, MTLResourceStorageModePrivate, MTLSparsePageSize16),
              *out = mtl_device_new_buffer(device, 4 * N, 0);
    const MTL4UpdateSparseBufferMappingOperation twice[] = {
        {MTLSparseTextureMappingModeMap, {0, 1}, 5}, {MTLSparseTextureMappingModeMap, {2, 1}, 5}};
    mtl4_command_queue_update_buffer_mappings(q, a, heap, twice, 2);
    mtl4_command_queue_update_buffer_mappings(q, b, heap, twice, 1);
    wait_for(q);
    const uint32_t *got = mtl_buffer_contents(out);
    for (uint32_t round = 1; round < 3; round++) { // written later than it was mapped, and again
        run_kernel("mark", a, NULL, 1000 * round, PAGE);
        run_kernel("copy", a, out, 0, N);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(got[i], i / PAGE == 1 ? 0 : 1000 * round + i % PAGE);
        run_kernel("copy", b, out, 0, N);
        for (uint32_t i = 0; i < N; i++) assert_int_equal(got[i], i < PAGE ? 1000 * round + i : 0);
    }
    const MTL4UpdateSparseBufferMappingOperation off = {
        MTLSparseTextureMappingModeUnmap, {0, 1}, 0};
    mtl4_command_queue_update_buffer_mappings(q, a, heap, &off, 1);
    wait_for(q);
    run_kernel("mark", a, NULL, 7, PAGE); // goes nowhere
    run_kernel("copy", a, out, 0, N);
    assert_int_equal(got[0], 0);
    assert_int_equal(got[2 * PAGE + 3], 2003);
    mtl_release(heap), mtl_release(a); // pages hold their heap
    run_kernel("copy", b, out, 0, N);
    assert_int_equal(got[3], 2003);
    mtl_release(b), mtl_release(out), mtl_release(q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_alias),        cmocka_unit_test(sizes),
        cmocka_unit_test(mappings),           cmocka_unit_test(residency),
        cmocka_unit_test(copies_and_draws),   cmocka_unit_test(levels),
        cmocka_unit_test(indirect_and_move),  cmocka_unit_test(rules),
        cmocka_unit_test(placement_textures), cmocka_unit_test(placement_buffers),
    };
    return cmocka_run_group_tests(tests, open_all, close_library);
}

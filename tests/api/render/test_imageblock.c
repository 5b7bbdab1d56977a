// SPDX-License-Identifier: Apache-2.0
// test_imageblock.c: imageblocks of kernels: pixels that the threads of a threadgroup share, sizes
// of their own, slices written to textures of every dimension, with threadgroup memory and
// barriers, from indirect commands and Metal 4, and the rules.
#include "indirect_test.h"
#include "metal4.h"

static const char source[] = HEAD
    "struct Cell { half4 color; uint n; rgba8unorm<half4> packed; float2 uv; };\n"
    // Each thread leaves a pixel; after the barrier it reads the one opposite.
    "kernel void opposite(imageblock<Cell, imageblock_layout_explicit> b,\n"
    "    device uint *out [[buffer(0)]], ushort2 at [[thread_position_in_threadgroup]],\n"
    "    ushort2 size [[threads_per_threadgroup]], uint2 all [[thread_position_in_grid]],\n"
    "    uint2 n [[threads_per_grid]], threadgroup uint *shared [[threadgroup(0)]]) {\n"
    "  threadgroup_imageblock Cell *c = b.data(at);\n"
    "  c->n = all.y * n.x + all.x; c->color = half4(half(at.x), half(at.y), 0, 1);\n"
    "  shared[at.y * size.x + at.x] = 1;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup_imageblock | mem_flags::mem_threadgroup);\n"
    "  ushort2 to = size - ushort2(1) - at;\n"
    "  Cell other = b.read(to);\n"
    "  uint sum = 0; for (uint i = 0; i < uint(size.x) * size.y; i++) sum += shared[i];\n"
    "  out[all.y * n.x + all.x] = other.n * 1000 + uint(other.color.x) * 100 +\n"
    "      uint(other.color.y) * 10 + (sum == uint(size.x) * size.y); }\n"
    "kernel void sizes(imageblock<Cell> b, device uint *out [[buffer(0)]]) {\n"
    "  out[0] = b.get_width(); out[1] = b.get_height(); out[2] = b.get_num_samples();\n"
    // Pixels that are not there.
    "  b.write(Cell{half4(0), 5, half4(0), float2(0)}, ushort2(0, 0));\n"
    "  b.write(Cell{half4(0), 9, half4(0), float2(0)}, ushort2(b.get_width(), 0));\n"
    "  out[3] = b.read(ushort2(0, 0)).n; }\n"
    // Members as textures.
    "kernel void planes(imageblock<Cell, imageblock_layout_explicit> b,\n"
    "    texture2d<float, access::write> color [[texture(0)]],\n"
    "    texture2d<uint, access::write> n [[texture(1)]],\n"
    "    texture2d_array<half, access::write> packed [[texture(2)]],\n"
    "    texture2d<float, access::write> uv [[texture(3)]],\n"
    "    ushort2 at [[thread_position_in_threadgroup]], uint2 all [[thread_position_in_grid]]) {\n"
    "  threadgroup_imageblock Cell *c = b.data(at);\n"
    "  c->color = half4(half(all.x), half(all.y), 3, 4); c->n = all.x + 100 * all.y;\n"
    "  c->packed = half4(1, half(at.x) / 255, half(at.y) / 255, 0); c->uv = float2(all) + 0.5;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup_imageblock);\n"
    "  if (at.x == 0 && at.y == 0) {\n"
    "    color.write(b.slice(c->color), ushort2(all));\n"
    "    n.write(b.slice(b.data(ushort2(3, 1))->n), all);\n"
    "    packed.write(b.slice(c->packed), all, 1);\n"
    // Two columns and one row, from (1, 2) on, at the first texel.
    "    uv.write(b.slice(c->uv, ushort2(1, 2), ushort2(2, 1)), all); } }\n"
    "kernel void depths(imageblock<Cell> b, texture1d<uint, access::write> a [[texture(0)]],\n"
    "    texture3d<uint, access::write> d [[texture(1)]],\n"
    "    texturecube<uint, access::write> cube [[texture(2)]],\n"
    "    ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  b.data(at)->n = at.x + 10 * at.y + 1;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup_imageblock);\n"
    "  if (at.x + at.y == 0) {\n"
    "    a.write(b.slice(b.data(at)->n), 2u);\n"
    "    d.write(b.slice(b.data(at)->n, ushort2(3, 2)), uint3(1, 0, 1));\n"
    "    cube.write(b.slice(b.data(at)->n), ushort2(1, 1), 4); } }\n"
    "struct Color { half4 c [[color(0)]]; };\n"
    "kernel void tile(imageblock<Color> b) {}\n"
    "struct Large { float4 a[16]; };\n"
    "kernel void large(imageblock<Large> b, device uint *out [[buffer(0)]],\n"
    "                  ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  b.data(at)->a[3] = 1; out[0] = uint(b.data(at)->a[3].x); }\n"
    "kernel void far(imageblock<Cell> b, device uint *out [[buffer(0)]],\n"
    "                constant uint &past [[buffer(1)]]) {\n"
    "  (b.data(ushort2(0)) + past)->n = 7; out[0] = 1; }\n";
static const char encode_source[] =
    "#include <metal_stdlib>\n#include <metal_command_buffer>\nusing namespace metal;\n"
    "struct Args { command_buffer icb; };\n"
    "kernel void encode(constant Args &args [[buffer(0)]]) {\n"
    "  compute_command c(args.icb, 0); c.set_imageblock_size(ushort2(9, 5)); }\n";

enum { N_BYTES = 16384, CELL = 24 };
static MTLLibrary *library;
static MTLCommandQueue *queue;

static int open_all(void **state) {
    if (open_device(state)) return -1;
    library = compile(source);
    queue = mtl_device_new_command_queue(device);
    return queue ? 0 : -1;
}
static int close_all(void **state) {
    mtl_release(queue);
    mtl_release(library);
    return close_device(state);
}

static MTLTexture *texture(MTLTextureType type, MTLPixelFormat format, size_t w, size_t h,
                           size_t depth, size_t length) {
    MTLTextureDescriptor d = texture_shape(type, format, w, h, depth, length, 1);
    d.usage = MTLTextureUsageShaderWrite | MTLTextureUsageShaderRead;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    return t;
}

static void opposite_is(const uint32_t *out, uint32_t w, uint32_t h, uint32_t gw, uint32_t gh) {
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            uint32_t lx = gw - 1 - x % gw, ly = gh - 1 - y % gh;
            uint32_t n = (y / gh * gh + ly) * w + x / gw * gw + lx;
            assert_int_equal(out[y * w + x], n * 1000 + lx * 100 + ly * 10 + 1);
        }
}

TEST(test_shared_by_threads) {
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_of(library, "opposite");
    assert_int_equal(mtl_compute_pipeline_state_imageblock_memory_length_for_dimensions(
                         p, mtl_size_make(8, 4, 1)),
                     8 * 4 * CELL);
    MTLBuffer *out = mtl_device_new_buffer(device, N_BYTES, 0);
    // Rows of whole, wide and odd threadgroups; groups enough for several threads.
    static const uint32_t sizes[][4] = {{8, 4, 64, 32}, {5, 3, 35, 9}, {9, 9, 9, 36}, {1, 7, 5, 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t *s = sizes[i];
        memset(mtl_buffer_contents(out), 0, N_BYTES);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
        mtl_compute_command_encoder_set_threadgroup_memory_length(e, 1024, 0);
        if (i) mtl_compute_command_encoder_set_imageblock_width(e, s[0], s[1]);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(s[2], s[3], 1),
                                                     mtl_size_make(s[0], s[1], 1));
        mtl_compute_command_encoder_end_encoding(e);
        run_to_end(commands);
        opposite_is(mtl_buffer_contents(out), s[2], s[3], s[0], s[1]);
    }
    mtl_release(out);
    mtl_release(p);
}

static void run_planes(MTLTexture *const *t, const char *kernel, size_t n, MTLSize grid) {
    MTLComputePipelineState *p = pipeline_of(library, kernel);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    for (size_t i = 0; i < n; i++) mtl_compute_command_encoder_set_texture(e, t[i], i);
    mtl_compute_command_encoder_set_imageblock_width(e, 4, 4);
    mtl_compute_command_encoder_dispatch_threadgroups(e, grid, mtl_size_make(4, 4, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    mtl_release(p);
}

TEST(test_slices) {
    NEEDS_RESULTS();
    enum { W = 10, H = 6 }; // threadgroups reach beyond the edge
    MTLTexture *t[4] = {texture(MTLTextureType2D, MTLPixelFormatRGBA32Float, W, H, 1, 1),
                        texture(MTLTextureType2D, MTLPixelFormatR32Uint, W, H, 1, 1),
                        texture(MTLTextureType2DArray, MTLPixelFormatRGBA8Unorm, W, H, 1, 3),
                        texture(MTLTextureType2D, MTLPixelFormatRG32Float, W, H, 1, 1)};
    run_planes(t, "planes", 4, mtl_size_make(3, 2, 1));
    float color[H][W][4], uv[H][W][2];
    uint32_t n[H][W];
    uint8_t packed[3][H][W][4];
    MTLRegion all = mtl_region_make_2d(0, 0, W, H);
    mtl_texture_get_bytes(t[0], color, sizeof color[0], all, 0);
    mtl_texture_get_bytes(t[1], n, sizeof n[0], all, 0);
    for (size_t i = 0; i < 3; i++)
        mtl_texture_get_bytes_slice(t[2], packed[i], sizeof packed[i][0], sizeof packed[i], all, 0,
                                    i);
    mtl_texture_get_bytes(t[3], uv, sizeof uv[0], all, 0);
    for (size_t y = 0; y < H; y++)
        for (size_t x = 0; x < W; x++) {
            const float c[4] = {(float)x, (float)y, 3, 4};
            assert_memory_equal(color[y][x], c, sizeof c);
            assert_int_equal(n[y][x], x + 100 * y);
            const uint8_t one[4] = {255, (uint8_t)(x % 4), (uint8_t)(y % 4), 0}, none[4] = {0};
            assert_memory_equal(packed[0][y][x], none, 4);
            assert_memory_equal(packed[1][y][x], one, 4);
            assert_memory_equal(packed[2][y][x], none, 4);
            bool there = x % 4 < 2 && y % 4 == 0;
            assert_true(uv[y][x][0] == (there ? (float)(x + 1) + 0.5f : 0));
            assert_true(uv[y][x][1] == (there ? (float)(y + 2) + 0.5f : 0));
        }
    for (size_t i = 0; i < 4; i++) mtl_release(t[i]);
}

TEST(test_slices_of_dimensions) {
    NEEDS_RESULTS();
    MTLTexture *t[3] = {texture(MTLTextureType1D, MTLPixelFormatR32Uint, 8, 1, 1, 1),
                        texture(MTLTextureType3D, MTLPixelFormatR32Uint, 5, 3, 2, 1),
                        texture(MTLTextureTypeCube, MTLPixelFormatR32Uint, 4, 4, 1, 1)};
    run_planes(t, "depths", 3, mtl_size_make(1, 1, 1));
    uint32_t line[8], space[2][3][5], face[4][4];
    mtl_texture_get_bytes(t[0], line, sizeof line, mtl_region_make_1d(0, 8), 0);
    mtl_texture_get_bytes_slice(t[1], space, sizeof space[0][0], sizeof space[0],
                                mtl_region_make_3d(0, 0, 0, 5, 3, 2), 0, 0);
    mtl_texture_get_bytes_slice(t[2], face, sizeof face[0], sizeof face,
                                mtl_region_make_2d(0, 0, 4, 4), 0, 4);
    for (uint32_t x = 0; x < 8; x++) assert_int_equal(line[x], x < 2 || x > 5 ? 0 : x - 1);
    for (uint32_t z = 0; z < 2; z++)
        for (uint32_t y = 0; y < 3; y++)
            for (uint32_t x = 0; x < 5; x++)
                assert_int_equal(space[z][y][x],
                                 z == 1 && x >= 1 && x < 4 && y < 2 ? x - 1 + 10 * y + 1 : 0);
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 4; x++)
            assert_int_equal(face[y][x], x && y ? x - 1 + 10 * (y - 1) + 1 : 0);
    for (size_t i = 0; i < 3; i++) mtl_release(t[i]);
}

TEST(test_sizes) {
    NEEDS_RESULTS();
    MTLComputePipelineState *p = indirect_pipeline_of(library, "sizes");
    MTLBuffer *out = mtl_device_new_buffer(device, N_BYTES, 0);
    const uint32_t *seen = mtl_buffer_contents(out);
    const MTLSize one = mtl_size_make(1, 1, 1), group = mtl_size_make(3, 2, 1);
    MTLIndirectCommandBuffer *icb = inheriting_dispatches(1);
    MTLLibrary *more = compile(encode_source);
    MTLFunction *encode = mtl_library_new_function(more, "encode");
    MTLArgumentEncoder *args = mtl_function_new_argument_encoder(encode, 0);
    MTLBuffer *where = mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(args), 0);
    mtl_argument_encoder_set_argument_buffer(args, where, 0);
    mtl_argument_encoder_set_indirect_command_buffer(args, icb, 0);
    MTLComputePipelineState *writes = pipeline_of(more, "encode");
    for (int i = 0; i < 4; i++) { // by the threadgroup, by the encoder, by commands
        const uint32_t expected[4][2] = {{3, 2}, {7, 11}, {6, 1}, {9, 5}};
        memset(mtl_buffer_contents(out), 0, N_BYTES);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        if (i >= 2) {
            MTLIndirectComputeCommand *c =
                mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, 0);
            mtl_indirect_compute_command_concurrent_dispatch_threads(c, group, group);
            mtl_indirect_compute_command_set_imageblock_width(c, 6, 1);
        }
        if (i == 3) {
            mtl_compute_command_encoder_set_compute_pipeline_state(e, writes);
            mtl_compute_command_encoder_set_buffer(e, where, 0, 0);
            mtl_compute_command_encoder_use_resource(e, (MTLResource *)icb, MTLResourceUsageWrite);
            mtl_compute_command_encoder_dispatch_threads(e, one, one);
        }
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
        if (i == 1) mtl_compute_command_encoder_set_imageblock_width(e, 7, 11);
        if (i < 2)
            mtl_compute_command_encoder_dispatch_threadgroups(e, one, group);
        else
            mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
        mtl_compute_command_encoder_end_encoding(e);
        run_to_end(commands);
        assert_int_equal(seen[0], expected[i][0]);
        assert_int_equal(seen[1], expected[i][1]);
        assert_int_equal(seen[2], 1);
        assert_int_equal(seen[3], 5);
    }
    // What a kernel may write there instead.
    NEEDS_HOST_MEMORY();
    char *head = (char *)(uintptr_t)mtl_indirect_command_buffer_gpu_resource_id(icb).impl;
    uint32_t *size = (uint32_t *)(void *)(head + 64) + 16;
    assert_int_equal(size[0], 9);
    static const uint32_t wild[][2] = {{UINT32_MAX, UINT32_MAX}, {0x10000, 1}, {1000, 1000}};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        memcpy(size, wild[i], sizeof wild[i]);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
        mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        MTLError *error = mtl_command_buffer_error(commands);
        assert_non_null(error);
        assert_non_null(strstr(mtl_error_localized_description(error), "does not fit"));
        mtl_release(commands);
    }
    mtl_release(writes);
    mtl_release(where);
    mtl_release(args);
    mtl_release(encode);
    mtl_release(more);
    mtl_release(icb);
    mtl_release(out);
    mtl_release(p);
}

static MTLError *run_metal4(Bench *b, const char *kernel, const uint32_t group[3],
                            MTLBuffer *size) {
    MTLComputePipelineState *p = pipeline_of(library, kernel);
    MTL4ComputeCommandEncoder *e = begin(b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, p);
    uint32_t *n = mtl_buffer_contents(size);
    for (int i = 0; i < 3; i++) n[i] = n[3 + i] = group[i];
    mtl4_compute_command_encoder_dispatch_threads_indirect(e, mtl_buffer_gpu_address(size));
    mtl4_compute_command_encoder_set_imageblock_width(e, 12, 3);
    if (group[0] == 1)
        mtl4_compute_command_encoder_dispatch_threadgroups(e, mtl_size_make(1, 1, 1),
                                                           mtl_size_make(1, 1, 1));
    end(b, e);
    MTLError *error = commit_commands(b);
    mtl_release(p);
    return error;
}

// There a threadgroup may be read when it runs, and with it the size of the imageblock.
TEST(test_metal4) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTLBuffer *out = resident_buffer(&b, N_BYTES, "out"), *size = resident_buffer(&b, 64, "size");
    const uint32_t *seen = mtl_buffer_contents(out);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(out), 0);
    assert_null(run_metal4(&b, "sizes", (const uint32_t[3]){1, 1, 1}, size));
    assert_int_equal(seen[0], 12);
    assert_int_equal(seen[1], 3);
    assert_null(run_metal4(&b, "sizes", (const uint32_t[3]){16, 8, 2}, size));
    assert_int_equal(seen[0], 16);
    assert_int_equal(seen[1], 8);
    MTLError *error = run_metal4(&b, "large", (const uint32_t[3]){32, 32, 1}, size);
    assert_non_null(error);
    assert_non_null(strstr(mtl_error_localized_description(error), "'large'"));
    mtl_release(error);
    mtl_release(size);
    mtl_release(out);
    close_bench(&b);
}

TEST(test_rules) {
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function(library, "tile");
    assert_null(mtl_device_new_compute_pipeline_state(device, f, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "imageblock of colors"));
    mtl_release(error);
    mtl_release(f);
    MTLComputePipelineState *p = pipeline_of(library, "sizes");
    assert_int_equal(mtl_compute_pipeline_state_imageblock_memory_length_for_dimensions(
                         p, mtl_size_make(4, 4, 2)),
                     0);
    assert_int_equal(mtl_compute_pipeline_state_imageblock_memory_length_for_dimensions(
                         NULL, mtl_size_make(4, 4, 1)),
                     0);
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    static const size_t sizes[][2] = {{0, 1}, {1, 0}, {65536, 1}, {64, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        clear_messages();
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
        mtl_compute_command_encoder_set_imageblock_width(e, sizes[i][0], sizes[i][1]);
        if (i == 3)
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1),
                                                         mtl_size_make(1, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        assert_broke("imageblock_size");
        assert_fails_with(commands, "imageblock_size");
    }
    mtl_release(out);
    mtl_release(p);
}

// Shader validation knows where an imageblock ends.
TEST(test_checked) {
    NEEDS_RESULTS();
    MTLFunction *f = mtl_library_new_function(library, "far");
    MTLError *error = NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = f,
                                        .shader_validation = MTLShaderValidationEnabled},
        0, NULL, &error);
    if (!p) leave_out_if_lacking(error);
    assert_non_null(p);
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    for (uint32_t past = 14; past < 17; past++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
        mtl_compute_command_encoder_set_bytes(e, &past, sizeof past, 1);
        mtl_compute_command_encoder_set_imageblock_width(e, 5, 3);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1),
                                                     mtl_size_make(1, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        assert_completed(commands);
        assert_int_equal(mtl_command_buffer_log_count(commands) > 0, past >= 15);
        mtl_release(commands);
    }
    mtl_release(out);
    mtl_release(p);
    mtl_release(f);
}

int main(void) { return unit_run(open_all, close_all); }

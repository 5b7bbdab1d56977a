// SPDX-License-Identifier: Apache-2.0
// test_large_buffers.c: buffers of 4 GiB and more. Their pages cost nothing until they are touched,
// so that a few places far apart are all a test needs; a machine that does not give the addresses
// leaves the test out. Pipelines are made and used before there is such a buffer: their code must
// not outlive what it assumed.
#include "render_test.h"

#define GIB ((size_t)1 << 30)

static const char source[] = HEAD
    "kernel void bytes(device uchar *x, constant uint &first, uint i [[thread_position_in_grid]]) "
    "{\n"
    "  x[i + first] = uchar(i + 1); }\n"
    "kernel void sums(device const uchar *x, device uint *y, constant uint &first,\n"
    "                 uint i [[thread_position_in_grid]]) { y[i] = x[i + first] + 1; }\n"
    "kernel void halves(device ushort *x, constant uint &first,\n"
    "                   uint i [[thread_position_in_grid]]) { x[i * 3u + first] = ushort(i + 1); "
    "}\n"
    "kernel void gather(device const float *x, device const uint *at, device float *y,\n"
    "                   uint i [[thread_position_in_grid]]) { y[i] = x[at[i]]; }\n"
    "kernel void scatter(device float *x, device const uint *at,\n"
    "                    uint i [[thread_position_in_grid]]) { x[at[i]] = i + 1; }\n"
    "kernel void count(device atomic_uint *x, device const uint *at,\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  atomic_fetch_add_explicit(x + at[i], i + 1, memory_order_relaxed); }\n"
    "kernel void far(device uchar *x, constant ulong &first, uint i [[thread_position_in_grid]]) "
    "{\n"
    "  x[first + i] = uchar(i + 1); }\n"
    "struct Held { device float *x; };\n"
    "kernel void held(constant Held &h, device const uint *at,\n"
    "                 uint i [[thread_position_in_grid]]) { h.x[at[i]] = i + 1; }\n"
    "vertex float4 points(uint i [[vertex_id]], device const float4 *x, constant uint &first) {\n"
    "  return x[i + first]; }\n"
    "struct In { float4 p [[attribute(0)]]; };\n"
    "vertex float4 attributes(In in [[stage_in]]) { return in.p; }\n"
    "fragment float4 green() { return float4(0, 1, 0, 1); }\n";

enum { N = 64, KERNELS = 8 };
static const char *const names[KERNELS] = {"bytes",   "sums",  "halves", "gather",
                                           "scatter", "count", "far",    "held"};
static MTLComputePipelineState *kernels[KERNELS];
static MTLLibrary *library;

static MTLComputePipelineState *kernel(const char *name) {
    for (int i = 0; i < KERNELS; i++)
        if (!strcmp(names[i], name)) return kernels[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static MTLBuffer *reached; // through a pointer in memory; NULL: none

// N threads of a kernel on up to three buffers, and a value behind the last of them.
static void run(const char *name, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, const void *value,
                size_t n_bytes) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    MTLBuffer *buffers[] = {a, b, c};
    size_t n = 0;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, kernel(name));
    for (; n < 3 && buffers[n]; n++) mtl_compute_command_encoder_set_buffer(e, buffers[n], 0, n);
    if (value) mtl_compute_command_encoder_set_bytes(e, value, n_bytes, n);
    if (reached)
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)reached, MTLResourceUsageWrite);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1), mtl_size_make(N, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
}

static MTLBuffer *large(size_t n_bytes) {
    MTLBuffer *x = NULL;
    if (mtl_device_max_buffer_length(device) >= n_bytes)
        x = mtl_device_new_buffer(device, n_bytes, 0);
    if (x) assert_int_equal(mtl_buffer_length(x), n_bytes);
    return x;
}
#define LARGE(name, n_bytes)                                                                       \
    MTLBuffer *name = large(n_bytes);                                                              \
    if (!name) skip()

// N places, from 2^31 down in steps: some below, some above what is an int.
static MTLBuffer *places(uint32_t first, uint32_t step) {
    MTLBuffer *at = mtl_device_new_buffer(device, N * 4, 0);
    for (uint32_t i = 0; i < N; i++)
        ((uint32_t *)mtl_buffer_contents(at))[i] = first + (i * 37 % N) * step;
    return at;
}

// An index of 32 bits that passes its end comes back at the start of the buffer, in one SIMD-group.
static void indices_wrap(void **state) {
    (void)state;
    LARGE(x, 4 * GIB + 8192);
    MTLBuffer *y = mtl_device_new_buffer(device, N * 4, 0);
    unsigned char *bytes = mtl_buffer_contents(x);
    uint32_t first = UINT32_MAX - 19;
    run("bytes", x, NULL, NULL, &first, 4);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(bytes[first + i], i + 1);
    assert_int_equal(bytes[4 * GIB], 0);
    run("sums", x, y, NULL, &first, 4);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(((uint32_t *)mtl_buffer_contents(y))[i], i + 2);
    mtl_release(x), mtl_release(y);
}

static void halves_wrap(void **state) {
    (void)state;
    LARGE(x, 8 * GIB + 8192);
    uint16_t *halves = mtl_buffer_contents(x);
    uint32_t first = UINT32_MAX - 70;
    run("halves", x, NULL, NULL, &first, 4);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(halves[(uint32_t)(first + i * 3)], i + 1);
    assert_int_equal(halves[(size_t)UINT32_MAX + 2], 0);
    mtl_release(x);
}

static void indices_are_no_ints(void **state) {
    (void)state;
    LARGE(x, 9 * GIB);
    MTLBuffer *at = places(0x80000000u - 20 * 1000, 1000),
              *y = mtl_device_new_buffer(device, N * 4, 0);
    const uint32_t *place = mtl_buffer_contents(at);
    float *floats = mtl_buffer_contents(x);
    run("scatter", x, at, NULL, NULL, 0);
    for (uint32_t i = 0; i < N; i++) assert_float_equal(floats[place[i]], i + 1, 0);
    run("gather", x, at, y, NULL, 0);
    for (uint32_t i = 0; i < N; i++)
        assert_float_equal(((float *)mtl_buffer_contents(y))[i], i + 1, 0);
    for (uint32_t i = 0; i < N; i++) floats[place[i]] = 0;
    run("count", x, at, NULL, NULL, 0);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(((uint32_t *)floats)[place[i]], i + 1);
    // through a pointer in memory
    MTLBuffer *h = mtl_device_new_buffer(device, 8, 0);
    *(uint64_t *)mtl_buffer_contents(h) = mtl_buffer_gpu_address(x);
    reached = x;
    run("held", h, at, NULL, NULL, 0);
    reached = NULL;
    for (uint32_t i = 0; i < N; i++) assert_float_equal(floats[place[i]], i + 1, 0);
    mtl_release(x), mtl_release(at), mtl_release(y), mtl_release(h);
}

static void long_indices(void **state) {
    (void)state;
    LARGE(x, 6 * GIB);
    unsigned char *bytes = mtl_buffer_contents(x);
    uint64_t first = 5 * GIB + 3;
    run("far", x, NULL, NULL, &first, 8);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(bytes[first + i], i + 1);
    assert_int_equal(bytes[first - 1] + bytes[first + N] + bytes[GIB + 3], 0);
    mtl_release(x);
}

static void blits(void **state) {
    (void)state;
    LARGE(x, 6 * GIB);
    unsigned char *bytes = mtl_buffer_contents(x);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_fill_buffer(e, x, mtl_range_make(5 * GIB + 1, 100), 7);
    mtl_blit_command_encoder_copy_from_buffer(e, x, 5 * GIB, x, 4 * GIB + 4096, 200);
    mtl_blit_command_encoder_end_encoding(e);
    run_to_end(commands);
    assert_int_equal(bytes[5 * GIB], 0);
    assert_int_equal(bytes[5 * GIB + 1], 7);
    assert_int_equal(bytes[4 * GIB + 4096], 0);
    assert_int_equal(bytes[4 * GIB + 4097], 7);
    assert_int_equal(bytes[4 * GIB + 4196], 7);
    assert_int_equal(bytes[4 * GIB + 4197], 0);
    assert_int_equal(bytes[GIB + 1] + bytes[4097], 0);
    mtl_release(x);
}

static MTLRenderPipelineState *draws(const char *vertex) {
    MTLVertexDescriptor v = {.attributes[0] = {.format = MTLVertexFormatFloat4},
                             .layouts[0] = {.stride = 16}};
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, vertex),
                                     .fragment_function =
                                         mtl_library_new_function(library, "green"),
                                     .vertex_descriptor = &v,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLError *error = NULL;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) leave_out_if_lacking(error);
    assert_non_null(p);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return p;
}

// Vertices and indices behind 4 GiB: by offset, and by an index that is no int.
static void vertices(void **state) {
    (void)state;
    static const float triangle[3][4] = {{-1, -1, 0, 1}, {3, -1, 0, 1}, {-1, 3, 0, 1}};
    static const uint32_t order[3] = {2, 0, 1};
    const uint32_t first = 0x10000400; // of float4: behind 4 GiB
    MTLRenderPipelineState *by_id = draws("points"), *by_attribute = draws("attributes");
    LARGE(x, 5 * GIB);
    char *bytes = mtl_buffer_contents(x);
    size_t at = (size_t)first * 16, indices = 4 * GIB + GIB / 2;
    memcpy(bytes + at, triangle, sizeof triangle);
    memcpy(bytes + indices, order, sizeof order);
    for (int way = 0; way < 3; way++) {
        MTLTexture *texture = target(MTLPixelFormatRGBA8Unorm, 4, 4, 1);
        MTLRenderPassDescriptor d = pass_of(texture);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, way ? by_attribute : by_id);
        mtl_render_command_encoder_set_vertex_buffer(e, x, way ? at : 0, 0);
        mtl_render_command_encoder_set_vertex_bytes(e, &first, 4, 1);
        if (way == 2)
            mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 3,
                                                               MTLIndexTypeUInt32, x, indices);
        else
            mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
        mtl_render_command_encoder_end_encoding(e);
        run_to_end(commands);
        for (size_t i = 0; i < 16; i++) assert_int_equal(pixel(texture, i % 4, i / 4), 0xff00ff00u);
        mtl_release(texture);
    }
    mtl_release(x), mtl_release(by_id), mtl_release(by_attribute);
}

static void heaps_and_lengths(void **state) {
    (void)state;
    size_t most = mtl_device_max_buffer_length(device);
    clear_messages();
    assert_null(mtl_device_new_buffer(device, most + 1, 0));
    assert_string_equal(last_rule, "buffer_length");
    if (most < 6 * GIB) skip();
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){.size = 6 * GIB, .storage_mode_is_set = true});
    if (!heap) skip();
    MTLBuffer *x = mtl_heap_new_buffer(heap, 5 * GIB, MTLResourceStorageModeShared);
    if (!x) fail_msg("%s", last_text);
    uint32_t first = UINT32_MAX - 30;
    run("bytes", x, NULL, NULL, &first, 4);
    unsigned char *bytes = mtl_buffer_contents(x);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(bytes[first + i], i + 1);
    mtl_release(x), mtl_release(heap);
}

// Pipelines, and each of them run on small buffers.
static int open_large(void **state) {
    if (open_device(state)) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(source);
    for (int i = 0; i < KERNELS; i++) kernels[i] = pipeline_of(library, names[i]);
    MTLBuffer *small = mtl_device_new_buffer(device, 65536, 0), *at = places(0, 1);
    const uint64_t zero = 0;
    run("bytes", small, NULL, NULL, &zero, 8);
    run("halves", small, NULL, NULL, &zero, 8);
    run("scatter", small, at, NULL, NULL, 0);
    mtl_release(small), mtl_release(at);
    return 0;
}

static int close_large(void **state) {
    for (int i = 0; i < KERNELS; i++) mtl_release(kernels[i]);
    mtl_release(library), mtl_release(queue);
    return close_device(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_wrap),
        cmocka_unit_test(long_indices),
        cmocka_unit_test(blits),
        cmocka_unit_test(vertices),
        cmocka_unit_test(halves_wrap),
        cmocka_unit_test(indices_are_no_ints),
        cmocka_unit_test(heaps_and_lengths),
    };
    needs_drawing = false; // one of them draws
    return cmocka_run_group_tests(tests, open_large, close_large);
}

// SPDX-License-Identifier: Apache-2.0
// test_as_a_mac_bind.c: what is bound to kernels and draws, and is not as it should be. The suite
// runs this twice, as test_as_a_mac.c: without the debug layer the work goes on as on the hardware
// of a Mac, with it each case is refused by its rule.
#include "library_test.h"

static const char source[] =
    HEAD "struct Big { uint v[2048]; };\n"
         "kernel void last(device uint *x [[buffer(0)]], constant Big &b [[buffer(1)]]) {"
         " x[0] = b.v[1249] + 1; }\n"
         "kernel void copy(device uint *x [[buffer(0)]], device const uint *y [[buffer(1)]],"
         " uint i [[thread_position_in_grid]]) { x[i] = y[i] + 1; }\n"
         "kernel void fours(device float4 *x [[buffer(0)]], device const float4 *y [[buffer(1)]],"
         " constant float4 &k [[buffer(2)]], uint i [[thread_position_in_grid]]) {"
         " x[i] = y[i] + k; }\n"
         "kernel void flat(device float4 *x [[buffer(0)]], constant float4 &k [[buffer(2)]])"
         " { x[0] = k * 2; x[1] = x[0].wzyx; }\n"
         "kernel void texel(device float4 *x [[buffer(0)]], texture2d<float> t [[texture(0)]],"
         " sampler s [[sampler(0)]], uint i [[thread_position_in_grid]]) {"
         " x[i] = t.sample(s, float2(0.25, 0.25)) + 1; }\n"
         "kernel void paint(device uint *x [[buffer(0)]],"
         " texture2d<float, access::write> t [[texture(0)]]) { t.write(float4(1), uint2(0, 0));"
         " x[0] = 1; }\n";

static bool layer; // the debug layer is on
static MTLBuffer *x;
static MTLTexture *quarter; // 2D, all texels 0.25

static int set_up(void **state) {
    const char *on = getenv("MTL_DEBUG_LAYER");
    layer = on && *on == '1';
    if (open_library(state, source) != 0) return -1;
    x = mtl_device_new_buffer(device, 65536, 0);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 4, 4, false);
    d.usage = MTLTextureUsageShaderRead;
    quarter = mtl_device_new_texture(device, &d);
    float texels[16];
    for (int i = 0; i < 16; i++) texels[i] = 0.25f;
    mtl_texture_replace_region(quarter, mtl_region_make_2d(0, 0, 4, 4), 0, texels, 16);
    return 0;
}

static int tear_down(void **state) {
    mtl_release(quarter), mtl_release(x);
    return close_library(state);
}

// ---- Kernels ----

typedef struct Case {
    const char *name, *rule, *kernel;
    void (*bind)(MTLComputeCommandEncoder *e);
    size_t threads;
    double expected[4]; // the first numbers of x
    bool floats;
} Case;

#define BIND(name) static void name(MTLComputeCommandEncoder *e)
#define set_buffer mtl_compute_command_encoder_set_buffer
#define set_bytes mtl_compute_command_encoder_set_bytes

BIND(many_bytes) {
    uint32_t v[1250] = {0};
    v[1249] = 41;
    set_buffer(e, x, 0, 0), set_bytes(e, v, sizeof v, 1);
}
BIND(no_bytes) {
    uint32_t v = 7;
    set_buffer(e, x, 0, 0), set_bytes(e, &v, 0, 1);
}
BIND(only_x) { set_buffer(e, x, 0, 0); }
BIND(behind_the_end) {
    set_buffer(e, x, 0, 0);
    MTLBuffer *y = mtl_device_new_buffer(device, 64, 0);
    memset(mtl_buffer_contents(y), 0xff, 64);
    set_buffer(e, y, 64, 1);
    mtl_release(y);
}
// float4 at multiples of 4 that are none of 16.
BIND(odd_offsets) {
    float *v = mtl_buffer_contents(x);
    for (int i = 0; i < 1024; i++) v[4096 + i] = (float)i;
    set_buffer(e, x, 0, 0), set_buffer(e, x, 4 * 4097, 1), set_buffer(e, x, 4 * 4099, 2);
}
BIND(odd_store) {
    float *v = mtl_buffer_contents(x);
    for (int i = 0; i < 16; i++) v[4096 + i] = (float)i;
    set_buffer(e, x, 4, 0), set_buffer(e, x, 4 * 4097, 2);
}
BIND(no_texture) {
    MTLSamplerState *s = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    only_x(e);
    mtl_compute_command_encoder_set_sampler_state(e, s, 0);
    mtl_release(s);
}
BIND(no_sampler) {
    only_x(e);
    mtl_compute_command_encoder_set_texture(e, quarter, 0);
}
static void texture_of(MTLComputeCommandEncoder *e, MTLTextureType type, MTLPixelFormat format,
                       MTLTextureUsage usage) {
    MTLTextureDescriptor d = texture_shape(type, format, 4, 4, 1, 1, 1);
    d.usage = usage;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    no_texture(e);
    mtl_compute_command_encoder_set_texture(e, t, 0);
    mtl_release(t);
}
BIND(texture_of_type) {
    texture_of(e, MTLTextureType2DArray, MTLPixelFormatR32Float, MTLTextureUsageShaderRead);
}
BIND(texture_of_numbers) {
    texture_of(e, MTLTextureType2D, MTLPixelFormatR32Uint, MTLTextureUsageShaderRead);
}
BIND(texture_of_usage) {
    texture_of(e, MTLTextureType2D, MTLPixelFormatR32Float, MTLTextureUsageRenderTarget);
}
BIND(texture_not_written) {
    texture_of(e, MTLTextureType2D, MTLPixelFormatRGBA8Unorm_sRGB, MTLTextureUsageShaderRead);
}

static const Case cases[] = {
    {"more than 4096 bytes", "bytes_length", "last", many_bytes, 1, {42}, false},
    {"no bytes", "bytes_length", "last", no_bytes, 1, {1}, false},
    {"no buffer", "dispatch_missing_buffer", "copy", only_x, 4, {1, 1, 1, 1}, false},
    {"no constants", "dispatch_missing_buffer", "last", only_x, 1, {1}, false},
    {"an offset behind the end", "buffer_offset", "copy", behind_the_end, 4, {1, 1, 1, 1}, false},
    {"loads at odd offsets",
     "dispatch_offset_alignment",
     "fours",
     odd_offsets,
     64,
     {1 + 3, 2 + 4, 3 + 5, 4 + 6},
     true},
    {"one load", "dispatch_offset_alignment", "flat", odd_store, 1, {0, 2, 4, 6}, true},
    {"no texture", "dispatch_missing_texture", "texel", no_texture, 1, {1, 1, 1, 1}, true},
    {"no sampler", "dispatch_missing_sampler", "texel", no_sampler, 1, {1.25, 1, 1, 2}, true},
    {"another type", "dispatch_texture_type", "texel", texture_of_type, 1, {1, 1, 1, 1}, true},
    {"other numbers",
     "dispatch_texture_component",
     "texel",
     texture_of_numbers,
     1,
     {1, 1, 1, 1},
     true},
    {"another usage", "dispatch_texture_usage", "texel", texture_of_usage, 1, {1, 1, 1, 2}, true},
    {"a write", "dispatch_texture_usage", "paint", texture_not_written, 1, {1}, false},
};

static void kernels(void **state) {
    (void)state;
    NEEDS_RESULTS();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        if (!strcmp(c->rule, "dispatch_offset_alignment") && !layer &&
            !mtl_device_has_unified_memory(device)) {
            leave_out_part(c->name, "a load at an address that is not aligned is a GPU's fault");
            continue;
        }
        MTLComputePipelineState *p = pipeline_of(library, c->kernel);
        memset(mtl_buffer_contents(x), 0, 65536);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        c->bind(e);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(c->threads, 1, 1),
                                                     mtl_size_make(c->threads, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        MTLError *error = mtl_command_buffer_error(commands);
        if (strcmp(mtl_error_rule(error), layer ? c->rule : "") != 0 ||
            (mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted) == layer)
            fail_msg("%s: '%s'", c->name, error ? mtl_error_localized_description(error) : "");
        const float *f = mtl_buffer_contents(x);
        const uint32_t *u = mtl_buffer_contents(x);
        for (int k = 0; k < 4 && !layer; k++) {
            double got = c->floats ? (double)f[k] : (double)u[k];
            if (got != c->expected[k])
                fail_msg("%s: %g instead of %g at %d", c->name, got, c->expected[k], k);
        }
        mtl_release(commands), mtl_release(p);
    }
}

// What is not bound cannot be written: a fault, or, on a GPU, a store that is dropped.
static void a_store_to_nothing(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_of(library, "copy");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    set_buffer(e, x, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    MTLError *error = mtl_command_buffer_error(commands);
    assert_string_equal(mtl_error_rule(error), layer ? "dispatch_missing_buffer" : "");
    bool dropped = !layer && !mtl_device_has_unified_memory(device);
    assert_int_equal(mtl_error_code(error), layer     ? MTLCommandBufferErrorInvalidResource
                                            : dropped ? 0
                                                      : MTLCommandBufferErrorPageFault);
    if (!layer && !dropped)
        assert_non_null(strstr(mtl_error_localized_description(error), "not bound"));
    mtl_release(commands), mtl_release(p);
}

// ---- Calls that are left out ----

static void group(MTLComputeCommandEncoder *e) { mtl_compute_command_encoder_pop_debug_group(e); }
static void barrier(MTLComputeCommandEncoder *e) {
    mtl_compute_command_encoder_memory_barrier_with_scope(e, 0);
}
static void buffer_31(MTLComputeCommandEncoder *e) { set_buffer(e, x, 0, 31); }
static void offset_of_nothing(MTLComputeCommandEncoder *e) {
    mtl_compute_command_encoder_set_buffer_offset(e, 4, 7);
}
static void texture_128(MTLComputeCommandEncoder *e) {
    mtl_compute_command_encoder_set_texture(e, quarter, 128);
}
static void sampler_16(MTLComputeCommandEncoder *e) {
    mtl_compute_command_encoder_set_sampler_state(e, NULL, 16);
}
static void length_31(MTLComputeCommandEncoder *e) {
    mtl_compute_command_encoder_set_threadgroup_memory_length(e, 16, 31);
}
static void own_fence(MTLComputeCommandEncoder *e) {
    MTLFence *f = mtl_device_new_fence(device);
    mtl_compute_command_encoder_update_fence(e, f);
    mtl_compute_command_encoder_wait_for_fence(e, f);
    mtl_release(f);
}

static void calls_without_effect(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static const struct {
        const char *rule;
        void (*call)(MTLComputeCommandEncoder *e);
        bool told; // by a message alone, the commands complete
    } calls[] = {
        {"debug_group_underflow", group, true},
        {"barrier_scope", barrier, false},
        {"buffer_index", buffer_31, false},
        {"buffer_offset_unbound", offset_of_nothing, false},
        {"texture_index", texture_128, false},
        {"sampler_index", sampler_16, false},
        {"threadgroup_memory_index", length_31, false},
        {"fence_wait_after_update", own_fence, false},
    };
    MTLComputePipelineState *p = pipeline_of(library, "copy");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint32_t *v = mtl_buffer_contents(x);
        v[0] = 0, v[16] = 8;
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        set_buffer(e, x, 0, 0), set_buffer(e, x, 64, 1);
        clear_messages();
        calls[i].call(e);
        if (layer) assert_string_equal(last_rule, calls[i].rule);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1),
                                                     mtl_size_make(1, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        bool fails = layer && !calls[i].told;
        assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)),
                            fails ? calls[i].rule : "");
        assert_int_equal(v[0], fails ? 0 : 9);
        mtl_release(commands);
    }
    mtl_release(p);
}

// ---- Objects ----

static void objects(void **state) {
    (void)state;
    // A usage that the format does not have, and a view that was not announced.
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm_sRGB, 4, 4, false);
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderAtomic;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_true((t == NULL) == layer);
    if (layer) assert_string_equal(last_rule, "texture_usage");
    mtl_release(t);
    d.usage = MTLTextureUsageShaderRead;
    t = mtl_device_new_texture(device, &d);
    MTLTexture *view = mtl_texture_new_texture_view(t, MTLPixelFormatR32Uint);
    assert_true((view == NULL) == layer);
    if (layer) assert_string_equal(last_rule, "texture_view_usage");
    mtl_release(view), mtl_release(t);
    // Samplers: values outside their ranges, and an id that was not asked for.
    MTLSamplerState *s = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.max_anisotropy = 64, .lod_min_clamp = -1});
    assert_true((s == NULL) == layer);
    if (layer) assert_string_equal(last_rule, "sampler_value");
    mtl_release(s);
    s = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    assert_true((mtl_sampler_state_gpu_resource_id(s).impl == 0) == layer);
    if (layer) assert_string_equal(last_rule, "sampler_argument_buffers");
    mtl_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(a_store_to_nothing),
        cmocka_unit_test(calls_without_effect),
        cmocka_unit_test(objects),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

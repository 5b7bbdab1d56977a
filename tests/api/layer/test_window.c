// SPDX-License-Identifier: Apache-2.0
// Windows under Xvfb, which the test starts: what is presented is read back from the display by a
// second client, which also resizes the window and asks it to close. Skipped where Xvfb or XCB is
// not installed.
#include <time.h>
#include "api_test.h"
#include "../../xvfb.h"

__attribute__((constructor)) static void program_draws(void) { needs_drawing = true; }

// ---- Drawing ----

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "vertex float4 v(uint i [[vertex_id]]) {\n"
    "    return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1);\n"
    "}\n"
    "fragment float4 f(float4 p [[position]], constant float &c [[buffer(0)]]) {\n"
    "    return float4(uint(p.x) / 255.0f, uint(p.y) / 255.0f, c, 1);\n"
    "}\n";
static MTLRenderPipelineState *pipelines[2]; // BGRA8, RGBA16Float
static MTLCommandQueue *queue;

static MTLRenderPipelineState *make_pipeline(MTLLibrary *library, MTLPixelFormat format) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, "v"),
                                     .fragment_function = mtl_library_new_function(library, "f"),
                                     .color_attachments[0].pixel_format = format};
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return p;
}

// Red says x, green y, blue what is given. Returns when it was shown.
static void draw(CAMetalLayer *layer, float blue) {
    MTLDrawable *d = ca_metal_layer_next_drawable(layer);
    assert_non_null(d);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = ca_metal_drawable_texture(d);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    bool wide = ca_metal_layer_pixel_format(layer) == MTLPixelFormatRGBA16Float;
    mtl_render_command_encoder_set_render_pipeline_state(e, pipelines[wide]);
    mtl_render_command_encoder_set_fragment_bytes(e, &blue, sizeof blue, 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(e);
    mtl_command_buffer_present_drawable(commands, d);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    assert_true(mtl_drawable_presented_time(d) > 0);
    mtl_release(commands), mtl_release(d);
}

// Every pixel of the window, as the server has it.
static void assert_seen(uint32_t window, uint16_t width, uint16_t height, int blue) {
    ImageReply *reply;
    const uint8_t *p = seen_pixels(window, width, height, &reply);
    assert_non_null(p);
    for (int y = 0; y < height; y++)
        for (int k = 0; k < width; k++, p += 4)
            if (p[0] != blue || p[1] != y || p[2] != k)
                fail_msg("pixel %d, %d is %d %d %d, not %d %d %d", k, y, p[2], p[1], p[0], k, y,
                         blue);
    free(reply);
}

static CAMetalLayer *open_layer(MTLPixelFormat format, double width, double height) {
    CAMetalLayer *layer = ca_metal_layer_new();
    ca_metal_layer_set_device(layer, device);
    ca_metal_layer_set_pixel_format(layer, format);
    ca_metal_layer_set_drawable_size(layer, (CGSize){width, height});
    MTLError *error = NULL;
    if (!ca_metal_layer_open_window(layer, "Ingot's test", &error))
        fail_msg("%s", mtl_error_localized_description(error));
    return layer;
}

// Events take a moment.
static bool poll_until(CAMetalLayer *layer, double width) {
    for (int i = 0; i < 2000; i++) {
        bool open = ca_metal_layer_poll_window(layer);
        if (width > 0 ? ca_metal_layer_drawable_size(layer).width == width : !open) return true;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return false;
}

static void pixels_arrive(void **state) {
    (void)state;
    CAMetalLayer *layer = open_layer(MTLPixelFormatBGRA8Unorm, 200, 120);
    uint32_t window = ca_metal_layer_window_number(layer);
    assert_int_not_equal(window, 0);
    draw(layer, 0.2f);
    assert_seen(window, 200, 120, 51);
    for (int i = 0; i < 5; i++) draw(layer, (float)i / 255);
    assert_seen(window, 200, 120, 4);
    assert_true(ca_metal_layer_poll_window(layer));
    ca_metal_layer_close_window(layer);
    assert_false(ca_metal_layer_poll_window(layer));
    draw(layer, 1); // off-screen from here on
    mtl_release(layer);
}

static void wide_formats_are_converted(void **state) {
    (void)state;
    CAMetalLayer *layer = open_layer(MTLPixelFormatRGBA16Float, 120, 60);
    draw(layer, 0.4f);
    assert_seen(ca_metal_layer_window_number(layer), 120, 60, 102);
    mtl_release(layer);
}

static void resizing_changes_the_drawables(void **state) {
    (void)state;
    CAMetalLayer *layer = open_layer(MTLPixelFormatBGRA8Unorm, 100, 80);
    uint32_t window = ca_metal_layer_window_number(layer);
    draw(layer, 0);
    resize_window(window, 220, 90);
    assert_true(poll_until(layer, 220));
    draw(layer, 0.6f);
    assert_seen(window, 220, 90, 153);
    mtl_release(layer);
}

static void a_user_may_close_it(void **state) {
    (void)state;
    CAMetalLayer *layer = open_layer(MTLPixelFormatBGRA8Unorm, 100, 80);
    assert_true(ask_to_close(ca_metal_layer_window_number(layer)));
    assert_true(poll_until(layer, 0));
    assert_int_equal(ca_metal_layer_window_number(layer), 0);
    draw(layer, 0); // the program goes on
    mtl_release(layer);
}

static void a_program_that_knows_no_windows_may_have_one(void **state) {
    (void)state;
    CAMetalLayer *layer = ca_metal_layer_new();
    ca_metal_layer_set_device(layer, device);
    ca_metal_layer_set_drawable_size(layer, (CGSize){64, 64});
    setenv("INGOT_WINDOW", "1", 1);
    draw(layer, 0.8f);
    unsetenv("INGOT_WINDOW");
    assert_seen(ca_metal_layer_window_number(layer), 64, 64, 204);
    mtl_release(layer);
}

static void a_display_that_dies_is_no_harm(void **state) {
    (void)state;
    CAMetalLayer *layer = open_layer(MTLPixelFormatBGRA8Unorm, 100, 80);
    x.disconnect(x.connection);
    stop_server();
    server = 0;
    for (int i = 0; i < 3; i++) draw(layer, 0);
    assert_true(poll_until(layer, 0));
    draw(layer, 0);
    mtl_release(layer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_arrive),
        cmocka_unit_test(wide_formats_are_converted),
        cmocka_unit_test(resizing_changes_the_drawables),
        cmocka_unit_test(a_user_may_close_it),
        cmocka_unit_test(a_program_that_knows_no_windows_may_have_one),
        cmocka_unit_test(a_display_that_dies_is_no_harm), // the last: it ends the server
    };
    const char *why = open_display();
    if (why) {
        printf("skipped: %s\n", why);
        return SKIPPED;
    }
    open_device(NULL);
    MTLLibrary *library = compile(source);
    pipelines[0] = make_pipeline(library, MTLPixelFormatBGRA8Unorm);
    pipelines[1] = make_pipeline(library, MTLPixelFormatRGBA16Float);
    queue = mtl_device_new_command_queue(device);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mtl_release(library), mtl_release(pipelines[0]), mtl_release(pipelines[1]), mtl_release(queue);
    close_device(NULL);
    if (server) stop_server();
    return failed;
}

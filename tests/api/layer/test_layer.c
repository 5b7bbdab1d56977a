// SPDX-License-Identifier: Apache-2.0
// Layers and drawables off-screen: the pool, presenting in order and in time, the rules.
#include <time.h>
#include "api_test.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static CAMetalLayer *make_layer(double width, double height) {
    CAMetalLayer *layer = ca_metal_layer_new();
    ca_metal_layer_set_device(layer, device);
    ca_metal_layer_set_drawable_size(layer, (CGSize){width, height});
    return layer;
}

static void assert_message(const char *rule) {
    assert_string_equal(last_rule, rule);
    assert_int_equal(n_messages, 1);
    clear_messages();
}

// A pass that clears the drawable.
static MTLCommandBuffer *clear(MTLCommandQueue *queue, MTLDrawable *drawable, double red) {
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = ca_metal_drawable_texture(drawable);
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(red, 0.25, 1, 1);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    assert_non_null(e);
    mtl_render_command_encoder_end_encoding(e);
    return commands;
}

typedef struct Seen { // what handlers saw
    atomic_size_t n;
    size_t ids[16];
    unsigned char pixels[16][4];
} Seen;

static void see(MTLDrawable *drawable, void *context) {
    Seen *seen = context;
    size_t i = atomic_load(&seen->n);
    seen->ids[i] = mtl_drawable_drawable_id(drawable);
    mtl_texture_get_bytes(ca_metal_drawable_texture(drawable), seen->pixels[i], 256,
                          mtl_region_make_2d(0, 0, 1, 1), 0);
    atomic_fetch_add(&seen->n, 1);
}

static void wait_for(Seen *seen, size_t n) {
    for (double until = now() + 20; atomic_load(&seen->n) < n && now() < until;)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(atomic_load(&seen->n), n);
}

static void properties_have_apples_defaults(void **state) {
    (void)state;
    CAMetalLayer *layer = ca_metal_layer_new();
    assert_null(ca_metal_layer_device(layer));
    assert_int_equal(ca_metal_layer_pixel_format(layer), MTLPixelFormatBGRA8Unorm);
    assert_true(ca_metal_layer_framebuffer_only(layer));
    assert_true(ca_metal_layer_allows_next_drawable_timeout(layer));
    assert_int_equal(ca_metal_layer_maximum_drawable_count(layer), 3);
    assert_null(ca_metal_layer_next_drawable(layer)); // no device
    ca_metal_layer_set_device(layer, device);
    assert_null(ca_metal_layer_next_drawable(layer)); // no size
    ca_metal_layer_set_drawable_size(layer, (CGSize){20.5, 10});
    ca_metal_layer_set_pixel_format(layer, MTLPixelFormatRGBA16Float);
    ca_metal_layer_set_framebuffer_only(layer, false);
    MTLDrawable *d = ca_metal_layer_next_drawable(layer);
    MTLTexture *t = ca_metal_drawable_texture(d);
    assert_int_equal(mtl_texture_width(t), 20);
    assert_int_equal(mtl_texture_height(t), 10);
    assert_int_equal(mtl_texture_pixel_format(t), MTLPixelFormatRGBA16Float);
    assert_int_equal(mtl_texture_usage(t), MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead |
                                               MTLTextureUsageShaderWrite);
    assert_ptr_equal(ca_metal_drawable_layer(d), layer);
    mtl_release(layer); // the drawable keeps it
    assert_int_equal(ca_metal_layer_pixel_format(ca_metal_drawable_layer(d)),
                     MTLPixelFormatRGBA16Float);
    mtl_release(d);
}

static void presenting_with_commands_shows_what_they_drew(void **state) {
    (void)state;
    NEEDS_RESULTS();
    CAMetalLayer *layer = make_layer(8, 4);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    static Seen seen;
    for (size_t i = 0; i < 8; i++) {
        MTLDrawable *d = ca_metal_layer_next_drawable(layer);
        assert_non_null(d);
        mtl_drawable_add_presented_handler(d, see, &seen);
        MTLCommandBuffer *commands = clear(queue, d, (double)i / 17);
        mtl_command_buffer_present_drawable(commands, d);
        mtl_command_buffer_commit(commands);
        mtl_release(d); // the command buffer has it
        if (i == 7) mtl_command_buffer_wait_until_completed(commands);
        mtl_release(commands);
    }
    wait_for(&seen, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(seen.ids[i], i);
        assert_int_equal(seen.pixels[i][0], 255); // blue
        assert_int_equal(seen.pixels[i][1], 64);
        assert_int_equal(seen.pixels[i][2], 15 * (int)i);
    }
    mtl_release(queue), mtl_release(layer);
    assert_int_equal(n_messages, 0);
}

// Presented while its work waits for `go`: not seen before that is raised.
static void assert_waits(MTLDrawable *d, Seen *seen, MTLSharedEvent *go) {
    mtl_drawable_present(d);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(atomic_load(&seen->n), 0);
    assert_true(mtl_drawable_presented_time(d) == 0);
    double before = now();
    mtl_shared_event_set_signaled_value(go, 1);
    wait_for(seen, 1);
    assert_true(mtl_drawable_presented_time(d) >= before &&
                mtl_drawable_presented_time(d) <= now());
}

static MTLDrawable *watched_drawable(CAMetalLayer *layer, Seen *seen) {
    MTLDrawable *d = ca_metal_layer_next_drawable(layer);
    mtl_drawable_add_presented_handler(d, see, seen);
    return d;
}

static void a_drawable_by_itself_waits_for_its_work(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static Seen seen;
    CAMetalLayer *layer = make_layer(8, 4);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLSharedEvent *go = mtl_device_new_shared_event(device);
    MTLDrawable *d = watched_drawable(layer, &seen);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)go, 1);
    mtl_command_buffer_commit(commands);
    mtl_release(commands);
    commands = clear(queue, d, 0.8);
    mtl_command_buffer_commit(commands);
    assert_waits(d, &seen, go);
    assert_int_equal(seen.pixels[0][2], 204);
    mtl_release(commands), mtl_release(go), mtl_release(queue), mtl_release(d), mtl_release(layer);
}

static void times_are_kept_and_so_is_the_order(void **state) {
    (void)state;
    CAMetalLayer *layer = make_layer(8, 4);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    static Seen seen;
    MTLDrawable *d[3];
    double begin = now();
    for (int i = 0; i < 3; i++) {
        d[i] = watched_drawable(layer, &seen);
        MTLCommandBuffer *commands = clear(queue, d[i], 0);
        if (i == 0) mtl_command_buffer_present_drawable_at_time(commands, d[i], begin + 0.06);
        if (i == 1) mtl_command_buffer_present_drawable(commands, d[i]); // not before the first
        if (i == 2)
            mtl_command_buffer_present_drawable_after_minimum_duration(commands, d[i], 0.03);
        mtl_command_buffer_commit(commands);
        mtl_release(commands);
    }
    wait_for(&seen, 3);
    double at[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(seen.ids[i], i);
        at[i] = mtl_drawable_presented_time(d[i]);
        mtl_release(d[i]);
    }
    assert_true(at[0] >= begin + 0.06 && at[1] >= at[0] && at[2] >= at[1] + 0.03);
    d[0] = ca_metal_layer_next_drawable(layer);
    mtl_drawable_present_at_time(d[0], now() - 5); // at once
    mtl_release(d[0]);
    mtl_release(queue), mtl_release(layer);
}

static void the_pool_has_an_end(void **state) {
    (void)state;
    CAMetalLayer *layer = make_layer(8, 4);
    ca_metal_layer_set_maximum_drawable_count(layer, 2);
    MTLDrawable *a = ca_metal_layer_next_drawable(layer), *b = ca_metal_layer_next_drawable(layer);
    assert_non_null(a), assert_non_null(b);
    double begin = now();
    assert_null(ca_metal_layer_next_drawable(layer)); // after a second
    assert_true(now() - begin > 0.9);
    MTLTexture *used = ca_metal_drawable_texture(b);
    mtl_release(b);
    b = ca_metal_layer_next_drawable(layer);
    assert_ptr_equal(ca_metal_drawable_texture(b), used); // its memory is used again
    mtl_release(b);
    ca_metal_layer_set_drawable_size(layer, (CGSize){16, 16});
    b = ca_metal_layer_next_drawable(layer);
    assert_int_equal(mtl_texture_width(ca_metal_drawable_texture(b)), 16);
    mtl_release(a), mtl_release(b), mtl_release(layer);
}

static void rules(void **state) {
    (void)state;
    CAMetalLayer *layer = make_layer(8, 4);
    clear_messages();
    ca_metal_layer_set_pixel_format(layer, MTLPixelFormatR8Unorm);
    assert_message("layer_pixel_format");
    ca_metal_layer_set_drawable_size(layer, (CGSize){-1, 4});
    assert_message("layer_drawable_size");
    ca_metal_layer_set_drawable_size(layer, (CGSize){0.0 / 1, 1e9});
    assert_message("layer_drawable_size");
    ca_metal_layer_set_maximum_drawable_count(layer, 4);
    assert_message("layer_drawable_count");
    assert_null(ca_metal_layer_next_drawable(NULL));
    assert_message("null_object");
    MTLDrawable *d = ca_metal_layer_next_drawable(layer);
    mtl_drawable_add_presented_handler(d, NULL, NULL);
    assert_message("null_argument");
    mtl_drawable_present_at_time(d, 1.0 / 0.0);
    assert_message("drawable_time");
    mtl_drawable_present(d);
    mtl_drawable_present(d);
    assert_message("drawable_presented");
    mtl_drawable_add_presented_handler(d, see, NULL);
    assert_message("drawable_presented");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_present_drawable(commands, d);
    assert_message("drawable_presented");
    mtl_command_buffer_present_drawable(commands, NULL);
    assert_message("null_argument");
    mtl_command_buffer_present_drawable(commands, (MTLDrawable *)(void *)queue);
    assert_message("wrong_class");
    mtl_release(commands); // never committed
    assert_null(ca_metal_drawable_texture(NULL));
    assert_message("null_object");
    MTLError *error = NULL;
    CAMetalLayer *empty = ca_metal_layer_new();
    assert_false(ca_metal_layer_open_window(empty, "x", &error));
    assert_int_equal(mtl_error_code(error), CAMetalLayerErrorNoDevice);
    assert_false(ca_metal_layer_poll_window(empty));
    assert_int_equal(ca_metal_layer_window_number(empty), 0);
    mtl_release(error), mtl_release(empty);
    mtl_release(queue), mtl_release(d), mtl_release(layer);
    clear_messages();
}

static void metal4_signals_drawables(void **state) {
    (void)state;
    CAMetalLayer *layer = make_layer(8, 4);
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(device);
    MTLSharedEvent *go = mtl_device_new_shared_event(device);
    static Seen seen;
    MTLDrawable *d = watched_drawable(layer, &seen);
    mtl4_command_queue_wait_for_drawable(queue, d);
    mtl4_command_queue_wait_for_event(queue, (MTLEvent *)go, 1); // stands for long work
    mtl4_command_queue_signal_drawable(queue, d);
    assert_waits(d, &seen, go);
    mtl_release(d), mtl_release(go), mtl_release(queue), mtl_release(layer);
}

static void without_a_display_there_is_no_window(void **state) {
    (void)state;
    unsetenv("DISPLAY");
    CAMetalLayer *layer = make_layer(8, 4);
    MTLError *error = NULL;
    assert_false(ca_metal_layer_open_window(layer, "Ingot", &error));
    assert_string_equal(mtl_error_domain(error), CAMetalLayerErrorDomain);
    assert_int_equal(mtl_error_code(error), CAMetalLayerErrorNoDisplay);
    mtl_release(error);
    setenv("DISPLAY", ":4711", 1);
    assert_false(ca_metal_layer_open_window(layer, "Ingot", NULL));
    MTLDrawable *d = ca_metal_layer_next_drawable(layer); // goes on off-screen
    assert_non_null(d);
    mtl_release(d), mtl_release(layer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_have_apples_defaults),
        cmocka_unit_test(presenting_with_commands_shows_what_they_drew),
        cmocka_unit_test(a_drawable_by_itself_waits_for_its_work),
        cmocka_unit_test(times_are_kept_and_so_is_the_order),
        cmocka_unit_test(the_pool_has_an_end),
        cmocka_unit_test(rules),
        cmocka_unit_test(metal4_signals_drawables),
        cmocka_unit_test(without_a_display_there_is_no_window),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}

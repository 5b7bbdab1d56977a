// SPDX-License-Identifier: Apache-2.0
// Windows under Xvfb, which the test starts: what is presented is read back from the display by a
// second client, which also resizes the window and asks it to close. Skipped where Xvfb or XCB is
// not installed.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "api_test.h"

enum { SKIPPED = 77 }; // for CTest

// ---- A second client, by the same library ----

typedef struct Cookie {
    unsigned sequence;
} Cookie;
typedef struct ImageReply {
    uint8_t response_type, depth;
    uint16_t sequence;
    uint32_t length, visual;
} ImageReply;
typedef struct AtomReply {
    uint8_t response_type, pad;
    uint16_t sequence;
    uint32_t length, atom;
} AtomReply;
static struct {
    void *connection;
    void *(*connect)(const char *, int *);
    int (*has_error)(void *);
    int (*flush)(void *);
    Cookie (*get_image)(void *, uint8_t, uint32_t, int16_t, int16_t, uint16_t, uint16_t, uint32_t);
    ImageReply *(*get_image_reply)(void *, Cookie, void **);
    uint8_t *(*get_image_data)(const ImageReply *);
    Cookie (*configure_window)(void *, uint32_t, uint16_t, const void *);
    Cookie (*send_event)(void *, uint8_t, uint32_t, uint32_t, const char *);
    Cookie (*intern_atom)(void *, uint8_t, uint16_t, const char *);
    AtomReply *(*intern_atom_reply)(void *, Cookie, void **);
    void (*disconnect)(void *);
} x;

static bool find(void *library, const char *name, void *to) {
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(to, &found, sizeof found);
    return found != NULL;
}

static bool load_xcb(void) {
    void *l = dlopen("libxcb.so.1", RTLD_NOW);
    return find(l, "xcb_connect", &x.connect) && find(l, "xcb_flush", &x.flush) &&
           find(l, "xcb_connection_has_error", &x.has_error) &&
           find(l, "xcb_get_image", &x.get_image) &&
           find(l, "xcb_get_image_reply", &x.get_image_reply) &&
           find(l, "xcb_get_image_data", &x.get_image_data) &&
           find(l, "xcb_configure_window", &x.configure_window) &&
           find(l, "xcb_send_event", &x.send_event) && find(l, "xcb_intern_atom", &x.intern_atom) &&
           find(l, "xcb_intern_atom_reply", &x.intern_atom_reply) &&
           find(l, "xcb_disconnect", &x.disconnect);
}

static pid_t server;

// Its display is in DISPLAY afterwards.
static bool start_server(void) {
    int ends[2];
    char number[16] = "", display[32];
    if (pipe(ends)) return false;
    server = fork();
    if (server == 0) {
        char fd[16];
        close(ends[0]);
        snprintf(fd, sizeof fd, "%d", ends[1]);
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, 2);
        execlp("Xvfb", "Xvfb", "-displayfd", fd, "-screen", "0", "400x300x24", "-nolisten", "tcp",
               (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n + 1 < sizeof number && (got = read(ends[0], number + n, 1)) == 1; n++)
        if (number[n] == '\n') break;
    close(ends[0]);
    number[n] = 0;
    snprintf(display, sizeof display, ":%s", number);
    setenv("DISPLAY", display, 1);
    return n > 0;
}

static void stop_server(void) {
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

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
    ImageReply *reply = x.get_image_reply(
        x.connection, x.get_image(x.connection, 2, window, 0, 0, width, height, 0xffffff), NULL);
    assert_non_null(reply);
    const uint8_t *p = x.get_image_data(reply);
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
    uint32_t window = ca_metal_layer_window_number(layer), size[2] = {220, 90};
    draw(layer, 0);
    x.configure_window(x.connection, window, 4 | 8, size); // width, height
    x.flush(x.connection);
    assert_true(poll_until(layer, 220));
    draw(layer, 0.6f);
    assert_seen(window, 220, 90, 153);
    mtl_release(layer);
}

static void a_user_may_close_it(void **state) {
    (void)state;
    CAMetalLayer *layer = open_layer(MTLPixelFormatBGRA8Unorm, 100, 80);
    uint32_t atoms[2];
    const char *names[2] = {"WM_PROTOCOLS", "WM_DELETE_WINDOW"};
    for (int i = 0; i < 2; i++) {
        AtomReply *reply = x.intern_atom_reply(
            x.connection, x.intern_atom(x.connection, 0, (uint16_t)strlen(names[i]), names[i]),
            NULL);
        assert_non_null(reply);
        atoms[i] = reply->atom;
        free(reply);
    }
    struct {
        uint8_t type, format;
        uint16_t sequence;
        uint32_t window, kind, data[5];
    } message = {33, 32, 0, ca_metal_layer_window_number(layer), atoms[0], {atoms[1]}};
    x.send_event(x.connection, 0, message.window, 0, (const char *)&message);
    x.flush(x.connection);
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
    if (!load_xcb()) {
        puts("skipped: libxcb.so.1 is not installed");
        return SKIPPED;
    }
    if (!start_server()) {
        puts("skipped: Xvfb is not installed, or does not start");
        return SKIPPED;
    }
    x.connection = x.connect(NULL, NULL);
    if (!x.connection || x.has_error(x.connection)) {
        puts("skipped: Xvfb does not answer");
        stop_server();
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

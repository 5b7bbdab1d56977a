// SPDX-License-Identifier: Apache-2.0
// test_shared_texture.c: textures over memory that others see: another process (the test starts
// itself again as the other one) and a surface of the program.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "api_test.h"

extern char **environ;
static const char *self;
enum { W = 37, H = 11 };

static MTLTextureDescriptor shape(MTLStorageMode storage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Uint, W, H, false);
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    d.storage_mode = storage;
    return d;
}

static uint32_t texel(MTLTexture *t, size_t x, size_t y) {
    uint32_t value = 0;
    mtl_texture_get_bytes(t, &value, 4 * W, mtl_region_make_2d(x, y, 1, 1), 0);
    return value;
}

static void put(MTLTexture *t, size_t x, size_t y, uint32_t value) {
    mtl_texture_replace_region(t, mtl_region_make_2d(x, y, 1, 1), 0, &value, 4 * W);
}

// ---- The other process ----

static const char doubles[] =
    HEAD "kernel void doubled(texture2d<uint, access::read_write> t [[texture(0)]],\n"
         "                    uint2 at [[thread_position_in_grid]]) {\n"
         "  t.write(t.read(at) * 2, at); }\n";

// Doubles every texel by a kernel. Exit status 0: all went as it should.
static int play(const char *what) {
    device = mtl_create_system_default_device();
    MTLError *error = NULL;
    MTLSharedTextureHandle *handle =
        strchr(what, ':') ? mtl_shared_texture_handle_new_with_name(what, &error)
                          : mtl_shared_texture_handle_new_with_file_descriptor(atoi(what), &error);
    if (!handle) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        return 3;
    }
    if (strcmp(mtl_shared_texture_handle_label(handle), "Mine") != 0) return 4;
    MTLTexture *t = mtl_device_new_shared_texture_with_handle(device, handle);
    if (!t || mtl_texture_width(t) != W || mtl_texture_height(t) != H) return 5;
    MTLComputePipelineState *p = pipeline_from(doubles, "doubled");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_texture(e, t, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(W, H, 1), mtl_size_make(8, 8, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    int status = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted ? 0 : 6;
    mtl_release(commands), mtl_release(queue), mtl_release(p), mtl_release(t);
    mtl_release(handle), mtl_release(device);
    return status;
}

static void other(const char *what) {
    pid_t child;
    char *arguments[] = {(char *)(uintptr_t)self, (char *)(uintptr_t)what, NULL};
    assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("the other process: %d", status);
}

// ---- Tests ----

static void between_processes(void **state) {
    (void)state;
    NEEDS_RESULTS();
    const MTLTextureDescriptor d = shape(MTLStorageModeShared);
    MTLTexture *t = mtl_device_new_shared_texture(device, &d);
    if (!t && may_lack()) leave_out("it has no shared textures");
    assert_non_null(t);
    assert_true(mtl_texture_is_shareable(t));
    mtl_texture_set_label(t, "Mine");
    for (size_t i = 0; i < W * H; i++) put(t, i % W, i / W, (uint32_t)i + 1);
    MTLSharedTextureHandle *handle = mtl_texture_new_shared_texture_handle(t);
    assert_non_null(handle);
    assert_ptr_equal(mtl_shared_texture_handle_device(handle), device);
    other(mtl_shared_texture_handle_name(handle));
    for (size_t i = 0; i < W * H; i++) assert_int_equal(texel(t, i % W, i / W), 2 * (i + 1));
    int file = mtl_shared_texture_handle_new_file_descriptor(handle);
    char number[16];
    snprintf(number, sizeof number, "%d", file);
    other(number);
    for (size_t i = 0; i < W * H; i++) assert_int_equal(texel(t, i % W, i / W), 4 * (i + 1));
    close(file);
    // The memory outlives the texture it was made with.
    mtl_release(t);
    t = mtl_device_new_shared_texture_with_handle(device, handle);
    assert_int_equal(texel(t, 5, 1), 4 * (5 + W + 1));
    mtl_release(t), mtl_release(handle);
}

static void views_are_not_shared(void **state) {
    (void)state;
    MTLTextureDescriptor d = shape(MTLStorageModePrivate);
    MTLTexture *t = mtl_device_new_shared_texture(device, &d),
               *plain = mtl_device_new_texture(device, &d);
    if (!t && may_lack()) leave_out("it has no shared textures");
    assert_non_null(t);
    MTLTexture *view = mtl_texture_new_texture_view(t, MTLPixelFormatR32Uint);
    MTLTexture *cases[] = {view, plain};
    for (int i = 0; i < 2; i++) {
        clear_messages();
        assert_non_null(cases[i]);
        assert_false(mtl_texture_is_shareable(cases[i]));
        assert_null(mtl_texture_new_shared_texture_handle(cases[i]));
        assert_string_equal(last_rule, "texture_not_shared");
    }
    mtl_release(view), mtl_release(plain), mtl_release(t);
}

static void wrong_handles(void **state) {
    (void)state;
    static const char *const names[] = {
        "", "nothing", "ingot-shared-texture-1:1:2:3",
        "ingot-shared-texture-1:999999999:3:00000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        MTLError *error = NULL;
        assert_null(mtl_shared_texture_handle_new_with_name(names[i], &error));
        assert_non_null(error);
        mtl_release(error);
    }
    // Files that are none of ours: a pipe's end, a sealed file with other contents.
    int file = memfd_create("other", MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(file, 8192), 0);
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    const int files[] = {-1, 0, file};
    for (int i = 0; i < 3; i++) {
        MTLError *error = NULL;
        assert_null(mtl_shared_texture_handle_new_with_file_descriptor(files[i], &error));
        assert_non_null(error);
        mtl_release(error);
    }
    close(file);
    clear_messages();
    assert_null(mtl_device_new_shared_texture_with_handle(device, NULL));
    assert_string_equal(last_rule, "null_argument");
    MTLTextureDescriptor d = shape(MTLStorageModeMemoryless);
    assert_null(mtl_device_new_shared_texture(device, &d));
    assert_string_equal(last_rule, "texture_unsupported");
}

static int held, let_go;
static void hold(void *object) { held += object == &held; }
static void let(void *object) { let_go += object == &held; }

static void surfaces(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static _Alignas(64) uint32_t memory[2][16 * 64];
    MTLSurface s = {.object = &held,
                    .plane_count = 2,
                    .planes = {{memory[0], 40, 16, 256}, {memory[1], 20, 8, 256}},
                    .retain = hold,
                    .release = let};
    MTLTextureDescriptor d = shape(MTLStorageModeShared);
    MTLTexture *t = mtl_device_new_texture_with_iosurface(device, &d, &s, 0);
    if (!t && may_lack()) leave_out("it has no shared textures");
    assert_non_null(t);
    assert_ptr_equal(mtl_texture_iosurface(t), &held);
    assert_int_equal(mtl_texture_iosurface_plane(t), 0);
    assert_null(mtl_texture_buffer(t));
    put(t, 36, 10, 77);
    assert_int_equal(memory[0][10 * 64 + 36], 77);
    memory[0][3] = 5;
    assert_int_equal(texel(t, 3, 0), 5);
    mtl_release(t);
    assert_int_equal(held, 1);
    assert_int_equal(let_go, 1);
    clear_messages();
    assert_null(mtl_device_new_texture_with_iosurface(device, &d, &s, 1)); // too small
    assert_string_equal(last_rule, "texture_surface");
    assert_null(mtl_device_new_texture_with_iosurface(device, &d, &s, 2));
    assert_string_equal(last_rule, "texture_surface");
    assert_null(mtl_device_new_texture_with_iosurface(device, &d, NULL, 0));
    assert_string_equal(last_rule, "null_argument");
    d.width = 20, d.height = 8;
    t = mtl_device_new_texture_with_iosurface(device, &d, &s, 1);
    assert_int_equal(mtl_texture_iosurface_plane(t), 1);
    mtl_release(t);
    assert_int_equal(held, let_go);
}

int main(int argc, char **argv) {
    self = argv[0];
    if (argc > 1) return play(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(between_processes),
                                       cmocka_unit_test(views_are_not_shared),
                                       cmocka_unit_test(wrong_handles), cmocka_unit_test(surfaces)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}

// SPDX-License-Identifier: Apache-2.0
// attempts.c: runs a table of hostile functions. attempts FILE.metal [NAME]: each function of the
// file is an attempt, and the line before it says what is promised, with shader validation and
// without:
//     // ==== checked: OUTCOME, plain: OUTCOME
//   reported  the command buffer completes, and somebody was told; nothing came of it
//   kept      the same, and there may be nothing to tell
//   fault     the command buffer ends in error; nothing came of it
//   lives     the process goes on, and so does the next command buffer
//   none      nothing is promised: memory of the device's own is overwritten. Not run
// Nothing came of it: memory of the process that no resource is has not changed, and what it holds
// is found neither in the buffers that the function may write, nor in its texture, nor in a log.
// Functions are kernels, or vertex, fragment, object or mesh functions: others are drawn with.
// head.metalh, which is put before the table, shows what they are given.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <ingot/metal.h>
#include "abi/indirect.h"
#include "abi/tensor.h"
#include "abi/texture.h"

enum { SIDE = 16, OUT_BYTES = 4096, SCRATCH_BYTES = 1 << 16, PAGE = 4096, THREADS = 64 };
#define SECRET 0x5ec4e75ec4e75ec4u

typedef struct World { // as in head.metalh
    uint64_t secret, hole, scratch;
    uint64_t texture, sampler, tensor, structure, commands;
    uint64_t fake_texture, fake_sampler, fake_tensor, fake_structure, fake_table, fake_commands;
    uint64_t dead_texture, dead_sampler, dead_tensor, dead_buffer;
    uint64_t cube, texels, deep, sparse;
    uint64_t secret_text, self;
} World;

static MTLDevice *device;
static MTLCommandQueue *queue;
static MTLLogState *logs;
static MTLBuffer *world, *out, *scratch;
static MTLTexture *texture, *target, *cube, *texels, *deep;
static MTLSamplerState *sampler;
static MTLTensor *tensor;
static MTLAccelerationStructure *structure;
static MTLIndirectCommandBuffer *commands;
static uint64_t *secret; // a page
static int n_messages, n_leaks;

static void note_message(const MTLDeviceMessage *message, void *context) {
    (void)context, (void)message;
    n_messages++;
}

static void note_log(const char *subsystem, const char *category, MTLLogLevel level,
                     const char *text, void *context) {
    (void)level, (void)context;
    n_leaks += strstr(text, "SeCrEt") || strstr(subsystem, "SeCrEt") || strstr(category, "SeCrEt");
}

static void fail(const char *what) {
    fprintf(stderr, "attempts: %s\n", what);
    exit(2);
}

static MTLTexture *new_texture(MTLTextureType type, MTLPixelFormat format) {
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.texture_type = type, d.pixel_format = format;
    d.width = d.height = SIDE;
    if (type == MTLTextureType3D) d.depth = SIDE;
    if (type == MTLTextureTypeTextureBuffer) d.height = 1;
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite | MTLTextureUsageRenderTarget |
              MTLTextureUsageShaderAtomic;
    if (type == MTLTextureTypeCube || type == MTLTextureTypeTextureBuffer)
        d.usage = MTLTextureUsageShaderRead;
    return mtl_device_new_texture(device, &d);
}

static MTLTensor *new_tensor(void) {
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = (MTLTensorExtents){2, {SIDE, SIDE}};
    return mtl_device_new_tensor(device, &d, NULL);
}

static MTLSamplerState *new_sampler(void) {
    MTLSamplerDescriptor d = {.support_argument_buffers = true};
    return mtl_device_new_sampler_state(device, &d);
}

static void open_world(void) {
    device = mtl_create_system_default_device();
    mtl_device_set_log_callback(device, note_message, NULL);
    logs = mtl_device_new_log_state(device, &(MTLLogStateDescriptor){0}, NULL);
    mtl_log_state_add_log_handler(logs, note_log, NULL);
    queue = mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.log_state = logs, .timeout_ms = 1000});
    world = mtl_device_new_buffer(device, sizeof(World), 0);
    out = mtl_device_new_buffer(device, OUT_BYTES, 0);
    scratch = mtl_device_new_buffer(device, SCRATCH_BYTES, 0);
    texture = new_texture(MTLTextureType2D, MTLPixelFormatRGBA32Float);
    target = new_texture(MTLTextureType2D, MTLPixelFormatRGBA32Float);
    cube = new_texture(MTLTextureTypeCube, MTLPixelFormatRGBA8Unorm);
    texels = new_texture(MTLTextureTypeTextureBuffer, MTLPixelFormatR32Uint);
    deep = new_texture(MTLTextureType3D, MTLPixelFormatR32Uint);
    sampler = new_sampler();
    tensor = new_tensor();
    structure = mtl_device_new_acceleration_structure(device, PAGE);
    MTLIndirectCommandBufferDescriptor d = {.command_types =
                                                MTLIndirectCommandTypeConcurrentDispatchThreads,
                                            .max_kernel_buffer_bind_count = 4};
    commands = mtl_device_new_indirect_command_buffer(device, &d, 8, 0);
    char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE))
        fail("no memory");
    secret = (uint64_t *)(pages + PAGE);
    if (!queue || !world || !out || !scratch || !texture || !target || !cube || !texels || !deep ||
        !sampler || !tensor || !structure || !commands)
        fail("the device cannot make what attempts are given");
}

// Of objects that are gone.
static uint64_t dead(void *object, uint64_t handle) {
    mtl_release(object);
    return handle;
}

#define ID(kind, object) mtl_##kind##_gpu_resource_id(object).impl

static uint64_t place_fake(size_t *at, const void *record, size_t n_bytes) {
    char *to = (char *)mtl_buffer_contents(scratch) + *at;
    uint64_t handle = mtl_buffer_gpu_address(scratch) + *at;
    memcpy(to, record, n_bytes);
    *at += (n_bytes + 63) & ~(size_t)63;
    return handle;
}

// Records as the device has them, copied to memory of the program's; they say that the secret is
// theirs.
static void forge(World *w) {
    size_t at = 0;
    AbiTexture t = *(const AbiTexture *)abi_handle_record(w->texture);
    t.levels[0].data = (unsigned char *)secret;
    AbiTensor n = *(const AbiTensor *)abi_handle_record(w->tensor);
    n.data = (unsigned char *)secret;
    n.extents[0] = (int64_t)SECRET;
    AbiSampler s = {.max_anisotropy = 255, .address = {255, 255, 255}};
    AbiIndirectHead h = {.n_commands = UINT32_MAX, .stride = 8, .n_buffers = UINT32_MAX};
    uint32_t table[16] = {UINT32_MAX, 8, 1, 2, 3};
    uint64_t pointers[32];
    for (int i = 0; i < 32; i++) pointers[i] = (uint64_t)(uintptr_t)secret;
    w->fake_texture = place_fake(&at, &t, sizeof t);
    w->fake_tensor = place_fake(&at, &n, sizeof n);
    w->fake_sampler = place_fake(&at, &s, sizeof s);
    w->fake_commands = place_fake(&at, &h, sizeof h);
    w->fake_table = place_fake(&at, table, sizeof table);
    w->fake_structure = place_fake(&at, pointers, sizeof pointers);
}

static void reset_world(void) {
    for (size_t i = 0; i < PAGE / 8; i++) secret[i] = SECRET;
    strcpy((char *)(secret + 8), "SeCrEt SeCrEt");
    memset(mtl_buffer_contents(out), 0, OUT_BYTES);
    memset(mtl_buffer_contents(scratch), 0, SCRATCH_BYTES);
    World *w = mtl_buffer_contents(world);
    *w = (World){.secret = (uint64_t)(uintptr_t)secret,
                 .hole = (uint64_t)(uintptr_t)secret + PAGE,
                 .secret_text = (uint64_t)(uintptr_t)(secret + 8),
                 .self = (uint64_t)(uintptr_t)&device,
                 .scratch = mtl_buffer_gpu_address(scratch),
                 .texture = ID(texture, texture),
                 .sampler = ID(sampler_state, sampler),
                 .tensor = ID(tensor, tensor),
                 .structure = ID(acceleration_structure, structure),
                 .commands = ID(indirect_command_buffer, commands),
                 .cube = ID(texture, cube),
                 .texels = ID(texture, texels),
                 .deep = ID(texture, deep)};
    MTLTexture *t = new_texture(MTLTextureType2D, MTLPixelFormatRGBA32Float);
    MTLTensor *n = new_tensor();
    MTLSamplerState *s = new_sampler();
    MTLBuffer *b = mtl_device_new_buffer(device, 1 << 20, 0);
    w->dead_texture = dead(t, ID(texture, t));
    w->dead_tensor = dead(n, ID(tensor, n));
    w->dead_sampler = dead(s, ID(sampler_state, s));
    w->dead_buffer = dead(b, mtl_buffer_gpu_address(b));
    forge(w);
}

// ---- Running ----

static MTLFunction *function_of(MTLLibrary *library, const char *name) {
    MTLFunction *f = mtl_library_new_function(library, name);
    if (!f) {
        fprintf(stderr, "attempts: no function '%s'\n", name);
        exit(2);
    }
    return f;
}

static void stop_on(MTLError *error) {
    if (!error) return;
    fprintf(stderr, "attempts: %s\n", mtl_error_localized_description(error));
    exit(2);
}

static MTLCommandBuffer *run_kernel(MTLFunction *f, MTLShaderValidation how) {
    MTLError *error = NULL;
    MTLComputePipelineDescriptor d = {.compute_function = f, .shader_validation = how};
    MTLComputePipelineState *state =
        mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, &error);
    stop_on(error);
    MTLCommandBuffer *buffer = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(buffer);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    MTLBuffer *buffers[] = {world, out, scratch};
    for (size_t i = 0; i < 3; i++) mtl_compute_command_encoder_set_buffer(e, buffers[i], 0, i);
    mtl_compute_command_encoder_set_acceleration_structure(e, structure, 3);
    mtl_compute_command_encoder_set_texture(e, texture, 0);
    mtl_compute_command_encoder_set_sampler_state(e, sampler, 0);
    mtl_compute_command_encoder_set_threadgroup_memory_length(e, 1024, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(THREADS, 1, 1),
                                                 mtl_size_make(THREADS, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_release(state);
    return buffer;
}

static MTLRenderPipelineState *draw_state(MTLLibrary *library, MTLFunction *f,
                                          MTLShaderValidation how) {
    MTLError *error = NULL;
    MTLFunctionType type = mtl_function_function_type(f);
    MTLFunction *vertex = function_of(library, "whole_vertex"),
                *fragment = function_of(library, "whole_fragment"),
                *mesh = function_of(library, "whole_mesh");
    MTLRenderPipelineDescriptor d = {.vertex_function = type == MTLFunctionTypeVertex ? f : vertex,
                                     .fragment_function =
                                         type == MTLFunctionTypeFragment ? f : fragment,
                                     .shader_validation = how};
    MTLMeshRenderPipelineDescriptor m = {.object_function =
                                             type == MTLFunctionTypeObject ? f : NULL,
                                         .mesh_function = type == MTLFunctionTypeMesh ? f : mesh,
                                         .fragment_function = fragment,
                                         .shader_validation = how};
    d.color_attachments[0].pixel_format = m.color_attachments[0].pixel_format =
        MTLPixelFormatRGBA32Float;
    bool meshes = type == MTLFunctionTypeObject || type == MTLFunctionTypeMesh;
    MTLRenderPipelineState *state =
        meshes ? mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &m, &error)
               : mtl_device_new_render_pipeline_state(device, &d, &error);
    stop_on(error);
    mtl_release(vertex), mtl_release(fragment), mtl_release(mesh);
    return state;
}

static MTLCommandBuffer *run_draw(MTLLibrary *library, MTLFunction *f, MTLShaderValidation how) {
    MTLRenderPipelineState *state = draw_state(library, f, how);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = target;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].store_action = MTLStoreActionStore;
    MTLCommandBuffer *buffer = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(buffer, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, state);
    MTLBuffer *buffers[] = {world, out, scratch};
    for (size_t i = 0; i < 3; i++) {
        mtl_render_command_encoder_set_vertex_buffer(e, buffers[i], 0, i);
        mtl_render_command_encoder_set_fragment_buffer(e, buffers[i], 0, i);
        mtl_render_command_encoder_set_object_buffer(e, buffers[i], 0, i);
        mtl_render_command_encoder_set_mesh_buffer(e, buffers[i], 0, i);
    }
    MTLFunctionType type = mtl_function_function_type(f);
    MTLSize one = mtl_size_make(1, 1, 1), some = mtl_size_make(32, 1, 1);
    if (type == MTLFunctionTypeObject || type == MTLFunctionTypeMesh)
        mtl_render_command_encoder_draw_mesh_threadgroups(e, one, some, some);
    else
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(e);
    mtl_release(state);
    return buffer;
}

// ---- Judging ----

static bool holds_secret(const void *bytes, size_t n_bytes) {
    const uint32_t *words = bytes;
    for (size_t i = 0; i < n_bytes / 4; i++)
        if (words[i] == (uint32_t)SECRET || words[i] == (uint32_t)(SECRET >> 32)) return true;
    return false;
}

static bool something_came(void) {
    static float texels_now[SIDE * SIDE * 4];
    for (size_t i = 16; i < PAGE / 8; i++)
        if (secret[i] != SECRET) return true;
    for (size_t i = 0; i < 8; i++)
        if (secret[i] != SECRET) return true;
    mtl_texture_get_bytes(target, texels_now, SIDE * 16, mtl_region_make_2d(0, 0, SIDE, SIDE), 0);
    return n_leaks || holds_secret(mtl_buffer_contents(out), OUT_BYTES) ||
           holds_secret(texels_now, sizeof texels_now);
}

static bool judge(const char *name, const char *mode, const char *promised,
                  MTLCommandBuffer *buffer) {
    bool error = mtl_command_buffer_status(buffer) == MTLCommandBufferStatusError;
    bool came = something_came(), told = n_messages > 0, ok = false;
    if (!strcmp(promised, "lives")) ok = true;
    if (!strcmp(promised, "fault")) ok = error && !came;
    if (!strcmp(promised, "kept")) ok = !error && !came;
    if (!strcmp(promised, "reported")) ok = !error && !came && told;
    if (!ok || getenv("VERBOSE"))
        printf("%s %s: %s, %s%s%s%s\n", ok ? "ok" : "FAILED", name, mode,
               error ? "ended in error: " : "completed",
               error ? mtl_error_localized_description(mtl_command_buffer_error(buffer)) : "",
               told ? ", reported" : "", came ? ", and something came of it" : "");
    return ok;
}

static bool attempt(MTLLibrary *library, const char *name, bool checked, const char *promised) {
    if (!strcmp(promised, "none")) return true;
    MTLFunction *f = function_of(library, name);
    MTLShaderValidation how = checked ? MTLShaderValidationEnabled : MTLShaderValidationDisabled;
    reset_world();
    n_messages = n_leaks = 0;
    MTLCommandBuffer *buffer = mtl_function_function_type(f) == MTLFunctionTypeKernel
                                   ? run_kernel(f, how)
                                   : run_draw(library, f, how);
    mtl_command_buffer_commit(buffer);
    mtl_command_buffer_wait_until_completed(buffer);
    bool ok = judge(name, checked ? "checked" : "plain", promised, buffer);
    mtl_release(buffer);
    mtl_release(f);
    return ok;
}

// The name of the function that begins at `at`: the word before the first parenthesis.
static void name_of(const char *at, char *name, size_t n_bytes) {
    if (at[0] == '[') at = strstr(at, "]]") + 2;
    const char *end = strchr(at, '('), *start = end;
    while (start > at && (start[-1] == '_' || (start[-1] >= '0' && start[-1] <= '9') ||
                          (start[-1] >= 'a' && start[-1] <= 'z')))
        start--;
    snprintf(name, n_bytes, "%.*s", (int)(end - start), start);
}

enum { MAX_TEXT = 1 << 20 };

// The file behind what the text holds already.
static void append_file(char *text, const char *folder, size_t n_folder, const char *name) {
    char path[4096];
    size_t at = strlen(text);
    snprintf(path, sizeof path, "%.*s%s", (int)n_folder, folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || !fread(text + at, 1, MAX_TEXT - 1 - at, file)) fail("a table cannot be read");
    fclose(file);
}

int main(int argc, char **argv) {
    if (argc < 2) fail("attempts FILE.metal [NAME]");
    setvbuf(stdout, NULL, _IOLBF, 0);
    char *text = calloc(1, MAX_TEXT);
    const char *table = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
    if (!text) fail("no memory");
    append_file(text, argv[1], (size_t)(table - argv[1]), "head.metalh");
    append_file(text, "", 0, argv[1]);
    open_world();
    MTLError *error = NULL;
    MTLCompileOptions options = {.enable_logging = true, .source_name = argv[1]};
    MTLLibrary *library = mtl_device_new_library_with_source(device, text, &options, &error);
    if (!library) stop_on(error);
    int n = 0, n_failed = 0;
    for (const char *at = text; (at = strstr(at, "// ==== "));) {
        char checked[16], plain[16], name[64];
        if (sscanf(at, "// ==== checked: %15[a-z], plain: %15[a-z]", checked, plain) != 2)
            fail("a line that promises nothing");
        at = strchr(at, '\n') + 1;
        name_of(at, name, sizeof name);
        if (argc > 2 && strcmp(argv[2], name)) continue;
        n += 2;
        n_failed += !attempt(library, name, true, checked);
        n_failed += !attempt(library, name, false, plain);
    }
    printf("%d attempts, %d failed\n", n, n_failed);
    return n == 0 || n_failed > 0;
}

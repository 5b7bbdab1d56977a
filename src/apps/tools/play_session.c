// SPDX-License-Identifier: Apache-2.0
// play_session.c: the device of `ingot play`, and the programs that were compiled for it.
#include "apps/tools/play_int.h"
#include <stdlib.h>
#include <string.h>

// The vertex function of pictures: one triangle that covers all, and where in the picture a pixel
// is, from 0 to 1, y going down as that of [[position]] does.
static const char picture_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct PicturePoint { float4 position [[position]]; float2 uv; };\n"
    "vertex PicturePoint picture_point(uint i [[vertex_id]]) {\n"
    "    float2 at = float2(i == 1 ? 2 : 0, i == 2 ? 2 : 0);\n"
    "    return {float4(at.x * 2 - 1, 1 - at.y * 2, 0, 1), at};\n"
    "}\n";

void play_session_init(PlaySession *s, uint32_t timeout_ms) {
    *s = (PlaySession){.timeout_ms = timeout_ms, .next = 1};
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->log_lock, NULL);
}

static void free_program(PlayProgram *p) {
    for (size_t i = 0; i < p->n_pipelines; i++) {
        free(p->pipelines[i].key);
        mtl_release(p->pipelines[i].compute);
        mtl_release(p->pipelines[i].render);
    }
    free(p->pipelines);
    metallib_release(p->data);
    mtl_release(p->library);
    *p = (PlayProgram){0};
}

void play_session_lose(PlaySession *s) {
    for (int i = 0; i < PLAY_PROGRAMS; i++) free_program(&s->programs[i]);
    mtl_release(s->color), mtl_release(s->depth);
    mtl_release(s->depth_state), mtl_release(s->sampler), mtl_release(s->own);
    mtl_release(s->queue), mtl_release(s->logs), mtl_release(s->device);
    s->color = s->depth = NULL;
    s->depth_state = NULL, s->sampler = NULL, s->own = NULL;
    s->queue = NULL, s->logs = NULL, s->device = NULL;
}

void play_session_free(PlaySession *s) {
    play_session_lose(s);
    text_free(&s->log);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->log_lock);
}

// What shaders log, up to a limit: a loop may log for ever.
static void take_log(const char *subsystem, const char *category, MTLLogLevel level,
                     const char *message, void *context) {
    PlaySession *s = context;
    (void)subsystem, (void)category, (void)level;
    pthread_mutex_lock(&s->log_lock);
    if (s->log.n_bytes < PLAY_MAX_LOG) text_printf(&s->log, "%s\n", message);
    pthread_mutex_unlock(&s->log_lock);
}

// Misuse of ours is in the command buffer's error; shader validation in its logs.
static void no_log(const MTLDeviceMessage *message, void *context) { (void)message, (void)context; }

bool play_session_open(PlaySession *s, char **why) {
    if (s->device) return true;
    MTLError *error = NULL;
    s->device = mtl_create_isolated_device(&error);
    s->isolated = s->device != NULL;
    // Where a process cannot be confined, shader validation alone keeps a source in its place.
    if (!s->device) s->device = mtl_create_system_default_device();
    mtl_release(error);
    error = NULL;
    if (s->device) {
        mtl_device_set_timeout(s->device, s->timeout_ms);
        mtl_device_set_log_callback(s->device, no_log, NULL);
        s->logs = mtl_device_new_log_state(s->device, &(MTLLogStateDescriptor){0}, NULL);
        if (s->logs) mtl_log_state_add_log_handler(s->logs, take_log, s);
        s->queue = mtl_device_new_command_queue_with_descriptor(
            s->device, &(MTLCommandQueueDescriptor){.log_state = s->logs});
        s->own = mtl_device_new_library_with_source(s->device, picture_source, NULL, &error);
        s->sampler = mtl_device_new_sampler_state(
            s->device, &(MTLSamplerDescriptor){.min_filter = MTLSamplerMinMagFilterLinear,
                                               .mag_filter = MTLSamplerMinMagFilterLinear,
                                               .s_address_mode = MTLSamplerAddressModeRepeat,
                                               .t_address_mode = MTLSamplerAddressModeRepeat});
        s->depth_state = mtl_device_new_depth_stencil_state(
            s->device,
            &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                         .depth_write_enabled = true});
    }
    if (s->queue && s->own && s->sampler && s->depth_state) return true;
    *why = text_format("%s", error ? mtl_error_localized_description(error)
                                   : "no device, or out of memory");
    mtl_release(error);
    play_session_lose(s);
    return false;
}

PlayProgram *play_program(PlaySession *s, uint64_t id) {
    for (int i = 0; id && i < PLAY_PROGRAMS; i++)
        if (s->programs[i].id == id) {
            s->programs[i].used = ++s->clock;
            return &s->programs[i];
        }
    return NULL;
}

PlayProgram *play_compile(PlaySession *s, const char *source, size_t n, MTLError **error) {
    MTLCompileOptions options = {.source_name = "source", .enable_logging = true};
    MTLLibrary *library =
        mtl_device_new_library_with_source_bytes(s->device, source, n, &options, error);
    size_t n_data;
    void *data = library ? mtl_library_copy_data(library, &n_data) : NULL;
    Blob *bytes = data ? blob_copy(data, n_data) : NULL;
    Metallib *metallib = bytes ? metallib_open(bytes, NULL) : NULL;
    blob_release(bytes);
    mtl_free_data(data);
    if (!metallib) {
        mtl_release(library);
        return NULL;
    }
    PlayProgram *p = s->programs;
    for (int i = 1; i < PLAY_PROGRAMS; i++) // a free place, or the one that waits longest
        if (s->programs[i].used < p->used) p = &s->programs[i];
    free_program(p);
    *p = (PlayProgram){.id = s->next++, .used = ++s->clock, .library = library, .data = metallib};
    return p;
}

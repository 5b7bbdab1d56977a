// SPDX-License-Identifier: Apache-2.0
// scene.h: a pass over one target, for tests that draw a picture and look at its pixels.
#ifndef INGOT_TESTS_SCENE_H
#define INGOT_TESTS_SCENE_H
#include "render_test.h"

typedef struct Scene {
    MTLTexture *t;
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e;
} Scene;

static inline Scene begin(MTLRenderPipelineState *p, size_t width, size_t height) {
    Scene s = {.t = target(MTLPixelFormatRGBA8Unorm, width, height, 1)};
    MTLRenderPassDescriptor d = pass_of(s.t);
    s.commands = mtl_command_queue_command_buffer(queue);
    s.e = mtl_command_buffer_render_command_encoder(s.commands, &d);
    if (p) mtl_render_command_encoder_set_render_pipeline_state(s.e, p);
    return s;
}

static inline void end(Scene *s) {
    mtl_render_command_encoder_end_encoding(s->e);
    finish(s->commands);
}

// The last message was about this rule; the scene is dropped.
static inline void expect(Scene *s, const char *rule) {
    if (strcmp(last_rule, rule) != 0)
        fail_msg("'%s' instead of '%s': %s", last_rule, rule, last_text);
    mtl_render_command_encoder_end_encoding(s->e);
    commit_and_wait(s->commands);
    mtl_release(s->commands), mtl_release(s->t);
    clear_messages();
}
#endif

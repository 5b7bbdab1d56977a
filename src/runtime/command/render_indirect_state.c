// SPDX-License-Identifier: Apache-2.0
// render_indirect_state.c: state of draws in indirect command buffers that do not inherit it. It
// lies at the end of each record (abi/indirect.h); zeros are Metal's defaults.
#include <math.h>
#include <stddef.h>
#include "runtime/command/render_indirect_int.h"
#include "runtime/object/validation.h"
#include "runtime/program/depth_stencil.h"

// The state of a command whose buffer lets it have its own of this kind, or NULL after a message.
static AbiIndirectState *state_of(MTLIndirectRenderCommand *command, RtIndirectOwn kind,
                                  const char *what, const char *call) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, call);
    if (!r) return NULL;
    const MTLIndirectCommandBuffer *icb = command->base.buffer;
    if (icb->own & kind) return (AbiIndirectState *)(void *)((char *)r + icb->head.state_at);
    rt_misuse(icb->resource.device, RT_RULE_indirect_inherited, call, "%s, command %zu of '%s'",
              what, command->base.index, rt_label(&icb->resource.label));
    return NULL;
}

// Settings that are one number of an enumeration.
static const struct Setting {
    RtIndirectOwn kind;
    const char *what; // of MTLIndirectCommandBufferDescriptor
    unsigned last;    // the greatest value
    size_t at;        // in the state
} settings[] = {
#define SETTING(kind, what, last, member)                                                          \
    {RT_OWN_##kind, "inherit_" what, last, offsetof(AbiIndirectState, member)}
    SETTING(CULL, "cull_mode", MTLCullModeBack, cull),
    SETTING(WINDING, "front_facing_winding", MTLWindingCounterClockwise, winding),
    SETTING(FILL, "triangle_fill_mode", MTLTriangleFillModeLines, fill),
    SETTING(CLIP, "depth_clip_mode", MTLDepthClipModeClamp, clip),
#undef SETTING
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static uint32_t *setting_in(const AbiIndirectState *s, size_t i) {
    return (uint32_t *)(void *)((char *)(uintptr_t)s + settings[i].at);
}

static void set(MTLIndirectRenderCommand *command, RtIndirectOwn kind, unsigned value,
                const char *call) {
    size_t i = 0;
    while (settings[i].kind != kind) i++;
    AbiIndirectState *s = state_of(command, kind, settings[i].what, call);
    if (s && value > settings[i].last)
        rt_misuse(command->base.buffer->resource.device, RT_RULE_encoder_option, call,
                  "%u, command %zu of '%s'", value, command->base.index,
                  rt_label(&command->base.buffer->resource.label));
    else if (s)
        *setting_in(s, i) = value;
}

void mtl_indirect_render_command_set_cull_mode(MTLIndirectRenderCommand *command,
                                               MTLCullMode mode) {
    set(command, RT_OWN_CULL, (unsigned)mode, __func__);
}

void mtl_indirect_render_command_set_front_facing_winding(MTLIndirectRenderCommand *command,
                                                          MTLWinding winding) {
    set(command, RT_OWN_WINDING, (unsigned)winding, __func__);
}

void mtl_indirect_render_command_set_triangle_fill_mode(MTLIndirectRenderCommand *command,
                                                        MTLTriangleFillMode mode) {
    set(command, RT_OWN_FILL, (unsigned)mode, __func__);
}

void mtl_indirect_render_command_set_depth_clip_mode(MTLIndirectRenderCommand *command,
                                                     MTLDepthClipMode mode) {
    set(command, RT_OWN_CLIP, (unsigned)mode, __func__);
}

void mtl_indirect_render_command_set_depth_bias(MTLIndirectRenderCommand *command, float depth_bias,
                                                float slope_scale, float clamp) {
    AbiIndirectState *s = state_of(command, RT_OWN_BIAS, "inherit_depth_bias", __func__);
    if (!s) return;
    s->bias = depth_bias;
    s->slope = slope_scale;
    s->clamp = clamp;
}

void mtl_indirect_render_command_set_depth_stencil_state(MTLIndirectRenderCommand *command,
                                                         MTLDepthStencilState *state) {
    AbiIndirectState *s =
        state_of(command, RT_OWN_DEPTH_STENCIL, "inherit_depth_stencil_state", __func__);
    if (s && state && !rt_is(state, &rt_depth_stencil_class))
        rt_misuse(command->base.buffer->resource.device, RT_RULE_wrong_class, __func__, "%s",
                  mtl_class_name(state));
    else if (s)
        s->depth_stencil = mtl_depth_stencil_state_gpu_resource_id(state).impl;
}

// ---- When it runs: nothing in a record is trusted ----

static float number(float v) { return isfinite(v) ? v : 0; }

const char *rt_indirect_take_state(const MTLIndirectCommandBuffer *icb,
                                   const AbiIndirectCommand *record, const DevPass *pass,
                                   DevState *to) {
    if (!icb->own) return NULL;
    const AbiIndirectState *s =
        (const AbiIndirectState *)(const void *)((const char *)record + icb->head.state_at);
    uint8_t *const places[N_SETTINGS] = {&to->cull, &to->winding, &to->fill, &to->depth_clip};
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (*setting_in(s, i) > settings[i].last) return "has state that there is not";
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (icb->own & settings[i].kind) *places[i] = (uint8_t)*setting_in(s, i);
    if (icb->own & RT_OWN_BIAS) {
        to->depth_bias = number(s->bias);
        to->depth_slope = number(s->slope);
        to->depth_bias_clamp = number(s->clamp);
    }
    if (!(icb->own & RT_OWN_DEPTH_STENCIL)) return NULL;
    uint8_t front = to->front.reference, back = to->back.reference;
    to->depth_compare = ABI_COMPARE_ALWAYS;
    to->depth_write = to->stencil = false;
    if (!s->depth_stencil) return NULL;
    MTLDepthStencilState *d = rt_depth_stencil_from_handle(icb->resource.device, s->depth_stencil);
    if (!d) return "has a depth stencil state that does not exist (any more)";
    bool depth = d->depth_compare != ABI_COMPARE_ALWAYS || d->depth_write;
    bool fits = (!depth || pass->depth.view.texture) && (!d->stencil || pass->stencil.view.texture);
    if (fits) {
        to->depth_compare = d->depth_compare;
        to->depth_write = d->depth_write;
        to->stencil = d->stencil;
        to->front = d->front, to->back = d->back;
        to->front.reference = front, to->back.reference = back;
    }
    mtl_release(d);
    return fits ? NULL : "has a depth stencil state for an attachment that the pass lacks";
}

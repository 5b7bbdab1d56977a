// SPDX-License-Identifier: Apache-2.0
// render_encoder.c: MTLRenderCommandEncoder: its life, and the fixed-function state of the draws
// that follow. Attachments: render_pass.c, arguments: render_bind.c, draws: render_draw.c.
#include <math.h>
#include <string.h>
#include "runtime/command/fence.h"
#include "runtime/command/render.h"

RT_CLASS rt_render_encoder_class = {.name = "MTLRenderCommandEncoder", .owner = rt_encoder_owner};

// The public function says which of the classes it is for.
const RtClass *rt_render_class(const char *call) {
    return strncmp(call, "mtl4_", 5) == 0            ? &rt_mtl4_render_encoder_class
           : strncmp(call, "mtl_parallel_", 13) == 0 ? &rt_parallel_encoder_class
                                                     : &rt_render_encoder_class;
}

bool rt_render_valid(MTLRenderCommandEncoder *e, const char *call, RtSite *site) {
    if (!rt_encoder_valid(e, rt_render_class(call), call)) return false;
    *site = (RtSite){e->encoder.buffer->device, e->encoder.buffer, call};
    return true;
}

// ---- Opening and ending ----

void *rt_render_open(MTLCommandBuffer *buffer, const RtClass *cls, size_t n_bytes,
                     const MTLRenderPassDescriptor *descriptor, const char *call) {
    if (buffer && !descriptor) {
        rt_misuse_encoding(buffer, RT_RULE_null_argument, call, "descriptor");
        return NULL;
    }
    if (buffer && !rt_device_has(buffer->device, DEV_RENDER)) {
        rt_misuse_encoding(buffer, RT_RULE_device_feature, call, "'%s' has no render passes",
                           buffer->device->facts.name);
        return NULL;
    }
    MTLRenderCommandEncoder *e = rt_encoder_open(buffer, cls, n_bytes, call);
    if (!e) return NULL;
    const RtSite site = {buffer->device, buffer, call};
    if (!rt_render_init(e, &site) || !rt_render_set_pass(e, &site, descriptor)) goto fail;
    MTLBuffer *visible = descriptor->visibility_result_buffer;
    if (visible) {
        if (!rt_valid_place(&site, visible, "visibility_result_buffer", 0) ||
            !rt_cb_use(buffer, &visible->resource, true))
            goto fail;
        e->visibility_buffer = visible;
    }
    if ((unsigned)descriptor->visibility_result_type > MTLVisibilityResultTypeAccumulate) {
        rt_misuse_at(&site, RT_RULE_encoder_option, "visibility_result_type %d",
                     (int)descriptor->visibility_result_type);
        goto fail;
    }
    e->pass->maps_colors = descriptor->support_color_attachment_mapping;
    e->pass->accumulates = descriptor->visibility_result_type == MTLVisibilityResultTypeAccumulate;
    rt_inspector.begin_pass(e, descriptor->sample_buffer_attachments, call);
    return e;

fail: // the command buffer will end in error; the encoder is one that did nothing
    rt_encoder_end(e, cls, call);
    return NULL;
}

bool rt_render_init(MTLRenderCommandEncoder *e, const RtSite *site) {
    e->pass = rt_cb_alloc_own(site->commands, sizeof *e->pass);
    if (!e->pass) {
        rt_cb_no_memory(site->commands);
        return false;
    }
    e->pass->last_draw = &e->pass->draws;
    e->pass->encoder = &e->encoder;
    for (size_t i = 0; i < RT_MAX_BUFFERS; i++) e->strides[i] = SIZE_MAX;
    return true;
}

MTLRenderCommandEncoder *mtl_command_buffer_render_command_encoder(
    MTLCommandBuffer *buffer, const MTLRenderPassDescriptor *descriptor) {
    return rt_render_open(buffer, &rt_render_encoder_class, sizeof(MTLRenderCommandEncoder),
                          descriptor, __func__);
}

void rt_render_set_actions(MTLRenderCommandEncoder *e, const RtSite *site) {
    DevPass *pass = &e->pass->dev;
    for (unsigned i = 0; i < ABI_MAX_COLORS + 2; i++) {
        bool is_color = i < ABI_MAX_COLORS;
        DevDepth *d = i == ABI_MAX_COLORS ? &pass->depth : &pass->stencil;
        if (!(is_color ? pass->colors[i].view.texture : d->view.texture)) continue;
        if (e->store[i] == MTLStoreActionUnknown &&
            rt_misuse_at(site, RT_RULE_render_store_action, "that of attachment %u is unknown", i))
            e->store[i] = (is_color ? pass->colors[i].view : d->view).texture->n_samples > 1
                              ? MTLStoreActionDontCare
                              : MTLStoreActionStore;
        *(is_color ? &pass->colors[i].load : &d->load) = e->load[i];
        *(is_color ? &pass->colors[i].store : &d->store) = e->store[i];
    }
}

void rt_render_end(MTLRenderCommandEncoder *e, const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (e->parallel) { // the whole has the pass
        rt_parallel_end_part(e);
        return;
    }
    rt_render_set_actions(e, &site);
    rt_cb_append(site.commands, &e->pass->op, &rt_op_render);
    rt_encoder_end(e, rt_render_class(call), call);
}

void mtl_render_command_encoder_end_encoding(MTLRenderCommandEncoder *encoder) {
    rt_render_end(encoder, __func__);
}

// ---- State ----

void rt_render_set_pipeline(MTLRenderCommandEncoder *e, MTLRenderPipelineState *state, RtKeep *keep,
                            const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (!state)
        rt_misuse_at(&site, RT_RULE_null_argument, "state");
    else if (!rt_is(state, &rt_render_pipeline_class))
        rt_misuse_at(&site, RT_RULE_wrong_class, "a %s", mtl_class_name(state));
    else if (state->device != site.device)
        rt_misuse_at(&site, RT_RULE_pipeline_device, "a pipeline of '%s'",
                     state->device->facts.name);
    else if (e->pipeline != state && keep(site.commands, state)) {
        e->pipeline = state;
        e->arguments = NULL;
        e->drawn = NULL;
        e->pipeline_fits = false;
    }
}

void mtl_render_command_encoder_set_render_pipeline_state(MTLRenderCommandEncoder *encoder,
                                                          MTLRenderPipelineState *state) {
    rt_render_set_pipeline(encoder, state, rt_cb_retain, __func__);
}

void rt_render_set_depth_stencil(MTLRenderCommandEncoder *e, MTLDepthStencilState *state,
                                 const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (state && !rt_is(state, &rt_depth_stencil_class)) {
        rt_misuse_at(&site, RT_RULE_wrong_class, "a %s", mtl_class_name(state));
        return;
    }
    if (state && !rt_cb_retain(site.commands, state)) return;
    e->depth_stencil = state;
    e->drawn = NULL;
}

void rt_render_set_references(MTLRenderCommandEncoder *e, uint32_t front, uint32_t back,
                              const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    e->front_reference = front;
    e->back_reference = back;
    e->drawn = NULL;
}

// A value of an enumeration from 0 to `last`, into a field of the state.
void rt_render_set_option(MTLRenderCommandEncoder *e, size_t offset, unsigned value, unsigned last,
                          const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (value > last) {
        rt_misuse_at(&site, RT_RULE_encoder_option, "%u", value);
        return;
    }
    ((uint8_t *)&e->state)[offset] = (uint8_t)value;
    e->drawn = NULL;
}

void rt_render_set_depth_bounds(MTLRenderCommandEncoder *e, float low, float high,
                                const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (!(low >= 0 && high <= 1 && low <= high)) {
        rt_misuse_at(&site, RT_RULE_render_depth_bounds, "%g to %g", (double)low, (double)high);
        return;
    }
    e->state.depth_bounds = low > 0 || high < 1;
    e->state.depth_low = low;
    e->state.depth_high = high;
    e->drawn = NULL;
}

void rt_render_set_depth_bias(MTLRenderCommandEncoder *e, float depth_bias, float slope_scale,
                              float clamp, const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    e->state.depth_bias = depth_bias;
    e->state.depth_slope = slope_scale;
    e->state.depth_bias_clamp = clamp;
    e->drawn = NULL;
}

void rt_render_set_blend_color(MTLRenderCommandEncoder *e, const float color[4], const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    for (int i = 0; i < 4; i++) e->state.blend_color[i] = color[i];
    e->drawn = NULL;
}

void mtl_render_command_encoder_set_blend_color(MTLRenderCommandEncoder *encoder, float red,
                                                float green, float blue, float alpha) {
    const float color[4] = {red, green, blue, alpha};
    rt_render_set_blend_color(encoder, color, __func__);
}

// ---- Where colours go ----

void rt_render_set_color_map(MTLRenderCommandEncoder *e,
                             const MTLLogicalToPhysicalColorAttachmentMap *map, const char *call) {
    RtSite site;
    uint8_t to[ABI_MAX_COLORS] = {0};
    if (!rt_render_valid(e, call, &site)) return;
    for (unsigned i = 0; map && i < ABI_MAX_COLORS; i++) {
        uint32_t place = mtl_logical_to_physical_color_attachment_map_physical_index(map, i);
        to[i] = (uint8_t)(place == i ? 0 : place + 1);
        if (!e->pass->maps_colors || place >= ABI_MAX_COLORS) {
            rt_misuse_at(&site, RT_RULE_color_attachment_map, "colour %u to attachment %u%s", i,
                         place, e->pass->maps_colors ? "" : ": the pass has no mapping");
            return;
        }
        for (unsigned k = 0; k < i; k++)
            if (to[i] && to[i] == to[k]) {
                rt_misuse_at(&site, RT_RULE_color_attachment_map,
                             "colours %u and %u go to attachment %u", k, i, place);
                return;
            }
    }
    memcpy(e->state.color_map, to, sizeof to);
    e->drawn = NULL;
    e->arguments = NULL; // tile functions name attachments
    e->pipeline_fits = false;
}

static bool valid_count(const RtSite *site, const void *list, size_t n, RtRule rule,
                        const char *what) {
    if (list && n > 0 && n <= DEV_MAX_VIEWPORTS) return true;
    rt_misuse_at(site, list ? rule : RT_RULE_null_argument, "%zu %s", n, what);
    return false;
}

void rt_render_set_viewports(MTLRenderCommandEncoder *e, const MTLViewport *v, size_t count,
                             const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (!valid_count(&site, v, count, RT_RULE_render_viewport, "viewports")) return;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(v[i].origin_x) || !isfinite(v[i].origin_y) || !isfinite(v[i].width) ||
            !isfinite(v[i].height) || !isfinite(v[i].znear) || !isfinite(v[i].zfar)) {
            rt_misuse_at(&site, RT_RULE_render_viewport, "%g, %g, %g x %g, %g to %g", v[i].origin_x,
                         v[i].origin_y, v[i].width, v[i].height, v[i].znear, v[i].zfar);
            return;
        }
    for (size_t i = 0; i < count; i++)
        e->state.viewports[i] = (DevViewport){v[i].origin_x, v[i].origin_y, v[i].width,
                                              v[i].height,   v[i].znear,    v[i].zfar};
    e->state.n_viewports = (uint32_t)count;
    e->drawn = NULL;
}

void rt_render_set_scissors(MTLRenderCommandEncoder *e, const MTLScissorRect *r, size_t count,
                            const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (!valid_count(&site, r, count, RT_RULE_render_scissor, "rectangles")) return;
    const DevPass *pass = &e->pass->dev;
    // With a rate map scissors are on the screen.
    const uint32_t width = pass->rates ? pass->rates->width : pass->width;
    const uint32_t height = pass->rates ? pass->rates->height : pass->height;
    const bool cut = rt_tolerates(site.device, RT_RULE_render_scissor); // as the hardware does
    for (size_t i = 0; i < count && !cut; i++)
        if (r[i].width > width || r[i].x > width - r[i].width || r[i].height > height ||
            r[i].y > height - r[i].height) {
            rt_misuse_at(&site, RT_RULE_render_scissor,
                         "%zu x %zu at %zu, %zu, the render target has %u x %u", r[i].width,
                         r[i].height, r[i].x, r[i].y, width, height);
            return;
        }
    for (size_t i = 0; i < count; i++) {
        const size_t x = r[i].x < width ? r[i].x : width;
        const size_t y = r[i].y < height ? r[i].y : height;
        const size_t w = width - x, h = height - y;
        e->state.scissors[i] =
            (DevScissor){(uint32_t)x, (uint32_t)y, (uint32_t)(r[i].width < w ? r[i].width : w),
                         (uint32_t)(r[i].height < h ? r[i].height : h)};
    }
    e->state.n_scissors = (uint32_t)count;
    e->drawn = NULL;
}

#define ONE_OR_MANY(one, many, Type, set)                                                          \
    void mtl_render_command_encoder_set_##one(MTLRenderCommandEncoder *encoder, Type value) {      \
        set(encoder, &value, 1, __func__);                                                         \
    }                                                                                              \
    void mtl_render_command_encoder_set_##many(MTLRenderCommandEncoder *encoder,                   \
                                               const Type *values, size_t count) {                 \
        set(encoder, values, count, __func__);                                                     \
    }
ONE_OR_MANY(viewport, viewports, MTLViewport, rt_render_set_viewports)
ONE_OR_MANY(scissor_rect, scissor_rects, MTLScissorRect, rt_render_set_scissors)
#undef ONE_OR_MANY

void rt_render_set_visibility(MTLRenderCommandEncoder *e, MTLVisibilityResultMode mode,
                              size_t offset, const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    MTLBuffer *buffer = e->visibility_buffer;
    if (mode == MTLVisibilityResultModeDisabled) {
        e->visibility = NULL;
        return;
    }
    if ((unsigned)mode > MTLVisibilityResultModeCounting || !buffer || offset % 8 != 0 ||
        buffer->length < 8 || offset > buffer->length - 8) {
        rt_misuse_at(&site, RT_RULE_render_visibility, "mode %d, offset %zu%s", (int)mode, offset,
                     buffer ? "" : ", no buffer");
        return;
    }
    RtVisible *v = rt_cb_alloc(site.commands, sizeof *v);
    if (!v) {
        rt_cb_no_memory(site.commands);
        return;
    }
    v->at = (_Atomic uint64_t *)(void *)(buffer->memory + offset);
    v->next = e->pass->visible;
    e->pass->visible = v;
    e->visibility = v->at;
    e->counts_any = mode == MTLVisibilityResultModeBoolean;
}

void rt_render_set_store(MTLRenderCommandEncoder *e, MTLStoreAction action, size_t i, size_t end,
                         const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (e->parallel)
        rt_misuse_at(&site, RT_RULE_render_store_action, "it is set on the parallel encoder");
    else if (i >= end)
        rt_misuse_at(&site, RT_RULE_render_store_action, "color attachment %zu", i);
    else if (rt_render_valid_store(&site, e, (unsigned)i, action))
        e->store[i] = (uint8_t)action;
}

// ---- Names, marks, fences ----

bool rt_render_valid_stages(MTLRenderCommandEncoder *e, MTLRenderStages stages, const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return false;
    if (stages &&
        !(stages & ~(uint32_t)(MTLRenderStageVertex | MTLRenderStageFragment | MTLRenderStageTile |
                               MTLRenderStageObject | MTLRenderStageMesh)))
        return true;
    rt_misuse_at(&site, RT_RULE_render_stages, "0x%x", stages);
    return false;
}

void mtl_render_command_encoder_update_fence(MTLRenderCommandEncoder *encoder, MTLFence *fence,
                                             MTLRenderStages after) {
    if (rt_render_valid_stages(encoder, after, __func__))
        rt_encoder_update_fence(encoder, &rt_render_encoder_class, fence, __func__);
}

void mtl_render_command_encoder_wait_for_fence(MTLRenderCommandEncoder *encoder, MTLFence *fence,
                                               MTLRenderStages before) {
    if (rt_render_valid_stages(encoder, before, __func__))
        rt_encoder_wait_for_fence(encoder, &rt_render_encoder_class, fence, __func__);
}

static bool valid_barrier(MTLRenderCommandEncoder *encoder, MTLRenderStages after,
                          MTLRenderStages before, const char *call, RtSite *site) {
    return rt_render_valid_stages(encoder, after, call) &&
           rt_render_valid_stages(encoder, before, call) && rt_render_valid(encoder, call, site);
}

void mtl_render_command_encoder_memory_barrier_with_scope(MTLRenderCommandEncoder *encoder,
                                                          MTLBarrierScope scope,
                                                          MTLRenderStages after,
                                                          MTLRenderStages before) {
    RtSite site;
    if (!valid_barrier(encoder, after, before, __func__, &site)) return;
    if ((scope > 0 && scope <= 7) || rt_misuse_at(&site, RT_RULE_barrier_scope, "scope %u", scope))
        encoder->barrier = true;
}

void mtl_render_command_encoder_memory_barrier_with_resources(MTLRenderCommandEncoder *encoder,
                                                              MTLResource *const *resources,
                                                              size_t count, MTLRenderStages after,
                                                              MTLRenderStages before) {
    RtSite site;
    if (!valid_barrier(encoder, after, before, __func__, &site)) return;
    if (!resources && count > 0)
        rt_misuse_at(&site, RT_RULE_null_argument, "resources");
    else if (count > 0)
        encoder->barrier = true;
}

#include "accessors/command/render_encoder.inc" // plain accessors, from the table

// SPDX-License-Identifier: Apache-2.0
// render_draw.c: the draws of a render encoder: their rules, and the snapshot of state that each
// leaves in its pass.
#include <stdio.h>
#include <string.h>
#include "abi/pixel_format.h"
#include "runtime/command/render.h"

// ---- Rules ----

static const char *format_name(uint32_t format) {
    const AbiPixelFormat *f = format ? abi_pixel_format(format) : NULL;
    return f ? f->name : "none";
}

static uint32_t format_of(const DevTarget *view) {
    return view->texture ? view->texture->pixel_format : 0;
}

const char *rt_render_pipeline_name(const MTLRenderPipelineState *p) {
    const char *label = rt_label(&p->label);
    return *label ? label : rt_render_first(p)->entry->name;
}

// Whether the colours of the pipeline go where the encoder says.
static bool maps(const MTLRenderPipelineState *p, const DevState *state) {
    static const uint8_t identity[ABI_MAX_COLORS];
    return !p->identity_colors && memcmp(state->color_map, identity, sizeof identity) != 0;
}

RtRule rt_render_misfit(const MTLRenderPipelineState *p, const DevPass *pass, const DevState *state,
                        char *text, size_t n_text) {
    // Tile functions are made for the formats they name.
    bool any = p->discard_all || (!p->tile && rt_tolerates(p->device, RT_RULE_draw_formats));
    bool mapped = maps(p, state);
    for (unsigned i = 0; !any && i < ABI_MAX_COLORS + 2; i++) {
        if (mapped && i < ABI_MAX_COLORS && !p->color_formats[i]) continue;
        unsigned at = mapped && i < ABI_MAX_COLORS ? dev_color_place(state, i) : i;
        uint32_t has = i < ABI_MAX_COLORS    ? format_of(&pass->colors[at].view)
                       : i == ABI_MAX_COLORS ? format_of(&pass->depth.view)
                                             : format_of(&pass->stencil.view);
        if (i >= ABI_MAX_COLORS && p->any_depth_stencil) break;
        uint32_t wants = i < ABI_MAX_COLORS    ? p->color_formats[i]
                         : i == ABI_MAX_COLORS ? p->depth_format
                                               : p->stencil_format;
        if (has == wants) continue;
        char place[32];
        snprintf(place, sizeof place, "color attachment %u", i);
        snprintf(text, n_text, "%s: pipeline '%s' has %s, the pass %s",
                 i < ABI_MAX_COLORS    ? place
                 : i == ABI_MAX_COLORS ? "depth attachment"
                                       : "stencil attachment",
                 rt_render_pipeline_name(p), format_name(wants), format_name(has));
        return RT_RULE_draw_formats;
    }
    if (p->imageblock_bytes > pass->imageblock_bytes) {
        snprintf(text, n_text, "pipeline '%s' needs %u bytes, the pass has %u",
                 rt_render_pipeline_name(p), p->imageblock_bytes, pass->imageblock_bytes);
        return RT_RULE_imageblock_sample_length;
    }
    if (p->discard_all || p->n_samples == pass->n_samples) return RT_N_RULES;
    snprintf(text, n_text, "pipeline '%s' has %u, the pass %u", rt_render_pipeline_name(p),
             p->n_samples, pass->n_samples);
    return RT_RULE_draw_samples;
}

// The pipeline against the pass.
static bool valid_pipeline(MTLRenderCommandEncoder *e, const RtSite *site) {
    char text[256];
    if (!e->pipeline) {
        rt_misuse_at(site, RT_RULE_draw_without_pipeline, NULL);
        return false;
    }
    if (e->pipeline_fits) return true;
    RtRule rule = rt_render_misfit(e->pipeline, &e->pass->dev, &e->state, text, sizeof text);
    if (rule != RT_N_RULES) {
        rt_misuse_at(site, rule, "%s", text);
        return false;
    }
    e->pipeline_fits = true;
    return true;
}

bool rt_render_type_fits(const MTLRenderPipelineState *p, uint32_t type) {
    static const uint8_t classes[] = {MTLPrimitiveTopologyClassPoint, MTLPrimitiveTopologyClassLine,
                                      MTLPrimitiveTopologyClassLine,
                                      MTLPrimitiveTopologyClassTriangle,
                                      MTLPrimitiveTopologyClassTriangle};
    return type <= MTLPrimitiveTypeTriangleStrip && !p->patches.type && !p->mesh && !p->tile &&
           (!p->topology || p->topology == classes[type]);
}

// A type that is none draws nothing where that is tolerated, one of another topology draws.
static bool valid_type(const MTLRenderCommandEncoder *e, const RtSite *site,
                       MTLPrimitiveType type) {
    return rt_render_type_fits(e->pipeline, (uint32_t)type) ||
           (rt_misuse_at(site, RT_RULE_draw_primitive_type, "type %d, pipeline '%s'", (int)type,
                         rt_render_pipeline_name(e->pipeline)) &&
            (unsigned)type <= MTLPrimitiveTypeTriangleStrip);
}

bool rt_render_valid_counts(const RtSite *site, size_t start, size_t n, size_t n_instances,
                            size_t base_instance) {
    if (n == 0 || n_instances == 0)
        rt_misuse_at(site, RT_RULE_draw_empty, "%zu, instances %zu", n, n_instances);
    else if (n > UINT32_MAX || start > UINT32_MAX - n || n_instances > UINT32_MAX ||
             base_instance > UINT32_MAX - n_instances)
        rt_misuse_at(site, RT_RULE_draw_limit, "%zu from %zu on, instances %zu from %zu on", n,
                     start, n_instances, base_instance);
    else
        return true;
    return false;
}

// Indices at the offset; n: how many there must be.
static bool set_indices(const RtSite *site, DevDraw *draw, MTLIndexType type, MTLBuffer *buffer,
                        size_t offset, size_t n) {
    if ((unsigned)type > MTLIndexTypeUInt32) {
        rt_misuse_at(site, RT_RULE_draw_index_type, "type %d", (int)type);
        return false;
    }
    size_t size = type == MTLIndexTypeUInt32 ? 4 : 2;
    if (!rt_valid_place(site, buffer, "index_buffer", offset)) return false;
    // Tolerated: those behind the end are 0.
    if ((offset % size != 0 || n > (buffer->length - offset) / size) &&
        !rt_misuse_at(site, RT_RULE_draw_index_buffer,
                      "%zu indices of %zu bytes at offset %zu of buffer '%s' with %zu bytes", n,
                      size, offset, rt_label(&buffer->resource.label), buffer->length))
        return false;
    draw->indices = buffer->memory + offset;
    draw->indices_bytes = buffer->length - offset;
    draw->index_bytes = (uint8_t)size;
    return rt_cb_use(site->commands, &buffer->resource, false);
}

// ---- The snapshot ----

// Whether what the pipeline makes for one format can go into the other: numbers of one kind, and
// blended only where that can be blended.
static bool fits_format(uint32_t from, uint32_t to, bool blends) {
    const AbiPixelFormat *a = from ? abi_pixel_format(from) : NULL;
    const AbiPixelFormat *b = to ? abi_pixel_format(to) : NULL;
    if (!a || !b || a == b) return true;
    bool a_whole = a->kind == ABI_KIND_UINT || a->kind == ABI_KIND_SINT;
    bool b_whole = b->kind == ABI_KIND_UINT || b->kind == ABI_KIND_SINT;
    return (a->kind == b->kind || (!a_whole && !b_whole)) &&
           (!blends || b->caps & ABI_FORMAT_BLEND);
}

void rt_render_add_pipeline(DevState *s, const MTLRenderPipelineState *p, const DevPass *pass,
                            uint8_t primitive) {
    s->primitive = primitive;
    s->discard_all = p->discard_all;
    s->alpha_to_coverage = p->alpha_to_coverage;
    s->alpha_to_one = p->alpha_to_one;
    bool mapped = maps(p, s);
    if (!mapped) memset(s->color_map, 0, sizeof s->color_map);
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++) {
        s->blend[i] = p->blend[i];
        if (!fits_format(p->color_formats[i], format_of(&pass->colors[dev_color_place(s, i)].view),
                         s->blend[i].enabled) ||
            (mapped && !p->color_formats[i]))
            s->blend[i].write_mask = 0;
    }
}

bool rt_render_take_fixed(MTLRenderCommandEncoder *e, const RtSite *site, bool discard_all,
                          DevState *s) {
    const MTLDepthStencilState *d = e->depth_stencil;
    const DevPass *pass = &e->pass->dev;
    bool depth = d && (d->depth_compare != ABI_COMPARE_ALWAYS || d->depth_write);
    // Tolerated: without the attachment every test passes.
    if (!discard_all &&
        ((depth && !pass->depth.view.texture) ||
         (d && d->stencil && !pass->stencil.view.texture)) &&
        !rt_misuse_at(site, RT_RULE_draw_depth_stencil, "state '%s', no %s attachment",
                      rt_label(&d->label),
                      depth && !pass->depth.view.texture ? "depth" : "stencil"))
        return false;
    *s = e->state;
    s->depth_compare = depth ? d->depth_compare : ABI_COMPARE_ALWAYS;
    s->depth_write = depth && d->depth_write;
    s->stencil = d && d->stencil;
    if (s->stencil) {
        s->front = d->front;
        s->back = d->back;
        s->front.reference = (uint8_t)e->front_reference;
        s->back.reference = (uint8_t)e->back_reference;
    }
    return true;
}

// What was set and what the pipeline fixes, for primitives of this type.
static bool take_state(MTLRenderCommandEncoder *e, const RtSite *site, uint8_t primitive) {
    if (e->drawn && e->drawn->primitive == primitive) return true;
    DevState *s = rt_cb_alloc(site->commands, sizeof *s);
    if (!s) {
        rt_cb_no_memory(site->commands);
        return false;
    }
    if (!rt_render_take_fixed(e, site, e->pipeline->discard_all, s)) return false;
    rt_render_add_pipeline(s, e->pipeline, &e->pass->dev, primitive);
    e->drawn = s;
    return true;
}

void rt_render_add_draw(MTLRenderCommandEncoder *e, const RtSite *site, MTLPrimitiveType type,
                        const DevDraw *draw, const char *indirect) {
    if (!take_state(e, site, (uint8_t)type)) return;
    if (!rt_render_fill(e, site)) return;
    if (!e->arguments && !rt_render_take_arguments(e, site)) return;
    if (site->device->debug_layer && !indirect && !rt_render_valid_vertices(e, site, draw)) return;
    RtDraw *d = rt_cb_alloc(site->commands, sizeof *d);
    if (!d) {
        rt_cb_no_memory(site->commands);
        return;
    }
    d->dev = *draw;
    d->dev.label = rt_render_pipeline_name(e->pipeline);
    d->dev.vertex = &e->arguments->vertex;
    d->dev.fragment = &e->arguments->fragment;
    d->dev.state = e->drawn;
    d->dev.barrier = e->barrier;
    d->dev.visibility = e->visibility;
    d->dev.counts_any = e->counts_any;
    if (e->pipeline->mesh) d->dev.mesh = &e->arguments->mesh;
    if (e->pipeline->tile) d->dev.tile = &e->arguments->tile;
    d->dev.amplification = rt_render_views(e->amplification, e->pipeline);
    memcpy(d->dev.views, e->views, sizeof d->dev.views);
    d->arguments = e->arguments;
    d->indirect = indirect;
    e->barrier = false;
    *e->pass->last_draw = d;
    e->pass->last_draw = &d->next;
    e->pass->n_draws++;
}

bool rt_render_begin(MTLRenderCommandEncoder *e, RtDrawKind kind, const char *call, RtSite *site) {
    if (!rt_render_valid(e, call, site) || !valid_pipeline(e, site)) return false;
    const MTLRenderPipelineState *p = e->pipeline;
    RtDrawKind has = p->tile           ? RT_DRAW_TILES
                     : p->mesh         ? RT_DRAW_MESHES
                     : p->patches.type ? RT_DRAW_PATCHES
                                       : RT_DRAW_PRIMITIVES;
    if (has == kind) return true;
    rt_misuse_at(site, RT_RULE_draw_kind, "pipeline '%s'", rt_render_pipeline_name(p));
    return false;
}

bool rt_render_begin_draw(MTLRenderCommandEncoder *e, MTLPrimitiveType type, const char *call,
                          RtSite *site) {
    return rt_render_begin(e, RT_DRAW_PRIMITIVES, call, site) && valid_type(e, site, type);
}

static void draw(MTLRenderCommandEncoder *e, MTLPrimitiveType type, size_t start, size_t n,
                 size_t n_instances, size_t base_instance, const char *call) {
    RtSite site;
    if (!rt_render_begin_draw(e, type, call, &site) ||
        !rt_render_valid_counts(&site, start, n, n_instances, base_instance))
        return;
    const DevDraw d = {.n_vertices = (uint32_t)n,
                       .first_vertex = (uint32_t)start,
                       .n_instances = (uint32_t)n_instances,
                       .base_instance = (uint32_t)base_instance};
    rt_render_add_draw(e, &site, type, &d, NULL);
}

bool rt_render_begin_indexed(MTLRenderCommandEncoder *e, MTLPrimitiveType type, size_t n,
                             size_t n_instances, int64_t base_vertex, size_t base_instance,
                             const char *call, RtSite *site, DevDraw *d) {
    if (!rt_render_begin_draw(e, type, call, site) ||
        !rt_render_valid_counts(site, 0, n, n_instances, base_instance))
        return false;
    if (base_vertex < INT32_MIN || base_vertex > UINT32_MAX) {
        rt_misuse_at(site, RT_RULE_draw_limit, "base vertex %lld", (long long)base_vertex);
        return false;
    }
    *d = (DevDraw){.n_vertices = (uint32_t)n,
                   .first_vertex = (uint32_t)base_vertex,
                   .n_instances = (uint32_t)n_instances,
                   .base_instance = (uint32_t)base_instance};
    return true;
}

static void draw_indexed(MTLRenderCommandEncoder *e, MTLPrimitiveType type, size_t n,
                         MTLIndexType index_type, MTLBuffer *buffer, size_t offset,
                         size_t n_instances, int64_t base_vertex, size_t base_instance,
                         const char *call) {
    RtSite site;
    DevDraw d;
    if (rt_render_begin_indexed(e, type, n, n_instances, base_vertex, base_instance, call, &site,
                                &d) &&
        set_indices(&site, &d, index_type, buffer, offset, n))
        rt_render_add_draw(e, &site, type, &d, NULL);
}

bool rt_render_valid_indirect(const RtSite *site, MTLBuffer *buffer, size_t offset,
                              size_t n_bytes) {
    if (!rt_valid_place(site, buffer, "indirect_buffer", offset)) return false;
    if (offset % 4 != 0 || buffer->length - offset < n_bytes) {
        rt_misuse_at(site, RT_RULE_indirect_offset, "offset %zu, length %zu", offset,
                     buffer->length);
        return false;
    }
    return rt_cb_use(site->commands, &buffer->resource, false);
}

// ---- The public functions ----

void mtl_render_command_encoder_draw_primitives(MTLRenderCommandEncoder *encoder,
                                                MTLPrimitiveType type, size_t vertex_start,
                                                size_t vertex_count) {
    draw(encoder, type, vertex_start, vertex_count, 1, 0, __func__);
}

void mtl_render_command_encoder_draw_primitives_instanced(MTLRenderCommandEncoder *encoder,
                                                          MTLPrimitiveType type,
                                                          size_t vertex_start, size_t vertex_count,
                                                          size_t instance_count,
                                                          size_t base_instance) {
    draw(encoder, type, vertex_start, vertex_count, instance_count, base_instance, __func__);
}

void mtl_render_command_encoder_draw_indexed_primitives(MTLRenderCommandEncoder *encoder,
                                                        MTLPrimitiveType type, size_t index_count,
                                                        MTLIndexType index_type,
                                                        MTLBuffer *index_buffer,
                                                        size_t index_buffer_offset) {
    draw_indexed(encoder, type, index_count, index_type, index_buffer, index_buffer_offset, 1, 0, 0,
                 __func__);
}

void mtl_render_command_encoder_draw_indexed_primitives_instanced(
    MTLRenderCommandEncoder *encoder, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLBuffer *index_buffer, size_t index_buffer_offset,
    size_t instance_count, int64_t base_vertex, size_t base_instance) {
    draw_indexed(encoder, type, index_count, index_type, index_buffer, index_buffer_offset,
                 instance_count, base_vertex, base_instance, __func__);
}

void mtl_render_command_encoder_draw_primitives_indirect(MTLRenderCommandEncoder *encoder,
                                                         MTLPrimitiveType type,
                                                         MTLBuffer *indirect_buffer,
                                                         size_t indirect_buffer_offset) {
    RtSite site;
    if (rt_render_begin_draw(encoder, type, __func__, &site) &&
        rt_render_valid_indirect(&site, indirect_buffer, indirect_buffer_offset,
                                 sizeof(MTLDrawPrimitivesIndirectArguments)))
        rt_render_add_draw(encoder, &site, type, &(DevDraw){0},
                           indirect_buffer->memory + indirect_buffer_offset);
}

void mtl_render_command_encoder_draw_indexed_primitives_indirect(
    MTLRenderCommandEncoder *encoder, MTLPrimitiveType type, MTLIndexType index_type,
    MTLBuffer *index_buffer, size_t index_buffer_offset, MTLBuffer *indirect_buffer,
    size_t indirect_buffer_offset) {
    RtSite site;
    DevDraw d = {0};
    if (rt_render_begin_draw(encoder, type, __func__, &site) &&
        set_indices(&site, &d, index_type, index_buffer, index_buffer_offset, 0) &&
        rt_render_valid_indirect(&site, indirect_buffer, indirect_buffer_offset,
                                 sizeof(MTLDrawIndexedPrimitivesIndirectArguments)))
        rt_render_add_draw(encoder, &site, type, &d,
                           indirect_buffer->memory + indirect_buffer_offset);
}

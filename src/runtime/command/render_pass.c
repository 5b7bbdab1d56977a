// SPDX-License-Identifier: Apache-2.0
// render_pass.c: from an MTLRenderPassDescriptor to the rasteriser's DevPass: the rules of
// attachments, sizes, sample counts, load and store actions.
#include <stdio.h>
#include "abi/pixel_format.h"
#include "runtime/command/rate_map_int.h"
#include "runtime/command/render.h"

enum { MAX_LAYERS = 2048, MAX_SIZE = 16384, DEPTH = ABI_MAX_COLORS, STENCIL, N_PLACES };

MTLRenderPassDescriptor mtl_render_pass_descriptor_make(void) {
    MTLRenderPassDescriptor d = {0};
    for (size_t i = 0; i < ABI_MAX_COLORS; i++) {
        d.color_attachments[i].store_action = MTLStoreActionStore;
        d.color_attachments[i].clear_color.alpha = 1;
    }
    d.depth_attachment.load_action = d.stencil_attachment.load_action = MTLLoadActionClear;
    d.depth_attachment.clear_depth = 1;
    return d;
}

// What the three kinds of attachments share.
typedef struct Place {
    MTLTexture *texture;
    size_t level, slice, plane;
    MTLTexture *resolve;
    size_t resolve_level, resolve_slice, resolve_plane;
    unsigned load, store;
    char name[24]; // for messages
} Place;

#define PLACE(a)                                                                                   \
    (Place) {                                                                                      \
        .texture = (a).texture, .level = (a).level, .slice = (a).slice, .plane = (a).depth_plane,  \
        .resolve = (a).resolve_texture, .resolve_level = (a).resolve_level,                        \
        .resolve_slice = (a).resolve_slice, .resolve_plane = (a).resolve_depth_plane,              \
        .load = (a).load_action, .store = (a).store_action                                         \
    }

// ---- Attachments ----

static bool is_memoryless(const MTLTexture *texture) {
    return rt_storage_mode(&texture->resource) == MTLStorageModeMemoryless;
}

static bool can_be_target(const AbiTexture *t) {
    return t->type != ABI_TEXTURE_1D && t->type != ABI_TEXTURE_1D_ARRAY &&
           t->type != ABI_TEXTURE_BUFFER && !t->swizzled;
}

static bool valid_texture(const RtSite *site, const MTLTexture *texture, const Place *p,
                          unsigned caps, const char *what) {
    char name[RT_TEXTURE_NAME];
    if (!rt_is_texture(site, texture, p->name)) return false;
    // Without the debug layer a Mac draws into textures of another usage too, and programs do.
    bool usable = !texture->usage || texture->usage & MTLTextureUsageRenderTarget ||
                  !site->device->debug_layer;
    if (can_be_target(&texture->record) && texture->record.format->caps & caps && usable)
        return true;
    rt_misuse_at(site, RT_RULE_render_attachment, "%s%s: texture %s, usage 0x%x", p->name, what,
                 rt_texture_name(texture, name), texture->usage);
    return false;
}

// The image as the rasteriser takes it, with all layers of the pass.
static bool set_view(const RtSite *site, const Place *p, const MTLTexture *texture, size_t level,
                     size_t slice, size_t plane, uint32_t n_layers, DevTarget *view) {
    const AbiTexture *t = &texture->record;
    char name[RT_TEXTURE_NAME];
    bool deep = t->type == ABI_TEXTURE_3D;
    size_t n = level >= t->n_levels ? 0 : deep ? t->levels[level].depth : abi_texture_n_slices(t);
    size_t first = deep ? plane : slice;
    if (first >= n || n_layers > n - first || (deep ? slice : plane) != 0) {
        rt_misuse_at(site, RT_RULE_render_attachment_range,
                     "%s: level %zu, slice %zu, depth plane %zu, layers %u of texture %s", p->name,
                     level, slice, plane, n_layers, rt_texture_name(texture, name));
        return false;
    }
    *view = (DevTarget){t, (uint32_t)level, (uint32_t)first};
    return true;
}

static bool valid_resolve(const RtSite *site, const Place *p, unsigned caps, uint32_t n_layers,
                          DevTarget *view) {
    const AbiTexture *from = &p->texture->record;
    char name[RT_TEXTURE_NAME];
    if (!p->resolve || from->n_samples == 1) {
        rt_misuse_at(site, RT_RULE_render_resolve, "%s: %s, texture %s", p->name,
                     p->resolve ? "one sample" : "no resolve texture",
                     rt_texture_name(p->texture, name));
        return false;
    }
    if (!valid_texture(site, p->resolve, p, caps, ", resolve texture") ||
        !set_view(site, p, p->resolve, p->resolve_level, p->resolve_slice, p->resolve_plane,
                  n_layers, view))
        return false;
    const AbiTexture *to = &p->resolve->record;
    const AbiTextureLevel *a = &from->levels[p->level], *b = &to->levels[p->resolve_level];
    if (to->n_samples == 1 && to->pixel_format == from->pixel_format && a->width == b->width &&
        a->height == b->height && !is_memoryless(p->resolve))
        return true;
    rt_misuse_at(site, RT_RULE_render_resolve, "%s: %s samples, resolve texture %s", p->name,
                 from->format->name, rt_texture_name(p->resolve, name));
    return false;
}

static bool resolves(unsigned store) {
    return store == MTLStoreActionMultisampleResolve ||
           store == MTLStoreActionStoreAndMultisampleResolve;
}

static bool valid_store(const RtSite *site, Place *p) {
    bool stores =
        p->store == MTLStoreActionStore || p->store == MTLStoreActionStoreAndMultisampleResolve;
    char name[RT_TEXTURE_NAME];
    bool known = p->store <= MTLStoreActionUnknown;
    if (known && !(stores && is_memoryless(p->texture))) return true;
    if (!rt_misuse_at(site, RT_RULE_render_store_action, "%s: action %u, %stexture %s", p->name,
                      p->store, is_memoryless(p->texture) ? "memoryless " : "",
                      rt_texture_name(p->texture, name)))
        return false;
    // What cannot be stored is not, the rest of the action remains.
    p->store =
        known && resolves(p->store) ? MTLStoreActionMultisampleResolve : MTLStoreActionDontCare;
    return true;
}

// Attachment i, into its two views.
static bool set_place(MTLRenderCommandEncoder *e, const RtSite *site, unsigned i, Place *p,
                      DevTarget *view, DevTarget *resolve) {
    static const unsigned caps[] = {ABI_FORMAT_COLOR, ABI_FORMAT_DEPTH, ABI_FORMAT_STENCIL};
    if (i < DEPTH)
        snprintf(p->name, sizeof p->name, "color attachment %u", i);
    else
        snprintf(p->name, sizeof p->name, "%s attachment", i == DEPTH ? "depth" : "stencil");
    if (!p->texture) return true;
    unsigned cap = caps[i < DEPTH ? 0 : i - DEPTH + 1];
    uint32_t n_layers = e->pass->dev.n_layers ? e->pass->dev.n_layers : 1;
    if (!valid_texture(site, p->texture, p, cap, "") ||
        !set_view(site, p, p->texture, p->level, p->slice, p->plane, n_layers, view))
        return false;
    if (p->load > MTLLoadActionClear ||
        (p->load == MTLLoadActionLoad && is_memoryless(p->texture))) {
        char name[RT_TEXTURE_NAME];
        if (!rt_misuse_at(site, RT_RULE_render_load_action, "%s: action %u, texture %s", p->name,
                          p->load, rt_texture_name(p->texture, name)))
            return false;
        p->load = MTLLoadActionDontCare;
    }
    // An action that is not known yet may become one that resolves.
    bool may = p->store == MTLStoreActionUnknown && p->resolve;
    if (!valid_store(site, p) ||
        ((resolves(p->store) || may) &&
         !valid_resolve(site, p, i < DEPTH ? (unsigned)ABI_FORMAT_RESOLVE : cap, n_layers,
                        resolve)))
        return false;
    e->load[i] = (uint8_t)p->load;
    e->store[i] = (uint8_t)p->store;
    return rt_cb_use(site->commands, &p->texture->resource, true) &&
           (!resolve->texture || rt_cb_use(site->commands, &p->resolve->resource, true));
}

bool rt_render_valid_store(const RtSite *site, MTLRenderCommandEncoder *e, unsigned i,
                           MTLStoreAction action) {
    const DevPass *pass = &e->pass->dev;
    const DevTarget *view = i < DEPTH    ? &pass->colors[i].view
                            : i == DEPTH ? &pass->depth.view
                                         : &pass->stencil.view;
    const DevTarget *resolve = i < DEPTH    ? &pass->colors[i].resolve
                               : i == DEPTH ? &pass->depth.resolve
                                            : &pass->stencil.resolve;
    bool memoryless = view->texture && !view->texture->levels[view->level].data;
    bool stores =
        action == MTLStoreActionStore || action == MTLStoreActionStoreAndMultisampleResolve;
    if (view->texture && e->store[i] == MTLStoreActionUnknown &&
        (unsigned)action < MTLStoreActionUnknown && !(stores && memoryless) &&
        !(resolves(action) && !resolve->texture))
        return true;
    rt_misuse_at(site, RT_RULE_render_store_action, "action %d of attachment %u%s", (int)action, i,
                 !view->texture                         ? ", which is not there"
                 : e->store[i] != MTLStoreActionUnknown ? ", which has one already"
                                                        : "");
    return false;
}

// ---- The pass as a whole ----

static bool valid_together(const RtSite *site, const DevPass *pass, const Place *places) {
    for (unsigned i = 0; i < DEPTH; i++)
        for (unsigned k = 0; k < i; k++)
            if (places[i].texture && places[i].texture == places[k].texture &&
                places[i].level == places[k].level && places[i].slice == places[k].slice &&
                places[i].plane == places[k].plane &&
                !rt_misuse_at(site, RT_RULE_render_attachment_twice, "color attachments %u and %u",
                              k, i))
                return false;
    const DevTarget *d = &pass->depth.view, *s = &pass->stencil.view;
    unsigned both = ABI_FORMAT_DEPTH | ABI_FORMAT_STENCIL;
    if (d->texture && s->texture &&
        ((d->texture->format->caps & both) == both || (s->texture->format->caps & both) == both) &&
        (d->texture != s->texture || d->level != s->level || d->slice != s->slice)) {
        rt_misuse_at(site, RT_RULE_render_depth_stencil_texture, "formats %s and %s",
                     d->texture->format->name, s->texture->format->name);
        return false;
    }
    return true;
}

// Size and samples: those of the attachments, or what the descriptor says.
static bool set_size(const RtSite *site, const MTLRenderPassDescriptor *d, DevPass *pass,
                     const Place *places) {
    size_t width = SIZE_MAX, height = SIZE_MAX, samples = 0;
    for (unsigned i = 0; i < N_PLACES; i++) {
        if (!places[i].texture) continue;
        const AbiTexture *t = &places[i].texture->record;
        const AbiTextureLevel *level = &t->levels[places[i].level];
        width = level->width < width ? level->width : width;
        height = level->height < height ? level->height : height;
        if (samples && samples != t->n_samples) {
            rt_misuse_at(site, RT_RULE_render_sample_count, "%s has %u, others %zu", places[i].name,
                         t->n_samples, samples);
            return false;
        }
        samples = t->n_samples;
    }
    bool none = samples == 0;
    if (none) samples = d->default_raster_sample_count ? d->default_raster_sample_count : 1;
    if (samples != 1 && samples != 2 && samples != 4 && samples != 8) {
        rt_misuse_at(site, RT_RULE_render_sample_count, "default_raster_sample_count %zu", samples);
        return false;
    }
    size_t w = d->render_target_width, h = d->render_target_height;
    if ((none && (w == 0 || h == 0)) || w > MAX_SIZE || h > MAX_SIZE || w > width || h > height) {
        rt_misuse_at(site, RT_RULE_render_target_size, "%zu x %zu%s", w, h,
                     none ? ", no attachment" : "");
        return false;
    }
    pass->width = (uint32_t)(w ? w : width);
    pass->height = (uint32_t)(h ? h : height);
    pass->n_samples = (uint32_t)samples;
    return true;
}

static bool set_positions(const RtSite *site, const MTLRenderPassDescriptor *d, DevPass *pass) {
    bool ok = !d->sample_position_count || d->sample_position_count == pass->n_samples;
    for (size_t i = 0; ok && i < d->sample_position_count; i++) {
        const float at[2] = {d->sample_positions[i].x, d->sample_positions[i].y};
        for (int k = 0; k < 2; k++) {
            ok = ok && at[k] >= 0 && at[k] <= 15.0f / 16;
            pass->sample_positions[i][k] = at[k];
        }
    }
    if (!ok)
        rt_misuse_at(site, RT_RULE_render_sample_positions, "%zu positions, %u samples",
                     d->sample_position_count, pass->n_samples);
    pass->n_sample_positions = (uint32_t)d->sample_position_count;
    return ok;
}

// The map, and its size instead of the target's for what is in screen coordinates.
static bool set_rates(const RtSite *site, const MTLRenderPassDescriptor *d, DevPass *pass) {
    MTLRasterizationRateMap *map = d->rasterization_rate_map;
    if (!map) return true;
    if (!rt_is(map, &rt_rate_map_class) || map->device != site->device) {
        rt_misuse_at(site, RT_RULE_wrong_class, "rasterization_rate_map: a %s",
                     mtl_class_name(map));
        return false;
    }
    for (uint32_t i = 0; i < map->rates.n_layers; i++) {
        const DevRateLayer *l = &map->layers[i];
        float width = l->columns[2 * l->n_columns + 1], height = l->rows[2 * l->n_rows + 1];
        if (width <= (float)pass->width && height <= (float)pass->height) continue;
        rt_misuse_at(site, RT_RULE_rate_map,
                     "layer %u needs %g x %g pixels, the target has %u x %u", i, (double)width,
                     (double)height, pass->width, pass->height);
        return false;
    }
    pass->rates = &map->rates;
    return rt_cb_hold(site->commands, map);
}

bool rt_render_set_pass(MTLRenderCommandEncoder *e, const RtSite *site,
                        const MTLRenderPassDescriptor *d) {
    DevPass *pass = &e->pass->dev;
    Place places[N_PLACES];
    if (d->render_target_array_length > MAX_LAYERS) {
        rt_misuse_at(site, RT_RULE_render_target_array, "%zu", d->render_target_array_length);
        return false;
    }
    pass->n_layers = (uint32_t)d->render_target_array_length;
    for (unsigned i = 0; i < DEPTH; i++) {
        const MTLRenderPassColorAttachmentDescriptor *c = &d->color_attachments[i];
        places[i] = PLACE(*c);
        DevColor *to = &pass->colors[i];
        if (!set_place(e, site, i, &places[i], &to->view, &to->resolve)) return false;
        const double clear[4] = {c->clear_color.red, c->clear_color.green, c->clear_color.blue,
                                 c->clear_color.alpha};
        for (int k = 0; k < 4; k++) to->clear[k] = clear[k];
    }
    places[DEPTH] = PLACE(d->depth_attachment);
    places[STENCIL] = PLACE(d->stencil_attachment);
    if (!set_place(e, site, DEPTH, &places[DEPTH], &pass->depth.view, &pass->depth.resolve) ||
        !set_place(e, site, STENCIL, &places[STENCIL], &pass->stencil.view, &pass->stencil.resolve))
        return false;
    unsigned depth_filter = d->depth_attachment.depth_resolve_filter;
    unsigned stencil_filter = d->stencil_attachment.stencil_resolve_filter;
    if (depth_filter > MTLMultisampleDepthResolveFilterMax ||
        stencil_filter > MTLMultisampleStencilResolveFilterDepthResolvedSample ||
        !(d->depth_attachment.clear_depth >= 0 && d->depth_attachment.clear_depth <= 1)) {
        rt_misuse_at(site, RT_RULE_encoder_option, "resolve filters %u and %u, clear depth %g",
                     depth_filter, stencil_filter, d->depth_attachment.clear_depth);
        return false;
    }
    pass->depth.resolve_filter = (uint8_t)depth_filter;
    pass->stencil.resolve_filter = (uint8_t)stencil_filter;
    pass->depth.clear = d->depth_attachment.clear_depth;
    pass->stencil.clear = d->stencil_attachment.clear_stencil & 255;
    return valid_together(site, pass, places) && set_size(site, d, pass, places) &&
           set_positions(site, d, pass) && set_rates(site, d, pass) &&
           rt_render_set_tiles(site, d, pass);
}

// SPDX-License-Identifier: Apache-2.0
// blit_texture.c: copies between buffers and textures and between textures. They are all one
// operation: rows of bytes in planes, at two addresses with their own distances. The slices of a
// level lie like planes, so a copy of many slices is one operation per level. Depth or stencil
// alone is the same with gaps between elements.
#include <stdio.h>
#include "runtime/command/blit.h"
#include "runtime/command/execute.h"

typedef struct MoveOp {
    RtOp op;
    DevMove move;
} MoveOp;

static RtOpResult run_move(RtOp *op, RtExecution *x) {
    const MoveOp *m = (const MoveOp *)(const void *)op;
    return dev_move(x->buffer->device->table, x->run, &m->move) ? RT_OP_DONE : RT_OP_FAILED;
}

static void describe_move(const RtOp *op, char *text, size_t n_bytes) {
    const DevMove *m = &((const MoveOp *)(const void *)op)->move;
    snprintf(text, n_bytes, "\"bytes\":%zu",
             (m->element ? m->element * m->n_elements : m->row) * m->n_rows * m->n_planes);
}

static const RtOpClass move_class = {
    .name = "copy texture", .run = run_move, .describe = describe_move};

static void append_move(const RtSite *site, const DevMove *move) {
    MoveOp *op = rt_cb_alloc(site->commands, sizeof *op);
    if (!op) {
        rt_cb_no_memory(site->commands);
        return;
    }
    op->move = *move;
    rt_cb_append(site->commands, &op->op, &move_class);
}

static DevSide texture_side(const MTLTexture *texture, size_t level, size_t slice, MTLOrigin origin,
                            size_t sample) {
    return rt_texture_side(&texture->record, level, slice, origin, sample);
}

// ---- Buffers and textures ----

// What one texel of the aspect is: in the buffer, and where in the texture's texel.
typedef struct Aspect {
    size_t texel;   // bytes in the buffer
    size_t element; // bytes copied; 0: all of it
    size_t offset;  // in the texture's texel
    bool twiddled;  // the buffer's blocks are in Z order
} Aspect;

static bool aspect_of(const RtSite *site, const MTLTexture *texture, MTLBlitOption options,
                      Aspect *a) {
    const AbiPixelFormat *f = texture->record.format;
    char name[RT_TEXTURE_NAME];
    bool depth = f->caps & ABI_FORMAT_DEPTH, stencil = f->caps & ABI_FORMAT_STENCIL;
    bool x32 = f->value == MTLPixelFormatX32_Stencil8, x24 = f->value == MTLPixelFormatX24_Stencil8;
    bool row_linear = options == MTLBlitOptionRowLinearPVRTC && abi_format_is_pvrtc(f);
    *a = (Aspect){.texel = f->block_bytes, .twiddled = rt_texture_twiddled(texture) && !row_linear};
    if ((depth && stencil) || x32 || x24) {
        if (options == MTLBlitOptionDepthFromDepthStencil && depth) {
            *a = (Aspect){4, f->value == MTLPixelFormatDepth24Unorm_Stencil8 ? 3 : 4, 0, false};
            return true;
        }
        if (options == MTLBlitOptionStencilFromDepthStencil ||
            (options == MTLBlitOptionNone && !depth)) {
            bool wide = x32 || f->value == MTLPixelFormatDepth32Float_Stencil8;
            *a = (Aspect){1, 1, wide ? 4 : 3, false};
            return true;
        }
    } else if (options == MTLBlitOptionNone || row_linear ||
               (options == MTLBlitOptionDepthFromDepthStencil && depth) ||
               (options == MTLBlitOptionStencilFromDepthStencil && stencil)) {
        return true;
    }
    rt_misuse_at(site, RT_RULE_blit_options, "options 0x%x, texture %s", options,
                 rt_texture_name(texture, name));
    return false;
}

// The checks both directions share. On success the distances hold what 0 stands for.
static bool valid_image(const RtSite *site, const MTLTexture *texture, const MTLBuffer *buffer,
                        size_t offset, size_t *bytes_per_row, size_t *bytes_per_image,
                        MTLRegion region, size_t slice, size_t level, const Aspect *aspect) {
    char name[RT_TEXTURE_NAME];
    size_t n_bytes;
    if (texture->record.n_samples > 1) {
        rt_misuse_at(site, RT_RULE_blit_samples, "a buffer holds no samples, texture %s",
                     rt_texture_name(texture, name));
        return false;
    }
    if (!rt_valid_region(site, texture, level, slice, region) ||
        !rt_valid_strides(site, texture, region.size, aspect->texel, aspect->twiddled,
                          bytes_per_row, bytes_per_image, &n_bytes) ||
        !rt_blit_valid_buffer(site, buffer, "buffer", offset, n_bytes))
        return false;
    return offset % aspect->texel == 0 ||
           rt_misuse_at(site, RT_RULE_blit_offset_alignment,
                        "offset %zu, %zu bytes each, texture %s", offset, aspect->texel,
                        rt_texture_name(texture, name));
}

void mtl_blit_command_encoder_copy_from_buffer_to_texture(
    MTLBlitCommandEncoder *encoder, MTLBuffer *source, size_t source_offset,
    size_t source_bytes_per_row, size_t source_bytes_per_image, MTLSize source_size,
    MTLTexture *destination, size_t destination_slice, size_t destination_level,
    MTLOrigin destination_origin, MTLBlitOption options) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_blit_buffer_to_texture(
            &site, source, source_offset, source_bytes_per_row, source_bytes_per_image, source_size,
            destination, destination_slice, destination_level, destination_origin, options);
}

void rt_blit_buffer_to_texture(const RtSite *site, MTLBuffer *source, size_t source_offset,
                               size_t source_bytes_per_row, size_t source_bytes_per_image,
                               MTLSize source_size, MTLTexture *destination,
                               size_t destination_slice, size_t destination_level,
                               MTLOrigin destination_origin, MTLBlitOption options) {
    Aspect aspect;
    const MTLRegion region = {destination_origin, source_size};
    if (!rt_blit_valid_texture(site, destination, "destination") ||
        !rt_blit_valid_buffer(site, source, "source", 0, 0) ||
        !aspect_of(site, destination, options, &aspect) ||
        !valid_image(site, destination, source, source_offset, &source_bytes_per_row,
                     &source_bytes_per_image, region, destination_slice, destination_level,
                     &aspect))
        return;
    DevMove move = {.from = {.at = source->memory + source_offset,
                             .row = source_bytes_per_row,
                             .plane = source_bytes_per_image,
                             .step = aspect.texel,
                             .twiddled = aspect.twiddled},
                    .to = texture_side(destination, destination_level, destination_slice,
                                       destination_origin, 0),
                    .element = aspect.element};
    move.to.at += aspect.offset;
    rt_texture_extent(&move, destination->record.format, source_size);
    if (rt_cb_use(site->commands, &source->resource, false) &&
        rt_cb_use(site->commands, &destination->resource, true))
        append_move(site, &move);
}

void mtl_blit_command_encoder_copy_from_texture_to_buffer(
    MTLBlitCommandEncoder *encoder, MTLTexture *source, size_t source_slice, size_t source_level,
    MTLOrigin source_origin, MTLSize source_size, MTLBuffer *destination, size_t destination_offset,
    size_t destination_bytes_per_row, size_t destination_bytes_per_image, MTLBlitOption options) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_blit_texture_to_buffer(&site, source, source_slice, source_level, source_origin,
                                  source_size, destination, destination_offset,
                                  destination_bytes_per_row, destination_bytes_per_image, options);
}

void rt_blit_texture_to_buffer(const RtSite *site, MTLTexture *source, size_t source_slice,
                               size_t source_level, MTLOrigin source_origin, MTLSize source_size,
                               MTLBuffer *destination, size_t destination_offset,
                               size_t destination_bytes_per_row, size_t destination_bytes_per_image,
                               MTLBlitOption options) {
    Aspect aspect;
    const MTLRegion region = {source_origin, source_size};
    if (!rt_blit_valid_texture(site, source, "source") ||
        !rt_blit_valid_buffer(site, destination, "destination", 0, 0) ||
        !aspect_of(site, source, options, &aspect) ||
        !valid_image(site, source, destination, destination_offset, &destination_bytes_per_row,
                     &destination_bytes_per_image, region, source_slice, source_level, &aspect))
        return;
    DevMove move = {.from = texture_side(source, source_level, source_slice, source_origin, 0),
                    .to = {.at = destination->memory + destination_offset,
                           .row = destination_bytes_per_row,
                           .plane = destination_bytes_per_image,
                           .step = aspect.texel,
                           .twiddled = aspect.twiddled},
                    .element = aspect.element,
                    .fill = aspect.element ? aspect.texel - aspect.element : 0};
    move.from.at += aspect.offset;
    rt_texture_extent(&move, source->record.format, source_size);
    if (rt_cb_use(site->commands, &source->resource, false) &&
        rt_cb_use(site->commands, &destination->resource, true))
        append_move(site, &move);
}

// ---- Textures ----

static bool valid_pair(const RtSite *site, const MTLTexture *source,
                       const MTLTexture *destination) {
    char a[RT_TEXTURE_NAME], b[RT_TEXTURE_NAME];
    if (!rt_blit_valid_texture(site, source, "source") ||
        !rt_blit_valid_texture(site, destination, "destination"))
        return false;
    if (source->record.pixel_format != destination->record.pixel_format) {
        // Tolerated: bits are copied, where both have as many for a texel.
        if (!rt_misuse_at(site, RT_RULE_blit_formats, "%s and %s", rt_texture_name(source, a),
                          rt_texture_name(destination, b)) ||
            !abi_format_view_compatible(source->record.format, destination->record.format))
            return false;
    }
    if (source->record.n_samples != destination->record.n_samples) {
        rt_misuse_at(site, RT_RULE_blit_samples, "%u and %u, %s and %s", source->record.n_samples,
                     destination->record.n_samples, rt_texture_name(source, a),
                     rt_texture_name(destination, b));
        return false;
    }
    return true;
}

static bool meet(size_t a, size_t b, size_t n) { return a < b + n && b < a + n; }

// Do both regions lie in one level of one memory and have texels in common?
static bool overlap(const MTLTexture *source, size_t source_level, size_t source_slice, MTLOrigin s,
                    const MTLTexture *destination, size_t destination_level,
                    size_t destination_slice, MTLOrigin d, MTLSize n) {
    const AbiTextureLevel *a = &source->record.levels[source_level];
    const AbiTextureLevel *b = &destination->record.levels[destination_level];
    return a->data + source_slice * a->layer_bytes ==
               b->data + destination_slice * b->layer_bytes &&
           meet(s.x, d.x, n.width) && meet(s.y, d.y, n.height) && meet(s.z, d.z, n.depth);
}

static bool use_pair(const RtSite *site, MTLTexture *source, MTLTexture *destination) {
    return rt_cb_use(site->commands, &source->resource, false) &&
           rt_cb_use(site->commands, &destination->resource, true);
}

void mtl_blit_command_encoder_copy_from_texture(MTLBlitCommandEncoder *encoder, MTLTexture *source,
                                                size_t source_slice, size_t source_level,
                                                MTLOrigin source_origin, MTLSize source_size,
                                                MTLTexture *destination, size_t destination_slice,
                                                size_t destination_level,
                                                MTLOrigin destination_origin) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_blit_texture_region(&site, source, source_slice, source_level, source_origin,
                               source_size, destination, destination_slice, destination_level,
                               destination_origin);
}

void rt_blit_texture_region(const RtSite *site, MTLTexture *source, size_t source_slice,
                            size_t source_level, MTLOrigin source_origin, MTLSize source_size,
                            MTLTexture *destination, size_t destination_slice,
                            size_t destination_level, MTLOrigin destination_origin) {
    char name[RT_TEXTURE_NAME];
    if (!valid_pair(site, source, destination) ||
        !rt_valid_region(site, source, source_level, source_slice,
                         (MTLRegion){source_origin, source_size}) ||
        !rt_valid_region(site, destination, destination_level, destination_slice,
                         (MTLRegion){destination_origin, source_size}))
        return;
    if (overlap(source, source_level, source_slice, source_origin, destination, destination_level,
                destination_slice, destination_origin, source_size)) {
        rt_misuse_at(site, RT_RULE_blit_overlap, "two regions of texture %s",
                     rt_texture_name(destination, name));
        return;
    }
    if (!use_pair(site, source, destination)) return;
    for (uint32_t sample = 0; sample < source->record.n_samples; sample++) {
        DevMove move = {.from =
                            texture_side(source, source_level, source_slice, source_origin, sample),
                        .to = texture_side(destination, destination_level, destination_slice,
                                           destination_origin, sample)};
        rt_texture_extent(&move, source->record.format, source_size);
        append_move(site, &move);
    }
}

static bool same_size(const AbiTextureLevel *a, const AbiTextureLevel *b) {
    return a->width == b->width && a->height == b->height && a->depth == b->depth;
}

static bool valid_slices(const RtSite *site, const MTLTexture *texture, size_t slice, size_t level,
                         size_t n_slices, size_t n_levels) {
    const AbiTexture *t = &texture->record;
    char name[RT_TEXTURE_NAME];
    size_t all = abi_texture_n_slices(t);
    if (n_levels == 0 || level >= t->n_levels || n_levels > t->n_levels - level) {
        rt_misuse_at(site, RT_RULE_texture_level, "%zu levels from %zu on, texture %s has %u",
                     n_levels, level, rt_texture_name(texture, name), t->n_levels);
        return false;
    }
    if (n_slices == 0 || slice >= all || n_slices > all - slice) {
        rt_misuse_at(site, RT_RULE_texture_slice, "%zu slices from %zu on, texture %s has %zu",
                     n_slices, slice, rt_texture_name(texture, name), all);
        return false;
    }
    return true;
}

static void copy_slices(const RtSite *site, MTLTexture *source, size_t source_slice,
                        size_t source_level, MTLTexture *destination, size_t destination_slice,
                        size_t destination_level, size_t n_slices, size_t n_levels) {
    char a[RT_TEXTURE_NAME], b[RT_TEXTURE_NAME];
    if (!valid_slices(site, source, source_slice, source_level, n_slices, n_levels) ||
        !valid_slices(site, destination, destination_slice, destination_level, n_slices, n_levels))
        return;
    for (size_t i = 0; i < n_levels; i++) {
        const AbiTextureLevel *from = &source->record.levels[source_level + i];
        const AbiTextureLevel *to = &destination->record.levels[destination_level + i];
        if (!same_size(from, to)) {
            rt_misuse_at(site, RT_RULE_blit_sizes, "level %zu of %s and level %zu of %s",
                         source_level + i, rt_texture_name(source, a), destination_level + i,
                         rt_texture_name(destination, b));
            return;
        }
        const unsigned char *x = from->data + source_slice * from->layer_bytes;
        const unsigned char *y = to->data + destination_slice * to->layer_bytes;
        size_t planes = n_slices * from->depth;
        if (x < y + planes * to->layer_bytes && y < x + planes * from->layer_bytes) {
            rt_misuse_at(site, RT_RULE_blit_overlap, "slices of texture %s",
                         rt_texture_name(destination, b));
            return;
        }
    }
    if (!use_pair(site, source, destination)) return;
    for (size_t i = 0; i < n_levels; i++) {
        const AbiTextureLevel *from = &source->record.levels[source_level + i];
        for (uint32_t sample = 0; sample < source->record.n_samples; sample++) {
            DevMove move = {.from = texture_side(source, source_level + i, source_slice,
                                                 (MTLOrigin){0, 0, 0}, sample),
                            .to = texture_side(destination, destination_level + i,
                                               destination_slice, (MTLOrigin){0, 0, 0}, sample)};
            rt_texture_extent(&move, source->record.format,
                              mtl_size_make(from->width, from->height, n_slices * from->depth));
            append_move(site, &move);
        }
    }
}

void mtl_blit_command_encoder_copy_from_texture_slices(MTLBlitCommandEncoder *encoder,
                                                       MTLTexture *source, size_t source_slice,
                                                       size_t source_level, MTLTexture *destination,
                                                       size_t destination_slice,
                                                       size_t destination_level, size_t slice_count,
                                                       size_t level_count) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_blit_texture_slices(&site, source, source_slice, source_level, destination,
                               destination_slice, destination_level, slice_count, level_count);
}

void rt_blit_texture_slices(const RtSite *site, MTLTexture *source, size_t source_slice,
                            size_t source_level, MTLTexture *destination, size_t destination_slice,
                            size_t destination_level, size_t n_slices, size_t n_levels) {
    if (valid_pair(site, source, destination))
        copy_slices(site, source, source_slice, source_level, destination, destination_slice,
                    destination_level, n_slices, n_levels);
}

void mtl_blit_command_encoder_copy_from_texture_to_texture(MTLBlitCommandEncoder *encoder,
                                                           MTLTexture *source,
                                                           MTLTexture *destination) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site)) rt_blit_textures(&site, source, destination);
}

void rt_blit_textures(const RtSite *site, MTLTexture *source, MTLTexture *destination) {
    char a[RT_TEXTURE_NAME], b[RT_TEXTURE_NAME];
    if (!valid_pair(site, source, destination)) return;
    const AbiTexture *s = &source->record, *d = &destination->record;
    // The larger one's levels are skipped until they have the other's size.
    uint32_t from = 0, to = 0;
    while (from < s->n_levels && !same_size(&s->levels[from], &d->levels[0])) from++;
    if (from == s->n_levels) {
        from = 0;
        while (to < d->n_levels && !same_size(&s->levels[0], &d->levels[to])) to++;
    }
    if (to == d->n_levels) {
        rt_misuse_at(site, RT_RULE_blit_sizes, "%s and %s", rt_texture_name(source, a),
                     rt_texture_name(destination, b));
        return;
    }
    uint32_t n = s->n_levels - from < d->n_levels - to ? s->n_levels - from : d->n_levels - to;
    uint32_t n_source = abi_texture_n_slices(s), n_destination = abi_texture_n_slices(d);
    copy_slices(site, source, 0, from, destination, 0, to,
                n_source < n_destination ? n_source : n_destination, n);
}

// SPDX-License-Identifier: Apache-2.0
// render_tile.c: what a render encoder does with tile functions: the tiles of a pass, dispatches,
// and memory that functions of a tile share. Arguments: render_setters.c.
#include "runtime/command/render.h"

enum { MAX_PIXEL = 256 };

// ---- The pass ----

bool rt_render_set_tiles(const RtSite *site, const MTLRenderPassDescriptor *d, DevPass *pass) {
    size_t w = d->tile_width, h = d->tile_height;
    if (!w && !h) w = h = 32;
    if (!((w == 16 && h == 16) || (w == 32 && (h == 16 || h == 32)))) {
        rt_misuse_at(site, RT_RULE_tile_size, "%zu x %zu", d->tile_width, d->tile_height);
        return false;
    }
    size_t pixel = d->imageblock_sample_length, shared = d->threadgroup_memory_length;
    if (pixel > MAX_PIXEL || shared > RT_MAX_THREADGROUP_MEMORY || shared % 16 != 0 ||
        pixel * w * h * pass->n_samples + shared > RT_MAX_TILE_MEMORY) {
        rt_misuse_at(site, RT_RULE_tile_memory,
                     "%zu bytes for each of %u samples of %zu x %zu pixels, %zu of threadgroup "
                     "memory",
                     pixel, pass->n_samples, w, h, shared);
        return false;
    }
    pass->tile_width = (uint32_t)w;
    pass->tile_height = (uint32_t)h;
    pass->imageblock_bytes = (uint32_t)pixel;
    pass->threadgroup_bytes = (uint32_t)shared;
    return true;
}

// ---- Dispatches ----

void rt_render_dispatch_tile(MTLRenderCommandEncoder *e, MTLSize threads, const char *call) {
    RtSite site;
    if (!rt_render_begin(e, RT_DRAW_TILES, call, &site)) return;
    const RtTilePipeline *t = e->pipeline->tile;
    const DevPass *pass = &e->pass->dev;
    bool fits = threads.width && threads.height && threads.depth == 1 &&
                threads.width <= pass->tile_width && threads.height <= pass->tile_height &&
                threads.width * threads.height <= t->max_threads;
    if (t->required.width &&
        (threads.width != t->required.width || threads.height != t->required.height))
        fits = false;
    bool matches = threads.width == pass->tile_width && threads.height == pass->tile_height;
    if (!fits || (t->matches_tile && !matches)) {
        rt_misuse_at(&site, RT_RULE_tile_threads,
                     "%zu x %zu x %zu threads on tiles of %u x %u, pipeline '%s' has %u%s",
                     threads.width, threads.height, threads.depth, pass->tile_width,
                     pass->tile_height, rt_render_pipeline_name(e->pipeline), t->max_threads,
                     t->matches_tile ? ", one for each pixel" : "");
        return;
    }
    const DevDraw d = {.tile_threads = {(uint32_t)threads.width, (uint32_t)threads.height, 1}};
    rt_render_add_draw(e, &site, MTLPrimitiveTypeTriangle, &d, NULL);
}

void rt_render_set_tile_memory(MTLRenderCommandEncoder *e, size_t length, size_t offset,
                               size_t index, const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    size_t there = e->pass->dev.threadgroup_bytes;
    if (index >= RT_MAX_BUFFERS) {
        rt_misuse_at(&site, RT_RULE_threadgroup_memory_index, "index %zu", index);
        return;
    }
    if (length % 16 != 0 || offset % 16 != 0 || offset > there || length > there - offset) {
        rt_misuse_at(&site, RT_RULE_tile_threadgroup_memory,
                     "%zu bytes at offset %zu, the pass has %zu", length, offset, there);
        return;
    }
    static const RtStageIndex stages[] = {RT_FRAGMENT, RT_TILE};
    for (int i = 0; i < 2; i++) e->stages[stages[i]].threadgroup_bytes[index] = (uint32_t)length;
    e->threadgroup_offsets[index] = (uint32_t)offset;
    e->arguments = NULL;
}

#include "accessors/command/render_tile.inc" // plain accessors, from the table

// SPDX-License-Identifier: Apache-2.0
// tile.c: one tile of one batch: loads tile memory, draws the triangles of all units in order,
// resolves samples and stores. A tile without triangles is cleared in place, or not touched.
#include <math.h>
#include <string.h>
#include "devices/cpu/raster/block_simd.h"

#define AHEAD 8 // triangles, to be in the cache when their turn comes

typedef struct Where {
    uint32_t layer, tx, ty;
} Where;

// The unit's triangles of the tile.
static uint32_t list_of(const Unit *u, const Where *at, const uint32_t **refs) {
    uint32_t x = at->tx - u->tile_x0, y = at->ty - u->tile_y0, z = at->layer - u->layer0;
    if (x >= u->tile_columns || y >= u->tile_rows || z >= u->n_layers) return 0;
    size_t i = ((size_t)z * u->tile_rows + y) * u->tile_columns + x;
    *refs = u->refs + u->starts[i];
    return u->starts[i + 1] - u->starts[i];
}

static const Triangle *triangle(const Unit *u, uint32_t ref) {
    return (const Triangle *)(const void *)(u->records + (size_t)ref * 8);
}

static void prefetch(const Triangle *t) {
    __builtin_prefetch(t);
    __builtin_prefetch((const char *)t + 64);
    __builtin_prefetch((const char *)t + 128);
}

static void prefetch_draw(const DrawInfo *d) {
    __builtin_prefetch(d);
    __builtin_prefetch((const char *)d + 64);
}

static bool touches(const Triangle *t, const Where *at) {
    int32_t x = (int32_t)at->tx * TILE, y = (int32_t)at->ty * TILE;
    return t->layer == at->layer && t->x0 < x + TILE && t->x1 >= x && t->y0 < y + TILE &&
           t->y1 >= y;
}

static bool is_empty(const Pass *p, const Where *at) {
    const uint32_t *refs;
    for (size_t i = 0; i < p->n_units; i++) {
        const Unit *u = p->units[i];
        if (u->dispatch || list_of(u, at, &refs)) return false;
        for (size_t k = 0; k < u->n_big; k++)
            if (touches(triangle(u, u->big[k]), at)) return false;
    }
    return true;
}

static void count_visible(TileState *s) {
    if (!s->d || !s->visible) return;
    const DevDraw *d = s->d->draw;
    if (d->counts_any)
        atomic_store_explicit(d->visibility, 1, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(d->visibility, s->visible, memory_order_relaxed);
    s->visible = 0;
}

static void draw(TileState *s, const Triangle *t) {
    const DrawInfo *d = &s->pass->infos[t->draw];
    if (s->d != d) {
        count_visible(s);
        s->d = d;
        _Atomic(const char *) *now =
            &s->pass->run->kernel; // shared between threads: seldom written
        if (atomic_load_explicit(now, memory_order_relaxed) != d->label)
            atomic_store_explicit(now, d->label, memory_order_relaxed);
    }
    ISA(raster_triangle)(s, t);
}

// On the stack of fragment functions, which blocks call by the thousand.
static void draw_unit(TileState *s, const Unit *u, const Where *at) {
    const uint32_t *refs = NULL;
    cpu_thread_pause(s->w->thread);
    uint32_t n = list_of(u, at, &refs), i = 0;
    size_t k = 0;
    for (uint32_t soon = 0; soon < n && soon < AHEAD; soon++) prefetch(triangle(u, refs[soon]));
    while (i < n || k < u->n_big) { // both lists are in order
        bool big = i == n || (k < u->n_big && u->big[k] < refs[i]);
        const Triangle *t = triangle(u, big ? u->big[k++] : refs[i++]);
        if (i + AHEAD < n) prefetch(triangle(u, refs[i + AHEAD]));
        if (i + AHEAD / 2 < n) // the triangle is there by now, its draw perhaps not
            prefetch_draw(&s->pass->infos[triangle(u, refs[i + AHEAD / 2])->draw]);
        if (big && !touches(t, at)) continue;
        draw(s, t);
    }
}

// ---- Resolving ----

static bool resolves(const Pass *p, uint8_t store) {
    return p->last && p->n_samples > 1 &&
           (store == DEV_STORE_RESOLVE || store == DEV_STORE_STORE_AND_RESOLVE);
}

static void resolve_color(TileState *s, uint32_t a, const Where *at) {
    const Pass *p = s->pass;
    const Attachment *t = &p->colors[a];
    const DevTarget *view = &p->pass->colors[a].resolve;
    const AbiPixelFormat *f = view->texture->format;
    size_t block_bytes = (size_t)LANES * t->texel_bytes;
    static const DevState state = {.blend[0] = {.write_mask = 15}};
    DrawInfo d = {.state = &state, .formats = {f}};
    OutputFn *write = ISA(raster_choose_output)(f, &state.blend[0]);
    float *sum = (float *)(void *)s->colors, *one = sum + 128; // four rows each
    for (uint32_t b = 0; b < TILE_BLOCKS; b++) {
        unsigned char *from = s->w->tile.colors[a] + b * p->n_samples * block_bytes;
        // Block after block without gaps: earlier samples of later blocks are still unread.
        unsigned char *to = s->w->tile.colors[a] + b * block_bytes;
        if (abi_format_is_integer(t->format)) {
            memmove(to, from, block_bytes);
            continue;
        }
        ISA(raster_read)(t->format, from, (uint32_t *)(void *)sum);
        for (uint32_t i = 1; i < p->n_samples; i++) {
            ISA(raster_read)(t->format, from + i * block_bytes, (uint32_t *)(void *)one);
            for (int k = 0; k < 128; k++) sum[k] += one[k];
        }
        float scale = 1.0f / (float)p->n_samples;
        for (int k = 0; k < 128; k++) sum[k] *= scale;
        write(&d, 0, (const uint32_t *)(const void *)sum, ~0u, to);
    }
    raster_tile_resolved(s->w, view, at->layer, at->tx, at->ty, s->w->tile.colors[a]);
}

// The chosen sample into the place of sample 0; of both depth and stencil, which may follow it.
static void resolve_depth(TileState *s, const Where *at) {
    const Pass *p = s->pass;
    const DevDepth *depth = &p->pass->depth, *stencil = &p->pass->stencil;
    bool depths = p->has_depth && resolves(p, depth->store) && depth->resolve.texture;
    bool stencils = p->has_stencil && resolves(p, stencil->store) && stencil->resolve.texture;
    if (!depths && !stencils) return;
    for (uint32_t b = 0; b < TILE_BLOCKS; b++)
        for (uint32_t l = 0; l < LANES; l++) {
            size_t first = (size_t)b * p->n_samples * LANES + l;
            uint32_t chosen = 0;
            float *z = p->has_depth ? s->w->tile.depth + first : NULL;
            if (z && depth->resolve_filter != DEV_RESOLVE_SAMPLE0)
                for (uint32_t i = 1; i < p->n_samples; i++)
                    if (depth->resolve_filter == DEV_RESOLVE_MIN ? z[i * LANES] < z[chosen * LANES]
                                                                 : z[i * LANES] > z[chosen * LANES])
                        chosen = i;
            if (stencils && stencil->resolve_filter)
                s->w->tile.stencil[first] = s->w->tile.stencil[first + chosen * LANES];
            if (depths) z[0] = z[chosen * LANES];
        }
    if (depths) raster_tile_resolved_depth(s->w, false, at->layer, at->tx, at->ty);
    if (stencils) raster_tile_resolved_depth(s->w, true, at->layer, at->tx, at->ty);
}

static bool resolves_any(const Pass *p) {
    bool any = (p->has_depth && resolves(p, p->pass->depth.store)) ||
               (p->has_stencil && resolves(p, p->pass->stencil.store));
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++)
        any = any || (p->color_mask >> a & 1 && resolves(p, p->pass->colors[a].store));
    return any;
}

void ISA(raster_run_tile)(Worker *w, uint32_t tile) {
    Pass *p = w->pass;
    Where at = {.tx = tile % p->tile_columns,
                .ty = tile / p->tile_columns % p->tile_rows,
                .layer = tile / p->tile_columns / p->tile_rows};
    if (!resolves_any(p) && is_empty(p, &at)) {
        if (p->first) raster_tile_clear(w, at.layer, at.tx, at.ty);
        return;
    }
    TileState *s = w->state;
    s->w = w;
    s->pass = p;
    s->x = (int32_t)at.tx * TILE;
    s->y = (int32_t)at.ty * TILE;
    s->d = NULL;
    s->visible = 0;
    s->step = (CpuFragmentStep){.centroid = s->centroid[0],
                                .point_coord = s->point_coord[0],
                                .coverage = s->coverage,
                                .color_in = s->color_in[0],
                                .colors = s->colors[0],
                                .depth = s->depth_out,
                                .stencil = s->stencil_out,
                                .sample_mask = s->mask_out,
                                .n_samples = p->n_samples,
                                .sample_positions = p->positions[0],
                                .tile_size = {p->user_width, p->user_height},
                                .tile_columns = p->user_columns};
    if (p->user_bytes) {
        s->step.imageblock_row = p->user_width * p->imageblock_stride;
        s->step.imageblock_stride = p->imageblock_stride;
        s->step.imageblock_out = raster_store_results(w);
        raster_store_load(w, tile);
    }
    raster_tile_load(w, at.layer, at.tx, at.ty);
    for (size_t i = 0; i < p->n_units; i++) {
        if (atomic_load_explicit(&p->run->fault, memory_order_relaxed) != DEV_FAULT_NONE) return;
        if (p->units[i]->dispatch) {
            count_visible(s);
            s->d = NULL;
            raster_dispatch(w, p->units[i]->dispatch, at.tx, at.ty);
        } else {
            cpu_thread_enter(w->thread, (CpuCodeFn *)draw_unit, s, (uintptr_t)p->units[i],
                             (uintptr_t)&at, NULL, NULL);
        }
    }
    count_visible(s);
    raster_tile_store(w, at.layer, at.tx, at.ty);
    if (p->user_bytes && p->spilled) raster_store_save(w, tile);
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++)
        if (p->color_mask >> a & 1 && resolves(p, p->pass->colors[a].store) &&
            p->pass->colors[a].resolve.texture)
            resolve_color(s, a, &at);
    resolve_depth(s, &at);
}

const RasterCode ISA(raster_code) = {
    .run_unit = ISA(raster_run_unit),
    .run_tile = ISA(raster_run_tile),
    .choose_output = ISA(raster_choose_output),
    .read = ISA(raster_read),
};

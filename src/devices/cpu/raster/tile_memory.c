// SPDX-License-Identifier: Apache-2.0
// tile_memory.c: between attachments (rows of texels) and tile memory (blocks of 8 x 4, lanes in
// order; depth as floats and stencil as bytes whatever the format). Load and store actions.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/raster/raster_int.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

bool raster_tile_reserve(Worker *w) {
    const Pass *p = w->pass;
    TileMemory *m = &w->tile;
    size_t n = (size_t)TILE * TILE * p->n_samples, at = 0, depth, stencil, colors[ABI_MAX_COLORS];
    depth = at, at += p->has_depth ? n * 4 : 0;
    stencil = at, at += p->has_stencil ? n : 0;
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++)
        colors[a] = at, at += p->color_mask >> a & 1 ? n * p->colors[a].texel_bytes : 0;
    unsigned char *base = raster_grow(m->base, &m->capacity, at, 1);
    if (!base) return false;
    m->base = base;
    m->depth = p->has_depth ? (float *)(void *)(base + depth) : NULL;
    m->stencil = p->has_stencil ? base + stencil : NULL;
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++)
        m->colors[a] = p->color_mask >> a & 1 ? base + colors[a] : NULL;
    return true;
}

// ---- Blocks ----

typedef struct Place {   // of a tile in a plane of an attachment
    unsigned char *data; // of the tile's first texel; NULL: memoryless
    uint64_t row_bytes;
    int32_t width, height; // texels of the tile that exist
} Place;

static Place place_of(const Pass *p, const DevTarget *view, const AbiTexture *scratch,
                      uint32_t layer, uint32_t sample, uint32_t tx, uint32_t ty) {
    bool scratched = scratch && !view->texture->levels[view->level].data;
    const AbiTexture *t = scratched ? scratch : view->texture;
    uint32_t level = scratched ? 0 : view->level, z = layer + (scratched ? 0 : view->slice);
    int32_t x = (int32_t)tx * TILE, y = (int32_t)ty * TILE;
    int32_t width = (int32_t)p->width - x, height = (int32_t)p->height - y;
    Place place = {.row_bytes = t->levels[level].row_bytes,
                   .width = width < TILE ? width : TILE,
                   .height = height < TILE ? height : TILE};
    if (t->levels[level].data)
        place.data = abi_texture_at(t, level, (uint32_t)x, (uint32_t)y, z, sample);
    return place;
}

static uint32_t lane_of(int32_t x, int32_t y) { // in a block
    return (uint32_t)(y / 2 * 16 + x / 2 * 4 + y % 2 * 2 + x % 2);
}

typedef uint64_t Bytes16 __attribute__((vector_size(16)));
static Bytes16 load(const unsigned char *p) {
    Bytes16 v;
    memcpy(&v, p, sizeof v);
    return v;
}
static void store(unsigned char *p, Bytes16 v) { memcpy(p, &v, sizeof v); }
static Bytes16 lower(Bytes16 a, Bytes16 b) { return (Bytes16){a[0], b[0]}; }
static Bytes16 upper(Bytes16 a, Bytes16 b) { return (Bytes16){a[1], b[1]}; }

// Two rows at a time: lanes 4q, 4q + 1 are texels of one, 4q + 2, 4q + 3 of the other.
static void block_out_4(const unsigned char *block, unsigned char *row, uint64_t row_bytes) {
    for (int half = 0; half < 2; half++, block += 64, row += 2 * row_bytes)
        for (int i = 0; i < 2; i++) {
            Bytes16 a = load(block + 32 * i), b = load(block + 32 * i + 16);
            store(row + 16 * i, lower(a, b));
            store(row + row_bytes + 16 * i, upper(a, b));
        }
}

static void block_in_4(unsigned char *block, const unsigned char *row, uint64_t row_bytes) {
    for (int half = 0; half < 2; half++, block += 64, row += 2 * row_bytes)
        for (int i = 0; i < 2; i++) {
            Bytes16 a = load(row + 16 * i), b = load(row + row_bytes + 16 * i);
            store(block + 32 * i, lower(a, b));
            store(block + 32 * i + 16, upper(a, b));
        }
}

// Copies one plane; `in`: to tile memory. Blocks of a sample are `stride` bytes apart.
static void copy_plane(const Place *at, unsigned char *tile, size_t stride, uint32_t bytes,
                       bool in) {
    for (int32_t by = 0; by < TILE_ROWS && by * 4 < at->height; by++)
        for (int32_t bx = 0; bx < TILE_COLUMNS && bx * 8 < at->width; bx++) {
            unsigned char *block = tile + (size_t)(by * TILE_COLUMNS + bx) * stride;
            unsigned char *row =
                at->data + (uint64_t)by * 4 * at->row_bytes + (size_t)bx * 8 * bytes;
            int32_t width = at->width - bx * 8 < 8 ? at->width - bx * 8 : 8;
            int32_t height = at->height - by * 4 < 4 ? at->height - by * 4 : 4;
            if (width == 8 && height == 4 && bytes == 4) {
                (in ? block_in_4(block, row, at->row_bytes)
                    : block_out_4(block, row, at->row_bytes));
                continue;
            }
            for (int32_t y = 0; y < height; y++)
                for (int32_t x = 0; x < width; x++) {
                    unsigned char *lane = block + lane_of(x, y) * bytes;
                    unsigned char *texel = row + (uint64_t)y * at->row_bytes + (size_t)x * bytes;
                    memcpy(in ? lane : texel, in ? texel : lane, bytes);
                }
        }
}

// Texels have 1, 2, 4, 8 or 16 bytes.
static Bytes16 pattern_of(const unsigned char *texel, uint32_t bytes) {
    unsigned char pattern[16];
    for (uint32_t i = 0; i < 16; i += bytes) memcpy(pattern + i, texel, bytes);
    return load(pattern);
}

// The beginning is written, the rest are copies of it: memcpy knows the machine's longest vectors.
static void fill_pattern(unsigned char *to, size_t n_bytes, Bytes16 v) {
    enum { FIRST = 512 };
    size_t i = 0, first = n_bytes < FIRST ? n_bytes : FIRST;
    for (; i + 16 <= first; i += 16) store(to + i, v);
    if (i < first) memcpy(to + i, &v, first - i);
    for (size_t done = first, n; done < n_bytes; done += n) {
        n = n_bytes - done < done ? n_bytes - done : done;
        memcpy(to + done, to, n);
    }
}

static void fill_texels(unsigned char *to, size_t n, const unsigned char *texel, uint32_t bytes) {
    fill_pattern(to, n * bytes, pattern_of(texel, bytes));
}

// `to` at a multiple of 16.
#if defined(__SSE2__)
static void store_past_caches(unsigned char *to, Bytes16 v) {
    _mm_stream_si128((__m128i *)(void *)to, (__m128i)v);
}
static void finish_stores(void) { _mm_sfence(); }
#else // AArch64 has only pairs of registers for that, as a hint
static void store_past_caches(unsigned char *to, Bytes16 v) { store(to, v); }
static void finish_stores(void) {}
#endif

// Non-temporal stores of whole cache lines: a cleared target is not read soon.
static void stream_texels(const Place *at, const unsigned char *texel, uint32_t bytes) {
    Bytes16 v = pattern_of(texel, bytes);
    size_t n_bytes = (size_t)at->width * bytes;
    for (int32_t y = 0; at->data && y < at->height; y++) {
        unsigned char *to = at->data + (uint64_t)y * at->row_bytes;
        size_t i = 0;
        if (((uintptr_t)to & 15) == 0)
            for (; i + 64 <= n_bytes; i += 64)
                for (size_t k = 0; k < 64; k += 16) store_past_caches(to + i + k, v);
        if (i < n_bytes) fill_pattern(to + i, n_bytes - i, v);
    }
}

// ---- Depth and stencil formats ----

static float depth_of_texel(const AbiPixelFormat *f, const unsigned char *texel) {
    float z = 0;
    uint32_t bits = 0;
    if (f->kind == ABI_KIND_FLOAT) {
        memcpy(&z, texel, 4);
        return z;
    }
    memcpy(&bits, texel, f->block_bytes);
    return f->block_bytes == 2 ? (float)bits / 65535.0f : (float)(bits & 0xffffff) / 16777215.0f;
}

static void depth_to_texel(const AbiPixelFormat *f, float z, unsigned char *texel) {
    if (f->kind == ABI_KIND_FLOAT) {
        memcpy(texel, &z, 4);
        return;
    }
    double clamped = z > 0 ? z < 1 ? z : 1 : 0;
    uint32_t bits = (uint32_t)(clamped * (f->block_bytes == 2 ? 65535.0 : 16777215.0) + 0.5);
    memcpy(texel, &bits, f->block_bytes == 2 ? 2 : 3); // the stencil above it stays
}

static uint32_t stencil_place(const AbiPixelFormat *f) {
    return f->value == 253 ? 0 : f->block_bytes == 8 ? 4 : 3;
}

static void copy_depth(const Worker *w, const Place *at, const AbiPixelFormat *f, uint32_t sample,
                       bool in) {
    uint32_t n = w->pass->n_samples;
    unsigned char *tile = (unsigned char *)(w->tile.depth + (size_t)sample * LANES);
    if (f->value == 252) {
        copy_plane(at, tile, (size_t)n * LANES * 4, 4, in);
        return;
    }
    for (int32_t y = 0; y < at->height; y++)
        for (int32_t x = 0; x < at->width; x++) {
            unsigned char *texel =
                at->data + (uint64_t)y * at->row_bytes + (size_t)x * f->block_bytes;
            size_t block = (size_t)(y / 4 * TILE_COLUMNS + x / 8);
            float *z = w->tile.depth + (block * n + sample) * LANES + lane_of(x % 8, y % 4);
            if (in)
                *z = depth_of_texel(f, texel);
            else
                depth_to_texel(f, *z, texel);
        }
}

static void copy_stencil(const Worker *w, const Place *at, const AbiPixelFormat *f, uint32_t sample,
                         bool in) {
    uint32_t n = w->pass->n_samples, offset = stencil_place(f);
    for (int32_t y = 0; y < at->height; y++)
        for (int32_t x = 0; x < at->width; x++) {
            unsigned char *texel =
                at->data + (uint64_t)y * at->row_bytes + (size_t)x * f->block_bytes + offset;
            size_t block = (size_t)(y / 4 * TILE_COLUMNS + x / 8);
            uint8_t *value = w->tile.stencil + (block * n + sample) * LANES + lane_of(x % 8, y % 4);
            if (in)
                *value = *texel;
            else
                *texel = *value;
        }
}

// ---- Tiles ----

static uint8_t load_of(const Pass *p, uint8_t action) { return p->first ? action : DEV_LOAD_LOAD; }

static bool stores(const Pass *p, uint8_t action) {
    return !p->last || action == DEV_STORE_STORE || action == DEV_STORE_STORE_AND_RESOLVE;
}

static void find_bounds(const Worker *w) {
    const Pass *p = w->pass;
    TileMemory *m = (TileMemory *)&w->tile;
    for (uint32_t b = 0; b < TILE_BLOCKS; b++) {
        float low = INFINITY, high = -INFINITY;
        const float *z = m->depth + (size_t)b * p->n_samples * LANES;
        for (uint32_t i = 0; i < p->n_samples * LANES; i++) {
            low = z[i] < low ? z[i] : low;
            high = z[i] > high ? z[i] : high;
        }
        m->z_min[b] = low;
        m->z_max[b] = high;
    }
}

static void load_depth(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty) {
    const Pass *p = w->pass;
    const DevDepth *d = &p->pass->depth;
    size_t n = (size_t)TILE * TILE * p->n_samples;
    TileMemory *m = &w->tile;
    float clear = load_of(p, d->load) == DEV_LOAD_CLEAR ? p->clear_depth : 0;
    fill_texels((unsigned char *)m->depth, n, (const unsigned char *)&clear, 4);
    for (uint32_t b = 0; b < TILE_BLOCKS; b++) m->z_min[b] = m->z_max[b] = clear;
    if (load_of(p, d->load) != DEV_LOAD_LOAD) return;
    for (uint32_t i = 0; i < p->n_samples; i++) {
        Place at = place_of(p, &d->view, p->depth_scratch, layer, i, tx, ty);
        if (at.data) copy_depth(w, &at, d->view.texture->format, i, true);
    }
    find_bounds(w);
}

static void load_stencil(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty) {
    const Pass *p = w->pass;
    const DevDepth *d = &p->pass->stencil;
    memset(w->tile.stencil, load_of(p, d->load) == DEV_LOAD_CLEAR ? (uint8_t)d->clear : 0,
           (size_t)TILE * TILE * p->n_samples);
    if (load_of(p, d->load) != DEV_LOAD_LOAD) return;
    for (uint32_t i = 0; i < p->n_samples; i++) {
        Place at = place_of(p, &d->view, p->stencil_scratch, layer, i, tx, ty);
        if (at.data) copy_stencil(w, &at, d->view.texture->format, i, true);
    }
}

void raster_tile_load(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty) {
    const Pass *p = w->pass;
    if (p->has_depth) load_depth(w, layer, tx, ty);
    if (p->has_stencil) load_stencil(w, layer, tx, ty);
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) {
        if (!(p->color_mask >> a & 1)) continue;
        const Attachment *t = &p->colors[a];
        const DevColor *c = &p->pass->colors[a];
        uint8_t load = load_of(p, c->load);
        size_t n = (size_t)TILE * TILE * p->n_samples, block = (size_t)LANES * t->texel_bytes;
        static const unsigned char zero[16];
        bool all = (tx + 1) * TILE <= p->width && (ty + 1) * TILE <= p->height;
        if (load != DEV_LOAD_LOAD || !all) // texels that do not exist are looked at, too
            fill_texels(w->tile.colors[a], n, load == DEV_LOAD_CLEAR ? t->clear_texel : zero,
                        t->texel_bytes);
        if (load != DEV_LOAD_LOAD) continue;
        for (uint32_t i = 0; i < p->n_samples; i++) {
            Place at = place_of(p, &c->view, t->scratch, layer, i, tx, ty);
            if (at.data)
                copy_plane(&at, w->tile.colors[a] + i * block, p->n_samples * block, t->texel_bytes,
                           true);
        }
    }
}

void raster_tile_store(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty) {
    const Pass *p = w->pass;
    for (uint32_t i = 0; i < p->n_samples; i++) {
        const DevDepth *d = &p->pass->depth, *s = &p->pass->stencil;
        if (p->has_depth && stores(p, d->store)) {
            Place at = place_of(p, &d->view, p->depth_scratch, layer, i, tx, ty);
            if (at.data) copy_depth(w, &at, d->view.texture->format, i, false);
        }
        if (p->has_stencil && stores(p, s->store)) {
            Place at = place_of(p, &s->view, p->stencil_scratch, layer, i, tx, ty);
            if (at.data) copy_stencil(w, &at, s->view.texture->format, i, false);
        }
        for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) {
            const DevColor *c = &p->pass->colors[a];
            if (!(p->color_mask >> a & 1) || !stores(p, c->store)) continue;
            const Attachment *t = &p->colors[a];
            size_t block = (size_t)LANES * t->texel_bytes;
            Place at = place_of(p, &c->view, t->scratch, layer, i, tx, ty);
            if (at.data)
                copy_plane(&at, w->tile.colors[a] + i * block, p->n_samples * block, t->texel_bytes,
                           false);
        }
    }
}

void raster_tile_resolved(const Worker *w, const DevTarget *view, uint32_t layer, uint32_t tx,
                          uint32_t ty, const void *blocks) {
    Place at = place_of(w->pass, view, NULL, layer, 0, tx, ty);
    uint32_t bytes = view->texture->format->block_bytes;
    if (at.data) copy_plane(&at, (unsigned char *)blocks, (size_t)LANES * bytes, bytes, false);
}

void raster_tile_resolved_depth(const Worker *w, bool stencil, uint32_t layer, uint32_t tx,
                                uint32_t ty) {
    const DevDepth *d = stencil ? &w->pass->pass->stencil : &w->pass->pass->depth;
    Place at = place_of(w->pass, &d->resolve, NULL, layer, 0, tx, ty);
    if (!at.data) return;
    if (stencil)
        copy_stencil(w, &at, d->resolve.texture->format, 0, false);
    else
        copy_depth(w, &at, d->resolve.texture->format, 0, false);
}

// A tile nothing was drawn in: clear values straight to the attachments.
void raster_tile_clear(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty) {
    const Pass *p = w->pass;
    for (uint32_t i = 0; i < p->n_samples; i++) {
        for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) {
            const DevColor *c = &p->pass->colors[a];
            if (!(p->color_mask >> a & 1) || c->load != DEV_LOAD_CLEAR || !stores(p, c->store))
                continue;
            Place at = place_of(p, &c->view, p->colors[a].scratch, layer, i, tx, ty);
            stream_texels(&at, p->colors[a].clear_texel, p->colors[a].texel_bytes);
        }
        const DevDepth *d = &p->pass->depth, *s = &p->pass->stencil;
        if (p->has_depth && d->load == DEV_LOAD_CLEAR && stores(p, d->store)) {
            Place at = place_of(p, &d->view, p->depth_scratch, layer, i, tx, ty);
            const AbiPixelFormat *f = d->view.texture->format;
            unsigned char texel[8] = {0};
            depth_to_texel(f, p->clear_depth, texel);
            bool shared = f->caps & ABI_FORMAT_STENCIL;
            if (!shared) stream_texels(&at, texel, f->block_bytes);
            for (int32_t y = 0; shared && at.data && y < at.height; y++) {
                unsigned char *row = at.data + (uint64_t)y * at.row_bytes;
                for (int32_t x = 0; x < at.width; x++)
                    depth_to_texel(f, p->clear_depth, row + (size_t)x * f->block_bytes);
            }
        }
        if (p->has_stencil && s->load == DEV_LOAD_CLEAR && stores(p, s->store)) {
            Place at = place_of(p, &s->view, p->stencil_scratch, layer, i, tx, ty);
            const AbiPixelFormat *f = s->view.texture->format;
            for (int32_t y = 0; at.data && y < at.height; y++)
                for (int32_t x = 0; x < at.width; x++)
                    at.data[(uint64_t)y * at.row_bytes + (size_t)x * f->block_bytes +
                            stencil_place(f)] = (uint8_t)s->clear;
        }
    }
    finish_stores();
}

// SPDX-License-Identifier: Apache-2.0
// imageblock.c: tile functions and what is theirs. The program's tiles (16 or 32 pixels each way)
// lie inside those of the rasteriser, so a dispatch is a loop over threadgroups between the draws
// of a tile, on one thread. Explicit imageblocks and threadgroup memory that functions of a tile
// share are kept beside tile memory, tile of the program by tile; of an implicit imageblock a copy
// is made of the colours, and what the function has changed goes back.
#include <stdlib.h>
#include <string.h>
#include "abi/imageblock.h"
#include "devices/cpu/raster/raster_int.h"
#include "base/numbers.h"

#define HEAD sizeof(AbiImageblockHead)

typedef struct TileStore {
    unsigned char *tiles; // of the program, in this tile; then the results of a step
    size_t tiles_capacity;
    unsigned char *copy; // of an implicit imageblock, twice: as it goes in and as it comes out
    size_t copy_capacity;
} TileStore;

static size_t rounded(size_t n) { return (n + 63) / 64 * 64; }

static uint32_t side(uint32_t n) { return n == 16 ? 16 : 32; }

static size_t tiles_here(const Pass *p) {
    return (size_t)(TILE / p->user_width) * (TILE / p->user_height);
}

void raster_store_set(Pass *p) {
    const DevPass *pass = p->pass;
    p->user_width = side(pass->tile_width);
    p->user_height = side(pass->tile_height);
    p->user_columns = (p->width + p->user_width - 1) / p->user_width;
    p->user_rows = (p->height + p->user_height - 1) / p->user_height;
    p->imageblock_stride = (pass->imageblock_bytes + 15) / 16 * 16;
    size_t pixels = (size_t)p->user_width * p->user_height * p->n_samples;
    p->block_bytes = p->imageblock_stride ? rounded(HEAD + pixels * p->imageblock_stride) : 0;
    p->user_bytes = rounded(p->block_bytes + pass->threadgroup_bytes);
}

bool raster_store_spill(Pass *p) {
    if (p->spilled || !p->user_bytes) return true;
    size_t each = tiles_here(p) * p->user_bytes;
    if (p->n_tiles > SIZE_MAX / 2 / each) return false;
    p->spilled = calloc(p->n_tiles, each);
    return p->spilled != NULL;
}

bool raster_store_reserve(Worker *w) {
    const Pass *p = w->pass;
    if (!p->user_bytes) return true;
    if (!w->store) w->store = calloc(1, sizeof *w->store);
    TileStore *s = w->store;
    size_t need = tiles_here(p) * p->user_bytes + (size_t)LANES * p->imageblock_stride;
    unsigned char *tiles = s ? raster_grow(s->tiles, &s->tiles_capacity, need, 1) : NULL;
    if (!tiles) return false;
    s->tiles = tiles;
    return true;
}

// colors: of an implicit one; NULL: it is explicit.
static void set_head(unsigned char *to, const Pass *p, uint32_t stride, const uint8_t *colors) {
    AbiImageblockHead head = {.width = (uint16_t)p->user_width,
                              .height = (uint16_t)p->user_height,
                              .samples = (uint16_t)p->n_samples,
                              .stride = stride};
    if (colors) memcpy(head.colors, colors, sizeof head.colors);
    memcpy(to, &head, sizeof head);
}

void raster_store_load(Worker *w, uint32_t tile) {
    const Pass *p = w->pass;
    size_t n = tiles_here(p) * p->user_bytes;
    if (p->spilled && !p->first)
        memcpy(w->store->tiles, p->spilled + tile * n, n);
    else
        memset(w->store->tiles, 0, n);
    for (size_t i = 0; p->imageblock_stride && i < tiles_here(p); i++)
        set_head(w->store->tiles + i * p->user_bytes, p, p->imageblock_stride, NULL);
}

void raster_store_save(Worker *w, uint32_t tile) {
    const Pass *p = w->pass;
    size_t n = tiles_here(p) * p->user_bytes;
    memcpy(p->spilled + tile * n, w->store->tiles, n);
}

void raster_store_free(Worker *w) {
    if (w->store) {
        free(w->store->tiles);
        free(w->store->copy);
    }
    free(w->store);
}

unsigned char *raster_store_at(const Worker *w, uint32_t x, uint32_t y) {
    const Pass *p = w->pass;
    uint32_t i = y / p->user_height * (TILE / p->user_width) + x / p->user_width;
    return w->store->tiles + i * p->user_bytes;
}

uint32_t *raster_store_results(const Worker *w) {
    return (uint32_t *)(void *)(w->store->tiles + tiles_here(w->pass) * w->pass->user_bytes);
}

// ---- Implicit imageblocks ----

// One component as the structure has it.
static void store_component(unsigned char *to, uint8_t type, uint32_t k, uint32_t word) {
    uint16_t half;
    uint8_t byte = (uint8_t)word;
    float f32;
    switch (type) {
    case DEV_MESH_HALF:
        memcpy(&f32, &word, 4);
        half = half_from_float(f32);
        memcpy(to + 2 * k, &half, 2);
        break;
    case DEV_MESH_SHORT:
    case DEV_MESH_USHORT:
        half = (uint16_t)word;
        memcpy(to + 2 * k, &half, 2);
        break;
    case DEV_MESH_CHAR:
    case DEV_MESH_UCHAR: memcpy(to + k, &byte, 1); break;
    default: memcpy(to + 4 * k, &word, 4); break;
    }
}

static uint32_t component_bytes(uint8_t type) {
    return type == DEV_MESH_WORD ? 4 : type == DEV_MESH_CHAR || type == DEV_MESH_UCHAR ? 1 : 2;
}

// An 8 x 4 block of the user tile in both memories.
typedef struct Block {
    unsigned char *texels; // of the attachment in tile memory
    size_t first;          // pixel of the imageblock at its corner
} Block;

static Block block_at(const Worker *w, uint32_t a, uint32_t ux, uint32_t uy, uint32_t x, uint32_t y,
                      uint32_t sample) {
    const Pass *p = w->pass;
    uint32_t index = (uy + y) / 4 * TILE_COLUMNS + (ux + x) / 8;
    return (Block){.texels = w->tile.colors[a] + ((size_t)index * p->n_samples + sample) * LANES *
                                                     p->colors[a].texel_bytes,
                   .first = ((size_t)sample * p->user_height + y) * p->user_width + x};
}

static size_t pixel_of(const Pass *p, const Block *b, uint32_t lane) {
    uint32_t x = lane / 4 % 4 * 2 + lane % 2, y = lane / 16 * 2 + lane / 2 % 2;
    return b->first + (size_t)y * p->user_width + x;
}

static void take_block(const Pass *p, const DevTileStage *t, const DevMeshValue *v, const Block *b,
                       unsigned char *pixels) {
    uint32_t rows[4][LANES] __attribute__((aligned(64)));
    p->code->read(p->colors[v->row].format, b->texels, rows[0]);
    for (uint32_t l = 0; l < LANES; l++) {
        unsigned char *to = pixels + pixel_of(p, b, l) * t->pixel_bytes + v->offset;
        for (uint32_t k = 0; k < v->n && k < 4; k++) store_component(to, v->type, k, rows[k][l]);
    }
}

// The pixels whose value differs from the one that went in.
static void give_block(const Pass *p, const DevTileStage *t, const DevMeshValue *v, const Block *b,
                       const unsigned char *before, const unsigned char *after) {
    uint32_t rows[4][LANES] __attribute__((aligned(64))), lanes = 0;
    size_t n_bytes = (size_t)component_bytes(v->type) * v->n;
    for (uint32_t l = 0; l < LANES; l++) {
        size_t at = pixel_of(p, b, l) * t->pixel_bytes + v->offset;
        lanes |= (uint32_t)(memcmp(before + at, after + at, n_bytes) != 0) << l;
    }
    if (!lanes) return;
    const AbiPixelFormat *f = p->colors[v->row].format;
    static const DevState state = {.blend[0] = {.write_mask = 15}};
    DrawInfo d = {.state = &state, .formats = {f}};
    p->code->read(f, b->texels, rows[0]); // components that the structure does not have stay
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        const unsigned char *from = after + pixel_of(p, b, l) * t->pixel_bytes + v->offset;
        for (uint32_t k = 0; k < v->n && k < 4; k++)
            rows[k][l] = raster_mesh_word(from, v->type, k);
    }
    p->code->choose_output(f, &state.blend[0])(&d, 0, rows[0], lanes, b->texels);
}

// before NULL: colours into pixels.
static void convert(const Worker *w, const DevTileStage *t, uint32_t ux, uint32_t uy,
                    const unsigned char *before, unsigned char *pixels) {
    const Pass *p = w->pass;
    for (uint32_t i = 0; i < t->n_values; i++) {
        const DevMeshValue *v = &t->values[i];
        if (v->row >= ABI_MAX_COLORS || !(p->color_mask >> v->row & 1)) continue;
        for (uint32_t s = 0; s < p->n_samples; s++)
            for (uint32_t y = 0; y < p->user_height; y += 4)
                for (uint32_t x = 0; x < p->user_width; x += 8) {
                    Block b = block_at(w, v->row, ux, uy, x, y, s);
                    if (before)
                        give_block(p, t, v, &b, before, pixels);
                    else
                        take_block(p, t, v, &b, pixels);
                }
    }
}

// ---- Dispatches ----

// Room for the imageblock that goes in and the one that comes out. NULL: no memory.
static unsigned char *copy_room(Worker *w, size_t n_bytes) {
    if (!w->store) w->store = calloc(1, sizeof *w->store);
    TileStore *s = w->store;
    unsigned char *copy = s ? raster_grow(s->copy, &s->copy_capacity, 2 * n_bytes, 1) : NULL;
    if (copy) s->copy = copy;
    return copy;
}

static bool run_user_tile(Worker *w, const DevDraw *d, uint32_t ux, uint32_t uy, uint64_t number) {
    const Pass *p = w->pass;
    const DevTileStage *t = d->tile;
    size_t pixels = (size_t)p->user_width * p->user_height * p->n_samples;
    bool implicit = t->pixel_bytes && !t->is_explicit;
    size_t n_bytes = implicit ? rounded(HEAD + pixels * t->pixel_bytes) : p->block_bytes;
    unsigned char *mine = p->user_bytes ? raster_store_at(w, ux, uy) : NULL, *copy = NULL;
    if (implicit) {
        if (!(copy = copy_room(w, n_bytes))) return false;
        memset(copy, 0, n_bytes);
        set_head(copy, p, t->pixel_bytes, t->colors);
        convert(w, t, ux, uy, NULL, copy + HEAD);
        memcpy(copy + n_bytes, copy, n_bytes);
    }
    KernelGroup g = {.function = &t->function,
                     .size = d->tile_threads,
                     .groups = {p->user_columns, p->user_rows, 1},
                     .number = number,
                     .payload = mine,
                     .payload_bytes = p->block_bytes,
                     .output = implicit ? copy : mine,
                     .output_bytes = n_bytes,
                     .shared = mine ? mine + p->block_bytes : NULL,
                     .shared_bytes = p->pass->threadgroup_bytes};
    if (!raster_run_group(w, &g)) return false;
    if (implicit) convert(w, t, ux, uy, copy + n_bytes + HEAD, copy + HEAD);
    return true;
}

void raster_dispatch(Worker *w, const DevDraw *d, uint32_t tx, uint32_t ty) {
    const Pass *p = w->pass;
    atomic_store_explicit(&p->run->kernel, d->label, memory_order_relaxed);
    for (uint32_t uy = 0; uy < TILE && ty * TILE + uy < p->height; uy += p->user_height)
        for (uint32_t ux = 0; ux < TILE && tx * TILE + ux < p->width; ux += p->user_width) {
            uint64_t row = (ty * TILE + uy) / p->user_height;
            uint64_t number = row * p->user_columns + (tx * TILE + ux) / p->user_width;
            if (atomic_load_explicit(&p->run->fault, memory_order_relaxed) != DEV_FAULT_NONE)
                return;
            if (!run_user_tile(w, d, ux, uy, number)) {
                dev_run_fail(p->run, DEV_FAULT_NO_MEMORY, 0);
                return;
            }
        }
}

// SPDX-License-Identifier: Apache-2.0
// blit_mipmaps.c: generate_mipmaps. Each level is made from the one above it with a box filter: a
// texel is the mean over its area. A size halves to floor(size / 2); where it was odd, 2 n + 1
// texels become n and each new one covers 2 + 1/n old ones: three with weights (n - i, n, i + 1) /
// (2 n + 1). Numbers are decoded to floats first, so sRGB is averaged in linear light.
#include <string.h>
#include "texel/format.h"
#include "abi/sparse.h"
#include "runtime/command/blit.h"
#include "runtime/command/execute.h"
#include "os/pool.h"

typedef struct MipmapOp {
    RtOp op;
    const AbiTexture *texture; // held by the command buffer
} MipmapOp;

// The texels of one axis that texel i of the smaller level covers, and how much of each.
typedef struct Taps {
    uint32_t first, n;
    float weight[3];
} Taps;

static Taps taps_of(uint32_t i, uint32_t size) {
    if (size == 1) return (Taps){0, 1, {1, 0, 0}};
    if (size % 2 == 0) return (Taps){2 * i, 2, {0.5f, 0.5f, 0}};
    uint32_t n = size / 2;
    float whole = (float)size;
    return (Taps){2 * i, 3, {(float)(n - i) / whole, (float)n / whole, (float)(i + 1) / whole}};
}

static void add_row(float *sum, const float *row, size_t n, float weight) {
    for (size_t i = 0; i < n; i++) sum[i] += weight * row[i];
}

static void shrink_row(const float *from, uint32_t width, float *to, uint32_t to_width) {
    for (uint32_t x = 0; x < to_width; x++) {
        Taps t = taps_of(x, width);
        for (int c = 0; c < 4; c++) {
            float sum = 0;
            for (uint32_t k = 0; k < t.n; k++) sum += t.weight[k] * from[4 * (t.first + k) + c];
            to[4 * x + c] = sum;
        }
    }
}

// One level being made from the one above it. Rows of all planes and slices count through.
typedef struct Level {
    const AbiTexture *t;
    uint32_t level;
    size_t n_rows, band; // rows in all, and of a piece of work
    float *scratch;      // three rows of the level above for each piece
} Level;

static unsigned char *row_at(const AbiTexture *t, uint32_t level, uint32_t y, uint32_t z) {
    return abi_texture_at(t, level, 0, y, z, 0);
}

static void make_row(const AbiTexture *t, uint32_t level, uint32_t y, uint32_t z, uint32_t slice,
                     float *scratch) {
    const AbiTextureLevel *from = &t->levels[level - 1], *to = &t->levels[level];
    size_t n = 4 * (size_t)from->width;
    float *row = scratch, *sum = scratch + n, *small = scratch + 2 * n;
    Taps tz = taps_of(z, from->depth), ty = taps_of(y, from->height);
    memset(sum, 0, n * sizeof *sum);
    for (uint32_t j = 0; j < tz.n; j++)
        for (uint32_t k = 0; k < ty.n; k++) {
            texel_decode_float(t->format, row_at(t, level - 1, ty.first + k, slice + tz.first + j),
                               from->width, row);
            add_row(sum, row, n, tz.weight[j] * ty.weight[k]);
        }
    shrink_row(sum, from->width, small, to->width);
    texel_encode_float(t->format, small, to->width, row_at(t, level, y, slice + z));
}

// Numbers of 8 bits without a curve, 2 x 2 to 1: exact in integers. A tie goes to the even number,
// as everywhere.
static void make_byte_row(const AbiTexture *t, uint32_t level, uint32_t y, uint32_t slice) {
    const unsigned char *a = row_at(t, level - 1, 2 * y, slice);
    const unsigned char *b = row_at(t, level - 1, 2 * y + 1, slice);
    unsigned char *to = row_at(t, level, y, slice);
    const size_t n = t->format->block_bytes, width = t->levels[level].width;
    for (size_t x = 0; x < width; x++)
        for (size_t c = 0; c < n; c++) {
            size_t i = 2 * n * x + c;
            unsigned sum = (unsigned)a[i] + a[i + n] + b[i] + b[i + n];
            to[n * x + c] = (unsigned char)((sum + 1 + (sum >> 2 & 1)) >> 2);
        }
}

static bool is_bytes(const AbiTexture *t, uint32_t level) {
    const AbiPixelFormat *f = t->format;
    const AbiTextureLevel *from = &t->levels[level - 1];
    if (f->kind != ABI_KIND_UNORM || from->width % 2 || from->height % 2 || from->depth > 1)
        return false;
    for (int c = 0; c < 4; c++)
        if (f->bits[c].n_bits != 0 && f->bits[c].n_bits != 8) return false;
    return true;
}

static void make_band(void *context, size_t i) {
    const Level *l = context;
    const AbiTextureLevel *to = &l->t->levels[l->level];
    size_t end = (i + 1) * l->band < l->n_rows ? (i + 1) * l->band : l->n_rows;
    bool bytes = is_bytes(l->t, l->level);
    float *scratch = l->scratch + i * 12 * l->t->levels[l->level - 1].width;
    for (size_t row = i * l->band; row < end; row++) {
        uint32_t y = (uint32_t)(row % to->height);
        uint32_t plane = (uint32_t)(row / to->height);
        uint32_t z = plane % to->depth, slice = plane / to->depth; // one of the two is 0
        if (bytes)
            make_byte_row(l->t, l->level, y, slice);
        else
            make_row(l->t, l->level, y, z, slice, scratch);
    }
}

static size_t level_bytes(const AbiTexture *t, uint32_t level) {
    const AbiTextureLevel *l = &t->levels[level];
    return (size_t)l->layer_bytes * l->depth * abi_texture_n_slices(t);
}

// Levels of a texture that the host does not see, in memory of the host's, or back from there.
static bool copy_levels(const DevTable *table, DevRun *run, const AbiTexture *there,
                        const AbiTexture *here, bool back) {
    bool ok = true;
    for (uint32_t i = back; i < there->n_levels && ok; i++) {
        void *theirs = there->levels[i].data, *ours = here->levels[i].data;
        ok =
            dev_copy(table, run, back ? theirs : ours, back ? ours : theirs, level_bytes(there, i));
    }
    return ok && dev_finish(table, run);
}

static RtOpResult make_levels(const AbiTexture *t, RtExecution *x);

static RtOpResult make_levels_elsewhere(const AbiTexture *t, RtExecution *x) {
    const DevTable *table = x->buffer->device->table;
    AbiTexture here = *t;
    size_t n = 0;
    for (uint32_t i = 0; i < t->n_levels; i++) n += level_bytes(t, i) + 64;
    char *memory = rt_alloc_aligned(n, 64);
    if (!memory) {
        x->error = rt_error_no_memory();
        return RT_OP_FAILED;
    }
    n = 0;
    for (uint32_t i = 0; i < t->n_levels; i++) {
        here.levels[i].data = (unsigned char *)memory + n;
        n += (level_bytes(t, i) + 63) & ~(size_t)63;
    }
    RtOpResult result = RT_OP_FAILED;
    if (copy_levels(table, x->run, t, &here, false)) result = make_levels(&here, x);
    if (result == RT_OP_DONE && !copy_levels(table, x->run, t, &here, true)) result = RT_OP_FAILED;
    rt_free(memory);
    return result;
}

static RtOpResult run_mipmaps(RtOp *op, RtExecution *x) {
    const AbiTexture *t = ((const MipmapOp *)(const void *)op)->texture;
    const MTLDevice *device = x->buffer->device;
    if (device->table->mipmaps)
        return device->table->mipmaps(x->run, t) ? RT_OP_DONE : RT_OP_FAILED;
    if (!dev_finish(device->table, x->run)) return RT_OP_FAILED;
    return device->facts.unified_memory ? make_levels(t, x) : make_levels_elsewhere(t, x);
}

static RtOpResult make_levels(const AbiTexture *t, RtExecution *x) {
    enum { MAX_BANDS = 16, MIN_TEXELS = 4096 };
    float *scratch = rt_alloc_aligned(MAX_BANDS * 12 * sizeof(float) * (size_t)t->width, 64);
    if (!scratch) {
        x->error = rt_error_no_memory();
        return RT_OP_FAILED;
    }
    for (uint32_t level = 1; level < t->n_levels; level++) {
        const AbiTextureLevel *to = &t->levels[level];
        size_t n_rows = (size_t)to->height * to->depth * abi_texture_n_slices(t);
        size_t n_bands = n_rows * to->width / MIN_TEXELS + 1;
        if (n_bands > MAX_BANDS) n_bands = MAX_BANDS;
        if (n_bands > n_rows) n_bands = n_rows;
        Level l = {t, level, n_rows, (n_rows + n_bands - 1) / n_bands, scratch};
        os_parallel((n_rows + l.band - 1) / l.band, make_band, &l);
        if (t->sparse) // the next one is made of what has memory
            abi_sparse_scrub(t, level, 0,
                             t->type == ABI_TEXTURE_3D ? to->depth : abi_texture_n_slices(t));
    }
    rt_free(scratch);
    return RT_OP_DONE;
}

static const RtOpClass mipmap_class = {
    .name = "generate mipmaps", .run = run_mipmaps, .by_host = true};

void mtl_blit_command_encoder_generate_mipmaps(MTLBlitCommandEncoder *encoder,
                                               MTLTexture *texture) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site)) rt_blit_mipmaps(&site, texture);
}

void rt_blit_mipmaps(const RtSite *site, MTLTexture *texture) {
    char name[RT_TEXTURE_NAME];
    if (!rt_blit_valid_texture(site, texture, "texture")) return;
    const AbiTexture *t = &texture->record;
    const unsigned needs = ABI_FORMAT_FILTER | ABI_FORMAT_COLOR;
    if (t->n_levels < 2) {
        rt_misuse_at(site, RT_RULE_blit_mipmap_levels, "texture %s",
                     rt_texture_name(texture, name));
        return;
    }
    if ((t->format->caps & needs) != needs || abi_format_is_integer(t->format)) {
        rt_misuse_at(site, RT_RULE_blit_mipmap_format, "texture %s",
                     rt_texture_name(texture, name));
        return;
    }
    MipmapOp *op = rt_cb_alloc(site->commands, sizeof *op);
    if (!op) {
        rt_cb_no_memory(site->commands);
        return;
    }
    op->texture = t;
    if (rt_cb_use(site->commands, &texture->resource, true))
        rt_cb_append(site->commands, &op->op, &mipmap_class);
}

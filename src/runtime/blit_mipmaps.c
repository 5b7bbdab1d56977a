// SPDX-License-Identifier: Apache-2.0
// blit_mipmaps.c: generate_mipmaps. Each level is made from the one above it with a box filter: a texel is
// the mean over its area. A size halves to floor(size / 2); where it was odd, 2 n + 1 texels become n and
// each new one covers 2 + 1/n old ones: three with weights (n - i, n, i + 1) / (2 n + 1). Numbers are
// decoded to floats first, so sRGB is averaged in linear light.
#include <string.h>
#include "runtime/blit.h"
#include "runtime/execute.h"

typedef struct MipmapOp {
    RtOp op;
    const CpuTexture *texture; // held by the command buffer
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

// Level `level` of one slice from the level above it. rows: space for three rows of that one.
static void make_level(const CpuTexture *t, uint32_t level, uint32_t slice, float *rows) {
    const CpuTextureLevel *from = &t->levels[level - 1], *to = &t->levels[level];
    size_t n = 4 * (size_t)from->width;
    float *row = rows, *sum = rows + n, *small = rows + 2 * n;
    for (uint32_t z = 0; z < to->depth; z++)
        for (uint32_t y = 0; y < to->height; y++) {
            Taps tz = taps_of(z, from->depth), ty = taps_of(y, from->height);
            memset(sum, 0, n * sizeof *sum);
            for (uint32_t j = 0; j < tz.n; j++)
                for (uint32_t k = 0; k < ty.n; k++) {
                    cpu_format_decode_float(t->format,
                                            cpu_texture_at(t, level - 1, 0, ty.first + k,
                                                           slice + tz.first + j, 0),
                                            from->width, row);
                    add_row(sum, row, n, tz.weight[j] * ty.weight[k]);
                }
            shrink_row(sum, from->width, small, to->width);
            cpu_format_encode_float(t->format, small, to->width,
                                    cpu_texture_at(t, level, 0, y, slice + z, 0));
        }
}

static RtOpResult run_mipmaps(RtOp *op, RtExecution *x) {
    const CpuTexture *t = ((const MipmapOp *)(const void *)op)->texture;
    float *rows = rt_alloc_aligned(3 * 4 * sizeof(float) * (size_t)t->width, 64);
    if (!rows) {
        x->error = rt_error_no_memory();
        return RT_OP_FAILED;
    }
    for (uint32_t level = 1; level < t->n_levels; level++)
        for (uint32_t slice = 0; slice < cpu_texture_n_slices(t); slice++)
            make_level(t, level, slice, rows);
    rt_free(rows);
    return RT_OP_DONE;
}

static const RtOpClass mipmap_class = {.name = "generate mipmaps", .run = run_mipmaps};

void mtl_blit_command_encoder_generate_mipmaps(MTLBlitCommandEncoder *encoder,
                                               MTLTexture *texture) {
    RtSite site;
    char name[RT_TEXTURE_NAME];
    if (!rt_blit_valid(encoder, __func__, &site) ||
        !rt_blit_valid_texture(&site, texture, "texture"))
        return;
    const CpuTexture *t = &texture->cpu;
    const unsigned needs = CPU_FORMAT_FILTER | CPU_FORMAT_COLOR;
    if (t->n_levels < 2) {
        rt_misuse_at(&site, RT_RULE_blit_mipmap_levels, "texture %s",
                     rt_texture_name(texture, name));
        return;
    }
    if ((t->format->caps & needs) != needs || cpu_format_is_integer(t->format)) {
        rt_misuse_at(&site, RT_RULE_blit_mipmap_format, "texture %s",
                     rt_texture_name(texture, name));
        return;
    }
    MipmapOp *op = rt_cb_alloc(site.commands, sizeof *op);
    if (!op) {
        rt_cb_no_memory(site.commands);
        return;
    }
    op->texture = t;
    if (rt_cb_use(site.commands, &texture->resource, true))
        rt_cb_append(site.commands, &op->op, &mipmap_class);
}

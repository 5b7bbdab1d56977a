// SPDX-License-Identifier: Apache-2.0
// texture_host.c: what test_texture.py runs kernels with, as a shared object: the device's own
// texture functions with textures in plain memory, and a table of functions that only report what
// they were called with, so that the code in front of them is checked alone.
#include <stdlib.h>
#include <string.h>
#include "abi/texture_layout.h"
#include "devices/cpu/texture/ops.h"

#define HOST __attribute__((visibility("default")))

// ---- textures ----

HOST AbiTexture *host_texture_new(const uint32_t *shape);
HOST void host_texture_free(AbiTexture *texture);
HOST int host_texture_copy(AbiTexture *texture, uint32_t level, uint32_t layer, unsigned char *data,
                           uint64_t row_bytes, uint32_t n_rows, int into);
HOST const CpuTextureOps *host_ops(void);
HOST const CpuTextureOps *host_probe(void);
HOST void host_probe_writes(uint32_t *words, uint32_t n);
HOST uint32_t host_n_calls(void);

// shape: type, pixel format, width, height, depth, array length, levels, samples
AbiTexture *host_texture_new(const uint32_t *s) {
    AbiTextureShape shape = {.type = s[0],
                             .pixel_format = s[1],
                             .width = s[2],
                             .height = s[3],
                             .depth = s[4],
                             .array_length = s[5],
                             .n_levels = s[6],
                             .n_samples = s[7]};
    AbiTextureSize size;
    if (!abi_texture_layout(&shape, NULL, NULL, &size)) return NULL;
    AbiTexture *t = aligned_alloc(64, (sizeof *t + 63) & ~63ull);
    void *base = aligned_alloc(4096, (size.n_bytes + 8191) & ~4095ull);
    if (!t || !base) return NULL;
    memset(base, 0, size.n_bytes);
    abi_texture_layout(&shape, base, t, &size);
    return t;
}

void host_texture_free(AbiTexture *t) {
    if (t) free(t->levels[0].data);
    free(t);
}

int host_texture_copy(AbiTexture *t, uint32_t level, uint32_t layer, unsigned char *data,
                      uint64_t row_bytes, uint32_t n_rows, int into) {
    if (level >= t->n_levels || n_rows > t->levels[level].height) return 0;
    const AbiTextureLevel *l = &t->levels[level];
    for (uint32_t y = 0; y < n_rows; y++) {
        unsigned char *texels = l->data + layer * l->layer_bytes + y * l->row_bytes;
        if (into)
            memcpy(texels, data + y * row_bytes, row_bytes);
        else
            memcpy(data + y * row_bytes, texels, row_bytes);
    }
    return 1;
}

const CpuTextureOps *host_ops(void) { return cpu_texture_ops(); }

// ---- the probe: answers with what it was asked ----
//   0 the operation   1 texture + 3 * sampler   2 the rows wanted, mixed   3 lane counts: how many
//   lanes the call had, and whether the mask had this one (it always has)
// Writes go to words: at 8 * x the same four, then the values written.

static uint32_t n_calls, *written, n_written;

// The rows that the operation names, by the words of abi/cpu_texture.h.
static uint32_t rows_of(char what, uint32_t op) {
    static const uint8_t dims[] = {1, 1, 2, 2, 2, 3, 3, 3, 2, 1},
                         sliced[] = {0, 1, 0, 1, 0, 0, 1, 0, 1, 0};
    uint32_t type = op & CPU_TEX_TYPE_MASK, lod = op & CPU_TEX_LOD_MASK, n = dims[type], rows = 0;
    int cube = type == 5 || type == 6, multisample = type == 4 || type == 8;
    if (cube && what != 's') n = 2;
    rows = (1u << n) - 1;
    if (sliced[type] || (cube && what != 's')) rows |= 1u << CPU_TEX_SLICE;
    if (what == 'a')
        return rows | ((op >> CPU_TEX_ATOMIC & 15) == CPU_TEX_LOAD ? 0 : 1u << CPU_TEX_VALUE);
    if (what != 's')
        return rows | (multisample ? 1u << CPU_TEX_SAMPLE : type == 9 ? 0 : 1u << CPU_TEX_LEVEL);
    uint32_t each = (1u << n) - 1;
    if (lod == CPU_TEX_LOD_BIAS || lod == CPU_TEX_LOD_LEVEL) rows |= 1u << CPU_TEX_LEVEL;
    if (lod == CPU_TEX_LOD_GRADIENT) rows |= each << CPU_TEX_DX | each << CPU_TEX_DY;
    if (op & CPU_TEX_MIN_LOD) rows |= 1u << CPU_TEX_LOD_CLAMP;
    if (op & CPU_TEX_OFFSET) rows |= each << CPU_TEX_OFFSETS;
    if (op & CPU_TEX_COMPARE) rows |= 1u << CPU_TEX_REFERENCE;
    if (op & CPU_TEX_QUERY_LOD) rows &= 7;
    return rows;
}

static uint32_t mix(uint32_t n_lanes, const uint32_t *rows, uint32_t lane, uint32_t wanted) {
    uint32_t sum = 0;
    for (uint32_t r = 0; r < CPU_TEX_ROWS; r++)
        if (wanted >> r & 1) sum += rows[r * n_lanes + lane] * (2654435761u * (2 * r + 1));
    return sum;
}

static void answer(char what, uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                   const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    uint32_t wanted = rows_of(what, op);
    n_calls++;
    for (uint32_t l = 0; l < n_lanes; l++) {
        int on = mask[l / 32] >> (l % 32) & 1;
        uint64_t handles = texture + 3 * sampler;
        out[l] = on ? op : ~0u;
        out[n_lanes + l] = on ? (uint32_t)(handles ^ handles >> 32) : ~0u;
        out[2 * n_lanes + l] = on ? mix(n_lanes, rows, l, wanted) : ~0u;
        out[3 * n_lanes + l] = on ? 1 : 0;
    }
}
static void probe_sample(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                         const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    answer('s', texture, sampler, op, n_lanes, mask, rows, out);
}
static void probe_read(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                       const uint32_t *rows, uint32_t *out) {
    answer('r', texture, 0, op, n_lanes, mask, rows, out);
}
static void probe_atomic(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                         const uint32_t *rows, uint32_t *out) {
    answer('a', texture, 0, op, n_lanes, mask, rows, out);
}
static void probe_write(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, uint32_t *out) {
    (void)out;
    n_calls++;
    for (uint32_t l = 0; l < n_lanes; l++) {
        uint32_t x = rows[CPU_TEX_X * n_lanes + l];
        if (!(mask[l / 32] >> (l % 32) & 1) || 8ull * x + 8 > n_written) continue;
        uint32_t *w = written + 8ull * x;
        w[0] = op;
        w[1] = (uint32_t)(texture ^ texture >> 32);
        w[2] = mix(n_lanes, rows, l, rows_of('w', op));
        w[3]++;
        for (int c = 0; c < 4; c++) w[4 + c] = rows[(CPU_TEX_VALUE + c) * n_lanes + l];
    }
}

const CpuTextureOps *host_probe(void) {
    static const CpuTextureOps ops = {probe_sample, probe_read, probe_write, probe_atomic, NULL};
    n_calls = 0;
    return &ops;
}
void host_probe_writes(uint32_t *words, uint32_t n) {
    written = words;
    n_written = n;
}
uint32_t host_n_calls(void) { return n_calls; }

// SPDX-License-Identifier: Apache-2.0
// fast_texel.c: reads and writes in vectors over the lanes, of the layouts in fast.h. Lanes that go
// along x (most kernels) become plain loads and stores. Built once per instruction set; what is not
// covered here returns false and goes to the general code.
#include "devices/cpu/texture/fast.h"

// The level all lanes that take part name; UINT32_MAX: they differ.
static uint32_t common_level(const uint32_t *mask, const uint32_t *levels, uint32_t n_lanes) {
    uint32_t first = 0;
    while (first < n_lanes && !texel_lane_active(mask, first)) first++;
    if (first == n_lanes) return UINT32_MAX;
    vi differ = v_set_int(0), level = v_set_int((int32_t)levels[first]);
    for (uint32_t l = 0; l < n_lanes; l += V_WIDTH)
        differ |= (v_load_int(levels + l) ^ level) & v_mask(mask, l);
    return v_any(differ != 0) ? UINT32_MAX : levels[first];
}

typedef struct Access { // of a whole call
    const AbiTexture *t;
    const AbiTextureLevel *level;
    const uint32_t *x, *y, *z; // z: NULL or slices, planes
    uint32_t n_layers, n_lanes;
} Access;

static bool find_access(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, Access *a) {
    unsigned type = op & CPU_TEX_TYPE_MASK;
    if (type != t->type || n_lanes % V_WIDTH || texel_type_is_multisample(type)) return false;
    const uint32_t *levels = rows + CPU_TEX_LEVEL * (size_t)n_lanes;
    uint32_t level = type == ABI_TEXTURE_BUFFER ? 0 : common_level(mask, levels, n_lanes);
    if (level >= t->n_levels || !is_small(t, &t->levels[level])) return false;
    *a = (Access){.t = t,
                  .level = &t->levels[level],
                  .x = rows + CPU_TEX_X * (size_t)n_lanes,
                  .n_layers = abi_texture_n_slices(t),
                  .n_lanes = n_lanes};
    if (texel_type_dimensions(type) > 1) a->y = rows + CPU_TEX_Y * (size_t)n_lanes;
    if (type == ABI_TEXTURE_3D) {
        a->z = rows + CPU_TEX_Z * (size_t)n_lanes;
        a->n_layers = a->level->depth;
    } else if (texel_type_is_array(type) || texel_type_is_cube(type)) {
        a->z = rows + CPU_TEX_SLICE * (size_t)n_lanes;
    }
    return true;
}

// How the texels of V_WIDTH lanes lie: one after the other, the same in each half (threadgroups 8
// wide, in vectors of 16), or anyhow.
typedef enum Run { RUN_NONE, RUN_HALVES, RUN_WHOLE } Run;
#define HALF (V_WIDTH / 2)

// Offsets of V_WIDTH lanes; in: which of them lie inside (the others: offset 0). Runs lie inside.
INLINE Run find_offsets(const Access *a, unsigned n_bytes, uint32_t l, vi *offsets, vi *in) {
    const AbiTextureLevel *level = a->level;
    vu x = (vu)v_load_int(a->x + l);
    vi inside = x < level->width, row = v_set_int(0);
    if (a->y) {
        vu y = (vu)v_load_int(a->y + l);
        inside &= y < level->height;
        row = (vi)(y * (uint32_t)level->row_bytes);
    }
    if (a->z) {
        vu z = (vu)v_load_int(a->z + l);
        inside &= z < a->n_layers;
        row = (vi)((vu)row + z * (uint32_t)level->layer_bytes);
    }
    *offsets = (vi)((vu)row + x * n_bytes) & inside;
    *in = inside;
    if (!v_all(inside)) return RUN_NONE;
    vi step = v_lanes() * (int32_t)n_bytes, o = *offsets;
    if (v_all((o - o[0] == step) & (row == v_set_int(row[0])))) return RUN_WHOLE;
    if (V_WIDTH < 16) return RUN_NONE;
    vi second = v_lanes() >= HALF;
    vi head = v_select_int(second, v_set_int(o[HALF] - HALF * (int32_t)n_bytes), v_set_int(o[0]));
    vi head_row = v_select_int(second, v_set_int(row[HALF]), v_set_int(row[0]));
    return v_all((o - head == step) & (row == head_row)) ? RUN_HALVES : RUN_NONE;
}

INLINE void read_texels(Layout layout, const Access *a, uint32_t *out) {
    bool integer = abi_format_is_integer(a->t->format);
    for (uint32_t l = 0; l < a->n_lanes; l += V_WIDTH) {
        vi offsets, in, w[4];
        vf rgba[4];
        Run run = find_offsets(a, a->t->format->block_bytes, l, &offsets, &in);
        const unsigned char *base = a->level->data;
        if (run == RUN_WHOLE && layout != LAYOUT_DECODED) {
            load_run(layout, base + (uint32_t)offsets[0], w);
        } else if (run == RUN_HALVES && layout != LAYOUT_DECODED) {
            unsigned char both[V_WIDTH * 16];
            memcpy(both, base + (uint32_t)offsets[0], HALF * bytes_of(layout));
            memcpy(both + HALF * bytes_of(layout), base + (uint32_t)offsets[HALF],
                   HALF * bytes_of(layout));
            load_run(layout, both, w);
        } else {
            uint32_t at[CHUNK], words[4][CHUNK];
            v_store_int(at, offsets);
            fetch(layout, a->t->format, base, at, V_WIDTH, words);
            load_words(layout, words, 0, w);
        }
        decode(layout, w, rgba);
        finish(layout, integer, rgba);
        put(a->t, integer, rgba, out + l, a->n_lanes);
        for (unsigned c = 0; c < 4 && !v_all(in); c++) {
            uint32_t *to = out + c * (size_t)a->n_lanes + l;
            vi outside = v_set_int(c == 3 ? (int32_t)texel_outside_alpha(a->t) : 0);
            v_store_int(to, v_select_int(in, v_load_int(to), outside));
        }
    }
}

bool cpu_fast_read(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                   const uint32_t *rows, uint32_t *out) {
    Layout layout = layout_of(t->format);
    Access a;
    if (layout == LAYOUT_BLOCKED || !find_access(t, op, n_lanes, mask, rows, &a)) return false;
#define READ(constant) read_texels(constant, &a, out)
    FOR_LAYOUT(layout, READ)
    return true;
}

INLINE void write_texels(Layout layout, const Access *a, const uint32_t *mask,
                         const uint32_t *values) {
    for (uint32_t l = 0; l < a->n_lanes; l += V_WIDTH) {
        vi offsets, in, w[4], active = v_mask(mask, l);
        vf rgba[4];
        Run run = find_offsets(a, bytes_of(layout), l, &offsets, &in);
        if (!v_any(active & in)) continue;
        if (!v_all(active)) run = RUN_NONE;
        for (unsigned c = 0; c < components_of(layout); c++)
            rgba[c] = v_load(values + c * (size_t)a->n_lanes + l);
        encode(layout, rgba, w);
        unsigned char *base = a->level->data;
        if (run == RUN_WHOLE) {
            store_run(layout, base + (uint32_t)offsets[0], w);
            continue;
        }
        if (run == RUN_HALVES) {
            unsigned char both[V_WIDTH * 16];
            store_run(layout, both, w);
            memcpy(base + (uint32_t)offsets[0], both, HALF * bytes_of(layout));
            memcpy(base + (uint32_t)offsets[HALF], both + HALF * bytes_of(layout),
                   HALF * bytes_of(layout));
            continue;
        }
        active &= in;
        for (unsigned i = 0; i < V_WIDTH; i++) {
            if (!active[i]) continue;
            uint32_t texel[4] = {0};
            for (unsigned k = 0; k < words_of(layout); k++) texel[k] = (uint32_t)w[k][i];
            memcpy(base + (uint32_t)offsets[i], texel, bytes_of(layout));
        }
    }
}

bool cpu_fast_write(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                    const uint32_t *rows) {
    Layout layout = layout_of(t->format);
    Access a;
    if (layout == LAYOUT_BLOCKED || layout == LAYOUT_DECODED) return false;
    if (t->pixel_format == 252) return false;               // Depth32Float: not written by shaders
    if (V_WIDTH == 4 && layout <= LAYOUT_RG8) return false; // rounds twice without an FMA
    // Integers of the other sign have to be clamped.
    uint32_t data = op & CPU_TEX_DATA_MASK;
    if (t->format->kind == ABI_KIND_UINT && data != CPU_TEX_UINT) return false;
    if (t->format->kind == ABI_KIND_SINT && data != CPU_TEX_INT) return false;
    if (!find_access(t, op, n_lanes, mask, rows, &a)) return false;
    const uint32_t *values = rows + CPU_TEX_VALUE * (size_t)n_lanes;
#define WRITE(constant) write_texels(constant, &a, mask, values)
    FOR_LAYOUT(layout, WRITE)
    return true;
}

#define cpu_fast_ops ISA(cpu_fast)
const CpuFastOps cpu_fast_ops = {cpu_fast_call, cpu_fast_sample, cpu_fast_bytes, cpu_fast_read,
                                 cpu_fast_write};

// SPDX-License-Identifier: Apache-2.0
// harness.c: targets, and vertex and fragment functions in plain C.
#include "harness.h"
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/engine.h"

Target target_new(uint32_t pixel_format, uint32_t width, uint32_t height, uint32_t n_samples,
                  uint32_t layers) {
    Target t = {.data = NULL};
    AbiTextureShape shape = {
        .type = n_samples > 1 ? (layers > 1 ? ABI_TEXTURE_2D_MS_ARRAY : ABI_TEXTURE_2D_MS)
                              : (layers > 1 ? ABI_TEXTURE_2D_ARRAY : ABI_TEXTURE_2D),
        .pixel_format = pixel_format,
        .width = width,
        .height = height,
        .depth = 1,
        .array_length = layers,
        .n_levels = 1,
        .n_samples = n_samples};
    AbiTextureSize size;
    if (!abi_texture_layout(&shape, NULL, NULL, &size)) abort();
    t.n_bytes = size.n_bytes;
    t.data = aligned_alloc(128, (size.n_bytes + 127) / 128 * 128);
    if (!t.data || !abi_texture_layout(&shape, t.data, &t.texture, &size)) abort();
    memset(t.data, 0xa5, t.n_bytes);
    return t;
}

void target_free(Target *t) {
    free(t->data);
    *t = (Target){.data = NULL};
}

void target_read(const Target *t, uint32_t x, uint32_t y, uint32_t layer, uint32_t sample,
                 double rgba[4]) {
    const AbiPixelFormat *f = t->texture.format;
    const unsigned char *at = abi_texture_at(&t->texture, 0, x, y, layer, sample);
    if (abi_format_is_integer(f)) {
        uint32_t u[4];
        texel_decode_int(f, at, 1, u);
        for (int i = 0; i < 4; i++)
            rgba[i] = f->kind == ABI_KIND_SINT ? (double)(int32_t)u[i] : (double)u[i];
    } else {
        float v[4];
        texel_decode_float(f, at, 1, v);
        for (int i = 0; i < 4; i++) rgba[i] = v[i];
    }
}

uint8_t target_stencil(const Target *t, uint32_t x, uint32_t y, uint32_t layer, uint32_t sample) {
    const AbiPixelFormat *f = t->texture.format;
    const unsigned char *at = abi_texture_at(&t->texture, 0, x, y, layer, sample);
    return f->block_bytes == 1 ? at[0] : f->block_bytes == 8 ? at[4] : at[3];
}

// ---- Functions ----

static void vertex_function(const CpuLaunch *launch, const CpuVertexStep *step) {
    const Vertex *vertices = launch->args[0];
    uint64_t n = launch->lengths[0] / sizeof *vertices;
    const Stages *s = launch->args[1];
    for (uint32_t l = 0; l < step->n; l++) {
        Vertex v = {.position = {0, 0, 0, 1}};
        if (step->vertices[l] < n) v = vertices[step->vertices[l]];
        float *out = (float *)(void *)step->out + l;
        v.position[0] += 0.25f * (float)(step->instance - step->base_instance) * v.position[3];
        for (int i = 0; i < 4; i++) out[32 * i] = v.position[i];
        if (s->vertex_info.flags & ABI_STAGE_POINT_SIZE)
            out[32 * ABI_VERTEX_POINT_SIZE] = v.point_size;
        if (s->vertex_info.flags & ABI_STAGE_LAYER) step->out[32 * ABI_VERTEX_LAYER + l] = v.layer;
        if (s->vertex_info.flags & ABI_STAGE_VIEWPORT)
            step->out[32 * ABI_VERTEX_VIEWPORT + l] = v.viewport;
        for (uint32_t i = 0; i < s->vertex_info.n_clip; i++)
            out[32 * (ABI_VERTEX_CLIP + i)] = v.clip[i];
        for (uint32_t i = 0; i < N_VALUES; i++) out[32 * (ABI_VERTEX_FIRST + i)] = v.value[i];
    }
}

static float value_at(const CpuFragmentStep *step, const CpuPlane *p, float x, float y) {
    return p->at + p->dx * (step->from[0] + x) + p->dy * (step->from[1] + y);
}

static void set(uint32_t *row, int l, float v) { memcpy(&row[l], &v, 4); }

static void misbehave(int how) {
    static volatile uintptr_t nowhere = 8;
    if (how == 1) *(volatile int *)nowhere = 1;
    volatile int forever = 1;
    while (how == 2 && forever) forever = 1;
}

static void fragment_function(const CpuLaunch *launch, CpuFragmentStep *step) {
    const Stages *s = launch->args[0];
    const Behaviour *b = &s->behaviour;
    if (b->fault) misbehave(b->fault);
    for (int l = 0; l < 32; l++) {
        int lx = l / 4 % 4 * 2 + l % 2, ly = l / 16 * 2 + l / 2 % 2;
        float px = 0.5f, py = 0.5f, in[N_VALUES];
        if (step->per_sample) px = step->sample[0], py = step->sample[1];
        if (b->info_flags & ABI_STAGE_READS_CENTROID)
            px = step->centroid[l], py = step->centroid[32 + l];
        float x = (float)lx + px, y = (float)ly + py, w = value_at(step, &step->w, x, y);
        for (int i = 0; i < N_VALUES; i++) {
            in[i] = b->flat ? step->planes[i].at : value_at(step, &step->planes[i], x, y);
            if (!b->flat && !b->linear) in[i] /= w;
        }
        if (b->info_flags & ABI_STAGE_READS_POINT_COORD)
            in[0] = step->point_coord[l], in[1] = step->point_coord[32 + l];
        if (b->info_flags & ABI_STAGE_READS_COVERAGE) in[0] = (float)step->coverage[l];
        if (b->info_flags & ABI_STAGE_READS_BARYCENTRIC) {
            in[0] = value_at(step, &step->barycentric[0], x, y) / w;
            in[1] = value_at(step, &step->barycentric[1], x, y) / w;
            in[2] = value_at(step, &step->barycentric_linear[0], x, y);
        }
        if (b->info_flags & ABI_STAGE_READS_PRIMITIVE_ID) in[0] = (float)step->primitive_id;
        if ((b->info_flags & ABI_STAGE_DISCARD) && ((step->x + lx + step->y + ly) & 1))
            step->kept &= ~(1u << l);
        for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) {
            if (!(b->colors >> a & 1)) continue;
            for (uint32_t c = 0; c < 4; c++) {
                float v = in[c] + (float)a / 16;
                if (b->colors_in & 1) {
                    float old;
                    memcpy(&old, &step->color_in[32 * (4 * a + c) + (uint32_t)l], 4);
                    v += old;
                }
                if (b->integers)
                    step->colors[32 * (4 * a + c) + (uint32_t)l] = 10 * a + c + 1;
                else
                    set(step->colors + 32 * (4 * a + c), l, v);
            }
        }
        for (uint32_t c = 0; b->dual && c < 4; c++)
            set(step->colors + 32 * (CPU_COLOR_DUAL + c), l, in[4 + c]);
        if (b->info_flags & ABI_STAGE_DEPTH) set(step->depth, l, in[4]);
        if (b->info_flags & ABI_STAGE_STENCIL) step->stencil[l] = 77;
        if (b->info_flags & ABI_STAGE_SAMPLE_MASK) step->sample_mask[l] = 5;
        if (s->hits && (step->covered >> l & 1))
            s->hits[(uint32_t)(step->y + ly) * s->hits_width + (uint32_t)(step->x + lx)]++;
    }
}

static const CpuCode vertex_code = {.vertex = vertex_function};
static const CpuCode fragment_code = {.fragment = fragment_function};

void stages_init(Stages *s, const Vertex *vertices, uint32_t n, Behaviour behaviour,
                 uint32_t vertex_flags, uint32_t n_clip) {
    memset(s, 0, sizeof *s);
    s->behaviour = behaviour;
    s->vertex_info.flags = vertex_flags | ABI_STAGE_POSITION;
    s->vertex_info.n_outputs = N_VALUES;
    s->vertex_info.n_clip = n_clip;
    s->fragment_info.flags = behaviour.info_flags;
    s->fragment_info.n_inputs = N_VALUES;
    s->fragment_info.colors = behaviour.colors | (behaviour.dual ? 1u << ABI_MAX_COLORS : 0);
    s->fragment_info.colors_in = behaviour.colors_in;
    for (uint32_t i = 0; i < N_VALUES; i++) {
        s->rows[i] = (uint16_t)(ABI_VERTEX_FIRST + i);
        s->fragment_info.inputs[i] = behaviour.flat     ? ABI_FLAT
                                     : behaviour.linear ? ABI_LINEAR
                                                        : ABI_PERSPECTIVE;
    }
    s->vertex_args[0] = (void *)vertices;
    s->vertex_args[1] = s->fragment_args[0] = s;
    s->lengths[0] = n * sizeof *vertices;
    s->lengths[1] = sizeof *s;
    s->vertex = (DevVertexStage){.code = &vertex_code.head,
                                 .info = &s->vertex_info,
                                 .arguments = {.args = s->vertex_args, .lengths = s->lengths}};
    s->fragment = (DevFragmentStage){.code = &fragment_code.head,
                                     .info = &s->fragment_info,
                                     .arguments = {.args = s->fragment_args},
                                     .rows = s->rows};
}

DevState state_default(uint8_t primitive) {
    DevState state = {.primitive = primitive, .depth_compare = ABI_COMPARE_ALWAYS};
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) state.blend[a].write_mask = 15;
    return state;
}

void place(Vertex *v, double x, double y, double z, double w_clip, double width, double height) {
    v->position[0] = (float)((x / (width / 2) - 1) * w_clip);
    v->position[1] = (float)((1 - y / (height / 2)) * w_clip);
    v->position[2] = (float)(z * w_clip);
    v->position[3] = (float)w_clip;
}

DevDraw draw_of(const Stages *stages, const DevState *state, uint32_t n_vertices) {
    return (DevDraw){.vertex = &stages->vertex,
                     .fragment = &stages->fragment,
                     .state = state,
                     .n_vertices = n_vertices,
                     .n_instances = 1};
}

void pass_clears(DevPass *pass, Target *color, Target *depth) {
    pass->colors[0] = (DevColor){.view = {.texture = &color->texture},
                                 .load = DEV_LOAD_CLEAR,
                                 .store = DEV_STORE_STORE,
                                 .clear = {-1, -1, -1, -1}};
    pass->depth = (DevDepth){.view = {.texture = &depth->texture},
                             .load = DEV_LOAD_CLEAR,
                             .store = DEV_STORE_STORE,
                             .clear = 1};
}

void render(const DevPass *pass, const DevDraw *draws, size_t n) {
    DevRun run = {.fault = 0};
    bool ok = cpu_run_begin(&run, (DevLimits){0}) && cpu_raster(&run, pass, draws, n);
    cpu_run_end(&run);
    if (!ok) {
        fprintf(stderr, "render: fault %d\n", atomic_load(&run.fault));
        abort();
    }
}

static uint32_t seed = 1;
void random_seed(uint32_t value) { seed = value ? value : 1; }
uint32_t random_bits(void) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}
double random_unit(void) { return (random_bits() >> 8) / 16777216.0; }

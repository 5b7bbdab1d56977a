// SPDX-License-Identifier: Apache-2.0
// codec_draw.c: textures, render passes and draws as bytes (codec_int.h). Limits are those of
// Metal's enumerations: what a device may assume of its input holds for what is read here.
#include "abi/pixel_format.h"
#include "abi/texture_layout.h"
#include "devices/capture/codec_int.h"

enum {
    MAX_ARGS = 1 << 16,
    MAX_VALUES = 1 << 12,
    MAX_WIDTH = 1 << 28, // of a texture buffer
    MAX_EXTENT = 1 << 16,
};

static void words(Codec *c, uint32_t *v, size_t n) {
    for (size_t i = 0; i < n; i++) codec_u32(c, &v[i], UINT32_MAX);
}

// ---- Textures ----

static void extents(Codec *c, uint32_t *width, uint32_t *height, uint32_t *depth) {
    codec_u32(c, width, MAX_WIDTH), codec_u32(c, height, MAX_EXTENT);
    codec_u32(c, depth, MAX_EXTENT);
}

void codec_texture(Codec *c, AbiTexture *t) {
    extents(c, &t->width, &t->height, &t->depth);
    codec_u32(c, &t->array_length, MAX_EXTENT);
    codec_u32(c, &t->n_levels, ABI_MAX_LEVELS);
    codec_u32(c, &t->n_samples, ABI_MAX_SAMPLES);
    codec_u16(c, &t->pixel_format, 1023);
    codec_u8(c, &t->type, ABI_TEXTURE_N_TYPES - 1);
    codec_u8(c, &t->swizzled, 1);
    for (int i = 0; i < 4; i++) codec_u8(c, &t->swizzle[i], ABI_SWIZZLE_ALPHA);
    codec_u64(c, &t->sample_bytes);
    words(c, &t->sparse_level, 1), words(c, &t->sparse_slice, 1);
    for (uint32_t i = 0; i < t->n_levels; i++) {
        AbiTextureLevel *l = &t->levels[i];
        codec_pointer(c, &l->data);
        codec_u64(c, &l->row_bytes), codec_u64(c, &l->layer_bytes);
        extents(c, &l->width, &l->height, &l->depth);
    }
    if (c->in && (!t->n_levels || !t->n_samples || !abi_pixel_format(t->pixel_format)))
        codec_fail(c);
}

// ---- Passes ----

static void target(Codec *c, DevTarget *t) {
    codec_pointer(c, &t->texture);
    codec_u32(c, &t->level, ABI_MAX_LEVELS - 1);
    codec_u32(c, &t->slice, 1 << 16);
}

static void attachment(Codec *c, DevTarget *view, DevTarget *resolve, uint8_t *load,
                       uint8_t *store) {
    target(c, view), target(c, resolve);
    codec_u8(c, load, DEV_LOAD_CLEAR), codec_u8(c, store, DEV_STORE_STORE_AND_RESOLVE);
}

static void depth(Codec *c, DevDepth *d) {
    attachment(c, &d->view, &d->resolve, &d->load, &d->store);
    codec_u8(c, &d->resolve_filter, DEV_RESOLVE_MAX);
    codec_f64(c, &d->clear);
}

static void edges(Codec *c, const float **edge, uint32_t n) {
    float *values = codec_array(c, *edge, (n + 1) * (size_t)2, sizeof *values, 4);
    for (size_t i = 0; values && i < (n + 1) * (size_t)2; i++) codec_f32(c, &values[i]);
    *edge = values;
}

static void rates(Codec *c, const DevRates **at) {
    if (!codec_there(c, *at)) return;
    DevRates *r = codec_array(c, *at, 1, sizeof *r, 12);
    *at = r;
    if (!r) return;
    codec_u32(c, &r->n_layers, 1 << 12);
    words(c, &r->width, 1), words(c, &r->height, 1);
    DevRateLayer *layers = codec_array(c, r->layers, r->n_layers, sizeof *layers, 8);
    for (uint32_t i = 0; layers && i < r->n_layers; i++) {
        codec_u32(c, &layers[i].n_columns, 1 << 14), codec_u32(c, &layers[i].n_rows, 1 << 14);
        edges(c, &layers[i].columns, layers[i].n_columns);
        edges(c, &layers[i].rows, layers[i].n_rows);
    }
    r->layers = layers;
}

void codec_pass(Codec *c, CapRender *render) {
    DevPass *p = &render->dev;
    for (size_t i = 0; i < ABI_MAX_COLORS; i++) {
        DevColor *a = &p->colors[i];
        attachment(c, &a->view, &a->resolve, &a->load, &a->store);
        for (int k = 0; k < 4; k++) codec_f64(c, &a->clear[k]);
    }
    depth(c, &p->depth), depth(c, &p->stencil);
    codec_u32(c, &p->width, 1 << 16), codec_u32(c, &p->height, 1 << 16);
    codec_u32(c, &p->n_layers, 1 << 16);
    codec_u32(c, &p->n_samples, ABI_MAX_SAMPLES);
    codec_u32(c, &p->n_sample_positions, ABI_MAX_SAMPLES);
    for (size_t i = 0; i < ABI_MAX_SAMPLES; i++)
        codec_f32(c, &p->sample_positions[i][0]), codec_f32(c, &p->sample_positions[i][1]);
    codec_u32(c, &p->tile_width, 64), codec_u32(c, &p->tile_height, 64);
    codec_u32(c, &p->imageblock_bytes, 1 << 16), codec_u32(c, &p->threadgroup_bytes, 1 << 16);
    rates(c, &p->rates);
    codec_u32(c, &render->n_draws, UINT32_MAX);
}

// ---- State ----

static void stencil(Codec *c, DevStencil *s) {
    codec_u8(c, &s->compare, ABI_COMPARE_ALWAYS), codec_u8(c, &s->fail, DEV_STENCIL_DECREMENT_WRAP);
    codec_u8(c, &s->depth_fail, DEV_STENCIL_DECREMENT_WRAP);
    codec_u8(c, &s->pass, DEV_STENCIL_DECREMENT_WRAP);
    codec_u8(c, &s->read_mask, 255), codec_u8(c, &s->write_mask, 255);
    codec_u8(c, &s->reference, 255);
}

static void blend(Codec *c, DevBlend *b) {
    codec_bool(c, &b->enabled);
    codec_u8(c, &b->rgb_op, DEV_BLEND_MAX), codec_u8(c, &b->alpha_op, DEV_BLEND_MAX);
    uint8_t *factors[] = {&b->src_rgb, &b->dst_rgb, &b->src_alpha, &b->dst_alpha};
    for (int i = 0; i < 4; i++) codec_u8(c, factors[i], DEV_BLEND_ONE_MINUS_SRC1_ALPHA);
    codec_u8(c, &b->write_mask, 255);
}

static void viewports(Codec *c, DevState *s) {
    codec_u32(c, &s->n_viewports, DEV_MAX_VIEWPORTS),
        codec_u32(c, &s->n_scissors, DEV_MAX_VIEWPORTS);
    for (uint32_t i = 0; i < s->n_viewports; i++) {
        DevViewport *v = &s->viewports[i];
        double *fields[] = {&v->x, &v->y, &v->width, &v->height, &v->znear, &v->zfar};
        for (int k = 0; k < 6; k++) codec_f64(c, fields[k]);
    }
    for (uint32_t i = 0; i < s->n_scissors; i++) {
        DevScissor *r = &s->scissors[i];
        codec_u32(c, &r->x, 1 << 16), codec_u32(c, &r->y, 1 << 16);
        codec_u32(c, &r->width, 1 << 16), codec_u32(c, &r->height, 1 << 16);
    }
}

static void state(Codec *c, const DevState **at) {
    if (!codec_there(c, *at)) return;
    DevState *s = codec_array(c, *at, 1, sizeof *s, 100);
    *at = s;
    if (!s) return;
    viewports(c, s);
    codec_u8(c, &s->primitive, DEV_TRIANGLE_STRIP), codec_u8(c, &s->cull, DEV_CULL_BACK);
    codec_u8(c, &s->winding, DEV_COUNTER_CLOCKWISE), codec_u8(c, &s->fill, DEV_FILL_LINES);
    codec_u8(c, &s->depth_clip, DEV_DEPTH_CLAMP);
    bool *flags[] = {&s->discard_all, &s->alpha_to_coverage, &s->alpha_to_one,
                     &s->depth_write, &s->depth_bounds,      &s->stencil};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) codec_bool(c, flags[i]);
    float *numbers[] = {&s->depth_bias, &s->depth_slope, &s->depth_bias_clamp, &s->depth_low,
                        &s->depth_high};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) codec_f32(c, numbers[i]);
    codec_u8(c, &s->depth_compare, ABI_COMPARE_ALWAYS);
    stencil(c, &s->front), stencil(c, &s->back);
    for (size_t i = 0; i < ABI_MAX_COLORS; i++) {
        blend(c, &s->blend[i]);
        codec_u8(c, &s->color_map[i], ABI_MAX_COLORS);
    }
    for (int i = 0; i < 4; i++) codec_f32(c, &s->blend_color[i]);
}

// ---- Functions ----

static void arguments(Codec *c, DevArguments *a, CapFunction *f) {
    codec_u32(c, &f->n_args, MAX_ARGS), codec_u32(c, &f->static_bytes, 1 << 20);
    void **args = codec_array(c, a->args, f->n_args, sizeof *args, 8);
    for (uint32_t i = 0; args && i < f->n_args; i++) codec_pointer(c, &args[i]);
    a->args = args;
    codec_u64(c, &a->stack_bytes);
    if (codec_there(c, a->lengths)) {
        uint64_t *lengths = codec_array(c, a->lengths, f->n_args, sizeof *lengths, 8);
        for (uint32_t i = 0; lengths && i < f->n_args; i++) codec_u64(c, &lengths[i]);
        a->lengths = lengths;
    }
    if (c->in) a->live = NULL, a->context = NULL;
}

static void info(Codec *c, const AbiStageInfo **at) {
    if (!codec_there(c, *at)) return;
    AbiStageInfo *i = codec_array(c, *at, 1, sizeof *i, 36);
    *at = i;
    if (!i) return;
    words(c, &i->stage, 1), words(c, &i->flags, 1);
    codec_u32(c, &i->n_inputs, ABI_MAX_VARYINGS), codec_u32(c, &i->n_outputs, ABI_MAX_VARYINGS);
    codec_u32(c, &i->n_clip, ABI_MAX_CLIP);
    words(c, &i->colors, 1), words(c, &i->colors_in, 1);
    codec_u32(c, &i->n_vertex_buffers, sizeof i->vertex_buffers);
    words(c, &i->imageblock_words, 1);
    codec_raw(c, i->vertex_buffers, sizeof i->vertex_buffers);
    for (size_t k = 0; k < sizeof i->inputs; k++) codec_u8(c, &i->inputs[k], 255);
}

static void vertex(Codec *c, const DevVertexStage **at, CapFunction *f) {
    if (!codec_there(c, *at)) return;
    DevVertexStage *v = codec_array(c, *at, 1, sizeof *v, 8);
    *at = v;
    if (!v) return;
    codec_pointer(c, &v->code);
    info(c, &v->info);
    if (!v->code) return;
    arguments(c, &v->arguments, f);
    size_t n = v->info ? v->info->n_vertex_buffers : 0;
    if (!codec_there(c, v->strides)) return;
    uint64_t *strides = codec_array(c, v->strides, n, sizeof *strides, 8);
    for (size_t i = 0; strides && i < n; i++) codec_u64(c, &strides[i]);
    v->strides = strides;
}

static void fragment(Codec *c, const DevFragmentStage **at, CapFunction *f) {
    if (!codec_there(c, *at)) return;
    DevFragmentStage *v = codec_array(c, *at, 1, sizeof *v, 8);
    *at = v;
    if (!v) return;
    codec_pointer(c, &v->code);
    if (!v->code) return;
    info(c, &v->info);
    arguments(c, &v->arguments, f);
    size_t n = v->info ? v->info->n_inputs : 0;
    if (!codec_there(c, v->rows)) return;
    uint16_t *rows = codec_array(c, v->rows, n, sizeof *rows, 4);
    for (size_t i = 0; rows && i < n; i++) codec_u16(c, &rows[i], UINT16_MAX);
    v->rows = rows;
}

static void function(Codec *c, DevMeshFunction *m, CapFunction *f) {
    codec_pointer(c, &m->code);
    if (!m->code) return;
    words(c, &m->n_slots, 1), words(c, &m->payload_slot, 1), words(c, &m->output_slot, 1);
    arguments(c, &m->arguments, f);
    codec_size(c, &m->threadgroup_bytes);
    if (m->n_slots != f->n_args || m->threadgroup_bytes > 1 << 20) codec_fail(c);
}

static void values(Codec *c, const DevMeshValue **at, uint32_t *n) {
    codec_u32(c, n, MAX_VALUES);
    DevMeshValue *v = codec_array(c, *at, *n, sizeof *v, 8);
    for (uint32_t i = 0; v && i < *n; i++) {
        words(c, &v[i].offset, 1);
        codec_u16(c, &v[i].row, UINT16_MAX);
        codec_u8(c, &v[i].type, DEV_MESH_UCHAR), codec_u8(c, &v[i].n, 16);
        codec_bool(c, &v[i].primitive);
    }
    *at = v;
}

static void mesh(Codec *c, const DevMeshStage **at, CapFunction *object, CapFunction *f) {
    if (!codec_there(c, *at)) return;
    DevMeshStage *m = codec_array(c, *at, 1, sizeof *m, 16);
    *at = m;
    if (!m) return;
    function(c, &m->object, object), function(c, &m->mesh, f);
    codec_u32(c, &m->payload_bytes, 1 << 16), words(c, &m->max_groups, 1);
    codec_u8(c, &m->topology, DEV_TRIANGLE);
    codec_u32(c, &m->n_vertices, 256), codec_u32(c, &m->n_primitives, 512);
    words(c, &m->index_offset, 1), words(c, &m->vertex_offset, 1), words(c, &m->vertex_stride, 1);
    words(c, &m->primitive_offset, 1), words(c, &m->primitive_stride, 1), words(c, &m->n_bytes, 1);
    values(c, &m->values, &m->n_values);
}

static void tile(Codec *c, const DevTileStage **at, CapFunction *f) {
    if (!codec_there(c, *at)) return;
    DevTileStage *t = codec_array(c, *at, 1, sizeof *t, 16);
    *at = t;
    if (!t) return;
    function(c, &t->function, f);
    codec_u32(c, &t->pixel_bytes, 1 << 16);
    codec_bool(c, &t->is_explicit);
    values(c, &t->values, &t->n_values);
    codec_raw(c, t->colors, sizeof t->colors);
}

static void patches(Codec *c, const DevPatches **at) {
    if (!codec_there(c, *at)) return;
    DevPatches *p = codec_array(c, *at, 1, sizeof *p, 60);
    *at = p;
    if (!p) return;
    codec_u8(c, &p->type, DEV_PATCH_QUAD), codec_u8(c, &p->partition, DEV_PARTITION_EVEN);
    codec_u8(c, &p->step, DEV_FACTORS_PER_PATCH_AND_INSTANCE);
    codec_u8(c, &p->winding, DEV_COUNTER_CLOCKWISE);
    codec_u32(c, &p->n_control_points, ABI_MAX_CONTROL_POINTS), codec_u32(c, &p->max_factor, 64);
    codec_f32(c, &p->scale);
    codec_pointer(c, &p->factors), codec_u64(c, &p->factors_bytes);
    codec_u64(c, &p->instance_stride);
    codec_pointer(c, &p->patch_indices), codec_u64(c, &p->patch_indices_bytes);
    codec_pointer(c, &p->control_indices), codec_u64(c, &p->control_indices_bytes);
    codec_u8(c, &p->control_index_bytes, 4);
}

// ---- Draws ----

void codec_draw(Codec *c, CapDraw *draw) {
    DevDraw *d = &draw->dev;
    codec_text(c, &d->label);
    vertex(c, &d->vertex, &draw->vertex);
    fragment(c, &d->fragment, &draw->fragment);
    state(c, &d->state);
    patches(c, &d->patches);
    mesh(c, &d->mesh, &draw->object, &draw->mesh);
    words(c, d->grid.groups, 3), words(c, d->grid.threads, 3);
    for (int i = 0; i < 3; i++) {
        codec_u32(c, &d->grid.object_size[i], ABI_MAX_THREADS);
        codec_u32(c, &d->grid.mesh_size[i], ABI_MAX_THREADS);
        codec_u32(c, &d->tile_threads[i], ABI_MAX_THREADS);
    }
    tile(c, &d->tile, &draw->tile);
    words(c, &d->n_vertices, 1), words(c, &d->first_vertex, 1);
    words(c, &d->n_instances, 1), words(c, &d->base_instance, 1);
    codec_pointer(c, &d->indices), codec_u64(c, &d->indices_bytes);
    codec_u8(c, &d->index_bytes, 4);
    codec_u8(c, &d->amplification, DEV_MAX_VIEWS);
    for (size_t i = 0; i < DEV_MAX_VIEWS; i++)
        words(c, &d->views[i].viewport, 1), words(c, &d->views[i].layer, 1);
    codec_bool(c, &d->barrier), codec_bool(c, &d->counts_any);
    codec_pointer(c, &d->visibility);
    if (d->indices && d->index_bytes != 2 && d->index_bytes != 4) codec_fail(c);
    if (!d->tile && !(d->vertex && d->state)) codec_fail(c);
}

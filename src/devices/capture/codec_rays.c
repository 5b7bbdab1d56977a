// SPDX-License-Identifier: Apache-2.0
// codec_rays.c: what acceleration structures are built of, as bytes (codec_int.h). Limits are those
// of the runtime's checks (runtime/memory/acceleration_build.c).
#include "devices/capture/codec_int.h"

enum { MAX_ITEMS = 1 << 24, MAX_PRIMITIVES = 1 << 28, MAX_KEYFRAMES = 129, MAX_DATA = 4096 };

static void range(Codec *c, DevRange *r) { codec_pointer(c, &r->at), codec_u64(c, &r->n_bytes); }

static void elements(Codec *c, DevElements *e, uint32_t n_frames) {
    codec_u64(c, &e->stride);
    codec_u32(c, &e->format, 255);
    if (!codec_there(c, e->frames)) return;
    DevRange *frames = codec_array(c, e->frames, n_frames, sizeof *frames, 16);
    for (uint32_t i = 0; frames && i < n_frames; i++) range(c, &frames[i]);
    e->frames = frames;
}

static void geometry(Codec *c, DevGeometry *g, uint32_t n_frames) {
    uint8_t shape = (uint8_t)g->shape;
    codec_u8(c, &shape, DEV_CURVES);
    g->shape = (DevShape)shape;
    codec_bool(c, &g->opaque);
    codec_u32(c, &g->function_offset, UINT32_MAX);
    codec_u64(c, &g->n_primitives);
    elements(c, &g->elements, n_frames);
    range(c, &g->indices);
    codec_u32(c, &g->index_bytes, 4);
    range(c, &g->transform);
    codec_bool(c, &g->row_major);
    elements(c, &g->radii, n_frames);
    codec_u64(c, &g->n_points);
    codec_u32(c, &g->curve_type, 1), codec_u32(c, &g->curve_basis, 3);
    codec_u32(c, &g->curve_caps, 2), codec_u32(c, &g->segment_points, 4);
    range(c, &g->data);
    codec_u64(c, &g->data_bytes), codec_u64(c, &g->data_stride);
    bool curves = g->shape == DEV_CURVES;
    if (curves && g->segment_points < 2) codec_fail(c);
    if (g->n_primitives > MAX_PRIMITIVES || g->n_points > UINT32_MAX - 1 ||
        g->data_bytes > MAX_DATA || !g->elements.frames || (curves && !g->radii.frames) ||
        (g->indices.at && g->index_bytes != 2 && g->index_bytes != 4))
        codec_fail(c);
}

static void instances(Codec *c, DevInstances *in) {
    codec_u32(c, &in->type, 4);
    codec_bool(c, &in->row_major);
    range(c, &in->records);
    codec_u64(c, &in->stride);
    codec_u32(c, &in->n, MAX_ITEMS);
    range(c, &in->count);
    codec_u32(c, &in->n_structures, MAX_ITEMS);
    uint64_t *structures = codec_array(c, in->structures, in->n_structures, sizeof *structures, 8);
    for (uint32_t i = 0; structures && i < in->n_structures; i++) codec_u64(c, &structures[i]);
    in->structures = structures;
    range(c, &in->transforms);
    codec_u64(c, &in->transform_stride);
    codec_u32(c, &in->n_transforms, MAX_ITEMS), codec_u32(c, &in->transform_type, 1);
    range(c, &in->transform_count);
}

void codec_build(Codec *c, CapBuild *b) {
    DevRayBuild *d = &b->dev;
    codec_u64(c, &b->to), codec_u64(c, &b->from);
    codec_bool(c, &d->instanced);
    codec_u32(c, &d->usage, UINT32_MAX);
    codec_u32(c, &d->n_keyframes, MAX_KEYFRAMES);
    codec_f32(c, &d->start), codec_f32(c, &d->end);
    codec_u32(c, &d->start_border, UINT32_MAX), codec_u32(c, &d->end_border, UINT32_MAX);
    if (d->instanced) {
        instances(c, &d->instances);
        return;
    }
    codec_u32(c, &d->n_geometries, MAX_ITEMS);
    DevGeometry *all = codec_array(c, d->geometries, d->n_geometries, sizeof *all, 128);
    for (uint32_t i = 0; all && i < d->n_geometries; i++) geometry(c, &all[i], d->n_keyframes);
    d->geometries = all;
    if (!d->n_keyframes) codec_fail(c);
}

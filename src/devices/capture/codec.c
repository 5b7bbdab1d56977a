// SPDX-License-Identifier: Apache-2.0
// codec.c: events as bytes (codec_int.h): the fields, and all events but those of render passes.
#include <string.h>
#include "devices/capture/codec_int.h"

// ---- Fields ----

void codec_fail(Codec *c) {
    if (c->in) c->in->failed = true;
}

void codec_u8(Codec *c, uint8_t *v, unsigned most) {
    if (c->out) {
        wire_u8(c->out, *v);
        return;
    }
    *v = wire_get_u8(c->in);
    if (*v > most) codec_fail(c), *v = 0;
}

void codec_bool(Codec *c, bool *v) {
    uint8_t byte = *v;
    codec_u8(c, &byte, 1);
    *v = byte;
}

void codec_u32(Codec *c, uint32_t *v, uint32_t most) {
    if (c->out) {
        wire_u32(c->out, *v);
        return;
    }
    *v = wire_get_u32(c->in);
    if (*v > most) codec_fail(c), *v = 0;
}

void codec_u16(Codec *c, uint16_t *v, unsigned most) {
    uint32_t word = *v;
    codec_u32(c, &word, most);
    *v = (uint16_t)word;
}

void codec_u64(Codec *c, uint64_t *v) {
    if (c->out)
        wire_u64(c->out, *v);
    else
        *v = wire_get_u64(c->in);
}

void codec_f32(Codec *c, float *v) {
    uint32_t bits;
    memcpy(&bits, v, sizeof bits);
    codec_u32(c, &bits, UINT32_MAX);
    memcpy(v, &bits, sizeof bits);
}

void codec_f64(Codec *c, double *v) {
    uint64_t bits;
    memcpy(&bits, v, sizeof bits);
    codec_u64(c, &bits);
    memcpy(v, &bits, sizeof bits);
}

void codec_size(Codec *c, size_t *v) {
    uint64_t n = *v;
    codec_u64(c, &n);
    *v = (size_t)n;
}

void codec_pointer(Codec *c, void *pointer) {
    uint64_t number = 0;
    uintptr_t address;
    memcpy(&address, pointer, sizeof address);
    number = address;
    codec_u64(c, &number);
    address = (uintptr_t)number;
    memcpy(pointer, &address, sizeof address);
}

void codec_raw(Codec *c, void *v, size_t n) {
    if (c->out)
        wire_raw(c->out, v, n);
    else
        wire_get_raw(c->in, v, n);
}

void codec_text(Codec *c, const char **v) {
    if (c->out) {
        wire_str(c->out, *v);
        return;
    }
    size_t n;
    const void *bytes = wire_get_bytes(c->in, &n);
    *v = bytes ? base_arena_str(c->arena, bytes, n) : "";
    if (!*v) codec_fail(c), *v = "";
}

void *codec_array(Codec *c, const void *array, size_t n, size_t item_bytes, size_t least) {
    if (c->out) return (void *)(uintptr_t)array;
    if (c->in->failed || n > (size_t)(c->in->end - c->in->at) / least) {
        codec_fail(c);
        return NULL;
    }
    void *to = base_arena_alloc(c->arena, n + 1, item_bytes);
    if (!to) codec_fail(c);
    return to;
}

bool codec_there(Codec *c, const void *thing) {
    bool there = thing != NULL;
    codec_bool(c, &there);
    return there;
}

// ---- Events ----

static void do_library(Codec *c, CapLibrary *l) {
    codec_raw(c, l->hash, sizeof l->hash);
    codec_text(c, &l->name);
    codec_u64(c, &l->n_bytes);
    codec_u32(c, &l->n_blocks, UINT32_MAX);
    unsigned char (*blocks)[SHA256_BYTES] =
        codec_array(c, l->blocks, l->n_blocks, SHA256_BYTES, SHA256_BYTES);
    for (uint32_t i = 0; blocks && i < l->n_blocks; i++) codec_raw(c, blocks[i], SHA256_BYTES);
    l->blocks = (const unsigned char (*)[SHA256_BYTES])blocks;
    if ((l->n_bytes + CAP_BLOCK - 1) / CAP_BLOCK != l->n_blocks) codec_fail(c);
}

static void do_code(Codec *c, CapCode *code) {
    codec_u64(c, &code->id);
    codec_text(c, &code->name);
    codec_raw(c, code->library, sizeof code->library);
    codec_u8(c, &code->stage, 255);
    codec_u64(c, &code->request_bytes);
    unsigned char *request = codec_array(c, code->request, code->request_bytes, 1, 1);
    if (request) codec_raw(c, request, code->request_bytes);
    code->request = request;
}

static void do_sampler(Codec *c, CapSampler *s) {
    AbiSampler *r = &s->record;
    codec_u64(c, &s->handle);
    codec_u8(c, &r->min_filter, 1), codec_u8(c, &r->mag_filter, 1), codec_u8(c, &r->mip_filter, 2);
    for (int i = 0; i < 3; i++) codec_u8(c, &r->address[i], 5);
    codec_u8(c, &r->compare, 7), codec_u8(c, &r->border, 2), codec_u8(c, &r->unnormalized, 1);
    codec_u8(c, &r->lod_average, 1), codec_u8(c, &r->max_anisotropy, 16);
    codec_u8(c, &r->reduction, 2);
    codec_f32(c, &r->lod_min), codec_f32(c, &r->lod_max), codec_f32(c, &r->lod_bias);
}

static void do_tensor(Codec *c, CapTensor *t) {
    AbiTensor *r = &t->record;
    codec_u64(c, &t->handle);
    codec_pointer(c, &r->data);
    codec_u32(c, &r->type, 255);
    codec_u32(c, &r->rank, ABI_TENSOR_MAX_RANK);
    for (uint32_t i = 0; i < ABI_TENSOR_MAX_RANK; i++) {
        codec_u64(c, (uint64_t *)&r->extents[i]);
        codec_u64(c, (uint64_t *)&r->strides[i]);
    }
}

static void do_contents(Codec *c, CapContents *x) {
    codec_u64(c, &x->memory);
    codec_u64(c, &x->offset);
    codec_u32(c, &x->n_bytes, CAP_BLOCK);
    codec_bool(c, &x->zeros);
    codec_raw(c, x->hash, sizeof x->hash);
    if (x->offset % CAP_BLOCK || !x->n_bytes) codec_fail(c);
}

static void do_resource(Codec *c, CapResource *r) {
    codec_u64(c, &r->id);
    codec_u8(c, &r->kind, CAP_ACCELERATION_STRUCTURE);
    codec_text(c, &r->label);
    codec_u64(c, &r->address), codec_u64(c, &r->n_bytes), codec_u64(c, &r->handle);
}

static void do_begin(Codec *c, CapBegin *b) {
    codec_u64(c, &b->serial);
    codec_text(c, &b->label);
    codec_u64(c, &b->queue);
    codec_text(c, &b->queue_label);
    codec_bool(c, &b->resumed);
}

static void do_operation(Codec *c, CapOperation *o) {
    codec_text(c, &o->name), codec_text(c, &o->title), codec_text(c, &o->json);
}

static void do_result(Codec *c, CapResult *r) {
    codec_u64(c, &r->memory);
    codec_u32(c, &r->n, UINT32_MAX);
    struct CapHash *blocks = codec_array(c, r->blocks, r->n, sizeof *blocks, 12);
    for (uint32_t i = 0; blocks && i < r->n; i++) {
        codec_u32(c, &blocks[i].block, UINT32_MAX);
        codec_u64(c, &blocks[i].hash);
    }
    r->blocks = blocks;
}

static void do_words(Codec *c, uint32_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) codec_u32(c, &words[i], UINT32_MAX);
}

static void do_dispatch(Codec *c, CapDispatch *d) {
    DevDispatch *v = &d->dev;
    codec_pointer(c, &v->code);
    codec_u32(c, &d->n_args, 1 << 16);
    codec_u32(c, &d->static_bytes, 1 << 20);
    void **args = codec_array(c, v->args, d->n_args, sizeof *args, 8);
    for (uint32_t i = 0; args && i < d->n_args; i++) codec_pointer(c, &args[i]);
    v->args = args;
    do_words(c, v->threads_per_grid, 3), do_words(c, v->groups_per_grid, 3);
    for (int i = 0; i < 3; i++) codec_u32(c, &v->group_size[i], ABI_MAX_THREADS);
    do_words(c, v->grid_origin, 3), do_words(c, v->grid_size, 3);
    codec_u32(c, &v->threadgroup_bytes, 1 << 20);
    codec_u32(c, &v->imageblock.slot, UINT32_MAX);
    codec_u32(c, &v->imageblock.at, 1 << 20);
    codec_u32(c, &v->imageblock.width, 65535);
    codec_u32(c, &v->imageblock.height, 65535);
    codec_u32(c, &v->imageblock.pixel_bytes, 1 << 16);
    uint64_t group = (uint64_t)v->group_size[0] * v->group_size[1] * v->group_size[2];
    if (!group || group > ABI_MAX_THREADS) codec_fail(c);
}

static void do_copy(Codec *c, CapCopy *m) {
    codec_u64(c, &m->to), codec_u64(c, &m->from), codec_u64(c, &m->n_bytes);
    if (!codec_there(c, m->bytes)) return;
    unsigned char *bytes = codec_array(c, m->bytes, m->n_bytes, 1, 1);
    if (bytes) codec_raw(c, bytes, m->n_bytes);
    m->bytes = bytes;
}

static void do_side(Codec *c, DevSide *s) {
    codec_pointer(c, &s->at);
    codec_size(c, &s->row), codec_size(c, &s->plane), codec_size(c, &s->step);
    codec_pointer(c, &s->texture);
    codec_bool(c, &s->twiddled);
    codec_u32(c, &s->level, ABI_MAX_LEVELS - 1);
    codec_u32(c, &s->slice, 1 << 16), codec_u32(c, &s->sample, ABI_MAX_SAMPLES);
    codec_u32(c, &s->x, 1 << 28), codec_u32(c, &s->y, 1 << 28), codec_u32(c, &s->z, 1 << 28);
}

static void do_move(Codec *c, CapMove *m) {
    do_side(c, &m->dev.from), do_side(c, &m->dev.to);
    codec_size(c, &m->dev.row), codec_size(c, &m->dev.element), codec_size(c, &m->dev.fill);
    codec_size(c, &m->dev.n_elements), codec_size(c, &m->dev.n_rows);
    codec_size(c, &m->dev.n_planes);
}

static void do_info(Codec *c, CapInfo *i) {
    codec_text(c, &i->version), codec_text(c, &i->program), codec_text(c, &i->device);
    codec_text(c, &i->architecture), codec_text(c, &i->target);
    codec_u64(c, &i->zeros);
}

static void do_memory(Codec *c, CapMemory *m) {
    codec_u64(c, &m->id), codec_u64(c, &m->address), codec_u64(c, &m->n_bytes);
    codec_u8(c, &m->storage, DEV_ARGUMENTS);
}

static void do_event(Codec *c, CapEvent *e) {
    switch (e->kind) {
    case CAP_INFO: do_info(c, &e->info); break;
    case CAP_MEMORY: do_memory(c, &e->memory); break;
    case CAP_FREE:
    case CAP_GONE: codec_u64(c, &e->gone); break;
    case CAP_CONTENTS: do_contents(c, &e->contents); break;
    case CAP_LIBRARY: do_library(c, &e->library); break;
    case CAP_SOURCE:
        codec_raw(c, e->source.hash, SHA256_BYTES);
        codec_text(c, &e->source.name), codec_text(c, &e->source.text);
        break;
    case CAP_CODE: do_code(c, &e->code); break;
    case CAP_TEXTURE:
        codec_u64(c, &e->texture.id), codec_u64(c, &e->texture.handle);
        codec_bool(c, &e->texture.sparse);
        codec_texture(c, &e->texture.record);
        break;
    case CAP_SAMPLER: do_sampler(c, &e->sampler); break;
    case CAP_TENSOR: do_tensor(c, &e->tensor); break;
    case CAP_RESOURCE: do_resource(c, &e->resource); break;
    case CAP_BEGIN: do_begin(c, &e->begin); break;
    case CAP_USE: codec_u64(c, &e->use.memory), codec_bool(c, &e->use.writes); break;
    case CAP_ENCODER:
        codec_text(c, &e->encoder.label), codec_text(c, &e->encoder.class_name);
        codec_bool(c, &e->encoder.concurrent);
        break;
    case CAP_ENCODER_END:
    case CAP_POP: break;
    case CAP_PUSH:
    case CAP_SIGNPOST:
    case CAP_OPERATION:
    case CAP_UNKNOWN:
    case CAP_HOST: do_operation(c, &e->operation); break;
    case CAP_RESULT: do_result(c, &e->result); break;
    case CAP_END: codec_u32(c, &e->end.fault, DEV_FAULT_SIZE), codec_u64(c, &e->end.ns); break;
    case CAP_STATUS:
        codec_u64(c, &e->status.serial), codec_u32(c, &e->status.status, 16);
        codec_text(c, &e->status.error);
        break;
    case CAP_DISPATCH: do_dispatch(c, &e->dispatch); break;
    case CAP_RENDER: codec_pass(c, &e->render); break;
    case CAP_DRAW: codec_draw(c, &e->draw); break;
    case CAP_COPY: do_copy(c, &e->copy); break;
    case CAP_FILL:
        codec_u64(c, &e->fill.to), codec_u64(c, &e->fill.n_bytes);
        codec_u8(c, &e->fill.value, 255);
        break;
    case CAP_MOVE: do_move(c, &e->move); break;
    case CAP_RAYS: codec_u64(c, &e->rays); break;
    case CAP_RAYS_BUILD:
    case CAP_RAYS_REFIT: codec_build(c, &e->build); break;
    case CAP_RAYS_COPY: codec_u64(c, &e->build.to), codec_u64(c, &e->build.from); break;
    default: codec_fail(c);
    }
}

void cap_put_event(WireOut *out, CapEvent *event) {
    wire_u8(out, (uint8_t)event->kind);
    size_t at = out->n_bytes;
    wire_u32(out, 0);
    do_event(&(Codec){.out = out}, event);
    if (out->failed) return;
    size_t n = out->n_bytes - at - 4;
    for (int i = 0; i < 4; i++) out->data[at + (size_t)i] = (unsigned char)(n >> 8 * i);
}

bool cap_get_event(WireIn *in, BaseArena *arena, CapEvent *event) {
    memset(event, 0, sizeof *event);
    event->kind = (CapKind)wire_get_u8(in);
    size_t n = wire_get_u32(in);
    if (in->failed || n > (size_t)(in->end - in->at)) return false;
    WireIn part = {in->at, in->at + n, false};
    in->at += n;
    do_event(&(Codec){.in = &part, .arena = arena}, event);
    return !part.failed && part.at == part.end;
}

const char *cap_kind_name(CapKind kind) {
    switch (kind) {
    case CAP_DISPATCH: return "dispatch";
    case CAP_RENDER: return "render pass";
    case CAP_DRAW: return "draw";
    case CAP_COPY: return "copy";
    case CAP_FILL: return "fill";
    case CAP_MOVE: return "copy texels";
    case CAP_HOST: return "host";
    case CAP_RAYS_BUILD: return "build acceleration structure";
    case CAP_RAYS_REFIT: return "refit acceleration structure";
    case CAP_RAYS_COPY: return "copy acceleration structure";
    default: return "event";
    }
}

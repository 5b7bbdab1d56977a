// SPDX-License-Identifier: Apache-2.0
// replay_json.c: a whole capture as JSON, for pages and scripts: its events in order, commands with
// their arguments by name, resources, functions with their sources.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/pixel_format.h"
#include "abi/protocol.h"
#include "abi/texture_layout.h"
#include "base/json.h"
#include "apps/tools/replay_int.h"

typedef struct Out {
    Text text;
    FILE *to;
    CapReplay *replay;
    const CapObject *objects;
    size_t n_objects;
    const char *gap; // before the next element
} Out;

static void flush(Out *o) {
    if (o->text.data) fwrite(o->text.data, 1, o->text.n_bytes, o->to);
    o->text.n_bytes = 0;
}

static void put_text(Out *o, const char *key, const char *value) {
    text_printf(&o->text, "%s\"%s\":", o->gap, key);
    json_string(&o->text, value ? value : "");
    o->gap = ",";
}

static void put_number(Out *o, const char *key, uint64_t value) {
    text_printf(&o->text, "%s\"%s\":%" PRIu64, o->gap, key, value);
    o->gap = ",";
}

// As text: numbers of 64 bits are too long for JavaScript.
static void put_address(Out *o, const char *key, uint64_t value) {
    text_printf(&o->text, "%s\"%s\":\"0x%" PRIx64 "\"", o->gap, key, value);
    o->gap = ",";
}

static void put_size(Out *o, const char *key, const uint32_t v[3]) {
    text_printf(&o->text, "%s\"%s\":[%u,%u,%u]", o->gap, key, v[0], v[1], v[2]);
    o->gap = ",";
}

static void open_part(Out *o, const char *key, char bracket) {
    if (key)
        text_printf(&o->text, "%s\"%s\":%c", o->gap, key, bracket);
    else
        text_printf(&o->text, "%s%c", o->gap, bracket);
    o->gap = "";
}

static void close_part(Out *o, char bracket) {
    text_printf(&o->text, "%c", bracket);
    o->gap = ",";
}

// ---- Arguments ----

static void put_resource_of(Out *o, uint64_t value) {
    for (size_t i = o->n_objects; value && i--;) {
        const CapResource *r = &o->objects[i].resource;
        bool inside = r->n_bytes && r->kind == CAP_BUFFER && value - r->address < r->n_bytes;
        if (!inside && !(r->handle && r->handle == value)) continue;
        put_number(o, "resource", i);
        if (inside) put_number(o, "offset", value - r->address);
        return;
    }
}

static void put_arguments(Out *o, const char *key, const void *code, void *const *args,
                          uint32_t n_args) {
    const RfLibrary *library;
    const RfFunction *f = cap_replay_function(o->replay, (uintptr_t)code, &library);
    static const char *const kinds[] = {"buffer",  "threadgroup", "texture", "sampler", "stride",
                                        "builtin", "table",       "tensor",  "payload", "grid",
                                        "mesh",    "imageblock",  "rays"};
    open_part(o, key, '{');
    put_text(o, "name", f ? f->name : "?");
    put_number(o, "function", (uintptr_t)code);
    open_part(o, "arguments", '[');
    for (uint32_t i = 0; f && i < f->n_args; i++) {
        const RfArg *a = &f->args[i];
        for (uint32_t k = 0; k < (a->count ? a->count : 1) && a->slot + k < n_args; k++) {
            uint64_t value = (uintptr_t)args[a->slot + k];
            open_part(o, NULL, '{');
            put_text(o, "name", a->name);
            put_text(o, "kind", a->kind < sizeof kinds / sizeof *kinds ? kinds[a->kind] : "?");
            put_number(o, "index", a->index + k);
            put_number(o, "access", a->access);
            put_address(o, "value", value);
            put_resource_of(o, value);
            close_part(o, '}');
        }
    }
    close_part(o, ']');
    close_part(o, '}');
}

// ---- Commands ----

static void put_target(Out *o, const char *key, const DevTarget *t, const DevTarget *resolve,
                       unsigned load, unsigned store) {
    if (!t->texture) return;
    open_part(o, key, '{');
    put_number(o, "texture", (uintptr_t)t->texture);
    put_number(o, "level", t->level), put_number(o, "slice", t->slice);
    put_number(o, "load", load), put_number(o, "store", store);
    if (resolve->texture) put_number(o, "resolve", (uintptr_t)resolve->texture);
    close_part(o, '}');
}

static void put_pass(Out *o, const CapRender *r) {
    const DevPass *p = &r->dev;
    char key[16];
    put_number(o, "width", p->width), put_number(o, "height", p->height);
    put_number(o, "layers", p->n_layers), put_number(o, "samples", p->n_samples);
    put_number(o, "draws", r->n_draws);
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++) {
        snprintf(key, sizeof key, "color%u", i);
        put_target(o, key, &p->colors[i].view, &p->colors[i].resolve, p->colors[i].load,
                   p->colors[i].store);
    }
    put_target(o, "depth", &p->depth.view, &p->depth.resolve, p->depth.load, p->depth.store);
    put_target(o, "stencil", &p->stencil.view, &p->stencil.resolve, p->stencil.load,
               p->stencil.store);
}

static void put_blend(Out *o, const DevState *s) {
    open_part(o, "blend", '[');
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++) {
        const DevBlend *b = &s->blend[i];
        text_printf(&o->text, "%s[%u,%u,%u,%u,%u,%u,%u,%u]", o->gap, b->enabled, b->rgb_op,
                    b->alpha_op, b->src_rgb, b->dst_rgb, b->src_alpha, b->dst_alpha, b->write_mask);
        o->gap = ",";
    }
    close_part(o, ']');
}

static void put_state(Out *o, const DevState *s) {
    open_part(o, "state", '{');
    put_number(o, "primitive", s->primitive), put_number(o, "cull", s->cull);
    put_number(o, "winding", s->winding), put_number(o, "fill", s->fill);
    put_number(o, "depthCompare", s->depth_compare), put_number(o, "depthWrite", s->depth_write);
    put_number(o, "stencil", s->stencil), put_number(o, "discard", s->discard_all);
    put_blend(o, s);
    open_part(o, "viewports", '[');
    for (uint32_t i = 0; i < s->n_viewports; i++) {
        const DevViewport *v = &s->viewports[i];
        text_printf(&o->text, "%s[%g,%g,%g,%g,%g,%g]", o->gap, v->x, v->y, v->width, v->height,
                    v->znear, v->zfar);
        o->gap = ",";
    }
    close_part(o, ']');
    close_part(o, '}');
}

// Buffers of the vertex descriptor: the arguments behind those of the function.
static void put_vertex_buffers(Out *o, const DevVertexStage *v, uint32_t n_args) {
    const RfLibrary *library;
    const RfFunction *f = cap_replay_function(o->replay, (uintptr_t)v->code, &library);
    uint32_t n = v->info && f ? v->info->n_vertex_buffers : 0;
    open_part(o, "vertexBuffers", '[');
    for (uint32_t i = 0; i < n && f->n_slots + i < n_args; i++) {
        uint64_t value = (uintptr_t)v->arguments.args[f->n_slots + i];
        open_part(o, NULL, '{');
        put_number(o, "index", v->info->vertex_buffers[i]);
        put_number(o, "stride", v->strides ? v->strides[i] : 0);
        put_address(o, "value", value);
        put_resource_of(o, value);
        close_part(o, '}');
    }
    close_part(o, ']');
}

static void put_draw(Out *o, const DevDraw *d) {
    put_text(o, "label", d->label);
    put_number(o, "vertices", d->n_vertices), put_number(o, "first", d->first_vertex);
    put_number(o, "instances", d->n_instances), put_number(o, "indexBytes", d->index_bytes);
    if (d->indices) {
        open_part(o, "indices", '{');
        put_address(o, "value", (uintptr_t)d->indices);
        put_resource_of(o, (uintptr_t)d->indices);
        close_part(o, '}');
    }
    if (d->vertex && d->vertex->code) {
        put_arguments(o, "vertex", d->vertex->code, d->vertex->arguments.args,
                      d->vertex->arguments.n_args);
        put_vertex_buffers(o, d->vertex, d->vertex->arguments.n_args);
    }
    if (d->fragment && d->fragment->code)
        put_arguments(o, "fragment", d->fragment->code, d->fragment->arguments.args,
                      d->fragment->arguments.n_args);
    if (d->mesh) {
        if (d->mesh->object.code)
            put_arguments(o, "object", d->mesh->object.code, d->mesh->object.arguments.args,
                          d->mesh->object.arguments.n_args);
        put_arguments(o, "mesh", d->mesh->mesh.code, d->mesh->mesh.arguments.args,
                      d->mesh->mesh.arguments.n_args);
        put_size(o, "groups", d->grid.groups);
    }
    if (d->tile)
        put_arguments(o, "tile", d->tile->function.code, d->tile->function.arguments.args,
                      d->tile->function.arguments.n_args);
    if (d->state) put_state(o, d->state);
}

static void put_named(Out *o, const char *key, uint64_t value) {
    if (!value) return;
    open_part(o, key, '{');
    put_address(o, "value", value);
    put_resource_of(o, value);
    close_part(o, '}');
}

static void put_geometry(Out *o, const DevGeometry *g) {
    static const char *const shapes[] = {"triangles", "boxes", "curves"};
    open_part(o, NULL, '{');
    put_text(o, "shape", shapes[g->shape]);
    put_number(o, "primitives", g->n_primitives), put_number(o, "opaque", g->opaque);
    put_number(o, "functionOffset", g->function_offset);
    put_number(o, "stride", g->elements.stride), put_number(o, "format", g->elements.format);
    put_named(o, "elements", (uintptr_t)g->elements.frames[0].at);
    put_named(o, "indices", (uintptr_t)g->indices.at);
    put_named(o, "transform", (uintptr_t)g->transform.at);
    put_named(o, "data", (uintptr_t)g->data.at);
    close_part(o, '}');
}

static void put_build(Out *o, const CapEvent *e) {
    const DevRayBuild *d = &e->build.dev;
    put_named(o, "structure", e->build.to), put_named(o, "source", e->build.from);
    if (e->kind == CAP_RAYS_COPY) return;
    put_number(o, "usage", d->usage), put_number(o, "keyframes", d->n_keyframes);
    if (d->instanced) {
        put_number(o, "instances", d->instances.n), put_number(o, "type", d->instances.type);
        put_named(o, "records", (uintptr_t)d->instances.records.at);
        put_named(o, "transforms", (uintptr_t)d->instances.transforms.at);
        open_part(o, "structures", '[');
        for (uint32_t i = 0; i < d->instances.n_structures; i++)
            put_named(o, NULL, d->instances.structures[i]);
        close_part(o, ']');
        return;
    }
    open_part(o, "geometries", '[');
    for (uint32_t i = 0; i < d->n_geometries; i++) put_geometry(o, &d->geometries[i]);
    close_part(o, ']');
}

static void put_command(Out *o, const CapEvent *e, const char *name) {
    put_number(o, "command", e->command);
    put_text(o, "what", name);
    switch (e->kind) {
    case CAP_DISPATCH:
        put_size(o, "grid", e->dispatch.threads_per_grid);
        put_size(o, "threadgroup", e->dispatch.group_size);
        put_arguments(o, "kernel", e->dispatch.code, e->dispatch.args, e->dispatch.n_args);
        break;
    case CAP_RENDER: put_pass(o, &e->render); break;
    case CAP_DRAW: put_draw(o, &e->draw); break;
    case CAP_COPY:
    case CAP_FILL:
        put_number(o, "bytes", e->kind == CAP_COPY ? e->copy.n_bytes : e->fill.n_bytes);
        put_address(o, "to", e->kind == CAP_COPY ? e->copy.to : e->fill.to);
        if (e->kind == CAP_COPY) put_address(o, "from", e->copy.from);
        break;
    case CAP_RAYS_BUILD:
    case CAP_RAYS_REFIT:
    case CAP_RAYS_COPY: put_build(o, e); break;
    default: break;
    }
}

// ---- Events ----

static const char *event_name(const CapEvent *e) {
    switch (e->kind) {
    case CAP_BEGIN: return "begin";
    case CAP_ENCODER: return "encoder";
    case CAP_ENCODER_END: return "encoderEnd";
    case CAP_PUSH: return "push";
    case CAP_POP: return "pop";
    case CAP_SIGNPOST: return "signpost";
    case CAP_OPERATION: return "operation";
    case CAP_UNKNOWN: return "unknown";
    case CAP_STATUS: return "status";
    default: return cap_is_command(e->kind) ? cap_kind_name(e->kind) : NULL;
    }
}

static void put_event(Out *o, const CapEvent *e, const char *command) {
    const char *name = event_name(e);
    if (!name) return;
    open_part(o, NULL, '{');
    put_text(o, "event", name);
    if (e->kind == CAP_BEGIN) {
        put_number(o, "serial", e->begin.serial), put_text(o, "label", e->begin.label);
        put_number(o, "queue", e->begin.queue), put_text(o, "queueLabel", e->begin.queue_label);
        put_number(o, "resumed", e->begin.resumed);
    } else if (e->kind == CAP_ENCODER) {
        put_text(o, "label", e->encoder.label), put_text(o, "class", e->encoder.class_name);
    } else if (e->kind == CAP_STATUS) {
        put_number(o, "serial", e->status.serial), put_number(o, "status", e->status.status);
        put_text(o, "error", e->status.error);
    } else if (cap_is_command(e->kind)) {
        put_command(o, e, command);
    } else if (e->kind != CAP_ENCODER_END && e->kind != CAP_POP) {
        put_text(o, "name", e->operation.name), put_text(o, "title", e->operation.title);
    }
    close_part(o, '}');
    text_printf(&o->text, "\n");
}

static void put_texture(Out *o, const AbiTexture *t) {
    const AbiPixelFormat *f = abi_pixel_format(t->pixel_format);
    put_number(o, "width", t->width), put_number(o, "height", t->height);
    put_number(o, "depth", t->depth), put_number(o, "levels", t->n_levels);
    put_number(o, "slices", abi_texture_n_slices(t)), put_number(o, "samples", t->n_samples);
    put_number(o, "type", t->type), put_text(o, "format", f ? f->name : "?");
}

static void put_resources(Out *o) {
    open_part(o, "resources", '[');
    for (size_t i = 0; i < o->n_objects; i++) {
        const CapObject *object = &o->objects[i];
        char text[256];
        object_describe(object, i, text, sizeof text);
        open_part(o, NULL, '{');
        put_number(o, "number", i), put_number(o, "kind", object->resource.kind);
        put_text(o, "label", object->resource.label), put_text(o, "what", text);
        put_address(o, "address", object->resource.address);
        put_number(o, "bytes", object->resource.n_bytes);
        put_address(o, "handle", object->resource.handle);
        if (object->texture) put_texture(o, object->texture);
        close_part(o, '}');
    }
    close_part(o, ']');
}

// How vertices lie in memory: [attribute, MTLVertexFormat, offset, buffer], and strides of buffers.
static void put_layout(Out *o, const CapCode *code) {
    BaseArena arena = {0};
    MsgKernel k;
    WireIn in = {code->request, code->request + code->request_bytes, false};
    const MslVertexDescriptor *d = msg_get_kernel(&in, &arena, &k) ? k.request.vertex : NULL;
    open_part(o, "attributes", '[');
    for (unsigned i = 0; d && i < MSL_MAX_VERTEX; i++) {
        const MslVertexAttribute *a = &d->attributes[i];
        if (!a->format) continue;
        text_printf(&o->text, "%s[%u,%u,%u,%u]", o->gap, i, a->format, a->offset, a->buffer);
        o->gap = ",";
    }
    close_part(o, ']');
    open_part(o, "strides", '[');
    for (unsigned i = 0; d && i < MSL_MAX_VERTEX; i++) {
        text_printf(&o->text, "%s%u", o->gap, d->layouts[i].stride);
        o->gap = ",";
    }
    close_part(o, ']');
    base_arena_free(&arena);
}

// Functions, each once, and their sources, as the events bring them.
static void put_function(Out *o, const CapCode *code) {
    char hash[SHA256_HEX];
    sha256_hex(code->library, hash);
    open_part(o, NULL, '{');
    put_number(o, "function", code->id), put_text(o, "name", code->name);
    put_number(o, "stage", code->stage), put_text(o, "library", hash);
    put_layout(o, code);
    close_part(o, '}');
}

static void put_source(Out *o, const CapSource *source) {
    char hash[SHA256_HEX];
    sha256_hex(source->hash, hash);
    open_part(o, NULL, '{');
    put_text(o, "library", hash), put_text(o, "name", source->name);
    put_text(o, "text", source->text);
    close_part(o, '}');
}

// The handle, which resources have, of a texture, by whose number attachments name it.
static void put_handle(Out *o, const CapTexture *t) {
    open_part(o, NULL, '{');
    put_number(o, "texture", t->id), put_address(o, "handle", t->handle);
    put_texture(o, &t->record);
    close_part(o, '}');
}

// Calls for every run; kind 0: all events, else those of one kind.
static bool put_runs(Out *o, const Capture *capture, CapKind kind, char why[CAP_WHY]) {
    CommandNames names = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < cap_n_runs(capture); i++) {
        CapRun run;
        ok = command_names_add(&names, capture, i, why) && cap_read_run(capture, i, &run, why);
        for (size_t k = 0; ok && k < run.n_events; k++) {
            const CapEvent *e = &run.events[k];
            if (!kind) put_event(o, e, command_name(&names, e->command));
            if (kind == e->kind && kind == CAP_CODE) put_function(o, &e->code);
            if (kind == e->kind && kind == CAP_SOURCE) put_source(o, &e->source);
            if (kind == e->kind && kind == CAP_TEXTURE) put_handle(o, &e->texture);
        }
        flush(o);
        if (ok) cap_run_free(&run);
    }
    command_names_free(&names);
    return ok;
}

bool print_json(const Capture *capture, CapReplay *replay, FILE *to, char why[CAP_WHY]) {
    if (!cap_replay_run(replay, UINT64_MAX, NULL, why)) return false;
    Out o = {.to = to, .replay = replay, .gap = ""};
    o.n_objects = cap_replay_objects(replay, &o.objects);
    open_part(&o, NULL, '{');
    put_number(&o, "commands", cap_n_commands(capture));
    put_number(&o, "runs", cap_n_runs(capture)), put_number(&o, "cut", cap_is_cut(capture));
    put_resources(&o);
    open_part(&o, "functions", '[');
    bool ok = put_runs(&o, capture, CAP_CODE, why);
    close_part(&o, ']');
    open_part(&o, "sources", '[');
    ok = ok && put_runs(&o, capture, CAP_SOURCE, why);
    close_part(&o, ']');
    open_part(&o, "textures", '[');
    ok = ok && put_runs(&o, capture, CAP_TEXTURE, why);
    close_part(&o, ']');
    open_part(&o, "events", '[');
    ok = ok && put_runs(&o, capture, (CapKind)0, why);
    close_part(&o, ']');
    close_part(&o, '}');
    text_printf(&o.text, "\n");
    flush(&o);
    text_free(&o.text);
    return ok;
}

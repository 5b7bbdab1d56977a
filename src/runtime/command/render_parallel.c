// SPDX-License-Identifier: Apache-2.0
// render_parallel.c: MTLParallelRenderCommandEncoder: one pass, several encoders, several threads.
// Nothing of a command buffer is made for two threads, so each encoder (a "part") records into a
// command buffer of its own, which never runs: when the whole ends, draws, uses and errors of the
// parts are put together in the order of their making. The memory of the parts stays with the
// command buffer.
#include "runtime/command/render.h"

struct MTLParallelRenderCommandEncoder {
    MTLRenderCommandEncoder render; // the pass, its actions; draws nothing itself
    pthread_mutex_t lock;           // of what follows
    MTLRenderCommandEncoder *parts, **last_part;
    size_t n_open;
};

RT_CLASS rt_parallel_encoder_class = {.name = "MTLParallelRenderCommandEncoder",
                                      .owner = rt_encoder_owner};

MTLParallelRenderCommandEncoder *mtl_command_buffer_parallel_render_command_encoder(
    MTLCommandBuffer *buffer, const MTLRenderPassDescriptor *descriptor) {
    MTLParallelRenderCommandEncoder *p =
        rt_render_open(buffer, &rt_parallel_encoder_class, sizeof *p, descriptor, __func__);
    if (!p) return NULL;
    pthread_mutex_init(&p->lock, NULL);
    p->last_part = &p->parts;
    return p;
}

// ---- Parts ----

// The command buffer a part records into; NULL: no memory.
static MTLCommandBuffer *new_record(MTLCommandBuffer *whole) {
    MTLCommandBuffer *record = rt_alloc(sizeof *record);
    if (!record) return NULL;
    record->object = (RtObject){.cls = whole->object.cls};
    rt_cb_init(record, whole->device);
    record->whole = whole;
    record->unretained = whole->unretained;
    rt_label_set(&record->label, rt_label(&whole->label));
    return record;
}

// A part in the memory of its record; NULL: no memory.
static MTLRenderCommandEncoder *new_part(MTLParallelRenderCommandEncoder *p,
                                         MTLCommandBuffer *record, const char *call) {
    MTLRenderCommandEncoder *e = rt_encoder_open(record, &rt_render_encoder_class, sizeof *e, call);
    const RtSite site = {record->device, record, call};
    if (!e || !rt_render_init(e, &site)) return NULL;
    e->pass->dev = p->render.pass->dev;
    e->pass->maps_colors = p->render.pass->maps_colors;
    e->visibility_buffer = p->render.visibility_buffer;
    e->parallel = p;
    return e;
}

MTLRenderCommandEncoder *mtl_parallel_render_command_encoder_render_command_encoder(
    MTLParallelRenderCommandEncoder *encoder) {
    RtSite site;
    if (!rt_render_valid((void *)encoder, __func__, &site)) return NULL;
    MTLCommandBuffer *record = new_record(site.commands);
    MTLRenderCommandEncoder *e = record ? new_part(encoder, record, __func__) : NULL;
    pthread_mutex_lock(&encoder->lock);
    if (record) {
        record->next = site.commands->records;
        site.commands->records = record;
    }
    if (e) {
        *encoder->last_part = e;
        encoder->last_part = &e->next_part;
        encoder->n_open++;
    } else {
        rt_cb_no_memory(site.commands);
        if (record) record->open_encoder = NULL;
    }
    pthread_mutex_unlock(&encoder->lock);
    return e;
}

void rt_parallel_end_part(MTLRenderCommandEncoder *e) {
    MTLParallelRenderCommandEncoder *p = e->parallel;
    e->encoder.ended = true;
    e->encoder.buffer->open_encoder = NULL;
    pthread_mutex_lock(&p->lock);
    p->n_open--;
    pthread_mutex_unlock(&p->lock);
}

// ---- The end ----

// What the part used and held is the whole's now; so is its first error.
static void take_record(MTLCommandBuffer *whole, MTLCommandBuffer *record) {
    for (RtUse *use = record->uses; use; use = use->next)
        rt_cb_use(whole, use->resource, use->write);
    for (size_t i = 0; i < record->n_retained; i++) rt_cb_hold(whole, record->retained[i]);
    rt_cb_release_resources(record);
    if (!whole->encode_error) {
        whole->encode_error = record->encode_error;
        record->encode_error = NULL;
    }
    if (!record->first_op) return;
    *whole->last_op = record->first_op; // marks of traces: there are no others
    whole->last_op = record->last_op;
    record->first_op = NULL;
    record->last_op = &record->first_op;
}

static void take_draws(RtRenderPass *whole, RtRenderPass *part) {
    if (part->draws) {
        *whole->last_draw = part->draws;
        whole->last_draw = part->last_draw;
        whole->n_draws += part->n_draws;
    }
    RtVisible **last = &part->visible;
    while (*last) last = &(*last)->next;
    *last = whole->visible;
    whole->visible = part->visible;
}

void mtl_parallel_render_command_encoder_end_encoding(MTLParallelRenderCommandEncoder *encoder) {
    RtSite site;
    if (!rt_render_valid((void *)encoder, __func__, &site)) return;
    pthread_mutex_lock(&encoder->lock);
    size_t n_open = encoder->n_open;
    pthread_mutex_unlock(&encoder->lock);
    if (n_open) // somebody may be drawing there: what the open ones hold is left alone
        rt_misuse_at(&site, RT_RULE_parallel_open_part, "%zu have not", n_open);
    for (MTLRenderCommandEncoder *e = encoder->parts; e && !n_open; e = e->next_part) {
        take_draws(encoder->render.pass, e->pass);
        take_record(site.commands, e->encoder.buffer);
        e->encoder.buffer = site.commands;
    }
    rt_render_set_actions(&encoder->render, &site);
    rt_cb_append(site.commands, &encoder->render.pass->op, &rt_op_render);
    rt_encoder_end(encoder, &rt_parallel_encoder_class, __func__);
}

#include "accessors/command/render_parallel.inc" // plain accessors, from the table

// SPDX-License-Identifier: Apache-2.0
// sparse.c: mappings of placement sparse resources on a queue of Metal 4: each call is a recording
// of its own, as events are, whose operations run in the queue's order.
#include "runtime/memory/sparse.h"
#include "runtime/command/execute.h"
#include "runtime/memory/heap.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

typedef struct PlaceOp {
    RtOp op;
    MTLTexture *texture, *to_texture; // to: of a copy. All objects are held by the recording
    MTLBuffer *buffer, *to_buffer;
    MTLHeap *heap; // NULL: tiles lose their memory
    RtTiles tiles, places;
    MTLRange pages;
    size_t first_page;
} PlaceOp;

static RtOpResult run_place(RtOp *op, RtExecution *x) {
    PlaceOp *p = (PlaceOp *)op;
    if (!dev_finish(x->buffer->device->table, x->run)) return RT_OP_FAILED;
    if (p->to_texture)
        rt_sparse_share(p->texture, &p->tiles, p->to_texture, &p->places);
    else if (p->texture)
        rt_sparse_place(p->texture, p->heap, &p->tiles, p->first_page);
    else if (p->to_buffer)
        rt_sparse_buffer_share(p->buffer, p->pages, p->to_buffer, p->first_page);
    else
        rt_sparse_buffer_place(p->buffer, p->heap, p->pages, p->first_page, p->heap != NULL);
    return RT_OP_DONE;
}

static const RtOpClass place_class = {
    .name = "map pages", .run = run_place, .by_host = true, .between = true};

static bool append(RtRecording *r, const PlaceOp *from) {
    MTLCommandBuffer *commands = &r->commands;
    PlaceOp *op = rt_cb_alloc(commands, sizeof *op);
    void *const objects[] = {from->texture, from->to_texture, from->buffer, from->to_buffer,
                             from->heap};
    if (!op) return false;
    *op = *from;
    for (size_t i = 0; i < 5; i++)
        if (objects[i] && !rt_cb_hold(commands, objects[i])) return false;
    rt_cb_append(commands, &op->op, &place_class);
    return true;
}

static bool valid_heap(MTLDevice *device, const MTLHeap *heap, MTLSparsePageSize page_size,
                       size_t first, size_t n, const char *call) {
    if (rt_is(heap, &rt_heap_class) && heap->type == MTLHeapTypePlacement &&
        heap->page_size >= page_size) {
        size_t room = heap->resource.allocated_bytes / rt_sparse_page_bytes(page_size);
        if (first <= room && n <= room - first) return true;
        rt_misuse(device, RT_RULE_sparse_region, call, "pages %zu .. %zu of %zu in the heap", first,
                  first + n, room);
        return false;
    }
    rt_misuse(device, RT_RULE_sparse_heap, call, "heap '%s', page size %d",
              rt_is(heap, &rt_heap_class) ? rt_label(&heap->resource.label) : mtl_class_name(heap),
              (int)page_size);
    return false;
}

static bool valid_mode(MTLDevice *device, size_t mode, const char *call) {
    if (mode <= MTLSparseTextureMappingModeUnmap) return true;
    rt_misuse(device, RT_RULE_encoder_option, call, "mode %zu", mode);
    return false;
}

// Begins a call: a recording to append to, or NULL after a message.
static RtRecording *begin(MTL4CommandQueue *queue, const void *operations, size_t count,
                          const char *call) {
    if (!rt_mtl4_queue_present(queue, call)) return NULL;
    MTLDevice *device = queue->queue.device;
    if (count && !operations) {
        rt_misuse(device, RT_RULE_null_argument, call, "operations");
        return NULL;
    }
    RtRecording *r = rt_recording_new(device, NULL);
    if (!r)
        rt_misuse(device, RT_RULE_metal4_no_memory, call, "queue '%s'",
                  rt_label(&queue->queue.label));
    return r;
}

// All or nothing.
static void finish(MTL4CommandQueue *queue, RtRecording *r, bool ok) {
    if (ok) rt_mtl4_queue_submit(queue, r);
    mtl_release(r);
}

void mtl4_command_queue_update_texture_mappings(
    MTL4CommandQueue *queue, MTLTexture *texture, MTLHeap *heap,
    const MTL4UpdateSparseTextureMappingOperation *operations, size_t count) {
    RtRecording *r = begin(queue, operations, count, __func__);
    if (!r) return;
    const RtSite site = {queue->queue.device, NULL, __func__};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const MTL4UpdateSparseTextureMappingOperation *o = &operations[i];
        PlaceOp op = {.texture = texture, .first_page = o->heap_offset};
        ok = valid_mode(site.device, o->mode, __func__) &&
             rt_sparse_valid(&site, texture, o->texture_region, o->texture_level, o->texture_slice,
                             true, &op.tiles);
        if (!ok) break;
        if (o->mode == MTLSparseTextureMappingModeMap) {
            const RtSparse *s = texture->sparse;
            bool tail = op.tiles.level >= s->abi.tail_level;
            size_t n =
                tail ? s->tail_pages : (size_t)op.tiles.width * op.tiles.height * op.tiles.depth;
            ok = valid_heap(site.device, heap, s->page_size, o->heap_offset, n, __func__);
            op.heap = heap;
        }
        ok = ok && append(r, &op);
    }
    finish(queue, r, ok);
}

void mtl4_command_queue_copy_texture_mappings(
    MTL4CommandQueue *queue, MTLTexture *source, MTLTexture *destination,
    const MTL4CopySparseTextureMappingOperation *operations, size_t count) {
    RtRecording *r = begin(queue, operations, count, __func__);
    if (!r) return;
    const RtSite site = {queue->queue.device, NULL, __func__};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const MTL4CopySparseTextureMappingOperation *o = &operations[i];
        PlaceOp op = {.texture = source, .to_texture = destination};
        ok = rt_sparse_valid(&site, source, o->source_region, o->source_level, o->source_slice,
                             true, &op.tiles) &&
             rt_sparse_valid(&site, destination,
                             (MTLRegion){o->destination_origin, o->source_region.size},
                             o->destination_level, o->destination_slice, true, &op.places);
        if (ok && (source->sparse->page_size != destination->sparse->page_size ||
                   source->record.format->block_bytes != destination->record.format->block_bytes ||
                   (op.tiles.level >= source->sparse->abi.tail_level) !=
                       (op.places.level >= destination->sparse->abi.tail_level))) {
            rt_misuse_at(&site, RT_RULE_sparse_texture, "tiles that are copied have one size");
            ok = false;
        }
        ok = ok && append(r, &op);
    }
    finish(queue, r, ok);
}

void mtl4_command_queue_update_buffer_mappings(
    MTL4CommandQueue *queue, MTLBuffer *buffer, MTLHeap *heap,
    const MTL4UpdateSparseBufferMappingOperation *operations, size_t count) {
    RtRecording *r = begin(queue, operations, count, __func__);
    if (!r) return;
    MTLDevice *device = queue->queue.device;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const MTL4UpdateSparseBufferMappingOperation *o = &operations[i];
        bool map = o->mode == MTLSparseTextureMappingModeMap;
        ok = valid_mode(device, o->mode, __func__) &&
             rt_sparse_buffer_valid(device, buffer, o->buffer_range, __func__) &&
             (!map || valid_heap(device, heap, buffer->sparse->page_size, o->heap_offset,
                                 o->buffer_range.length, __func__)) &&
             append(r, &(PlaceOp){.buffer = buffer,
                                  .heap = map ? heap : NULL,
                                  .pages = o->buffer_range,
                                  .first_page = o->heap_offset});
    }
    finish(queue, r, ok);
}

void mtl4_command_queue_copy_buffer_mappings(MTL4CommandQueue *queue, MTLBuffer *source,
                                             MTLBuffer *destination,
                                             const MTL4CopySparseBufferMappingOperation *operations,
                                             size_t count) {
    RtRecording *r = begin(queue, operations, count, __func__);
    if (!r) return;
    MTLDevice *device = queue->queue.device;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const MTL4CopySparseBufferMappingOperation *o = &operations[i];
        MTLRange to = {o->destination_offset, o->source_range.length};
        ok = rt_sparse_buffer_valid(device, source, o->source_range, __func__) &&
             rt_sparse_buffer_valid(device, destination, to, __func__);
        if (ok && source->sparse->page_size != destination->sparse->page_size) {
            rt_misuse(device, RT_RULE_sparse_buffer, __func__, "pages have one size");
            ok = false;
        }
        ok = ok && append(r, &(PlaceOp){.buffer = source,
                                        .to_buffer = destination,
                                        .pages = o->source_range,
                                        .first_page = o->destination_offset});
    }
    finish(queue, r, ok);
}

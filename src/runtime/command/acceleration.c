// SPDX-License-Identifier: Apache-2.0
// acceleration.c: MTLAccelerationStructureCommandEncoder. A command is checked when it is encoded
// and leaves the descriptor in the device's words in the command stream (acceleration_build.c); the
// device does the rest.
#include <stdio.h>
#include "runtime/command/execute.h"
#include "runtime/command/fence.h"
#include "runtime/command/rays.h"
#include "runtime/memory/acceleration.h"

struct MTLAccelerationStructureCommandEncoder {
    MTLCommandEncoder encoder;
};
typedef MTLAccelerationStructureCommandEncoder Encoder;
static RT_CLASS encoder_class = {.name = "MTLAccelerationStructureCommandEncoder",
                                 .owner = rt_encoder_owner};

// ---- Opening, ending, names ----

Encoder *mtl_command_buffer_acceleration_structure_command_encoder(MTLCommandBuffer *buffer) {
    return rt_encoder_open(buffer, &encoder_class, sizeof(Encoder), __func__);
}

Encoder *mtl_command_buffer_acceleration_structure_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLAccelerationStructurePassDescriptor *pass) {
    Encoder *e = rt_encoder_open(buffer, &encoder_class, sizeof(Encoder), __func__);
    if (e && pass) rt_inspector.begin_pass(e, pass->sample_buffer_attachments, __func__);
    return e;
}

// ---- Rules ----

static bool valid(Encoder *encoder, const char *call, RtSite *site) {
    if (!rt_encoder_valid(encoder, &encoder_class, call)) return false;
    MTLCommandBuffer *buffer = encoder->encoder.buffer;
    *site = (RtSite){buffer->device, buffer, call};
    return true;
}

static void *alloc_in_buffer(void *context, size_t n_bytes) {
    void *memory = rt_cb_alloc(context, n_bytes);
    if (!memory) rt_cb_no_memory(context);
    return memory;
}

static bool use_in_buffer(void *context, MTLResource *resource) {
    return rt_cb_use(context, resource, false);
}

// ---- Building ----

typedef struct BuildOp {
    RtOp op;
    MTLAccelerationStructure *to, *from; // from NULL: a build, not a refit
    const DevRays *rays;
    DevRayBuild build;
} BuildOp;

// There is something new in the structure: what kernels may read is other memory.
static RtOpResult built(RtExecution *x, MTLAccelerationStructure *to, const DevRays *rays,
                        bool ok) {
    if (!ok) return RT_OP_FAILED;
    rt_acceleration_built(to, rays);
    rt_free(x->live);
    x->live = NULL;
    return RT_OP_DONE;
}

static RtOpResult run_build(RtOp *op, RtExecution *x) {
    const BuildOp *b = (const BuildOp *)(const void *)op;
    uint64_t to = b->to->handle.value;
    bool ok = dev_finish(x->buffer->device->table, x->run) &&
              (b->from ? b->rays->refit(x->run, to, b->from->handle.value, &b->build)
                       : b->rays->build(x->run, to, &b->build));
    return built(x, b->to, b->rays, ok);
}

static void describe_build(const RtOp *op, char *text, size_t n_bytes) {
    const BuildOp *b = (const BuildOp *)(const void *)op;
    uint64_t n = b->build.instances.n;
    for (uint32_t i = 0; i < b->build.n_geometries; i++) n += b->build.geometries[i].n_primitives;
    snprintf(text, n_bytes, "\"%s\":%llu", b->build.instanced ? "instances" : "primitives",
             (unsigned long long)n);
}

static const RtOpClass build_class = {
    .name = "build acceleration structure", .run = run_build, .describe = describe_build};

static void append_build(const RtSite *site, MTLAccelerationStructure *from,
                         const MTLAccelerationStructureDescriptor *descriptor,
                         MTLAccelerationStructure *to, MTLBuffer *scratch, size_t scratch_offset) {
    char why[RT_RAYS_WHY];
    RtRayBuild build = {.alloc = alloc_in_buffer, .use = use_in_buffer, .context = site->commands};
    if (!descriptor) {
        rt_misuse_at(site, RT_RULE_null_argument, "descriptor");
        return;
    }
    if (!rt_valid_acceleration(site, to, from ? "destination" : "structure") ||
        !rt_ray_build(&build, descriptor, site))
        return;
    const DevRays *rays = rt_device_rays(site->device, why);
    DevRaySizes need = rays->sizes(site->device->context, &build.build);
    if (need.structure > to->size) {
        rt_misuse_at(site, RT_RULE_acceleration_size, "'%s' has %zu bytes, %llu are needed",
                     rt_label(&to->resource.label), to->size, (unsigned long long)need.structure);
        return;
    }
    // A Mac needs none where the size asked for was 0.
    if (scratch && !rt_valid_place(site, scratch, "scratch_buffer", scratch_offset)) return;
    BuildOp *op = alloc_in_buffer(site->commands, sizeof *op);
    if (!op || !rt_cb_use(site->commands, &to->resource, true) ||
        (from && !rt_cb_use(site->commands, &from->resource, false)) ||
        (scratch && !rt_cb_use(site->commands, &scratch->resource, true)))
        return;
    op->to = to;
    op->from = from;
    op->rays = rays;
    op->build = build.build;
    rt_cb_append(site->commands, &op->op, &build_class);
}

void rt_rays_build(const RtSite *site, MTLAccelerationStructure *to,
                   const MTLAccelerationStructureDescriptor *descriptor, MTLBuffer *scratch,
                   size_t scratch_offset) {
    append_build(site, NULL, descriptor, to, scratch, scratch_offset);
}

void mtl_acceleration_structure_command_encoder_build_acceleration_structure(
    Encoder *encoder, MTLAccelerationStructure *structure,
    const MTLAccelerationStructureDescriptor *descriptor, MTLBuffer *scratch_buffer,
    size_t scratch_buffer_offset) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_rays_build(&site, structure, descriptor, scratch_buffer, scratch_buffer_offset);
}

void rt_rays_refit(const RtSite *site, MTLAccelerationStructure *source,
                   const MTLAccelerationStructureDescriptor *descriptor,
                   MTLAccelerationStructure *destination, MTLBuffer *scratch, size_t offset,
                   MTLAccelerationStructureRefitOptions options) {
    if (options > (MTLAccelerationStructureRefitOptionVertexData |
                   MTLAccelerationStructureRefitOptionPerPrimitiveData))
        rt_misuse_at(site, RT_RULE_encoder_option, "options 0x%x", options);
    else if (!rt_valid_acceleration(site, source, "source"))
        return;
    else if (descriptor && !(descriptor->usage & MTLAccelerationStructureUsageRefit))
        rt_misuse_at(site, RT_RULE_acceleration_refit, "usage 0x%x", descriptor->usage);
    else
        append_build(site, source, descriptor, destination ? destination : source, scratch, offset);
}

void mtl_acceleration_structure_command_encoder_refit_acceleration_structure(
    Encoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTLBuffer *scratch_buffer, size_t scratch_buffer_offset) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_rays_refit(&site, source, descriptor, destination, scratch_buffer, scratch_buffer_offset,
                      0);
}

void mtl_acceleration_structure_command_encoder_refit_acceleration_structure_with_options(
    Encoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTLBuffer *scratch_buffer, size_t scratch_buffer_offset,
    MTLAccelerationStructureRefitOptions options) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_rays_refit(&site, source, descriptor, destination, scratch_buffer, scratch_buffer_offset,
                      options);
}

// ---- Copies and sizes ----

typedef struct CopyOp {
    RtOp op;
    MTLAccelerationStructure *to, *from;
    const DevRays *rays;
} CopyOp;

static RtOpResult run_copy(RtOp *op, RtExecution *x) {
    const CopyOp *c = (const CopyOp *)(const void *)op;
    bool ok = dev_finish(x->buffer->device->table, x->run) &&
              c->rays->copy(x->run, c->to->handle.value, c->from->handle.value);
    return built(x, c->to, c->rays, ok);
}

static const RtOpClass copy_class = {.name = "copy acceleration structure", .run = run_copy};

void rt_rays_copy(const RtSite *site, MTLAccelerationStructure *from,
                  MTLAccelerationStructure *to) {
    char why[RT_RAYS_WHY];
    if (!rt_valid_acceleration(site, from, "source") ||
        !rt_valid_acceleration(site, to, "destination"))
        return;
    CopyOp *op = alloc_in_buffer(site->commands, sizeof *op);
    if (!op || !rt_cb_use(site->commands, &from->resource, false) ||
        !rt_cb_use(site->commands, &to->resource, true))
        return;
    op->to = to;
    op->from = from;
    op->rays = rt_device_rays(site->device, why);
    rt_cb_append(site->commands, &op->op, &copy_class);
}

void mtl_acceleration_structure_command_encoder_copy_acceleration_structure(
    Encoder *encoder, MTLAccelerationStructure *source, MTLAccelerationStructure *destination) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_rays_copy(&site, source, destination);
}

void mtl_acceleration_structure_command_encoder_copy_and_compact_acceleration_structure(
    Encoder *encoder, MTLAccelerationStructure *source, MTLAccelerationStructure *destination) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_rays_copy(&site, source, destination);
}

typedef struct SizeOp {
    RtOp op;
    uint64_t structure;
    const DevRays *rays;
    char *to;
    size_t n_bytes;
} SizeOp;

static RtOpResult run_size(RtOp *op, RtExecution *x) {
    const SizeOp *s = (const SizeOp *)(const void *)op;
    const DevTable *table = x->buffer->device->table;
    if (!dev_finish(table, x->run)) return RT_OP_FAILED;
    uint64_t size = s->rays->compacted(x->run, s->structure); // little-endian
    return dev_copy(table, x->run, s->to, &size, s->n_bytes) && dev_finish(table, x->run)
               ? RT_OP_DONE
               : RT_OP_FAILED;
}

static const RtOpClass size_class = {.name = "write compacted size", .run = run_size};

void rt_rays_write_size(const RtSite *site, MTLAccelerationStructure *structure, MTLBuffer *buffer,
                        size_t offset, MTLDataType size_data_type) {
    char why[RT_RAYS_WHY];
    size_t n_bytes = size_data_type == MTLDataTypeULong ? 8 : 4;
    if (!rt_valid_acceleration(site, structure, "structure") ||
        !rt_valid_place(site, buffer, "buffer", offset))
        return;
    if (size_data_type != MTLDataTypeULong && size_data_type != MTLDataTypeUInt) {
        rt_misuse_at(site, RT_RULE_encoder_option, "size_data_type %d", (int)size_data_type);
        return;
    }
    if (offset % 4 || buffer->length - offset < n_bytes) {
        rt_misuse_at(site, RT_RULE_buffer_offset, "offset %zu, length %zu of buffer '%s'", offset,
                     buffer->length, rt_label(&buffer->resource.label));
        return;
    }
    SizeOp *op = alloc_in_buffer(site->commands, sizeof *op);
    if (!op || !rt_cb_use(site->commands, &structure->resource, false) ||
        !rt_cb_use(site->commands, &buffer->resource, true))
        return;
    op->structure = structure->handle.value;
    op->rays = rt_device_rays(site->device, why);
    op->to = buffer->memory + offset;
    op->n_bytes = n_bytes;
    rt_cb_append(site->commands, &op->op, &size_class);
}

void mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size_as(
    Encoder *encoder, MTLAccelerationStructure *structure, MTLBuffer *buffer, size_t offset,
    MTLDataType size_data_type) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_rays_write_size(&site, structure, buffer, offset, size_data_type);
}

void mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size(
    Encoder *encoder, MTLAccelerationStructure *structure, MTLBuffer *buffer, size_t offset) {
    mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size_as(
        encoder, structure, buffer, offset, MTLDataTypeUInt);
}

#include "accessors/command/acceleration.inc" // plain accessors, from the table

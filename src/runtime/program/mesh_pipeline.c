// SPDX-License-Identifier: Apache-2.0
// mesh_pipeline.c: what pipelines with functions for patches, and those with object and mesh
// functions, hold besides what all have: the tessellator's settings; how what a mesh function
// writes is taken apart.
#include <string.h>
#include "abi/data_types.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "runtime/program/archive.h"
#include "runtime/program/link.h"
#include "runtime/program/render_pipeline.h"

enum { MAX_THREADS = 1024, MAX_PAYLOAD = 16384, MAX_MESH_GROUPS = 1048575 };

#define invalid(...)                                                                               \
    rt_error_new(MTLRenderPipelineErrorDomain, MTLRenderPipelineErrorInvalidInput, __VA_ARGS__)

// ---- Patches ----

MTLError *rt_pipeline_set_patches(MTLRenderPipelineState *state,
                                  const MTLRenderPipelineDescriptor *d) {
    const RfFunction *f = rt_render_first(state)->entry;
    if (!f->patch) return NULL;
    size_t max = d->max_tessellation_factor ? d->max_tessellation_factor : 16;
    if (max > 64) return invalid("A tessellation factor of %zu is too large: at most 64.", max);
    if ((unsigned)d->tessellation_partition_mode > MTLTessellationPartitionModeFractionalEven ||
        (unsigned)d->tessellation_factor_step_function >
            MTLTessellationFactorStepFunctionPerPatchAndPerInstance ||
        (unsigned)d->tessellation_control_point_index_type >
            MTLTessellationControlPointIndexTypeUInt32 ||
        (unsigned)d->tessellation_output_winding_order > MTLWindingCounterClockwise ||
        d->tessellation_factor_format != MTLTessellationFactorFormatHalf)
        return invalid("A setting of the tessellator is not one of its enumeration.");
    if (d->tessellation_partition_mode == MTLTessellationPartitionModePow2 && (max & (max - 1)))
        return invalid("The greatest tessellation factor, %zu, is not a power of two, as its "
                       "partition mode needs.",
                       max);
    state->patches = (DevPatches){.type = f->patch,
                                  .partition = (uint8_t)d->tessellation_partition_mode,
                                  .step = (uint8_t)d->tessellation_factor_step_function,
                                  .winding = (uint8_t)d->tessellation_output_winding_order,
                                  .n_control_points = f->patch_points,
                                  .max_factor = (uint32_t)max,
                                  .scale = 1,
                                  .control_index_bytes =
                                      (uint8_t)(d->tessellation_control_point_index_type * 2)};
    state->factor_scale = d->tessellation_factor_scale_enabled;
    return NULL;
}

// ---- Meshes ----

uint8_t rt_mesh_value_type(uint32_t data_type) {
    uint32_t n;
    switch (rf_scalar_of(data_type, &n)) {
    case DT_HALF: return DEV_MESH_HALF;
    case DT_SHORT: return DEV_MESH_SHORT;
    case DT_USHORT: return DEV_MESH_USHORT;
    case DT_CHAR: return DEV_MESH_CHAR;
    case DT_UCHAR:
    case DT_BOOL: return DEV_MESH_UCHAR;
    default: return DEV_MESH_WORD;
    }
}

static uint16_t value_row(const RfValue *v) {
    return v->role == RF_PRIMITIVE_ID ? DEV_MESH_ROW_ID
           : v->role == RF_CULLED     ? DEV_MESH_ROW_CULLED
                                      : (uint16_t)rf_vertex_row(v);
}

static void add_value(RtMeshPipeline *m, const RfValue *v) {
    m->values[m->stage.n_values++] = (DevMeshValue){.offset = v->offset,
                                                    .row = value_row(v),
                                                    .type = rt_mesh_value_type(v->data_type),
                                                    .n = (uint8_t)v->n,
                                                    .primitive = v->primitive};
    switch (v->role) {
    case RF_POSITION: m->info.flags |= ABI_STAGE_POSITION; break;
    case RF_POINT_SIZE: m->info.flags |= ABI_STAGE_POINT_SIZE; break;
    case RF_LAYER: m->info.flags |= ABI_STAGE_LAYER; break;
    case RF_VIEWPORT: m->info.flags |= ABI_STAGE_VIEWPORT; break;
    case RF_CLIP_DISTANCE: m->info.n_clip = v->n; break;
    default: break;
    }
}

static uint32_t max_threads(const RfFunction *f, size_t asked) {
    uint32_t declared = f->max_total_threads ? f->max_total_threads : MAX_THREADS;
    if (f->required_threads[0])
        declared = f->required_threads[0] * f->required_threads[1] * f->required_threads[2];
    return asked && asked < declared ? (uint32_t)asked : declared;
}

static void set_function(DevMeshFunction *to, const RtStage *stage) {
    *to = (DevMeshFunction){.payload_slot = UINT32_MAX, .output_slot = UINT32_MAX};
    if (!stage) return;
    const RfFunction *f = stage->entry;
    to->n_slots = f->n_slots;
    for (uint32_t i = 0; i < f->n_args; i++) {
        if (stage->arg_use[i] == RT_ARG_OFF) continue;
        if (f->args[i].kind == RF_ARG_PAYLOAD) to->payload_slot = f->args[i].slot;
        if (f->args[i].kind == RF_ARG_MESH || f->args[i].kind == RF_ARG_MESH_GRID)
            to->output_slot = f->args[i].slot;
    }
}

static MTLError *check_payload(const MTLRenderPipelineState *state,
                               const MTLMeshRenderPipelineDescriptor *d, uint32_t *bytes) {
    const RfFunction *mesh = state->stages[RT_MESH]->entry;
    const RfFunction *object = state->stages[RT_OBJECT] ? state->stages[RT_OBJECT]->entry : NULL;
    uint32_t needed = object && object->payload_bytes > mesh->payload_bytes ? object->payload_bytes
                                                                            : mesh->payload_bytes;
    if (mesh->payload_bytes && !(object && object->payload_bytes))
        return invalid("Mesh function '%s' reads a payload, but there is no object function that "
                       "writes one.",
                       mesh->name);
    if (object && mesh->payload_bytes > object->payload_bytes && !d->payload_memory_length)
        return invalid(
            "The payload of mesh function '%s' has %u bytes, object function '%s' writes "
            "%u.",
            mesh->name, mesh->payload_bytes, object->name, object->payload_bytes);
    if (d->payload_memory_length > MAX_PAYLOAD)
        return invalid("A payload of %zu bytes is too large: at most %d.", d->payload_memory_length,
                       MAX_PAYLOAD);
    if (d->payload_memory_length && d->payload_memory_length < needed)
        return invalid("A payload memory length of %zu is less than the %u bytes of the payload.",
                       d->payload_memory_length, needed);
    *bytes = d->payload_memory_length ? (uint32_t)d->payload_memory_length : needed;
    return NULL;
}

MTLError *rt_pipeline_set_mesh(MTLRenderPipelineState *state,
                               const MTLMeshRenderPipelineDescriptor *d) {
    const RfFunction *f = state->stages[RT_MESH]->entry;
    const RfFunction *object = state->stages[RT_OBJECT] ? state->stages[RT_OBJECT]->entry : NULL;
    uint32_t payload = 0;
    MTLError *wrong = check_payload(state, d, &payload);
    if (wrong) return wrong;
    if (d->max_total_threads_per_mesh_threadgroup > MAX_THREADS ||
        d->max_total_threads_per_object_threadgroup > MAX_THREADS ||
        d->max_total_threadgroups_per_mesh_grid > MAX_MESH_GROUPS)
        return invalid("A threadgroup has at most %d threads, a mesh grid %d threadgroups.",
                       MAX_THREADS, MAX_MESH_GROUPS);
    RtMeshPipeline *m = rt_alloc(sizeof *m + (f->n_outputs ? f->n_outputs : 1) * sizeof *m->values);
    if (!m) return rt_error_no_memory();
    state->mesh = m;
    const RfMesh *from = &f->mesh;
    m->stage = (DevMeshStage){.payload_bytes = payload,
                              .max_groups = MAX_MESH_GROUPS,
                              .topology = from->topology == 0   ? DEV_POINT
                                          : from->topology == 1 ? DEV_LINE
                                                                : DEV_TRIANGLE,
                              .n_vertices = from->n_vertices,
                              .n_primitives = from->n_primitives,
                              .index_offset = from->index_offset,
                              .vertex_offset = from->vertex_offset,
                              .vertex_stride = from->vertex_stride,
                              .primitive_offset = from->primitive_offset,
                              .primitive_stride = from->primitive_stride,
                              .n_bytes = from->n_bytes,
                              .values = m->values};
    if (object && object->max_mesh_groups && object->max_mesh_groups < MAX_MESH_GROUPS)
        m->stage.max_groups = object->max_mesh_groups;
    if (d->max_total_threadgroups_per_mesh_grid)
        m->stage.max_groups = (uint32_t)d->max_total_threadgroups_per_mesh_grid;
    m->info = (AbiStageInfo){.stage = RF_MESH, .n_outputs = f->output_rows};
    for (uint32_t i = 0; i < f->n_outputs; i++)
        if (rt_condition_use(state->stages[RT_MESH]->function, f->outputs[i].condition) !=
            RT_ARG_OFF)
            add_value(m, &f->outputs[i]);
    set_function(&m->stage.object, state->stages[RT_OBJECT]);
    set_function(&m->stage.mesh, state->stages[RT_MESH]);
    m->max_mesh_threads = max_threads(f, d->max_total_threads_per_mesh_threadgroup);
    m->required_mesh = d->required_threads_per_mesh_threadgroup;
    m->required_object = d->required_threads_per_object_threadgroup;
    if (object)
        m->max_object_threads = max_threads(object, d->max_total_threads_per_object_threadgroup);
    return NULL;
}

static bool valid_descriptor(MTLDevice *device, const MTLMeshRenderPipelineDescriptor *d,
                             const char *call, MTLError **error) {
    RtRenderParts parts = {0};
    if (d)
        parts = (RtRenderParts){{{d->mesh_function, "mesh_function"},
                                 {d->object_function, "object_function"},
                                 {d->fragment_function, "fragment_function"}},
                                d->binary_archives,
                                d->binary_archive_count};
    return rt_render_parts_valid(device, d, &parts, call, error);
}

// What it shares with other pipelines.
static MTLRenderPipelineDescriptor common_part(const MTLMeshRenderPipelineDescriptor *d) {
    MTLRenderPipelineDescriptor common = {
        .label = d->label,
        .vertex_function = d->mesh_function,
        .fragment_function = d->fragment_function,
        .raster_sample_count = d->raster_sample_count,
        .alpha_to_coverage_enabled = d->alpha_to_coverage_enabled,
        .alpha_to_one_enabled = d->alpha_to_one_enabled,
        .rasterization_disabled = d->rasterization_disabled,
        .depth_attachment_pixel_format = d->depth_attachment_pixel_format,
        .stencil_attachment_pixel_format = d->stencil_attachment_pixel_format,
        .max_vertex_amplification_count = d->max_vertex_amplification_count,
        .support_indirect_command_buffers = d->support_indirect_command_buffers,
        .binary_archives = d->binary_archives,
        .binary_archive_count = d->binary_archive_count,
        .shader_validation = d->shader_validation,
        .vertex_linked_functions = d->mesh_linked_functions,
        .fragment_linked_functions = d->fragment_linked_functions};
    memcpy(common.color_attachments, d->color_attachments, sizeof common.color_attachments);
    return common;
}

MTLRenderPipelineState *mtl_device_new_render_pipeline_state_with_mesh_descriptor(
    MTLDevice *device, const MTLMeshRenderPipelineDescriptor *d, MTLError **error) {
    if (error) *error = NULL;
    if (!valid_descriptor(device, d, __func__, error)) return NULL;
    const MTLRenderPipelineDescriptor common = common_part(d);
    return rt_render_pipeline_create(device, &common, &(RtRenderExtra){.mesh = d}, NULL, error);
}

bool rt_mesh_pipeline_record(MTLDevice *device, const MTLMeshRenderPipelineDescriptor *d,
                             Archive *record, MTLError **error) {
    if (!valid_descriptor(device, d, "mtl_binary_archive_add_mesh_render_pipeline_functions",
                          error))
        return false;
    const MTLRenderPipelineDescriptor common = common_part(d);
    return rt_render_pipeline_record(device, &common, &(RtRenderExtra){.mesh = d}, record, error);
}

#include "accessors/program/mesh_pipeline.inc" // plain accessors, from the table

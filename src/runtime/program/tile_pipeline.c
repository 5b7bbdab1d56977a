// SPDX-License-Identifier: Apache-2.0
// tile_pipeline.c: render pipelines of one tile function: its code, and how the colours of the
// attachments are put into the structure of an implicit imageblock.
#include "abi/data_types.h"
#include "abi/pixel_format.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "runtime/program/archive.h"
#include "runtime/program/link.h"
#include "runtime/program/render_pipeline.h"

enum { MAX_THREADS = 1024, MAX_SIDE = 32 };

#define invalid(...)                                                                               \
    rt_error_new(MTLRenderPipelineErrorDomain, MTLRenderPipelineErrorInvalidInput, __VA_ARGS__)

static bool valid_descriptor(MTLDevice *device, const MTLTileRenderPipelineDescriptor *d,
                             const char *call, MTLError **error) {
    RtRenderParts parts = {0};
    if (d)
        parts = (RtRenderParts){
            {{d->tile_function, "tile_function"}}, d->binary_archives, d->binary_archive_count};
    return rt_render_parts_valid(device, d, &parts, call, error);
}

static bool fits(const AbiPixelFormat *p, uint32_t data_type) {
    uint32_t n, scalar = rf_scalar_of(data_type, &n);
    bool is_float = scalar == DT_FLOAT || scalar == DT_HALF;
    bool is_signed = scalar == DT_INT || scalar == DT_SHORT || scalar == DT_CHAR;
    return p->kind == ABI_KIND_UINT   ? !is_float && !is_signed
           : p->kind == ABI_KIND_SINT ? is_signed
                                      : is_float;
}

// The colours of an implicit imageblock against the attachments.
static MTLError *add_values(MTLRenderPipelineState *state) {
    const MTLFunction *function = state->stages[RT_TILE]->function;
    const RfFunction *f = function->function;
    for (uint32_t i = 0; f->color_block_bytes && i < f->n_outputs; i++) {
        const RfValue *v = &f->outputs[i];
        if (rt_condition_use(function, v->condition) == RT_ARG_OFF) continue;
        uint32_t format = v->index < ABI_MAX_COLORS ? state->color_formats[v->index] : 0;
        if (!format)
            return invalid("The imageblock of tile function '%s' has color(%u), but there is no "
                           "color attachment %u.",
                           f->name, v->index, v->index);
        const AbiPixelFormat *p = abi_pixel_format(format);
        if (!fits(p, v->data_type))
            return invalid("color(%u) of the imageblock of tile function '%s' is not compatible "
                           "with pixel format %s.",
                           v->index, f->name, p->name);
        state->tile->stage.colors[v->index] = (uint8_t)v->offset;
        state->tile->values[state->tile->stage.n_values++] =
            (DevMeshValue){.offset = v->offset,
                           .row = (uint16_t)v->index,
                           .type = rt_mesh_value_type(v->data_type),
                           .n = (uint8_t)v->n};
    }
    return NULL;
}

static MTLError *set_tile(MTLRenderPipelineState *state, const MTLTileRenderPipelineDescriptor *d) {
    const RfFunction *f = state->stages[RT_TILE]->entry;
    if (d->max_total_threads_per_threadgroup > MAX_THREADS)
        return invalid("A threadgroup has at most %d threads, not %zu.", MAX_THREADS,
                       d->max_total_threads_per_threadgroup);
    RtTilePipeline *t = rt_alloc(sizeof *t + (f->n_outputs ? f->n_outputs : 1) * sizeof *t->values);
    if (!t) return rt_error_no_memory();
    state->tile = t;
    t->stage = (DevTileStage){
        .function = {.n_slots = f->n_slots, .payload_slot = UINT32_MAX, .output_slot = UINT32_MAX},
        .pixel_bytes = f->color_block_bytes ? f->color_block_bytes : f->imageblock_bytes,
        .is_explicit = !f->color_block_bytes,
        .values = t->values};
    for (uint32_t i = 0; i < f->n_args; i++)
        if (f->args[i].kind == RF_ARG_IMAGEBLOCK &&
            state->stages[RT_TILE]->arg_use[i] != RT_ARG_OFF) {
            bool second = f->args[i].index == 0 && f->color_block_bytes;
            *(second ? &t->stage.function.payload_slot : &t->stage.function.output_slot) =
                f->args[i].slot;
        }
    state->imageblock_bytes = f->imageblock_bytes;
    uint32_t declared = f->max_total_threads ? f->max_total_threads : MAX_THREADS;
    if (f->required_threads[0])
        declared = f->required_threads[0] * f->required_threads[1] * f->required_threads[2];
    size_t asked = d->max_total_threads_per_threadgroup;
    t->max_threads = asked && asked < declared ? (uint32_t)asked : declared;
    t->matches_tile = d->threadgroup_size_matches_tile_size;
    t->required = d->required_threads_per_threadgroup;
    return add_values(state);
}

static MTLError *fill(MTLRenderPipelineState *state, const MTLTileRenderPipelineDescriptor *d,
                      MTLPipelineOption options, Archive *record) {
    MTLRenderPipelineDescriptor common = {.raster_sample_count = d->raster_sample_count};
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++)
        common.color_attachments[i].pixel_format = d->color_attachments[i].pixel_format;
    const RfFunction *f = d->tile_function->function;
    if (f->stage != RF_KERNEL) return invalid("'%s' is not a kernel function.", f->name);
    MTLError *wrong = rt_render_set_attachments(state, &common);
    if (wrong) return wrong;
    RtStage *stage = rt_render_add_stage(state, RT_TILE, d->tile_function);
    if (!stage ||
        !rt_stage_set_archives(stage, &(RtStageArchives){d->binary_archives,
                                                         d->binary_archive_count, options, record}))
        return rt_error_no_memory();
    const RtLinkWish wish = {d->linked_functions, d->preloaded_libraries,
                             d->preloaded_library_count, d->max_call_stack_depth,
                             d->support_adding_binary_functions};
    if ((wrong = rt_stage_link(stage, &wish))) return wrong;
    if (!rt_render_compile(state, &wrong)) return wrong ? wrong : rt_error_no_memory();
    return set_tile(state, d);
}

static MTLRenderPipelineState *create(MTLDevice *device, const MTLTileRenderPipelineDescriptor *d,
                                      MTLPipelineOption options, Archive *record,
                                      MTLError **error) {
    MTLError *wrong = rt_device_lacks(device, DEV_RENDER);
    MTLRenderPipelineState *state = wrong ? NULL : rt_new(&rt_render_pipeline_class, sizeof *state);
    if (!state) goto fail;
    state->device = mtl_retain(device);
    state->validate = rt_wants_validation(device, d->label, d->shader_validation);
    state->any_depth_stencil = true;
    rt_label_set(&state->label, d->label);
    if (!(wrong = fill(state, d, options, record))) return state;

fail:
    rt_error_set(error, wrong);
    mtl_release(state);
    return NULL;
}

MTLRenderPipelineState *mtl_device_new_render_pipeline_state_with_tile_descriptor(
    MTLDevice *device, const MTLTileRenderPipelineDescriptor *descriptor, MTLError **error) {
    if (error) *error = NULL;
    if (!valid_descriptor(device, descriptor, __func__, error)) return NULL;
    return create(device, descriptor, MTLPipelineOptionNone, NULL, error);
}

MTLRenderPipelineState *rt_tile_pipeline_create(MTLDevice *device,
                                                const MTLTileRenderPipelineDescriptor *d,
                                                MTLPipelineOption options, MTLError **error) {
    return create(device, d, options, NULL, error);
}

bool rt_tile_pipeline_record(MTLDevice *device, const MTLTileRenderPipelineDescriptor *d,
                             Archive *record, MTLError **error) {
    if (!valid_descriptor(device, d, "mtl_binary_archive_add_tile_render_pipeline_functions",
                          error))
        return false;
    MTLRenderPipelineState *state = create(device, d, MTLPipelineOptionNone, record, error);
    mtl_release(state);
    return state != NULL;
}

size_t mtl_render_pipeline_state_imageblock_sample_length(const MTLRenderPipelineState *state) {
    if (!state) return 0;
    size_t colors =
        state->tile && !state->tile->stage.is_explicit ? state->tile->stage.pixel_bytes : 0;
    return colors + state->imageblock_bytes;
}

size_t mtl_render_pipeline_state_imageblock_memory_length_for_dimensions(
    const MTLRenderPipelineState *state, MTLSize size) {
    if (!state || size.width > MAX_SIDE || size.height > MAX_SIDE || size.depth > 1) return 0;
    return size.width * size.height * size.depth * state->n_samples *
           mtl_render_pipeline_state_imageblock_sample_length(state);
}

#include "accessors/program/tile_pipeline.inc" // plain accessors, from the table

// SPDX-License-Identifier: Apache-2.0
// render_pipeline.c: MTLRenderPipelineState: makes the stages that a descriptor names, finds which
// output of the first feeds each input of the fragment function, and checks both against the
// attachments.
#include "runtime/program/render_pipeline.h"
#include <stdio.h>
#include <string.h>
#include "abi/pixel_format.h"
#include "runtime/program/indirect.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "runtime/program/archive.h"
#include "runtime/program/link.h"
#include "runtime/program/reflection.h"

static void destroy(void *self) {
    MTLRenderPipelineState *state = self;
    rt_pipeline_forget_handle(state->device, atomic_load(&state->handle));
    rt_render_reflection_free(atomic_load(&state->reflection));
    if (state->base) { // the stages are those of the other
        mtl_release(state->base);
    } else {
        for (int i = 0; i < RT_N_STAGES; i++) rt_stage_free(state->stages[i]);
        rt_free(state->mesh);
        rt_free(state->tile);
    }
    rt_free(state->open);
    rt_label_free(&state->label);
    mtl_release(state->device);
    rt_free(state);
}

RT_CLASS rt_render_pipeline_class = {.name = "MTLRenderPipelineState",
                                     .destroy = destroy,
                                     .label_at = offsetof(MTLRenderPipelineState, label)};

#define invalid(...)                                                                               \
    rt_error_new(MTLRenderPipelineErrorDomain, MTLRenderPipelineErrorInvalidInput, __VA_ARGS__)

// ---- Linking ----

static const RfValue *find_output(const MTLRenderPipelineState *state, const RfValue *in,
                                  bool same_type) {
    const RtStage *stage = rt_render_first(state);
    const RfFunction *f = stage->entry;
    for (uint32_t i = 0; i < f->n_outputs; i++) {
        const RfValue *out = &f->outputs[i];
        if (out->role == RF_VALUE && out->user == in->user && strcmp(out->name, in->name) == 0 &&
            (!same_type || out->data_type == in->data_type) &&
            rt_condition_use(stage->function, out->condition) != RT_ARG_OFF)
            return out;
    }
    return NULL;
}

// Rows: of the vertex function's outputs, for each component of the fragment inputs; in flat, those
// that come from primitives.
static MTLError *link_stages(MTLRenderPipelineState *state, uint32_t flat[4]) {
    memset(state->rows, 0xff, sizeof state->rows);
    const RtStage *stage = state->stages[RT_FRAGMENT];
    if (!stage) return NULL;
    const MTLFunction *fragment = stage->function;
    const RfFunction *f = stage->entry;
    const char *first = rt_render_first(state)->entry->name;
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        const RfValue *in = &f->inputs[i];
        RtArgUse use =
            in->role == RF_VALUE ? rt_condition_use(fragment, in->condition) : RT_ARG_OFF;
        if (use == RT_ARG_OFF) continue;
        const RfValue *out = find_output(state, in, true);
        for (uint32_t k = 0; out && k < in->n && in->row + k < ABI_MAX_VARYINGS; k++) {
            uint32_t row = in->row + k;
            state->rows[row] = (uint16_t)(ABI_VERTEX_FIRST + out->row + k);
            if (out->primitive) flat[row / 32] |= 1u << row % 32;
        }
        if (out || use == RT_ARG_OPTIONAL) continue;
        const char *before = in->user ? "user(" : "", *after = in->user ? ")" : "";
        if (find_output(state, in, false))
            return invalid("Link failed: fragment input %s%s%s of '%s' does not match the type of "
                           "the output of vertex function '%s'.",
                           before, in->name, after, f->name, first);
        return invalid("Link failed: fragment input %s%s%s of '%s' was not found in the outputs of "
                       "vertex function '%s'.",
                       before, in->name, after, f->name, first);
    }
    return NULL;
}

// ---- Attachments ----

static MTLError *set_color(MTLRenderPipelineState *state, unsigned i,
                           const MTLRenderPipelineColorAttachmentDescriptor *c) {
    state->color_formats[i] = c->pixel_format;
    if (!c->pixel_format) return NULL;
    const AbiPixelFormat *f = abi_pixel_format(c->pixel_format);
    if (!f || !(f->caps & ABI_FORMAT_COLOR))
        return invalid("Color attachment %u: pixel format %s is not color renderable.", i,
                       f ? f->name : "(unknown)");
    if (c->blending_enabled && !(f->caps & ABI_FORMAT_BLEND))
        return invalid("Color attachment %u: pixel format %s cannot be blended.", i, f->name);
    if (state->n_samples > 1 && !(f->caps & ABI_FORMAT_MSAA))
        return invalid("Color attachment %u: pixel format %s cannot be multisampled.", i, f->name);
    const unsigned factors[] = {c->source_rgb_blend_factor, c->destination_rgb_blend_factor,
                                c->source_alpha_blend_factor, c->destination_alpha_blend_factor};
    bool plain = true;
    for (int k = 0; k < 4; k++) {
        if (factors[k] > MTLBlendFactorOneMinusSource1Alpha)
            return invalid("Color attachment %u: %u is not a blend factor.", i, factors[k]);
        plain = plain && !factors[k];
    }
    if ((unsigned)c->rgb_blend_operation > MTLBlendOperationMax ||
        (unsigned)c->alpha_blend_operation > MTLBlendOperationMax)
        return invalid("Color attachment %u: that is not a blend operation.", i);
    state->blend[i] =
        (DevBlend){.enabled = c->blending_enabled,
                   .rgb_op = (uint8_t)c->rgb_blend_operation,
                   .alpha_op = (uint8_t)c->alpha_blend_operation,
                   .src_rgb = plain ? DEV_BLEND_ONE : (uint8_t)factors[0],
                   .dst_rgb = (uint8_t)factors[1],
                   .src_alpha = plain ? DEV_BLEND_ONE : (uint8_t)factors[2],
                   .dst_alpha = (uint8_t)factors[3],
                   .write_mask = c->write_nothing ? 0
                                 : c->write_mask  ? (uint8_t)(c->write_mask & MTLColorWriteMaskAll)
                                                  : MTLColorWriteMaskAll};
    return NULL;
}

// A fragment output has the kind of numbers its attachment holds.
static MTLError *check_outputs(const MTLRenderPipelineState *state) {
    const RtStage *stage = state->stages[RT_FRAGMENT];
    if (!stage) return NULL;
    const RfFunction *f = stage->entry;
    for (uint32_t i = 0; i < f->n_outputs; i++) {
        const RfValue *v = &f->outputs[i];
        if (rt_condition_use(stage->function, v->condition) == RT_ARG_OFF) continue;
        if (v->role == RF_DEPTH && !state->depth_format && !state->any_depth_stencil)
            return invalid("Fragment function '%s' writes depth, but there is no depth attachment.",
                           f->name);
        if (v->role == RF_STENCIL && !state->stencil_format && !state->any_depth_stencil)
            return invalid("Fragment function '%s' writes stencil, but there is no stencil "
                           "attachment.",
                           f->name);
        if (v->role != RF_COLOR || !state->color_formats[v->index]) continue;
        const AbiPixelFormat *p = abi_pixel_format(state->color_formats[v->index]);
        uint32_t n, scalar = rf_scalar_of(v->data_type, &n);
        bool is_float = scalar == MTLDataTypeFloat || scalar == MTLDataTypeHalf;
        bool is_signed =
            scalar == MTLDataTypeInt || scalar == MTLDataTypeShort || scalar == MTLDataTypeChar;
        bool fits = p->kind == ABI_KIND_UINT   ? !is_float && !is_signed
                    : p->kind == ABI_KIND_SINT ? is_signed
                                               : is_float;
        if (!fits)
            return invalid("The output color(%u) of fragment function '%s' is not compatible with "
                           "pixel format %s.",
                           v->index, f->name, p->name);
    }
    return NULL;
}

MTLError *rt_render_set_attachments(MTLRenderPipelineState *state,
                                    const MTLRenderPipelineDescriptor *d) {
    size_t samples = d->raster_sample_count ? d->raster_sample_count : 1;
    if (samples != 1 && samples != 2 && samples != 4 && samples != 8)
        return invalid("A raster sample count of %zu is not supported: 1, 2, 4 or 8.", samples);
    state->n_samples = (uint32_t)samples;
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++) {
        MTLError *wrong = set_color(state, i, &d->color_attachments[i]);
        if (wrong) return wrong;
    }
    const struct {
        uint32_t format, aspect;
        const char *name;
        uint32_t *to;
    } others[] = {
        {d->depth_attachment_pixel_format, ABI_FORMAT_DEPTH, "depth", &state->depth_format},
        {d->stencil_attachment_pixel_format, ABI_FORMAT_STENCIL, "stencil",
         &state->stencil_format}};
    for (int i = 0; i < 2; i++) {
        const AbiPixelFormat *f = others[i].format ? abi_pixel_format(others[i].format) : NULL;
        if (others[i].format && (!f || !(f->caps & others[i].aspect)))
            return invalid("Pixel format %s is not %s renderable.", f ? f->name : "(unknown)",
                           others[i].name);
        *others[i].to = others[i].format;
    }
    state->discard_all = d->rasterization_disabled;
    state->alpha_to_coverage = d->alpha_to_coverage_enabled;
    state->alpha_to_one = d->alpha_to_one_enabled;
    state->indirect = d->support_indirect_command_buffers;
    state->topology = (uint8_t)d->input_primitive_topology;
    state->max_amplification =
        d->max_vertex_amplification_count ? (uint32_t)d->max_vertex_amplification_count : 1;
    if (d->max_vertex_amplification_count > 2)
        return invalid("A vertex amplification count of %zu is not supported: 1 or 2.",
                       d->max_vertex_amplification_count);
    return NULL;
}

// ---- Creation ----

static MTLError *check_functions(const MTLRenderPipelineDescriptor *d, const RtRenderExtra *extra) {
    const RfFunction *v = d->vertex_function->function;
    const RfFunction *f = d->fragment_function ? d->fragment_function->function : NULL;
    if (v->stage != (extra->mesh ? RF_MESH : RF_VERTEX))
        return invalid("'%s' is not a %s function.", v->name, extra->mesh ? "mesh" : "vertex");
    if (f && f->stage != RF_FRAGMENT) return invalid("'%s' is not a fragment function.", f->name);
    const MTLFunction *object = extra->mesh ? extra->mesh->object_function : NULL;
    if (object && object->function->stage != RF_OBJECT)
        return invalid("'%s' is not an object function.", object->function->name);
    if (d->rasterization_disabled) return NULL;
    for (uint32_t i = 0; i < v->n_outputs; i++)
        if (v->outputs[i].role == RF_POSITION) return NULL;
    return invalid("Vertex function '%s' returns nothing: rasterization must be disabled.",
                   v->name);
}

bool rt_render_parts_valid(MTLDevice *device, const void *descriptor, const RtRenderParts *parts,
                           const char *call, MTLError **error) {
    const char *missing = !device                         ? "device"
                          : !descriptor                   ? "descriptor"
                          : !parts->functions[0].function ? parts->functions[0].name
                                                          : NULL;
    if (missing) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, call, "%s",
                  missing);
        rt_error_set(error, invalid("%s is NULL.", missing));
        return false;
    }
    const char *wrong = NULL;
    for (int i = 0; !wrong && i < 3; i++)
        if (parts->functions[i].function &&
            !rt_is(parts->functions[i].function, &rt_function_class))
            wrong = parts->functions[i].name;
    for (size_t i = 0; !wrong && parts->archives && i < parts->n_archives; i++)
        if (parts->archives[i] && !rt_is(parts->archives[i], &rt_archive_class))
            wrong = "binary_archives";
    if (wrong) {
        rt_misuse(device, RT_RULE_wrong_class, call, "%s", wrong);
        rt_error_set(error, invalid("%s is of another class.", wrong));
    }
    return !wrong;
}

bool rt_render_pipeline_valid(MTLDevice *device, const MTLRenderPipelineDescriptor *d,
                              const char *call, MTLError **error) {
    RtRenderParts parts = {0};
    if (d)
        parts = (RtRenderParts){
            {{d->vertex_function, "vertex_function"}, {d->fragment_function, "fragment_function"}},
            d->binary_archives,
            d->binary_archive_count};
    return rt_render_parts_valid(device, d, &parts, call, error);
}

RtStage *rt_render_add_stage(MTLRenderPipelineState *state, RtStageIndex i, MTLFunction *function) {
    return state->stages[i] = rt_stage_new(&(RtStage){.pipeline = state,
                                                      .label = &state->label,
                                                      .device = state->device,
                                                      .draws = true,
                                                      .validate = state->validate},
                                           function);
}

// The stages that the descriptors name, without links, inputs and code. False: no memory.
static bool add_stages(MTLRenderPipelineState *state, const MTLRenderPipelineDescriptor *d,
                       const RtRenderExtra *extra, Archive *record) {
    MTLFunction *const functions[RT_N_STAGES] = {
        [RT_VERTEX] = extra->mesh ? NULL : d->vertex_function,
        [RT_FRAGMENT] = d->rasterization_disabled ? NULL : d->fragment_function,
        [RT_OBJECT] = extra->mesh ? extra->mesh->object_function : NULL,
        [RT_MESH] = extra->mesh ? d->vertex_function : NULL};
    const RtStageArchives archives = {d->binary_archives, d->binary_archive_count, extra->options,
                                      record};
    for (int i = 0; i < RT_N_STAGES; i++)
        if (functions[i] && (!rt_render_add_stage(state, i, functions[i]) ||
                             !rt_stage_set_archives(state->stages[i], &archives)))
            return false;
    return true;
}

// What the functions call: of the vertex or mesh, the fragment and the object function.
static MTLError *link_functions(MTLRenderPipelineState *state, const MTLRenderPipelineDescriptor *d,
                                const RtRenderExtra *extra) {
    const RtLinkWish said[] = {
        {d->vertex_linked_functions, d->vertex_preloaded_libraries,
         d->vertex_preloaded_library_count, d->max_vertex_call_stack_depth,
         d->support_adding_vertex_binary_functions},
        {d->fragment_linked_functions, d->fragment_preloaded_libraries,
         d->fragment_preloaded_library_count, d->max_fragment_call_stack_depth,
         d->support_adding_fragment_binary_functions},
        {.functions = extra->mesh ? extra->mesh->object_linked_functions : NULL}};
    const RtLinkWish *wishes = extra->links ? extra->links : said;
    RtStage *stages[] = {rt_render_first(state), state->stages[RT_FRAGMENT],
                         state->stages[RT_OBJECT]};
    MTLError *wrong = NULL;
    for (int i = 0; i < 3 && !wrong; i++)
        if (stages[i]) wrong = rt_stage_link(stages[i], &wishes[i]);
    return wrong;
}

// What the fragment function has to know of the vertex function's results.
static MTLError *set_flat(RtStage *fragment, const uint32_t flat[4]) {
    if (!(flat[0] | flat[1] | flat[2] | flat[3])) return NULL;
    fragment->inputs = rt_alloc(sizeof *fragment->inputs);
    if (!fragment->inputs) return rt_error_no_memory();
    memcpy(fragment->inputs->flat, flat, sizeof fragment->inputs->flat);
    return NULL;
}

bool rt_render_compile(MTLRenderPipelineState *state, MTLError **wrong) {
    RtStage *const stages[] = {rt_render_first(state), state->stages[RT_OBJECT],
                               state->stages[RT_FRAGMENT]};
    return rt_stages_compile(stages, 3, wrong);
}

static MTLError *fill(MTLRenderPipelineState *state, const MTLRenderPipelineDescriptor *d,
                      const RtRenderExtra *extra, Archive *record) {
    uint32_t needs = d->shader_validation == MTLShaderValidationEnabled ? DEV_VALIDATION : 0;
    MTLError *wrong = NULL;
    uint32_t flat[4] = {0};
    if ((wrong = rt_device_lacks(state->device, DEV_RENDER | needs))) return wrong;
    if ((wrong = check_functions(d, extra))) return wrong;
    if (!add_stages(state, d, extra, record)) return rt_error_no_memory();
    if ((wrong = rt_render_set_attachments(state, d))) return wrong;
    if ((wrong = check_outputs(state))) return wrong;
    for (int i = 0; state->indirect && i < RT_N_STAGES; i++)
        if (state->stages[i] && (wrong = rt_stage_check_indirect(state->stages[i]))) return wrong;
    if ((wrong = link_stages(state, flat))) return wrong;
    if ((wrong = set_flat(state->stages[RT_FRAGMENT], flat))) return wrong;
    if ((wrong = rt_stage_set_vertices(rt_render_first(state), d->vertex_descriptor))) return wrong;
    if ((wrong = link_functions(state, d, extra))) return wrong;
    if ((wrong = rt_pipeline_set_patches(state, d))) return wrong;
    if (!rt_render_compile(state, &wrong)) return wrong ? wrong : rt_error_no_memory();
    if (extra->mesh && (wrong = rt_pipeline_set_mesh(state, extra->mesh))) return wrong;
    if (state->stages[RT_FRAGMENT])
        state->imageblock_bytes = state->stages[RT_FRAGMENT]->entry->imageblock_bytes;
    return NULL;
}

MTLRenderPipelineState *rt_render_pipeline_create(MTLDevice *device,
                                                  const MTLRenderPipelineDescriptor *d,
                                                  const RtRenderExtra *extra, Archive *record,
                                                  MTLError **error) {
    MTLError *wrong = NULL;
    MTLRenderPipelineState *state = rt_new(&rt_render_pipeline_class, sizeof *state);
    if (!state) goto fail;
    state->device = mtl_retain(device);
    state->validate = rt_wants_validation(device, d->label, d->shader_validation);
    state->any_depth_stencil = extra->any_depth_stencil;
    state->identity_colors = extra->identity_colors;
    rt_label_set(&state->label, d->label);
    if (!(wrong = fill(state, d, extra, record))) return state;

fail:
    rt_error_set(error, wrong);
    mtl_release(state);
    return NULL;
}

MTLRenderPipelineState *mtl_device_new_render_pipeline_state(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor, MTLError **error) {
    if (error) *error = NULL;
    if (!rt_render_pipeline_valid(device, descriptor, __func__, error)) return NULL;
    return rt_render_pipeline_create(device, descriptor, &(RtRenderExtra){0}, NULL, error);
}

MTLRenderPipelineState *rt_render_pipeline_specialise(
    MTLRenderPipelineState *base, const MTLRenderPipelineColorAttachmentDescriptor colors[8],
    const char *label, MTLError **error) {
    MTLError *wrong = NULL;
    MTLRenderPipelineState *state = rt_new(&rt_render_pipeline_class, sizeof *state);
    if (!state) goto fail;
    memcpy((char *)state + sizeof state->object, (const char *)base + sizeof base->object,
           sizeof *state - sizeof state->object);
    atomic_init(&state->label, NULL);
    state->open = NULL;
    atomic_init(&state->handle, 0);
    atomic_init(&state->reflection, NULL);
    state->base = mtl_retain(base);
    mtl_retain(state->device);
    rt_label_set(&state->label, label);
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++)
        if ((wrong = set_color(state, i, &colors[i]))) goto fail;
    if ((wrong = check_outputs(state))) goto fail;
    return state;

fail:
    rt_error_set(error, wrong);
    mtl_release(state);
    return NULL;
}

bool rt_render_pipeline_record(MTLDevice *device, const MTLRenderPipelineDescriptor *d,
                               const RtRenderExtra *extra, Archive *record, MTLError **error) {
    if (!rt_render_pipeline_valid(device, d, "mtl_binary_archive_add_render_pipeline_functions",
                                  error))
        return false;
    MTLRenderPipelineState *state = rt_render_pipeline_create(device, d, extra, record, error);
    mtl_release(state);
    return state != NULL;
}

// ---- Attributes of vertex functions ----

static const RfValue *attribute_at(const MTLFunction *function, size_t i) {
    const RfFunction *f = function->function;
    for (uint32_t k = 0; f->stage == RF_VERTEX && k < f->n_inputs; k++)
        if (f->inputs[k].role == RF_ATTRIBUTE && i-- == 0) return &f->inputs[k];
    return NULL;
}

size_t mtl_function_vertex_attribute_count(const MTLFunction *function) {
    size_t n = 0;
    while (function && attribute_at(function, n)) n++;
    return n;
}

bool mtl_function_vertex_attribute(const MTLFunction *function, size_t i,
                                   MTLVertexAttribute *attribute) {
    const RfValue *v = function && attribute ? attribute_at(function, i) : NULL;
    if (!v) return false;
    *attribute =
        (MTLVertexAttribute){.name = v->name,
                             .attribute_index = v->index,
                             .attribute_type = (MTLDataType)v->data_type,
                             .active = rt_condition_use(function, v->condition) != RT_ARG_OFF,
                             .patch_data = function->function->patch && !v->points,
                             .patch_control_point_data = v->points > 0};
    return true;
}

#include "accessors/program/render_pipeline.inc" // plain accessors, from the table

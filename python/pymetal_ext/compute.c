// SPDX-License-Identifier: Apache-2.0
// compute.c: compute pipelines and the compute encoder.
#include <stdlib.h>
#include <string.h>
#include "library.h"
#include "metal4.h"

// ---- ComputePipelineDescriptor ----

static const Field ComputePipelineDescriptor_fields[] = {
    {STR_OR("label"), "A name for messages and traces.", false},
    {OPTIONAL("compute_function", Function), "The kernel.", false},
    {BOOL_OR("thread_group_size_is_multiple_of_thread_execution_width", false), "A promise.",
     false},
    {SIZE_OR("max_total_threads_per_threadgroup", 0), "0: as the kernel says.", false},
    {OPTIONAL("required_threads_per_threadgroup", Size), "The only size, None: any.", false},
    {LIST_OR("linked_functions", Function), "Visible functions the kernel may call.", false},
    {SIZE_OR("max_call_stack_depth", 1), "Of visible functions that call others.", false},
    {BOOL_OR("support_indirect_command_buffers", false), "For indirect commands.", false},
    {LIST_OR("binary_archives", BinaryArchive), "Asked before the compiler.", false},
    {ENUM_OR("shader_validation", ShaderValidation, Default, 0), "Whether accesses are checked.",
     false},
    NO_FIELD,
};
DEFINE_CLASS(ComputePipelineDescriptor, "How a compute pipeline is made.",
             .fields = ComputePipelineDescriptor_fields, .factory = "compute_pipeline_descriptor",
             .constructible = true);

void pipeline_parts_free(PipelineParts *parts) {
    free(parts->functions);
    free(parts->archives);
    Py_CLEAR(parts->kept);
}

bool pipeline_descriptor(State *state, const Object *o, MTLComputePipelineDescriptor *d,
                         PipelineParts *parts) {
    size_t n_functions, n_archives;
    *parts = (PipelineParts){0};
    parts->kept = field_values(o);
    if (!parts->kept) return false;
    if (!list_natives(state, field_py(o, "linked_functions"), C_Function, "linked_functions",
                      &parts->functions, &n_functions) ||
        !list_natives(state, field_py(o, "binary_archives"), C_BinaryArchive, "binary_archives",
                      &parts->archives, &n_archives)) {
        pipeline_parts_free(parts);
        return false;
    }
    const Object *size = field_o(o, "required_threads_per_threadgroup");
    parts->linked.functions = (MTLFunction *const *)parts->functions;
    parts->linked.function_count = n_functions;
    *d = (MTLComputePipelineDescriptor){
        .label = field_s(o, "label"),
        .compute_function = field_p(o, "compute_function"),
        .thread_group_size_is_multiple_of_thread_execution_width =
            field_b(o, "thread_group_size_is_multiple_of_thread_execution_width"),
        .max_total_threads_per_threadgroup = field_u(o, "max_total_threads_per_threadgroup"),
        .max_call_stack_depth = field_u(o, "max_call_stack_depth"),
        .linked_functions = n_functions ? &parts->linked : NULL,
        .support_indirect_command_buffers = field_b(o, "support_indirect_command_buffers"),
        .binary_archives = (MTLBinaryArchive *const *)parts->archives,
        .binary_archive_count = n_archives,
        .shader_validation = (MTLShaderValidation)field_u(o, "shader_validation"),
    };
    if (size) d->required_threads_per_threadgroup = to_size(size);
    return true;
}

PyObject *pipeline_with_descriptor(State *state, Object *device, const Object *descriptor,
                                   MTLPipelineOption options) {
    MTLComputePipelineDescriptor d;
    PipelineParts parts;
    MTLError *error = NULL;
    MTLComputePipelineState *pipeline;
    if (!pipeline_descriptor(state, descriptor, &d, &parts)) return NULL;
    WITHOUT_GIL(pipeline = mtl_device_new_compute_pipeline_state_with_descriptor(
                    device->native, &d, options, NULL, &error));
    pipeline_parts_free(&parts);
    if (!pipeline)
        return raise_error(state, ERROR_PIPELINE, "Failed to create compute pipeline: ", error);
    return wrap_new(state, C_ComputePipelineState, pipeline);
}

// ---- ComputePipelineState ----

#define COMPUTE_PIPELINE_STATE_PROPS(RO, RW)                                                       \
    NUMBER(RO, ComputePipelineState, compute_pipeline_state, max_total_threads_per_threadgroup,    \
           "The most threads a threadgroup can have.")                                             \
    NUMBER(RO, ComputePipelineState, compute_pipeline_state, thread_execution_width,               \
           "Threads of a SIMD-group.")                                                             \
    NUMBER(RO, ComputePipelineState, compute_pipeline_state, static_threadgroup_memory_length,     \
           "Bytes of threadgroup memory that the kernel declares.")                                \
    RO(ComputePipelineState, support_indirect_command_buffers, "bool",                             \
       "Whether indirect commands may use it.",                                                    \
       from_bool(mtl_compute_pipeline_state_support_indirect_command_buffers(self->native)))       \
    RO(ComputePipelineState, gpu_resource_id, "int", "What stands for it in argument buffers.",    \
       from_u64(mtl_compute_pipeline_state_gpu_resource_id(self->native).impl))                    \
    RO(ComputePipelineState, reflection, "ComputePipelineReflection | None",                       \
       "The kernel's arguments.",                                                                  \
       wrap_owned_by(state, C_ComputePipelineReflection,                                           \
                     mtl_compute_pipeline_state_reflection(self->native), self))                   \
    RO(ComputePipelineState, label, "str", "Its descriptor's label.",                              \
       from_str(mtl_compute_pipeline_state_label(self->native)))                                   \
    DEVICE(RO, ComputePipelineState, compute_pipeline_state)
PROPS(ComputePipelineState, COMPUTE_PIPELINE_STATE_PROPS);

METHOD(ComputePipelineState, function_handle, "FunctionHandle | None",
       "The handle of a linked function, for function tables.", OBJECT("function", Function)) {
    return wrap_owned_by(state, C_FunctionHandle,
                         mtl_compute_pipeline_state_function_handle(self->native, a[0].p), self);
}

METHOD(ComputePipelineState, new_visible_function_table, "VisibleFunctionTable | None",
       "An empty table of functions of this pipeline.", SIZE("function_count")) {
    return wrap_new(state, C_VisibleFunctionTable,
                    mtl_compute_pipeline_state_new_visible_function_table(
                        self->native, &(MTLVisibleFunctionTableDescriptor){a[0].u}));
}

METHOD(ComputePipelineState, new_intersection_function_table, "IntersectionFunctionTable | None",
       "An empty table of intersection functions of this pipeline.", SIZE("function_count")) {
    return wrap_new(state, C_IntersectionFunctionTable,
                    mtl_compute_pipeline_state_new_intersection_function_table(
                        self->native, &(MTLIntersectionFunctionTableDescriptor){a[0].u}));
}

static const Method *const ComputePipelineState_methods[] = {
    &ComputePipelineState_function_handle, &ComputePipelineState_new_visible_function_table,
    &ComputePipelineState_new_intersection_function_table, NULL};
static const Method *const *const ComputePipelineState_more[] = {compute_pipeline_metal4_methods,
                                                                 NULL};
DEFINE_CLASS(ComputePipelineState, "A kernel compiled for the device.",
             .methods = ComputePipelineState_methods, .more = ComputePipelineState_more,
             .props = ComputePipelineState_props);

// ---- ComputeCommandEncoder: state ----

#define COMPUTE_COMMAND_ENCODER_PROPS(RO, RW)                                                      \
    RO(ComputeCommandEncoder, dispatch_type, "DispatchType", "Serial or concurrent.",              \
       from_enum(state, E_DispatchType, mtl_compute_command_encoder_dispatch_type(self->native)))  \
    DEVICE(RO, ComputeCommandEncoder, compute_command_encoder)                                     \
    LABEL(RW, ComputeCommandEncoder, compute_command_encoder)
PROPS(ComputeCommandEncoder, COMPUTE_COMMAND_ENCODER_PROPS);

// PyMetal accepts index 31 and sampler 16, one more than Metal has; they bind nothing.
#define BUFFER_INDICES 31
#define SAMPLER_INDICES 16

METHOD(ComputeCommandEncoder, set_compute_pipeline_state, "None", "The kernel to dispatch.",
       OBJECT("state", ComputePipelineState)) {
    mtl_compute_command_encoder_set_compute_pipeline_state(self->native, a[0].p);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_buffer, "None", "Binds a buffer from an offset on.",
       OBJECT("buffer", Buffer), SIZE("offset"), U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_buffer", "buffer", a[2].u, 31)) return NULL;
    if (a[2].u < BUFFER_INDICES)
        mtl_compute_command_encoder_set_buffer(self->native, a[0].p, a[1].u, a[2].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_buffer_offset, "None", "A new offset for a bound buffer.",
       SIZE("offset"), U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_buffer_offset", "buffer", a[1].u, 31))
        return NULL;
    if (a[1].u < BUFFER_INDICES)
        mtl_compute_command_encoder_set_buffer_offset(self->native, a[0].u, a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_bytes, "None", "Copies bytes now and binds the copy.",
       BYTES("data"), U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_bytes", "buffer", a[1].u, 31)) return NULL;
    if (a[1].u >= BUFFER_INDICES) return none(state);
    if (a[0].n <= 4096) {
        mtl_compute_command_encoder_set_bytes(self->native, a[0].s, (size_t)a[0].n, a[1].u);
        return none(state);
    }
    // More than Metal's limit, which PyMetal does not enforce: a buffer of its own.
    MTLBuffer *copy = mtl_device_new_buffer_with_bytes(
        mtl_compute_command_encoder_device(self->native), a[0].s, (size_t)a[0].n, 0);
    if (copy) mtl_compute_command_encoder_set_buffer(self->native, copy, 0, a[1].u);
    mtl_release(copy);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_texture, "None", "Binds a texture.", OBJECT("texture", Texture),
       U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_texture", "texture", a[1].u, 31))
        return NULL;
    mtl_compute_command_encoder_set_texture(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_sampler_state, "None", "Binds a sampler.",
       OBJECT("sampler", SamplerState), U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_sampler_state", "sampler", a[1].u, 16))
        return NULL;
    if (a[1].u < SAMPLER_INDICES)
        mtl_compute_command_encoder_set_sampler_state(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_threadgroup_memory_length, "None",
       "Bytes for a threadgroup parameter, a multiple of 16.", SIZE("length"), U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_threadgroup_memory_length",
                     "threadgroup memory", a[1].u, 31))
        return NULL;
    if (a[1].u < BUFFER_INDICES)
        mtl_compute_command_encoder_set_threadgroup_memory_length(self->native, a[0].u, a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_visible_function_table, "None", "Binds a function table.",
       OBJECT("table", VisibleFunctionTable), U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_visible_function_table", "buffer", a[1].u,
                     31))
        return NULL;
    if (a[1].u < BUFFER_INDICES)
        mtl_compute_command_encoder_set_visible_function_table(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_acceleration_structure, "None",
       "Binds an acceleration structure at an index of buffers.",
       OBJECT("structure", AccelerationStructure), U32("index")) {
    mtl_compute_command_encoder_set_acceleration_structure(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_intersection_function_table, "None",
       "Binds a table of intersection functions at an index of buffers.",
       OBJECT("table", IntersectionFunctionTable), U32("index")) {
    mtl_compute_command_encoder_set_intersection_function_table(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, set_imageblock_width, "None",
       "Pixels of the imageblock of kernels that have one.", SIZE("width"), SIZE("height")) {
    mtl_compute_command_encoder_set_imageblock_width(self->native, a[0].u, a[1].u);
    return none(state);
}

// ---- Resources behind pointers ----

METHOD(ComputeCommandEncoder, use_resource, "None",
       "Says that kernels reach a resource through pointers, and whether they write it.",
       ANY("resource"), U32("usage")) {
    MTLResource *resource = to_resource(state, a[0].py, "use_resource");
    if (!resource) return NULL;
    mtl_compute_command_encoder_use_resource(self->native, resource, (MTLResourceUsage)a[1].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, use_heap, "None",
       "Says that kernels read resources of a heap through pointers.", OBJECT("heap", Heap)) {
    mtl_compute_command_encoder_use_heap(self->native, a[0].p);
    return none(state);
}

// ---- Order ----

METHOD(ComputeCommandEncoder, update_fence, "None",
       "The fence stands behind what was encoded so far.", OBJECT("fence", Fence)) {
    mtl_compute_command_encoder_update_fence(self->native, a[0].p);
    return none(state);
}

METHOD(ComputeCommandEncoder, wait_for_fence, "None",
       "What is encoded from here on runs after the fence's last update.", OBJECT("fence", Fence)) {
    mtl_compute_command_encoder_wait_for_fence(self->native, a[0].p);
    return none(state);
}

METHOD(ComputeCommandEncoder, memory_barrier_with_scope, "None",
       "Later dispatches of a concurrent encoder see what earlier ones wrote.", U32("scope")) {
    mtl_compute_command_encoder_memory_barrier_with_scope(self->native, (MTLBarrierScope)a[0].u);
    return none(state);
}

METHOD(ComputeCommandEncoder, memory_barrier_with_resources, "None",
       "The same for a list of resources.", ANY("resources")) {
    PyObject *tuple = PySequence_Tuple(a[0].py);
    if (!tuple) return NULL;
    size_t n = (size_t)PyTuple_Size(tuple);
    MTLResource **list = calloc(n + 1, sizeof *list);
    bool good = list != NULL;
    for (size_t i = 0; good && i < n; i++) {
        list[i] = to_resource(state, PyTuple_GetItem(tuple, (Py_ssize_t)i),
                              "memory_barrier_with_resources");
        good = list[i] != NULL;
    }
    if (good) mtl_compute_command_encoder_memory_barrier_with_resources(self->native, list, n);
    if (!list) PyErr_NoMemory();
    free(list);
    Py_DECREF(tuple);
    return good ? none(state) : NULL;
}

// ---- Dispatches ----

static bool all_positive(const Arg *a) { return a[0].u && a[1].u && a[2].u; }

#define SIX(a)                                                                                     \
    (MTLSize){a[0].u, a[1].u, a[2].u}, (MTLSize) { a[3].u, a[4].u, a[5].u }

METHOD(ComputeCommandEncoder, dispatch_threadgroups, "None", "Runs a grid of whole threadgroups.",
       U32("threadgroups_x"), U32("threadgroups_y"), U32("threadgroups_z"), U32("threads_x"),
       U32("threads_y"), U32("threads_z")) {
    const char *name = "ComputeCommandEncoder.dispatch_threadgroups";
    if (!all_positive(a))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Threadgroup grid dimensions must be greater than 0", name);
    if (!all_positive(a + 3))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Threads per threadgroup dimensions must be greater than 0", name);
    mtl_compute_command_encoder_dispatch_threadgroups(self->native, SIX(a));
    return none(state);
}

METHOD(ComputeCommandEncoder, dispatch_threads, "None",
       "Runs a grid of threads; threadgroups at its far edges are cut to fit.", U32("threads_x"),
       U32("threads_y"), U32("threads_z"), U32("threads_per_group_x"), U32("threads_per_group_y"),
       U32("threads_per_group_z")) {
    const char *name = "ComputeCommandEncoder.dispatch_threads";
    if (!all_positive(a))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Thread grid dimensions must be greater than 0", name);
    if (!all_positive(a + 3))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Threads per threadgroup dimensions must be greater than 0", name);
    mtl_compute_command_encoder_dispatch_threads(self->native, SIX(a));
    return none(state);
}

METHOD(ComputeCommandEncoder, dispatch_threadgroups_indirect, "None",
       "A grid whose three uint32 sizes are read from a buffer when the commands run.",
       OBJECT("indirect_buffer", Buffer), SIZE("indirect_buffer_offset"), U32("threads_x"),
       U32("threads_y"), U32("threads_z")) {
    mtl_compute_command_encoder_dispatch_threadgroups_indirect(self->native, a[0].p, a[1].u,
                                                               (MTLSize){a[2].u, a[3].u, a[4].u});
    return none(state);
}

METHOD(ComputeCommandEncoder, execute_commands_in_buffer, "None",
       "Runs commands of an indirect command buffer.",
       OBJECT("indirect_command_buffer", IndirectCommandBuffer), OBJECT("range", Range)) {
    mtl_compute_command_encoder_execute_commands_in_buffer(self->native, a[0].p, to_range(a[1].o));
    return none(state);
}

// ---- Debugging, end ----

DEBUG_SIGNPOST(ComputeCommandEncoder, compute_command_encoder)

DEBUG_GROUPS(ComputeCommandEncoder, compute_command_encoder)

METHOD0(ComputeCommandEncoder, end_encoding, "None",
        "Closes the encoder. Before the next one and before commit.") {
    (void)a;
    mtl_compute_command_encoder_end_encoding(self->native);
    return none(state);
}

static const Method *const ComputeCommandEncoder_methods[] = {
    &ComputeCommandEncoder_set_compute_pipeline_state,
    &ComputeCommandEncoder_set_buffer,
    &ComputeCommandEncoder_set_buffer_offset,
    &ComputeCommandEncoder_set_bytes,
    &ComputeCommandEncoder_set_texture,
    &ComputeCommandEncoder_set_sampler_state,
    &ComputeCommandEncoder_set_threadgroup_memory_length,
    &ComputeCommandEncoder_set_visible_function_table,
    &ComputeCommandEncoder_set_acceleration_structure,
    &ComputeCommandEncoder_set_intersection_function_table,
    &ComputeCommandEncoder_set_imageblock_width,
    &ComputeCommandEncoder_use_resource,
    &ComputeCommandEncoder_use_heap,
    &ComputeCommandEncoder_update_fence,
    &ComputeCommandEncoder_wait_for_fence,
    &ComputeCommandEncoder_memory_barrier_with_scope,
    &ComputeCommandEncoder_memory_barrier_with_resources,
    &ComputeCommandEncoder_dispatch_threadgroups,
    &ComputeCommandEncoder_dispatch_threads,
    &ComputeCommandEncoder_dispatch_threadgroups_indirect,
    &ComputeCommandEncoder_execute_commands_in_buffer,
    &ComputeCommandEncoder_insert_debug_signpost,
    &ComputeCommandEncoder_push_debug_group,
    &ComputeCommandEncoder_pop_debug_group,
    &ComputeCommandEncoder_end_encoding,
    NULL,
};
DEFINE_CLASS(ComputeCommandEncoder, "Records dispatches of kernels.",
             .methods = ComputeCommandEncoder_methods, .props = ComputeCommandEncoder_props);

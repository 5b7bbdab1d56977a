// SPDX-License-Identifier: Apache-2.0
// indirect.c: indirect command buffers and their compute commands; function handles and tables.
//
// The library's commands do not keep what they use alive. Here they do: a command's object list
// hangs on the IndirectCommandBuffer object, by index.
#include <stdlib.h>
#include "object.h"

static const Field IndirectCommandBufferDescriptor_fields[] = {
    {U32_OR("command_types", 0), "IndirectCommandType bits.", false},
    {BOOL_OR("inherit_buffers", false), "Buffers are those of the encoder.", false},
    {BOOL_OR("inherit_pipeline_state", false), "So is the pipeline.", false},
    {SIZE_OR("max_kernel_buffer_bind_count", 31), "Buffers of a compute command.", false},
    {SIZE_OR("max_kernel_threadgroup_memory_bind_count", 31), "Its threadgroup memories.", false},
    {SIZE_OR("max_vertex_buffer_bind_count", 0), "Vertex buffers of a draw.", false},
    {SIZE_OR("max_fragment_buffer_bind_count", 0), "Fragment buffers of a draw.", false},
    NO_FIELD,
};
DEFINE_CLASS(IndirectCommandBufferDescriptor, "How an indirect command buffer is made.",
             .fields = IndirectCommandBufferDescriptor_fields,
             .factory = "indirect_command_buffer_descriptor");

#define INDIRECT_COMMAND_BUFFER_PROPS(RO, RW)                                                      \
    NUMBER(RO, IndirectCommandBuffer, indirect_command_buffer, size, "The number of commands.")    \
    RO(IndirectCommandBuffer, gpu_resource_id, "int", "What stands for it in argument buffers.",   \
       from_u64(mtl_indirect_command_buffer_gpu_resource_id(self->native).impl))                   \
    DEVICE(RO, IndirectCommandBuffer, indirect_command_buffer)                                     \
    LABEL(RW, IndirectCommandBuffer, indirect_command_buffer)
PROPS(IndirectCommandBuffer, INDIRECT_COMMAND_BUFFER_PROPS);

METHOD(IndirectCommandBuffer, indirect_compute_command_at_index, "IndirectComputeCommand | None",
       "A command, to encode.", SIZE("index")) {
    return wrap_owned_by(
        state, C_IndirectComputeCommand,
        mtl_indirect_command_buffer_indirect_compute_command_at_index(self->native, a[0].u), self);
}

METHOD(IndirectCommandBuffer, reset_with_range, "None", "Empties commands.",
       OBJECT("range", Range)) {
    mtl_indirect_command_buffer_reset_with_range(self->native, to_range(a[0].o));
    return none(state);
}

static const Method *const IndirectCommandBuffer_methods[] = {
    &IndirectCommandBuffer_indirect_compute_command_at_index,
    &IndirectCommandBuffer_reset_with_range, NULL};
DEFINE_CLASS(IndirectCommandBuffer, "Commands encoded once and executed often.",
             .methods = IndirectCommandBuffer_methods, .props = IndirectCommandBuffer_props);

// ---- IndirectComputeCommand ----

// Keeps an object alive as long as the indirect command buffer: in a dict on its owner field.
static bool keep(Object *self, const char *what, uint64_t index, PyObject *o) {
    Object *buffer = (Object *)self->owner;
    if (!buffer) return true;
    if (!buffer->owner && !(buffer->owner = PyDict_New())) return false;
    PyObject *key =
        PyUnicode_FromFormat("%p %s %llu", self->native, what, (unsigned long long)index);
    int rc = key ? PyDict_SetItem(buffer->owner, key, o) : -1;
    Py_XDECREF(key);
    return rc == 0;
}

METHOD(IndirectComputeCommand, set_compute_pipeline_state, "None",
       "The kernel; made with support_indirect_command_buffers.",
       OBJECT("state", ComputePipelineState)) {
    if (!keep(self, "pipeline", 0, a[0].py)) return NULL;
    mtl_indirect_compute_command_set_compute_pipeline_state(self->native, a[0].p);
    return none(state);
}

METHOD(IndirectComputeCommand, set_kernel_buffer, "None", "Binds a buffer.",
       OBJECT("buffer", Buffer), SIZE("offset"), U32("index")) {
    if (!keep(self, "buffer", a[2].u, a[0].py)) return NULL;
    mtl_indirect_compute_command_set_kernel_buffer(self->native, a[0].p, a[1].u, a[2].u);
    return none(state);
}

METHOD(IndirectComputeCommand, set_threadgroup_memory_length, "None",
       "Bytes for a threadgroup parameter.", SIZE("length"), U32("index")) {
    mtl_indirect_compute_command_set_threadgroup_memory_length(self->native, a[0].u, a[1].u);
    return none(state);
}

#define GRID_ARGS(name)                                                                            \
    U32(name "_x"), U32(name "_y"), U32(name "_z"), U32("threads_per_group_x"),                    \
        U32("threads_per_group_y"), U32("threads_per_group_z")
#define SIX(a)                                                                                     \
    (MTLSize){a[0].u, a[1].u, a[2].u}, (MTLSize) { a[3].u, a[4].u, a[5].u }

METHOD(IndirectComputeCommand, concurrent_dispatch_threadgroups, "None",
       "A grid of whole threadgroups.", GRID_ARGS("threadgroups")) {
    mtl_indirect_compute_command_concurrent_dispatch_threadgroups(self->native, SIX(a));
    return none(state);
}

METHOD(IndirectComputeCommand, concurrent_dispatch_threads, "None", "A grid of threads.",
       GRID_ARGS("threads")) {
    mtl_indirect_compute_command_concurrent_dispatch_threads(self->native, SIX(a));
    return none(state);
}

METHOD0(IndirectComputeCommand, set_barrier, "None", "The commands before it end first.") {
    (void)a;
    mtl_indirect_compute_command_set_barrier(self->native);
    return none(state);
}

METHOD0(IndirectComputeCommand, clear_barrier, "None", "They need not.") {
    (void)a;
    mtl_indirect_compute_command_clear_barrier(self->native);
    return none(state);
}

METHOD0(IndirectComputeCommand, reset, "None", "Makes it do nothing.") {
    (void)a;
    mtl_indirect_compute_command_reset(self->native);
    return none(state);
}

static const Method *const IndirectComputeCommand_methods[] = {
    &IndirectComputeCommand_set_compute_pipeline_state,
    &IndirectComputeCommand_set_kernel_buffer,
    &IndirectComputeCommand_set_threadgroup_memory_length,
    &IndirectComputeCommand_concurrent_dispatch_threadgroups,
    &IndirectComputeCommand_concurrent_dispatch_threads,
    &IndirectComputeCommand_set_barrier,
    &IndirectComputeCommand_clear_barrier,
    &IndirectComputeCommand_reset,
    NULL,
};
DEFINE_CLASS(IndirectComputeCommand, "A dispatch in an indirect command buffer.",
             .methods = IndirectComputeCommand_methods);

// ---- Function handles and tables ----

#define FUNCTION_HANDLE_PROPS(RO, RW)                                                              \
    RO(FunctionHandle, name, "str", "The function's name.",                                        \
       from_str(mtl_function_handle_name(self->native)))                                           \
    RO(FunctionHandle, function_type, "FunctionType", "What kind of function it is.",              \
       from_enum(state, E_FunctionType, mtl_function_handle_function_type(self->native)))          \
    DEVICE(RO, FunctionHandle, function_handle)
PROPS(FunctionHandle, FUNCTION_HANDLE_PROPS);
DEFINE_CLASS(FunctionHandle, "A visible function in a pipeline.", .props = FunctionHandle_props);

#define VISIBLE_FUNCTION_TABLE_PROPS(RO, RW)                                                       \
    NUMBER(RO, VisibleFunctionTable, visible_function_table, function_count, "Entries.")           \
    RO(VisibleFunctionTable, gpu_resource_id, "int", "What stands for it in argument buffers.",    \
       from_u64(mtl_visible_function_table_gpu_resource_id(self->native).impl))                    \
    DEVICE(RO, VisibleFunctionTable, visible_function_table)                                       \
    LABEL(RW, VisibleFunctionTable, visible_function_table)
PROPS(VisibleFunctionTable, VISIBLE_FUNCTION_TABLE_PROPS);

METHOD(VisibleFunctionTable, set_function, "None", "Fills in an entry; None empties it.",
       NULLABLE("function", FunctionHandle), SIZE("index")) {
    mtl_visible_function_table_set_function(self->native, a[0].p, a[1].u);
    return none(state);
}

static const Method *const VisibleFunctionTable_methods[] = {&VisibleFunctionTable_set_function,
                                                             NULL};
DEFINE_CLASS(VisibleFunctionTable, "Functions that kernels call by number.",
             .methods = VisibleFunctionTable_methods, .props = VisibleFunctionTable_props);

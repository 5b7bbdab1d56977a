// SPDX-License-Identifier: Apache-2.0
// ml_pipeline.c: MTL4MachineLearningPipelineState: a network with all its sizes, and the kernels
// its steps need.
#include <string.h>
#include "runtime/metal4/compiler_int.h"
#include "runtime/metal4/ml_int.h"
#include "runtime/object/validation.h"
#include "runtime/program/library.h"

// ---- Pipelines ----

static void pipeline_destroy(void *self) {
    MTL4MachineLearningPipelineState *state = self;
    for (size_t i = 0; state->constants && i < state->network->n_values; i++)
        mtl_release(state->constants[i]);
    rt_free(state->constants);
    if (state->network) network_plan_free(state->network, &state->plan);
    for (int i = 0; i < NET_N_KERNELS; i++) mtl_release(state->kernels[i]);
    rt_free(state->tensors);
    rt_free(state->bindings);
    rt_label_free(&state->label);
    mtl_release(state->library);
    mtl_release(state->device);
    rt_free(state);
}

RT_CLASS rt_ml_pipeline_class = {.name = "MTL4MachineLearningPipelineState",
                                 .destroy = pipeline_destroy,
                                 .label_at = offsetof(MTL4MachineLearningPipelineState, label)};

static void *reflection_owner(const void *self) {
    return ((const MTL4MachineLearningPipelineReflection *)self)->state;
}

static RT_CLASS reflection_class = {.name = "MTL4MachineLearningPipelineReflection",
                                    .owner = reflection_owner};

static bool invalid(MTLError **error, const char *call, const char *what) {
    rt_error_set(error, rt_error_new(MTLComputePipelineErrorDomain,
                                     MTLComputePipelineErrorInvalidInput, "%s: %s.", call, what));
    return false;
}

// The network behind the descriptor.
static MTLLibrary *network_of(MTLDevice *device, const MTL4MachineLearningPipelineDescriptor *d,
                              const char *call, MTLError **error) {
    const MTL4FunctionDescriptor *f = d->machine_learning_function_descriptor;
    if (!f) {
        rt_misuse(device, RT_RULE_null_argument, call, "machine_learning_function_descriptor");
        invalid(error, call, "machine_learning_function_descriptor is NULL");
        return NULL;
    }
    const MTL4LibraryFunctionDescriptor *of =
        (const MTL4LibraryFunctionDescriptor *)(const void *)f;
    if (f->kind != MTL4FunctionDescriptorKindLibrary || !of->name ||
        !rt_is(of->library, &rt_library_class) || !of->library->network ||
        strcmp(of->library->network->name, of->name) != 0) {
        invalid(error, call, "the function descriptor is not that of a library's network");
        return NULL;
    }
    return of->library;
}

static MTLComputePipelineState *kernel(MTLDevice *device, MTLLibrary *library, unsigned which,
                                       MTLError **error) {
    MTLFunction *function = mtl_library_new_function(library, network_kernel_name(which));
    MTLComputePipelineState *state = NULL;
    // Not validated: constants and intermediates are no resources, so that a check would take every
    // access to them for one outside. The sizes are checked when the network is planned.
    if (function)
        state = mtl_device_new_compute_pipeline_state_with_descriptor(
            device,
            &(MTLComputePipelineDescriptor){.compute_function = function,
                                            .shader_validation = MTLShaderValidationDisabled},
            MTLPipelineOptionNone, NULL, error);
    else
        rt_error_set(error, NULL);
    mtl_release(function);
    return state;
}

static bool make_kernels(MTL4MachineLearningPipelineState *state, MTLError **error) {
    bool needed[NET_N_KERNELS];
    network_kernels_needed(state->network, needed);
    for (unsigned i = 0; i < NET_N_KERNELS; i++)
        if (needed[i] && !(state->kernels[i] = kernel(state->device, state->library, i, error)))
            return false;
    return true;
}

static bool list_tensors(MTL4MachineLearningPipelineState *state) {
    const Network *net = state->network;
    state->tensors = rt_alloc((net->n_values + 1) * sizeof *state->tensors);
    if (!state->tensors) return false;
    for (int outputs = 0; outputs < 2; outputs++)
        for (size_t i = 0; i < net->n_values; i++) {
            const NetValue *v = &net->values[i];
            if (outputs ? !v->is_output : v->kind != NET_INPUT) continue;
            state->tensors[state->n_tensors++] = (uint32_t)i;
            state->n_inputs += !outputs;
        }
    return true;
}

// Constants are the host's; a device with memory of its own gets them there. False: no memory.
static bool show_constants(MTL4MachineLearningPipelineState *state) {
    const Network *net = state->network;
    if (!state->device->table->memory_make) return true;
    state->constants = rt_alloc((net->n_values + 1) * sizeof *state->constants);
    if (!state->constants) return false;
    for (size_t i = 0; i < net->n_values; i++) {
        NetPlace *place = &state->plan.places[i];
        if (place->where != NET_IN_CONSTANT) continue;
        size_t n_bytes = network_type_bytes(net->type);
        for (uint32_t k = 0; k < net->values[i].shape.rank; k++)
            n_bytes *= (size_t)net->values[i].shape.n[k];
        MTLBuffer *b = mtl_device_new_buffer_with_bytes(state->device, place->data, n_bytes, 0);
        if (!b) return false;
        state->constants[i] = b;
        place->data = b->memory;
    }
    return true;
}

// Inputs and outputs as bindings, once their sizes are known. False: no memory.
static bool make_bindings(MTL4MachineLearningPipelineState *state) {
    MTL4MachineLearningPipelineReflection *r = &state->reflection;
    state->bindings = rt_alloc((state->n_tensors + 1) * sizeof *state->bindings);
    if (!state->bindings) return false;
    for (size_t i = 0; i < state->n_tensors; i++) {
        NetBinding *b = &state->bindings[i];
        *b = (NetBinding){
            .arg = {.name = state->network->values[state->tensors[i]].name,
                    .kind = RF_ARG_TENSOR,
                    .access =
                        (uint8_t)mtl4_machine_learning_pipeline_reflection_binding_access(r, i),
                    .index =
                        (uint32_t)mtl4_machine_learning_pipeline_reflection_binding_index(r, i),
                    .count = 1,
                    .type = UINT32_MAX},
            .tensor = {mtl4_machine_learning_pipeline_reflection_binding_dimensions(r, i),
                       mtl4_machine_learning_pipeline_reflection_binding_tensor_data_type(r, i)}};
        rt_binding_init(&b->binding, state, state->library, &b->arg, true);
        b->binding.tensor = &b->tensor;
    }
    return true;
}

MTLBinding *mtl4_machine_learning_pipeline_reflection_binding(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i) {
    if (!reflection || i >= reflection->state->n_tensors) return NULL;
    return &reflection->state->bindings[i].binding;
}

static MTL4MachineLearningPipelineState *create(MTLDevice *device,
                                                const MTL4MachineLearningPipelineDescriptor *d,
                                                const char *call, MTLError **error) {
    MTLLibrary *library = network_of(device, d, call, error);
    if (!library) return NULL;
    char message[JSON_MESSAGE_BYTES] = "";
    MTL4MachineLearningPipelineState *state = rt_new(&rt_ml_pipeline_class, sizeof *state);
    if (!state) goto no_memory;
    state->device = mtl_retain(device);
    state->library = mtl_retain(library);
    state->network = library->network;
    state->reflection = (MTL4MachineLearningPipelineReflection){{&reflection_class, 0}, state};
    rt_label_set(&state->label, d->label);
    if (!list_tensors(state)) goto no_memory;
    if (!network_plan(state->network, d, &state->plan, message)) {
        if (!*message) goto no_memory;
        invalid(error, call, message);
        mtl_release(state);
        return NULL;
    }
    if (!make_bindings(state) || !show_constants(state)) goto no_memory;
    if (make_kernels(state, error)) return state;
    mtl_release(state);
    return NULL;

no_memory:
    rt_error_set(error, NULL);
    mtl_release(state);
    return NULL;
}

MTL4MachineLearningPipelineState *mtl4_compiler_new_machine_learning_pipeline_state(
    MTL4Compiler *compiler, const MTL4MachineLearningPipelineDescriptor *descriptor,
    MTLError **error) {
    if (error) *error = NULL;
    if (!rt_compiler_given(compiler, descriptor, "descriptor", __func__)) {
        invalid(error, __func__, "a required argument is NULL");
        return NULL;
    }
    return create(compiler->device, descriptor, __func__, error);
}

// ---- In the background ----

typedef struct Job {
    MTLDevice *device; // retained
    MTLLibrary *library;
    char *name, *label;
    MTL4MachineLearningInputDimensions *dimensions;
    size_t n_dimensions;
    MTL4NewMachineLearningPipelineStateCompletionHandler handler;
    void *context;
    MTLError *error; // found before it began
} Job;

static void job_free(void *context) {
    Job *job = context;
    mtl_release(job->device);
    mtl_release(job->library);
    mtl_release(job->error);
    rt_free(job->name);
    rt_free(job->label);
    rt_free(job->dimensions);
    rt_free(job);
}

static void job_run(void *context) {
    static const char call[] = "mtl4_compiler_new_machine_learning_pipeline_state_async";
    Job *job = context;
    MTL4MachineLearningPipelineState *state = NULL;
    if (!job->error) {
        const MTL4LibraryFunctionDescriptor f = {.name = job->name, .library = job->library};
        const MTL4MachineLearningPipelineDescriptor d = {
            .label = job->label,
            .machine_learning_function_descriptor = &f.base,
            .input_dimensions = job->dimensions,
            .input_dimension_count = job->n_dimensions};
        state = create(job->device, &d, call, &job->error);
    }
    job->handler(state, state ? NULL : job->error, job->context);
    mtl_release(state);
}

MTL4CompilerTask *mtl4_compiler_new_machine_learning_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4MachineLearningPipelineDescriptor *descriptor,
    MTL4NewMachineLearningPipelineStateCompletionHandler handler, void *context) {
    if (!rt_compiler_usable_by(compiler, descriptor, "descriptor", handler, __func__)) return NULL;
    Job *job = rt_alloc(sizeof *job);
    if (!job) goto no_memory;
    job->device = mtl_retain(compiler->device);
    job->handler = handler;
    job->context = context;
    job->library = mtl_retain(network_of(compiler->device, descriptor, __func__, &job->error));
    job->name = rt_strdup(job->library ? job->library->network->name : "");
    job->label = rt_strdup(descriptor->label);
    job->n_dimensions = descriptor->input_dimensions ? descriptor->input_dimension_count : 0;
    job->dimensions = rt_alloc((job->n_dimensions + 1) * sizeof *job->dimensions);
    if (!job->name || !job->label || !job->dimensions) goto no_memory;
    if (job->n_dimensions)
        memcpy(job->dimensions, descriptor->input_dimensions,
               job->n_dimensions * sizeof *job->dimensions);
    return rt_task_run(compiler, job_run, job_free, job);

no_memory:
    if (job) job_free(job);
    handler(NULL, rt_error_no_memory(), context);
    return NULL;
}

// ---- Properties ----

static const NetValue *binding(const MTL4MachineLearningPipelineReflection *r, size_t i) {
    if (!r || i >= r->state->n_tensors) return NULL;
    return &r->state->network->values[r->state->tensors[i]];
}

const char *mtl4_machine_learning_pipeline_reflection_binding_name(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i) {
    const NetValue *v = binding(reflection, i);
    return v ? v->name : NULL;
}

size_t mtl4_machine_learning_pipeline_reflection_binding_index(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i) {
    const NetValue *v = binding(reflection, i);
    return !v ? 0 : v->is_output ? v->out_index : v->index;
}

MTLBindingAccess mtl4_machine_learning_pipeline_reflection_binding_access(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i) {
    const NetValue *v = binding(reflection, i);
    return v && v->is_output ? MTLBindingAccessWriteOnly : MTLBindingAccessReadOnly;
}

MTLTensorExtents mtl4_machine_learning_pipeline_reflection_binding_dimensions(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i) {
    MTLTensorExtents e = {0};
    if (!binding(reflection, i)) return e;
    const NetShape *s = &reflection->state->plan.shapes[reflection->state->tensors[i]];
    e.rank = s->rank;
    for (uint32_t k = 0; k < s->rank; k++) e.extents[k] = (ptrdiff_t)s->n[k];
    return e;
}

MTLTensorDataType mtl4_machine_learning_pipeline_reflection_binding_tensor_data_type(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i) {
    return binding(reflection, i) ? reflection->state->network->type : MTLTensorDataTypeNone;
}

#include "accessors/metal4/ml_pipeline.inc" // plain accessors, from the table

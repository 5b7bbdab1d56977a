// SPDX-License-Identifier: Apache-2.0
// user_kernel.c: operations from the user's own MSL. A call makes its inputs, checks them against
// the pipeline's reflection, and is encoded at once: it runs in order with everything else.
#include "tensor/user_kernel.h"
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"

// ---- Kernels ----

IgUserKernel *ig_user_kernel_alloc(IgDevice *device, const char *name, MTLError **error) {
    IgUserKernel *k = calloc(1, sizeof *k);
    if (!k || !(k->name = strdup(name))) {
        free(k);
        ig_fail_no_memory(error);
        return NULL;
    }
    atomic_init(&k->refs, 1);
    k->device = device;
    atomic_fetch_add(&device->refs, 1);
    return k;
}

IgUserKernel *ig_kernel_new(IgDevice *device, const char *source, const char *name,
                            MTLError **error) {
    if (!device || !source || !name) {
        ig_fail(error, device ? IgErrorArgument : IgErrorDevice, "ig_kernel_new: no %s",
                !device   ? "device"
                : !source ? "source"
                          : "name");
        return NULL;
    }
    MTLError *why = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device->metal, source,
        &(MTLCompileOptions){
            .math_mode_is_set = true, .math_mode = MTLMathModeSafe, .source_name = name},
        &why);
    if (library) { // then it holds warnings
        mtl_release(why);
        why = NULL;
    }
    MTLFunction *f = library ? mtl_library_new_function(library, name) : NULL;
    MTLComputePipelineState *pipeline = NULL;
    if (f)
        pipeline = mtl_device_new_compute_pipeline_state_with_reflection(
            device->metal, f, MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo, NULL,
            &why);
    if (!pipeline)
        ig_fail(error, IgErrorCompilation, "ig_kernel_new: '%s': %s", name,
                why       ? mtl_error_localized_description(why)
                : library ? "the source has no such function"
                          : "it does not compile");
    IgUserKernel *k = pipeline ? ig_user_kernel_alloc(device, name, error) : NULL;
    if (k) k->pipeline = mtl_retain(pipeline);
    mtl_release(pipeline);
    mtl_release(why);
    mtl_release(f);
    mtl_release(library);
    return k;
}

IgUserKernel *ig_kernel_retain(IgUserKernel *k) {
    if (k) atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
    return k;
}

void ig_kernel_release(IgUserKernel *k) {
    if (!k || atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) != 1) return;
    if (k->release) k->release(k->context);
    ig_user_elementwise_free(k->elementwise);
    mtl_release(k->pipeline);
    ig_device_release(k->device);
    free(k->name);
    free(k);
}

void ig_kernel_set_backward(IgUserKernel *k, IgKernelBackward *backward, void *context,
                            void (*release)(void *context)) {
    if (!k) {
        if (release) release(context);
        return;
    }
    if (k->release) k->release(k->context);
    k->backward = backward;
    k->context = context;
    k->release = release;
}

// ---- Arguments against the source ----

static bool same_type(MTLDataType data_type, IgType type) {
    uint32_t n;
    const NumberType *t = number_of_data_type((uint32_t)data_type, &n);
    if (!t) return true; // structures and what else there is: the user's affair
    bool whole = t->kind == NUMBER_INT || t->kind == NUMBER_UINT || t->kind == NUMBER_BOOL;
    if (!ig_is_float(type)) return whole && t->n_bytes == ig_type_size(type);
    return t->kind == (type == IgFloat16    ? NUMBER_HALF
                       : type == IgBFloat16 ? NUMBER_BFLOAT
                                            : NUMBER_FLOAT);
}

static bool check_binding(const IgUserKernel *k, const IgKernelCall *call, const MTLBinding *b,
                          MTLError **error) {
    int at = (int)mtl_binding_index(b), n = call->n_inputs;
    const char *name = mtl_binding_name(b);
    if (mtl_binding_type(b) != MTLBindingTypeBuffer)
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': argument '%s' is no buffer; kernels on tensors have no others",
                       k->name, name);
    if (at > n + call->n_scalars)
        return !mtl_binding_is_used(b) ||
               ig_fail(error, IgErrorArgument,
                       "kernel '%s': buffer %d, '%s', is not there: %d inputs, the output, %d "
                       "scalars",
                       k->name, at, name, n, call->n_scalars);
    IgType type = at < n    ? ig_type(call->inputs[at])
                  : at == n ? call->type
                            : call->scalars[at - n - 1].type;
    if (!same_type(mtl_binding_buffer_data_type(b), type))
        return ig_fail(error, IgErrorType,
                       "kernel '%s': buffer %d, '%s', is %s in the source, "
                       "but the %s is %s",
                       k->name, at, name, mtl_binding_type_name(b),
                       at < n    ? "input"
                       : at == n ? "output"
                                 : "scalar",
                       ig_type_name(type));
    bool writes = mtl_binding_access(b) != MTLBindingAccessReadOnly;
    if (at < n && writes)
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': buffer %d, '%s', is an input and must "
                       "be const in the source",
                       k->name, at, name);
    if (at == n && !writes)
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': buffer %d, '%s', is the output, but const in the source",
                       k->name, at, name);
    if (at > n && mtl_binding_buffer_data_size(b) > ig_type_size(type))
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': buffer %d, '%s', takes %zu bytes, a scalar of %s has %zu",
                       k->name, at, name, mtl_binding_buffer_data_size(b), ig_type_name(type),
                       ig_type_size(type));
    return true;
}

static bool check_call(const IgUserKernel *k, const IgKernelCall *call, MTLError **error) {
    if (call->n_inputs < 0 || call->n_inputs > IG_KERNEL_INPUTS || call->n_scalars < 0 ||
        call->n_scalars > IG_KERNEL_SCALARS || (call->n_inputs && !call->inputs) ||
        (call->n_scalars && !call->scalars))
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': %d inputs (0 to %d) and %d scalars (0 to %d)", k->name,
                       call->n_inputs, IG_KERNEL_INPUTS, call->n_scalars, IG_KERNEL_SCALARS);
    if (!ig_is_type(call->type))
        return ig_fail(error, IgErrorType, "kernel '%s': no such type: %d", k->name, call->type);
    for (int i = 0; i < call->n_scalars; i++)
        if (!ig_is_type(call->scalars[i].type))
            return ig_fail(error, IgErrorType, "kernel '%s': no such type: %d", k->name,
                           call->scalars[i].type);
    for (int i = 0; i < call->n_inputs; i++) {
        if (!call->inputs[i]) return false; // it has its error already
        if (ig_device(call->inputs[i]) != k->device)
            return ig_fail(error, IgErrorDevice, "kernel '%s': input %d is on another device",
                           k->name, i);
    }
    return true;
}

static bool check_bindings(const IgUserKernel *k, const IgKernelCall *call, MTLError **error) {
    MTLComputePipelineReflection *r = mtl_compute_pipeline_state_reflection(k->pipeline);
    for (size_t i = 0; i < mtl_compute_pipeline_reflection_binding_count(r); i++)
        if (!check_binding(k, call, mtl_compute_pipeline_reflection_binding(r, i), error))
            return false;
    return true;
}

// ---- Running ----

void ig_user_grid(const IgUserKernel *k, int64_t n, MTLSize *threads, MTLSize *group) {
    size_t most = k->pipeline
                      ? mtl_compute_pipeline_state_max_total_threads_per_threadgroup(k->pipeline)
                      : 256;
    if (most > 256) most = 256;
    *threads = mtl_size_make((size_t)n, 1, 1);
    *group = mtl_size_make((size_t)n < most ? (size_t)n : most, 1, 1);
}

static bool choose_grid(const IgUserKernel *k, const IgKernelCall *call, int64_t n,
                        MTLSize *threads, MTLSize *group, MTLError **error) {
    const MTLSize *t = &call->threads, *g = &call->threadgroup;
    ig_user_grid(k, n, threads, group);
    if (t->width && t->height && t->depth) *threads = *t;
    if (t->width && !g->width) {
        size_t x = threads->width < group->width ? threads->width : group->width;
        *group = mtl_size_make(x ? x : 1, 1, 1);
    }
    if (g->width && g->height && g->depth) *group = *g;
    size_t most = mtl_compute_pipeline_state_max_total_threads_per_threadgroup(k->pipeline);
    if (group->width <= most && group->height <= most && group->depth <= most &&
        group->width * group->height * group->depth <= most)
        return true;
    return ig_fail(error, IgErrorArgument,
                   "kernel '%s': a threadgroup of %zu x %zu x %zu, at most %zu threads are allowed",
                   k->name, group->width, group->height, group->depth, most);
}

// With the lock held; inputs are contiguous.
static bool encode(IgUserKernel *k, const IgKernelCall *call, IgTensor *const *inputs,
                   IgData *result, MTLError **error) {
    MTLSize threads, group;
    for (int i = 0; i < call->n_inputs; i++)
        if (!ig_data_make(inputs[i]->view.data, error)) return false;
    if (!ig_data_allocate(result, error)) return false;
    if (result->n == 0 && !call->threads.width) return true;
    if (!choose_grid(k, call, result->n, &threads, &group, error)) return false;
    MTLComputeCommandEncoder *e = ig_encode_start(k->device, error);
    if (!e) return false;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, k->pipeline);
    size_t at = 0;
    for (int i = 0; i < call->n_inputs; i++) {
        const IgView *v = &inputs[i]->view;
        mtl_compute_command_encoder_set_buffer(
            e, v->data->memory->buffer, (size_t)v->offset * ig_type_size(v->data->type), at++);
        v->data->memory->last_use = k->device->recording;
    }
    mtl_compute_command_encoder_set_buffer(e, result->memory->buffer, 0, at++);
    result->memory->last_use = k->device->recording;
    for (int i = 0; i < call->n_scalars; i++) {
        unsigned char element[8];
        ig_element_set(call->scalars[i].type, element, 0, call->scalars[i].value);
        mtl_compute_command_encoder_set_bytes(e, element, ig_type_size(call->scalars[i].type),
                                              at++);
    }
    mtl_compute_command_encoder_dispatch_threads(e, threads, group);
    return ig_encode_end(k->device, (uint64_t)threads.width * threads.height * threads.depth,
                         error);
}

static IgTensor *run_kernel(IgUserKernel *k, const IgKernelCall *call, MTLError **error) {
    IgShape shape;
    if (!check_bindings(k, call, error) ||
        !ig_shape_check(k->name, call->rank, call->shape, &shape, error))
        return NULL;
    IgTensor *inputs[IG_KERNEL_INPUTS] = {NULL}, *result = NULL;
    IgData *data = NULL;
    bool ok = true;
    for (int i = 0; ok && i < call->n_inputs; i++)
        ok = (inputs[i] = ig_contiguous(call->inputs[i], error)) != NULL;
    if (ok && !(data = ig_data_new(k->device, call->type, ig_shape_numel(&shape))))
        ok = ig_fail_no_memory(error);
    if (ok) {
        ig_lock(k->device);
        ok = encode(k, call, inputs, data, error);
        ig_unlock(k->device);
    }
    if (ok) result = ig_tensor_new(data, &shape, NULL, 0, error);
    ig_data_release(data);
    for (int i = 0; i < call->n_inputs; i++) ig_drop(inputs[i]);
    return result;
}

// ---- Gradients ----

typedef struct Saved {
    IgUserKernel *kernel;
    int n_inputs, n_scalars;
    IgTensor *inputs[IG_KERNEL_INPUTS];
    IgKernelScalar scalars[IG_KERNEL_SCALARS];
} Saved;

static void drop_saved(void *extra) {
    Saved *s = extra;
    if (!s) return;
    for (int i = 0; i < s->n_inputs; i++) ig_release(s->inputs[i]);
    ig_kernel_release(s->kernel);
    free(s);
}

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    const Saved *s = node->extra;
    IgKernelGradient what = {.n_inputs = s->n_inputs,
                             .inputs = s->inputs,
                             .output = ig_saved_result(node, error),
                             .grad = g,
                             .n_scalars = s->n_scalars,
                             .scalars = s->scalars};
    MTLError *why = NULL;
    if (!what.output) return false;
    for (int i = 0; i < s->n_inputs; i++)
        if (!ig_unchanged(s->kernel->name, s->inputs[i], error)) return false;
    bool ok = s->kernel->backward(s->kernel->context, &what, out, &why);
    for (int i = 0; ok && i < s->n_inputs; i++) {
        IgShape together;
        if (!node->inputs[i] || !out[i]) continue;
        if (!ig_broadcast(s->kernel->name, &out[i]->view.shape, &node->inputs[i]->shape, &together,
                          NULL))
            ok = ig_fail(&why, IgErrorShape,
                         "kernel '%s': a gradient of shape %s for an input of shape %s",
                         s->kernel->name, ig_shape_text(ig_rank(out[i]), ig_shape(out[i])),
                         ig_shape_text(node->inputs[i]->shape.rank, node->inputs[i]->shape.n));
    }
    if (!ok && !why)
        ig_fail(&why, IgErrorGradient, "kernel '%s': its gradient failed", s->kernel->name);
    if (error && why && !*error)
        *error = why;
    else
        mtl_release(why);
    return ok;
}

static IgTensor *record(IgUserKernel *k, const IgKernelCall *call, IgTensor *result,
                        MTLError **error) {
    if (!result || !k->backward || call->n_inputs == 0 || !ig_is_float(call->type) ||
        !ig_grad_enabled_for(call->n_inputs, call->inputs))
        return result;
    Saved *s = calloc(1, sizeof *s);
    IgGradNode *node =
        s ? ig_node_new("ig_kernel_call", rule, call->n_inputs, call->inputs, error) : NULL;
    bool ok = node != NULL;
    if (!s) ig_fail_no_memory(error);
    if (s) s->kernel = ig_kernel_retain(k);
    for (int i = 0; ok && i < call->n_inputs; i++) {
        IgTensor *t = call->inputs[i];
        s->inputs[i] = ig_keep(ig_snapshot(t, t->node, error));
        s->n_inputs += s->inputs[i] != NULL;
        ok = s->inputs[i] != NULL;
    }
    if (ok) {
        s->n_scalars = call->n_scalars;
        for (int i = 0; i < call->n_scalars; i++) s->scalars[i] = call->scalars[i];
        node->extra = s;
        node->drop = drop_saved;
    } else {
        drop_saved(s);
        ig_node_release(node);
        node = NULL;
    }
    return ig_node_attach(result, node, true, error);
}

IgTensor *ig_kernel_call(IgUserKernel *k, const IgKernelCall *call, MTLError **error) {
    if (!k || !call) {
        ig_fail(error, IgErrorArgument, "ig_kernel_call: no %s", k ? "call" : "kernel");
        return NULL;
    }
    if (!check_call(k, call, error)) return NULL;
    IgTensor *result =
        k->elementwise ? ig_user_elementwise(k, call, error) : run_kernel(k, call, error);
    return record(k, call, result, error);
}

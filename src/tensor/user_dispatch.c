// SPDX-License-Identifier: Apache-2.0
// user_dispatch.c: kernels that work on the memory of tensors in place: fused trainers and the like
// that bring functions with constants, structures and a shape of their own. They run in order with
// everything else on the device.
#include "tensor/user_kernel.h"

enum { MAX_ARGUMENTS = 31 };

IgUserKernel *ig_kernel_new_with_function(IgDevice *device, MTLFunction *function,
                                          MTLSize threadgroup, MTLError **error) {
    if (!device || !function) {
        ig_fail(error, device ? IgErrorArgument : IgErrorDevice,
                "ig_kernel_new_with_function: no %s", device ? "function" : "device");
        return NULL;
    }
    MTLError *why = NULL;
    MTLComputePipelineReflection *r = NULL;
    MTLComputePipelineState *pipeline = mtl_device_new_compute_pipeline_state_with_descriptor(
        device->metal,
        &(MTLComputePipelineDescriptor){.label = mtl_function_name(function),
                                        .compute_function = function,
                                        .required_threads_per_threadgroup = threadgroup},
        MTLPipelineOptionBindingInfo, &r, &why);
    if (!pipeline)
        ig_fail(error, IgErrorCompilation, "ig_kernel_new_with_function: '%s': %s",
                mtl_function_name(function),
                why ? mtl_error_localized_description(why) : "it does not compile");
    IgUserKernel *k =
        pipeline ? ig_user_kernel_alloc(device, mtl_function_name(function), error) : NULL;
    for (size_t i = 0; k && i < mtl_compute_pipeline_reflection_binding_count(r); i++) {
        const MTLBinding *b = mtl_compute_pipeline_reflection_binding(r, i);
        if (mtl_binding_type(b) == MTLBindingTypeBuffer &&
            mtl_binding_access(b) != MTLBindingAccessReadOnly &&
            mtl_binding_index(b) < MAX_ARGUMENTS)
            k->writes |= 1u << mtl_binding_index(b);
    }
    if (k) k->pipeline = mtl_retain(pipeline);
    mtl_release(pipeline);
    mtl_release(why);
    return k;
}

// With the lock held. Data that others show, or that waits to be used, must keep its values.
static bool may_write(const IgUserKernel *k, int at, const IgTensor *t, MTLError **error) {
    if (t->node)
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': buffer %d is written, but has a place in a graph of gradients",
                       k->name, at);
    if (atomic_load_explicit(&t->view.data->refs, memory_order_relaxed) != 1)
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': buffer %d is written, but another tensor shows its values, or "
                       "will be made from them",
                       k->name, at);
    return ig_pool_own(k->device, t->view.data, error);
}

static bool check(const IgUserKernel *k, const IgKernelDispatch *d, MTLError **error) {
    const MTLSize *g = &d->threadgroup, *n = &d->threadgroups;
    if (!k->pipeline || d->n_arguments < 0 || d->n_arguments > MAX_ARGUMENTS ||
        (d->n_arguments && !d->arguments))
        return ig_fail(error, IgErrorArgument, "kernel '%s': %s", k->name,
                       k->pipeline ? "0 to 31 arguments" : "it is element-wise");
    size_t most = mtl_compute_pipeline_state_max_total_threads_per_threadgroup(k->pipeline);
    if (!n->width || !n->height || !n->depth || !g->width || !g->height || !g->depth ||
        g->width > most || g->height > most || g->depth > most ||
        g->width * g->height * g->depth > most)
        return ig_fail(error, IgErrorArgument,
                       "kernel '%s': %zu x %zu x %zu threadgroups of %zu x %zu x %zu, 1 to %zu "
                       "threads are allowed",
                       k->name, n->width, n->height, n->depth, g->width, g->height, g->depth, most);
    for (int i = 0; i < d->n_arguments; i++) {
        const IgTensor *t = d->arguments[i].tensor;
        if (!t) continue;
        if (!ig_alive("ig_kernel_dispatch", t, error)) return false;
        size_t n_bytes = (size_t)ig_numel(t) * ig_type_size(ig_type(t));
        if (ig_device(t) != k->device)
            return ig_fail(error, IgErrorDevice, "kernel '%s': buffer %d is on another device",
                           k->name, i);
        if (!ig_view_contiguous(&t->view) || d->arguments[i].offset >= n_bytes)
            return ig_fail(error, IgErrorArgument,
                           "kernel '%s': buffer %d is not contiguous, or byte %zu lies outside",
                           k->name, i, d->arguments[i].offset);
    }
    return true;
}

// With the lock held.
static bool encode(IgUserKernel *k, const IgKernelDispatch *d, MTLError **error) {
    IgDevice *device = k->device;
    for (int i = 0; i < d->n_arguments; i++) {
        IgTensor *t = d->arguments[i].tensor;
        if (t && (!ig_data_make(t->view.data, error) ||
                  ((k->writes >> i & 1) && !may_write(k, i, t, error))))
            return false;
    }
    MTLComputeCommandEncoder *e = ig_encode_start(device, error);
    if (!e) return false;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, k->pipeline);
    for (int i = 0; i < d->n_arguments; i++) {
        if (!d->arguments[i].tensor) continue;
        const IgView *v = &d->arguments[i].tensor->view;
        mtl_compute_command_encoder_set_buffer(
            e, v->data->memory->buffer,
            (size_t)v->offset * ig_type_size(v->data->type) + d->arguments[i].offset, (size_t)i);
        v->data->memory->last_use = device->recording;
        if (k->writes >> i & 1) v->data->written = device->recording;
    }
    if (d->threadgroup_bytes)
        mtl_compute_command_encoder_set_threadgroup_memory_length(e, d->threadgroup_bytes, 0);
    mtl_compute_command_encoder_dispatch_threadgroups(e, d->threadgroups, d->threadgroup);
    return ig_encode_end(device,
                         (uint64_t)d->threadgroups.width * d->threadgroups.height *
                             d->threadgroups.depth * d->threadgroup.width * d->threadgroup.height *
                             d->threadgroup.depth,
                         error);
}

bool ig_kernel_dispatch(IgUserKernel *k, const IgKernelDispatch *d, MTLError **error) {
    if (!k || !d)
        return ig_fail(error, IgErrorArgument, "ig_kernel_dispatch: no %s",
                       k ? "dispatch" : "kernel");
    if (!check(k, d, error)) return false;
    ig_lock(k->device);
    bool ok = encode(k, d, error);
    ig_unlock(k->device);
    return ok;
}

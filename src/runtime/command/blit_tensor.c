// SPDX-License-Identifier: Apache-2.0
// blit_tensor.c: slices of tensors, copied by blit encoders and by Metal 4's compute encoder.
#include "runtime/command/blit.h"
#include "runtime/command/execute.h"
#include "runtime/memory/tensor.h"
#include "runtime/object/validation.h"

typedef struct TensorOp {
    RtOp op;
    MTLTensor *to, *from; // held by the command buffer
    MTLTensorExtents to_origin, from_origin, size;
} TensorOp;

static RtOpResult run_tensor(RtOp *op, RtExecution *x) {
    (void)x;
    const TensorOp *t = (const TensorOp *)(const void *)op;
    rt_tensor_copy_slice(t->to, &t->to_origin, t->from, &t->from_origin, &t->size);
    return RT_OP_DONE;
}

static const RtOpClass tensor_class = {.name = "copy tensor", .run = run_tensor, .by_host = true};

// Does one tensor's slice meet another of its own?
static bool meet(const MTLTensorExtents *a, const MTLTensorExtents *b, const MTLTensorExtents *n) {
    for (size_t i = 0; i < n->rank; i++)
        if (a->extents[i] >= b->extents[i] + n->extents[i] ||
            b->extents[i] >= a->extents[i] + n->extents[i])
            return false;
    return true;
}

static bool valid_slice(const RtSite *site, const MTLTensor *tensor, const MTLTensorExtents *origin,
                        const MTLTensorExtents *size, const char *what) {
    if (!rt_is(tensor, &rt_tensor_class) || !origin || !size) {
        rt_misuse_at(site,
                     tensor && !rt_is(tensor, &rt_tensor_class) ? RT_RULE_wrong_class
                                                                : RT_RULE_null_argument,
                     "%s", what);
        return false;
    }
    if (rt_tensor_valid_slice(tensor, origin, size, site->call)) return true;
    // Said already; here it makes the command buffer fail.
    rt_misuse_at(site, RT_RULE_tensor_slice, "%s '%s'", what, rt_label(&tensor->resource.label));
    return false;
}

static bool valid_tensors(const RtSite *site, const MTLTensor *source,
                          const MTLTensorExtents *source_origin, const MTLTensorExtents *size,
                          const MTLTensor *destination, const MTLTensorExtents *destination_origin,
                          const MTLTensorExtents *destination_size) {
    if (!valid_slice(site, source, source_origin, size, "source") ||
        !valid_slice(site, destination, destination_origin, destination_size, "destination"))
        return false;
    const char *from = rt_label(&source->resource.label),
               *to = rt_label(&destination->resource.label);
    bool same = size->rank == destination_size->rank;
    for (size_t i = 0; same && i < size->rank; i++)
        same = size->extents[i] == destination_size->extents[i];
    if (source->record.type != destination->record.type || !same) {
        rt_misuse_at(site, RT_RULE_metal4_tensor_copy, "'%s' of %s, '%s' of %s", from,
                     rt_tensor_type_name(source->record.type), to,
                     rt_tensor_type_name(destination->record.type));
        return false;
    }
    if (source == destination && meet(source_origin, destination_origin, size)) {
        rt_misuse_at(site, RT_RULE_blit_overlap, "two slices of tensor '%s'", from);
        return false;
    }
    return true;
}

void rt_blit_tensor(const RtSite *site, MTLTensor *source, const MTLTensorExtents *source_origin,
                    const MTLTensorExtents *source_dimensions, MTLTensor *destination,
                    const MTLTensorExtents *destination_origin,
                    const MTLTensorExtents *destination_dimensions) {
    if (!valid_tensors(site, source, source_origin, source_dimensions, destination,
                       destination_origin, destination_dimensions) ||
        !rt_cb_use(site->commands, &source->resource, false) ||
        !rt_cb_use(site->commands, &destination->resource, true))
        return;
    TensorOp *t = rt_cb_alloc(site->commands, sizeof *t);
    if (!t) {
        rt_cb_no_memory(site->commands);
        return;
    }
    t->to = destination, t->from = source;
    t->to_origin = *destination_origin, t->from_origin = *source_origin;
    t->size = *source_dimensions;
    rt_cb_append(site->commands, &t->op, &tensor_class);
}

void mtl_blit_command_encoder_copy_from_tensor(MTLBlitCommandEncoder *encoder, MTLTensor *source,
                                               const MTLTensorExtents *source_origin,
                                               const MTLTensorExtents *source_dimensions,
                                               MTLTensor *destination,
                                               const MTLTensorExtents *destination_origin,
                                               const MTLTensorExtents *destination_dimensions) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_blit_tensor(&site, source, source_origin, source_dimensions, destination,
                       destination_origin, destination_dimensions);
}

// SPDX-License-Identifier: Apache-2.0
// network_run.c: steps of a network as dispatches in the command stream, each after the one before.
#include <string.h>
#include "runtime/metal4/network_run.h"

static size_t element(const MTL4MachineLearningPipelineState *state) {
    return rt_network_type_bytes(state->network->type);
}

unsigned rt_network_kernel(const NetStep *s) {
    switch (rt_network_op_form(s->op)) {
    case ROWS: return NET_KERNEL_ROWS;
    case MATMUL: return NET_KERNEL_MATMUL + (s->transpose_a ? 1u : 0u) + (s->transpose_b ? 2u : 0u);
    case CONV: return NET_KERNEL_CONV;
    case RESHAPE: return NET_KERNEL_RESHAPE;
    default: return NET_KERNEL_EACH;
    }
}

// A dispatch of a kernel with one argument, a copy of `what`, and a barrier behind it.
static bool append(MTLCommandBuffer *commands, MTLComputePipelineState *kernel, const void *what,
                   size_t n_bytes, const uint32_t groups[3], const uint32_t threads[3],
                   uint32_t group_size) {
    const RfFunction *f = rt_pipeline_function(kernel);
    void *copy = rt_cb_alloc(commands, n_bytes + 64);
    void **args = rt_cb_alloc(commands, (f->n_slots + 1) * sizeof *args);
    RtDispatch *d = rt_cb_alloc(commands, sizeof *d);
    if (!copy || !args || !d) {
        rt_cb_no_memory(commands);
        return false;
    }
    memcpy(copy, what, n_bytes);
    for (uint32_t i = 0; i < f->n_args; i++)
        if (f->args[i].kind == RF_ARG_BUFFER && f->args[i].slot < f->n_slots)
            args[f->args[i].slot] = copy;
    d->pipeline = kernel;
    d->args = args;
    memcpy(d->groups, groups, sizeof d->groups);
    memcpy(d->threads, threads, sizeof d->threads);
    d->group_size[0] = group_size, d->group_size[1] = d->group_size[2] = 1;
    rt_pipeline_prepare(kernel, d->group_size, (uint64_t)threads[0] * threads[1] * threads[2]);
    rt_cb_append(commands, &d->op, &rt_op_dispatch);
    rt_cb_append_marker(commands, &rt_op_barrier);
    return true;
}

enum { LINE = 64 }; // threads of a threadgroup of all kernels but matmul

static bool append_line(MTLCommandBuffer *commands, MTLComputePipelineState *kernel,
                        const void *what, size_t n_bytes, int64_t n) {
    const uint32_t groups[3] = {(uint32_t)((n + LINE - 1) / LINE), 1, 1};
    const uint32_t threads[3] = {(uint32_t)n, 1, 1};
    return append(commands, kernel, what, n_bytes, groups, threads, LINE);
}

// ---- Each element ----

// Dimensions that continue each other in all three become one; those of size 1 go.
static void collapse(NetEach *e, const NetShape *shape) {
    e->rank = 0;
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (shape->n[i] == 1) continue;
        uint32_t at = e->rank, size = (uint32_t)shape->n[i];
        if (at && e->out_strides[i] == e->out_strides[at - 1] * e->size[at - 1] &&
            e->a_strides[i] == e->a_strides[at - 1] * e->size[at - 1] &&
            e->b_strides[i] == e->b_strides[at - 1] * e->size[at - 1]) {
            e->size[at - 1] *= size;
            continue;
        }
        e->out_strides[at] = e->out_strides[i];
        e->a_strides[at] = e->a_strides[i];
        e->b_strides[at] = e->b_strides[i];
        e->size[at] = size;
        e->rank++;
    }
}

static bool encode_each(MTLCommandBuffer *commands, const MTL4MachineLearningPipelineState *state,
                        NetEach *e, const NetShape *shape) {
    collapse(e, shape);
    if (!e->b) e->b = e->a; // never NULL: it is read, and not used
    bool flat = e->rank == 0 || (e->rank == 1 && e->out_strides[0] == 1 && e->a_strides[0] == 1 &&
                                 (e->b_strides[0] == 1 || e->b_strides[0] == 0));
    if (e->rank == 0) e->b_strides[0] = 0;
    return append_line(commands, state->kernels[flat ? NET_KERNEL_FLAT : NET_KERNEL_EACH], e,
                       sizeof *e, rt_shape_count(shape));
}

static NetEach each_of(const NetStep *s, const NetOperand *out, const NetOperand *a,
                       const NetOperand *b) {
    NetEach e = {.out = out->data, .a = a->data, .kind = rt_network_op_kind(s->op)};
    memcpy(e.out_strides, out->strides, sizeof e.out_strides);
    memcpy(e.a_strides, a->strides, sizeof e.a_strides);
    if (!b) return e;
    e.b = b->data;
    memcpy(e.b_strides, b->strides, sizeof e.b_strides);
    return e;
}

static bool encode_transpose(MTLCommandBuffer *commands,
                             const MTL4MachineLearningPipelineState *state, const NetStep *s,
                             const NetOperand *out, const NetOperand *a) {
    NetEach e = each_of(s, out, a, NULL);
    e.kind = 0;
    for (uint32_t i = 0; i < out->shape.rank; i++) e.a_strides[i] = a->strides[s->dimensions.n[i]];
    return encode_each(commands, state, &e, &out->shape);
}

static bool encode_concat(MTLCommandBuffer *commands, const MTL4MachineLearningPipelineState *state,
                          const NetStep *s, const NetOperand *operands) {
    const NetOperand *out = &operands[s->output];
    int64_t at = 0;
    for (uint32_t k = 0; k < s->n_inputs; k++) {
        const NetOperand *a = &operands[s->inputs[k]];
        NetEach e = each_of(s, out, a, NULL);
        e.kind = 0;
        e.out = out->data + (size_t)(at * out->strides[s->axis]) * element(state);
        at += a->shape.n[s->axis];
        NetShape shape = out->shape;
        shape.n[s->axis] = a->shape.n[s->axis];
        if (!encode_each(commands, state, &e, &shape)) return false;
    }
    return true;
}

static bool encode_reshape(MTLCommandBuffer *commands,
                           const MTL4MachineLearningPipelineState *state, const NetStep *s,
                           const NetOperand *out, const NetOperand *a) {
    NetEach e = each_of(s, out, a, NULL);
    e.rank = out->shape.rank;
    e.a_rank = a->shape.rank;
    for (int i = 0; i < NET_MAX_RANK; i++) {
        e.size[i] = (uint32_t)out->shape.n[i];
        e.a_size[i] = (uint32_t)a->shape.n[i];
    }
    return append_line(commands, state->kernels[NET_KERNEL_RESHAPE], &e, sizeof e,
                       rt_shape_count(&out->shape));
}

// ---- Rows, products, convolutions ----

static bool encode_rows(MTLCommandBuffer *commands, const MTL4MachineLearningPipelineState *state,
                        const NetStep *s, const NetOperand *out, const NetOperand *a) {
    NetRows r = {.out = out->data,
                 .a = a->data,
                 .out_step = out->strides[s->axis],
                 .a_step = a->strides[s->axis],
                 .length = (uint32_t)a->shape.n[s->axis],
                 .kind = rt_network_op_kind(s->op)};
    int64_t n = 1;
    for (uint32_t i = 0; i < a->shape.rank; i++) {
        if (i == s->axis || a->shape.n[i] == 1) continue;
        r.out_strides[r.rank] = out->strides[i];
        r.a_strides[r.rank] = a->strides[i];
        r.size[r.rank++] = (uint32_t)a->shape.n[i];
        n *= a->shape.n[i];
    }
    return append_line(commands, state->kernels[NET_KERNEL_ROWS], &r, sizeof r, n);
}

// The distance of a matrix's rows; anything where there is one.
static int32_t row_of(const NetOperand *o) {
    return (int32_t)(o->strides[1] ? o->strides[1] : o->shape.n[0]);
}

static bool encode_matmul(MTLCommandBuffer *commands, const MTL4MachineLearningPipelineState *state,
                          const NetStep *s, const NetOperand *c, const NetOperand *a,
                          const NetOperand *b) {
    NetMatmul p = {.c = c->data,
                   .a = a->data,
                   .b = b->data,
                   .c_row = row_of(c),
                   .a_row = row_of(a),
                   .b_row = row_of(b),
                   .m = (int32_t)c->shape.n[1],
                   .n = (int32_t)c->shape.n[0],
                   .k = (int32_t)a->shape.n[s->transpose_a ? 1 : 0]};
    uint32_t n_batch = 1;
    for (uint32_t i = 2; i < c->shape.rank; i++) {
        p.c_strides[p.rank] = c->strides[i];
        p.a_strides[p.rank] = a->strides[i];
        p.b_strides[p.rank] = b->strides[i];
        p.size[p.rank++] = (uint32_t)c->shape.n[i];
        n_batch *= (uint32_t)c->shape.n[i];
    }
    const uint32_t groups[3] = {(uint32_t)((p.n + 63) / 64), (uint32_t)((p.m + 63) / 64), n_batch};
    const uint32_t threads[3] = {groups[0] * 128, groups[1], groups[2]};
    return append(commands, state->kernels[rt_network_kernel(s)], &p, sizeof p, groups, threads,
                  128);
}

static bool encode_conv(MTLCommandBuffer *commands, const MTL4MachineLearningPipelineState *state,
                        const NetStep *s, const NetOperand *out, const NetOperand *a,
                        const NetOperand *w) {
    NetConv c = {.out = out->data,
                 .a = a->data,
                 .w = w->data,
                 .channels = (int32_t)a->shape.n[0],
                 .width = (int32_t)a->shape.n[1],
                 .height = (int32_t)a->shape.n[2],
                 .kernel_width = (int32_t)w->shape.n[2],
                 .kernel_height = (int32_t)w->shape.n[3]};
    for (int i = 0; i < 4; i++) {
        c.size[i] = (uint32_t)out->shape.n[i];
        c.out_strides[i] = out->strides[i];
        c.a_strides[i] = a->strides[i];
        c.w_strides[i] = w->strides[i];
    }
    for (int i = 0; i < 2; i++) {
        c.strides[i] = (int32_t)s->strides[i];
        c.dilations[i] = (int32_t)s->dilations[i];
        c.padding[i] = (int32_t)s->padding[i];
    }
    return append_line(commands, state->kernels[NET_KERNEL_CONV], &c, sizeof c,
                       rt_shape_count(&out->shape));
}

bool rt_network_encode(MTLCommandBuffer *commands, const MTL4MachineLearningPipelineState *state,
                       const NetOperand *operands) {
    for (size_t i = 0; i < state->network->n_steps; i++) {
        const NetStep *s = &state->network->steps[i];
        const NetOperand *out = &operands[s->output], *a = &operands[s->inputs[0]];
        const NetOperand *b = s->n_inputs > 1 ? &operands[s->inputs[1]] : NULL;
        NetEach e;
        bool ok = false;
        switch (rt_network_op_form(s->op)) {
        case EACH:
        case PAIR:
            e = each_of(s, out, a, b);
            ok = encode_each(commands, state, &e, &out->shape);
            break;
        case ROWS: ok = encode_rows(commands, state, s, out, a); break;
        case MATMUL: ok = encode_matmul(commands, state, s, out, a, b); break;
        case CONV: ok = encode_conv(commands, state, s, out, a, b); break;
        case RESHAPE: ok = encode_reshape(commands, state, s, out, a); break;
        case TRANSPOSE: ok = encode_transpose(commands, state, s, out, a); break;
        case CONCAT: ok = encode_concat(commands, state, s, operands); break;
        }
        if (!ok) return false;
    }
    return true;
}

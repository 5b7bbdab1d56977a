// SPDX-License-Identifier: Apache-2.0
// steps.c: steps of a network as dispatches, each after the one before. The structures are those of
// kernels/network.metal.
#include <string.h>
#include "runtime/network/network.h"
#include "network_texts.h"

const MTLHeader network_headers[] = {{"activations.h", network_text_activations_h, 0}};
const size_t network_header_count = sizeof network_headers / sizeof *network_headers;
const char *network_source(void) { return network_text_network_metal; }

const char *network_type_name(MTLTensorDataType type) {
    return type == MTLTensorDataTypeFloat32   ? "float"
           : type == MTLTensorDataTypeFloat16 ? "half"
                                              : "bfloat";
}

const char *network_kernel_name(NetKernel kernel) {
    static const char *const names[NET_N_KERNELS] = {
        "flat", "each", "reshape", "rows", "matmul", "matmul_a", "matmul_b", "matmul_ab", "conv"};
    return names[kernel];
}

static NetKernel kernel_of(const NetStep *s) {
    switch (network_op_form(s->op)) {
    case ROWS: return NET_KERNEL_ROWS;
    case MATMUL: return NET_KERNEL_MATMUL + (s->transpose_a ? 1u : 0u) + (s->transpose_b ? 2u : 0u);
    case CONV: return NET_KERNEL_CONV;
    case RESHAPE: return NET_KERNEL_RESHAPE;
    default: return NET_KERNEL_EACH;
    }
}

void network_kernels_needed(const Network *network, bool needed[NET_N_KERNELS]) {
    memset(needed, 0, NET_N_KERNELS * sizeof *needed);
    for (size_t i = 0; i < network->n_steps; i++) needed[kernel_of(&network->steps[i])] = true;
    needed[NET_KERNEL_FLAT] = needed[NET_KERNEL_EACH];
}

typedef struct NetEach {
    void *out;
    const void *a, *b;
    int64_t out_strides[8], a_strides[8], b_strides[8];
    uint32_t size[8], a_size[8];
    uint32_t rank, a_rank, kind, reserved;
} NetEach;

typedef struct NetRows {
    void *out;
    const void *a;
    int64_t out_strides[8], a_strides[8];
    int64_t out_step, a_step;
    uint32_t size[8];
    uint32_t rank, length, kind, reserved;
} NetRows;

typedef struct NetMatmul {
    void *c;
    const void *a, *b;
    int64_t c_strides[8], a_strides[8], b_strides[8];
    int32_t c_row, a_row, b_row, m, n, k;
    uint32_t size[8];
    uint32_t rank, reserved;
} NetMatmul;

typedef struct NetConv {
    void *out;
    const void *a, *w;
    int64_t out_strides[4], a_strides[4], w_strides[4];
    uint32_t size[4];
    int32_t channels, width, height, kernel_width, kernel_height;
    int32_t strides[2], dilations[2], padding[2];
    uint32_t reserved;
} NetConv;

typedef struct Run { // where the dispatches go
    const Network *network;
    NetTake *take;
    void *context;
} Run;

enum { LINE = 64 }; // threads of a threadgroup of all kernels but matmul

static bool append_line(const Run *run, NetKernel kernel, const void *what, size_t n_bytes,
                        int64_t n) {
    return run->take(run->context,
                     &(NetDispatch){.kernel = kernel,
                                    .what = what,
                                    .n_bytes = n_bytes,
                                    .groups = {(uint32_t)((n + LINE - 1) / LINE), 1, 1},
                                    .threads = {(uint32_t)n, 1, 1},
                                    .group_size = LINE});
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

static bool encode_each(const Run *run, NetEach *e, const NetShape *shape) {
    collapse(e, shape);
    if (!e->b) e->b = e->a; // never NULL: it is read, and not used
    bool flat = e->rank == 0 || (e->rank == 1 && e->out_strides[0] == 1 && e->a_strides[0] == 1 &&
                                 (e->b_strides[0] == 1 || e->b_strides[0] == 0));
    if (e->rank == 0) e->b_strides[0] = 0;
    return append_line(run, flat ? NET_KERNEL_FLAT : NET_KERNEL_EACH, e, sizeof *e,
                       network_shape_count(shape));
}

static NetEach each_of(const NetStep *s, const NetOperand *out, const NetOperand *a,
                       const NetOperand *b) {
    NetEach e = {.out = out->data, .a = a->data, .kind = network_op_kind(s->op)};
    memcpy(e.out_strides, out->strides, sizeof e.out_strides);
    memcpy(e.a_strides, a->strides, sizeof e.a_strides);
    if (!b) return e;
    e.b = b->data;
    memcpy(e.b_strides, b->strides, sizeof e.b_strides);
    return e;
}

static bool encode_transpose(const Run *run, const NetStep *s, const NetOperand *out,
                             const NetOperand *a) {
    NetEach e = each_of(s, out, a, NULL);
    e.kind = 0;
    for (uint32_t i = 0; i < out->shape.rank; i++) e.a_strides[i] = a->strides[s->dimensions.n[i]];
    return encode_each(run, &e, &out->shape);
}

static bool encode_concat(const Run *run, const NetStep *s, const NetOperand *operands) {
    const NetOperand *out = &operands[s->output];
    int64_t at = 0;
    for (uint32_t k = 0; k < s->n_inputs; k++) {
        const NetOperand *a = &operands[s->inputs[k]];
        NetEach e = each_of(s, out, a, NULL);
        e.kind = 0;
        e.out = out->data +
                (size_t)(at * out->strides[s->axis]) * network_type_bytes(run->network->type);
        at += a->shape.n[s->axis];
        NetShape shape = out->shape;
        shape.n[s->axis] = a->shape.n[s->axis];
        if (!encode_each(run, &e, &shape)) return false;
    }
    return true;
}

static bool encode_reshape(const Run *run, const NetStep *s, const NetOperand *out,
                           const NetOperand *a) {
    NetEach e = each_of(s, out, a, NULL);
    e.rank = out->shape.rank;
    e.a_rank = a->shape.rank;
    for (int i = 0; i < NET_MAX_RANK; i++) {
        e.size[i] = (uint32_t)out->shape.n[i];
        e.a_size[i] = (uint32_t)a->shape.n[i];
    }
    return append_line(run, NET_KERNEL_RESHAPE, &e, sizeof e, network_shape_count(&out->shape));
}

// ---- Rows, products, convolutions ----

static bool encode_rows(const Run *run, const NetStep *s, const NetOperand *out,
                        const NetOperand *a) {
    NetRows r = {.out = out->data,
                 .a = a->data,
                 .out_step = out->strides[s->axis],
                 .a_step = a->strides[s->axis],
                 .length = (uint32_t)a->shape.n[s->axis],
                 .kind = network_op_kind(s->op)};
    int64_t n = 1;
    for (uint32_t i = 0; i < a->shape.rank; i++) {
        if (i == s->axis || a->shape.n[i] == 1) continue;
        r.out_strides[r.rank] = out->strides[i];
        r.a_strides[r.rank] = a->strides[i];
        r.size[r.rank++] = (uint32_t)a->shape.n[i];
        n *= a->shape.n[i];
    }
    return append_line(run, NET_KERNEL_ROWS, &r, sizeof r, n);
}

// The distance of a matrix's rows; anything where there is one.
static int32_t row_of(const NetOperand *o) {
    return (int32_t)(o->strides[1] ? o->strides[1] : o->shape.n[0]);
}

static bool encode_matmul(const Run *run, const NetStep *s, const NetOperand *c,
                          const NetOperand *a, const NetOperand *b) {
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
    const uint32_t columns = (uint32_t)((p.n + 63) / 64), rows = (uint32_t)((p.m + 63) / 64);
    return run->take(run->context, &(NetDispatch){.kernel = kernel_of(s),
                                                  .what = &p,
                                                  .n_bytes = sizeof p,
                                                  .groups = {columns, rows, n_batch},
                                                  .threads = {columns * 128, rows, n_batch},
                                                  .group_size = 128});
}

static bool encode_conv(const Run *run, const NetStep *s, const NetOperand *out,
                        const NetOperand *a, const NetOperand *w) {
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
    return append_line(run, NET_KERNEL_CONV, &c, sizeof c, network_shape_count(&out->shape));
}

bool network_encode(const Network *network, const NetOperand *operands, NetTake *take,
                    void *context) {
    const Run here = {network, take, context}, *run = &here;
    for (size_t i = 0; i < network->n_steps; i++) {
        const NetStep *s = &network->steps[i];
        const NetOperand *out = &operands[s->output], *a = &operands[s->inputs[0]];
        const NetOperand *b = s->n_inputs > 1 ? &operands[s->inputs[1]] : NULL;
        NetEach e;
        bool ok = false;
        switch (network_op_form(s->op)) {
        case EACH:
        case PAIR:
            e = each_of(s, out, a, b);
            ok = encode_each(run, &e, &out->shape);
            break;
        case ROWS: ok = encode_rows(run, s, out, a); break;
        case MATMUL: ok = encode_matmul(run, s, out, a, b); break;
        case CONV: ok = encode_conv(run, s, out, a, b); break;
        case RESHAPE: ok = encode_reshape(run, s, out, a); break;
        case TRANSPOSE: ok = encode_transpose(run, s, out, a); break;
        case CONCAT: ok = encode_concat(run, s, operands); break;
        }
        if (!ok) return false;
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// plan.c: sizes of a network's values, from its inputs on, and places for them in the
// intermediates heap: a value's bytes are free again after the last step that reads it.
#include <stdio.h>
#include "runtime/network/network.h"

#define MAX_ELEMENTS ((int64_t)1 << 30)
#define PLACE_ALIGN 256u
// Kernels read whole vectors: behind a value there is a little more memory.
#define PLACE_SLACK 64u

static const char *text_of(const NetShape *s, char text[128]) {
    size_t at = 0;
    at += (size_t)snprintf(text, 128, "[");
    for (uint32_t i = 0; i < s->rank && at < 100; i++)
        at += (size_t)snprintf(text + at, 128 - at, "%s%lld", i ? ", " : "", (long long)s->n[i]);
    snprintf(text + at, 128 - at, "]");
    return text;
}

static NetShape shape_of(uint32_t rank, int64_t a, int64_t b) {
    NetShape s = {rank, {a, b, 1, 1, 1, 1, 1, 1}};
    return s;
}

// ---- Sizes: NULL, or what is wrong ----

static const char *size_pair(const NetShape *a, const NetShape *b, NetShape *out) {
    *out = shape_of(a->rank > b->rank ? a->rank : b->rank, 1, 1);
    for (uint32_t i = 0; i < NET_MAX_RANK; i++) {
        if (a->n[i] != b->n[i] && a->n[i] != 1 && b->n[i] != 1)
            return "sizes are the same, or one of them is 1";
        out->n[i] = a->n[i] > b->n[i] ? a->n[i] : b->n[i];
    }
    return NULL;
}

static const char *size_rows(const NetStep *s, const NetShape *a, NetShape *out) {
    if (s->axis >= a->rank) return "the axis is one of the tensor's";
    *out = *a;
    if (s->op != NET_softmax) out->n[s->axis] = 1;
    return NULL;
}

static const char *size_matmul(const NetStep *s, const NetShape *a, const NetShape *b,
                               NetShape *out) {
    if (a->rank < 1 || b->rank < 2 || (s->transpose_a && a->rank < 2))
        return "matrices have two dimensions";
    if (a->n[s->transpose_a ? 1 : 0] != b->n[s->transpose_b ? 0 : 1])
        return "the columns of the first are the rows of the second";
    *out = *a;
    out->n[0] = b->n[s->transpose_b ? 1 : 0];
    if (a->rank > 1) out->n[1] = a->n[s->transpose_a ? 0 : 1];
    for (uint32_t i = 2; i < b->rank; i++)
        if (i >= a->rank || b->n[i] != a->n[i])
            return "the second has no further dimensions, or those of the first";
    return NULL;
}

static const char *size_conv(const NetStep *s, const NetShape *a, const NetShape *w,
                             NetShape *out) {
    if (a->rank < 3 || a->rank > 4 || w->rank != 4)
        return "the source is (channels, width, height[, batch]), weights are (output channels, "
               "input channels, width, height)";
    if (a->n[0] != w->n[1]) return "source and weights have the same number of input channels";
    *out = *a;
    out->n[0] = w->n[0];
    for (int i = 0; i < 2; i++) {
        int64_t reach = s->dilations[i] * (w->n[2 + i] - 1) + 1;
        int64_t room = a->n[1 + i] + 2 * s->padding[i] - reach;
        if (room < 0) return "the kernel fits into the source";
        out->n[1 + i] = room / s->strides[i] + 1;
    }
    return NULL;
}

static const char *size_transpose(const NetStep *s, const NetShape *a, NetShape *out) {
    unsigned seen = 0;
    if (s->dimensions.rank != a->rank) return "the permutation has as many numbers as dimensions";
    *out = *a;
    for (uint32_t i = 0; i < a->rank; i++) {
        int64_t from = s->dimensions.n[i];
        if (from >= a->rank || seen & 1u << from) return "the permutation has each dimension once";
        seen |= 1u << from;
        out->n[i] = a->n[from];
    }
    return NULL;
}

static const char *size_concat(const NetStep *s, const NetShape *shapes, NetShape *out) {
    *out = shapes[s->inputs[0]];
    if (s->axis >= out->rank) return "the axis is one of the tensors'";
    for (uint32_t k = 1; k < s->n_inputs; k++) {
        const NetShape *b = &shapes[s->inputs[k]];
        for (uint32_t i = 0; i < NET_MAX_RANK; i++)
            if (i != s->axis && b->n[i] != out->n[i])
                return "sizes other than that of the axis are the same";
        out->n[s->axis] += b->n[s->axis];
    }
    return NULL;
}

static const char *size_step(const NetStep *s, const NetShape *shapes, NetShape *out) {
    const NetShape *a = &shapes[s->inputs[0]], *b = &shapes[s->inputs[s->n_inputs > 1]];
    switch (network_op_form(s->op)) {
    case EACH: *out = *a; return NULL;
    case PAIR: return size_pair(a, b, out);
    case ROWS: return size_rows(s, a, out);
    case MATMUL: return size_matmul(s, a, b, out);
    case CONV: return size_conv(s, a, b, out);
    case TRANSPOSE: return size_transpose(s, a, out);
    case CONCAT: return size_concat(s, shapes, out);
    case RESHAPE:
        *out = s->dimensions;
        return s->dimensions.rank && network_shape_count(out) == network_shape_count(a)
                   ? NULL
                   : "dimensions have as many elements as the input";
    }
    return "there is no such operation";
}

static bool size_inputs(const Network *net, const MTL4MachineLearningPipelineDescriptor *d,
                        NetShape *shapes, char *message) {
    for (size_t k = 0; d->input_dimensions && k < d->input_dimension_count; k++) {
        const MTLTensorExtents *e = &d->input_dimensions[k].dimensions;
        size_t i = 0;
        while (i < net->n_values && (net->values[i].kind != NET_INPUT ||
                                     net->values[i].index != d->input_dimensions[k].buffer_index))
            i++;
        if (i == net->n_values)
            return json_message(message, "the network has no input at buffer index %zu",
                                d->input_dimensions[k].buffer_index);
        if (e->rank == 0 || e->rank > NET_MAX_RANK)
            return json_message(message, "input '%s': networks have tensors of rank 1 to %d",
                                net->values[i].name, NET_MAX_RANK);
        shapes[i] = shape_of((uint32_t)e->rank, 1, 1);
        int64_t total = 1;
        for (size_t x = 0; x < e->rank; x++) {
            if (e->extents[x] < 1 || e->extents[x] > MAX_ELEMENTS ||
                (total *= e->extents[x]) > MAX_ELEMENTS)
                return json_message(message, "input '%s': a size is 0, or too large",
                                    net->values[i].name);
            shapes[i].n[x] = e->extents[x];
        }
    }
    for (size_t i = 0; i < net->n_values; i++)
        if (net->values[i].kind == NET_INPUT && shapes[i].rank == 0)
            return json_message(message, "input '%s' (buffer index %u) has no dimensions",
                                net->values[i].name, net->values[i].index);
    return true;
}

// ---- Places ----

typedef struct Block {
    size_t offset, n_bytes, last; // last: the step that reads it last
} Block;

typedef struct Blocks { // alive, in order of offsets
    Block *items;
    size_t n, capacity;
} Blocks;

static bool place(const NetMemory *m, Blocks *b, size_t n_bytes, size_t last, size_t *offset,
                  size_t *high) {
    if (!m->grow(&b->items, &b->capacity, b->n + 1, sizeof *b->items)) return false;
    size_t at = 0, i = 0;
    for (; i < b->n && b->items[i].offset < at + n_bytes; i++)
        at = b->items[i].offset + b->items[i].n_bytes;
    for (size_t k = b->n++; k > i; k--) b->items[k] = b->items[k - 1];
    b->items[i] = (Block){at, n_bytes, last};
    *offset = at;
    if (at + n_bytes > *high) *high = at + n_bytes;
    return true;
}

static void expire(Blocks *b, size_t step) {
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        if (b->items[i].last >= step) b->items[n++] = b->items[i];
    b->n = n;
}

static bool place_all(const Network *net, NetPlan *plan) {
    const NetMemory *m = net->memory;
    size_t *last = m->alloc((net->n_values + 1) * sizeof *last);
    Blocks blocks = {0};
    bool ok = last != NULL;
    for (size_t i = 0; ok && i < net->n_steps; i++) {
        const NetStep *s = &net->steps[i];
        last[s->output] = i;
        for (uint32_t k = 0; k < s->n_inputs; k++) last[s->inputs[k]] = i;
    }
    for (size_t i = 0; ok && i < net->n_values; i++) {
        const NetValue *v = &net->values[i];
        if (v->kind == NET_CONSTANT)
            plan->places[i] = (NetPlace){.where = NET_IN_CONSTANT, .data = v->data};
        else if (v->kind == NET_INPUT || v->is_output)
            plan->places[i] =
                (NetPlace){.where = NET_IN_TENSOR, .index = v->is_output ? v->out_index : v->index};
    }
    for (size_t i = 0; ok && i < net->n_steps; i++) {
        uint32_t out = net->steps[i].output;
        expire(&blocks, i);
        if (plan->places[out].where == NET_IN_TENSOR) continue;
        size_t n = (size_t)network_shape_count(&plan->shapes[out]) * network_type_bytes(net->type);
        n = (n + PLACE_SLACK + PLACE_ALIGN - 1) & ~(size_t)(PLACE_ALIGN - 1);
        ok = place(m, &blocks, n, last[out], &plan->places[out].offset, &plan->heap_bytes);
    }
    m->free(last);
    m->free(blocks.items);
    return ok;
}

void network_plan_free(const Network *net, NetPlan *plan) {
    net->memory->free(plan->shapes);
    net->memory->free(plan->places);
}

bool network_plan(const Network *net, const MTL4MachineLearningPipelineDescriptor *d, NetPlan *plan,
                  char *message) {
    *plan = (NetPlan){.shapes = net->memory->alloc((net->n_values + 1) * sizeof *plan->shapes),
                      .places = net->memory->alloc((net->n_values + 1) * sizeof *plan->places)};
    message[0] = 0;
    if (!plan->shapes || !plan->places) return false;
    for (size_t i = 0; i < net->n_values; i++)
        if (net->values[i].sized) plan->shapes[i] = net->values[i].shape;
    if (!size_inputs(net, d, plan->shapes, message)) return false;
    for (size_t i = 0; i < net->n_steps; i++) {
        const NetStep *s = &net->steps[i];
        NetShape *out = &plan->shapes[s->output];
        const char *wrong = size_step(s, plan->shapes, out);
        int64_t total = 1;
        for (uint32_t k = 0; !wrong && k < out->rank; k++)
            if ((total *= out->n[k]) > MAX_ELEMENTS) wrong = "there are up to 2^30 elements";
        if (!wrong) continue;
        char a[128], b[128];
        const NetShape *second = s->n_inputs > 1 ? &plan->shapes[s->inputs[1]] : NULL;
        return json_message(message, "operation %zu, '%s' that makes '%s': %s; inputs are %s%s%s",
                            i, network_op_name(s->op), net->values[s->output].name, wrong,
                            text_of(&plan->shapes[s->inputs[0]], a), second ? " and " : "",
                            second ? text_of(second, b) : "");
    }
    return place_all(net, plan);
}

// SPDX-License-Identifier: Apache-2.0
// argument_layout.c: ids of argument buffers by the rules of the Metal Shading Language: members
// count up from the highest id before them, [[id(n)]] sets the number relative to the struct, and
// nested structs and arrays take the ids of what they hold. Offsets are those of the MSL struct.
#include "runtime/program/argument_layout.h"
#include <stdlib.h>
#include <string.h>
#include "runtime/program/library.h"

enum { MAX_LEAVES = 1 << 20, HANDLE_BYTES = 8 };

bool rt_data_type_is_resource(uint32_t t) {
    return t == MTLDataTypeTexture || t == MTLDataTypeSampler || t == MTLDataTypePointer ||
           t == MTLDataTypeRenderPipeline || t == MTLDataTypeComputePipeline ||
           t == MTLDataTypeDepthStencilState || t == MTLDataTypeIndirectCommandBuffer ||
           t == MTLDataTypeVisibleFunctionTable || t == MTLDataTypeIntersectionFunctionTable ||
           t == MTLDataTypeTensor || t == MTLDataTypePrimitiveAccelerationStructure ||
           t == MTLDataTypeInstanceAccelerationStructure;
}

bool rt_type_is_argument_buffer(const RfLibrary *lib, uint32_t type) {
    if (type >= lib->n_types) return false;
    const RfType *t = &lib->types[type];
    if (rt_data_type_is_resource(t->data_type)) return true;
    if (t->data_type == MTLDataTypeArray) return rt_type_is_argument_buffer(lib, t->element);
    for (uint32_t i = 0; i < t->n_members; i++)
        if (t->members[i].id >= 0 || rt_type_is_argument_buffer(lib, t->members[i].type))
            return true;
    return false;
}

// ---- Counting ids ----

// One past the highest id of the struct's members before `end`, and of `end` itself its first.
static uint64_t id_before(const RfLibrary *lib, const RfType *t, uint32_t end) {
    uint64_t next = 0;
    for (uint32_t i = 0; i < end; i++) {
        const RfMember *m = &t->members[i];
        uint64_t first = m->id >= 0 ? (uint64_t)m->id : next;
        uint64_t behind = first + rt_arg_id_count(lib, m->type);
        next = behind > next ? behind : next;
    }
    return next;
}

uint64_t rt_arg_id_count(const RfLibrary *lib, uint32_t type) {
    if (type >= lib->n_types) return 0;
    const RfType *t = &lib->types[type];
    if (t->data_type == MTLDataTypeArray) return rt_arg_id_count(lib, t->element) * t->n_elements;
    if (t->data_type == MTLDataTypeStruct && t->n_members > 0)
        return id_before(lib, t, t->n_members);
    return 1;
}

uint64_t rt_arg_member_id(const RfLibrary *lib, const RfType *type, const RfMember *member) {
    if (member->id >= 0) return (uint64_t)member->id;
    return id_before(lib, type, (uint32_t)(member - type->members));
}

// ---- Leaves ----

static bool add_leaf(RtArgLayout *layout, const RtArgLeaf *leaf) {
    if (layout->n >= MAX_LEAVES ||
        !rt_grow(&layout->leaves, &layout->capacity, layout->n + 1, sizeof *layout->leaves))
        return false;
    layout->leaves[layout->n++] = *leaf;
    return true;
}

static bool is_leaf(const RfType *t) {
    return t->data_type != MTLDataTypeArray &&
           !(t->data_type == MTLDataTypeStruct && t->n_members > 0);
}

static bool add_type(RtArgLayout *layout, const RfLibrary *lib, uint32_t type, uint64_t id,
                     uint64_t offset, uint32_t n, uint32_t stride) {
    const RfType *t = &lib->types[type];
    if (is_leaf(t)) {
        RtArgLeaf leaf = {.id = id,
                          .n = n,
                          .data_type = t->data_type,
                          .offset = offset,
                          .stride = stride,
                          .n_bytes = t->size,
                          .type = type,
                          .access = t->access,
                          .texture_type = t->texture_type};
        return n == 0 || add_leaf(layout, &leaf);
    }
    uint64_t ids = rt_arg_id_count(lib, type);
    layout->n_steps += n;
    if (layout->n_steps > MAX_LEAVES) return false; // arrays of arrays of nothing
    for (uint32_t k = 0; k < n; k++, id += ids, offset += stride) {
        if (t->data_type == MTLDataTypeArray) {
            if (!add_type(layout, lib, t->element, id, offset, t->n_elements, t->stride))
                return false;
            continue;
        }
        uint64_t next = 0; // as id_before, without its square cost
        for (uint32_t i = 0; i < t->n_members; i++) {
            const RfMember *m = &t->members[i];
            uint64_t first = m->id >= 0 ? (uint64_t)m->id : next;
            if (!add_type(layout, lib, m->type, id + first, offset + m->offset, 1, 0)) return false;
            uint64_t behind = first + rt_arg_id_count(lib, m->type);
            next = behind > next ? behind : next;
        }
    }
    return true;
}

static int by_id(const void *a, const void *b) {
    uint64_t x = ((const RtArgLeaf *)a)->id, y = ((const RtArgLeaf *)b)->id;
    return (x > y) - (x < y);
}

bool rt_arg_layout_of_type(RtArgLayout *layout, const RfLibrary *lib, uint32_t type) {
    *layout = (RtArgLayout){0};
    if (type >= lib->n_types) return false;
    const RfType *t = &lib->types[type];
    if (!add_type(layout, lib, type, 0, 0, 1, 0)) {
        rt_arg_layout_free(layout);
        return false;
    }
    if (layout->n > 1) qsort(layout->leaves, layout->n, sizeof *layout->leaves, by_id);
    for (size_t i = 1; i < layout->n; i++)
        layout->ambiguous |=
            layout->leaves[i].id - layout->leaves[i - 1].id < layout->leaves[i - 1].n;
    layout->n_bytes = t->size;
    layout->alignment = t->align ? t->align : 1;
    return true;
}

const RtArgLeaf *rt_arg_layout_find(const RtArgLayout *layout, uint64_t id, uint64_t *offset) {
    size_t low = 0, high = layout->n; // the last leaf that begins at or before id
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (layout->leaves[middle].id <= id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    const RtArgLeaf *leaf = &layout->leaves[low - 1];
    if (id - leaf->id >= leaf->n) return NULL;
    *offset = leaf->offset + (id - leaf->id) * leaf->stride;
    return leaf;
}

void rt_arg_layout_free(RtArgLayout *layout) {
    rt_free(layout->leaves);
    *layout = (RtArgLayout){0};
}

// ---- From descriptors ----

// Bytes and alignment of a member of this type; false: not one an argument buffer can hold.
static bool member_layout(uint32_t t, uint32_t *n_bytes, uint32_t *alignment) {
    if (t == MTLDataTypeTensor) return false; // encoders have no call to set one: store its id
    if (rt_data_type_is_resource(t)) {
        *n_bytes = *alignment = HANDLE_BYTES;
        return true;
    }
    // Matrices are arrays of columns: 2 to 4 columns of 2 to 4 rows.
    bool single = t >= MTLDataTypeFloat2x2 && t <= MTLDataTypeFloat4x4;
    bool half = t >= MTLDataTypeHalf2x2 && t <= MTLDataTypeHalf4x4;
    if (single || half) {
        uint32_t shape = t - (single ? MTLDataTypeFloat2x2 : MTLDataTypeHalf2x2);
        uint32_t column = (single ? MTLDataTypeFloat2 : MTLDataTypeHalf2) + shape % 3;
        *alignment = (uint32_t)rt_data_type_stride(column);
        *n_bytes = *alignment * (2 + shape / 3);
        return true;
    }
    *n_bytes = *alignment = (uint32_t)rt_data_type_stride(t);
    return *n_bytes > 0;
}

static bool layout_one(RtArgLayout *layout, const MTLArgumentDescriptor *d, const char **wrong) {
    uint32_t n_bytes, alignment;
    if (!member_layout(d->data_type, &n_bytes, &alignment)) {
        *wrong = "an argument buffer cannot hold this data_type";
        return false;
    }
    if (d->constant_block_alignment > alignment) alignment = (uint32_t)d->constant_block_alignment;
    RtArgLeaf leaf = {.id = d->index,
                      .n = d->array_length ? (uint32_t)d->array_length : 1,
                      .data_type = d->data_type,
                      .stride = n_bytes,
                      .n_bytes = n_bytes,
                      .type = UINT32_MAX,
                      .access = (uint8_t)d->access,
                      .texture_type = (uint8_t)d->texture_type};
    leaf.offset = (layout->n_bytes + alignment - 1) & ~((uint64_t)alignment - 1);
    layout->n_bytes = leaf.offset + (uint64_t)leaf.n * n_bytes;
    if (layout->alignment < alignment) layout->alignment = alignment;
    if (add_leaf(layout, &leaf)) return true;
    *wrong = "no memory";
    return false;
}

static int by_index(const void *a, const void *b) {
    size_t x = (*(const MTLArgumentDescriptor *const *)a)->index;
    size_t y = (*(const MTLArgumentDescriptor *const *)b)->index;
    return (x > y) - (x < y);
}

static const char *check_descriptor(const MTLArgumentDescriptor *d) {
    size_t a = d->constant_block_alignment;
    if (d->array_length > MAX_LEAVES || d->index > MAX_LEAVES)
        return "index and array_length are at most 1048576";
    if (a & (a - 1) || a > 4096) return "constant_block_alignment is a power of two up to 4096";
    if ((uint32_t)d->access > MTLBindingAccessWriteOnly)
        return "access is not a value of MTLBindingAccess";
    if (d->texture_type > 9) return "texture_type is not a value of MTLTextureType";
    return NULL;
}

const char *rt_arg_layout_of_descriptors(RtArgLayout *layout,
                                         const MTLArgumentDescriptor *descriptors, size_t count) {
    *layout = (RtArgLayout){.alignment = 1};
    const char *wrong = NULL;
    const MTLArgumentDescriptor **order = rt_alloc(count * sizeof *order);
    if (!order) return "no memory";
    for (size_t i = 0; i < count && !wrong; i++) {
        order[i] = &descriptors[i];
        wrong = check_descriptor(&descriptors[i]);
    }
    if (!wrong) qsort(order, count, sizeof *order, by_index);
    for (size_t i = 0; i < count && !wrong; i++) {
        size_t n = i ? order[i - 1]->array_length : 0;
        if (i && order[i]->index < order[i - 1]->index + (n ? n : 1))
            wrong = "two descriptors have the same index";
        else
            layout_one(layout, order[i], &wrong);
    }
    rt_free(order);
    layout->n_bytes = (layout->n_bytes + layout->alignment - 1) & ~(layout->alignment - 1);
    if (wrong) rt_arg_layout_free(layout);
    return wrong;
}

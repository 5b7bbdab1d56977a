// SPDX-License-Identifier: Apache-2.0
// argument_layout.h: where the ids of an argument buffer lie. An argument buffer is a MSL struct in
// memory; each member that is not itself a struct or array has an id, given by [[id(n)]] or by
// counting. A layout is the list of those leaves, arrays of leaves as one entry.
#ifndef INGOT_RUNTIME_ARGUMENT_LAYOUT_H
#define INGOT_RUNTIME_ARGUMENT_LAYOUT_H
#include "abi/reflect.h"
#include "runtime/object/object.h"

typedef struct RtArgLeaf {
    uint64_t id;          // of the first element
    uint32_t n;           // elements, with consecutive ids
    uint32_t data_type;   // MTLDataType
    uint64_t offset;      // of the first element, bytes
    uint32_t stride;      // between elements
    uint32_t n_bytes;     // of one element
    uint32_t type;        // in the library's types; UINT32_MAX: from a descriptor
    uint8_t access;       // MTLBindingAccess
    uint8_t texture_type; // textures: MTLTextureType
} RtArgLeaf;

typedef struct RtArgLayout {
    RtArgLeaf *leaves; // by id
    size_t n, capacity, n_steps;
    size_t n_bytes, alignment;
    bool ambiguous; // two leaves have the same id
} RtArgLayout;

// The layout of a type of the library. False: no memory, or more leaves than anybody needs.
bool rt_arg_layout_of_type(RtArgLayout *layout, const RfLibrary *lib, uint32_t type);
// The layout of the struct whose members the descriptors say, in the order of their indices. NULL,
// or what is wrong with them.
const char *rt_arg_layout_of_descriptors(RtArgLayout *layout,
                                         const MTLArgumentDescriptor *descriptors, size_t count);
void rt_arg_layout_free(RtArgLayout *layout);
// The leaf that has the id, or NULL; *offset: of its element.
const RtArgLeaf *rt_arg_layout_find(const RtArgLayout *layout, uint64_t id, uint64_t *offset);

// Ids that a type takes, itself included, when the first is 0.
uint64_t rt_arg_id_count(const RfLibrary *lib, uint32_t type);
// The id of a member relative to its struct.
uint64_t rt_arg_member_id(const RfLibrary *lib, const RfType *type, const RfMember *member);
// Whether the type holds something that only an argument buffer can: a pointer, texture, sampler,
// table, pipeline, command buffer or a member with an explicit id.
bool rt_type_is_argument_buffer(const RfLibrary *lib, uint32_t type);
// A handle of 8 bytes rather than data.
bool rt_data_type_is_resource(uint32_t data_type);
#endif

// SPDX-License-Identifier: Apache-2.0
// reflect_members.c: structures of buffers, textures and samplers that a kernel takes by value:
// each member is an argument of its own. Keeps what the bridge says of members, which the library's
// own description of types has no use for, and tells such structures from others.
#include "compiler/frontend/frontend_int.h"
#include <string.h>
#include "abi/data_types.h"

bool reflect_keep_members(ReflectBuilder *b, BridgeType *keep, const BridgeType *info) {
    keep->members = NULL, keep->n_members = 0;
    if (info->kind != BRIDGE_TYPE_RECORD || !info->n_members) return true;
    BridgeDecl *members = base_arena_alloc(b->arena, info->n_members, sizeof *members);
    if (!members) return false;
    for (size_t i = 0; i < info->n_members; i++) {
        const BridgeDecl *from = &info->members[i];
        members[i] = *from;
        if (!from->n_attrs) continue;
        BridgeAttr *attrs = base_arena_alloc(b->arena, from->n_attrs, sizeof *attrs);
        if (!attrs) return false;
        memcpy(attrs, from->attrs, from->n_attrs * sizeof *attrs);
        members[i].attrs = attrs;
    }
    keep->members = members, keep->n_members = info->n_members;
    return true;
}

// Members of a union lie over each other: no such structure.
uint32_t reflect_count_members(const ReflectBuilder *b, uint32_t type) {
    const BridgeType *info = &b->infos[type];
    uint32_t n = 0, end = 0;
    if (info->kind != BRIDGE_TYPE_RECORD) return 0;
    for (size_t i = 0; i < info->n_members; i++) {
        const BridgeDecl *m = &info->members[i];
        const BridgeType *of = &b->infos[m->type];
        uint32_t data_type = b->lib->types[m->type].data_type, inner = 1;
        if (m->offset < end) return 0;
        end = m->offset + of->size;
        if (of->kind == BRIDGE_TYPE_RECORD)
            inner = reflect_count_members(b, m->type);
        else if (of->kind != BRIDGE_TYPE_POINTER && of->kind != BRIDGE_TYPE_REFERENCE &&
                 data_type != DT_TEXTURE && data_type != DT_SAMPLER &&
                 data_type != DT_FUNCTION_TABLE && data_type != DT_INTERSECTION_TABLE &&
                 data_type != DT_TENSOR && data_type != DT_ACCELERATION &&
                 data_type != DT_INSTANCE_ACCELERATION)
            return 0;
        if (!inner) return 0;
        n += inner;
    }
    return n;
}

// SPDX-License-Identifier: Apache-2.0
// reflect_mesh.c: object and mesh functions in reflection. They are kernels with arguments of their
// own, which get slots as buffers do: the payload, the size of the mesh grid, and the mesh, whose
// layout in memory is worked out here as stdlib/detail/mesh.h does.
#include "compiler/frontend/frontend_int.h"
#include <string.h>

enum { MAX_VERTICES = 256, MAX_PRIMITIVES = 512, MAX_PAYLOAD = 16384, ALIGN = 16 };

static uint32_t aligned(uint64_t n) { return (uint32_t)((n + ALIGN - 1) / ALIGN * ALIGN); }

static bool is_metal(const BridgeType *info, const char *name, uint32_t n_args) {
    return info->kind == BRIDGE_TYPE_METAL && info->n_args == n_args &&
           strcmp(info->template_name, name) == 0;
}

static void set_mesh(ReflectBuilder *b, BridgeJob *job, RfFunction *f, const BridgeType *info,
                     uint32_t at) {
    int64_t nv = info->arg_values[2], np = info->arg_values[3], topology = info->arg_values[4];
    uint32_t vertex = info->arg_types[0], primitive = info->arg_types[1];
    if (f->mesh.n_bytes) {
        reflect_report(job, at, "mesh function '%s' has more than one mesh", f->name);
        return;
    }
    if (nv < 1 || nv > MAX_VERTICES || np < 1 || np > MAX_PRIMITIVES || topology < 0 ||
        topology > 2) {
        reflect_report(job, at,
                       "the mesh of '%s' has %lld vertices and %lld primitives: there may be 1 to "
                       "%d and 1 to %d",
                       f->name, (long long)nv, (long long)np, MAX_VERTICES, MAX_PRIMITIVES);
        return;
    }
    bool has_primitives = b->infos[primitive].kind != BRIDGE_TYPE_VOID;
    RfMesh *m = &f->mesh;
    m->topology = (uint8_t)topology;
    m->n_vertices = (uint32_t)nv;
    m->n_primitives = (uint32_t)np;
    m->index_offset = ALIGN;
    m->vertex_offset = aligned(m->index_offset + (uint64_t)np * (uint64_t)(topology + 1));
    m->vertex_stride = b->infos[vertex].size;
    m->primitive_offset = aligned(m->vertex_offset + (uint64_t)nv * m->vertex_stride);
    m->primitive_stride = has_primitives ? b->infos[primitive].size : 0;
    m->n_bytes = aligned(m->primitive_offset + (uint64_t)np * m->primitive_stride);
    if (m->n_bytes > 1 << 20)
        reflect_report(job, at, "the mesh of '%s' takes %u bytes: there may be %d", f->name,
                       m->n_bytes, 1 << 20);
    reflect_mesh_values(b, job, f, vertex, primitive, at);
}

bool reflect_mesh_argument(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfArg *arg,
                           const BridgeDecl *p) {
    const BridgeType *info = &b->infos[p->type];
    if (f->stage != RF_OBJECT && f->stage != RF_MESH) return false;
    if (is_metal(info, "mesh", 5) || is_metal(info, "mesh_grid_properties", 0)) {
        bool mesh = info->n_args == 5;
        arg->kind = mesh ? RF_ARG_MESH : RF_ARG_MESH_GRID;
        arg->index = 0;
        arg->access = RF_READ_WRITE;
        if ((f->stage == RF_MESH) != mesh)
            reflect_report(job, p->location, "parameter '%s' cannot be one of %s function '%s'",
                           p->name, f->stage == RF_MESH ? "mesh" : "object", f->name);
        else if (mesh)
            set_mesh(b, job, f, info, p->location);
        return true;
    }
    bool payload = false;
    for (size_t i = 0; i < p->n_attrs; i++) payload |= strcmp(p->attrs[i].name, "payload") == 0;
    if (!payload) return false;
    arg->kind = RF_ARG_PAYLOAD;
    arg->index = 0;
    if ((info->kind != BRIDGE_TYPE_REFERENCE && info->kind != BRIDGE_TYPE_POINTER) ||
        info->element >= b->lib->n_types) {
        reflect_report(job, p->location,
                       "the payload '%s' of '%s' must be a reference or pointer in the object_data "
                       "address space",
                       p->name, f->name);
        return true;
    }
    arg->type = info->element;
    arg->access = info->is_const ? RF_READ_ONLY : RF_READ_WRITE;
    f->payload_bytes = b->infos[info->element].size;
    if (f->payload_bytes > MAX_PAYLOAD) {
        reflect_report(job, p->location, "the payload '%s' takes %u bytes: there may be %d",
                       p->name, f->payload_bytes, MAX_PAYLOAD);
        f->payload_bytes = 0;
    }
    return true;
}

void reflect_mesh_check(BridgeJob *job, RfFunction *f, const BridgeFunction *from) {
    bool has_mesh = false;
    for (uint32_t i = 0; i < f->n_args; i++) has_mesh |= f->args[i].kind == RF_ARG_MESH;
    if (f->stage == RF_MESH && !has_mesh)
        reflect_report(job, from->decl.location, "mesh function '%s' has no mesh", f->name);
    for (size_t i = 0; i < from->decl.n_attrs; i++) {
        const BridgeAttr *a = &from->decl.attrs[i];
        if (strcmp(a->name, "max_total_threadgroups_per_mesh_grid") != 0) continue;
        if (f->stage != RF_OBJECT || a->n_args != 1 || a->args[0].value < 1 ||
            a->args[0].value > INT32_MAX)
            reflect_report(job, a->location,
                           "'%s' attribute takes a positive number and only applies to object "
                           "functions",
                           a->name);
        else
            f->max_mesh_groups = (uint32_t)a->args[0].value;
    }
}

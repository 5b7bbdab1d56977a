// SPDX-License-Identifier: Apache-2.0
// reflect.c: reflection data to bytes and back. The reader trusts nothing: counts are bounded by
// the bytes that are left, indices and enums by their ranges, and a type never contains itself
// except through a pointer, so that readers may walk types without further checks.
#include "abi/reflect.h"
#include "abi/candidate.h"
#include "abi/data_types.h"
#include "abi/texture_layout.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 256, MAX_SLOTS = 65536 };

static const char *const builtin_names[RF_N_BUILTINS] = {
    [RF_THREAD_POSITION_IN_GRID] = "thread_position_in_grid",
    [RF_THREAD_POSITION_IN_THREADGROUP] = "thread_position_in_threadgroup",
    [RF_THREAD_INDEX_IN_THREADGROUP] = "thread_index_in_threadgroup",
    [RF_THREADGROUP_POSITION_IN_GRID] = "threadgroup_position_in_grid",
    [RF_THREADS_PER_THREADGROUP] = "threads_per_threadgroup",
    [RF_DISPATCH_THREADS_PER_THREADGROUP] = "dispatch_threads_per_threadgroup",
    [RF_THREADS_PER_GRID] = "threads_per_grid",
    [RF_THREADGROUPS_PER_GRID] = "threadgroups_per_grid",
    [RF_GRID_ORIGIN] = "grid_origin",
    [RF_GRID_SIZE] = "grid_size",
    [RF_THREAD_INDEX_IN_SIMDGROUP] = "thread_index_in_simdgroup",
    [RF_SIMDGROUP_INDEX_IN_THREADGROUP] = "simdgroup_index_in_threadgroup",
    [RF_THREADS_PER_SIMDGROUP] = "threads_per_simdgroup",
    [RF_THREAD_EXECUTION_WIDTH] = "thread_execution_width",
    [RF_SIMDGROUPS_PER_THREADGROUP] = "simdgroups_per_threadgroup",
    [RF_DISPATCH_SIMDGROUPS_PER_THREADGROUP] = "dispatch_simdgroups_per_threadgroup",
    [RF_THREAD_INDEX_IN_QUADGROUP] = "thread_index_in_quadgroup",
    [RF_QUADGROUP_INDEX_IN_THREADGROUP] = "quadgroup_index_in_threadgroup",
    [RF_QUADGROUPS_PER_THREADGROUP] = "quadgroups_per_threadgroup",
    [RF_DISPATCH_QUADGROUPS_PER_THREADGROUP] = "dispatch_quadgroups_per_threadgroup",
    [RF_VIEW] = "amplification_id",
    [RF_N_VIEWS] = "amplification_count",
};

const char *rf_stage_name(RfStage stage) {
    static const char *const names[] = {"kernel", "vertex",  "fragment",     "object",
                                        "mesh",   "visible", "intersection", "stitchable"};
    return names[stage];
}

const char *rf_builtin_name(unsigned builtin) {
    return builtin < RF_N_BUILTINS ? builtin_names[builtin] : NULL;
}

int rf_builtin_from_name(const char *name) {
    for (int i = 0; i < RF_N_BUILTINS; i++)
        if (!strcmp(builtin_names[i], name)) return i;
    return -1;
}

const RfFunction *rf_find_function(const RfLibrary *lib, const char *name) {
    for (uint32_t i = 0; i < lib->n_functions; i++)
        if (!strcmp(lib->functions[i].name, name)) return &lib->functions[i];
    return NULL;
}

bool rf_intersection(const RfFunction *f, unsigned *tags, unsigned *primitive) {
    return f->stage == RF_INTERSECTION &&
           sscanf(f->signature, RF_INTERSECTION_SIGNATURE, tags, primitive) == 2;
}

uint32_t rf_scalar_of(uint32_t data_type, uint32_t *n) {
    static const uint8_t first[] = {3, 16, 29, 33, 37, 41, 45, 49, 53, 81, 85, 121};
    for (size_t i = 0; i < sizeof first; i++)
        if (data_type >= first[i] && data_type < first[i] + 4u) {
            *n = data_type - first[i] + 1;
            return first[i];
        }
    *n = 0;
    return 0;
}

static void encode_place(const RfPlace *p, WireOut *w) {
    wire_str(w, p->constant ? p->constant : "");
    wire_u32(w, (uint32_t)p->scale);
    wire_u32(w, (uint32_t)p->offset);
}

static void decode_place(RfPlace *p, WireIn *r) {
    p->constant = wire_get_str(r);
    p->scale = (int32_t)wire_get_u32(r);
    p->offset = (int32_t)wire_get_u32(r);
}

static void encode_values(const RfValue *values, uint32_t n, WireOut *w) {
    wire_u32(w, n);
    for (uint32_t i = 0; i < n; i++) {
        const RfValue *v = &values[i];
        wire_str(w, v->name);
        wire_str(w, v->condition);
        wire_u8(w, v->role);
        wire_u8(w, v->user);
        wire_u8(w, v->interpolation);
        wire_u8(w, v->place);
        wire_u8(w, v->qualifier);
        wire_u8(w, v->invariant);
        wire_u32(w, v->param);
        wire_u32(w, v->offset);
        wire_u32(w, v->data_type);
        wire_u32(w, v->n);
        wire_u32(w, v->row);
        wire_u32(w, v->index);
        wire_u32(w, v->source);
        wire_u32(w, v->points);
        wire_u32(w, v->stride);
        wire_u8(w, v->primitive);
        wire_u8(w, v->pull);
        encode_place(&v->given, w);
    }
}

static void encode_type(const RfType *t, WireOut *w) {
    wire_u32(w, t->data_type);
    wire_str(w, t->name);
    wire_u32(w, t->size);
    wire_u32(w, t->align);
    wire_u32(w, t->n_elements);
    wire_u32(w, t->stride);
    wire_u32(w, t->element);
    wire_u8(w, t->space);
    wire_u8(w, t->access);
    wire_u8(w, t->texture_type);
    wire_u8(w, t->depth);
    wire_u8(w, t->samples);
    wire_u8(w, t->rank);
    wire_u32(w, t->index_type);
    for (uint32_t i = 0; i < t->rank; i++) wire_u32(w, t->extents[i]);
    wire_u32(w, t->n_members);
    for (uint32_t i = 0; i < t->n_members; i++) {
        const RfMember *m = &t->members[i];
        wire_str(w, m->name);
        wire_u32(w, m->type);
        wire_u32(w, m->offset);
        wire_u32(w, (uint32_t)m->id);
    }
}

static void encode_mesh(const RfMesh *m, WireOut *w) {
    wire_u8(w, m->topology);
    wire_u32(w, m->n_vertices);
    wire_u32(w, m->n_primitives);
    wire_u32(w, m->index_offset);
    wire_u32(w, m->vertex_offset);
    wire_u32(w, m->vertex_stride);
    wire_u32(w, m->primitive_offset);
    wire_u32(w, m->primitive_stride);
    wire_u32(w, m->n_bytes);
}

static void encode_args(const RfArg *args, uint32_t n, WireOut *w) {
    wire_u32(w, n);
    for (uint32_t i = 0; i < n; i++) {
        const RfArg *a = &args[i];
        wire_str(w, a->name);
        wire_u8(w, a->kind);
        wire_u8(w, a->space);
        wire_u8(w, a->access);
        wire_u8(w, a->builtin);
        wire_u8(w, a->member);
        wire_u32(w, a->param);
        wire_u32(w, a->offset);
        wire_u32(w, a->index);
        wire_u32(w, a->count);
        wire_u32(w, a->slot);
        wire_u32(w, a->type);
        wire_str(w, a->condition);
        wire_str(w, a->symbol);
        encode_place(&a->given, w);
    }
}

static void encode_function(const RfFunction *f, WireOut *w) {
    wire_str(w, f->name);
    wire_str(w, f->symbol);
    wire_str(w, f->signature);
    wire_u8(w, f->stage);
    wire_u32(w, f->max_total_threads);
    for (int i = 0; i < 3; i++) wire_u32(w, f->required_threads[i]);
    wire_u32(w, f->n_slots);
    encode_args(f->args, f->n_args, w);
    encode_values(f->inputs, f->n_inputs, w);
    encode_values(f->outputs, f->n_outputs, w);
    wire_u32(w, f->input_rows);
    wire_u32(w, f->output_rows);
    wire_u8(w, f->early_tests);
    wire_u8(w, f->patch);
    wire_u32(w, f->patch_points);
    encode_mesh(&f->mesh, w);
    wire_u32(w, f->payload_bytes);
    wire_u32(w, f->max_mesh_groups);
    wire_u32(w, f->imageblock_bytes);
    wire_u32(w, f->color_block_bytes);
    wire_u32(w, f->n_constants);
    for (uint32_t i = 0; i < f->n_constants; i++) wire_u32(w, f->constants[i]);
}

void rf_encode(const RfLibrary *lib, WireOut *w) {
    wire_u32(w, lib->n_types);
    wire_u32(w, lib->n_functions);
    wire_u32(w, lib->n_constants);
    for (uint32_t i = 0; i < lib->n_types; i++) encode_type(&lib->types[i], w);
    for (uint32_t i = 0; i < lib->n_functions; i++) encode_function(&lib->functions[i], w);
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        const RfConstant *c = &lib->constants[i];
        wire_str(w, c->name);
        wire_str(w, c->symbol);
        wire_u32(w, c->index);
        wire_u32(w, c->type);
        wire_u8(w, c->optional);
    }
    encode_args(lib->bindings, lib->n_bindings, w);
}

// Room for n elements of which each takes at least min_bytes of the input; NULL (and failed) if the
// count cannot be true. Zero elements give NULL without failing.
static void *new_array(WireIn *r, uint32_t n, size_t size, size_t min_bytes) {
    if (r->failed || !n) return NULL;
    if (n > (size_t)(r->end - r->at) / min_bytes) {
        r->failed = true;
        return NULL;
    }
    void *p = calloc(n, size);
    if (!p) r->failed = true;
    return p;
}

static void decode_type(RfType *t, WireIn *r) {
    t->data_type = wire_get_u32(r);
    t->name = wire_get_str(r);
    t->size = wire_get_u32(r);
    t->align = wire_get_u32(r);
    t->n_elements = wire_get_u32(r);
    t->stride = wire_get_u32(r);
    t->element = wire_get_u32(r);
    t->space = wire_get_u8(r);
    t->access = wire_get_u8(r);
    t->texture_type = wire_get_u8(r);
    t->depth = wire_get_u8(r);
    t->samples = wire_get_u8(r);
    t->rank = wire_get_u8(r);
    t->index_type = wire_get_u32(r);
    if (t->rank > RF_MAX_RANK) r->failed = true;
    for (uint32_t i = 0; i < t->rank && !r->failed; i++) t->extents[i] = wire_get_u32(r);
    uint32_t n = wire_get_u32(r);
    t->members = new_array(r, n, sizeof *t->members, 20);
    if (r->failed) return;
    t->n_members = n; // only once the array is there: rf_free walks it
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        RfMember *m = &t->members[i];
        m->name = wire_get_str(r);
        m->type = wire_get_u32(r);
        m->offset = wire_get_u32(r);
        m->id = (int32_t)wire_get_u32(r);
    }
}

static RfValue *decode_values(uint32_t *n_values, WireIn *r) {
    uint32_t n = wire_get_u32(r);
    RfValue *values = new_array(r, n, sizeof *values, 60);
    if (r->failed) return NULL;
    *n_values = n;
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        RfValue *v = &values[i];
        v->name = wire_get_str(r);
        v->condition = wire_get_str(r);
        v->role = wire_get_u8(r);
        v->user = wire_get_u8(r);
        v->interpolation = wire_get_u8(r);
        v->place = wire_get_u8(r);
        v->qualifier = wire_get_u8(r);
        v->invariant = wire_get_u8(r);
        v->param = wire_get_u32(r);
        v->offset = wire_get_u32(r);
        v->data_type = wire_get_u32(r);
        v->n = wire_get_u32(r);
        v->row = wire_get_u32(r);
        v->index = wire_get_u32(r);
        v->source = wire_get_u32(r);
        v->points = wire_get_u32(r);
        v->stride = wire_get_u32(r);
        v->primitive = wire_get_u8(r);
        v->pull = wire_get_u8(r);
        decode_place(&v->given, r);
    }
    return values;
}

static void decode_mesh(RfMesh *m, WireIn *r) {
    m->topology = wire_get_u8(r);
    m->n_vertices = wire_get_u32(r);
    m->n_primitives = wire_get_u32(r);
    m->index_offset = wire_get_u32(r);
    m->vertex_offset = wire_get_u32(r);
    m->vertex_stride = wire_get_u32(r);
    m->primitive_offset = wire_get_u32(r);
    m->primitive_stride = wire_get_u32(r);
    m->n_bytes = wire_get_u32(r);
}

static RfArg *decode_args(uint32_t *n_args, WireIn *r) {
    uint32_t n = wire_get_u32(r);
    RfArg *args = new_array(r, n, sizeof *args, 49);
    if (r->failed) return NULL;
    *n_args = n;
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        RfArg *a = &args[i];
        a->name = wire_get_str(r);
        a->kind = wire_get_u8(r);
        a->space = wire_get_u8(r);
        a->access = wire_get_u8(r);
        a->builtin = wire_get_u8(r);
        a->member = wire_get_u8(r);
        a->param = wire_get_u32(r);
        a->offset = wire_get_u32(r);
        a->index = wire_get_u32(r);
        a->count = wire_get_u32(r);
        a->slot = wire_get_u32(r);
        a->type = wire_get_u32(r);
        a->condition = wire_get_str(r);
        a->symbol = wire_get_str(r);
        decode_place(&a->given, r);
    }
    return args;
}

static void decode_function(RfFunction *f, WireIn *r) {
    f->name = wire_get_str(r);
    f->symbol = wire_get_str(r);
    f->signature = wire_get_str(r);
    f->stage = wire_get_u8(r);
    f->max_total_threads = wire_get_u32(r);
    for (int i = 0; i < 3; i++) f->required_threads[i] = wire_get_u32(r);
    f->n_slots = wire_get_u32(r);
    f->args = decode_args(&f->n_args, r);
    f->inputs = decode_values(&f->n_inputs, r);
    f->outputs = decode_values(&f->n_outputs, r);
    f->input_rows = wire_get_u32(r);
    f->output_rows = wire_get_u32(r);
    f->early_tests = wire_get_u8(r);
    f->patch = wire_get_u8(r);
    f->patch_points = wire_get_u32(r);
    decode_mesh(&f->mesh, r);
    f->payload_bytes = wire_get_u32(r);
    f->max_mesh_groups = wire_get_u32(r);
    f->imageblock_bytes = wire_get_u32(r);
    f->color_block_bytes = wire_get_u32(r);
    uint32_t n = wire_get_u32(r);
    f->constants = new_array(r, n, sizeof *f->constants, 4);
    if (r->failed) return;
    f->n_constants = n;
    for (uint32_t i = 0; i < n; i++) f->constants[i] = wire_get_u32(r);
}

// Depth-first over what a type holds by value. state: 0 new, 1 on the path, 2 done.
static bool finite(const RfLibrary *lib, uint32_t ix, unsigned char *state, unsigned depth) {
    if (state[ix] == 2) return true;
    if (state[ix] == 1 || depth > MAX_NESTING) return false;
    const RfType *t = &lib->types[ix];
    state[ix] = 1;
    if (t->data_type != DT_POINTER && t->element != UINT32_MAX &&
        !finite(lib, t->element, state, depth + 1))
        return false;
    for (uint32_t i = 0; i < t->n_members; i++)
        if (!finite(lib, t->members[i].type, state, depth + 1)) return false;
    state[ix] = 2;
    return true;
}

static bool types_valid(const RfLibrary *lib) {
    for (uint32_t i = 0; i < lib->n_types; i++) {
        const RfType *t = &lib->types[i];
        if (t->element != UINT32_MAX && t->element >= lib->n_types) return false;
        if (t->space > RF_THREAD || t->access > RF_WRITE_ONLY ||
            t->texture_type >= ABI_TEXTURE_N_TYPES)
            return false;
        for (uint32_t k = 0; k < t->n_members; k++)
            if (t->members[k].type >= lib->n_types) return false;
    }
    unsigned char *state = calloc(lib->n_types ? lib->n_types : 1, 1);
    if (!state) return false;
    bool ok = true;
    for (uint32_t i = 0; ok && i < lib->n_types; i++) ok = finite(lib, i, state, 0);
    free(state);
    return ok;
}

// The n components of a value lie in what they are numbered by.
static bool values_valid(const RfValue *values, uint32_t n, uint32_t rows) {
    enum { MAX_ATTRIBUTE = 30, MAX_COLOR = 7, MAX_CLIP = 8, MAX_POINTS = 32 };
    if (rows > MAX_SLOTS) return false;
    for (uint32_t i = 0; i < n; i++) {
        const RfValue *v = &values[i];
        uint32_t components;
        if (!rf_scalar_of(v->data_type, &components) || v->role >= RF_N_ROLES) return false;
        if (v->role == RF_CLIP_DISTANCE ? v->n > MAX_CLIP : v->n != components) return false;
        if (v->interpolation > 2 || v->place > 2 || v->qualifier > 2 || v->source > 1) return false;
        if (v->role == RF_VALUE && (uint64_t)v->row + v->n > rows) return false;
        if (v->role >= RF_CANDIDATE && v->role < RF_N_ROLES &&
            (v->row > ABI_CAND_WORDS || v->n > ABI_CAND_WORDS - v->row))
            return false;
        if (v->role == RF_ATTRIBUTE && v->index > MAX_ATTRIBUTE) return false;
        if (v->role == RF_COLOR && v->index > MAX_COLOR) return false;
        if (v->points > MAX_POINTS || v->primitive > 1 || v->pull > 1) return false;
    }
    return true;
}

// What is written lies in the memory there is, as the rasteriser reads it.
static bool mesh_valid(const RfFunction *f) {
    enum { MAX_VERTICES = 256, MAX_PRIMITIVES = 512, MAX_BYTES = 1 << 20, MAX_PAYLOAD = 16384 };
    const RfMesh *m = &f->mesh;
    if (f->patch > 2 || f->patch_points > 32 || f->payload_bytes > MAX_PAYLOAD) return false;
    if (f->stage != RF_MESH) return true;
    if (m->topology > 2 || m->n_vertices > MAX_VERTICES || m->n_primitives > MAX_PRIMITIVES ||
        m->n_bytes > MAX_BYTES)
        return false;
    uint64_t n = m->n_bytes, indices = (uint64_t)m->n_primitives * (m->topology + 1u);
    if (m->index_offset < 4 || m->index_offset + indices > n ||
        m->vertex_offset + (uint64_t)m->n_vertices * m->vertex_stride > n ||
        m->primitive_offset + (uint64_t)m->n_primitives * m->primitive_stride > n)
        return false;
    for (uint32_t i = 0; i < f->n_outputs; i++) {
        const RfValue *v = &f->outputs[i];
        uint64_t end = (uint64_t)v->offset + 4ull * v->n;
        // A component takes 4 bytes at most; 3-vectors end before their padding.
        if (end > (v->primitive ? m->primitive_stride : m->vertex_stride) + 15ull) return false;
    }
    return true;
}

static bool imageblock_valid(const RfFunction *f) {
    enum { MAX_PIXEL = 256 };
    if (f->imageblock_bytes > MAX_PIXEL || f->color_block_bytes > MAX_PIXEL) return false;
    for (uint32_t i = 0; f->stage == RF_KERNEL && i < f->n_outputs; i++) {
        uint64_t end = (uint64_t)f->outputs[i].offset + 4ull * f->outputs[i].n;
        // A component takes 4 bytes at most; 3-vectors end before their padding.
        if (f->outputs[i].role != RF_COLOR || end > f->color_block_bytes + 15ull) return false;
    }
    for (uint32_t i = 0; f->stage == RF_FRAGMENT && i < f->n_inputs + f->n_outputs; i++) {
        const RfValue *v = i < f->n_inputs ? &f->inputs[i] : &f->outputs[i - f->n_inputs];
        if (v->role == RF_IMAGEBLOCK && (uint64_t)v->row + v->stride > f->imageblock_bytes)
            return false;
    }
    return true;
}

static bool args_valid(const RfLibrary *lib, const RfArg *args, uint32_t n, uint32_t n_slots) {
    for (uint32_t i = 0; i < n; i++) {
        const RfArg *a = &args[i];
        if (a->kind > RF_ARG_ACCELERATION || a->space > RF_THREAD || a->access > RF_WRITE_ONLY)
            return false;
        if (a->type >= lib->n_types) return false;
        if (a->kind == RF_ARG_BUILTIN && a->builtin >= RF_N_BUILTINS) return false;
        if (a->slot != UINT32_MAX && (uint64_t)a->slot + a->count > n_slots) return false;
    }
    return true;
}

static bool function_valid(const RfLibrary *lib, const RfFunction *f) {
    if (f->stage > RF_STITCHABLE || f->n_slots > MAX_SLOTS ||
        !args_valid(lib, f->args, f->n_args, f->n_slots))
        return false;
    for (uint32_t i = 0; i < f->n_constants; i++)
        if (f->constants[i] >= lib->n_constants) return false;
    return mesh_valid(f) && imageblock_valid(f) &&
           values_valid(f->inputs, f->n_inputs, f->input_rows) &&
           values_valid(f->outputs, f->n_outputs, f->output_rows);
}

static bool valid(const RfLibrary *lib) {
    if (!types_valid(lib)) return false;
    for (uint32_t i = 0; i < lib->n_functions; i++)
        if (!function_valid(lib, &lib->functions[i])) return false;
    for (uint32_t i = 0; i < lib->n_constants; i++)
        if (lib->constants[i].type >= lib->n_types) return false;
    return args_valid(lib, lib->bindings, lib->n_bindings, 0);
}

RfLibrary *rf_decode(WireIn *r) {
    RfLibrary *lib = calloc(1, sizeof *lib);
    if (!lib) {
        r->failed = true;
        return NULL;
    }
    uint32_t n_types = wire_get_u32(r), n_functions = wire_get_u32(r),
             n_constants = wire_get_u32(r);
    lib->types = new_array(r, n_types, sizeof *lib->types, 34);
    if (r->failed) goto fail;
    lib->n_types = n_types;
    for (uint32_t i = 0; i < n_types && !r->failed; i++) decode_type(&lib->types[i], r);
    lib->functions = new_array(r, n_functions, sizeof *lib->functions, 45);
    if (r->failed) goto fail;
    lib->n_functions = n_functions;
    for (uint32_t i = 0; i < n_functions && !r->failed; i++) decode_function(&lib->functions[i], r);
    lib->constants = new_array(r, n_constants, sizeof *lib->constants, 24);
    if (r->failed) goto fail;
    lib->n_constants = n_constants;
    for (uint32_t i = 0; i < n_constants && !r->failed; i++) {
        RfConstant *c = &lib->constants[i];
        c->name = wire_get_str(r);
        c->symbol = wire_get_str(r);
        c->index = wire_get_u32(r);
        c->type = wire_get_u32(r);
        c->optional = wire_get_u8(r);
    }
    lib->bindings = decode_args(&lib->n_bindings, r);
    if (r->failed || !valid(lib)) goto fail;
    return lib;
fail:
    r->failed = true;
    rf_free(lib);
    return NULL;
}

static void free_values(RfValue *values, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(values[i].name);
        free(values[i].condition);
        free(values[i].given.constant);
    }
    free(values);
}

void rf_free_arg(RfArg *a) {
    free(a->name);
    free(a->condition);
    free(a->symbol);
    free(a->given.constant);
}

static void free_args(RfArg *args, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) rf_free_arg(&args[i]);
    free(args);
}

bool rf_bind(RfFunction *f, const RfArg *binding) {
    RfArg *args = realloc(f->args, (f->n_args + 1) * sizeof *args), *a;
    if (!args) return false;
    f->args = args;
    a = &args[f->n_args++];
    *a = *binding;
    a->name = strdup(binding->name), a->condition = strdup(binding->condition);
    a->symbol = strdup(binding->symbol);
    a->given = (RfPlace){0};
    a->slot = f->n_slots;
    f->n_slots += a->count;
    return a->name && a->condition && a->symbol;
}

void rf_free(RfLibrary *lib) {
    if (!lib) return;
    for (uint32_t i = 0; i < lib->n_types; i++) {
        RfType *t = &lib->types[i];
        for (uint32_t k = 0; k < t->n_members; k++) free(t->members[k].name);
        free(t->members);
        free(t->name);
    }
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        RfFunction *f = &lib->functions[i];
        free_args(f->args, f->n_args);
        free_values(f->inputs, f->n_inputs);
        free_values(f->outputs, f->n_outputs);
        free(f->constants);
        free(f->name);
        free(f->symbol);
        free(f->signature);
    }
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        free(lib->constants[i].name);
        free(lib->constants[i].symbol);
    }
    free(lib->types);
    free(lib->functions);
    free(lib->constants);
    free_args(lib->bindings, lib->n_bindings);
    free(lib);
}

// SPDX-License-Identifier: Apache-2.0
// mesh.c: object and mesh functions. Both are kernels. Threadgroups of an object function run in
// chunks, all threads at once, while a batch is cut into spans: each leaves a payload and the size
// of its mesh grid. A span is one threadgroup of the mesh function: it writes vertices and
// primitives into memory of the worker, from where they go into slots, as if a vertex function had
// run. With values of primitives every primitive has corners of its own, which carry them.
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/raster/raster_int.h"
#include "base/numbers.h"

#define CHUNK_GROUPS 1024u
#define CHUNK_BYTES (16u << 20) // of payloads
#define ALIGNMENT 64u

_Static_assert(UNIT_PRIMITIVES >= 512 && UNIT_SLOTS >= 3 * 512, "a mesh fits a span");

typedef struct MeshMemory {
    unsigned char *output; // of a mesh function
    size_t output_capacity;
    void **args;
    size_t args_capacity;
    uint64_t *lengths;
    size_t lengths_capacity;
} MeshMemory;

static size_t rounded(size_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

void raster_geometry_free(Worker *w) {
    free(w->tessellation);
    if (w->mesh) {
        free(w->mesh->output);
        free(w->mesh->args);
        free(w->mesh->lengths);
    }
    free(w->mesh);
}

// ---- Running a threadgroup ----

static MeshMemory *memory_of(Worker *w) {
    if (!w->mesh) w->mesh = calloc(1, sizeof *w->mesh);
    return w->mesh;
}

// The arguments of the function with the addresses of this threadgroup.
static bool set_arguments(MeshMemory *m, const KernelGroup *g) {
    const DevMeshFunction *f = g->function;
    void **args = raster_grow(m->args, &m->args_capacity, f->n_slots + 1, sizeof *args);
    if (args) m->args = args;
    uint64_t *lengths =
        raster_grow(m->lengths, &m->lengths_capacity, f->n_slots + 1, sizeof *lengths);
    if (lengths) m->lengths = lengths;
    if (!args || !lengths) return false;
    if (f->n_slots) memcpy(args, f->arguments.args, f->n_slots * sizeof *args);
    if (f->n_slots && f->arguments.lengths)
        memcpy(lengths, f->arguments.lengths, f->n_slots * sizeof *lengths);
    if (f->payload_slot < f->n_slots) {
        args[f->payload_slot] = g->payload;
        lengths[f->payload_slot] = g->payload_bytes;
    }
    if (f->output_slot < f->n_slots) {
        args[f->output_slot] = g->output;
        lengths[f->output_slot] = g->output_bytes;
    }
    return true;
}

bool raster_run_group(Worker *w, const KernelGroup *g) {
    const DevMeshFunction *f = g->function;
    MeshMemory *m = memory_of(w);
    if (!m || !set_arguments(m, g)) return false;
    CpuContextLaunch launch;
    cpu_launch_init(&launch, w->pass->run, f->arguments.context);
    launch.launch.args = m->args;
    launch.launch.lengths = f->arguments.lengths ? m->lengths : NULL;
    launch.launch.live = f->arguments.live;
    launch.launch.view = g->view;
    launch.launch.n_views = g->n_views;
    size_t threads = 1;
    for (int k = 0; k < 3; k++) {
        launch.launch.groups_per_grid[k] = g->groups[k];
        launch.launch.group_size[k] = g->size[k];
        launch.launch.threads_per_grid[k] =
            g->threads[k] ? g->threads[k] : g->groups[k] * g->size[k];
        launch.launch.grid_size[k] = launch.launch.threads_per_grid[k];
        threads *= g->size[k];
    }
    size_t frames = (threads + LANES - 1) / LANES * cpu_code(f->code)->info.frame_stride;
    CpuThread *t = w->thread;
    size_t own = f->threadgroup_bytes;
    if (!cpu_thread_reserve(t, own + g->shared_bytes, frames)) return false;
    if (g->shared_bytes) memcpy((char *)t->threadgroup_memory + own, g->shared, g->shared_bytes);
    cpu_thread_call(t, (CpuCodeFn *)cpu_code(f->code)->kernel, &launch.launch, g->number,
                    g->number + 1, t->threadgroup_memory, t->frames);
    if (g->shared_bytes) memcpy(g->shared, (char *)t->threadgroup_memory + own, g->shared_bytes);
    return true;
}

// ---- Objects ----

static uint64_t groups_in(const uint32_t grid[3]) {
    uint64_t a = (uint64_t)grid[0] * grid[1];
    if (a == 0 || grid[2] == 0) return 0;
    return a > UINT64_MAX / grid[2] ? UINT64_MAX : a * grid[2];
}

// Runs of the object function, one for each view; without one, of the mesh grid.
static uint64_t object_runs(const DevDraw *d) {
    uint64_t n = d->mesh->object.code ? groups_in(d->grid.groups) : 1;
    return n > UINT64_MAX / DEV_MAX_VIEWS ? UINT64_MAX : n * raster_views(d);
}

static ObjectChunk *add_chunk(Pass *p, size_t draw, uint64_t first) {
    const DevDraw *d = &p->draws[draw];
    size_t payload = rounded(d->mesh->payload_bytes ? d->mesh->payload_bytes : 1);
    uint64_t left = object_runs(d) - first, n = CHUNK_BYTES / payload;
    n = n > CHUNK_GROUPS ? CHUNK_GROUPS : n;
    n = n > left ? left : n;
    size_t head = rounded(sizeof(ObjectChunk) + n * sizeof(ObjectRun));
    ObjectChunk *chunk = aligned_alloc(ALIGNMENT, head + n * payload);
    if (!chunk) return NULL;
    *chunk = (ObjectChunk){.next = p->objects, .draw = draw, .first = first, .n = (uint32_t)n};
    for (size_t i = 0; i < n; i++)
        chunk->runs[i] = (ObjectRun){.payload = (unsigned char *)chunk + head + i * payload};
    return p->objects = chunk;
}

void raster_run_object(Worker *w, const ObjectChunk *chunk, uint32_t i) {
    const DevDraw *d = &w->pass->draws[chunk->draw];
    ObjectRun *run = (ObjectRun *)&chunk->runs[i];
    uint32_t views = raster_views(d);
    KernelGroup g = {.function = &d->mesh->object,
                     .size = d->grid.object_size,
                     .number = (chunk->first + i) / views,
                     .view = (uint32_t)((chunk->first + i) % views),
                     .n_views = views,
                     .payload = run->payload,
                     .payload_bytes = d->mesh->payload_bytes,
                     .output = run->grid,
                     .output_bytes = sizeof run->grid};
    memcpy(g.groups, d->grid.groups, sizeof g.groups);
    memcpy(g.threads, d->grid.threads, sizeof g.threads);
    memset(run->payload, 0, d->mesh->payload_bytes);
    if (!raster_run_group(w, &g)) dev_run_fail(w->pass->run, DEV_FAULT_NO_MEMORY, 0);
    if (groups_in(run->grid) > d->mesh->max_groups) memset(run->grid, 0, sizeof run->grid);
}

void raster_objects_free(Pass *p, bool all) {
    while (p->objects && (all || p->objects->next)) {
        ObjectChunk **at = all ? &p->objects : &p->objects->next, *chunk = *at;
        *at = chunk->next;
        free(chunk);
    }
}

int raster_mesh_span(Pass *p, Cursor *c, Span *span) {
    const DevDraw *d = &p->draws[c->draw];
    bool objects = d->mesh->object.code != NULL;
    for (;;) {
        const ObjectChunk *chunk = p->objects;
        const ObjectRun *run = NULL;
        if (c->object >= object_runs(d)) return 0;
        if (objects && (!chunk || chunk->draw != c->draw || c->object < chunk->first ||
                        c->object - chunk->first >= chunk->n))
            return add_chunk(p, c->draw, c->object) ? 2 : -1;
        if (objects) run = &chunk->runs[c->object - chunk->first];
        if (c->group < groups_in(run ? run->grid : d->grid.groups)) {
            *span = (Span){.from = *c, .n_primitives = d->mesh->n_primitives, .object = run};
            c->group++;
            return 1;
        }
        c->object++;
        c->group = 0;
    }
}

// ---- Meshes ----

uint32_t raster_mesh_word(const unsigned char *from, uint8_t type, uint32_t k) {
    uint32_t word;
    uint16_t half;
    int16_t small;
    float f32;
    switch (type) {
    case DEV_MESH_HALF:
        memcpy(&half, from + 2 * k, 2);
        f32 = float_from_half(half);
        memcpy(&word, &f32, 4);
        return word;
    case DEV_MESH_SHORT: memcpy(&small, from + 2 * k, 2); return (uint32_t)(int32_t)small;
    case DEV_MESH_USHORT: memcpy(&half, from + 2 * k, 2); return half;
    case DEV_MESH_CHAR: return (uint32_t)(int32_t)(signed char)from[k];
    case DEV_MESH_UCHAR: return from[k];
    default: memcpy(&word, from + 4 * k, 4); return word;
    }
}

// The values of a vertex or primitive into a slot's rows.
static void fill_slot(Worker *w, const DrawInfo *d, const unsigned char *from, bool primitive,
                      uint32_t slot) {
    const DevMeshStage *m = d->draw->mesh;
    for (uint32_t i = 0; i < m->n_values; i++) {
        const DevMeshValue *v = &m->values[i];
        if (v->primitive != primitive || v->row >= DEV_MESH_ROW_ID) continue;
        uint32_t *to = raster_row(w, d->n_rows, slot, v->row);
        if (v->type == DEV_MESH_WORD)
            for (uint32_t k = 0; k < v->n; k++) memcpy(to + k * LANES, from + v->offset + 4 * k, 4);
        else
            for (uint32_t k = 0; k < v->n; k++)
                to[k * LANES] = raster_mesh_word(from + v->offset, v->type, k);
    }
}

typedef struct Special { // of primitives, not for rows
    const DevMeshValue *id, *culled;
    bool values; // there are others
} Special;

static Special find_special(const DevMeshStage *m) {
    Special s = {0};
    for (uint32_t i = 0; i < m->n_values; i++) {
        const DevMeshValue *v = &m->values[i];
        if (v->row == DEV_MESH_ROW_ID)
            s.id = v;
        else if (v->row == DEV_MESH_ROW_CULLED)
            s.culled = v;
        else
            s.values |= v->primitive;
    }
    return s;
}

// Slots of a primitive's corners. shared: [n_vertices] slots of vertices already there, UINT32_MAX
// otherwise.
static void add_corners(Worker *w, const DrawInfo *d, const unsigned char *output,
                        const unsigned char *indices, const unsigned char *primitive,
                        uint32_t *shared, Corners *c) {
    const DevMeshStage *m = d->draw->mesh;
    uint32_t n = raster_corners(m->topology);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = indices[k];
        const unsigned char *vertex = output + m->vertex_offset + (size_t)v * m->vertex_stride;
        if (!primitive && shared[v] != UINT32_MAX) {
            c->slot[k] = shared[v];
            continue;
        }
        uint32_t slot = c->slot[k] = w->n_slots++;
        fill_slot(w, d, vertex, false, slot);
        if (primitive) fill_slot(w, d, primitive, true, slot);
        shared[v] = slot;
    }
    for (uint32_t k = n; k < 3; k++) c->slot[k] = c->slot[0];
}

static void take_primitives(Worker *w, const DrawInfo *d, uint32_t count, Corners *corners,
                            uint32_t *n) {
    const DevMeshStage *m = d->draw->mesh;
    const unsigned char *output = w->mesh->output;
    Special special = find_special(m);
    uint32_t shared[256], n_corners = raster_corners(m->topology);
    memset(shared, 0xff, sizeof shared);
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *indices = output + m->index_offset + (size_t)i * n_corners;
        const unsigned char *primitive =
            output + m->primitive_offset + (size_t)i * m->primitive_stride;
        bool valid = true;
        for (uint32_t k = 0; k < n_corners; k++) valid &= indices[k] < m->n_vertices;
        if (!valid || (special.culled && primitive[special.culled->offset])) continue;
        Corners *c = &corners[*n];
        add_corners(w, d, output, indices, special.values ? primitive : NULL, shared, c);
        c->primitive =
            special.id ? raster_mesh_word(primitive + special.id->offset, special.id->type, 0) : i;
        ++*n;
    }
}

bool raster_run_mesh(Worker *w, const DrawInfo *d, const Span *span, Corners *corners,
                     uint32_t *n) {
    const DevDraw *draw = d->draw;
    const DevMeshStage *m = draw->mesh;
    MeshMemory *memory = memory_of(w);
    unsigned char *output =
        memory ? raster_grow(memory->output, &memory->output_capacity, m->n_bytes, 1) : NULL;
    if (!output) return false;
    memory->output = output;
    memset(output, 0, m->vertex_offset); // the count and the indices
    KernelGroup g = {.function = &m->mesh,
                     .size = draw->grid.mesh_size,
                     .number = span->from.group,
                     .view = w->view,
                     .n_views = raster_views(draw),
                     .payload = span->object ? span->object->payload : NULL,
                     .payload_bytes = span->object ? m->payload_bytes : 0,
                     .output = output,
                     .output_bytes = m->n_bytes};
    memcpy(g.groups, span->object ? span->object->grid : draw->grid.groups, sizeof g.groups);
    *n = 0;
    w->n_slots = 0;
    if (!raster_run_group(w, &g)) return false;
    uint32_t count;
    memcpy(&count, output, 4);
    if (!d->state->discard_all)
        take_primitives(w, d, count < m->n_primitives ? count : m->n_primitives, corners, n);
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// record_rays.c: builds, refits and copies of acceleration structures. What lies in one cannot be
// read back, and a capture may begin behind the build: so while captures are allowed a structure
// keeps what it was built of (a recipe), and a capture begins with building those that are there.
#include <stdlib.h>
#include <string.h>
#include "devices/capture/codec_int.h"
#include "devices/capture/rays_int.h"
#include "devices/capture/record_int.h"
#include "os/pages.h"

static Record *const r = &cap_record;

typedef struct Recipe {
    unsigned count;  // structures that hold it: copies are built of the same; under the lock
    uint64_t number; // builds are numbered as they come
    DevRayBuild build;
    BaseArena arena;
    char *memory; // os_pages: copies of all that was read; NULL: nothing was
    size_t n_bytes;
} Recipe;

// ---- Recipes ----

static void recipe_free(Recipe *recipe) {
    if (!recipe) return;
    if (recipe->memory) os_pages_free(recipe->memory, recipe->n_bytes);
    base_arena_free(&recipe->arena);
    free(recipe);
}

static void recipe_drop(Recipe *recipe) { // the lock is not held: pages that go are told of
    pthread_mutex_lock(&r->lock);
    bool last = recipe && --recipe->count == 0;
    pthread_mutex_unlock(&r->lock);
    if (last) recipe_free(recipe);
}

typedef struct Piece {
    const char *from, *end;
    size_t at; // in the copies
} Piece;
typedef struct Pieces {
    Piece *list;
    size_t n, capacity;
    char *memory;
} Pieces;

// How far indices reach, as elements.
static uint64_t n_chosen(const DevGeometry *g) {
    uint64_t last = 0, n = g->indices.n_bytes / g->index_bytes;
    if (n > g->n_primitives * 3) n = g->n_primitives * 3;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t index = 0;
        memcpy(&index, g->indices.at + i * g->index_bytes, g->index_bytes); // little-endian
        if (index > last) last = index;
    }
    return last + 1;
}

static void cut(DevRange *range, uint64_t n, uint64_t stride) {
    uint64_t n_bytes;
    if (n != CAP_ANY && !__builtin_mul_overflow(n, stride, &n_bytes) && n_bytes < range->n_bytes)
        range->n_bytes = n_bytes;
}

static void cut_chosen(DevRayBuild *build) {
    for (uint32_t i = 0; i < build->n_geometries; i++) {
        const DevGeometry *g = &build->geometries[i];
        if (g->shape != DEV_TRIANGLES || !g->indices.at) continue;
        uint64_t n = n_chosen(g);
        for (uint32_t k = 0; k < build->n_keyframes; k++)
            cut((DevRange *)(uintptr_t)&g->elements.frames[k], n, g->elements.stride);
    }
}

static bool gather(void *context, DevRange *range, uint64_t n, uint64_t stride) {
    Pieces *p = context;
    cut(range, n, stride);
    if (!array_reserve(&p->list, &p->capacity, p->n + 1)) return false;
    p->list[p->n++] = (Piece){.from = range->at, .end = range->at + range->n_bytes};
    return true;
}

static int by_place(const void *a, const void *b) {
    const Piece *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

// Ranges of one buffer overlap: each byte is kept once.
static size_t merge(Pieces *p) {
    size_t n = 0, n_bytes = 0;
    qsort(p->list, p->n, sizeof *p->list, by_place);
    for (size_t i = 0; i < p->n; i++) {
        Piece *last = n ? &p->list[n - 1] : NULL;
        if (last && p->list[i].from <= last->end) {
            if (p->list[i].end > last->end) last->end = p->list[i].end;
        } else {
            p->list[n++] = p->list[i];
        }
    }
    p->n = n;
    for (size_t i = 0; i < n; i++) { // aligned as it was
        p->list[i].at = (n_bytes + 63) / 64 * 64 + (uintptr_t)p->list[i].from % 64;
        n_bytes = p->list[i].at + (size_t)(p->list[i].end - p->list[i].from);
    }
    return n_bytes;
}

static bool move(void *context, DevRange *range, uint64_t n, uint64_t stride) {
    const Pieces *p = context;
    (void)n, (void)stride;
    size_t low = 0, high = p->n; // the last piece that begins at it or before
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->list[middle].from <= range->at)
            low = middle;
        else
            high = middle;
    }
    range->at = p->memory + p->list[low].at + (range->at - p->list[low].from);
    return true;
}

// NULL: no memory, and a capture that begins later says so.
static Recipe *recipe_new(const DevRayBuild *build) {
    Recipe *recipe = calloc(1, sizeof *recipe);
    Pieces p = {0};
    if (!recipe || r->inner->memory_make) { // the host does not see what is read
        free(recipe);
        return NULL;
    }
    recipe->count = 1;
    bool ok = cap_build_copy(&recipe->build, build, &recipe->arena);
    if (ok) cut_chosen(&recipe->build);
    ok = ok && cap_build_ranges(&recipe->build, gather, &p);
    if (ok && p.n) {
        recipe->n_bytes = merge(&p) + 1;
        recipe->memory = p.memory = os_pages(recipe->n_bytes);
        ok = p.memory != NULL;
    }
    for (size_t i = 0; ok && i < p.n; i++)
        memcpy(p.memory + p.list[i].at, p.list[i].from, (size_t)(p.list[i].end - p.list[i].from));
    ok = ok && cap_build_ranges(&recipe->build, move, &p);
    free(p.list);
    if (ok) return recipe;
    recipe_free(recipe);
    return NULL;
}

// Takes the recipe over. in_file: a command of the run that is being recorded has done it.
static void keep(uint64_t handle, Recipe *recipe, bool in_file) {
    static uint64_t number; // under the lock
    pthread_mutex_lock(&r->lock);
    Handle *h = record_handle(handle);
    Recipe *old = recipe;
    if (h) {
        old = h->recipe;
        h->recipe = recipe;
        h->changed = ++number;
        h->told = in_file;
        if (recipe && !recipe->number) recipe->number = number;
    }
    pthread_mutex_unlock(&r->lock);
    recipe_drop(old);
}

void record_rays_gone(Handle *h) { keep(h->value, NULL, false); }

// ---- Commands ----

static bool reach(void *context, DevRange *range, uint64_t n, uint64_t stride) {
    (void)context, (void)n, (void)stride;
    record_reach((uintptr_t)range->at);
    return true;
}

static void put(CapKind kind, uint64_t to, uint64_t from, const DevRayBuild *build) {
    CapEvent e = {.kind = kind, .build = {.to = to, .from = from}};
    if (build) {
        e.build.dev = *build;
        cap_build_ranges(&e.build.dev, reach, NULL);
    }
    cap_put(&e);
}

bool record_rays_build(DevRun *run, uint64_t to, const DevRayBuild *build) {
    bool mine = record_is_recorded(run);
    if (mine) put(CAP_RAYS_BUILD, to, 0, build);
    Recipe *recipe = recipe_new(build);
    bool ok = r->inner_rays->build(run, to, build);
    keep(to, recipe, mine);
    return ok;
}

bool record_rays_refit(DevRun *run, uint64_t to, uint64_t from, const DevRayBuild *build) {
    bool mine = record_is_recorded(run);
    if (mine) put(CAP_RAYS_REFIT, to, from, build);
    Recipe *recipe = recipe_new(build); // a refit has all that a build has
    bool ok = r->inner_rays->refit(run, to, from, build);
    keep(to, recipe, mine);
    return ok;
}

bool record_rays_copy(DevRun *run, uint64_t to, uint64_t from) {
    bool mine = record_is_recorded(run);
    if (mine) put(CAP_RAYS_COPY, to, from, NULL);
    bool ok = r->inner_rays->copy(run, to, from);
    pthread_mutex_lock(&r->lock);
    const Handle *source = record_handle(from);
    Recipe *recipe = source ? source->recipe : NULL;
    if (recipe) recipe->count++;
    pthread_mutex_unlock(&r->lock);
    keep(to, recipe, mine);
    return ok;
}

// ---- What was built before the capture ----

typedef struct Untold {
    uint64_t handle;
    Recipe *recipe; // held; NULL: it is not known
    bool ok;        // it can be built
} Untold;

static int by_number(const void *a, const void *b) {
    const Untold *x = a, *y = b;
    uint64_t m = x->recipe ? x->recipe->number : 0, n = y->recipe ? y->recipe->number : 0;
    return (m > n) - (m < n);
}

// Whether what it was built of is still what it was then.
static bool is_as_it_was(uint64_t handle, const Recipe *recipe) {
    const Handle *h = record_handle(handle);
    return !handle || (h && h->kind == HANDLE_RAYS && h->changed < recipe->number);
}

static bool can_be_built(const Recipe *recipe) {
    enum { INDIRECT = 3, INDIRECT_MOTION = 4 }; // MTLAccelerationStructureInstanceDescriptorType
    const DevInstances *in = &recipe->build.instances;
    bool ok = true;
    for (uint32_t i = 0; ok && i < in->n_structures; i++)
        ok = is_as_it_was(in->structures[i], recipe);
    if (in->type != INDIRECT && in->type != INDIRECT_MOTION) return ok;
    uint32_t n = in->n, place = in->type == INDIRECT ? 64 : 16;
    if (in->count.at && in->count.n_bytes >= 4) {
        uint32_t there;
        memcpy(&there, in->count.at, sizeof there);
        if (there < n) n = there;
    }
    for (uint32_t i = 0; ok && in->records.at && i < n; i++) {
        uint64_t at = i * in->stride + place, handle;
        if (at + sizeof handle > in->records.n_bytes) break;
        memcpy(&handle, in->records.at + at, sizeof handle);
        ok = is_as_it_was(handle, recipe);
    }
    return ok;
}

// Structures that hold something the file does not have, in the order it was built.
static Untold *find_untold(size_t *n) {
    Untold *list = NULL;
    size_t capacity = 0;
    *n = 0;
    pthread_mutex_lock(&r->lock);
    for (size_t b = 0; b < r->handles.n_buckets; b++)
        for (HashNode *node = r->handles.buckets[b]; node; node = node->next) {
            Handle *h = (Handle *)node;
            if (h->kind != HANDLE_RAYS || !h->changed || h->told ||
                !array_reserve(&list, &capacity, *n + 1))
                continue;
            Recipe *recipe = h->recipe;
            h->told = true;
            list[(*n)++] = (Untold){h->value, recipe, recipe && can_be_built(recipe)};
            if (!recipe) continue;
            recipe->count++;
            if (recipe->memory && !record_memory_at(recipe->memory))
                record_add_memory(&(DevMemory){.address = recipe->memory,
                                               .host = recipe->memory,
                                               .n_bytes = recipe->n_bytes},
                                  DEV_SHARED);
        }
    pthread_mutex_unlock(&r->lock);
    if (*n) qsort(list, *n, sizeof *list, by_number);
    return list;
}

static void put_operation(CapKind kind, const char *title) {
    cap_put(&(CapEvent){.kind = kind, .operation = {.title = title}});
}

void record_rays_before(void) {
    size_t n;
    Untold *list = find_untold(&n);
    if (n) put_operation(CAP_PUSH, "built before the capture");
    for (size_t i = 0; i < n; i++) {
        Recipe *recipe = list[i].recipe;
        if (list[i].ok)
            put(CAP_RAYS_BUILD, list[i].handle, 0, &recipe->build);
        else
            put_operation(CAP_UNKNOWN,
                          recipe ? "an acceleration structure was built before the capture, of "
                                   "others that have changed since"
                                 : "an acceleration structure was built before the capture, and "
                                   "what it was built of is not known");
        recipe_drop(recipe);
    }
    if (n) cap_put(&(CapEvent){.kind = CAP_POP});
    free(list);
}

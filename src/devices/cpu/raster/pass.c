// SPDX-License-Identifier: Apache-2.0
// pass.c: a pass from begin to end. Draws are split into spans (pieces of an instance) and units
// (pieces of work), as many as fit the memory of a batch; then all threads take units (geometry),
// and when those are done, tiles (pixels). The split does not affect the result: a tile reads the
// units in order.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/isa/isa.h"
#include "devices/cpu/raster/raster_int.h"
#include "os/futex.h"
#include "os/pool.h"

#define MAX_UNIT_PRIMITIVES 4096u
#define MIN_UNIT_PRIMITIVES 256u

// ---- Instruction sets ----

static const RasterCode *chosen_code(void) {
#if defined(__x86_64__)
    CpuIsa isa = cpu_isa();
    if (isa >= CPU_ISA_AVX512) return &raster_code_avx512;
    if (isa == CPU_ISA_AVX2) return &raster_code_avx2;
#endif
    return &raster_code_base;
}

// ---- Attachments ----

const uint8_t *cpu_raster_default_positions(uint32_t n_samples) {
    static const uint8_t one[] = {8, 8}, two[] = {12, 12, 4, 4},
                         four[] = {6, 2, 14, 6, 2, 10, 10, 14},
                         eight[] = {9, 5, 7, 11, 13, 9, 5, 3, 3, 13, 1, 7, 11, 15, 15, 1};
    return n_samples == 8 ? eight : n_samples == 4 ? four : n_samples == 2 ? two : one;
}

static void set_color(Pass *p, uint32_t a, const DevColor *c) {
    Attachment *t = &p->colors[a];
    t->format = c->view.texture->format;
    t->texel_bytes = t->format->block_bytes;
    p->color_mask |= 1u << a;
    if (abi_format_is_integer(t->format)) {
        uint32_t values[4];
        bool is_signed = t->format->kind == ABI_KIND_SINT;
        for (int i = 0; i < 4; i++) {
            double v = c->clear[i], low = is_signed ? INT32_MIN : 0;
            double high = is_signed ? INT32_MAX : UINT32_MAX;
            v = v > low ? v < high ? v : high : low;
            values[i] = is_signed ? (uint32_t)(int32_t)v : (uint32_t)v;
        }
        texel_encode_int(t->format, values, is_signed, 1, t->clear_texel);
    } else {
        float values[4];
        for (int i = 0; i < 4; i++) values[i] = (float)c->clear[i];
        texel_encode_float(t->format, values, 1, t->clear_texel);
    }
}

static void set_depth(Pass *p, const DevDepth *d) {
    const AbiPixelFormat *f = d->view.texture->format;
    p->has_depth = true;
    p->depth_bits = f->kind == ABI_KIND_FLOAT ? 32 : f->block_bytes == 2 ? 16 : 24;
    double z = d->clear;
    if (p->depth_bits != 32) {
        double scale = p->depth_bits == 16 ? 65535.0 : 16777215.0;
        z = floor((z > 0 ? z < 1 ? z : 1 : 0) * scale + 0.5) / scale;
    }
    p->clear_depth = (float)z;
}

static void set_pass(Pass *p, const DevPass *pass) {
    p->width = pass->width;
    p->height = pass->height;
    p->n_layers = pass->n_layers ? pass->n_layers : 1;
    p->n_samples = pass->n_samples ? pass->n_samples : 1;
    p->tile_columns = (p->width + TILE - 1) / TILE;
    p->tile_rows = (p->height + TILE - 1) / TILE;
    p->n_tiles = p->tile_columns * p->tile_rows * p->n_layers;
    p->depth_bits = 32;
    const uint8_t *positions = cpu_raster_default_positions(p->n_samples);
    for (uint32_t i = 0; i < p->n_samples; i++)
        for (uint32_t k = 0; k < 2; k++) {
            float own = pass->sample_positions[i][k] * 16;
            p->samples[i][k] =
                pass->n_sample_positions
                    ? (int32_t)(own > 0 ? own < 15 ? own + 0.5f : 15 : 0) * (SUB / 16)
                    : positions[2 * i + k] * (SUB / 16);
            p->positions[i][k] = (float)p->samples[i][k] * (1.0f / SUB);
        }
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++)
        if (pass->colors[a].view.texture) set_color(p, a, &pass->colors[a]);
    if (pass->depth.view.texture) set_depth(p, &pass->depth);
    p->has_stencil = pass->stencil.view.texture != NULL;
    raster_store_set(p);
}

// Between batches, what lives in tile memory only needs a place.
static bool add_scratch(const Pass *p, const DevTarget *view, AbiTexture **scratch) {
    if (*scratch || !view->texture || view->texture->levels[view->level].data) return true;
    AbiTextureShape shape = {.type =
                                 p->n_samples > 1 ? ABI_TEXTURE_2D_MS_ARRAY : ABI_TEXTURE_2D_ARRAY,
                             .pixel_format = view->texture->pixel_format,
                             .width = p->width,
                             .height = p->height,
                             .depth = 1,
                             .array_length = p->n_layers,
                             .n_levels = 1,
                             .n_samples = p->n_samples};
    AbiTextureSize size;
    AbiTexture *t = calloc(1, sizeof *t);
    void *data = NULL;
    if (!t || !abi_texture_layout(&shape, NULL, NULL, &size)) goto fail;
    data = aligned_alloc(64, (size.n_bytes + 63) / 64 * 64);
    if (!data || !abi_texture_layout(&shape, data, t, &size)) goto fail;
    *scratch = t;
    return true;
fail:
    free(data);
    free(t);
    return false;
}

static bool add_all_scratch(Pass *p) {
    bool ok = add_scratch(p, &p->pass->depth.view, &p->depth_scratch) &&
              add_scratch(p, &p->pass->stencil.view, &p->stencil_scratch);
    for (uint32_t a = 0; ok && a < ABI_MAX_COLORS; a++)
        ok = add_scratch(p, &p->pass->colors[a].view, &p->colors[a].scratch);
    return ok;
}

static void free_scratch(AbiTexture *t) {
    if (t) free(t->levels[0].data);
    free(t);
}

// ---- Batches ----

typedef enum PieceKind { UNITS, TILES, OBJECTS } PieceKind;

static uint64_t primitives_of(const DevDraw *d) { // of an instance; strips with restarts: at most
    if (d->tile) return 0;
    if (d->mesh) return d->grid.groups[0] && d->grid.groups[1] && d->grid.groups[2];
    if (d->patches) return d->n_vertices;
    uint32_t corners = raster_corners(d->state->primitive);
    if (d->n_vertices < corners) return 0;
    return raster_is_strip(d->state->primitive) ? d->n_vertices - corners + 1
                                                : d->n_vertices / corners;
}

static uint64_t instances_of(const DevDraw *d) {
    if (d->mesh) return 1;
    return (uint64_t)d->n_instances * raster_views(d);
}

// Pieces small enough that all threads have several, large enough that lists stay few.
static uint32_t unit_size(const Pass *p) {
    uint64_t total = 0;
    for (size_t i = 0; i < p->n_draws && total < (1u << 30); i++) {
        uint64_t n = primitives_of(&p->draws[i]), instances = instances_of(&p->draws[i]);
        if (p->draws[i].patches) n *= 16; // hardly ever fewer
        if (p->draws[i].mesh) n *= UNIT_PRIMITIVES * 64u;
        total += n > (1u << 30) ? n : n * (instances < (1u << 30) ? instances : (1u << 30));
    }
    total /= os_pool_threads() * 8;
    return total < MIN_UNIT_PRIMITIVES   ? MIN_UNIT_PRIMITIVES
           : total > MAX_UNIT_PRIMITIVES ? MAX_UNIT_PRIMITIVES
                                         : (uint32_t)total;
}

static Unit *add_unit(Pass *p) {
    Unit **units = raster_grow(p->units, &p->units_capacity, p->n_units + 1, sizeof *units);
    if (!units) return NULL;
    p->units = units;
    Unit *u = raster_unit_take();
    if (!u) return NULL;
    u->first_span = (uint32_t)p->n_spans;
    u->n_spans = 0;
    u->dispatch = NULL;
    return units[p->n_units++] = u;
}

// The next span of up to max primitives; moves the cursor over it. 0: the instance is over.
static uint32_t next_span(const DevDraw *d, Cursor *c, uint32_t max, Span *span) {
    *span = (Span){.from = *c};
    if (d->patches) return span->n_primitives = raster_patch_span(d, c, max);
    if (d->indices && raster_is_strip(d->state->primitive)) {
        span->n_primitives = raster_strip(d, c, max, NULL);
        return span->n_primitives;
    }
    uint64_t left = primitives_of(d) - c->primitive;
    uint32_t n = left < max ? (uint32_t)left : max;
    span->n_primitives = n;
    c->primitive += n;
    c->run += n;
    c->at += raster_is_strip(d->state->primitive) ? n : n * raster_corners(d->state->primitive);
    return n;
}

static bool add_span(Pass *p, Unit *unit, Span *span) {
    Span *spans = raster_grow(p->spans, &p->spans_capacity, p->n_spans + 1, sizeof *spans);
    if (!spans) return false;
    p->spans = spans;
    span->info = p->n_infos - 1;
    spans[p->n_spans++] = *span;
    unit->n_spans++;
    return true;
}

static void run_all(Pass *p, PieceKind kind);

// The threadgroups of a mesh function, a span each. False: no memory, or objects failed.
static bool add_meshes(Pass *p, Cursor *c, uint32_t unit_primitives, uint64_t *bytes, bool *over) {
    Unit *unit = NULL;
    uint32_t in_unit = 0, record = p->infos[p->n_infos - 1].record_bytes;
    *over = false;
    while (*bytes < BATCH_BYTES) {
        Span span;
        int got = raster_mesh_span(p, c, &span);
        *over = got == 0;
        if (got <= 0) return got == 0;
        if (got == 2) {
            run_all(p, OBJECTS);
            if (atomic_load(&p->run->fault) != DEV_FAULT_NONE) return false;
            *bytes += p->objects->n * (sizeof(ObjectRun) + p->draws[c->draw].mesh->payload_bytes);
            continue;
        }
        if ((!unit || in_unit >= unit_primitives) && !(unit = add_unit(p))) return false;
        if (unit->n_spans == 0) in_unit = 0;
        if (!add_span(p, unit, &span)) return false;
        in_unit += span.n_primitives;
        *bytes += (uint64_t)span.n_primitives * record + sizeof span;
    }
    return true;
}

// Draws that differ in what they count only: one DrawInfo serves them.
static bool is_same(const DevDraw *a, const DevDraw *b) {
    return a->vertex == b->vertex && a->fragment == b->fragment && a->state == b->state &&
           !a->mesh && !b->mesh && !a->patches && !b->patches && a->amplification <= 1 &&
           b->amplification <= 1 && a->visibility == b->visibility &&
           a->counts_any == b->counts_any && a->label == b->label;
}

// What the threads share until the batch is drawn. False: no memory.
static bool build_batch(Pass *p, Cursor *c, uint32_t unit_primitives, bool *more) {
    uint64_t bytes = 0;
    uint32_t in_unit = 0;
    Unit *unit = NULL;
    p->n_infos = 0;
    p->n_viewports = p->n_spans = p->n_units = 0;
    for (; c->draw < p->n_draws; *c = (Cursor){.draw = c->draw + 1}) {
        const DevDraw *draw = &p->draws[c->draw];
        bool begins = c->instance == 0 && c->at == 0 && c->object == 0 && c->group == 0;
        if ((draw->barrier && begins && p->n_units) || p->n_infos == MAX_BATCH_DRAWS ||
            bytes >= BATCH_BYTES)
            break;
        if (draw->tile) {
            if (!(unit = add_unit(p))) return false;
            unit->dispatch = draw;
            unit->n_big = 0;
            unit->tile_columns = unit->tile_rows = unit->n_layers = 0;
            unit = NULL;
            continue;
        }
        if (primitives_of(draw) == 0 || instances_of(draw) == 0) continue;
        bool shared = p->n_infos && is_same(p->infos[p->n_infos - 1].draw, draw);
        if (!shared && !raster_draw_info(p, c->draw)) return false;
        if (draw->mesh) {
            bool over;
            if (!add_meshes(p, c, unit_primitives, &bytes, &over)) return false;
            unit = NULL;
            if (!over) break;
            continue;
        }
        uint32_t record = p->infos[p->n_infos - 1].record_bytes;
        while (c->instance < instances_of(draw) && bytes < BATCH_BYTES) {
            Span span;
            uint32_t room = unit_primitives - in_unit;
            if (!unit || in_unit >= unit_primitives) {
                if (!(unit = add_unit(p))) return false;
                in_unit = 0;
                room = unit_primitives;
            }
            if (room > UNIT_PRIMITIVES) room = UNIT_PRIMITIVES;
            uint32_t n = next_span(draw, c, room, &span);
            if (n == 0) { // patches that are not drawn may be without end
                if (atomic_load(&p->run->fault) != DEV_FAULT_NONE) return false;
                if (draw->patches && c->at < draw->n_vertices) continue;
                *c = (Cursor){.draw = c->draw, .instance = c->instance + 1};
                continue;
            }
            if (!add_span(p, unit, &span)) return false;
            in_unit += n;
            bytes += (uint64_t)n * record + sizeof span;
        }
        if (c->instance < instances_of(draw)) break;
    }
    *more = c->draw < p->n_draws;
    for (uint32_t i = 0; i < p->n_infos; i++)
        p->infos[i].viewports = p->viewports + p->infos[i].first_viewport;
    return true;
}

// ---- Threads ----

typedef struct Work {
    OsJob job; // first
    Pass *p;
    PieceKind kind;
    size_t n;
    atomic_size_t next;
    atomic_uint finished;
} Work;

typedef struct Piece {
    Worker *w;
    const Work *work;
    size_t i;
} Piece;

static void run_piece(void *argument) {
    const Piece *piece = argument;
    Pass *p = piece->work->p;
    if (piece->work->kind == TILES)
        p->code->run_tile(piece->w, (uint32_t)piece->i);
    else if (piece->work->kind == OBJECTS)
        raster_run_object(piece->w, p->objects, (uint32_t)piece->i);
    else if (!p->units[piece->i]->dispatch)
        p->code->run_unit(piece->w, p->units[piece->i]);
}

static void take_pieces(Work *work) {
    Pass *p = work->p;
    Worker *w = raster_worker_take(p);
    if (!w || !w->thread ||
        (work->kind == TILES && (!raster_tile_reserve(w) || !raster_store_reserve(w)))) {
        dev_run_fail(p->run, DEV_FAULT_NO_MEMORY, 0);
    } else {
        Piece piece = {.w = w, .work = work};
        while ((piece.i = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed)) <
               work->n)
            if (!cpu_thread_guard(w->thread, p->run, run_piece, &piece)) break;
    }
    if (w) raster_worker_give(w);
}

static void help(OsJob *job) {
    Work *work = (Work *)(void *)job;
    take_pieces(work);
    if (atomic_fetch_add(&work->finished, 1) == 0) os_futex_wake(&work->finished, 1);
}

static void run_all(Pass *p, PieceKind kind) {
    Work work = {.job = {.help = help},
                 .p = p,
                 .kind = kind,
                 .n = kind == TILES   ? p->n_tiles
                      : kind == UNITS ? p->n_units
                                      : p->objects->n};
    if (work.n == 0) return;
    unsigned threads = os_pool_start() ? os_pool_threads() : 1;
    size_t helpers = p->needs_worker ? threads : threads - 1;
    if (helpers > work.n - !p->needs_worker) helpers = work.n - !p->needs_worker;
    work.job.max_helpers = (unsigned)helpers;
    if (helpers == 0) {
        take_pieces(&work);
        return;
    }
    os_pool_open_job(&work.job);
    if (p->needs_worker)
        while (atomic_load(&work.finished) == 0) os_futex_wait(&work.finished, 0);
    else
        take_pieces(&work);
    os_pool_close_job(&work.job);
}

// Deadlines are kept by signals to workers.
static bool needs_worker(const Pass *p, uint64_t *stack_bytes) {
    const CpuThread *t = cpu_thread_self();
    *stack_bytes = 0;
    for (size_t i = 0; i < p->n_draws; i++) {
        const DevDraw *d = &p->draws[i];
        uint64_t a = d->vertex->arguments.stack_bytes;
        uint64_t b = d->fragment ? d->fragment->arguments.stack_bytes : 0;
        *stack_bytes = a > *stack_bytes ? a : *stack_bytes;
        *stack_bytes = b > *stack_bytes ? b : *stack_bytes;
        uint64_t e = d->tile ? d->tile->function.arguments.stack_bytes : 0;
        *stack_bytes = e > *stack_bytes ? e : *stack_bytes;
        for (int k = 0; d->mesh && k < 2; k++) {
            uint64_t c = (k ? &d->mesh->mesh : &d->mesh->object)->arguments.stack_bytes;
            *stack_bytes = c > *stack_bytes ? c : *stack_bytes;
        }
    }
    return t && cpu_run_needs_worker(p->run, t);
}

static void give_units(Pass *p) {
    for (size_t i = 0; i < p->n_units; i++) raster_unit_give(p->units[i]);
    p->n_units = 0;
}

bool cpu_raster(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws) {
    Pass p = {.run = run, .pass = pass, .draws = draws, .n_draws = n_draws, .code = chosen_code()};
    if (atomic_load(&run->fault) != DEV_FAULT_NONE) return false;
    cpu_run_handle_signals(run, NULL, false);
    uint64_t stack_bytes;
    p.needs_worker = needs_worker(&p, &stack_bytes);
    if (stack_bytes > CPU_MAX_FRAME) {
        dev_run_fail(run, DEV_FAULT_STACK, 0);
        return false;
    }
    set_pass(&p, pass);
    raster_pass_take(&p);
    Cursor cursor = {0};
    bool more = true;
    uint32_t unit_primitives = unit_size(&p);
    p.first = true;
    while (more) {
        if (!build_batch(&p, &cursor, unit_primitives, &more) ||
            (more && (!add_all_scratch(&p) || !raster_store_spill(&p)))) {
            if (atomic_load(&run->fault) == DEV_FAULT_NONE)
                dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
            break;
        }
        p.last = !more;
        run_all(&p, UNITS);
        if (atomic_load(&run->fault) == DEV_FAULT_NONE) run_all(&p, TILES);
        give_units(&p);
        raster_objects_free(&p, false); // a draw that goes on needs the last
        if (atomic_load(&run->fault) != DEV_FAULT_NONE) break;
        p.first = false;
    }
    give_units(&p);
    raster_objects_free(&p, true);
    raster_pass_give(&p);
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) free_scratch(p.colors[a].scratch);
    free_scratch(p.depth_scratch);
    free_scratch(p.stencil_scratch);
    free(p.spilled);
    return atomic_load(&run->fault) == DEV_FAULT_NONE;
}

// SPDX-License-Identifier: Apache-2.0
// geometry.c: one unit, from vertex shading to binning (lists of triangles per tile). Vertex
// functions run in steps of 32; positions become window coordinates, with a code that says which
// limits they break; primitives that break none go on as they are, the others through clip.c;
// setup.c makes the triangles; at the end the pairs of tile and triangle are sorted by tile, order
// kept.
#include <string.h>
#include "devices/cpu/raster/block_simd.h"

#define MAX_UNIT_TILES (1u << 20)

static bool prepare_slots(Worker *w, const DrawInfo *d) {
    w->n_slots = 0;
    return raster_reserve_slots(w, d, UNIT_SLOTS + LANES);
}

// The slots from `first` on.
static void run_vertices(Worker *w, const DrawInfo *d, const Span *span, uint32_t first) {
    const DevDraw *draw = &w->pass->draws[span->from.draw];
    float domain[3 * LANES];
    uint32_t points[ABI_MAX_CONTROL_POINTS * LANES];
    uint32_t views = raster_views(draw);
    CpuVertexStep step = {.instance = draw->base_instance + span->from.instance / views,
                          .base_instance = draw->base_instance,
                          .base_vertex = draw->first_vertex,
                          .amplification_id = span->from.instance % views,
                          .amplification_count = views,
                          .strides = draw->vertex->strides,
                          .domain = domain,
                          .control_points = points,
                          .n_control_points = draw->patches ? draw->patches->n_control_points : 0};
    for (uint32_t i = first; i < w->n_slots; i += LANES) {
        uint32_t n = w->n_slots - i < LANES ? w->n_slots - i : LANES;
        step.n = n;
        step.vertices = w->ids + i;
        for (uint32_t k = n; k < LANES; k++) w->ids[i + k] = w->ids[i + n - 1];
        if (draw->patches) raster_patch_step(w, draw, i, domain, points);
        step.out = w->rows + (size_t)i * d->n_rows;
        cpu_thread_call(w->thread, (CpuCodeFn *)d->run_vertex, &d->vertex.launch, (uintptr_t)&step,
                        0, NULL, NULL);
    }
}

// Layers and viewports of a view of an amplified draw: what the function says, or 0, moved.
static void move_view(Worker *w, const DrawInfo *d) {
    const DevDraw *draw = d->draw;
    const uint32_t written = draw->vertex->info->flags;
    if (draw->amplification <= 1 || w->view >= DEV_MAX_VIEWS) return;
    DevView view = draw->views[w->view];
    for (uint32_t i = 0; i < w->n_slots; i++) {
        uint32_t *layer = raster_row(w, d->n_rows, i, ABI_VERTEX_LAYER);
        uint32_t *viewport = raster_row(w, d->n_rows, i, ABI_VERTEX_VIEWPORT);
        *layer = (written & ABI_STAGE_LAYER ? *layer : 0) + view.layer;
        *viewport = (written & ABI_STAGE_VIEWPORT ? *viewport : 0) + view.viewport;
    }
}

INLINE vi code_if(uint32_t bits, int32_t code) { return v_of_bits(bits) & code; }

// Slots i .. i + V_WIDTH - 1.
static void transform(Worker *w, const DrawInfo *d, uint32_t i) {
    const uint32_t *rows = raster_row(w, d->n_rows, i, 0);
    vf x = v_load(rows), y = v_load(rows + 32), z = v_load(rows + 64), at_w = v_load(rows + 96);
    const ViewportInfo *viewport = w->viewports;
    vf scale[3], offset[3];
    for (int k = 0; k < 3; k++) {
        scale[k] = v_set(viewport->scale[k]);
        offset[k] = v_set(viewport->offset[k]);
    }
    if (d->vertex_flags & ABI_STAGE_VIEWPORT) {
        for (int l = 0; l < V_WIDTH; l++) {
            uint32_t index = rows[32 * ABI_VERTEX_VIEWPORT + l];
            viewport = &w->viewports[index < d->n_viewports ? index : 0];
            for (int k = 0; k < 3; k++) {
                scale[k][l] = viewport->scale[k];
                offset[k][l] = viewport->offset[k];
            }
        }
    }
    vi codes = code_if(v_less(x, -at_w), CODE_LEFT) | code_if(v_less(at_w, x), CODE_RIGHT) |
               code_if(v_less(y, -at_w), CODE_BOTTOM) | code_if(v_less(at_w, y), CODE_TOP);
    if (d->state->depth_clip == DEV_DEPTH_CLIP)
        codes |= code_if(v_less(z, v_set(0)), CODE_NEAR) | code_if(v_less(at_w, z), CODE_FAR);
    uint32_t numbers = v_equal(x, x) & v_equal(y, y) & v_equal(z, z) & v_equal(at_w, at_w);
    codes |= code_if(~numbers & V_BITS, CODE_NAN);
    for (uint32_t k = 0; k < d->n_clip; k++) {
        vf distance = v_load(rows + 32 * (ABI_VERTEX_CLIP + k));
        codes |= code_if(~v_less_equal(v_set(0), distance) & V_BITS, CODE_CLIP << k);
    }
    vf rw = 1.0f / at_w;
    vf wx = x * rw * scale[0] + offset[0], wy = y * rw * scale[1] + offset[1];
    vf wz = z * rw * scale[2] + offset[2];
    vf low = v_set(GUARD_LOW), high = v_set(GUARD_HIGH);
    uint32_t usable = v_less(v_set(0), at_w) & v_less_equal(low, wx) & v_less_equal(wx, high) &
                      v_less_equal(low, wy) & v_less_equal(wy, high) & v_equal(wz, wz);
    codes |= code_if(~usable & V_BITS, CODE_GUARD);
    vi mask = v_of_bits(usable);
    vf fx = v_floor(v_select(mask, wx, v_set(0)) * SUB + 0.5f);
    vf fy = v_floor(v_select(mask, wy, v_set(0)) * SUB + 0.5f);
    v_store_int(w->fx + i, v_to_int(fx));
    v_store_int(w->fy + i, v_to_int(fy));
    v_store(w->z + i, wz);
    v_store(w->rw + i, rw);
    v_store_int(w->codes + i, codes);
}

static bool same_viewport(const Worker *w, const DrawInfo *d, const Corners *c) {
    if (!(d->vertex_flags & ABI_STAGE_VIEWPORT)) return true;
    uint32_t v = *raster_row(w, d->n_rows, c->slot[0], ABI_VERTEX_VIEWPORT);
    return *raster_row(w, d->n_rows, c->slot[1], ABI_VERTEX_VIEWPORT) == v &&
           *raster_row(w, d->n_rows, c->slot[2], ABI_VERTEX_VIEWPORT) == v;
}

static bool make_faces(Worker *w, const DrawInfo *d, const Corners *corners, uint32_t n) {
    const uint32_t clipped = CODE_NEAR | CODE_FAR | CODE_CLIP * 255u | CODE_GUARD;
    bool lines = d->state->fill == DEV_FILL_LINES;
    for (uint32_t i = 0; i < n; i++) {
        const Corners *c = &corners[i];
        const uint32_t *slot = c->slot;
        uint32_t a = w->codes[slot[0]], b = w->codes[slot[1]], e = w->codes[slot[2]];
        uint32_t any = a | b | e;
        if ((a & b & e & CODE_OUTSIDE) || (any & CODE_NAN)) continue;
        if ((any & clipped) || lines || !same_viewport(w, d, c)) {
            if (!raster_clip_triangle(w, d, c)) return false;
            continue;
        }
        Face *faces = raster_grow(w->faces, &w->faces_capacity, w->n_faces + 1, sizeof *faces);
        if (!faces) return false;
        w->faces = faces;
        faces[w->n_faces++] = (Face){
            .slot = {slot[0], slot[1], slot[2]}, .provoking = slot[0], .primitive = c->primitive};
    }
    return true;
}

static bool make_lines_points(Worker *w, const DrawInfo *d, const Corners *corners, uint32_t n) {
    bool points = d->state->primitive == DEV_POINT;
    for (uint32_t i = 0; i < n; i++) {
        const Corners *c = &corners[i];
        if (!(points ? raster_point(w, d, c) : raster_line(w, d, c, c->slot[0], FACE_FRONT)))
            return false;
    }
    return true;
}

// Does the primitive go to the layer of the rate map? The last one stands for those behind it.
static bool in_layer(const Worker *w, const DrawInfo *d, const Corners *c, uint32_t layer) {
    uint32_t at = 0, n = w->pass->pass->rates->n_layers;
    if (d->vertex_flags & ABI_STAGE_LAYER)
        at = *raster_row(w, d->n_rows, c->slot[0], ABI_VERTEX_LAYER);
    at = at < w->pass->n_layers ? at : 0;
    return (at < n ? at : n - 1) == layer;
}

// Faces of the corners to triangles of the unit.
static bool finish_spans(Worker *w, Unit *unit, uint32_t info, const Corners *corners, uint32_t n) {
    const DrawInfo *d = &w->pass->infos[info];
    w->n_slots = (w->n_slots + LANES - 1) / LANES * LANES; // new vertices: steps of their own
    w->n_faces = 0;
    if (!(d->state->primitive >= DEV_TRIANGLE ? make_faces(w, d, corners, n)
                                              : make_lines_points(w, d, corners, n)))
        return false;
    return ISA(raster_setup)(w, unit, info);
}

// The same in every cell of the pass's rate map: its own scale, and only its pixels. The vertices
// are there once; cells share no pixels, so that the order in each pixel is the program's.
static bool finish_cells(Worker *w, Unit *unit, uint32_t info, const Corners *corners, uint32_t n) {
    const DrawInfo *d = &w->pass->infos[info];
    const DevRates *rates = w->pass->pass->rates;
    Corners mine[UNIT_PRIMITIVES];
    uint32_t n_slots = w->n_slots,
             n_layers = d->vertex_flags & ABI_STAGE_LAYER ? rates->n_layers : 1;
    for (uint32_t l = 0; l < n_layers; l++) {
        const DevRateLayer *layer = &rates->layers[l];
        uint32_t n_mine = 0;
        for (uint32_t i = 0; i < n; i++)
            if (in_layer(w, d, &corners[i], l)) mine[n_mine++] = corners[i];
        for (uint32_t c = 0; n_mine && c < layer->n_columns * layer->n_rows; c++) {
            raster_cell_viewports(w->pass, d, layer, c % layer->n_columns, c / layer->n_columns,
                                  w->cell);
            w->viewports = w->cell;
            w->n_slots = n_slots; // clipping has added some
            for (uint32_t i = 0; i < n_slots; i += V_WIDTH) transform(w, d, i);
            if (!finish_spans(w, unit, info, mine, n_mine)) return false;
        }
    }
    return true;
}

// A span of a mesh, of patches, or of a view.
static bool run_span(Worker *w, Unit *unit, const Span *span) {
    const DrawInfo *d = &w->pass->infos[span->info];
    Corners corners[UNIT_PRIMITIVES];
    if (!prepare_slots(w, d)) return false;
    uint32_t n = span->n_primitives;
    uint32_t views = raster_views(d->draw);
    if (d->draw->mesh) {
        w->view = (uint32_t)(span->from.object % views);
        if (!raster_run_mesh(w, d, span, corners, &n)) return false;
    } else {
        w->view = span->from.instance % views;
        if (!d->draw->patches)
            n = raster_assemble(w, d, span, corners);
        else if (!raster_assemble_patches(w, d, span, corners))
            return false;
        run_vertices(w, d, span, 0);
    }
    move_view(w, d);
    if (d->state->discard_all || n == 0) return true;
    if (w->pass->pass->rates) return finish_cells(w, unit, span->info, corners, n);
    w->viewports = d->viewports;
    for (uint32_t i = 0; i < w->n_slots; i += V_WIDTH) transform(w, d, i);
    return finish_spans(w, unit, span->info, corners, n);
}

static bool is_simple(const DevDraw *d) { return !d->mesh && !d->patches && d->amplification <= 1; }

// How many of the spans go through setup together: small instances, or small draws of one state.
static uint32_t count_group(const Pass *p, const Span *spans, uint32_t n) {
    uint32_t corners = raster_corners(p->infos[spans->info].state->primitive), i = 0;
    for (uint32_t primitives = 0, slots = 0; i < n && spans[i].info == spans->info; i++) {
        primitives += spans[i].n_primitives;
        slots += (spans[i].n_primitives * corners + LANES - 1) / LANES * LANES;
        if (i && (primitives > UNIT_PRIMITIVES || slots > UNIT_SLOTS)) break;
    }
    return i;
}

static bool run_group(Worker *w, Unit *unit, const Span *spans, uint32_t n_spans) {
    const DrawInfo *d = &w->pass->infos[spans->info];
    Corners corners[UNIT_PRIMITIVES];
    if (!prepare_slots(w, d)) return false;
    uint32_t n = 0;
    bool cells = w->pass->pass->rates != NULL;
    w->view = 0;
    w->viewports = d->viewports;
    for (uint32_t s = 0; s < n_spans; s++) {
        uint32_t first = w->n_slots = (w->n_slots + LANES - 1) / LANES * LANES;
        n += raster_assemble(w, d, &spans[s], corners + n);
        run_vertices(w, d, &spans[s], first);
        for (uint32_t i = first; i < w->n_slots && !d->state->discard_all && !cells; i += V_WIDTH)
            transform(w, d, i);
    }
    if (d->state->discard_all || n == 0) return true;
    return cells ? finish_cells(w, unit, spans->info, corners, n)
                 : finish_spans(w, unit, spans->info, corners, n);
}

// ---- Sorting by tile ----

// Layers and tiles without end: the triangles go to the list that all tiles read.
static bool all_big(Worker *w, Unit *unit) {
    size_t n = unit->n_big + w->n_pairs;
    uint32_t *big = raster_grow(unit->big, &unit->big_capacity, n, 4);
    if (!big) return false;
    unit->big = big;
    // Both are in order: merge from the end, then drop what is there twice.
    size_t i = unit->n_big, k = w->n_pairs;
    for (size_t at = n; at-- > 0;)
        big[at] =
            k == 0 || (i > 0 && big[i - 1] > w->pairs[k - 1].ref) ? big[--i] : w->pairs[--k].ref;
    unit->n_big = 0;
    for (size_t at = 0; at < n; at++)
        if (at == 0 || big[at] != big[unit->n_big - 1]) big[unit->n_big++] = big[at];
    return true;
}

static bool sort_pairs(Worker *w, Unit *unit) {
    unit->tile_columns = unit->tile_rows = unit->n_layers = 0;
    if (w->n_pairs == 0) return true;
    uint32_t x0 = UINT32_MAX, y0 = UINT32_MAX, z0 = UINT32_MAX, x1 = 0, y1 = 0, z1 = 0;
    for (size_t i = 0; i < w->n_pairs; i++) {
        uint32_t tile = w->pairs[i].tile, x = tile & 255, y = tile >> 8 & 255, z = tile >> 16;
        x0 = x < x0 ? x : x0, x1 = x > x1 ? x : x1;
        y0 = y < y0 ? y : y0, y1 = y > y1 ? y : y1;
        z0 = z < z0 ? z : z0, z1 = z > z1 ? z : z1;
    }
    uint32_t columns = x1 - x0 + 1, rows = y1 - y0 + 1, layers = z1 - z0 + 1;
    size_t n = (size_t)columns * rows * layers;
    if (n > MAX_UNIT_TILES) return all_big(w, unit);
    uint32_t *starts = raster_grow(unit->starts, &unit->starts_capacity, n + 1, 4);
    if (starts) unit->starts = starts;
    uint32_t *refs = raster_grow(unit->refs, &unit->refs_capacity, w->n_pairs, 4);
    if (refs) unit->refs = refs;
    if (!starts || !refs) return false;
    unit->tile_x0 = x0, unit->tile_y0 = y0, unit->layer0 = z0;
    unit->tile_columns = columns, unit->tile_rows = rows, unit->n_layers = layers;
    memset(starts, 0, (n + 1) * 4);
    for (size_t i = 0; i < w->n_pairs; i++) {
        uint32_t t = w->pairs[i].tile;
        t = (((t >> 16) - z0) * rows + (t >> 8 & 255) - y0) * columns + (t & 255) - x0;
        w->pairs[i].tile = t;
        starts[t + 1]++;
    }
    for (size_t i = 0; i < n; i++) starts[i + 1] += starts[i];
    for (size_t i = 0; i < w->n_pairs; i++) refs[starts[w->pairs[i].tile]++] = w->pairs[i].ref;
    memmove(starts + 1, starts, n * 4); // each start has become the next one's
    starts[0] = 0;
    return true;
}

void ISA(raster_run_unit)(Worker *w, Unit *unit) {
    unit->n_bytes = unit->n_big = 0;
    w->n_pairs = 0;
    const Span *spans = w->pass->spans + unit->first_span;
    for (uint32_t i = 0, n; i < unit->n_spans; i += n) {
        bool simple = is_simple(w->pass->infos[spans[i].info].draw);
        n = simple ? count_group(w->pass, spans + i, unit->n_spans - i) : 1;
        if (!(simple ? run_group(w, unit, spans + i, n) : run_span(w, unit, spans + i))) goto fail;
    }
    if (sort_pairs(w, unit)) return;
fail:
    unit->tile_columns = 0;
    unit->n_big = 0;
    dev_run_fail(w->pass->run, DEV_FAULT_NO_MEMORY, 0);
}

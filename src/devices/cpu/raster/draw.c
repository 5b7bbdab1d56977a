// SPDX-License-Identifier: Apache-2.0
// draw.c: what a draw's state means for the loops, worked out once per draw and batch: viewports as
// scale and offset, the pixels it may write, when depth is tested, what writes its colours.
#include <math.h>
#include <string.h>
#include "devices/cpu/raster/raster_int.h"

static int32_t whole(double v, double low, double high) { // NaN: low
    return (int32_t)(v > low ? v < high ? v : high : low);
}

static void cut(int32_t *x0, int32_t *x1, double low, double high) {
    double limit = 1 << 20;
    int32_t a = whole(low, -limit, limit), b = whole(high, -limit, limit);
    if (*x0 < a) *x0 = a;
    if (*x1 > b) *x1 = b;
}

static ViewportInfo viewport_info(const Pass *p, const DevState *state, uint32_t i) {
    // Of the target, or of the screen that a rate map makes the target of (raster_cell_viewports).
    const DevRates *rates = p->pass->rates;
    uint32_t width = rates ? rates->width : p->width, height = rates ? rates->height : p->height;
    DevViewport v = {0, 0, width, height, 0, 1};
    if (state->n_viewports) v = state->viewports[i < state->n_viewports ? i : 0];
    ViewportInfo info = {
        .scale = {(float)(v.width / 2), (float)(-v.height / 2), (float)(v.zfar - v.znear)},
        .offset = {(float)(v.x + v.width / 2), (float)(v.y + v.height / 2), (float)v.znear},
        .z_low = (float)(v.znear < v.zfar ? v.znear : v.zfar),
        .z_high = (float)(v.znear < v.zfar ? v.zfar : v.znear),
        .px1 = (int32_t)width,
        .py1 = (int32_t)height};
    if (p->has_depth && p->depth_bits != 32) {
        info.z_low = info.z_low > 0 ? info.z_low : 0;
        info.z_high = info.z_high < 1 ? info.z_high : 1;
    }
    if (state->n_scissors) {
        const DevScissor *s = &state->scissors[i < state->n_scissors ? i : 0];
        cut(&info.px0, &info.px1, s->x, (double)s->x + s->width);
        cut(&info.py0, &info.py1, s->y, (double)s->y + s->height);
    }
    info.x0 = info.px0, info.y0 = info.py0, info.x1 = info.px1, info.y1 = info.py1;
    // Pixels outside of the viewport: clipping at its sides would have cut them off. With several
    // samples, pixels that it ends in stay as a whole.
    double left = v.width < 0 ? v.x + v.width : v.x, top = v.height < 0 ? v.y + v.height : v.y;
    double right = left + fabs(v.width), bottom = top + fabs(v.height);
    if (p->n_samples == 1) {
        cut(&info.x0, &info.x1, ceil(left - 0.5), ceil(right - 0.5));
        cut(&info.y0, &info.y1, ceil(top - 0.5), ceil(bottom - 0.5));
    } else {
        cut(&info.x0, &info.x1, floor(left), ceil(right));
        cut(&info.y0, &info.y1, floor(top), ceil(bottom));
    }
    return info;
}

// One axis of a cell: edges are pairs on the screen and in the target.
static void cell_axis(const float *edges, float *scale, float *offset, int32_t *low, int32_t *high,
                      int32_t *point_low, int32_t *point_high) {
    double from = (double)edges[0], at = (double)edges[1];
    double rate = ((double)edges[3] - at) / ((double)edges[2] - from);
    *scale = (float)(*scale * rate);
    *offset = (float)((*offset - from) * rate + at);
    int32_t *const ends[4] = {low, high, point_low, point_high};
    for (int i = 0; i < 4; i++) { // pixels whose middle lies between
        double place = ceil((*ends[i] - from) * rate + at - 0.5);
        *ends[i] = whole(place, (double)edges[1], (double)edges[3]);
    }
}

void raster_cell_viewports(const Pass *p, const DrawInfo *d, const DevRateLayer *layer,
                           uint32_t column, uint32_t row, ViewportInfo *out) {
    (void)p;
    for (uint32_t i = 0; i < d->n_viewports; i++) {
        ViewportInfo v = d->viewports[i];
        cell_axis(layer->columns + 2 * column, &v.scale[0], &v.offset[0], &v.x0, &v.x1, &v.px0,
                  &v.px1);
        cell_axis(layer->rows + 2 * row, &v.scale[1], &v.offset[1], &v.y0, &v.y1, &v.py0, &v.py1);
        out[i] = v;
    }
}

static bool add_viewports(Pass *p, DrawInfo *info) {
    const DevState *state = info->state;
    uint32_t n = state->n_viewports > state->n_scissors ? state->n_viewports : state->n_scissors;
    info->n_viewports = n = n ? n : 1;
    ViewportInfo *viewports =
        raster_grow(p->viewports, &p->viewports_capacity, p->n_viewports + n, sizeof *viewports);
    if (!viewports) return false;
    p->viewports = viewports;
    info->first_viewport = p->n_viewports; // pointers are set when the list has stopped growing
    for (uint32_t i = 0; i < n; i++) viewports[p->n_viewports++] = viewport_info(p, state, i);
    return true;
}

static bool changes_stencil(const DevStencil *s) {
    return s->compare != ABI_COMPARE_ALWAYS ||
           (s->write_mask && (s->fail | s->depth_fail | s->pass) != DEV_STENCIL_KEEP);
}

// Those colours of a function that are of an attachment.
static uint32_t shown_colors(const Pass *p, const DevState *state, uint32_t colors) {
    uint32_t shown = 0;
    for (uint32_t left = colors & ((1u << ABI_MAX_COLORS) - 1); left; left &= left - 1) {
        uint32_t a = (uint32_t)__builtin_ctz(left);
        shown |= (p->color_mask >> dev_color_place(state, a) & 1) << a;
    }
    return shown;
}

static uint32_t draw_flags(const Pass *p, const DrawInfo *d) {
    const DevState *state = d->state;
    const AbiStageInfo *f = d->fragment_info;
    uint32_t flags = 0;
    if (p->has_depth && state->depth_compare != ABI_COMPARE_ALWAYS) flags |= DRAW_DEPTH_TEST;
    if (p->has_depth && state->depth_write) flags |= DRAW_DEPTH_WRITE;
    if (p->has_depth && state->depth_bounds) flags |= DRAW_DEPTH_BOUNDS | DRAW_DEPTH_TEST;
    if (p->has_stencil && state->stencil &&
        (changes_stencil(&state->front) || changes_stencil(&state->back)))
        flags |= DRAW_STENCIL;
    if (!f) return flags;
    // A function that reads the target sees one sample of it.
    if (((f->flags & (ABI_STAGE_PER_SAMPLE | ABI_STAGE_IMAGEBLOCK_IN)) || f->colors_in) &&
        p->n_samples > 1)
        flags |= DRAW_PER_SAMPLE;
    if ((f->flags &
         (ABI_STAGE_READS_CENTROID | ABI_STAGE_READS_POINT_COORD | ABI_STAGE_READS_COVERAGE)) ||
        f->colors_in || p->user_bytes)
        flags |= DRAW_ROWS;
    if (state->alpha_to_coverage && (f->colors & 1)) flags |= DRAW_ALPHA_COVERAGE;
    if (state->alpha_to_one) flags |= DRAW_ALPHA_ONE;
    bool drops =
        (f->flags & (ABI_STAGE_DISCARD | ABI_STAGE_SAMPLE_MASK)) || (flags & DRAW_ALPHA_COVERAGE);
    if (drops) flags |= DRAW_CAN_DROP;
    bool early = f->flags & ABI_STAGE_EARLY_TESTS;
    uint32_t tests = flags & (DRAW_DEPTH_TEST | DRAW_DEPTH_WRITE | DRAW_STENCIL);
    if (tests && !early) {
        if ((f->flags & (ABI_STAGE_DEPTH | ABI_STAGE_STENCIL | ABI_STAGE_EFFECTS)) ||
            (drops && (flags & DRAW_STENCIL)))
            flags |= DRAW_LATE_TEST;
        else if (drops && (flags & DRAW_DEPTH_WRITE))
            flags |= DRAW_LATE_WRITE;
    }
    // Nothing to see of it, and nobody waits for what it drops or counts: the function need not
    // run.
    uint32_t outputs = shown_colors(p, d->state, f->colors);
    if ((f->flags & ABI_STAGE_IMAGEBLOCK_OUT) && p->imageblock_stride)
        flags |= DRAW_SHADES | DRAW_IMAGEBLOCK;
    if (outputs || drops || (f->flags & (ABI_STAGE_EFFECTS | ABI_STAGE_DEPTH | ABI_STAGE_STENCIL)))
        flags |= DRAW_SHADES;
    return flags;
}

static void set_launch(Pass *p, const DevArguments *a, CpuContextLaunch *launch) {
    cpu_launch_init(launch, p->run, a->context);
    launch->launch.args = a->args;
    launch->launch.lengths = a->lengths;
    launch->launch.live = a->live;
}

bool raster_draw_info(Pass *p, size_t draw) {
    DrawInfo *infos = raster_grow(p->infos, &p->infos_capacity, p->n_infos + 1, sizeof *infos);
    if (!infos) return false;
    p->infos = infos;
    DrawInfo *d = &infos[p->n_infos];
    *d = (DrawInfo){.draw = &p->draws[draw], .state = p->draws[draw].state};
    d->depth_compare = d->state->depth_compare;
    d->counts = d->draw->visibility != NULL;
    d->label = d->draw->label;
    const DevVertexStage *vertex = d->draw->vertex;
    const DevFragmentStage *fragment = d->draw->fragment;
    if (fragment && fragment->code) {
        d->fragment_info = fragment->info;
        d->run = cpu_code_fragment(fragment->code);
    }
    if (!add_viewports(p, d)) return false;
    set_launch(p, &vertex->arguments, &d->vertex);
    if (d->fragment_info) set_launch(p, &fragment->arguments, &d->fragment);
    d->vertex.number = d->fragment.number = (uint32_t)draw + 1;
    d->run_vertex = vertex->code ? cpu_code_vertex(vertex->code) : NULL;
    d->vertex_flags = vertex->info->flags;
    for (uint32_t v = 0; v < DEV_MAX_VIEWS && v < d->draw->amplification; v++) {
        if (d->draw->views[v].layer) d->vertex_flags |= ABI_STAGE_LAYER;
        if (d->draw->views[v].viewport) d->vertex_flags |= ABI_STAGE_VIEWPORT;
    }
    d->n_clip = vertex->info->n_clip < ABI_MAX_CLIP ? vertex->info->n_clip : ABI_MAX_CLIP;
    d->n_rows = ABI_VERTEX_FIRST + vertex->info->n_outputs;
    d->flags = draw_flags(p, d);
    if (!(d->flags & DRAW_SHADES)) d->fragment_info = NULL;
    d->n_planes = 2;
    if (d->fragment_info) {
        d->n_planes += d->fragment_info->n_inputs;
        if (d->fragment_info->flags & ABI_STAGE_READS_BARYCENTRIC) {
            d->n_planes += 4;
            d->n_rows += 2;
        }
        if (d->vertex_flags & (ABI_STAGE_LAYER | ABI_STAGE_VIEWPORT)) d->said_plane = d->n_planes++;
        d->outputs = shown_colors(p, d->state, d->fragment_info->colors);
    }
    d->record_bytes = (uint32_t)((sizeof(Triangle) + d->n_planes * sizeof(CpuPlane) + 7) / 8 * 8);
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) {
        uint32_t place = dev_color_place(d->state, a);
        d->places[a] = (uint8_t)place;
        if (!(p->color_mask >> place & 1)) continue;
        d->formats[a] = p->colors[place].format;
        d->output[a] = p->code->choose_output(p->colors[place].format, &d->state->blend[a]);
        if (d->state->blend[a].write_mask == 0) d->outputs &= ~(1u << a);
    }
    p->n_infos++;
    return true;
}

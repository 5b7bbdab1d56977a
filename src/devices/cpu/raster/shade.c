// SPDX-License-Identifier: Apache-2.0
// shade.c: a block of a triangle: depth and stencil tests, the fragment function, and its colours
// for output.c. Early Z: the tests come first if the function cannot change their result; if it
// may only discard, the test comes first and the depth is written after the function (late write).
#include <math.h>
#include <string.h>
#include "abi/imageblock.h"
#include "devices/cpu/raster/block_simd.h"

#define FULL 0xffffffffu
#define NOINLINE static __attribute__((noinline))

typedef struct Block {
    uint32_t index;
    int32_t x, y; // pixel of lane 0
    float from[2];
    uint32_t coverage[ABI_MAX_SAMPLES];
} Block;

// ---- Depth ----

static float *depth_at(const TileState *s, uint32_t block, uint32_t sample) {
    return s->w->tile.depth + ((size_t)block * s->pass->n_samples + sample) * LANES;
}

INLINE vf quantise(vf z, uint8_t bits) {
    if (bits == 32) return z;
    float scale = bits == 16 ? 65535.0f : 16777215.0f;
    return v_floor(z * scale + 0.5f) / scale;
}

// The depths of a sample of all lanes, into s->z[sample].
static void find_depths(TileState *s, const Triangle *t, const Block *b, uint32_t sample) {
    const CpuPlane *p = &t->planes[0];
    float x = b->from[0] + s->pass->positions[sample][0];
    float y = b->from[1] + s->pass->positions[sample][1];
    float at = p->at + p->dx * x + p->dy * y;
    vf low = v_set(t->z_min), high = v_set(t->z_max);
    for (int v = 0; v < VECTORS; v++) {
        vf z = at + v_to_float(lane_x(v)) * p->dx + v_to_float(lane_y(v)) * p->dy;
        z = v_min(v_max(z, low), high);
        v_store(s->z[sample] + v * V_WIDTH, quantise(z, s->pass->depth_bits));
    }
}

INLINE uint32_t compare(uint8_t how, vf a, vf b) {
    switch (how) {
    case ABI_COMPARE_NEVER: return 0;
    case ABI_COMPARE_LESS: return v_less(a, b);
    case ABI_COMPARE_EQUAL: return v_equal(a, b);
    case ABI_COMPARE_LESS_EQUAL: return v_less_equal(a, b);
    case ABI_COMPARE_GREATER: return v_less(b, a);
    case ABI_COMPARE_NOT_EQUAL: return ~v_equal(a, b) & V_BITS;
    case ABI_COMPARE_GREATER_EQUAL: return v_less_equal(b, a);
    default: return V_BITS;
    }
}

INLINE uint32_t depth_test_as(uint8_t how, const float *z, const float *stored) {
    uint32_t lanes = 0;
    for (int v = 0; v < VECTORS; v++)
        lanes |= compare(how, v_load(z + v * V_WIDTH), v_load(stored + v * V_WIDTH))
                 << (v * V_WIDTH);
    return lanes;
}

static uint32_t depth_test(uint8_t how, const float *z, const float *stored) {
    switch (how) {
    case ABI_COMPARE_LESS: return depth_test_as(ABI_COMPARE_LESS, z, stored);
    case ABI_COMPARE_LESS_EQUAL: return depth_test_as(ABI_COMPARE_LESS_EQUAL, z, stored);
    default: return depth_test_as(how, z, stored);
    }
}

static void depth_write(TileState *s, uint32_t block, uint32_t sample, uint32_t lanes) {
    float *stored = depth_at(s, block, sample);
    TileMemory *m = &s->w->tile;
    vf low = v_set(INFINITY), high = v_set(-INFINITY);
    for (int v = 0; v < VECTORS; v++) {
        vf z = v_load(s->z[sample] + v * V_WIDTH);
        v_store_bits(stored + v * V_WIDTH, v_part(lanes, v), (vi)z);
        low = v_min(low, z);
        high = v_max(high, z);
    }
    // Bounds of the block: exact when all of it is new, else wide enough.
    float least = INFINITY, most = -INFINITY;
    if (lanes == FULL && s->pass->n_samples == 1) {
        for (int i = 0; i < V_WIDTH; i++) {
            least = low[i] < least ? low[i] : least;
            most = high[i] > most ? high[i] : most;
        }
        m->z_min[block] = least;
        m->z_max[block] = most;
        return;
    }
    least = s->t->z_min, most = s->t->z_max;
    if (s->d->flags & DRAW_LATE_TEST) { // the function's own depths
        for (int i = 0; i < V_WIDTH; i++) {
            least = low[i] < least ? low[i] : least;
            most = high[i] > most ? high[i] : most;
        }
    }
    if (s->pass->depth_bits != 32) { // rounding
        least -= 0x1p-15f;
        most += 0x1p-15f;
    }
    if (least < m->z_min[block]) m->z_min[block] = least;
    if (most > m->z_max[block]) m->z_max[block] = most;
}

// Does every lane of the block fail for sure?
static bool hidden(const TileState *s, const Triangle *t, const Block *b) {
    const DrawInfo *d = s->d;
    if (!(d->flags & DRAW_DEPTH_TEST) || (d->flags & (DRAW_LATE_TEST | DRAW_STENCIL))) return false;
    float low = t->z_min, high = t->z_max;
    const TileMemory *m = &s->w->tile;
    if (!s->small) {
        const CpuPlane *p = &t->planes[0];
        float x = b->from[0], y = b->from[1], dx = p->dx, dy = p->dy;
        float at = p->at + dx * x + dy * y;
        float error =
            1e-6f * (fabsf(p->at) + fabsf(dx) * (fabsf(x) + 8) + fabsf(dy) * (fabsf(y) + 4));
        float least = at + (dx < 0 ? dx * 8 : 0) + (dy < 0 ? dy * 4 : 0) - error;
        float most = at + (dx > 0 ? dx * 8 : 0) + (dy > 0 ? dy * 4 : 0) + error;
        // Depths are held to those of the corners, where the plane may lie far from both.
        low = least > low ? least < high ? least : high : low;
        high = most < high ? most > t->z_min ? most : t->z_min : high;
    }
    if (s->pass->depth_bits != 32) {
        low -= 0x1p-15f;
        high += 0x1p-15f;
    }
    switch (d->depth_compare) {
    case ABI_COMPARE_LESS: return low >= m->z_max[b->index];
    case ABI_COMPARE_LESS_EQUAL: return low > m->z_max[b->index];
    case ABI_COMPARE_GREATER: return high <= m->z_min[b->index];
    case ABI_COMPARE_GREATER_EQUAL: return high < m->z_min[b->index];
    case ABI_COMPARE_EQUAL: return low > m->z_max[b->index] || high < m->z_min[b->index];
    case ABI_COMPARE_NEVER: return true;
    default: return false;
    }
}

// ---- Stencil ----

static bool compares(uint8_t how, uint8_t a, uint8_t b) {
    switch (how) {
    case ABI_COMPARE_NEVER: return false;
    case ABI_COMPARE_LESS: return a < b;
    case ABI_COMPARE_EQUAL: return a == b;
    case ABI_COMPARE_LESS_EQUAL: return a <= b;
    case ABI_COMPARE_GREATER: return a > b;
    case ABI_COMPARE_NOT_EQUAL: return a != b;
    case ABI_COMPARE_GREATER_EQUAL: return a >= b;
    default: return true;
    }
}

static uint8_t changed(uint8_t how, uint8_t value, uint8_t reference) {
    switch (how) {
    case DEV_STENCIL_ZERO: return 0;
    case DEV_STENCIL_REPLACE: return reference;
    case DEV_STENCIL_INCREMENT_CLAMP: return value == 255 ? 255 : (uint8_t)(value + 1);
    case DEV_STENCIL_DECREMENT_CLAMP: return value == 0 ? 0 : (uint8_t)(value - 1);
    case DEV_STENCIL_INVERT: return (uint8_t)~value;
    case DEV_STENCIL_INCREMENT_WRAP: return (uint8_t)(value + 1);
    case DEV_STENCIL_DECREMENT_WRAP: return (uint8_t)(value - 1);
    default: return value;
    }
}

// Lane by lane: an operation depends on both tests. `written`: the function's own references.
static uint32_t stencil_test(const TileState *s, const DevStencil *st, uint8_t *values,
                             uint32_t lanes, uint32_t depth_passes, const uint32_t *written) {
    uint32_t passes = 0;
    (void)s;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint8_t reference = written ? (uint8_t)written[l] : st->reference, value = values[l];
        bool ok = compares(st->compare, reference & st->read_mask, value & st->read_mask);
        bool deep = depth_passes >> l & 1;
        uint8_t how = !ok ? st->fail : deep ? st->pass : st->depth_fail;
        uint8_t fresh = changed(how, value, reference);
        values[l] = (uint8_t)((value & ~st->write_mask) | (fresh & st->write_mask));
        passes |= (uint32_t)(ok && deep) << l;
    }
    return passes;
}

// The lanes whose stored depth is inside the bounds.
static uint32_t inside_bounds(const DevState *state, const float *stored) {
    uint32_t lanes = 0;
    for (int v = 0; v < VECTORS; v++) {
        vf z = v_load(stored + v * V_WIDTH);
        lanes |=
            (v_less_equal(v_set(state->depth_low), z) & v_less_equal(z, v_set(state->depth_high)))
            << (v * V_WIDTH);
    }
    return lanes;
}

// Both tests of one sample, z in s->z[sample]; `write`: also the depth.
INLINE uint32_t test(TileState *s, const Triangle *t, uint32_t block, uint32_t sample,
                     uint32_t lanes, bool write, const uint32_t *written) {
    const DrawInfo *d = s->d;
    if (d->flags & DRAW_DEPTH_BOUNDS) lanes &= inside_bounds(d->state, depth_at(s, block, sample));
    uint32_t passes = lanes;
    if (d->flags & DRAW_DEPTH_TEST)
        passes &= depth_test(d->depth_compare, s->z[sample], depth_at(s, block, sample));
    if (d->flags & DRAW_STENCIL) {
        const DevStencil *st = t->flags & TRIANGLE_FRONT ? &d->state->front : &d->state->back;
        uint8_t *values =
            s->w->tile.stencil + ((size_t)block * s->pass->n_samples + sample) * LANES;
        passes = stencil_test(s, st, values, lanes, passes, written);
    }
    if (write && passes && (d->flags & DRAW_DEPTH_WRITE)) depth_write(s, block, sample, passes);
    return passes;
}

// ---- The function ----

static void *color_at(const TileState *s, uint32_t a, uint32_t block, uint32_t sample) {
    const Pass *p = s->pass;
    return s->w->tile.colors[a] +
           ((size_t)block * p->n_samples + sample) * LANES * p->colors[a].texel_bytes;
}

// What is the same for all blocks of a triangle.
NOINLINE void prepare(TileState *s, const Triangle *t) {
    CpuFragmentStep *step = &s->step;
    const DrawInfo *d = s->d;
    step->front = t->flags & TRIANGLE_FRONT;
    step->primitive_id = t->primitive;
    uint32_t said[2] = {0, 0};
    if (d->said_plane) memcpy(said, &t->planes[d->said_plane], sizeof said);
    step->layer = said[0];
    step->viewport = said[1];
    step->amplification_id = t->view;
    step->amplification_count = raster_views(d->draw);
    step->z = t->planes[0];
    step->w = t->planes[1];
    step->planes = t->planes + 2;
    step->sample_id = 0;
    step->per_sample = (d->flags & DRAW_PER_SAMPLE) != 0;
    step->sample[0] = step->sample[1] = 0.5f;
    if (d->fragment_info->flags & ABI_STAGE_READS_BARYCENTRIC) {
        const CpuPlane *b = t->planes + 2 + d->fragment_info->n_inputs;
        memcpy(step->barycentric, b, sizeof step->barycentric);
        memcpy(step->barycentric_linear, b + 2, sizeof step->barycentric_linear);
    }
    s->prepared = true;
}

static void find_centroids(TileState *s, const Block *b) {
    const Pass *p = s->pass;
    for (int l = 0; l < 32; l++) {
        uint32_t first = UINT32_MAX, n = 0;
        for (uint32_t i = 0; i < p->n_samples; i++)
            if (b->coverage[i] >> l & 1) {
                n++;
                if (first == UINT32_MAX) first = i;
            }
        bool center = n == 0 || n == p->n_samples;
        s->centroid[0][l] = center ? 0.5f : p->positions[first][0];
        s->centroid[1][l] = center ? 0.5f : p->positions[first][1];
    }
}

static void find_point_coords(TileState *s, const Triangle *t, const Block *b) {
    float size = t->point[2];
    for (int v = 0; v < VECTORS; v++) {
        vf x = v_to_float(lane_x(v)) + ((float)b->x + 0.5f - t->point[0]);
        vf y = v_to_float(lane_y(v)) + ((float)b->y + 0.5f - t->point[1]);
        bool point = t->flags & TRIANGLE_POINT;
        v_store(s->point_coord[0] + v * V_WIDTH, point ? x / size + 0.5f : v_set(0));
        v_store(s->point_coord[1] + v * V_WIDTH, point ? y / size + 0.5f : v_set(0));
    }
}

// Rows that only some functions read.
static void prepare_rows(TileState *s, const Triangle *t, const Block *b, uint32_t sample) {
    const AbiStageInfo *info = s->d->fragment_info;
    if (info->flags & ABI_STAGE_READS_CENTROID) find_centroids(s, b);
    if (info->flags & ABI_STAGE_READS_POINT_COORD) find_point_coords(s, t, b);
    if (info->flags & ABI_STAGE_READS_COVERAGE) {
        bool one = s->d->flags & DRAW_PER_SAMPLE;
        for (uint32_t l = 0; l < LANES; l++) {
            uint32_t mask = 0;
            for (uint32_t i = 0; i < s->pass->n_samples; i++)
                if (!one || i == sample) mask |= (b->coverage[i] >> l & 1) << i;
            s->coverage[l] = mask;
        }
    }
    for (uint32_t left = info->colors_in; left; left &= left - 1) {
        uint32_t a = (uint32_t)__builtin_ctz(left), place = s->d->places[a];
        if (s->pass->color_mask >> place & 1)
            ISA(raster_read)(s->pass->colors[place].format, color_at(s, place, b->index, sample),
                             s->color_in[4 * a]);
    }
}

// Bytes from the beginning of the user tile to the first pixel of the block.
static size_t store_offset(const TileState *s, const Block *b, uint32_t sample) {
    const Pass *p = s->pass;
    uint32_t x = (uint32_t)b->x % p->user_width, y = (uint32_t)b->y % p->user_height;
    return sizeof(AbiImageblockHead) +
           (((size_t)sample * p->user_height + y) * p->user_width + x) * p->imageblock_stride;
}

static void prepare_store(TileState *s, const Block *b, uint32_t sample) {
    unsigned char *at = raster_store_at(s->w, (uint32_t)(b->x - s->x), (uint32_t)(b->y - s->y));
    s->step.imageblock = at + (s->pass->imageblock_stride ? store_offset(s, b, sample) : 0);
    s->step.threadgroup = at + s->pass->block_bytes;
}

// What the function left for its pixels of the imageblock.
static void finish_store(const TileState *s, const Block *b, uint32_t sample, uint32_t lanes) {
    const CpuFragmentStep *step = &s->step;
    unsigned char *to = raster_store_at(s->w, (uint32_t)(b->x - s->x), (uint32_t)(b->y - s->y)) +
                        store_offset(s, b, sample);
    uint32_t words = s->d->fragment_info->imageblock_words;
    if (words > step->imageblock_stride / 4) words = step->imageblock_stride / 4;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint32_t x = l / 4 % 4 * 2 + l % 2, y = l / 16 * 2 + l / 2 % 2;
        unsigned char *pixel =
            to + (size_t)y * step->imageblock_row + (size_t)x * step->imageblock_stride;
        for (uint32_t k = 0; k < words; k++)
            memcpy(pixel + 4 * k, &step->imageblock_out[k * LANES + l], 4);
    }
}

// What some functions need for each block, or each sample of it.
NOINLINE void prepare_block(TileState *s, const Triangle *t, const Block *b, uint32_t sample) {
    CpuFragmentStep *step = &s->step;
    if (s->d->flags & DRAW_PER_SAMPLE) {
        step->sample_id = sample;
        step->sample[0] = s->pass->positions[sample][0];
        step->sample[1] = s->pass->positions[sample][1];
    }
    prepare_rows(s, t, b, sample);
    if (s->pass->user_bytes) prepare_store(s, b, sample);
}

// Runs the function for `lanes`; returns those it kept. flags: those of the draw.
INLINE uint32_t run(TileState *s, const Triangle *t, const Block *b, uint32_t flags, uint32_t lanes,
                    uint32_t sample) {
    const DrawInfo *d = s->d;
    CpuFragmentStep *step = &s->step;
    if (!s->prepared) prepare(s, t);
    step->x = b->x;
    step->y = b->y;
    step->from[0] = b->from[0];
    step->from[1] = b->from[1];
    step->covered = step->kept = lanes;
    if (flags & (DRAW_PER_SAMPLE | DRAW_ROWS)) prepare_block(s, t, b, sample);
    CpuThread *thread = s->w->thread;
    cpu_thread_resume(thread, &d->fragment.launch);
    d->run(&d->fragment.launch, step);
    cpu_thread_pause(thread);
    return step->kept & lanes;
}

// What the function, or its alpha, takes away from the samples.
static void drop(TileState *s, uint32_t kept, uint32_t first, uint32_t end,
                 uint32_t coverage[ABI_MAX_SAMPLES]) {
    const DrawInfo *d = s->d;
    uint32_t n = s->pass->n_samples;
    for (uint32_t i = first; i < end; i++) coverage[i] &= kept;
    if (d->fragment_info->flags & ABI_STAGE_SAMPLE_MASK)
        for (uint32_t l = 0; l < LANES; l++)
            for (uint32_t i = first; i < end; i++)
                coverage[i] &= ~((~s->mask_out[l] >> i & 1) << l);
    if (d->flags & DRAW_ALPHA_COVERAGE)
        for (uint32_t l = 0; l < LANES; l++) {
            float alpha;
            memcpy(&alpha, &s->colors[3][l], 4);
            float covered = floorf((alpha > 0 ? alpha < 1 ? alpha : 1 : 0) * (float)n + 0.5f);
            for (uint32_t i = first; i < end; i++)
                if (i >= (uint32_t)covered) coverage[i] &= ~(1u << l);
        }
    if (d->flags & DRAW_ALPHA_ONE)
        for (uint32_t a = 0; a <= ABI_MAX_COLORS; a++)
            for (uint32_t l = 0; l < LANES; l++) s->colors[4 * a + 3][l] = 0x3f800000;
}

// Depth the function wrote, held to what it promised of it, depth(greater) or depth(less) than the
// triangle's, and to what the viewport has.
static void take_depths(TileState *s, const Triangle *t, const Block *b, uint32_t sample) {
    const ViewportInfo *v = &s->d->viewports[t->viewport];
    const uint32_t promise = s->d->fragment_info->flags;
    if (promise & (ABI_STAGE_DEPTH_GREATER | ABI_STAGE_DEPTH_LESS)) find_depths(s, t, b, sample);
    for (int k = 0; k < VECTORS; k++) {
        vf z = v_load(s->depth_out + k * V_WIDTH), own = v_load(s->z[sample] + k * V_WIDTH);
        if (promise & ABI_STAGE_DEPTH_GREATER) z = v_max(z, own);
        if (promise & ABI_STAGE_DEPTH_LESS) z = v_min(z, own);
        z = v_min(v_max(z, v_set(v->z_low)), v_set(v->z_high));
        v_store(s->z[sample] + k * V_WIDTH, quantise(z, s->pass->depth_bits));
    }
}

static void late(TileState *s, const Triangle *t, const Block *b, uint32_t i,
                 uint32_t coverage[ABI_MAX_SAMPLES]) {
    const DrawInfo *d = s->d;
    const AbiStageInfo *info = d->fragment_info;
    if (coverage[i] == 0) return;
    if (d->flags & DRAW_LATE_WRITE) {
        depth_write(s, b->index, i, coverage[i]);
        return;
    }
    if (info->flags & ABI_STAGE_DEPTH)
        take_depths(s, t, b, i);
    else
        find_depths(s, t, b, i);
    const uint32_t *written = info->flags & ABI_STAGE_STENCIL ? s->stencil_out : NULL;
    coverage[i] = test(s, t, b->index, i, coverage[i], true, written);
}

INLINE void finish(TileState *s, const Block *b, uint32_t sample, uint32_t lanes) {
    const DrawInfo *d = s->d;
    if (lanes == 0) return;
    if (d->counts) s->visible += (uint32_t)__builtin_popcount(lanes);
    for (uint32_t left = d->outputs; left; left &= left - 1) {
        uint32_t a = (uint32_t)__builtin_ctz(left);
        d->output[a](d, a, s->colors[4 * a], lanes, color_at(s, d->places[a], b->index, sample));
    }
    if (d->flags & DRAW_IMAGEBLOCK) finish_store(s, b, sample, lanes);
}

// One run of the function for the samples first .. end - 1.
INLINE void shade(TileState *s, const Triangle *t, const Block *b, uint32_t first, uint32_t end,
                  uint32_t coverage[ABI_MAX_SAMPLES]) {
    const DrawInfo *d = s->d;
    uint32_t lanes = 0;
    for (uint32_t i = first; i < end; i++) lanes |= coverage[i];
    if (lanes == 0) return;
    uint32_t kept = run(s, t, b, d->flags, lanes, first);
    if (d->flags & (DRAW_CAN_DROP | DRAW_ALPHA_ONE)) drop(s, kept, first, end, coverage);
    for (uint32_t i = first; i < end; i++) {
        if (d->flags & (DRAW_LATE_TEST | DRAW_LATE_WRITE)) late(s, t, b, i, coverage);
        finish(s, b, i, coverage[i]);
    }
}

INLINE void set_block(const TileState *s, const Triangle *t, uint32_t block, Block *b) {
    b->index = block;
    b->x = s->x + (int32_t)(block % TILE_COLUMNS) * 8;
    b->y = s->y + (int32_t)(block / TILE_COLUMNS) * 4;
    b->from[0] = (float)b->x - t->ox;
    b->from[1] = (float)b->y - t->oy;
}

// One sample, nothing to test and nothing that the function needs or takes away: most blocks of
// pictures without depth.
NOINLINE void plain_block(TileState *s, const Triangle *t, uint32_t block, uint32_t lanes) {
    Block b;
    set_block(s, t, block, &b);
    run(s, t, &b, DRAW_SHADES, lanes, 0);
    finish(s, &b, 0, lanes);
}

// n: the number of samples, a constant where it is 1.
INLINE void block_of(TileState *s, const Triangle *t, uint32_t block, const uint32_t *covered,
                     uint32_t n) {
    const DrawInfo *d = s->d;
    Block b;
    set_block(s, t, block, &b);
    uint32_t coverage[ABI_MAX_SAMPLES], any = 0;
    for (uint32_t i = 0; i < n; i++) b.coverage[i] = coverage[i] = covered[i];
    if (d->flags & (DRAW_DEPTH_TEST | DRAW_DEPTH_WRITE | DRAW_STENCIL)) {
        if (hidden(s, t, &b)) return;
        if (!(d->flags & DRAW_LATE_TEST)) {
            for (uint32_t i = 0; i < n; i++) {
                if (coverage[i] == 0) continue;
                if (d->flags & (DRAW_DEPTH_TEST | DRAW_DEPTH_WRITE)) find_depths(s, t, &b, i);
                coverage[i] =
                    test(s, t, block, i, coverage[i], !(d->flags & DRAW_LATE_WRITE), NULL);
                any |= coverage[i];
            }
            if (any == 0) return;
        }
    }
    if (!(d->flags & DRAW_SHADES)) {
        for (uint32_t i = 0; i < n; i++) finish(s, &b, i, coverage[i]);
    } else if (n > 1 && (d->flags & DRAW_PER_SAMPLE)) {
        for (uint32_t i = 0; i < n; i++) shade(s, t, &b, i, i + 1, coverage);
    } else {
        shade(s, t, &b, 0, n, coverage);
    }
}

NOINLINE void block_of_one(TileState *s, const Triangle *t, uint32_t block,
                           const uint32_t *covered) {
    block_of(s, t, block, covered, 1);
}

NOINLINE void block_of_many(TileState *s, const Triangle *t, uint32_t block,
                            const uint32_t *covered) {
    block_of(s, t, block, covered, s->pass->n_samples);
}

// Functions of their own, so that the simple one does not set up the frame of the others.
void ISA(raster_block)(TileState *s, const Triangle *t, uint32_t block, const uint32_t *covered) {
    if (s->pass->n_samples > 1)
        block_of_many(s, t, block, covered);
    else if (s->d->flags == DRAW_SHADES)
        plain_block(s, t, block, *covered);
    else
        block_of_one(s, t, block, covered);
}

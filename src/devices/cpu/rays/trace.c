// SPDX-License-Identifier: Apache-2.0
// trace.c: the first event along rays (abi/cpu_rays.h). Sixteen rays go through Embree at a time;
// rays that look at primitives one by one go alone, because a packet may compute a distance with
// another rounding and the order of events must not change between two calls.
//
// Nothing here takes a lock or memory: a kernel may be left in the middle by a signal.
#include <math.h>
#include <string.h>
#include "devices/cpu/rays/trace_int.h"

// ---- Which events count ----

static bool is_behind(const Key *k, const Key *last) {
    if (k->path == last->path && k->geometry == last->geometry && k->primitive == last->primitive)
        return false;
    if (k->t != last->t) return k->t > last->t;
    if (k->path != last->path) return k->path > last->path;
    return k->geometry != last->geometry ? k->geometry > last->geometry
                                         : k->primitive > last->primitive;
}

static bool is_opaque(const Trace *t, const Lane *lane, const Geometry *g) {
    enum { OPAQUE = 4, NON_OPAQUE = 8 }; // of MTLAccelerationStructureInstanceOptions
    if (lane->flags & CPU_RAY_FORCE_OPAQUE) return true;
    if (lane->flags & CPU_RAY_FORCE_NON_OPAQUE) return false;
    return t->options & OPAQUE ? true : t->options & NON_OPAQUE ? false : g->opaque;
}

static bool is_front(const Trace *t, const Lane *lane, float facing) {
    enum { COUNTERCLOCKWISE = 2 };
    bool turned = !(t->options & COUNTERCLOCKWISE) != !(lane->flags & CPU_RAY_COUNTERCLOCKWISE);
    return (facing < 0) != turned;
}

bool rays_counts(const Trace *t, Lane *lane, const Key *key, float facing) {
    enum { NO_CULLING = 1 };
    const Geometry *g = &t->scene->geometries[key->geometry];
    uint32_t flags = lane->flags;
    bool opaque = is_opaque(t, lane, g);
    if (flags & (opaque ? CPU_RAY_CULL_OPAQUE : CPU_RAY_CULL_NON_OPAQUE)) return false;
    if (flags & (uint32_t)CPU_RAY_CULL_TRIANGLES << (g->kind - CPU_HIT_TRIANGLE)) return false;
    if (g->kind == CPU_HIT_TRIANGLE && flags & (CPU_RAY_CULL_FRONT | CPU_RAY_CULL_BACK) &&
        !(t->options & NO_CULLING) &&
        flags & (is_front(t, lane, facing) ? CPU_RAY_CULL_FRONT : CPU_RAY_CULL_BACK))
        return false;
    if (t->after && !is_behind(key, &lane->last)) return false;
    // Of several at one distance the least comes first.
    if (t->one_by_one && lane->best.t >= 0 && is_behind(key, &lane->best)) return false;
    lane->best = *key;
    return true;
}

void rays_note(const Trace *t, Lane *lane, const Key *key, float u, float v, float facing) {
    const Geometry *g = &t->scene->geometries[key->geometry];
    lane->best = *key;
    lane->u = u, lane->v = v;
    lane->kind = g->kind | (is_opaque(t, lane, g) ? (uint32_t)CPU_HIT_OPAQUE : 0) |
                 (is_front(t, lane, facing) ? (uint32_t)CPU_HIT_FRONT : 0) |
                 t->n_levels << CPU_HIT_LEVELS |
                 (uint32_t)t->scene->n_keyframes << CPU_HIT_KEYFRAMES;
    lane->instance = t->instance, lane->user = t->user;
    lane->function = g->function_offset, lane->instance_function = t->function_offset;
    lane->scene = t->scene;
    lane->data = g->data ? g->data + key->primitive * g->data_stride : NULL;
}

static void filter(const struct RTCFilterFunctionNArguments *args) {
    Trace *t = (Trace *)(void *)args->context;
    unsigned n = args->N;
    for (unsigned i = 0; i < n; i++) {
        if (args->valid[i] == 0) continue;
        Lane *lane = &t->lanes[*packet_word(args->ray, n, RAY_ID, i)];
        Key key = {.t = *packet_float(args->ray, n, RAY_TFAR, i),
                   .path = t->path,
                   .geometry = *packet_word(args->hit, n, HIT_GEOM, i),
                   .primitive = *packet_word(args->hit, n, HIT_PRIM, i)};
        float facing =
            *packet_float(args->hit, n, HIT_NG, i) * *packet_float(args->ray, n, RAY_DIR, i) +
            *packet_float(args->hit, n, HIT_NG + 1, i) *
                *packet_float(args->ray, n, RAY_DIR + 1, i) +
            *packet_float(args->hit, n, HIT_NG + 2, i) *
                *packet_float(args->ray, n, RAY_DIR + 2, i);
        if (!rays_counts(t, lane, &key, facing)) {
            args->valid[i] = 0;
        } else if (lane->flags & CPU_RAY_ANY && !t->one_by_one) {
            rays_note(t, lane, &key, *packet_float(args->hit, n, HIT_U, i),
                      *packet_float(args->hit, n, HIT_V, i), facing);
            *packet_float(args->ray, n, RAY_TFAR, i) = -INFINITY; // that will do
        } else if (t->one_by_one) {
            *packet_float(args->ray, n, RAY_TFAR, i) = rays_reach(key.t);
        }
    }
}

// ---- Through a scene ----

// Lanes with a new hit in a structure of primitives.
static void note_hits(Trace *t, void *rays, unsigned n, const int *valid) {
    void *r = rays;
    void *h = packet_hits(rays, n);
    for (unsigned i = 0; i < n; i++) {
        if (!valid[i] || *packet_word(h, n, HIT_GEOM, i) == RTC_INVALID_GEOMETRY_ID) continue;
        float tfar = *packet_float(r, n, RAY_TFAR, i);
        if (!(tfar >= 0)) continue; // noted by the filter
        if (t->one_by_one) tfar = t->lanes[*packet_word(r, n, RAY_ID, i)].best.t;
        float facing = *packet_float(h, n, HIT_NG, i) * *packet_float(r, n, RAY_DIR, i) +
                       *packet_float(h, n, HIT_NG + 1, i) * *packet_float(r, n, RAY_DIR + 1, i) +
                       *packet_float(h, n, HIT_NG + 2, i) * *packet_float(r, n, RAY_DIR + 2, i);
        Key key = {.t = tfar,
                   .path = t->path,
                   .geometry = *packet_word(h, n, HIT_GEOM, i),
                   .primitive = *packet_word(h, n, HIT_PRIM, i)};
        rays_note(t, &t->lanes[*packet_word(r, n, RAY_ID, i)], &key, *packet_float(h, n, HIT_U, i),
                  *packet_float(h, n, HIT_V, i), facing);
    }
}

void rays_through(Trace *t, const Scene *scene, struct RTCRayHit16 *rays, int *valid) {
    const Scene *outer = t->scene;
    t->scene = scene;
    if (scene->n_keyframes > 1)
        for (unsigned i = 0; i < 16; i++)
            if (valid[i] &&
                !rays_motion_at(scene->start, scene->end, scene->start_border, scene->end_border,
                                rays->ray.time[i], &rays->ray.time[i]))
                valid[i] = 0;
    rtcIntersect16(valid, scene->rtc, &t->rtc, rays);
    if (!scene->instanced) note_hits(t, rays, 16, valid);
    t->scene = outer;
}

void rays_through_one(Trace *t, const Scene *scene, struct RTCRayHit *ray) {
    const Scene *outer = t->scene;
    int valid = -1;
    if (scene->n_keyframes > 1 && !rays_motion_at(scene->start, scene->end, scene->start_border,
                                                  scene->end_border, ray->ray.time, &ray->ray.time))
        return;
    t->scene = scene;
    rtcIntersect1(scene->rtc, &t->rtc, ray);
    if (!scene->instanced) note_hits(t, ray, 1, &valid);
    t->scene = outer;
}

// ---- Rows to rays and back ----

typedef struct Rows {
    const uint32_t *rows;
    uint32_t *out;
    uint32_t n, op; // lanes
} Rows;

static float row_float(const Rows *r, unsigned row, unsigned lane) {
    float f;
    memcpy(&f, &r->rows[(size_t)row * r->n + lane], 4);
    return f;
}
static uint32_t row_word(const Rows *r, unsigned row, unsigned lane) {
    return r->rows[(size_t)row * r->n + lane];
}
static void store_word(const Rows *r, unsigned row, unsigned lane, uint32_t word) {
    r->out[(size_t)row * r->n + lane] = word;
}
static void put_float(const Rows *r, unsigned row, unsigned lane, float f) {
    memcpy(&r->out[(size_t)row * r->n + lane], &f, 4);
}

static bool is_valid(const float *v) {
    float sum = 0, size = 0;
    for (int k = CPU_RAY_ORIGIN; k < CPU_RAY_MIN; k++) sum += v[k] * 0.0f; // NaN, infinity
    for (int k = CPU_RAY_DIRECTION; k < CPU_RAY_MIN; k++) size += fabsf(v[k]);
    return sum == 0.0f && size > 0 && v[CPU_RAY_MIN] >= 0 && v[CPU_RAY_MAX] >= v[CPU_RAY_MIN];
}

static void begin_lane(const Rows *r, unsigned from, Lane *lane) {
    lane->flags = row_word(r, CPU_RAY_FLAGS, from);
    lane->mask = r->op & CPU_RAY_MASKED ? row_word(r, CPU_RAY_MASK, from) : UINT32_MAX;
    lane->kind = CPU_HIT_NONE;
    lane->best.t = -1;
    if (!(r->op & CPU_RAY_AFTER)) return;
    lane->last = (Key){.t = row_float(r, CPU_RAY_LAST, from),
                       .path = row_word(r, CPU_RAY_LAST + 1, from) |
                               (uint64_t)row_word(r, CPU_RAY_LAST + 2, from) << 32,
                       .geometry = row_word(r, CPU_RAY_LAST + 3, from),
                       .primitive = row_word(r, CPU_RAY_LAST + 4, from)};
}

static void end_lane(const Rows *r, unsigned to, const Lane *lane) {
    store_word(r, CPU_HIT_KIND, to, lane->kind);
    if (!lane->kind) {
        for (unsigned k = CPU_HIT_KIND + 1; k < CPU_HIT_ROWS; k++) store_word(r, k, to, 0);
        return;
    }
    put_float(r, CPU_HIT_DISTANCE, to, lane->best.t);
    store_word(r, CPU_HIT_PRIMITIVE, to, lane->best.primitive);
    store_word(r, CPU_HIT_GEOMETRY, to, lane->best.geometry);
    put_float(r, CPU_HIT_U, to, lane->u);
    put_float(r, CPU_HIT_V, to, lane->v);
    store_word(r, CPU_HIT_INSTANCE, to, lane->instance);
    store_word(r, CPU_HIT_USER, to, lane->user);
    store_word(r, CPU_HIT_PATH, to, (uint32_t)lane->best.path);
    store_word(r, CPU_HIT_PATH + 1, to, (uint32_t)(lane->best.path >> 32));
    store_word(r, CPU_HIT_DATA, to, (uint32_t)(uintptr_t)lane->data);
    store_word(r, CPU_HIT_DATA + 1, to, (uint32_t)((uint64_t)(uintptr_t)lane->data >> 32));
    if (!(lane->flags & CPU_RAY_LOOK)) return; // nobody asks for the rest
    store_word(r, CPU_HIT_FUNCTION, to, lane->function);
    store_word(r, CPU_HIT_INSTANCE_FUNCTION, to, lane->instance_function);
    put_float(r, CPU_HIT_MOTION, to, lane->scene->start);
    put_float(r, CPU_HIT_MOTION + 1, to, lane->scene->end);
}

static void trace_one(Trace *t, const Rows *r, const Scene *scene, unsigned from, unsigned lane) {
    struct RTCRayHit ray;
    float v[CPU_RAY_MASK];
    for (unsigned k = 0; k < CPU_RAY_MASK; k++) v[k] = row_float(r, k, from);
    if (!is_valid(v)) return;
    ray.ray = (struct RTCRay){.org_x = v[0],
                              .org_y = v[1],
                              .org_z = v[2],
                              .tnear = v[CPU_RAY_MIN],
                              .dir_x = v[3],
                              .dir_y = v[4],
                              .dir_z = v[5],
                              .time = r->op & CPU_RAY_TIME ? row_float(r, CPU_RAY_AT, from) : 0,
                              .tfar = v[CPU_RAY_MAX],
                              .mask = UINT32_MAX,
                              .id = lane};
    ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rays_through_one(t, scene, &ray);
}

// Rays that go about the same way from about the same place: Embree then takes the packet as one,
// which is twice as fast for such rays (and half as fast for others).
static bool is_coherent(const struct RTCRay16 *r, const int *valid, float reach) {
    unsigned f = 0;
    while (f < 15 && !valid[f]) f++;
    float x = r->dir_x[f], y = r->dir_y[f], z = r->dir_z[f], size = x * x + y * y + z * z;
    int apart = 0;
    for (unsigned i = 0; i < 16; i++) {
        float a = r->dir_x[i], b = r->dir_y[i], c = r->dir_z[i], along = a * x + b * y + c * z;
        float far =
            fmaxf(fabsf(r->org_x[i] - r->org_x[f]),
                  fmaxf(fabsf(r->org_y[i] - r->org_y[f]), fabsf(r->org_z[i] - r->org_z[f])));
        bool near =
            along > 0 && along * along > 0.98f * size * (a * a + b * b + c * c) && far <= reach;
        apart |= valid[i] & (near ? 0 : -1);
    }
    return !apart;
}

// Which rays of a packet are rays: as is_valid, all at once.
static void find_valid(const struct RTCRay16 *r, uint32_t mask, int *valid) {
    for (unsigned i = 0; i < 16; i++) {
        float sum = r->org_x[i] * 0.0f + r->org_y[i] * 0.0f + r->org_z[i] * 0.0f +
                    r->dir_x[i] * 0.0f + r->dir_y[i] * 0.0f + r->dir_z[i] * 0.0f;
        float size = fabsf(r->dir_x[i]) + fabsf(r->dir_y[i]) + fabsf(r->dir_z[i]);
        int ok = (sum == 0.0f) & (size > 0) & (r->tnear[i] >= 0) & (r->tfar[i] >= r->tnear[i]);
        valid[i] = -(int)(ok & (int)(mask >> i & 1));
    }
}

// Results of a packet that went through a structure of primitives and asked for nothing: what
// note_hits and end_lane would give, row by row.
static void end_packet(const Rows *r, const Trace *t, const Scene *scene,
                       const struct RTCRayHit16 *rays, unsigned from, unsigned n) {
    const Geometry *none = NULL, *hit[16];
    uint32_t *out = r->out + from;
    for (unsigned i = 0; i < n; i++)
        hit[i] = rays->hit.geomID[i] == RTC_INVALID_GEOMETRY_ID
                     ? none
                     : &scene->geometries[rays->hit.geomID[i]];
    for (unsigned i = 0; i < n; i++) {
        float facing = rays->hit.Ng_x[i] * rays->ray.dir_x[i] +
                       rays->hit.Ng_y[i] * rays->ray.dir_y[i] +
                       rays->hit.Ng_z[i] * rays->ray.dir_z[i];
        out[(size_t)CPU_HIT_KIND * r->n + i] =
            hit[i] ? hit[i]->kind |
                         (is_opaque(t, &t->lanes[i], hit[i]) ? (uint32_t)CPU_HIT_OPAQUE : 0) |
                         (is_front(t, &t->lanes[i], facing) ? (uint32_t)CPU_HIT_FRONT : 0) |
                         scene->n_keyframes << CPU_HIT_KEYFRAMES
                   : (uint32_t)CPU_HIT_NONE;
        const char *data = hit[i] && hit[i]->data
                               ? hit[i]->data + rays->hit.primID[i] * hit[i]->data_stride
                               : NULL;
        out[(size_t)CPU_HIT_DATA * r->n + i] = (uint32_t)(uintptr_t)data;
        out[(size_t)(CPU_HIT_DATA + 1) * r->n + i] = (uint32_t)((uint64_t)(uintptr_t)data >> 32);
    }
    const struct {
        unsigned row;
        const void *from;
    } rows[] = {{CPU_HIT_DISTANCE, rays->ray.tfar},
                {CPU_HIT_PRIMITIVE, rays->hit.primID},
                {CPU_HIT_GEOMETRY, rays->hit.geomID},
                {CPU_HIT_U, rays->hit.u},
                {CPU_HIT_V, rays->hit.v}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        const uint32_t *words = rows[k].from;
        for (unsigned i = 0; i < n; i++)
            out[(size_t)rows[k].row * r->n + i] =
                rays->hit.geomID[i] == RTC_INVALID_GEOMETRY_ID ? 0 : words[i];
    }
    for (unsigned k = CPU_HIT_INSTANCE; k < CPU_HIT_DATA; k++)
        for (unsigned i = 0; i < n; i++) out[(size_t)k * r->n + i] = 0;
}

// Lanes from .. from + 15 of the rows, those of `mask`. True: the results are there already.
static bool trace_packet(Trace *t, const Rows *r, const Scene *scene, unsigned from, unsigned n,
                         uint32_t mask) {
    _Alignas(64) struct RTCRayHit16 rays;
    _Alignas(64) int valid[16];
    float *const to[CPU_RAY_MASK] = {rays.ray.org_x, rays.ray.org_y, rays.ray.org_z, rays.ray.dir_x,
                                     rays.ray.dir_y, rays.ray.dir_z, rays.ray.tnear, rays.ray.tfar};
    if (n < 16) memset(&rays.ray, 0, sizeof rays.ray);
    for (unsigned k = 0; k < CPU_RAY_MASK; k++)
        memcpy(to[k], &r->rows[(size_t)k * r->n + from], n * sizeof(float));
    for (unsigned i = 0; i < 16; i++) {
        rays.ray.time[i] = 0;
        rays.ray.mask[i] = UINT32_MAX;
        rays.ray.id[i] = i;
        rays.ray.flags[i] = 0;
        rays.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
    }
    if (r->op & CPU_RAY_TIME)
        memcpy(rays.ray.time, &r->rows[(size_t)CPU_RAY_AT * r->n + from], n * sizeof(float));
    find_valid(&rays.ray, mask, valid);
    if (is_coherent(&rays.ray, valid, scene->reach))
        t->rtc.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    bool plain = !scene->instanced && !t->rtc.filter && scene->n_keyframes == 1 && n == 16 &&
                 mask == 0xffff && scene->all_triangles;
    if (!plain) {
        rays_through(t, scene, &rays, valid);
        return false;
    }
    rtcIntersect16(valid, scene->rtc, &t->rtc, &rays);
    end_packet(r, t, scene, &rays, from, n);
    return true;
}

void rays_trace(uint64_t structure, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                const uint32_t *rows, uint32_t *out) {
    const Rows r = {rows, out, n_lanes, op};
    const Scene *scene = scene_of(structure);
    for (uint32_t from = 0; from < n_lanes; from += 16) {
        uint32_t n = n_lanes - from < 16 ? n_lanes - from : 16;
        uint32_t on = mask[from / 32] >> from % 32 & ((1u << n) - 1), flags = 0;
        Trace t = {.after = op & CPU_RAY_AFTER, .scale = 1};
        for (uint32_t left = on; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            begin_lane(&r, from + i, &t.lanes[i]);
            flags |= t.lanes[i].flags;
        }
        rtcInitIntersectContext(&t.rtc);
        bool plain = scene && scene->all_triangles && scene->all_opaque &&
                     !(flags & CPU_RAY_FORCE_NON_OPAQUE);
        t.one_by_one = t.after || (flags & CPU_RAY_LOOK && !plain);
        bool asks =
            flags & ~(uint32_t)(CPU_RAY_LOOK | CPU_RAY_COUNTERCLOCKWISE | CPU_RAY_CULL_BOXES |
                                CPU_RAY_FORCE_OPAQUE | CPU_RAY_FORCE_NON_OPAQUE);
        if (t.one_by_one || asks) t.rtc.filter = filter;
        if (scene && !t.one_by_one && n > 1 && on & (on - 1)) {
            if (trace_packet(&t, &r, scene, from, n, on)) continue;
        } else
            for (uint32_t left = scene ? on : 0; left; left &= left - 1) {
                unsigned i = (unsigned)__builtin_ctz(left);
                trace_one(&t, &r, scene, from + i, i);
            }
        for (uint32_t left = on; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            end_lane(&r, from + i, &t.lanes[i]);
        }
    }
}

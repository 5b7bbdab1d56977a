// SPDX-License-Identifier: Apache-2.0
// instances.c: structures of instances: records in memory become an Embree scene of user
// primitives, whose function (trace.c) goes on in the instance's own structure with the ray in its
// space. Embree's instances know one level and no flags; Metal's have both.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/rays/scene_int.h"

enum { // MTLAccelerationStructureInstanceDescriptorType
    DEFAULT = 0,
    USER_ID,
    MOTION,
    INDIRECT,
    INDIRECT_MOTION,
};
enum { NON_OPAQUE = 8 }; // of MTLAccelerationStructureInstanceOptionNonOpaque

void rays_multiply(Matrix *to, const Matrix *a, const Matrix *b) {
    Matrix r;
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 3; i++) {
            float s = c == 3 ? a->m[9 + i] : 0.0f;
            for (int k = 0; k < 3; k++) s += a->m[k * 3 + i] * b->m[c * 3 + k];
            r.m[c * 3 + i] = s;
        }
    *to = r;
}

// In double precision: the inverse must not lose precision.
void rays_invert(Matrix *to, const Matrix *from) {
    const float *m = from->m;
    double a[9], det;
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) { // cofactors, transposed
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            a[r * 3 + c] =
                (double)m[c1 * 3 + r1] * m[c2 * 3 + r2] - (double)m[c2 * 3 + r1] * m[c1 * 3 + r2];
        }
    det = m[0] * a[0] + m[1] * a[3] + m[2] * a[6];
    for (int k = 0; k < 9; k++) to->m[k] = (float)(a[k] / det);
    for (int r = 0; r < 3; r++)
        to->m[9 + r] = (float)(-(a[r] * m[9] + a[3 + r] * m[10] + a[6 + r] * m[11]) / det);
}

bool rays_motion_at(float start, float end, uint32_t start_border, uint32_t end_border, float time,
                    float *at) {
    enum { VANISH = 1 };
    if ((time < start && start_border == VANISH) || (time > end && end_border == VANISH))
        return false;
    float t = end > start ? (time - start) / (end - start) : 0.0f;
    *at = t >= 1.0f ? 1.0f : t > 0.0f ? t : 0.0f;
    return true;
}

bool rays_instance_at(const Instance *instance, float time, Matrix *to_world, Matrix *to_object) {
    if (!instance->n_transforms) {
        *to_world = instance->to_world;
        *to_object = instance->to_object;
        return true;
    }
    float at;
    if (!rays_motion_at(instance->start, instance->end, instance->start_border,
                        instance->end_border, time, &at))
        return false;
    at *= (float)(instance->n_transforms - 1);
    uint32_t k = (uint32_t)at, last = instance->n_transforms - 1;
    if (k >= last) k = last ? last - 1 : 0;
    float w = at - (float)k;
    if (instance->components) {
        const Components *a = &instance->components[k];
        rays_compose(to_world, a, last ? a + 1 : a, w);
    } else {
        const Matrix *a = &instance->transforms[k], *b = last ? a + 1 : a;
        for (int i = 0; i < 12; i++) to_world->m[i] = a->m[i] + w * (b->m[i] - a->m[i]);
    }
    rays_invert(to_object, to_world);
    return true;
}

// ---- Records ----

static void take_matrix(Matrix *to, const float *m, bool row_major) {
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++) to->m[c * 3 + r] = row_major ? m[r * 4 + c] : m[c * 3 + r];
}

static uint32_t word(const char *record, size_t at) {
    uint32_t w;
    memcpy(&w, record + at, 4);
    return w;
}
static float number(const char *record, size_t at) {
    float f;
    memcpy(&f, record + at, 4);
    return f;
}

static Scene *structure_at(const DevInstances *in, uint32_t index) {
    return index < in->n_structures ? rays_scene_behind(in->structures[index]) : NULL;
}

// The number in memory, if there is one, or the greatest it may be.
static uint32_t count_of(uint32_t n, const DevRange *count) {
    uint32_t there;
    if (!count->at || count->n_bytes < 4) return n;
    memcpy(&there, count->at, 4);
    return there < n ? there : n;
}

// Keyframes `first` .. of the transforms in memory: matrices or components.
static bool take_transforms(Instance *to, const DevInstances *in, uint32_t first, uint32_t n) {
    enum { COMPONENT = 1 }; // MTLTransformType
    static const Components still = {.scale = {1, 1, 1}, .rotation = {0, 0, 0, 1}};
    bool components = in->transform_type == COMPONENT;
    size_t each = components ? sizeof(Components) : sizeof(Matrix);
    uint64_t stride = in->transform_stride ? in->transform_stride : each;
    uint32_t n_there = count_of(in->n_transforms, &in->transform_count);
    if (n > n_there) n = n_there;
    to->n_transforms = n ? n : 1;
    if (components)
        to->components = calloc(to->n_transforms, sizeof *to->components);
    else
        to->transforms = calloc(to->n_transforms, sizeof *to->transforms);
    if (!to->components && !to->transforms) return false;
    for (uint32_t k = 0; k < to->n_transforms; k++) {
        uint64_t at = ((uint64_t)first + k) * stride;
        float m[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        bool there = (uint64_t)first + k < n_there && in->transforms.at &&
                     at <= in->transforms.n_bytes && in->transforms.n_bytes - at >= each;
        if (components) {
            to->components[k] = still;
            if (there) memcpy(&to->components[k], in->transforms.at + at, each);
        } else if (there) {
            memcpy(m, in->transforms.at + at, sizeof m);
            take_matrix(&to->transforms[k], m, in->row_major);
        } else {
            memcpy(to->transforms[k].m, m, sizeof m);
        }
    }
    return true;
}

// One record, whose layout is Apple's for the type.
static bool take_record(Instance *to, const DevInstances *in, const char *record) {
    float m[12];
    if (in->type == DEFAULT || in->type == USER_ID || in->type == INDIRECT) {
        memcpy(m, record, sizeof m);
        take_matrix(&to->to_world, m, in->row_major);
        to->options = word(record, 48), to->mask = word(record, 52);
        to->function_offset = word(record, 56);
        if (in->type == INDIRECT) {
            uint64_t handle;
            memcpy(&handle, record + 64, 8);
            to->user_id = word(record, 60);
            to->scene = rays_scene_behind(handle);
        } else {
            to->scene = structure_at(in, word(record, 60));
            to->user_id = in->type == USER_ID ? word(record, 64) : 0;
        }
        rays_invert(&to->to_object, &to->to_world);
        return true;
    }
    bool indirect = in->type == INDIRECT_MOTION;
    size_t motion = indirect ? 24 : 20;
    to->options = word(record, 0), to->mask = word(record, 4);
    to->function_offset = word(record, 8);
    to->user_id = word(record, indirect ? 12 : 16);
    if (indirect) {
        uint64_t handle;
        memcpy(&handle, record + 16, 8);
        to->scene = rays_scene_behind(handle);
    } else {
        to->scene = structure_at(in, word(record, 12));
    }
    to->start_border = word(record, motion + 8), to->end_border = word(record, motion + 12);
    to->start = number(record, motion + 16), to->end = number(record, motion + 20);
    return take_transforms(to, in, word(record, motion), word(record, motion + 4));
}

// ---- Bounds ----

static void add_corners(float *bounds, const struct RTCBounds *b, const Matrix *m) {
    for (int corner = 0; corner < 8; corner++) {
        float p[3] = {corner & 1 ? b->upper_x : b->lower_x, corner & 2 ? b->upper_y : b->lower_y,
                      corner & 4 ? b->upper_z : b->lower_z};
        for (int r = 0; r < 3; r++) {
            float x = m->m[r] * p[0] + m->m[3 + r] * p[1] + m->m[6 + r] * p[2] + m->m[9 + r];
            // A corner may be rounded inwards.
            float slack = fabsf(x) * 1e-6f + 1e-30f;
            bounds[r] = fminf(bounds[r], x - slack);
            bounds[3 + r] = fmaxf(bounds[3 + r], x + slack);
        }
    }
}

static void find_bounds(Instance *instance) {
    for (int k = 0; k < 6; k++) instance->bounds[k] = k < 3 ? INFINITY : -INFINITY;
    if (!instance->scene) return;
    struct RTCBounds b;
    rtcGetSceneBounds(instance->scene->rtc, &b);
    if (!(b.lower_x <= b.upper_x)) return; // nothing in it
    if (!instance->n_transforms) add_corners(instance->bounds, &b, &instance->to_world);
    const float box[6] = {b.lower_x, b.lower_y, b.lower_z, b.upper_x, b.upper_y, b.upper_z};
    // Between keyframes a corner moves on a straight line, if nothing turns.
    for (uint32_t k = 0; k < instance->n_transforms; k++)
        if (instance->components)
            rays_component_bounds(instance->bounds, box, &instance->components[k]);
        else
            add_corners(instance->bounds, &b, &instance->transforms[k]);
}

static size_t record_bytes(uint32_t type) {
    static const uint8_t bytes[] = {64, 68, 44, 72, 48};
    return type < sizeof bytes ? bytes[type] : 64;
}

static bool take_instances(Scene *scene, const DevInstances *in) {
    uint32_t n = count_of(in->n, &in->count);
    size_t each = record_bytes(in->type);
    uint64_t stride = in->stride ? in->stride : each;
    scene->instances = calloc((size_t)n + 1, sizeof *scene->instances);
    if (!scene->instances) return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = i * stride;
        Instance *to = &scene->instances[i];
        scene->n_instances = i + 1;
        bool there =
            in->records.at && at <= in->records.n_bytes && in->records.n_bytes - at >= each;
        if (there && !take_record(to, in, in->records.at + at)) return false;
        find_bounds(to);
        uint32_t levels = to->scene ? to->scene->n_levels : 0;
        if (levels >= scene->n_levels) scene->n_levels = levels + 1;
        scene->all_opaque &= !to->scene || (to->scene->all_opaque && !(to->options & NON_OPAQUE));
        scene->all_triangles &= !to->scene || to->scene->all_triangles;
    }
    if (scene->n_levels > CPU_RAY_MAX_LEVELS) { // deeper than any ray goes
        for (uint32_t i = 0; i < n; i++) {
            rays_scene_release(scene->instances[i].scene);
            scene->instances[i].scene = NULL;
        }
        scene->n_levels = 1;
    }
    return true;
}

Scene *rays_build_instances(const DevRayBuild *build) {
    Scene *scene = rays_scene_new();
    if (!scene) return NULL;
    scene->instanced = scene->all_opaque = scene->all_triangles = true;
    if (!take_instances(scene, &build->instances)) {
        rays_scene_release(scene);
        return NULL;
    }
    scene->n_bytes = 1024 + (uint64_t)scene->n_instances * sizeof(Instance);
    rtcSetSceneFlags(scene->rtc, RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION);
    RTCGeometry geometry = rtcNewGeometry(rays_device, RTC_GEOMETRY_TYPE_USER);
    (void)rtcGetDeviceError(rays_device);
    if (geometry) {
        rtcSetGeometryUserPrimitiveCount(geometry, scene->n_instances);
        rays_instance_geometry(geometry, scene);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(scene->rtc, geometry);
        rtcReleaseGeometry(geometry);
        rtcCommitScene(scene->rtc);
        rays_scene_measure(scene);
    }
    if (geometry && rtcGetDeviceError(rays_device) == RTC_ERROR_NONE) return scene;
    rays_scene_release(scene);
    return NULL;
}

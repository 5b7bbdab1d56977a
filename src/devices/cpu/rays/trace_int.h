// SPDX-License-Identifier: Apache-2.0
// trace_int.h: rays on their way: what Embree's callbacks (trace.c, user.c) find behind its
// context.
#ifndef INGOT_CPU_RAYS_TRACE_H
#define INGOT_CPU_RAYS_TRACE_H
#include <stddef.h>
#include "devices/cpu/rays/scene_int.h"

// Packets of n rays and of n hits are rows of words, in this order (Embree's RTCRayN, RTCHitN; a
// single one is a packet of one).
enum {
    RAY_ORG = 0, // .. +2
    RAY_TNEAR = 3,
    RAY_DIR = 4, // .. +2
    RAY_TIME = 7,
    RAY_TFAR,
    RAY_MASK,
    RAY_ID,
    RAY_FLAGS,
    RAY_WORDS,
    HIT_NG = 0, // .. +2
    HIT_U = 3,
    HIT_V,
    HIT_PRIM,
    HIT_GEOM,
};
_Static_assert(sizeof(struct RTCRay) == RAY_WORDS * 4 &&
                   offsetof(struct RTCRay, tfar) == RAY_TFAR * 4 &&
                   offsetof(struct RTCHit, geomID) == HIT_GEOM * 4,
               "the order of Embree's rows");
static inline float *packet_float(void *packet, unsigned n, unsigned row, unsigned i) {
    return (float *)packet + (size_t)row * n + i;
}
static inline unsigned *packet_word(void *packet, unsigned n, unsigned row, unsigned i) {
    return (unsigned *)packet + (size_t)row * n + i;
}
// The hits behind n rays.
static inline void *packet_hits(void *packet, unsigned n) {
    return (float *)packet + (size_t)RAY_WORDS * n;
}

// An event's place in the order of events.
typedef struct Key {
    float t;
    uint32_t geometry, primitive;
    uint64_t path;
} Key;

typedef struct Lane { // a ray, and the best event of it so far; kind CPU_HIT_NONE: none
    uint32_t flags, mask;
    Key last, best; // last: with Trace.after
    uint32_t kind, instance, user, function, instance_function;
    float u, v;
    const Scene *scene; // of the event
    const char *data;
} Lane;

typedef struct Trace {
    struct RTCIntersectContext rtc; // first: callbacks get its address
    bool after, one_by_one;
    const Scene *scene; // that the rays are in
    // The way there: instances i0, i1, ... of structures with n0, n1, ... instances are the path
    // i0 + n0 * (i1 + n1 * ...), in 64 bits.
    uint64_t path, scale;
    uint32_t n_levels, instance, user; // of the outermost
    uint32_t options, function_offset; // of all
    Lane lanes[16];                    // by ray id
} Trace;

// Does the event count for the ray? Then it is the best so far. facing: the sign says which side of
// a triangle the ray sees.
bool rays_counts(const Trace *t, Lane *lane, const Key *key, float facing);
void rays_note(const Trace *t, Lane *lane, const Key *key, float u, float v, float facing);
// How far a ray goes on that looks at events one by one and has found one at t: others at t come
// to be seen only if Embree, which rounds its own way, does not take them for farther ones.
static inline float rays_reach(float t) { return t * (1.0f + 1e-6f) + 1e-30f; }
// Goes on in a scene. valid: -1 or 0.
void rays_through(Trace *t, const Scene *scene, struct RTCRayHit16 *rays, int *valid);
void rays_through_one(Trace *t, const Scene *scene, struct RTCRayHit *ray);
#endif

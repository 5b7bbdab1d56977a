// SPDX-License-Identifier: Apache-2.0
// assemble.c: primitive assembly with vertex reuse: which vertices a span needs, each once, and the
// primitives they form. Slots are places in the thread's vertex memory; geometry.c runs the vertex
// function on w->ids, slot by slot.
//
// The first vertex of a primitive is the provoking one, Metal's rule. Odd triangles of a strip swap
// the other two, so that all wind the same way.
#include <string.h>
#include "devices/cpu/raster/raster_int.h"

#define TURNED 0x80000000u
#define HASH_SIZE 4096u

uint32_t raster_corners(uint8_t primitive) {
    return primitive == DEV_POINT ? 1 : primitive <= DEV_LINE_STRIP ? 2 : 3;
}

bool raster_is_strip(uint8_t primitive) {
    return primitive == DEV_LINE_STRIP || primitive == DEV_TRIANGLE_STRIP;
}

static inline uint32_t index_at(const DevDraw *draw, uint64_t i) {
    if ((i + 1) * draw->index_bytes > draw->indices_bytes) return 0;
    uint16_t half;
    uint32_t index;
    const char *at = (const char *)draw->indices + i * draw->index_bytes; // aligned or not
    if (draw->index_bytes != 2) return memcpy(&index, at, sizeof index), index;
    return memcpy(&half, at, sizeof half), half;
}

uint32_t raster_strip(const DevDraw *draw, Cursor *cursor, uint32_t max, uint32_t *starts) {
    uint32_t corners = raster_corners(draw->state->primitive), n = 0;
    uint32_t restart = draw->index_bytes == 2 ? UINT16_MAX : UINT32_MAX;
    uint32_t at = cursor->at, run = cursor->run;
    // known: indices at .. known - 1 are no restarts.
    uint32_t known = run > 0 ? at + corners - 1 : at;
    while (n < max && draw->n_vertices >= corners && at <= draw->n_vertices - corners) {
        if (known < at) known = at;
        while (known < at + corners && index_at(draw, known) != restart) known++;
        if (known < at + corners) { // a restart: go on behind it
            at = known + 1;
            run = 0;
            continue;
        }
        if (starts) starts[n] = at | (run & 1 ? TURNED : 0);
        n++, at++, run++;
    }
    cursor->at = at;
    cursor->run = run;
    cursor->primitive += n;
    return n;
}

static uint32_t slot_of(Worker *w, uint32_t id) {
    uint32_t h = (id * 0x9e3779b1u) >> 20;
    while (w->hash_epochs[h] == w->hash_epoch) {
        if (w->hash_ids[h] == id) return w->hash_slots[h];
        h = (h + 1) % HASH_SIZE;
    }
    w->hash_epochs[h] = w->hash_epoch;
    w->hash_ids[h] = id;
    w->hash_slots[h] = w->n_slots;
    w->ids[w->n_slots] = id;
    return w->n_slots++;
}
_Static_assert(UNIT_SLOTS < HASH_SIZE / 2, "room in the table");

static uint32_t assemble_indexed(Worker *w, const DrawInfo *d, const Span *span, Corners *corners) {
    const DevDraw *draw = &w->pass->draws[span->from.draw];
    uint32_t n_corners = raster_corners(d->state->primitive), n = span->n_primitives;
    uint32_t starts[UNIT_PRIMITIVES];
    bool strip = raster_is_strip(d->state->primitive);
    if (++w->hash_epoch == 0) { // once in 2^32 spans old entries would come back to life
        for (uint32_t i = 0; i < HASH_SIZE; i++) w->hash_epochs[i] = 0;
        w->hash_epoch = 1;
    }
    Cursor cursor = span->from;
    if (strip) n = raster_strip(draw, &cursor, n, starts);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = strip ? starts[i] & ~TURNED : span->from.at + (uint64_t)i * n_corners;
        for (uint32_t k = 0; k < n_corners; k++)
            corners[i].slot[k] = slot_of(w, index_at(draw, at + k) + draw->first_vertex);
        if (strip && n_corners == 3 && (starts[i] & TURNED)) {
            uint32_t t = corners[i].slot[1];
            corners[i].slot[1] = corners[i].slot[2];
            corners[i].slot[2] = t;
        }
        corners[i].primitive = span->from.primitive + i;
    }
    return n;
}

uint32_t raster_assemble(Worker *w, const DrawInfo *d, const Span *span, Corners *corners) {
    const DevDraw *draw = &w->pass->draws[span->from.draw];
    uint8_t kind = d->state->primitive;
    uint32_t n_corners = raster_corners(kind), n = span->n_primitives, first = w->n_slots;
    if (draw->indices) return assemble_indexed(w, d, span, corners);
    bool strip = raster_is_strip(kind);
    uint32_t step = strip ? 1 : n_corners;
    uint32_t n_vertices = n ? (n - 1) * step + n_corners : 0;
    w->n_slots += n_vertices;
    for (uint32_t i = 0; i < n_vertices; i++)
        w->ids[first + i] = draw->first_vertex + span->from.at + i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t turned = strip && n_corners == 3 && ((span->from.run + i) & 1);
        corners[i].slot[0] = first + i * step;
        corners[i].slot[1] = first + i * step + 1 + turned;
        corners[i].slot[2] = first + i * step + 2 - turned;
        corners[i].primitive = span->from.primitive + i;
    }
    return n;
}

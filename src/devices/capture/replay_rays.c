// SPDX-License-Identifier: Apache-2.0
// replay_rays.c: acceleration structures of a replay: the handles they had, and what is built.
#include <string.h>
#include "devices/capture/rays_int.h"
#include "devices/capture/replay_int.h"

static const DevRays *rays_of(const CapReplay *r, char why[CAP_WHY]) {
    char text[256] = "it has none";
    const DevTable *table = r->device.table;
    const DevRays *rays = table->rays ? table->rays(r->device.context, text, sizeof text) : NULL;
    if (!rays) replay_say(why, "the device has no ray tracing: %s", text);
    return rays;
}

bool replay_rays_overlap(const CapReplay *r, uintptr_t at, size_t n_bytes) {
    for (size_t i = 0; i < r->n_rays; i++) {
        uintptr_t other = (uintptr_t)abi_handle_record(r->rays[i]->now.value);
        if (at < other + DEV_RAYS_RECORD && other < at + n_bytes) return true;
    }
    return false;
}

// Where records are at addresses, with the handle that it had.
bool replay_make_rays(CapReplay *r, Stand *s) {
    char why[CAP_WHY];
    const DevRays *rays = rays_of(r, why);
    if (!rays) return true; // commands that need it say so
    uintptr_t at = (uintptr_t)abi_handle_record(s->old);
    bool fresh;
    if (!array_reserve(&r->rays, &r->rays_capacity, r->n_rays + 1) ||
        (!r->translates && (at % 8 || at < 1 << 16 || replay_place(r, at) ||
                            replay_rays_overlap(r, at, DEV_RAYS_RECORD) ||
                            !replay_map(r, at, DEV_RAYS_RECORD, &fresh))) ||
        !rays->make(r->device.context, r->translates ? 0 : s->old, &s->now))
        return false;
    r->rays[r->n_rays++] = s;
    return true;
}

void replay_free_rays(CapReplay *r, Stand *s) {
    char why[CAP_WHY];
    const DevRays *rays = rays_of(r, why);
    if (rays) rays->free(r->device.context, &s->now);
    for (size_t i = 0; i < r->n_rays; i++)
        if (r->rays[i] == s) {
            memmove(r->rays + i, r->rays + i + 1, (--r->n_rays - i) * sizeof *r->rays);
            break;
        }
}

// A handle in an event as the device has it.
static bool take_handle(const CapReplay *r, uint64_t *handle, char why[CAP_WHY]) {
    const Stand *s = replay_stand(r, *handle);
    if (!s || s->kind != CAP_RAYS || !s->made)
        return replay_say(why, "an acceleration structure is not in the capture");
    *handle = s->now.value;
    return true;
}

typedef struct Ranges {
    const CapReplay *r;
    char *why;
} Ranges;

static bool take_range(void *context, DevRange *range, uint64_t n, uint64_t stride) {
    const Ranges *x = context;
    uint64_t last = 0;
    if (n != CAP_ANY && n &&
        (__builtin_mul_overflow(n - 1, stride, &last) || last >= range->n_bytes))
        return replay_say(x->why, "damaged: more elements than there is memory");
    uint64_t now = replay_address(x->r, (uintptr_t)range->at, range->n_bytes);
    if (!now) return replay_say(x->why, "it is built of memory that is not in the capture");
    range->at = (const char *)(uintptr_t)now;
    return true;
}

bool replay_build(CapReplay *r, const CapEvent *e, char why[CAP_WHY]) {
    const DevRays *rays = rays_of(r, why);
    uint64_t to = e->build.to, from = e->build.from;
    bool refits = e->kind == CAP_RAYS_REFIT, copies = e->kind == CAP_RAYS_COPY;
    if (!rays || !take_handle(r, &to, why) || ((refits || copies) && !take_handle(r, &from, why)))
        return false;
    if (!dev_finish(r->device.table, &r->dev)) return false;
    if (copies) return rays->copy(&r->dev, to, from);
    DevRayBuild build;
    bool ok =
        cap_build_copy(&build, &e->build.dev, &r->scratch) || replay_say(why, "out of memory");
    uint64_t *structures = ok ? (uint64_t *)(uintptr_t)build.instances.structures : NULL;
    for (uint32_t i = 0; ok && i < build.instances.n_structures; i++)
        ok = take_handle(r, &structures[i], why);
    ok = ok && cap_build_ranges(&build, take_range, &(Ranges){r, why});
    ok = ok && (refits ? rays->refit(&r->dev, to, from, &build) : rays->build(&r->dev, to, &build));
    base_arena_free(&r->scratch);
    return ok;
}

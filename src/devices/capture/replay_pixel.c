// SPDX-License-Identifier: Apache-2.0
// replay_pixel.c: which draws of a pass touch a pixel. All draws of the pass are run twice before
// the pass itself, cut to the pixel, with counters of samples: once without depth and stencil
// tests, which counts what they cover, and once as they are, which counts what is written. Nothing
// of it is stored.
#include "devices/capture/replay_int.h"
#include <stdlib.h>
#include <string.h>

enum { TURN_COVERED, TURN_PASSED, N_TURNS };

// The part of a scissor that is the pixel; empty if it is outside.
static DevScissor cut(DevScissor s, uint32_t x, uint32_t y) {
    bool inside = x >= s.x && y >= s.y && x - s.x < s.width && y - s.y < s.height;
    return (DevScissor){x, y, inside, inside};
}

static void aim(const CapReplay *r, DevDraw *draw, DevState *state, int turn, CapTouch *touch) {
    uint32_t x = r->probe.x, y = r->probe.y;
    if (!draw->state || draw->tile) return; // no draw
    *state = *draw->state;
    if (!state->n_scissors) {
        state->n_scissors = 1;
        state->scissors[0] = (DevScissor){x, y, 1, 1};
    } else {
        for (uint32_t i = 0; i < state->n_scissors; i++)
            state->scissors[i] = cut(state->scissors[i], x, y);
    }
    if (turn == TURN_COVERED) {
        state->depth_compare = ABI_COMPARE_ALWAYS;
        state->depth_write = state->depth_bounds = state->stencil = false;
    }
    draw->state = state;
    draw->visibility = turn == TURN_COVERED ? &touch->covered : &touch->passed;
    draw->counts_any = false;
}

static bool probe(CapReplay *r, const CapEvent *events, size_t n, int turn, char why[CAP_WHY]) {
    DevPass pass;
    DevDraw *draws = calloc(n + 1, sizeof *draws);
    DevState *states = calloc(n + 1, sizeof *states);
    bool ok = (draws && states) || replay_say(why, "out of memory");
    ok = ok && replay_prepare_pass(r, &events->render.dev, &pass, why);
    for (size_t i = 0; i < ABI_MAX_COLORS; i++) pass.colors[i].store = DEV_STORE_DONT_CARE;
    pass.depth.store = pass.stencil.store = DEV_STORE_DONT_CARE;
    for (size_t i = 0; ok && i < n; i++) {
        ok = replay_prepare_draw(r, &events[1 + i].draw, &draws[i], why);
        if (ok) aim(r, &draws[i], &states[i], turn, &r->probe.touches[i]);
    }
    if (ok && !r->device.table->render) ok = replay_say(why, "the device has no render passes");
    ok = ok && r->device.table->render(&r->dev, &pass, draws, n);
    if (ok) dev_finish(r->device.table, &r->dev);
    free(draws);
    free(states);
    base_arena_free(&r->scratch);
    return ok && !atomic_load(&r->dev.fault);
}

bool replay_probe(CapReplay *r, const CapEvent *pass, size_t n_draws, char why[CAP_WHY]) {
    if (!r->probe.touches || r->probe.pass != pass->command) return true;
    if (n_draws > r->probe.n) n_draws = r->probe.n;
    r->probe.done = true;
    for (int turn = 0; turn < N_TURNS; turn++)
        if (!probe(r, pass, n_draws, turn, why)) return false;
    return true;
}

bool cap_replay_pixel(CapReplay *r, uint64_t pass, uint32_t x, uint32_t y, CapTouch *touches,
                      size_t n, char why[CAP_WHY]) {
    if (dev_has_memory(r->device.table))
        return replay_say(why, "only devices in the host's memory count samples of a pixel");
    for (size_t i = 0; i < n; i++) atomic_init(&touches[i].covered, 0);
    for (size_t i = 0; i < n; i++) atomic_init(&touches[i].passed, 0);
    cap_replay_rewind(r);
    r->probe.touches = touches;
    r->probe.pass = pass, r->probe.n = n, r->probe.x = x, r->probe.y = y, r->probe.done = false;
    bool ok = cap_replay_run(r, pass + n, NULL, why);
    r->probe.touches = NULL;
    cap_replay_rewind(r); // functions may have written to buffers three times
    if (ok && !r->probe.done) return replay_say(why, "that command is no render pass");
    return ok;
}

// SPDX-License-Identifier: Apache-2.0
// replay.c: a capture, run again: events in their order, each done as it comes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/capture/replay_int.h"
#include "os/clock.h"

CapReplay *cap_replay_new(const Capture *capture, const CapDevice *device, char why[CAP_WHY]) {
    CapReplay *r = calloc(1, sizeof *r);
    if (!r) {
        replay_say(why, "out of memory");
        return NULL;
    }
    r->capture = capture;
    r->device = *device;
    r->translates = dev_has_memory(device->table) || device->table->texture_make;
    return r;
}

static void end_run(CapReplay *r) {
    if (r->running) r->device.table->run_end(&r->dev);
    r->running = false;
    for (size_t i = 0; i < r->n_places; i++) r->places[i]->used = r->places[i]->writes = false;
    cap_run_free(&r->events);
    r->at = 0;
}

// Functions stay: their code is the same.
void cap_replay_rewind(CapReplay *r) {
    end_run(r);
    replay_drop_handles(r);
    replay_drop_all_memory(r);
    r->n_objects = 0;
    r->run = 0;
    r->next = 0;
    r->in_pass = false;
}

void cap_replay_free(CapReplay *r) {
    if (!r) return;
    cap_replay_rewind(r);
    if (r->pool_first) r->device.table->views_give(r->device.context, r->pool_first, 1 << 16);
    for (size_t i = 0; i < r->n_programs; i++) {
        if (r->programs[i]->code) r->device.table->code_free(r->programs[i]->code);
        if (r->programs[i]->fast) r->device.table->code_free(r->programs[i]->fast);
        free(r->programs[i]);
    }
    for (size_t i = 0; i < r->n_shelves; i++) {
        metallib_release(r->shelves[i]->lib);
        free(r->shelves[i]);
    }
    hash_clear(&r->stands, NULL);
    hash_clear(&r->ids, NULL);
    free(r->programs), free(r->shelves), free(r->places), free(r->textures);
    free(r->objects), free(r->mapped), free(r->waiting), free(r->rays);
    base_arena_free(&r->kept);
    base_arena_free(&r->scratch);
    free(r);
}

void cap_replay_debug(CapReplay *r, uint64_t command) {
    r->has_debug = true;
    r->debug = command;
}

static void look_at(CapReplay *r, const CapEvent *e) {
    r->debugging = r->has_debug && e->command == r->debug;
}

const char *cap_replay_unknown(const CapReplay *r) { return r->unknown; }

// ---- A run on the device ----

static const char *fault_name(int fault) {
    static const char *const names[] = {"none",
                                        "it took too long",
                                        "an address where there is nothing",
                                        "a trap",
                                        "too much stack",
                                        "out of memory",
                                        "the device is gone",
                                        "a size that does not fit"};
    return fault >= 0 && fault < (int)(sizeof names / sizeof *names) ? names[fault] : "unknown";
}

static bool begin(CapReplay *r, char why[CAP_WHY]) {
    if (r->running) return true;
    if (!replay_make_handles(r, why) || !replay_put_waiting(r, why)) return false;
    r->dev = (DevRun){.context = r->device.context};
    if (!r->device.table->run_begin(&r->dev, r->device.limits))
        return replay_say(why, "out of memory");
    r->running = true;
    for (size_t i = 0; r->device.table->use && i < r->n_places; i++) {
        const Place *p = r->places[i];
        if (p->used && p->now.address) r->device.table->use(&r->dev, &p->now, p->writes);
    }
    return true;
}

// Waits for what was started; a fault that the capture had too is none.
static bool finish(CapReplay *r, uint64_t command, char why[CAP_WHY]) {
    dev_finish(r->device.table, &r->dev);
    int fault = atomic_load(&r->dev.fault);
    if (!fault) return true;
    return replay_say(why, "command %llu failed: %s", (unsigned long long)command,
                      fault_name(fault));
}

static bool stop(CapReplay *r) { // outside of the run, to look at memory
    if (r->running) r->device.table->run_end(&r->dev);
    r->running = false;
    return true;
}

// ---- Commands ----

static bool do_copy(CapReplay *r, const CapCopy *c, char why[CAP_WHY]) {
    uint64_t to = replay_address(r, c->to, c->n_bytes);
    uint64_t from = c->bytes ? (uintptr_t)c->bytes : replay_address(r, c->from, c->n_bytes);
    if (!c->n_bytes) return true;
    if (!to || !from) return replay_say(why, "it copies memory that is not in the capture");
    return dev_copy(r->device.table, &r->dev, (void *)(uintptr_t)to, (void *)(uintptr_t)from,
                    c->n_bytes);
}

static bool do_fill(CapReplay *r, const CapFill *f, char why[CAP_WHY]) {
    uint64_t to = replay_address(r, f->to, f->n_bytes);
    if (!f->n_bytes) return true;
    if (!to) return replay_say(why, "it fills memory that is not in the capture");
    return dev_fill(r->device.table, &r->dev, (void *)(uintptr_t)to, f->value, f->n_bytes);
}

// How far a side of a copy reaches from where it begins; false: further than there are bytes.
static bool extent(const DevMove *m, const DevSide *s, uint64_t *n) {
    uint64_t part, row = m->element ? 0 : m->row;
    *n = 0;
    // The numbers of twiddled elements are powers of two, and they are copied whole.
    if ((m->from.twiddled || m->to.twiddled) &&
        (m->element || __builtin_popcountll(m->n_elements) != 1 ||
         __builtin_popcountll(m->n_rows) != 1))
        return false;
    if (m->element) {
        if (!m->n_elements ||
            __builtin_mul_overflow((uint64_t)m->n_elements - 1, (uint64_t)s->step, &row) ||
            __builtin_add_overflow(row, m->element + (uint64_t)m->fill, &row))
            return false;
    }
    return m->n_rows && m->n_planes &&
           !__builtin_mul_overflow((uint64_t)m->n_planes - 1, (uint64_t)s->plane, n) &&
           !__builtin_mul_overflow((uint64_t)m->n_rows - 1, s->twiddled ? (uint64_t)m->row : s->row,
                                   &part) &&
           !__builtin_add_overflow(*n, part, n) && !__builtin_add_overflow(*n, row, n);
}

static bool side(CapReplay *r, const DevMove *m, DevSide *s, char why[CAP_WHY]) {
    uint64_t n;
    if (s->texture && !(s->texture = replay_texture(r, s->texture)))
        return replay_say(why, "it copies a texture that is not in the capture");
    if (!extent(m, s, &n)) return replay_say(why, "damaged: a copy of texels");
    uint64_t at = replay_address(r, (uintptr_t)s->at, n);
    if (!at) return replay_say(why, "it copies memory that is not in the capture");
    s->at = (char *)(uintptr_t)at;
    return true;
}

// Rows and elements are written to places of their own, so there are no more of them than bytes:
// nobody waits for a copy that has 2^60 rows of nothing.
static bool has_end(const DevMove *m) {
    uint64_t n, pieces = m->element || m->to.twiddled || m->from.twiddled ? m->n_elements : 1;
    return extent(m, &m->to, &n) && !__builtin_mul_overflow(pieces, m->n_rows, &pieces) &&
           !__builtin_mul_overflow(pieces, m->n_planes, &pieces) && pieces <= n;
}

static bool do_move(CapReplay *r, const DevMove *from, char why[CAP_WHY]) {
    DevMove m = *from;
    return side(r, from, &m.from, why) && side(r, from, &m.to, why) &&
           (has_end(from) || replay_say(why, "damaged: a copy of texels")) &&
           dev_move(r->device.table, &r->dev, &m);
}

static bool do_dispatch(CapReplay *r, const DevDispatch *d, char why[CAP_WHY]) {
    DevDispatch dispatch;
    bool ok = replay_prepare_dispatch(r, d, &dispatch, why) &&
              r->device.table->dispatch(&r->dev, &dispatch, 1);
    base_arena_free(&r->scratch);
    return ok;
}

static bool has_memory(const DevTarget *t) {
    return t->texture && t->texture->levels[t->level].data;
}

// What a pass stores if it is stopped in the middle: all that it can.
static void store_all(DevPass *p) {
    for (size_t i = 0; i < ABI_MAX_COLORS; i++)
        if (has_memory(&p->colors[i].view)) p->colors[i].store = DEV_STORE_STORE;
    if (has_memory(&p->depth.view)) p->depth.store = DEV_STORE_STORE;
    if (has_memory(&p->stencil.view)) p->stencil.store = DEV_STORE_STORE;
}

// A pass with its first draws; all of them are prepared first.
static bool do_pass(CapReplay *r, const CapEvent *events, size_t n_draws, bool whole,
                    char why[CAP_WHY]) {
    DevPass pass;
    DevDraw *draws = calloc(n_draws + 1, sizeof *draws);
    bool ok = draws || replay_say(why, "out of memory");
    ok = ok && replay_prepare_pass(r, &events->render.dev, &pass, why);
    if (ok && !whole) store_all(&pass);
    for (size_t i = 0; ok && i < n_draws; i++) {
        look_at(r, &events[1 + i]);
        ok = replay_prepare_draw(r, &events[1 + i].draw, &draws[i], why);
    }
    if (ok && !r->device.table->render) ok = replay_say(why, "the device has no render passes");
    ok = ok && r->device.table->render(&r->dev, &pass, draws, n_draws);
    free(draws);
    base_arena_free(&r->scratch);
    return ok;
}

static bool do_command(CapReplay *r, const CapEvent *e, char why[CAP_WHY]) {
    look_at(r, e);
    switch (e->kind) {
    case CAP_DISPATCH: return do_dispatch(r, &e->dispatch, why);
    case CAP_COPY: return do_copy(r, &e->copy, why);
    case CAP_FILL: return do_fill(r, &e->fill, why);
    case CAP_MOVE: return do_move(r, &e->move, why);
    case CAP_RAYS_BUILD:
    case CAP_RAYS_REFIT:
    case CAP_RAYS_COPY: return replay_build(r, e, why);
    case CAP_HOST: return true; // contents follow
    default: return replay_say(why, "damaged: a draw outside of a render pass");
    }
}

// ---- Events ----

static bool do_event(CapReplay *r, const CapEvent *e, const CapWatch *watch, char why[CAP_WHY]) {
    switch (e->kind) {
    case CAP_INFO: r->zeros = e->info.zeros; return true;
    case CAP_MEMORY: return replay_add_memory(r, &e->memory, why);
    case CAP_FREE: replay_drop_memory(r, e->gone); return true;
    case CAP_CONTENTS: return stop(r) && replay_fill(r, &e->contents, why);
    case CAP_LIBRARY: return replay_add_library(r, &e->library, why);
    case CAP_SOURCE: return replay_add_source(r, &e->source, why);
    case CAP_CODE: return replay_add_code(r, &e->code, why);
    case CAP_TEXTURE:
    case CAP_SAMPLER:
    case CAP_TENSOR:
    case CAP_RAYS: return replay_add_handle(r, e, why);
    case CAP_GONE: replay_drop_handle(r, e->gone); return true;
    case CAP_RESOURCE: return replay_add_object(r, &e->resource, why);
    case CAP_USE: replay_use(r, &e->use); return true;
    case CAP_UNKNOWN:
        if (!*r->unknown) replay_say(r->unknown, "%.500s", e->operation.title);
        return true;
    case CAP_RESULT: replay_expect(r, &e->result); return true;
    case CAP_END: // results of all memory are known
        stop(r);
        if (!watch->check || replay_check(r, why)) return true;
        snprintf(why + strlen(why), CAP_WHY - strlen(why), ", after command %llu",
                 (unsigned long long)(r->next ? r->next - 1 : 0));
        return false;
    default: return true;
    }
}

typedef enum Went { WENT_ON, STOPPED, FAILED, FAULTED } Went; // FAULTED: as it did then

// The fault that ended the run in the captured program; 0: it came to its end.
static uint32_t recorded_fault(const CapReplay *r) {
    for (size_t i = r->events.n_events; i--;)
        if (r->events.events[i].kind == CAP_END) return r->events.events[i].end.fault;
    return 0;
}

static Went command_failed(CapReplay *r, const CapEvent *e, char why[CAP_WHY]) {
    char text[CAP_WHY];
    int fault = r->running ? atomic_load(&r->dev.fault) : 0;
    if (fault && recorded_fault(r)) return FAULTED;
    memcpy(text, why, sizeof text);
    if (fault)
        replay_say(why, "command %llu (%s) failed: %s", (unsigned long long)e->command,
                   cap_kind_name(e->kind), fault_name(fault));
    else if (*text)
        replay_say(why, "command %llu (%s): %.400s", (unsigned long long)e->command,
                   cap_kind_name(e->kind), text);
    else
        replay_say(why, "command %llu (%s) failed", (unsigned long long)e->command,
                   cap_kind_name(e->kind));
    return FAILED;
}

// Draws that the events of a pass promise, between which others may stand: functions are told of
// where they are first used.
static bool gather(CapReplay *r, size_t at, CapEvent **pass, size_t *n_draws, size_t *end,
                   const CapWatch *watch, char why[CAP_WHY]) {
    size_t n = r->events.events[at].render.n_draws, found = 0, i = at + 1;
    if (n > r->events.n_events) return replay_say(why, "damaged: draws are missing");
    CapEvent *list = malloc((n + 1) * sizeof *list);
    if (!list) return replay_say(why, "out of memory");
    list[0] = r->events.events[at];
    for (; found < n && i < r->events.n_events; i++) {
        const CapEvent *e = &r->events.events[i];
        if (e->kind == CAP_DRAW) {
            list[1 + found++] = *e;
        } else if (cap_is_command(e->kind) || !do_event(r, e, watch, why)) {
            free(list);
            return *why ? false : replay_say(why, "damaged: draws are missing");
        }
    }
    if (found < n) {
        free(list);
        return replay_say(why, "damaged: draws are missing");
    }
    *pass = list, *n_draws = n, *end = i;
    return true;
}

static Went tell(CapReplay *r, const CapEvent *e, const CapWatch *watch, uint64_t start,
                 char why[CAP_WHY]) {
    if (!watch->after) return WENT_ON;
    if (!finish(r, e->command, why)) return command_failed(r, e, why);
    uint64_t ns = os_now_ns() - start;
    stop(r);
    if (r->device.table->mark) r->device.table->mark(r->device.context, e->command);
    return watch->after(watch->context, e, ns) ? WENT_ON : STOPPED;
}

// The pass at r->at, up to the command `until`.
static Went run_pass(CapReplay *r, uint64_t until, const CapWatch *watch, char why[CAP_WHY]) {
    CapEvent *pass = NULL;
    size_t n = 0, end = 0;
    *why = 0;
    if (!gather(r, r->at, &pass, &n, &end, watch, why) || !begin(r, why) ||
        !replay_probe(r, pass, n, why)) {
        Went w = command_failed(r, &r->events.events[r->at], why);
        free(pass);
        return w;
    }
    uint64_t first = pass->command, last = first + n;
    bool whole = last <= until;
    uint64_t start = watch->after ? os_now_ns() : 0;
    Went w = WENT_ON;
    *why = 0;
    if (!do_pass(r, pass, whole ? n : (size_t)(until - first), whole, why) ||
        !finish(r, first, why))
        w = command_failed(r, pass, why);
    for (size_t i = 0; w == WENT_ON && i <= n && first + i <= until; i++) {
        w = tell(r, &pass[i], watch, start, why);
        start = os_now_ns(); // draws have no time of their own
        if (w == STOPPED && !whole) r->in_pass = true;
    }
    free(pass);
    if (w == FAILED || w == FAULTED) return w;
    r->next = (whole ? last : until) + 1;
    r->in_pass = r->in_pass || !whole;
    r->at = end;
    return w == WENT_ON && last >= until ? STOPPED : w;
}

static Went run_command(CapReplay *r, const CapEvent *e, const CapWatch *watch, char why[CAP_WHY]) {
    *why = 0;
    if (!begin(r, why)) return command_failed(r, e, why);
    uint64_t start = watch->after ? os_now_ns() : 0;
    if (!do_command(r, e, why)) return command_failed(r, e, why);
    r->next = e->command + 1;
    r->at++;
    return tell(r, e, watch, start, why);
}

// The events of a run from r->at on.
static Went run_events(CapReplay *r, uint64_t until, const CapWatch *watch, char why[CAP_WHY]) {
    while (r->at < r->events.n_events) {
        const CapEvent *e = &r->events.events[r->at];
        Went w = WENT_ON;
        if (cap_is_command(e->kind) && e->command > until) return STOPPED;
        if (e->kind == CAP_RENDER) {
            w = run_pass(r, until, watch, why);
        } else if (cap_is_command(e->kind)) {
            bool last = e->command == until && e->kind != CAP_HOST; // whose contents follow
            w = run_command(r, e, watch, why);
            if (w == WENT_ON && last) w = STOPPED;
        } else if (!do_event(r, e, watch, why)) {
            w = FAILED;
        } else {
            r->at++;
        }
        if (w != WENT_ON) return w;
    }
    return WENT_ON;
}

bool cap_replay_run(CapReplay *r, uint64_t until, const CapWatch *watch, char why[CAP_WHY]) {
    static const CapWatch none;
    watch = watch ? watch : &none;
    if (r->in_pass || (until != UINT64_MAX && r->next > until)) cap_replay_rewind(r);
    while (r->run < cap_n_runs(r->capture)) {
        if (!r->events.events) {
            if (cap_first_command(r->capture, r->run) > until) break;
            if (!cap_read_run(r->capture, r->run, &r->events, why)) return false;
            r->at = 0;
        }
        Went w = run_events(r, until, watch, why);
        if (w == FAILED) {
            char text[CAP_WHY];
            memcpy(text, why, sizeof text);
            cap_replay_rewind(r);
            memcpy(why, text, sizeof text);
            return false;
        }
        if (w == STOPPED) {
            stop(r);
            return true;
        }
        if (w == FAULTED && cap_first_command(r->capture, r->run) <= until) {
            // What is left of the run was not done, and what it left behind hangs on chance.
            size_t next = r->run + 1;
            r->next = next < cap_n_runs(r->capture) ? cap_first_command(r->capture, next)
                                                    : cap_n_commands(r->capture);
            if (r->next > until) {
                stop(r);
                r->in_pass = true;
                return true;
            }
        }
        end_run(r);
        r->run++;
    }
    return true;
}

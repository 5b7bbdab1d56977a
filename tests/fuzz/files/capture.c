// SPDX-License-Identifier: Apache-2.0
// capture.c: captures. What opens is read whole, written again event by event, and replayed on
// devices that run no kernels: one whose memory lies elsewhere, in pieces that sanitizers know, and
// one that has it at the addresses of the file. Then what `ingot replay`, `diff` and `view` ask of
// a capture is asked: lists, JSON, contents, texels.
#include "devices/capture/codec_int.h"
#include "devices/capture/replay.h"
#include "capture_parts.h"
#include "fuzz.h"
#include "apps/tools/replay_int.h"
#include <stdarg.h>
#include <stdio.h>

extern const DevTable null_device;

void show_line(const char *format, ...) { (void)format; } // nobody looks

// The tools end by these; nothing that is read may make them.
int complain(int status, const char *command, const char *format, ...) {
    (void)status, (void)command, (void)format;
    abort();
}

void must_have(bool memory) {
    if (!memory) abort();
}
void *must_alloc(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p) abort();
    return p;
}

// ---- Devices that run nothing ----

enum { MOST_MEMORY = 1 << 18 }; // of a capture that is replayed: large ones are only slow

static bool make_memory(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory) {
    (void)context;
    char *bytes = n_bytes <= MOST_MEMORY ? calloc(1, n_bytes) : NULL;
    *memory = (DevMemory){
        .address = bytes, .host = bytes, .n_bytes = n_bytes, .storage = (uint8_t)storage};
    return bytes != NULL;
}

static void free_memory(void *context, DevMemory *memory) {
    (void)context;
    free(memory->host);
}

// A draw is done if its functions have the stage info that it speaks of: they get that of the first
// draw with a function of this name.
typedef struct Info {
    char name[64];
    AbiStageInfo info;
} Info;
static Info infos[64];
static size_t n_infos;

typedef struct Code {
    DevCode head;
    AbiStageInfo stage;
} Code;

static DevCode *load_code(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    (void)context, (void)why, (void)why_bytes;
    const RfFunction *f = source->function;
    Code *code = calloc(1, sizeof *code);
    if (!code) return NULL;
    code->head.n_slots = f->n_slots;
    if (f->stage == RF_VERTEX || f->stage == RF_FRAGMENT) code->head.stage = &code->stage;
    for (size_t i = 0; i < n_infos; i++)
        if (!strncmp(infos[i].name, f->name, sizeof infos[i].name)) {
            code->stage = infos[i].info;
            break;
        }
    return &code->head;
}
static void free_code(DevCode *code) { free(code); }

// A device may assume that these are there.
static bool touch_dispatch(DevRun *run, const DevDispatch *d, size_t n) {
    (void)run;
    for (size_t i = 0; i < n; i++)
        fuzz_keep(fuzz_touch(d[i].args, d[i].code->n_slots * sizeof *d[i].args));
    return true;
}

static void touch_target(const DevTarget *t) {
    if (!t->texture) return;
    const AbiTextureLevel *l = &t->texture->levels[t->level];
    if (l->data) fuzz_keep(l->data[0] + l->data[(l->height - 1) * l->row_bytes]);
}

static bool touch_pass(DevRun *run, const DevPass *p, const DevDraw *draws, size_t n) {
    (void)run;
    for (size_t i = 0; i < ABI_MAX_COLORS; i++) {
        touch_target(&p->colors[i].view);
        touch_target(&p->colors[i].resolve);
    }
    touch_target(&p->depth.view), touch_target(&p->stencil.view);
    for (size_t i = 0; i < n; i++) {
        const DevDraw *d = &draws[i];
        if (d->tile)
            fuzz_keep(fuzz_touch(d->tile->function.arguments.args,
                                 8 * (size_t)d->tile->function.n_slots));
        if (!d->tile && d->vertex->code)
            fuzz_keep(fuzz_touch(d->vertex->arguments.args, 8 * (size_t)d->vertex->code->n_slots));
        if (d->fragment && d->fragment->code)
            fuzz_keep(fuzz_touch(d->fragment->rows,
                                 d->fragment->info->n_inputs * sizeof *d->fragment->rows));
        if (d->mesh)
            fuzz_keep(fuzz_touch(d->mesh->values, d->mesh->n_values * sizeof *d->mesh->values));
        if (d->indices) fuzz_keep(fuzz_touch(d->indices, d->indices_bytes));
    }
    return true;
}

static DevTable table_elsewhere(void) {
    DevTable t = null_device;
    t.memory_make = make_memory, t.memory_free = free_memory, t.memory_wrap = NULL;
    t.code_load = load_code, t.code_free = free_code;
    t.dispatch = touch_dispatch;
    t.copy = NULL, t.fill = NULL, t.move = NULL;
    return t;
}

static DevTable table_in_place(void) {
    DevTable t = table_elsewhere();
    t.memory_make = NULL, t.memory_free = NULL;
    t.texture_make = NULL, t.sampler_make = NULL, t.tensor_make = NULL, t.handle_free = NULL;
    t.render = touch_pass;
    return t;
}

// ---- Events ----

static void note_info(const char *name, const AbiStageInfo *info) {
    if (!info || !name || n_infos == sizeof infos / sizeof *infos) return;
    snprintf(infos[n_infos].name, sizeof infos[n_infos].name, "%s", name);
    infos[n_infos++].info = *info;
}

static const char *name_of(const CapRun *run, const void *code) {
    for (size_t i = 0; i < run->n_events; i++)
        if (run->events[i].kind == CAP_CODE && run->events[i].code.id == (uintptr_t)code)
            return run->events[i].code.name;
    return NULL;
}

// What is written of an event is read as the same.
static void write_again(CapEvent *e) {
    WireOut first = {0}, second = {0};
    BaseArena arena = {0};
    CapEvent again;
    cap_put_event(&first, e);
    WireIn in = {first.data, first.data + first.n_bytes, false};
    if (!cap_get_event(&in, CAP_VERSION, &arena, &again)) abort();
    cap_put_event(&second, &again);
    if (first.n_bytes != second.n_bytes || memcmp(first.data, second.data, first.n_bytes)) abort();
    wire_free(&first), wire_free(&second);
    base_arena_free(&arena);
}

// False: a run is damaged, or wants more memory than is replayed.
static bool read_events(const Capture *c) {
    char why[CAP_WHY];
    uint64_t n_memory = 0;
    bool ok = true;
    n_infos = 0;
    for (size_t i = 0; i < cap_n_runs(c); i++) {
        CapRun run;
        if (!cap_read_run(c, i, &run, why)) {
            ok = false;
            continue;
        }
        for (size_t k = 0; k < run.n_events; k++) {
            CapEvent *e = &run.events[k];
            write_again(e);
            if (e->kind == CAP_MEMORY && e->memory.n_bytes > MOST_MEMORY) ok = false;
            if (e->kind == CAP_MEMORY && ok) n_memory += e->memory.n_bytes;
            if (e->kind == CAP_DRAW && e->draw.vertex)
                note_info(name_of(&run, e->draw.vertex->code), e->draw.vertex->info);
            if (e->kind == CAP_DRAW && e->draw.fragment)
                note_info(name_of(&run, e->draw.fragment->code), e->draw.fragment->info);
            if (cap_is_command(e->kind) && cap_run_of(c, e->command) > i) abort();
        }
        cap_run_free(&run);
    }
    return ok && n_memory <= MOST_MEMORY;
}

// ---- A replay, and what tools ask it ----

static bool look(void *context, const CapEvent *e, uint64_t ns) { // as `ingot diff` does
    CapMemory m;
    char bytes[64];
    (void)e, (void)ns;
    for (size_t i = 0; cap_replay_written(context, i, &m); i++)
        if (cap_replay_read(context, m.address, bytes, m.n_bytes < 64 ? m.n_bytes : 64))
            fuzz_keep(fuzz_touch(bytes, m.n_bytes < 64 ? m.n_bytes : 64));
    return true;
}

static void ask_objects(CapReplay *r) {
    const CapObject *objects;
    char why[CAP_WHY], text[256];
    size_t n = cap_replay_objects(r, &objects);
    for (size_t i = 0; i < n && i < 16; i++) {
        uint32_t width, height;
        float *rgba = NULL;
        object_describe(&objects[i], i, text, sizeof text);
        if (objects[i].texture && read_texels(r, &objects[i], 0, 0, &width, &height, &rgba, why))
            fuzz_keep(fuzz_touch(rgba, (size_t)width * height * 4 * sizeof *rgba));
        free(rgba);
    }
    if (!n) return;
    char *path = NULL;
    if (asprintf(&path, "x0=%s/saved", fuzz_folder()) < 0) abort();
    save_object(r, path, why);
    free(path);
}

static void replay(const Capture *c, const DevTable *table) {
    static FILE *nowhere;
    char why[CAP_WHY] = "";
    CapDevice device = {.table = table};
    if (!nowhere && !(nowhere = fopen("/dev/null", "w"))) abort();
    CapReplay *r = cap_replay_new(c, &device, why);
    if (!r) return;
    bool whole = cap_replay_run(r, UINT64_MAX, &(CapWatch){.check = true}, why);
    if (!whole && !*why) abort();
    cap_replay_rewind(r);
    cap_replay_run(r, UINT64_MAX, &(CapWatch){.after = look, .context = r}, why);
    cap_replay_rewind(r);
    if (print_json(c, r, nowhere, why)) ask_objects(r);
    uint64_t half = cap_n_commands(c) / 2;
    if (cap_replay_run(r, half, NULL, why)) ask_objects(r);
    CapTouch touches[4];
    cap_replay_pixel(r, half, 1, 1, touches, 4, why);
    fuzz_text(cap_replay_unknown(r));
    cap_replay_free(r);
}

// whole: also with memory at its addresses, which costs more system calls than all else.
static void read_capture(const void *data, size_t n, bool whole) {
    char why[CAP_WHY] = "";
    char *path = NULL;
    fuzz_put("capture", data, n);
    if (asprintf(&path, "%s/capture", fuzz_folder()) < 0) abort();
    Capture *c = cap_open(path, why);
    if (!c && !*why) abort();
    if (c && read_events(c)) {
        DevTable elsewhere = table_elsewhere(), in_place = table_in_place();
        replay(c, &elsewhere);
        if (whole) replay(c, &in_place);
    }
    if (c) {
        CommandNames names = {0};
        for (size_t i = 0; i < cap_n_runs(c) && command_names_add(&names, c, i, why); i++) {
        }
        command_names_free(&names);
    }
    cap_close(c);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    Parts p;
    WireOut right = {0}, own = {0};
    read_capture(data, n, false);
    parts_take(&p, data, n);
    if (p.n) {
        parts_mend(&p);
        parts_write(&p, false, &right);
        read_capture(right.data, right.n_bytes, true);
        if (parts_index(&p)) parts_write(&p, true, &own);
        if (own.n_bytes &&
            (own.n_bytes != right.n_bytes || memcmp(own.data, right.data, own.n_bytes)))
            read_capture(own.data, own.n_bytes, false);
    }
    wire_free(&right), wire_free(&own);
    parts_free(&p);
    return 0;
}

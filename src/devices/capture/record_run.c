// SPDX-License-Identifier: Apache-2.0
// record_run.c: runs, as they pass from the runtime to the device: each command is written down
// before it is handed on. Runs that are not recorded are only handed on.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/capture/codec_int.h"
#include "devices/capture/record_int.h"
#include "devices/table/records.h"
#include "os/clock.h"
#include "os/zeros.h"

static Record *const r = &cap_record;
static _Thread_local bool recording; // a run, by this thread

bool record_is_recorded(const DevRun *run) { return recording && run && r->run == run; }

void cap_put(CapEvent *event) {
    if (!recording) return;
    cap_put_event(&r->events, event);
    r->n_commands += cap_is_command(event->kind);
}

static void put_unknown(const char *format, const char *name, unsigned number) {
    char text[256];
    snprintf(text, sizeof text, format, name, number);
    cap_put(&(CapEvent){.kind = CAP_UNKNOWN, .operation = {.title = text}});
}

// ---- Runs ----

bool record_run_begin(DevRun *run, DevLimits limits) {
    if (cap_is_active() && r->hooks->wants(run->report_context)) {
        pthread_mutex_lock(&r->run_lock);
        if (r->writer && !cap_writer_error(r->writer)) {
            recording = true;
            r->run = run;
            r->start_ns = os_now_ns();
            r->n_commands = 0;
            pthread_mutex_lock(&r->lock);
            WireOut before = r->events;
            r->events = r->pending;
            r->pending = (WireOut){.data = before.data, .capacity = before.capacity};
            pthread_mutex_unlock(&r->lock);
            r->hooks->begin(run->report_context);
            record_rays_before();
        } else {
            pthread_mutex_unlock(&r->run_lock);
        }
    }
    return r->inner->run_begin(run, limits);
}

static void end_uses(void) {
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->n_used; i++) {
        Memory *m = r->used[i];
        m->used = m->writes = false;
        if (m->dead) record_forget(m);
    }
    r->n_used = 0;
    pthread_mutex_unlock(&r->lock);
}

void record_run_end(DevRun *run) {
    bool mine = record_is_recorded(run);
    r->inner->run_end(run);
    if (!mine) return;
    r->run = NULL; // on the device it is over
    contents_results();
    cap_put(&(CapEvent){
        .kind = CAP_END,
        .end = {.fault = (uint32_t)atomic_load(&run->fault), .ns = os_now_ns() - r->start_ns}});
    if (!r->events.failed)
        cap_write_run(r->writer, r->events.data, r->events.n_bytes, r->n_commands);
    r->events.n_bytes = 0;
    r->events.failed = false;
    end_uses();
    recording = false;
    pthread_mutex_unlock(&r->run_lock);
}

// Memory that a command reaches. writes: it is sure that commands write it. Of other memory that
// they change (through pointers in buffers) the contents are stored: the host may have written it,
// too, while they ran.
static void touch(Memory *m, bool writes) {
    bool first = !m->used;
    contents_touch(m);
    if (!first && (!writes || m->writes)) return;
    m->writes = m->writes || writes;
    cap_put(&(CapEvent){.kind = CAP_USE, .use = {m->id, m->writes}});
}

void record_use(DevRun *run, const DevMemory *memory, bool writes) {
    if (r->inner->use) r->inner->use(run, memory, writes);
    if (!record_is_recorded(run) || !memory->address || !memory->n_bytes) return;
    pthread_mutex_lock(&r->lock);
    Memory *m = record_memory_at(memory->address);
    if (m && (m->address != memory->address || m->n_bytes != memory->n_bytes)) {
        // Another one was here, or it is a part of what is known.
        bool inside = memory->address >= m->address &&
                      memory->address + memory->n_bytes <= m->address + m->n_bytes;
        if (!inside) m = NULL;
    }
    if (!m) m = record_add_memory(memory, memory->storage);
    pthread_mutex_unlock(&r->lock);
    if (m) touch(m, writes && m->storage == DEV_PRIVATE);
}

// The memory behind an address, ready to be used; NULL: it is none that is known.
static Memory *reach(const void *address, bool writes) {
    if (!address) return NULL;
    pthread_mutex_lock(&r->lock);
    Memory *m = record_memory_at(address);
    pthread_mutex_unlock(&r->lock);
    DevMemory untold;
    if (!m && r->hooks->memory_at(r->run->report_context, address, &untold)) {
        pthread_mutex_lock(&r->lock);
        m = record_add_memory(&untold, untold.storage);
        pthread_mutex_unlock(&r->lock);
    }
    if (m) touch(m, writes);
    return m;
}

// ---- Functions ----

static void put_library(Library *l) {
    if (!l->announced && l->lib) {
        const Blob *bytes = l->lib->bytes;
        size_t n = (bytes->n_bytes + CAP_BLOCK - 1) / CAP_BLOCK;
        unsigned char (*blocks)[SHA256_BYTES] = calloc(n + 1, SHA256_BYTES);
        for (size_t i = 0; blocks && i < n; i++) {
            size_t at = i * CAP_BLOCK, left = bytes->n_bytes - at;
            cap_write_block(r->writer, bytes->data + at, left < CAP_BLOCK ? left : CAP_BLOCK,
                            blocks[i]);
        }
        CapEvent e = {.kind = CAP_LIBRARY,
                      .library = {.name = l->lib->source_name,
                                  .n_bytes = bytes->n_bytes,
                                  .n_blocks = (uint32_t)n,
                                  .blocks = (const unsigned char (*)[SHA256_BYTES])blocks}};
        memcpy(e.library.hash, l->hash, SHA256_BYTES);
        if (blocks) cap_put(&e);
        l->announced = blocks != NULL;
        free(blocks);
    }
    if (!l->told && l->text) {
        CapEvent e = {.kind = CAP_SOURCE, .source = {.name = l->name, .text = l->text}};
        memcpy(e.source.hash, l->hash, SHA256_BYTES);
        cap_put(&e);
        l->told = true;
    }
}

// The number of a function, which the file then knows; 0: it is not known.
static uint64_t number_of(const DevCode *code) {
    if (!code) return 0;
    pthread_mutex_lock(&r->lock);
    Code *c = record_code(code);
    if (c && !c->announced) {
        for (size_t i = 0; i < c->n_libraries; i++) put_library(c->libraries[i]);
        CapEvent e = {.kind = CAP_CODE,
                      .code = {.id = c->id,
                               .name = c->name,
                               .stage = c->stage,
                               .request = c->request,
                               .request_bytes = c->request_bytes}};
        memcpy(e.code.library, c->libraries[0]->hash, SHA256_BYTES);
        cap_put(&e);
        c->announced = true;
    }
    pthread_mutex_unlock(&r->lock);
    return c ? c->id : 0;
}

static bool slot_writes(const Code *c, size_t slot) {
    for (size_t i = 0; c && i < c->n_writes; i++)
        if (c->writes[i] == slot) return true;
    return false;
}

// A view of a pool is known by the texture that it shows. The lock is held.
static uint64_t shown_by(const Handle *view) {
    for (size_t b = 0; b < r->handles.n_buckets; b++)
        for (const HashNode *n = r->handles.buckets[b]; n; n = n->next) {
            const Handle *h = (const Handle *)n;
            if (h->kind == HANDLE_TEXTURE && h->record &&
                h->copy.texture.levels[0].data == view->copy.texture.levels[0].data)
                return h->value;
        }
    return view->value;
}

// The memory behind a handle.
static void reach_handle(const Handle *h, bool writes) {
    const void *data = h->kind == HANDLE_TENSOR    ? h->copy.tensor.data
                       : h->kind == HANDLE_TEXTURE ? h->copy.texture.levels[0].data
                                                   : NULL;
    DevMemory untold;
    pthread_mutex_lock(&r->lock);
    bool known = !data || record_memory_at(data);
    uint64_t value = known || h->record ? h->value : shown_by(h);
    pthread_mutex_unlock(&r->lock);
    if (!known &&
        r->hooks->memory_at(r->run->report_context, (const void *)(uintptr_t)value, &untold)) {
        pthread_mutex_lock(&r->lock);
        record_add_memory(&untold, untold.storage);
        pthread_mutex_unlock(&r->lock);
    }
    if (h->kind == HANDLE_TENSOR) reach(h->copy.tensor.data, writes);
    if (h->kind != HANDLE_TEXTURE) return;
    for (uint32_t i = 0; i < h->copy.texture.n_levels; i++)
        reach(h->copy.texture.levels[i].data, writes);
}

void record_reach(uint64_t word) {
    pthread_mutex_lock(&r->lock);
    const Handle *h = record_handle(word);
    pthread_mutex_unlock(&r->lock);
    if (h)
        reach_handle(h, false);
    else
        reach((const void *)(uintptr_t)word, false);
}

// Every argument is a number, a handle, or an address of memory that the capture holds.
static void note_args(const DevCode *code, void *const *args, size_t n) {
    enum { SMALL = 1 << 20 }; // offsets in threadgroup memory, strides
    pthread_mutex_lock(&r->lock);
    const Code *c = record_code(code);
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; args && i < n; i++) {
        uint64_t value = (uintptr_t)args[i];
        bool writes = slot_writes(c, i);
        if (value < SMALL || os_among_zeros(args[i])) continue;
        pthread_mutex_lock(&r->lock);
        const Handle *h = record_handle(value & ~ABI_TEXTURE_RESIDENCY);
        pthread_mutex_unlock(&r->lock);
        if (h) reach_handle(h, writes);
        if (h || (value & 1 && value >> 48) || reach(args[i], writes)) continue;
        put_unknown("'%s' has an argument (slot %u) that captures do not hold: memory that no "
                    "resource has",
                    c ? c->name : "?", (unsigned)i);
    }
}

// The code that is recorded is the code that runs: none of it is changed on the way.
static bool dispatch_as_recorded(DevRun *run, const DevDispatch *dispatches, size_t n) {
    DevDispatch *list = malloc(n * sizeof *list);
    if (!list) return r->inner->dispatch(run, dispatches, n);
    memcpy(list, dispatches, n * sizeof *list);
    for (size_t i = 0; i < n; i++) list[i].optimised = NULL;
    bool ok = r->inner->dispatch(run, list, n);
    free(list);
    return ok;
}

// ---- Dispatches and render passes ----

// What stands for a texture in the file: its number.
static const AbiTexture *texture_number(const AbiTexture *record, bool writes) {
    if (!record) return NULL;
    for (uint32_t i = 0; i < record->n_levels; i++) reach(record->levels[i].data, writes);
    pthread_mutex_lock(&r->lock);
    const Handle *h = record_texture(record);
    pthread_mutex_unlock(&r->lock);
    if (!h)
        put_unknown("%s is drawn into or copied that captures do not know (%u)", "a texture", 0);
    return (const AbiTexture *)(uintptr_t)(h ? h->id : 0);
}

typedef struct Naming { // of the objects of a command
    BaseArena arena;
    const DevCode *code; // whose arguments follow
} Naming;

static void *take(void *context, size_t n_bytes) {
    return base_arena_alloc(&((Naming *)context)->arena, 1, n_bytes);
}

static bool name_object(void *context, const SchemaField *field, const void *from, void *to,
                        uint64_t n) {
    Naming *naming = context;
    uint64_t number;
    switch (field->kind) {
    case SCHEMA_CODE:
        naming->code = schema_pointer(from);
        number = number_of(naming->code);
        if (naming->code && !number) put_unknown("%s: its code is not known (%u)", "a function", 0);
        schema_point(to, (const void *)(uintptr_t)number);
        break;
    case SCHEMA_ARGUMENTS:
        if (naming->code) note_args(naming->code, from, (size_t)n);
        break;
    case SCHEMA_TEXTURE: schema_point(to, texture_number(schema_pointer(from), true)); break;
    case SCHEMA_MEMORY: reach(schema_pointer(from), field->writes); break;
    default: break;
    }
    return true;
}

// What is reached comes before the command in the file.
static void put_command(CapEvent *e, SchemaOf *of, void *to, const void *from) {
    Naming naming = {0};
    SchemaCopy copy = {.context = &naming, .take = take, .visit = name_object};
    if (schema_copy(of, to, from, &copy))
        cap_put(e);
    else
        put_unknown("%s is not in the capture: out of memory (%u)", cap_kind_name(e->kind), 0);
    base_arena_free(&naming.arena);
}

bool record_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n) {
    for (size_t i = 0; record_is_recorded(run) && i < n; i++) {
        CapEvent e = {.kind = CAP_DISPATCH};
        put_command(&e, schema_DevDispatch, &e.dispatch, &dispatches[i]);
    }
    return record_is_recorded(run) ? dispatch_as_recorded(run, dispatches, n)
                                   : r->inner->dispatch(run, dispatches, n);
}

bool record_render(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws) {
    if (record_is_recorded(run)) {
        CapEvent e = {.kind = CAP_RENDER, .render.n_draws = (uint32_t)n_draws};
        put_command(&e, schema_DevPass, &e.render.dev, pass);
        for (size_t i = 0; i < n_draws; i++) {
            e.kind = CAP_DRAW;
            put_command(&e, schema_DevDraw, &e.draw, &draws[i]);
        }
    }
    return r->inner->render(run, pass, draws, n_draws);
}

// ---- Copies ----

bool record_copy(DevRun *run, void *to, const void *from, size_t n_bytes) {
    // What goes to the host is for the runtime to look at.
    if (record_is_recorded(run) && reach(to, true)) {
        CapEvent e = {.kind = CAP_COPY,
                      .copy = {.to = (uintptr_t)to, .from = (uintptr_t)from, .n_bytes = n_bytes}};
        if (!reach(from, false)) e.copy.bytes = from;
        cap_put(&e);
    }
    return dev_copy(r->inner, run, to, from, n_bytes);
}

bool record_fill(DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (record_is_recorded(run) && reach(to, true))
        cap_put(&(CapEvent){.kind = CAP_FILL,
                            .fill = {.to = (uintptr_t)to, .n_bytes = n_bytes, .value = value}});
    return dev_fill(r->inner, run, to, value, n_bytes);
}

bool record_move(DevRun *run, const DevMove *move) {
    if (record_is_recorded(run)) {
        CapEvent e = {.kind = CAP_MOVE, .move = *move};
        reach(move->from.at, false), reach(move->to.at, true);
        e.move.from.texture = texture_number(move->from.texture, false);
        e.move.to.texture = texture_number(move->to.texture, true);
        cap_put(&e);
    }
    if (r->inner->move) return r->inner->move(run, move);
    dev_host_move(move); // dev_move does the rest
    return true;
}

// ---- What the host does ----

void cap_host_begin(void) {
    if (recording) contents_results();
}

void cap_host_end(const CapOperation *operation) {
    if (!recording) return;
    cap_put(&(CapEvent){.kind = CAP_HOST, .operation = *operation});
    contents_again();
}

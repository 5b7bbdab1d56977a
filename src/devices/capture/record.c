// SPDX-License-Identifier: Apache-2.0
// record.c: what a capture has to know of a device before a command comes: its memory, handles and
// code, kept from the device's birth on, since a capture may begin at any time; and the file.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/pixel_format.h"
#include "devices/capture/codec_int.h"
#include "devices/capture/record_int.h"
#include "os/pages.h"

Record cap_record = {.lock = PTHREAD_MUTEX_INITIALIZER, .run_lock = PTHREAD_MUTEX_INITIALIZER};
static Record *const r = &cap_record;

// For the next run; the lock is held.
static void put_pending(CapEvent *event) {
    if (r->writer) cap_put_event(&r->pending, event);
}

// ---- Memory ----

// The first that begins behind the address.
static size_t place_behind(const void *address) {
    size_t low = 0, high = r->n_memories;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->memories[middle]->address <= (const char *)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Memory *record_memory_at(const void *address) {
    // Memory of the program's own may overlap: the nearest is looked at, and a few before it.
    size_t i = place_behind(address);
    for (unsigned tries = 0; i-- && tries < 8; tries++) {
        Memory *m = r->memories[i];
        if ((size_t)((const char *)address - m->address) < m->n_bytes) return m;
    }
    return NULL;
}

Memory *record_add_memory(const DevMemory *memory, uint8_t storage) {
    if (!array_reserve(&r->memories, &r->memories_capacity, r->n_memories + 1)) return NULL;
    Memory *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    *m = (Memory){.id = ++r->last_id,
                  .address = memory->address,
                  .host = memory->host,
                  .n_bytes = memory->n_bytes,
                  .storage = storage};
    size_t at = place_behind(memory->address);
    memmove(r->memories + at + 1, r->memories + at, (r->n_memories - at) * sizeof *r->memories);
    r->memories[at] = m;
    r->n_memories++;
    return m;
}

static void drop_hashes(Memory *m) {
    contents_unwatch(m);
    free(m->hashes);
    free(m->points);
    m->hashes = m->points = NULL;
    m->n_points = m->points_capacity = 0;
    m->announced = false;
}

void record_forget(Memory *m) {
    if (m->used) { // whoever runs it ends it
        m->dead = true;
        return;
    }
    size_t at = place_behind(m->address);
    while (at && r->memories[at - 1] != m) at--;
    if (at) {
        memmove(r->memories + at - 1, r->memories + at, (r->n_memories - at) * sizeof *r->memories);
        r->n_memories--;
    }
    if (m->announced) put_pending(&(CapEvent){.kind = CAP_FREE, .gone = m->id});
    drop_hashes(m);
    free(m);
}

// Memory at an address is gone; any thread.
static void memory_gone(void *address, size_t n_bytes) {
    (void)n_bytes;
    pthread_mutex_lock(&r->lock);
    size_t i = place_behind(address);
    Memory *m = i ? r->memories[i - 1] : NULL;
    if (m && m->address == (char *)address) record_forget(m);
    pthread_mutex_unlock(&r->lock);
}

static bool make_memory(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory) {
    if (r->inner->memory_make) {
        if (!r->inner->memory_make(context, n_bytes, storage, memory)) return false;
        r->context = context;
    } else {
        char *pages = os_pages(n_bytes);
        if (!pages) return false;
        *memory = (DevMemory){.address = pages, .host = pages, .n_bytes = n_bytes};
    }
    if (storage != DEV_ARGUMENTS) return true; // others are known when they are used
    pthread_mutex_lock(&r->lock);
    record_add_memory(memory, (uint8_t)storage);
    pthread_mutex_unlock(&r->lock);
    return true;
}

static void free_memory(void *context, DevMemory *memory) {
    memory_gone(memory->address, memory->n_bytes);
    if (r->inner->memory_free)
        r->inner->memory_free(context, memory);
    else if (!memory->part) // not the program's own
        os_pages_free(memory->host, memory->n_bytes);
}

static bool wrap_memory(void *context, DevMemory *memory) {
    if (r->inner->memory_wrap) return r->inner->memory_wrap(context, memory);
    memory->part = r; // the program's own, and nothing of ours
    return true;
}

// ---- Records that handles are addresses of ----

enum { SLOTS = 64, SLOT_BYTES = (sizeof(AbiTexture) + 63) / 64 * 64 };
typedef struct Slot {
    struct Slot *next;
    void *at;
} Slot;
static Slot *free_slots; // under the lock

static Slot *take_slot(void) {
    if (!free_slots) {
        char *memory = os_pages(SLOTS * SLOT_BYTES);
        Slot *slots = memory ? calloc(SLOTS, sizeof *slots) : NULL;
        if (!slots) {
            if (memory) os_pages_free(memory, SLOTS * SLOT_BYTES);
            return NULL;
        }
        for (size_t i = 0; i < SLOTS; i++)
            slots[i] = (Slot){i + 1 < SLOTS ? &slots[i + 1] : NULL, memory + i * SLOT_BYTES};
        free_slots = slots;
    }
    Slot *slot = free_slots;
    free_slots = slot->next;
    return slot;
}

static void give_slot(Slot *slot) {
    memset(slot->at, 0, SLOT_BYTES);
    slot->next = free_slots;
    free_slots = slot;
}

static uint64_t handle_of(const Slot *slot) {
    static atomic_uint number;
    return abi_handle_of(slot->at, atomic_fetch_add(&number, 1));
}

Handle *record_handle(uint64_t value) {
    uint64_t hash = hash_bytes(&value, sizeof value);
    for (HashNode *n = hash_chain(&r->handles, hash); n; n = n->next)
        if (n->hash == hash && ((Handle *)n)->value == value) return (Handle *)n;
    return NULL;
}

static Handle *of_record(HashNode *n) {
    return (Handle *)(void *)((char *)n - offsetof(Handle, by_record));
}

Handle *record_texture(const AbiTexture *record) {
    uint64_t hash = hash_bytes(&record, sizeof record);
    for (HashNode *n = hash_chain(&r->textures, hash); n; n = n->next)
        if (n->hash == hash && of_record(n)->record == record) return of_record(n);
    return NULL;
}

static void put_handle(const Handle *h) {
    CapEvent e = {0};
    switch (h->kind) {
    case HANDLE_TEXTURE:
        e.kind = CAP_TEXTURE;
        e.texture = (CapTexture){.id = h->id, .handle = h->value, .record = h->copy.texture};
        e.texture.sparse = h->copy.texture.sparse != NULL;
        break;
    case HANDLE_SAMPLER:
        e.kind = CAP_SAMPLER;
        e.sampler = (CapSampler){h->value, h->copy.sampler};
        break;
    case HANDLE_TENSOR:
        e.kind = CAP_TENSOR;
        e.tensor = (CapTensor){h->value, h->copy.tensor};
        break;
    default: e.kind = CAP_RAYS; e.rays = h->value;
    }
    put_pending(&e);
}

static bool enter(Handle *h) {
    h->by_value.hash = hash_bytes(&h->value, sizeof h->value);
    h->by_record.hash = hash_bytes(&h->record, sizeof h->record);
    h->id = ++r->last_id;
    if (!hash_add(&r->handles, &h->by_value)) return false;
    if (h->kind == HANDLE_TEXTURE && h->record && !hash_add(&r->textures, &h->by_record)) {
        hash_remove(&r->handles, &h->by_value);
        return false;
    }
    put_handle(h);
    return true;
}

static void leave(Handle *h) {
    hash_remove(&r->handles, &h->by_value);
    if (h->kind == HANDLE_TEXTURE && h->record) hash_remove(&r->textures, &h->by_record);
    put_pending(&(CapEvent){.kind = CAP_GONE, .gone = h->value});
    if (h->slot) give_slot(h->slot);
    free(h);
}

// `h` has what the device made of it, or nothing: then its address is the handle. Not made: it
// goes.
static bool finish_handle(Handle *h, bool made, size_t n_bytes, DevHandle *handle) {
    if (!made) {
        free(h);
        return false;
    }
    pthread_mutex_lock(&r->lock);
    if (!h->inner.value && (h->slot = take_slot())) {
        memcpy(h->slot->at, &h->copy, n_bytes);
        h->inner = (DevHandle){.value = handle_of(h->slot), .n_bytes = (uint32_t)n_bytes};
    }
    h->value = h->inner.value;
    bool ok = h->value && enter(h);
    pthread_mutex_unlock(&r->lock);
    *handle = h->inner;
    handle->part = h;
    if (!ok) free(h);
    return ok;
}

static Handle *handle_new(uint8_t kind, const void *record, size_t n_bytes) {
    Handle *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->kind = kind;
    h->record = record;
    memcpy(&h->copy, record, n_bytes);
    return h;
}

static bool make_texture(void *context, const AbiTexture *record, DevHandle *handle) {
    Handle *h = handle_new(HANDLE_TEXTURE, record, sizeof *record);
    bool ok = h && (!r->inner->texture_make || r->inner->texture_make(context, record, &h->inner));
    return finish_handle(h, ok, sizeof *record, handle);
}

static bool make_sampler(void *context, const AbiSampler *record, DevHandle *handle) {
    Handle *h = handle_new(HANDLE_SAMPLER, record, sizeof *record);
    bool ok = h && (!r->inner->sampler_make || r->inner->sampler_make(context, record, &h->inner));
    return finish_handle(h, ok, sizeof *record, handle);
}

static bool make_tensor(void *context, const AbiTensor *record, DevHandle *handle) {
    Handle *h = handle_new(HANDLE_TENSOR, record, sizeof *record);
    bool ok = h && (!r->inner->tensor_make || r->inner->tensor_make(context, record, &h->inner));
    return finish_handle(h, ok, sizeof *record, handle);
}

static void free_handle(void *context, DevHandle *handle) {
    Handle *h = handle->part;
    if (!h) return;
    if (!h->slot && r->inner->handle_free) r->inner->handle_free(context, &h->inner);
    pthread_mutex_lock(&r->lock);
    leave(h);
    pthread_mutex_unlock(&r->lock);
}

// ---- Acceleration structures ----

_Static_assert((int)DEV_RAYS_RECORD <= (int)SLOT_BYTES, "slots have room");

static bool make_rays(void *context, uint64_t wanted, DevHandle *handle) {
    (void)wanted; // the runtime wants none
    Handle *h = calloc(1, sizeof *h);
    if (!h) return false;
    h->kind = HANDLE_RAYS;
    pthread_mutex_lock(&r->lock);
    bool ok = r->inner->memory_make || (h->slot = take_slot());
    pthread_mutex_unlock(&r->lock);
    ok = ok && r->inner_rays->make(context, h->slot ? handle_of(h->slot) : 0, &h->inner);
    bool made = ok;
    pthread_mutex_lock(&r->lock);
    h->value = h->inner.value;
    ok = ok && enter(h);
    if (!ok && h->slot && !made) give_slot(h->slot);
    pthread_mutex_unlock(&r->lock);
    *handle = h->inner;
    handle->part = h;
    if (ok) return true;
    if (made) r->inner_rays->free(context, &h->inner); // its slot is lost
    free(h);
    *handle = (DevHandle){0};
    return false;
}

static void free_rays(void *context, DevHandle *handle) {
    Handle *h = handle->part;
    if (!h) return;
    r->inner_rays->free(context, &h->inner);
    record_rays_gone(h);
    pthread_mutex_lock(&r->lock);
    leave(h);
    pthread_mutex_unlock(&r->lock);
    *handle = (DevHandle){0};
}

static const DevRays *find_rays(void *context, char *why, size_t why_bytes) {
    const DevRays *inner = r->inner->rays(context, why, why_bytes);
    if (!inner) return NULL;
    pthread_mutex_lock(&r->lock);
    if (!r->inner_rays) {
        r->rays = *inner; // what is not recorded is the device's
        r->rays.make = make_rays;
        r->rays.free = free_rays;
        r->rays.build = record_rays_build;
        r->rays.refit = record_rays_refit;
        r->rays.copy = record_rays_copy;
        r->inner_rays = inner;
    }
    pthread_mutex_unlock(&r->lock);
    return &r->rays;
}

// ---- Pools of views: the ids are the handles ----

static void drop_view(uint64_t id) {
    Handle *h = record_handle(id);
    if (h) leave(h);
}

static bool set_view(void *context, uint64_t id, const AbiTexture *record) {
    if (!r->inner->view_set(context, id, record)) return false;
    Handle *h = handle_new(HANDLE_TEXTURE, record, sizeof *record);
    if (!h) return true; // as with other handles
    h->record = NULL;    // nobody draws into it by that
    h->value = id;
    pthread_mutex_lock(&r->lock);
    drop_view(id);
    if (!record->n_levels || !enter(h)) free(h); // none: nothing is there any more
    pthread_mutex_unlock(&r->lock);
    return true;
}

static void give_views(void *context, uint64_t first, size_t n) {
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; first && i < n; i++) drop_view(first + i);
    pthread_mutex_unlock(&r->lock);
    r->inner->views_give(context, first, n);
}

// ---- Code ----

static Library *library_of(const unsigned char hash[SHA256_BYTES]) {
    uint64_t key;
    memcpy(&key, hash, sizeof key);
    for (HashNode *n = hash_chain(&r->libraries, key); n; n = n->next)
        if (!memcmp(((Library *)n)->hash, hash, SHA256_BYTES)) return (Library *)n;
    Library *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->node.hash = key;
    memcpy(l->hash, hash, SHA256_BYTES);
    if (hash_add(&r->libraries, &l->node)) return l;
    free(l);
    return NULL;
}

void cap_note_source(const unsigned char hash[SHA256_BYTES], const char *name, const char *text,
                     size_t n_bytes) {
    if (!r->inner) return;
    pthread_mutex_lock(&r->lock);
    Library *l = library_of(hash);
    if (l && !l->text) {
        l->text = strndup(text, n_bytes);
        l->name = strdup(name ? name : "");
    }
    pthread_mutex_unlock(&r->lock);
}

Code *record_code(const DevCode *code) {
    uint64_t hash = hash_bytes(&code, sizeof code);
    for (HashNode *n = hash_chain(&r->codes, hash); n; n = n->next)
        if (((Code *)n)->code == code) return (Code *)n;
    return NULL;
}

static void code_drop(Code *c) {
    free(c->name);
    free(c->request);
    free(c->libraries);
    free(c->writes);
    free(c);
}

static bool may_write(const RfArg *a) {
    bool memory = a->kind == RF_ARG_BUFFER || a->kind == RF_ARG_TEXTURE || a->kind == RF_ARG_TENSOR;
    return memory && a->access != RF_READ_ONLY && a->space != RF_CONSTANT;
}

static void note_writes(Code *c, const RfFunction *f) {
    size_t capacity = 0;
    for (uint32_t i = 0; i < f->n_args; i++)
        for (uint32_t k = 0;
             may_write(&f->args[i]) && k < (f->args[i].count ? f->args[i].count : 1); k++)
            if (array_reserve(&c->writes, &capacity, c->n_writes + 1))
                c->writes[c->n_writes++] = f->args[i].slot + k;
}

// Without memory the code is not known, and a capture says so.
static void note_code(const DevCode *code, const DevCodeSource *source) {
    Code *c = calloc(1, sizeof *c);
    if (!c) return;
    c->code = code;
    c->node.hash = hash_bytes(&code, sizeof code);
    c->name = strdup(source->function->name);
    c->stage = source->function->stage;
    c->n_slots = source->function->n_slots;
    c->request = malloc(source->request_bytes + 1);
    c->libraries = calloc(source->n_libraries + 1, sizeof *c->libraries);
    note_writes(c, source->function);
    bool ok = c->name && c->request && c->libraries;
    if (ok && source->request_bytes) memcpy(c->request, source->request, source->request_bytes);
    c->request_bytes = source->request_bytes;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; ok && i < source->n_libraries; i++) {
        Library *l = library_of(source->libraries[i]->hash);
        ok = l != NULL;
        if (!ok) break;
        if (!l->lib) l->lib = metallib_retain(source->libraries[i]);
        c->libraries[c->n_libraries++] = l;
    }
    c->id = ++r->last_id;
    ok = ok && source->n_libraries && hash_add(&r->codes, &c->node);
    pthread_mutex_unlock(&r->lock);
    if (!ok) code_drop(c);
}

static DevCode *load_code(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    DevCode *code = r->inner->code_load(context, source, why, why_bytes);
    if (code) note_code(code, source);
    return code;
}

static void free_code(DevCode *code) {
    pthread_mutex_lock(&r->lock);
    Code *c = code ? record_code(code) : NULL;
    if (c) hash_remove(&r->codes, &c->node);
    pthread_mutex_unlock(&r->lock);
    if (c) code_drop(c);
    r->inner->code_free(code);
}

// ---- The table ----

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && strtoul(value, NULL, 10) != 0;
}

bool cap_is_allowed(void) {
    const char *file = getenv("INGOT_CAPTURE");
    return (file && *file) || is_set("MTL_CAPTURE_ENABLED") || is_set("METAL_CAPTURE_ENABLED");
}

static void forget_after_fork(void) {
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->run_lock, NULL);
    if (r->writer) cap_writer_forget(r->writer);
    r->writer = NULL;
    r->run = NULL;
}

// One call at a time: devices are opened under a lock.
const DevTable *cap_table(const DevTable *inner) {
    if (inner == r->inner || inner == &r->table) return &r->table;
    if (r->inner || !cap_is_allowed() || !inner->code_load) return inner;
    r->inner = inner;
    r->table = *inner; // what is not recorded is the device's
    DevTable *t = &r->table;
    t->lends_arguments = !inner->memory_make;
    t->wants_requests = true;
    t->memory_make = make_memory;
    t->memory_free = free_memory;
    t->memory_wrap = wrap_memory;
    t->texture_make = make_texture;
    t->sampler_make = make_sampler;
    t->tensor_make = make_tensor;
    t->handle_free = free_handle;
    if (inner->rays) t->rays = find_rays;
    if (inner->view_set) t->view_set = set_view;
    if (inner->views_give) t->views_give = give_views;
    t->code_load = load_code;
    t->code_free = free_code;
    t->run_begin = record_run_begin;
    t->run_end = record_run_end;
    t->use = record_use;
    t->dispatch = record_dispatch;
    t->render = inner->render ? record_render : NULL;
    t->copy = record_copy;
    t->fill = record_fill;
    t->move = record_move;
    if (!inner->memory_make) os_pages_place(memory_gone);
    pthread_atfork(NULL, NULL, forget_after_fork);
    return t;
}

// ---- Files ----

bool cap_is_active(void) { return __atomic_load_n(&r->writer, __ATOMIC_RELAXED) != NULL; }

// The file knows nothing yet. The lock is held.
static void announce_all(const CapInfo *info) {
    put_pending(&(CapEvent){.kind = CAP_INFO, .info = *info});
    for (size_t i = 0; i < r->n_memories; i++) drop_hashes(r->memories[i]);
    for (size_t b = 0; b < r->codes.n_buckets; b++)
        for (HashNode *n = r->codes.buckets[b]; n; n = n->next) ((Code *)n)->announced = false;
    for (size_t b = 0; b < r->libraries.n_buckets; b++)
        for (HashNode *n = r->libraries.buckets[b]; n; n = n->next)
            ((Library *)n)->announced = ((Library *)n)->told = false;
    for (size_t b = 0; b < r->handles.n_buckets; b++)
        for (HashNode *n = r->handles.buckets[b]; n; n = n->next) {
            ((Handle *)n)->told = false;
            put_handle((Handle *)n);
        }
}

int cap_start(const char *path, const CapHooks *hooks, const CapInfo *info) {
    if (!r->inner) return ENODEV;
    pthread_mutex_lock(&r->run_lock);
    int e = 0;
    if (r->writer) {
        e = EBUSY;
    } else {
        CapWriter *writer = cap_writer_open(path);
        if (!writer) {
            e = errno ? errno : ENOMEM;
        } else {
            pthread_mutex_lock(&r->lock);
            r->writer = writer;
            r->hooks = hooks;
            r->pending.n_bytes = 0;
            announce_all(info);
            pthread_mutex_unlock(&r->lock);
        }
    }
    pthread_mutex_unlock(&r->run_lock);
    return e;
}

int cap_stop(void) {
    pthread_mutex_lock(&r->run_lock);
    CapWriter *w = r->writer;
    int e = 0;
    if (w) {
        pthread_mutex_lock(&r->lock);
        r->writer = NULL;
        WireOut last = r->pending;
        r->pending = (WireOut){0};
        for (size_t i = 0; i < r->n_memories; i++) drop_hashes(r->memories[i]);
        pthread_mutex_unlock(&r->lock);
        if (last.n_bytes && !last.failed) cap_write_run(w, last.data, last.n_bytes, 0);
        wire_free(&last);
        e = cap_writer_error(w);
        cap_writer_close(w);
    }
    pthread_mutex_unlock(&r->run_lock);
    return e;
}

void cap_put_later(CapEvent *event) {
    pthread_mutex_lock(&r->lock);
    put_pending(event);
    pthread_mutex_unlock(&r->lock);
}

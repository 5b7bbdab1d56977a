// SPDX-License-Identifier: Apache-2.0
// replay_objects.c: what handles stand for, functions, and the program's objects, in a replay.
// Nothing in a capture is believed: the texels of a texture must lie in memory that is there before
// a record of it is made.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "abi/pixel_format.h"
#include "abi/texture_layout.h"
#include "devices/capture/replay_int.h"
#include "os/zeros.h"

// ---- Handles ----

Stand *replay_stand(const CapReplay *r, uint64_t old) {
    uint64_t hash = hash_bytes(&old, sizeof old);
    for (HashNode *n = hash_chain(&r->stands, hash); n; n = n->next)
        if (n->hash == hash && ((Stand *)n)->old == old) return (Stand *)n;
    return NULL;
}

static void free_stand(CapReplay *r, Stand *s) {
    const DevTable *table = r->device.table;
    if (s->made && s->kind == CAP_RAYS)
        replay_free_rays(r, s);
    else if (s->made && !s->pooled && table->texture_make && table->handle_free)
        table->handle_free(r->device.context, &s->now);
    r->n_unmade -= !s->made;
    free(s);
}

void replay_drop_handle(CapReplay *r, uint64_t handle) {
    Stand *s = replay_stand(r, handle);
    if (!s) return;
    hash_remove(&r->stands, &s->node);
    for (size_t i = 0; i < r->n_textures; i++)
        if (r->textures[i] == s) {
            memmove(r->textures + i, r->textures + i + 1,
                    (--r->n_textures - i) * sizeof *r->textures);
            break;
        }
    free_stand(r, s);
}

static void ignore(HashNode *node) { (void)node; }

void replay_drop_handles(CapReplay *r) {
    for (size_t b = 0; b < r->stands.n_buckets; b++)
        for (HashNode *n = r->stands.buckets[b], *next; n; n = next) {
            next = n->next;
            free_stand(r, (Stand *)n);
        }
    for (size_t b = 0; b < r->stands.n_buckets; b++) r->stands.buckets[b] = NULL;
    hash_clear(&r->stands, ignore);
    r->n_textures = r->n_unmade = 0;
}

bool replay_add_handle(CapReplay *r, const CapEvent *e, char why[CAP_WHY]) {
    uint64_t old = e->kind == CAP_TEXTURE   ? e->texture.handle
                   : e->kind == CAP_SAMPLER ? e->sampler.handle
                   : e->kind == CAP_TENSOR  ? e->tensor.handle
                                            : e->rays;
    if (!old || replay_stand(r, old)) return replay_say(why, "damaged: a handle is there twice");
    Stand *s = calloc(1, sizeof *s);
    if (!s || (e->kind == CAP_TEXTURE &&
               !array_reserve(&r->textures, &r->textures_capacity, r->n_textures + 1))) {
        free(s);
        return replay_say(why, "out of memory");
    }
    s->kind = e->kind;
    s->old = old;
    s->node.hash = hash_bytes(&old, sizeof old);
    s->pooled = e->kind != CAP_RAYS && (old & ABI_TEXTURE_POOLED) != 0;
    if (e->kind == CAP_TEXTURE) s->id = e->texture.id, s->was = e->texture.record;
    if (e->kind == CAP_SAMPLER) s->sampler = e->sampler.record;
    if (e->kind == CAP_TENSOR) s->tensor_was = e->tensor.record;
    if (!hash_add(&r->stands, &s->node)) {
        free(s);
        return replay_say(why, "out of memory");
    }
    if (e->kind == CAP_TEXTURE) r->textures[r->n_textures++] = s;
    r->n_unmade++;
    return true;
}

// The last byte of a level, from its first; 0: it makes no sense.
static uint64_t level_bytes(const AbiTexture *t, const AbiTextureLevel *l) {
    const AbiPixelFormat *f = t->format;
    uint64_t columns = ((uint64_t)l->width + f->block_width - 1) / f->block_width,
             rows = ((uint64_t)l->height + f->block_height - 1) / f->block_height,
             layers = (uint64_t)abi_texture_n_slices(t) * (l->depth ? l->depth : 1), n = 0, part;
    if (!columns || !rows || !layers || columns > 1 << 28 || rows > 1 << 28) return 0;
    if (__builtin_mul_overflow(layers - 1, l->layer_bytes, &n) ||
        __builtin_mul_overflow(rows - 1, l->row_bytes, &part) ||
        __builtin_add_overflow(n, part, &n) ||
        __builtin_add_overflow(n, columns * f->block_bytes, &n) ||
        __builtin_mul_overflow((uint64_t)t->n_samples - 1, t->sample_bytes, &part) ||
        __builtin_add_overflow(n, part, &n))
        return 0;
    return n;
}

typedef enum Made { MADE, NOT_YET, NEVER } Made;

// The texture with addresses of now. NOT_YET: its memory is not there.
static Made place_texture(const CapReplay *r, Stand *s, char why[CAP_WHY]) {
    AbiTexture *t = &s->texture;
    *t = s->was;
    t->format = abi_pixel_format(t->pixel_format);
    t->sparse = NULL;
    for (uint32_t i = 0; i < t->n_levels; i++) {
        AbiTextureLevel *l = &t->levels[i];
        if (!l->data) continue; // memoryless
        uint64_t n = level_bytes(t, l);
        if (!replay_place(r, (uintptr_t)l->data)) return NOT_YET;
        uint64_t now = n ? replay_address(r, (uintptr_t)l->data, n) : 0;
        if (!now) {
            replay_say(why, "damaged: a texture that does not fit into its memory");
            return NEVER;
        }
        l->data = (unsigned char *)(uintptr_t)now;
    }
    return MADE;
}

static Made place_tensor(const CapReplay *r, Stand *s, char why[CAP_WHY]) {
    s->tensor = s->tensor_was;
    AbiTensor *t = &s->tensor;
    if (!replay_place(r, (uintptr_t)t->data)) return NOT_YET;
    uint64_t last = 0, part, bytes = abi_tensor_element_bytes(t->type);
    bool ok = true;
    for (uint32_t i = 0; i < t->rank; i++) {
        ok = ok && t->extents[i] > 0 && t->strides[i] >= 0 &&
             !__builtin_mul_overflow((uint64_t)t->extents[i] - 1, (uint64_t)t->strides[i], &part) &&
             !__builtin_add_overflow(last, part, &last);
    }
    uint64_t n = bytes ? (last + 1) * bytes : last / 2 + 1;
    uint64_t now = ok && last >> 40 == 0 ? replay_address(r, (uintptr_t)t->data, n) : 0;
    if (!now) {
        replay_say(why, "damaged: a tensor that does not fit into its memory");
        return NEVER;
    }
    t->data = (unsigned char *)(uintptr_t)now;
    return MADE;
}

// A record at the address that the handle has.
static bool put_record(CapReplay *r, Stand *s, const void *record, size_t n_bytes) {
    uintptr_t at = (uintptr_t)abi_handle_record(s->old);
    bool fresh;
    if (at % 8 || at < 1 << 16 || replay_place(r, at) || replay_rays_overlap(r, at, n_bytes) ||
        !replay_map(r, at, n_bytes, &fresh))
        return false;
    memcpy((void *)at, record, n_bytes);
    s->now = (DevHandle){.value = s->old, .n_bytes = (uint32_t)n_bytes};
    return true;
}

// A view of a pool has the number it had, as long as the pool is that long.
static bool put_view(CapReplay *r, Stand *s) {
    enum { ROOM = 1 << 16 };
    const DevTable *table = r->device.table;
    if (!table->view_set || !table->views_take) return false;
    if (!r->pool_first) r->pool_first = table->views_take(r->device.context, ROOM);
    uint64_t id = s->old - r->pool_first < ROOM ? s->old : 0;
    if (!r->pool_first || !id) return false;
    if (!table->view_set(r->device.context, id, &s->texture)) return false;
    s->now = (DevHandle){.value = id};
    return true;
}

static Made make(CapReplay *r, Stand *s, char why[CAP_WHY]) {
    const DevTable *table = r->device.table;
    void *context = r->device.context;
    Made m = s->kind == CAP_TEXTURE  ? place_texture(r, s, why)
             : s->kind == CAP_TENSOR ? place_tensor(r, s, why)
                                     : MADE;
    if (m != MADE) return m;
    bool ok;
    if (s->kind == CAP_RAYS)
        ok = replay_make_rays(r, s);
    else if (s->pooled)
        ok = put_view(r, s);
    else if (s->kind == CAP_TEXTURE)
        ok = table->texture_make ? table->texture_make(context, &s->texture, &s->now)
                                 : put_record(r, s, &s->texture, sizeof s->texture);
    else if (s->kind == CAP_SAMPLER)
        ok = table->sampler_make ? table->sampler_make(context, &s->sampler, &s->now)
                                 : put_record(r, s, &s->sampler, sizeof s->sampler);
    else
        ok = table->tensor_make ? table->tensor_make(context, &s->tensor, &s->now)
                                : put_record(r, s, &s->tensor, sizeof s->tensor);
    if (!ok) {
        replay_say(why, "the handle 0x%llx cannot be made here", (unsigned long long)s->old);
        return NEVER;
    }
    s->made = true;
    r->n_unmade--;
    return MADE;
}

bool replay_make_handles(CapReplay *r, char why[CAP_WHY]) {
    for (size_t b = 0; r->n_unmade && b < r->stands.n_buckets; b++)
        for (HashNode *n = r->stands.buckets[b]; n; n = n->next)
            if (!((Stand *)n)->made && make(r, (Stand *)n, why) == NEVER) return false;
    return true;
}

const AbiTexture *replay_texture(const CapReplay *r, const AbiTexture *number) {
    uint64_t id = (uintptr_t)number;
    for (size_t i = r->n_textures; i--;)
        if (r->textures[i]->id == id) return r->textures[i]->made ? &r->textures[i]->texture : NULL;
    return NULL;
}

bool replay_argument(const CapReplay *r, uint64_t *value) {
    enum { SMALL = 1 << 20 }; // as record_run.c has it
    if (*value < SMALL) return true;
    if (r->zeros && *value - (r->zeros - ((uint64_t)1 << 36)) < (uint64_t)1 << 37) {
        *value = (uintptr_t)os_zeros() + (*value - r->zeros);
        return true;
    }
    const Stand *s = replay_stand(r, *value & ~ABI_TEXTURE_RESIDENCY);
    if (s) {
        *value = s->now.value | (*value & ABI_TEXTURE_RESIDENCY);
        return s->made;
    }
    uint64_t now = replay_address(r, *value, 1);
    if (now) *value = now;
    return now || (*value & 1 && *value >> 48); // a sampler that is all in its handle
}

// ---- Libraries and functions ----

static Shelf *shelf_of(CapReplay *r, const unsigned char hash[SHA256_BYTES]) {
    for (size_t i = 0; i < r->n_shelves; i++)
        if (!memcmp(r->shelves[i]->hash, hash, SHA256_BYTES)) return r->shelves[i];
    Shelf *s = calloc(1, sizeof *s);
    if (!s || !array_reserve(&r->shelves, &r->shelves_capacity, r->n_shelves + 1)) {
        free(s);
        return NULL;
    }
    memcpy(s->hash, hash, SHA256_BYTES);
    return r->shelves[r->n_shelves++] = s;
}

static const char *keep_text(CapReplay *r, const char *text) {
    const char *kept = base_arena_str(&r->kept, text, strlen(text));
    return kept ? kept : "";
}

bool replay_add_library(CapReplay *r, const CapLibrary *library, char why[CAP_WHY]) {
    Shelf *s = shelf_of(r, library->hash);
    if (!s) return replay_say(why, "out of memory");
    if (s->was.blocks) return true;
    unsigned char *blocks = base_arena_alloc(&r->kept, library->n_blocks + 1, SHA256_BYTES);
    if (!blocks) return replay_say(why, "out of memory");
    memcpy(blocks, library->blocks, (size_t)library->n_blocks * SHA256_BYTES);
    s->was = *library;
    s->was.name = keep_text(r, library->name);
    s->was.blocks = (const unsigned char (*)[SHA256_BYTES])(void *)blocks;
    return true;
}

bool replay_add_source(CapReplay *r, const CapSource *source, char why[CAP_WHY]) {
    Shelf *s = shelf_of(r, source->hash);
    if (!s) return replay_say(why, "out of memory");
    if (!s->text) s->name = keep_text(r, source->name), s->text = keep_text(r, source->text);
    return true;
}

static bool read_library(CapReplay *r, Shelf *s, char why[CAP_WHY]) {
    if (s->lib) return true;
    if (!s->was.blocks || s->was.n_bytes > (uint64_t)1 << 32)
        return replay_say(why, "damaged: a library is not there");
    unsigned char *bytes = malloc(s->was.n_bytes + 1);
    bool ok = bytes || replay_say(why, "out of memory");
    for (uint32_t i = 0; ok && i < s->was.n_blocks; i++) {
        size_t at = (size_t)i * CAP_BLOCK, left = s->was.n_bytes - at;
        ok = cap_read_block(r->capture, s->was.blocks[i], bytes + at,
                            left < CAP_BLOCK ? left : CAP_BLOCK, why);
    }
    const char *wrong = "out of memory";
    Blob *blob = ok ? blob_take(bytes, s->was.n_bytes) : NULL;
    if (!ok) free(bytes);
    if (ok && blob) s->lib = metallib_open(blob, &wrong);
    blob_release(blob);
    if (ok && s->lib && memcmp(s->lib->hash, s->hash, SHA256_BYTES) != 0) {
        metallib_release(s->lib);
        s->lib = NULL;
        wrong = "it is another one";
    }
    if (!ok || s->lib) return ok;
    return replay_say(why, "damaged: the library '%s': %s", s->was.name, wrong);
}

bool replay_add_code(CapReplay *r, const CapCode *code, char why[CAP_WHY]) {
    if (!code->id || replay_program(r, code->id, false, why)) // the same of an earlier pass
        return code->id || replay_say(why, "damaged: a function without a number");
    Program *p = calloc(1, sizeof *p);
    unsigned char *request = base_arena_alloc(&r->kept, code->request_bytes + 1, 1);
    if (!p || !request || !array_reserve(&r->programs, &r->programs_capacity, r->n_programs + 1)) {
        free(p);
        return replay_say(why, "out of memory");
    }
    memcpy(request, code->request, code->request_bytes);
    p->was = *code;
    p->was.request = request;
    p->was.name = keep_text(r, code->name);
    p->shelf = shelf_of(r, code->library);
    r->programs[r->n_programs++] = p;
    return true;
}

static bool load_code(CapReplay *r, Program *p, char why[CAP_WHY]) {
    BaseArena arena = {0};
    MsgKernel k;
    WireIn in = {p->was.request, p->was.request + p->was.request_bytes, false};
    Metallib **libraries = NULL;
    bool ok = msg_get_kernel(&in, &arena, &k) ||
              replay_say(why,
                         "the function '%s' was recorded by another version of Ingot, or is "
                         "damaged: capture the program again",
                         p->was.name);
    if (ok) libraries = calloc(k.request.n_parts + 1, sizeof *libraries);
    ok = ok && (libraries || replay_say(why, "out of memory"));
    for (size_t i = 0; ok && i <= k.request.n_parts; i++) {
        Shelf *s = shelf_of(r, k.libraries[i].hash);
        ok = s && read_library(r, s, why);
        if (ok) libraries[i] = s->lib;
        if (ok && i == 0) p->shelf = s;
    }
    if (ok) p->function = rf_find_function(libraries[0]->reflection, k.request.function);
    if (ok && !p->function) ok = replay_say(why, "damaged: no function '%s'", p->was.name);
    const bool compiles = r->device.compile != NULL;
    char wrong[CAP_WHY] = "";
    Blob *bytes = ok && compiles ? r->device.compile(r->device.owner, &k.request, libraries,
                                                     r->debugging   ? CAP_FOR_DEBUGGER
                                                     : r->has_debug ? CAP_FOR_SPEED
                                                                    : CAP_FOR_DEVICE,
                                                     wrong)
                                 : NULL;
    if (ok && compiles && !bytes)
        ok = replay_say(why, "the function '%s' cannot be compiled: %.400s", p->was.name, wrong);
    if (ok) {
        DevCodeSource source = {.bytes = bytes ? bytes->data : NULL,
                                .n_bytes = bytes ? bytes->n_bytes : 0,
                                .function = p->function};
        p->code = r->device.table->code_load(r->device.context, &source, wrong, sizeof wrong);
        if (!p->code)
            ok = replay_say(why, "the function '%s' cannot be used: %.400s", p->was.name, wrong);
    }
    blob_release(bytes);
    free(libraries);
    base_arena_free(&arena);
    return ok;
}

Program *replay_program(CapReplay *r, uint64_t id, bool load, char why[CAP_WHY]) {
    for (size_t i = 0; i < r->n_programs; i++) {
        Program *p = r->programs[i];
        if (p->was.id != id) continue;
        if (load && r->debugging && !p->debugged) { // draws before may have the other
            p->fast = p->code;
            p->code = NULL;
            p->debugged = true;
        }
        return !load || p->code || load_code(r, p, why) ? p : NULL;
    }
    replay_say(why, "damaged: a function that is not there");
    return NULL;
}

const RfFunction *cap_replay_function(CapReplay *r, uint64_t code, const RfLibrary **library) {
    char why[CAP_WHY];
    Program *p = replay_program(r, code, false, why);
    if (!p || !p->shelf || !read_library(r, p->shelf, why)) return NULL;
    *library = p->shelf->lib->reflection;
    if (p->function) return p->function;
    const RfFunction *f = rf_find_function(*library, p->was.name);
    return f;
}

const char *cap_replay_source(const CapReplay *r, uint64_t code, const char **name) {
    for (size_t i = 0; i < r->n_programs; i++)
        if (r->programs[i]->was.id == code && r->programs[i]->shelf) {
            const Shelf *s = r->programs[i]->shelf;
            *name = s->name ? s->name : s->was.name;
            return s->text;
        }
    return NULL;
}

// ---- Objects ----

static const void *keep_bytes(CapReplay *r, const void *bytes, size_t n) {
    void *to = base_arena_alloc(&r->kept, 1, n);
    if (to) memcpy(to, bytes, n);
    return to;
}

bool replay_add_object(CapReplay *r, const CapResource *resource, char why[CAP_WHY]) {
    size_t i = 0;
    while (i < r->n_objects && r->objects[i].resource.id != resource->id) i++;
    if (!array_reserve(&r->objects, &r->objects_capacity, i + 1))
        return replay_say(why, "out of memory");
    r->n_objects += i == r->n_objects;
    const Stand *s = resource->handle ? replay_stand(r, resource->handle) : NULL;
    r->objects[i] = (CapObject){.resource = *resource};
    r->objects[i].resource.label = keep_text(r, resource->label);
    // Copies: an object is in the list when its handle is gone, too.
    if (s && s->kind == CAP_TEXTURE) r->objects[i].texture = keep_bytes(r, &s->was, sizeof s->was);
    if (s && s->kind == CAP_TENSOR)
        r->objects[i].tensor = keep_bytes(r, &s->tensor_was, sizeof s->tensor_was);
    return true;
}

size_t cap_replay_objects(const CapReplay *r, const CapObject **objects) {
    *objects = r->objects;
    return r->n_objects;
}

const CapObject *cap_replay_find(const CapReplay *r, const char *name) {
    const CapObject *found = NULL;
    for (size_t i = 0; *name && i < r->n_objects; i++) {
        if (strcmp(r->objects[i].resource.label, name) != 0) continue;
        if (found) return NULL;
        found = &r->objects[i];
    }
    if (found) return found;
    size_t n = strlen(name), digits = n;
    while (digits && isdigit((unsigned char)name[digits - 1])) digits--;
    if (digits == n || n - digits > 9) return NULL;
    unsigned long number = strtoul(name + digits, NULL, 10);
    return number < r->n_objects ? &r->objects[number] : NULL;
}

// SPDX-License-Identifier: Apache-2.0
// play_bind.c: what the functions of a playground's program are given. Buffers hold what the
// settings say (as `ingot run` writes it), or numbers in order; what lies in constant memory is
// uniforms: time, mouse, resolution and frame by their names, the others from sliders.
#include "base/numbers.h"
#include "base/array.h"
#include "apps/tools/play_int.h"
#include "apps/tools/run_values.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Uniforms ----

typedef struct Uniforms {
    const RfLibrary *rf;
    const PlaySettings *settings;
    unsigned char *data;
} Uniforms;

// The numbers of a name that the playground itself knows; 0: it does not.
static size_t known(const PlaySettings *s, const char *name, double to[4]) {
    if (!strncmp(name, "i", 1) && name[1] >= 'A' && name[1] <= 'Z') name++; // iTime
    if (!strcasecmp(name, "time")) return to[0] = s->time, 1;
    if (!strcasecmp(name, "frame")) return to[0] = (double)s->frame, 1;
    if (!strcasecmp(name, "mouse")) return memcpy(to, s->mouse, sizeof s->mouse), 4;
    if (strcasecmp(name, "resolution")) return 0;
    to[0] = (double)s->width, to[1] = (double)s->height, to[2] = 1, to[3] = 1;
    return 4;
}

// Numbers into a scalar, vector or matrix. Those that are missing repeat the last one.
static void put_numbers(const RfType *t, const double *v, size_t n, unsigned char *to) {
    uint32_t count = 0;
    const NumberType *type = number_of_data_type(t->data_type, &count);
    for (uint32_t i = 0; type && i < count; i++)
        number_set(type, v[i < n ? i : n - 1], to + i * type->n_bytes);
}

// Rows and columns of a matrix type, and its scalar; false: it is none.
static bool matrix_of(uint32_t data_type, uint32_t *columns, uint32_t *rows, const char **scalar) {
    uint32_t first = data_type >= MTLDataTypeHalf2x2 ? MTLDataTypeHalf2x2 : MTLDataTypeFloat2x2;
    if (data_type < first || data_type > first + 8) return false;
    *columns = 2 + (data_type - first) / 3;
    *rows = 2 + (data_type - first) % 3;
    *scalar = first == MTLDataTypeHalf2x2 ? "half" : "float";
    return true;
}

static void put_matrix(const RfType *t, const PlayEntry *given, unsigned char *to) {
    uint32_t columns, rows;
    const char *scalar;
    if (!matrix_of(t->data_type, &columns, &rows, &scalar)) return;
    const NumberType *type = number_type(scalar);
    size_t stride = t->size / columns;
    for (uint32_t c = 0; c < columns; c++)
        for (uint32_t r = 0; r < rows; r++) {
            size_t i = c * rows + r;
            double v = given && i < given->n_numbers ? given->numbers[i] : c == r;
            number_set(type, v, to + c * stride + r * type->n_bytes);
        }
}

static void put_uniform(const Uniforms *u, uint32_t type, const char *name, const char *path,
                        size_t at) {
    const RfType *t = &u->rf->types[type];
    const PlayEntry *given = play_find(&u->settings->values, path);
    uint32_t n;
    double v[4];
    if (t->data_type == MTLDataTypeStruct) {
        for (uint32_t i = 0; i < t->n_members; i++) {
            char inner[PLAY_NAME_BYTES];
            snprintf(inner, sizeof inner, "%s.%s", path, t->members[i].name);
            put_uniform(u, t->members[i].type, t->members[i].name, inner,
                        at + t->members[i].offset);
        }
    } else if (!number_of_data_type(t->data_type, &n)) {
        put_matrix(t, given, u->data + at);
    } else if (given && given->n_numbers) {
        put_numbers(t, given->numbers, given->n_numbers, u->data + at);
    } else {
        const NumberType *number = number_of_data_type(t->data_type, &n);
        size_t count = known(u->settings, name, v);
        // Without a word about it: the middle of a slider from 0 to 1, or 1.
        if (!count) v[0] = number->kind <= NUMBER_BFLOAT ? 0.5 : 1, count = 1;
        put_numbers(t, v, count, u->data + at);
    }
}

// ---- Buffers ----

static MTLBuffer *buffer_of(PlaySession *s, const void *data, size_t n, char **why) {
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(s->device, data, n, 0);
    if (!b) *why = text_format("no memory for a buffer of %zu bytes", n);
    return b;
}

static MTLBuffer *given_buffer(PlaySession *s, const RfArg *a, const RfType *t, const char *text,
                               char **why) {
    NpyArray array;
    bool is_value;
    MTLBuffer *b = NULL;
    char *wrong = run_value_parse_within(text, PLAY_MAX_BYTES, &array, &is_value);
    if (wrong) {
        *why = text_format("buffer %s: %s", a->name, wrong);
        free(wrong);
        return NULL;
    }
    size_t n = array.n_elements * array.type->n_bytes;
    if (n < t->size)
        *why = text_format("buffer %s: %zu bytes are too few: one %s needs %u", a->name, n, t->name,
                           t->size);
    else
        b = buffer_of(s, array.data, n, why);
    npy_free(&array);
    return b;
}

// An element for each thread: what is read holds 0, 1, 2, ...
static MTLBuffer *default_buffer(PlaySession *s, const RfArg *a, const RfType *t, size_t n_threads,
                                 char **why) {
    size_t n_bytes;
    if (__builtin_mul_overflow(n_threads, (size_t)t->size, &n_bytes) || n_bytes > PLAY_MAX_BYTES) {
        *why = text_format("buffer %s: an element for each of %zu threads is more than %d MiB; say "
                           "what it holds",
                           a->name, n_threads, PLAY_MAX_BYTES >> 20);
        return NULL;
    }
    unsigned char *data = calloc(n_threads, t->size);
    uint32_t n = 0;
    const NumberType *number = number_of_data_type(t->data_type, &n);
    if (!data) {
        *why = text_format("out of memory");
        return NULL;
    }
    for (size_t i = 0; number && a->access != RF_WRITE_ONLY && i < n_threads; i++)
        for (uint32_t k = 0; k < n; k++)
            number_set(number, (double)(i * n + k), data + i * t->size + k * number->n_bytes);
    MTLBuffer *b = buffer_of(s, data, n_bytes, why);
    free(data);
    return b;
}

static MTLBuffer *uniform_buffer(PlaySession *s, const RfLibrary *rf, const PlaySettings *settings,
                                 const RfArg *a, char **why) {
    Uniforms u = {rf, settings, calloc(1, rf->types[a->type].size + 16u)};
    if (!u.data) {
        *why = text_format("out of memory");
        return NULL;
    }
    put_uniform(&u, a->type, a->name, a->name, 0);
    MTLBuffer *b = buffer_of(s, u.data, rf->types[a->type].size, why);
    free(u.data);
    return b;
}

// ---- Arguments ----

static char *bind_one(PlaySession *s, const RfLibrary *rf, const PlaySettings *settings,
                      const RfFunction *f, size_t n_threads, size_t n_group, PlayBound *b) {
    const RfArg *a = b->arg;
    const RfType *t = &rf->types[a->type];
    const PlayEntry *e;
    char *why = NULL;
    switch (a->kind) {
    case RF_ARG_BUFFER:
        e = play_find(&settings->buffers, a->name);
        if (a->count > 1 || !t->size)
            why = text_format("'%s' takes an array of buffers or a handle, %s, which the "
                              "playground cannot give",
                              f->name, a->name);
        else if (e && e->text)
            b->buffer = given_buffer(s, a, t, e->text, &why);
        else if (a->space == RF_CONSTANT)
            b->buffer = uniform_buffer(s, rf, settings, a, &why);
        else
            b->buffer = default_buffer(s, a, t, n_threads, &why);
        break;
    case RF_ARG_TEXTURE:
        e = play_find(&settings->textures, a->name);
        b->texture =
            play_texture(s, rf, t, e ? e->text : NULL, settings->width, settings->height, &why);
        break;
    case RF_ARG_SAMPLER: b->sampler = true; break;
    case RF_ARG_THREADGROUP:
        e = play_find(&settings->values, a->name); // elements
        b->threadgroup = (e && e->n_numbers ? (size_t)e->numbers[0] : n_group) * t->size;
        b->threadgroup = (b->threadgroup + 15) & ~(size_t)15;
        break;
    default:
        why = text_format("'%s' takes a %s, %s, which the playground cannot give", f->name, t->name,
                          a->name);
    }
    return why;
}

char *play_bind(PlaySession *s, const RfLibrary *rf, const PlaySettings *settings,
                const RfFunction *f, PlayStage stage, size_t n_threads, size_t n_group,
                PlayBinding *binding) {
    for (uint32_t i = 0; f && i < f->n_args; i++) {
        const RfArg *a = &f->args[i];
        if (a->kind == RF_ARG_BUILTIN || a->kind == RF_ARG_STRIDE || a->kind == RF_ARG_PAYLOAD ||
            a->kind == RF_ARG_MESH_GRID || a->kind == RF_ARG_MESH)
            continue;
        if (!array_more(&binding->items, binding->n)) return text_format("out of memory");
        PlayBound *all = binding->items;
        PlayBound *b = &all[binding->n];
        *b = (PlayBound){.arg = a, .stage = stage};
        // Stages that take the same name at the same place share it.
        for (size_t k = 0; k < binding->n; k++)
            if (all[k].arg->kind == a->kind && !strcmp(all[k].arg->name, a->name) &&
                all[k].arg->type == a->type) {
                b->buffer = mtl_retain(all[k].buffer);
                b->texture = mtl_retain(all[k].texture);
            }
        char *why =
            b->buffer || b->texture ? NULL : bind_one(s, rf, settings, f, n_threads, n_group, b);
        binding->n++;
        if (why) return why;
    }
    return NULL;
}

void play_unbind(PlayBinding *binding) {
    for (size_t i = 0; i < binding->n; i++) {
        mtl_release(binding->items[i].buffer);
        mtl_release(binding->items[i].texture);
    }
    free(binding->items);
    *binding = (PlayBinding){0};
}

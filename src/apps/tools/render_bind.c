// SPDX-License-Identifier: Apache-2.0
// render_bind.c: the arguments of the two functions of `ingot render`: matching what was given with
// what they take, making buffers, and laying vertices out.
#include "base/text.h"
#include "apps/tools/render_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t n_bytes(const NpyArray *a) { return a->n_elements * a->type->n_bytes; }

static bool is_number(const char *key, size_t *n) {
    char *end;
    *n = (size_t)strtoull(key, &end, 10);
    return *key >= '0' && *key <= '9' && !*end;
}

static const char *kind_name(GivenKind kind) {
    return kind == GIVEN_BUFFER    ? "buffer"
           : kind == GIVEN_TEXTURE ? "texture"
           : kind == GIVEN_SAMPLER ? "sampler"
                                   : "attribute";
}

static bool fits(const RfArg *a, GivenKind kind) {
    return a->kind == (kind == GIVEN_BUFFER    ? RF_ARG_BUFFER
                       : kind == GIVEN_TEXTURE ? RF_ARG_TEXTURE
                                               : RF_ARG_SAMPLER);
}

// The argument of a function that a key means; *index: the slot itself.
static const RfArg *find_arg(const RfFunction *f, const Given *g, size_t *index) {
    size_t n;
    bool number = is_number(g->key, &n);
    for (uint32_t i = 0; f && i < f->n_args; i++) {
        const RfArg *a = &f->args[i];
        if (!fits(a, g->kind)) continue;
        if (number ? n >= a->index && n - a->index < (a->count ? a->count : 1)
                   : !strcmp(g->key, a->name)) {
            *index = number ? n : a->index;
            return a;
        }
    }
    return NULL;
}

// What the functions take of a kind: "vertex 0 places (float4), fragment 0 light (Light)".
static char *describe(const Render *r, GivenKind kind) {
    Text t = {0};
    for (int s = 0; s < N_STAGES; s++) {
        const RfFunction *f = r->reflection[s];
        for (uint32_t i = 0; f && kind < GIVEN_ATTRIBUTE && i < f->n_args; i++)
            if (fits(&f->args[i], kind))
                text_printf(&t, "%s%s:%u %s (%s)", t.n_bytes ? ", " : "", render_stage_names[s],
                            f->args[i].index, f->args[i].name,
                            r->data->reflection->types[f->args[i].type].name);
        for (uint32_t i = 0; f && kind >= GIVEN_ATTRIBUTE && s == VERTEX && i < f->n_inputs; i++)
            if (f->inputs[i].role == RF_ATTRIBUTE)
                text_printf(&t, "%s%u %s", t.n_bytes ? ", " : "", f->inputs[i].index,
                            f->inputs[i].name);
    }
    if (!t.n_bytes) text_add(&t, "none");
    return text_take(&t);
}

static int no_such(const Render *r, const Given *g) {
    char *list = describe(r, g->kind);
    complain(EXIT_INPUT, "render", "%s %s: no such %s; the functions take: %s", g->option, g->key,
             kind_name(g->kind), list ? list : "?");
    free(list);
    return EXIT_INPUT;
}

static int parse_value(Given *g) {
    if (g->array.data) return EXIT_FINE;
    char *why = run_value_parse(g->text, &g->array, &g->is_value);
    if (!why) return EXIT_FINE;
    complain(EXIT_INPUT, "render", "%s %s: %s", g->option, g->key, why);
    free(why);
    return EXIT_INPUT;
}

// One element must be there. A vector of three takes the room of four, but its numbers are three.
static int bind_buffer(Render *r, Given *g, const RfArg *a) {
    const RfType *type = &r->data->reflection->types[a->type];
    int status = parse_value(g);
    if (status) return status;
    uint32_t n = 0;
    const NumberType *scalar = number_of_data_type(type->data_type, &n);
    size_t given = n_bytes(&g->array), need = scalar ? n * scalar->n_bytes : type->size;
    if (given < need)
        return complain(EXIT_INPUT, "render",
                        "%s %s: %zu bytes are too few: one '%s' (%s) takes %zu", g->option, g->key,
                        given, a->name, type->name, need);
    if (scalar && n == 3 && type->size > need && g->array.n_dims > 1 &&
        g->array.shape[g->array.n_dims - 1] == 3)
        fprintf(stderr,
                "ingot render: warning: %s %s has rows of 3 numbers, but a %s takes the "
                "room of 4 (packed_%s takes 3)\n",
                g->option, g->key, type->name, type->name);
    if (g->buffer) return EXIT_FINE;
    g->buffer = mtl_device_new_buffer(r->device, given > type->size ? given : type->size,
                                      MTLResourceStorageModeShared);
    if (!g->buffer)
        return complain(EXIT_INPUT, "render", "%s %s: no memory for %zu bytes", g->option, g->key,
                        given);
    memcpy(mtl_buffer_contents(g->buffer), g->array.data, given);
    return EXIT_FINE;
}

static int bind_given(Render *r, Given *g) {
    bool found = false;
    for (int s = 0; s < N_STAGES; s++) {
        const RfArg *a =
            g->stage >= 0 && g->stage != s ? NULL : find_arg(r->reflection[s], g, &g->index[s]);
        if (!a) continue;
        int status = g->kind == GIVEN_BUFFER ? bind_buffer(r, g, a)
                     : g->kind == GIVEN_TEXTURE && !g->texture
                         ? render_texture(r, g, &r->data->reflection->types[a->type])
                     : g->kind == GIVEN_SAMPLER && !g->sampler ? render_sampler(r, g)
                                                               : EXIT_FINE;
        if (status) return status;
        found = g->used[s] = true;
    }
    return found ? EXIT_FINE : no_such(r, g);
}

// ---- Attributes ----

// MTLVertexFormat of numbers for an attribute that is real or whole; 0: there is none. The formats
// of 2, 3, 4 components follow each other; those of one stand apart.
static MTLVertexFormat vertex_format(const NumberType *t, size_t n, bool real) {
    struct Row {
        NumberKind kind;
        uint32_t n_bytes;
        bool real;
        MTLVertexFormat one, two;
    };
    static const struct Row rows[] = {
        {NUMBER_FLOAT, 4, true, MTLVertexFormatFloat, MTLVertexFormatFloat2},
        {NUMBER_HALF, 2, true, MTLVertexFormatHalf, MTLVertexFormatHalf2},
        {NUMBER_UINT, 1, true, MTLVertexFormatUCharNormalized, MTLVertexFormatUChar2Normalized},
        {NUMBER_INT, 1, true, MTLVertexFormatCharNormalized, MTLVertexFormatChar2Normalized},
        {NUMBER_UINT, 2, true, MTLVertexFormatUShortNormalized, MTLVertexFormatUShort2Normalized},
        {NUMBER_INT, 2, true, MTLVertexFormatShortNormalized, MTLVertexFormatShort2Normalized},
        {NUMBER_UINT, 1, false, MTLVertexFormatUChar, MTLVertexFormatUChar2},
        {NUMBER_INT, 1, false, MTLVertexFormatChar, MTLVertexFormatChar2},
        {NUMBER_UINT, 2, false, MTLVertexFormatUShort, MTLVertexFormatUShort2},
        {NUMBER_INT, 2, false, MTLVertexFormatShort, MTLVertexFormatShort2},
        {NUMBER_UINT, 4, false, MTLVertexFormatUInt, MTLVertexFormatUInt2},
        {NUMBER_INT, 4, false, MTLVertexFormatInt, MTLVertexFormatInt2},
    };
    for (size_t i = 0; n >= 1 && n <= 4 && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == t->kind && rows[i].n_bytes == t->n_bytes && rows[i].real == real)
            return n == 1 ? rows[i].one : (MTLVertexFormat)(rows[i].two + n - 2);
    return MTLVertexFormatInvalid;
}

static const RfValue *find_attribute(const RfFunction *f, const char *key) {
    size_t n;
    bool number = is_number(key, &n);
    for (uint32_t i = 0; i < f->n_inputs; i++)
        if (f->inputs[i].role == RF_ATTRIBUTE &&
            (number ? f->inputs[i].index == n : !strcmp(f->inputs[i].name, key)))
            return &f->inputs[i];
    return NULL;
}

// The highest index no buffer and no other attribute has.
static size_t free_index(const Render *r) {
    const RfFunction *f = r->reflection[VERTEX];
    for (size_t index = MTL_MAX_VERTEX_ATTRIBUTES; index-- > 0;) {
        bool taken = r->vertices.layouts[index].stride != 0;
        for (uint32_t i = 0; i < f->n_args; i++)
            taken |= f->args[i].kind == RF_ARG_BUFFER && index >= f->args[i].index &&
                     index - f->args[i].index < (f->args[i].count ? f->args[i].count : 1);
        if (!taken) return index;
    }
    return SIZE_MAX;
}

// Rows of an array into a buffer of its own, each at a multiple of 4 bytes.
static int bind_attribute(Render *r, Given *g) {
    const RfValue *v = find_attribute(r->reflection[VERTEX], g->key);
    if (!v) return no_such(r, g);
    int status = parse_value(g);
    if (status) return status;
    const NpyArray *a = &g->array;
    size_t rows = a->n_dims ? a->shape[0] : 1, columns = a->n_elements / rows;
    uint32_t n = 0;
    const NumberType *wanted = number_of_data_type(v->data_type, &n);
    bool real = wanted && wanted->kind <= NUMBER_BFLOAT;
    MTLVertexFormat format = vertex_format(a->type, columns, real);
    if (!format)
        return complain(EXIT_INPUT, "render",
                        "%s %s: %s rows of %zu do not fit '%s', an attribute of %s numbers",
                        g->option, g->key, a->type->name, columns, v->name,
                        real ? "real" : "whole");
    size_t row = columns * a->type->n_bytes, stride = (row + 3) / 4 * 4, at = free_index(r);
    size_t total;
    if (at == SIZE_MAX)
        return complain(EXIT_INPUT, "render", "%s %s: no buffer index is left", g->option, g->key);
    if (__builtin_mul_overflow(rows, stride, &total) ||
        !(g->buffer = mtl_device_new_buffer(r->device, total, MTLResourceStorageModeShared)))
        return complain(EXIT_INPUT, "render", "%s %s: no memory", g->option, g->key);
    unsigned char *to = mtl_buffer_contents(g->buffer);
    for (size_t i = 0; i < rows; i++) memcpy(to + i * stride, a->data + i * row, row);
    bool instance = g->kind == GIVEN_INSTANCE_ATTRIBUTE;
    g->used[VERTEX] = true;
    g->index[VERTEX] = at;
    r->vertices.attributes[v->index] =
        (MTLVertexAttributeDescriptor){.format = format, .buffer_index = at};
    r->vertices.layouts[at] = (MTLVertexBufferLayoutDescriptor){
        .stride = stride,
        .step_function =
            instance ? MTLVertexStepFunctionPerInstance : MTLVertexStepFunctionPerVertex};
    r->has_vertices = true;
    if (instance && rows < r->o->instances)
        return complain(EXIT_INPUT, "render", "%s %s has %zu rows, but there are %zu instances",
                        g->option, g->key, rows, r->o->instances);
    if (!instance && (!r->count || rows < r->count)) r->count = rows;
    return EXIT_FINE;
}

// ---- The whole ----

static bool was_given(const Render *r, int stage, GivenKind kind, size_t index) {
    for (size_t i = 0; i < r->o->n_given; i++) {
        const Given *g = &r->o->given[i];
        if (g->kind == kind && g->used[stage] && g->index[stage] == index) return true;
    }
    return false;
}

static int missing(const Render *r, int stage, const char *option, const char *name, size_t index,
                   const char *type) {
    return complain(EXIT_INPUT, "render",
                    "%s %zu of '%s' is missing: %s%s%s%s. Give it with %s %zu=...",
                    !strcmp(option, "--arg") ? "buffer" : option + 2, index, r->o->functions[stage],
                    name, *type ? " (" : "", type, *type ? ")" : "", option, index);
}

// Everything a function takes must have been given, but for samplers, and what depends on a
// function constant.
static int check_missing(Render *r, int stage) {
    const RfFunction *f = r->reflection[stage];
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *a = &f->args[i];
        const char *type = r->data->reflection->types[a->type].name;
        if (*a->condition) continue;
        for (size_t k = 0; k < (a->count ? a->count : 1); k++) {
            size_t index = a->index + k;
            if (a->kind == RF_ARG_BUFFER && !was_given(r, stage, GIVEN_BUFFER, index))
                return missing(r, stage, "--arg", a->name, index, type);
            if (a->kind == RF_ARG_TEXTURE && !was_given(r, stage, GIVEN_TEXTURE, index))
                return missing(r, stage, "--texture", a->name, index, type);
            if (a->kind == RF_ARG_SAMPLER && index < 16)
                r->sampler_slots[stage][index] = !was_given(r, stage, GIVEN_SAMPLER, index);
            if (a->kind > RF_ARG_BUILTIN)
                return complain(EXIT_INPUT, "render",
                                "'%s' takes a %s, which `ingot render` cannot give", f->name, type);
        }
    }
    for (uint32_t i = 0; stage == VERTEX && i < f->n_inputs; i++)
        if (f->inputs[i].role == RF_ATTRIBUTE && !*f->inputs[i].condition &&
            !r->vertices.attributes[f->inputs[i].index].format)
            return missing(r, stage, "--attribute", f->inputs[i].name, f->inputs[i].index, "");
    return EXIT_FINE;
}

static int bind_indices(Render *r) {
    bool is_value;
    char *why = run_value_parse(r->o->indices, &r->index_array, &is_value);
    if (why) {
        complain(EXIT_INPUT, "render", "--indices: %s", why);
        free(why);
        return EXIT_INPUT;
    }
    const NumberType *t = r->index_array.type;
    bool whole = t->kind == NUMBER_UINT || t->kind == NUMBER_INT;
    if (!whole || (t->n_bytes != 2 && t->n_bytes != 4))
        return complain(EXIT_INPUT, "render", "--indices: u16 or u32 are needed, not %s", t->name);
    r->indices = mtl_device_new_buffer_with_bytes(
        r->device, r->index_array.data, n_bytes(&r->index_array), MTLResourceStorageModeShared);
    r->count = r->index_array.n_elements;
    return r->indices ? EXIT_FINE : complain(EXIT_INPUT, "render", "--indices: no memory");
}

int render_bind(Render *r) {
    int status = EXIT_FINE;
    for (size_t i = 0; !status && i < r->o->n_given; i++) {
        Given *g = &r->o->given[i];
        status = g->kind >= GIVEN_ATTRIBUTE ? bind_attribute(r, g) : bind_given(r, g);
    }
    if (!status && r->o->indices) status = bind_indices(r);
    for (int s = 0; !status && s < N_STAGES; s++)
        if (r->reflection[s]) status = check_missing(r, s);
    if (status) return status;
    if (r->o->count && r->count && r->o->count > r->count)
        return complain(EXIT_INPUT, "render", "--count is %zu, but there are %zu %s", r->o->count,
                        r->count, r->o->indices ? "indices" : "rows of attributes");
    if (r->o->count) r->count = r->o->count;
    if (!r->count) r->count = 3;
    return render_sampler(r, NULL);
}

void render_unbind(Render *r) {
    for (size_t i = 0; i < r->o->n_given; i++) {
        Given *g = &r->o->given[i];
        mtl_release(g->buffer), mtl_release(g->texture), mtl_release(g->sampler);
        npy_free(&g->array);
        *g = (Given){.kind = g->kind,
                     .option = g->option,
                     .stage = g->stage,
                     .key = g->key,
                     .text = g->text};
    }
    npy_free(&r->index_array);
    mtl_release(r->indices), mtl_release(r->sampler);
}

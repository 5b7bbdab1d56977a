// SPDX-License-Identifier: Apache-2.0
// schema.c: records as bytes, both ways, and checked where they lie (schema.h).
#include "devices/table/schema.h"

_Static_assert(sizeof(size_t) == 8 && sizeof(void *) == 8 &&
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "numbers are copied as they lie in memory");

static const uint8_t width[] = {
    [SCHEMA_U8] = 1, [SCHEMA_U16] = 2, [SCHEMA_U32] = 4, [SCHEMA_U64] = 8};

typedef struct Port {
    WireOut *out; // one of the two
    WireIn *in;
    BaseArena *arena; // with `in`
    uint32_t version;
} Port;

static void record(Port *p, const Schema *schema, void *at, const SchemaFrame *outer);

static void fail(Port *p) {
    if (p->in) p->in->failed = true;
}

// ---- Fields ----

static void number(Port *p, SchemaKind kind, uint64_t most, void *at) {
    uint64_t v = 0;
    if (p->out) {
        memcpy(&v, at, width[kind]);
        if (kind == SCHEMA_U8)
            wire_u8(p->out, (uint8_t)v);
        else if (kind == SCHEMA_U64)
            wire_u64(p->out, v);
        else
            wire_u32(p->out, (uint32_t)v);
        return;
    }
    v = kind == SCHEMA_U8    ? wire_get_u8(p->in)
        : kind == SCHEMA_U64 ? wire_get_u64(p->in)
                             : wire_get_u32(p->in);
    if (v > most) fail(p), v = 0;
    memcpy(at, &v, width[kind]);
}

static void raw(Port *p, void *at, size_t n) {
    if (p->out)
        wire_raw(p->out, at, n);
    else
        wire_get_raw(p->in, at, n);
}

static void text(Port *p, const char **at) {
    if (p->out) {
        wire_str(p->out, *at);
        return;
    }
    size_t n;
    const void *bytes = wire_get_bytes(p->in, &n);
    *at = bytes ? base_arena_str(p->arena, bytes, n) : "";
    if (!*at) fail(p), *at = "";
}

// Bytes that a field, or a record, takes at least.
static uint64_t least(const Schema *schema);
static uint64_t field_least(const SchemaField *f) {
    switch (f->kind) {
    case SCHEMA_U8:
    case SCHEMA_RAW:
    case SCHEMA_CHARS: return f->n;
    case SCHEMA_U16:
    case SCHEMA_U32: return 4 * (uint64_t)f->n;
    case SCHEMA_RECORD: return f->count || f->count_bytes ? 0 : f->n * least(f->of());
    case SCHEMA_ONE: return 1;
    case SCHEMA_LIST:
    case SCHEMA_BYTES:
    case SCHEMA_ARGUMENTS: return f->maybe;
    default: return 8 * (uint64_t)f->n;
    }
}

static uint64_t least(const Schema *schema) {
    uint64_t n = 0;
    for (size_t i = 0; i < schema->n_fields && !schema_is_mark(&schema->fields[i]); i++)
        if (!schema->fields[i].local) n += field_least(&schema->fields[i]);
    return n;
}

// Memory for n items that are to be read; NULL: the bytes that are left cannot hold so many.
static void *room(Port *p, uint64_t n, size_t item_bytes, uint64_t item_least) {
    const uint64_t left = (uint64_t)(p->in->end - p->in->at);
    void *to = !p->in->failed && n <= left / (item_least ? item_least : 1)
                   ? base_arena_alloc(p->arena, (size_t)n + 1, item_bytes)
                   : NULL;
    if (!to) fail(p);
    return to;
}

// What a pointer leads to: n items, or, without a schema, bytes.
static void behind(Port *p, const SchemaField *f, void *at, const SchemaFrame *frame) {
    void *items = schema_pointer(at);
    if (f->maybe || f->kind == SCHEMA_ONE) {
        uint8_t there = items != NULL;
        number(p, SCHEMA_U8, 1, &there);
        if (!there) return;
    }
    const uint64_t n = schema_count(f, frame);
    const Schema *of = f->of ? f->of() : NULL;
    if (p->in) {
        items = room(p, n, of ? of->n_bytes : 1, of ? least(of) : 1);
        schema_point(at, items);
    }
    if (!items) return;
    if (!of) raw(p, items, (size_t)n);
    for (uint64_t i = 0; of && i < n; i++)
        record(p, of, (unsigned char *)items + i * of->n_bytes, frame);
}

static void field(Port *p, const SchemaField *f, unsigned char *at, const SchemaFrame *frame) {
    switch (f->kind) {
    case SCHEMA_U8:
    case SCHEMA_U16:
    case SCHEMA_U32:
    case SCHEMA_U64:
        for (uint32_t i = 0; i < f->n; i++)
            number(p, f->kind, f->most, at + (size_t)i * width[f->kind]);
        break;
    case SCHEMA_RAW:
    case SCHEMA_CHARS: raw(p, at, f->n); break;
    case SCHEMA_TEXT: text(p, (const char **)(void *)at); break;
    case SCHEMA_RECORD: {
        const Schema *of = f->of();
        const uint64_t n = schema_count(f, frame);
        for (uint64_t i = 0; i < n && i < f->n; i++) record(p, of, at + i * of->n_bytes, frame);
        break;
    }
    case SCHEMA_ONE:
    case SCHEMA_LIST:
    case SCHEMA_BYTES:
    case SCHEMA_ARGUMENTS: behind(p, f, at, frame); break;
    default: number(p, SCHEMA_U64, UINT64_MAX, at); // an object
    }
}

static void record(Port *p, const Schema *schema, void *at, const SchemaFrame *outer) {
    const SchemaFrame frame = {at, outer};
    for (size_t i = 0; i < schema->n_fields; i++) {
        const SchemaField *f = &schema->fields[i];
        if (f->kind == SCHEMA_WHEN && !schema_count(f, &frame)) break;
        if (f->kind == SCHEMA_SINCE && p->in && p->version < f->most) break;
        if (!schema_is_mark(f) && !f->local) field(p, f, (unsigned char *)at + f->offset, &frame);
    }
    if (p->in && schema->check && !schema->check(at)) fail(p);
}

void schema_put(SchemaOf *of, const void *from, WireOut *out) {
    record(&(Port){.out = out}, of(), (void *)(uintptr_t)from, NULL); // nothing of it is written
}

void schema_get(SchemaOf *of, void *to, WireIn *in, uint32_t version, BaseArena *arena) {
    record(&(Port){.in = in, .arena = arena, .version = version}, of(), to, NULL);
}

// ---- In place ----

static bool holds(const SchemaField *f, unsigned char *at) {
    bool ok = true;
    if (f->kind == SCHEMA_CHARS) at[f->n - 1] = '\0';
    for (uint32_t i = 0; ok && f->kind == SCHEMA_RECORD && i < f->n; i++)
        ok = schema_holds(f->of, at + i * f->of()->n_bytes);
    for (uint32_t i = 0; ok && f->kind <= SCHEMA_U64 && i < f->n; i++) {
        uint64_t v = 0;
        memcpy(&v, at + (size_t)i * width[f->kind], width[f->kind]);
        ok = v <= f->most;
    }
    return ok;
}

bool schema_holds(SchemaOf *of, void *at) {
    const Schema *schema = of();
    bool ok = true;
    for (size_t i = 0; i < schema->n_fields; i++) // all of them: texts end
        ok = holds(&schema->fields[i], (unsigned char *)at + schema->fields[i].offset) && ok;
    return ok && (!schema->check || schema->check(at));
}

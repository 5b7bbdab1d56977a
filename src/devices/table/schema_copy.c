// SPDX-License-Identifier: Apache-2.0
// schema_copy.c: records copied with all that they point to (schema.h).
#include "devices/table/schema.h"

static bool copy_record(SchemaCopy *c, const Schema *schema, const unsigned char *from,
                        unsigned char *to, const SchemaFrame *outer);

static struct SchemaSeen *seen_of(SchemaCopy *c, const SchemaField *f) {
    size_t i = 0, last = sizeof c->seen / sizeof *c->seen - 1;
    while (i < last && c->seen[i].field && c->seen[i].field != f) i++;
    return &c->seen[i];
}

static void *keep(SchemaCopy *c, const void *from, size_t n_bytes) {
    void *to = c->take(c->context, n_bytes ? n_bytes : 1);
    if (to) memcpy(to, from, n_bytes);
    return to;
}

static bool copy_items(SchemaCopy *c, const SchemaField *f, const unsigned char *from, void **at,
                       const SchemaFrame *frame) {
    const Schema *of = f->of ? f->of() : NULL;
    const size_t n = (size_t)schema_count(f, frame), item = of ? of->n_bytes : 1;
    unsigned char *to = keep(c, from, n * item);
    *at = to;
    bool ok = to != NULL;
    for (size_t i = 0; ok && of && !of->plain && i < n; i++)
        ok = copy_record(c, of, from + i * item, to + i * item, frame);
    if (ok && f->kind == SCHEMA_ARGUMENTS && c->visit) ok = c->visit(c->context, f, from, to, n);
    return ok;
}

static bool copy_pointer(SchemaCopy *c, const SchemaField *f, const unsigned char *field,
                         unsigned char *at, const SchemaFrame *frame) {
    const unsigned char *from = schema_pointer(field);
    void *to;
    if (!from) return true;
    struct SchemaSeen *seen =
        f->kind == SCHEMA_ONE || f->kind == SCHEMA_TEXT ? seen_of(c, f) : NULL;
    bool ok = true;
    if (seen && seen->to && seen->field == f && seen->from == from)
        to = seen->to;
    else if (f->kind == SCHEMA_TEXT)
        ok = (to = keep(c, from, strlen((const char *)from) + 1)) != NULL;
    else
        ok = copy_items(c, f, from, &to, frame);
    if (seen) *seen = (struct SchemaSeen){f, from, to};
    schema_point(at, to);
    return ok;
}

static bool copy_field(SchemaCopy *c, const SchemaField *f, const unsigned char *from,
                       unsigned char *to, const SchemaFrame *frame) {
    bool ok = true;
    switch (f->kind) {
    case SCHEMA_RECORD: {
        const Schema *of = f->of();
        const uint64_t n = schema_count(f, frame);
        for (uint64_t i = 0; ok && !of->plain && i < n && i < f->n; i++)
            ok = copy_record(c, of, from + i * of->n_bytes, to + i * of->n_bytes, frame);
        return ok;
    }
    case SCHEMA_TEXT:
    case SCHEMA_ONE:
    case SCHEMA_LIST:
    case SCHEMA_BYTES:
    case SCHEMA_ARGUMENTS: return copy_pointer(c, f, from, to, frame);
    case SCHEMA_CODE:
    case SCHEMA_TEXTURE:
    case SCHEMA_MEMORY:
    case SCHEMA_LIVE:
    case SCHEMA_CONTEXT:
    case SCHEMA_HOST: return !c->visit || c->visit(c->context, f, from, to, schema_count(f, frame));
    default: return true;
    }
}

// The bytes are copied already.
static bool copy_record(SchemaCopy *c, const Schema *schema, const unsigned char *from,
                        unsigned char *to, const SchemaFrame *outer) {
    const SchemaFrame frame = {from, outer};
    bool there = true, ok = true;
    for (size_t i = 0; ok && i < schema->n_fields; i++) {
        const SchemaField *f = &schema->fields[i];
        if (f->kind == SCHEMA_WHEN)
            there = there && schema_count(f, &frame);
        else if (schema_is_mark(f))
            continue;
        else if (there)
            ok = copy_field(c, f, from + f->offset, to + f->offset, &frame);
        else
            memset(to + f->offset, 0, f->n_bytes); // whatever it points to is not looked at
    }
    return ok;
}

bool schema_copy(SchemaOf *of, void *to, const void *from, SchemaCopy *c) {
    const Schema *schema = of();
    memcpy(to, from, schema->n_bytes);
    return schema->plain || copy_record(c, schema, from, to, NULL);
}

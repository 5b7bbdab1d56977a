// SPDX-License-Identifier: Apache-2.0
// schema.h: what is in a record of the device table, field by field, said once (records.c) for all
// who take records apart: captures write and read them as bytes, replays and isolated devices copy
// them with all that they point to, and what another process wrote is checked. The order of the
// rows is the order of the bytes in a capture. docs/internals/recipe-record.md adds one.
//
// Readers trust nothing: counts are held against the bytes that are left, numbers against their
// limits, and a record against what must hold between its fields (Schema.check).
#ifndef INGOT_DEVICE_SCHEMA_H
#define INGOT_DEVICE_SCHEMA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "base/wire.h"

typedef struct Schema Schema;
typedef const Schema *SchemaOf(void);

typedef struct SchemaFrame { // a record under way, and the one that it is a part of
    const void *record;
    const struct SchemaFrame *outer;
} SchemaFrame;
typedef uint64_t SchemaCount(const SchemaFrame *frame);

typedef enum SchemaKind {
    // Numbers, n in a row; flags, floats and sizes are the numbers of their width.
    SCHEMA_U8,
    SCHEMA_U16, // 32 bits in a capture
    SCHEMA_U32,
    SCHEMA_U64,
    SCHEMA_RAW,       // n bytes
    SCHEMA_CHARS,     // text in the record; its zero is among the n bytes
    SCHEMA_RECORD,    // n records; with a count: the first of them
    SCHEMA_TEXT,      // a pointer: to a string,
    SCHEMA_ONE,       // to a record, or NULL,
    SCHEMA_LIST,      // to as many records as are counted
    SCHEMA_BYTES,     // or bytes
    SCHEMA_ARGUMENTS, // or arguments: addresses, handles, numbers
    // Objects. A capture has their numbers, or addresses of the captured program.
    SCHEMA_CODE,    // DevCode *
    SCHEMA_TEXTURE, // AbiTexture *
    SCHEMA_MEMORY,  // device memory: as many bytes as are counted, or 1 at least
    // Marks between fields: the rows behind
    SCHEMA_WHEN,  // are there if their count is not 0
    SCHEMA_SINCE, // are in captures of version `most` and later
    // In no capture
    SCHEMA_LIVE,    // AbiLive *
    SCHEMA_CONTEXT, // of reports
    SCHEMA_HOST,    // means something in the host's process alone
    SCHEMA_KEPT,    // any other
} SchemaKind;

typedef struct SchemaField {
    SchemaKind kind;
    bool local;  // in no capture
    bool maybe;  // a list: a flag says first whether it is there
    bool writes; // memory: it is written
    uint32_t offset, n, n_bytes;
    uint64_t most; // of numbers
    SchemaOf *of;
    // How many there are: a field of the record says it, or a function; neither: n.
    uint32_t count_at, count_bytes;
    SchemaCount *count;
} SchemaField;

struct Schema {
    const char *name;
    size_t n_bytes, align; // of the struct
    const SchemaField *fields;
    size_t n_fields;
    bool plain;                        // it has nothing but numbers: a copy of its bytes is a copy
    bool (*check)(const void *record); // after reading; NULL: there is nothing more to check
};

static inline uint64_t schema_count(const SchemaField *f, const SchemaFrame *frame) {
    uint64_t n = 0;
    if (f->count) return f->count(frame);
    if (!f->count_bytes) return f->n;
    memcpy(&n, (const char *)frame->record + f->count_at, f->count_bytes);
    return n;
}
static inline bool schema_is_mark(const SchemaField *field) {
    return field->kind == SCHEMA_WHEN || field->kind == SCHEMA_SINCE;
}

// ---- Bytes ----

void schema_put(SchemaOf *of, const void *record, WireOut *out);
// The record is zero before, and stays so where a capture of that version has nothing. What it
// points to is of the arena. On failure `in` is failed.
void schema_get(SchemaOf *of, void *record, WireIn *in, uint32_t version, BaseArena *arena);

// ---- Records that another process wrote ----

// Of a copy that nobody else can write: all numbers are within their limits. Texts in it have an
// end afterwards.
bool schema_holds(SchemaOf *of, void *record);

// ---- Copies ----

typedef struct SchemaCopy {
    void *context;
    void *(*take)(void *context, size_t n_bytes); // memory for the copy; NULL: none
    // Each object, and each list of arguments: `to` holds what `from` does, and may be changed. n:
    // bytes of memory, number of arguments. False: the copy ends, and has failed. NULL: they stay.
    bool (*visit)(void *context, const SchemaField *field, const void *from, void *to, uint64_t n);
    // What each field led to last: draws of a pass share most of it.
    struct SchemaSeen {
        const SchemaField *field;
        const void *from;
        void *to;
    } seen[12];
} SchemaCopy;
// A pointer in a record that a visitor is shown.
static inline void *schema_pointer(const void *field) {
    void *pointer;
    memcpy(&pointer, field, sizeof pointer);
    return pointer;
}
static inline void schema_point(void *field, const void *pointer) {
    memcpy(field, &pointer, sizeof pointer);
}
// A copy with all that it points to. Nothing is read back from where the copy lies: another process
// may write there. False: no memory, or the visitor's word.
bool schema_copy(SchemaOf *of, void *to, const void *from, SchemaCopy *copy);
#endif

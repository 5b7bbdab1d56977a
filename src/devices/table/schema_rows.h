// SPDX-License-Identifier: Apache-2.0
// schema_rows.h: how a schema is written down.
//
//     SCHEMA(DevScissor, .plain = true, U32(x, 65536), U32(y, 65536), ...);
//
// defines schema_DevScissor(); a field of another width than its row says does not compile.
#ifndef INGOT_DEVICE_SCHEMA_ROWS_H
#define INGOT_DEVICE_SCHEMA_ROWS_H
#include "devices/table/schema.h"

// In a function, so that rows find the struct under one name.
#define SCHEMA_AS(schema_name, type, how, ...)                                                     \
    const Schema *schema_name(void) {                                                              \
        typedef type Record;                                                                       \
        static const SchemaField fields[] = {__VA_ARGS__};                                         \
        static const Schema schema = {.name = #type,                                               \
                                      .n_bytes = sizeof(Record),                                   \
                                      .align = _Alignof(Record),                                   \
                                      .fields = fields,                                            \
                                      .n_fields = sizeof fields / sizeof *fields,                  \
                                      how};                                                        \
        return &schema;                                                                            \
    }                                                                                              \
    _Static_assert(sizeof(type) > 0, "a semicolon follows")
#define SCHEMA(type, how, ...) SCHEMA_AS(schema_##type, type, how, __VA_ARGS__)

#define SCHEMA_SIZE(field) sizeof(((Record *)0)->field)
// The offset; the width of n items is checked.
#define SCHEMA_AT(field, item, n)                                                                  \
    (offsetof(Record, field) + 0 * sizeof(char[SCHEMA_SIZE(field) == (item) * (n) ? 1 : -1]))
#define SCHEMA_ROW(k, field, item, items, ...)                                                     \
    {.kind = (k),                                                                                  \
     .offset = SCHEMA_AT(field, item, items),                                                      \
     .n = (items),                                                                                 \
     .n_bytes = SCHEMA_SIZE(field),                                                                \
     __VA_ARGS__}
#define SCHEMA_POINTER(k, field, ...) SCHEMA_ROW(k, field, sizeof(void *), 1, __VA_ARGS__)

// Numbers: a limit, which is allowed. An S: so many of them.
#define U8(field, limit) SCHEMA_ROW(SCHEMA_U8, field, 1, 1, .most = (limit))
#define FLAG(field) U8(field, 1)
#define U8S(field, n, limit) SCHEMA_ROW(SCHEMA_U8, field, 1, n, .most = (limit))
#define U16(field, limit) SCHEMA_ROW(SCHEMA_U16, field, 2, 1, .most = (limit))
#define U32(field, limit) SCHEMA_ROW(SCHEMA_U32, field, 4, 1, .most = (limit))
#define U32S(field, n, limit) SCHEMA_ROW(SCHEMA_U32, field, 4, n, .most = (limit))
#define WORD(field) U32(field, UINT32_MAX)
#define WORDS(field, n) U32S(field, n, UINT32_MAX)
#define U64(field) SCHEMA_ROW(SCHEMA_U64, field, 8, 1, .most = UINT64_MAX)
#define U64S(field, n) SCHEMA_ROW(SCHEMA_U64, field, 8, n, .most = UINT64_MAX)
#define F32(field) WORD(field)
#define F32S(field, n) WORDS(field, n)
#define F64(field) U64(field)
#define F64S(field, n) U64S(field, n)
#define RAW(field) SCHEMA_ROW(SCHEMA_RAW, field, 1, SCHEMA_SIZE(field), .most = 0)
#define CHARS(field) SCHEMA_ROW(SCHEMA_CHARS, field, 1, SCHEMA_SIZE(field), .most = 0)

// Records in the record: one, n, or the first of n. Counts are fields of the record; BY a function
// where it ends so.
#define SCHEMA_BY(field) .count_at = offsetof(Record, field), .count_bytes = SCHEMA_SIZE(field)
#define FIRST(field, type, n, counted)                                                             \
    SCHEMA_ROW(SCHEMA_RECORD, field, sizeof(type), n, .of = schema_##type, SCHEMA_BY(counted))
#define RECORDS(field, type, n)                                                                    \
    SCHEMA_ROW(SCHEMA_RECORD, field, sizeof(type), n, .of = schema_##type)
#define RECORD(field, type) RECORDS(field, type, 1)

// Behind pointers. MAYBE: NULL is something else than none.
#define SCHEMA_ITEMS(field, type, ...)                                                             \
    SCHEMA_POINTER(SCHEMA_LIST, field, .of = schema_##type, __VA_ARGS__)
#define TEXT(field) SCHEMA_POINTER(SCHEMA_TEXT, field, .most = 0)
#define ONE(field, type) SCHEMA_POINTER(SCHEMA_ONE, field, .of = schema_##type)
#define LIST(field, type, counted) SCHEMA_ITEMS(field, type, SCHEMA_BY(counted))
#define LIST_BY(field, type, function) SCHEMA_ITEMS(field, type, .count = (function))
#define MAYBE(field, type, counted) SCHEMA_ITEMS(field, type, SCHEMA_BY(counted), .maybe = true)
#define MAYBE_BY(field, type, function)                                                            \
    SCHEMA_ITEMS(field, type, .count = (function), .maybe = true)
#define LOCAL_LIST(field, type, counted)                                                           \
    SCHEMA_ITEMS(field, type, SCHEMA_BY(counted), .local = true)
#define BYTES(field, counted) SCHEMA_POINTER(SCHEMA_BYTES, field, SCHEMA_BY(counted))
#define MAYBE_BYTES(field, counted)                                                                \
    SCHEMA_POINTER(SCHEMA_BYTES, field, SCHEMA_BY(counted), .maybe = true)
#define ARGUMENTS(field, counted)                                                                  \
    SCHEMA_POINTER(SCHEMA_ARGUMENTS, field, .of = schema_uint64_t, SCHEMA_BY(counted))

// Objects.
#define CODE(field) SCHEMA_POINTER(SCHEMA_CODE, field, .most = 0)
#define TEXTURE(field) SCHEMA_POINTER(SCHEMA_TEXTURE, field, .most = 0)
#define ADDRESS(field) SCHEMA_POINTER(SCHEMA_MEMORY, field, .most = 0) // of how much is not said
#define MEMORY(field, counted) SCHEMA_POINTER(SCHEMA_MEMORY, field, SCHEMA_BY(counted))
#define WRITTEN_BY(field, function)                                                                \
    SCHEMA_POINTER(SCHEMA_MEMORY, field, .count = (function), .writes = true)

// Marks.
#define WHEN(field) {.kind = SCHEMA_WHEN, SCHEMA_BY(field)}
#define WHEN_BY(function) {.kind = SCHEMA_WHEN, .count = (function)}
#define SINCE(version) {.kind = SCHEMA_SINCE, .most = (version)}

// In no capture.
#define SCHEMA_LOCAL(k, field) SCHEMA_ROW(k, field, SCHEMA_SIZE(field), 1, .local = true)
#define LIVE(field) SCHEMA_LOCAL(SCHEMA_LIVE, field)
#define CONTEXT(field) SCHEMA_LOCAL(SCHEMA_CONTEXT, field)
#define HOST(field) SCHEMA_LOCAL(SCHEMA_HOST, field)
#define KEPT(field) SCHEMA_LOCAL(SCHEMA_KEPT, field)

// A SchemaCount: what `expression` makes of the record r, or of those around it.
#define COUNT(name, type, expression)                                                              \
    static uint64_t name(const SchemaFrame *frame) {                                               \
        const type *r = frame->record;                                                             \
        return expression;                                                                         \
    }                                                                                              \
    _Static_assert(sizeof(type) > 0, "a semicolon follows")

extern SchemaOf schema_uint64_t, schema_uint16_t, schema_float; // items of lists
#endif

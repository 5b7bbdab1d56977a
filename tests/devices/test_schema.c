// SPDX-License-Identifier: Apache-2.0
// test_schema.c: the records of the device table as schemas. Every field has a row; bytes of
// captures of earlier versions are read, and written again as they were; a copy has nothing of what
// it was made of; bytes that end early, and numbers beyond their limits, are refused.
#include "../unit.h"
#include "devices/capture/codec_int.h"
#include "devices/capture/file_int.h"
#include "devices/isolate/isolate_int.h"
#include "devices/table/records.h"
#include "devices/table/schema_rows.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const captures[] = {"tests/tools/captures/*.ingottrace",
                                       "tests/fuzz/files/seeds/capture/*"};
static SchemaOf *const answers[] = {schema_DevFacts,  schema_IsoCopy,  schema_IsoFill,
                                    schema_IsoMove,   schema_IsoLoad,  schema_IsoMemory,
                                    schema_IsoHandle, schema_IsoViews, schema_IsoNote};

// ---- Rows ----

static size_t align_of(const SchemaField *f) {
    switch (f->kind) {
    case SCHEMA_U8:
    case SCHEMA_RAW:
    case SCHEMA_CHARS: return 1;
    case SCHEMA_U16: return 2;
    case SCHEMA_U32: return 4;
    case SCHEMA_RECORD: return f->of()->align;
    default: return 8;
    }
}

static int by_offset(const void *a, const void *b) {
    const SchemaField *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static size_t aligned(size_t at, size_t to) { return (at + to - 1) / to * to; }

// Between fields there is nothing but padding.
static void assert_covered(const Schema *s) {
    SchemaField sorted[64];
    size_t n = 0, end = 0;
    for (size_t i = 0; i < s->n_fields; i++) {
        assert_true(n < sizeof sorted / sizeof *sorted);
        if (!schema_is_mark(&s->fields[i])) sorted[n++] = s->fields[i];
    }
    qsort(sorted, n, sizeof *sorted, by_offset);
    for (size_t i = 0; i < n; i++) {
        const SchemaField *f = &sorted[i];
        const bool any = f->kind == SCHEMA_KEPT || f->kind == SCHEMA_HOST; // of whatever type
        if (any ? f->offset - end >= 8 : aligned(end, align_of(f)) != f->offset)
            fail_msg("%s: no row, or two, for bytes %zu to %u", s->name, end, f->offset);
        end = f->offset + f->n_bytes;
    }
    if (n && aligned(end, s->align) != s->n_bytes)
        fail_msg("%s: no row for bytes %zu to %zu", s->name, end, s->n_bytes);
}

static void assert_right(const Schema *s) {
    assert_covered(s);
    for (size_t i = 0; i < s->n_fields; i++) {
        const SchemaField *f = &s->fields[i];
        bool numbers = f->kind <= SCHEMA_CHARS || schema_is_mark(f) || f->kind == SCHEMA_KEPT ||
                       (f->kind == SCHEMA_RECORD && f->of()->plain);
        if (s->plain && !numbers) fail_msg("%s has more than numbers", s->name);
        if (f->of) assert_right(f->of());
    }
}

TEST(every_field_has_a_row) {
    for (unsigned kind = 0; kind < 256; kind++)
        if (cap_schema((CapKind)kind)) assert_right(cap_schema((CapKind)kind)());
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) assert_right(answers[i]());
}

// ---- Captures ----

typedef void EventFn(const CapEvent *event);

static void each_event(EventFn *fn, void (*run_done)(const char *path, size_t run)) {
    char pattern[4096], why[CAP_WHY];
    size_t n_events = 0;
    for (size_t p = 0; p < sizeof captures / sizeof *captures; p++) {
        glob_t files;
        snprintf(pattern, sizeof pattern, "%s/%s", SOURCE_ROOT, captures[p]);
        assert_int_equal(glob(pattern, 0, NULL, &files), 0);
        for (size_t i = 0; i < files.gl_pathc; i++) {
            Capture *c = cap_open(files.gl_pathv[i], why);
            if (!c) fail_msg("%s: %s", files.gl_pathv[i], why);
            for (size_t k = 0; k < cap_n_runs(c); k++) {
                CapRun run;
                if (!cap_read_run(c, k, &run, why)) fail_msg("%s: %s", files.gl_pathv[i], why);
                for (size_t e = 0; e < run.n_events; e++) fn(&run.events[e]);
                n_events += run.n_events;
                cap_run_free(&run);
                if (run_done) run_done(files.gl_pathv[i], k);
            }
            cap_close(c);
        }
        globfree(&files);
    }
    assert_true(n_events > 100);
}

static WireOut written; // of a run
static void write_event(const CapEvent *event) { cap_put_event(&written, event); }

// A chunk's head has the hash of its bytes: those that were written then are those of now.
static void compare(const char *path, size_t run) {
    unsigned char head[CAP_CHUNK_BYTES], hash[SHA256_BYTES];
    CapChunk chunk = {0};
    FILE *file = fopen(path, "rb");
    assert_int_equal(fseek(file, CAP_HEAD_BYTES, SEEK_SET), 0);
    for (size_t n = 0; n <= run; n += chunk.kind == CAP_CHUNK_RUN) {
        assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
        assert_true(cap_chunk_get(&(WireIn){head, head + sizeof head, false}, &chunk));
        assert_int_equal(fseek(file, (long)chunk.stored, SEEK_CUR), 0);
    }
    fclose(file);
    sha256(written.data, written.n_bytes, hash);
    if (memcmp(hash, chunk.hash, sizeof hash))
        fail_msg("%s: run %zu is written otherwise", path, run);
    written.n_bytes = 0;
}

TEST(captures_are_written_as_they_were) {
    each_event(write_event, compare);
    wire_free(&written);
    written = (WireOut){0};
}

// ---- Copies ----

static void *take(void *arena, size_t n_bytes) { return base_arena_alloc(arena, 1, n_bytes); }

static void copy_event(const CapEvent *event) {
    SchemaOf *of = cap_schema(event->kind);
    WireOut before = {0}, after = {0};
    BaseArena read = {0}, arena = {0};
    CapEvent again = {0}, copy = {.kind = event->kind};
    cap_put_event(&before, event);
    assert_true(cap_get_event(&(WireIn){before.data, before.data + before.n_bytes, false},
                              CAP_VERSION, &read, &again));
    assert_true(
        schema_copy(of, &copy.info, &again.info, &(SchemaCopy){.context = &arena, .take = take}));
    base_arena_free(&read); // what the copy still had of it a sanitizer would see
    memset(&again, 0x5a, sizeof again);
    cap_put_event(&after, &copy);
    assert_int_equal(before.n_bytes, after.n_bytes);
    assert_memory_equal(before.data, after.data, before.n_bytes);
    base_arena_free(&arena);
    wire_free(&before), wire_free(&after);
}

TEST(a_copy_is_whole) { each_event(copy_event, NULL); }

static void *none(void *context, size_t n_bytes) { return (void)context, (void)n_bytes, NULL; }

TEST(a_copy_without_memory_fails) {
    DevDraw draw = {.label = "label"}, copy;
    assert_false(schema_copy(schema_DevDraw, &copy, &draw, &(SchemaCopy){.take = none}));
}

static unsigned n_taken;
static void *count(void *arena, size_t n_bytes) { return n_taken++, take(arena, n_bytes); }

// Draws of a pass share their state: it is copied once.
TEST(what_draws_share_is_copied_once) {
    DevState states[2] = {{.cull = 1}, {.cull = 2}};
    DevVertexStage vertex = {0};
    DevDraw draws[4], copies[4];
    BaseArena arena = {0};
    SchemaCopy c = {.context = &arena, .take = count};
    n_taken = 0;
    for (size_t i = 0; i < 4; i++) {
        draws[i] = (DevDraw){.vertex = &vertex, .state = &states[i / 2]};
        assert_true(schema_copy(schema_DevDraw, &copies[i], &draws[i], &c));
        assert_int_equal(copies[i].state->cull, 1 + i / 2);
        assert_true(copies[i].state != draws[i].state && copies[i].vertex != &vertex);
    }
    assert_int_equal(n_taken, 3);
    base_arena_free(&arena);
}

// ---- What is refused ----

static void cut_event(const CapEvent *event) {
    WireOut out = {0};
    SchemaOf *of = cap_schema(event->kind);
    schema_put(of, &event->info, &out);
    const size_t step = out.n_bytes > 2000 ? 97 : 1;
    for (size_t n = 0; n < out.n_bytes; n += step) {
        BaseArena arena = {0};
        CapEvent cut = {0};
        unsigned char *bytes = malloc(n + 1); // of its own, for sanitizers
        memcpy(bytes, out.data, n);
        WireIn in = {bytes, bytes + n, false};
        schema_get(of, &cut.info, &in, CAP_VERSION, &arena);
        if (!in.failed) fail_msg("%s: %zu of %zu bytes are enough", of()->name, n, out.n_bytes);
        free(bytes);
        base_arena_free(&arena);
    }
    wire_free(&out);
}

TEST(bytes_that_end_early_are_refused) { each_event(cut_event, NULL); }

static bool reads(SchemaOf *of, const void *record) {
    WireOut out = {0};
    BaseArena arena = {0};
    CapEvent again = {0};
    schema_put(of, record, &out);
    WireIn in = {out.data, out.data + out.n_bytes, false};
    schema_get(of, &again.info, &in, CAP_VERSION, &arena);
    bool ok = !in.failed && in.at == in.end;
    base_arena_free(&arena);
    wire_free(&out);
    return ok;
}

TEST(numbers_beyond_their_limits_are_refused) {
    DevState s = {.cull = DEV_CULL_BACK};
    DevVertexStage vertex = {0};
    DevDraw draw = {.vertex = &vertex, .state = &s};
    assert_true(reads(schema_DevDraw, &draw));
    s.cull = DEV_CULL_BACK + 1;
    assert_false(reads(schema_DevDraw, &draw));
    s.cull = 0, s.n_viewports = DEV_MAX_VIEWPORTS + 1;
    assert_false(reads(schema_DevDraw, &draw));
    s.n_viewports = 0, draw.state = NULL; // what must hold between fields
    assert_false(reads(schema_DevDraw, &draw));
    assert_true(reads(schema_DevDispatch, &(DevDispatch){.group_size = {1, 1, 1}}));
    assert_false(reads(schema_DevDispatch, &(DevDispatch){.group_size = {1024, 1024, 1}}));
}

// ---- Versions ----

typedef struct Grown {
    uint32_t old, fresh;
} Grown;
static SCHEMA(Grown, .plain = true, WORD(old), SINCE(2), U32(fresh, 9));

// A field that came with version 2 is 0 in a capture of version 1, and checked in those of now.
TEST(fields_of_later_versions) {
    WireOut out = {0};
    Grown first = {0}, second = {0};
    schema_put(schema_Grown, &(Grown){7, 8}, &out);
    assert_int_equal(out.n_bytes, 8);
    WireIn of_1 = {out.data, out.data + 4, false}, of_2 = {out.data, out.data + 8, false};
    schema_get(schema_Grown, &first, &of_1, 1, NULL);
    schema_get(schema_Grown, &second, &of_2, 2, NULL);
    assert_true(!of_1.failed && first.old == 7 && first.fresh == 0);
    assert_true(!of_2.failed && second.old == 7 && second.fresh == 8);
    of_2 = (WireIn){out.data, out.data + 4, false};
    schema_get(schema_Grown, &second, &of_2, 2, NULL);
    assert_true(of_2.failed);
    wire_free(&out);
}

// A list of more items than there are bytes takes no memory for them.
TEST(counts_are_held_against_the_bytes) {
    WireOut out = {0};
    BaseArena arena = {0};
    DevDispatch d = {0};
    wire_u64(&out, 1), wire_u32(&out, 1 << 16), wire_u32(&out, 0);
    for (int i = 0; i < 100; i++) wire_u64(&out, 7);
    WireIn in = {out.data, out.data + out.n_bytes, false};
    schema_get(schema_DevDispatch, &d, &in, CAP_VERSION, &arena);
    assert_true(in.failed);
    assert_null(arena.chunks);
    wire_free(&out);
}

TEST(answers_of_a_child_are_checked) {
    IsoNote note = {.n_args = ISO_NOTE_ARGS};
    memset(note.text, 'A', sizeof note.text);
    memset(note.report.name, 'A', sizeof note.report.name);
    assert_true(schema_holds(schema_IsoNote, &note));
    assert_int_equal(strlen(note.text), sizeof note.text - 1);
    assert_int_equal(strlen(note.report.name), sizeof note.report.name - 1);
    note.n_args++;
    assert_false(schema_holds(schema_IsoNote, &note));
    note.n_args = 0, note.is_report = 0x01010101;
    assert_false(schema_holds(schema_IsoNote, &note));
    note.is_report = 1, note.report.other.access = ABI_N_BAD;
    assert_false(schema_holds(schema_IsoNote, &note));
    IsoLoad load = {.threadgroup_bytes = 1u << 25};
    memset(load.why, 'A', sizeof load.why);
    assert_false(schema_holds(schema_IsoLoad, &load));
    assert_int_equal(load.why[sizeof load.why - 1], 0); // also of what is not believed
}

int main(void) { return unit_run(NULL, NULL); }

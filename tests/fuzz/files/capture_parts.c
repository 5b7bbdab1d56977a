// SPDX-License-Identifier: Apache-2.0
// capture_parts.c: see capture_parts.h. The second half is libFuzzer's mutator, which changes,
// moves and removes single events.
#include "capture_parts.h"
#include "devices/capture/zstd_int.h"
#include "fuzz.h"

enum { MOST = 1 << 20, EVENT_HEAD = 5, LIBRARY_HASH_AT = 12, LIBRARY_HEAD = 12 + SHA256_BYTES };

void parts_take(Parts *p, const uint8_t *data, size_t n) {
    p->n = 0;
    for (size_t at = CAP_HEAD_BYTES; n > at && n - at >= CAP_CHUNK_BYTES && p->n < MAX_PARTS;) {
        WireIn in = {data + at, data + at + CAP_CHUNK_BYTES, false};
        Part *part = &p->parts[p->n];
        wire_get_u32(&in);
        part->kind = wire_get_u32(&in);
        uint64_t stored = wire_get_u64(&in), raw = wire_get_u64(&in);
        wire_get_u64(&in);
        wire_get_raw(&in, part->hash, SHA256_BYTES);
        if (part->kind < CAP_CHUNK_BLOCK || part->kind > CAP_CHUNK_INDEX) break;
        at += CAP_CHUNK_BYTES;
        if (stored > n - at) stored = n - at;
        bool packed = stored < raw && raw <= MOST;
        part->n = packed ? raw : stored;
        part->bytes = calloc(part->n + 1, 1);
        if (!part->bytes) break;
        if (!packed || !zstd_unpack(data + at, stored, part->bytes, raw)) {
            part->n = stored;
            memcpy(part->bytes, data + at, stored);
        }
        at += stored;
        p->n++;
    }
}

void parts_free(Parts *p) {
    for (size_t i = 0; i < p->n; i++) free(p->parts[i].bytes);
    p->n = 0;
}

Part *parts_index(Parts *p) {
    for (size_t i = 0; i < p->n; i++)
        if (p->parts[i].kind == CAP_CHUNK_INDEX) return &p->parts[i];
    return NULL;
}

size_t parts_event_end(const Part *run, size_t at) {
    if (run->n - at < EVENT_HEAD) return run->n;
    WireIn in = {run->bytes + at + 1, run->bytes + run->n, false};
    size_t n = wire_get_u32(&in);
    return n <= run->n - at - EVENT_HEAD ? at + EVENT_HEAD + n : run->n;
}

// ---- Mending ----

static void rename_hash(Parts *p, const unsigned char *old, const unsigned char *now) {
    unsigned char was[SHA256_BYTES];
    memcpy(was, old, sizeof was);
    for (size_t i = 0; i < p->n; i++) {
        Part *run = &p->parts[i];
        if (run->kind != CAP_CHUNK_RUN) continue;
        for (unsigned char *at = run->bytes, *end = at + run->n;
             (at = memmem(at, (size_t)(end - at), was, sizeof was)); at += sizeof was)
            memcpy(at, now, sizeof was);
    }
}

void parts_mend(Parts *p) {
    for (size_t i = 0; i < p->n; i++) {
        Part *b = &p->parts[i];
        unsigned char hash[SHA256_BYTES];
        if (b->kind != CAP_CHUNK_BLOCK) continue;
        if (b->n >= LIBRARY_HEAD && !memcmp(b->bytes, "INGOT", 5)) { // a library
            sha256(b->bytes + LIBRARY_HEAD, b->n - LIBRARY_HEAD, hash);
            rename_hash(p, b->bytes + LIBRARY_HASH_AT, hash);
            memcpy(b->bytes + LIBRARY_HASH_AT, hash, sizeof hash);
        }
        sha256(b->bytes, b->n, hash);
        rename_hash(p, b->hash, hash);
        memcpy(b->hash, hash, sizeof hash);
    }
}

static uint64_t n_commands(const Part *run) {
    uint64_t n = 0;
    for (size_t at = 0; at < run->n; at = parts_event_end(run, at))
        n += cap_is_command((CapKind)run->bytes[at]);
    return n;
}

static void put_chunk(WireOut *out, WireOut *index, uint32_t kind, const void *bytes, size_t n,
                      uint64_t commands) {
    CapChunk chunk = {
        .kind = kind, .at = out->n_bytes, .stored = n, .raw = n, .n_commands = commands};
    sha256(bytes, n, chunk.hash);
    cap_chunk_put(out, &chunk);
    wire_raw(out, bytes, n);
    if (index) cap_entry_put(index, &chunk);
}

void parts_write(const Parts *p, bool own_index, WireOut *out) {
    WireOut index = {0};
    wire_raw(out, CAP_MAGIC, 8);
    wire_u32(out, CAP_VERSION), wire_u32(out, 0);
    const Part *own = own_index ? parts_index((Parts *)(uintptr_t)p) : NULL;
    for (size_t i = 0; i < p->n; i++) {
        const Part *part = &p->parts[i];
        if (part->kind == CAP_CHUNK_INDEX) continue;
        put_chunk(out, &index, part->kind, part->bytes, part->n,
                  part->kind == CAP_CHUNK_RUN ? n_commands(part) : 0);
    }
    uint64_t at = out->n_bytes;
    if (own)
        put_chunk(out, NULL, CAP_CHUNK_INDEX, own->bytes, own->n, 0);
    else if (index.n_bytes)
        put_chunk(out, NULL, CAP_CHUNK_INDEX, index.data, index.n_bytes, 0);
    wire_raw(out, CAP_TAIL, 8);
    wire_u64(out, at);
    wire_free(&index);
    if (out->failed) abort();
}

// ---- Changing ----

__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);

static unsigned below(unsigned *seed, size_t n) {
    *seed = *seed * 1664525u + 1013904223u;
    return n ? (unsigned)((*seed >> 8) % n) : 0;
}

// Bytes [from, end) of a part become others.
static void replace(Part *part, size_t from, size_t end, const void *bytes, size_t n) {
    unsigned char *made = calloc(part->n - (end - from) + n + 1, 1);
    if (!made) return;
    memcpy(made, part->bytes, from);
    if (n) memcpy(made + from, bytes, n);
    memcpy(made + from + n, part->bytes + end, part->n - end);
    free(part->bytes);
    part->bytes = made;
    part->n = part->n - (end - from) + n;
}

// The beginning of some event.
static size_t some_event(const Part *run, unsigned *seed) {
    size_t n = 0, at = 0;
    for (; at < run->n; at = parts_event_end(run, at)) n++;
    n = below(seed, n);
    for (at = 0; n; n--) at = parts_event_end(run, at);
    return at;
}

static void mutate_body(Part *run, size_t at, size_t end, unsigned *seed) {
    size_t n = end - at - EVENT_HEAD, most = n + below(seed, 64) + 1;
    unsigned char *body = malloc(most + EVENT_HEAD);
    if (!body) return;
    memcpy(body, run->bytes + at, EVENT_HEAD + n);
    n = LLVMFuzzerMutate(body + EVENT_HEAD, n, most);
    for (int i = 0; i < 4; i++) body[1 + i] = (unsigned char)(n >> 8 * i);
    replace(run, at, end, body, EVENT_HEAD + n);
    free(body);
}

// Numbers and addresses of one event in another: what it speaks of is there, and is something else.
static void mix_words(Part *run, size_t at, size_t end, unsigned *seed) {
    size_t from = some_event(run, seed), from_end = parts_event_end(run, from);
    size_t n = (size_t)1 << below(seed, 6);
    if (end - at < EVENT_HEAD + n || from_end - from < EVENT_HEAD + n) return;
    size_t to = at + EVENT_HEAD + below(seed, end - at - EVENT_HEAD - n + 1);
    from += EVENT_HEAD + below(seed, from_end - from - EVENT_HEAD - n + 1);
    memmove(run->bytes + to, run->bytes + from, n);
}

static void mutate_run(Part *run, unsigned *seed) {
    static const unsigned char kinds[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                          12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                          23, 24, 64, 65, 66, 67, 68, 69, 70};
    size_t at = some_event(run, seed), end = parts_event_end(run, at);
    if (end - at < EVENT_HEAD) return;
    switch (below(seed, 8)) {
    case 0: replace(run, at, end, NULL, 0); return;
    case 1:
    case 2: { // also behind another
        size_t to = some_event(run, seed);
        unsigned char *copy = malloc(end - at);
        if (copy) memcpy(copy, run->bytes + at, end - at);
        if (copy) replace(run, to, to, copy, end - at);
        free(copy);
        return;
    }
    case 3: run->bytes[at] = kinds[below(seed, sizeof kinds)]; return;
    case 4: mix_words(run, at, end, seed); return;
    default: mutate_body(run, at, end, seed);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
    Parts p;
    WireOut out = {0};
    parts_take(&p, data, n);
    if (!p.n || below(&seed, 16) == 0) {
        parts_free(&p);
        return LLVMFuzzerMutate(data, n, max);
    }
    Part *part = &p.parts[below(&seed, p.n)];
    for (size_t i = below(&seed, 4) ? 0 : p.n; i < p.n; i++) // runs more often
        if (p.parts[i].kind == CAP_CHUNK_RUN && (part->kind != CAP_CHUNK_RUN || below(&seed, 2)))
            part = &p.parts[i];
    for (unsigned k = 1 + below(&seed, 3); k--;) {
        if (part->kind == CAP_CHUNK_RUN && part->n) {
            mutate_run(part, &seed);
        } else {
            size_t most = part->n + 64;
            unsigned char *bytes = malloc(most);
            if (!bytes) break;
            memcpy(bytes, part->bytes, part->n);
            replace(part, 0, part->n, bytes, LLVMFuzzerMutate(bytes, part->n, most));
            free(bytes);
        }
    }
    parts_mend(&p);
    parts_write(&p, part->kind == CAP_CHUNK_INDEX, &out);
    parts_free(&p);
    if (out.n_bytes <= max) n = out.n_bytes, memcpy(data, out.data, n);
    wire_free(&out);
    return n;
}

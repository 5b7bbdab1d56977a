// SPDX-License-Identifier: Apache-2.0
// file.c: reading a capture (capture.h). The file is mapped; opening reads the index, or walks from
// head to head of chunks where there is none. Contents are read, and checked, when they are asked
// for.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "devices/capture/codec_int.h"
#include "devices/capture/file_int.h"
#include "devices/capture/zstd_int.h"

typedef struct Block {
    HashNode node;
    CapChunk chunk;
} Block;

typedef struct Run {
    CapChunk chunk;
    uint64_t first_command;
} Run;

struct Capture {
    const unsigned char *bytes;
    size_t n_bytes;
    bool is_cut;
    int error; // why it could not be written to its end
    uint32_t version;
    Run *runs;
    size_t n_runs, runs_capacity;
    uint64_t n_commands;
    HashTable blocks;
    BaseArena arena; // of the blocks' records
};

static bool say(char why[CAP_WHY], const char *text) {
    snprintf(why, CAP_WHY, "%s", text);
    return false;
}

// ---- Chunks ----

static bool inside(const Capture *c, const CapChunk *chunk) {
    return chunk->at >= CAP_HEAD_BYTES && chunk->at <= c->n_bytes &&
           c->n_bytes - chunk->at >= CAP_CHUNK_BYTES &&
           c->n_bytes - chunk->at - CAP_CHUNK_BYTES >= chunk->stored;
}

// The raw bytes of a chunk, into `to`.
static bool unpack(const Capture *c, const CapChunk *chunk, void *to, char why[CAP_WHY]) {
    const unsigned char *from = c->bytes + chunk->at + CAP_CHUNK_BYTES;
    if (chunk->stored == chunk->raw)
        memcpy(to, from, chunk->raw);
    else if (!zstd_is_there())
        return say(why, "it is compressed, and there is no libzstd.so.1");
    else if (!zstd_unpack(from, chunk->stored, to, chunk->raw)) {
        snprintf(why, CAP_WHY, "damaged: the bytes at %llu cannot be unpacked",
                 (unsigned long long)chunk->at);
        return false;
    }
    unsigned char hash[SHA256_BYTES];
    sha256(to, chunk->raw, hash);
    if (!memcmp(hash, chunk->hash, sizeof hash)) return true;
    snprintf(why, CAP_WHY, "damaged: the bytes at %llu are not those that were written",
             (unsigned long long)chunk->at);
    return false;
}

static bool add_chunk(Capture *c, const CapChunk *chunk) {
    if (chunk->kind == CAP_CHUNK_BLOCK) {
        Block *b = base_arena_alloc(&c->arena, 1, sizeof *b);
        if (!b) return false;
        memcpy(&b->node.hash, chunk->hash, sizeof b->node.hash);
        b->chunk = *chunk;
        return hash_add(&c->blocks, &b->node);
    }
    if (chunk->kind != CAP_CHUNK_RUN) return true;
    if (!array_reserve(&c->runs, &c->runs_capacity, c->n_runs + 1)) return false;
    c->runs[c->n_runs++] = (Run){*chunk, c->n_commands};
    if (__builtin_add_overflow(c->n_commands, chunk->n_commands, &c->n_commands)) return false;
    return c->n_commands >> 48 == 0;
}

static void nothing(HashNode *node) { (void)node; } // they lie in the arena

static void drop_chunks(Capture *c) {
    hash_clear(&c->blocks, nothing);
    base_arena_free(&c->arena);
    c->n_runs = 0;
    c->n_commands = 0;
}

// ---- Opening ----

// By the index. False: there is none, or it is not good.
static bool read_index(Capture *c) {
    if (c->n_bytes < CAP_HEAD_BYTES + CAP_CHUNK_BYTES + CAP_TAIL_BYTES) return false;
    const unsigned char *tail = c->bytes + c->n_bytes - CAP_TAIL_BYTES;
    if (memcmp(tail, CAP_TAIL, 8) != 0) return false;
    WireIn in = {tail + 8, tail + CAP_TAIL_BYTES, false};
    uint64_t at = wire_get_u64(&in);
    CapChunk chunk = {.at = at, .stored = 0};
    if (!inside(c, &chunk)) return false;
    WireIn head = {c->bytes + at, c->bytes + at + CAP_CHUNK_BYTES, false};
    if (!cap_chunk_get(&head, &chunk) || chunk.kind != CAP_CHUNK_INDEX) return false;
    chunk.at = at;
    char why[CAP_WHY];
    // An index of a file of so many bytes has no more entries than heads would fit into it.
    if (!inside(c, &chunk) || chunk.raw > c->n_bytes) return false;
    unsigned char *index = malloc(chunk.raw);
    bool ok = index && unpack(c, &chunk, index, why);
    WireIn entries = {index, index + (ok ? chunk.raw : 0), false};
    while (ok && entries.at < entries.end) {
        ok = cap_entry_get(&entries, &chunk) && inside(c, &chunk) && add_chunk(c, &chunk);
    }
    free(index);
    return ok;
}

// From head to head, up to the first that is not whole.
static bool walk(Capture *c) {
    uint64_t at = CAP_HEAD_BYTES;
    while (c->n_bytes - at >= CAP_CHUNK_BYTES) {
        CapChunk chunk;
        WireIn in = {c->bytes + at, c->bytes + at + CAP_CHUNK_BYTES, false};
        if (!cap_chunk_get(&in, &chunk)) break;
        chunk.at = at;
        if (!inside(c, &chunk)) break;
        if (!add_chunk(c, &chunk)) return false;
        at += CAP_CHUNK_BYTES + chunk.stored;
    }
    c->is_cut = true;
    return true;
}

static bool check_head(Capture *c, char why[CAP_WHY]) {
    if (c->n_bytes < CAP_HEAD_BYTES || memcmp(c->bytes, CAP_MAGIC, 8) != 0)
        return say(why, "it is no capture");
    WireIn in = {c->bytes + 8, c->bytes + CAP_HEAD_BYTES, false};
    c->version = wire_get_u32(&in);
    c->error = (int)wire_get_u32(&in);
    if (c->version && c->version <= CAP_VERSION) return true;
    snprintf(why, CAP_WHY, "it is a capture of version %u, and this Ingot reads up to version %u",
             c->version, CAP_VERSION);
    return false;
}

static bool map(Capture *c, const char *path, char why[CAP_WHY]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st = {0};
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    if (!ok) say(why, strerror(errno));
    if (ok && !S_ISREG(st.st_mode)) ok = say(why, "it is not a plain file");
    if (ok && st.st_size < CAP_HEAD_BYTES) ok = say(why, "it is no capture");
    if (ok) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            ok = say(why, strerror(errno));
        else
            c->bytes = bytes, c->n_bytes = (size_t)st.st_size;
    }
    if (fd >= 0) close(fd);
    return ok;
}

Capture *cap_open(const char *path, char why[CAP_WHY]) {
    Capture *c = calloc(1, sizeof *c);
    if (!c) {
        say(why, "out of memory");
        return NULL;
    }
    bool ok = map(c, path, why) && check_head(c, why);
    if (ok && !read_index(c)) {
        drop_chunks(c);
        ok = walk(c) || say(why, "damaged, or there is not enough memory");
    }
    if (ok && !c->n_runs)
        ok = say(why, c->error ? strerror(c->error) : "it holds no command buffer");
    if (ok) return c;
    cap_close(c);
    return NULL;
}

void cap_close(Capture *c) {
    if (!c) return;
    if (c->bytes) munmap((void *)(uintptr_t)c->bytes, c->n_bytes);
    hash_clear(&c->blocks, nothing);
    base_arena_free(&c->arena);
    free(c->runs);
    free(c);
}

bool cap_is_cut(const Capture *c) { return c->is_cut; }
const char *cap_why_cut(const Capture *c) { return c->error ? strerror(c->error) : NULL; }
size_t cap_n_runs(const Capture *c) { return c->n_runs; }
uint64_t cap_n_commands(const Capture *c) { return c->n_commands; }
uint64_t cap_n_bytes(const Capture *c) { return c->n_bytes; }
uint64_t cap_first_command(const Capture *c, size_t run) { return c->runs[run].first_command; }

size_t cap_run_of(const Capture *c, uint64_t command) {
    if (command >= c->n_commands) return SIZE_MAX;
    size_t low = 0, high = c->n_runs; // the last whose first is not beyond it
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->runs[middle].first_command <= command)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// ---- Reading ----

bool cap_read_block(const Capture *c, const unsigned char hash[SHA256_BYTES], void *to,
                    size_t n_bytes, char why[CAP_WHY]) {
    uint64_t key;
    memcpy(&key, hash, sizeof key);
    for (HashNode *n = hash_chain(&c->blocks, key); n; n = n->next) {
        const CapChunk *chunk = &((Block *)n)->chunk;
        if (n->hash != key || memcmp(chunk->hash, hash, SHA256_BYTES) != 0) continue;
        if (chunk->raw != n_bytes) return say(why, "damaged: a block has another length");
        return unpack(c, chunk, to, why);
    }
    return say(why, "damaged: a block of contents is not there");
}

// Events into a growing array; the number of commands is what the chunk says.
static bool decode(uint32_t version, const Run *from, const unsigned char *bytes, CapRun *run,
                   char why[CAP_WHY]) {
    WireIn in = {bytes, bytes + from->chunk.raw, false};
    size_t capacity = 0;
    uint64_t n_commands = 0;
    while (in.at < in.end) {
        if (!array_reserve(&run->events, &capacity, run->n_events + 1))
            return say(why, "out of memory");
        CapEvent *e = &run->events[run->n_events];
        if (!cap_get_event(&in, version, &run->arena, e)) {
            snprintf(why, CAP_WHY,
                     "damaged: event %zu of a command buffer makes no sense (kind %d)",
                     run->n_events, (int)e->kind);
            return false;
        }
        if (cap_is_command(e->kind)) e->command = from->first_command + n_commands++;
        run->n_events++;
    }
    if (n_commands != from->chunk.n_commands)
        return say(why, "damaged: a command buffer has another number of commands");
    return true;
}

bool cap_read_run(const Capture *c, size_t index, CapRun *run, char why[CAP_WHY]) {
    const Run *from = &c->runs[index];
    *run = (CapRun){0};
    unsigned char *bytes = malloc(from->chunk.raw);
    bool ok = bytes || say(why, "out of memory");
    ok = ok && unpack(c, &from->chunk, bytes, why) && decode(c->version, from, bytes, run, why);
    free(bytes);
    if (!ok) cap_run_free(run);
    return ok;
}

void cap_run_free(CapRun *run) {
    free(run->events);
    base_arena_free(&run->arena);
    *run = (CapRun){0};
}

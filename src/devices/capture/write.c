// SPDX-License-Identifier: Apache-2.0
// write.c: writing a capture. Chunks are appended and never touched again: whatever ends the
// program, what was written before is whole. When the disk is full the file is cut after the last
// run, and nothing more is written: the program goes on.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/files.h"
#include "devices/capture/file_int.h"
#include "devices/capture/zstd_int.h"

typedef struct Stored {
    HashNode node;
    unsigned char hash[SHA256_BYTES];
} Stored;

struct CapWriter {
    int fd, error;
    uint64_t at;       // end of the file
    uint64_t whole_at; // the end of the last run
    HashTable stored;  // blocks that are in the file
    CapChunk *chunks;
    size_t n_chunks, capacity, n_whole; // n_whole: when the last run was written
    unsigned char *packed;
    size_t packed_bytes;
};

static bool fail(CapWriter *w, int error) {
    if (w->error) return false;
    w->error = error ? error : EIO;
    if (ftruncate(w->fd, (off_t)w->whole_at) == 0) w->at = w->whole_at;
    w->n_chunks = w->n_whole;
    unsigned char why[4]; // over what is there: that needs no room
    for (int i = 0; i < 4; i++) why[i] = (unsigned char)((unsigned)w->error >> 8 * i);
    if (w->whole_at && pwrite(w->fd, why, sizeof why, CAP_HEAD_BYTES - 4) < 0) return false;
    return false;
}

static bool append(CapWriter *w, const void *bytes, size_t n) {
    if (w->error) return false;
    errno = 0;
    if (!write_all(w->fd, bytes, n)) return fail(w, errno);
    w->at += n;
    return true;
}

CapWriter *cap_writer_open(const char *path) {
    CapWriter *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    WireOut head = {0};
    wire_raw(&head, CAP_MAGIC, 8);
    wire_u32(&head, CAP_VERSION), wire_u32(&head, 0);
    if (w->fd < 0 || head.failed || !append(w, head.data, head.n_bytes)) {
        int e = w->error ? w->error : errno;
        if (w->fd >= 0) {
            close(w->fd);
            unlink(path);
        }
        wire_free(&head);
        free(w);
        errno = e;
        return NULL;
    }
    wire_free(&head);
    w->whole_at = w->at;
    return w;
}

int cap_writer_error(const CapWriter *w) { return w->error; }

// Room for the packed bytes behind the chunk's head.
static bool reserve(CapWriter *w, size_t n) {
    if (n <= w->packed_bytes) return true;
    unsigned char *more = realloc(w->packed, n);
    if (!more) return fail(w, ENOMEM);
    w->packed = more;
    w->packed_bytes = n;
    return true;
}

static bool remember(CapWriter *w, const CapChunk *chunk) {
    if (!array_reserve(&w->chunks, &w->capacity, w->n_chunks + 1)) return fail(w, ENOMEM);
    w->chunks[w->n_chunks++] = *chunk;
    return true;
}

// One write for head and bytes: a program that is killed leaves as little of a half as can be.
static bool put_chunk(CapWriter *w, CapChunk *chunk, const void *bytes, size_t n) {
    size_t room = zstd_bound(n);
    room = CAP_CHUNK_BYTES + (room > n ? room : n);
    if (w->error || !reserve(w, room)) return false;
    size_t packed = zstd_pack(bytes, n, w->packed + CAP_CHUNK_BYTES, room - CAP_CHUNK_BYTES);
    if (!packed || packed >= n) {
        packed = n;
        memcpy(w->packed + CAP_CHUNK_BYTES, bytes, n);
    }
    chunk->stored = packed;
    chunk->raw = n;
    chunk->at = w->at;
    WireOut head = {0};
    cap_chunk_put(&head, chunk);
    bool ok = !head.failed;
    if (ok) memcpy(w->packed, head.data, CAP_CHUNK_BYTES);
    wire_free(&head);
    if (!ok) return fail(w, ENOMEM);
    return append(w, w->packed, CAP_CHUNK_BYTES + packed) && remember(w, chunk);
}

static Stored *find_stored(const CapWriter *w, const unsigned char hash[SHA256_BYTES],
                           uint64_t key) {
    for (HashNode *n = hash_chain(&w->stored, key); n; n = n->next)
        if (n->hash == key && !memcmp(((Stored *)n)->hash, hash, SHA256_BYTES)) return (Stored *)n;
    return NULL;
}

bool cap_write_block(CapWriter *w, const void *bytes, size_t n_bytes,
                     unsigned char hash[SHA256_BYTES]) {
    uint64_t key;
    sha256(bytes, n_bytes, hash);
    memcpy(&key, hash, sizeof key);
    if (find_stored(w, hash, key)) return true;
    CapChunk chunk = {.kind = CAP_CHUNK_BLOCK};
    memcpy(chunk.hash, hash, SHA256_BYTES);
    if (!put_chunk(w, &chunk, bytes, n_bytes)) return false;
    Stored *s = malloc(sizeof *s);
    if (!s) return fail(w, ENOMEM);
    s->node.hash = key;
    memcpy(s->hash, hash, SHA256_BYTES);
    if (hash_add(&w->stored, &s->node)) return true;
    free(s);
    return fail(w, ENOMEM);
}

bool cap_write_run(CapWriter *w, const void *events, size_t n_bytes, uint64_t n_commands) {
    CapChunk chunk = {.kind = CAP_CHUNK_RUN, .n_commands = n_commands};
    sha256(events, n_bytes, chunk.hash);
    if (!put_chunk(w, &chunk, events, n_bytes)) return false;
    w->whole_at = w->at;
    w->n_whole = w->n_chunks;
    return true;
}

static void free_stored(HashNode *node) { free(node); }

void cap_writer_forget(CapWriter *w) {
    hash_clear(&w->stored, free_stored);
    free(w->chunks);
    free(w->packed);
    close(w->fd);
    free(w);
}

void cap_writer_close(CapWriter *w) {
    WireOut index = {0}, tail = {0};
    CapChunk chunk = {.kind = CAP_CHUNK_INDEX};
    for (size_t i = 0; i < w->n_chunks; i++) cap_entry_put(&index, &w->chunks[i]);
    uint64_t at = w->at;
    wire_raw(&tail, CAP_TAIL, 8);
    wire_u64(&tail, at);
    if (!w->error && !index.failed && !tail.failed && index.n_bytes) {
        sha256(index.data, index.n_bytes, chunk.hash);
        if (put_chunk(w, &chunk, index.data, index.n_bytes)) append(w, tail.data, tail.n_bytes);
    }
    wire_free(&index);
    wire_free(&tail);
    cap_writer_forget(w);
}

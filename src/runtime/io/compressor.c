// SPDX-License-Identifier: Apache-2.0
// compressor.c: writing compressed files. The file is written under a temporary name and renamed at
// the end, so that no partial file is ever visible.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "runtime/io/codec_int.h"

#define DEFAULT_CHUNK ((size_t)64 << 10)

struct MTLIOCompressionContextState {
    const RtCodec *codec;
    RtIoHeader header;
    char *path, *unfinished; // the name it gets, the name it has
    int descriptor;
    unsigned char *chunk, *packed; // header.chunk_bytes, codec->bound of that
    size_t used, packed_bytes;
    uint64_t at; // in the file
    uint64_t *offsets;
    size_t offsets_capacity;
    bool failed;
};

static _Thread_local char failure[RT_IO_WHY];

const char *mtl_io_compression_context_failure(void) { return failure; }

size_t mtl_io_compression_context_default_chunk_size(void) { return DEFAULT_CHUNK; }

static void destroy(MTLIOCompressionContext c) {
    if (c->descriptor >= 0) close(c->descriptor);
    if (c->unfinished && c->descriptor >= 0) unlink(c->unfinished);
    rt_free(c->path), rt_free(c->unfinished), rt_free(c->chunk), rt_free(c->packed);
    rt_free(c->offsets);
    rt_free(c);
}

static bool write_out(MTLIOCompressionContext c, const void *bytes, size_t n) {
    if (!write_all(c->descriptor, bytes, n)) {
        snprintf(failure, sizeof failure, "%s: %s", c->path, strerror(errno));
        c->failed = true;
    }
    c->at += n;
    return !c->failed;
}

static bool prepare(MTLIOCompressionContext c, const char *path) {
    size_t n = strlen(path) + 8;
    c->path = rt_strdup(path);
    c->unfinished = rt_alloc(n);
    c->chunk = rt_alloc(c->header.chunk_bytes);
    c->packed = rt_alloc(c->packed_bytes = c->codec->bound(c->header.chunk_bytes));
    if (!c->path || !c->unfinished || !c->chunk || !c->packed) {
        snprintf(failure, sizeof failure, "no memory");
        return false;
    }
    snprintf(c->unfinished, n, "%s.XXXXXX", path);
    c->descriptor = mkstemp(c->unfinished);
    if (c->descriptor < 0) {
        snprintf(failure, sizeof failure, "%s: %s", path, strerror(errno));
        return false;
    }
    return write_out(c, &c->header, sizeof c->header); // again, with its numbers, at the end
}

MTLIOCompressionContext mtl_io_create_compression_context(const char *path,
                                                          MTLIOCompressionMethod method,
                                                          size_t chunk_size) {
    failure[0] = '\0';
    if (!path || chunk_size > RT_IO_MAX_CHUNK) {
        snprintf(failure, sizeof failure, path ? "chunks have at most 2^30 bytes" : "no path");
        return NULL;
    }
    const RtCodec *codec = rt_codec(method, failure);
    if (!codec) return NULL;
    MTLIOCompressionContext c = rt_alloc(sizeof *c);
    if (!c) return NULL;
    c->codec = codec;
    c->descriptor = -1;
    c->header = (RtIoHeader){.magic = RT_IO_MAGIC,
                             .method = (uint64_t)method,
                             .chunk_bytes = chunk_size ? chunk_size : DEFAULT_CHUNK};
    if (prepare(c, path)) return c;
    destroy(c);
    return NULL;
}

static bool write_chunk(MTLIOCompressionContext c) {
    size_t n = c->codec->compress(c->chunk, c->used, c->packed, c->packed_bytes);
    bool smaller = n > 0 && n < c->used;
    if (!rt_grow(&c->offsets, &c->offsets_capacity, c->header.n_chunks + 2, sizeof *c->offsets)) {
        snprintf(failure, sizeof failure, "no memory");
        c->failed = true;
        return false;
    }
    c->offsets[c->header.n_chunks++] = c->at;
    if (!write_out(c, smaller ? c->packed : c->chunk, smaller ? n : c->used)) return false;
    c->offsets[c->header.n_chunks] = c->at;
    c->header.n_bytes += c->used;
    c->used = 0;
    return true;
}

void mtl_io_compression_context_append_data(MTLIOCompressionContext c, const void *data,
                                            size_t size) {
    if (!c || (size && !data)) return;
    const unsigned char *from = data;
    while (size && !c->failed) {
        size_t room = c->header.chunk_bytes - c->used, n = size < room ? size : room;
        memcpy(c->chunk + c->used, from, n);
        c->used += n;
        from += n;
        size -= n;
        if (c->used == c->header.chunk_bytes) write_chunk(c);
    }
}

MTLIOCompressionStatus mtl_io_flush_and_destroy_compression_context(MTLIOCompressionContext c) {
    if (!c) return MTLIOCompressionStatusError;
    if (!c->failed && c->used) write_chunk(c);
    c->header.table_at = c->at;
    if (!c->failed && c->header.n_chunks)
        write_out(c, c->offsets, (c->header.n_chunks + 1) * sizeof *c->offsets);
    bool ok = !c->failed && lseek(c->descriptor, 0, SEEK_SET) == 0 &&
              write_out(c, &c->header, sizeof c->header) && rename(c->unfinished, c->path) == 0;
    if (ok) {
        close(c->descriptor);
        c->descriptor = -1; // and the file stays
    } else if (!failure[0]) {
        snprintf(failure, sizeof failure, "%s: %s", c->path, strerror(errno));
    }
    destroy(c);
    return ok ? MTLIOCompressionStatusComplete : MTLIOCompressionStatusError;
}

// SPDX-License-Identifier: Apache-2.0
// file.c: MTLIOFileHandle. Nothing in a compressed file is trusted before it is checked: offsets
// when it is opened, chunks when they are expanded.
#include "runtime/io/file_int.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/object/error.h"
#include "runtime/object/validation.h"

static void file_destroy(void *self) {
    MTLIOFileHandle *file = self;
    if (file->descriptor >= 0) close(file->descriptor);
    rt_free(file->path);
    rt_free(file->offsets);
    rt_label_free(&file->label);
    rt_free(file);
}

RT_CLASS rt_io_file_class = {.name = "MTLIOFileHandle",
                             .destroy = file_destroy,
                             .label_at = offsetof(MTLIOFileHandle, label)};

// ---- Reading ----

static bool read_at(const MTLIOFileHandle *file, uint64_t offset, void *to, size_t n_bytes,
                    char why[RT_IO_WHY]) {
    for (char *at = to; n_bytes;) {
        ssize_t n = pread(file->descriptor, at, n_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            snprintf(why, RT_IO_WHY, "%s: %s", file->path,
                     n ? strerror(errno) : "the file ends before the load does");
            return false;
        }
        at += n;
        offset += (uint64_t)n;
        n_bytes -= (size_t)n;
    }
    return true;
}

static size_t chunk_bytes(const MTLIOFileHandle *file, uint64_t i) { // expanded
    uint64_t left = file->header.n_bytes - i * file->header.chunk_bytes;
    return left < file->header.chunk_bytes ? left : file->header.chunk_bytes;
}

static bool read_chunk(const MTLIOFileHandle *file, uint64_t i, unsigned char *to,
                       unsigned char *packed, char why[RT_IO_WHY]) {
    size_t n = chunk_bytes(file, i), n_packed = file->offsets[i + 1] - file->offsets[i];
    if (n_packed == n) return read_at(file, file->offsets[i], to, n, why);
    if (!read_at(file, file->offsets[i], packed, n_packed, why)) return false;
    if (file->codec->expand(packed, n_packed, to, n)) return true;
    snprintf(why, RT_IO_WHY, "%s: chunk %" PRIu64 " is damaged", file->path, i);
    return false;
}

size_t rt_io_scratch_bytes(const MTLIOFileHandle *file) {
    return file->codec ? 2 * file->header.chunk_bytes : 0;
}

bool rt_io_read(const MTLIOFileHandle *file, uint64_t offset, void *to, size_t n_bytes,
                const RtIoScratch *scratch, char why[RT_IO_WHY]) {
    if (!file->codec) return read_at(file, offset, to, n_bytes, why);
    if (offset > file->header.n_bytes || n_bytes > file->header.n_bytes - offset) {
        snprintf(why, RT_IO_WHY, "%s: the load ends at %" PRIu64 ", the file at %" PRIu64,
                 file->path, offset + n_bytes, file->header.n_bytes);
        return false;
    }
    unsigned char *packed = scratch->bytes, *whole = packed + file->header.chunk_bytes;
    for (unsigned char *at = to; n_bytes;) {
        uint64_t i = offset / file->header.chunk_bytes, skip = offset % file->header.chunk_bytes;
        size_t has = chunk_bytes(file, i), n = has - skip < n_bytes ? has - skip : n_bytes;
        bool all = n == has; // straight to where it goes
        if (!read_chunk(file, i, all ? at : whole, packed, why)) return false;
        if (!all) memcpy(at, whole + skip, n);
        at += n;
        offset += n;
        n_bytes -= n;
    }
    return true;
}

// ---- Opening ----

static bool valid_table(const MTLIOFileHandle *file) {
    const RtIoHeader *h = &file->header;
    if (file->offsets[0] < sizeof *h || file->offsets[h->n_chunks] > h->table_at) return false;
    for (uint64_t i = 0; i < h->n_chunks; i++) {
        uint64_t from = file->offsets[i], to = file->offsets[i + 1];
        if (to <= from || to - from > chunk_bytes(file, i)) return false;
    }
    return true;
}

static bool read_header(MTLIOFileHandle *file, MTLIOCompressionMethod method, uint64_t file_bytes,
                        char why[RT_IO_WHY]) {
    RtIoHeader *h = &file->header;
    if (file_bytes < sizeof *h || !read_at(file, 0, h, sizeof *h, why) || h->magic != RT_IO_MAGIC) {
        snprintf(why, RT_IO_WHY, "%s was not written by a compression context", file->path);
        return false;
    }
    if (h->method != (uint64_t)method) {
        char other[RT_IO_WHY];
        const RtCodec *codec = h->method <= MTLIOCompressionMethodLZBitmap
                                   ? rt_codec((MTLIOCompressionMethod)h->method, other)
                                   : NULL;
        snprintf(why, RT_IO_WHY, "%s is not compressed with %s but with %s", file->path,
                 file->codec->name, codec ? codec->name : "something else");
        return false;
    }
    snprintf(why, RT_IO_WHY, "%s is damaged", file->path);
    if (h->chunk_bytes == 0 || h->chunk_bytes > RT_IO_MAX_CHUNK ||
        h->n_chunks != h->n_bytes / h->chunk_bytes + (h->n_bytes % h->chunk_bytes != 0) ||
        h->table_at < sizeof *h || h->table_at > file_bytes ||
        h->n_chunks > (file_bytes - h->table_at) / sizeof *file->offsets)
        return false;
    if (h->n_chunks == 0) return true;
    size_t n = (h->n_chunks + 1) * sizeof *file->offsets;
    if (n > file_bytes - h->table_at) return false;
    file->offsets = rt_alloc(n);
    return file->offsets && read_at(file, h->table_at, file->offsets, n, why) && valid_table(file);
}

static MTLIOFileHandle *open_file(MTLDevice *device, const char *path, bool compressed,
                                  MTLIOCompressionMethod method, MTLError **error,
                                  const char *call) {
    char why[RT_IO_WHY] = "";
    const RtCodec *codec = NULL;
    if (!device || !path) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, call, "path");
        rt_error_set(error, rt_error_new(MTLIOErrorDomain, MTLIOErrorURLInvalid, "No path."));
        return NULL;
    }
    if (compressed && !(codec = rt_codec(method, why))) {
        rt_error_set(error, rt_error_new(MTLIOErrorDomain, MTLIOErrorInternal, "%s.", why));
        return NULL;
    }
    MTLIOFileHandle *file = rt_new(&rt_io_file_class, sizeof *file);
    if (!file) {
        rt_error_set(error, NULL);
        return NULL;
    }
    struct stat s;
    file->codec = codec;
    file->path = rt_strdup(path);
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool there = file->path && file->descriptor >= 0 && fstat(file->descriptor, &s) == 0;
    if (there && S_ISDIR(s.st_mode)) {
        errno = EISDIR;
        there = false;
    }
    if (!there)
        rt_error_set(error, rt_error_new(MTLIOErrorDomain, MTLIOErrorURLInvalid, "%s: %s.", path,
                                         strerror(errno)));
    else if (!codec || read_header(file, method, (uint64_t)s.st_size, why))
        return file;
    else
        rt_error_set(error, rt_error_new(MTLIOErrorDomain, MTLIOErrorURLInvalid, "%s.", why));
    mtl_release(file);
    return NULL;
}

MTLIOFileHandle *mtl_device_new_io_file_handle(MTLDevice *device, const char *path,
                                               MTLError **error) {
    return open_file(device, path, false, 0, error, __func__);
}

MTLIOFileHandle *mtl_device_new_io_file_handle_with_compression_method(
    MTLDevice *device, const char *path, MTLIOCompressionMethod method, MTLError **error) {
    return open_file(device, path, true, method, error, __func__);
}

#include "accessors/io/file.inc" // plain accessors, from the table

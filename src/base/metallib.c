// SPDX-License-Identifier: Apache-2.0
// metallib.c: the container of a compiled library (see metallib.h). The checksum covers everything
// after it, so a damaged file is found before anything in it is believed.
#include "base/metallib.h"
#include "base/wire.h"
#include <stdlib.h>
#include <string.h>

enum { VERSION = 3, HEADER_BYTES = 8 + 4 + SHA256_BYTES };
static const char magic[8] = {'I', 'N', 'G', 'O', 'T', 'L', 'I', 'B'};

Blob *metallib_encode(const Metallib *lib) {
    WireOut w = {0}, reflection = {0};
    for (size_t i = 0; i < sizeof magic; ++i) wire_u8(&w, (uint8_t)magic[i]);
    wire_u32(&w, VERSION);
    for (int i = 0; i < SHA256_BYTES; ++i) wire_u8(&w, 0); // filled in at the end
    wire_str(&w, lib->compiler_id);
    wire_str(&w, lib->source_name);
    wire_u32(&w, lib->math_mode);
    wire_u32(&w, lib->language_version);
    wire_str(&w, lib->log);
    wire_u32(&w, lib->library_type);
    wire_str(&w, lib->install_name);
    wire_u32(&w, lib->n_links);
    for (uint32_t i = 0; i < lib->n_links; ++i) wire_str(&w, lib->links[i]);
    wire_u32(&w, lib->n_files);
    for (uint32_t i = 0; i < lib->n_files; ++i) {
        wire_str(&w, lib->files[i].path);
        wire_bytes(&w, lib->files[i].hash, SHA256_BYTES);
    }
    rf_encode(lib->reflection, &reflection);
    wire_bytes(&w, reflection.data, reflection.n_bytes);
    wire_bytes(&w, lib->bitcode, lib->bitcode_bytes);
    bool failed = w.failed || reflection.failed;
    wire_free(&reflection);
    if (failed) {
        wire_free(&w);
        return NULL;
    }
    sha256(w.data + HEADER_BYTES, w.n_bytes - HEADER_BYTES, w.data + 12);
    return blob_take(w.data, w.n_bytes);
}

bool metallib_recognised(const void *data, size_t n) {
    return n >= sizeof magic && !memcmp(data, magic, sizeof magic);
}

static void read_links(Metallib *lib, WireIn *r) {
    uint32_t n = wire_get_u32(r);
    if (r->failed || n > (size_t)(r->end - r->at) / 8) {
        r->failed = true;
        return;
    }
    lib->links = calloc(n ? n : 1, sizeof *lib->links);
    if (!lib->links) {
        r->failed = true;
        return;
    }
    lib->n_links = n;
    for (uint32_t i = 0; i < n && !r->failed; ++i) lib->links[i] = wire_get_str(r);
}

static void read_files(Metallib *lib, WireIn *r) {
    uint32_t n = wire_get_u32(r);
    if (r->failed || n > (size_t)(r->end - r->at) / (16 + SHA256_BYTES)) {
        r->failed = true;
        return;
    }
    lib->files = calloc(n ? n : 1, sizeof *lib->files);
    if (!lib->files) {
        r->failed = true;
        return;
    }
    lib->n_files = n;
    for (uint32_t i = 0; i < n && !r->failed; ++i) {
        lib->files[i].path = wire_get_str(r);
        size_t n_hash;
        const void *hash = wire_get_bytes(r, &n_hash);
        if (n_hash != SHA256_BYTES)
            r->failed = true;
        else
            memcpy(lib->files[i].hash, hash, SHA256_BYTES);
    }
}

Metallib *metallib_open(Blob *bytes, const char **error) {
    const char *ignored, **why = error ? error : &ignored;
    *why = NULL;
    if (!metallib_recognised(bytes->data, bytes->n_bytes)) {
        *why = "not a metallib made by Ingot";
        return NULL;
    }
    WireIn r = {bytes->data + sizeof magic, bytes->data + bytes->n_bytes, false};
    uint32_t version = wire_get_u32(&r);
    if (!r.failed && version != VERSION) {
        *why = "the metallib was made by another version of Ingot";
        return NULL;
    }
    if (bytes->n_bytes < HEADER_BYTES) {
        *why = "the metallib is truncated";
        return NULL;
    }
    unsigned char hash[SHA256_BYTES];
    sha256(bytes->data + HEADER_BYTES, bytes->n_bytes - HEADER_BYTES, hash);
    if (memcmp(hash, r.at, SHA256_BYTES)) {
        *why = "the metallib is damaged (checksum)";
        return NULL;
    }
    r.at += SHA256_BYTES;
    Metallib *lib = calloc(1, sizeof *lib);
    if (!lib) {
        *why = "out of memory";
        return NULL;
    }
    atomic_init(&lib->refs, 1);
    lib->bytes = blob_retain(bytes);
    memcpy(lib->hash, hash, SHA256_BYTES);
    lib->compiler_id = wire_get_str(&r);
    lib->source_name = wire_get_str(&r);
    lib->math_mode = wire_get_u32(&r);
    lib->language_version = wire_get_u32(&r);
    lib->log = wire_get_str(&r);
    lib->library_type = wire_get_u32(&r);
    if (lib->library_type > 1) r.failed = true;
    lib->install_name = wire_get_str(&r);
    if (!r.failed) read_links(lib, &r);
    if (!r.failed) read_files(lib, &r);
    WireIn reflection = {0};
    size_t n;
    reflection.at = wire_get_bytes(&r, &n);
    reflection.end = reflection.at ? reflection.at + n : NULL;
    if (!r.failed) lib->reflection = rf_decode(&reflection);
    lib->bitcode = wire_get_bytes(&r, &lib->bitcode_bytes);
    if (r.failed || !lib->reflection || r.at != r.end) {
        *why = "the metallib is damaged (its parts do not fit)";
        metallib_release(lib);
        return NULL;
    }
    return lib;
}

Metallib *metallib_retain(Metallib *lib) {
    if (lib) atomic_fetch_add_explicit(&lib->refs, 1, memory_order_relaxed);
    return lib;
}

void metallib_release(Metallib *lib) {
    if (!lib || atomic_fetch_sub_explicit(&lib->refs, 1, memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; i < lib->n_files; ++i) free(lib->files[i].path);
    free(lib->files);
    free(lib->compiler_id);
    free(lib->source_name);
    free(lib->log);
    free(lib->install_name);
    for (uint32_t i = 0; i < lib->n_links; ++i) free(lib->links[i]);
    free(lib->links);
    rf_free(lib->reflection);
    blob_release(lib->bytes);
    free(lib);
}

bool metallib_fresh(const Metallib *lib) {
    for (uint32_t i = 0; i < lib->n_files; ++i) {
        unsigned char hash[SHA256_BYTES];
        if (sha256_file(lib->files[i].path, hash) || memcmp(hash, lib->files[i].hash, SHA256_BYTES))
            return false;
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// metallib.c: a compiled library as bytes (see metallib.h).
#include "abi/metallib.h"
#include "abi/apple_metallib.h"
#include "abi/container.h"
#include <stdlib.h>
#include <string.h>

static const ContainerFormat format = {
    {'I', 'N', 'G', 'O', 'T', 'L', 'I', 'B'}, 4, "it is not a metallib made by Ingot", false};

Blob *metallib_encode(const Metallib *lib) {
    WireOut w = {0}, reflection = {0};
    container_begin(&format, &w);
    wire_str(&w, lib->compiler_id);
    wire_str(&w, lib->source_name);
    wire_u32(&w, lib->math_mode);
    wire_u32(&w, lib->language_version);
    wire_str(&w, lib->log);
    wire_u32(&w, lib->library_type);
    wire_str(&w, lib->install_name);
    wire_u32(&w, lib->n_links);
    for (uint32_t i = 0; i < lib->n_links; i++) wire_str(&w, lib->links[i]);
    wire_u32(&w, lib->n_files);
    for (uint32_t i = 0; i < lib->n_files; i++) {
        wire_str(&w, lib->files[i].path);
        wire_bytes(&w, lib->files[i].hash, SHA256_BYTES);
    }
    rf_encode(lib->reflection, &reflection);
    wire_bytes(&w, reflection.data, reflection.n_bytes);
    wire_bytes(&w, lib->bitcode, lib->bitcode_bytes);
    w.failed |= reflection.failed;
    wire_free(&reflection);
    return container_end(&format, &w);
}

bool metallib_recognised(const void *data, size_t n) {
    return container_recognised(&format, data, n);
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
    for (uint32_t i = 0; i < n && !r->failed; i++) lib->links[i] = wire_get_str(r);
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
    for (uint32_t i = 0; i < n && !r->failed; i++) {
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
    WireIn r;
    unsigned char hash[SHA256_BYTES];
    if (!container_open(&format, bytes, &r, hash, why)) {
        if (apple_metallib_recognised(bytes->data, bytes->n_bytes))
            *why = "it was made by Apple's compiler: `ingot objdump` lists it, nothing runs it yet";
        return NULL;
    }
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
    if (lib->library_type > METALLIB_OBJECT) r.failed = true;
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
        *why = "it is damaged (its parts do not fit)";
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
    for (uint32_t i = 0; i < lib->n_files; i++) free(lib->files[i].path);
    free(lib->files);
    free(lib->compiler_id);
    free(lib->source_name);
    free(lib->log);
    free(lib->install_name);
    for (uint32_t i = 0; i < lib->n_links; i++) free(lib->links[i]);
    free(lib->links);
    rf_free(lib->reflection);
    blob_release(lib->bytes);
    free(lib);
}

bool metallib_fresh(const Metallib *lib) {
    for (uint32_t i = 0; i < lib->n_files; i++) {
        unsigned char hash[SHA256_BYTES];
        if (sha256_file(lib->files[i].path, hash) || memcmp(hash, lib->files[i].hash, SHA256_BYTES))
            return false;
    }
    return true;
}

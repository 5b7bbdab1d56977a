// SPDX-License-Identifier: Apache-2.0
// container.c: header and checksum of our files (see container.h).
#include "abi/container.h"
#include <string.h>

enum { MAGIC_BYTES = 8, HASH_AT = MAGIC_BYTES + 4, HEADER_BYTES = HASH_AT + SHA256_BYTES };

bool container_recognised(const ContainerFormat *format, const void *data, size_t n) {
    return n >= MAGIC_BYTES && !memcmp(data, format->magic, MAGIC_BYTES);
}

void container_begin(const ContainerFormat *format, WireOut *w) {
    static const unsigned char none[SHA256_BYTES];
    wire_raw(w, format->magic, MAGIC_BYTES);
    wire_u32(w, format->version);
    wire_raw(w, none, sizeof none); // filled in at the end
}

Blob *container_end(WireOut *w) {
    if (w->failed) {
        wire_free(w);
        return NULL;
    }
    sha256(w->data + HEADER_BYTES, w->n_bytes - HEADER_BYTES, w->data + HASH_AT);
    return blob_take(w->data, w->n_bytes);
}

bool container_open(const ContainerFormat *format, const Blob *bytes, WireIn *content,
                    unsigned char hash[SHA256_BYTES], const char **why) {
    const unsigned char *data = bytes->data;
    unsigned char own[SHA256_BYTES];
    if (!hash) hash = own;
    *content = (WireIn){data, data + bytes->n_bytes, false};
    if (!container_recognised(format, data, bytes->n_bytes)) {
        *why = format->foreign;
        return false;
    }
    content->at += MAGIC_BYTES;
    uint32_t version = wire_get_u32(content);
    if (!content->failed && version != format->version) {
        *why = "it was made by another version of Ingot";
        return false;
    }
    if (bytes->n_bytes < HEADER_BYTES) {
        *why = "it is truncated";
        return false;
    }
    sha256(data + HEADER_BYTES, bytes->n_bytes - HEADER_BYTES, hash);
    content->at = data + HEADER_BYTES;
    if (!memcmp(hash, data + HASH_AT, SHA256_BYTES)) return true;
    *why = "it is truncated or damaged (checksum)";
    return false;
}

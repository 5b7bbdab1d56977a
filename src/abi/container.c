// SPDX-License-Identifier: Apache-2.0
// container.c: header and checksum of our files (see container.h).
#include "abi/container.h"
#include <string.h>

enum { MAGIC_BYTES = 8, HASH_AT = MAGIC_BYTES + 4, SEAL_AT = HASH_AT + SHA256_BYTES };

static size_t header_bytes(const ContainerFormat *format) {
    return format->sealed ? SEAL_AT + SHA256_BYTES : SEAL_AT;
}

unsigned char *container_hash(const Blob *bytes) { return bytes->data + HASH_AT; }
unsigned char *container_seal(const Blob *bytes) { return bytes->data + SEAL_AT; }

bool container_recognised(const ContainerFormat *format, const void *data, size_t n) {
    return n >= MAGIC_BYTES && !memcmp(data, format->magic, MAGIC_BYTES);
}

void container_begin(const ContainerFormat *format, WireOut *w) {
    static const unsigned char none[SHA256_BYTES];
    wire_raw(w, format->magic, MAGIC_BYTES);
    wire_u32(w, format->version);
    wire_raw(w, none, sizeof none); // filled in at the end
    if (format->sealed) wire_raw(w, none, sizeof none);
}

Blob *container_end(const ContainerFormat *format, WireOut *w) {
    size_t header = header_bytes(format);
    if (w->failed) {
        wire_free(w);
        return NULL;
    }
    sha256(w->data + header, w->n_bytes - header, w->data + HASH_AT);
    return blob_take(w->data, w->n_bytes);
}

bool container_open(const ContainerFormat *format, const Blob *bytes, WireIn *content,
                    unsigned char hash[SHA256_BYTES], const char **why) {
    const unsigned char *data = bytes->data;
    unsigned char own[SHA256_BYTES];
    size_t header = header_bytes(format);
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
    if (bytes->n_bytes < header) {
        *why = "it is truncated";
        return false;
    }
    sha256(data + header, bytes->n_bytes - header, hash);
    content->at = data + header;
    if (!memcmp(hash, data + HASH_AT, SHA256_BYTES)) return true;
    *why = "it is truncated or damaged (checksum)";
    return false;
}

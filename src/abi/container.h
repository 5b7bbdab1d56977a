// SPDX-License-Identifier: Apache-2.0
// container.h: what our files have in common: eight bytes that say what it is, a version, a
// checksum over the rest. The checksum is looked at before anything behind it is believed. Files
// of machine code have a seal of that checksum behind it (base/seal.h).
#ifndef INGOT_ABI_CONTAINER_H
#define INGOT_ABI_CONTAINER_H
#include <stdbool.h>
#include "base/blob.h"
#include "base/sha256.h"
#include "base/wire.h"

typedef struct ContainerFormat {
    char magic[8];
    uint32_t version;
    const char *foreign; // the sentence for a file that is something else
    bool sealed;
} ContainerFormat;

bool container_recognised(const ContainerFormat *format, const void *data, size_t n);
// The header; the caller writes the content behind it.
void container_begin(const ContainerFormat *format, WireOut *w);
// Puts the checksum in and takes the bytes. NULL: out of memory; w is freed either way.
Blob *container_end(const ContainerFormat *format, WireOut *w);
// In whole bytes of a sealed format: its checksum, and behind it the seal, SHA256_BYTES each.
unsigned char *container_hash(const Blob *bytes);
unsigned char *container_seal(const Blob *bytes);
// A reader of the content, and the checksum if `hash` is not NULL. False and a sentence ("it is
// ...") in why: not such a file, or damaged.
bool container_open(const ContainerFormat *format, const Blob *bytes, WireIn *content,
                    unsigned char hash[SHA256_BYTES], const char **why);
#endif

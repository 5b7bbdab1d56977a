// SPDX-License-Identifier: Apache-2.0
// fuzz.h: what the drivers of file formats share. A driver reads any bytes as its format: for
// libFuzzer (scripts/fuzz), and over the seeds with one byte changed or the end cut off
// (seeds_main.c), which is a test. Formats with checksums are read twice: as they came, and with
// the checksum made right, so that what is behind it is reached.
#ifndef INGOT_TESTS_FUZZ_H
#define INGOT_TESTS_FUZZ_H
#include "base/blob.h"
#include "base/sha256.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

// Every byte is looked at: the sanitizers then know whether it is there.
static inline unsigned fuzz_touch(const void *bytes, size_t n) {
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++) sum += ((const unsigned char *)bytes)[i];
    return sum;
}

static inline void fuzz_keep(unsigned value) {
    static volatile unsigned kept;
    kept = kept + value;
}

static inline void fuzz_text(const char *s) {
    if (s) fuzz_keep(fuzz_touch(s, strlen(s) + 1));
}

// A container of ours (abi/container.h) whose checksum is right: eight bytes and a version, the
// checksum of all behind it, or behind the seal that follows it.
static inline Blob *fuzz_container(const uint8_t *data, size_t n, bool sealed) {
    enum { HASH_AT = 12 };
    size_t header = HASH_AT + (sealed ? 2 : 1) * (size_t)SHA256_BYTES;
    Blob *b = n >= header ? blob_copy(data, n) : NULL;
    if (b) sha256(b->data + header, n - header, b->data + HASH_AT);
    return b;
}

// For readers that want files: a folder of this process, in memory where there is such a place, and
// gone when it ends; a file in it with these bytes.
const char *fuzz_folder(void);
void fuzz_put(const char *name, const void *data, size_t n);
#endif

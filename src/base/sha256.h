// SPDX-License-Identifier: Apache-2.0
// sha256.h: SHA-256 (FIPS 180-4), the hash behind cache keys and checksums. Uses the CPU's SHA
// instructions where it has them (about 1.5 GB/s against 0.3). Ours, since it is the only function
// of a cryptographic library that libingot would need, and libingot links none.
#ifndef INGOT_BASE_SHA256_H
#define INGOT_BASE_SHA256_H
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    unsigned char block[64];
} Sha256;

void sha256_begin(Sha256 *s);
void sha256_add(Sha256 *s, const void *data, size_t n);
void sha256_end(Sha256 *s, unsigned char hash[SHA256_BYTES]);
void sha256(const void *data, size_t n, unsigned char hash[SHA256_BYTES]);
// 64 lower-case digits and a zero.
void sha256_hex(const unsigned char hash[SHA256_BYTES], char hex[SHA256_HEX]);
// The hash of a file's bytes; -1 (errno) if it cannot be read.
int sha256_file(const char *path, unsigned char hash[SHA256_BYTES]);
#endif

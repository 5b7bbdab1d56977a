// SPDX-License-Identifier: Apache-2.0
// seal.h: whose machine code a file holds. Whoever can write an archive or an entry of the cache
// could otherwise run code in the processes that load it; so such files carry a seal, the
// HMAC-SHA256 of their checksum under a key that only their maker has, and are loaded when a key
// that is trusted made it.
//
// Keys: the user's own, 32 random bytes in $XDG_CONFIG_HOME/ingot/key or ~/.config/ingot/key, made
// at first use; and those in the files that INGOT_KEYS names, ':' between them, of which the first
// seals in place of the user's. A file of a key counts when it belongs to this user (or to root)
// and nobody else may read or write it.
#ifndef INGOT_BASE_SEAL_H
#define INGOT_BASE_SEAL_H
#include <stdbool.h>
#include "base/sha256.h"

enum { SEAL_MIN_KEY = 16 }; // bytes of a key; shorter ones are no secret

// A key of the caller's. NULL, or no bytes: none.
typedef struct SealKey {
    const void *bytes;
    size_t n_bytes;
} SealKey;

void hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t n,
                 unsigned char mac[SHA256_BYTES]);

// `use` tells what is sealed, so that one kind of file is never taken for another. With the
// caller's key, else INGOT_KEYS' first, else the user's. False and a sentence in `why` (may be
// NULL): there is none.
bool seal_make(const SealKey *key, const char *use, const unsigned char hash[SHA256_BYTES],
               unsigned char seal[SHA256_BYTES], char *why, size_t why_bytes);
// Did one of those keys, the caller's too, make the seal?
bool seal_holds(const SealKey *key, const char *use, const unsigned char hash[SHA256_BYTES],
                const unsigned char seal[SHA256_BYTES]);
#endif

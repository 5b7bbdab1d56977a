// SPDX-License-Identifier: Apache-2.0
// cache.h: results of the compiler on disk, one file per result, named by a hash of everything it
// depends on. Files are replaced in one step and carry a checksum, so readers see a whole entry or
// none; a damaged one is removed and made again. Machine code is sealed with the user's key
// (base/seal.h) and believed for that alone. Without a writable folder, or without a key, nothing
// is kept, and nothing fails.
//
// Folder: $INGOT_CACHE_DIR ("off": none), $XDG_CACHE_HOME/ingot or ~/.cache/ingot, with libraries/,
// kernels/, pch/ (the compiler's precompiled headers) and locks/. INGOT_CACHE_LIMIT_MB: total size
// (1024; 0: no limit), the entries unused for longest go first.
#ifndef INGOT_RUNTIME_CACHE_H
#define INGOT_RUNTIME_CACHE_H
#include "abi/metallib.h"
#include "abi/protocol.h"
#include "abi/requests.h"
#include "base/blob.h"

typedef struct CacheKey {
    unsigned char hash[SHA256_BYTES];
} CacheKey;

// False without memory. cwd: where relative names in source point to.
bool cache_library_key(const MslSource *source, const char *cwd, CacheKey *key);
// request: as sent to the compiler (bitcode and reflection are not read); libraries: [1 + n_parts]
// content hashes of the kernel's library and of the parts.
bool cache_kernel_key(const MslKernelRequest *request, const MsgPart *libraries, CacheKey *key);
// The same for stitched libraries; libraries: [n_parts].
bool cache_stitch_key(const MslStitchRequest *request, const MsgPart *libraries, CacheKey *key);
// Names this machine as far as code made for it depends on it; INGOT_CPU counts in its place.
void cache_machine(unsigned char hash[SHA256_BYTES]);

// An entry that is whole and whose included files have not changed; NULL if there is none.
Metallib *cache_find_library(const CacheKey *key);
Blob *cache_find_kernel(const CacheKey *key);
void cache_store_library(const CacheKey *key, const Metallib *library);
void cache_store_kernel(const CacheKey *key, const Blob *code);

// Keeps other processes from making the same entry meanwhile: waits until the key's lock is free or
// `deadline` (msg_now's clock) has passed. Returns what cache_unlock takes; -1 if there is no lock
// to hold, which is no reason to stop.
int cache_lock(const CacheKey *key, int64_t deadline);
void cache_unlock(int lock);
#endif

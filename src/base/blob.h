// SPDX-License-Identifier: Apache-2.0
// blob.h: immutable bytes shared by reference count (metallibs, code objects).
#ifndef INGOT_BASE_BLOB_H
#define INGOT_BASE_BLOB_H
#include <stdatomic.h>
#include <stddef.h>

typedef struct Blob {
    atomic_uint refs;
    unsigned char *data; // malloc'd
    size_t n_bytes;
} Blob;

// Takes the malloc'd bytes over, also when it fails (NULL: out of memory, bytes freed).
Blob *blob_take(void *data, size_t n);
Blob *blob_copy(const void *data, size_t n);
Blob *blob_retain(Blob *b); // NULL is a no-op in both
void blob_release(Blob *b);
#endif

// SPDX-License-Identifier: Apache-2.0
// archive.h: the content of a binary archive: machine code under the keys that the compiler client
// asks for, and the file it is kept in. A key names everything the code depends on (cache.h:
// library, function, constants, linked code, flags, compiler, CPU), so a lookup is right or empty.
//
// Layout: "INGOTARC", u32 version, SHA-256 of all behind the seal, the seal (base/seal.h), then
// (wire.h) compiler id, machine (hash and name), number of entries, entries.
#ifndef INGOT_ABI_ARCHIVE_H
#define INGOT_ABI_ARCHIVE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/blob.h"
#include "base/seal.h"

typedef struct ArchiveEntry {
    unsigned char key[SHA256_BYTES];
    // For people and listings:
    const char *function, *library; // library: the name of its source
    const char *note;               // constants and the like, "" if nothing to say
    uint32_t shape[3];              // 0,0,0: any
    // The code, in `owner`'s bytes.
    const unsigned char *code;
    size_t code_bytes;
    Blob *owner;
} ArchiveEntry;

// Where code was made and by what. Strings are the archive's, or the caller's when one is written.
typedef struct ArchiveOrigin {
    const char *compiler_id;
    unsigned char machine[SHA256_BYTES];
    const char *machine_name;
} ArchiveOrigin;

typedef struct Archive Archive; // shared by reference count; every call from any thread

Archive *archive_new(void); // empty; NULL without memory
// Opens a file's bytes (retained). On failure NULL and *why (may not be NULL), a literal. The
// origin is not judged here: archive_origin.
Archive *archive_open(Blob *bytes, const char **why);
Archive *archive_retain(Archive *a); // NULL is a no-op in both
void archive_release(Archive *a);
bool archive_recognised(const void *data, size_t n);

// What the file said; empty strings for a new archive.
ArchiveOrigin archive_origin(const Archive *a);
// The file's bytes, which still want a seal. NULL without memory.
Blob *archive_encode(Archive *a, const ArchiveOrigin *origin);
// Bytes of archive_encode, or such that archive_open took: puts the seal in; did a key that is
// trusted, or this one (may be NULL), make it? Nothing that it holds may run before.
bool archive_seal(Blob *bytes, const SealKey *key, char *why, size_t why_bytes);
bool archive_trusted(const Blob *bytes, const SealKey *key);

// The code under a key, owned by the caller; NULL: not there, or no memory.
Blob *archive_find(Archive *a, const unsigned char key[SHA256_BYTES]);
// Copies the strings and retains the owner. A key that is there already stays as it is. False
// without memory.
bool archive_add(Archive *a, const ArchiveEntry *entry);
size_t archive_count(Archive *a);
// Entries never move or change: valid while the archive is. NULL past the end.
const ArchiveEntry *archive_entry(Archive *a, size_t i);
#endif

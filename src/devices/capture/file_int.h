// SPDX-License-Identifier: Apache-2.0
// file_int.h: the bytes of a capture (docs/internals/capture.md): a head, then chunks one after the
// other; a file that was closed ends with an index of them and a tail that says where it is.
#ifndef INGOT_CAPTURE_FILE_INT_H
#define INGOT_CAPTURE_FILE_INT_H
#include "base/hash_table.h"
#include "base/wire.h"
#include "devices/capture/capture.h"

#define CAP_MAGIC "INGOTTRC"
#define CAP_TAIL "INGOTEND"
enum {
    CAP_HEAD_BYTES = 16,  // magic, version, what the disk said (an errno)
    CAP_CHUNK_BYTES = 64, // of a chunk's head
    CAP_TAIL_BYTES = 16,  // magic, where the index is
    CAP_CHUNK = 0x4b484349,
};
typedef enum CapChunkKind { CAP_CHUNK_BLOCK = 1, CAP_CHUNK_RUN, CAP_CHUNK_INDEX } CapChunkKind;

typedef struct CapChunk {
    uint32_t kind;
    uint64_t at;                      // of its head, in the file
    uint64_t stored, raw;             // bytes; equal: not compressed
    uint64_t n_commands;              // of a run
    unsigned char hash[SHA256_BYTES]; // of the raw bytes
} CapChunk;

// The head of a chunk: magic, kind, stored, raw, n_commands, hash.
void cap_chunk_put(WireOut *out, const CapChunk *chunk);
bool cap_chunk_get(WireIn *in, CapChunk *chunk); // but `at`
// An entry of the index: the same, with the place in the file.
void cap_entry_put(WireOut *out, const CapChunk *chunk);
bool cap_entry_get(WireIn *in, CapChunk *chunk);

// ---- Writing (write.c) ----

typedef struct CapWriter CapWriter;
// Creates the file, which must not exist; NULL and errno.
CapWriter *cap_writer_open(const char *path);
// Contents under their hash; stored once. False: it cannot be written any more (error says why).
bool cap_write_block(CapWriter *w, const void *bytes, size_t n_bytes,
                     unsigned char hash[SHA256_BYTES]);
bool cap_write_run(CapWriter *w, const void *events, size_t n_bytes, uint64_t n_commands);
// 0, or the errno that ended the writing: the file is whole up to the last run before.
int cap_writer_error(const CapWriter *w);
void cap_writer_close(CapWriter *w);  // with the index
void cap_writer_forget(CapWriter *w); // in a forked child: nothing is written
#endif

// SPDX-License-Identifier: Apache-2.0
// chunk.c: heads of chunks and entries of the index as bytes; the hash of results.
#include <string.h>
#include "devices/capture/file_int.h"
#include "devices/table/schema_rows.h"

// Nothing that we write is packed better: who claims it wants memory.
enum { MAX_RATIO = 1 << 17 };

static bool plausible(const void *record) {
    const CapChunk *chunk = record;
    return chunk->kind >= CAP_CHUNK_BLOCK && chunk->kind <= CAP_CHUNK_INDEX && chunk->stored &&
           chunk->stored <= chunk->raw && chunk->raw >> 32 == 0 &&
           chunk->raw / chunk->stored < MAX_RATIO &&
           (chunk->kind != CAP_CHUNK_BLOCK || chunk->raw <= CAP_BLOCK);
}

#define REST U64(stored), U64(raw), U64(n_commands), RAW(hash)
static SCHEMA_AS(schema_head, CapChunk, .check = plausible, WORD(kind), REST, KEPT(at));
static SCHEMA_AS(schema_entry, CapChunk, .check = plausible, WORD(kind), U64(at), REST);

void cap_chunk_put(WireOut *out, const CapChunk *chunk) {
    wire_u32(out, CAP_CHUNK);
    schema_put(schema_head, chunk, out);
}

static bool get(SchemaOf *of, WireIn *in, CapChunk *chunk) {
    *chunk = (CapChunk){0};
    schema_get(of, chunk, in, CAP_VERSION, NULL);
    return !in->failed;
}

bool cap_chunk_get(WireIn *in, CapChunk *chunk) {
    return wire_get_u32(in) == CAP_CHUNK && get(schema_head, in, chunk);
}

void cap_entry_put(WireOut *out, const CapChunk *chunk) { schema_put(schema_entry, chunk, out); }
bool cap_entry_get(WireIn *in, CapChunk *chunk) { return get(schema_entry, in, chunk); }

// Four sums of products side by side, each word mixed before it is added: 10 GB/s.
uint64_t cap_hash(const void *bytes, size_t n_bytes) {
    static const uint64_t k[4] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                                  0xd6e8feb86659fd93u};
    uint64_t h[4] = {k[3], k[2], k[1], k[0] ^ n_bytes};
    const unsigned char *at = bytes;
    size_t left = n_bytes;
    for (; left >= 32; left -= 32, at += 32)
        for (int i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, at + 8 * i, 8);
            h[i] = (h[i] ^ word) * k[i];
            h[i] ^= h[i] >> 29;
        }
    unsigned char rest[32] = {0};
    if (left) memcpy(rest, at, left);
    uint64_t all = n_bytes;
    for (int i = 0; i < 4; i++) {
        uint64_t word;
        memcpy(&word, rest + 8 * i, 8);
        all = (all ^ ((h[i] ^ word) * k[i])) * k[(i + 1) & 3];
        all ^= all >> 31;
    }
    return all;
}

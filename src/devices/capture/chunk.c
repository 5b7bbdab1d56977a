// SPDX-License-Identifier: Apache-2.0
// chunk.c: heads of chunks and entries of the index as bytes; the hash of results.
#include <string.h>
#include "devices/capture/file_int.h"

// Nothing that we write is packed better: who claims it wants memory.
enum { MAX_RATIO = 1 << 17 };

void cap_chunk_put(WireOut *out, const CapChunk *chunk) {
    wire_u32(out, CAP_CHUNK);
    wire_u32(out, chunk->kind);
    wire_u64(out, chunk->stored), wire_u64(out, chunk->raw), wire_u64(out, chunk->n_commands);
    wire_raw(out, chunk->hash, SHA256_BYTES);
}

static bool plausible(const CapChunk *chunk) {
    return chunk->kind >= CAP_CHUNK_BLOCK && chunk->kind <= CAP_CHUNK_INDEX && chunk->stored &&
           chunk->stored <= chunk->raw && chunk->raw >> 32 == 0 &&
           chunk->raw / chunk->stored < MAX_RATIO &&
           (chunk->kind != CAP_CHUNK_BLOCK || chunk->raw <= CAP_BLOCK);
}

bool cap_chunk_get(WireIn *in, CapChunk *chunk) {
    uint32_t magic = wire_get_u32(in);
    *chunk = (CapChunk){.kind = wire_get_u32(in)};
    chunk->stored = wire_get_u64(in), chunk->raw = wire_get_u64(in);
    chunk->n_commands = wire_get_u64(in);
    wire_get_raw(in, chunk->hash, SHA256_BYTES);
    return !in->failed && magic == CAP_CHUNK && plausible(chunk);
}

void cap_entry_put(WireOut *out, const CapChunk *chunk) {
    wire_u32(out, chunk->kind);
    wire_u64(out, chunk->at);
    wire_u64(out, chunk->stored), wire_u32(out, (uint32_t)chunk->raw);
    wire_u32(out, (uint32_t)(chunk->raw >> 32)), wire_u64(out, chunk->n_commands);
    wire_raw(out, chunk->hash, SHA256_BYTES);
}

bool cap_entry_get(WireIn *in, CapChunk *chunk) {
    *chunk = (CapChunk){.kind = wire_get_u32(in)};
    chunk->at = wire_get_u64(in);
    chunk->stored = wire_get_u64(in);
    chunk->raw = wire_get_u32(in);
    chunk->raw |= (uint64_t)wire_get_u32(in) << 32;
    chunk->n_commands = wire_get_u64(in);
    wire_get_raw(in, chunk->hash, SHA256_BYTES);
    return !in->failed && plausible(chunk);
}

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

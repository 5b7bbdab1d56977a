// SPDX-License-Identifier: Apache-2.0
// codec_int.h: the compression methods of files, and the format of such files, which is ours: a
// header, chunks that are each compressed alone, and behind them the table of where each begins.
#ifndef INGOT_RUNTIME_IO_CODEC_H
#define INGOT_RUNTIME_IO_CODEC_H
#include "runtime/object/object.h"

#define RT_IO_MAGIC 0x314f49544f474e49u // "INGOTIO1"
#define RT_IO_MAX_CHUNK ((uint64_t)1 << 30)

// At byte 0. The table has n_chunks + 1 offsets of 64 bits; a chunk that is as long there as it was
// before is stored as it was.
typedef struct RtIoHeader {
    uint64_t magic, method, chunk_bytes, n_bytes, n_chunks, table_at;
} RtIoHeader;

#define RT_IO_WHY 256
typedef struct RtCodec {
    const char *name;
    size_t (*bound)(size_t n_bytes); // of what compress may write
    // Bytes written; 0: it failed.
    size_t (*compress)(const void *from, size_t n_from, void *to, size_t n_to);
    bool (*expand)(const void *from, size_t n_from, void *to, size_t n_to); // to exactly n_to
} RtCodec;

// NULL and a sentence: there is no such method, or its library is not installed. Any thread.
const RtCodec *rt_codec(MTLIOCompressionMethod method, char why[RT_IO_WHY]);
#endif

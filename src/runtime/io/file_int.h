// SPDX-License-Identifier: Apache-2.0
// file_int.h: MTLIOFileHandle: bytes of a file, as they are or out of compressed chunks.
#ifndef INGOT_RUNTIME_IO_FILE_H
#define INGOT_RUNTIME_IO_FILE_H
#include "runtime/io/codec_int.h"

struct MTLIOFileHandle {
    RtObject object;
    RtLabel label;
    char *path;
    int descriptor;
    const RtCodec *codec; // NULL: the file is read as it is
    RtIoHeader header;
    uint64_t *offsets; // [header.n_chunks + 1]
};
extern RtClass rt_io_file_class;

// Memory for chunks while they are expanded; the caller has it filled in.
typedef struct RtIoScratch {
    unsigned char *bytes;
    size_t n_bytes;
} RtIoScratch;

// What rt_io_read needs of it; 0 for files that are read as they are.
size_t rt_io_scratch_bytes(const MTLIOFileHandle *file);
// False and a sentence: the file ends before, or is damaged, or cannot be read. Any thread.
bool rt_io_read(const MTLIOFileHandle *file, uint64_t offset, void *to, size_t n_bytes,
                const RtIoScratch *scratch, char why[RT_IO_WHY]);
#endif

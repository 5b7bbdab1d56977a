// SPDX-License-Identifier: Apache-2.0
// mtlb.h: a metallib in the clothes that callers of Apple's compiler service expect: it begins with
// "MTLB" and ends with "ENDT". Callers keep it on disk under a key of their own, so the source is
// in it too: after a change of Ingot's compiler it is compiled again.
//
// Layout: "MTLB", "INGT", u32 version, u32 math mode, u32 language version, u32 0, u64 bytes of the
// metallib, u64 bytes of the source, both, "ENDT".
#ifndef INGOT_ABI_MTLB_H
#define INGOT_ABI_MTLB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Mtlb {
    uint32_t math_mode, language_version;
    const void *library;
    size_t library_bytes;
    const char *source;
    size_t source_bytes;
} Mtlb;

void *mtlb_wrap(const Mtlb *parts, size_t *n_bytes); // malloc'd; NULL: no memory
// Borrowed parts. False: it is something else, or damaged.
bool mtlb_open(const void *data, size_t n_bytes, Mtlb *parts);
#endif

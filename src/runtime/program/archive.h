// SPDX-License-Identifier: Apache-2.0
// archive.h: MTLBinaryArchive, and the memory of which threadgroup shapes pipelines were used with.
#ifndef INGOT_RUNTIME_ARCHIVE_H
#define INGOT_RUNTIME_ARCHIVE_H
#include "abi/archive.h"
#include "runtime/object/object.h"
#include "runtime/program/cache.h"

struct MTLBinaryArchive {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    Archive *content;
    SealKey key; // the descriptor's; a copy of its own
};

extern RtClass rt_archive_class;

// A list of its own with a reference to each, for a job that outlives the descriptor; NULL: no
// memory. And its end.
MTLBinaryArchive **rt_archives_own(MTLBinaryArchive *const *archives, size_t n);
void rt_archives_disown(MTLBinaryArchive **archives, size_t n);

// Stitched functions as a library (stitch.c), put into the archive too unless that is NULL.
MTLLibrary *rt_library_stitched(MTLDevice *device, const MTLStitchedLibraryDescriptor *descriptor,
                                Archive *record, MTLError **error);

// A pipeline (named by the key of its general code) was given code for a shape. Kept for the life
// of the device: archive_add asks for it. Any thread.
void rt_shapes_note(MTLDevice *device, const CacheKey *pipeline, const uint32_t shape[3]);
// Up to `max` of them; returns how many.
size_t rt_shapes_get(MTLDevice *device, const CacheKey *pipeline, uint32_t (*shapes)[3],
                     size_t max);
#endif

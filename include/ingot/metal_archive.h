// SPDX-License-Identifier: Apache-2.0
// metal_archive.h: binary archives: pipelines with their machine code, in a file.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A program makes an archive once and ships it, with its metallib; later runs make their pipelines
// from it in less than a millisecond, with no compiler installed:
//
//     // once: compile and keep
//     MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, &error);
//     mtl_binary_archive_add_compute_pipeline_functions(archive,
//         &(MTLComputePipelineDescriptor){.compute_function = function}, &error);
//     mtl_binary_archive_serialize_to_url(archive, "kernels.binarchive", &error);
//     // in later runs
//     MTLBinaryArchive *archive = mtl_device_new_binary_archive(device,
//         &(MTLBinaryArchiveDescriptor){.url = "kernels.binarchive"}, &error);
//     MTLBinaryArchive *archives[] = {archive};
//     state = mtl_device_new_compute_pipeline_state_with_descriptor(device,
//         &(MTLComputePipelineDescriptor){.compute_function = function, .binary_archives =
//         archives,
//                                         .binary_archive_count = 1}, 0, NULL, &error);
//
// An archive holds code for the machine and the compiler it was made with: opening it elsewhere is
// an error (make a new one then, as on a Mac after an update). `ingot build FILE --archive` makes
// one for all kernels of a file, `ingot reflect` lists one. examples/binary_archive.c is a program.
//
// Loading an archive means running what is in it: it is machine code, which nothing checks. So a
// file is opened only if it is known who made it. Archives are sealed when they are written, with a
// secret key of the user's (~/.config/ingot/key, made at first use). One opens where that key is,
// or where a key its maker used is trusted: a file that INGOT_KEYS names, or the descriptor's
// trusted_key. Files in `ingot/archives` beside libingot are part of the installation.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_ARCHIVE_H
#define INGOT_METAL_ARCHIVE_H

#ifdef __cplusplus
extern "C" {
#endif

#define MTLBinaryArchiveDomain "MTLBinaryArchiveDomain"

typedef enum MTLBinaryArchiveError { // domain MTLBinaryArchiveDomain
    MTLBinaryArchiveErrorNone = 0,
    MTLBinaryArchiveErrorInvalidFile = 1,       // cannot be read, written or used here
    MTLBinaryArchiveErrorUnexpectedElement = 2, // a descriptor it cannot take
    MTLBinaryArchiveErrorCompilationFailure = 3,
    MTLBinaryArchiveErrorInternalError = 4,
} MTLBinaryArchiveError;

typedef struct MTLBinaryArchiveDescriptor {
    const char *url; // path of the file to open; NULL, or a file of 0 bytes: a new, empty archive
    // Ours: a secret of at least 16 bytes that the maker of the file has too. A file that it sealed
    // is opened besides the user's own, and serialize seals with it. NULL: none.
    const void *trusted_key;
    size_t trusted_key_bytes;
} MTLBinaryArchiveDescriptor;

typedef struct MTLRenderPipelineDescriptor MTLRenderPipelineDescriptor;

// NULL descriptor: a new archive. A file that is missing, damaged, made by another version of the
// compiler or for another CPU, or sealed by no key that is trusted (above) is
// MTLBinaryArchiveErrorInvalidFile.
MTL_API MTLBinaryArchive *mtl_device_new_binary_archive(
    MTLDevice *device, const MTLBinaryArchiveDescriptor *descriptor, MTLError **error);
MTL_API MTLDevice *mtl_binary_archive_device(const MTLBinaryArchive *archive);
MTL_API const char *mtl_binary_archive_label(const MTLBinaryArchive *archive);
MTL_API void mtl_binary_archive_set_label(MTLBinaryArchive *archive, const char *label);

// Compiles the pipeline and keeps its code: for any threadgroup size (or for the required one), and
// for each size that this process has used the pipeline with, by the time of the call, on its way
// to speed (see 8. in metal.h). So: run the work once, then add, then serialize. To add a size that
// was not used, add the pipeline with required_threads_per_threadgroup set to it. Pipelines made
// from the archive run other sizes with the code for any.
MTL_API bool mtl_binary_archive_add_compute_pipeline_functions(
    MTLBinaryArchive *archive, const MTLComputePipelineDescriptor *descriptor, MTLError **error);
// Checks a visible function and its constants. Its code is part of every pipeline that links it:
// nothing is kept for it alone.
MTL_API bool mtl_binary_archive_add_function(MTLBinaryArchive *archive,
                                             const MTLFunctionDescriptor *descriptor,
                                             MTLLibrary *library, MTLError **error);
// Compiles a stitched library and keeps it: a descriptor that names the archive then gives the same
// library without a compiler. The code of its functions is part of the pipelines that link them.
MTL_API bool mtl_binary_archive_add_library(MTLBinaryArchive *archive,
                                            const MTLStitchedLibraryDescriptor *descriptor,
                                            MTLError **error);
// Compiles both functions of the pipeline and keeps their code.
MTL_API bool mtl_binary_archive_add_render_pipeline_functions(
    MTLBinaryArchive *archive, const MTLRenderPipelineDescriptor *descriptor, MTLError **error);
// Writes the archive to a file, in one step: readers see the old one or the new one.
MTL_API bool mtl_binary_archive_serialize_to_url(MTLBinaryArchive *archive, const char *url,
                                                 MTLError **error);

#ifdef __cplusplus
}
#endif
#endif

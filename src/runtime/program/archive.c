// SPDX-License-Identifier: Apache-2.0
// archive.c: MTLBinaryArchive. The content (abi/archive.h) is code under the keys of the compiler
// client; adding a pipeline is making it with a client that records its answers, and a pipeline
// made from an archive asks the client to look there first. So whatever a pipeline is made of
// (constants, linked functions, validation) is part of the key without a word here.
#include "runtime/program/archive.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/compiler_id.h"
#include "base/files.h"
#include "base/text.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "runtime/program/pipeline.h"
#include "runtime/program/render_pipeline.h"

static void archive_destroy(void *self) {
    MTLBinaryArchive *archive = self;
    archive_release(archive->content);
    rt_free((void *)(uintptr_t)archive->key.bytes);
    rt_label_free(&archive->label);
    mtl_release(archive->device);
    rt_free(archive);
}

RT_CLASS rt_archive_class = {.name = "MTLBinaryArchive",
                             .destroy = archive_destroy,
                             .label_at = offsetof(MTLBinaryArchive, label)};

// ---- Opening ----

// Code of another compiler or CPU would be missed by every lookup: better to say so here.
static MTLError *check_origin(const Archive *content, const char *call, const char *path) {
    ArchiveOrigin origin = archive_origin(content);
    unsigned char here[SHA256_BYTES];
    cache_machine(here);
    if (strcmp(origin.compiler_id, compiler_id()) != 0)
        return rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                            "%s: '%s' was made by another version of the compiler (%.12s, this is "
                            "%.12s): make it again.",
                            call, path, origin.compiler_id, compiler_id());
    if (memcmp(origin.machine, here, sizeof here) != 0)
        return rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                            "%s: '%s' was made for another machine (%s): make it again here.", call,
                            path, origin.machine_name);
    return NULL;
}

// Files in the folder `ingot/archives` beside libingot came with it: whoever could write there
// could write libingot itself. Others count as anywhere else if more than root and this user can.
static bool is_installed(const char *path) {
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)&rt_archive_class, &info) || !info.dli_fname) return false;
    char *library = realpath(info.dli_fname, NULL), *file = realpath(path, NULL);
    char *slash = library ? strrchr(library, '/') : NULL, *folder = NULL;
    if (slash) *slash = '\0';
    if (slash) folder = text_format("%s/ingot/archives/", library);
    struct stat st;
    bool is = folder && file && !strncmp(file, folder, strlen(folder)) && !stat(file, &st) &&
              (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
    free(folder);
    free(file);
    free(library);
    return is;
}

// NULL and *wrong (NULL there too: no memory).
static Archive *open_file(const char *call, const char *path, const SealKey *key,
                          MTLError **wrong) {
    size_t n;
    *wrong = NULL;
    unsigned char *data = file_read(path, &n);
    if (!data) {
        *wrong = rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                              "%s: '%s' cannot be read: %s.", call, path, strerror(errno));
        return NULL;
    }
    Blob *bytes = blob_take(data, n);
    if (!bytes) return NULL;
    const char *why = NULL;
    Archive *content = n ? archive_open(bytes, &why) : archive_new();
    if (content && n && !archive_trusted(bytes, key) && !is_installed(path)) {
        archive_release(content);
        content = NULL;
        why = "it holds machine code, and no key that is trusted has sealed it (make it again "
              "here, or name the key of its maker: INGOT_KEYS, or the descriptor's trusted_key)";
    }
    blob_release(bytes);
    if (!content && why)
        *wrong = rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                              "%s: '%s' cannot be used as a binary archive: %s.", call, path, why);
    if (content && n && (*wrong = check_origin(content, call, path))) {
        archive_release(content);
        content = NULL;
    }
    return content;
}

static bool take_key(MTLBinaryArchive *archive, const MTLBinaryArchiveDescriptor *descriptor,
                     const char *call, MTLError **wrong) {
    if (!descriptor || !descriptor->trusted_key) return true;
    size_t n = descriptor->trusted_key_bytes;
    if (n < SEAL_MIN_KEY) {
        *wrong = rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
                              "%s: a key of %zu bytes is no secret: it has at least %d.", call, n,
                              SEAL_MIN_KEY);
        return false;
    }
    void *bytes = rt_alloc(n);
    if (!bytes) return false;
    memcpy(bytes, descriptor->trusted_key, n);
    archive->key = (SealKey){bytes, n};
    return true;
}

MTLBinaryArchive *mtl_device_new_binary_archive(MTLDevice *device,
                                                const MTLBinaryArchiveDescriptor *descriptor,
                                                MTLError **error) {
    if (error) *error = NULL;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        rt_error_set(error, rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
                                         "%s: the device is NULL.", __func__));
        return NULL;
    }
    MTLError *wrong = NULL;
    MTLBinaryArchive *archive = rt_new(&rt_archive_class, sizeof *archive);
    if (!archive) goto fail;
    archive->device = mtl_retain(device);
    if (!take_key(archive, descriptor, __func__, &wrong)) goto fail;
    archive->content = descriptor && descriptor->url
                           ? open_file(__func__, descriptor->url, &archive->key, &wrong)
                           : archive_new();
    if (!archive->content) goto fail;
    return archive;

fail:
    rt_error_set(error, wrong);
    mtl_release(archive);
    return NULL;
}

// ---- Adding ----

// Is the archive one, and the argument there? Reports if not.
static bool usable(MTLBinaryArchive *archive, const void *argument, const char *what,
                   const char *call, MTLError **error) {
    if (error) *error = NULL;
    bool is_archive = rt_is(archive, &rt_archive_class);
    if (is_archive && argument) return true;
    if (!archive)
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
    else if (!is_archive)
        rt_misuse(NULL, RT_RULE_wrong_class, call, "a %s", mtl_class_name(archive));
    else
        rt_misuse(archive->device, RT_RULE_null_argument, call, "%s %s", what,
                  rt_label(&archive->label));
    rt_error_set(error, rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorUnexpectedElement,
                                     "%s: %s.", call,
                                     !archive      ? "the archive is NULL"
                                     : !is_archive ? "the object is no MTLBinaryArchive"
                                                   : "a required argument is NULL"));
    return false;
}

// Gives the other error's words to the caller, under our domain and the call's name.
static bool failed(MTLError **error, MTLError *why, long code, const char *call) {
    rt_error_set(error, rt_error_new(MTLBinaryArchiveDomain, code, "%s: %s", call,
                                     mtl_error_localized_description(why)));
    mtl_release(why);
    return false;
}

bool mtl_binary_archive_add_compute_pipeline_functions(
    MTLBinaryArchive *archive, const MTLComputePipelineDescriptor *descriptor, MTLError **error) {
    if (!usable(archive, descriptor, "descriptor", __func__, error)) return false;
    MTLError *why = NULL;
    if (rt_pipeline_record(archive->device, descriptor, archive->content, &why)) return true;
    return failed(error, why, MTLBinaryArchiveErrorCompilationFailure, __func__);
}

bool mtl_binary_archive_add_function(MTLBinaryArchive *archive,
                                     const MTLFunctionDescriptor *descriptor, MTLLibrary *library,
                                     MTLError **error) {
    if (!usable(archive, descriptor, "descriptor", __func__, error) ||
        !usable(archive, library, "library", __func__, error))
        return false;
    MTLError *why = NULL;
    MTLFunction *function = mtl_library_new_function_with_descriptor(library, descriptor, &why);
    if (!function) return failed(error, why, MTLBinaryArchiveErrorUnexpectedElement, __func__);
    MTLFunctionType type = mtl_function_function_type(function);
    mtl_release(function);
    if (type == MTLFunctionTypeVisible || type == MTLFunctionTypeIntersection) return true;
    rt_error_set(error,
                 rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorUnexpectedElement,
                              "%s: '%s' is not a visible function; kernels are added with their "
                              "pipelines.",
                              __func__, descriptor->name));
    return false;
}

bool mtl_binary_archive_add_library(MTLBinaryArchive *archive,
                                    const MTLStitchedLibraryDescriptor *descriptor,
                                    MTLError **error) {
    if (!usable(archive, descriptor, "descriptor", __func__, error)) return false;
    MTLError *why = NULL;
    MTLLibrary *library = rt_library_stitched(archive->device, descriptor, archive->content, &why);
    if (!library) return failed(error, why, MTLBinaryArchiveErrorCompilationFailure, __func__);
    mtl_release(library);
    return true;
}

bool mtl_binary_archive_add_render_pipeline_functions(MTLBinaryArchive *archive,
                                                      const MTLRenderPipelineDescriptor *descriptor,
                                                      MTLError **error) {
    if (!usable(archive, descriptor, "descriptor", __func__, error)) return false;
    MTLError *why = NULL;
    if (rt_render_pipeline_record(archive->device, descriptor, &(RtRenderExtra){0},
                                  archive->content, &why))
        return true;
    return failed(error, why, MTLBinaryArchiveErrorCompilationFailure, __func__);
}

bool mtl_binary_archive_add_mesh_render_pipeline_functions(
    MTLBinaryArchive *archive, const MTLMeshRenderPipelineDescriptor *descriptor,
    MTLError **error) {
    if (!usable(archive, descriptor, "descriptor", __func__, error)) return false;
    MTLError *why = NULL;
    if (rt_mesh_pipeline_record(archive->device, descriptor, archive->content, &why)) return true;
    return failed(error, why, MTLBinaryArchiveErrorCompilationFailure, __func__);
}

bool mtl_binary_archive_add_tile_render_pipeline_functions(
    MTLBinaryArchive *archive, const MTLTileRenderPipelineDescriptor *descriptor,
    MTLError **error) {
    if (!usable(archive, descriptor, "descriptor", __func__, error)) return false;
    MTLError *why = NULL;
    if (rt_tile_pipeline_record(archive->device, descriptor, archive->content, &why)) return true;
    return failed(error, why, MTLBinaryArchiveErrorCompilationFailure, __func__);
}

// ---- Writing ----

bool mtl_binary_archive_serialize_to_url(MTLBinaryArchive *archive, const char *url,
                                         MTLError **error) {
    if (!usable(archive, url, "url", __func__, error)) return false;
    ArchiveOrigin origin = {.compiler_id = compiler_id(),
                            .machine_name = mtl_device_name(archive->device)};
    cache_machine(origin.machine);
    Blob *bytes = archive_encode(archive->content, &origin);
    char why[512];
    bool sealed = bytes && archive_seal(bytes, &archive->key, why, sizeof why);
    bool ok = sealed && file_write_atomic(url, bytes->data, bytes->n_bytes, true);
    if (bytes && !sealed)
        rt_error_set(error, rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
                                         "%s: there is no key to seal '%s' with: %s.", __func__,
                                         url, why));
    else if (bytes && !ok)
        rt_error_set(error, rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                                         "%s: '%s' cannot be written: %s.", __func__, url,
                                         strerror(errno)));
    else if (!bytes)
        rt_error_set(error, NULL);
    blob_release(bytes);
    return ok;
}

// ---- Lists of archives ----

MTLBinaryArchive **rt_archives_own(MTLBinaryArchive *const *archives, size_t n) {
    MTLBinaryArchive **own = rt_alloc((n + 1) * sizeof *own);
    for (size_t i = 0; own && i < n; i++) own[i] = mtl_retain(archives[i]);
    return own;
}

void rt_archives_disown(MTLBinaryArchive **archives, size_t n) {
    for (size_t i = 0; archives && i < n; i++) mtl_release(archives[i]);
    rt_free(archives);
}

#include "accessors/program/archive.inc" // plain accessors, from the table

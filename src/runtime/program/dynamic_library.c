// SPDX-License-Identifier: Apache-2.0
// dynamic_library.c: MTLDynamicLibrary: a library that lends its functions to others, found by its
// install name. The file is a metallib of type dynamic; code is made with the pipelines that use
// it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "base/text.h"
#include "runtime/program/link.h"
#include "runtime/object/validation.h"

static void dynamic_destroy(void *self) {
    MTLDynamicLibrary *d = self;
    rt_label_free(&d->label);
    mtl_release(d->library);
    mtl_release(d->device);
    rt_free(d);
}

RT_CLASS rt_dynamic_library_class = {.name = "MTLDynamicLibrary",
                                     .destroy = dynamic_destroy,
                                     .label_at = offsetof(MTLDynamicLibrary, label)};

static MTLError *wrong(long code, const char *format, const char *what, const char *why) {
    return rt_error_new(MTLDynamicLibraryDomain, code, format, what, why);
}

static MTLDynamicLibrary *dynamic_new(MTLDevice *device, MTLLibrary *library, MTLError **error) {
    if (mtl_library_type(library) != MTLLibraryTypeDynamic) {
        rt_error_set(error, wrong(MTLDynamicLibraryErrorUnsupported,
                                  "The library%s%s was not made with MTLLibraryTypeDynamic.",
                                  library->path ? " " : "", library->path ? library->path : ""));
        return NULL;
    }
    MTLDynamicLibrary *d = rt_new(&rt_dynamic_library_class, sizeof *d);
    if (!d) {
        rt_error_set(error, NULL);
        return NULL;
    }
    d->device = mtl_retain(device);
    d->library = mtl_retain(library);
    return d;
}

static bool present(MTLDevice *device, const void *argument, const char *name, const char *call,
                    MTLError **error) {
    return rt_given_or_error(device, argument, name, call, MTLDynamicLibraryDomain,
                             MTLDynamicLibraryErrorUnsupported, error);
}

MTLDynamicLibrary *mtl_device_new_dynamic_library(MTLDevice *device, MTLLibrary *library,
                                                  MTLError **error) {
    if (!present(device, library, "library", __func__, error)) return NULL;
    if (!rt_is(library, &rt_library_class)) {
        rt_misuse(device, RT_RULE_wrong_class, __func__, "a %s", mtl_class_name(library));
        rt_error_set(error, wrong(MTLDynamicLibraryErrorUnsupported, "A %s is not a MTLLibrary.%s",
                                  mtl_class_name(library), ""));
        return NULL;
    }
    return dynamic_new(device, library, error);
}

MTLDynamicLibrary *mtl_device_new_dynamic_library_with_url(MTLDevice *device, const char *path,
                                                           MTLError **error) {
    if (!present(device, path, "path", __func__, error)) return NULL;
    size_t n;
    unsigned char *data = file_read(path, &n);
    if (!data) {
        rt_error_set(error,
                     wrong(MTLDynamicLibraryErrorInvalidFile, "%s: %s.", path, strerror(errno)));
        return NULL;
    }
    const char *why = "out of memory";
    Blob *bytes = blob_take(data, n);
    Metallib *lib = bytes ? metallib_open(bytes, &why) : NULL;
    blob_release(bytes);
    MTLLibrary *library = lib ? rt_library_new(device, lib) : NULL;
    MTLDynamicLibrary *d = NULL;
    if (!lib)
        rt_error_set(error, wrong(MTLDynamicLibraryErrorInvalidFile,
                                  "%s is not a usable dynamic library: %s.", path, why));
    else if (!library || !(library->path = rt_strdup(path)))
        rt_error_set(error, NULL);
    else
        d = dynamic_new(device, library, error);
    mtl_release(library);
    return d;
}

bool mtl_dynamic_library_serialize_to_url(MTLDynamicLibrary *library, const char *path,
                                          MTLError **error) {
    if (error) *error = NULL;
    if (!library || !path) {
        rt_misuse(library ? library->device : NULL,
                  library ? RT_RULE_null_argument : RT_RULE_null_object, __func__,
                  library ? "path" : NULL);
        rt_error_set(error, wrong(MTLDynamicLibraryErrorUnsupported, "The %s is NULL.%s",
                                  library ? "path" : "library", ""));
        return false;
    }
    const Blob *bytes = library->library->lib->bytes;
    if (file_write_atomic(path, bytes->data, bytes->n_bytes, true)) return true;
    rt_error_set(error, wrong(MTLDynamicLibraryErrorInvalidFile, "%s: %s.", path, strerror(errno)));
    return false;
}

// ---- Found by install name ----

// The path an install name stands for, malloc'd.
static char *resolve(const char *name, const MTLLibrary *loader) {
    static const char executable[] = "@executable_path", beside[] = "@loader_path";
    char folder[4096] = ".";
    const char *rest = NULL;
    if (strncmp(name, executable, sizeof executable - 1) == 0) {
        ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
        folder[n > 0 ? n : 0] = '\0';
        rest = name + sizeof executable - 1;
    } else if (strncmp(name, beside, sizeof beside - 1) == 0) {
        if (loader->path) strncpy(folder, loader->path, sizeof folder - 1);
        rest = name + sizeof beside - 1;
    }
    if (!rest) return text_format("%s", name);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    else
        strcpy(folder, ".");
    return text_format("%s%s", folder, rest);
}

MTLDynamicLibrary *rt_library_link(MTLLibrary *library, uint32_t i, const RtLinkWish *wish,
                                   MTLError **error) {
    const char *name = library->lib->links[i];
    // A preloaded library stands in for any of its name.
    for (size_t k = 0; k < wish->n_preloaded; k++)
        if (strcmp(mtl_dynamic_library_install_name(wish->preloaded[k]), name) == 0)
            return wish->preloaded[k];
    pthread_mutex_lock(&library->lock);
    MTLDynamicLibrary *found = library->links[i];
    pthread_mutex_unlock(&library->lock);
    if (found) return found;
    char *path = resolve(name, library);
    MTLError *why = NULL;
    MTLDynamicLibrary *opened =
        path ? mtl_device_new_dynamic_library_with_url(library->device, path, &why) : NULL;
    if (opened) {
        pthread_mutex_lock(&library->lock);
        if (!library->links[i])
            library->links[i] = opened; // its reference too
        else
            mtl_release(opened); // another thread was first
        found = library->links[i];
        pthread_mutex_unlock(&library->lock);
    } else {
        rt_error_set(error, wrong(MTLDynamicLibraryErrorUnresolvedInstallName,
                                  "The dynamic library '%s' cannot be loaded: %s", name,
                                  why ? mtl_error_localized_description(why) : "out of memory"));
    }
    mtl_release(why);
    free(path);
    return found;
}

#include "accessors/program/dynamic_library.inc" // plain accessors, from the table

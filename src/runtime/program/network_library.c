// SPDX-License-Identifier: Apache-2.0
// network_library.c: libraries of networks' packages: the graph is src/runtime/network's, the
// kernels are compiled here, as any source.
#include "runtime/network/network.h"
#include "runtime/object/error.h"
#include "runtime/program/library.h"

static const NetMemory memory = {.alloc = rt_alloc,
                                 .alloc_aligned = rt_alloc_aligned,
                                 .free = rt_free,
                                 .grow = rt_grow,
                                 .copy = rt_strdup};

MTLLibrary *rt_network_library(MTLDevice *device, const char *folder, const char *call,
                               MTLError **error) {
    char message[JSON_MESSAGE_BYTES];
    Network *network = network_read(&memory, folder, message);
    if (!network) {
        rt_error_set(error, *message
                                ? rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                                               "%s: %s", call, message)
                                : NULL);
        return NULL;
    }
    const MTLPreprocessorMacro type = {"TYPE", network_type_name(network->type)};
    MTLLibrary *library = mtl_device_new_library_with_source(
        device, network_source(),
        &(MTLCompileOptions){.preprocessor_macros = &type,
                             .preprocessor_macro_count = 1,
                             .headers = network_headers,
                             .header_count = network_header_count,
                             .source_name = "network.metal"},
        error);
    if (library)
        library->network = network;
    else
        network_free(network);
    return library;
}

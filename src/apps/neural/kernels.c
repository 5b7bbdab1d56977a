// SPDX-License-Identifier: Apache-2.0
// kernels.c: libraries from the MSL in this library (see kernels.h).
#include "apps/neural/kernels.h"
#include "base/message.h"
#include "neural_texts.h"

const char *neural_kernel_source(const char *name) { return embedded_text(neural_texts, name); }

MTLLibrary *neural_kernel_library(MTLDevice *device, const char *name, char *message) {
    enum { MAX_SOURCES = 32 };
    const char *source = neural_kernel_source(name);
    if (!source) {
        message_fail(message, "no kernel source '%s'", name);
        return NULL;
    }
    MTLHeader headers[MAX_SOURCES];
    size_t n = 0;
    for (; n < MAX_SOURCES && neural_texts[n].name; n++)
        headers[n] = (MTLHeader){neural_texts[n].name, neural_texts[n].text, 0};
    MTLError *error = NULL;
    MTLCompileOptions options = {.source_name = name, .headers = headers, .header_count = n};
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, &options, &error);
    if (!library) message_fail(message, "%s: %s", name, mtl_error_localized_description(error));
    mtl_release(error);
    return library;
}

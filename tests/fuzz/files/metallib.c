// SPDX-License-Identifier: Apache-2.0
// metallib.c: libraries, and the clothes of Apple's around them. What opens must be readable whole,
// and be the same when it is written and opened again.
#include "fuzz.h"
#include "abi/metallib.h"
#include "abi/mtlb.h"

static void read_reflection(const RfLibrary *lib) {
    for (uint32_t i = 0; i < lib->n_types; i++) {
        const RfType *t = &lib->types[i];
        fuzz_text(t->name);
        for (uint32_t k = 0; k < t->n_members; k++) {
            fuzz_text(t->members[k].name);
            // Others use these as they are.
            if (t->members[k].type >= lib->n_types) abort();
        }
        if (t->element != UINT32_MAX && t->element >= lib->n_types) abort();
    }
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        const RfFunction *f = &lib->functions[i];
        fuzz_text(f->name);
        fuzz_text(f->symbol);
        for (uint32_t k = 0; k < f->n_args; k++) fuzz_text(f->args[k].name);
    }
    for (uint32_t i = 0; i < lib->n_constants; i++) fuzz_text(lib->constants[i].name);
}

static void read_library(Blob *bytes) {
    const char *why = NULL;
    Metallib *lib = bytes ? metallib_open(bytes, &why) : NULL;
    if (lib) {
        fuzz_text(lib->source_name);
        fuzz_text(lib->log);
        for (uint32_t i = 0; i < lib->n_links; i++) fuzz_text(lib->links[i]);
        for (uint32_t i = 0; i < lib->n_files; i++) fuzz_text(lib->files[i].path);
        fuzz_keep(fuzz_touch(lib->bitcode, lib->bitcode_bytes));
        read_reflection(lib->reflection);
        Blob *again = metallib_encode(lib);
        Metallib *second = again ? metallib_open(again, &why) : NULL;
        if (again && !second) abort();
        metallib_release(second);
        blob_release(again);
        metallib_release(lib);
    } else if (bytes && !why) {
        abort();
    }
    blob_release(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    Mtlb parts;
    read_library(blob_copy(data, n));
    read_library(fuzz_container(data, n, false));
    if (mtlb_open(data, n, &parts)) {
        fuzz_keep(fuzz_touch(parts.source, parts.source_bytes));
        read_library(fuzz_container(parts.library, parts.library_bytes, false));
    }
    return 0;
}

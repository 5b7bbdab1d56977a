// SPDX-License-Identifier: Apache-2.0
// apple_metallib.c: metallibs and objects of Apple's compiler. What opens must be readable whole;
// what does not says why.
#include "fuzz.h"
#include "abi/apple_metallib.h"

static void read_tags(AppleBytes tags) {
    for (AppleTag t; apple_tag_next(&tags, &t);) {
        fuzz_text(t.name);
        fuzz_keep(fuzz_touch(t.value.data, t.value.n_bytes));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    AppleMetallib lib;
    AppleProblem why = {""};
    if (!apple_metallib_open(data, n, &lib, &why)) {
        if (!why.text[0]) abort();
        return 0;
    }
    fuzz_keep(fuzz_touch(lib.file.data, lib.file.n_bytes));
    fuzz_text(apple_type_name(lib.type));
    fuzz_text(apple_system_name(&lib));
    read_tags(lib.file_tags);
    for (uint32_t i = 0; i < lib.n_functions; i++) {
        const AppleFunction *f = &lib.functions[i];
        fuzz_text(f->name);
        fuzz_text(apple_stage_name(f->stage));
        fuzz_keep(apple_function_intact(f));
        read_tags(f->public_metadata);
        read_tags(f->private_metadata);
    }
    apple_metallib_close(&lib);
    return 0;
}

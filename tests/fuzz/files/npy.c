// SPDX-License-Identifier: Apache-2.0
// npy.c: NumPy's .npy files: the header, whose sizes must fit the file, and arrays.
#include "base/npy.h"
#include "fuzz.h"
#include <stdio.h>

static void read_array(const uint8_t *data, size_t n) {
    static char path[128];
    snprintf(path, sizeof path, "%s/a.npy", fuzz_folder());
    fuzz_put("a.npy", data, n);
    NpyArray a;
    char *why = npy_read(path, &a);
    if (!why) {
        fuzz_keep(fuzz_touch(a.data, a.n_elements * a.type->n_bytes));
        npy_free(&a);
    } else if (a.data) {
        abort(); // empty on failure
    }
    free(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    NpyHeader h;
    char *why = npy_header_read(data, n, &h);
    if (!why) {
        if (h.data_at > n || h.n_data_bytes > n - h.data_at) abort();
        fuzz_keep(fuzz_touch(data + h.data_at, h.n_data_bytes));
        read_array(data, n);
    }
    free(why);
    return 0;
}

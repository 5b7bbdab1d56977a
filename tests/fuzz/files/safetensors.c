// SPDX-License-Identifier: Apache-2.0
// safetensors.c: safetensors files as they came, and with the length of the header made right (it
// ends with the last brace).
#include "base/safetensors.h"
#include "base/json_reader.h"
#include "fuzz.h"

static void read_tensors(const uint8_t *data, size_t n) {
    SafeTensors s;
    char message[JSON_MESSAGE_BYTES];
    if (!safetensors_read(&s, data, n, "file", message)) return;
    for (size_t i = 0; i < s.n; i++) {
        const SafeTensor *t = &s.items[i];
        fuzz_text(t->name);
        if (t->end < t->begin || s.data + t->end > data + n) abort();
        fuzz_keep(fuzz_touch(s.data + t->begin, t->end - t->begin));
        if (!safetensors_find(&s, t->name)) abort();
    }
    for (size_t i = 0; i < s.n_metadata; i++) fuzz_text(s.metadata[i]);
    safetensors_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    read_tensors(data, n);
    const uint8_t *last = n > 8 ? memrchr(data + 8, '}', n - 8) : NULL;
    if (!last) return 0;
    uint8_t *copy = malloc(n);
    if (!copy) return 0;
    uint64_t header = (uint64_t)(last + 1 - (data + 8));
    memcpy(copy, data, n);
    memcpy(copy, &header, 8);
    read_tensors(copy, n);
    free(copy);
    return 0;
}

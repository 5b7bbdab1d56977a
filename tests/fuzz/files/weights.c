// SPDX-License-Identifier: Apache-2.0
// weights.c: networks in JSON, and packed ones with the checksum made right.
#include "fuzz.h"
#include "base/message.h"
#include "apps/neural/packed.h"
#include "apps/neural/weights.h"

static void read_packed(const uint8_t *data, size_t n) {
    NeuralNetwork net;
    uint32_t width, height;
    char message[MESSAGE_BYTES];
    if (!neural_unpack(&net, &width, &height, data, n, "file", message)) return;
    fuzz_keep(fuzz_touch(net.params, net.n_params * sizeof *net.params));
    neural_network_free(&net);
}

static void mend_packed(const uint8_t *data, size_t n) {
    uint8_t *copy = n > 4 ? malloc(n) : NULL;
    uint32_t sum = 2166136261u; // FNV-1a
    if (!copy) return;
    memcpy(copy, data, n);
    for (size_t i = 0; i < n - 4; i++) sum = (sum ^ copy[i]) * 16777619u;
    memcpy(copy + n - 4, &sum, 4);
    read_packed(copy, n);
    free(copy);
}

static void read_weights(const uint8_t *data, size_t n) {
    NeuralWeights w;
    char message[MESSAGE_BYTES];
    if (neural_weights_parse(&w, (const char *)data, n, "file", message)) {
        size_t n_text;
        fuzz_keep(fuzz_touch(w.net.params, w.net.n_params * sizeof *w.net.params));
        char *text = neural_weights_text(&w, &n_text, message);
        NeuralWeights again;
        // Numbers that are not finite are not written; all else comes back.
        if (text && !neural_weights_parse(&again, text, n_text, "again", message)) abort();
        if (text) neural_weights_free(&again);
        free(text);
    }
    neural_weights_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (neural_packed_recognised(data, n)) {
        read_packed(data, n);
        mend_packed(data, n);
    } else {
        read_weights(data, n);
    }
    return 0;
}

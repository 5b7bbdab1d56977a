// SPDX-License-Identifier: Apache-2.0
// network.c: packages of the machine-learning encoder: the text up to the first byte 0 is
// network.json, what follows is weights.safetensors. What is read is planned too.
#include "runtime/network/network.h"
#include "fuzz.h"

static void *zeroed(size_t n) { return calloc(1, n ? n : 1); }
static void *aligned(size_t n, size_t alignment) {
    return aligned_alloc(alignment, (n + alignment) / alignment * alignment);
}
static bool grow(void *array, size_t *capacity, size_t n, size_t item_bytes) {
    void **items = array;
    if (n <= *capacity) return true;
    size_t more = n * 2;
    void *to = realloc(*items, more * item_bytes);
    if (!to) return false;
    memset((char *)to + *capacity * item_bytes, 0, (more - *capacity) * item_bytes);
    *items = to;
    *capacity = more;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const NetMemory memory = {zeroed, aligned, free, grow, strdup};
    static const uint8_t nothing[1];
    const uint8_t *zero = n ? memchr(data, 0, n) : NULL;
    size_t n_json = zero ? (size_t)(zero - data) : n;
    fuzz_put("network.json", n_json ? data : nothing, n_json);
    fuzz_put("weights.safetensors", zero ? zero + 1 : nothing, zero ? n - n_json - 1 : 0);
    char message[JSON_MESSAGE_BYTES];
    Network *net = network_read(&memory, fuzz_folder(), message);
    if (!net) return 0;
    NetPlan plan;
    MTL4MachineLearningPipelineDescriptor d = {0};
    network_plan(net, &d, &plan, message);
    network_plan_free(net, &plan); // also of one that failed
    network_free(net);
    return 0;
}

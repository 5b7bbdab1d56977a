// SPDX-License-Identifier: Apache-2.0
// kernels.c: kernels by key. A key is a few bytes that say what the kernel does, so that the usual
// case, a kernel that is there already, costs a hash and a comparison and no text.
//
// Arithmetic is compiled in safe mode without contraction: an operation gives the same bits alone
// and inside a fused kernel.
#include "tensor/kernels.h"
#include <stdlib.h>
#include <string.h>

struct IgKernel {
    uint64_t hash;
    MTLComputePipelineState *pipeline;
    size_t n_key;
    struct IgKernel *next;
    unsigned char key[]; // n_key bytes
};

typedef struct IgKernelTable {
    IgKernel **buckets;
    size_t n_buckets, n; // a power of two
} IgKernelTable;

bool ig_kernels_init(IgDevice *device) {
    IgKernelTable *t = device->kernels = calloc(1, sizeof *t);
    if (!t) return false;
    t->n_buckets = 256;
    t->buckets = calloc(t->n_buckets, sizeof *t->buckets);
    return t->buckets != NULL;
}

static void free_kernel(IgKernel *k) {
    mtl_release(k->pipeline);
    free(k);
}

void ig_kernels_destroy(IgDevice *device) {
    IgKernelTable *t = device->kernels;
    if (!t) return;
    for (size_t i = 0; t->buckets && i < t->n_buckets; i++)
        for (IgKernel *k = t->buckets[i], *next; k; k = next) {
            next = k->next;
            free_kernel(k);
        }
    free(t->buckets);
    free(t);
}

static uint64_t hash_of(const unsigned char *key, size_t n) {
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) h = (h ^ key[i]) * 1099511628211u;
    return h ^ h >> 32;
}

static void grow(IgKernelTable *t) {
    size_t n = t->n_buckets * 4;
    IgKernel **buckets = calloc(n, sizeof *buckets);
    if (!buckets) return; // slower, not wrong
    for (size_t i = 0; i < t->n_buckets; i++)
        for (IgKernel *k = t->buckets[i], *next; k; k = next) {
            next = k->next;
            k->next = buckets[k->hash & (n - 1)];
            buckets[k->hash & (n - 1)] = k;
        }
    free(t->buckets);
    t->buckets = buckets;
    t->n_buckets = n;
}

static MTLComputePipelineState *compile(IgDevice *device, const char *text, const char *function,
                                        MTLError **error) {
    MTLError *why = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device->metal, text,
        &(MTLCompileOptions){.math_mode_is_set = true,
                             .math_mode = MTLMathModeSafe,
                             .source_name = function},
        &why);
    if (library) { // then it holds warnings
        mtl_release(why);
        why = NULL;
    }
    MTLFunction *f = library ? mtl_library_new_function(library, function) : NULL;
    MTLComputePipelineState *pipeline =
        f ? mtl_device_new_compute_pipeline_state(device->metal, f, &why) : NULL;
    if (!pipeline)
        ig_fail(error, IgErrorCompilation, "kernel %s: %s", function,
                why ? mtl_error_localized_description(why) : "there is no such function");
    mtl_release(why);
    mtl_release(f);
    mtl_release(library);
    return pipeline;
}

IgKernel *ig_kernel(IgDevice *device, const void *key, size_t n_key, const char *function,
                    IgSourceFn *source, void *context, MTLError **error) {
    IgKernelTable *t = device->kernels;
    uint64_t hash = hash_of(key, n_key);
    for (IgKernel *k = t->buckets[hash & (t->n_buckets - 1)]; k; k = k->next)
        if (k->hash == hash && k->n_key == n_key && !memcmp(k->key, key, n_key)) return k;
    IgKernel *k = calloc(1, sizeof *k + n_key);
    char *text = k ? source(context) : NULL;
    if (!text) {
        free(k);
        ig_fail_no_memory(error);
        return NULL;
    }
    k->pipeline = compile(device, text, function, error);
    free(text);
    if (!k->pipeline) {
        free(k);
        return NULL;
    }
    k->hash = hash;
    k->n_key = n_key;
    memcpy(k->key, key, n_key);
    if (t->n > t->n_buckets * 2) grow(t);
    k->next = t->buckets[hash & (t->n_buckets - 1)];
    t->buckets[hash & (t->n_buckets - 1)] = k;
    t->n++;
    device->statistics.compiled++;
    return k;
}

static char *copy_text(void *text) { return strdup(text); }

IgKernel *ig_kernel_of(IgDevice *device, const char *source, const char *function,
                       MTLError **error) {
    // The texts are constants of this library: their address names them.
    unsigned char key[sizeof source + 64];
    size_t n = strlen(function);
    if (n > 64) {
        ig_fail(error, IgErrorArgument, "kernel name '%s' is too long", function);
        return NULL;
    }
    memcpy(key, &source, sizeof source);
    memcpy(key + sizeof source, function, n);
    return ig_kernel(device, key, sizeof source + n, function, copy_text, (void *)(uintptr_t)source,
                     error);
}

MTLComputePipelineState *ig_kernel_pipeline(IgKernel *kernel) { return kernel->pipeline; }

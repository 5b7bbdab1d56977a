// SPDX-License-Identifier: Apache-2.0
// kernels.c: kernels by key. A key is a few bytes that say what the kernel does, so that the usual
// case, a kernel that is there already, costs a hash and a comparison and no text.
//
// Arithmetic is compiled in safe mode without contraction: an operation gives the same bits alone
// and inside a fused kernel.
#include "tensor/kernels.h"
#include "base/hash_table.h"
#include "ig_texts.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct IgKernel {
    HashNode node;
    MTLComputePipelineState *pipeline;
    uint64_t text; // hash of the source, where keys are checked
    size_t n_key;
    unsigned char key[]; // n_key bytes
};

typedef struct IgKernelTable {
    HashTable kernels;
} IgKernelTable;

bool ig_kernels_init(IgDevice *device) {
    return (device->kernels = calloc(1, sizeof *device->kernels)) != NULL;
}

static void free_kernel(HashNode *node) {
    mtl_release(((IgKernel *)node)->pipeline);
    free(node);
}

void ig_kernels_destroy(IgDevice *device) {
    if (device->kernels) hash_clear(&device->kernels->kernels, free_kernel);
    free(device->kernels);
}

enum { MAX_MACROS = 8 };
typedef struct Macros {
    char text[128]; // what the others point to
    MTLPreprocessorMacro at[MAX_MACROS];
    size_t n;
} Macros;

static void add_macro(Macros *m, const char *name, const char *value) {
    assert(m->n < MAX_MACROS);
    m->at[m->n++] = (MTLPreprocessorMacro){name, value};
}

static void read_macros(Macros *m, const IgKernelFile *file) {
    if (file->element) add_macro(m, "ELEMENT", file->element);
    if (!file->macros) return;
    assert(strlen(file->macros) < sizeof m->text);
    strcpy(m->text, file->macros);
    for (char *rest = m->text, *one; (one = strsep(&rest, " "));) {
        char *name = strsep(&one, "=");
        add_macro(m, name, one);
    }
}

static MTLComputePipelineState *compile(IgDevice *device, const char *text, const char *function,
                                        const Macros *macros, MTLError **error) {
    const MTLHeader headers[] = {{"philox.h", ig_text_philox_h, 0},
                                 {"activations.h", ig_text_activations_h, 0}};
    MTLError *why = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device->metal, text,
        &(MTLCompileOptions){.preprocessor_macros = macros->at,
                             .preprocessor_macro_count = macros->n,
                             .headers = headers,
                             .header_count = 2,
                             .math_mode_is_set = true,
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

static IgKernel *find_kernel(const IgKernelTable *t, uint64_t hash, const void *key, size_t n_key) {
    for (HashNode *n = hash_chain(&t->kernels, hash); n; n = n->next) {
        IgKernel *k = (IgKernel *)n;
        if (n->hash == hash && k->n_key == n_key && !memcmp(k->key, key, n_key)) return k;
    }
    return NULL;
}

// Takes the pipeline over, which may be NULL: then there was an error.
static IgKernel *insert(IgDevice *device, uint64_t hash, const void *key, size_t n_key,
                        MTLComputePipelineState *pipeline, MTLError **error) {
    if (!pipeline) return NULL;
    IgKernel *k = malloc(sizeof *k + n_key);
    if (k) {
        *k = (IgKernel){.node.hash = hash, .pipeline = pipeline, .n_key = n_key};
        memcpy(k->key, key, n_key);
    }
    if (!k || !hash_add(&device->kernels->kernels, &k->node)) {
        free(k);
        ig_fail_no_memory(error);
        mtl_release(pipeline);
        return NULL;
    }
    device->statistics.compiled++;
    return k;
}

IgKernel *ig_kernel(IgDevice *device, const void *key, size_t n_key, const char *function,
                    IgSourceFn *source, void *context, MTLError **error) {
    uint64_t hash = hash_bytes(key, n_key);
    IgKernel *k = find_kernel(device->kernels, hash, key, n_key);
    if ((k && !device->check_keys) || (!k && device->known_only)) return k;
    char *text = source(context);
    if (!text) {
        ig_fail_no_memory(error);
        return NULL;
    }
    uint64_t is = hash_text(text);
    bool fails = k && k->text != is;
    if (!k) {
        k = insert(device, hash, key, n_key,
                   compile(device, text, function, &(Macros){.n = 0}, error), error);
        if (k) k->text = is;
    }
    free(text);
    if (!fails) return k;
    ig_fail(error, IgErrorCompilation, "kernel %s: two sources under one key", function);
    return NULL;
}

IgKernel *ig_kernel_of(IgDevice *device, const IgKernelFile *file, MTLError **error) {
    uint64_t hash = hash_bytes(file, sizeof *file);
    IgKernel *k = find_kernel(device->kernels, hash, file, sizeof *file);
    if (k || device->known_only) return k;
    Macros macros = {.n = 0};
    read_macros(&macros, file);
    MTLComputePipelineState *pipeline = compile(device, file->text, file->function, &macros, error);
    return insert(device, hash, file, sizeof *file, pipeline, error);
}

MTLComputePipelineState *ig_kernel_pipeline(IgKernel *kernel) { return kernel->pipeline; }

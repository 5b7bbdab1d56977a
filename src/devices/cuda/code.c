// SPDX-License-Identifier: Apache-2.0
// code.c: PTX -> machine code of the GPU, by the driver's own compiler. That takes 10 ms and more,
// so the result (a cubin) is kept in the cache of compiled code, by the PTX, the GPU and the
// version of the driver. Most of what kernels with textures are linked with decodes compressed
// blocks, and takes seconds: it is left out until the device has a texture of them.
#include "devices/cuda/cuda_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "abi/cuda_kernel.h"
#include "abi/kernel.h"
#include "base/sha256.h"

static bool check_info(const DevCodeSource *source, CudaKernelInfo *info, char *why,
                       size_t why_bytes) {
    const char *bytes = source->bytes;
    if (source->n_bytes < sizeof *info + 1 || bytes[source->n_bytes - 1]) {
        snprintf(why, why_bytes, "it is not whole");
        return false;
    }
    memcpy(info, bytes, sizeof *info);
    if (memcmp(info->magic, CUDA_KERNEL_MAGIC, sizeof info->magic) || info->abi != ABI_VERSION) {
        snprintf(why, why_bytes, "it is not code for a GPU, or of another version");
        return false;
    }
    if (info->n_constants > CUDA_MAX_CONSTANTS) {
        snprintf(why, why_bytes, "it has %u words of constants", info->n_constants);
        return false;
    }
    size_t more = (size_t)info->blocks_bytes + info->no_blocks_bytes,
           n_texts = source->n_bytes - sizeof *info;
    if (more &&
        (!info->blocks_bytes || !info->no_blocks_bytes || more >= n_texts ||
         bytes[source->n_bytes - more - 1] || bytes[source->n_bytes - info->no_blocks_bytes - 1])) {
        snprintf(why, why_bytes, "it is not whole");
        return false;
    }
    if (info->n_slots > CUDA_MAX_SLOTS) {
        snprintf(why, why_bytes, "it has %u arguments", info->n_slots);
        return false;
    }
    for (uint32_t i = 0; i < source->function->n_args; i++)
        if (source->function->args[i].kind == RF_ARG_IMAGEBLOCK) {
            snprintf(why, why_bytes, "code for GPUs has no imageblocks");
            return false;
        }
    return true;
}

// ---- The driver's compiler ----

// A kernel's text, and what it is linked with; NULL: nothing.
typedef struct Texts {
    const char *kernel, *other;
} Texts;

static void cubin_key(const CudaDevice *d, const Texts *texts, unsigned char key[SHA256_BYTES]) {
    char head[80];
    int n = snprintf(head, sizeof head, "cubin 2 sm_%d driver %d", d->sm, d->driver->version);
    Sha256 s;
    sha256_begin(&s);
    sha256_add(&s, head, (size_t)n + 1);
    sha256_add(&s, texts->kernel, strlen(texts->kernel) + 1);
    if (texts->other) sha256_add(&s, texts->other, strlen(texts->other) + 1);
    sha256_end(&s, key);
}

// One line: what the driver says goes into messages.
static void one_line(char *text) {
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t') *c = ' ';
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
}

// Code that is made behind a program's back (pipeline.c) may still be at it when the program ends,
// and the driver's compiler then takes itself apart, whoever is inside: free() aborts. So whoever
// compiles holds this to read, and the end of the process takes it to write, for good.
static pthread_rwlock_t compiling = PTHREAD_RWLOCK_INITIALIZER;

static void end_compiling(void) {
    enum { SECONDS = 10 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    pthread_rwlock_timedwrlock(&compiling, &until);
}

// What is asked for last is done first: before the compiler, which came with the first code.
static void end_before_compiler(void) { atexit(end_compiling); }

// A copy of the cubin, malloc'ed; NULL and a sentence in `why`.
static void *link_texts(CudaDevice *d, const Texts *texts, size_t *n_bytes, char *why,
                        size_t why_bytes) {
    const CudaDriver *driver = d->driver;
    enum { LOG = 1024, LONG_PTX = 200000 };
    char log[LOG] = "";
    // The code of textures is long, and no faster for more care.
    unsigned level = texts->other || strlen(texts->kernel) > LONG_PTX ? 1 : 4;
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                     CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)LOG, (void *)(uintptr_t)level};
    CUlinkState state = NULL;
    void *made = NULL, *copy = NULL;
    CUresult result = driver->cuLinkCreate_v2(3, options, values, &state);
    for (int i = 0; i < 2 && !result; i++) {
        const char *text = i ? texts->other : texts->kernel;
        if (text)
            result =
                driver->cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                                         strlen(text) + 1, i ? "blocks" : "kernel", 0, NULL, NULL);
    }
    if (!result) result = driver->cuLinkComplete(state, &made, n_bytes);
    if (!result && (copy = malloc(*n_bytes)))
        memcpy(copy, made, *n_bytes);
    else if (!result)
        snprintf(why, why_bytes, "no memory for it");
    if (result) {
        log[LOG - 1] = 0;
        one_line(log);
        snprintf(why, why_bytes, "%s%s%s", cuda_error_name(result), *log ? ": " : "", log);
    }
    if (cuda_is_fatal(result) && result >= CUDA_ERROR_ILLEGAL_ADDRESS) cuda_lose(d, result);
    if (state) driver->cuLinkDestroy(state);
    return copy;
}

static void *compile(CudaDevice *d, const Texts *texts, size_t *n_bytes, char *why,
                     size_t why_bytes) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pthread_rwlock_tryrdlock(&compiling)) {
        snprintf(why, why_bytes, "the program ends");
        return NULL;
    }
    void *cubin = link_texts(d, texts, n_bytes, why, why_bytes);
    pthread_once(&once, end_before_compiler);
    pthread_rwlock_unlock(&compiling);
    return cubin;
}

static bool load_module(const CudaDevice *d, const void *cubin, CudaMade *made) {
    const CudaDriver *driver = d->driver;
    if (driver->cuModuleLoadData(&made->module, cubin)) return false;
    if (driver->cuModuleGetFunction(&made->function, made->module, CUDA_KERNEL_SYMBOL)) {
        driver->cuModuleUnload(made->module);
        made->module = NULL;
        return false;
    }
    made->max_threads = (int)ABI_MAX_THREADS;
    driver->cuFuncGetAttribute(&made->max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                               made->function);
    driver->cuFuncSetAttribute(made->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               (int)d->max_shared);
    return true;
}

// From the cache, or made and kept there. What the cache has may be of a driver with the same
// number that does not take it: then it is made again.
static bool make_module(CudaDevice *d, const Texts *texts, const DevCache *cache, CudaMade *made,
                        char *why, size_t why_bytes) {
    size_t n_bytes = 0;
    unsigned char key[SHA256_BYTES];
    cubin_key(d, texts, key);
    void *cubin = cache ? cache->find(key, &n_bytes) : NULL;
    bool ok = cubin && load_module(d, cubin, made);
    free(cubin);
    if (ok) return true;
    cubin = compile(d, texts, &n_bytes, why, why_bytes);
    ok = cubin && load_module(d, cubin, made);
    if (cubin && !ok) snprintf(why, why_bytes, "the driver does not take what it made itself");
    if (ok && cache) cache->store(key, cubin, n_bytes);
    free(cubin);
    return ok;
}

// ---- Code ----

static void note_slots(CudaCode *code, const RfFunction *f) {
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *arg = &f->args[i];
        if (arg->kind != RF_ARG_BUFFER) continue;
        for (uint32_t k = 0; k < arg->count && arg->slot + k < code->head.n_slots; k++)
            code->buffer_slots[(arg->slot + k) / 64] |= (uint64_t)1 << (arg->slot + k) % 64;
    }
}

// What the kernel is launched with now. Its texts are kept as long as they may be needed.
static bool make_first(CudaCode *code, const DevCodeSource *source, const CudaKernelInfo *info,
                       char *why, size_t why_bytes) {
    CudaDevice *d = code->device;
    const char *kernel = (const char *)source->bytes + sizeof *info,
               *none = (const char *)source->bytes + source->n_bytes - info->no_blocks_bytes,
               *blocks = none - info->blocks_bytes;
    bool reads = info->blocks_bytes != 0, whole = !reads || atomic_load(&d->has_blocks);
    const Texts texts = {kernel, !reads ? NULL : whole ? blocks : none};
    if (!whole) {
        size_t n_bytes = (size_t)(none - kernel);
        code->ptx = malloc(n_bytes);
        if (!code->ptx) {
            snprintf(why, why_bytes, "no memory for it");
            return false;
        }
        memcpy(code->ptx, kernel, n_bytes);
        if (source->cache && !source->cache->only_while_loading) code->cache = source->cache;
    }
    atomic_store(&code->is_whole, whole);
    return make_module(d, &texts, source->cache, whole ? &code->whole : &code->without_blocks, why,
                       why_bytes);
}

const CudaMade *cuda_code_made(CudaCode *code) {
    CudaDevice *d = code->device;
    char why[256];
    if (atomic_load(&code->is_whole)) return &code->whole;
    if (!atomic_load(&d->has_blocks)) return &code->without_blocks;
    pthread_mutex_lock(&d->code_lock);
    bool ok = atomic_load(&code->is_whole);
    if (!ok) {
        const Texts texts = {code->ptx, code->ptx + strlen(code->ptx) + 1};
        ok = make_module(d, &texts, code->cache, &code->whole, why, sizeof why);
        if (ok) {
            free(code->ptx);
            code->ptx = NULL;
            atomic_store(&code->is_whole, true);
        }
    }
    pthread_mutex_unlock(&d->code_lock);
    return ok ? &code->whole : NULL;
}

DevCode *cuda_code_load(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    CudaDevice *d = context;
    CudaKernelInfo info;
    if (!check_info(source, &info, why, why_bytes)) return NULL;
    CudaCode *code = calloc(1, sizeof *code);
    snprintf(why, why_bytes, "no memory for it");
    if (!code || !cuda_enter(d)) {
        int by = atomic_load(&d->lost_by);
        if (code && atomic_load(&d->is_lost))
            snprintf(why, why_bytes, "%s (%s)", cuda_lost_for_good(), cuda_error_name(by));
        free(code);
        return NULL;
    }
    code->device = d;
    code->flags = info.flags;
    code->head.n_slots = info.n_slots;
    code->head.threadgroup_bytes = info.threadgroup_bytes;
    code->library_bytes = info.library_bytes;
    code->n_constants = info.n_constants;
    memcpy(code->constants, info.constants, sizeof code->constants);
    code->only_constants = info.only_constants;
    code->slots_read = info.slots_read;
    code->slots_written = info.slots_written;
    bool ok = make_first(code, source, &info, why, why_bytes);
    if (ok) note_slots(code, source->function);
    cuda_leave(d);
    if (ok) return &code->head;
    free(code->ptx);
    free(code);
    return NULL;
}

void cuda_code_free(DevCode *head) {
    CudaCode *code = (CudaCode *)head;
    CudaDevice *d = code->device;
    if (cuda_enter(d)) {
        const CudaMade *const both[] = {&code->whole, &code->without_blocks};
        for (int i = 0; i < 2; i++) {
            if (!both[i]->module) continue;
            cuda_graphs_forget(d, both[i]->function);
            d->driver->cuModuleUnload(both[i]->module);
        }
        cuda_leave(d);
    }
    free(code->ptx);
    free(code);
}

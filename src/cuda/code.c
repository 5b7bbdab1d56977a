// SPDX-License-Identifier: Apache-2.0
// code.c: PTX -> machine code of the GPU, by the driver's own compiler. That takes 10 ms and more,
// so the result (a cubin) is kept in the cache of compiled code, by the PTX, the GPU and the
// version of the driver.
#include "cuda/cuda_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void cubin_key(const CudaDevice *d, const void *ptx, size_t n_bytes,
                      unsigned char key[SHA256_BYTES]) {
    char head[80];
    int n = snprintf(head, sizeof head, "cubin 1 sm_%d driver %d", d->sm, d->driver->version);
    Sha256 s;
    sha256_begin(&s);
    sha256_add(&s, head, (size_t)n + 1);
    sha256_add(&s, ptx, n_bytes);
    sha256_end(&s, key);
}

// One line: what the driver says goes into messages.
static void one_line(char *text) {
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t') *c = ' ';
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
}

// A copy of the cubin, malloc'ed; NULL and a sentence in `why`.
static void *compile(CudaDevice *d, const char *ptx, size_t n_ptx, size_t *n_bytes, char *why,
                     size_t why_bytes) {
    const CudaDriver *driver = d->driver;
    enum { LOG = 1024, LONG_PTX = 200000 };
    char log[LOG] = "";
    // The code of textures is long, and no faster for more care.
    unsigned level = n_ptx > LONG_PTX ? 1 : 4;
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                     CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)LOG, (void *)(uintptr_t)level};
    CUlinkState state = NULL;
    void *made = NULL, *copy = NULL;
    CUresult result = driver->cuLinkCreate_v2(3, options, values, &state);
    if (!result)
        result = driver->cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)ptx, n_ptx,
                                          "kernel", 0, NULL, NULL);
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

static bool load_module(CudaCode *code, const void *cubin) {
    const CudaDriver *driver = code->device->driver;
    if (driver->cuModuleLoadData(&code->module, cubin)) return false;
    if (!driver->cuModuleGetFunction(&code->function, code->module, CUDA_KERNEL_SYMBOL))
        return true;
    driver->cuModuleUnload(code->module);
    code->module = NULL;
    return false;
}

// From the cache, or made and kept there. What the cache has may be of a driver with the same
// number that does not take it: then it is made again.
static bool make_module(CudaCode *code, const DevCodeSource *source, char *why, size_t why_bytes) {
    const char *ptx = (const char *)source->bytes + sizeof(CudaKernelInfo);
    size_t n_ptx = source->n_bytes - sizeof(CudaKernelInfo), n_bytes = 0;
    unsigned char key[SHA256_BYTES];
    cubin_key(code->device, ptx, n_ptx, key);
    void *cubin = source->cache ? source->cache->find(key, &n_bytes) : NULL;
    bool ok = cubin && load_module(code, cubin);
    free(cubin);
    if (ok) return true;
    cubin = compile(code->device, ptx, n_ptx, &n_bytes, why, why_bytes);
    ok = cubin && load_module(code, cubin);
    if (cubin && !ok) snprintf(why, why_bytes, "the driver does not take what it made itself");
    if (ok && source->cache) source->cache->store(key, cubin, n_bytes);
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

DevCode *cuda_code_load(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    CudaDevice *d = context;
    CudaKernelInfo info;
    if (!check_info(source, &info, why, why_bytes)) return NULL;
    CudaCode *code = calloc(1, sizeof *code);
    snprintf(why, why_bytes, "%s", code ? cuda_lost_for_good() : "no memory for it");
    if (!code || !cuda_enter(d)) {
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
    code->max_threads = (int)ABI_MAX_THREADS;
    bool ok = make_module(code, source, why, why_bytes);
    if (ok) {
        const CudaDriver *driver = d->driver;
        note_slots(code, source->function);
        driver->cuFuncGetAttribute(&code->max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                   code->function);
        driver->cuFuncSetAttribute(code->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   (int)d->max_shared);
    }
    cuda_leave(d);
    if (ok) return &code->head;
    free(code);
    return NULL;
}

void cuda_code_free(DevCode *head) {
    CudaCode *code = (CudaCode *)head;
    CudaDevice *d = code->device;
    if (cuda_enter(d)) {
        cuda_graphs_forget(d, code->function);
        d->driver->cuModuleUnload(code->module);
        cuda_leave(d);
    }
    free(code);
}

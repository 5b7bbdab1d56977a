// SPDX-License-Identifier: Apache-2.0
// device.c: the CUDA device's table: NVIDIA's GPUs through their driver. What a GPU is can be asked
// without a context, which takes a tenth of a second to make and comes with the first memory.
//
// Left out, and refused before the device sees it: render passes.
#include "devices/cuda/cuda_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/cuda_kernel.h"

static unsigned count(void) {
    const CudaDriver *driver = cuda_driver();
    return driver ? (unsigned)driver->n_devices : 0;
}

static int attribute(const CudaDriver *driver, int which, CUdevice device) {
    int value = 0;
    return driver->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

// ---- Life ----

// A context that a kernel never leaves stays busy: later devices have their own.
static atomic_bool primary_is_busy[64];
// After a bad access, or a trap, the driver (580) refuses everything to the process until it ends:
// no new context, no context reset, no other instance of the driver was of any use (tried on an
// H200, 2026-11).
static atomic_bool is_broken;

static bool read_facts(CudaDevice *d, DevFacts *facts, char *why, size_t why_bytes) {
    const CudaDriver *driver = d->driver;
    size_t n_bytes = 0;
    char name[96] = "";
    int major = attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->device),
        minor = attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->device);
    d->sm = major * 10 + minor;
    driver->cuDeviceGetName(name, sizeof name, d->device);
    driver->cuDeviceTotalMem_v2(&n_bytes, d->device);
    if (d->sm < CUDA_LEAST_TARGET) {
        snprintf(why, why_bytes, "'%s' is of sm_%d, and sm_%d is the oldest that code is made for",
                 name, d->sm, CUDA_LEAST_TARGET);
        return false;
    }
    if (!attribute(driver, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, d->device)) {
        snprintf(why, why_bytes, "'%s' has no addresses that the host shares", name);
        return false;
    }
    int shared =
        attribute(driver, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, d->device);
    d->max_shared = (unsigned)shared;
    int threads = attribute(driver, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, d->device),
        units = attribute(driver, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d->device);
    *facts = (DevFacts){.features = DEV_TEXTURES | DEV_TENSORS | DEV_INDIRECT_COMMANDS |
                                    DEV_FUNCTION_POINTERS | DEV_VALIDATION | DEV_VIEW_POOLS,
                        .memory_bytes = n_bytes,
                        .max_buffer_bytes = n_bytes,
                        .max_threads = (uint32_t)threads,
                        .max_threadgroup_bytes = (uint32_t)shared,
                        .n_workers = (uint32_t)units};
    snprintf(facts->name, sizeof facts->name, "%s", name);
    snprintf(facts->architecture, sizeof facts->architecture, "nvidia_sm_%d", d->sm);
    // Hopper has instructions that no later GPU has.
    snprintf(facts->target, sizeof facts->target, "sm_%d%s", d->sm, d->sm == 90 ? "a" : "");
    return true;
}

static void *open_cuda(unsigned index, DevFacts *facts, char *why, size_t why_bytes) {
    const CudaDriver *driver = cuda_driver();
    if (!driver || index >= (unsigned)driver->n_devices) {
        snprintf(why, why_bytes, "%s", driver ? "there is no such GPU" : cuda_driver_why());
        return NULL;
    }
    if (atomic_load(&is_broken)) {
        snprintf(why, why_bytes, "%s", cuda_lost_for_good());
        return NULL;
    }
    CudaDevice *d = calloc(1, sizeof *d);
    if (!d) {
        snprintf(why, why_bytes, "there is no memory for it");
        return NULL;
    }
    d->driver = driver;
    d->index = index;
    CUresult result = driver->cuDeviceGet(&d->device, (int)index);
    if (result) snprintf(why, why_bytes, "%s", cuda_error_name(result));
    if (result || !read_facts(d, facts, why, why_bytes)) {
        free(d);
        return NULL;
    }
    d->own_context = index < 64 && atomic_load(&primary_is_busy[index]);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    pthread_mutex_init(&d->service_lock, NULL);
    pthread_mutex_init(&d->graph_lock, NULL);
    pthread_mutex_init(&d->code_lock, NULL);
    return d;
}

static void give_back(CudaDevice *d, CUcontext context) {
    if (d->own_context)
        d->driver->cuCtxDestroy_v2(context);
    else
        d->driver->cuDevicePrimaryCtxRelease_v2(d->device);
}

static void close_cuda(void *context) {
    CudaDevice *d = context;
    // What a lost context has is left to the end of the process: its driver may never answer.
    if (atomic_load(&d->context) && cuda_enter(d)) {
        const CudaDriver *driver = d->driver;
        cuda_graphs_forget(d, NULL);
        driver->cuStreamSynchronize(d->service);
        if (d->merge_module) driver->cuModuleUnload(d->merge_module);
        for (CudaFlow *flow = d->flows, *next; flow; flow = next) {
            next = flow->next;
            free(flow->launch_batches[0]);
            free(flow->launch_batches[1]);
            if (flow->copies) cuda_release(d, flow->copies->at);
            free(flow->copies);
            driver->cuStreamDestroy_v2(flow->stream);
            if (flow->started) driver->cuEventDestroy_v2(flow->started);
            cuda_notes_free(flow);
            free(flow->uses);
            free(flow->log.data);
            free(flow->constants.data);
            free(flow);
        }
        for (CudaSlab *s = atomic_load(&d->slabs), *next; s; s = next) {
            next = s->next;
            free(s);
        }
        driver->cuEventDestroy_v2(d->served);
        driver->cuStreamDestroy_v2(d->service);
        if (d->pool) driver->cuMemPoolDestroy(d->pool);
        cuda_leave(d);
        give_back(d, atomic_load(&d->context));
    }
    cuda_records_free(d);
    cuda_views_free(d);
    pthread_mutex_destroy(&d->lock);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->service_lock);
    pthread_mutex_destroy(&d->graph_lock);
    pthread_mutex_destroy(&d->code_lock);
    free(d);
}

static bool is_lost(void *context) { return atomic_load(&((CudaDevice *)context)->is_lost); }

// ---- The context ----

// The driver's own pool: memory that comes back stays with the process up to a quarter of all.
static void make_pool(CudaDevice *d) {
    const CudaDriver *driver = d->driver;
    size_t n_free = 0, n_total = 0;
    if (!driver->cuMemPoolCreate || !driver->cuMemAllocFromPoolAsync || !driver->cuMemFreeAsync ||
        !driver->cuMemPoolSetAttribute || !driver->cuMemPoolDestroy ||
        !attribute(driver, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, d->device))
        return;
    CUmemPoolProps properties = {.allocation = 1, .location = 1, .device = d->device};
    driver->cuMemGetInfo_v2(&n_free, &n_total);
    uint64_t kept = n_total / 4;
    if (driver->cuMemPoolCreate(&d->pool, &properties))
        d->pool = NULL;
    else
        driver->cuMemPoolSetAttribute(d->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept);
}

// With the context pushed; lock held.
static CUresult furnish(CudaDevice *d) {
    const CudaDriver *driver = d->driver;
    CUresult result = driver->cuStreamCreate(&d->service, CU_STREAM_NON_BLOCKING);
    if (!result) result = driver->cuEventCreate(&d->served, CU_EVENT_DISABLE_TIMING);
    if (!result) make_pool(d);
    return result;
}

// Lock held. Without memory for a context there is none now, and the next who asks tries again.
static void start(CudaDevice *d) {
    const CudaDriver *driver = d->driver;
    CUcontext context = NULL, popped;
    CUresult result;
    if (d->own_context) {
        result = driver->cuCtxCreate_v2(&context, CU_CTX_MAP_HOST, d->device); // and pushes it
    } else {
        result = driver->cuDevicePrimaryCtxRetain(&context, d->device);
        if (!result) result = driver->cuCtxPushCurrent_v2(context);
    }
    if (!result) {
        result = furnish(d);
        if (result && d->service) driver->cuStreamDestroy_v2(d->service);
        driver->cuCtxPopCurrent_v2(&popped);
    }
    if (!result) {
        atomic_store(&d->context, context);
        return;
    }
    d->service = NULL;
    if (context) give_back(d, context);
    if (cuda_is_fatal(result)) cuda_lose(d, result);
}

bool cuda_enter(CudaDevice *d) {
    if (!atomic_load(&d->context)) {
        pthread_mutex_lock(&d->lock);
        if (!atomic_load(&d->context) && !atomic_load(&d->is_lost)) start(d);
        pthread_mutex_unlock(&d->lock);
    }
    CUcontext context = atomic_load(&d->context);
    return context && !atomic_load(&d->is_lost) &&
           d->driver->cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
}

void cuda_leave(CudaDevice *d) {
    CUcontext popped;
    d->driver->cuCtxPopCurrent_v2(&popped);
}

void cuda_lose(CudaDevice *d, CUresult why) {
    atomic_store(&d->lost_by, why);
    atomic_store(&d->is_lost, true);
    if (why == CUDA_ERROR_LAUNCH_TIMEOUT && d->index < 64)
        atomic_store(&primary_is_busy[d->index], true);
    if (why != CUDA_ERROR_LAUNCH_TIMEOUT && why >= CUDA_ERROR_ILLEGAL_ADDRESS)
        atomic_store(&is_broken, true);
}

const char *cuda_lost_for_good(void) {
    return atomic_load(&is_broken) ? "the device is lost: a kernel made a bad access, or trapped, "
                                     "and the driver serves this process no longer"
                                   : "the device is lost";
}

bool cuda_is_fatal(CUresult result) {
    switch (result) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return false;
    default: return true;
    }
}

const DevTable cuda_device = {
    .name = "cuda",
    .count = count,
    .open = open_cuda,
    .close = close_cuda,
    .is_lost = is_lost,
    .memory_make = cuda_memory_make,
    .memory_free = cuda_memory_free,
    .memory_wrap = cuda_memory_wrap,
    .memory_adopt = cuda_memory_adopt,
    .wait_for_others = cuda_wait_for_others,
    .memory_show = cuda_memory_show,
    .memory_modified = cuda_memory_modified,
    .texture_make = cuda_texture_make,
    .sampler_make = cuda_sampler_make,
    .tensor_make = cuda_tensor_make,
    .handle_free = cuda_handle_free,
    .views_take = cuda_views_take,
    .views_give = cuda_views_give,
    .view_set = cuda_view_set,
    .view_at = cuda_view_at,
    .code_load = cuda_code_load,
    .code_free = cuda_code_free,
    .run_begin = cuda_run_begin,
    .run_end = cuda_run_end,
    .finish = cuda_finish,
    .start = cuda_start,
    .is_done = cuda_is_done,
    .follow = cuda_follow,
    .use = cuda_use,
    .dispatch = cuda_dispatch,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .move = cuda_move,
    .synchronize = cuda_synchronize,
};

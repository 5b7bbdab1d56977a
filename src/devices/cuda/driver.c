// SPDX-License-Identifier: Apache-2.0
// driver.c: see driver.h.
#include "devices/cuda/driver.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CudaDriver driver;
static bool is_ready;
static char why[256];

const char *cuda_driver_why(void) { return why; }

const char *cuda_error_name(CUresult error) {
    const char *name = NULL;
    if (driver.cuGetErrorName) driver.cuGetErrorName(error, &name);
    return name ? name : "an unknown error of CUDA";
}

// Function pointers are not data pointers: the bytes are taken over.
static bool find_symbol(void *library, const char *name, void *to, size_t n_bytes) {
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, n_bytes);
    return symbol != NULL;
}

static bool find_all(void *library) {
#define CUDA_FIND(name, arguments)                                                                 \
    if (!find_symbol(library, #name, &driver.name, sizeof driver.name)) {                          \
        snprintf(why, sizeof why, "the driver is too old: it has no %s", #name);                   \
        return false;                                                                              \
    }
#define CUDA_FIND_IF_ANY(name, arguments)                                                          \
    find_symbol(library, #name, &driver.name, sizeof driver.name);
    CUDA_FUNCTIONS(CUDA_FIND)
    CUDA_OPTIONAL_FUNCTIONS(CUDA_FIND_IF_ANY)
#undef CUDA_FIND
#undef CUDA_FIND_IF_ANY
    return true;
}

// The library stays: code of it may run on other threads until the process ends.
static void start(void) {
    const char *other = getenv("INGOT_CUDA_LIBRARY");
    const char *path = other && *other ? other : "libcuda.so.1";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, sizeof why, "there is no driver of NVIDIA's: %.200s", dlerror());
        return;
    }
    if (!find_all(library)) return;
    CUresult result = driver.cuInit(0);
    if (!result) result = driver.cuDriverGetVersion(&driver.version);
    if (!result) result = driver.cuDeviceGetCount(&driver.n_devices);
    if (result) snprintf(why, sizeof why, "the driver does not start: %s", cuda_error_name(result));
    is_ready = !result;
}

const CudaDriver *cuda_driver(void) {
    pthread_once(&once, start);
    return is_ready ? &driver : NULL;
}

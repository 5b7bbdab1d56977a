// SPDX-License-Identifier: Apache-2.0
// driver.c: see driver.h.
#include "cuda/driver.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

// One of the driver, and after a fault that it does not get over another, in the same process.
typedef struct Instance {
    CudaDriver driver; // first
    atomic_bool is_broken;
    struct Instance *before;
} Instance;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Instance *_Atomic newest; // written under lock; none is ever freed
static bool tried;               // under lock
static char why[256];            // likewise

const char *cuda_driver_why(void) { return why; }

const char *cuda_error_name(CUresult error) {
    const Instance *i = atomic_load(&newest);
    const char *name = NULL;
    if (i) i->driver.cuGetErrorName(error, &name);
    return name ? name : "an unknown error of CUDA";
}

// Function pointers are not data pointers: the bytes are taken over.
static bool find(void *library, const char *name, void *to, size_t n_bytes) {
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, n_bytes);
    return symbol != NULL;
}

static bool find_all(void *library, CudaDriver *driver) {
#define CUDA_FIND(name, arguments)                                                                 \
    if (!find(library, #name, &driver->name, sizeof driver->name)) {                               \
        snprintf(why, sizeof why, "the driver is too old: it has no %s", #name);                   \
        return false;                                                                              \
    }
#define CUDA_FIND_IF_ANY(name, arguments) find(library, #name, &driver->name, sizeof driver->name);
    CUDA_FUNCTIONS(CUDA_FIND)
    CUDA_OPTIONAL_FUNCTIONS(CUDA_FIND_IF_ANY)
#undef CUDA_FIND
#undef CUDA_FIND_IF_ANY
    return true;
}

// A library stays: code of it may run on other threads until the process ends.
static void start(void *library) { // lock held
    Instance *i = library ? calloc(1, sizeof *i) : NULL;
    if (!i || !find_all(library, &i->driver)) {
        free(i);
        return;
    }
    CudaDriver *driver = &i->driver;
    CUresult result = driver->cuInit(0);
    if (!result) result = driver->cuDriverGetVersion(&driver->version);
    if (!result) result = driver->cuDeviceGetCount(&driver->n_devices);
    if (result) {
        snprintf(why, sizeof why, "the driver does not start: error %d", result);
        free(i);
        return;
    }
    i->before = atomic_load(&newest);
    atomic_store(&newest, i);
}

static void start_first(void) { // lock held
    const char *other = getenv("INGOT_CUDA_LIBRARY");
    const char *path = other && *other ? other : "libcuda.so.1";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(why, sizeof why, "there is no driver of NVIDIA's: %.200s", dlerror());
    start(library);
}

// ---- Another one ----

#ifdef __SANITIZE_ADDRESS__
#define OWN_SYMBOLS 0 // it does not allow it
#else
#define OWN_SYMBOLS RTLD_DEEPBIND
#endif

// A copy of a file is another file: a library that is loaded from it has data of its own. -1: none.
static int copy_of(const char *path) {
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("ingot-cuda", MFD_CLOEXEC);
    bool ok = from >= 0 && to >= 0 && fstat(from, &st) == 0;
    for (off_t left = ok ? st.st_size : 0; ok && left > 0;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        ok = n > 0;
        left -= n > 0 ? n : 0;
    }
    if (from >= 0) close(from);
    if (ok || to < 0) return to;
    close(to);
    return -1;
}

static void start_another(void) { // lock held
    Instance *old = atomic_load(&newest);
    Dl_info info;
    void *symbol;
    memcpy(&symbol, &old->driver.cuInit, sizeof symbol);
    while (old->before) old = old->before; // its file is the one that has a name
    memcpy(&symbol, &old->driver.cuInit, sizeof symbol);
    int file = dladdr(symbol, &info) && info.dli_fname ? copy_of(info.dli_fname) : -1;
    if (file < 0) return;
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    start(dlopen(path, RTLD_NOW | RTLD_LOCAL | OWN_SYMBOLS));
    close(file);
}

const CudaDriver *cuda_driver(void) {
    Instance *i = atomic_load(&newest);
    if (i && !atomic_load(&i->is_broken)) return &i->driver;
    pthread_mutex_lock(&lock);
    if (!tried) start_first();
    tried = true;
    i = atomic_load(&newest);
    if (i && atomic_load(&i->is_broken)) start_another();
    i = atomic_load(&newest);
    pthread_mutex_unlock(&lock);
    return i ? &i->driver : NULL;
}

void cuda_driver_is_broken(const CudaDriver *driver) {
    atomic_store(&((Instance *)(uintptr_t)driver)->is_broken, true);
}

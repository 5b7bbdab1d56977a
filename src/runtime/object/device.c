// SPDX-License-Identifier: Apache-2.0
// device.c: MTLDevice, this computer's CPU. There is one; it lives as long as the process.
#include "runtime/object/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cpu/cpu.h"
#include "runtime/inspect/trace.h"
#include "runtime/object/validation.h"
#include "os/clock.h"
#include "os/pool.h"

static void device_destroy(void *self) {
    (void)self; // `shared` holds a reference that is never dropped
}

static RT_CLASS device_class = {.name = "MTLDevice", .destroy = device_destroy};
static MTLDevice *_Atomic shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

// "model name : Intel(R) Xeon(R) ..." of /proc/cpuinfo, blanks tidied.
static void read_cpu_name(char *name, size_t n_bytes) {
    snprintf(name, n_bytes, "Ingot CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, n_bytes, "Ingot CPU (%.100s)", value);
        break;
    }
    fclose(file);
}

static unsigned environment_number(const char *name) {
    const char *text = getenv(name);
    unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    return n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

static MTLDevice *device_new(void) {
    MTLDevice *device = rt_new(&device_class, sizeof *device);
    if (!device) return NULL;
    pthread_mutex_init(&device->lock, NULL);
    read_cpu_name(device->name, sizeof device->name);
    struct utsname host;
    snprintf(device->architecture, sizeof device->architecture, "%s",
             uname(&host) == 0 ? host.machine : "cpu");
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    device->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    atomic_init(&device->timeout_ms, environment_number("INGOT_TIMEOUT_MS"));
    device->debug_layer = environment_number("MTL_DEBUG_LAYER") != 0;
    device->report_to_stderr = environment_number("MTL_SHADER_VALIDATION_REPORT_TO_STDERR") != 0;
    const char *state = getenv("MTL_SHADER_VALIDATION_DEFAULT_STATE");
    device->shader_validation =
        environment_number("MTL_SHADER_VALIDATION") != 0 && !(state && strcmp(state, "0") == 0);
    device->sync_specialise = environment_number("INGOT_SYNC_SPECIALISE") != 0;
    unsigned width = environment_number("INGOT_WIDTH");
    device->width = width == 1 || width == 8 || width == 16 || width == 32 ? width : 0;
    return device;
}

MTLDevice *rt_device_if_any(void) { return atomic_load(&shared); }

MTLDevice *mtl_create_system_default_device(void) {
    MTLDevice *device = atomic_load(&shared);
    if (!device) {
        pthread_mutex_lock(&shared_lock);
        device = atomic_load(&shared);
        if (!device && os_pool_start()) {
            device = device_new();
            atomic_store(&shared, device);
            if (device) rt_trace_from_environment();
        }
        pthread_mutex_unlock(&shared_lock);
    }
    return mtl_retain(device);
}

size_t mtl_copy_all_devices(MTLDevice **devices, size_t capacity) {
    if (!devices || capacity == 0) return 1;
    devices[0] = mtl_create_system_default_device();
    return devices[0] ? 1 : 0;
}

// ---- Facts ----

const char *mtl_device_name(const MTLDevice *device) { return device ? device->name : ""; }

const char *mtl_device_architecture_name(const MTLDevice *device) {
    return device ? device->architecture : "";
}

uint64_t mtl_device_registry_id(const MTLDevice *device) { return device ? 1 : 0; }

MTLSize mtl_device_max_threads_per_threadgroup(const MTLDevice *device) {
    size_t n = device ? RT_MAX_THREADS : 0;
    return mtl_size_make(n, n, n);
}

size_t mtl_device_max_threadgroup_memory_length(const MTLDevice *device) {
    return device ? RT_MAX_THREADGROUP_MEMORY : 0;
}

size_t mtl_device_max_buffer_length(const MTLDevice *device) {
    return device ? RT_MAX_BUFFER_LENGTH : 0;
}

size_t mtl_device_max_argument_buffer_sampler_count(const MTLDevice *device) {
    return device ? 1024 : 0;
}

MTLArgumentBuffersTier mtl_device_argument_buffers_support(const MTLDevice *device) {
    (void)device;
    return MTLArgumentBuffersTier2; // pointers in buffers are plain addresses
}

// What compute programs find out by asking for a family: SIMD-group functions and reductions,
// simdgroup_matrix, bfloat, non-uniform threadgroups. Families that promise ray tracing or mesh
// shading in hardware wait until those exist.
bool mtl_device_supports_family(const MTLDevice *device, MTLGPUFamily family) {
    if (!device) return false;
    return (family >= MTLGPUFamilyApple1 && family <= MTLGPUFamilyApple8) ||
           family == MTLGPUFamilyMac1 || family == MTLGPUFamilyMac2 ||
           (family >= MTLGPUFamilyCommon1 && family <= MTLGPUFamilyCommon3) ||
           family == MTLGPUFamilyMetal3 || family == MTLGPUFamilyMetal4;
}

bool mtl_device_is_low_power(const MTLDevice *device) {
    (void)device;
    return false;
}

bool mtl_device_is_headless(const MTLDevice *device) { return device != NULL; }

bool mtl_device_is_removable(const MTLDevice *device) {
    (void)device;
    return false;
}

bool mtl_device_has_unified_memory(const MTLDevice *device) { return device != NULL; }

MTLDeviceLocation mtl_device_location(const MTLDevice *device) {
    (void)device;
    return MTLDeviceLocationBuiltIn;
}

size_t mtl_device_location_number(const MTLDevice *device) {
    (void)device;
    return 0;
}

uint64_t mtl_device_recommended_max_working_set_size(const MTLDevice *device) {
    return device ? device->memory_bytes / 4 * 3 : 0;
}

uint64_t mtl_device_max_transfer_rate(const MTLDevice *device) {
    (void)device;
    return 0; // as every built-in device answers
}

uint64_t mtl_device_current_allocated_size(const MTLDevice *device) {
    return device ? atomic_load(&device->allocated_bytes) : 0;
}

bool mtl_device_supports_dynamic_libraries(const MTLDevice *device) { return device != NULL; }

bool mtl_device_supports_function_pointers(const MTLDevice *device) { return device != NULL; }

bool mtl_device_supports_raytracing(const MTLDevice *device) {
    (void)device;
    return false;
}

bool mtl_device_supports_32_bit_float_filtering(const MTLDevice *device) { return device != NULL; }

void mtl_device_sample_timestamps(const MTLDevice *device, uint64_t *cpu, uint64_t *gpu) {
    uint64_t now = device ? os_now_ns() : 0; // one clock
    if (cpu) *cpu = now;
    if (gpu) *gpu = now;
}

size_t mtl_device_worker_count(const MTLDevice *device) { return device ? os_pool_threads() : 0; }

// ---- Settings ----

void mtl_device_set_log_callback(MTLDevice *device, MTLDeviceLogCallback callback, void *context) {
    if (!device) return;
    pthread_mutex_lock(&device->lock);
    device->log_callback = callback;
    device->log_context = context;
    pthread_mutex_unlock(&device->lock);
}

void mtl_device_set_timeout(MTLDevice *device, uint32_t milliseconds) {
    if (device) atomic_store(&device->timeout_ms, milliseconds);
}

// SPDX-License-Identifier: Apache-2.0
// device.h: the device object: what it runs on (devices/table/device.h), and the settings it took
// from the environment.
#ifndef INGOT_RUNTIME_DEVICE_H
#define INGOT_RUNTIME_DEVICE_H
#include "abi/requests.h"
#include "devices/table/device.h"
#include "runtime/object/object.h"

#define RT_MAX_THREADGROUP_MEMORY 32768u
#define RT_MAX_TILE_MEMORY 65536u // an imageblock and threadgroup memory together
#define RT_MAX_THREADS 1024u
#define RT_MAX_BUFFERS 31u
#define RT_MAX_BYTES 4096u

// Code is made for buffers up to a length (MslKernelRequest.reach): that of the longest the device
// ever had. Nearly all programs stay with the first; each further one is compiled for in steps.
enum { RT_N_REACH = 4 };
static const uint8_t rt_reach_bits[RT_N_REACH] = {32, 34, 36, 64};

// What the layers above keep for a device, each under its own lock.
typedef struct RtSpanList { // memory/spans.c
    pthread_mutex_t lock;
    struct RtSpan *first;
    size_t n;
} RtSpanList;
typedef struct RtHandleTable { // program/pipeline_handle.c
    pthread_mutex_t lock;
    struct RtHandlePlace *places;
    size_t n, capacity, n_used;
    uint32_t first_free, last_serial;
} RtHandleTable;
typedef struct RtShapeList { // program/shapes.c
    pthread_mutex_t lock;
    struct RtShapes *first;
    size_t n;
} RtShapeList;

// Of who uses which resource (command/hazard.c), each of a share of the resources. Taken in this
// order, and before a queue's lock. Threads that run queues write them all the time: no two, and
// nothing else, on a cache line.
enum { RT_N_HAZARD_LOCKS = 16 };
typedef struct RtHazardLock {
    pthread_mutex_t lock;
    char apart[64];
} RtHazardLock;

struct MTLDevice {
    RtObject object;
    const DevTable *table;
    void *context; // of the table's functions
    DevFacts facts;
    unsigned index;  // of its kind
    unsigned number; // in the order they were opened
    _Atomic uint64_t allocated_bytes;
    atomic_uint timeout_ms, step_ms; // limits of a command buffer, and of each of its steps
    atomic_uint reach;               // of the longest buffer so far, in rt_reach_bits
    bool debug_layer;       // MTL_DEBUG_LAYER=1: the costlier rules too, messages to stderr
    bool shader_validation; // MTL_SHADER_VALIDATION=1: of pipelines that do not say
    uint8_t watch;          // MSL_WATCH_*: what else MTL_SHADER_VALIDATION lists
    bool report_to_stderr;  // MTL_SHADER_VALIDATION_REPORT_TO_STDERR=1: also with a callback
    bool sync_specialise;   // INGOT_SYNC_SPECIALISE=1
    uint32_t width;         // INGOT_WIDTH, 0: the compiler chooses
    MslDebug debug;         // MTL_SHADER_DEBUG: what code says about its source
    bool counted;           // INGOT_PROFILE_LANES: code counts the lanes that run its lines
    uint64_t schedule;      // INGOT_SCHEDULE, mixed; 0: threadgroups and SIMD-groups in their order
    pthread_mutex_t lock;
    MTLDeviceLogCallback log_callback; // under lock
    void *log_context;                 // under lock
    char apart[64];
    RtHazardLock hazards[RT_N_HAZARD_LOCKS];
    RtSpanList spans;
    RtHandleTable pipelines;
    RtShapeList shapes;
};

// The same, for a call that needs them: says what is missing if not.
#define RT_RAYS_WHY 256
// The device's functions of ray tracing. NULL and a sentence: it has none.
const DevRays *rt_device_rays(const MTLDevice *device, char why[RT_RAYS_WHY]);
bool rt_device_needs(MTLDevice *device, uint32_t features, const char *call);
// The same as an error; NULL: they are there.
struct MTLError *rt_device_lacks(const MTLDevice *device, uint32_t features);
// Has the device what DEV_ features name? NULL has nothing.
static inline bool rt_device_has(const MTLDevice *d, uint32_t features) {
    return d && (d->facts.features & features) == features;
}
static inline unsigned rt_device_reach(const MTLDevice *d) {
    return atomic_load_explicit(&d->reach, memory_order_acquire);
}
void rt_read_checks(MTLDevice *device); // checks.c: of a new one, from the environment
// Memory of so many bytes comes into kernels' reach.
void rt_device_reaches(MTLDevice *device, size_t n_bytes);
// The default device if it exists, borrowed; else NULL.
MTLDevice *rt_device_if_any(void);
// Threadgroup memory comes in units of 16 bytes.
static inline uint32_t rt_threadgroup_length(size_t length) {
    return (uint32_t)((length + 15) & ~(size_t)15);
}
#endif

// SPDX-License-Identifier: Apache-2.0
// device.c: MTLDevice. INGOT_DEVICES says which there are and in which order ("cuda:1" is the
// second of a kind). Unless it is set: the CPU, and behind it the GPUs, which are looked for when a
// program asks for all devices, or for one of them; their driver takes a while to start. The
// default is the first, or the one that INGOT_DEVICE names. Devices are opened once, and live as
// long as the process. One that is lost for good gives its place to a new one when the program asks
// again; isolated devices that a program makes itself are its own.
#include "runtime/object/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "os/clock.h"
#include "os/pool.h"
#include "os/thread.h"
#include "runtime/object/error.h"
#include "runtime/object/trace.h"
#include "runtime/object/validation.h"

enum { MAX_DEVICES = 16 };

// Of a device that was lost, or a program's own: `all` holds a reference to each of the others.
static void device_destroy(void *self) {
    MTLDevice *device = self;
    if (device->table->close) device->table->close(device->context);
    rt_free(device);
}

static RT_CLASS device_class = {.name = "MTLDevice", .destroy = device_destroy};
static MTLDevice *_Atomic all[MAX_DEVICES]; // written under lock, the first time before n_devices
static MTLDevice *retired[MAX_DEVICES];     // the one before; under lock
static atomic_uint n_devices, n_opened;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER; // the list is the process's

static unsigned environment_number(const char *name) {
    const char *text = getenv(name);
    unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    return n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

// Long for any threadgroup that ends, under checks and lane by lane too; short for who waits.
#define DEFAULT_STEP_MS 10000u

static void read_settings(MTLDevice *device) {
    atomic_init(&device->timeout_ms, environment_number("INGOT_TIMEOUT_MS"));
    const char *limit = getenv("INGOT_TIMEOUT_MS");
    atomic_init(&device->step_ms, limit && *limit ? 0 : DEFAULT_STEP_MS);
    device->debug_layer = environment_number("MTL_DEBUG_LAYER") != 0;
    device->report_to_stderr = environment_number("MTL_SHADER_VALIDATION_REPORT_TO_STDERR") != 0;
    rt_read_checks(device);
    device->sync_specialise = environment_number("INGOT_SYNC_SPECIALISE") != 0;
    unsigned width = environment_number("INGOT_WIDTH");
    device->width = width == 1 || width == 8 || width == 16 || width == 32 ? width : 0;
    const char *profile = getenv("INGOT_PROFILE");
    if (profile && *profile) device->debug = MSL_DEBUG_LINES;
    device->counted = device->debug && environment_number("INGOT_PROFILE_LANES") != 0;
    if (environment_number("MTL_SHADER_DEBUG") != 0) {
        device->debug = MSL_DEBUG_FULL;
        device->width = 1;
        atomic_init(&device->timeout_ms, 0); // who looks at a kernel takes time
        atomic_init(&device->step_ms, 0);
    }
}

// ---- Which there are ----

// There may be no device yet that could say it, so the messages go to stderr.
static void complain(const char *name, size_t n, const char *why) {
    fprintf(stderr, "Ingot: INGOT_DEVICES: '%.*s': %s\n", (int)n, name, why);
}

enum { WHY = 512 };

// NULL and a sentence in `why`: it cannot be used.
static MTLDevice *device_new(const DevTable *table, unsigned index, char why[WHY]) {
    snprintf(why, WHY, "there is no memory for it");
    MTLDevice *device = rt_new(&device_class, sizeof *device);
    if (device) device->context = table->open(index, &device->facts, why, WHY);
    if (!device || !device->context) {
        rt_free(device);
        return NULL;
    }
    device->table = rt_capture_hooks.table(table);
    device->index = index;
    device->number = atomic_fetch_add(&n_opened, 1);
    pthread_mutex_init(&device->lock, NULL);
    for (int i = 0; i < RT_N_HAZARD_LOCKS; i++) os_short_lock_init(&device->hazards[i].lock);
    pthread_mutex_init(&device->spans.lock, NULL);
    pthread_mutex_init(&device->pipelines.lock, NULL);
    pthread_mutex_init(&device->shapes.lock, NULL);
    read_settings(device);
    return device;
}

static void open_device(const DevTable *table, unsigned index, const char *name, size_t n) {
    unsigned place = atomic_load(&n_devices);
    char why[WHY] = "there are too many";
    MTLDevice *device = place < MAX_DEVICES ? device_new(table, index, why) : NULL;
    if (!device) {
        complain(name, n, why);
        return;
    }
    atomic_store(&all[place], device);
    atomic_store(&n_devices, place + 1);
}

static bool is_name(const char *known, const char *name, size_t n) {
    return known && strlen(known) == n && memcmp(known, name, n) == 0;
}

// The device that isolates one of that name; NULL: none does.
static const DevTable *isolating(const char *name, size_t n) {
    for (const DevTable *const *t = device_list; *t; t++)
        if (is_name((*t)->isolates, name, n)) return *t;
    return NULL;
}

// What a name stands for; with INGOT_ISOLATE=1 the device that isolates it. NULL: nothing.
static const DevTable *table_named(const char *name, size_t n) {
    const DevTable *found = environment_number("INGOT_ISOLATE") ? isolating(name, n) : NULL;
    for (const DevTable *const *t = device_list; *t && !found; t++)
        if (is_name((*t)->name, name, n)) found = *t;
    return found;
}

// One name of the list: "cpu", "cuda" (all of them) or "cuda:1".
static void open_named(const char *name, size_t n) {
    const char *colon = memchr(name, ':', n);
    size_t length = colon ? (size_t)(colon - name) : n;
    const DevTable *table = table_named(name, length);
    if (table) {
        unsigned count = table->count ? table->count() : 1, first = 0;
        if (colon) {
            char *end;
            unsigned long index = strtoul(colon + 1, &end, 10);
            if (end == colon + 1 || end != name + n || index >= count) {
                complain(name, n, "there is no such number of this kind of device");
                return;
            }
            first = (unsigned)index;
            count = first + 1;
        } else if (count == 0) {
            complain(name, n, "there is no such device on this machine");
        }
        for (unsigned i = first; i < count; i++) open_device(table, i, name, n);
        return;
    }
    char known[128] = "no such device; known are";
    for (const DevTable *const *t = device_list; *t; t++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s %s",
                 t == device_list ? "" : ",", (*t)->name);
    complain(name, n, known);
}

// A kind that a machine may have any number of: those that nobody named, without a word if there
// are none.
static void open_others(void) {
    for (const DevTable *const *t = device_list; *t; t++) {
        if (!(*t)->count || (*t)->isolates) continue;
        size_t n = strlen((*t)->name);
        const DevTable *table = table_named((*t)->name, n);
        for (unsigned i = 0; i < table->count(); i++) open_device(table, i, (*t)->name, n);
    }
}

static const char *setting(const char *name) { // NULL: not set, or to nothing
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

// The number of devices; opens them at first call: all, or those that take no time.
static unsigned open_all(bool whole) {
    static atomic_uint stage; // 1: the first are open, 2: all; written under lock
    const unsigned wanted = whole ? 2 : 1;
    if (atomic_load(&stage) >= wanted) return atomic_load(&n_devices);
    pthread_mutex_lock(&all_lock);
    const char *names = setting("INGOT_DEVICES");
    if (atomic_load(&stage) == 0 && os_pool_start()) {
        for (const char *at = names ? names : device_list[0]->name; *at;) {
            size_t length = strcspn(at, ",");
            if (length) open_named(at, length);
            at += length + (at[length] == ',');
        }
        if (atomic_load(&n_devices)) rt_trace_from_environment();
        if (atomic_load(&n_devices)) rt_capture_hooks.from_environment();
        atomic_store(&stage, names ? 2 : 1);
    }
    if (atomic_load(&stage) == 1 && whole) {
        open_others();
        atomic_store(&stage, 2);
    }
    unsigned n = atomic_load(&n_devices);
    pthread_mutex_unlock(&all_lock);
    return n;
}

static atomic_uint default_place; // of the device that INGOT_DEVICE names, once it was asked for

MTLDevice *rt_device_if_any(void) {
    return atomic_load(&n_devices) ? atomic_load(&all[atomic_load(&default_place)]) : NULL;
}

// One like a device that is lost. A driver may serve this process no longer after a kernel's fault:
// then it is one in a process of its own.
static MTLDevice *device_again(const MTLDevice *lost) {
    char why[WHY];
    const char *name = lost->table->name;
    MTLDevice *fresh = device_new(lost->table, lost->index, why);
    const DevTable *other = fresh ? NULL : isolating(name, strlen(name));
    return other ? device_new(other, lost->index, why) : fresh;
}

// The device of a place in the list, retained; a new one where that is lost. What was there stays
// until the next one is lost too: somebody may be looking at it.
static MTLDevice *device_at(size_t place) {
    pthread_mutex_lock(&all_lock);
    MTLDevice *device = atomic_load(&all[place]), *gone = NULL;
    if (device->table->is_lost && device->table->is_lost(device->context)) {
        MTLDevice *fresh = device_again(device);
        if (fresh) {
            gone = retired[place];
            retired[place] = device;
            atomic_store(&all[place], device = fresh);
        }
    }
    mtl_retain(device);
    pthread_mutex_unlock(&all_lock);
    mtl_release(gone);
    return device;
}

// "cuda:1", or "cuda" for the first of a kind; "cpu" is also the device that isolates it.
static bool is_called(const MTLDevice *device, const char *name) {
    const char *colon = strchr(name, ':');
    size_t n = colon ? (size_t)(colon - name) : strlen(name);
    char *end = NULL;
    unsigned long index = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (colon && (end == colon + 1 || *end)) return false;
    return index == device->index &&
           (is_name(device->table->name, name, n) || is_name(device->table->isolates, name, n));
}

// The place of the device of a name; -1: there is none.
static int place_named(const char *name) {
    bool first = strcmp(name, device_list[0]->name) == 0;
    unsigned n = open_all(!first);
    for (unsigned i = 0; i < n; i++)
        if (is_called(atomic_load(&all[i]), name)) return (int)i;
    return -1;
}

MTLDevice *mtl_create_system_default_device(void) {
    const char *name = setting("INGOT_DEVICE");
    if (!name) return open_all(false) ? device_at(0) : NULL;
    int place = place_named(name);
    static atomic_bool told;
    if (place < 0 && !atomic_exchange(&told, true))
        fprintf(stderr, "Ingot: INGOT_DEVICE: '%s': there is no such device on this machine\n",
                name);
    if (place < 0) return NULL;
    atomic_store(&default_place, (unsigned)place);
    return device_at((size_t)place);
}

MTLDevice *mtl_create_device_named(const char *name, MTLError **error) {
    if (error) *error = NULL;
    int place = name ? place_named(name) : -1;
    if (place >= 0) return device_at((size_t)place);
    rt_error_set(error, rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorNotSupported,
                                     "%s: there is no device '%s' on this machine.", __func__,
                                     name ? name : "(null)"));
    return NULL;
}

size_t mtl_copy_all_devices(MTLDevice **devices, size_t capacity) {
    size_t n = open_all(true);
    for (size_t i = 0; devices && i < n && i < capacity; i++) devices[i] = device_at(i);
    return n;
}

MTLDevice *mtl_create_isolated_device(MTLError **error) {
    char why[WHY] = "there is none in this build";
    MTLDevice *device = NULL;
    if (error) *error = NULL;
    if (!open_all(false)) snprintf(why, sizeof why, "no thread could be started");
    for (const DevTable *const *t = device_list; !device && *t && atomic_load(&n_devices); t++)
        if ((*t)->isolates) device = device_new(*t, 0, why);
    if (!device)
        rt_error_set(error, rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorNotSupported,
                                         "%s: no isolated device: %s.", __func__, why));
    return device;
}

// ---- Features ----

static const char *missing(const MTLDevice *device, uint32_t features) {
    static const struct {
        uint32_t feature;
        const char *name;
    } names[] = {
        {DEV_TEXTURES, "textures"},
        {DEV_RENDER, "render passes"},
        {DEV_TENSORS, "tensors"},
        {DEV_INDIRECT_COMMANDS, "indirect command buffers"},
        {DEV_FUNCTION_POINTERS, "function pointers"},
        {DEV_VALIDATION, "shader validation"},
        {DEV_VIEW_POOLS, "texture view pools"}}; // not asked for: sizes that it reads itself
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (features & ~device->facts.features & names[i].feature) return names[i].name;
    return NULL;
}

bool rt_device_needs(MTLDevice *device, uint32_t features, const char *call) {
    const char *what = missing(device, features);
    if (what)
        rt_misuse(device, RT_RULE_device_feature, call, "'%s' has no %s", device->facts.name, what);
    return !what;
}

MTLError *rt_device_lacks(const MTLDevice *device, uint32_t features) {
    const char *what = missing(device, features);
    if (!what) return NULL;
    MTLError *error = rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorNotSupported,
                                   "The device '%s' has no %s.", device->facts.name, what);
    return error ? error : rt_error_no_memory();
}

// ---- Facts ----

void rt_device_reaches(MTLDevice *device, size_t n_bytes) {
    enum { SLACK = 65536 }; // of steps: lanes beyond the end are not on the other side of a wrap
    unsigned reach = 0, now = rt_device_reach(device);
    while (reach < RT_N_REACH - 1 && n_bytes > ((size_t)1 << rt_reach_bits[reach]) - SLACK) reach++;
    while (reach > now && !atomic_compare_exchange_weak(&device->reach, &now, reach)) {
    }
}

MTLSize mtl_device_max_threads_per_threadgroup(const MTLDevice *device) {
    size_t n = device ? device->facts.max_threads : 0;
    return mtl_size_make(n, n, n);
}

MTLArgumentBuffersTier mtl_device_argument_buffers_support(const MTLDevice *device) {
    (void)device;
    return MTLArgumentBuffersTier2; // pointers in buffers are plain addresses
}

bool mtl_device_supports_family(const MTLDevice *device, MTLGPUFamily family) {
    const struct {
        MTLGPUFamily first;
        uint8_t n;
    } kinds[] = {{MTLGPUFamilyApple1, device ? device->facts.families.apple : 0},
                 {MTLGPUFamilyMac1, device ? device->facts.families.mac : 0},
                 {MTLGPUFamilyCommon1, device ? device->facts.families.common : 0}};
    // Every family promises textures and drawing.
    const uint32_t all_need = DEV_TEXTURES | DEV_RENDER;
    if (!device || (device->facts.features & all_need) != all_need) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (family >= kinds[i].first && family < kinds[i].first + kinds[i].n) return true;
    return (family == MTLGPUFamilyMetal3 && device->facts.families.metal >= 3) ||
           (family == MTLGPUFamilyMetal4 && device->facts.families.metal >= 4);
}

bool mtl_device_is_low_power(const MTLDevice *device) {
    (void)device;
    return false;
}

bool mtl_device_is_headless(const MTLDevice *device) { return device != NULL; }

MTLDeviceLocation mtl_device_location(const MTLDevice *device) {
    return device && !device->facts.is_host ? MTLDeviceLocationSlot : MTLDeviceLocationBuiltIn;
}

size_t mtl_device_location_number(const MTLDevice *device) {
    (void)device;
    return 0;
}

uint64_t mtl_device_max_transfer_rate(const MTLDevice *device) {
    (void)device;
    return 0; // as every built-in device answers
}

bool mtl_device_supports_dynamic_libraries(const MTLDevice *device) { return device != NULL; }

bool mtl_device_supports_raytracing(const MTLDevice *device) {
    char why[RT_RAYS_WHY];
    return device && rt_device_rays(device, why) != NULL;
}

const DevRays *rt_device_rays(const MTLDevice *device, char why[RT_RAYS_WHY]) {
    snprintf(why, RT_RAYS_WHY, "the device has none");
    return device->table->rays ? device->table->rays(device->context, why, RT_RAYS_WHY) : NULL;
}

void mtl_device_sample_timestamps(const MTLDevice *device, uint64_t *cpu, uint64_t *gpu) {
    uint64_t now = device ? os_now_ns() : 0; // one clock
    if (cpu) *cpu = now;
    if (gpu) *gpu = now;
}

// ---- Settings ----

void mtl_device_set_log_callback(MTLDevice *device, MTLDeviceLogCallback callback, void *context) {
    if (!device) return;
    pthread_mutex_lock(&device->lock);
    device->log_callback = callback;
    device->log_context = context;
    pthread_mutex_unlock(&device->lock);
}

void mtl_device_set_timeout(MTLDevice *device, uint32_t milliseconds) {
    if (!device) return;
    atomic_store(&device->timeout_ms, milliseconds);
    atomic_store(&device->step_ms, 0);
}

#include "accessors/object/device.inc" // plain accessors, from the table

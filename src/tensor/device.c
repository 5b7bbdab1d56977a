// SPDX-License-Identifier: Apache-2.0
// device.c: work is recorded into one compute encoder and committed when it is enough to keep the
// device busy, or when a result is requested. One queue, serial encoders: commands run in recording
// order.
//
// The planner: small work stays on the calling thread. A commit wakes another thread, which pays
// off for work that lasts longer than the wake-up and overlaps with recording; hundreds of small
// operations are recorded and then run by the thread that waits for the result, without
// synchronisation between threads. A single operation that is waited for does not even get a
// command buffer: the first dispatch is held until a second one comes. See docs/internals/tensor-
// library.md for measurements.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tensor/kernels.h"
#include "tensor/tensor_int.h"

// Threads of a grid count as one each, about 0.3 ns; those of a grid that is given in threadgroups
// do more, THREAD_WORK. What takes longer says so by itself (ig_more_work). COMMIT_WORK is about
// 0.1 ms.
#define COMMIT_WORK (1u << 18)
// A GPU does a hundred times as much in that time, and each command buffer costs it a pause: there
// the end of a training step is where it is cut, so that steps are the same commands again.
#define GPU_COMMIT_WORK (1u << 25)
#define GPU_STEP_WORK (1u << 22)
#define QUICK_WORK (1u << 16) // some ten microseconds
#define THREAD_WORK 16u
#define PRODUCTS 64       // of numbers, in the time of a thread
#define COMMIT_AFTER 256u // dispatches, however small: what they use is not free for the host

typedef struct IgFlight {
    MTLCommandBuffer *commands;
    uint64_t number;
    struct IgFlight *next;
} IgFlight;

static void land(IgDevice *device, bool wait); // the first of what is under way has ended
static bool finish_held(IgDevice *device);
static void drop_dead(IgDevice *device);

IgDevice *ig_device_new(MTLDevice *metal, MTLError **error) {
    if (!metal) {
        ig_fail(error, IgErrorDevice, "ig_device_new: no Metal device");
        return NULL;
    }
    IgDevice *device = calloc(1, sizeof *device);
    if (!device) {
        ig_fail_no_memory(error);
        return NULL;
    }
    atomic_init(&device->refs, 1);
    pthread_mutex_init(&device->lock, NULL);
    device->metal = mtl_retain(metal);
    device->queue = mtl_device_new_command_queue(metal);
    device->recording = 1;
    device->unified = mtl_device_has_unified_memory(metal);
    device->n_workers = (int64_t)mtl_device_worker_count(metal);
    if (device->n_workers < 1) device->n_workers = 1;
    const char *tensors = getenv("INGOT_TENSORS");
    device->gpu = !device->unified || (tensors && !strcmp(tensors, "gpu"));
    device->check_keys = getenv("INGOT_CHECK_KEYS") != NULL;
    if (!device->queue || !ig_pool_init(device) || !ig_kernels_init(device)) {
        ig_device_release(device);
        ig_fail_no_memory(error);
        return NULL;
    }
    mtl_command_queue_set_label(device->queue, "tensors");
    return device;
}

void ig_device_release(IgDevice *device) {
    if (!device || atomic_fetch_sub(&device->refs, 1) != 1) return;
    ig_lock(device);
    if (device->queue) ig_wait(device, UINT64_MAX, NULL);
    device->held.kernel = NULL; // there was no memory to do it
    drop_dead(device);
    ig_unlock(device);
    mtl_release(device->failed);
    ig_pool_destroy(device);
    ig_kernels_destroy(device);
    mtl_release(device->queue);
    mtl_release(device->metal);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static IgDevice *default_device;
static _Thread_local bool forking; // this thread has the default device's lock

// The child of a fork has no thread that would complete what is under way: it is completed before,
// so that the child finds all values. A thread that does not let go of the device, because it waits
// for something else that stands still during the fork, is not waited for.
static void before_fork(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    if (pthread_mutex_timedlock(&default_device->lock, &until)) return;
    forking = true;
    ig_commit(default_device, NULL);
    while (default_device->first) land(default_device, true);
}

static void after_fork(void) {
    if (!forking) return;
    forking = false;
    pthread_mutex_unlock(&default_device->lock);
}

// The thread that ran the queue may not have left it yet, and never will here: another queue. The
// old one is not released, it is in use for good.
static void after_fork_child(void) {
    MTLCommandQueue *queue = forking ? mtl_device_new_command_queue(default_device->metal) : NULL;
    if (queue) {
        mtl_command_queue_set_label(queue, "tensors");
        default_device->queue = queue;
    }
    after_fork();
}

static void make_default(void) {
    MTLDevice *metal = mtl_create_system_default_device();
    default_device = metal ? ig_device_new(metal, NULL) : NULL;
    mtl_release(metal);
    if (default_device) pthread_atfork(before_fork, after_fork, after_fork_child);
}

IgDevice *ig_device_default(MTLError **error) {
    pthread_once(&once, make_default);
    if (!default_device) ig_fail(error, IgErrorDevice, "ig_device_default: no Metal device");
    return default_device;
}

MTLDevice *ig_device_metal(IgDevice *device) { return device ? device->metal : NULL; }
IgPool *ig_device_pool(IgDevice *device) { return device ? device->pool : NULL; }

IgDeviceStatistics ig_device_statistics(IgDevice *device) {
    if (!device) return (IgDeviceStatistics){0};
    ig_lock(device);
    IgDeviceStatistics s = device->statistics;
    ig_unlock(device);
    return s;
}

bool ig_device_synchronize_quickly(IgDevice *device) {
    if (!device || pthread_mutex_trylock(&device->lock)) return false;
    const IgHeld *held = &device->held;
    bool ok = !device->first && !device->encoder && !device->failed;
    if (ok && held->kernel)
        ok =
            device->work <= QUICK_WORK && !held->is_users && finish_held(device) && !device->failed;
    ig_unlock(device);
    return ok;
}

bool ig_device_synchronize(IgDevice *device, MTLError **error) {
    if (!device) return ig_fail(error, IgErrorDevice, "ig_device_synchronize: no device");
    ig_lock(device);
    bool ok = ig_wait(device, UINT64_MAX, error);
    ig_unlock(device);
    return ok;
}

// ---- Recording; device->lock is held ----

static void drop_dead(IgDevice *device) {
    IgHeld *h = &device->held;
    while (h->n_dead) mtl_release(h->dead[--h->n_dead]);
}

// What was recorded retains what it uses; what is held does not.
void ig_let_go(IgDevice *device, IgBuffer *b) {
    IgHeld *h = &device->held;
    if (h->kernel && b->last_use == device->recording)
        h->dead[h->n_dead++] = b->buffer;
    else
        mtl_release(b->buffer);
    free(b);
}

static void encode_held(IgDevice *device) {
    IgHeld *h = &device->held;
    MTLComputeCommandEncoder *e = device->encoder;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, ig_kernel_pipeline(h->kernel));
    mtl_compute_command_encoder_set_bytes(e, h->bytes, h->n_bytes, 0);
    for (size_t i = 0; i < h->n_buffers; i++)
        mtl_compute_command_encoder_set_buffer(e, h->buffers[i], h->offsets[i], i + 1);
    if (h->groups)
        mtl_compute_command_encoder_dispatch_threadgroups(e, h->grid, h->group);
    else
        mtl_compute_command_encoder_dispatch_threads(e, h->grid, h->group);
    h->kernel = NULL;
    drop_dead(device);
}

static bool start(IgDevice *device, MTLError **error) {
    if (device->encoder) return true;
    device->commands = mtl_command_queue_command_buffer(device->queue);
    device->encoder =
        device->commands ? mtl_command_buffer_compute_command_encoder(device->commands) : NULL;
    if (device->encoder) {
        if (device->held.kernel) encode_held(device);
        return true;
    }
    mtl_release(device->commands);
    device->commands = NULL;
    return ig_fail_no_memory(error);
}

MTLComputeCommandEncoder *ig_encode_start(IgDevice *device, MTLError **error) {
    return start(device, error) ? device->encoder : NULL;
}

void ig_more_work(IgDevice *device, int64_t products) {
    device->work += (uint64_t)products / PRODUCTS;
}

bool ig_encode_end(IgDevice *device, uint64_t work, MTLError **error) {
    device->statistics.kernels++;
    device->work += work;
    device->encoded = device->recording;
    uint64_t most = device->gpu ? GPU_COMMIT_WORK : COMMIT_WORK;
    bool enough = ++device->n_encoded >= COMMIT_AFTER || device->work >= most;
    return !enough || ig_commit(device, error);
}

bool ig_end_step(IgDevice *device, MTLError **error) {
    return !device->gpu || device->work < GPU_STEP_WORK || ig_commit(device, error);
}

void ig_encoded_users(IgDevice *device) { device->held.is_users = true; }

// The first dispatch of a command buffer that does not fill it.
static bool may_hold(const IgDevice *device, uint64_t work, size_t n_bytes, size_t n_bindings) {
    return !device->encoder && !device->held.kernel && !device->gpu &&
           device->work + work < COMMIT_WORK && n_bindings <= IG_HELD_BUFFERS &&
           n_bytes <= IG_HELD_BYTES;
}

bool ig_encode(IgDevice *device, IgKernel *kernel, const void *bytes, size_t n_bytes,
               const IgBinding *bindings, size_t n_bindings, MTLSize grid, MTLSize group,
               bool groups, MTLError **error) {
    uint64_t work = (uint64_t)grid.width * grid.height * grid.depth;
    if (groups) work *= (uint64_t)group.width * group.height * group.depth * THREAD_WORK;
    if (may_hold(device, work, n_bytes, n_bindings)) {
        IgHeld *h = &device->held;
        h->kernel = kernel;
        h->n_bytes = n_bytes, h->n_buffers = n_bindings;
        memcpy(h->bytes, bytes, n_bytes);
        h->grid = grid, h->group = group, h->groups = groups;
        h->is_users = false;
        for (size_t i = 0; i < n_bindings; i++) {
            h->buffers[i] = bindings[i].buffer->buffer;
            h->offsets[i] = bindings[i].offset;
            bindings[i].buffer->last_use = device->recording;
        }
        return ig_encode_end(device, work, error);
    }
    if (!start(device, error)) return false;
    MTLComputeCommandEncoder *e = device->encoder;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, ig_kernel_pipeline(kernel));
    mtl_compute_command_encoder_set_bytes(e, bytes, n_bytes, 0);
    for (size_t i = 0; i < n_bindings; i++) {
        mtl_compute_command_encoder_set_buffer(e, bindings[i].buffer->buffer, bindings[i].offset,
                                               i + 1);
        bindings[i].buffer->last_use = device->recording;
    }
    if (groups)
        mtl_compute_command_encoder_dispatch_threadgroups(e, grid, group);
    else
        mtl_compute_command_encoder_dispatch_threads(e, grid, group);
    return ig_encode_end(device, work, error);
}

// The encoder has ended, and the command buffer was committed.
static void go_on(IgDevice *device) {
    device->commands = NULL;
    device->encoder = NULL;
    device->n_encoded = 0;
    device->work = 0;
    device->recording++;
    device->statistics.command_buffers++;
}

// A command buffer has ended, as all before it.
static void note_end(IgDevice *device, MTLCommandBuffer *commands, uint64_t number) {
    if (mtl_command_buffer_status(commands) == MTLCommandBufferStatusError && !device->failed)
        device->failed = mtl_retain(mtl_command_buffer_error(commands));
    device->completed = number;
    mtl_release(commands);
}

static void land(IgDevice *device, bool wait) {
    IgFlight *flight = device->first;
    if (wait) mtl_command_buffer_wait_until_completed(flight->commands);
    device->first = flight->next;
    if (!device->first) device->last = NULL;
    note_end(device, flight->commands, flight->number);
    free(flight);
}

// Does what is held, if that is all there is and needs no command buffer. False: it does.
static bool finish_held(IgDevice *device) {
    IgHeld *h = &device->held;
    MTLError *error = NULL;
    if (device->first || !mtl_command_queue_dispatch_and_wait(
                             device->queue,
                             &(MTLSingleDispatch){.pipeline = ig_kernel_pipeline(h->kernel),
                                                  .bytes = h->bytes,
                                                  .bytes_length = h->n_bytes,
                                                  .buffers = h->buffers,
                                                  .offsets = h->offsets,
                                                  .buffer_count = h->n_buffers,
                                                  .grid = h->grid,
                                                  .threads_per_threadgroup = h->group,
                                                  .threadgroups = h->groups},
                             &error))
        return false;
    h->kernel = NULL;
    drop_dead(device);
    if (device->failed)
        mtl_release(error);
    else
        device->failed = error;
    device->completed = device->recording;
    go_on(device);
    return true;
}

// Commits what was recorded and waits for it, and for what is before it.
static void finish(IgDevice *device) {
    MTLCommandBuffer *commands = device->commands;
    uint64_t number = device->recording;
    mtl_command_buffer_commit_and_wait(commands);
    while (device->first) land(device, true);
    go_on(device);
    note_end(device, commands, number);
}

static bool commit(IgDevice *device, MTLError **error) {
    IgFlight *flight = malloc(sizeof *flight);
    if (!flight) { // no way to remember it: wait for it
        finish(device);
        return ig_fail_no_memory(error);
    }
    mtl_command_buffer_commit(device->commands);
    *flight = (IgFlight){device->commands, device->recording, NULL};
    *(device->last ? &device->last->next : &device->first) = flight;
    device->last = flight;
    go_on(device);
    return true;
}

// The end of what is recorded: what the buffer holds then comes to the host's side of it. Waits.
bool ig_synchronize(IgDevice *device, IgBuffer *buffer, MTLError **error) {
    if (!start(device, error)) return false;
    mtl_compute_command_encoder_end_encoding(device->encoder);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(device->commands);
    mtl_blit_command_encoder_synchronize_resource(blit, (MTLResource *)buffer->buffer);
    mtl_blit_command_encoder_end_encoding(blit);
    buffer->last_use = device->recording;
    finish(device);
    return true;
}

bool ig_commit(IgDevice *device, MTLError **error) {
    if (!device->encoder && !device->held.kernel) return true;
    if (!start(device, error)) return false;
    mtl_compute_command_encoder_end_encoding(device->encoder);
    return commit(device, error);
}

void ig_poll(IgDevice *device) {
    while (device->first &&
           mtl_command_buffer_status(device->first->commands) >= MTLCommandBufferStatusCompleted)
        land(device, false);
}

bool ig_under_way(const IgDevice *device, uint64_t number) {
    return device->first && device->first->number <= number;
}

// An error of the work is reported once, to whoever waits first.
bool ig_wait(IgDevice *device, uint64_t number, MTLError **error) {
    if (number >= device->recording && device->held.kernel && !finish_held(device) &&
        !start(device, error))
        return false;
    if (number >= device->recording && device->encoder) {
        mtl_compute_command_encoder_end_encoding(device->encoder);
        finish(device);
    }
    while (device->first && device->first->number <= number) land(device, true);
    if (!device->failed) return true;
    ig_fail(error, IgErrorExecution, "%s", mtl_error_localized_description(device->failed));
    mtl_release(device->failed);
    device->failed = NULL;
    return false;
}

// SPDX-License-Identifier: Apache-2.0
// backend.c: MetalBackend: memory by pointer, buffers and their copies, a cache of pipelines, and
// blocking execution. Allocations are shared buffers; a table finds the buffer of a pointer.
#include "tensor/backend.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "ingot/metal_blit.h"

enum { N_BUCKETS = 1024, KEPT_PER_SIZE = 16 };

typedef struct Allocation {
    MTLBuffer *buffer;
    char *pointer; // its contents
    size_t n_bytes;
    uint64_t id;
    struct Allocation *next; // in its bucket
} Allocation;

typedef struct Pipeline {
    char *name;
    MTLComputePipelineState *state;
    struct Pipeline *next;
} Pipeline;

struct IgMetalBackend {
    atomic_uint refs;
    MTLDevice *device;
    MTLCommandQueue *queue;
    pthread_mutex_t lock;        // for all of these
    Allocation *used[N_BUCKETS]; // by pointer
    Allocation *free[N_BUCKETS]; // by size
    size_t n_used, used_bytes, n_free, free_bytes;
    uint64_t n_made;
    MTLLibrary **libraries; // the last one first
    size_t n_libraries;
    Pipeline *pipelines;
};

bool ig_metal_backend_is_available(void) {
    MTLDevice *device = mtl_create_system_default_device();
    bool is = device != NULL;
    mtl_release(device);
    return is;
}

IgMetalBackend *ig_metal_backend_initialize(MTLError **error) {
    IgMetalBackend *b = calloc(1, sizeof *b);
    if (!b) {
        ig_fail_no_memory(error);
        return NULL;
    }
    atomic_init(&b->refs, 1);
    pthread_mutex_init(&b->lock, NULL);
    b->device = mtl_create_system_default_device();
    b->queue = b->device ? mtl_device_new_command_queue(b->device) : NULL;
    if (b->queue) return b;
    ig_fail(error, IgErrorDevice, "ig_metal_backend_initialize: no Metal device");
    ig_metal_backend_release(b);
    return NULL;
}

IgMetalBackend *ig_metal_backend_retain(IgMetalBackend *b) {
    if (b) atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

static void free_list(Allocation *a) {
    for (Allocation *next; a; a = next) {
        next = a->next;
        mtl_release(a->buffer);
        free(a);
    }
}

void ig_metal_backend_release(IgMetalBackend *b) {
    if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
    for (int i = 0; i < N_BUCKETS; i++) {
        free_list(b->used[i]);
        free_list(b->free[i]);
    }
    for (Pipeline *p = b->pipelines, *next; p; p = next) {
        next = p->next;
        mtl_release(p->state);
        free(p->name);
        free(p);
    }
    for (size_t i = 0; i < b->n_libraries; i++) mtl_release(b->libraries[i]);
    free(b->libraries);
    mtl_release(b->queue);
    mtl_release(b->device);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

MTLDevice *ig_metal_backend_metal_device(IgMetalBackend *b) { return b ? b->device : NULL; }
MTLCommandQueue *ig_metal_backend_command_queue(IgMetalBackend *b) { return b ? b->queue : NULL; }

// ---- Memory by pointer ----

static size_t bucket_of(uintptr_t value) {
    return (size_t)((uint64_t)value * 0x9E3779B97F4A7C15u >> 54) % N_BUCKETS;
}

// Takes one of exactly that size out of the free list.
static Allocation *take_free(IgMetalBackend *b, size_t n_bytes) {
    for (Allocation **at = &b->free[bucket_of(n_bytes)], *a; (a = *at); at = &a->next)
        if (a->n_bytes == n_bytes) {
            *at = a->next;
            b->n_free--;
            b->free_bytes -= n_bytes;
            return a;
        }
    return NULL;
}

void *ig_metal_backend_allocate(IgMetalBackend *b, size_t n_bytes, MTLError **error) {
    if (!b) {
        ig_fail(error, IgErrorArgument, "ig_metal_backend_allocate: no back-end");
        return NULL;
    }
    if (n_bytes == 0) return NULL;
    pthread_mutex_lock(&b->lock);
    Allocation *a = take_free(b, n_bytes);
    pthread_mutex_unlock(&b->lock);
    if (!a) {
        a = calloc(1, sizeof *a);
        MTLBuffer *buffer =
            a ? mtl_device_new_buffer(b->device, n_bytes, MTLResourceStorageModeShared) : NULL;
        if (!buffer) {
            free(a);
            ig_fail(error, IgErrorMemory, "ig_metal_backend_allocate: no buffer of %zu bytes",
                    n_bytes);
            return NULL;
        }
        a->buffer = buffer;
        a->pointer = mtl_buffer_contents(buffer);
        a->n_bytes = n_bytes;
    }
    pthread_mutex_lock(&b->lock);
    size_t bucket = bucket_of((uintptr_t)a->pointer);
    a->id = ++b->n_made;
    a->next = b->used[bucket];
    b->used[bucket] = a;
    b->n_used++;
    b->used_bytes += n_bytes;
    pthread_mutex_unlock(&b->lock);
    return a->pointer;
}

// With the lock held.
static Allocation *find_allocation(IgMetalBackend *b, const void *pointer) {
    Allocation *a = pointer ? b->used[bucket_of((uintptr_t)pointer)] : NULL;
    while (a && a->pointer != pointer) a = a->next;
    return a;
}

void ig_metal_backend_deallocate(IgMetalBackend *b, void *pointer, size_t n_bytes) {
    (void)n_bytes; // the table knows better
    if (!b || !pointer) return;
    pthread_mutex_lock(&b->lock);
    Allocation *a = find_allocation(b, pointer), *gone = NULL;
    if (a) {
        Allocation **at = &b->used[bucket_of((uintptr_t)pointer)];
        while (*at != a) at = &(*at)->next;
        *at = a->next;
        b->n_used--;
        b->used_bytes -= a->n_bytes;
        size_t bucket = bucket_of(a->n_bytes);
        int kept = 0;
        for (const Allocation *other = b->free[bucket]; other; other = other->next)
            kept += other->n_bytes == a->n_bytes;
        if (kept >= KEPT_PER_SIZE) {
            gone = a;
            gone->next = NULL;
        } else {
            a->next = b->free[bucket];
            b->free[bucket] = a;
            b->n_free++;
            b->free_bytes += a->n_bytes;
        }
    }
    pthread_mutex_unlock(&b->lock);
    free_list(gone);
}

MTLBuffer *ig_backend_buffer_of(IgMetalBackend *b, const char *call, const char *argument,
                                const void *pointer, size_t n_bytes, MTLError **error) {
    pthread_mutex_lock(&b->lock);
    Allocation *a = find_allocation(b, pointer);
    MTLBuffer *buffer = a && n_bytes <= a->n_bytes ? mtl_retain(a->buffer) : NULL;
    size_t have = a ? a->n_bytes : 0;
    pthread_mutex_unlock(&b->lock);
    if (!a)
        ig_fail(error, IgErrorMemory, "%s: %s is %s", call, argument,
                pointer ? "no allocation of this back-end" : "NULL");
    else if (!buffer)
        ig_fail(error, IgErrorMemory, "%s: %zu bytes of %s, which has %zu", call, n_bytes, argument,
                have);
    return buffer;
}

static bool copy(IgMetalBackend *b, const char *call, bool from_host, void *to, const void *from,
                 size_t n_bytes, MTLError **error) {
    if (n_bytes == 0) return true;
    if (!b) return ig_fail(error, IgErrorArgument, "%s: no back-end", call);
    if (!(from_host ? from : to)) return ig_fail(error, IgErrorMemory, "%s: NULL", call);
    MTLBuffer *buffer = ig_backend_buffer_of(b, call, from_host ? "the destination" : "the source",
                                             from_host ? to : from, n_bytes, error);
    if (!buffer) return false;
    memmove(to, from, n_bytes);
    mtl_release(buffer);
    return true;
}

bool ig_metal_backend_copy_from_host(IgMetalBackend *b, void *to, const void *from, size_t n_bytes,
                                     MTLError **error) {
    return copy(b, "ig_metal_backend_copy_from_host", true, to, from, n_bytes, error);
}

bool ig_metal_backend_copy_to_host(IgMetalBackend *b, void *to, const void *from, size_t n_bytes,
                                   MTLError **error) {
    return copy(b, "ig_metal_backend_copy_to_host", false, to, from, n_bytes, error);
}

bool ig_metal_backend_get_buffer_info(IgMetalBackend *b, const void *pointer, MTLBuffer **buffer,
                                      uint64_t *id, size_t *n_bytes) {
    if (!b) return false;
    pthread_mutex_lock(&b->lock);
    const Allocation *a = find_allocation(b, pointer);
    if (a && buffer) *buffer = a->buffer;
    if (a && id) *id = a->id;
    if (a && n_bytes) *n_bytes = a->n_bytes;
    pthread_mutex_unlock(&b->lock);
    return a != NULL;
}

size_t ig_metal_backend_buffer_count(IgMetalBackend *b) {
    if (!b) return 0;
    pthread_mutex_lock(&b->lock);
    size_t n = b->n_used;
    pthread_mutex_unlock(&b->lock);
    return n;
}

// ---- Execution ----

// Commits, waits, and releases it.
static bool finish(MTLCommandBuffer *commands, MTLError **error) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    MTLError *why = mtl_command_buffer_error(commands);
    bool ok = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted;
    if (!ok)
        ig_fail(error, IgErrorExecution, "%s",
                why ? mtl_error_localized_description(why) : "the work failed");
    mtl_release(commands);
    return ok;
}

bool ig_metal_backend_execute_compute_command(IgMetalBackend *b, IgMetalEncode *encode,
                                              void *context, MTLError **error) {
    if (!b || !encode)
        return ig_fail(error, IgErrorArgument, "ig_metal_backend_execute_compute_command: no %s",
                       b ? "function" : "back-end");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(b->queue);
    MTLComputeCommandEncoder *e =
        commands ? mtl_command_buffer_compute_command_encoder(commands) : NULL;
    if (!e) {
        mtl_release(commands);
        return ig_fail_no_memory(error);
    }
    encode(context, e);
    mtl_compute_command_encoder_end_encoding(e);
    return finish(commands, error);
}

// ---- Buffers ----

static bool device_copy(IgMetalBackend *b, MTLBuffer *from, MTLBuffer *to, size_t n_bytes,
                        MTLError **error) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(b->queue);
    MTLBlitCommandEncoder *e = commands ? mtl_command_buffer_blit_command_encoder(commands) : NULL;
    if (!e) {
        mtl_release(commands);
        return ig_fail_no_memory(error);
    }
    mtl_blit_command_encoder_copy_from_buffer(e, from, 0, to, 0, n_bytes);
    mtl_blit_command_encoder_end_encoding(e);
    return finish(commands, error);
}

MTLBuffer *ig_metal_backend_create_buffer(IgMetalBackend *b, size_t n_bytes,
                                          MTLResourceOptions options, MTLError **error) {
    if (!b || n_bytes == 0) {
        ig_fail(error, IgErrorArgument, "ig_metal_backend_create_buffer: %s",
                b ? "a buffer of 0 bytes" : "no back-end");
        return NULL;
    }
    MTLBuffer *buffer = n_bytes <= mtl_device_max_buffer_length(b->device)
                            ? mtl_device_new_buffer(b->device, n_bytes, options)
                            : NULL;
    if (!buffer)
        ig_fail(error, IgErrorMemory, "ig_metal_backend_create_buffer: no buffer of %zu bytes",
                n_bytes);
    return buffer;
}

MTLBuffer *ig_metal_backend_create_buffer_with_data(IgMetalBackend *b, const void *data,
                                                    size_t n_bytes, MTLResourceOptions options,
                                                    MTLError **error) {
    if (!data) {
        ig_fail(error, IgErrorArgument, "ig_metal_backend_create_buffer_with_data: no data");
        return NULL;
    }
    MTLBuffer *buffer = ig_metal_backend_create_buffer(b, n_bytes, options, error);
    if (!buffer || ig_metal_backend_copy_host_to_buffer(b, buffer, data, n_bytes, error))
        return buffer;
    mtl_release(buffer);
    return NULL;
}

static bool exact(const char *call, const IgMetalBackend *b, const MTLBuffer *buffer,
                  const void *host, size_t n_bytes, MTLError **error) {
    if (!b || !buffer || (!host && n_bytes))
        return ig_fail(error, IgErrorArgument, "%s: no %s", call,
                       !b        ? "back-end"
                       : !buffer ? "buffer"
                                 : "host memory");
    if (mtl_buffer_length(buffer) == n_bytes) return true;
    return ig_fail(error, IgErrorMemory,
                   "%s: Buffer size mismatch: the buffer has %zu bytes, the host memory %zu", call,
                   mtl_buffer_length(buffer), n_bytes);
}

bool ig_metal_backend_copy_buffer_to_host(IgMetalBackend *b, MTLBuffer *buffer, void *to,
                                          size_t n_bytes, MTLError **error) {
    if (!exact("ig_metal_backend_copy_buffer_to_host", b, buffer, to, n_bytes, error)) return false;
    const void *from = mtl_buffer_storage_mode(buffer) == MTLStorageModeShared
                           ? mtl_buffer_contents(buffer)
                           : NULL;
    MTLBuffer *stage = NULL;
    if (!from) { // private memory, or managed, where the host may be behind
        stage = ig_metal_backend_create_buffer(b, n_bytes, MTLResourceStorageModeShared, error);
        if (!stage || !device_copy(b, buffer, stage, n_bytes, error)) {
            mtl_release(stage);
            return false;
        }
        from = mtl_buffer_contents(stage);
    }
    memcpy(to, from, n_bytes);
    mtl_release(stage);
    return true;
}

bool ig_metal_backend_copy_host_to_buffer(IgMetalBackend *b, MTLBuffer *buffer, const void *from,
                                          size_t n_bytes, MTLError **error) {
    if (!exact("ig_metal_backend_copy_host_to_buffer", b, buffer, from, n_bytes, error))
        return false;
    MTLStorageMode mode = mtl_buffer_storage_mode(buffer);
    if (mode == MTLStorageModeShared || mode == MTLStorageModeManaged) {
        memcpy(mtl_buffer_contents(buffer), from, n_bytes);
        if (mode == MTLStorageModeManaged)
            mtl_buffer_did_modify_range(buffer, (MTLRange){0, n_bytes});
        return true;
    }
    MTLBuffer *stage = ig_metal_backend_create_buffer_with_data(
        b, from, n_bytes, MTLResourceStorageModeShared, error);
    bool ok = stage && device_copy(b, stage, buffer, n_bytes, error);
    mtl_release(stage);
    return ok;
}

// ---- Pipelines ----

bool ig_metal_backend_load_library_from_source(IgMetalBackend *b, const char *source,
                                               MTLError **error) {
    if (!b || !source)
        return ig_fail(error, IgErrorArgument, "ig_metal_backend_load_library_from_source: no %s",
                       b ? "source" : "back-end");
    MTLError *why = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(b->device, source, NULL, &why);
    bool ok = library != NULL;
    if (!ok)
        ig_fail(error, IgErrorCompilation, "%s",
                why ? mtl_error_localized_description(why) : "the source does not compile");
    mtl_release(why);
    if (!ok) return false;
    pthread_mutex_lock(&b->lock);
    bool kept = array_more(&b->libraries, b->n_libraries);
    if (kept) {
        memmove(b->libraries + 1, b->libraries, b->n_libraries * sizeof *b->libraries);
        b->libraries[0] = library;
        b->n_libraries++;
    }
    pthread_mutex_unlock(&b->lock);
    if (kept) return true;
    mtl_release(library);
    return ig_fail_no_memory(error);
}

static Pipeline *find_pipeline(IgMetalBackend *b, const char *name) {
    Pipeline *p = b->pipelines;
    while (p && strcmp(p->name, name)) p = p->next;
    return p;
}

MTLComputePipelineState *ig_metal_backend_get_compute_pipeline(IgMetalBackend *b,
                                                               const char *name) {
    if (!b || !name) return NULL;
    pthread_mutex_lock(&b->lock);
    Pipeline *p = find_pipeline(b, name);
    pthread_mutex_unlock(&b->lock);
    return p ? p->state : NULL;
}

// With the lock held: nobody makes the same one at the same time.
static MTLComputePipelineState *make_pipeline(IgMetalBackend *b, const char *name,
                                              MTLError **error) {
    MTLError *why = NULL;
    MTLFunction *f = NULL;
    for (size_t i = 0; !f && i < b->n_libraries; i++)
        f = mtl_library_new_function(b->libraries[i], name);
    MTLComputePipelineState *state =
        f ? mtl_device_new_compute_pipeline_state(b->device, f, &why) : NULL;
    Pipeline *p = state ? calloc(1, sizeof *p) : NULL;
    if (!state)
        ig_fail(error, IgErrorCompilation, "ig_metal_backend_create_compute_pipeline: '%s': %s",
                name,
                why              ? mtl_error_localized_description(why)
                : b->n_libraries ? "function not found"
                                 : "no library is loaded");
    else if (!p || !(p->name = strdup(name)))
        ig_fail_no_memory(error);
    mtl_release(why);
    mtl_release(f);
    if (!p || !p->name) {
        free(p);
        mtl_release(state);
        return NULL;
    }
    p->state = state;
    p->next = b->pipelines;
    b->pipelines = p;
    return state;
}

MTLComputePipelineState *ig_metal_backend_create_compute_pipeline(IgMetalBackend *b,
                                                                  const char *name,
                                                                  MTLError **error) {
    if (!b || !name) {
        ig_fail(error, IgErrorArgument, "ig_metal_backend_create_compute_pipeline: no %s",
                b ? "name" : "back-end");
        return NULL;
    }
    pthread_mutex_lock(&b->lock);
    Pipeline *p = find_pipeline(b, name);
    MTLComputePipelineState *state = p ? p->state : make_pipeline(b, name, error);
    pthread_mutex_unlock(&b->lock);
    return state;
}

MTLSize ig_metal_backend_optimal_thread_group_size(IgMetalBackend *b,
                                                   MTLComputePipelineState *pipeline) {
    if (!b || !pipeline) return mtl_size_make(1, 1, 1);
    size_t most = mtl_compute_pipeline_state_max_total_threads_per_threadgroup(pipeline);
    size_t width = mtl_compute_pipeline_state_thread_execution_width(pipeline);
    return mtl_size_make(width < most ? width : most, 1, 1);
}

MTLSize ig_metal_backend_optimal_thread_group_size_2d(IgMetalBackend *b,
                                                      MTLComputePipelineState *pipeline) {
    if (!b || !pipeline) return mtl_size_make(1, 1, 1);
    size_t most = mtl_compute_pipeline_state_max_total_threads_per_threadgroup(pipeline);
    size_t side = 1;
    while (side < 16 && (side + 1) * (side + 1) <= most) side++;
    return mtl_size_make(side, side, 1);
}

// ---- Debug information ----

char *ig_metal_backend_debug_information(IgMetalBackend *b) {
    if (!b) return NULL;
    Text t = {0};
    MTLSize most = mtl_device_max_threads_per_threadgroup(b->device);
    text_printf(&t, "Device: %s\n", mtl_device_name(b->device));
    text_printf(&t, "Max threads per threadgroup: %zu x %zu x %zu\n", most.width, most.height,
                most.depth);
    text_printf(&t, "Max buffer length: %zu bytes\n", mtl_device_max_buffer_length(b->device));
    text_printf(&t, "Recommended max working set size: %llu bytes\n",
                (unsigned long long)mtl_device_recommended_max_working_set_size(b->device));
    text_printf(&t, "Current allocated size: %llu bytes\n",
                (unsigned long long)mtl_device_current_allocated_size(b->device));
    text_printf(&t, "Unified memory: %s\n",
                mtl_device_has_unified_memory(b->device) ? "yes" : "no");
    pthread_mutex_lock(&b->lock);
    text_printf(&t, "Allocations: %zu in use (%zu bytes), %zu waiting (%zu bytes)\n", b->n_used,
                b->used_bytes, b->n_free, b->free_bytes);
    for (const Pipeline *p = b->pipelines; p; p = p->next)
        text_printf(&t, "Pipeline %s: thread execution width %zu, max total threads %zu\n", p->name,
                    mtl_compute_pipeline_state_thread_execution_width(p->state),
                    mtl_compute_pipeline_state_max_total_threads_per_threadgroup(p->state));
    pthread_mutex_unlock(&b->lock);
    return text_take(&t);
}

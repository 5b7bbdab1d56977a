// SPDX-License-Identifier: Apache-2.0
// heap.c: MTLHeap. The memory is one mapping; an automatic heap is a best-fit allocator that
// coalesces free neighbours; a placement heap only records what lies where. Large freed ranges
// return their pages to the system.
#include "runtime/memory/heap.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/memory/buffer.h"
#include "runtime/memory/own_memory.h"
#include "runtime/memory/sparse.h"
#include "runtime/memory/texture.h"

#define HEAP_ALIGNMENT 256u // of buffers
#define GIVE_BACK_BYTES ((size_t)256 << 10)

static size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

static void heap_destroy(void *self) {
    MTLHeap *heap = self;
    if (heap->file >= 0) close(heap->file);
    rt_free_own_memory(&heap->resource);
    rt_free(heap->ranges);
    pthread_mutex_destroy(&heap->lock);
    rt_resource_clear(&heap->resource);
    rt_free(heap);
}

RT_CLASS rt_heap_class = {
    .name = "MTLHeap", .destroy = heap_destroy, .label_at = offsetof(MTLHeap, resource.label)};

void rt_drop_contents(char *memory, size_t n_bytes, bool mapped) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)round_up((size_t)memory, page);
    char *last = (char *)((size_t)(memory + n_bytes) & ~(page - 1));
    if (!mapped || first >= last || madvise(first, (size_t)(last - first), MADV_DONTNEED) != 0) {
        memset(memory, 0, n_bytes);
        return;
    }
    memset(memory, 0, (size_t)(first - memory));
    memset(last, 0, (size_t)(memory + n_bytes - last));
}

// ---- Ranges; the heap's lock is held ----

static void insert(MTLHeap *heap, size_t at, RtRange range) { // there is room
    memmove(heap->ranges + at + 1, heap->ranges + at, (heap->n_ranges - at) * sizeof *heap->ranges);
    heap->ranges[at] = range;
    heap->n_ranges++;
}

static void erase(MTLHeap *heap, size_t at) {
    heap->n_ranges--;
    memmove(heap->ranges + at, heap->ranges + at + 1, (heap->n_ranges - at) * sizeof *heap->ranges);
}

// Room for one more resource: each leaves at most one more free range.
static bool reserve(MTLHeap *heap) {
    return rt_grow(&heap->ranges, &heap->capacity, heap->n_resources + 3, sizeof *heap->ranges);
}

// Automatic: the smallest free range that fits.
static bool suballocate(MTLHeap *heap, size_t n_bytes, size_t alignment, size_t *offset) {
    size_t best = SIZE_MAX, best_bytes = SIZE_MAX;
    for (size_t i = 0; i < heap->n_ranges; i++) {
        RtRange r = heap->ranges[i];
        size_t padding = round_up(r.offset, alignment) - r.offset;
        if (r.n_bytes >= padding && r.n_bytes - padding >= n_bytes && r.n_bytes < best_bytes) {
            best = i;
            best_bytes = r.n_bytes;
        }
    }
    if (best == SIZE_MAX) return false;
    RtRange r = heap->ranges[best];
    *offset = round_up(r.offset, alignment);
    RtRange before = {r.offset, *offset - r.offset};
    RtRange after = {*offset + n_bytes, r.offset + r.n_bytes - (*offset + n_bytes)};
    erase(heap, best);
    if (after.n_bytes > 0) insert(heap, best, after);
    if (before.n_bytes > 0) insert(heap, best, before);
    return true;
}

static size_t first_from(const MTLHeap *heap, size_t offset) {
    size_t low = 0, high = heap->n_ranges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (heap->ranges[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Automatic: joins the range with the free ones beside it.
static void give(MTLHeap *heap, RtRange range) {
    size_t i = first_from(heap, range.offset);
    if (i < heap->n_ranges && range.offset + range.n_bytes == heap->ranges[i].offset) {
        range.n_bytes += heap->ranges[i].n_bytes;
        erase(heap, i);
    }
    if (i > 0 && heap->ranges[i - 1].offset + heap->ranges[i - 1].n_bytes == range.offset)
        heap->ranges[i - 1].n_bytes += range.n_bytes;
    else
        insert(heap, i, range);
}

static bool overlaps(const MTLHeap *heap, RtRange range) {
    for (size_t i = 0; i < heap->n_ranges; i++) {
        RtRange r = heap->ranges[i];
        if (r.offset < range.offset + range.n_bytes && range.offset < r.offset + r.n_bytes)
            return true;
    }
    return false;
}

static void unplace(MTLHeap *heap, RtRange range) {
    size_t i = first_from(heap, range.offset);
    while (heap->ranges[i].n_bytes != range.n_bytes) i++;
    erase(heap, i);
}

// ---- Resources ----

static const char *label(const MTLHeap *heap) { return rt_label(&heap->resource.label); }

static bool present(const MTLHeap *heap, const char *call) {
    if (rt_is(heap, &rt_heap_class)) return true;
    rt_misuse(NULL, heap ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(heap));
    return false;
}

// A place for a resource. `offset` is where, on a placement heap, and receives where.
static bool reserve_place(MTLHeap *heap, MTLHeapType type, MTLSizeAndAlign need, size_t *offset,
                          const char *call) {
    MTLDevice *device = heap->resource.device;
    size_t size = heap->resource.allocated_bytes;
    if (heap->type != type) {
        rt_misuse(device, RT_RULE_heap_type, call, "heap '%s'", label(heap));
        return false;
    }
    if (type == MTLHeapTypePlacement &&
        (*offset % need.align != 0 || *offset > size || need.size > size - *offset)) {
        rt_misuse(device, RT_RULE_heap_offset, call,
                  "heap '%s' of %zu bytes: offset %zu, size %zu, alignment %zu", label(heap), size,
                  *offset, need.size, need.align);
        return false;
    }
    pthread_mutex_lock(&heap->lock);
    bool memory = reserve(heap);
    bool ok = memory &&
              (type == MTLHeapTypePlacement || suballocate(heap, need.size, need.align, offset));
    if (ok) heap->n_resources++;
    if (ok && type == MTLHeapTypePlacement)
        insert(heap, first_from(heap, *offset), (RtRange){*offset, need.size});
    pthread_mutex_unlock(&heap->lock);
    if (!ok && memory)
        rt_misuse(device, RT_RULE_heap_full, call,
                  "heap '%s' of %zu bytes: %zu needed, %zu the largest free range", label(heap),
                  size, need.size, mtl_heap_max_available_size(heap, need.align));
    return ok;
}

static void return_place(MTLHeap *heap, RtRange range, bool aliasable) {
    pthread_mutex_lock(&heap->lock);
    heap->n_resources--;
    if (aliasable)
        heap->n_aliasable--;
    else if (heap->type == MTLHeapTypePlacement)
        unplace(heap, range);
    else
        give(heap, range);
    // Pages go back unless somebody else may own them: under the lock, nobody gets them meanwhile.
    bool alone = !aliasable && heap->n_aliasable == 0 &&
                 (heap->type == MTLHeapTypeAutomatic || !overlaps(heap, range));
    if (alone && heap->resource.owner == RT_OWNER_MAPPING && range.n_bytes >= GIVE_BACK_BYTES)
        rt_drop_contents(heap->resource.own.host + range.offset, range.n_bytes, true);
    pthread_mutex_unlock(&heap->lock);
}

bool rt_heap_take_pages(MTLHeap *heap, size_t n) {
    pthread_mutex_lock(&heap->lock);
    bool ok = n <= heap->n_pages - heap->n_taken;
    if (ok) heap->n_taken += n;
    pthread_mutex_unlock(&heap->lock);
    return ok;
}

void rt_heap_give_pages(MTLHeap *heap, size_t n) {
    pthread_mutex_lock(&heap->lock);
    heap->n_taken -= n;
    pthread_mutex_unlock(&heap->lock);
}

void rt_heap_return(MTLResource *resource) {
    if (resource->heap->type == MTLHeapTypeSparse) return; // its tiles have gone back
    return_place(resource->heap, (RtRange){resource->heap_offset, resource->heap_bytes},
                 atomic_load(&resource->aliasable));
}

static void settle(MTLHeap *heap, MTLResource *resource, size_t offset, size_t n_bytes) {
    resource->heap = mtl_retain(heap);
    resource->heap_offset = offset;
    resource->heap_bytes = n_bytes;
    if (rt_resource_is_tracked(&heap->resource)) resource->tracked = &heap->resource;
}

// Resources have the heap's modes; hazard tracking may be left at default.
static bool options_fit(const MTLHeap *heap, MTLResourceOptions options, const char *call) {
    MTLResourceOptions own = heap->resource.options, tracking = options >> 8 & 3;
    if ((options & 0xff) == (own & 0xff) && (tracking == 0 || tracking == (own >> 8 & 3)))
        return true;
    rt_misuse(heap->resource.device, RT_RULE_heap_options, call,
              "heap '%s' has options 0x%x, the resource 0x%x", label(heap), own, options);
    return false;
}

static MTLBuffer *new_buffer(MTLHeap *heap, MTLHeapType type, size_t length,
                             MTLResourceOptions options, size_t offset, const char *call) {
    if (!present(heap, call) ||
        !rt_valid_buffer_options(heap->resource.device, call, length, options) ||
        !options_fit(heap, options, call))
        return NULL;
    MTLSizeAndAlign need = {round_up(length, HEAP_ALIGNMENT), HEAP_ALIGNMENT};
    if (!reserve_place(heap, type, need, &offset, call)) return NULL;
    MTLBuffer *buffer = rt_buffer_new_over(heap->resource.device, length, heap->resource.options,
                                           &heap->resource.own, offset);
    if (buffer)
        settle(heap, &buffer->resource, offset, need.size);
    else
        return_place(heap, (RtRange){offset, need.size}, false);
    return buffer;
}

static MTLTexture *new_texture(MTLHeap *heap, MTLHeapType type, const MTLTextureDescriptor *d,
                               size_t offset, const char *call) {
    if (!present(heap, call)) return NULL;
    if (!d) {
        rt_misuse(heap->resource.device, RT_RULE_null_argument, call, "descriptor");
        return NULL;
    }
    RtSite site = {.device = heap->resource.device, .call = call};
    if (heap->type == MTLHeapTypeSparse && type == MTLHeapTypeAutomatic)
        return options_fit(heap, rt_texture_options(d), call)
                   ? rt_texture_new_sparse(&site, d, heap->resource.options, heap->page_size, heap)
                   : NULL;
    MTLSizeAndAlign need;
    if (!rt_texture_size_and_align(&site, d, &need) ||
        !options_fit(heap, rt_texture_options(d), call) ||
        !reserve_place(heap, type, need, &offset, call))
        return NULL;
    MTLTexture *texture =
        rt_texture_new_over(&site, d, heap->resource.options, heap->resource.own.address + offset);
    if (texture)
        settle(heap, &texture->resource, offset, need.size);
    else
        return_place(heap, (RtRange){offset, need.size}, false);
    return texture;
}

bool rt_heap_reserve(MTLHeap *heap, MTLHeapType type, MTLSizeAndAlign need, size_t *offset,
                     MTLResourceOptions options, const char *call) {
    return present(heap, call) && options_fit(heap, options, call) &&
           reserve_place(heap, type, need, offset, call);
}

void rt_heap_settle(MTLHeap *heap, MTLResource *resource, size_t offset, size_t n_bytes) {
    settle(heap, resource, offset, n_bytes);
}

void rt_heap_unreserve(MTLHeap *heap, size_t offset, size_t n_bytes) {
    return_place(heap, (RtRange){offset, n_bytes}, false);
}

MTLBuffer *mtl_heap_new_buffer(MTLHeap *heap, size_t length, MTLResourceOptions options) {
    return new_buffer(heap, MTLHeapTypeAutomatic, length, options, 0, __func__);
}

MTLBuffer *mtl_heap_new_buffer_with_offset(MTLHeap *heap, size_t length, MTLResourceOptions options,
                                           size_t offset) {
    return new_buffer(heap, MTLHeapTypePlacement, length, options, offset, __func__);
}

MTLTexture *mtl_heap_new_texture(MTLHeap *heap, const MTLTextureDescriptor *descriptor) {
    return new_texture(heap, MTLHeapTypeAutomatic, descriptor, 0, __func__);
}

MTLTexture *mtl_heap_new_texture_with_offset(MTLHeap *heap, const MTLTextureDescriptor *descriptor,
                                             size_t offset) {
    return new_texture(heap, MTLHeapTypePlacement, descriptor, offset, __func__);
}

void mtl_resource_make_aliasable(MTLResource *resource) {
    if (!resource || !rt_is_resource(resource)) {
        rt_misuse(NULL, resource ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(resource));
        return;
    }
    MTLHeap *heap = resource->heap;
    if (!heap || heap->type != MTLHeapTypeAutomatic) {
        rt_misuse(resource->device, RT_RULE_heap_aliasable, __func__, "'%s'",
                  rt_label(&resource->label));
        return;
    }
    pthread_mutex_lock(&heap->lock);
    if (!atomic_exchange(&resource->aliasable, true)) {
        give(heap, (RtRange){resource->heap_offset, resource->heap_bytes});
        heap->n_aliasable++;
    }
    pthread_mutex_unlock(&heap->lock);
}

// ---- Making heaps ----

MTLSizeAndAlign mtl_device_heap_buffer_size_and_align(MTLDevice *device, size_t length,
                                                      MTLResourceOptions options) {
    if (!rt_valid_buffer_options(device, __func__, length, options)) return (MTLSizeAndAlign){0, 0};
    return (MTLSizeAndAlign){round_up(length, HEAP_ALIGNMENT), HEAP_ALIGNMENT};
}

static bool valid_descriptor(MTLDevice *device, const MTLHeapDescriptor *d, MTLStorageMode storage,
                             const char *call) {
    size_t page =
        rt_sparse_page_bytes(d->sparse_page_size ? d->sparse_page_size : MTLSparsePageSize16);
    MTLSparsePageSize most = d->max_compatible_placement_sparse_page_size;
    bool sparse = d->type == MTLHeapTypeSparse;
    if (sparse && (storage != MTLStorageModePrivate || !page || dev_has_memory(device->table)))
        rt_misuse(device, RT_RULE_heap_sparse, call, "storage mode %d, page size %d", (int)storage,
                  (int)d->sparse_page_size);
    else if (most && (!rt_sparse_page_bytes(most) || dev_has_memory(device->table)))
        rt_misuse(device, RT_RULE_sparse_heap, call, "page size %d", (int)most);
    else if (!sparse && d->type != MTLHeapTypeAutomatic && d->type != MTLHeapTypePlacement)
        rt_misuse(device, RT_RULE_heap_descriptor, call, "type %d", (int)d->type);
    else if (d->size == 0 || d->size > device->facts.memory_bytes)
        rt_misuse(device, RT_RULE_heap_descriptor, call, "size %zu", d->size);
    else if (storage != MTLStorageModeShared && storage != MTLStorageModePrivate)
        rt_misuse(device, RT_RULE_heap_descriptor, call, "storage mode %d", (int)storage);
    else if (d->cpu_cache_mode > MTLCPUCacheModeWriteCombined)
        rt_misuse(device, RT_RULE_heap_descriptor, call, "cache mode %d", (int)d->cpu_cache_mode);
    else if (d->hazard_tracking_mode > MTLHazardTrackingModeTracked)
        rt_misuse(device, RT_RULE_heap_descriptor, call, "hazard tracking mode %d",
                  (int)d->hazard_tracking_mode);
    else
        return true;
    return false;
}

MTLHeap *mtl_device_new_heap(MTLDevice *device, const MTLHeapDescriptor *d) {
    if (!rt_given(device, d, "descriptor", __func__)) return NULL;
    MTLStorageMode storage =
        d->storage_mode_is_set || d->storage_mode ? d->storage_mode : MTLStorageModePrivate;
    if (!valid_descriptor(device, d, storage, __func__)) return NULL;
    MTLHazardTrackingMode tracking =
        d->hazard_tracking_mode ? d->hazard_tracking_mode : MTLHazardTrackingModeUntracked;
    bool sparse = d->type == MTLHeapTypeSparse;
    MTLSparsePageSize page_size = !sparse ? d->max_compatible_placement_sparse_page_size
                                  : d->sparse_page_size ? d->sparse_page_size
                                                        : MTLSparsePageSize16;
    size_t page = page_size ? rt_sparse_page_bytes(page_size) : (size_t)sysconf(_SC_PAGESIZE);
    size_t size = round_up(d->size, page);
    MTLHeap *heap = rt_new(&rt_heap_class, sizeof *heap);
    if (!heap) return NULL;
    rt_resource_init(&heap->resource, device,
                     (MTLResourceOptions)d->cpu_cache_mode | (MTLResourceOptions)storage << 4 |
                         (MTLResourceOptions)tracking << 8,
                     size);
    heap->type = d->type;
    heap->page_size = page_size;
    heap->n_pages = sparse ? size / page : 0;
    heap->file = -1;
    pthread_mutex_init(&heap->lock, NULL);
    if (sparse) return heap;
    // Pages of sparse buffers are mapped from there.
    if (heap->type == MTLHeapTypePlacement && page_size)
        heap->file = rt_own_file_memory(&heap->resource, size);
    else if (!rt_own_memory(&heap->resource, size))
        heap->file = -2;
    if (heap->file == -2 || !reserve(heap)) {
        mtl_release(heap);
        return NULL;
    }
    if (heap->type == MTLHeapTypeAutomatic) insert(heap, 0, (RtRange){0, size});
    return heap;
}

// ---- Properties ----

void mtl_heap_set_label(MTLHeap *heap, const char *text) {
    if (present(heap, __func__)) rt_label_set(&heap->resource.label, text);
}

typedef struct Room {
    size_t used, largest; // largest: of those that begin at a multiple of the alignment
} Room;

static void add_gap(Room *room, size_t from, size_t to, size_t alignment) {
    size_t start = round_up(from, alignment);
    if (start < to && to - start > room->largest) room->largest = to - start;
}

static Room measure(const MTLHeap *heap, size_t alignment) {
    Room room = {0, 0};
    size_t size = heap->resource.allocated_bytes, end = 0;
    pthread_mutex_t *lock = &((MTLHeap *)heap)->lock;
    pthread_mutex_lock(lock);
    if (heap->type == MTLHeapTypeSparse) {
        room.used = heap->n_taken * rt_sparse_page_bytes(heap->page_size);
        room.largest = size - room.used;
        pthread_mutex_unlock(lock);
        return room;
    }
    for (size_t i = 0; i < heap->n_ranges; i++) {
        RtRange r = heap->ranges[i];
        if (heap->type == MTLHeapTypeAutomatic) {
            room.used += r.offset - end;
            end = r.offset + r.n_bytes;
            add_gap(&room, r.offset, end, alignment);
        } else {
            if (r.offset > end) add_gap(&room, end, r.offset, alignment);
            size_t from = r.offset > end ? r.offset : end, to = r.offset + r.n_bytes;
            if (to > from) room.used += to - from;
            if (to > end) end = to;
        }
    }
    if (heap->type == MTLHeapTypeAutomatic)
        room.used += size - end;
    else
        add_gap(&room, end, size, alignment);
    pthread_mutex_unlock(lock);
    return room;
}

size_t mtl_heap_max_available_size(const MTLHeap *heap, size_t alignment) {
    if (!present(heap, __func__)) return 0;
    alignment = alignment ? alignment : 1;
    if (alignment & (alignment - 1)) {
        rt_misuse(heap->resource.device, RT_RULE_heap_alignment, __func__, "%zu", alignment);
        return 0;
    }
    return measure(heap, alignment).largest;
}

MTLPurgeableState mtl_heap_set_purgeable_state(MTLHeap *heap, MTLPurgeableState state) {
    if (!present(heap, __func__)) return MTLPurgeableStateKeepCurrent;
    return rt_set_purgeable(&heap->resource, state, heap->resource.own.host,
                            heap->resource.allocated_bytes,
                            heap->resource.owner == RT_OWNER_MAPPING, __func__);
}

#include "accessors/memory/heap.inc" // plain accessors, from the table

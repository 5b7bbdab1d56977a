// SPDX-License-Identifier: Apache-2.0
// sparse_buffer.c: placement sparse buffers. Addresses of their own, as textures have them; since
// kernels write to memory without asking, what they leave in pages that have none is dropped when
// the commands have run.
#include <string.h>
#include <sys/mman.h>
#include "runtime/memory/buffer.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/own_memory.h"
#include "runtime/memory/sparse.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the list and of all mappings
static MTLBuffer *first;
atomic_uint rt_n_sparse_buffers;

MTLBuffer *mtl_device_new_buffer_with_placement_sparse_page_size(MTLDevice *device, size_t length,
                                                                 MTLResourceOptions options,
                                                                 MTLSparsePageSize size) {
    size_t page = rt_sparse_page_bytes(size);
    if (!rt_valid_buffer_options(device, __func__, length, options)) return NULL;
    if (!page || (options >> 4 & 15) != MTLStorageModePrivate || dev_has_memory(device->table)) {
        rt_misuse(device, RT_RULE_sparse_buffer, __func__, "page size %d, storage mode %u",
                  (int)size, options >> 4 & 15);
        return NULL;
    }
    MTLBuffer *buffer = mtl_device_new_buffer(device, (length + page - 1) / page * page, options);
    RtSparseBuffer *sparse = rt_alloc(sizeof *sparse);
    size_t n_pages = (length + page - 1) / page;
    RtHome *homes = rt_alloc(n_pages * sizeof *homes);
    if (!buffer || !sparse || !homes) {
        rt_free(sparse);
        rt_free(homes);
        mtl_release(buffer);
        return NULL;
    }
    buffer->length = length;
    *sparse =
        (RtSparseBuffer){.page_bytes = page, .n_pages = n_pages, .page_size = size, .homes = homes};
    pthread_mutex_lock(&lock);
    sparse->next = first;
    first = buffer;
    buffer->sparse = sparse;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&rt_n_sparse_buffers, 1);
    return buffer;
}

MTLBufferSparseTier mtl_buffer_sparse_buffer_tier(const MTLBuffer *buffer) {
    return buffer && buffer->sparse ? MTLBufferSparseTier1 : MTLBufferSparseTierNone;
}

void rt_sparse_buffer_free(MTLBuffer *buffer) {
    RtSparseBuffer *s = buffer->sparse;
    if (!s) return;
    pthread_mutex_lock(&lock);
    MTLBuffer **at = &first;
    while (*at != buffer) at = &(*at)->sparse->next;
    *at = s->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&rt_n_sparse_buffers, 1);
    for (size_t i = 0; i < s->n_pages; i++) mtl_release(s->homes[i].heap);
    rt_free(s->homes);
    rt_free(s);
    buffer->sparse = NULL;
}

bool rt_sparse_buffer_valid(MTLDevice *device, const MTLBuffer *buffer, MTLRange pages,
                            const char *call) {
    if (!rt_is(buffer, &rt_buffer_class) || !buffer->sparse) {
        rt_misuse(device, RT_RULE_sparse_buffer, call, "buffer '%s' has memory of its own",
                  buffer ? rt_label(&buffer->resource.label) : "");
        return false;
    }
    size_t n = buffer->sparse->n_pages;
    if (pages.location <= n && pages.length <= n - pages.location) return true;
    rt_misuse(device, RT_RULE_sparse_region, call, "pages %zu .. %zu of %zu", pages.location,
              pages.location + pages.length, n);
    return false;
}

// Under lock, as those below.
static char *page_of(const MTLBuffer *buffer, size_t i) {
    return buffer->memory + i * buffer->sparse->page_bytes;
}

static char *home_of(const RtSparseBuffer *s, RtHome home) {
    return home.heap->resource.own.host + home.page * s->page_bytes;
}

static bool map_at(char *at, size_t n_bytes, int file, size_t offset) {
    int kind = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    return mmap(at, n_bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, (off_t)offset) == at;
}

// The page becomes one of the heap's, seen wherever else that is mapped; where the system maps no
// more, or the memory is no file, a copy, which goes home when the page is given up.
static void place(MTLBuffer *buffer, MTLHeap *heap, size_t i, size_t page) {
    RtSparseBuffer *s = buffer->sparse;
    char *at = page_of(buffer, i);
    RtHome old = s->homes[i];
    bool mapping = buffer->resource.owner == RT_OWNER_MAPPING;
    if (old.alias && !map_at(at, s->page_bytes, -1, 0)) return; // it stays where it is
    if (old.heap && !old.alias) memcpy(home_of(s, old), at, s->page_bytes);
    bool fits = heap && (page + 1) * s->page_bytes <= heap->resource.allocated_bytes;
    RtHome home = fits ? (RtHome){mtl_retain(heap), page, false} : (RtHome){0};
    if (fits && mapping && heap->file >= 0)
        home.alias = map_at(at, s->page_bytes, heap->file, page * s->page_bytes);
    s->homes[i] = home;
    if (fits && !home.alias)
        memcpy(at, home_of(s, home), s->page_bytes);
    else if (!fits)
        rt_drop_contents(at, s->page_bytes, mapping);
    mtl_release(old.heap);
}

void rt_sparse_buffer_place(MTLBuffer *buffer, MTLHeap *heap, MTLRange pages, size_t first_page,
                            bool map) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < pages.length; i++)
        place(buffer, map ? heap : NULL, pages.location + i, first_page + i);
    pthread_mutex_unlock(&lock);
}

void rt_sparse_buffer_share(MTLBuffer *from, MTLRange pages, MTLBuffer *to, size_t at) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < pages.length; i++) {
        RtSparseBuffer *s = from->sparse;
        RtHome home = s->homes[pages.location + i];
        if (home.heap && !home.alias) // as it is now
            memcpy(home_of(s, home), page_of(from, pages.location + i), s->page_bytes);
        place(to, home.heap, at + i, home.page);
    }
    pthread_mutex_unlock(&lock);
}

void rt_sparse_buffers_scrub(void) {
    pthread_mutex_lock(&lock);
    for (MTLBuffer *b = first; b; b = b->sparse->next) {
        const RtSparseBuffer *s = b->sparse;
        for (size_t i = 0, n; i < s->n_pages; i += n) {
            bool mapped = s->homes[i].heap;
            for (n = 1; i + n < s->n_pages && !s->homes[i + n].heap == !mapped;) n++;
            if (!mapped)
                rt_drop_contents(page_of(b, i), n * s->page_bytes,
                                 b->resource.owner == RT_OWNER_MAPPING);
        }
    }
    pthread_mutex_unlock(&lock);
}

#include "accessors/memory/sparse_buffer.inc" // plain accessors, from the table

// SPDX-License-Identifier: Apache-2.0
// memory.c: memory of the device and its side of the host's (cuda_int.h says which counts), and
// copies outside of runs.
#include "devices/cuda/cuda_int.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sched.h>

// ---- Which memory an address lies in: of all devices, as copies outside of runs name none ----

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static CudaMemory **table; // by address; under table_lock, as all here
static size_t n_table, table_capacity;
static size_t n_overlaps; // memory that was adopted may lie in other memory, or be there twice
static _Atomic uint64_t table_time;

static size_t first_above(CUdeviceptr address) { // the first that begins behind it
    size_t low = 0, high = n_table;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle]->device <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The driver's next instance may give out addresses that the last one had.
static void forget_lost(void) {
    size_t n = 0;
    for (size_t i = 0; i < n_table; i++)
        if (!atomic_load(&table[i]->owner->is_lost))
            table[n++] = table[i];
        else
            n_overlaps -= table[i]->overlaps;
    n_table = n;
}

static bool overlaps(const CudaMemory *m) {
    for (size_t i = first_above(m->device + m->n_bytes - 1); i-- > 0;) {
        if (table[i]->device + table[i]->n_bytes > m->device) return true;
        if (!n_overlaps) break; // those before end even earlier
    }
    return false;
}

static bool table_add(CudaMemory *m) {
    pthread_rwlock_wrlock(&table_lock);
    atomic_fetch_add(&table_time, 1);
    if (overlaps(m)) forget_lost();
    bool ok = array_reserve(&table, &table_capacity, n_table + 1);
    if (ok) {
        size_t at = first_above(m->device);
        n_overlaps += m->overlaps = overlaps(m);
        memmove(table + at + 1, table + at, (n_table - at) * sizeof(CudaMemory *));
        table[at] = m;
        n_table++;
    }
    pthread_rwlock_unlock(&table_lock);
    return ok;
}

static void table_remove(const CudaMemory *m) {
    pthread_rwlock_wrlock(&table_lock);
    atomic_fetch_add(&table_time, 1);
    for (size_t at = first_above(m->device); at-- > 0;)
        if (table[at] == m) {
            memmove(table + at, table + at + 1, (n_table - at - 1) * sizeof(CudaMemory *));
            n_table--;
            n_overlaps -= m->overlaps;
            break;
        }
    pthread_rwlock_unlock(&table_lock);
}

CudaMemory *cuda_memory_at(const void *address) {
    CUdeviceptr at = (uintptr_t)address;
    pthread_rwlock_rdlock(&table_lock);
    CudaMemory *m = NULL;
    for (size_t i = first_above(at); !m && i-- > 0;) {
        if (at - table[i]->device < table[i]->n_bytes) m = table[i];
        if (!n_overlaps) break;
    }
    pthread_rwlock_unlock(&table_lock);
    return m;
}

uint64_t cuda_memory_time(void) { return atomic_load(&table_time); }

bool cuda_memory_overlaps(void) {
    pthread_rwlock_rdlock(&table_lock);
    bool some = n_overlaps > 0;
    pthread_rwlock_unlock(&table_lock);
    return some;
}

// ---- The device's side ----

// Waits for what was started on the service stream. Its lock is held.
static bool wait_for_service(CudaDevice *d, CUresult result) {
    while (!result) {
        result = d->driver->cuStreamQuery(d->service);
        if (result != CUDA_ERROR_NOT_READY) break;
        result = CUDA_SUCCESS;
        if (atomic_load(&d->is_lost)) return false; // a kernel that never ends is before it
        sched_yield();
    }
    if (cuda_is_fatal(result)) cuda_lose(d, result);
    return !result;
}

CUdeviceptr cuda_alloc(CudaDevice *d, size_t n_bytes, bool zeroed) {
    const CudaDriver *driver = d->driver;
    CUdeviceptr address = 0;
    pthread_mutex_lock(&d->service_lock);
    CUresult result = d->pool
                          ? driver->cuMemAllocFromPoolAsync(&address, n_bytes, d->pool, d->service)
                          : driver->cuMemAlloc_v2(&address, n_bytes);
    if (!result && zeroed) {
        result = driver->cuMemsetD8Async(address, 0, n_bytes, d->service);
        if (result && d->pool) driver->cuMemFreeAsync(address, d->service);
        if (result && !d->pool) driver->cuMemFree_v2(address);
    }
    if (cuda_is_fatal(result)) cuda_lose(d, result);
    atomic_fetch_add(&d->n_service, 1);
    pthread_mutex_unlock(&d->service_lock);
    return result ? 0 : address;
}

void cuda_release(CudaDevice *d, CUdeviceptr address) {
    if (!address) return;
    pthread_mutex_lock(&d->service_lock);
    if (d->pool)
        d->driver->cuMemFreeAsync(address, d->service);
    else
        d->driver->cuMemFree_v2(address);
    pthread_mutex_unlock(&d->service_lock);
}

// ---- The host's side ----
// Mappings of our own that the driver is told of, not memory of the driver's: contents() stays
// valid when the context is lost.

enum { PAGE = 4096, N_SIZES = 7, SLAB_BYTES = 4 << 20 }; // sizes: 4 KiB ... 256 KiB
#define MAX_PINNED ((size_t)PAGE << (N_SIZES - 1))
_Static_assert(N_SIZES <= sizeof((CudaDevice *)0)->free_pinned / sizeof(void *), "a list each");

// On large pages where it is large: to pin 64 MiB of small ones takes 25 ms.
static void *map(size_t n_bytes) {
    if (dev_pages) return dev_pages->take(n_bytes);
    const size_t large = (size_t)2 << 20, more = n_bytes >= 2 * large ? large : 0;
    n_bytes = (n_bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
    char *p = mmap(NULL, n_bytes + more, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (!more) return p;
    size_t before = -(uintptr_t)p & (large - 1);
    if (before) munmap(p, before);
    if (more - before) munmap(p + before + n_bytes, more - before);
    madvise(p + before, n_bytes, MADV_HUGEPAGE);
    return p + before;
}

static void unmap(void *pages, size_t n_bytes) {
    if (dev_pages)
        dev_pages->give(pages, n_bytes);
    else
        munmap(pages, n_bytes);
}

// Both sides find it at one address afterwards.
static bool pin(CudaDevice *d, void *host, size_t n_bytes) {
    CUdeviceptr seen = 0;
    if (d->driver->cuMemHostRegister_v2(host, n_bytes,
                                        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP))
        return false;
    if (!d->driver->cuMemHostGetDevicePointer_v2(&seen, host, 0) && seen == (uintptr_t)host)
        return true;
    d->driver->cuMemHostUnregister(host);
    return false;
}

static unsigned size_class(size_t n_bytes) {
    unsigned i = 0;
    while ((size_t)PAGE << i < n_bytes) i++;
    return i;
}

static bool add_slab(CudaDevice *d, unsigned i) { // lock held
    char *slab = map(SLAB_BYTES);
    size_t step = (size_t)PAGE << i;
    CudaSlab *s = calloc(1, sizeof *s);
    if (slab && (!s || !pin(d, slab, SLAB_BYTES))) {
        unmap(slab, SLAB_BYTES);
        slab = NULL;
    }
    if (slab) {
        s->host = slab, s->n_bytes = SLAB_BYTES, s->step = step;
        s->next = atomic_load(&d->slabs);
        atomic_store(&d->slabs, s);
    } else {
        free(s);
    }
    for (size_t at = SLAB_BYTES; slab && at >= step; at -= step) {
        void **piece = (void **)(void *)(slab + at - step);
        *piece = d->free_pinned[i];
        d->free_pinned[i] = piece;
    }
    return slab != NULL;
}

size_t cuda_pinned_from(const CudaDevice *d, uint64_t address) {
    const CudaSlab *s = atomic_load(&d->slabs);
    while (s && address - (uintptr_t)s->host >= s->n_bytes) s = s->next;
    return s ? (uintptr_t)s->host + s->n_bytes - address : 0;
}

void *cuda_pinned_take(CudaDevice *d, size_t n_bytes) {
    if (n_bytes > MAX_PINNED) {
        void *p = map(n_bytes);
        if (p && !pin(d, p, n_bytes)) {
            unmap(p, n_bytes);
            p = NULL;
        }
        return p;
    }
    unsigned i = size_class(n_bytes);
    pthread_mutex_lock(&d->lock);
    void *piece = d->free_pinned[i] || add_slab(d, i) ? d->free_pinned[i] : NULL;
    if (piece) d->free_pinned[i] = *(void **)piece;
    pthread_mutex_unlock(&d->lock);
    if (piece) memset(piece, 0, n_bytes);
    return piece;
}

const char *cuda_pinned_piece(CudaDevice *d, uint64_t address, size_t *n_bytes) {
    CudaSlab *s = atomic_load(&d->slabs);
    while (s && address - (uintptr_t)s->host >= s->n_bytes) s = s->next;
    if (!s) return NULL;
    *n_bytes = s->step;
    return s->host + ((address - (uintptr_t)s->host) & ~(s->step - 1));
}

void cuda_pinned_give(CudaDevice *d, void *memory, size_t n_bytes) {
    if (n_bytes > MAX_PINNED) {
        if (!atomic_load(&d->is_lost) && cuda_enter(d)) {
            d->driver->cuMemHostUnregister(memory);
            cuda_leave(d);
        }
        unmap(memory, n_bytes);
        return;
    }
    unsigned i = size_class(n_bytes);
    pthread_mutex_lock(&d->lock);
    *(void **)memory = d->free_pinned[i];
    d->free_pinned[i] = memory;
    pthread_mutex_unlock(&d->lock);
}

// Small ones are pinned from the start, large ones when the program asks where they are.
static bool take_host(CudaMemory *m) {
    if (m->storage == DEV_PRIVATE) return true;
    m->pinned = m->n_bytes <= MAX_PINNED;
    m->host = m->pinned ? cuda_pinned_take(m->owner, m->n_bytes) : map(m->n_bytes);
    return m->host != NULL;
}

static void give_host(CudaMemory *m, bool alive) {
    if (!m->host) return;
    if (!m->wrapped && m->n_bytes <= MAX_PINNED) {
        cuda_pinned_give(m->owner, m->host, m->n_bytes);
        return;
    }
    if (m->pinned && alive) m->owner->driver->cuMemHostUnregister(m->host);
    if (!m->wrapped) unmap(m->host, m->n_bytes);
}

// ---- Both ----

static void drop(CudaMemory *m) {
    CudaDevice *d = m->owner;
    bool alive = cuda_enter(d);
    give_host(m, alive);
    if (alive) {
        if (!m->adopted) cuda_release(d, m->device);
        cuda_release(d, m->twin);
        cuda_leave(d);
    }
    free(m);
}

static bool allocate(CudaDevice *d, DevStorage storage, char *program, DevMemory *memory) {
    CudaMemory *m = calloc(1, sizeof *m);
    if (!m || !cuda_enter(d)) {
        free(m);
        return false;
    }
    *m = (CudaMemory){.owner = d, .n_bytes = memory->n_bytes, .storage = storage};
    m->device = cuda_alloc(d, m->n_bytes, true);
    if (program) {
        m->host = program;
        m->wrapped = true;
        atomic_init(&m->shown, true);
        m->pinned = pin(d, program, m->n_bytes);
    }
    bool ok = m->device && (program || take_host(m)) && table_add(m);
    cuda_leave(d);
    if (!ok) {
        drop(m);
        return false;
    }
    *memory = (DevMemory){
        .address = (char *)(uintptr_t)m->device, .host = m->host, .n_bytes = m->n_bytes, .part = m};
    return true;
}

bool cuda_memory_make(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory) {
    CudaDevice *d = context;
    *memory = (DevMemory){.n_bytes = n_bytes};
    if (storage != DEV_ARGUMENTS) return allocate(d, storage, NULL, memory);
    if (!cuda_enter(d)) return false;
    memory->address = memory->host = cuda_pinned_take(d, n_bytes);
    cuda_leave(d);
    return memory->address != NULL;
}

bool cuda_memory_wrap(void *context, DevMemory *memory) {
    return allocate(context, DEV_SHARED, memory->host, memory);
}

bool cuda_memory_adopt(void *context, DevMemory *memory) {
    CudaDevice *d = context;
    CudaMemory *m = calloc(1, sizeof *m);
    if (!m || !cuda_enter(d)) {
        free(m);
        return false;
    }
    *m = (CudaMemory){.owner = d,
                      .device = (uintptr_t)memory->address,
                      .n_bytes = memory->n_bytes,
                      .storage = DEV_MANAGED,
                      .adopted = true};
    atomic_init(&m->touched, true);
    // Others use the primary context: in one of our own its addresses mean nothing.
    bool ok = !d->own_context && take_host(m) && table_add(m);
    cuda_leave(d);
    if (!ok) {
        drop(m);
        return false;
    }
    memory->host = m->host;
    memory->part = m;
    return true;
}

// The default stream takes its turn behind all streams that did not ask to be left out, as ours
// did: no kernel of ours, and so none without an end, is waited for.
bool cuda_wait_for_others(void *context) {
    CudaDevice *d = context;
    CUevent event = NULL;
    if (!cuda_enter(d)) return false;
    CUresult result = d->driver->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    if (!result) result = d->driver->cuEventRecord(event, CU_STREAM_LEGACY);
    while (!result && (result = d->driver->cuEventQuery(event)) == CUDA_ERROR_NOT_READY) {
        result = CUDA_SUCCESS;
        if (atomic_load(&d->is_lost)) break;
        sched_yield();
    }
    if (event) d->driver->cuEventDestroy_v2(event);
    // While somebody records a graph in that stream, nobody may wait for it.
    bool recording = result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                     result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (!recording && cuda_is_fatal(result)) cuda_lose(d, result);
    cuda_leave(d);
    return !result && !atomic_load(&d->is_lost);
}

void cuda_memory_free(void *context, DevMemory *memory) {
    CudaMemory *m = memory->part;
    if (!m) {
        cuda_pinned_give(context, memory->host, memory->n_bytes);
        return;
    }
    table_remove(m);
    drop(m);
}

// ---- The program looks, and says that it wrote ----

static bool copy_now(CudaDevice *d, CUdeviceptr to, CUdeviceptr from, size_t n_bytes) {
    pthread_mutex_lock(&d->service_lock);
    bool ok = wait_for_service(d, d->driver->cuMemcpyAsync(to, from, n_bytes, d->service));
    pthread_mutex_unlock(&d->service_lock);
    return ok;
}

void cuda_memory_show(void *context, const DevMemory *memory) {
    CudaDevice *d = context;
    CudaMemory *m = memory->part;
    if (!m || atomic_load_explicit(&m->shown, memory_order_acquire)) return;
    bool alive = cuda_enter(d);
    pthread_mutex_lock(&d->lock);
    while (m->n_writers && !atomic_load(&d->is_lost)) pthread_cond_wait(&d->changed, &d->lock);
    if (!atomic_load(&m->shown) && alive) {
        if (!m->pinned) m->pinned = pin(d, m->host, m->n_bytes);
        bool same = m->storage == DEV_SHARED &&
                    (!m->touched || copy_now(d, (uintptr_t)m->host, m->device, m->n_bytes));
        // Small memory is copied faster than it is looked at.
        m->watched = same && m->n_bytes > MAX_PINNED && cuda_watch(m->host, m->n_bytes);
    }
    atomic_store_explicit(&m->shown, true, memory_order_release);
    pthread_mutex_unlock(&d->lock);
    if (alive) cuda_leave(d);
}

void cuda_memory_modified(void *context, const DevMemory *memory, size_t from, size_t n_bytes) {
    CudaDevice *d = context;
    CudaMemory *m = memory->part;
    if (!m || m->storage != DEV_MANAGED || !cuda_enter(d)) return;
    copy_now(d, m->device + from, (uintptr_t)m->host + from, n_bytes);
    cuda_leave(d);
}

// ---- Outside of runs ----

typedef struct Side {
    CudaMemory *memory; // NULL: plain memory of the host's
    CUdeviceptr at;
    bool is_host;
} Side;

// Reads go to the side that counts; of managed memory, to the host's.
static Side side_of(const void *address) {
    CudaMemory *m = cuda_memory_at(address);
    if (!m) return (Side){.at = (uintptr_t)address, .is_host = true};
    size_t offset = (uintptr_t)address - m->device;
    bool is_host =
        m->storage == DEV_MANAGED || (m->storage == DEV_SHARED && atomic_load(&m->shown));
    return (Side){m, is_host ? (uintptr_t)m->host + offset : m->device + offset, is_host};
}

bool cuda_copy_outside(void *to, const void *from, size_t n_bytes) {
    Side a = side_of(to), b = side_of(from);
    CudaDevice *d = a.memory ? a.memory->owner : b.memory ? b.memory->owner : NULL;
    if (a.is_host && b.is_host) memmove((void *)a.at, (const void *)b.at, n_bytes);
    bool both = a.memory && a.memory->storage == DEV_MANAGED;
    if (!d || (a.is_host && b.is_host && !both)) return true;
    if (!cuda_enter(d)) return false;
    bool ok = (a.is_host && b.is_host) || copy_now(d, a.at, b.at, n_bytes);
    if (a.memory && !a.is_host) a.memory->touched = true;
    if (ok && both) ok = copy_now(d, (uintptr_t)to, a.at, n_bytes);
    cuda_leave(d);
    return ok;
}

CUresult cuda_rows(const CudaDriver *driver, const CudaRows *r, CUstream stream) {
    const CUmemcpy2D copy = {.from_kind = CU_MEMORYTYPE_UNIFIED,
                             .from_device = (uintptr_t)r->from,
                             .from_pitch = r->from_pitch,
                             .to_kind = CU_MEMORYTYPE_UNIFIED,
                             .to_device = (uintptr_t)r->to,
                             .to_pitch = r->to_pitch,
                             .width = r->n_bytes,
                             .height = r->n_rows};
    return driver->cuMemcpy2DAsync_v2(&copy, stream);
}

static bool rows_now(CudaDevice *d, const CudaRows *rows) {
    pthread_mutex_lock(&d->service_lock);
    bool ok = wait_for_service(d, cuda_rows(d->driver, rows, d->service));
    pthread_mutex_unlock(&d->service_lock);
    return ok;
}

bool cuda_rows_outside(const CudaRows *rows) {
    Side a = side_of(rows->to), b = side_of(rows->from);
    CudaDevice *d = a.memory ? a.memory->owner : b.memory ? b.memory->owner : NULL;
    CudaRows r = *rows;
    r.to = (char *)a.at;
    r.from = (const char *)b.at;
    bool by_host = a.is_host && b.is_host, both = a.memory && a.memory->storage == DEV_MANAGED;
    for (size_t y = 0; by_host && y < r.n_rows; y++)
        memmove(r.to + y * r.to_pitch, r.from + y * r.from_pitch, r.n_bytes);
    if (!d || (by_host && !both)) return true;
    if (!cuda_enter(d)) return false;
    bool ok = by_host || rows_now(d, &r);
    if (a.memory && !a.is_host) a.memory->touched = true;
    r.from = r.to;
    r.from_pitch = r.to_pitch;
    r.to = rows->to;
    if (ok && both) ok = rows_now(d, &r);
    cuda_leave(d);
    return ok;
}

bool cuda_fill_outside(void *to, uint8_t value, size_t n_bytes) {
    Side a = side_of(to);
    bool both = a.memory && a.memory->storage == DEV_MANAGED;
    if (a.is_host) memset((void *)a.at, value, n_bytes);
    if (a.is_host && !both) return true;
    CudaDevice *d = a.memory->owner;
    if (!cuda_enter(d)) return false;
    a.memory->touched = true;
    pthread_mutex_lock(&d->service_lock);
    bool ok =
        wait_for_service(d, d->driver->cuMemsetD8Async((uintptr_t)to, value, n_bytes, d->service));
    pthread_mutex_unlock(&d->service_lock);
    cuda_leave(d);
    return ok;
}

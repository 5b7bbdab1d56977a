// SPDX-License-Identifier: Apache-2.0
// cuda_int.h: the CUDA device among its own files.
//
// Memory has two sides: the device's, where kernels find it, and, unless it is private, the host's.
// Of shared memory one side counts:
//   not shown   the program never asked for contents(): the device's. Nothing is ever copied
//   shown       the program may write at any time between command buffers: the host's. A run brings
//               over what it uses, and when it is finished what it changed goes back, byte by byte:
//               what the program wrote meanwhile in other bytes stays (merge.c). Where the
//               system tells which pages were written (dirty_pages.c), only those are brought
// Of managed memory both count, and the program says when they are to be made equal. Memory that
// another library made (PyTorch's, in the same primary context) is adopted as managed memory.
#ifndef INGOT_CUDA_CUDA_INT_H
#define INGOT_CUDA_CUDA_INT_H
#include <pthread.h>
#include "abi/cuda_kernel.h"
#include "devices/cuda/driver.h"
#include "devices/table/device.h"

typedef struct CudaDevice CudaDevice;
typedef struct CudaViews CudaViews;

// Places for records of textures and the like (texture.c), in slabs that stay. Under the lock.
enum { CUDA_RECORD_CLASSES = 2 };
typedef struct CudaRecords {
    CUdeviceptr *free;
    size_t n_free, capacity, n_places;
} CudaRecords;

// Pinned memory that is given out in pieces of `step` bytes.
typedef struct CudaSlab {
    struct CudaSlab *next;
    char *host;
    size_t n_bytes, step;
} CudaSlab;

enum {
    CUDA_MAX_SLOTS = 256, // of a kernel's arguments
    CUDA_ZEROS_BYTES = 65536,
    CUDA_CONSTANTS_BYTES = 1 << 18, // that a run copies; what is more is read where it is
};

typedef struct CudaMemory {
    CudaDevice *owner;
    CUdeviceptr device;
    char *host; // NULL: private
    size_t n_bytes;
    DevStorage storage;
    bool wrapped;      // the host's side is the program's
    bool adopted;      // the device's side is of another library
    bool overlaps;     // with other memory in the table: under its lock
    atomic_bool shown; // changes under the device's lock, once
    // Under the device's lock:
    bool pinned;                 // kernels find the host's side at `host`, too
    atomic_bool touched;         // the device's side is no longer all zeros
    bool watched;                // the device's side has all but what was written since
    unsigned n_users, n_writers; // runs under way
    CUdeviceptr twin;            // the device's side as the host knows it; 0: none
} CudaMemory;

typedef struct CudaUse { // what a run does with a range of memory
    CudaMemory *memory;
    size_t from, to;
    bool writes;
    bool brought; // the host's side counts, and was brought over
    bool alone;   // no other run uses it now
} CudaUse;

typedef struct CudaBytes { // grows
    char *data;
    size_t n_bytes, capacity;
} CudaBytes;

// A place for constants on the device, and what it has: who brings the same again needs no copy.
typedef struct CudaCopies {
    CUdeviceptr at; // CUDA_CONSTANTS_BYTES
    size_t n_known; // of them that are
    char known[CUDA_CONSTANTS_BYTES];
} CudaCopies;

// A stream and what belongs to the run that has it.
typedef struct CudaFlow {
    struct CudaFlow *next; // of the spare ones; under the device's lock
    CudaDevice *device;
    CUstream stream;
    CUevent started;          // where another run begins; NULL: not made yet
    struct CudaFlow *follows; // its run, which is with the device already; NULL: none
    DevRun *run;
    DevLimits limits;
    uint64_t start_ns;
    CudaUse *uses;
    size_t n_uses, uses_capacity;
    uint64_t known[16]; // addresses of arguments that were looked at
    // Constants: pieces of the host's that this run has copied, the last ones, and where to.
    struct {
        const char *piece;
        CUdeviceptr copy;
    } brought[4];
    unsigned n_brought;
    struct CudaCopies *copies; // where to; NULL: none yet
    size_t n_copied;           // bytes taken
    bool settled;              // its memory is where it should be
    bool busy;                 // there is work since it was last waited for
    bool seen_done;            // and it is done, if nothing came since (cuda_is_done)
    bool wrote_zeros;          // of the device: they may not be zeros any more
    uint64_t seen_service;     // CudaDevice.n_service that the stream has waited for
    const char *kernels[8];    // names, of those since it was last waited for
    unsigned n_kernels;
    CudaBytes log;       // commands since then (graph.c)
    CudaBytes constants; // of these
    size_t n_logged;
    bool holding;   // they are not with the driver yet
    size_t n_given; // bytes of the log that are; with n_left commands behind them
    size_t n_left;  // that are not, and will go together
    struct CudaLaunchBatch
        *launch_batches[2];  // rings of them, by size (launch_batch.c); NULL: none yet
    struct CudaNotes *notes; // of kernels that log or check (instrumentation.c)
    struct CudaPiece *pieces;
    struct CudaGraph *match; // what they begin like, if its time is still the device's
    uint64_t match_time;
} CudaFlow;

struct CudaDevice {
    const CudaDriver *driver;
    CUdevice device;
    unsigned index;
    int sm;              // 90
    unsigned max_shared; // bytes of a block
    bool own_context;    // not the primary one, which was lost before
    atomic_bool is_lost; // for good
    atomic_int lost_by;  // CUresult
    pthread_mutex_t lock;
    pthread_cond_t changed;    // users of memory
    CUcontext _Atomic context; // made at first use
    CUmemoryPool pool;         // NULL: the driver has none
    CUstream service;          // for what is done outside of runs; under service_lock
    pthread_mutex_t service_lock;
    CUevent served;
    _Atomic uint64_t n_service; // things started there that runs must wait for
    CudaFlow *flows;            // spare; under lock
    void *free_pinned[8];       // pieces of slabs, by size; under lock. The slabs stay
    CudaSlab *_Atomic slabs;    // newest first; grows under lock
    CudaRecords records[CUDA_RECORD_CLASSES];
    _Atomic uint64_t n_records; // that were ever made
    CudaViews *_Atomic views;   // NULL: there never was a pool of them (views.c)
    CUdeviceptr zeros;          // what arguments that are not bound point to
    CUmodule merge_module;
    CUfunction merge;
    _Atomic uint64_t n_single;              // commands that went to the driver one by one
    atomic_bool no_trains;                  // it does not take them
    struct CudaLaunchBatch *launch_batches; // of all flows; under graph_lock
    struct CudaGraph *graphs;               // newest first; under graph_lock
    uint64_t graph_time;                    // raised when one is freed; likewise
    uint64_t seen[64];                      // hashes of sequences that came once; likewise
    unsigned n_seen;
    pthread_mutex_t graph_lock;
    atomic_bool has_blocks; // there was a texture of compressed blocks
    pthread_mutex_t code_lock;
};

typedef struct CudaMade { // code as the driver has it; module NULL: it has not
    CUmodule module;
    CUfunction function;
    int max_threads; // of a block: registers may not suffice for more
} CudaMade;

// A kernel that reads textures is made without what decodes compressed blocks, and again with it
// when it runs after the device had a texture of them.
typedef struct CudaCode {
    DevCode head; // first
    CudaDevice *device;
    CudaMade whole, without_blocks;
    atomic_bool is_whole; // `whole` is there, and counts
    char *ptx;            // until then, to make it of: two texts; under the device's code_lock
    const DevCache *cache;
    uint32_t flags;
    uint32_t library_bytes;                     // of shared memory, in front of the threadgroup's
    uint64_t buffer_slots[CUDA_MAX_SLOTS / 64]; // bits: slots that hold addresses of buffers
    uint32_t n_constants;                       // words that are parameters: CudaKernelInfo
    uint16_t constants[CUDA_MAX_CONSTANTS];
    uint32_t only_constants;
    uint64_t slots_read, slots_written; // with CUDA_KERNEL_KNOWN
} CudaCode;

// ---- device.c ----

// Makes the device's context the thread's, at first use makes it. False: the device is lost.
// cuda_leave afterwards, only if true.
bool cuda_enter(CudaDevice *device);
void cuda_leave(CudaDevice *device);
// Remembers that the context is of no use any more.
void cuda_lose(CudaDevice *device, CUresult why);
// Whether an error means that.
bool cuda_is_fatal(CUresult result);
const char *cuda_lost_for_good(void); // a sentence for who asks a lost device

// ---- memory.c ----

bool cuda_memory_make(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory);
bool cuda_memory_wrap(void *context, DevMemory *memory);
bool cuda_memory_adopt(void *context, DevMemory *memory);
bool cuda_wait_for_others(void *context);
void cuda_memory_free(void *context, DevMemory *memory);
void cuda_memory_show(void *context, const DevMemory *memory);
void cuda_memory_modified(void *context, const DevMemory *memory, size_t from, size_t n_bytes);
// The memory that an address of a device's lies in; NULL: none.
CudaMemory *cuda_memory_at(const void *address);
uint64_t cuda_memory_time(void); // raised whenever memory comes or goes
bool cuda_memory_overlaps(void); // some lies in other memory, or is there twice
CUdeviceptr cuda_alloc(CudaDevice *device, size_t n_bytes, bool zeroed); // 0: none
void cuda_release(CudaDevice *device, CUdeviceptr address);
// Small memory that both sides find at one address; zeroed. NULL: none.
void *cuda_pinned_take(CudaDevice *device, size_t n_bytes);
void cuda_pinned_give(CudaDevice *device, void *memory, size_t n_bytes);
// The piece of such memory that an address lies in; NULL: it is not such memory.
const char *cuda_pinned_piece(CudaDevice *device, uint64_t address, size_t *n_bytes);
// How many bytes of it there are from an address on; 0: it is not such memory.
size_t cuda_pinned_from(const CudaDevice *device, uint64_t address);
// Outside of runs; done when it returns.
bool cuda_copy_outside(void *to, const void *from, size_t n_bytes);
bool cuda_fill_outside(void *to, uint8_t value, size_t n_bytes);
typedef struct CudaRows {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, n_bytes, n_rows; // n_bytes: of a row
} CudaRows;
bool cuda_rows_outside(const CudaRows *rows);
CUresult cuda_rows(const CudaDriver *driver, const CudaRows *rows, CUstream stream);

// ---- texture.c, tensor.c ----

bool cuda_texture_make(void *context, const AbiTexture *record, DevHandle *handle);
bool cuda_sampler_make(void *context, const AbiSampler *record, DevHandle *handle);
bool cuda_tensor_make(void *context, const AbiTensor *record, DevHandle *handle);
void cuda_handle_free(void *context, DevHandle *handle);
// A record at `place`, which is of the class, or 0: anywhere. In the context.
bool cuda_record_make(CudaDevice *device, unsigned class, const void *record, size_t n_bytes,
                      CUdeviceptr place, DevHandle *handle);
void cuda_records_free(CudaDevice *device);
// The parts of that. A place; 0: no memory. What is put is there when it returns; false: it is not.
CUdeviceptr cuda_record_take(CudaDevice *device, unsigned class);
void cuda_record_give(CudaDevice *device, unsigned class, CUdeviceptr place);
bool cuda_record_put(CudaDevice *device, CUdeviceptr to, const void *record, size_t n_bytes);
bool cuda_texture_put(CudaDevice *device, const AbiTexture *record, CUdeviceptr place);

// ---- views.c ----

uint64_t cuda_views_take(void *context, size_t n);
void cuda_views_give(void *context, uint64_t first, size_t n);
bool cuda_view_set(void *context, uint64_t id, const AbiTexture *record);
const AbiTexture *cuda_view_at(void *context, uint64_t id);
CUdeviceptr cuda_views_table(const CudaDevice *device); // 0: none
void cuda_views_free(CudaDevice *device);

// ---- merge.c ----

bool cuda_merge_load(CudaDevice *device);
// What the device changed in a range goes to the host's side, and into the twin.
CUresult cuda_merge(const CudaMemory *memory, size_t from, size_t n_bytes, CUstream stream);

// ---- dirty_pages.c: what the program writes ----

// Called with each range of pages; false: no more.
typedef bool CudaWritten(void *context, char *at, size_t n_bytes);
// Memory of whole pages is watched from now on, or, false, cannot be.
bool cuda_watch(char *memory, size_t n_bytes);
void cuda_unwatch(char *memory, size_t n_bytes);
// What was written since the last time. False: not known, or `written` said so.
bool cuda_watched(char *memory, size_t n_bytes, CudaWritten *written, void *context);

// ---- code.c ----

DevCode *cuda_code_load(void *context, const DevCodeSource *source, char *why, size_t why_bytes);
void cuda_code_free(DevCode *code);
// What is to be launched now, in the context; NULL: it cannot be made.
const CudaMade *cuda_code_made(CudaCode *code);

// ---- run.c ----

bool cuda_run_begin(DevRun *run, DevLimits limits);
void cuda_run_end(DevRun *run);
bool cuda_finish(DevRun *run);
bool cuda_start(DevRun *run);
bool cuda_is_done(DevRun *run);
bool cuda_follow(DevRun *run, DevRun *before);
void cuda_use(DevRun *run, const DevMemory *memory, bool writes);
bool cuda_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n);
bool cuda_copy(DevRun *run, void *to, const void *from, size_t n_bytes);
bool cuda_fill(DevRun *run, void *to, uint8_t value, size_t n_bytes);
bool cuda_move(DevRun *run, const DevMove *move);
bool cuda_synchronize(DevRun *run, const DevMemory *memory);
// Memory is brought over; commands may follow. False: the run has a fault.
bool cuda_settle(CudaFlow *flow);
// A result that is no success becomes the run's fault, or the device's end. True: it was one.
bool cuda_check(CudaFlow *flow, CUresult result);
// Waits for a stream, no longer than the run may take. False: the run has a fault.
bool cuda_wait(CudaFlow *flow);

static inline CudaFlow *cuda_flow(const DevRun *run) {
    return *(CudaFlow *const *)(const void *)run->part;
}

// ---- instrumentation.c ----

// The parameter of a kernel with CUDA_KERNEL_SURROUNDINGS; 0: no memory.
uint64_t cuda_surroundings(CudaFlow *flow, const DevDispatch *dispatch, const uint64_t *slots,
                           uint32_t n_slots);
void cuda_read_notes(CudaFlow *flow); // of kernels that are done, for the run
void cuda_notes_free(CudaFlow *flow);

// ---- graph.c, launch_batch.c: commands of a run, on their way to the driver ----

typedef struct CudaLaunch {
    CUfunction function;
    const CudaCode *code;
    uint32_t grid[3], block[3], shared_bytes, n_bytes; // of parameters
    uint32_t n_constants;                              // words, the last of the parameters
    uint32_t copied; // a bit for each of the first slots: constants, copied before
} CudaLaunch;

CUresult cuda_launch(CudaFlow *flow, const CudaLaunch *launch, const void *parameters);
CUresult cuda_enqueue_copy(CudaFlow *flow, CUdeviceptr to, CUdeviceptr from, size_t n_bytes);
CUresult cuda_enqueue_fill(CudaFlow *flow, CUdeviceptr to, uint8_t value, size_t n_bytes);
// All commands are with the driver: before something that is not one of them.
CUresult cuda_flush(CudaFlow *flow);
// A sequence ends here: one that came again becomes a graph. cuda_flush was before it.
void cuda_remember(CudaFlow *flow);
void cuda_graphs_forget(CudaDevice *device, CUfunction function); // NULL: all

// Several launches in one, a linear graph (launch_batch.c): CUDA_LAUNCH_BATCH_SHORT or
// CUDA_LAUNCH_BATCH_LONG of them, as the driver takes them. False: nothing was done, launch them
// one by one.
enum { CUDA_LAUNCH_BATCH_SHORT = 8, CUDA_LAUNCH_BATCH_LONG = 32 };
bool cuda_launch_batch(CudaFlow *flow, const CUkernelNode *kernels, size_t n);
void cuda_launch_batches_forget(CudaDevice *device,
                                CUfunction function); // NULL: all; graph_lock held
#endif

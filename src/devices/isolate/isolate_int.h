// SPDX-License-Identifier: Apache-2.0
// isolate_int.h: isolated devices on the host's side: a child process, its memory, and the channels
// that runs take.
#ifndef INGOT_ISOLATE_ISOLATE_INT_H
#define INGOT_ISOLATE_ISOLATE_INT_H
#include <string.h>
#include <sys/types.h>
#include "abi/pixel_format.h"
#include "devices/isolate/protocol.h"
#include "devices/isolate/range.h"
#include "devices/table/device.h"
#include "devices/table/schema.h"

// Memory of the program's own behind a buffer, which the child cannot see: kernels work on a copy.
typedef struct IsoWrapped {
    struct IsoWrapped *next; // of all; under their lock
    char *shadow, *host;
    size_t n_bytes;
    struct IsoWrapped *next_written; // of a run
    bool written;                    // by the run under way
} IsoWrapped;

typedef struct IsoRecord { // a place for a record, which lies in the range
    struct IsoRecord *next;
    void *at;
} IsoRecord;

typedef struct IsoBlock { // memory of a command that found no room
    struct IsoBlock *next;
    void *at;
    size_t n_bytes;
} IsoBlock;

// A channel as the host knows it; whoever holds it alone looks at it.
typedef struct IsoHost {
    IsoChannel *shared;
    char *room;         // [ISO_ROOM] of the range
    bool busy;          // under the device's lock
    unsigned submitted; // as in shared, where nobody else can write
    unsigned first;     // number of the run's first command
    unsigned notes;     // that were read
    bool broken;        // the child said what cannot be
    unsigned n_flight;  // commands since the channel was drained
    bool has_work;      // more of them than the beginning and the end of runs
    size_t used;        // of the room
    IsoBlock *blocks;
    bool no_memory; // of what the command under way needs
    DevRun *run;
    IsoWrapped *written;
    uint64_t deadline_ns;            // 0: none
    const AbiLive *live_from, *live; // what was copied last, and where to
    void **contexts;                 // of reports: the child knows their numbers
    size_t n_contexts, contexts_capacity;
    const char *name_from, *name; // of a kernel: what was kept last, and where
    const DevCache *cache;        // for the child's questions; NULL: none are expected
    unsigned n_questions;         // of the command under way
    struct {
        const char *kernel; // name, for messages of faults
        DevCode *code;      // of a dispatch
    } flight[ISO_COMMANDS];
} IsoHost;

typedef struct IsoName { // of a kernel, where the child sees it; they stay
    struct IsoName *next;
    const char *text;
} IsoName;

typedef struct IsoDevice {
    IsoRange range;
    IsoRange control; // the head's memory; its addresses are the host's alone
    IsoRange store;   // of a device with memory of its own; the child takes of it
    IsoHead *head;
    pid_t pid;
    int process; // pidfd; -1: the system has none
    int life;
    atomic_bool is_lost;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    IsoHost channels[ISO_CHANNELS + 1]; // the last is for code
    pthread_mutex_t code_lock;          // of that one
    IsoRecord *free_records;            // under lock; they go with the process
    AbiTexture *_Atomic views;          // [ABI_VIEW_POOL_SLOTS], at first use
    AbiPixelFormat *formats[1024];      // by MTLPixelFormat, where the child sees them; under lock
    // Of a device with memory of its own, under lock:
    IsoName *names;
    struct IsoOwned *spare[8]; // constants of command buffers that are gone, by size
    struct IsoOwned *wrapped;  // the program's own memory
    AbiTexture **shown_views;  // [ABI_VIEW_POOL_SLOTS], at first use
} IsoDevice;

typedef struct IsoCode {
    DevCode head; // first
    IsoDevice *device;
    DevCode *own;  // loaded here too, for what it says of itself; it never runs
    uint64_t code; // the child's
} IsoCode;

// ---- process.c ----

// Starts a child for a device; NULL and a sentence in `why`: it does not start.
IsoDevice *iso_start(const char *device, unsigned index, bool own_memory, char *why,
                     size_t why_bytes);
void iso_stop(IsoDevice *device);
// Ends the child; all that comes fails.
void iso_lose(IsoDevice *device);
bool iso_is_alive(IsoDevice *device); // false: it is lost from now on

// ---- channel.c ----

IsoHost *iso_acquire(IsoDevice *device);
void iso_release(IsoDevice *device, IsoHost *host);
// Room for what a command needs, until it is done; NULL: there is none, and host->no_memory keeps
// the command from being submitted.
void *iso_room(IsoDevice *device, IsoHost *host, size_t n_bytes);
void *iso_keep(IsoDevice *device, IsoHost *host, const void *bytes, size_t n_bytes); // NULL: NULL
// Before the room for a command is taken, and when all of it is written.
bool iso_prepare(IsoDevice *device, IsoHost *host);
bool iso_submit(IsoDevice *device, IsoHost *host, IsoKind kind, void *what, DevCode *code);
// All commands are done, notes are delivered, faults are the run's. False: the run has one.
bool iso_drain(IsoDevice *device, IsoHost *host);

// ---- pass.c, resource.c ----

// As dispatch and render of the table; live memory is of the range, or all of it.
bool iso_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n);
bool iso_render(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws);
void *iso_context(IsoHost *host, void *context); // its number
const AbiLive *iso_live(IsoDevice *device, IsoHost *host, const AbiLive *live);
const AbiPixelFormat *iso_format(IsoDevice *device, const AbiPixelFormat *format);
bool iso_texture_make(void *context, const AbiTexture *record, DevHandle *handle);
bool iso_sampler_make(void *context, const AbiSampler *record, DevHandle *handle);
bool iso_tensor_make(void *context, const AbiTensor *record, DevHandle *handle);
void iso_handle_free(void *context, DevHandle *handle);
uint64_t iso_views_take(void *context, size_t n);
void iso_views_give(void *context, uint64_t first, size_t n);
bool iso_view_set(void *context, uint64_t id, const AbiTexture *record);
const AbiTexture *iso_view_at(void *context, uint64_t id);
// Tells the child something on the channel for code, and waits for it: `what` lies in the range,
// or is copied there and back, and is what its schema says. False: it is not, or the child is gone.
bool iso_ask(IsoDevice *device, IsoKind kind, void *what);
bool iso_ask_with(IsoDevice *device, IsoKind kind, SchemaOf *of, void *what);
// Code of a device with memory of its own, or the CPU's, in the child.
DevCode *iso_load_code(IsoDevice *device, const DevCodeSource *source, DevCode *own, char *why,
                       size_t why_bytes);
void iso_free_code(DevCode *code);
// The program's own memory behind a buffer: copied to the child before a run, and back behind it.
void iso_wrapped_use(IsoHost *host, IsoWrapped *wrapped, bool writes);
void iso_wrapped_end(IsoHost *host);
bool iso_run_begin(DevRun *run, DevLimits limits);
// Of the kernel under way, where the child sees it; NULL: the host knows it.
const char *iso_kernel_name(IsoDevice *device, IsoHost *host);

// ---- claim.c ----

// Addresses of a device's own memory, which mean something in the child alone: from now on nothing
// of the program is there. False: something is.
bool iso_claim(uintptr_t address, size_t n_bytes);
bool iso_is_claimed(uintptr_t address);

// ---- answers.c ----

extern SchemaOf schema_DevFacts, schema_IsoCopy, schema_IsoFill, schema_IsoMove, schema_IsoLoad;
extern SchemaOf schema_IsoMemory, schema_IsoHandle, schema_IsoViews, schema_IsoNote;

// What the child may be writing at this moment, read once: from here on the copy is what counts,
// and no compiler goes back to where it came from.
static inline void iso_fetch(void *to, const void *from, size_t n_bytes) {
    memcpy(to, from, n_bytes);
    atomic_signal_fence(memory_order_seq_cst);
}
// The same of a record. False: it has what cannot be.
static inline bool iso_take(SchemaOf *of, void *to, const void *from) {
    iso_fetch(to, from, of()->n_bytes);
    return schema_holds(of, to);
}
static inline bool iso_has_own(const IsoDevice *device) { return device->store.base != NULL; }
static inline IsoHost *iso_host(const DevRun *run) {
    return *(IsoHost *const *)(const void *)run->part;
}
static inline const DevCode *iso_theirs(const DevCode *code) {
    return code ? (const DevCode *)(uintptr_t)((const IsoCode *)code)->code : NULL;
}
#endif

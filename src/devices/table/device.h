// SPDX-License-Identifier: Apache-2.0
// device.h: what the runtime asks of a device, as one table of functions. A device is a folder of
// src that fills one const DevTable in its device.c and has a line in devices/table/list.c
// (docs/internals/recipe-device.md). The runtime checks everything against Metal's rules first: a
// device may assume valid input, and never calls back except through DevRun.
//
// Addresses are those of the device's code (DevMemory.address); where memory is not unified they
// mean nothing to the host. A function that may be NULL says what happens then; the default is
// always what suits a device that runs on the host's memory.
//
// Threads: any thread may call, several at once, with no lock of the runtime's held, except where a
// function says otherwise. Functions of a run are called by the one thread that executes the
// command buffer.
#ifndef INGOT_DEVICE_DEVICE_H
#define INGOT_DEVICE_DEVICE_H
#include "devices/table/pass.h"
#include "devices/table/rays.h"
#include "devices/table/resource.h"
#include "devices/table/run.h"

// ---- What a device is ----

enum {                          // DevFacts.features: what it can do besides kernels and copies
    DEV_TEXTURES = 1,           // textures and samplers
    DEV_RENDER = 2,             // render passes
    DEV_TENSORS = 4,            // tensors, and networks of them
    DEV_INDIRECT_COMMANDS = 8,  // indirect command buffers
    DEV_FUNCTION_POINTERS = 16, // visible function tables
    DEV_VALIDATION = 32,        // kernels that check their accesses
    DEV_VIEW_POOLS = 64,        // texture view pools
    DEV_INDIRECT_SIZES = 128,   // it reads the sizes of a dispatch itself (DevDispatch.indirect)
};
typedef struct DevFacts {
    char name[128], architecture[80]; // "Ingot CPU (...)", "ingot_x86_64_g14g"
    // What its code is made for, in the words of the compiler's request: MSL_TARGET_HOST, "sm_90".
    // "": code_load wants nothing of the compiler.
    char target[32];
    uint32_t features;
    uint64_t memory_bytes;
    uint64_t max_buffer_bytes;
    uint32_t max_threads, max_threadgroup_bytes; // of a threadgroup
    uint32_t n_workers;                          // threads or units that run threadgroups
    bool unified_memory;                         // the host sees all memory where the device does
    bool is_host; // it is the machine's processor: built in, no slot it could be taken from
    // Its code runs in another process, which nobody trusts: what lies in memory that both see may
    // change at any time, and is copied before it is believed.
    bool is_apart;
    struct { // MTLGPUFamily: the greatest of each kind; 0: none
        uint8_t apple, mac, common, metal;
    } families;
} DevFacts;

// ---- The table ----

typedef struct DevTable {
    const char *name; // in INGOT_DEVICES: "cpu"
    // Not NULL: it is the device of this name, with its kernels in a process of their own. With
    // INGOT_ISOLATE=1 it is opened in that one's place.
    const char *isolates;
    // It stands before a device whose memory is the host's (src/devices/capture): memory_make is
    // asked for DEV_ARGUMENTS alone.
    bool lends_arguments;
    bool wants_requests; // DevCodeSource.request

    // Life. One call of each at a time; nothing else of the table before open or after close.
    unsigned (*count)(void); // how many there are on this machine; NULL: one
    // Fills *facts and gives the context that the other functions take. NULL and a sentence in
    // `why`: it cannot be used.
    void *(*open)(unsigned index, DevFacts *facts, char *why, size_t why_bytes);
    void (*close)(void *context);   // NULL: there is nothing to do
    bool (*is_lost)(void *context); // it failed for good: all runs end in DEV_FAULT_LOST. NULL: no

    // Memory: zeroed, aligned to a page. Both NULL: the runtime takes the host's, whose addresses
    // are the device's.
    bool (*memory_make)(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory);
    void (*memory_free)(void *context, DevMemory *memory);
    // Memory of the program's that a buffer is made of without a copy: all but n_bytes and host is
    // the device's to fill in; memory_free undoes it. NULL: its code finds it where the host does.
    // False: it cannot.
    bool (*memory_wrap)(void *context, DevMemory *memory);
    // Memory of the device's that another library made: address and n_bytes are given, the rest is
    // filled in, and its storage is managed; memory_free undoes it and leaves that memory alone.
    // NULL, or false: it cannot.
    bool (*memory_adopt)(void *context, DevMemory *memory);
    // Waits for what other libraries have started on the device, in its default stream. False: it
    // is lost. NULL: there is nobody.
    bool (*wait_for_others)(void *context);
    // The program asks where the host finds it: from now on it may read and write there between
    // commands, and says nothing of it. Until then only the functions of this table do. NULL: it
    // makes no difference.
    void (*memory_show)(void *context, const DevMemory *memory);
    // The program has written a range of managed memory. NULL: it makes no difference.
    void (*memory_modified)(void *context, const DevMemory *memory, size_t from, size_t n_bytes);

    // What kernels get for a texture, a sampler, a tensor: 64 bits, also in argument buffers. The
    // record lives, at its place, until `free`. NULL: its address is the handle (abi/handle.h), as
    // code for the host wants it. False: no memory.
    bool (*texture_make)(void *context, const AbiTexture *record, DevHandle *handle);
    bool (*sampler_make)(void *context, const AbiSampler *record, DevHandle *handle);
    bool (*tensor_make)(void *context, const AbiTensor *record, DevHandle *handle);
    void (*handle_free)(void *context, DevHandle *handle); // of any of them

    // Pools of texture views (DEV_VIEW_POOLS; else NULL): n ids in a row, all with
    // ABI_TEXTURE_POOLED, the first returned; 0: no room. `view_at`: what is behind an id; NULL:
    // nothing. The runtime's lock of the pool is held in view_set. False of it: no memory, and the
    // slot shows nothing, or what it did.
    uint64_t (*views_take)(void *context, size_t n);
    void (*views_give)(void *context, uint64_t first, size_t n);
    bool (*view_set)(void *context, uint64_t id, const AbiTexture *record);
    const AbiTexture *(*view_at)(void *context, uint64_t id);

    // Ray tracing: its functions, made ready on first use. NULL and a sentence in `why`: there is
    // none. The function NULL: none, ever.
    const DevRays *(*rays)(void *context, char *why, size_t why_bytes);

    // A function as code. NULL and a sentence in `why`: it cannot be used.
    DevCode *(*code_load)(void *context, const DevCodeSource *source, char *why, size_t why_bytes);
    void (*code_free)(DevCode *code);

    // A run: the commands of one command buffer up to its end or to an event it waits for. Commands
    // may return before they are done, as long as they are done in order; `finish` is then called
    // before the host looks at results and before an event is signalled. False of any of them: the
    // run has a fault, and nothing more of it is started.
    bool (*run_begin)(DevRun *run, DevLimits limits); // False: no memory
    void (*run_end)(DevRun *run);                     // all is done when it returns
    bool (*finish)(DevRun *run);                      // NULL: commands are done when they return
    // For runs of a queue that follow each other, all three or none. `start`: all commands so far
    // are with the device, which goes on by itself. `is_done`: nothing of them is left to wait for,
    // or there is a fault; it is asked again and again, and may pause. `follow`: the run, whose
    // memory is told and whose commands are not, begins on the device when `before`, which was
    // started and has no more commands, is done there, without the host; `before` is finished and
    // ended first. False: it cannot, and the run is ended without having done anything.
    bool (*start)(DevRun *run);
    bool (*is_done)(DevRun *run);
    bool (*follow)(DevRun *run, DevRun *before);
    // Told of each memory that the command buffer may reach, before the commands: what it binds or
    // names, retained or not, and what is in its residency sets. Some of it twice. Of memory that
    // several resources lie in the part that is used: address, host and n_bytes are of that. NULL:
    // it need not know.
    void (*use)(DevRun *run, const DevMemory *memory, bool writes);
    bool (*dispatch)(DevRun *run, const DevDispatch *dispatches, size_t n); // side by side, or not
    bool (*render)(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws);
    // Copies; addresses of the host or of the device. DEV_OUTSIDE: outside of any run, by any
    // thread; done when it returns. NULL: as the host does it (devices/table/host.c).
    bool (*copy)(DevRun *run, void *to, const void *from, size_t n_bytes);
    bool (*fill)(DevRun *run, void *to, uint8_t value, size_t n_bytes);
    bool (*move)(DevRun *run, const DevMove *move);
    bool (*mipmaps)(DevRun *run, const AbiTexture *record); // all levels from the first
    // The program wants to see managed memory as the device has it. NULL: it does.
    bool (*synchronize)(DevRun *run, const DevMemory *memory);
    // For profiles: what was counted since the last mark is of command number `command` of a
    // capture. Between runs. NULL: it counts nothing.
    void (*mark)(void *context, uint64_t command);
} DevTable;

// Has it memory of its own, which is not the host's?
static inline bool dev_has_memory(const DevTable *table) {
    return table->memory_make && !table->lends_arguments;
}

// Tables of all devices there are in this build, the default one first; the last is NULL (list.c).
extern const DevTable *const device_list[];

// ---- The host's side of memory (host.c) ----

// Where devices with memory of their own take pages for it, zeroed. Another process may share them
// (src/devices/isolate), and write there unseen.
typedef struct DevPages {
    void *(*take)(size_t n_bytes); // NULL: none
    void (*give)(void *pages, size_t n_bytes);
} DevPages;
extern const DevPages *dev_pages; // NULL: mappings of their own. Written before any is opened

// ---- The defaults (host.c) ----

bool dev_copy(const DevTable *table, DevRun *run, void *to, const void *from, size_t n_bytes);
bool dev_fill(const DevTable *table, DevRun *run, void *to, uint8_t value, size_t n_bytes);
bool dev_move(const DevTable *table, DevRun *run, const DevMove *move);
void dev_host_move(const DevMove *move); // in memory of the host
bool dev_finish(const DevTable *table, DevRun *run);
bool dev_texture_make(const DevTable *table, void *context, const AbiTexture *record,
                      DevHandle *handle);
bool dev_sampler_make(const DevTable *table, void *context, const AbiSampler *record,
                      DevHandle *handle);
bool dev_tensor_make(const DevTable *table, void *context, const AbiTensor *record,
                     DevHandle *handle);
void dev_handle_free(const DevTable *table, void *context, DevHandle *handle);
#endif

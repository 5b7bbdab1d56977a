// SPDX-License-Identifier: Apache-2.0
// record_int.h: what is known of a device while captures are allowed: memory, handles, code; and
// the file that is being written. record.c keeps it, record_run.c writes runs.
#ifndef INGOT_CAPTURE_RECORD_INT_H
#define INGOT_CAPTURE_RECORD_INT_H
#include <pthread.h>
#include "abi/metallib.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "devices/capture/file_int.h"
#include "devices/capture/record.h"

typedef struct Memory {
    uint64_t id;
    char *address, *host; // host NULL: read by the device's copy
    size_t n_bytes;
    uint8_t storage;
    uint64_t *hashes; // of its blocks, as the file knows them; NULL: nothing
    bool announced;   // the file knows of it
    uint64_t *points; // addresses and handles that were found in it
    size_t n_points, points_capacity;
    unsigned quiet;    // how often it was the same
    unsigned patience; // how often it must be to be watched; 0: it never was in vain
    bool watched;      // the system notes who writes it
    bool used, writes; // by the run that is being recorded
    bool dead;         // it went meanwhile
} Memory;

enum { HANDLE_TEXTURE, HANDLE_SAMPLER, HANDLE_TENSOR, HANDLE_RAYS };
typedef struct Handle {
    HashNode by_value;  // first
    HashNode by_record; // textures
    uint8_t kind;
    uint64_t id, value;
    const void *record; // the runtime's
    union {
        AbiTexture texture;
        AbiSampler sampler;
        AbiTensor tensor;
    } copy;
    struct Slot *slot; // where kernels find it; NULL: the device's own
    DevHandle inner;
    // Of an acceleration structure.
    struct Recipe *recipe; // what was built into it; NULL: nothing, or it is not known
    uint64_t changed;      // when that was: a number
    bool told;             // the file has it
} Handle;

typedef struct Library {
    HashNode node;
    unsigned char hash[SHA256_BYTES];
    Metallib *lib; // retained; NULL: only its text is known
    char *name, *text;
    bool announced, told; // the container, the text
} Library;

typedef struct Code {
    HashNode node; // by its address
    const DevCode *code;
    uint64_t id;
    char *name;
    uint8_t stage;
    uint32_t n_slots; // of the function: buffers of attributes come behind them
    unsigned char *request;
    size_t request_bytes;
    Library **libraries;
    size_t n_libraries;
    uint32_t *writes; // slots of what it may write: buffers, textures, tensors
    size_t n_writes;
    bool announced;
} Code;

typedef struct Record {
    const DevTable *inner; // NULL: nothing is recorded
    void *context;         // of it, that the last memory was of
    DevTable table;
    const DevRays *inner_rays; // NULL: nobody has asked for them
    DevRays rays;
    // Of everything but the fields of the run.
    pthread_mutex_t lock;
    Memory **memories; // by address
    size_t n_memories, memories_capacity;
    HashTable handles, textures, codes, libraries;
    uint64_t last_id;
    WireOut pending; // events of the next run
    // The file; changed with run_lock held, too.
    CapWriter *writer; // NULL: there is none
    const CapHooks *hooks;
    // Of the run that is being recorded, by whoever holds run_lock.
    pthread_mutex_t run_lock;
    const DevRun *run; // NULL: none
    uint64_t start_ns;
    WireOut events;
    uint64_t n_commands;
    Memory **used;
    size_t n_used, used_capacity;
} Record;
extern Record cap_record;

// record.c; the lock is held in all.
Memory *record_memory_at(const void *address); // the live one that holds it; NULL: none
Handle *record_handle(uint64_t value);
Handle *record_texture(const AbiTexture *record);
Code *record_code(const DevCode *code);
void record_forget(Memory *memory); // takes it out and frees it
Memory *record_add_memory(const DevMemory *memory, uint8_t storage);

// record_run.c: functions of the table.
bool record_is_recorded(const DevRun *run);
bool record_run_begin(DevRun *run, DevLimits limits);
void record_run_end(DevRun *run);
void record_use(DevRun *run, const DevMemory *memory, bool writes);
bool record_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n);
bool record_render(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws);
bool record_copy(DevRun *run, void *to, const void *from, size_t n_bytes);
bool record_fill(DevRun *run, void *to, uint8_t value, size_t n_bytes);
bool record_move(DevRun *run, const DevMove *move);

// record_rays.c: likewise.
bool record_rays_build(DevRun *run, uint64_t to, const DevRayBuild *build);
bool record_rays_refit(DevRun *run, uint64_t to, uint64_t from, const DevRayBuild *build);
bool record_rays_copy(DevRun *run, uint64_t to, uint64_t from);
void record_rays_gone(Handle *handle);
// Builds of before the capture that the file does not have, when a run begins.
void record_rays_before(void);

// The memory that a word of a buffer names, if it does: it is used, too.
void record_reach(uint64_t word);

// record_contents.c: what memory holds, into the events of the run.
void contents_touch(Memory *memory); // once in a run, before its commands reach it
void contents_again(void);           // of all that is used: the host may have written
void contents_results(void);         // what the commands so far changed
void contents_unwatch(Memory *memory);
#endif

// SPDX-License-Identifier: Apache-2.0
// replay_int.h: what a replay holds. "Old" addresses and handles are those of the captured program.
#ifndef INGOT_CAPTURE_REPLAY_INT_H
#define INGOT_CAPTURE_REPLAY_INT_H
#include "base/array.h"
#include "base/hash_table.h"
#include "devices/capture/replay.h"

typedef struct Place {
    HashNode node; // by id
    CapMemory was;
    DevMemory now;      // of the device; {0}: mapped at the old address
    char *at;           // where the device's code finds it
    uint64_t *expected; // cap_hash of each block; 0: as it was made, zeros
    bool used, writes;  // by the run under way
} Place;

typedef struct Stand { // what a handle stands for
    HashNode node;     // by the old value
    CapKind kind;
    uint64_t id, old;
    DevHandle now;
    bool made, pooled;
    AbiTexture texture; // as the device has it
    AbiTexture was;     // old addresses
    AbiSampler sampler;
    AbiTensor tensor, tensor_was;
} Stand;

typedef struct Shelf { // a library
    unsigned char hash[SHA256_BYTES];
    CapLibrary was;
    Metallib *lib; // NULL: not read yet
    const char *name, *text;
} Shelf;

typedef struct Program { // a function
    CapCode was;
    DevCode *code; // NULL: not made yet
    DevCode *fast; // the same before it was made for a debugger, or NULL
    bool debugged;
    Shelf *shelf;
    const RfFunction *function;
} Program;

typedef struct Waiting { // contents on their way to the device
    uint64_t memory;
    size_t offset, n_bytes;
    char *bytes;
} Waiting;

typedef struct Range {
    uintptr_t start, end;
} Range;

struct CapReplay {
    const Capture *capture;
    CapDevice device;
    bool translates; // memory is not at the old addresses
    uint64_t zeros;  // old
    // Where it is.
    size_t run;    // the next one
    uint64_t next; // command
    bool in_pass;  // it cannot go on from here
    CapRun events; // of the run under way
    size_t at;     // the next event of it
    DevRun dev;    // the run on the device
    bool running;  // it has begun
    char unknown[CAP_WHY];
    bool has_debug, debugging; // cap_replay_debug; the command is under way
    uint64_t debug;
    struct {               // of cap_replay_pixel
        CapTouch *touches; // NULL: not asked for
        uint64_t pass;
        size_t n;
        uint32_t x, y;
        bool done;
    } probe;
    // What is there.
    Place **places; // by old address
    size_t n_places, places_capacity;
    HashTable ids; // of places
    HashTable stands;
    Stand **textures; // by id, sorted as they came
    size_t n_textures, textures_capacity;
    Stand **rays; // acceleration structures that are made
    size_t n_rays, rays_capacity;
    size_t n_unmade;
    Shelf **shelves;
    size_t n_shelves, shelves_capacity;
    Program **programs;
    size_t n_programs, programs_capacity;
    CapObject *objects;
    size_t n_objects, objects_capacity;
    Waiting *waiting; // where memory is not at the old addresses
    size_t n_waiting, waiting_capacity;
    Range *mapped;
    size_t n_mapped, mapped_capacity;
    uint64_t pool_first; // ids of pooled views that were taken
    BaseArena kept;      // strings and blocks that outlive their run
    BaseArena scratch;   // of a pass
};

bool replay_say(char why[CAP_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));

// replay_memory.c
Place *replay_place(const CapReplay *r, uint64_t address); // that holds it
bool replay_add_memory(CapReplay *r, const CapMemory *memory, char why[CAP_WHY]);
void replay_drop_memory(CapReplay *r, uint64_t id);
void replay_drop_all_memory(CapReplay *r);
bool replay_fill(CapReplay *r, const CapContents *contents, char why[CAP_WHY]);
bool replay_put_waiting(CapReplay *r, char why[CAP_WHY]); // before commands look at it
void replay_use(CapReplay *r, const CapUse *use);
void replay_expect(CapReplay *r, const CapResult *result);
bool replay_check(CapReplay *r, char why[CAP_WHY]);
// Pages at an old address; fresh: none of them was there before.
bool replay_map(CapReplay *r, uintptr_t address, size_t n_bytes, bool *fresh);
// An old address as the device's; 0: none that is known. Values that are none stay.
uint64_t replay_address(const CapReplay *r, uint64_t old, uint64_t n_bytes);

// replay_objects.c
bool replay_add_handle(CapReplay *r, const CapEvent *event, char why[CAP_WHY]);
void replay_drop_handle(CapReplay *r, uint64_t handle);
bool replay_make_handles(CapReplay *r, char why[CAP_WHY]); // those whose memory is there
void replay_drop_handles(CapReplay *r);
Stand *replay_stand(const CapReplay *r, uint64_t old);
const AbiTexture *replay_texture(const CapReplay *r, const AbiTexture *number);
bool replay_add_library(CapReplay *r, const CapLibrary *library, char why[CAP_WHY]);
bool replay_add_source(CapReplay *r, const CapSource *source, char why[CAP_WHY]);
bool replay_add_code(CapReplay *r, const CapCode *code, char why[CAP_WHY]);
Program *replay_program(CapReplay *r, uint64_t id, bool load, char why[CAP_WHY]);
bool replay_add_object(CapReplay *r, const CapResource *resource, char why[CAP_WHY]);
// An argument of a function, old, as the device takes it. False: it is nothing that is known.
bool replay_argument(const CapReplay *r, uint64_t *value);

// replay_rays.c
bool replay_make_rays(CapReplay *r, Stand *s);
void replay_free_rays(CapReplay *r, Stand *s);
// Whether one has its record there.
bool replay_rays_overlap(const CapReplay *r, uintptr_t at, size_t n_bytes);
bool replay_build(CapReplay *r, const CapEvent *event, char why[CAP_WHY]);

// replay_pixel.c: before a pass is run; does nothing unless it was asked for.
bool replay_probe(CapReplay *r, const CapEvent *pass, size_t n_draws, char why[CAP_WHY]);

// replay_draw.c: draws as the device takes them, in `scratch`; textures of the pass, too.
bool replay_prepare_pass(CapReplay *r, const DevPass *from, DevPass *to, char why[CAP_WHY]);
bool replay_prepare_draw(CapReplay *r, const DevDraw *from, DevDraw *to, char why[CAP_WHY]);
bool replay_prepare_dispatch(CapReplay *r, const DevDispatch *from, DevDispatch *to,
                             char why[CAP_WHY]);
#endif

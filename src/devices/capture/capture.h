// SPDX-License-Identifier: Apache-2.0
// capture.h: captures with contents (.ingottrace): what a file holds, and reading it. The format,
// and why it is so: docs/internals/capture.md. record.h writes files, replay.h runs them again.
//
// A capture is a list of runs: the commands of one command buffer up to its end or to an event it
// waits for, in the order they ran. A run is a list of events; those that do something on the
// device are commands, and are counted through the whole capture, from 0.
//
// Addresses and handles in events are those of the program that was captured. Where a record of the
// device table has a pointer to an object, a decoded one holds the object's number (CapCode.id,
// CapTexture.id) in its place.
#ifndef INGOT_CAPTURE_CAPTURE_H
#define INGOT_CAPTURE_CAPTURE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/sha256.h"
#include "devices/table/pass.h"
#include "devices/table/rays.h"
#include "devices/table/resource.h"
#include "devices/table/run.h"

enum { CAP_VERSION = 1, CAP_BLOCK = 65536, CAP_WHY = 512 };

typedef enum CapKind { // stored: never renumber
    CAP_INFO = 1,      // first of the first run
    CAP_MEMORY,        // memory of the device that is used from here on; it begins as zeros
    CAP_FREE,          // it is gone
    CAP_CONTENTS,      // a block of memory is this now: the host wrote it
    CAP_LIBRARY,       // a metallib
    CAP_SOURCE,        // the text a library was made from
    CAP_CODE,          // a function, as the compiler was asked for it
    CAP_TEXTURE,       // what a handle stands for
    CAP_SAMPLER,
    CAP_TENSOR,
    CAP_GONE,     // a handle that stands for nothing now
    CAP_RESOURCE, // an object of the program's: name, and where it lies
    CAP_BEGIN,    // a command buffer begins, or goes on
    CAP_USE,      // memory that its commands may reach
    CAP_ENCODER,
    CAP_ENCODER_END,
    CAP_PUSH, // debug groups
    CAP_POP,
    CAP_SIGNPOST,
    CAP_OPERATION, // what the program asked for; the commands behind it are what that took
    CAP_UNKNOWN,   // something that a capture does not hold: a sentence
    CAP_RESULT,    // what memory held after the run: hashes of the blocks that changed
    CAP_END,       // of the run
    CAP_STATUS,    // how a command buffer ended
    CAP_RAYS,      // a handle that stands for an acceleration structure, which holds nothing yet
    // Commands
    CAP_DISPATCH = 64,
    CAP_RENDER, // a pass begins: load actions; its draws follow
    CAP_DRAW,
    CAP_COPY,
    CAP_FILL,
    CAP_MOVE,
    CAP_HOST,       // done by the runtime on the host: results before it, then contents after it
    CAP_RAYS_BUILD, // of acceleration structures
    CAP_RAYS_REFIT,
    CAP_RAYS_COPY,
} CapKind;
static inline bool cap_is_command(CapKind kind) { return kind >= CAP_DISPATCH; }

// ---- Events ----

typedef struct CapInfo {
    const char *version, *program, *device, *architecture, *target;
    uint64_t zeros; // os_zeros
} CapInfo;

typedef struct CapMemory {
    uint64_t id, address, n_bytes;
    uint8_t storage; // DevStorage
} CapMemory;

typedef struct CapContents {
    uint64_t memory, offset; // id; a multiple of CAP_BLOCK
    uint32_t n_bytes;
    bool zeros; // then the hash is not looked at
    unsigned char hash[SHA256_BYTES];
} CapContents;

typedef struct CapLibrary {
    unsigned char hash[SHA256_BYTES]; // Metallib.hash
    const char *name;
    uint64_t n_bytes;
    uint32_t n_blocks;
    const unsigned char (*blocks)[SHA256_BYTES]; // of the container, CAP_BLOCK bytes each
} CapLibrary;

typedef struct CapSource {
    unsigned char hash[SHA256_BYTES]; // of the library
    const char *name, *text;
} CapSource;

typedef struct CapCode {
    uint64_t id;
    const char *name;
    unsigned char library[SHA256_BYTES];
    uint8_t stage;                // RfStage
    const unsigned char *request; // msg_put_kernel, libraries by their hashes
    uint64_t request_bytes;
} CapCode;

typedef struct CapTexture {
    uint64_t id, handle;
    AbiTexture record; // format is NULL: abi_pixel_format(record.pixel_format) has it
    bool sparse;       // what is mapped is not known
} CapTexture;
typedef struct CapSampler {
    uint64_t handle;
    AbiSampler record;
} CapSampler;
typedef struct CapTensor {
    uint64_t handle;
    AbiTensor record; // data: an address
} CapTensor;

typedef enum CapResourceKind { // stored
    CAP_BUFFER = 1,
    CAP_TEXTURE_OBJECT,
    CAP_TENSOR_OBJECT,
    CAP_HEAP,
    CAP_INDIRECT_COMMANDS,
    CAP_OTHER,
    CAP_ACCELERATION_STRUCTURE,
} CapResourceKind;
typedef struct CapResource {
    uint64_t id; // the same for as long as the object lives; later ones of the same id replace it
    uint8_t kind;
    const char *label;
    uint64_t address, n_bytes; // where it lies; 0: a texture's record says it
    uint64_t handle;           // of a texture, tensor or acceleration structure
} CapResource;

typedef struct CapBegin {
    uint64_t serial; // of the command buffer
    const char *label;
    uint64_t queue; // a number
    const char *queue_label;
    bool resumed; // it has begun in an earlier run
} CapBegin;

typedef struct CapUse {
    uint64_t memory;
    bool writes;
} CapUse;

typedef struct CapEncoder {
    const char *label, *class_name;
    bool concurrent;
} CapEncoder;

typedef struct CapOperation { // also a debug group's name, a signpost's, and CAP_HOST
    const char *name, *title; // "dispatch", "saxpy"
    const char *json;         // members, without braces; ""
} CapOperation;

typedef struct CapResult {
    uint64_t memory;
    uint32_t n;
    const struct CapHash {
        uint32_t block; // number
        uint64_t hash;  // cap_hash of its bytes
    } *blocks;
} CapResult;

typedef struct CapEnd {
    uint32_t fault; // DevFault
    uint64_t ns;    // the run took, with its capturing
} CapEnd;

typedef struct CapStatus {
    uint64_t serial;
    uint32_t status;   // MTLCommandBufferStatus
    const char *error; // "": none
} CapStatus;

typedef struct CapRender {
    DevPass dev; // textures are numbers
    uint32_t n_draws;
} CapRender;

typedef struct CapCopy {
    uint64_t to, from, n_bytes;
    // The source is memory of the host: these bytes. NULL: the address counts.
    const unsigned char *bytes;
} CapCopy;
typedef struct CapFill {
    uint64_t to, n_bytes;
    uint8_t value;
} CapFill;
typedef struct CapBuild { // and refits and copies
    uint64_t to, from;    // handles; from 0: a build
    DevRayBuild dev;      // not of a copy
} CapBuild;

typedef struct CapEvent {
    CapKind kind;
    uint64_t command; // number, of a command
    union {
        CapInfo info;
        CapMemory memory;
        uint64_t gone; // CAP_FREE: id; CAP_GONE: handle
        CapContents contents;
        CapLibrary library;
        CapSource source;
        CapCode code;
        CapTexture texture;
        CapSampler sampler;
        CapTensor tensor;
        CapResource resource;
        CapBegin begin;
        CapUse use;
        CapEncoder encoder;
        CapOperation operation; // CAP_PUSH, CAP_SIGNPOST, CAP_OPERATION, CAP_UNKNOWN, CAP_HOST
        CapResult result;
        CapEnd end;
        CapStatus status;
        DevDispatch dispatch; // what means nothing in a file is 0
        CapRender render;
        DevDraw draw;
        CapCopy copy;
        CapFill fill;
        DevMove move;
        uint64_t rays; // CAP_RAYS: handle
        CapBuild build;
    };
} CapEvent;

// ---- Files ----

typedef struct Capture Capture;
// Opens a file by its index; one that was not closed, or is cut, is looked through, and ends with
// the last run that is whole. Nothing of the contents is read. NULL and a sentence in `why`.
Capture *cap_open(const char *path, char why[CAP_WHY]);
void cap_close(Capture *capture);
bool cap_is_cut(const Capture *capture);         // it was not closed, or what was behind is lost
const char *cap_why_cut(const Capture *capture); // what the disk said; NULL: nothing
size_t cap_n_runs(const Capture *capture);
uint64_t cap_n_commands(const Capture *capture);
uint64_t cap_n_bytes(const Capture *capture); // of the file
// The run that holds a command; SIZE_MAX: none.
size_t cap_run_of(const Capture *capture, uint64_t command);
uint64_t cap_first_command(const Capture *capture, size_t run);

typedef struct CapRun {
    CapEvent *events;
    size_t n_events;
    BaseArena arena; // what they point to
} CapRun;
// The events of a run, each checked for what can be said without the others. False and a sentence:
// the file is damaged, or there is no memory.
bool cap_read_run(const Capture *capture, size_t index, CapRun *run, char why[CAP_WHY]);
void cap_run_free(CapRun *run);
// A block of contents, n_bytes long.
bool cap_read_block(const Capture *capture, const unsigned char hash[SHA256_BYTES], void *to,
                    size_t n_bytes, char why[CAP_WHY]);
// The hash of results. Not for keys: nobody is kept from finding two that are equal.
uint64_t cap_hash(const void *bytes, size_t n_bytes);

// "dispatch", "draw", ...
const char *cap_kind_name(CapKind kind);
#endif

// SPDX-License-Identifier: Apache-2.0
// protocol.h: what an isolated device and its child process (ingot-device) have in common: one
// range of memory, at the same addresses in both, so that pointers mean the same on either side. Of
// the CPU device all memory that kernels see is of it. A device with memory of its own (a GPU)
// makes that in the child; what the host sees of it lies in a second range, the store, of which the
// child takes. The IsoHead with the channels is a third memory, somewhere else in each process: no
// address in a range says where.
//
// Trust goes one way. The child runs code of strangers and may do anything, also write whatever it
// likes into the head: all that it could have written, the host copies once (iso_fetch) and checks,
// and keeps nothing of its own there. What cannot be ends the child. That the head lies apart keeps
// kernels that go astray from it, and no others: a kernel can read its own stack, and with it where
// everything in its process is.
//
// Commands go through channels, one for each run that is under way. The host writes a command into
// the channel's list and counts `submitted` up; the child's thread for the channel does them in
// order and counts `done`. What a command needs lies in the channel's room, which is of the range,
// or in memory of its own there, and stays until it is done.
#ifndef INGOT_ISOLATE_PROTOCOL_H
#define INGOT_ISOLATE_PROTOCOL_H
#include <stdatomic.h>
#include <stdint.h>
#include "devices/table/device.h"

enum {
    ISO_VERSION = 3,
    ISO_FD_MEMORY = 3, // the range
    ISO_FD_LIFE = 4,   // a pipe that closes when the host is gone
    ISO_FD_HEAD = 5,   // the head
    ISO_FD_STORE = 6,  // the second range
    ISO_CHANNELS = 4,  // of runs; one more is for code
    ISO_COMMANDS = 128,
    ISO_ROOM = 256 << 10,
    ISO_NOTES = 64,
    ISO_NOTE_TEXT = 2048,
    ISO_NOTE_ARGS = 64,
    ISO_TAG_STRING = 5, // of an argument of os_log: the address of text (stdlib/detail/logging.h)
};

typedef enum IsoKind {
    ISO_BEGIN,    // IsoBegin
    ISO_END,      // nothing
    ISO_DISPATCH, // IsoDispatch
    ISO_RENDER,   // IsoRender
    ISO_COPY,     // IsoCopy
    ISO_FILL,     // IsoFill
    ISO_LOAD,     // IsoLoad
    ISO_UNLOAD,   // IsoLoad
    ISO_POOL,     // AbiTexture[ABI_VIEW_POOL_SLOTS]
    // Of devices with memory of their own:
    ISO_FINISH,      // nothing
    ISO_USE,         // IsoUse
    ISO_SYNCHRONIZE, // IsoUse
    ISO_MOVE,        // IsoMove
    ISO_MEMORY,      // IsoMemory
    ISO_HANDLE,      // IsoHandle
    ISO_VIEWS,       // IsoViews
    ISO_N_KINDS,
} IsoKind;

typedef struct IsoCommand {
    uint32_t kind;
    void *what; // by kind
} IsoCommand;

typedef struct IsoBegin {
    DevLimits limits;
} IsoBegin;
// Everything in it is as the device takes it: code is the child's, contexts of reports are numbers.
typedef struct IsoDispatch {
    uint64_t n;
    DevDispatch *dispatches;
    const char *kernel; // its name, for messages; it stays. NULL: the host knows it
} IsoDispatch;
typedef struct IsoRender {
    DevPass *pass;
    DevDraw *draws;
    uint64_t n_draws;
} IsoRender;
typedef struct IsoCopy {
    void *to;
    const void *from;
    uint64_t n_bytes;
    uint8_t ok; // the child's answer, as below: a byte, whatever is in it
} IsoCopy;
typedef struct IsoFill {
    void *to;
    uint64_t n_bytes;
    uint8_t value;
    uint8_t ok;
} IsoFill;
typedef struct IsoLoad {
    const void *bytes;
    uint64_t n_bytes;
    // NULL: the device is not told. Names are empty, and only arguments are listed.
    const RfFunction *function;
    bool has_cache; // the child may ask (IsoQuestion)
    uint64_t code;  // the child's answer, and what unloading names; 0: `why` says it
    uint32_t n_slots, threadgroup_bytes;
    uint64_t stack_bytes;
    char why[256];
} IsoLoad;
typedef struct IsoUse {
    DevMemory memory;
    bool writes;
} IsoUse;
typedef struct IsoMove {
    DevMove move;
    uint8_t ok;
} IsoMove;
typedef struct IsoMemory {
    enum { ISO_MAKE, ISO_WRAP, ISO_FREE, ISO_SHOW, ISO_MODIFIED } what;
    DevMemory memory;
    uint32_t storage;
    size_t from, n_bytes; // that were modified
    uint8_t ok;
} IsoMemory;
typedef struct IsoHandle {
    enum { ISO_TEXTURE, ISO_SAMPLER, ISO_TENSOR, ISO_HANDLE_FREE } what;
    union {
        AbiTexture texture; // its format is where the child sees it
        AbiSampler sampler;
        AbiTensor tensor;
    } record;
    DevHandle handle;
    uint8_t ok;
} IsoHandle;
typedef struct IsoViews {
    enum { ISO_VIEWS_TAKE, ISO_VIEWS_GIVE, ISO_VIEW_SET } what;
    uint64_t id, n;
    AbiTexture record;
    uint8_t ok;
} IsoViews;

// What the child asks while it loads code: what a cache of the host's has. The host answers while
// it waits.
enum { ISO_NO_QUESTION, ISO_FIND, ISO_STORE, ISO_ANSWERED };
typedef struct IsoQuestion {
    atomic_uint state;
    unsigned char key[32];
    const void *bytes; // in either range
    uint64_t n_bytes;
} IsoQuestion;

// What kernels log, and what those that are checked did wrong.
typedef struct IsoNote {
    uint32_t is_report;
    uint32_t command; // number of the one that is under way
    uint64_t context; // of reports
    AbiReport report;
    uint32_t type, n_args;
    uint64_t args[2 * ISO_NOTE_ARGS]; // strings: where they begin in text
    char text[ISO_NOTE_TEXT];         // format, subsystem, category, strings; each ends in a zero
} IsoNote;

typedef struct IsoChannel {
    _Alignas(64) atomic_uint submitted; // the host's
    atomic_uint child_sleeps;
    _Alignas(64) atomic_uint done; // the child's
    atomic_uint event;             // counts done and notes; the host sleeps on it
    atomic_uint host_sleeps;
    // The first fault of the run, written before `done` counts the command.
    atomic_uint fault; // DevFault
    uint32_t faulting; // number of the command
    uint64_t address;
    char kernel[512]; // that did it, in the child's words; "": the command says it
    IsoQuestion question;
    _Alignas(64) atomic_uint notes_written; // the child's
    atomic_uint notes_read;                 // the host's
    _Alignas(64) IsoCommand commands[ISO_COMMANDS];
    _Atomic uint64_t spent_ns[ISO_COMMANDS]; // time of a dispatch, on all threads
    IsoNote notes[ISO_NOTES];
} IsoChannel;

enum { ISO_STARTING, ISO_READY, ISO_FAILED };
typedef struct IsoHead {
    uint32_t version;
    uint32_t n_threads;
    char device[32]; // its name and number
    uint32_t index;
    void *store; // NULL: the device has no memory of its own
    size_t store_bytes;
    void *zeros;       // os_zeros of the host; NULL: none
    atomic_uint state; // the child's: ISO_READY, or ISO_FAILED and why
    atomic_uint beats; // counts up while the child lives
    char why[256];
    DevFacts facts;      // of a device with memory of its own
    atomic_uint is_lost; // such a device is: its process is of no use any more
    IsoChannel channels[ISO_CHANNELS + 1];
} IsoHead;
#endif

// SPDX-License-Identifier: Apache-2.0
// protocol.h: what the isolated device and its child process (ingot-device) have in common: one
// range of memory, at the same addresses in both, so that pointers mean the same on either side. It
// begins with an IsoHead; all memory of the device that kernels see comes behind it.
//
// Trust goes one way. The child runs code of strangers and may do anything: whatever it could have
// written, the host copies once and checks, and keeps nothing of its own in the range.
//
// Commands go through channels, one for each run that is under way. The host writes a command into
// the channel's list and counts `submitted` up; the child's thread for the channel does them in
// order and counts `done`. What a command needs lies in the channel's room, or in memory of its
// own, and stays until it is done.
#ifndef INGOT_ISOLATE_PROTOCOL_H
#define INGOT_ISOLATE_PROTOCOL_H
#include <stdatomic.h>
#include <stdint.h>
#include "device/pass.h"
#include "device/run.h"

enum {
    ISO_VERSION = 1,
    ISO_FD_MEMORY = 3, // the range
    ISO_FD_LIFE = 4,   // a pipe that closes when the host is gone
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
} IsoCopy;
typedef struct IsoFill {
    void *to;
    uint64_t n_bytes;
    uint8_t value;
} IsoFill;
typedef struct IsoLoad {
    const void *bytes;
    uint64_t n_bytes;
    uint64_t code; // the child's answer, and what unloading names; 0: `why` says it
    char why[256];
} IsoLoad;

// What kernels log, and what those that are checked did wrong.
typedef struct IsoNote {
    bool is_report;
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
    _Alignas(64) atomic_uint notes_written; // the child's
    atomic_uint notes_read;                 // the host's
    _Alignas(64) IsoCommand commands[ISO_COMMANDS];
    _Atomic uint64_t spent_ns[ISO_COMMANDS]; // time of a dispatch, on all threads
    IsoNote notes[ISO_NOTES];
    _Alignas(64) char room[ISO_ROOM];
} IsoChannel;

enum { ISO_STARTING, ISO_READY, ISO_FAILED };
typedef struct IsoHead {
    uint32_t version;
    uint32_t n_threads;
    void *zeros;       // os_zeros of the host; NULL: none
    atomic_uint state; // the child's: ISO_READY, or ISO_FAILED and why
    atomic_uint beats; // counts up while the child lives
    char why[256];
    IsoChannel channels[ISO_CHANNELS + 1];
} IsoHead;
#endif

// SPDX-License-Identifier: Apache-2.0
// replay.h: running a capture again, command by command, on any device (docs/internals/capture.md).
// A replay has one position: everything up to a command has been done. It goes forward; to go back,
// or on from the middle of a render pass, it begins anew.
//
// Not thread-safe: one thread at a time. One replay of a process may be open at a time where memory
// is placed at the addresses it had.
#ifndef INGOT_CAPTURE_REPLAY_H
#define INGOT_CAPTURE_REPLAY_H
#include "abi/metallib.h"
#include "abi/protocol.h"
#include "devices/capture/capture.h"
#include "devices/table/device.h"

#define CAP_API __attribute__((visibility("default"))) // for the tools; no part of Metal

typedef enum CapCodeFor { // what code is for
    CAP_FOR_DEVICE,       // as the device is set
    CAP_FOR_SPEED,        // to run, also where the device is set to debug
    CAP_FOR_DEBUGGER,
} CapCodeFor;

typedef struct CapDevice { // what a replay runs on
    const DevTable *table;
    void *context;
    DevLimits limits; // of a run
    // The code of a function for this device; NULL and a sentence. libraries: the function's own,
    // then the others of the question.
    Blob *(*compile)(void *owner, const MslKernelRequest *question, Metallib *const *libraries,
                     CapCodeFor what, char why[CAP_WHY]);
    void *owner;
} CapDevice;

typedef struct CapReplay CapReplay;
// device is copied; the capture is to outlive the replay. NULL and a sentence: no memory.
CapReplay *cap_replay_new(const Capture *capture, const CapDevice *device, char why[CAP_WHY]);
CAP_API void cap_replay_free(CapReplay *replay);

typedef struct CapWatch { // {0}: nothing
    // Results of each run are compared with those of the capture.
    bool check;
    // Each command is waited for, and `after` hears of it. Draws of a pass are run together and
    // reported behind it, when all are done: the pass has the time of them. False: it ends there.
    bool (*after)(void *context, const CapEvent *event, uint64_t ns);
    void *context;
} CapWatch;
// Does everything up to command `until`, which it includes; UINT64_MAX: all. False and a sentence:
// it cannot be run, or (check) results differ.
CAP_API bool cap_replay_run(CapReplay *replay, uint64_t until, const CapWatch *watch,
                            char why[CAP_WHY]);
CAP_API void cap_replay_rewind(CapReplay *replay); // to the beginning
// Functions of this command alone are compiled for a debugger. Before it is run; nothing behind it
// may be run then.
CAP_API void cap_replay_debug(CapReplay *replay, uint64_t command);
typedef struct CapTouch {             // of a pixel by a draw, in samples
    _Atomic uint64_t covered, passed; // inside of its primitives; those that passed all tests
} CapTouch;
// Which draws of the render pass that begins with command `pass` touch a pixel: touches[n], of its
// first n draws. Of fragments that are discarded neither is counted. The replay begins anew after
// it. False and a sentence: there is no such pass, or the device's memory is not the host's.
CAP_API bool cap_replay_pixel(CapReplay *replay, uint64_t pass, uint32_t x, uint32_t y,
                              CapTouch *touches, size_t n, char why[CAP_WHY]);
// What was said by CAP_UNKNOWN so far, the first; "": nothing.
CAP_API const char *cap_replay_unknown(const CapReplay *replay);

// ---- What is there at the position ----

typedef struct CapObject {     // a resource, or memory that no resource was named for
    CapResource resource;      // its strings live as long as the replay
    const AbiTexture *texture; // of a texture; addresses are not for looking at
    const AbiTensor *tensor;
} CapObject;
CAP_API size_t cap_replay_objects(const CapReplay *replay, const CapObject **objects);
// By label, by "buffer 3" (its number in the list of cap_replay_objects, of any kind) or by id.
// NULL: none, or several have the label.
CAP_API const CapObject *cap_replay_find(const CapReplay *replay, const char *name);
// Bytes at an address of the captured program's, as it would find them there. False: there is no
// such memory.
CAP_API bool cap_replay_read(CapReplay *replay, uint64_t address, void *to, size_t n_bytes);
// Whether all of these bytes are in one memory.
CAP_API bool cap_replay_has(const CapReplay *replay, uint64_t address, uint64_t n_bytes);
// The memory that has an address: its beginning and length. False: none.
CAP_API bool cap_replay_memory_at(const CapReplay *replay, uint64_t address, uint64_t *start,
                                  uint64_t *n_bytes);
// Memory that the run of the present position may write: number i, its id, address and length.
// False: there are no more.
CAP_API bool cap_replay_written(const CapReplay *replay, size_t i, CapMemory *memory);
// A function's name and arguments; NULL: not known at this position.
CAP_API const RfFunction *cap_replay_function(CapReplay *replay, uint64_t code,
                                              const RfLibrary **library);
// The text that a function's library was made from; NULL: not known.
CAP_API const char *cap_replay_source(const CapReplay *replay, uint64_t code, const char **name);
#endif

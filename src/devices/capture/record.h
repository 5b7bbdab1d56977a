// SPDX-License-Identifier: Apache-2.0
// record.h: recording captures: a table of functions that stands before a device's own and writes
// down what passes (docs/internals/capture.md). The runtime puts it there, says when a capture is
// open, and tells what a device does not know: names.
//
// One capture is written at a time. Runs that are recorded wait for each other.
#ifndef INGOT_CAPTURE_RECORD_H
#define INGOT_CAPTURE_RECORD_H
#include "devices/capture/capture.h"
#include "devices/table/device.h"

// Whether the environment allows captures: INGOT_CAPTURE names a file, or MTL_CAPTURE_ENABLED (or
// METAL_CAPTURE_ENABLED) is not 0.
bool cap_is_allowed(void);
// The table to be used in a device's place: its own, unless captures are allowed. Those of one kind
// of device are recorded; of another the table is its own again.
const DevTable *cap_table(const DevTable *inner);

// ---- Files ----

typedef struct CapHooks { // `buffer` is DevRun.report_context
    bool (*wants)(void *buffer);
    // The run begins, with its events: CAP_BEGIN and CAP_RESOURCE.
    void (*begin)(void *buffer);
    // The memory that an address of the device's is in, or that a handle stands for, though nobody
    // told of it. False: none.
    bool (*memory_at)(void *buffer, const void *address, DevMemory *memory);
} CapHooks;
// 0 or errno; EBUSY: there is one. info: what the file says of the program and its device.
int cap_start(const char *path, const CapHooks *hooks, const CapInfo *info);
// Ends the file, after a run that is being recorded. 0, or the errno that ended the writing before.
int cap_stop(void);
bool cap_is_active(void);

// ---- What the runtime tells ----

// An event of the run that this thread is recording; nothing if it is not.
void cap_put(CapEvent *event);
// An event of the next run, or of the file's end.
void cap_put_later(CapEvent *event);
// Around something that the runtime does to memory on the host, in a run.
void cap_host_begin(void);
void cap_host_end(const CapOperation *operation);
// The text that a library was made from.
void cap_note_source(const unsigned char hash[SHA256_BYTES], const char *name, const char *text,
                     size_t n_bytes);
#endif

// SPDX-License-Identifier: Apache-2.0
// child.h: the parts of ingot-device, the process that the isolated device's kernels run in.
#ifndef INGOT_ISOLATE_CHILD_H
#define INGOT_ISOLATE_CHILD_H
#include "devices/isolate/protocol.h"

// What the process is for.
typedef struct IsoServed {
    const DevTable *table;
    void *context;
    IsoHead *head;
} IsoServed;
extern IsoServed iso_served;

// Does the commands of a channel, for as long as the process lives; a thread's function.
void *iso_serve(void *channel);
// Both give up what running kernels does not take, and return false and a sentence if they cannot:
// nothing may run then. Files, before there are other threads:
bool iso_confine_files(char *why, size_t why_bytes);
// Sockets, programs, other processes: of all threads.
bool iso_confine(char *why, size_t why_bytes);

// ---- serve_own.c: what only devices with memory of their own are told ----

void iso_serve_own(IsoKind kind, void *what, DevRun *run, bool failed);
// What a device finds in the cache of the host's, asked through a channel.
const DevCache *iso_cache(IsoChannel *channel);
#endif

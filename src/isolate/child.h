// SPDX-License-Identifier: Apache-2.0
// child.h: the parts of ingot-device, the process that the isolated device's kernels run in.
#ifndef INGOT_ISOLATE_CHILD_H
#define INGOT_ISOLATE_CHILD_H
#include "isolate/protocol.h"

// Does the commands of a channel, for as long as the process lives; a thread's function.
void *iso_serve(void *channel);
// Both give up what running kernels does not take, and return false and a sentence if they cannot:
// nothing may run then. Files, before there are other threads:
bool iso_confine_files(char *why, size_t why_bytes);
// Sockets, programs, other processes: of all threads.
bool iso_confine(char *why, size_t why_bytes);
#endif

// SPDX-License-Identifier: Apache-2.0
// shared_file.h: anonymous files (memfd) behind what processes share: events and textures. A file
// is sealed, so that nobody can shorten it under another's mapping. It has no name in any file
// system: the name of a handle says in which process it is open (/proc/PID/fd/N), so that the dead
// leave nothing behind, and repeats a random id that the file carries, so that a process of the
// same number is not taken for it.
#ifndef INGOT_RUNTIME_SHARED_FILE_H
#define INGOT_RUNTIME_SHARED_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "ingot/metal.h"
#include "runtime/object/object.h"

enum { RT_SHARED_NAME = 96 };

// kind: "event" or "texture". A new sealed file of zeros, and a random id for its owner to write
// down there. -1: errno.
int rt_shared_file_new(const char *kind, size_t n_bytes, uint64_t id[2]);
// Whether a descriptor of unknown origin is one of such a file, and its size; else why not.
bool rt_shared_file_check(const char *kind, int descriptor, off_t *n_bytes, const char **why);
void rt_shared_file_name(const char *kind, int descriptor, const uint64_t id[2],
                         char name[RT_SHARED_NAME]);
// The file that the name is of, opened, and the id that it must carry. -1 and why not.
int rt_shared_file_open(const char *kind, const char *name, uint64_t id[2], const char **why);
// What handles of events and textures are: a descriptor of the file, with the label that the owner
// had, and the name of the handle.
typedef struct RtSharedHandle {
    RtObject object;
    MTLDevice *device; // retained; NULL: it came from another process
    int descriptor;
    char label[64];
    char name[RT_SHARED_NAME];
} RtSharedHandle;
void rt_shared_handle_destroy(void *self);
// Takes the descriptor, also on failure: NULL. The label may be cut off, and need not end.
void *rt_shared_handle_new(const RtClass *cls, const char *kind, int descriptor,
                           const uint64_t id[2], const char label[64]);
// Its file, for somebody else to close. -1 after a message.
int rt_shared_handle_file(const void *handle, const RtClass *cls, const char *call);
// "Not a shared KIND handle: why." Returns NULL.
void *rt_shared_handle_bad(MTLError **error, const char *kind, const char *why);
#define RT_SHARED_FILE_GONE "the process that made it has ended or closed it"
#endif

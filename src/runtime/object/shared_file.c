// SPDX-License-Identifier: Apache-2.0
// shared_file.c: see shared_file.h.
#include "runtime/object/shared_file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/object/error.h"
#include "runtime/object/validation.h"

int rt_shared_file_new(const char *kind, size_t n_bytes, uint64_t id[2]) {
    char name[64];
    snprintf(name, sizeof name, "ingot-shared-%s", kind);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (getrandom(id, 2 * sizeof *id, 0) == (ssize_t)(2 * sizeof *id) &&
        ftruncate(fd, (off_t)n_bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -1;
}

bool rt_shared_file_check(const char *kind, int descriptor, off_t *n_bytes, const char **why) {
    struct stat file;
    *why = "it is not an open file descriptor";
    if (descriptor < 0 || fstat(descriptor, &file) != 0) return false;
    *why = strcmp(kind, "event") == 0 ? "it is not the descriptor of a shared event"
                                      : "it is not the descriptor of a shared texture";
    int seals = fcntl(descriptor, F_GET_SEALS);
    *n_bytes = file.st_size;
    return seals >= 0 && seals & F_SEAL_SHRINK;
}

static void put_name(char name[RT_SHARED_NAME], const char *kind, long pid, int fd,
                     const uint64_t id[2]) {
    snprintf(name, RT_SHARED_NAME, "ingot-shared-%s-1:%ld:%d:%016" PRIx64 "%016" PRIx64, kind, pid,
             fd, id[0], id[1]);
}

void rt_shared_file_name(const char *kind, int descriptor, const uint64_t id[2],
                         char name[RT_SHARED_NAME]) {
    put_name(name, kind, (long)getpid(), descriptor, id);
}

int rt_shared_file_open(const char *kind, const char *name, uint64_t id[2], const char **why) {
    char again[RT_SHARED_NAME], path[64];
    const char *numbers = strchr(name, ':');
    long pid = 0;
    int fd = -1;
    *why = strcmp(kind, "event") == 0
               ? "the name is not one that mtl_shared_event_handle_name gave"
               : "the name is not one that mtl_shared_texture_handle_name gave";
    if (!numbers ||
        sscanf(numbers, ":%ld:%d:%16" SCNx64 "%16" SCNx64, &pid, &fd, &id[0], &id[1]) != 4 ||
        pid <= 0 || fd < 0)
        return -1;
    put_name(again, kind, pid, fd, id);
    if (strcmp(again, name) != 0) return -1;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, fd);
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        *why = errno == EACCES || errno == EPERM
                   ? "the process that made it belongs to another user"
                   : RT_SHARED_FILE_GONE;
    return descriptor;
}

// ---- Handles ----

void rt_shared_handle_destroy(void *self) {
    RtSharedHandle *handle = self;
    if (handle->descriptor >= 0) close(handle->descriptor);
    mtl_release(handle->device);
    rt_free(handle);
}

void *rt_shared_handle_new(const RtClass *cls, const char *kind, int descriptor,
                           const uint64_t id[2], const char label[64]) {
    RtSharedHandle *handle = rt_new(cls, sizeof *handle);
    if (!handle) {
        close(descriptor);
        return NULL;
    }
    handle->descriptor = descriptor;
    snprintf(handle->label, sizeof handle->label, "%.*s", (int)sizeof handle->label - 1, label);
    rt_shared_file_name(kind, descriptor, id, handle->name);
    return handle;
}

int rt_shared_handle_file(const void *handle, const RtClass *cls, const char *call) {
    if (rt_is(handle, cls)) return fcntl(((const RtSharedHandle *)handle)->descriptor, F_DUPFD, 0);
    rt_misuse(NULL, handle ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(handle));
    return -1;
}

void *rt_shared_handle_bad(MTLError **error, const char *kind, const char *why) {
    rt_error_set(error, rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorInvalidInput,
                                     "Not a shared %s handle: %s.", kind, why));
    return NULL;
}

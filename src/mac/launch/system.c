// SPDX-License-Identifier: Apache-2.0
// system.c: libSystem, the name under which programs look for the C library, libdispatch and the
// Objective-C runtime at once: it is linked with those, and adds the questions that Linux has no
// function for.
#include "mac/launch/system_info.h"
#include <errno.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int sysctlbyname(const char *name, void *old, size_t *old_bytes, void *new_value,
                        size_t new_bytes);
EXPORT int sysctlbyname(const char *name, void *old, size_t *old_bytes, void *new_value,
                        size_t new_bytes) {
    MacSystemInfo fact;
    (void)new_bytes;
    if (new_value) return errno = EPERM, -1;
    if (!name || !mac_system_info(name, &fact)) return errno = ENOENT, -1;
    uint32_t word = (uint32_t)fact.number;
    const void *from = fact.n_bytes == 8 ? (void *)&fact.number
                       : fact.n_bytes    ? (void *)&word
                                         : fact.text;
    size_t n = fact.n_bytes ? fact.n_bytes : strlen(fact.text) + 1;
    if (!old_bytes) return errno = EFAULT, -1;
    size_t room = *old_bytes;
    *old_bytes = n;
    if (!old) return 0;
    if (room < n) return errno = ENOMEM, -1;
    memcpy(old, from, n);
    return 0;
}

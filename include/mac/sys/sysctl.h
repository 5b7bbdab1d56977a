// SPDX-License-Identifier: Apache-2.0
// sys/sysctl.h: questions to the system by name ("hw.memsize"), as far as programs ask them before
// they use Metal.
#ifndef INGOT_MAC_SYS_SYSCTL_H
#define INGOT_MAC_SYS_SYSCTL_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
// 0, or -1 with errno: ENOENT for a name that has no answer here. Nothing can be set.
int sysctlbyname(const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);
#ifdef __cplusplus
}
#endif
#endif

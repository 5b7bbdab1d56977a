// SPDX-License-Identifier: Apache-2.0
// system_info.h: what this machine answers when a program asks as one asks a Mac (sysctlbyname, the
// command sysctl): numbers are this machine's, the system is macOS 26.
#ifndef INGOT_MAC_SYSTEM_INFO_H
#define INGOT_MAC_SYSTEM_INFO_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_VERSION "26.0"
#define MAC_BUILD "25A0"
#define MAC_KERNEL "25.0.0" // of Darwin

typedef struct MacSystemInfo {
    char text[256];  // as `sysctl -n` prints it
    uint64_t number; // if it is one
    size_t n_bytes;  // of the number: 4 or 8; 0: it is a text
} MacSystemInfo;
// False: there is no such name.
bool mac_system_info(const char *name, MacSystemInfo *out);
#endif

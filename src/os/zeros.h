// SPDX-License-Identifier: Apache-2.0
// zeros.h: memory that reads as zeros and cannot be written: what stands behind an argument that a
// program did not bind.
#ifndef INGOT_OS_ZEROS_H
#define INGOT_OS_ZEROS_H
#include <stdbool.h>
#include <stddef.h>

// 64 GiB before the address and behind it, of one page that the system shares; NULL where it gives
// no such range of addresses. Made at the first call, for as long as the process lives.
void *os_zeros(void);
// Such memory at the address that another process has it at. False: it is taken.
bool os_zeros_at(void *address);
// Whether an address lies among them.
bool os_among_zeros(const void *address);
#endif

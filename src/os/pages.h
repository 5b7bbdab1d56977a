// SPDX-License-Identifier: Apache-2.0
// pages.h: memory of whole pages, zeroed, for resources that kernels read.
#ifndef INGOT_OS_PAGES_H
#define INGOT_OS_PAGES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// On large pages where it is large. Behind its end lie zeros that belong to nobody: a GPU lets the
// lanes past the end of a row read on, and kernels in daily use do. NULL: no memory.
void *os_pages(size_t n_bytes);
void os_pages_free(void *pages, size_t n_bytes); // as many as were asked for
// From now on pages lie in a range of addresses where no process has anything, 2^45 and up, and no
// address is given twice, as far as the range goes: another process can have the same memory at
// the same place. `gone` hears of pages that are freed.
void os_pages_place(void (*gone)(void *pages, size_t n_bytes));
// Whether an address is in that range.
static inline bool os_is_place(uint64_t address) { return address >> 44 == 2; }
#endif

// SPDX-License-Identifier: Apache-2.0
// pages.h: memory of whole pages, zeroed, for resources that kernels read.
#ifndef INGOT_OS_PAGES_H
#define INGOT_OS_PAGES_H
#include <stddef.h>

// On large pages where it is large. Behind its end lie zeros that belong to nobody: a GPU lets the
// lanes past the end of a row read on, and kernels in daily use do. NULL: no memory.
void *os_pages(size_t n_bytes);
void os_pages_free(void *pages, size_t n_bytes); // as many as were asked for
#endif

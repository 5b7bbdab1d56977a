// SPDX-License-Identifier: Apache-2.0
// written.h: dirty-page tracking: whether memory was written, by write protection instead of
// comparing bytes: the kernel notes which pages lose their protection to a write (userfaultfd's
// asynchronous write protection and PAGEMAP_SCAN, Linux 6.7).
#ifndef INGOT_OS_WRITTEN_H
#define INGOT_OS_WRITTEN_H
#include <stdbool.h>
#include <stddef.h>

// From now on writes to these pages are noted; `at` is the beginning of a page of private memory
// without a file. Each first write to a page costs microseconds: it is for memory that hardly
// anybody writes. False: the system cannot.
bool os_written_watch(void *at, size_t n_bytes);
// Whether any was, since then; true where it is not known.
bool os_written(void *at, size_t n_bytes);
void os_written_unwatch(void *at, size_t n_bytes);
#endif

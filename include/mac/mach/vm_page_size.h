// SPDX-License-Identifier: Apache-2.0
// mach/vm_page_size.h: the size of a page, a variable on a Mac.
#ifndef INGOT_MAC_MACH_VM_PAGE_SIZE_H
#define INGOT_MAC_MACH_VM_PAGE_SIZE_H
#include <unistd.h>
typedef unsigned long vm_size_t;
#define vm_page_size ((vm_size_t)sysconf(_SC_PAGESIZE))
#define vm_page_mask (vm_page_size - 1)
#define trunc_page(x) ((vm_size_t)(x) & ~vm_page_mask)
#define round_page(x) trunc_page((vm_size_t)(x) + vm_page_mask)
#endif

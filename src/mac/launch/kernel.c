// SPDX-License-Identifier: Apache-2.0
// kernel.c: calls of Apple's kernel that programs make beside Metal's: the clock, pages of memory,
// locks of one word.
#include "os/futex.h"
#include "os/pages.h"
#include <errno.h>
#include <mach/mach_time.h>
#include <os/lock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#pragma GCC visibility push(default)

enum { THIS_TASK = 0x103, NS_PER_S = 1000000000 };

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

kern_return_t mach_timebase_info(mach_timebase_info_t info) {
    *info = (mach_timebase_info_data_t){1, 1};
    return KERN_SUCCESS;
}
uint64_t mach_absolute_time(void) { return now(CLOCK_MONOTONIC); }
uint64_t mach_continuous_time(void) { return now(CLOCK_BOOTTIME); }
uint64_t mach_approximate_time(void) { return now(CLOCK_MONOTONIC_COARSE); }
kern_return_t mach_wait_until(uint64_t deadline) {
    const struct timespec t = {.tv_sec = (time_t)(deadline / NS_PER_S),
                               .tv_nsec = (long)(deadline % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
    return KERN_SUCCESS;
}

mach_port_t mach_task_self(void) { return THIS_TASK; }

const char *mach_error_string(kern_return_t code) {
    switch (code) {
    case KERN_SUCCESS: return "(os/kern) successful";
    case KERN_INVALID_ADDRESS: return "(os/kern) invalid address";
    case KERN_NO_SPACE: return "(os/kern) no space available";
    case KERN_INVALID_ARGUMENT: return "(os/kern) invalid argument";
    default: return "(os/kern) failure";
    }
}

// Programs make buffers of pages they took themselves, so these have zeros behind them as well
// (os/pages.h). They go when the last page goes; a program may give pages back piece by piece.
typedef struct Region {
    struct Region *next;
    vm_address_t end;
} Region;

static Region *regions;
static os_unfair_lock regions_lock;

kern_return_t vm_allocate(vm_map_t task, vm_address_t *address, vm_size_t size, int flags) {
    if (task != THIS_TASK || !(flags & VM_FLAGS_ANYWHERE)) return KERN_INVALID_ARGUMENT;
    *address = 0;
    if (!size) return KERN_SUCCESS;
    if (size > SIZE_MAX / 2) return KERN_NO_SPACE;
    size = round_page(size);
    Region *region = malloc(sizeof *region);
    void *at = region ? os_pages(size) : NULL;
    if (!at) {
        free(region);
        return KERN_NO_SPACE;
    }
    *address = (vm_address_t)at;
    os_unfair_lock_lock(&regions_lock);
    *region = (Region){regions, *address + size};
    regions = region;
    os_unfair_lock_unlock(&regions_lock);
    return KERN_SUCCESS;
}

// Forgets the region that ends there. False: none does.
static bool region_ends(vm_address_t end) {
    os_unfair_lock_lock(&regions_lock);
    Region **at = &regions;
    while (*at && (*at)->end != end) at = &(*at)->next;
    Region *found = *at;
    if (found) *at = found->next;
    os_unfair_lock_unlock(&regions_lock);
    free(found);
    return found != NULL;
}

kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size) {
    if (task != THIS_TASK) return KERN_INVALID_ARGUMENT;
    if (!size) return KERN_SUCCESS;
    if (address % vm_page_size || size > SIZE_MAX / 2) return KERN_INVALID_ADDRESS;
    size = round_page(size);
    if (region_ends(address + size)) {
        os_pages_free((void *)address, size);
        return KERN_SUCCESS;
    }
    return munmap((void *)address, size) == 0 ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}
kern_return_t mach_vm_allocate(vm_map_t task, mach_vm_address_t *address, mach_vm_size_t size,
                               int flags) {
    vm_address_t at;
    const kern_return_t answer = vm_allocate(task, &at, (vm_size_t)size, flags);
    if (answer == KERN_SUCCESS) *address = at;
    return answer;
}
kern_return_t mach_vm_deallocate(vm_map_t task, mach_vm_address_t address, mach_vm_size_t size) {
    return vm_deallocate(task, (vm_address_t)address, (vm_size_t)size);
}

kern_return_t task_info(task_name_t task, task_flavor_t flavor, task_info_t out,
                        mach_msg_type_number_t *count) {
    unsigned long long n_virtual = 0, n_resident = 0;
    struct rusage used;
    if (task != THIS_TASK || flavor != MACH_TASK_BASIC_INFO || *count < MACH_TASK_BASIC_INFO_COUNT)
        return KERN_INVALID_ARGUMENT;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f) return KERN_FAILURE;
    const int found = fscanf(f, "%llu %llu", &n_virtual, &n_resident);
    fclose(f);
    if (found != 2 || getrusage(RUSAGE_SELF, &used)) return KERN_FAILURE;
    const mach_task_basic_info_data_t info = {
        .virtual_size = n_virtual * vm_page_size,
        .resident_size = n_resident * vm_page_size,
        .resident_size_max = (mach_vm_size_t)used.ru_maxrss * 1024,
        .user_time = {(int32_t)used.ru_utime.tv_sec, (int32_t)used.ru_utime.tv_usec},
        .system_time = {(int32_t)used.ru_stime.tv_sec, (int32_t)used.ru_stime.tv_usec},
    };
    memcpy(out, &info, sizeof info);
    *count = MACH_TASK_BASIC_INFO_COUNT;
    return KERN_SUCCESS;
}

// The word is 0 when free, 1 when held, 2 when held and somebody may sleep.
static atomic_uint *word(os_unfair_lock_t lock) {
    return (atomic_uint *)&lock->_os_unfair_lock_opaque;
}

bool os_unfair_lock_trylock(os_unfair_lock_t lock) {
    unsigned seen = 0;
    return atomic_compare_exchange_strong_explicit(word(lock), &seen, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}
void os_unfair_lock_lock(os_unfair_lock_t lock) {
    if (os_unfair_lock_trylock(lock)) return;
    while (atomic_exchange_explicit(word(lock), 2, memory_order_acquire) != 0)
        os_futex_wait(word(lock), 2);
}
void os_unfair_lock_unlock(os_unfair_lock_t lock) {
    if (atomic_exchange_explicit(word(lock), 0, memory_order_release) == 2)
        os_futex_wake(word(lock), 1);
}

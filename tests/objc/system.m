// SPDX-License-Identifier: Apache-2.0
// What programs call beside Metal: the kernel's clock and memory, locks of one word, the system's
// log, modules.
@import Foundation;
@import simd;
#include "check.h"
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <os/lock.h>
#include <os/log.h>
#include <os/signpost.h>
#include <unistd.h>

static void clock_runs(void) {
    mach_timebase_info_data_t base;
    CHECK(mach_timebase_info(&base) == KERN_SUCCESS && base.denom);
    const uint64_t a = mach_absolute_time();
    CHECK(mach_wait_until(a + 2000000) == KERN_SUCCESS);
    CHECK((mach_absolute_time() - a) * base.numer / base.denom >= 2000000);
}

static void memory_is_given(void) {
    vm_address_t at = 1;
    CHECK(vm_allocate(mach_task_self(), &at, 3 * vm_page_size, VM_FLAGS_ANYWHERE) == KERN_SUCCESS);
    CHECK(at && at % vm_page_size == 0 && *(char *)at == 0);
    memset((void *)at, 7, 3 * vm_page_size);
    CHECK(*(char *)(at + 3 * vm_page_size) == 0); // what lies behind belongs to nobody
    CHECK(vm_deallocate(mach_task_self(), at, vm_page_size) == KERN_SUCCESS); // piece by piece
    CHECK(vm_deallocate(mach_task_self(), at + vm_page_size, 2 * vm_page_size) == KERN_SUCCESS);
    CHECK(vm_deallocate(mach_task_self(), at + 1, 1) == KERN_INVALID_ADDRESS);
    CHECK(round_page(1) == vm_page_size && trunc_page(vm_page_size + 1) == vm_page_size);
    CHECK(vm_allocate(mach_task_self() + 1, &at, 1, VM_FLAGS_ANYWHERE) == KERN_INVALID_ARGUMENT);
    CHECK(vm_allocate(mach_task_self(), &at, (vm_size_t)1 << 60, VM_FLAGS_ANYWHERE) ==
          KERN_NO_SPACE);
    mach_task_basic_info_data_t info;
    mach_msg_type_number_t n = MACH_TASK_BASIC_INFO_COUNT;
    CHECK(task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &n) ==
          KERN_SUCCESS);
    CHECK(info.resident_size > vm_page_size && info.resident_size <= info.virtual_size);
    n = 1;
    CHECK(task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &n) !=
          KERN_SUCCESS);
}

static void locks_lock(void) {
    static os_unfair_lock lock = {0};
    static long count;
    dispatch_apply(4, dispatch_get_global_queue(0, 0), ^(size_t k) {
      (void)k;
      for (int i = 0; i < 20000; i++) {
          os_unfair_lock_lock(&lock);
          count++;
          os_unfair_lock_unlock(&lock);
      }
    });
    CHECK_NUMBER(count, 80000);
    CHECK(os_unfair_lock_trylock(&lock) && !os_unfair_lock_trylock(&lock));
    os_unfair_lock_unlock(&lock);
}

static void log_logs(void) {
    int ends[2], before = dup(STDERR_FILENO);
    char text[512] = "";
    CHECK(pipe(ends) == 0);
    dup2(ends[1], STDERR_FILENO);
    os_log_t log = os_log_create("org.x%d", "cat");
    os_log(OS_LOG_DEFAULT, "plain %{public}s %d%%", "text", 5);
    os_log_error(log, "object %{private}@", @[ @1 ].firstObject);
    os_log_debug(log, "unseen");
    os_log(OS_LOG_DISABLED, "unseen");
    os_signpost_interval_begin(log, OS_SIGNPOST_ID_EXCLUSIVE, "frame");
    dup2(before, STDERR_FILENO);
    const ssize_t n = read(ends[0], text, sizeof text - 1);
    CHECK(n > 0 && strstr(text, "plain text 5%\n") && strstr(text, "[org.x%d:cat] object 1\n"));
    CHECK(!strstr(text, "unseen"));
    close(ends[0]), close(ends[1]), close(before);
}

int main(void) {
    @autoreleasepool {
        clock_runs();
        memory_is_given();
        locks_lock();
        log_logs();
        CHECK(simd_length((simd_float2){3, 4}) == 5 && TARGET_OS_OSX && TRUE && !FALSE);
    }
    return check_result();
}

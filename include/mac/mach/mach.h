// SPDX-License-Identifier: Apache-2.0
// mach/mach.h: calls of Apple's kernel as far as programs beside Metal make them: whole pages of
// memory, and how much of it the process has. The only task is this process.
#ifndef INGOT_MAC_MACH_MACH_H
#define INGOT_MAC_MACH_MACH_H
#include <mach/vm_page_size.h>
#include <stddef.h>
#include <stdint.h>
typedef int kern_return_t;
typedef uint32_t mach_port_t;
typedef mach_port_t task_t, task_name_t, vm_map_t, host_t, thread_t;
typedef mach_port_t task_id_token_t;
typedef uintptr_t vm_offset_t, vm_address_t;
typedef uintptr_t vm_size_t;
typedef uint64_t mach_vm_address_t, mach_vm_size_t;
typedef unsigned int natural_t;
typedef int integer_t;
typedef int boolean_t;
typedef natural_t mach_msg_type_number_t;
typedef natural_t task_flavor_t;
typedef integer_t *task_info_t;
#define KERN_SUCCESS 0
#define KERN_INVALID_ADDRESS 1
#define KERN_NO_SPACE 3
#define KERN_INVALID_ARGUMENT 4
#define KERN_FAILURE 5
#define VM_FLAGS_FIXED 0
#define VM_FLAGS_ANYWHERE 1
#define MACH_PORT_NULL 0

typedef struct {
    int32_t seconds, microseconds;
} time_value_t;
#define MACH_TASK_BASIC_INFO 20
typedef struct mach_task_basic_info {
    mach_vm_size_t virtual_size, resident_size, resident_size_max;
    time_value_t user_time, system_time;
    int policy;
    integer_t suspend_count;
} mach_task_basic_info_data_t;
typedef struct mach_task_basic_info *mach_task_basic_info_t;
#define MACH_TASK_BASIC_INFO_COUNT                                                                 \
    ((mach_msg_type_number_t)(sizeof(mach_task_basic_info_data_t) / sizeof(natural_t)))

#ifdef __cplusplus
extern "C" {
#endif
mach_port_t mach_task_self(void);
const char *mach_error_string(kern_return_t code);
// Memory of zeros, at a place of the system's choice: flags must be VM_FLAGS_ANYWHERE.
kern_return_t vm_allocate(vm_map_t task, vm_address_t *address, vm_size_t size, int flags);
kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size);
kern_return_t mach_vm_allocate(vm_map_t task, mach_vm_address_t *address, mach_vm_size_t size,
                               int flags);
kern_return_t mach_vm_deallocate(vm_map_t task, mach_vm_address_t address, mach_vm_size_t size);
// MACH_TASK_BASIC_INFO alone.
kern_return_t task_info(task_name_t task, task_flavor_t flavor, task_info_t out,
                        mach_msg_type_number_t *count);
#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// mach/mach.h: types of Apple's kernel that Metal's methods mention.
#ifndef INGOT_MAC_MACH_MACH_H
#define INGOT_MAC_MACH_MACH_H
#include <stdint.h>
typedef int kern_return_t;
typedef uint32_t mach_port_t;
typedef mach_port_t task_id_token_t;
#define KERN_SUCCESS 0
#endif

// SPDX-License-Identifier: Apache-2.0
// mach/task_info.h: names of mach/mach.h, which has them all.
#ifndef INGOT_MAC_MACH_TASK_INFO_H
#define INGOT_MAC_MACH_TASK_INFO_H
#include <mach/mach.h>
#endif

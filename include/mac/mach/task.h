// SPDX-License-Identifier: Apache-2.0
// mach/task.h: names of mach/mach.h, which has them all.
#ifndef INGOT_MAC_MACH_TASK_H
#define INGOT_MAC_MACH_TASK_H
#include <mach/mach.h>
#endif

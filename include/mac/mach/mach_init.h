// SPDX-License-Identifier: Apache-2.0
// mach/mach_init.h: names of mach/mach.h, which has them all.
#ifndef INGOT_MAC_MACH_MACH_INIT_H
#define INGOT_MAC_MACH_MACH_INIT_H
#include <mach/mach.h>
#endif

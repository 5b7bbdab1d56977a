// SPDX-License-Identifier: Apache-2.0
// mach/vm_map.h: names of mach/mach.h, which has them all.
#ifndef INGOT_MAC_MACH_VM_MAP_H
#define INGOT_MAC_MACH_VM_MAP_H
#include <mach/mach.h>
#endif

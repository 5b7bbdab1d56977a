// SPDX-License-Identifier: Apache-2.0
// mach/mach_vm.h: names of mach/mach.h, which has them all.
#ifndef INGOT_MAC_MACH_MACH_VM_H
#define INGOT_MAC_MACH_MACH_VM_H
#include <mach/mach.h>
#endif

// SPDX-License-Identifier: Apache-2.0
// mach_assembly.h: assembly written for a Mac, for `ingot cc`.
#ifndef INGOT_TOOLS_MACH_ASSEMBLY_H
#define INGOT_TOOLS_MACH_ASSEMBLY_H
#include <stdbool.h>

// If the file holds directives of a Mac's assembler, the name under which it is to be read without
// them, by this process or what it becomes. False: it is to be read as it is.
bool mach_assembly(const char *path, char out[32]);
#endif

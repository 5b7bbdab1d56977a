// SPDX-License-Identifier: Apache-2.0
// mach_linker.h: the command line of a Mac's linker, for the stand-in called `ld`.
#ifndef INGOT_TOOLS_MACH_LINKER_H
#define INGOT_TOOLS_MACH_LINKER_H
#include "base/options.h"

// Adds to `out` what this system's linker is to be called with. Words are borrowed, or live as long
// as the process.
void mach_linker(Strings *out, int n, char **words);
#endif

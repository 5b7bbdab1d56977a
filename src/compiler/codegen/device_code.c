// SPDX-License-Identifier: Apache-2.0
// device_code.c: device/*.c inside mslc: as bitcode; support.c, and group.c once more, as objects.
// The build compiles those files with the Clang of the same LLVM and names the results in
// MSL_DEVICE_*.
#include "compiler/codegen/codegen.h"

#define EMBED(name, path)                                                                          \
    __asm__(".section .rodata\n.balign 16\n.global msl_device_" #name ", msl_device_" #name        \
            "_end\n"                                                                               \
            "msl_device_" #name ":\n.incbin \"" path "\"\nmsl_device_" #name "_end:\n.previous\n")

EMBED(group, MSL_DEVICE_GROUP);
EMBED(lanes, MSL_DEVICE_LANES);
EMBED(loop, MSL_DEVICE_LOOP);
EMBED(stage, MSL_DEVICE_STAGE);
EMBED(support, MSL_DEVICE_SUPPORT);
EMBED(validate, MSL_DEVICE_VALIDATE);

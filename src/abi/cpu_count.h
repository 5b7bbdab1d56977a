// SPDX-License-Identifier: Apache-2.0
// cpu_count.h: what code compiled with MSL_WATCH_COUNTS tells the CPU device, for `ingot profile
// --lanes` and `ingot view`: each basic block of it calls CpuLaunch.count with its number and the
// lanes that run it. What a block does is a table of the code object, CPU_LINES_SYMBOL: text, a row
// for each block and source line in it, with tabs between
//     SITE LINE, the numbers of CPU_COUNTED, FILE
// and a zero at its end. Change anything: raise ABI_VERSION.
#ifndef INGOT_ABI_CPU_COUNT_H
#define INGOT_ABI_CPU_COUNT_H
#include <stdint.h>

#define CPU_LINES_SYMBOL "ingot_lines"
// Likewise of code with MSL_DEBUG_LINES: rows of passes/remarks.c.
#define CPU_REMARKS_SYMBOL "ingot_remarks"

// In one step of 32 lanes. The second four are bytes of buffers: of each lane, and once for all.
#define CPU_COUNTED(X)                                                                             \
    X(entries) /* 1: threads begin here */                                                         \
    X(vector)  /* instructions for each lane */                                                    \
    X(scalar)  /* instructions for all of them at once: what they work on is the same */           \
    X(gathers) /* loads and stores of which each lane has its own address */                       \
    X(serial)  /* done for one lane after the other */                                             \
    X(texels)  /* calls of texture functions, of each lane */                                      \
    X(read)                                                                                        \
    X(written)                                                                                     \
    X(read_once)                                                                                   \
    X(written_once)

#define CPU_COUNTED_FIELD(name) uint32_t name;
typedef struct CpuCounted {
    CPU_COUNTED(CPU_COUNTED_FIELD)
} CpuCounted;
#undef CPU_COUNTED_FIELD

struct CpuLaunch;
// table: the code's own; mask: a bit for each lane.
typedef void CpuCountFn(const struct CpuLaunch *launch, const char *table, uint32_t site,
                        uint32_t mask);
#endif

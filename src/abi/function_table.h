// SPDX-License-Identifier: Apache-2.0
// function_table.h: a table of functions as kernels read it. A table argument (and a
// table's resource id in an argument buffer) is the address of this struct; 0 is a null table.
// There are no machine-level function pointers: an entry is the number of a function in the
// pipeline's list of linked functions, counted from 1, and a call is a switch over those with the
// right signature. A function that is independent of pipelines has a second number, its key, which
// is the same in all. 0, a number past the list and a function of another signature are null:
// calling one does nothing and gives zero. Written by the runtime (link_table.c), read by the code
// of codegen/link_calls.c.
//
// An intersection function table has the addresses of its functions' buffers (and of tables bound
// to their indices) behind its entries, and entries that stand for no function of the program.
#ifndef INGOT_ABI_FUNCTION_TABLE_H
#define INGOT_ABI_FUNCTION_TABLE_H
#include <stddef.h>
#include <stdint.h>

typedef struct AbiFunctionTable {
    uint32_t count;   // entries
    uint32_t buffers; // intersection functions: bytes from here to their addresses; else 0
    uint32_t ids[];
} AbiFunctionTable;
enum {
    ABI_TABLE_BUFFERS = 31,            // of an intersection function table
    ABI_FUNCTION_OPAQUE_CURVE = -2,    // entries: every curve that is looked up there is a hit
    ABI_FUNCTION_OPAQUE_TRIANGLE = -1, // every triangle
    ABI_FUNCTION_KEY = 1 << 30,        // keys have this bit, and not the one above
};
_Static_assert(offsetof(AbiFunctionTable, ids) == 8,
               "codegen and the Metal headers know this layout");
#endif

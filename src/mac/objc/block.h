// SPDX-License-Identifier: Apache-2.0
// block.h: the layout of blocks, as the compiler writes them.
#ifndef INGOT_OBJC_BLOCK_H
#define INGOT_OBJC_BLOCK_H
#include <stdatomic.h>
#include <stdint.h>

typedef struct BlockDescriptor {
    uintptr_t reserved, n_bytes;
    // BlockHelpers if there are any, then the signature if there is one
} BlockDescriptor;
typedef struct BlockHelpers {
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *block);
} BlockHelpers;
typedef struct Block {
    void *isa;
    atomic_int flags;
    int reserved;
    void (*invoke)(void /* block, ... */);
    BlockDescriptor *descriptor;
    // captured values
} Block;
enum {
    BLOCK_GLOBAL = 1 << 28,
    BLOCK_RESULT_IN_MEMORY = 1 << 29, // with a signature only
    BLOCK_HAS_SIGNATURE = 1 << 30,
};
#endif

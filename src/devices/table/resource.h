// SPDX-License-Identifier: Apache-2.0
// resource.h: memory and resources as the runtime and a device speak of them.
#ifndef INGOT_DEVICE_RESOURCE_H
#define INGOT_DEVICE_RESOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/tensor.h"
#include "abi/texture.h"

typedef enum DevStorage {
    DEV_SHARED,    // the host reads and writes it, before and after commands that use it
    DEV_MANAGED,   // the same, and says when it did
    DEV_PRIVATE,   // the host never sees it
    DEV_ARGUMENTS, // of a command buffer: small, and both see it at the same address
} DevStorage;

typedef struct DevMemory {
    char *address; // where the device's code finds it
    char *host;    // where the host finds it; NULL: nowhere
    size_t n_bytes;
    uint8_t storage; // DevStorage, of what the runtime made for a resource
    void *part;      // the device's own
} DevMemory;

// What stands for a resource in kernels.
typedef struct DevHandle {
    uint64_t value;
    uint32_t n_bytes; // of the record that kernels read at that address; 0: it is no address
    void *part;       // the device's own
} DevHandle;

// One side of a copy of texels: rows of bytes in planes. Where they are in a texture is said twice:
// as addresses, and in the texture's words for devices whose textures have none.
typedef struct DevSide {
    char *at;
    size_t row, plane;         // bytes between
    size_t step;               // between elements; only where elements are copied one by one
    const AbiTexture *texture; // NULL: linear memory
    bool twiddled; // linear memory: elements in Z order, those of a row are not together (PVRTC)
    uint32_t level, slice, sample, x, y, z;
} DevSide;

typedef struct DevMove {
    DevSide from, to;
    size_t row;           // bytes of a row
    size_t element, fill; // not 0: elements of so many bytes, and zeros behind each where written
    size_t n_elements;    // of a row
    size_t n_rows, n_planes;
} DevMove;
#endif

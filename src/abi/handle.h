// SPDX-License-Identifier: Apache-2.0
// handle.h: handles that are addresses of records. Above the address stands a generation: the
// handle of an object that is gone is not that of the next one at the same place. Who reads the
// record looks at the address alone; code that is checked (AbiLive) compares all of the handle.
#ifndef INGOT_ABI_HANDLE_H
#define INGOT_ABI_HANDLE_H
#include <stdint.h>

#define ABI_HANDLE_ADDRESS (((uint64_t)1 << 48) - 1)
enum { ABI_HANDLE_GENERATION = 48, ABI_HANDLE_GENERATIONS = 1 << 13 }; // the bits above are others'

// `number` counts the handles that were made.
static inline uint64_t abi_handle_of(const void *record, uint64_t number) {
    return (uint64_t)(uintptr_t)record | number % ABI_HANDLE_GENERATIONS << ABI_HANDLE_GENERATION;
}
static inline const void *abi_handle_record(uint64_t handle) {
    return (const void *)(uintptr_t)(handle & ABI_HANDLE_ADDRESS);
}
#endif

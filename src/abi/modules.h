// SPDX-License-Identifier: Apache-2.0
// modules.h: the code of a library. As a rule it is one LLVM module, its bitcode alone. A library
// that was linked from files which do not call each other, or whose kernels several processes made,
// keeps a module for each: a pipeline then opens what its function is in, and not what stands in
// all the others.
#ifndef INGOT_ABI_MODULES_H
#define INGOT_ABI_MODULES_H
#include "base/wire.h"

typedef struct AbiModule {
    const unsigned char *bitcode;
    size_t n_bytes;
} AbiModule;

// of: the module of each function in the library's reflection. w.failed: no memory.
void abi_modules_encode(const AbiModule *modules, uint32_t n, const uint32_t *of,
                        uint32_t n_functions, WireOut *w);
// How many there are; 0: the code is damaged.
uint32_t abi_modules_count(const void *code, size_t n_bytes);
// Borrowed from the code; empty if there is no such one.
AbiModule abi_module_at(const void *code, size_t n_bytes, uint32_t number);
// The number of the module of a function; UINT32_MAX: the code is damaged.
uint32_t abi_module_of(const void *code, size_t n_bytes, uint32_t function);
#endif

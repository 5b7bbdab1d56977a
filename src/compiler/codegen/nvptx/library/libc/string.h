// SPDX-License-Identifier: Apache-2.0
// string.h for the GPU's device code.
#ifndef INGOT_NVPTX_STRING_H
#define INGOT_NVPTX_STRING_H
#include <stddef.h>
#define memcpy __builtin_memcpy
#define memset __builtin_memset
int memcmp(const void *, const void *, size_t); // declared only: nothing here calls it
#endif

// SPDX-License-Identifier: Apache-2.0
// Block.h: copying blocks to the heap.
#ifndef INGOT_MAC_BLOCK_H
#define INGOT_MAC_BLOCK_H
#include <objc/objc-api.h>
OBJC_EXPORT void *_Block_copy(const void *block);
OBJC_EXPORT void _Block_release(const void *block);
OBJC_EXPORT void _Block_object_assign(void *to, const void *from, const int kind);
OBJC_EXPORT void _Block_object_dispose(const void *object, const int kind);
OBJC_EXPORT const char *_Block_signature(void *block); // types, or NULL
OBJC_EXPORT void *_NSConcreteStackBlock[32];
OBJC_EXPORT void *_NSConcreteGlobalBlock[32];
#define Block_copy(...) ((__typeof(__VA_ARGS__))_Block_copy((const void *)(__VA_ARGS__)))
#define Block_release(...) _Block_release((const void *)(__VA_ARGS__))
#endif

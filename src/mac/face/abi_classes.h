// SPDX-License-Identifier: Apache-2.0
// abi_classes.h: a class in C as clang would write it (mac/objc/abi.h), for face_classes.c.
#ifndef INGOT_FACE_ABI_CLASSES_H
#define INGOT_FACE_ABI_CLASSES_H
#include <string.h>
#include "ingot/classes.h"
#include "mac/objc/abi.h"

typedef struct FaceClass {
    void *isa, *superclass, *cache, *table;
    const void *abi;
} FaceClass;
extern char _objc_empty_cache[];
extern FaceClass face_class_NSObject __asm__("OBJC_CLASS_$_NSObject");
extern FaceClass face_meta_NSObject __asm__("OBJC_METACLASS_$_NSObject");
extern FaceClass face_class_CALayer __asm__("OBJC_CLASS_$_CALayer");
extern FaceClass face_meta_CALayer __asm__("OBJC_METACLASS_$_CALayer");

#define FACE_CLASS(id_, text, parent, n_bytes, list, class_list, protocol_list)                    \
    static AbiClass abi_meta_##id_ = {.flags = 1,                                                  \
                                      .instance_start = sizeof(FaceClass),                         \
                                      .instance_bytes = sizeof(FaceClass),                         \
                                      .name = text,                                                \
                                      .methods = class_list};                                      \
    static AbiClass abi_##id_ = {.instance_start = 8,                                              \
                                 .instance_bytes = n_bytes,                                        \
                                 .name = text,                                                     \
                                 .methods = list,                                                  \
                                 .protocols = protocol_list};                                      \
    extern FaceClass face_class_##id_ __asm__("OBJC_CLASS_$_" text)                                \
        __attribute__((visibility("default")));                                                    \
    extern FaceClass face_meta_##id_ __asm__("OBJC_METACLASS_$_" text)                             \
        __attribute__((visibility("default")));                                                    \
    FaceClass face_meta_##id_ = {&face_meta_NSObject, &face_meta_##parent, _objc_empty_cache,      \
                                 NULL, &abi_meta_##id_};                                           \
    FaceClass face_class_##id_ = {&face_meta_##id_, &face_class_##parent, _objc_empty_cache, NULL, \
                                  &abi_##id_};                                                     \
    __attribute__((section("objc_classlist"), used)) static void *listed_class_##id_ =             \
        &face_class_##id_;
#endif

// SPDX-License-Identifier: Apache-2.0
// abi.h: what clang writes into an object file for -fobjc-runtime=macosx-10.15, as C structures.
#ifndef INGOT_OBJC_ABI_H
#define INGOT_OBJC_ABI_H
#include <objc/runtime.h>

// @encode(BOOL), for encodings that are written by hand.
#if defined(__x86_64__)
#define ABI_BOOL "c"
#else
#define ABI_BOOL "B"
#endif

typedef struct AbiMethod {
    const char *name;
    const char *types;
    IMP imp;
} AbiMethod;
typedef struct AbiMethods {
    uint32_t item_bytes, count;
    AbiMethod items[];
} AbiMethods;

typedef struct AbiIvar {
    int32_t *offset; // 64 bits wide on x86-64, of which the upper half is 0
    const char *name, *types;
    uint32_t log2_alignment, n_bytes;
} AbiIvar;
typedef struct AbiIvars {
    uint32_t item_bytes, count;
    AbiIvar items[];
} AbiIvars;

struct objc_property {
    const char *name, *attributes;
};
typedef struct AbiProperties {
    uint32_t item_bytes, count;
    struct objc_property items[];
} AbiProperties;

typedef struct AbiProtocol AbiProtocol;
typedef struct AbiProtocols {
    uintptr_t count;
    AbiProtocol *items[];
} AbiProtocols;
struct AbiProtocol {
    Class isa;
    const char *name;
    AbiProtocols *protocols;
    AbiMethods *methods[4]; // see METHODS_* below
    AbiProperties *properties;
    uint32_t n_bytes, flags;
    const char **types; // of all methods in their order, with the classes of arguments
    const char *demangled_name;
    AbiProperties *class_properties;
};
enum {
    METHODS_INSTANCE = 0,
    METHODS_CLASS = 1,
    METHODS_OPTIONAL = 2
}; // an index is a sum of these

typedef struct AbiClass {
    uint32_t flags, instance_start, instance_bytes, reserved;
    const uint8_t *strong_layout;
    const char *name;
    AbiMethods *methods;
    AbiProtocols *protocols;
    AbiIvars *ivars;
    const uint8_t *weak_layout;
    AbiProperties *properties;
} AbiClass;

typedef struct AbiCategory {
    const char *name;
    Class cls;
    AbiMethods *methods, *class_methods;
    AbiProtocols *protocols;
    AbiProperties *properties, *class_properties;
    uint32_t n_bytes;
} AbiCategory;

// The type that a handler names: a C++ type_info whose functions never match, and the class.
typedef struct AbiCatchType {
    const void *vtable;
    const char *name;
    Class cls; // NULL: any object
} AbiCatchType;
#endif

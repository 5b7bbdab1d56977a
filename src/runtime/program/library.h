// SPDX-License-Identifier: Apache-2.0
// library.h: MTLLibrary, MTLFunction and the values of function constants.
#ifndef INGOT_RUNTIME_LIBRARY_H
#define INGOT_RUNTIME_LIBRARY_H
#include "abi/metallib.h"
#include "abi/requests.h"
#include "runtime/object/error.h"
#include "runtime/object/object.h"
#include "runtime/program/compiler_client.h"

typedef struct RtTypeNodes RtTypeNodes; // reflection.c

struct MTLFunctionConstant { // a part of its library
    RtObject object;
    MTLLibrary *library;
    const RfConstant *constant;
};

struct MTLLibrary {
    RtObject object;
    MTLDevice *device; // retained
    Metallib *lib;
    RtLabel label;
    size_t max_threads;             // of the compile options, 0: not given
    char *path;                     // of the file it was opened from; NULL: none
    MTLDynamicLibrary **links;      // [lib->n_links] what it was linked against, retained; NULL: to
                                    // be found by install name (dynamic_library.c)
    MTLFunctionConstant *constants; // one per RfConstant
    pthread_mutex_t lock;
    RtTypeNodes *types;      // under lock; made at first need
    struct Network *network; // the library of a network's package (src/runtime/network); else NULL
};

// One value, large enough for every scalar and vector type.
typedef struct RtConstantValue {
    char *name; // NULL: by index
    uint32_t index, data_type;
    size_t n_bytes;
    unsigned char data[32];
} RtConstantValue;

struct MTLFunctionConstantValues {
    RtObject object;
    RtConstantValue *values;
    size_t n, capacity;
};

struct MTLFunction {
    RtObject object;
    MTLLibrary *library; // retained
    const RfFunction *function;
    RfFunction *placed; // function, where its constants give indices; own, or NULL
    RtLabel label;
    MTLFunctionConstantValues *values; // own copy, or NULL
    char *special_name;                // MTLFunctionDescriptor.specialized_name, or NULL
    MTLFunctionOptions options;
    struct MTLFunctionHandle *handle; // of one that is independent of pipelines; NULL: it is not
};

extern RtClass rt_library_class, rt_function_class;

// Takes `lib` over, also when it fails (NULL).
MTLLibrary *rt_library_new(MTLDevice *device, Metallib *lib);
// The same of what the compiler gave: NULL with its answer as the error if that is nothing.
MTLLibrary *rt_library_compiled(MTLDevice *device, Metallib *lib, const RtCompileError *answer,
                                MTLError **error);

// Bytes of a scalar or vector as a value (float3: 12) and as an array element (float3: 16); 0 if
// the type is neither.
size_t rt_data_type_bytes(uint32_t data_type);
size_t rt_data_type_stride(uint32_t data_type);
MTLFunctionConstantValues *rt_constant_values_copy(const MTLFunctionConstantValues *values);
// The value of a constant, or NULL. The last one set wins; a name beats an index.
const RtConstantValue *rt_constant_value_find(const MTLFunctionConstantValues *values,
                                              const RfConstant *constant);
// The MTLError for a compiler's answer; NULL: no memory.
MTLError *rt_error_from_compiler(const char *domain, long code, const RtCompileError *answer,
                                 const char *what);
// debug_source.c: the file that shows this source, as a path of the caller's (free). NULL: there is
// no place for it.
char *rt_debug_source(const char *name, const char *text, size_t n_bytes);
// The library of a package: mtl_device_new_library_with_url for folders.
MTLLibrary *rt_network_library(MTLDevice *device, const char *folder, const char *call,
                               MTLError **error);
#endif

// SPDX-License-Identifier: Apache-2.0
// link.h: what a pipeline takes from other libraries (link.c), tables of its functions
// (link_table.c), and dynamic libraries (dynamic_library.c).
#ifndef INGOT_RUNTIME_LINK_H
#define INGOT_RUNTIME_LINK_H
#include "abi/function_table.h"
#include "runtime/memory/spans.h"
#include "runtime/memory/resource.h"
#include "runtime/program/library.h"
#include "runtime/program/pipeline.h"

struct MTLDynamicLibrary {
    RtObject object;
    MTLDevice *device;   // retained
    MTLLibrary *library; // retained; of type dynamic
    RtLabel label;
};
extern RtClass rt_dynamic_library_class;

struct MTLFunctionHandle { // a part of its pipeline
    RtObject object;
    MTLComputePipelineState *state;
    MTLFunction *function;
    uint32_t id; // in tables
};

struct MTLVisibleFunctionTable {
    MTLResource resource;
    MTLComputePipelineState *state; // retained
    AbiFunctionTable *table;
    RtSpan span; // kernels that are checked may read it through an argument buffer
};
extern RtClass rt_function_table_class;

// The linked functions and dynamic libraries of one pipeline.
struct RtLinkage {
    RtLinks links;           // for the compiler
    MTLFunction **functions; // retained, as many as links.functions, in their order
    MTLFunctionHandle *handles;
    size_t n_handles;            // of functions that tables may hold
    MTLDynamicLibrary **dynamic; // retained: they keep libraries alive
    size_t n_dynamic, dynamic_capacity, libraries_capacity, numbers_capacity;
    // Of the descriptor, for pipelines with further functions.
    bool extensible;
};

// Fills state->linkage from the descriptor (NULL there if nothing is linked). Returns the error, or
// NULL; *no_memory tells apart.
MTLError *rt_linkage_make(MTLComputePipelineState *state, const MTLComputePipelineDescriptor *d,
                          bool *no_memory);
void rt_linkage_free(RtLinkage *linkage);

// The constants a function can reach, with their values, in the compiler's form (rt_free); adds to
// *n. NULL: no memory.
MslConstantValue *rt_function_constants(const MTLFunction *function, size_t *n);

// What the compiler needs from the descriptor's parts beyond its function: a deep copy of pointers
// for pipelines made in the background. False: no memory. rt_links_disown undoes.
bool rt_links_own(MTLComputePipelineDescriptor *d);
void rt_links_disown(MTLComputePipelineDescriptor *d);

// The dynamic library that `library` was linked against as number i, opened if need be; borrowed
// (the library keeps it). NULL and an error.
MTLDynamicLibrary *rt_library_link(MTLLibrary *library, uint32_t i,
                                   const MTLComputePipelineDescriptor *d, MTLError **error);
#endif

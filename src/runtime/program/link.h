// SPDX-License-Identifier: Apache-2.0
// link.h: what a pipeline takes from other libraries (link.c), tables of its functions
// (link_table.c, link_intersection.c), and dynamic libraries (dynamic_library.c).
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

struct MTLFunctionHandle { // a part of its pipeline, or of its function
    RtObject object;
    struct RtLinkage *linkage; // NULL: of no pipeline
    MTLFunction *function;
    uint32_t id; // in tables
};

struct MTLVisibleFunctionTable {
    MTLResource resource;
    const RtStage *stage;     // of the function that calls; its pipeline is retained
    AbiFunctionTable *table;  // where kernels read it; an untrusted device's may write there too
    size_t count, buffers_at; // as it says in the table
    RtSpan span;              // kernels that are checked may read it through an argument buffer
};
extern RtClass rt_function_table_class;

// What is bound to one lies behind the entries, addresses in the table's own memory.
struct MTLIntersectionFunctionTable {
    MTLVisibleFunctionTable base;
    MTLResource *bound[ABI_TABLE_BUFFERS]; // retained: buffers, visible function tables
    uint32_t signature; // of the first entry, and so of all; 1 more than its tags, 0: none yet
};
extern RtClass rt_intersection_table_class;
// Whether a function with these tags may stand in the table; if not, that is misuse.
bool rt_intersection_table_takes(MTLIntersectionFunctionTable *table, unsigned tags,
                                 const char *name, const char *call);

// What a descriptor says of one of its functions. {0}: nothing.
typedef struct RtLinkWish {
    const MTLLinkedFunctions *functions; // NULL: none
    MTLDynamicLibrary *const *preloaded;
    size_t n_preloaded, call_depth;
    bool extensible;
} RtLinkWish;

// The linked functions and dynamic libraries of one function of a pipeline.
struct RtLinkage {
    const RtStage *stage; // whose it is
    // For the compiler, as in MslKernelRequest.
    Metallib **libraries; // the stage's own, then as MslLinkedFunction.library counts them
    size_t n_libraries;
    MslLinkedFunction *linked;
    size_t n_linked;
    uint32_t *dynamic_numbers; // n_dynamic
    uint32_t call_depth;
    MTLFunction **functions; // retained, as many as linked, in their order
    MTLFunctionHandle *handles;
    size_t n_handles;            // of functions that tables may hold
    MTLDynamicLibrary **dynamic; // retained: they keep libraries alive
    size_t n_dynamic, dynamic_capacity, libraries_capacity, numbers_capacity;
    // Of the descriptor, for pipelines with further functions.
    bool extensible;
};

// The stage's linkage as the wish makes it, NULL if nothing is linked. Returns the error, or NULL;
// *no_memory tells apart.
MTLError *rt_linkage_make(RtStage *stage, const RtLinkWish *wish, bool *no_memory);
void rt_linkage_free(RtLinkage *linkage);

// Gives a function that is independent of pipelines its handle. False: no memory.
bool rt_function_add_handle(MTLFunction *function);
// The handle of a function, by itself or by name; NULL: tables cannot hold it.
MTLFunctionHandle *rt_linkage_handle(RtLinkage *linkage, const MTLFunction *function);
MTLFunctionHandle *rt_linkage_handle_by_name(RtLinkage *linkage, const char *name);
// An empty table of the stage's functions.
MTLVisibleFunctionTable *rt_function_table_new(const RtStage *stage,
                                               const MTLVisibleFunctionTableDescriptor *descriptor,
                                               const char *call);

// Room for more behind the entries: gives an object of `class`, of n_object bytes. NULL as above.
MTLVisibleFunctionTable *rt_function_table_make(const RtStage *stage, const char *call,
                                                RtClass *class, size_t n_object,
                                                size_t function_count, size_t n_more);
void rt_function_table_clear(MTLVisibleFunctionTable *table); // what both kinds hold
MTLIntersectionFunctionTable *rt_intersection_table_new(
    const RtStage *stage, const MTLIntersectionFunctionTableDescriptor *descriptor,
    const char *call);
// The bodies of set_function(s).
bool rt_function_table_set(MTLVisibleFunctionTable *table, MTLFunctionHandle *handle, size_t index,
                           const char *call);
void rt_function_table_set_range(MTLVisibleFunctionTable *table,
                                 MTLFunctionHandle *const *functions, MTLRange range,
                                 const char *call);
// Is the range, or one index, inside? Says so if not.
bool rt_function_table_has(const MTLVisibleFunctionTable *table, MTLRange range, const char *call);

// A wish for what is linked already, in that order, so that numbers stay, and for further binary
// functions. False: no memory. The list in `links` is to be freed (rt_free).
typedef struct RtMoreLinks {
    RtLinkWish wish;
    MTLLinkedFunctions functions;
    MTLFunction **list;
} RtMoreLinks;
bool rt_linkage_more(const RtLinkage *linkage, MTLFunction *const *added, size_t n_added,
                     RtMoreLinks *links);

// The constants a function can reach, with their values, in the compiler's form (rt_free); adds to
// *n. NULL: no memory.
MslConstantValue *rt_function_constants(const MTLFunction *function, size_t *n);

// What a wish points to, retained, for pipelines made in the background. False: no memory.
// rt_link_disown undoes, also what failed.
bool rt_link_own(RtLinkWish *wish);
void rt_link_disown(RtLinkWish *wish);

// The dynamic library that `library` was linked against as number i, opened if need be; borrowed
// (the library keeps it). NULL and an error.
MTLDynamicLibrary *rt_library_link(MTLLibrary *library, uint32_t i, const RtLinkWish *wish,
                                   MTLError **error);
#endif

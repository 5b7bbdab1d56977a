// SPDX-License-Identifier: Apache-2.0
// reflection.h: objects for what reflect.h says about types and arguments.
#ifndef INGOT_RUNTIME_REFLECTION_H
#define INGOT_RUNTIME_REFLECTION_H
#include "runtime/program/library.h"

struct RtBoundTensor {
    MTLTensorExtents dimensions;
    MTLTensorDataType type;
};

struct MTLBinding {
    RtObject object;
    void *owner;         // the pipeline state, or, retained by this, the function
    MTLLibrary *library; // alive as long as the owner
    const RfArg *arg;
    // A buffer argument is a pointer to its element: reflect.h keeps the element only.
    struct MTLPointerView {
        RtObject object;
        struct MTLBinding *binding;
    } pointer;
    bool used;
    bool implicit;                      // no argument: a buffer of vertex attributes
    const struct RtBoundTensor *tensor; // of a network; NULL: the library's types say it
};

// Whether programs see the argument: what is not bound to an index is none of theirs, but for
// payloads and imageblocks.
static inline bool rt_arg_is_shown(const RfArg *arg) {
    return arg->kind != RF_ARG_BUILTIN && arg->kind != RF_ARG_STRIDE && arg->kind != RF_ARG_MESH &&
           arg->kind != RF_ARG_MESH_GRID;
}
// A binding that is a part of its owner.
void rt_binding_init(MTLBinding *binding, void *owner, MTLLibrary *library, const RfArg *arg,
                     bool used);
void rt_render_reflection_free(MTLRenderPipelineReflection *reflection);
void rt_type_nodes_free(RtTypeNodes *nodes); // NULL is a no-op in both
void rt_reflection_free(MTLComputePipelineReflection *reflection);
// A binding of a function that has no pipeline: an object of its own. NULL: no memory.
MTLBinding *rt_binding_new(MTLFunction *function, const RfArg *arg);
bool rt_is_binding(const void *object);
// What it stands for, and the library whose types it names; both borrowed.
const RfArg *rt_binding_arg(const MTLBinding *binding, MTLLibrary **library);
#endif

// SPDX-License-Identifier: Apache-2.0
// reflection.h: objects for what reflect.h says about types and arguments.
#ifndef INGOT_RUNTIME_REFLECTION_H
#define INGOT_RUNTIME_REFLECTION_H
#include "runtime/program/library.h"

void rt_type_nodes_free(RtTypeNodes *nodes); // NULL is a no-op in both
void rt_reflection_free(MTLComputePipelineReflection *reflection);
// A binding of a function that has no pipeline: an object of its own. NULL: no memory.
MTLBinding *rt_binding_new(MTLFunction *function, const RfArg *arg);
bool rt_is_binding(const void *object);
// What it stands for, and the library whose types it names; both borrowed.
const RfArg *rt_binding_arg(const MTLBinding *binding, MTLLibrary **library);
#endif

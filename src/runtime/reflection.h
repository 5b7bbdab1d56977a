// SPDX-License-Identifier: Apache-2.0
// reflection.h: objects for what reflect.h says about types and arguments.
#ifndef INGOT_RUNTIME_REFLECTION_H
#define INGOT_RUNTIME_REFLECTION_H
#include "runtime/library.h"

void rt_type_nodes_free(RtTypeNodes *nodes); // NULL is a no-op in both
void rt_reflection_free(MTLComputePipelineReflection *reflection);
#endif

// SPDX-License-Identifier: Apache-2.0
// module.h: what the files about modules share (module.c, layers.c, module_state.c).
#ifndef INGOT_TENSOR_MODULE_H
#define INGOT_TENSOR_MODULE_H
#include "ingot/tensor_nn.h"
#include "tensor/tensor_int.h"

typedef enum IgPart { IG_PARAMETER, IG_BUFFER, IG_CHILD } IgPart;
typedef struct IgModulePart {
    IgPart part;
    char *name;
    IgTensor *tensor; // of parameters and buffers
    IgModule *module; // of children
} IgModulePart;

struct IgModule {
    atomic_uint refs;
    char *kind;
    IgModuleForward *forward;
    void *context;
    void (*release)(void *context);
    atomic_bool training;
    IgModulePart *parts;
    int n_parts;
};

enum { IG_MODULE_DEPTH = 64, IG_MODULE_NAME = 128 }; // modules inside each other, bytes

// Called for every parameter and buffer: those of the module, then of its children. False stops.
typedef bool IgModuleVisit(void *context, const char *name, IgModulePart *part);
bool ig_module_walk(const IgModule *module, IgModuleVisit *visit, void *context);
// The module's own, by name; NULL: it has none.
IgTensor *ig_module_own(const IgModule *module, const char *name);
#endif

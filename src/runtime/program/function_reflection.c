// SPDX-License-Identifier: Apache-2.0
// function_reflection.c: MTLFunctionReflection: what a function of a library takes, before there is
// a pipeline of it.
#include "runtime/object/validation.h"
#include "runtime/program/library.h"
#include "runtime/program/reflection.h"

struct MTLFunctionReflection {
    RtObject object;
    MTLLibrary *library; // retained
    size_t n;
    MTLBinding bindings[];
};

static void destroy(void *self) {
    MTLFunctionReflection *r = self;
    mtl_release(r->library);
    rt_free(r);
}

static RT_CLASS reflection_class = {.name = "MTLFunctionReflection", .destroy = destroy};

MTLFunctionReflection *mtl_library_new_function_reflection(MTLLibrary *library,
                                                           const char *function_name) {
    if (!rt_given(library ? library->device : NULL, function_name, "function_name", __func__))
        return NULL;
    const RfFunction *f = rf_find_function(library->lib->reflection, function_name);
    MTLFunctionReflection *r =
        f ? rt_new(&reflection_class, sizeof *r + f->n_args * sizeof r->bindings[0]) : NULL;
    if (!r) return NULL;
    r->library = mtl_retain(library);
    for (uint32_t i = 0; i < f->n_args; i++)
        if (rt_arg_is_shown(&f->args[i]))
            rt_binding_init(&r->bindings[r->n++], r, library, &f->args[i], true);
    return r;
}

MTLBinding *mtl_function_reflection_binding(const MTLFunctionReflection *reflection, size_t i) {
    return reflection && i < reflection->n ? (MTLBinding *)(uintptr_t)&reflection->bindings[i]
                                           : NULL;
}

#include "accessors/program/function_reflection.inc" // plain accessors, from the table

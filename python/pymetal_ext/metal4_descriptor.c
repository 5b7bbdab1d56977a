// SPDX-License-Identifier: Apache-2.0
// metal4_descriptor.c: the descriptors that Metal 4's compiler takes, as C has them: structs that
// point to structs, in a pool that keeps Python's values alive while the compiler reads them
// without the GIL.
#include <stdlib.h>
#include "metal4.h"

struct PoolBlock {
    struct PoolBlock *next;
    max_align_t bytes[];
};

void *pool_alloc(Pool *pool, size_t n, size_t bytes) {
    struct PoolBlock *block = calloc(1, sizeof *block + (n ? n : 1) * bytes);
    if (!block) return PyErr_NoMemory();
    block->next = pool->blocks;
    pool->blocks = block;
    return block->bytes;
}

bool pool_keep(Pool *pool, PyObject *value) {
    if (!value) return false;
    if (!pool->kept && !(pool->kept = PyList_New(0))) return false;
    return PyList_Append(pool->kept, value) == 0;
}

bool pool_keep_fields(Pool *pool, const Object *o) {
    PyObject *values = field_values(o);
    bool good = pool_keep(pool, values);
    Py_XDECREF(values);
    return good;
}

void pool_free(Pool *pool) {
    for (struct PoolBlock *block = pool->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    Py_XDECREF(pool->kept);
}

bool pool_natives(Pool *pool, const Object *o, const char *field, ClassId id, void ***array,
                  size_t *count) {
    void **natives;
    *array = NULL;
    if (!list_natives(o->state, field_py(o, field), id, field, &natives, count)) return false;
    if (*count && !(*array = pool_alloc(pool, *count, sizeof *natives))) *count = 0;
    if (*count) memcpy(*array, natives, *count * sizeof *natives);
    free(natives);
    return !PyErr_Occurred() && pool_keep(pool, field_py(o, field));
}

// ---- Functions ----

const MTL4FunctionDescriptor *function_descriptor(Pool *pool, const Object *o) {
    if (!o || (const PyObject *)o == Py_None) return NULL;
    if (!pool_keep_fields(pool, o)) return NULL;
    if (o->cls == &class_MTL4SpecializedFunctionDescriptor) {
        MTL4SpecializedFunctionDescriptor *d = pool_alloc(pool, 1, sizeof *d);
        if (!d) return NULL;
        d->base.kind = MTL4FunctionDescriptorKindSpecialized;
        d->function_descriptor = function_descriptor(pool, field_o(o, "function_descriptor"));
        d->specialized_name = field_s(o, "specialized_name");
        d->constant_values = field_p(o, "constant_values");
        return PyErr_Occurred() ? NULL : &d->base;
    }
    MTL4LibraryFunctionDescriptor *d = pool_alloc(pool, 1, sizeof *d);
    if (!d) return NULL;
    d->name = field_s(o, "name");
    d->library = field_p(o, "library");
    return &d->base;
}

// ---- Linking ----

static const MTL4FunctionDescriptor *const *functions_of(Pool *pool, const Object *o,
                                                         const char *field, size_t *n) {
    PyObject *list = field_py(o, field);
    *n = list == Py_None ? 0 : (size_t)PyTuple_Size(list);
    const MTL4FunctionDescriptor **all = pool_alloc(pool, *n, sizeof *all);
    for (size_t i = 0; all && i < *n; i++) {
        all[i] = function_descriptor(pool, (Object *)PyTuple_GetItem(list, (Py_ssize_t)i));
        if (!all[i]) return NULL;
    }
    return all;
}

const MTL4StaticLinkingDescriptor *static_linking(Pool *pool, const Object *o) {
    if (!o) return NULL;
    MTL4StaticLinkingDescriptor *d = pool_alloc(pool, 1, sizeof *d);
    if (!d || !pool_keep_fields(pool, o)) return NULL;
    d->function_descriptors =
        functions_of(pool, o, "function_descriptors", &d->function_descriptor_count);
    d->private_function_descriptors = functions_of(pool, o, "private_function_descriptors",
                                                   &d->private_function_descriptor_count);
    return PyErr_Occurred() ? NULL : d;
}

bool stage_linking(Pool *pool, const Object *o, MTL4PipelineStageDynamicLinkingDescriptor *d) {
    *d = (MTL4PipelineStageDynamicLinkingDescriptor){0};
    if (!o) return true;
    d->max_call_stack_depth = field_u(o, "max_call_stack_depth");
    void **functions;
    if (!pool_natives(pool, o, "binary_linked_functions", C_MTL4BinaryFunction, &functions,
                      &d->binary_linked_function_count))
        return false;
    d->binary_linked_functions = (MTL4BinaryFunction *const *)functions;
    return true;
}

// ---- Options ----

bool task_options(Pool *pool, const Object *o, MTL4CompilerTaskOptions *options) {
    void **archives;
    *options = (MTL4CompilerTaskOptions){0};
    if (!o) return true;
    if (!pool_natives(pool, o, "lookup_archives", C_MTL4Archive, &archives,
                      &options->lookup_archive_count))
        return false;
    options->lookup_archives = (MTL4Archive *const *)archives;
    return true;
}

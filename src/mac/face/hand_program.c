// SPDX-License-Identifier: Apache-2.0
// hand_program.c: what functions and their reflection answer with dictionaries and objects of
// values, and the layer, which is here a class of libingot's.
#include <string.h>
#include "face_objects.h"

// ---- Functions ----

id face_MTLFunction_functionConstantsDictionary(id self, SEL _cmd) {
    (void)_cmd;
    FaceArena arena = {0};
    size_t n = mtl_function_function_constant_count((void *)self);
    id *keys = face_alloc(&arena, (n + 1) * sizeof *keys),
       *values = face_alloc(&arena, (n + 1) * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        MTLFunctionConstant *constant = mtl_function_function_constant((void *)self, i);
        values[i] = (id)constant;
        keys[i] = face_string(mtl_function_constant_name(constant));
    }
    id dictionary = face_dictionary(keys, values, n);
    face_arena_free(&arena);
    return dictionary;
}

// MTLVertexAttribute and MTLAttribute have the same properties under two names.
#define ATTRIBUTES(method, cls)                                                                    \
    id face_MTLFunction_##method(id self, SEL _cmd) {                                              \
        (void)_cmd;                                                                                \
        FaceArena arena = {0};                                                                     \
        size_t n = 0, most = mtl_function_vertex_attribute_count((void *)self);                    \
        id *items = face_alloc(&arena, (most + 1) * sizeof *items);                                \
        MTLVertexAttribute a;                                                                      \
        while (n < most && mtl_function_vertex_attribute((void *)self, n, &a)) {                   \
            O_##cls *o = (O_##cls *)(items[n++] = objc_autorelease(face_make_object(#cls)));       \
            face_store(&o->name, face_string(a.name), false);                                      \
            o->attributeIndex = a.attribute_index, o->attributeType = a.attribute_type;            \
            o->active = a.active, o->patchData = a.patch_data;                                     \
            o->patchControlPointData = a.patch_control_point_data;                                 \
        }                                                                                          \
        id array = n ? face_array(items, n) : NULL;                                                \
        face_arena_free(&arena);                                                                   \
        return array;                                                                              \
    }
ATTRIBUTES(vertexAttributes, MTLVertexAttribute)
ATTRIBUTES(stageInputAttributes, MTLAttribute)

// ---- Types ----

unsigned long face_MTLType_dataType(id self, SEL _cmd) {
    static const struct {
        const char *name;
        MTLDataType type;
    } kinds[] = {{"MTLStructType", MTLDataTypeStruct},
                 {"MTLArrayType", MTLDataTypeArray},
                 {"MTLPointerType", MTLDataTypePointer},
                 {"MTLTextureReferenceType", MTLDataTypeTexture},
                 {"MTLTensorReferenceType", MTLDataTypeTensor}};
    (void)_cmd;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(mtl_class_name((void *)self), kinds[i].name) == 0) return kinds[i].type;
    return MTLDataTypeNone;
}

// ---- What shader validation found ----

id face_MTLFunctionLog_debugLocation(id self, SEL _cmd) {
    MTLFunctionLogDebugLocation at;
    (void)_cmd;
    if (!mtl_function_log_debug_location((void *)self, &at)) return NULL;
    O_MTLFunctionLogDebugLocation *o =
        (O_MTLFunctionLogDebugLocation *)face_make_object("_MTLFunctionLogDebugLocation");
    face_store(&o->functionName, face_string(at.function_name), false);
    face_store(&o->URL, face_url(at.url), false);
    o->line = at.line, o->column = at.column;
    return objc_autorelease((id)o);
}

// ---- An older name of preloadedLibraries ----

id face_MTLComputePipelineDescriptor_insertLibraries(id self, SEL _cmd) {
    (void)_cmd;
    return face_lend(((const O_MTLComputePipelineDescriptor *)self)->preloadedLibraries);
}

void face_MTLComputePipelineDescriptor_setInsertLibraries_(id self, SEL _cmd, id value) {
    (void)_cmd;
    face_store(&((O_MTLComputePipelineDescriptor *)self)->preloadedLibraries, value, true);
}

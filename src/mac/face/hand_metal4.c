// SPDX-License-Identifier: Apache-2.0
// hand_metal4.c: Metal 4's descriptors of several kinds behind one class, its networks, its
// counters.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "face_objects.h"

// ---- Function descriptors: the object's class says which struct it is ----

MTL4FunctionDescriptor *face_fill_MTL4FunctionDescriptor(MTL4FunctionDescriptor *to, id from,
                                                         FaceArena *arena) {
    (void)to; // too small for any kind
    if (!from) return NULL;
    const char *name = object_getClassName(from);
    if (strcmp(name, "MTL4SpecializedFunctionDescriptor") == 0) {
        MTL4SpecializedFunctionDescriptor *d = face_alloc(arena, sizeof *d);
        return &face_fill_MTL4SpecializedFunctionDescriptor(d, from, arena)->base;
    }
    if (strcmp(name, "MTL4StitchedFunctionDescriptor") == 0) {
        MTL4StitchedFunctionDescriptor *d = face_alloc(arena, sizeof *d);
        return &face_fill_MTL4StitchedFunctionDescriptor(d, from, arena)->base;
    }
    MTL4LibraryFunctionDescriptor *d = face_alloc(arena, sizeof *d);
    return &face_fill_MTL4LibraryFunctionDescriptor(d, from, arena)->base;
}

static const MTL4FunctionDescriptor *const *descriptors(id array, FaceArena *arena) {
    size_t n = face_count(array);
    id *items = face_items(arena, array);
    const MTL4FunctionDescriptor **out = face_alloc(arena, (n + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = face_fill_MTL4FunctionDescriptor(NULL, items[i], arena);
    return out;
}

void face_after_MTL4LibraryFunctionDescriptor(const O_MTL4LibraryFunctionDescriptor *from,
                                              MTL4LibraryFunctionDescriptor *to, FaceArena *arena) {
    (void)from, (void)arena;
    to->base.kind = MTL4FunctionDescriptorKindLibrary;
}

void face_after_MTL4SpecializedFunctionDescriptor(const O_MTL4SpecializedFunctionDescriptor *from,
                                                  MTL4SpecializedFunctionDescriptor *to,
                                                  FaceArena *arena) {
    (void)from, (void)arena;
    to->base.kind = MTL4FunctionDescriptorKindSpecialized;
}

void face_after_MTL4StitchedFunctionDescriptor(const O_MTL4StitchedFunctionDescriptor *from,
                                               MTL4StitchedFunctionDescriptor *to,
                                               FaceArena *arena) {
    to->base.kind = MTL4FunctionDescriptorKindStitched;
    to->function_descriptors = descriptors(from->functionDescriptors, arena);
    to->function_descriptor_count = face_count(from->functionDescriptors);
}

void face_after_MTL4StaticLinkingDescriptor(const O_MTL4StaticLinkingDescriptor *from,
                                            MTL4StaticLinkingDescriptor *to, FaceArena *arena) {
    to->function_descriptors = descriptors(from->functionDescriptors, arena);
    to->function_descriptor_count = face_count(from->functionDescriptors);
    to->private_function_descriptors = descriptors(from->privateFunctionDescriptors, arena);
    to->private_function_descriptor_count = face_count(from->privateFunctionDescriptors);
    size_t n;
    FacePair *pairs = face_pairs(arena, from->groups, &n);
    MTL4LinkedFunctionGroup *groups = face_alloc(arena, (n + 1) * sizeof *groups);
    for (size_t i = 0; i < n; i++)
        groups[i] = (MTL4LinkedFunctionGroup){pairs[i].name, descriptors(pairs[i].value, arena),
                                              face_count(pairs[i].value)};
    to->groups = groups;
    to->group_count = n;
}

// ---- Queues ----

static void on_queue(void (*work)(void *item), void *item, void *queue) {
    face_dispatch(queue, work, item);
}

void face_after_MTL4CommandQueueDescriptor(const O_MTL4CommandQueueDescriptor *from,
                                           MTL4CommandQueueDescriptor *to, FaceArena *arena) {
    (void)arena;
    if (!from->feedbackQueue) return;
    to->feedback_queue = on_queue;
    to->feedback_queue_context = from->feedbackQueue; // which the command queue keeps, below
}

id face_MTLDevice_newMTL4CommandQueueWithDescriptor_error_(id self, SEL _cmd, id descriptor,
                                                           id *error) {
    (void)_cmd;
    FaceArena arena = {0};
    MTL4CommandQueueDescriptor filled;
    id queue = (id)mtl_device_new_mtl4_command_queue_with_descriptor(
        (void *)self, face_fill_MTL4CommandQueueDescriptor(&filled, descriptor, &arena),
        (MTLError **)face_error_begin(error));
    face_error_end(error);
    face_arena_free(&arena);
    if (queue && descriptor)
        objc_setAssociatedObject(queue, "feedback",
                                 ((O_MTL4CommandQueueDescriptor *)descriptor)->feedbackQueue,
                                 OBJC_ASSOCIATION_RETAIN);
    return queue;
}

// ---- Serializers, counters ----

id face_MTL4PipelineDataSetSerializer_serializeAsPipelinesScriptWithError_(id self, SEL _cmd,
                                                                           id *error) {
    size_t n = 0;
    (void)_cmd;
    void *bytes = mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(
        (void *)self, &n, (MTLError **)face_error_begin(error));
    face_error_end(error);
    id data = bytes ? face_data(bytes, n) : NULL;
    mtl_free_data(bytes);
    return data;
}

id face_MTL4CounterHeap_resolveCounterRange_(id self, SEL _cmd, MTLRange range) {
    (void)_cmd;
    if (range.length > mtl4_counter_heap_count((void *)self)) return NULL;
    FaceArena arena = {0};
    MTL4TimestampHeapEntry *entries = face_alloc(&arena, (range.length + 1) * sizeof *entries);
    bool done = mtl4_counter_heap_resolve_counter_range((void *)self, range, entries);
    id data = done ? face_data(entries, range.length * sizeof *entries) : NULL;
    face_arena_free(&arena);
    return data;
}

// ---- Networks ----

void face_MTL4MachineLearningPipelineDescriptor_setInputDimensions_atBufferIndex_(
    id self, SEL _cmd, id dimensions, long bufferIndex) {
    O_MTL4MachineLearningPipelineDescriptor *o = (O_MTL4MachineLearningPipelineDescriptor *)self;
    (void)_cmd;
    char key[24];
    snprintf(key, sizeof key, "%ld", bufferIndex);
    face_store(&o->inputs, face_dictionary_put(o->inputs, face_string(key), dimensions), false);
}

void face_MTL4MachineLearningPipelineDescriptor_setInputDimensions_withRange_(id self, SEL _cmd,
                                                                              id dimensions,
                                                                              MTLRange range) {
    FaceArena arena = {0};
    id *items = face_items(&arena, dimensions);
    for (size_t i = 0; i < range.length && i < face_count(dimensions); i++)
        face_MTL4MachineLearningPipelineDescriptor_setInputDimensions_atBufferIndex_(
            self, _cmd, items[i], (long)(range.location + i));
    face_arena_free(&arena);
}

id face_MTL4MachineLearningPipelineDescriptor_inputDimensionsAtBufferIndex_(id self, SEL _cmd,
                                                                            long bufferIndex) {
    (void)_cmd;
    char key[24];
    snprintf(key, sizeof key, "%ld", bufferIndex);
    return face_dictionary_get(((O_MTL4MachineLearningPipelineDescriptor *)self)->inputs,
                               face_string(key));
}

void face_after_MTL4MachineLearningPipelineDescriptor(
    const O_MTL4MachineLearningPipelineDescriptor *from, MTL4MachineLearningPipelineDescriptor *to,
    FaceArena *arena) {
    size_t n;
    FacePair *pairs = face_pairs(arena, from->inputs, &n);
    MTL4MachineLearningInputDimensions *inputs = face_alloc(arena, (n + 1) * sizeof *inputs);
    for (size_t i = 0; i < n; i++) {
        inputs[i].buffer_index = strtoul(pairs[i].name, NULL, 10);
        face_fill_MTLTensorExtents(&inputs[i].dimensions, pairs[i].value, arena);
    }
    to->input_dimensions = inputs;
    to->input_dimension_count = n;
}

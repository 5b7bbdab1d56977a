// SPDX-License-Identifier: Apache-2.0
// hand_values.c: descriptors whose properties are not one field each: options of resources,
// textures, render passes, vertex layouts, tensors.
#include <pthread.h>
#include <string.h>
#include "face_objects.h"

// ---- Options of resources: three properties in one number ----

static unsigned long options_of(unsigned long cache, unsigned long storage,
                                unsigned long tracking) {
    return cache | storage << 4 | tracking << 8;
}

#define RESOURCE_OPTIONS(cls)                                                                      \
    unsigned long face_##cls##_resourceOptions(id self, SEL _cmd) {                                \
        const O_##cls *o = (const O_##cls *)self;                                                  \
        (void)_cmd;                                                                                \
        return options_of(o->cpuCacheMode, o->storageMode, o->hazardTrackingMode);                 \
    }                                                                                              \
    void face_##cls##_setResourceOptions_(id self, SEL _cmd, unsigned long value) {                \
        O_##cls *o = (O_##cls *)self;                                                              \
        (void)_cmd;                                                                                \
        o->cpuCacheMode = value & 15;                                                              \
        o->storageMode = value >> 4 & 15;                                                          \
        o->hazardTrackingMode = value >> 8 & 3;                                                    \
    }
RESOURCE_OPTIONS(MTLHeapDescriptor)
RESOURCE_OPTIONS(MTLTextureDescriptor)
RESOURCE_OPTIONS(MTLTensorDescriptor)

// ---- Textures ----

static unsigned long levels_of(unsigned long width, unsigned long height) {
    unsigned long n = 1;
    for (unsigned long most = width > height ? width : height; most > 1; most >>= 1) n++;
    return n;
}

static id texture_descriptor(unsigned long type, unsigned long format, unsigned long width,
                             unsigned long height, bool mipmapped) {
    O_MTLTextureDescriptor *o = (O_MTLTextureDescriptor *)face_make_object("MTLTextureDescriptor");
    o->textureType = type, o->pixelFormat = format;
    o->width = width, o->height = height;
    o->mipmapLevelCount = mipmapped ? levels_of(width, height) : 1;
    return objc_autorelease((id)o);
}

id face_MTLTextureDescriptor_class_texture2DDescriptorWithPixelFormat_width_height_mipmapped_(
    id self, SEL _cmd, unsigned long pixelFormat, unsigned long width, unsigned long height,
    bool mipmapped) {
    (void)self, (void)_cmd;
    return texture_descriptor(MTLTextureType2D, pixelFormat, width, height, mipmapped);
}

id face_MTLTextureDescriptor_class_textureCubeDescriptorWithPixelFormat_size_mipmapped_(
    id self, SEL _cmd, unsigned long pixelFormat, unsigned long size, bool mipmapped) {
    (void)self, (void)_cmd;
    return texture_descriptor(MTLTextureTypeCube, pixelFormat, size, size, mipmapped);
}

id face_MTLTextureDescriptor_class_textureBufferDescriptorWithPixelFormat_width_resourceOptions_usage_(
    id self, SEL _cmd, unsigned long pixelFormat, unsigned long width,
    unsigned long resourceOptions, unsigned long usage) {
    (void)self, (void)_cmd;
    id descriptor = texture_descriptor(MTLTextureTypeTextureBuffer, pixelFormat, width, 1, false);
    face_MTLTextureDescriptor_setResourceOptions_(descriptor, _cmd, resourceOptions);
    ((O_MTLTextureDescriptor *)descriptor)->usage = usage;
    return descriptor;
}

void face_after_MTLTextureViewDescriptor(const O_MTLTextureViewDescriptor *from,
                                         MTLTextureViewDescriptor *to, FaceArena *arena) {
    (void)arena;
    to->texture_type_is_set = from->textureType != (unsigned long)-1;
    to->texture_type = to->texture_type_is_set ? (MTLTextureType)from->textureType : 0;
}

// ---- Compiling ----

unsigned long face_MTLCompileOptions_fastMathEnabled(id self, SEL _cmd) {
    (void)_cmd;
    return ((const O_MTLCompileOptions *)self)->mathMode == MTLMathModeFast;
}

void face_MTLCompileOptions_setFastMathEnabled_(id self, SEL _cmd, bool value) {
    (void)_cmd;
    ((O_MTLCompileOptions *)self)->mathMode = value ? MTLMathModeFast : MTLMathModeSafe;
}

void face_after_MTLCompileOptions(const O_MTLCompileOptions *from, MTLCompileOptions *to,
                                  FaceArena *arena) {
    size_t n;
    FacePair *pairs = face_pairs(arena, from->preprocessorMacros, &n);
    MTLPreprocessorMacro *macros = face_alloc(arena, (n + 1) * sizeof *macros);
    for (size_t i = 0; i < n; i++) macros[i] = (MTLPreprocessorMacro){pairs[i].name, pairs[i].text};
    to->preprocessor_macros = macros;
    to->preprocessor_macro_count = n;
}

// A Mac's object survives one release too many, and there are programs that do that: the last ones
// made have a reference more, which goes when others take their places, unless the program gave it
// away already.
enum { SPARES = 256 };
static pthread_mutex_t spares_lock = PTHREAD_MUTEX_INITIALIZER;
static id spares[SPARES]; // weak
static unsigned n_spares;

id face_MTLLinkedFunctions_class_linkedFunctions(id self, SEL _cmd) {
    (void)self, (void)_cmd;
    id made = objc_retain((id)face_make_object("MTLLinkedFunctions"));
    pthread_mutex_lock(&spares_lock);
    id *place = &spares[n_spares++ % SPARES];
    id old = objc_loadWeakRetained(place);
    objc_storeWeak(place, made);
    pthread_mutex_unlock(&spares_lock);
    if (old) objc_release(old), objc_release(old);
    return objc_autorelease(made);
}

void face_after_MTLLinkedFunctions(const O_MTLLinkedFunctions *from, MTLLinkedFunctions *to,
                                   FaceArena *arena) {
    size_t n;
    FacePair *pairs = face_pairs(arena, from->groups, &n);
    MTLLinkedFunctionGroup *groups = face_alloc(arena, (n + 1) * sizeof *groups);
    for (size_t i = 0; i < n; i++)
        groups[i] = (MTLLinkedFunctionGroup){
            pairs[i].name, (void *)face_items(arena, pairs[i].value), face_count(pairs[i].value)};
    to->groups = groups;
    to->group_count = n;
}

// ---- Stitching: nodes point to each other, and a node that two others use is one node ----

typedef struct Nodes {
    FaceArena *arena;
    id *objects; // that have a node
    MTLFunctionStitchingNode **made;
    size_t n, room;
} Nodes;

static MTLFunctionStitchingNode *node_of(Nodes *nodes, id object);

static const MTLFunctionStitchingNode *const *nodes_of(Nodes *nodes, id array) {
    size_t n = face_count(array);
    id *items = face_items(nodes->arena, array);
    const MTLFunctionStitchingNode **out = face_alloc(nodes->arena, (n + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = node_of(nodes, items[i]);
    return out;
}

static void remember(Nodes *nodes, id object, MTLFunctionStitchingNode *node) {
    if (nodes->n == nodes->room) {
        size_t room = nodes->room * 2 + 16;
        id *objects = face_alloc(nodes->arena, room * sizeof *objects);
        MTLFunctionStitchingNode **made = face_alloc(nodes->arena, room * sizeof *made);
        if (nodes->n) {
            memcpy(objects, nodes->objects, nodes->n * sizeof *objects);
            memcpy(made, nodes->made, nodes->n * sizeof *made);
        }
        nodes->objects = objects, nodes->made = made, nodes->room = room;
    }
    nodes->objects[nodes->n] = object, nodes->made[nodes->n++] = node;
}

static MTLFunctionStitchingNode *node_of(Nodes *nodes, id object) {
    if (!object) return NULL;
    for (size_t i = 0; i < nodes->n; i++)
        if (nodes->objects[i] == object) return nodes->made[i];
    MTLFunctionStitchingNode *node = face_alloc(nodes->arena, sizeof *node);
    remember(nodes, object, node);
    if (strcmp(object_getClassName(object), "MTLFunctionStitchingInputNode") == 0) {
        node->argument_index = ((O_MTLFunctionStitchingInputNode *)object)->argumentIndex;
        return node;
    }
    const O_MTLFunctionStitchingFunctionNode *o = (const void *)object;
    node->name = face_utf8(o->name);
    node->arguments = nodes_of(nodes, o->arguments);
    node->argument_count = face_count(o->arguments);
    node->control_dependencies = nodes_of(nodes, o->controlDependencies);
    node->control_dependency_count = face_count(o->controlDependencies);
    return node;
}

void face_after_MTLFunctionStitchingGraph(const O_MTLFunctionStitchingGraph *from,
                                          MTLFunctionStitchingGraph *to, FaceArena *arena) {
    Nodes nodes = {.arena = arena};
    to->nodes = nodes_of(&nodes, from->nodes);
    to->node_count = face_count(from->nodes);
    to->output_node = node_of(&nodes, from->outputNode);
    id *attributes = face_items(arena, from->attributes);
    for (size_t i = 0; i < face_count(from->attributes); i++)
        to->always_inline |= strcmp(object_getClassName(attributes[i]),
                                    "MTLFunctionStitchingAttributeAlwaysInline") == 0;
}

// ---- Render passes and pipelines ----

#define SAMPLE_POSITIONS(cls)                                                                      \
    void face_##cls##_setSamplePositions_count_(id self, SEL _cmd, void *positions,                \
                                                unsigned long count) {                             \
        (void)_cmd;                                                                                \
        id data =                                                                                  \
            positions && count ? face_data(positions, count * sizeof(MTLSamplePosition)) : NULL;   \
        face_store(&((O_##cls *)self)->samplePositions, data, false);                              \
    }                                                                                              \
    unsigned long face_##cls##_getSamplePositions_count_(id self, SEL _cmd, void *positions,       \
                                                         unsigned long count) {                    \
        id data = ((O_##cls *)self)->samplePositions;                                              \
        unsigned long n = face_length(data) / sizeof(MTLSamplePosition);                           \
        (void)_cmd;                                                                                \
        if (positions && n)                                                                        \
            memcpy(positions, face_bytes(data),                                                    \
                   (n < count ? n : count) * sizeof(MTLSamplePosition));                           \
        return n;                                                                                  \
    }                                                                                              \
    void face_after_##cls(const O_##cls *from, cls *to, FaceArena *arena) {                        \
        size_t n = face_length(from->samplePositions) / sizeof(MTLSamplePosition);                 \
        (void)arena;                                                                               \
        to->sample_position_count = n;                                                             \
        if (n > 8) n = 8;                                                                          \
        if (n)                                                                                     \
            memcpy(to->sample_positions, face_bytes(from->samplePositions),                        \
                   n * sizeof(MTLSamplePosition));                                                 \
    }
SAMPLE_POSITIONS(MTLRenderPassDescriptor)
SAMPLE_POSITIONS(MTL4RenderPassDescriptor)

// The map is in one word, a byte for each colour (MTLLogicalToPhysicalColorAttachmentMap.places).
MTLLogicalToPhysicalColorAttachmentMap *face_fill_MTLLogicalToPhysicalColorAttachmentMap(
    MTLLogicalToPhysicalColorAttachmentMap *to, id from, FaceArena *arena) {
    (void)arena;
    if (!from) return NULL;
    memcpy(to->places, &((O_MTLLogicalToPhysicalColorAttachmentMap *)from)->places,
           sizeof to->places);
    return to;
}

unsigned long face_MTLLogicalToPhysicalColorAttachmentMap_getPhysicalIndexForLogicalIndex_(
    id self, SEL _cmd, unsigned long logicalIndex) {
    MTLLogicalToPhysicalColorAttachmentMap map;
    (void)_cmd;
    face_fill_MTLLogicalToPhysicalColorAttachmentMap(&map, self, NULL);
    return mtl_logical_to_physical_color_attachment_map_physical_index(&map, logicalIndex);
}

void face_MTLLogicalToPhysicalColorAttachmentMap_setPhysicalIndex_forLogicalIndex_(
    id self, SEL _cmd, unsigned long physicalIndex, unsigned long logicalIndex) {
    MTLLogicalToPhysicalColorAttachmentMap map;
    (void)_cmd;
    face_fill_MTLLogicalToPhysicalColorAttachmentMap(&map, self, NULL);
    mtl_logical_to_physical_color_attachment_map_set_physical_index(&map, physicalIndex,
                                                                    logicalIndex);
    memcpy(&((O_MTLLogicalToPhysicalColorAttachmentMap *)self)->places, map.places,
           sizeof map.places);
}

void face_after_MTLRenderPipelineColorAttachmentDescriptor(
    const O_MTLRenderPipelineColorAttachmentDescriptor *from,
    MTLRenderPipelineColorAttachmentDescriptor *to, FaceArena *arena) {
    (void)arena;
    to->write_nothing = from->writeMask == MTLColorWriteMaskNone;
}

void face_after_MTL4RenderPipelineColorAttachmentDescriptor(
    const O_MTL4RenderPipelineColorAttachmentDescriptor *from,
    MTL4RenderPipelineColorAttachmentDescriptor *to, FaceArena *arena) {
    (void)arena;
    to->write_nothing = from->writeMask == MTLColorWriteMaskNone;
}

void face_after_MTLRenderPassSampleBufferAttachmentDescriptor(
    const O_MTLRenderPassSampleBufferAttachmentDescriptor *from, MTLPassSampleBufferAttachment *to,
    FaceArena *arena) {
    (void)from, (void)arena;
    to->samples_between_stages = true;
}

void face_after_MTLVertexBufferLayoutDescriptor(const O_MTLVertexBufferLayoutDescriptor *from,
                                                MTLVertexBufferLayoutDescriptor *to,
                                                FaceArena *arena) {
    (void)arena;
    to->step_constant = from->stepFunction == MTLVertexStepFunctionConstant;
}

unsigned long face_MTLRenderPipelineDescriptor_sampleCount(id self, SEL _cmd) {
    (void)_cmd;
    return ((const O_MTLRenderPipelineDescriptor *)self)->rasterSampleCount;
}

void face_MTLRenderPipelineDescriptor_setSampleCount_(id self, SEL _cmd, unsigned long value) {
    (void)_cmd;
    ((O_MTLRenderPipelineDescriptor *)self)->rasterSampleCount = value;
}

void face_MTLRenderCommandEncoder_textureBarrier(id self, SEL _cmd) {
    (void)_cmd;
    mtl_render_command_encoder_memory_barrier_with_scope(
        (void *)self, MTLBarrierScopeTextures | MTLBarrierScopeRenderTargets,
        MTLRenderStageFragment, MTLRenderStageFragment);
}

// ---- Tensors ----

static id extents_object(MTLTensorExtents extents) {
    O_MTLTensorExtents *o = (O_MTLTensorExtents *)face_make_object("MTLTensorExtents");
    o->rank = extents.rank;
    if (extents.rank && extents.rank <= MTL_TENSOR_MAX_RANK)
        face_store(&o->values, face_data(extents.extents, extents.rank * sizeof *extents.extents),
                   false);
    return objc_autorelease((id)o);
}

id face_MTLTensorExtents_initWithRank_values_(id self, SEL _cmd, unsigned long rank, void *values) {
    O_MTLTensorExtents *o = (O_MTLTensorExtents *)self;
    (void)_cmd;
    if (rank > MTL_TENSOR_MAX_RANK || (rank && !values)) {
        objc_release(self);
        return NULL;
    }
    o->rank = rank;
    face_store(&o->values, face_data(values, rank * sizeof(long)), false);
    return self;
}

long face_MTLTensorExtents_extentAtDimensionIndex_(id self, SEL _cmd,
                                                   unsigned long dimensionIndex) {
    const O_MTLTensorExtents *o = (const O_MTLTensorExtents *)self;
    (void)_cmd;
    return dimensionIndex < o->rank ? ((const long *)face_bytes(o->values))[dimensionIndex] : -1;
}

void face_after_MTLTensorExtents(const O_MTLTensorExtents *from, MTLTensorExtents *to,
                                 FaceArena *arena) {
    (void)arena;
    if (from->rank) memcpy(to->extents, face_bytes(from->values), from->rank * sizeof *to->extents);
}

id face_MTLTensor_dimensions(id self, SEL _cmd) {
    (void)_cmd;
    return extents_object(mtl_tensor_dimensions((void *)self));
}
id face_MTLTensor_strides(id self, SEL _cmd) {
    (void)_cmd;
    return extents_object(mtl_tensor_strides((void *)self));
}
id face_MTLTensorBinding_dimensions(id self, SEL _cmd) {
    (void)_cmd;
    return extents_object(mtl_binding_dimensions((void *)self));
}
id face_MTLTensorReferenceType_dimensions(id self, SEL _cmd) {
    (void)_cmd;
    return extents_object(mtl_tensor_reference_type_dimensions((void *)self));
}

// SPDX-License-Identifier: Apache-2.0
// rays.h: what the examples of ray tracing share: acceleration structures of squares that have a
// normal and a colour of their own, a cube, and where an instance stands.
#ifndef EXAMPLES_RAYS_H
#define EXAMPLES_RAYS_H
#include "util.h"

typedef struct Surface { // what a kernel finds at a hit
    float normal[3], colour[3];
} Surface;
typedef struct Mesh { // squares, two triangles each
    float corners[16][6][3];
    Surface surfaces[16][2];
    int n;
} Mesh;

// Corner o, sides a and b; the normal is their cross product.
static inline void add_square(Mesh *m, const float *o, const float *a, const float *b,
                              const float *colour) {
    static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
    for (int v = 0; v < 6; v++)
        for (int k = 0; k < 3; k++)
            m->corners[m->n][v][k] = o[k] + (float)order[v][0] * a[k] + (float)order[v][1] * b[k];
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 3; k++) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            m->surfaces[m->n][t].normal[k] = a[k1] * b[k2] - a[k2] * b[k1];
            m->surfaces[m->n][t].colour[k] = colour[k];
        }
    m->n++;
}

static inline MTLAccelerationStructure *build(
    MTLDevice *device, MTLCommandQueue *queue,
    const MTLAccelerationStructureDescriptor *descriptor) {
    MTLAccelerationStructureSizes sizes =
        mtl_device_acceleration_structure_sizes(device, descriptor);
    MTLAccelerationStructure *structure =
        mtl_device_new_acceleration_structure(device, sizes.acceleration_structure_size);
    require(structure, NULL, "acceleration structure");
    MTLBuffer *scratch = mtl_device_new_buffer(device, sizes.build_scratch_buffer_size,
                                               MTLResourceStorageModePrivate);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLAccelerationStructureCommandEncoder *encoder =
        mtl_command_buffer_acceleration_structure_command_encoder(commands);
    mtl_acceleration_structure_command_encoder_build_acceleration_structure(encoder, structure,
                                                                            descriptor, scratch, 0);
    mtl_acceleration_structure_command_encoder_end_encoding(encoder);
    complete(commands);
    mtl_release(commands);
    mtl_release(scratch);
    return structure;
}

// The squares from `second` on are a geometry of their own.
static inline MTLAccelerationStructure *build_mesh(MTLDevice *device, MTLCommandQueue *queue,
                                                   const Mesh *m, int second) {
    MTLBuffer *corners = mtl_device_new_buffer_with_bytes(device, m->corners, sizeof m->corners, 0),
              *surfaces =
                  mtl_device_new_buffer_with_bytes(device, m->surfaces, sizeof m->surfaces, 0);
    MTLAccelerationStructureGeometryDescriptor parts[2];
    for (int i = 0; i < 2; i++) {
        int first = i ? second : 0, end = i ? m->n : second;
        parts[i] = (MTLAccelerationStructureGeometryDescriptor){
            .vertex_buffer = corners,
            .vertex_buffer_offset = (size_t)first * sizeof m->corners[0],
            .triangle_count = 2 * (size_t)(end - first),
            .primitive_data_buffer = surfaces,
            .primitive_data_buffer_offset = (size_t)first * sizeof m->surfaces[0],
            .primitive_data_element_size = sizeof(Surface)};
    }
    MTLAccelerationStructure *structure = build(
        device, queue,
        &(MTLAccelerationStructureDescriptor){.geometry_descriptors = parts,
                                              .geometry_descriptor_count = second < m->n ? 2 : 1});
    mtl_release(corners);
    mtl_release(surfaces);
    return structure;
}

// A cube of side 1 on the ground.
static inline MTLAccelerationStructure *build_cube(MTLDevice *device, MTLCommandQueue *queue,
                                                   const float *colour) {
    const float x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1}, low[3] = {-0.5f, 0, -0.5f};
    Mesh cube = {.n = 0};
    add_square(&cube, low, y, x, colour);
    add_square(&cube, low, z, y, colour);
    add_square(&cube, low, x, z, colour);
    add_square(&cube, (const float[]){-0.5f, 0, 0.5f}, x, y, colour);
    add_square(&cube, (const float[]){0.5f, 0, -0.5f}, y, z, colour);
    add_square(&cube, (const float[]){-0.5f, 1, -0.5f}, z, x, colour);
    return build_mesh(device, queue, &cube, cube.n);
}

// Turned around y (cosine c, sine s), sized, moved.
static inline MTLAccelerationStructureUserIDInstanceDescriptor place(uint32_t which, uint32_t id,
                                                                     float c, float s, float wide,
                                                                     float tall, float x, float z) {
    return (MTLAccelerationStructureUserIDInstanceDescriptor){
        .transformation_matrix =
            {{{wide * c, 0, -wide * s}, {0, tall, 0}, {wide * s, 0, wide * c}, {x, 0, z}}},
        .mask = 0xff,
        .acceleration_structure_index = which,
        .user_id = id};
}

// An encoder for a picture: the pipeline, and the scene at index 0.
static inline MTLComputeCommandEncoder *begin_picture(MTLCommandQueue *queue,
                                                      MTLComputePipelineState *pipeline,
                                                      MTLAccelerationStructure *scene,
                                                      MTLCommandBuffer **commands) {
    *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(*commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    mtl_compute_command_encoder_set_acceleration_structure(encoder, scene, 0);
    return encoder;
}

// A thread for each of side x side pixels; the milliseconds it took.
static inline double end_picture(MTLComputeCommandEncoder *encoder, MTLCommandBuffer *commands,
                                 size_t side) {
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(side, side, 1),
                                                 mtl_size_make(8, 8, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    return complete(commands);
}

#endif

// SPDX-License-Identifier: Apache-2.0
// cornell_box.c: a path tracer. The room and a cube are acceleration structures of triangles with a
// colour of their own; an instance structure holds the room once and the cube twice. Each thread
// follows light backwards through one pixel: at every hit a second ray asks whether the lamp is in
// sight, and any hit of that one will do.
#include "png.h"
#include "util.h"

enum { SIZE = 320, SAMPLES = 16 };

static const char *const source =
    "#include <metal_stdlib>\n"
    "#include <metal_raytracing>\n"
    "using namespace metal;\n"
    "using namespace metal::raytracing;\n"
    "struct Surface { packed_float3 normal, colour; };\n"
    "constant float3 lamp = float3(0, 1.98f, 0), glow = float3(26, 20, 13);\n"
    "constant float side = 0.5f;\n"
    "struct Random {\n"
    "    uint state;\n"
    "    float next() {\n"
    "        state = state * 747796405u + 2891336453u;\n"
    "        uint word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;\n"
    "        return float((word >> 22 ^ word) >> 8) * 0x1p-24f;\n"
    "    }\n"
    "};\n"
    "float3 around(float3 n, float u, float v) {\n" // more often where a matt surface sends more
    "    float r = sqrt(u), phi = 2 * M_PI_F * v;\n"
    "    float3 t = normalize(cross(n, abs(n.x) > 0.5f ? float3(0, 1, 0) : float3(1, 0, 0)));\n"
    "    return t * (r * cos(phi)) + cross(n, t) * (r * sin(phi)) + n * sqrt(1 - u);\n"
    "}\n"
    "kernel void trace(instance_acceleration_structure scene [[buffer(0)]],\n"
    "                  device uchar4 *picture [[buffer(1)]], constant uint &samples "
    "[[buffer(2)]],\n"
    "                  uint2 p [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {\n"
    "    Random random = {(p.y * size.x + p.x) * 9781u + 1u};\n"
    "    intersector<instancing, triangle_data, world_space_data> nearest;\n"
    "    intersector<instancing> any;\n"
    "    any.accept_any_intersection(true);\n"
    "    float3 sum = 0;\n"
    "    for (uint s = 0; s < samples; s++) {\n"
    "        float2 at = (float2(p) + float2(random.next(), random.next())) / float2(size) * 2 - "
    "1;\n"
    "        ray r(float3(0, 1, 4.4f), normalize(float3(at.x, -at.y, -3.45f)));\n"
    "        float3 weight = 1;\n"
    "        for (int bounce = 0; bounce < 5; bounce++) {\n"
    "            auto h = nearest.intersect(r, scene, 0xff);\n"
    "            if (h.type == intersection_type::none) break;\n"
    "            float3 x = r.origin + r.direction * h.distance;\n"
    "            if (h.user_instance_id == 0 && h.geometry_id == 1) {\n" // the lamp itself
    "                if (bounce == 0) sum += glow;\n"
    "                break;\n"
    "            }\n"
    "            Surface surface = *(const device Surface *)h.primitive_data;\n"
    "            float3 n = normalize(h.object_to_world_transform * float4(float3(surface.normal), "
    "0));\n"
    "            if (dot(n, r.direction) > 0) n = -n;\n"
    "            weight *= float3(surface.colour);\n"
    "            float3 to = lamp + float3(random.next() - 0.5f, 0, random.next() - 0.5f) * side - "
    "x;\n"
    "            float away = length(to);\n"
    "            to /= away;\n"
    "            float falls = max(0.0f, dot(n, to)) * max(0.0f, to.y) * side * side / (away * "
    "away);\n"
    "            ray shadow(x + n * 1e-4f, to, 0, away - 1e-3f);\n"
    "            if (falls > 0 && any.intersect(shadow, scene, 0xff).type == "
    "intersection_type::none)\n"
    "                sum += weight * glow * (falls / M_PI_F);\n"
    "            r = ray(x + n * 1e-4f, around(n, random.next(), random.next()));\n"
    "        }\n"
    "    }\n"
    "    float3 c = sum / float(samples);\n"
    "    c = pow(c / (1 + c * 0.5f), 1 / 2.2f);\n"
    "    picture[p.y * size.x + p.x] = uchar4(uchar3(saturate(c) * 255 + 0.5f), 255);\n"
    "}\n";

typedef struct Surface { // what a kernel finds at a hit
    float normal[3], colour[3];
} Surface;
typedef struct Mesh { // squares, two triangles each
    float corners[16][6][3];
    Surface surfaces[16][2];
    int n;
} Mesh;

// Corner o, sides a and b; the normal is their cross product.
static void add_square(Mesh *m, const float *o, const float *a, const float *b,
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

static MTLAccelerationStructure *build(MTLDevice *device, MTLCommandQueue *queue,
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
static MTLAccelerationStructure *build_mesh(MTLDevice *device, MTLCommandQueue *queue,
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

static MTLAccelerationStructure *build_room(MTLDevice *device, MTLCommandQueue *queue) {
    const float white[3] = {0.73f, 0.73f, 0.73f}, red[3] = {0.65f, 0.05f, 0.05f},
                green[3] = {0.12f, 0.45f, 0.15f}, x[3] = {2, 0, 0}, y[3] = {0, 2, 0},
                z[3] = {0, 0, 2}, half_x[3] = {0.5f, 0, 0}, half_z[3] = {0, 0, 0.5f};
    Mesh room = {.n = 0};
    add_square(&room, (const float[]){-1, 0, -1}, z, x, white); // floor
    add_square(&room, (const float[]){-1, 2, -1}, x, z, white); // ceiling
    add_square(&room, (const float[]){-1, 0, -1}, x, y, white); // back
    add_square(&room, (const float[]){-1, 0, -1}, y, z, red);
    add_square(&room, (const float[]){1, 0, -1}, z, y, green);
    add_square(&room, (const float[]){-0.25f, 1.98f, -0.25f}, half_x, half_z, white); // the lamp
    return build_mesh(device, queue, &room, 5);
}

static MTLAccelerationStructure *build_cube(MTLDevice *device, MTLCommandQueue *queue) {
    const float white[3] = {0.73f, 0.73f, 0.73f}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0},
                z[3] = {0, 0, 1}, low[3] = {-0.5f, 0, -0.5f};
    Mesh cube = {.n = 0};
    add_square(&cube, low, y, x, white);
    add_square(&cube, low, z, y, white);
    add_square(&cube, low, x, z, white);
    add_square(&cube, (const float[]){-0.5f, 0, 0.5f}, x, y, white);
    add_square(&cube, (const float[]){0.5f, 0, -0.5f}, y, z, white);
    add_square(&cube, (const float[]){-0.5f, 1, -0.5f}, z, x, white);
    return build_mesh(device, queue, &cube, cube.n);
}

// Turned around y (cosine c, sine s), sized, moved.
static MTLAccelerationStructureUserIDInstanceDescriptor place(uint32_t which, uint32_t id, float c,
                                                              float s, float wide, float tall,
                                                              float x, float z) {
    return (MTLAccelerationStructureUserIDInstanceDescriptor){
        .transformation_matrix =
            {{{wide * c, 0, -wide * s}, {0, tall, 0}, {wide * s, 0, wide * c}, {x, 0, z}}},
        .mask = 0xff,
        .acceleration_structure_index = which,
        .user_id = id};
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    if (!mtl_device_supports_raytracing(device)) {
        printf("this device has no ray tracing\n");
        return 0;
    }
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *trace = compute_pipeline(device, library, "trace");
    MTLAccelerationStructure *parts[2] = {build_room(device, queue), build_cube(device, queue)};
    const MTLAccelerationStructureUserIDInstanceDescriptor instances[3] = {
        place(0, 0, 1, 0, 1, 1, 0, 0), place(1, 1, 0.95f, -0.31f, 0.6f, 1.2f, -0.35f, -0.35f),
        place(1, 2, 0.95f, 0.29f, 0.6f, 0.6f, 0.35f, 0.35f)};
    MTLBuffer *records = mtl_device_new_buffer_with_bytes(device, instances, sizeof instances, 0);
    MTLAccelerationStructure *scene =
        build(device, queue,
              &(MTLAccelerationStructureDescriptor){
                  .kind = MTLAccelerationStructureKindInstance,
                  .instance_descriptor_buffer = records,
                  .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeUserID,
                  .instance_count = 3,
                  .instanced_acceleration_structures = parts,
                  .instanced_acceleration_structure_count = 2});

    const uint32_t samples = argc > 2 ? (uint32_t)atoi(argv[2]) : SAMPLES;
    MTLBuffer *picture = mtl_device_new_buffer(device, SIZE * SIZE * 4, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, trace);
    mtl_compute_command_encoder_set_acceleration_structure(encoder, scene, 0);
    mtl_compute_command_encoder_set_buffer(encoder, picture, 0, 1);
    mtl_compute_command_encoder_set_bytes(encoder, &samples, sizeof samples, 2);
    for (int i = 0; i < 2; i++) // the kernel reaches them through the scene
        mtl_compute_command_encoder_use_resource(encoder, (MTLResource *)parts[i],
                                                 MTLResourceUsageRead);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(SIZE, SIZE, 1),
                                                 mtl_size_make(8, 8, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    double ms = complete(commands);

    // The left wall throws red light, the right one green; the lamp is bright.
    const unsigned char *pixels = mtl_buffer_contents(picture);
    long left = 0, right = 0;
    for (int y = SIZE / 4; y < SIZE * 3 / 4; y++)
        for (int k = 0; k < 2; k++) {
            left += (k ? -1 : 1) * pixels[(y * SIZE + SIZE / 12) * 4 + k];
            right += (k ? 1 : -1) * pixels[(y * SIZE + SIZE * 11 / 12) * 4 + k];
        }
    printf("%d x %d pixels, %u paths each, %.0f ms; red on the left %ld, green on the right %ld\n",
           SIZE, SIZE, samples, ms, left, right);
    if (argc > 1) write_png(argv[1], pixels, SIZE, SIZE);
    mtl_release(commands), mtl_release(picture), mtl_release(scene), mtl_release(records);
    mtl_release(parts[0]), mtl_release(parts[1]), mtl_release(trace);
    mtl_release(library), mtl_release(queue), mtl_release(device);
    return left < 1000 || right < 1000;
}

// SPDX-License-Identifier: Apache-2.0
// cornell_box.c: a path tracer. The room and a cube are acceleration structures of triangles with a
// colour of their own; an instance structure holds the room once and the cube twice. Each thread
// follows light backwards through one pixel: at every hit a second ray asks whether the lamp is in
// sight, and any hit of that one will do.
#include "png.h"
#include "rays.h"

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

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    if (!mtl_device_supports_raytracing(device)) {
        printf("this device has no ray tracing\n");
        return 0;
    }
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *trace = compute_pipeline(device, library, "trace");
    MTLAccelerationStructure *parts[2] = {
        build_room(device, queue), build_cube(device, queue, (const float[]){0.73f, 0.73f, 0.73f})};
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
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *encoder = begin_picture(queue, trace, scene, &commands);
    mtl_compute_command_encoder_set_buffer(encoder, picture, 0, 1);
    mtl_compute_command_encoder_set_bytes(encoder, &samples, sizeof samples, 2);
    for (int i = 0; i < 2; i++) // the kernel reaches them through the scene
        mtl_compute_command_encoder_use_resource(encoder, (MTLResource *)parts[i],
                                                 MTLResourceUsageRead);
    double ms = end_picture(encoder, commands, SIZE);

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

// SPDX-License-Identifier: Apache-2.0
// motion_blur.c: a shutter that stays open. Two cubes move while the picture is taken: one turns on
// the spot, with a quaternion for its rotation so that it keeps its size on the way, one slides.
// Each ray has a time of its own.
#include <math.h>
#include "png.h"
#include "rays.h"

enum { SIZE = 320, SAMPLES = 16 };

static const char *const source =
    "#include <metal_stdlib>\n"
    "#include <metal_raytracing>\n"
    "using namespace metal;\n"
    "using namespace metal::raytracing;\n"
    "struct Surface { packed_float3 normal, colour; };\n"
    "float random(thread uint &state) {\n"
    "    state = state * 747796405u + 2891336453u;\n"
    "    uint word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;\n"
    "    return float((word >> 22 ^ word) >> 8) * 0x1p-24f;\n"
    "}\n"
    "kernel void shoot(acceleration_structure<instancing, instance_motion> scene [[buffer(0)]],\n"
    "                  device uchar4 *picture [[buffer(1)]], constant uint &samples "
    "[[buffer(2)]],\n"
    "                  uint2 p [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {\n"
    "    intersector<instancing, triangle_data, world_space_data, instance_motion> x;\n"
    "    uint state = (p.y * size.x + p.x) * 9781u + 1u;\n"
    "    float3 sum = 0, sun = normalize(float3(0.5f, 1, 0.8f));\n"
    "    for (uint s = 0; s < samples; s++) {\n"
    "        float2 at = (float2(p) + float2(random(state), random(state))) / float2(size) * 2 - "
    "1;\n"
    "        float time = (s + random(state)) / samples;\n"
    "        ray r(float3(0, 2, 5), normalize(float3(at.x, -at.y - 0.7f, -2.4f)));\n"
    "        auto h = x.intersect(r, scene, 0xff, time);\n"
    "        if (h.type == intersection_type::none) {\n"
    "            sum += float3(0.6f, 0.75f, 0.9f);\n"
    "            continue;\n"
    "        }\n"
    "        Surface surface = *(const device Surface *)h.primitive_data;\n"
    "        float3 n = normalize(h.object_to_world_transform * float4(float3(surface.normal), "
    "0));\n"
    "        if (dot(n, r.direction) > 0) n = -n;\n"
    "        float3 at_hit = r.origin + r.direction * h.distance + n * 1e-3f;\n"
    "        bool lit = x.intersect(ray(at_hit, sun), scene, 0xff, time).type ==\n"
    "                   intersection_type::none;\n"
    "        sum += float3(surface.colour) * (0.25f + (lit ? 0.75f * max(0.0f, dot(n, sun)) : "
    "0));\n"
    "    }\n"
    "    float3 c = pow(sum / samples, 1 / 2.2f);\n"
    "    picture[p.y * size.x + p.x] = uchar4(uchar3(saturate(c) * 255 + 0.5f), 255);\n"
    "}\n";

// Keyframes: the floor stays, the first cube makes a third of a turn, the second slides.
static const MTLComponentTransform keys[6] = {
    {.scale = {1, 1, 1}, .rotation = {0, 0, 0, 1}},
    {.scale = {1, 1, 1}, .rotation = {0, 0, 0, 1}},
    {.scale = {1, 1, 1}, .rotation = {0, 0, 0, 1}, .translation = {-0.9f, 0, 0}},
    {.scale = {1, 1, 1}, .rotation = {0, 0.5f, 0, 0.8660254f}, .translation = {-0.9f, 0, 0}},
    {.scale = {0.8f, 0.8f, 0.8f},
     .rotation = {0, 0.25f, 0, 0.9682458f},
     .translation = {0.5f, 0, 0}},
    {.scale = {0.8f, 0.8f, 0.8f},
     .rotation = {0, 0.25f, 0, 0.9682458f},
     .translation = {1.5f, 0, 0.3f}},
};

static MTLAccelerationStructure *build_floor(MTLDevice *device, MTLCommandQueue *queue) {
    Mesh floor = {.n = 0};
    add_square(&floor, (const float[]){-8, 0, -8}, (const float[]){0, 0, 16},
               (const float[]){16, 0, 0}, (const float[]){0.7f, 0.7f, 0.65f});
    return build_mesh(device, queue, &floor, floor.n);
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    if (!mtl_device_supports_raytracing(device)) {
        printf("this device has no ray tracing\n");
        return 0;
    }
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *shoot = compute_pipeline(device, library, "shoot");
    MTLAccelerationStructure *parts[3] = {
        build_floor(device, queue), build_cube(device, queue, (const float[]){0.8f, 0.3f, 0.1f}),
        build_cube(device, queue, (const float[]){0.15f, 0.35f, 0.75f})};
    MTLAccelerationStructureMotionInstanceDescriptor instances[3];
    for (uint32_t i = 0; i < 3; i++)
        instances[i] = (MTLAccelerationStructureMotionInstanceDescriptor){
            .mask = 0xff,
            .acceleration_structure_index = i,
            .motion_transforms_start_index = 2 * i,
            .motion_transforms_count = 2,
            .motion_end_time = 1};
    MTLBuffer *records = mtl_device_new_buffer_with_bytes(device, instances, sizeof instances, 0),
              *moves = mtl_device_new_buffer_with_bytes(device, keys, sizeof keys, 0);
    MTLAccelerationStructure *scene =
        build(device, queue,
              &(MTLAccelerationStructureDescriptor){
                  .kind = MTLAccelerationStructureKindInstance,
                  .instance_descriptor_buffer = records,
                  .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeMotion,
                  .instance_count = 3,
                  .motion_transform_buffer = moves,
                  .motion_transform_count = 6,
                  .motion_transform_type = MTLTransformTypeComponent,
                  .instanced_acceleration_structures = parts,
                  .instanced_acceleration_structure_count = 3});

    const uint32_t samples = argc > 2 ? (uint32_t)atoi(argv[2]) : SAMPLES;
    MTLBuffer *picture = mtl_device_new_buffer(device, SIZE * SIZE * 4, 0);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *encoder = begin_picture(queue, shoot, scene, &commands);
    mtl_compute_command_encoder_set_buffer(encoder, picture, 0, 1);
    mtl_compute_command_encoder_set_bytes(encoder, &samples, sizeof samples, 2);
    for (int i = 0; i < 3; i++)
        mtl_compute_command_encoder_use_resource(encoder, (MTLResource *)parts[i],
                                                 MTLResourceUsageRead);
    double ms = end_picture(encoder, commands, SIZE);

    // Pixels that are neither blue as the cube nor as the floor: it was there for a while.
    const unsigned char *pixels = mtl_buffer_contents(picture);
    size_t red = 0, blue = 0;
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        int excess = pixels[i * 4 + 2] - pixels[i * 4];
        if (i / SIZE > SIZE / 3) blue += excess > 20, red += excess < -60;
    }
    printf("%d x %d pixels, %u moments each, %.0f ms; %zu reddish, %zu bluish\n", SIZE, SIZE,
           samples, ms, red, blue);
    if (argc > 1) write_png(argv[1], pixels, SIZE, SIZE);
    mtl_release(commands), mtl_release(picture), mtl_release(scene), mtl_release(moves);
    mtl_release(records);
    for (int i = 0; i < 3; i++) mtl_release(parts[i]);
    mtl_release(shoot), mtl_release(library), mtl_release(queue), mtl_release(device);
    return red < 500 || blue < 500;
}

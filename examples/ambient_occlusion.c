// SPDX-License-Identifier: Apache-2.0
// ambient_occlusion.c: how much of the sky a point sees. Balls are boxes in an acceleration
// structure: an intersection function says where in its box a ray hits the ball. The floor is two
// triangles, which need no function; an opaque entry of the table stands for theirs.
#include "png.h"
#include "rays.h"

enum { SIZE = 320, SAMPLES = 32, N_BALLS = 40 };

static const char *const source =
    "#include <metal_stdlib>\n"
    "#include <metal_raytracing>\n"
    "using namespace metal;\n"
    "using namespace metal::raytracing;\n"
    "struct Answer { bool hit [[accept_intersection]]; float distance [[distance]]; };\n"
    "[[intersection(bounding_box)]] Answer ball(float3 o [[origin]], float3 d [[direction]],\n"
    "    float least [[min_distance]], float most [[max_distance]], uint i [[primitive_id]],\n"
    "    const device float4 *balls [[buffer(0)]]) {\n"
    "    float3 p = o - balls[i].xyz;\n"
    "    float b = dot(p, d), q = b * b - dot(p, p) + balls[i].w * balls[i].w;\n"
    "    float t = -b - sqrt(q);\n"
    "    return {q >= 0 && t >= least && t <= most, t};\n"
    "}\n"
    "float random(thread uint &state) {\n"
    "    state = state * 747796405u + 2891336453u;\n"
    "    uint word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;\n"
    "    return float((word >> 22 ^ word) >> 8) * 0x1p-24f;\n"
    "}\n"
    "kernel void shade(primitive_acceleration_structure scene [[buffer(0)]],\n"
    "                  intersection_function_table<> functions [[buffer(1)]],\n"
    "                  const device float4 *balls [[buffer(2)]],\n"
    "                  device uchar4 *picture [[buffer(3)]], constant uint &samples "
    "[[buffer(4)]],\n"
    "                  uint2 p [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {\n"
    "    float2 at = (float2(p) + 0.5f) / float2(size) * 2 - 1;\n"
    "    uint state = (p.y * size.x + p.x) * 9781u + 1u;\n"
    "    ray r(float3(0, 2.2f, 6), normalize(float3(at.x, -at.y - 0.75f, -2.6f)));\n"
    "    intersector<> nearest, any;\n"
    "    any.accept_any_intersection(true);\n"
    "    auto h = nearest.intersect(r, scene, functions);\n"
    "    float light = 1;\n"
    "    if (h.type != intersection_type::none) {\n"
    "        float3 x = r.origin + r.direction * h.distance, n = float3(0, 1, 0);\n"
    "        if (h.type == intersection_type::bounding_box)\n"
    "            n = normalize(x - balls[h.primitive_id].xyz);\n"
    "        float3 t = normalize(cross(n, abs(n.x) > 0.5f ? float3(0, 1, 0) : float3(1, 0, 0)));\n"
    "        uint free = 0;\n"
    "        for (uint s = 0; s < samples; s++) {\n"
    "            float u = random(state), phi = 2 * M_PI_F * random(state), w = sqrt(u);\n"
    "            float3 d = t * (w * cos(phi)) + cross(n, t) * (w * sin(phi)) + n * sqrt(1 - u);\n"
    "            free += any.intersect(ray(x + n * 1e-3f, d, 0, 3), scene, functions).type ==\n"
    "                    intersection_type::none;\n"
    "        }\n"
    "        light = float(free) / samples;\n"
    "    }\n"
    "    picture[p.y * size.x + p.x] = uchar4(uchar3(light * 255 + 0.5f), 255);\n"
    "}\n";

static float balls[N_BALLS][4];

// Balls that lie on the floor, none inside another.
static void throw_balls(MTLAxisAlignedBoundingBox *boxes) {
    unsigned seed = 3;
    for (int i = 0; i < N_BALLS;) {
        float r = 0.25f + 0.3f * (random_float(&seed) + 0.5f), x = 7 * random_float(&seed),
              z = 7 * random_float(&seed);
        bool free = true;
        for (int k = 0; k < i; k++) {
            float dx = x - balls[k][0], dz = z - balls[k][2], d = r + balls[k][3];
            free = free && dx * dx + dz * dz > 0.6f * d * d;
        }
        if (!free) continue;
        balls[i][0] = x, balls[i][1] = r, balls[i][2] = z, balls[i][3] = r;
        boxes[i] = (MTLAxisAlignedBoundingBox){{x - r, 0, z - r}, {x + r, 2 * r, z + r}};
        i++;
    }
}

static MTLComputePipelineState *pipeline_with(MTLDevice *device, MTLLibrary *library,
                                              MTLFunction *function) {
    MTLError *error = NULL;
    MTLFunction *kernel = mtl_library_new_function(library, "shade");
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = kernel,
            .linked_functions = &(MTLLinkedFunctions){.functions = &function, .function_count = 1}},
        0, NULL, &error);
    require(state, error, "pipeline");
    mtl_release(kernel);
    return state;
}

int main(int argc, char **argv) {
    static const float floor[] = {-9, 0, -9, 9, 0, -9, -9, 0, 9, 9, 0, -9, 9, 0, 9, -9, 0, 9};
    MTLAxisAlignedBoundingBox boxes[N_BALLS];
    MTLDevice *device = default_device();
    if (!mtl_device_supports_raytracing(device)) {
        printf("this device has no ray tracing\n");
        return 0;
    }
    throw_balls(boxes);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLBuffer *spheres = mtl_device_new_buffer_with_bytes(device, balls, sizeof balls, 0),
              *bounds = mtl_device_new_buffer_with_bytes(device, boxes, sizeof boxes, 0),
              *corners = mtl_device_new_buffer_with_bytes(device, floor, sizeof floor, 0);
    // Which entry of the table is asked is said by the geometry.
    const MTLAccelerationStructureGeometryDescriptor parts[2] = {
        {.kind = MTLAccelerationStructureGeometryKindBoundingBoxes,
         .bounding_box_buffer = bounds,
         .bounding_box_count = N_BALLS,
         .intersection_function_table_offset = 0},
        {.vertex_buffer = corners, .triangle_count = 2, .intersection_function_table_offset = 1}};
    MTLAccelerationStructure *scene =
        build(device, queue,
              &(MTLAccelerationStructureDescriptor){.geometry_descriptors = parts,
                                                    .geometry_descriptor_count = 2});
    MTLFunction *ball = mtl_library_new_function(library, "ball");
    MTLComputePipelineState *shade = pipeline_with(device, library, ball);
    MTLIntersectionFunctionTable *table =
        mtl_compute_pipeline_state_new_intersection_function_table(
            shade, &(MTLIntersectionFunctionTableDescriptor){.function_count = 2});
    mtl_intersection_function_table_set_function(
        table, mtl_compute_pipeline_state_function_handle(shade, ball), 0);
    mtl_intersection_function_table_set_opaque_triangle_intersection_function(
        table, MTLIntersectionFunctionSignatureNone, 1);
    mtl_intersection_function_table_set_buffer(table, spheres, 0, 0);

    const uint32_t samples = argc > 2 ? (uint32_t)atoi(argv[2]) : SAMPLES;
    MTLBuffer *picture = mtl_device_new_buffer(device, SIZE * SIZE * 4, 0);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *encoder = begin_picture(queue, shade, scene, &commands);
    mtl_compute_command_encoder_set_intersection_function_table(encoder, table, 1);
    mtl_compute_command_encoder_set_buffer(encoder, spheres, 0, 2);
    mtl_compute_command_encoder_set_buffer(encoder, picture, 0, 3);
    mtl_compute_command_encoder_set_bytes(encoder, &samples, sizeof samples, 4);
    double ms = end_picture(encoder, commands, SIZE);

    const unsigned char *pixels = mtl_buffer_contents(picture);
    size_t dark = 0, bright = 0;
    for (size_t i = 0; i < SIZE * SIZE; i++)
        dark += pixels[i * 4] < 100, bright += pixels[i * 4] > 200;
    printf("%d x %d pixels, %u rays each, %.0f ms; %zu dark, %zu bright\n", SIZE, SIZE, samples, ms,
           dark, bright);
    if (argc > 1) write_png(argv[1], pixels, SIZE, SIZE);
    mtl_release(commands), mtl_release(picture), mtl_release(table), mtl_release(shade);
    mtl_release(ball), mtl_release(scene), mtl_release(corners), mtl_release(bounds);
    mtl_release(spheres), mtl_release(library), mtl_release(queue), mtl_release(device);
    return dark < 500 || bright < 10000;
}

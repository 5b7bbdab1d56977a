// SPDX-License-Identifier: Apache-2.0
// function_table.c: materials as visible functions. A kernel shades pixels with the function that
// each pixel's material names; the functions come from two libraries, and the host decides, after
// the kernel was compiled, which function stands where in the table.
#include "util.h"

static const char *renderer =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "using Material = float3(float3 light);\n"
    "[[visible]] float3 matte(float3 light) { return 0.5f * light; }\n"
    "[[visible]] float3 mirror(float3 light) { return light; }\n"
    "kernel void shade(device const uchar *material [[buffer(0)]],\n"
    "                  visible_function_table<Material> materials [[buffer(1)]],\n"
    "                  device packed_float3 *image [[buffer(2)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "    image[i] = materials[material[i]](float3(1.0f, 0.8f, 0.6f));\n"
    "}\n";

static const char *plug_in = // made later, by somebody else
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant float hue [[function_constant(0)]];\n"
    "[[visible]] float3 glowing(float3 light) { return light.zyx + hue; }\n";

int main(void) {
    enum { n = 1 << 16 };
    MTLError *error = NULL;
    MTLDevice *device = default_device();
    MTLLibrary *libraries[2];
    libraries[0] = mtl_device_new_library_with_source(device, renderer, NULL, &error);
    require(libraries[0], error, "library of the renderer");
    libraries[1] = mtl_device_new_library_with_source(device, plug_in, NULL, &error);
    require(libraries[1], error, "library of the plug-in");

    float hue = 0.25f;
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &hue, MTLDataTypeFloat, 0);
    MTLFunction *kernel = mtl_library_new_function(libraries[0], "shade");
    MTLFunction *materials[3] = {
        mtl_library_new_function(libraries[0], "matte"),
        mtl_library_new_function(libraries[0], "mirror"),
        mtl_library_new_function_with_constant_values(libraries[1], "glowing", values, &error),
    };
    require(materials[2], error, "function glowing");
    const MTLLinkedFunctions linked = {.functions = materials, .function_count = 3};
    MTLComputePipelineState *pipeline = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = kernel, .linked_functions = &linked}, 0,
        NULL, &error);
    require(pipeline, error, "pipeline");

    // The table: material 0 is the plug-in's, 1 and 2 ours; 3 stays empty and gives black.
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        pipeline, &(MTLVisibleFunctionTableDescriptor){.function_count = 4});
    for (size_t i = 0; i < 3; i++)
        mtl_visible_function_table_set_function(
            table, mtl_compute_pipeline_state_function_handle(pipeline, materials[(i + 2) % 3]), i);

    MTLBuffer *which = mtl_device_new_buffer(device, n, MTLResourceStorageModeShared);
    MTLBuffer *image = mtl_device_new_buffer(device, n * 12, MTLResourceStorageModeShared);
    unsigned char *w = mtl_buffer_contents(which);
    for (int i = 0; i < n; i++) w[i] = (unsigned char)(i * 2654435761u >> 30);

    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    mtl_compute_command_encoder_set_buffer(encoder, which, 0, 0);
    mtl_compute_command_encoder_set_visible_function_table(encoder, table, 1);
    mtl_compute_command_encoder_set_buffer(encoder, image, 0, 2);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(256, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    complete(commands);

    const float (*pixel)[3] = mtl_buffer_contents(image);
    static const float expected[4][3] = {
        {0.85f, 1.05f, 1.25f}, {0.5f, 0.4f, 0.3f}, {1, 0.8f, 0.6f}, {0}};
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            wrong +=
                pixel[i][c] - expected[w[i]][c] > 1e-6f || expected[w[i]][c] - pixel[i][c] > 1e-6f;
    printf("%d pixels of 4 materials (glowing, matte, mirror, none) in %.3f ms, %d wrong\n", n,
           1e3 * (mtl_command_buffer_gpu_end_time(commands) -
                  mtl_command_buffer_gpu_start_time(commands)),
           wrong);

    mtl_release(commands), mtl_release(queue), mtl_release(image), mtl_release(which),
        mtl_release(table);
    mtl_release(pipeline), mtl_release(kernel), mtl_release(values);
    for (int i = 0; i < 3; i++) mtl_release(materials[i]);
    mtl_release(libraries[0]), mtl_release(libraries[1]), mtl_release(device);
    return wrong != 0;
}

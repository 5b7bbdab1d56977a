// SPDX-License-Identifier: Apache-2.0
// argument_buffer.c: a scene of many materials behind one binding. Each material is a struct with a
// texture, a buffer and numbers; the kernel picks one per thread. The array of materials is filled
// twice, by an argument encoder and by plain stores of GPU addresses and resource ids (Metal 3),
// and both give the same bytes.
#include "util.h"
#include <string.h>

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Material {\n"
    "    texture2d<float> image   [[id(0)]];\n"
    "    constant float *weights  [[id(1)]];\n"
    "    float gain               [[id(2)]];\n"
    "};\n"
    "kernel void shade(constant Material *materials [[buffer(0)]],\n"
    "                  device float *out            [[buffer(1)]],\n"
    "                  constant uint &n             [[buffer(2)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "    constant Material &m = materials[i % n];\n"
    "    out[i] = m.gain * m.image.read(uint2(i % 4, 0)).x + m.weights[i % 8];\n"
    "}\n";

typedef struct Material { // the MSL struct in C
    MTLResourceID image;
    uint64_t weights;
    float gain;
} Material;

int main(void) {
    enum { n_materials = 100, n_threads = 10000 };
    MTLError *error = NULL;
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLFunction *function = mtl_library_new_function(library, "shade");
    require(function, NULL, "function shade");
    MTLComputePipelineState *pipeline =
        mtl_device_new_compute_pipeline_state(device, function, &error);
    require(pipeline, error, "pipeline");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);

    static MTLTexture *images[n_materials];
    static MTLBuffer *weights[n_materials];
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 4, 1, false);
    for (int k = 0; k < n_materials; k++) {
        float row[4] = {(float)k, (float)k + 1, (float)k + 2, (float)k + 3}, w[8];
        for (int i = 0; i < 8; i++) w[i] = (float)(k * i);
        images[k] = mtl_device_new_texture(device, &d);
        require(images[k], NULL, "texture");
        mtl_texture_replace_region(images[k], mtl_region_make_2d(0, 0, 4, 1), 0, row, sizeof row);
        weights[k] = mtl_device_new_buffer_with_bytes(device, w, sizeof w, 0);
    }

    // With an encoder: an array of argument buffers.
    MTLArgumentEncoder *encoder = mtl_function_new_argument_encoder(function, 0);
    require(encoder, NULL, "argument encoder");
    size_t stride = mtl_argument_encoder_encoded_length(encoder);
    MTLBuffer *materials = mtl_device_new_buffer(device, n_materials * stride, 0);
    for (size_t k = 0; k < n_materials; k++) {
        mtl_argument_encoder_set_argument_buffer_array_element(encoder, materials, 0, k);
        mtl_argument_encoder_set_texture(encoder, images[k], 0);
        mtl_argument_encoder_set_buffer(encoder, weights[k], 0, 1);
        *(float *)mtl_argument_encoder_constant_data(encoder, 2) = 10;
    }
    // By plain stores.
    static Material plain[n_materials];
    for (int k = 0; k < n_materials; k++) {
        plain[k].image = mtl_texture_gpu_resource_id(images[k]);
        plain[k].weights = mtl_buffer_gpu_address(weights[k]);
        plain[k].gain = 10;
    }
    int differ = stride != sizeof(Material) ||
                 memcmp(plain, mtl_buffer_contents(materials), sizeof plain) != 0;
    printf("%d materials of %zu bytes; encoder and plain stores %s\n", n_materials, stride,
           differ ? "differ" : "agree");

    MTLBuffer *out = mtl_device_new_buffer(device, n_threads * sizeof(float), 0);
    uint32_t n = n_materials;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *compute = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(compute, pipeline);
    mtl_compute_command_encoder_set_buffer(compute, materials, 0, 0);
    mtl_compute_command_encoder_set_buffer(compute, out, 0, 1);
    mtl_compute_command_encoder_set_bytes(compute, &n, sizeof n, 2);
    mtl_compute_command_encoder_use_resources(compute, (MTLResource *const *)images, n_materials,
                                              MTLResourceUsageRead);
    mtl_compute_command_encoder_use_resources(compute, (MTLResource *const *)weights, n_materials,
                                              MTLResourceUsageRead);
    mtl_compute_command_encoder_dispatch_threads(compute, mtl_size_make(n_threads, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(compute);
    complete(commands);

    int wrong = 0;
    const float *y = mtl_buffer_contents(out);
    for (int i = 0; i < n_threads; i++) {
        int k = i % n_materials;
        wrong += y[i] != 10 * (float)(k + i % 4) + (float)(k * (i % 8));
    }
    printf("out[1234] = %g, %d wrong\n", y[1234], wrong);
    for (int k = 0; k < n_materials; k++) mtl_release(images[k]), mtl_release(weights[k]);
    mtl_release(commands), mtl_release(out), mtl_release(materials), mtl_release(encoder);
    mtl_release(queue), mtl_release(pipeline), mtl_release(function), mtl_release(library);
    mtl_release(device);
    return wrong != 0 || differ;
}

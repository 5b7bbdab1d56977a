// SPDX-License-Identifier: Apache-2.0
// tensor.c: a small network's layers as tensors. The weights of each layer are a tensor over one
// buffer, the biases tensors with memory of their own; the kernel finds all of them in a struct of
// resource ids, and reads their sizes from the tensors themselves.
#include "util.h"
#include <math.h>

static const char *source =
    "#include <metal_stdlib>\n"
    "#include <metal_tensor>\n"
    "using namespace metal;\n"
    "struct Layer {\n"
    "    tensor<device const float, dextents<int, 2>> weights; // (in, out)\n"
    "    tensor<device const float, dextents<int, 1>> biases;\n"
    "};\n"
    "kernel void forward(constant Layer *layers [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                    device float *x [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
    "    float now[16], next[16];\n"
    "    auto samples = tensor(x, dextents<int, 2>(16, 1000)); // one of 16 numbers per thread\n"
    "    for (int k = 0; k < 16; k++) now[k] = samples[k, i];\n"
    "    for (uint l = 0; l < n; l++) {\n"
    "        auto w = layers[l].weights;\n"
    "        for (int o = 0; o < w.get_extent(1); o++) {\n"
    "            float sum = layers[l].biases[o];\n"
    "            for (int k = 0; k < w.get_extent(0); k++) sum += w[k, o] * now[k];\n"
    "            next[o] = max(sum, 0.0f);\n"
    "        }\n"
    "        for (int k = 0; k < 16; k++) now[k] = next[k];\n"
    "    }\n"
    "    for (int k = 0; k < 16; k++) samples[k, i] = now[k];\n"
    "}\n";

enum { n_layers = 3, size = 16, pitch = 20, n_samples = 1000 };

static void reference(const float *weights, const float *biases, float *x) {
    for (int l = 0; l < n_layers; l++) {
        float next[size];
        for (int o = 0; o < size; o++) {
            float sum = biases[l * size + o];
            for (int k = 0; k < size; k++) sum += weights[(l * size + o) * pitch + k] * x[k];
            next[o] = fmaxf(sum, 0);
        }
        for (int k = 0; k < size; k++) x[k] = next[k];
    }
}

int main(void) {
    MTLError *error = NULL;
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *pipeline = compute_pipeline(device, library, "forward");

    // Rows of 16 weights lie 20 apart: strides say so.
    static float weights[n_layers * size * pitch], biases[n_layers * size];
    unsigned seed = 1;
    for (int i = 0; i < n_layers * size * pitch; i++) weights[i] = random_float(&seed);
    for (int i = 0; i < n_layers * size; i++) biases[i] = random_float(&seed);
    MTLBuffer *memory = mtl_device_new_buffer_with_bytes(device, weights, sizeof weights, 0);
    MTLTensor *w[n_layers], *b[n_layers];
    MTLResourceID ids[n_layers][2]; // the struct Layer
    for (int l = 0; l < n_layers; l++) {
        MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
        d.dimensions = (MTLTensorExtents){2, {size, size}};
        d.strides = (MTLTensorExtents){2, {1, pitch}};
        size_t offset = (size_t)l * size * pitch * sizeof(float);
        w[l] = mtl_buffer_new_tensor(memory, &d, offset, &error);
        require(w[l], error, "tensor over a buffer");

        d = mtl_tensor_descriptor_make_default();
        d.dimensions = (MTLTensorExtents){1, {size}};
        b[l] = mtl_device_new_tensor(device, &d, &error);
        require(b[l], error, "tensor");
        const MTLTensorExtents origin = {1, {0}}, all = {1, {size}}, packed = {1, {1}};
        mtl_tensor_replace_slice(b[l], &origin, &all, biases + l * size, &packed);
        ids[l][0] = mtl_tensor_gpu_resource_id(w[l]);
        ids[l][1] = mtl_tensor_gpu_resource_id(b[l]);
    }

    MTLBuffer *layers = mtl_device_new_buffer_with_bytes(device, ids, sizeof ids, 0);
    MTLBuffer *x = mtl_device_new_buffer(device, n_samples * size * sizeof(float), 0);
    float *values = mtl_buffer_contents(x), first[size];
    for (int i = 0; i < n_samples * size; i++) values[i] = random_float(&seed);
    for (int k = 0; k < size; k++) first[k] = values[k];
    reference(weights, biases, first);

    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    uint32_t n = n_layers;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, layers, 0, 0);
    mtl_compute_command_encoder_set_bytes(e, &n, sizeof n, 1);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 2);
    for (int l = 0; l < n_layers; l++) { // what the struct refers to
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)w[l], MTLResourceUsageRead);
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)b[l], MTLResourceUsageRead);
    }
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n_samples, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    complete(commands);

    float error_max = 0;
    for (int k = 0; k < size; k++) error_max = fmaxf(error_max, fabsf(values[k] - first[k]));
    printf("%d layers of %d x %d, %d samples: largest error of the first %g\n", n_layers, size,
           size, n_samples, (double)error_max);
    for (int l = 0; l < n_layers; l++) mtl_release(w[l]), mtl_release(b[l]);
    mtl_release(commands), mtl_release(queue), mtl_release(x), mtl_release(layers);
    mtl_release(memory), mtl_release(pipeline), mtl_release(library);
    mtl_release(device);
    return error_max < 1e-5f ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// network_run.h: machine-learning pipelines, and the way of a network's steps into the command
// stream. The structs are those of kernels/network.metal.
#ifndef INGOT_RUNTIME_METAL4_NETWORK_RUN_H
#define INGOT_RUNTIME_METAL4_NETWORK_RUN_H
#include "runtime/memory/heap.h"
#include "runtime/memory/tensor.h"
#include "runtime/metal4/network.h"
#include "runtime/metal4/recording.h"

enum NetKernel {
    NET_KERNEL_FLAT,
    NET_KERNEL_EACH,
    NET_KERNEL_RESHAPE,
    NET_KERNEL_ROWS,
    NET_KERNEL_MATMUL, // + 1: first transposed, + 2: second
    NET_KERNEL_CONV = NET_KERNEL_MATMUL + 4,
    NET_N_KERNELS
};

typedef struct NetEach {
    void *out;
    const void *a, *b;
    int64_t out_strides[8], a_strides[8], b_strides[8];
    uint32_t size[8], a_size[8];
    uint32_t rank, a_rank, kind, reserved;
} NetEach;

typedef struct NetRows {
    void *out;
    const void *a;
    int64_t out_strides[8], a_strides[8];
    int64_t out_step, a_step;
    uint32_t size[8];
    uint32_t rank, length, kind, reserved;
} NetRows;

typedef struct NetMatmul {
    void *c;
    const void *a, *b;
    int64_t c_strides[8], a_strides[8], b_strides[8];
    int32_t c_row, a_row, b_row, m, n, k;
    uint32_t size[8];
    uint32_t rank, reserved;
} NetMatmul;

typedef struct NetConv {
    void *out;
    const void *a, *w;
    int64_t out_strides[4], a_strides[4], w_strides[4];
    uint32_t size[4];
    int32_t channels, width, height, kernel_width, kernel_height;
    int32_t strides[2], dilations[2], padding[2];
    uint32_t reserved;
} NetConv;

struct MTL4MachineLearningPipelineReflection { // a part of its pipeline
    RtObject object;
    MTL4MachineLearningPipelineState *state;
};

struct MTL4MachineLearningPipelineState {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    MTLLibrary *library; // retained; its network
    const RtNetwork *network;
    NetPlan plan;
    MTLComputePipelineState *kernels[NET_N_KERNELS]; // those its steps need; retained
    MTL4MachineLearningPipelineReflection reflection;
    uint32_t *tensors; // values: inputs, then outputs
    size_t n_tensors, n_inputs;
};

struct MTL4MachineLearningCommandEncoder {
    MTLCommandEncoder encoder;
    MTL4CommandBuffer *owner;                // borrowed
    MTL4MachineLearningPipelineState *state; // held by the command buffer, as the table
    MTL4ArgumentTable *table;
};

extern RtClass rt_ml_pipeline_class, rt_ml_encoder_class;

// A value in memory while a network runs.
typedef struct NetOperand {
    char *data;
    NetShape shape;
    int64_t strides[NET_MAX_RANK]; // in elements; 0 where a size is 1 or beyond the rank
} NetOperand;

// Appends all steps. operands: one per value. False: no memory, and the command buffer knows.
bool rt_network_encode(MTLCommandBuffer *commands, const MTL4MachineLearningPipelineState *state,
                       const NetOperand *operands);
// Which kernel a step needs.
unsigned rt_network_kernel(const NetStep *step);
#endif

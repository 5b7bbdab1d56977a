// SPDX-License-Identifier: Apache-2.0
// ml_int.h: machine-learning pipelines and encoders; what they run is src/runtime/network's.
#ifndef INGOT_RUNTIME_METAL4_ML_INT_H
#define INGOT_RUNTIME_METAL4_ML_INT_H
#include "runtime/memory/heap.h"
#include "runtime/memory/tensor.h"
#include "runtime/network/network.h"
#include "runtime/program/reflection.h"
#include "runtime/metal4/recording_int.h"

typedef struct NetBinding {
    MTLBinding binding;
    RfArg arg;
    struct RtBoundTensor tensor;
} NetBinding;

struct MTL4MachineLearningPipelineReflection { // a part of its pipeline
    RtObject object;
    MTL4MachineLearningPipelineState *state;
};

struct MTL4MachineLearningPipelineState {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    MTLLibrary *library; // retained; its network
    const Network *network;
    NetPlan plan;
    MTLComputePipelineState *kernels[NET_N_KERNELS]; // those its steps need; retained
    MTL4MachineLearningPipelineReflection reflection;
    uint32_t *tensors; // values: inputs, then outputs
    size_t n_tensors, n_inputs;
    struct NetBinding *bindings; // [n_tensors], what reflection shows of them
    MTLBuffer **constants;       // [values] where the device sees them; NULL: it sees the host's
};

struct MTL4MachineLearningCommandEncoder {
    MTLCommandEncoder encoder;
    MTL4CommandBuffer *owner;                // borrowed
    MTL4MachineLearningPipelineState *state; // held by the command buffer, as the table
    MTL4ArgumentTable *table;
};

extern RtClass rt_ml_pipeline_class, rt_ml_encoder_class;
#endif

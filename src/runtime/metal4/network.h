// SPDX-License-Identifier: Apache-2.0
// network.h: networks of MTL4MachineLearningPipelineState: what a package says (network_read.c),
// sizes of everything and places in memory (network_plan.c), and the kernels (kernels/network.metal).
// Sizes are Metal's: dimension 0 is the innermost.
#ifndef INGOT_RUNTIME_METAL4_NETWORK_H
#define INGOT_RUNTIME_METAL4_NETWORK_H
#include "base/json_reader.h"
#include "ingot/metal4_ml.h"
#include "runtime/object/error.h"
#include "runtime/object/object.h"

enum { NET_MAX_RANK = 8, NET_MAX_INPUTS = 64, NET_MAX_STEPS = 65536 };

typedef enum NetForm { EACH, PAIR, ROWS, MATMUL, CONV, RESHAPE, TRANSPOSE, CONCAT } NetForm;
typedef enum NetOp {
#define OP(name, form, kind) NET_##name,
#include "runtime/metal4/network_ops.def"
#undef OP
    NET_N_OPS
} NetOp;

typedef struct NetShape {
    uint32_t rank;
    int64_t n[NET_MAX_RANK]; // 1 beyond the rank
} NetShape;

// Something with a name: an input, a constant, the result of a step.
typedef struct NetValue {
    char *name;
    enum { NET_INPUT, NET_CONSTANT, NET_RESULT } kind;
    NetShape shape; // of inputs and constants; an input of rank 0 is sized by the pipeline
    bool sized;
    uint32_t index;     // inputs: in the argument table
    bool is_output;     // results
    uint32_t out_index; // outputs: in the argument table
    void *data;         // constants, in the network's type
} NetValue;

typedef struct NetStep {
    NetOp op;
    uint32_t *inputs; // values
    uint32_t n_inputs, output;
    // Attributes, as far as the operation has them.
    int64_t axis;
    NetShape dimensions; // reshape; transpose: the permutation
    bool transpose_a, transpose_b;
    int64_t strides[2], dilations[2], padding[2];
} NetStep;

typedef struct RtNetwork { // never changes once read
    char *name;            // of its function
    MTLTensorDataType type;
    NetValue *values;
    size_t n_values, values_capacity;
    NetStep *steps;
    size_t n_steps, steps_capacity;
} RtNetwork;

// Reads a package. NULL: the message (JSON_MESSAGE_BYTES) names file and key; "" there: no memory.
RtNetwork *rt_network_read(const char *folder, char *message);
void rt_network_free(RtNetwork *network);
size_t rt_network_type_bytes(MTLTensorDataType type); // 0: not one for networks
const char *rt_network_op_name(NetOp op);
NetForm rt_network_op_form(NetOp op);
uint32_t rt_network_op_kind(NetOp op);

// The library of a package: mtl_device_new_library_with_url for folders.
MTLLibrary *rt_network_library(MTLDevice *device, const char *folder, const char *call,
                               MTLError **error);

// ---- A pipeline's view of it ----

typedef struct NetPlace {
    enum { NET_IN_HEAP, NET_IN_CONSTANT, NET_IN_TENSOR } where;
    size_t offset;    // in the heap
    const void *data; // constant
    uint32_t index;   // tensor: in the argument table
} NetPlace;

typedef struct NetPlan {
    NetShape *shapes; // per value
    NetPlace *places; // per value
    size_t heap_bytes;
} NetPlan;

// Sizes and places of all values. False: the message says which step does not fit.
bool rt_network_plan(const RtNetwork *network, const MTL4MachineLearningPipelineDescriptor *d,
                     NetPlan *plan, char *message);
void rt_network_plan_free(NetPlan *plan);
static inline int64_t rt_shape_count(const NetShape *s) {
    int64_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++) n *= s->n[i];
    return n;
}
#endif

// SPDX-License-Identifier: Apache-2.0
// network.h: networks as the machine-learning encoder of Metal 4 runs them, without the encoder:
// what a package says (read.c), sizes of everything and places in memory (plan.c), and steps as
// dispatches of kernels (steps.c, kernels/network.metal). A library under the runtime that knows
// Metal by the types of its public headers only: who uses it compiles the kernels and takes the
// dispatches (src/runtime/metal4/ml_*.c). Sizes are Metal's: dimension 0 is the innermost.
#ifndef INGOT_NETWORK_NETWORK_H
#define INGOT_NETWORK_NETWORK_H
#include "base/json_reader.h"
#include "ingot/metal.h"

// Where memory comes from: the functions of runtime/object/object.h, or the like.
typedef struct NetMemory {
    void *(*alloc)(size_t n_bytes); // zeroed
    void *(*alloc_aligned)(size_t n_bytes, size_t alignment);
    void (*free)(void *p);
    bool (*grow)(void *array, size_t *capacity, size_t n, size_t item_bytes);
    char *(*copy)(const char *s);
} NetMemory;

enum { NET_MAX_RANK = 8, NET_MAX_INPUTS = 64, NET_MAX_STEPS = 65536 };

typedef enum NetForm { EACH, PAIR, ROWS, MATMUL, CONV, RESHAPE, TRANSPOSE, CONCAT } NetForm;
typedef enum NetOp {
#define OP(name, form, kind) NET_##name,
#include "runtime/network/ops.def"
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

typedef struct Network { // never changes once read
    const NetMemory *memory;
    char *name; // of its function
    MTLTensorDataType type;
    NetValue *values;
    size_t n_values, values_capacity;
    NetStep *steps;
    size_t n_steps, steps_capacity;
} Network;

// Reads a package. NULL: the message (JSON_MESSAGE_BYTES) names file and key; "" there: no memory.
Network *network_read(const NetMemory *memory, const char *folder, char *message);
void network_free(Network *network);
size_t network_type_bytes(MTLTensorDataType type); // 0: not one for networks
const char *network_op_name(NetOp op);
NetForm network_op_form(NetOp op);
uint32_t network_op_kind(NetOp op);

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
bool network_plan(const Network *network, const MTL4MachineLearningPipelineDescriptor *d,
                  NetPlan *plan, char *message);
void network_plan_free(const Network *network, NetPlan *plan);
static inline int64_t network_shape_count(const NetShape *s) {
    int64_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++) n *= s->n[i];
    return n;
}

// ---- Steps as dispatches ----

typedef enum NetKernel {
    NET_KERNEL_FLAT,
    NET_KERNEL_EACH,
    NET_KERNEL_RESHAPE,
    NET_KERNEL_ROWS,
    NET_KERNEL_MATMUL, // + 1: first transposed, + 2: second
    NET_KERNEL_CONV = NET_KERNEL_MATMUL + 4,
    NET_N_KERNELS
} NetKernel;

// The text of the kernels, and what it includes. TYPE is a macro: network_type_name().
extern const MTLHeader network_headers[];
extern const size_t network_header_count;
const char *network_source(void);
const char *network_type_name(MTLTensorDataType type); // "half"
const char *network_kernel_name(NetKernel kernel);     // the function in it
void network_kernels_needed(const Network *network, bool needed[NET_N_KERNELS]);

// A value in memory while a network runs.
typedef struct NetOperand {
    char *data;
    NetShape shape;
    int64_t strides[NET_MAX_RANK]; // in elements; 0 where a size is 1 or beyond the rank
} NetOperand;

// Takes dispatches. `what` is the kernel's one argument, a structure to be copied; each dispatch
// sees what those before it wrote. False: no memory.
typedef struct NetDispatch {
    NetKernel kernel;
    const void *what;
    size_t n_bytes;
    uint32_t groups[3], threads[3]; // in all; a threadgroup is a row of group_size
    uint32_t group_size;
} NetDispatch;
typedef bool NetTake(void *context, const NetDispatch *dispatch);
// All steps, in order. operands: one per value. False: take gave up.
bool network_encode(const Network *network, const NetOperand *operands, NetTake *take,
                    void *context);
#endif

// SPDX-License-Identifier: Apache-2.0
// elementwise.h: the element-wise operations as numbers and what is known of each.
#ifndef INGOT_TENSOR_ELEMENTWISE_H
#define INGOT_TENSOR_ELEMENTWISE_H
#include "tensor/tensor_int.h"

typedef enum IgOp {
#define UNARY(NAME, RESULT, METAL) IG_OP_##NAME,
#define BINARY UNARY
#define TERNARY UNARY
#include "tensor/elementwise.def"
#undef UNARY
#undef BINARY
#undef TERNARY
    IG_N_OPS
} IgOp;

typedef enum IgResult { IG_SAME, IG_FLOAT, IG_BOOL, IG_KEEP, IG_GIVEN, IG_BITS } IgResult;
typedef struct IgOpInfo {
    const char *name, *call; // relu, ig_relu
    int arity;
    IgResult result;
    const char *metal;
} IgOpInfo;
extern const IgOpInfo ig_ops[IG_N_OPS];
int ig_op_values(IgOp op); // how many numbers go with it

// Records an operation on views that are broadcast to one shape by it. `given`: the type of cast.
IgTensor *ig_elementwise(IgOp op, IgTensor *const *inputs, const double *values, IgType given,
                         MTLError **error);
#endif

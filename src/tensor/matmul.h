// SPDX-License-Identifier: Apache-2.0
// matmul.h: matrix products, and element-wise operations behind them in the same kernel.
#ifndef INGOT_TENSOR_MATMUL_H
#define INGOT_TENSOR_MATMUL_H
#include "tensor/fuse.h"

bool ig_is_product(const IgExpr *expr); // of matrices, not made yet
// With device->lock held: encodes the product and what follows it. f->product is the product's
// data, leaf f->product_leaf its value; f->nodes the operations behind it, empty for the product
// alone. Allocates what f->nodes say, or the product itself.
bool ig_matmul_encode(IgDevice *device, IgFused *f, MTLError **error);
// A product of stacks of matrices of one floating type, in float: sums of it are rounded once.
// Without gradients.
IgTensor *ig_matmul_wide(IgTensor *a, IgTensor *b, MTLError **error);
#endif

// SPDX-License-Identifier: Apache-2.0
// pending_ops.c: declared operations that are still being written.
#include "tensor/tensor_int.h"
#define LATER(NAME) ig_fail(error, IgErrorArgument, #NAME ": is not there yet")
#define U(x) (void)(x)
IgTensor *ig_cumprod(IgTensor *x, int a, MTLError **error) { U(x), U(a), LATER(ig_cumprod); return NULL; }
IgTensor *ig_scatter(IgTensor *x, int a, IgTensor *i, IgTensor *s, MTLError **error) { U(x), U(a), U(i), U(s), LATER(ig_scatter); return NULL; }
IgTensor *ig_index_copy(IgTensor *x, int a, IgTensor *i, IgTensor *s, MTLError **error) { U(x), U(a), U(i), U(s), LATER(ig_index_copy); return NULL; }
IgTensor *ig_index_add(IgTensor *x, int a, IgTensor *i, IgTensor *s, MTLError **error) { U(x), U(a), U(i), U(s), LATER(ig_index_add); return NULL; }

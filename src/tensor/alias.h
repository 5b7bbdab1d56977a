// SPDX-License-Identifier: Apache-2.0
// alias.h: tensors that share memory (alias.c).
#ifndef INGOT_TENSOR_ALIAS_H
#define INGOT_TENSOR_ALIAS_H
#include "tensor/tensor_int.h"

// t, which shows the data of another one, is to see what is changed there, and vice versa.
void ig_alias_join(IgTensor *t, IgTensor *of);
void ig_alias_leave(IgTensor *t);
unsigned ig_alias_count(const IgTensor *t); // of tensors that share its memory, with it
// With device->lock held: all who share the memory of t have this data, of which the reference is
// taken over. `as`: they show it as this one does; NULL: as they showed the old one. The old data,
// for the caller to release.
IgData *ig_tensor_swap(IgTensor *t, IgData *data, const IgTensor *as);
// A tensor whose values lie otherwise than its elements should (`loose`) gets memory of its own
// before a view of it is made.
bool ig_settle(IgTensor *t, MTLError **error);
void ig_loosen(IgTensor *t); // marks it as that if it is; nobody shares it yet
// New values of its shape for a tensor and all who share its memory; history stays as it is. The
// value is nobody else's: its data may become theirs.
bool ig_give(IgTensor *t, IgTensor *value, MTLError **error);
#endif

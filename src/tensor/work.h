// SPDX-License-Identifier: Apache-2.0
// work.h: an operation that is one dispatch of a kernel of its own.
#ifndef INGOT_TENSOR_WORK_H
#define INGOT_TENSOR_WORK_H
#include "tensor/tensor_int.h"

enum { IG_WORK_WORDS = 16 };
typedef struct IgWork {
    IgKernelFile kernel;
    int32_t words[IG_WORK_WORDS]; // buffer 0; the inputs follow, the result, scratch
    MTLSize grid, group;
    bool groups;      // the grid counts threadgroups, else threads
    bool clear;       // the kernel does not write everything: 0 before
    size_t scratch;   // bytes of memory for this dispatch alone
    int64_t products; // of numbers, where threads do not show how long it takes (ig_more_work)
} IgWork;

// The result of the work on inputs that are contiguous. NULL if an input is.
IgTensor *ig_work(const char *call, const IgWork *work, int n, IgTensor *const *inputs,
                  const IgShape *shape, IgType type, MTLError **error);
// Threads in a row, or in rows: groups of at most 256.
void ig_work_threads(IgWork *work, int64_t x, int64_t y);
// A GPU reads rows of some thousand elements once: its threads hold them, eight SIMD-groups for a
// row, or one. The macros WIDE and HELD of such a kernel for rows of n elements, or NULL: it is not
// for them; and its threads.
const char *ig_rows_held(const IgDevice *device, const IgView *x, int64_t n);
size_t ig_rows_held_threads(int64_t n, int64_t n_rows);
// With device->lock held: the memory of data becomes 0.
bool ig_work_clear(IgDevice *device, IgData *data, MTLError **error);
#endif

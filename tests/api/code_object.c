// SPDX-License-Identifier: Apache-2.0
// code_object.c: a code object as mslc writes them, in C: what it does is chosen by its first
// argument, a pointer to Order (order.h). Compiled three ways: whole, for another interface, and
// empty.
#include <stdatomic.h>
#include "abi/cpu_kernel.h"
#include "order.h"

#ifndef NOTHING
#ifdef OTHER_ABI
#define ABI (ABI_VERSION + 1)
#else
#define ABI ABI_VERSION
#endif

extern const CpuKernelInfo ingot_kernel_info;
CpuKernelFn ingot_kernel;

const CpuKernelInfo ingot_kernel_info = {
    .abi = ABI, .width = 1, .n_slots = 2, .threadgroup_bytes = 256, .frame_stride = 128};

static int recurse(volatile char *above, int depth) {
    volatile char here[4096];
    here[0] = above[0];
    return depth == 0 ? here[0] : recurse(here, depth - 1) + here[0];
}

static void misbehave(const CpuLaunch *launch, Order *order) {
    volatile char byte = 1;
    switch (order->what) {
    case LOOP_FOR_EVER:
        while (!order->go_on);
        break;
    case TOUCH_NOTHING: *(volatile int *)order->address = 1; break;
    case TRAP: __builtin_trap();
    case OVERFLOW_STACK: order->result = recurse(&byte, 1 << 20); break;
    case LOG: launch->log(launch, 3, "sub\0cat", "hello", 0, 0); break;
    default: break;
    }
}

void ingot_kernel(const CpuLaunch *launch, uint64_t first, uint64_t end, void *threadgroup_memory,
                  void *frames) {
    Order *order = launch->args[0];
    unsigned *counts = launch->args[1];
    for (uint64_t g = first; g < end; g++) {
        if (g == order->at) misbehave(launch, order);
        // The scratch memory is this thread's alone while a threadgroup runs.
        uint64_t *scratch = threadgroup_memory, *frame = frames;
        scratch[0] = frame[0] = g;
        for (unsigned i = 0; g >= order->idle && i < order->work; i++)
            __asm__ volatile("" ::: "memory");
        if (scratch[0] != g || frame[0] != g || (uintptr_t)scratch % 128 || (uintptr_t)frame % 128)
            atomic_fetch_add((atomic_uint *)&order->collisions, 1);
        atomic_fetch_add((atomic_uint *)&counts[g], 1);
    }
}
#else
extern int nothing_here;
int nothing_here;
#endif

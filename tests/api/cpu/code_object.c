// SPDX-License-Identifier: Apache-2.0
// code_object.c: a code object as mslc writes them, in C: what it does is chosen by its first
// argument, a pointer to Order (order.h). Compiled three ways: whole, for another interface, and
// without what tells of it.
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

static void write_from(volatile char *at, long step, long n) {
    for (long i = 0; i < n; i++) at[i * step] = 0x5a;
}

// What no compiler would make of C.
static void break_out(int what) {
#if defined(__x86_64__)
    if (what == BREAK) __asm__ volatile("int3");
    if (what == DIVIDE) __asm__ volatile("divl %0" ::"r"(0), "a"(1), "d"(0));
    if (what == LOSE_STACK) __asm__ volatile("movq $16, %rsp\n movq $0, %rbp\n 1: jmp 1b");
    if (what == LOSE_REGISTERS)
        __asm__ volatile("movq %%rsp, %%rax\n xorl %%ebx, %%ebx\n xorl %%r12d, %%r12d\n"
                         "xorl %%r13d, %%r13d\n movq $1, %%r14\n movq $-1, %%r15\n std\n"
                         "jmpq *%0" ::"r"(16L));
#elif defined(__aarch64__)
    if (what == BREAK || what == DIVIDE) __asm__ volatile("brk #1");
    if (what == LOSE_STACK) __asm__ volatile("mov x9, #16\n mov sp, x9\n 1: b 1b");
    if (what == LOSE_REGISTERS)
        __asm__ volatile("mov x19, #0\n mov x20, #1\n mov x29, #0\n mov x30, #0\n ret");
#endif
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
    case WRITE_UP: write_from(&byte, 1, 1l << 40); break;
    case WRITE_DOWN: write_from(&byte - 4096, -1024, 1l << 40); break;
    case JUMP_AWAY: ((void (*)(void))(uintptr_t)order)(); break;
    case BREAK:
    case DIVIDE:
    case LOSE_STACK:
    case LOSE_REGISTERS: break_out(order->what); break;
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
CpuKernelFn ingot_kernel; // of which nothing is told
void ingot_kernel(const CpuLaunch *launch, uint64_t first, uint64_t end, void *threadgroup_memory,
                  void *frames) {
    (void)launch, (void)first, (void)end, (void)threadgroup_memory, (void)frames;
}
#endif

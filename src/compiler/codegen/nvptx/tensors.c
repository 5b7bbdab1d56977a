// SPDX-License-Identifier: Apache-2.0
// tensors.c: operations on tensors (compiler/tensor_call.h) as functions of nvptx/device.
//   purpose   matmul2d and convolution2d of a SIMD-group; how much shared memory products get to
//             bring their operands to
//   requires  msl_survey
#include "compiler/codegen/gpu.h"
#include "compiler/tensor_call.h"
#include "abi/tensor.h"
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 128,
    MAX_STAGES = 4,
    LEAST_STAGES = 2,
    SPLIT_COLUMNS = 128,
    CONTROL = 512,
    FOR_PROGRAMS = 32768
};

static bool is_hopper(const Cg *cg) { return !strcmp(cg->request->target, "sm_90a"); }

// Shared memory of a threadgroup; what a program may have of it is Metal's limit.
static uint32_t memory_of(const char *target) {
    int number = atoi(target + strlen("sm_"));
    uint32_t all = number == 80 || number == 87                    ? 163
                   : number == 86 || number == 89 || number >= 120 ? 99
                                                                   : 227;
    return all * 1024 - FOR_PROGRAMS;
}

static int64_t number(LLVMValueRef call, unsigned arg) {
    LLVMValueRef v = LLVMGetOperand(call, arg);
    return LLVMIsAConstantInt(v) ? LLVMConstIntGetSExtValue(v) : 0;
}
// Whether an operand is in threadgroup memory for all that the code says: it stays there.
static bool is_near(Cg *cg, LLVMValueRef data) {
    while (LLVMIsAGetElementPtrInst(data) || LLVMIsAAddrSpaceCastInst(data) ||
           LLVMIsABitCastInst(data))
        data = LLVMGetOperand(data, 0);
    return data == LLVMGetParam(cg->thread, cg->fn->n_slots);
}
static uint32_t padded(int64_t n) { return (uint32_t)(n + 63) & ~63u; }

// How many chunks of 128 bytes along k of both operands find room (codegen/nvptx/library/matmul.c);
// 0: it takes them from where they are.
static uint32_t stages_of(Cg *cg, LLVMValueRef call) {
    int64_t m = number(call, TENSOR_M), n = number(call, TENSOR_N);
    uint32_t types = (uint32_t)number(call, TENSOR_TYPES), type = types & 255;
    bool fits =
        type == (types >> 8 & 255) &&
        (type == ABI_TENSOR_FLOAT16 || type == ABI_TENSOR_BFLOAT16 || type == ABI_TENSOR_FLOAT32) &&
        !number(call, TENSOR_LAYOUT_A) && !number(call, TENSOR_LAYOUT_B) && m > 0 && n > 0;
    if (!fits || m > 1024 || n > 1024) return 0;
    if (is_near(cg, LLVMGetOperand(call, TENSOR_A)) || is_near(cg, LLVMGetOperand(call, TENSOR_B)))
        return 0;
    // Where four SIMD-groups multiply at once, B's floats are there in two parts, twice; halves
    // have maps and barriers.
    bool split = type == ABI_TENSOR_FLOAT32 && is_hopper(cg);
    uint32_t parts = split           ? 4 * padded(n < SPLIT_COLUMNS ? n : SPLIT_COLUMNS) * LINE
                     : is_hopper(cg) ? CONTROL
                                     : 0;
    uint32_t bytes = (padded(m) + padded(n)) * LINE,
             stages = (memory_of(cg->request->target) - parts) / bytes;
    if (stages > MAX_STAGES) stages = MAX_STAGES;
    if (stages < LEAST_STAGES) return 0;
    if (stages * bytes + parts > cg->gpu.library_bytes)
        cg->gpu.library_bytes = stages * bytes + parts;
    return stages;
}

bool msl_lower_gpu_tensor(Cg *cg, LLVMValueRef call) {
    enum { MAX_ARGS = 64 };
    const char *name = msl_callee(call);
    bool product = strstr(name, TENSOR_MATMUL);
    if (!product && !strstr(name, TENSOR_CONVOLUTION)) return false;
    LLVMValueRef args[MAX_ARGS];
    unsigned n = LLVMGetNumArgOperands(call);
    if (n != (product ? TENSOR_MATMUL_ARGS : TENSOR_CONVOLUTION_ARGS))
        msl_fail(&cg->cx, "a tensor operation is called with %u arguments", n);
    for (unsigned i = 0; i < n; i++) args[i] = LLVMGetOperand(call, i);
    if (product) {
        args[n++] = msl_const(&cg->cx, 32, stages_of(cg, call));
        args[n++] = msl_const(&cg->cx, 32, is_hopper(cg));
    }
    cg->uses.lanes = true;
    msl_replace_call(cg, call, product ? "ingot_tensor_matmul" : "ingot_tensor_convolution", args,
                     n);
    return true;
}

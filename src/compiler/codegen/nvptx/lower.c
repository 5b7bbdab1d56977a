// SPDX-License-Identifier: Apache-2.0
// lower.c: a thread function -> a kernel in PTX for GPUs of NVIDIA's.
//   idea      a block is a threadgroup, a warp a SIMD-group: threads stay scalar. The kernel has a
//             parameter for each slot and the words of CudaGrid; threadgroup memory is the block's
//             dynamic shared memory. Threads beyond the grid's edge leave at once
//   order     calls    built-ins become functions of the library (nvptx/device), with masks
//             library  joins the module
//             kernel   is built around the thread function
//             inline   all of it: then the library's questions about the grid are in the kernel,
//                      where the answers are, and pointers have one origin each
//             passes   address spaces first: accesses to shared and global memory by themselves
//             scopes   atomics are the threadgroup's or the device's; LLVM's default is the
//             system's
//   requires  msl_survey
#include "compiler/codegen/gpu.h"
#include "compiler/codegen/wrap.h"
#include "abi/kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PTX_KERNEL = 71, GLOBAL = 1, SHARED = 3 }; // LLVM's calling convention, address spaces

const char *msl_ptx_version(const char *target) {
    // The oldest PTX that knows the processor: drivers read what is older than they are.
    static const struct {
        const char *target, *ptx;
    } table[] = {{"sm_80", "+ptx80"},  {"sm_86", "+ptx80"},  {"sm_87", "+ptx80"},
                 {"sm_89", "+ptx80"},  {"sm_90", "+ptx80"},  {"sm_90a", "+ptx80"},
                 {"sm_100", "+ptx86"}, {"sm_103", "+ptx88"}, {"sm_120", "+ptx87"},
                 {"sm_121", "+ptx88"}};
    for (size_t i = 0; target && i < sizeof table / sizeof *table; i++)
        if (!strcmp(target, table[i].target)) return table[i].ptx;
    return NULL;
}

void msl_check_gpu(Cg *cg) {
    const MslKernelRequest *r = cg->request;
    const char *what = r->width == 1 ? "lane-by-lane code"
                       : r->cpu      ? "another CPU"
                       : r->features ? "CPU features"
                                     : NULL;
    if (what) msl_fail(&cg->cx, "code for GPUs (%s) does not have %s", r->target, what);
    const RfFunction *f = rf_find_function(cg->lib, r->function);
    if (f && f->stage != RF_KERNEL)
        msl_fail(&cg->cx, "'%s' is not a kernel: code for GPUs (%s) has nothing else yet",
                 r->function, r->target);
}

static bool has(const Cg *cg, const char *name) {
    return LLVMGetNamedFunction(cg->cx.module, name) != NULL;
}

// ---- the kernel ----

static LLVMTypeRef *slot_types(Cg *cg) {
    MslContext *cx = &cg->cx;
    unsigned n = cg->fn->n_slots;
    LLVMTypeRef *types = malloc((n + CUDA_GRID_WORDS + CUDA_MAX_CONSTANTS + 1) * sizeof *types);
    if (!types) msl_fail(cx, "out of memory");
    for (unsigned i = 0; i < n; i++) types[i] = msl_int(cx, 64);
    for (uint32_t a = 0; a < cg->fn->n_args; a++) {
        const RfArg *arg = &cg->fn->args[a];
        if (arg->kind != RF_ARG_BUFFER) continue;
        for (uint32_t k = 0; k < arg->count && arg->slot + k < n; k++)
            types[arg->slot + k] = LLVMPointerTypeInContext(cx->llvm, GLOBAL);
    }
    for (unsigned i = 0; i < CUDA_GRID_WORDS; i++) types[n + i] = msl_int(cx, 32);
    for (unsigned i = 0; i < cg->gpu.n_constants; i++)
        types[n + CUDA_GRID_WORDS + i] = msl_int(cx, 32);
    types[n + CUDA_GRID_WORDS + cg->gpu.n_constants] = msl_int(cx, 64);
    return types;
}

// "noalias readonly" is what makes loads go through the read-only cache.
static void copy_attributes(Cg *cg, LLVMValueRef kernel) {
    static const char *const names[] = {"noalias", "readonly", "writeonly"};
    for (unsigned i = 0; i < cg->fn->n_slots; i++) {
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(kernel, i))) != LLVMPointerTypeKind) continue;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(names[k], strlen(names[k]));
            if (LLVMGetEnumAttributeAtIndex(cg->thread, i + 1, kind))
                msl_add_attribute(&cg->cx, kernel, i + 1, names[k], 0);
        }
    }
}

static LLVMValueRef threadgroup_memory(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef shared = LLVMGetNamedGlobal(cx->module, "ingot_shared"),
                 before = msl_const(cx, 64, cg->gpu.library_bytes);
    if (!shared)
        shared = LLVMAddGlobalInAddressSpace(cx->module, LLVMArrayType2(msl_int(cx, 8), 0),
                                             "ingot_shared", SHARED);
    LLVMSetAlignment(shared, cg->gpu.library_bytes ? 1024 : 128);
    LLVMValueRef p = LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), shared, &before, 1, "");
    return LLVMBuildAddrSpaceCast(cx->builder, p, msl_ptr(cx), "");
}

static LLVMValueRef build_kernel(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    unsigned n = cg->fn->n_slots;
    LLVMTypeRef *types = slot_types(cg), nothing = LLVMVoidTypeInContext(cx->llvm);
    LLVMValueRef kernel = LLVMAddFunction(
        cx->module, CUDA_KERNEL_SYMBOL,
        LLVMFunctionType(nothing, types,
                         n + CUDA_GRID_WORDS + cg->gpu.n_constants + has(cg, "__ingot_launch"), 0));
    free(types);
    LLVMSetFunctionCallConv(kernel, PTX_KERNEL);
    copy_attributes(cg, kernel);
    LLVMValueRef outside = LLVMGetNamedFunction(cx->module, "ingot_outside"), args[256 + 1];
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cx->llvm, kernel, ""),
                      run = LLVMAppendBasicBlockInContext(cx->llvm, kernel, "run"),
                      leave = LLVMAppendBasicBlockInContext(cx->llvm, kernel, "leave");
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMTypeRef type = LLVMGlobalGetValueType(outside);
    LLVMBuildCondBr(b, LLVMBuildCall2(b, type, outside, NULL, 0, ""), leave, run);
    LLVMPositionBuilderAtEnd(b, run);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef slot = LLVMGetParam(kernel, i);
        args[i] = LLVMGetTypeKind(LLVMTypeOf(slot)) == LLVMPointerTypeKind
                      ? LLVMBuildAddrSpaceCast(b, slot, msl_ptr(cx), "")
                      : LLVMBuildIntToPtr(b, slot, msl_ptr(cx), "");
    }
    args[n] = threadgroup_memory(cg);
    LLVMBuildCall2(b, LLVMGlobalGetValueType(cg->thread), cg->thread, args, n + 1, "");
    LLVMBuildBr(b, leave);
    LLVMPositionBuilderAtEnd(b, leave);
    LLVMBuildRetVoid(b);
    return kernel;
}

// Only the kernel is seen from outside, and everything becomes part of it.
static void internalise(Cg *cg, LLVMValueRef kernel) {
    msl_add_attribute(&cg->cx, cg->thread, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && f != kernel) LLVMSetLinkage(f, LLVMInternalLinkage);
}

// ---- what only the kernel knows ----

typedef LLVMValueRef Answer(Cg *cg, LLVMValueRef kernel, LLVMValueRef call);

static LLVMValueRef grid_word(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    LLVMValueRef word = LLVMGetOperand(call, 0);
    if (!LLVMIsAConstantInt(word) || LLVMConstIntGetZExtValue(word) >= CUDA_GRID_WORDS)
        msl_fail(&cg->cx, "internal error: a word of the grid that is none");
    return LLVMGetParam(kernel, cg->fn->n_slots + (unsigned)LLVMConstIntGetZExtValue(word));
}

static LLVMValueRef constant(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    unsigned i = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
    return LLVMGetParam(kernel, cg->fn->n_slots + CUDA_GRID_WORDS + i);
}

static bool is_line(const Cg *cg) { return cg->uses.lanes; }

static LLVMValueRef in_line(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    (void)kernel;
    return LLVMConstInt(LLVMTypeOf(call), is_line(cg), 0);
}

static LLVMValueRef in_bands(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    (void)kernel;
    return LLVMConstInt(LLVMTypeOf(call), cg->gpu.library_bytes != 0, 0);
}

// The surroundings; they are asked for once at most in each place.
static LLVMValueRef launch(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    cg->gpu.has_surroundings = true;
    LLVMPositionBuilderBefore(cg->cx.builder, call);
    return LLVMBuildIntToPtr(
        cg->cx.builder,
        LLVMGetParam(kernel, cg->fn->n_slots + CUDA_GRID_WORDS + cg->gpu.n_constants),
        LLVMTypeOf(call), "");
}

static LLVMValueRef never(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    (void)cg, (void)kernel;
    return LLVMConstNull(LLVMTypeOf(call));
}

static void answer(Cg *cg, LLVMValueRef kernel, const char *name, Answer *give) {
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, name);
    for (LLVMUseRef u; f && (u = LLVMGetFirstUse(f));) {
        LLVMValueRef call = LLVMGetUser(u);
        if (!LLVMIsACallInst(call)) msl_fail(&cg->cx, "internal error: the address of %s", name);
        LLVMReplaceAllUsesWith(call, give(cg, kernel, call));
        LLVMInstructionEraseFromParent(call);
    }
}

// ---- atomics ----

static LLVMValueRef address_of(LLVMValueRef i, LLVMOpcode op) {
    return op == LLVMFence ? NULL : LLVMGetOperand(i, op == LLVMStore ? 1 : 0);
}

static void scope_atomics(Cg *cg, LLVMValueRef kernel) {
    unsigned device = LLVMGetSyncScopeID(cg->cx.llvm, "device", 6),
             block = LLVMGetSyncScopeID(cg->cx.llvm, "block", 5);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMOpcode op = LLVMGetInstructionOpcode(i);
            bool access = (op == LLVMLoad || op == LLVMStore) &&
                          LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
            if (!access && op != LLVMAtomicRMW && op != LLVMAtomicCmpXchg && op != LLVMFence)
                continue;
            LLVMValueRef p = address_of(i, op);
            bool shared = p && LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == SHARED;
            LLVMSetAtomicSyncScopeID(i, shared ? block : device);
        }
}

// ---- the whole ----

void msl_link_gpu_code(Cg *cg, MslGpuPart part) {
    MslElf code = msl_gpu_code(part);
    msl_join(cg, msl_open_lazily(cg, code.bytes, code.n_bytes));
}

static void link_library(Cg *cg) {
    bool wanted[] = {[MSL_GPU_POSITION] = true,
                     [MSL_GPU_SIMD] = cg->uses.simd || cg->uses.meet,
                     [MSL_GPU_MATRIX] = has(cg, "ingot_masked_simdgroup_mma_f32"),
                     [MSL_GPU_MATMUL] = has(cg, "ingot_tensor_matmul"),
                     [MSL_GPU_CONVOLUTION] = has(cg, "ingot_tensor_convolution"),
                     [MSL_GPU_NOTES] = has(cg, "ingot_log") && !cg->request->validate};
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (wanted[i]) msl_link_gpu_code(cg, (MslGpuPart)i);
    }
}

static void check_lowered(Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && !msl_starts(name, "llvm.") &&
            !msl_starts(name, "ingot_texture_"))
            msl_fail(&cg->cx, "'%s' uses '%s', which code for GPUs (%s) does not have yet",
                     cg->fn->name, name, cg->request->target);
    }
}

// Clang's null of another space is, with all spaces alike, a cast of null to its own type.
static void drop_idle_casts(Cg *cg) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            for (int k = 0; k < LLVMGetNumOperands(i); k++) {
                LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
                if (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMAddrSpaceCast &&
                    LLVMTypeOf(LLVMGetOperand(v, 0)) == LLVMTypeOf(v))
                    LLVMSetOperand(i, (unsigned)k, LLVMGetOperand(v, 0));
            }
}

// So many threads must find registers: what the program says that a threadgroup has at most, or the
// shape that the code is for.
static void limit_registers(Cg *cg, LLVMValueRef kernel) {
    const uint32_t *shape = cg->request->shape;
    uint32_t most = cg->fn->max_total_threads;
    if (!most) most = shape[0] * shape[1] * shape[2];
    char number[16];
    int n = snprintf(number, sizeof number, "%u", most);
    if (most)
        LLVMAddAttributeAtIndex(
            kernel, LLVMAttributeFunctionIndex,
            LLVMCreateStringAttribute(cg->cx.llvm, "nvvm.maxntid", 12, number, (unsigned)n));
}

void msl_lower_gpu(Cg *cg) {
    MslContext *cx = &cg->cx;
    drop_idle_casts(cg);
    msl_lower_handle_words(cg);
    msl_lower_texture_info(cg);
    msl_redirect_logs(cg);
    msl_lower_gpu_calls(cg);
    if (!has(cg, "__ingot_launch")) msl_take_constants(cg);
    link_library(cg);
    LLVMValueRef kernel = build_kernel(cg);
    msl_set_target_attributes(cg);
    LLVMSetFunctionCallConv(kernel, PTX_KERNEL);
    limit_registers(cg, kernel);
    internalise(cg, kernel);
    msl_run_passes(cx, NULL, "always-inline,globaldce");
    answer(cg, kernel, "ingot_grid", grid_word);
    answer(cg, kernel, "ingot_in_line", in_line);
    answer(cg, kernel, "ingot_in_bands", in_bands);
    answer(cg, kernel, "__ingot_never", never);
    answer(cg, kernel, "__ingot_launch", launch);
    cg->thread = NULL;
    msl_verify(cx, "gpu");
    msl_run_passes(cx, NULL, "function(infer-address-spaces,sroa,early-cse,simplifycfg)");
    answer(cg, kernel, "ingot_constant", constant); // its argument is one now
    msl_unroll_arrays(cg, kernel);
    // Loops whose ends are not known are the assembler's to unroll: it does that better.
    msl_run_passes_with(cx, NULL,
                        "function(infer-address-spaces,sroa,early-cse," INSTCOMBINE ",simplifycfg),"
                        "function(loop-simplify,lcssa,loop-mssa(loop-rotate,licm),"
                        "loop(indvars,loop-unroll-full),sroa," INSTCOMBINE ",simplifycfg),"
                        "default<O2>,"
                        "function(infer-address-spaces,sroa," INSTCOMBINE ",gvn,simplifycfg)",
                        false);
    scope_atomics(cg, kernel);
    msl_note_effects(cg, kernel);
    msl_rename_for_textures(cg);
    check_lowered(cg);
    msl_verify(cx, "gpu");
}

// Maps of matrices (codegen/nvptx/library/bulk.h) need a newer PTX than all else, and drivers from
// 12.5 on.
static void ask_for_maps(char *ptx) {
    static const char old[] = ".version 8.0", new[] = ".version 8.5";
    char *at = strstr(ptx, "tensormap.replace") ? strstr(ptx, old) : NULL;
    if (at) memcpy(at, new, sizeof new - 1);
}

// For people: the text, and what was found out about it. NULL: no memory.
static char *with_effects(const Cg *cg, const char *text, size_t *n) {
    char *all = malloc(*n + 1024);
    if (!all) return NULL;
    memcpy(all, text, *n);
    int at = snprintf(all + *n, 64, cg->gpu.effects_known ? "// reads" : "// may reach any memory");
    for (int written = 0; cg->gpu.effects_known && written < 2; written++) {
        uint64_t slots = written ? cg->gpu.slots_written : cg->gpu.slots_read;
        if (written) at += snprintf(all + *n + at, 64, "; writes");
        for (; slots; slots &= slots - 1)
            at += snprintf(all + *n + at, 8, " %d", __builtin_ctzll(slots));
    }
    at += snprintf(all + *n + at, 8, "\n");
    *n += (size_t)at;
    return all;
}

static char *put_text(char *to, const void *text, size_t n_bytes) { // and a zero
    memcpy(to, text, n_bytes);
    to[n_bytes] = 0;
    return to + n_bytes + 1;
}

static bool take_code(MslKernel *out, CudaKernelInfo *info, const char *ptx, size_t n,
                      bool reads_textures) {
    MslElf blocks = msl_gpu_code(MSL_GPU_BLOCKS), none = msl_gpu_code(MSL_GPU_NO_BLOCKS);
    if (reads_textures) {
        info->blocks_bytes = (uint32_t)blocks.n_bytes + 1;
        info->no_blocks_bytes = (uint32_t)none.n_bytes + 1;
    }
    out->code_bytes = sizeof *info + n + 1 + info->blocks_bytes + info->no_blocks_bytes;
    out->code = malloc(out->code_bytes);
    if (!out->code) return false;
    memcpy(out->code, info, sizeof *info);
    char *to = put_text((char *)out->code + sizeof *info, ptx, n);
    if (!reads_textures) return true;
    to = put_text(to, blocks.bytes, blocks.n_bytes);
    put_text(to, none.bytes, none.n_bytes);
    return true;
}

void msl_emit_gpu(Cg *cg, MslKernel *out) {
    LLVMMemoryBufferRef text = msl_emit(cg);
    ask_for_maps((char *)(uintptr_t)LLVMGetBufferStart(text));
    const char *start = LLVMGetBufferStart(text);
    size_t n = LLVMGetBufferSize(text);
    char *joined = NULL;
    bool whole = cg->request->emit != NULL; // one text for who wants to read it
    if (cg->gpu.textures) {
        joined = msl_join_texture_code(cg, start, n, whole, &n);
        start = joined;
    }
    CudaKernelInfo info = {.magic = CUDA_KERNEL_MAGIC,
                           .abi = ABI_VERSION,
                           .flags = (is_line(cg) ? CUDA_KERNEL_LINE : 0u) |
                                    (cg->gpu.has_surroundings ? CUDA_KERNEL_SURROUNDINGS : 0u) |
                                    (cg->gpu.effects_known ? CUDA_KERNEL_KNOWN : 0u),
                           .n_slots = cg->fn->n_slots,
                           .threadgroup_bytes = cg->threadgroup_bytes,
                           .library_bytes = cg->gpu.library_bytes,
                           .n_constants = cg->gpu.n_constants,
                           .only_constants = cg->gpu.only_constants,
                           .slots_read = cg->gpu.slots_read,
                           .slots_written = cg->gpu.slots_written};
    memcpy(info.constants, cg->gpu.constants, sizeof info.constants);
    memcpy(info.shape, cg->request->shape, sizeof info.shape);
    bool done = start != NULL;
    if (done && whole) {
        char *told = with_effects(cg, start, &n);
        done = told && msl_take_text(told, n, out);
        free(told);
    } else if (done) {
        done =
            take_code(out, &info, start, n, (cg->gpu.textures & ~(uint32_t)MSL_TEXTURE_STORE) != 0);
    }
    LLVMDisposeMemoryBuffer(text);
    free(joined);
    if (!done) msl_fail(&cg->cx, "out of memory");
}

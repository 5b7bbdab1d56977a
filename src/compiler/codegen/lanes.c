// SPDX-License-Identifier: Apache-2.0
// lanes.c: the reference back end: the thread function stays scalar.
//   purpose   thread(slots..., memory) -> ingot_thread(launch, lane, memory) for
//             codegen/support/lanes.c
//   does      calls to __ingot_x(...) become ingot_lane_x(lane, ...); before each call that may
//             stop, the thread's position in the program is written down (see
//             codegen/support/lanes.c)
//   requires  everything inlined; runs on code that is not optimised further before, so that LLVM's
//             loop transformations are checked along with the vectoriser
#include "compiler/codegen/wrap.h"
#include "abi/cpu_rays.h"
#include "abi/cpu_texture.h"
#include "compiler/tensor_call.h"
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block {
    LLVMBasicBlockRef block;
    unsigned order; // reverse post-order
    unsigned depth; // loops around it
    int loop;       // header (index in blocks) of the innermost loop around it, or -1
    bool header, reached, on_path;
} Block;
typedef struct Flow {
    Block *blocks;
    unsigned n, *rpo; // rpo[k]: k-th block
    unsigned n_rpo;
} Flow;

static int block_index(const Flow *flow, LLVMBasicBlockRef b) {
    for (unsigned i = 0; i < flow->n; i++)
        if (flow->blocks[i].block == b) return (int)i;
    return -1;
}

// Post-order by depth-first search; an edge to a block on the current path makes it a loop header.
static void visit(Flow *flow, unsigned at) {
    Block *b = &flow->blocks[at];
    b->reached = b->on_path = true;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b->block);
    for (unsigned s = LLVMGetNumSuccessors(end); s-- > 0;) {
        int to = block_index(flow, LLVMGetSuccessor(end, s));
        if (flow->blocks[to].on_path)
            flow->blocks[to].header = true;
        else if (!flow->blocks[to].reached)
            visit(flow, (unsigned)to);
    }
    b->on_path = false;
    flow->rpo[flow->n_rpo++] = at;
}

static bool has_edge(const Flow *flow, unsigned from, unsigned to) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[from].block);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
        if (LLVMGetSuccessor(end, s) == flow->blocks[to].block) return true;
    return false;
}

// Marks the natural loop of header h: what reaches a back edge without passing h.
static void mark_loop(Flow *flow, unsigned h, bool *in, unsigned *work) {
    memset(in, 0, flow->n);
    unsigned n = 0;
    in[h] = true;
    for (unsigned i = 0; i < flow->n; i++)
        if (flow->blocks[i].reached && !in[i] && flow->blocks[i].order >= flow->blocks[h].order &&
            has_edge(flow, i, h))
            in[i] = true, work[n++] = i;
    while (n) {
        unsigned at = work[--n];
        for (unsigned i = 0; i < flow->n; i++)
            if (flow->blocks[i].reached && !in[i] && has_edge(flow, i, at))
                in[i] = true, work[n++] = i;
    }
    for (unsigned i = 0; i < flow->n; i++) {
        if (!in[i]) continue;
        flow->blocks[i].depth++;
        flow->blocks[i].loop = (int)h; // headers come in reverse post-order: the innermost is last
    }
}

static bool build_flow(LLVMValueRef f, Flow *flow) {
    *flow = (Flow){.n = LLVMCountBasicBlocks(f)};
    flow->blocks = calloc(flow->n, sizeof *flow->blocks);
    flow->rpo = calloc(flow->n, sizeof *flow->rpo);
    bool *in = calloc(flow->n, 1);
    unsigned *work = calloc(flow->n + 1, sizeof *work);
    bool ok = flow->blocks && flow->rpo && in && work;
    if (ok) {
        unsigned k = 0;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b), k++)
            flow->blocks[k] = (Block){.block = b, .loop = -1};
        visit(flow, 0);
        for (unsigned i = 0; i < flow->n_rpo; i++)
            flow->blocks[flow->rpo[i]].order = flow->n_rpo - 1 - i;
        for (unsigned i = flow->n_rpo; i-- > 0;)
            if (flow->blocks[flow->rpo[i]].header) mark_loop(flow, flow->rpo[i], in, work);
    }
    free(in);
    free(work);
    return ok;
}

static LLVMValueRef device_function(Cg *cg, const char *name) {
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, name);
    if (!f) msl_fail(&cg->cx, "the reference code has no '%s'", name);
    return f;
}

static void call_device(Cg *cg, const char *name, LLVMValueRef lane, unsigned a, unsigned b,
                        bool two) {
    LLVMValueRef f = device_function(cg, name),
                 args[3] = {lane, msl_const(&cg->cx, 32, a), msl_const(&cg->cx, 32, b)};
    LLVMBuildCall2(cg->cx.builder, LLVMGlobalGetValueType(f), f, args, two ? 3 : 2, "");
}

// Loop headers count iterations; the blocks that enter a loop reset its counter.
static void track_loops(Cg *cg, const Flow *flow, LLVMValueRef lane) {
    LLVMBuilderRef builder = cg->cx.builder;
    for (unsigned h = 0; h < flow->n; h++) {
        const Block *header = &flow->blocks[h];
        if (!header->reached || !header->header) continue;
        LLVMValueRef at = LLVMGetFirstInstruction(header->block);
        while (LLVMIsAPHINode(at)) at = LLVMGetNextInstruction(at);
        LLVMPositionBuilderBefore(builder, at);
        call_device(cg, "ingot_lane_iterate", lane, header->depth - 1, 0, false);
        for (unsigned i = 0; i < flow->n; i++) {
            if (!flow->blocks[i].reached || flow->blocks[i].order >= header->order ||
                !has_edge(flow, i, h))
                continue;
            LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(flow->blocks[i].block));
            call_device(cg, "ingot_lane_enter", lane, header->depth - 1, header->order << 12,
                        true); // as places are
        }
    }
}

static LLVMValueRef replace_call(Cg *cg, LLVMValueRef call, const char *name, LLVMValueRef lane) {
    enum { MAX_ARGS = 8 };
    char lane_name[160];
    snprintf(lane_name, sizeof lane_name, "ingot_lane_%s", name + strlen("__ingot_"));
    LLVMValueRef f = device_function(cg, lane_name), args[MAX_ARGS] = {lane};
    LLVMTypeRef type = LLVMGlobalGetValueType(f), want[MAX_ARGS];
    unsigned n = LLVMGetNumArgOperands(call) + 1;
    if (n != LLVMCountParams(f) || n > MAX_ARGS)
        msl_fail(&cg->cx, "'%s' is called with %u arguments", name, n - 1);
    LLVMGetParamTypes(type, want);
    for (unsigned i = 1; i < n; i++) {
        args[i] = LLVMGetOperand(call, i - 1);
        if (LLVMGetTypeKind(want[i]) == LLVMIntegerTypeKind) // bool is i1 or i8
            args[i] = LLVMBuildIntCast2(cg->cx.builder, args[i], want[i], 0, "");
        else if (LLVMTypeOf(args[i]) != want[i]) // the C ABI passes <2 x float> as a double
            args[i] = LLVMBuildBitCast(cg->cx.builder, args[i], want[i], "");
    }
    LLVMValueRef result = LLVMBuildCall2(cg->cx.builder, type, f, args, n, "");
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMIntegerTypeKind)
        result = LLVMBuildIntCast2(cg->cx.builder, result, LLVMTypeOf(call), 0, "");
    else if (LLVMTypeOf(result) != LLVMTypeOf(call) &&
             LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVectorTypeKind)
        result = LLVMBuildBitCast(cg->cx.builder, result, LLVMTypeOf(call), "");
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(call, result);
    LLVMInstructionEraseFromParent(call);
    return result;
}

// Rows and results of one texture function or trace at a time, shared by all calls.
static LLVMValueRef texture_memory(Cg *cg, LLVMValueRef lane) {
    static const char name[] = "texture.rows";
    MslContext *cx = &cg->cx;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetParamParent(lane));
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    size_t n;
    if (LLVMIsAAllocaInst(first) && strcmp(LLVMGetValueName2(first, &n), name) == 0) return first;
    LLVMPositionBuilderBefore(cx->builder, first);
    LLVMValueRef memory = LLVMBuildAlloca(
        cx->builder, LLVMArrayType2(msl_int(cx, 32), CPU_TEX_ROWS + CPU_TRANSFORM_RESULTS), name);
    LLVMSetAlignment(memory, 64);
    return memory;
}

// __ingot_texture_<what><op>(texture, sampler, rows...): the operation becomes an argument, the
// rows an array on the thread's stack.
static bool replace_texture_call(Cg *cg, LLVMValueRef call, LLVMValueRef lane) {
    MslContext *cx = &cg->cx;
    unsigned op, what = msl_texture_call(call, &op);
    if (!what) return false;
    const char *name = what == 's'   ? "ingot_lane_texture_sample"
                       : what == 'w' ? "ingot_lane_texture_write"
                       : what == 'a' ? "ingot_lane_texture_atomic"
                       : what == 't' ? "ingot_lane_texture_trace"
                       : what == 'p' ? "ingot_lane_texture_path"
                       : what == 'm' ? "ingot_lane_texture_matrix"
                                     : "ingot_lane_texture_read";
    LLVMTypeRef i32 = msl_int(cx, 32);
    LLVMValueRef rows = texture_memory(cg, lane), first_out = msl_const(cx, 64, CPU_TEX_ROWS);
    LLVMPositionBuilderBefore(cx->builder, call);
    LLVMValueRef out = LLVMBuildInBoundsGEP2(cx->builder, i32, rows, &first_out, 1, "");
    for (unsigned r = 0; r < CPU_TEX_ROWS; r++) {
        LLVMValueRef at = msl_const(cx, 64, r);
        LLVMBuildStore(cx->builder, LLVMGetOperand(call, r + 2),
                       LLVMBuildInBoundsGEP2(cx->builder, i32, rows, &at, 1, ""));
    }
    LLVMValueRef f = device_function(cg, name), args[] = {lane,
                                                          LLVMGetOperand(call, 0),
                                                          LLVMGetOperand(call, 1),
                                                          msl_const(cx, 32, op),
                                                          rows,
                                                          out};
    LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(f), f, args, 6, "");
    if (what != 'w') {
        LLVMValueRef results = LLVMBuildLoad2(cx->builder, LLVMTypeOf(call), out, "");
        LLVMSetAlignment(results, 16);
        LLVMReplaceAllUsesWith(call, results);
    }
    LLVMInstructionEraseFromParent(call);
    return true;
}

// __ingot_tensor_*(...): the arguments become an array of 64-bit words on the thread's stack.
static bool replace_tensor_call(Cg *cg, LLVMValueRef call, LLVMValueRef lane) {
    MslContext *cx = &cg->cx;
    bool product = strstr(msl_callee(call), TENSOR_MATMUL);
    if (!product && !strstr(msl_callee(call), TENSOR_CONVOLUTION)) return false;
    unsigned n = LLVMGetNumArgOperands(call);
    if (n != (product ? TENSOR_MATMUL_ARGS : TENSOR_CONVOLUTION_ARGS))
        msl_fail(cx, "a tensor operation is called with %u arguments", n);
    LLVMTypeRef i64 = msl_int(cx, 64);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetParamParent(lane));
    LLVMPositionBuilderBefore(cx->builder, LLVMGetFirstInstruction(entry));
    LLVMValueRef words = LLVMBuildAlloca(cx->builder, LLVMArrayType2(i64, n), "tensor.args");
    LLVMPositionBuilderBefore(cx->builder, call);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef v = LLVMGetOperand(call, k), at = msl_const(cx, 64, k);
        v = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind
                ? LLVMBuildPtrToInt(cx->builder, v, i64, "")
                : LLVMBuildIntCast2(cx->builder, v, i64, 1, "");
        LLVMBuildStore(cx->builder, v, LLVMBuildInBoundsGEP2(cx->builder, i64, words, &at, 1, ""));
    }
    LLVMValueRef f = device_function(cg, product ? "ingot_lane_tensor_matmul"
                                                 : "ingot_lane_tensor_convolution"),
                 args[] = {lane, words};
    LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(f), f, args, 2, "");
    LLVMInstructionEraseFromParent(call);
    return true;
}

static bool may_stop(const char *name) {
    return !msl_starts(name, "__ingot_position") && !msl_starts(name, "__ingot_launch") &&
           !msl_starts(name, "__ingot_never");
}

static void rewrite_calls(Cg *cg, const Flow *flow, LLVMValueRef lane) {
    for (unsigned k = 0; k < flow->n; k++) {
        const Block *b = &flow->blocks[k];
        unsigned place = 0;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b->block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            const char *name = msl_callee(i);
            if (!strstr(name, "__ingot_")) continue;
            LLVMPositionBuilderBefore(cg->cx.builder, i);
            if (may_stop(name))
                call_device(cg, "ingot_lane_at", lane, b->depth, (b->order << 12) + place++, true);
            if (!replace_texture_call(cg, i, lane) && !replace_tensor_call(cg, i, lane))
                replace_call(cg, i, name, lane);
        }
    }
}

// Division by zero and of the least integer by -1 must not trap: both divide by 1 instead, as the
// vectoriser does for uniform values.
static void guard_division(Cg *cg, LLVMValueRef i) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    bool is_signed = op == LLVMSDiv || op == LLVMSRem;
    if (!is_signed && op != LLVMUDiv && op != LLVMURem) return;
    LLVMBuilderRef b = cg->cx.builder;
    LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
    LLVMTypeRef type = LLVMTypeOf(y);
    LLVMPositionBuilderBefore(b, i);
    y = LLVMBuildFreeze(b, y, "");
    LLVMValueRef zero = LLVMConstNull(type), minus = LLVMConstAllOnes(type);
    LLVMValueRef one = LLVMBuildSub(b, zero, minus, ""),
                 bad = LLVMBuildICmp(b, LLVMIntEQ, y, zero, "");
    if (is_signed) {
        LLVMValueRef shift = LLVMBuildLShr(b, minus, one, ""); // the greatest integer
        LLVMValueRef least = LLVMBuildICmp(b, LLVMIntEQ, x, LLVMBuildNot(b, shift, ""), "");
        bad = LLVMBuildOr(
            b, bad, LLVMBuildAnd(b, least, LLVMBuildICmp(b, LLVMIntEQ, y, minus, ""), ""), "");
    }
    LLVMSetOperand(i, 1, LLVMBuildSelect(b, bad, one, y, ""));
}

static void guard_divisions(Cg *cg, LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            guard_division(cg, i);
}

static void set_constant(Cg *cg, const char *name, unsigned bits, uint64_t value) {
    LLVMValueRef g = LLVMGetNamedGlobal(cg->cx.module, name);
    if (!g) return;
    LLVMSetInitializer(g, msl_const(&cg->cx, bits, value));
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
}

// The private array that p is made from by indices that are not all constant, or NULL.
static LLVMValueRef unsure_array(LLVMValueRef p) {
    bool sure = true;
    for (; LLVMIsAGetElementPtrInst(p); p = LLVMGetOperand(p, 0))
        for (int k = 1; k < LLVMGetNumOperands(p); k++)
            sure &= LLVMIsAConstantInt(LLVMGetOperand(p, (unsigned)k)) != NULL;
    return LLVMIsAAllocaInst(p) && !sure ? p : NULL;
}

// Accesses outside a private array go to a place of their own (passes/private.c says why).
static void guard_private(Cg *cg, LLVMValueRef f) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(cx->llvm);
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            bool store = LLVMIsAStoreInst(i) != NULL;
            if (!store && !LLVMIsALoadInst(i)) continue;
            LLVMValueRef p = LLVMGetOperand(i, store), array = unsure_array(p);
            if (!array) continue;
            LLVMTypeRef t = LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i);
            LLVMPositionBuilderBefore(cx->builder, first);
            LLVMValueRef spare = LLVMBuildAlloca(cx->builder, t, "");
            LLVMSetAlignment(spare, LLVMGetAlignment(i));
            LLVMBuildStore(cx->builder, LLVMConstNull(t), spare);
            LLVMPositionBuilderBefore(cx->builder, i);
            LLVMValueRef offset =
                LLVMBuildSub(cx->builder, LLVMBuildPtrToInt(cx->builder, p, i64, ""),
                             LLVMBuildPtrToInt(cx->builder, array, i64, ""), "");
            uint64_t room = LLVMABISizeOfType(cx->layout, LLVMGetAllocatedType(array)),
                     bytes = LLVMStoreSizeOfType(cx->layout, t);
            LLVMValueRef in = bytes > room ? LLVMConstNull(LLVMInt1TypeInContext(cx->llvm))
                                           : LLVMBuildICmp(cx->builder, LLVMIntULE, offset,
                                                           LLVMConstInt(i64, room - bytes, 0), "");
            LLVMSetOperand(i, store, LLVMBuildSelect(cx->builder, in, p, spare, ""));
        }
}

// ingot_thread(launch, lane, memory): the thread function with its slots read from the launch.
static LLVMValueRef build_ingot_thread(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef f = device_function(cg, "ingot_thread");
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, f, "entry"));
    LLVMSetCurrentDebugLocation2(cx->builder, NULL);
    LLVMValueRef args[257];
    msl_load_slots(cg, LLVMGetParam(f, 0), args);
    args[cg->fn->n_slots] = LLVMGetParam(f, 2);
    LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(cg->thread), cg->thread, args,
                   cg->fn->n_slots + 1, "");
    LLVMBuildRetVoid(cx->builder);
    return f;
}

void msl_wrap_lanes(Cg *cg) {
    MslContext *cx = &cg->cx;
    bool suspends = cg->uses.barrier || cg->uses.simd || cg->uses.meet || cg->uses.quads;
    // The last: 32 of them lie on the stack that the device gives all code.
    enum { STACK = 16384, DEBUG_STACK = 65536, LANE = 1024, MAX_STEP_STACK = 1 << 20 };
    bool debugged = msl_is_debugged(cg);
    uint64_t stack = debugged ? DEBUG_STACK + 4 * cg->private_bytes : STACK + 2 * cg->private_bytes;
    stack = (stack + LANE + 4095) & ~4095ull;
    if (msl_is_graphics(cg) && stack > MAX_STEP_STACK)
        msl_fail(cx, "'%s' has too much private memory for reference code", cg->fn->name);
    msl_link_device_code(cg, MSL_DEVICE_LANES);
    set_constant(cg, "ingot_stack", 64, stack);
    set_constant(cg, "ingot_suspends", 32, suspends);
    set_constant(cg, "ingot_debugged", 32, debugged);
    cg->loop.frame_stride = suspends ? stack * 32 : 0;
    LLVMValueRef f = build_ingot_thread(cg), lane = LLVMGetParam(f, 1);
    msl_add_attribute(cx, cg->thread, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    LLVMSetLinkage(cg->thread, LLVMInternalLinkage);
    MslSourceNotes source = msl_take_source(cg->thread);
    msl_run_passes(cx, NULL, "always-inline,function(loop-simplify)");
    msl_give_source(f, source);
    Flow flow;
    bool ok = build_flow(f, &flow);
    if (ok) {
        guard_divisions(cg, f);
        guard_private(cg, f);
        track_loops(cg, &flow, lane);
        rewrite_calls(cg, &flow, lane);
    }
    free(flow.blocks);
    free(flow.rpo);
    if (!ok) msl_fail(cx, "out of memory");
}

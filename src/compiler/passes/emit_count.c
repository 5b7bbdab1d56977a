// SPDX-License-Identifier: Apache-2.0
// emit_count.c: counted code (MSL_WATCH_COUNTS): each block tells the device how many lanes came
// through it, and a table in the code object says what a block does, line by line
// (abi/cpu_count.h). Requires: one part, of 32 lanes; classes.
#include "abi/cpu_kernel.h"
#include "compiler/passes/passes_int.h"

// ---- What a block does ----

typedef struct Line { // instructions of one line
    LLVMMetadataRef file;
    unsigned number;
    CpuCounted does;
} Line;

static Value root_of(Value p) {
    for (;;) {
        if (LLVMIsAGetElementPtrInst(p) || LLVMIsAAddrSpaceCastInst(p) || LLVMIsABitCastInst(p))
            p = operand(p, 0);
        else
            return p;
    }
}

// Memory of the thread and the threadgroup, rows between stages and constants of the program are
// not moved from afar.
static bool is_near(const Vec *x, Value p) {
    Value root = root_of(p), step = LLVMGetLastParam(x->thread);
    if (!x->cx->local && LLVMIsALoadInst(root)) root = root_of(operand(root, 0)); // a row's place
    return LLVMIsAAllocaInst(root) || LLVMIsAGlobalVariable(root) || msl_is_soa(x, p) ||
           root == step;
}

static void add_access(const Vec *x, CpuCounted *c, Value p, Type t, bool store) {
    uint32_t bytes = (uint32_t)LLVMABISizeOfType(x->dl, t);
    if (msl_is_gathered(x, p, bytes)) c->gathers++;
    if (is_near(x, p)) return;
    if (msl_uniform(x, p))
        *(store ? &c->written_once : &c->read_once) += bytes;
    else
        *(store ? &c->written : &c->read) += bytes;
}

static void add_call(const Vec *x, CpuCounted *c, Value i) {
    Builtin which = msl_builtin_of(i);
    if (which.op >= OP_TEX_SAMPLE && which.op <= OP_TEX_ATOMIC) c->texels++;
    if (which.op == OP_NONE && !starts_with(callee_of(i), "llvm.") && !msl_uniform(x, i))
        c->serial++;
}

static void add_instruction(const Vec *x, CpuCounted *c, Value i) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    bool varies = op == LLVMStore ? !msl_uniform(x, operand(i, 1)) || !msl_uniform(x, operand(i, 0))
                  : op == LLVMBr  ? LLVMIsConditional(i) && !msl_uniform(x, LLVMGetCondition(i))
                                  : msl_val(x, i) && msl_class(x, i).kind == VARYING;
    ++*(varies ? &c->vector : &c->scalar);
    if (op == LLVMLoad) add_access(x, c, operand(i, 0), LLVMTypeOf(i), false);
    if (op == LLVMStore) add_access(x, c, operand(i, 1), LLVMTypeOf(operand(i, 0)), true);
    if (op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg) {
        add_access(x, c, operand(i, 0), LLVMTypeOf(operand(i, 1)), true);
        if (!msl_uniform(x, operand(i, 0))) c->serial++;
    }
    if (op == LLVMCall) add_call(x, c, i);
}

static bool is_counted(Value i) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    return op != LLVMPHI && op != LLVMAlloca && op != LLVMRet && op != LLVMGetElementPtr &&
           !(op == LLVMBr && !LLVMIsConditional(i)) &&
           !(op == LLVMCall && msl_is_dropped(callee_of(i)));
}

// Rows of the table for one block.
static void describe(Vec *x, const Blk *k, unsigned site) {
    Line *lines = NULL;
    size_t n = 0;
    unsigned most = 1;
    for (Value i = LLVMGetFirstInstruction(k->old); i; i = LLVMGetNextInstruction(i)) most++;
    lines = vec_alloc(x, most, sizeof *lines);
    for (Value i = LLVMGetFirstInstruction(k->old); i; i = LLVMGetNextInstruction(i)) {
        if (!is_counted(i)) continue;
        LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
        LLVMMetadataRef file = at ? LLVMDIScopeGetFile(LLVMDILocationGetScope(at)) : NULL;
        unsigned number = file ? LLVMDILocationGetLine(at) : 0;
        size_t l = 0;
        while (l < n && (lines[l].file != file || lines[l].number != number)) l++;
        if (l == n) lines[n++] = (Line){.file = file, .number = number};
        add_instruction(x, &lines[l].does, i);
    }
    if (!n) n = 1; // it is there
    size_t length; // what the thread function calls is no beginning
    if (k == x->blocks && !strcmp(LLVMGetValueName2(x->thread, &length), "thread"))
        lines[0].does.entries = 1;
    for (size_t l = 0; l < n; l++) {
        const CpuCounted *c = &lines[l].does;
        unsigned n_name = 0, n_folder = 0;
        const char *name = lines[l].file ? LLVMDIFileGetFilename(lines[l].file, &n_name) : "",
                   *folder = lines[l].file ? LLVMDIFileGetDirectory(lines[l].file, &n_folder) : "";
        if (n_name && *name == '/') n_folder = 0;
        text_printf(&x->cx->counts, "%u\t%u", site, lines[l].number);
#define COUNTED(field) text_printf(&x->cx->counts, "\t%u", c->field);
        CPU_COUNTED(COUNTED)
#undef COUNTED
        text_printf(&x->cx->counts, "\t%.*s%s%.*s\n", (int)n_folder, folder, n_folder ? "/" : "",
                    (int)n_name, name);
    }
}

// ---- The call ----

void msl_emit_count(Vec *x, const Blk *k) {
    if (!x->cx->counted || x->parts != 1 || x->width != ABI_SIMD_WIDTH) return;
    unsigned site = ++x->cx->n_counts;
    describe(x, k, site);
    Value table = LLVMGetNamedGlobal(x->module, MSL_COUNTS_LATER), on = k->mask[0],
          at = LLVMConstInt(x->i64, offsetof(CpuLaunch, count), 0);
    if (!table) table = LLVMAddGlobal(x->module, x->i8, MSL_COUNTS_LATER);
    if (x->covered) on = LLVMBuildAnd(x->b, on, x->covered, ""); // pixels that only help are none
    Value f =
        LLVMBuildLoad2(x->b, x->ptr, LLVMBuildInBoundsGEP2(x->b, x->i8, x->launch, &at, 1, ""), "");
    Value args[] = {x->launch, table, const_int(x->i32, site), msl_mask_bits(x, on)};
    Type types[4];
    for (unsigned i = 0; i < 4; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMBuildCall2(x->b, LLVMFunctionType(x->none, types, 4, 0), f, args, 4, "");
}

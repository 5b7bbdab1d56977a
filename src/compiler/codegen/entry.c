// SPDX-License-Identifier: Apache-2.0
// entry.c: from the kernel as the front end wrote it to the thread function of passes.h.
//   purpose   void thread(ptr slot0, ..., ptr slotN-1, ptr threadgroup_memory): parameters of the
//             kernel rebuilt from slots and __ingot_position() calls, everything inlined, static
//             threadgroup memory placed, optimised without vectorisers.
//   requires  msl_load, msl_specialise
// Threadgroup memory gets no `noalias`: LLVM would take a barrier for a call that cannot touch it.
#include "compiler/codegen/codegen.h"
#include "abi/cpu_texture.h"
#include "abi/data_types.h"
#include "abi/stage_in.h"
#include "compiler/frontend/bridge.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADGROUP_LIMIT = 32768 }; // bytes, Apple's limit

// Attributes a constant-space slot may carry: nothing writes it while the kernel runs.
static void describe_slots(Cg *cg) {
    MslContext *cx = &cg->cx;
    for (uint32_t a = 0; a < cg->fn->n_args; a++) {
        const RfArg *arg = &cg->fn->args[a];
        if (arg->kind != RF_ARG_BUFFER || arg->space != RF_CONSTANT || arg->count != 1) continue;
        LLVMAttributeIndex at = arg->slot + 1;
        // Variables at program scope may name memory that others name too.
        if (arg->param != RF_PROGRAM_SCOPE) msl_add_attribute(cx, cg->thread, at, "noalias", 0);
        msl_add_attribute(cx, cg->thread, at, "readonly", 0);
        if (arg->type < cg->lib->n_types && cg->lib->types[arg->type].size &&
            msl_argument_enabled(cg, arg))
            msl_add_attribute(cx, cg->thread, at, "dereferenceable",
                              cg->lib->types[arg->type].size);
    }
}

static LLVMValueRef pure_function(Cg *cg, const char *name, LLVMTypeRef type) {
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
    if (f) return f;
    f = LLVMAddFunction(cx->module, name, type);
    static const char *const pure[] = {"nounwind", "willreturn", "nofree", "nosync",
                                       "speculatable"};
    for (size_t i = 0; i < sizeof pure / sizeof *pure; i++)
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, pure[i], 0);
    msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", 0); // memory(none)
    return f;
}

LLVMValueRef msl_call_position(Cg *cg, unsigned builtin, unsigned dim) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef i32 = msl_int(cx, 32), in[2] = {i32, i32};
    LLVMTypeRef type = LLVMFunctionType(i32, in, 2, 0);
    LLVMValueRef f = pure_function(cg, "__ingot_position", type);
    LLVMValueRef args[2] = {msl_const(cx, 32, builtin), msl_const(cx, 32, dim)};
    return LLVMBuildCall2(cx->builder, type, f, args, 2, "");
}

// ptr __ingot_place(i64 offset, i64 bytes, i32 slot): an allocation in threadgroup memory. With
// validation it must not melt into its neighbours before accesses are checked.
static LLVMValueRef call_place(Cg *cg, LLVMValueRef offset, uint64_t bytes, uint32_t slot) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef in[3] = {msl_int(cx, 64), msl_int(cx, 64), msl_int(cx, 32)};
    LLVMTypeRef type = LLVMFunctionType(msl_ptr(cx), in, 3, 0);
    LLVMValueRef f = pure_function(cg, "__ingot_place", type);
    LLVMValueRef args[3] = {offset, msl_const(cx, 64, bytes), msl_const(cx, 32, slot)};
    return LLVMBuildCall2(cx->builder, type, f, args, 3, "");
}

LLVMTypeRef msl_memory_type(LLVMValueRef f, unsigned param, const char *attribute) {
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(f, param + 1, kind);
    return a ? LLVMGetTypeAttributeValue(a) : NULL;
}

// Parameters as the source counts them: in the IR the address of a result may come first.
static unsigned n_hidden(Cg *cg) {
    return LLVMCountParams(cg->entry) && msl_memory_type(cg->entry, 0, "sret") ? 1 : 0;
}
static LLVMTypeRef byval_type(Cg *cg, unsigned param) {
    return msl_memory_type(cg->entry, param + n_hidden(cg), "byval");
}
static LLVMTypeRef parameter_type(Cg *cg, unsigned param) {
    return LLVMTypeOf(LLVMGetParam(cg->entry, param + n_hidden(cg)));
}

// Memory of a parameter that Clang passes by hidden pointer (vector classes, arrays of pointers).
static LLVMValueRef parameter_memory(Cg *cg, LLVMTypeRef type) {
    LLVMValueRef memory = LLVMBuildAlloca(cg->cx.builder, type, "");
    LLVMSetAlignment(memory, 16);
    return memory;
}

static void store_at(Cg *cg, LLVMValueRef memory, uint64_t offset, LLVMValueRef value) {
    MslContext *cx = &cg->cx;
    LLVMValueRef at = msl_const(cx, 64, offset);
    LLVMBuildStore(cx->builder, value,
                   LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), memory, &at, 1, ""));
}

// Bits and number of components of an integer data type, Int to UShort4, which follow each other.
// False if it is none.
static bool integer_shape(uint32_t data_type, unsigned *bits, unsigned *n) {
    if (data_type < DT_INT || data_type >= DT_USHORT + 4) return false;
    *bits = data_type < DT_SHORT ? 32 : 16;
    *n = (data_type - DT_INT) % 4 + 1;
    return true;
}

static LLVMValueRef build_builtin(Cg *cg, const RfArg *arg) {
    MslContext *cx = &cg->cx;
    unsigned bits, n;
    if (arg->type >= cg->lib->n_types ||
        !integer_shape(cg->lib->types[arg->type].data_type, &bits, &n) || n == 4)
        msl_fail(
            cx,
            "parameter '%s' of '%s': %s must be uint, ushort or a vector of two or three of them",
            arg->name, cg->fn->name, rf_builtin_name(arg->builtin));
    LLVMTypeRef want = parameter_type(cg, arg->param), element = msl_int(cx, bits);
    LLVMValueRef part[3];
    for (unsigned d = 0; d < n; d++)
        part[d] =
            LLVMBuildIntCast2(cx->builder, msl_call_position(cg, arg->builtin, d), element, 0, "");
    LLVMTypeRef memory_type = byval_type(cg, arg->param);
    if (memory_type) {
        LLVMValueRef memory = parameter_memory(cg, memory_type);
        for (unsigned d = 0; d < n; d++) store_at(cg, memory, d * bits / 8, part[d]);
        return memory;
    }
    if (LLVMGetTypeKind(want) == LLVMIntegerTypeKind && n == 1)
        return LLVMBuildIntCast2(cx->builder, part[0], want, 0, "");
    // A vector, or a struct that Clang passes directly: through memory, SROA makes it free.
    LLVMValueRef memory = parameter_memory(cg, want);
    for (unsigned d = 0; d < n; d++) store_at(cg, memory, d * bits / 8, part[d]);
    return LLVMBuildLoad2(cx->builder, want, memory, "");
}

// Its slot holds a number that means something to the runtime, not an address in the kernel's eyes.
static bool is_handle(const RfArg *arg) {
    return arg->kind == RF_ARG_TEXTURE || arg->kind == RF_ARG_SAMPLER ||
           arg->kind == RF_ARG_TENSOR || arg->kind == RF_ARG_ACCELERATION;
}

// An argument that its function constant switches off: null, or memory that is.
static LLVMValueRef build_absent(Cg *cg, const RfArg *arg, LLVMTypeRef want, LLVMTypeRef type) {
    bool handles = is_handle(arg);
    if (!type && handles && LLVMGetTypeKind(want) == LLVMPointerTypeKind)
        type = LLVMArrayType2(msl_ptr(&cg->cx), arg->count);
    if (!type) return LLVMConstNull(want);
    LLVMValueRef memory = parameter_memory(cg, type);
    LLVMBuildStore(cg->cx.builder, LLVMConstNull(type), memory);
    return memory;
}

// want: the type of the value; memory_type: that of the memory, where its address is passed.
static LLVMValueRef build_resource(Cg *cg, const RfArg *arg, LLVMTypeRef want,
                                   LLVMTypeRef memory_type) {
    MslContext *cx = &cg->cx;
    if (!msl_argument_enabled(cg, arg)) return build_absent(cg, arg, want, memory_type);
    if (arg->slot >= cg->fn->n_slots || arg->count > cg->fn->n_slots - arg->slot)
        msl_fail(cx, "internal error: parameter '%s' has no slot", arg->name);
    LLVMValueRef slot = LLVMGetParam(cg->thread, arg->slot);
    if (arg->kind == RF_ARG_THREADGROUP) {
        LLVMValueRef base = LLVMGetParam(cg->thread, cg->fn->n_slots);
        LLVMValueRef offset = LLVMBuildPtrToInt(cx->builder, slot, msl_int(cx, 64), "");
        if (msl_is_graphics(cg)) return msl_stage_threadgroup(cg, offset);
        if (cg->request->validate) return call_place(cg, offset, 0, arg->slot);
        // Lengths are multiples of 16. A GPU's products ask for lines of 16 bytes: here it is seen.
        if (cx->nvptx) offset = LLVMBuildAnd(cx->builder, offset, msl_const(cx, 64, ~15ull), "");
        return LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), base, &offset, 1, "");
    }
    if (!memory_type && LLVMGetTypeKind(want) == LLVMIntegerTypeKind) // a handle
        return LLVMBuildPtrToInt(cx->builder, slot, want, "");
    bool handles = is_handle(arg);
    if (!memory_type && !handles && arg->count == 1) return slot;
    if (!memory_type) memory_type = LLVMArrayType2(msl_ptr(cx), arg->count); // T name[N]
    LLVMValueRef memory = parameter_memory(cg, memory_type);
    for (uint32_t i = 0; i < arg->count; i++)
        store_at(cg, memory, i * 8ull, LLVMGetParam(cg->thread, arg->slot + i));
    return memory;
}

static LLVMValueRef build_argument(Cg *cg, const RfArg *arg) {
    if (arg->kind == RF_ARG_BUILTIN) return build_builtin(cg, arg);
    return build_resource(cg, arg, parameter_type(cg, arg->param), byval_type(cg, arg->param));
}

// A structure of resources passed by value, from all arguments that are members of it.
static LLVMValueRef build_structure(Cg *cg, uint32_t param) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef want = parameter_type(cg, param), byval = byval_type(cg, param);
    LLVMValueRef memory = parameter_memory(cg, byval ? byval : want);
    for (uint32_t a = 0; a < cg->fn->n_args; a++) {
        const RfArg *arg = &cg->fn->args[a];
        if (arg->param != param) continue;
        LLVMTypeRef type = is_handle(arg) ? msl_int(cx, 64) : msl_ptr(cx);
        store_at(cg, memory, arg->offset, build_resource(cg, arg, type, NULL));
    }
    return byval ? memory : LLVMBuildLoad2(cx->builder, want, memory, "");
}

void msl_copy_call_attributes(LLVMValueRef f, LLVMValueRef call) {
    static const char *const names[] = {"byval", "sret"};
    for (unsigned i = 0; i < LLVMCountParams(f); i++)
        for (unsigned k = 0; k < 2; k++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(names[k], strlen(names[k]));
            LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(f, i + 1, kind);
            if (a) LLVMAddCallSiteAttribute(call, i + 1, a);
        }
}

// args: of the IR function, all but the address of its result.
static void build_arguments(Cg *cg, LLVMValueRef *args, unsigned n_params) {
    MslContext *cx = &cg->cx;
    for (uint32_t a = 0; a < cg->fn->n_args; a++) {
        const RfArg *arg = &cg->fn->args[a];
        if (arg->param == ABI_STAGE_IN_PARAM || arg->param == RF_PROGRAM_SCOPE) continue;
        if (arg->param >= n_params)
            msl_fail(cx, "internal error: '%s' has no parameter %u", cg->fn->name, arg->param);
        if (!arg->member)
            args[arg->param] = build_argument(cg, arg);
        else if (!args[arg->param])
            args[arg->param] = build_structure(cg, arg->param);
    }
    for (unsigned i = 0; i < n_params; i++) {
        if (!args[i] && (msl_is_graphics(cg) || cg->fn->n_inputs))
            args[i] = msl_build_stage_input(cg, i, parameter_type(cg, i), byval_type(cg, i));
        if (!args[i])
            msl_fail(cx, "internal error: parameter %u of '%s' is not described", i, cg->fn->name);
    }
}

LLVMValueRef msl_build_binding(Cg *cg, const RfArg *arg, LLVMTypeRef type) {
    LLVMValueRef resource = build_resource(cg, arg, msl_ptr(&cg->cx), type);
    if (arg->kind != RF_ARG_THREADGROUP || !msl_argument_enabled(cg, arg)) return resource;
    LLVMValueRef memory = parameter_memory(cg, type);
    store_at(cg, memory, 0, resource);
    return memory;
}

void msl_build_entry(Cg *cg) {
    MslContext *cx = &cg->cx;
    unsigned n_slots = cg->fn->n_slots, n_params = LLVMCountParams(cg->entry);
    enum { MAX_PARAMS = 256 };
    LLVMTypeRef types[MAX_PARAMS];
    LLVMValueRef args[MAX_PARAMS] = {0}, result = NULL;
    if (n_slots + 1 > MAX_PARAMS || n_params > MAX_PARAMS)
        msl_fail(cx, "'%s' has too many parameters", cg->fn->name);
    for (unsigned i = 0; i <= n_slots; i++) types[i] = msl_ptr(cx);
    LLVMTypeRef nothing = LLVMVoidTypeInContext(cx->llvm);
    LLVMTypeRef returned = LLVMGetReturnType(LLVMGlobalGetValueType(cg->entry));
    bool graphics = msl_is_graphics(cg);
    unsigned hidden = n_hidden(cg);
    if (!graphics && (returned != nothing || hidden))
        msl_fail(cx, "kernel '%s' must return void", cg->fn->name);
    cg->thread =
        LLVMAddFunction(cx->module, "thread", LLVMFunctionType(nothing, types, n_slots + 1, 0));
    msl_add_attribute(cx, cg->thread, n_slots + 1, "align", graphics ? 8 : 128);
    describe_slots(cg);
    LLVMPositionBuilderAtEnd(cx->builder,
                             LLVMAppendBasicBlockInContext(cx->llvm, cg->thread, "entry"));
    if (hidden || returned != nothing)
        result = parameter_memory(cg, hidden ? msl_memory_type(cg->entry, 0, "sret") : returned);
    if (hidden) args[0] = result;
    build_arguments(cg, args + hidden, n_params - hidden);
    LLVMValueRef call = LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(cg->entry), cg->entry,
                                       args, n_params, "");
    msl_copy_call_attributes(cg->entry, call);
    if (result && !hidden) LLVMBuildStore(cx->builder, call, result);
    if (result) msl_store_stage_outputs(cg, result);
    if (graphics) msl_mark_stage_end(cg);
    LLVMBuildRetVoid(cx->builder);
}

// Size and alignment of static threadgroup memory stand in the mangled name of the call:
// ..__ingot_tgILm<size>ELm<align>E..
static bool parse_threadgroup(const char *name, uint64_t *size, uint64_t *align) {
    const char *at = strstr(name, "__ingot_tgI");
    unsigned long long s, a;
    if (!at || sscanf(at, "__ingot_tgILm%lluELm%lluE", &s, &a) != 2) return false;
    *size = s, *align = a ? a : 1;
    return (*align & (*align - 1)) == 0;
}

// "..11__tg_tile_0..": the variable's name stands in the tag's.
static void note_variable(Cg *cg, const char *symbol, uint64_t at, uint64_t bytes) {
    const char *tag = strstr(symbol, "__tg_"), *digits = tag;
    if (!cg->request->watch || !tag) return;
    CgVariable *all = realloc(cg->report.variables, (cg->report.n_variables + 1) * sizeof *all);
    if (!all) msl_fail(&cg->cx, "out of memory");
    cg->report.variables = all;
    CgVariable *v = &all[cg->report.n_variables++];
    *v = (CgVariable){.at = at, .bytes = bytes};
    while (digits > symbol && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    size_t n = strtoul(digits, NULL, 10), prefix = strlen("__tg_");
    n = n > prefix && n <= strlen(tag) ? n - prefix : 0;
    while (n && tag[prefix + n - 1] != '_') n--; // the number that keeps equal names apart
    if (n && n <= sizeof v->name) memcpy(v->name, tag + prefix, n - 1);
}

// Places every distinct allocation the kernel still reaches, and replaces the calls by addresses.
static void place_threadgroup_memory(Cg *cg) {
    MslContext *cx = &cg->cx;
    uint64_t used = 0;
    LLVMValueRef base = LLVMGetParam(cg->thread, cg->fn->n_slots);
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        uint64_t size, align;
        if (!strstr(name, "__ingot_tgI") || !LLVMGetFirstUse(f)) continue;
        if (!parse_threadgroup(name, &size, &align))
            msl_fail(cx, "internal error: threadgroup memory with the name '%s'", name);
        uint64_t offset = (used + align - 1) & ~(align - 1);
        used = offset + size;
        note_variable(cg, name, offset, size);
        for (LLVMUseRef use; (use = LLVMGetFirstUse(f));) {
            LLVMValueRef call = LLVMGetUser(use), at = msl_const(cx, 64, offset);
            if (!LLVMIsACallInst(call)) msl_fail(cx, "internal error: address of '%s' taken", name);
            LLVMPositionBuilderBefore(cx->builder, call);
            LLVMReplaceAllUsesWith(
                call, cg->request->validate
                          ? call_place(cg, at, size, UINT32_MAX)
                          : LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), base, &at, 1, ""));
            LLVMInstructionEraseFromParent(call);
        }
    }
    if (used > THREADGROUP_LIMIT)
        msl_fail(cx, "'%s' needs %llu bytes of threadgroup memory, more than the %d there are",
                 cg->fn->name, (unsigned long long)used, THREADGROUP_LIMIT);
    cg->threadgroup_bytes = (uint32_t)((used + 15) & ~15ull);
}

// After inlining the only calls left go to LLVM's intrinsics and to our builtins.
static void check_calls(Cg *cg) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i)) continue;
            const char *name = msl_callee(i);
            if (msl_starts(name, "llvm.") || strstr(name, "__ingot_")) continue;
            if (!LLVMIsDeclaration(LLVMGetCalledValue(i)))
                msl_fail(&cg->cx, "'%s' is recursive (through '%s'): recursion is not supported",
                         cg->fn->name, name);
            char *readable = msl_demangle(name), copy[512];
            snprintf(copy, sizeof copy, "%s", readable ? readable : name);
            free(readable);
            msl_fail(&cg->cx,
                     "'%s' calls '%s', which no linked function or dynamic library defines",
                     cg->fn->name, copy);
        }
}

void msl_inline_all(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef keep = cg->thread;
    MslSourceNotes source = msl_take_source(cg->entry);
    if (msl_is_debugged(cg)) msl_inline_debug(cg);
    static const char *const drop[] = {"noinline", "optnone", "minsize", "optsize"};
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || f == keep) continue;
        for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
            LLVMRemoveEnumAttributeAtIndex(
                f, LLVMAttributeFunctionIndex,
                LLVMGetEnumAttributeKindForName(drop[i], strlen(drop[i])));
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    }
    if (msl_finds_uninitialised(cg) && !msl_is_debugged(cg)) {
        // No load may go where the program has none: no change of the control flow.
        msl_run_passes(cx, NULL,
                       "globaldce,function(sroa<preserve-cfg>,early-cse),ipsccp,globaldce,"
                       "always-inline,globaldce,function(sroa<preserve-cfg>,early-cse)");
        msl_note_uninitialised(cg);
    }
    // Each function is cleaned before it is copied into its callers, and those that function
    // constants make unreachable, also by way of arguments, are gone: less to copy.
    msl_run_passes(cx, NULL,
                   msl_is_debugged(cg)
                       ? "always-inline,globaldce"
                       : "globaldce,function(sroa<modify-cfg>,early-cse,simplifycfg),ipsccp,"
                         "function(simplifycfg),globaldce,always-inline,globaldce");
    msl_settle_uninitialised(cg);
    if (msl_is_debugged(cg)) msl_give_source(cg->thread, source);
    cg->source = source.function;
    msl_resolve_calls(cg);
    msl_resolve_bindings(cg);
    check_calls(cg);
    place_threadgroup_memory(cg);
    cg->entry = NULL;
}

// Vectors of a thread's own loop would be vectors of vectors when ours is done. The options of
// LLVM-C that switch LLVM's vectorisers off (context.c) have no effect in LLVM 22; this attribute
// has.
static void forbid_vectors(Cg *cg, bool forbid) {
    static const char name[] = "noimplicitfloat";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAttributeRef a = LLVMCreateEnumAttribute(LLVMGetModuleContext(cg->cx.module), kind, 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        if (forbid)
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, a);
        else
            LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind);
    }
}

uint64_t msl_positions(const Cg *cg, LLVMValueRef call) {
    const uint32_t *shape = cg->cx.shape;
    LLVMValueRef which = LLVMGetOperand(call, 0), d = LLVMGetOperand(call, 1);
    if (msl_is_graphics(cg) || !LLVMIsAConstantInt(which) || !LLVMIsAConstantInt(d)) return 0;
    uint64_t dimension = LLVMConstIntGetZExtValue(d), all = ABI_MAX_THREADS, size = all;
    if (dimension > 2) return 0;
    if (shape[0]) size = shape[dimension], all = (uint64_t)shape[0] * shape[1] * shape[2];
    switch (LLVMConstIntGetZExtValue(which)) {
    case RF_THREAD_POSITION_IN_THREADGROUP: return size;
    case RF_THREADS_PER_THREADGROUP:
    case RF_DISPATCH_THREADS_PER_THREADGROUP: return size + 1;
    case RF_THREAD_INDEX_IN_THREADGROUP: return all;
    case RF_THREAD_INDEX_IN_SIMDGROUP: return ABI_SIMD_WIDTH;
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP: return (all - 1) / ABI_SIMD_WIDTH + 1;
    default: return 0;
    }
}

// `for (i = lane; i < 1536; i += 32)` has a first round for every thread, which LLVM sees when it
// knows that the lane is one of 32. Otherwise the loop is guarded by a divergent
// branch.
static void bound_positions(Cg *cg) {
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, "__ingot_position");
    unsigned range = LLVMGetEnumAttributeKindForName("range", 5);
    for (LLVMUseRef u = f ? LLVMGetFirstUse(f) : NULL; u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        uint64_t n = LLVMIsACallInst(call) ? msl_positions(cg, call) : 0, least = 0;
        if (n)
            LLVMAddCallSiteAttribute(
                call, LLVMAttributeReturnIndex,
                LLVMCreateConstantRangeAttribute(cg->cx.llvm, range, 32, &least, &n));
    }
}

#define TO_VALUES "sroa<modify-cfg>,early-cse<memssa>,simplifycfg," INSTCOMBINE
#define UNROLL                                                                                     \
    "loop-mssa(loop-rotate,licm),simplifycfg," INSTCOMBINE                                         \
    ",loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>"
// What a thread unpacks into variables of its own (sixteen weights of a block) has its places known
// only when no loop is left: such loops may become twice as long as others.
#define UNROLL_16                                                                                  \
    "loop-unroll<O3;full-unroll-max=16;no-partial;no-runtime;no-peeling;no-upperbound>"
#define BASELINE                                                                                   \
    "loop-mssa(loop-rotate,licm),simplifycfg," INSTCOMBINE                                         \
    ",loop(indvars,loop-deletion),sroa<modify-cfg>,gvn,simplifycfg,adce"

// O2, except for unrolling: loops of few iterations are unrolled in full (SROA then sees constant
// indices), but no loop is unrolled in part: of several copies of a body the vectoriser would make
// vectors of several times the code, and the last O2 unrolls what is worth it.
void msl_optimise_thread(Cg *cg) {
    static const char values[] = "function<eager-inv>(" TO_VALUES ")",
                      full_unroll[] = "function<eager-inv>(" TO_VALUES "," UNROLL_16 "," UNROLL ")";
    bound_positions(cg);
    msl_run_passes(&cg->cx, NULL, values);
    msl_fuse_short_floats(cg);
    msl_spread_dots(cg);
    msl_contract(cg);
    if (cg->request->tier == TIER_BASELINE) {
        msl_run_passes(&cg->cx, NULL, "function<eager-inv>(" BASELINE ")");
        return;
    }
    msl_run_passes(&cg->cx, NULL, "function<eager-inv>(" UNROLL ")");
    forbid_vectors(cg, true);
    msl_run_passes_with(&cg->cx, NULL, "default<O2>", false);
    forbid_vectors(cg, false);
    msl_run_passes(&cg->cx, NULL, full_unroll);
    msl_run_passes(&cg->cx, NULL,
                   "function(early-cse<memssa>," INSTCOMBINE ",gvn,simplifycfg,adce)");
}

static void survey_call(Cg *cg, LLVMValueRef call) {
    const char *name = msl_callee(call);
    if (msl_starts(name, "__ingot_threadgroup_barrier")) cg->uses.barrier = true;
    if (msl_starts(name, "__ingot_simd_") || msl_starts(name, "__ingot_quad_") ||
        msl_is_matrix_call(name) || strstr(name, "__ingot_tensor_"))
        cg->uses.simd = cg->uses.packing = true;
    if (msl_starts(name, "__ingot_dispatch_")) cg->uses.simd = cg->uses.packing = true;
    if (msl_starts(name, "__ingot_frame"))
        cg->private_bytes += LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
    if (msl_starts(name, "__ingot_log")) cg->uses.log = true;
    if (msl_starts(name, "__ingot_simdgroup_barrier")) cg->uses.meet = cg->uses.packing = true;
    unsigned op, what = msl_texture_call(call, &op);
    // Rows, results and the stack of the function called, a lane.
    enum { TEXTURE_BYTES = 160, RAY_BYTES = 2048 };
    uint64_t bytes = what == 't' || what == 'p' || what == 'm' ? RAY_BYTES : TEXTURE_BYTES;
    if (what && cg->private_bytes < bytes) cg->private_bytes = bytes;
    cg->private_bytes += msl_tensor_stack(call);
    if (what == 's' && (op & CPU_TEX_LOD_MASK) < CPU_TEX_LOD_LEVEL && !(op & CPU_TEX_GATHER))
        cg->uses.quads = cg->uses.packing = true;
    if (msl_starts(name, "__ingot_place")) cg->uses.group = true;
    if (!msl_starts(name, "__ingot_position")) return;
    LLVMValueRef which = LLVMGetOperand(call, 0), dim = LLVMGetOperand(call, 1);
    if (!LLVMIsAConstantInt(dim) || LLVMConstIntGetZExtValue(dim) > 0) cg->uses.plane = true;
    switch (LLVMIsAConstantInt(which) ? LLVMConstIntGetZExtValue(which) : RF_N_BUILTINS) {
    case RF_THREAD_POSITION_IN_GRID:
    case RF_THREADS_PER_GRID:
    case RF_THREADGROUPS_PER_GRID:
    case RF_GRID_ORIGIN:
    case RF_GRID_SIZE:
    case RF_VIEW:
    case RF_N_VIEWS:
    case RF_THREADS_PER_SIMDGROUP:
    case RF_THREAD_EXECUTION_WIDTH: break;
    case RF_THREAD_POSITION_IN_THREADGROUP:
    case RF_THREADGROUP_POSITION_IN_GRID:
    case RF_DISPATCH_THREADS_PER_THREADGROUP: cg->uses.group = true; break;
    default: cg->uses.group = cg->uses.packing = true;
    }
}

static void survey_function(Cg *cg, LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsACallInst(i)) survey_call(cg, i);
            if (LLVMIsAAllocaInst(i))
                cg->private_bytes += LLVMABISizeOfType(cg->cx.layout, LLVMGetAllocatedType(i)) + 16;
        }
}

void msl_survey(Cg *cg) {
    cg->uses =
        (CgUses){.group = LLVMGetFirstUse(LLVMGetParam(cg->thread, cg->fn->n_slots)) != NULL};
    cg->private_bytes = 0;
    survey_function(cg, cg->thread);
    LLVMValueRef callee;
    for (size_t d = 0, k = 0; msl_next_callee(cg, &d, &k, &callee);) survey_function(cg, callee);
}

// SPDX-License-Identifier: Apache-2.0
// textures.c: functions of textures as calls of codegen/nvptx/library/texture.c.
//   purpose   __ingot_texture_<what><op>(texture, sampler, rows...): the rows become an array of
//             the thread's, the operation an argument. What is called is PTX that was made with
//             mslc and is put beside the kernel's: inlined it would take minutes to assemble
//   implicit  levels of detail: before masks are made the differences between the threads of a quad
//             are asked for, as quad functions, and become the gradients of the call
//   requires  msl_survey
#include "compiler/codegen/gpu.h"
#include "abi/cpu_texture.h"
#include "abi/reflect.h"
#include <stdlib.h>
#include <string.h>

static LLVMValueRef call_builtin(Cg *cg, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                                 unsigned n) {
    LLVMTypeRef types[2] = {NULL, NULL};
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, n, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, name);
    if (!f) f = LLVMAddFunction(cg->cx.module, name, type);
    return LLVMBuildCall2(cg->cx.builder, type, f, args, n, "");
}

// Of row x between the threads of the quad whose number has `bit`, and has not; 0: one is missing.
static LLVMValueRef difference(Cg *cg, LLVMValueRef x, LLVMValueRef self, LLVMValueRef active,
                               unsigned bit) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMTypeRef i32 = msl_int(cx, 32), f32 = LLVMFloatTypeInContext(cx->llvm);
    LLVMValueRef with = LLVMBuildOr(b, self, msl_const(cx, 32, bit), ""),
                 without = LLVMBuildAnd(b, self, msl_const(cx, 32, ~bit & 3), "");
    LLVMValueRef there = LLVMBuildAnd(b, LLVMBuildLShr(b, active, with, ""),
                                      LLVMBuildLShr(b, active, without, ""), "");
    x = LLVMBuildBitCast(b, x, f32, "");
    LLVMValueRef high = call_builtin(cg, "__ingot_quad_shuffle_f32", f32, (LLVMValueRef[]){x, with},
                                     2),
                 low = call_builtin(cg, "__ingot_quad_shuffle_f32", f32,
                                    (LLVMValueRef[]){x, without}, 2);
    LLVMValueRef d = LLVMBuildBitCast(b, LLVMBuildFSub(b, high, low, ""), i32, "");
    there = LLVMBuildTrunc(b, there, msl_int(cx, 1), "");
    return LLVMBuildSelect(b, there, d, msl_const(cx, 32, 0), "");
}

static bool is_implicit(LLVMValueRef call) {
    unsigned op, what = msl_texture_call(call, &op), mode = op & CPU_TEX_LOD_MASK;
    return what == 's' && (mode == CPU_TEX_LOD_IMPLICIT || mode == CPU_TEX_LOD_BIAS);
}

static void ask_quad(Cg *cg, LLVMValueRef call) {
    MslContext *cx = &cg->cx;
    enum { FIRST_ROW = 2 };
    LLVMPositionBuilderBefore(cx->builder, call);
    LLVMValueRef self = call_builtin(
        cg, "__ingot_position", msl_int(cx, 32),
        (LLVMValueRef[]){msl_const(cx, 32, RF_THREAD_INDEX_IN_QUADGROUP), msl_const(cx, 32, 0)}, 2);
    LLVMValueRef active = call_builtin(cg, "__ingot_quad_active_mask", msl_int(cx, 32), NULL, 0);
    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef x = LLVMGetOperand(call, FIRST_ROW + CPU_TEX_X + d);
        if (LLVMIsUndef(x) || LLVMIsConstant(x)) continue; // the type has no such coordinate
        LLVMSetOperand(call, FIRST_ROW + CPU_TEX_DX + d, difference(cg, x, self, active, 1));
        LLVMSetOperand(call, FIRST_ROW + CPU_TEX_DY + d, difference(cg, x, self, active, 2));
    }
    cg->uses.simd = true;
}

void msl_ask_quads(Cg *cg) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (is_implicit(i)) ask_quad(cg, i);
        }
}

// Rows and results of one call at a time, shared by all of them.
static LLVMValueRef rows_of(Cg *cg) {
    static const char name[] = "texture.rows";
    MslContext *cx = &cg->cx;
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(cg->thread));
    size_t n;
    if (LLVMIsAAllocaInst(first) && !strcmp(LLVMGetValueName2(first, &n), name)) return first;
    LLVMPositionBuilderBefore(cx->builder, first);
    LLVMValueRef memory =
        LLVMBuildAlloca(cx->builder, LLVMArrayType2(msl_int(cx, 32), CPU_TEX_ROWS + 4), name);
    LLVMSetAlignment(memory, 16);
    return memory;
}

bool msl_lower_gpu_texture(Cg *cg, LLVMValueRef call) {
    MslContext *cx = &cg->cx;
    unsigned op, what = msl_texture_call(call, &op), n = 0;
    if (!what || strstr(msl_callee(call), "__ingot_rays_")) return false;
    LLVMTypeRef i32 = msl_int(cx, 32), nothing = LLVMVoidTypeInContext(cx->llvm);
    LLVMValueRef rows = rows_of(cg), out = msl_const(cx, 64, CPU_TEX_ROWS), args[5], at;
    LLVMPositionBuilderBefore(cx->builder, call);
    out = LLVMBuildInBoundsGEP2(cx->builder, i32, rows, &out, 1, "");
    for (unsigned r = 0; r < CPU_TEX_ROWS; r++) {
        if (LLVMIsUndef(LLVMGetOperand(call, r + 2))) continue;
        at = msl_const(cx, 64, r);
        LLVMBuildStore(cx->builder, LLVMGetOperand(call, r + 2),
                       LLVMBuildInBoundsGEP2(cx->builder, i32, rows, &at, 1, ""));
    }
    args[n++] = msl_gpu_texture(cg, LLVMGetOperand(call, 0));
    if (what == 's') args[n++] = LLVMGetOperand(call, 1);
    args[n++] = msl_const(cx, 32, op);
    args[n++] = rows;
    if (what != 'w') args[n++] = out;
    const char *name = what == 's'   ? "ingot_texture_sample"
                       : what == 'w' ? "ingot_texture_write"
                       : what == 'a' ? "ingot_texture_atomic"
                                     : "ingot_texture_read";
    LLVMTypeRef types[5];
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(nothing, types, n, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
    if (!f) f = LLVMAddFunction(cx->module, name, type);
    LLVMBuildCall2(cx->builder, type, f, args, n, "");
    cg->gpu.textures |= what == 's'                  ? MSL_TEXTURE_SAMPLE
                        : what == 'w' || what == 'a' ? MSL_TEXTURE_STORE
                                                     : MSL_TEXTURE_READ;
    if (what != 'w') {
        LLVMValueRef results = LLVMBuildLoad2(cx->builder, LLVMTypeOf(call), out, "");
        LLVMSetAlignment(results, 16);
        LLVMReplaceAllUsesWith(call, results);
    }
    LLVMInstructionEraseFromParent(call);
    return true;
}

// ---- the text of both ----

// Names of the kernel's own, kept apart from those of the library.
void msl_rename_for_textures(Cg *cg) {
    if (!cg->gpu.textures) return;
    for (LLVMValueRef g = LLVMGetFirstGlobal(cg->cx.module); g; g = LLVMGetNextGlobal(g)) {
        char name[256];
        size_t n;
        const char *old = LLVMGetValueName2(g, &n);
        if (!strcmp(old, "ingot_shared") || n + 3 > sizeof name) continue;
        memcpy(name, "k.", 2);
        memcpy(name + 2, old, n);
        LLVMSetValueName2(g, name, n + 2);
    }
}

// A text and where it ends: what is in mslc has no zero behind it.
typedef struct Ptx {
    const char *at, *end;
} Ptx;

static Ptx ptx_of(MslGpuPart part) {
    MslElf code = msl_gpu_code(part);
    return (Ptx){(const char *)code.bytes, (const char *)code.bytes + code.n_bytes};
}

static const char *find_text(Ptx text, const char *what) {
    return memmem(text.at, (size_t)(text.end - text.at), what, strlen(what));
}

static Ptx behind_head(Ptx text) { // ".version", ".target", ".address_size"
    const char *at = find_text(text, ".address_size");
    at = at ? memchr(at, '\n', (size_t)(text.end - at)) : NULL;
    return (Ptx){at ? at + 1 : text.at, text.end};
}

static char *put(char *to, const char *from, const char *end) {
    memcpy(to, from, (size_t)(end - from));
    return to + (end - from);
}

// Without declarations of functions that are elsewhere.
static char *put_cut(char *to, Ptx text) {
    for (;;) {
        const char *cut = find_text(text, ".extern .func"),
                   *end = cut ? memchr(cut, ';', (size_t)(text.end - cut)) : NULL;
        to = put(to, text.at, end ? cut : text.end);
        if (!end) return to;
        text.at = end + 1;
    }
}

static MslGpuPart library_of(uint32_t uses) {
    if (uses == MSL_TEXTURE_SAMPLE) return MSL_GPU_SAMPLES;
    if (uses & MSL_TEXTURE_SAMPLE) return MSL_GPU_TEXTURES;
    return uses & MSL_TEXTURE_READ ? MSL_GPU_TEXELS : MSL_GPU_STORES;
}

char *msl_join_texture_code(Cg *cg, const char *kernel, size_t n, bool whole, size_t *n_out) {
    Ptx all = {kernel, kernel + n}, rest = behind_head(all),
        library = behind_head(ptx_of(library_of(cg->gpu.textures))), blocks = {NULL, NULL};
    if (whole && cg->gpu.textures & ~MSL_TEXTURE_STORE)
        blocks = behind_head(ptx_of(MSL_GPU_NO_BLOCKS));
    char *out =
        malloc(n + (size_t)(library.end - library.at) + (size_t)(blocks.end - blocks.at) + 1);
    if (!out) return NULL;
    char *to = put(out, all.at, rest.at);
    if (blocks.at) to = put(to, blocks.at, blocks.end);
    to = whole ? put_cut(to, library) : put(to, library.at, library.end);
    to = put_cut(to, rest);
    *n_out = (size_t)(to - out);
    return out;
}

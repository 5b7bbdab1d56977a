// SPDX-License-Identifier: Apache-2.0
// tables.c: what a code object says about its source beside line tables, for profiles: remarks
// (passes/remarks.c), of code with lines, and what its blocks do (passes/emit_count.c), of counted
// code. Both are text with a zero at its end, which the device hands on (devices/cpu/profile.c).
#include "abi/cpu_kernel.h"
#include "compiler/codegen/codegen.h"
#include <stdlib.h>
#include <string.h>

static LLVMValueRef add_text(Cg *cg, const char *symbol, const char *text, size_t n_bytes) {
    MslContext *cx = &cg->cx;
    LLVMValueRef bytes = LLVMConstStringInContext2(cx->llvm, text, n_bytes, 0);
    LLVMValueRef g = LLVMAddGlobal(cx->module, LLVMTypeOf(bytes), symbol);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    return g;
}

void msl_begin_tables(Cg *cg) {
    MslContext *cx = &cg->cx;
    bool lines = cg->request->debug == MSL_DEBUG_LINES;
    cx->counted = lines && (cg->request->watch & MSL_WATCH_COUNTS);
    if (lines && !cx->remarks) cx->remarks = &cg->own_remarks;
}

void msl_finish_tables(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef later = LLVMGetNamedGlobal(cx->module, MSL_COUNTS_LATER);
    if (cx->counts.failed) msl_fail(cx, "out of memory");
    if (later) {
        LLVMValueRef table = add_text(cg, CPU_LINES_SYMBOL, cx->counts.data, cx->counts.n_bytes);
        LLVMReplaceAllUsesWith(later, table);
        LLVMDeleteGlobal(later);
    }
    if (cg->own_remarks) add_text(cg, CPU_REMARKS_SYMBOL, cg->own_remarks, strlen(cg->own_remarks));
}

void msl_free_tables(Cg *cg) {
    text_free(&cg->cx.counts);
    free(cg->own_remarks);
}

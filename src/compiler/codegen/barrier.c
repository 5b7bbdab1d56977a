// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/codegen.h"
void msl_make_coroutine(Cg *cg, LLVMValueRef f) { (void)f; msl_fail(&cg->cx, "barriers"); }
void msl_split_coroutines(Cg *cg) { (void)cg; }

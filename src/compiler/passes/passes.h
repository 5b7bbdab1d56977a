// SPDX-License-Identifier: Apache-2.0
// passes.h: between codegen/ (which prepares a kernel and wraps the result) and passes/ (the
// vectoriser).
//
// A *thread function* is one kernel as one thread runs it: `void f(params...)` with every call
// inlined, all parameters uniform, and these calls left in it (all `extern "C"` in our headers, see
// builtins.def for the full list):
//     i32  __ingot_position(i32 builtin, i32 dim)   RfBuiltin, constant arguments, no memory
//     effects
//     ...  __ingot_simd_<op>_<type>, __ingot_quad_<op>_<type>, ballots, votes
//     void __ingot_threadgroup_barrier(i32 flags), __ingot_simdgroup_barrier(i32 flags)
//     ptr  __ingot_launch()                         the CpuLaunch
//     ptr  __ingot_frame(i32 bytes)                 memory of the SIMD-group, so much a lane
//     void __ingot_dispatch_<n>(i32 id, ...)        calls of a vectorised function (emit_call.c)
#ifndef INGOT_PASSES_H
#define INGOT_PASSES_H
#include "base/text.h"
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

// One compilation. Errors inside passes: msl_fail() writes `error` and longjmps to `fail`.
typedef struct MslContext {
    LLVMContextRef llvm;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    const char *cpu, *features;
    unsigned width;    // threads of a SIMD-group that run together; 1: one by one
    uint32_t shape[3]; // threadgroup size, 0,0,0 unknown
    bool avx512, avx2; // avx2: and fused multiply-add
    bool bf16;         // x86: AVX512-BF16
    bool fp16;         // halves multiply and add in one instruction: AVX512-FP16, FEAT_FP16
    bool aarch64;      // else x86-64
    unsigned sve_bits; // of a vector register there; 0: NEON's
    bool nvptx;        // else either: a GPU, whose threads stay scalar
    bool local;        // the thread function's last parameter is the threadgroup's memory
    unsigned reach;    // no buffer has 2^reach bytes: what uint indices may be taken for
    // Fragment functions: where the last parameter holds the mask of the lanes that count. The
    // others run along, on addresses that may lie nowhere: they read 0. 0: all lanes count.
    uint32_t covered_offset;
    // Vertex and fragment functions: pointers that are read from the last parameter are to rows of
    // all lanes, which no other thread of the machine sees.
    bool rows;
    bool lines;     // instructions say which source line they are of, and what is made of them too
    char **remarks; // remarks.c; NULL: nobody wants any, or of another copy
    bool counted;   // emit_count.c: blocks tell how many lanes they have, and
    Text counts;    // what they do
    unsigned n_counts;
    const char *dump_after;
    char **log;
    jmp_buf fail;
    char error[2048];
} MslContext;

// The table of counted code, until it is whole (codegen/tables.c).
#define MSL_COUNTS_LATER "ingot.counts"

// A remark for the author of the kernel, if any are wanted (remarks.c).
void msl_add_remark(MslContext *cx, LLVMMetadataRef scope, unsigned line, unsigned column,
                    const char *kind, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

_Noreturn void msl_fail(MslContext *cx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Named LLVM passes on one function (or the module: f NULL), loop and SLP vectorisers off.
void msl_run_passes(MslContext *cx, LLVMValueRef f, const char *pipeline);

// A version of a thread function, as the vectoriser is asked for it.
typedef struct MslVersion {
    unsigned width; // lanes of a vector: 4, 8, 16 or 32
    // Vectors of a step: 1, 2, 4 or 8. They run interleaved: independent work for the machine,
    // uniform loads shared, and when a step is the whole threadgroup its barriers are nothing but
    // fences. Of kernels with SIMD-group or quad-group functions a step is 32 lanes.
    unsigned parts;
    // Threads from one vector of a step to the next: a row of the threadgroup, which is longer than
    // a vector, so that rows lie above each other. 0: they follow each other.
    unsigned apart;
    // Threadgroup size. Components may be known one by one: a 1 holds for cut groups too (a 1-D
    // kernel stays linear at the edge), 0 is unknown.
    uint32_t shape[3];
    bool full_shape; // threadgroups are of this size: positions are linear, or so in segments
    bool whole;      // every thread of a step is there; not where clamps do something (slow)
    bool split;      // where masks may be full, code for that as well (split.c)
    bool terse;      // soon compiled rather than fast: baseline code, edges
    bool one_copy;   // none that is fast for indices that meet no clamp
    bool remarks;    // for the author of the kernel: of this version, if any are wanted
} MslVersion;

// Vectorises a thread function. The result, internal and alwaysinline, runs consecutive threads of
// one threadgroup, width * parts of them:
//   void f.simd(params..., ptr launch, i32 gx, i32 gy, i32 gz,   threadgroup_position_in_grid
//               i32 sx, i32 sy, i32 sz,                          actual size of this threadgroup
//               i32 first,                                       index in the threadgroup of lane
//               0,
//                                                                a multiple of the mask's lanes
//               <width * parts x i1> mask)
// Calls to __ingot_threadgroup_barrier stay in it, always in uniform control flow (a barrier under
// divergent control flow is undefined in Metal: all lanes of the SIMD-group pass it together).
// The thread function is left alone apart from canonicalisation. *slow, if not NULL, is its copy
// for all indices, which the fast one falls back on; NULL: it has no copies.
LLVMValueRef msl_vectorise(MslContext *cx, LLVMValueRef thread, const MslVersion *version,
                           LLVMValueRef *slow);

// What a step of one vector would need of the machine (demand.c), before any is emitted.
typedef struct MslDemand {
    unsigned registers;    // of 64 bytes, that the loop with the most carries between iterations
    unsigned instructions; // of all copies, about
    unsigned loads;        // that differ by lane, of the fast copy
    bool divergent;        // lanes leave a loop at different times
    bool refuses;          // more than one vector: private arrays, atomics, copies by lane
    bool calls;            // textures: a call for all lanes of a step
    bool clamps;           // indices that a fast copy takes for unclamped
} MslDemand;
MslDemand msl_measure_demand(MslContext *cx, LLVMValueRef thread, const MslVersion *version);
bool msl_uses_simd(LLVMValueRef thread);
// Whether threads know no more of their number than where they are: MslVersion.apart may be set.
bool msl_may_stand_apart(LLVMValueRef thread);

// For machines whose lanes run by themselves (lane_masks.c): each call of a SIMD-group function
// gets the mask of the threads that take part as its first argument, and another name:
//   __ingot_simd_sum_f32(x)  ->  ingot_masked_simd_sum_f32(i32 mask, x)
// Functions of quads, matrices of SIMD-groups and simdgroup_barrier likewise. Masks are made by
//   i32 ingot_all_lanes()                  the threads that the SIMD-group has
//   i32 ingot_ballot(i32 mask, i1 bit)     of the lanes in the mask, those with the bit
// False: all such calls are where all threads come together, and nothing was rewritten. The thread
// function is structured then, either way: msl_mask_all is for another copy of it.
bool msl_mask_lanes(MslContext *cx, LLVMValueRef thread);
// All threads of the SIMD-group take part in each such call.
void msl_mask_all(MslContext *cx, LLVMValueRef thread);
bool msl_is_masked_call(LLVMValueRef call);

// A function that stays one, as the vectoriser makes them to be inlined.
void msl_keep_apart(MslContext *cx, LLVMValueRef f);
// What an instruction is allowed, for another that takes its place.
void msl_copy_flags(LLVMValueRef from, LLVMValueRef to);

// To run on the module after the last optimisation (repair.c): works around a fault of LLVM 22.1.
void msl_repair_masked_stores(MslContext *cx);
// Products of 8x8 matrices are called behind the back of LLVM: nothing may lie below the stack.
void msl_settle_fragments(MslContext *cx);
#endif

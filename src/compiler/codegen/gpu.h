// SPDX-License-Identifier: Apache-2.0
// gpu.h: code for GPUs: between the files of nvptx/ and those of codegen/ that lead to them.
#ifndef INGOT_CODEGEN_GPU_H
#define INGOT_CODEGEN_GPU_H
#include "compiler/codegen/codegen.h"

// nvptx/lower.c, calls.c, tensors.c, textures.c, unroll.c: code for GPUs
const char *msl_ptx_version(const char *target); // LLVM's name of it; NULL: it is no such target
void msl_check_gpu(Cg *cg);                      // that the request is one for a GPU
void msl_lower_gpu(Cg *cg);                      // from the thread function to the GPU's kernel
void msl_emit_gpu(Cg *cg, MslKernel *out);       // CudaKernelInfo and PTX, or the PTX alone
void msl_lower_gpu_calls(Cg *cg);                // built-ins become functions of the library
// A call of the function of this name in the place of `call`, with its n arguments.
void msl_replace_call(Cg *cg, LLVMValueRef call, const char *name, LLVMValueRef *args, unsigned n);
bool msl_lower_gpu_tensor(Cg *cg, LLVMValueRef call); // false: it is no operation on tensors
void msl_use_gpu_sines(Cg *cg);                       // before anything is inlined
void msl_unroll_arrays(Cg *cg, LLVMValueRef f);       // loops over private arrays are marked
enum { MSL_TEXTURE_SAMPLE = 1, MSL_TEXTURE_READ = 2, MSL_TEXTURE_STORE = 4 }; // what a kernel does
void msl_ask_quads(Cg *cg);                            // for implicit levels of detail
bool msl_lower_gpu_texture(Cg *cg, LLVMValueRef call); // false: it is no function of textures
// The record that a texture's handle stands for, as a handle; one of a pool is looked up
// (texture.c).
LLVMValueRef msl_gpu_texture(Cg *cg, LLVMValueRef handle);
void msl_rename_for_textures(Cg *cg);
// The kernel's text with that of the functions it calls. What decodes blocks is not in it; `whole`:
// what stands in its place is. NULL: no memory.
char *msl_join_texture_code(Cg *cg, const char *kernel, size_t n, bool whole, size_t *n_out);
// Code of nvptx/device: bitcode, but PTX for textures. BLOCKS decodes compressed ones, NO_BLOCKS
// stands in its place.
typedef enum MslGpuPart {
    MSL_GPU_POSITION,
    MSL_GPU_SIMD,
    MSL_GPU_MATRIX,
    MSL_GPU_MATMUL,
    MSL_GPU_CONVOLUTION,
    MSL_GPU_NOTES,
    MSL_GPU_STORES,
    MSL_GPU_TEXELS,
    MSL_GPU_SAMPLES,
    MSL_GPU_TEXTURES,
    MSL_GPU_BLOCKS,
    MSL_GPU_NO_BLOCKS,
} MslGpuPart;
MslElf msl_gpu_code(MslGpuPart part);
void msl_link_gpu_code(Cg *cg, MslGpuPart part);
void msl_take_constants(Cg *cg);                    // constants.c
void msl_note_effects(Cg *cg, LLVMValueRef kernel); // effects.c
#endif

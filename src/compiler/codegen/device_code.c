// SPDX-License-Identifier: Apache-2.0
// device_code.c: codegen/support/*.c inside mslc, for each architecture: as bitcode, steps.c once
// for each kind of loop; support.c and group.c, this of two kinds, as objects; and
// nvptx/device/*.c. The build compiles those files with the Clang of the same LLVM into the folder
// MSL_DEVICE.
#include "compiler/codegen/gpu.h"

#define EMBED(name, file)                                                                          \
    extern const unsigned char name[], name##_end[];                                               \
    __asm__(".section .rodata\n.balign 16\n.global " #name ", " #name "_end\n" #name               \
            ":\n.incbin \"" MSL_DEVICE "/" file "\"\n" #name "_end:\n.previous\n");
#define EMBED_FOR(architecture)                                                                    \
    EMBED(device_steps_##architecture, #architecture "/steps.bc")                                  \
    EMBED(device_rows_##architecture, #architecture "/rows.bc")                                    \
    EMBED(device_lanes_##architecture, #architecture "/lanes.bc")                                  \
    EMBED(device_stage_##architecture, #architecture "/stage.bc")                                  \
    EMBED(device_validate_##architecture, #architecture "/validate.bc")                            \
    EMBED(device_group_##architecture, #architecture "/group.o")                                   \
    EMBED(device_waiting_##architecture, #architecture "/waiting.o")                               \
    EMBED(device_support_##architecture, #architecture "/support.o")
EMBED_FOR(x86_64)
EMBED_FOR(aarch64)
EMBED(gpu_position, "nvptx/position.bc")
EMBED(gpu_simd, "nvptx/simd.bc")
EMBED(gpu_matrix, "nvptx/matrix.bc")
EMBED(gpu_matmul, "nvptx/matmul.bc")
EMBED(gpu_convolution, "nvptx/convolution.bc")
EMBED(gpu_notes, "nvptx/notes.bc")
EMBED(gpu_stores, "nvptx/stores.ptx")
EMBED(gpu_texels, "nvptx/texels.ptx")
EMBED(gpu_samples, "nvptx/samples.ptx")
EMBED(gpu_textures, "nvptx/textures.ptx")
EMBED(gpu_blocks, "nvptx/blocks.ptx")
EMBED(gpu_no_blocks, "nvptx/no_blocks.ptx")

#define PART(name, architecture)                                                                   \
    {device_##name##_##architecture, device_##name##_##architecture##_end}
#define PARTS(architecture)                                                                        \
    {[MSL_DEVICE_STEPS] = PART(steps, architecture),                                               \
     [MSL_DEVICE_ROWS] = PART(rows, architecture),                                                 \
     [MSL_DEVICE_LANES] = PART(lanes, architecture),                                               \
     [MSL_DEVICE_STAGE] = PART(stage, architecture),                                               \
     [MSL_DEVICE_VALIDATE] = PART(validate, architecture),                                         \
     [MSL_DEVICE_GROUP] = PART(group, architecture),                                               \
     [MSL_DEVICE_WAITING] = PART(waiting, architecture),                                           \
     [MSL_DEVICE_SUPPORT] = PART(support, architecture)}

typedef struct Span {
    const unsigned char *start, *end;
} Span;

MslElf msl_device_code(const Cg *cg, MslDevicePart part) {
    static const Span x86_64[] = PARTS(x86_64), aarch64[] = PARTS(aarch64);
    Span p = (cg->cx.aarch64 ? aarch64 : x86_64)[part];
    return (MslElf){p.start, (size_t)(p.end - p.start)};
}

MslElf msl_gpu_code(MslGpuPart part) {
    static const Span parts[] = {[MSL_GPU_POSITION] = {gpu_position, gpu_position_end},
                                 [MSL_GPU_SIMD] = {gpu_simd, gpu_simd_end},
                                 [MSL_GPU_MATRIX] = {gpu_matrix, gpu_matrix_end},
                                 [MSL_GPU_MATMUL] = {gpu_matmul, gpu_matmul_end},
                                 [MSL_GPU_CONVOLUTION] = {gpu_convolution, gpu_convolution_end},
                                 [MSL_GPU_NOTES] = {gpu_notes, gpu_notes_end},
                                 [MSL_GPU_STORES] = {gpu_stores, gpu_stores_end},
                                 [MSL_GPU_TEXELS] = {gpu_texels, gpu_texels_end},
                                 [MSL_GPU_SAMPLES] = {gpu_samples, gpu_samples_end},
                                 [MSL_GPU_TEXTURES] = {gpu_textures, gpu_textures_end},
                                 [MSL_GPU_BLOCKS] = {gpu_blocks, gpu_blocks_end},
                                 [MSL_GPU_NO_BLOCKS] = {gpu_no_blocks, gpu_no_blocks_end}};
    return (MslElf){parts[part].start, (size_t)(parts[part].end - parts[part].start)};
}

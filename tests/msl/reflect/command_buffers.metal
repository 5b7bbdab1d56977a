// Command buffers and pipelines in argument buffers.
#include <metal_stdlib>
using namespace metal;
struct Args {
    command_buffer icb [[id(2)]];
    compute_pipeline_state one;
    array<compute_pipeline_state, 2> many [[id(8)]];
};
kernel void fill(constant Args &a) { compute_command(a.icb, 0).reset(); }
// reflect: kernel fill
// reflect:   a Args constant read index 0 count 1 slot 0 type 1 size 32 align 8
// reflect: struct Args size 32 align 8
// reflect:   +0 command_buffer icb type 80 id 2
// reflect:   +8 compute_pipeline_state one type 79
// reflect:   +16 metal::array<metal::compute_pipeline_state, 2> many type 2 elements 2 stride 8 id 8

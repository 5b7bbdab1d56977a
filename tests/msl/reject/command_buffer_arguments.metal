// Command buffers and pipelines are members of argument buffers, never arguments themselves.
#include <metal_stdlib>
using namespace metal;
kernel void direct(command_buffer icb) {} // expect-error: invalid type 'command_buffer' for parameter 'icb'
kernel void direct_pipeline(compute_pipeline_state p) {} // expect-error: invalid type 'compute_pipeline_state' for parameter 'p'

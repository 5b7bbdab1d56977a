// Indirect command buffers in kernels, in the forms that programs use.
#include <metal_stdlib>
#include <metal_command_buffer>
using namespace metal;

struct Arguments {
    command_buffer commands [[id(0)]];
    array<compute_pipeline_state, 3> pipelines [[id(1)]];
    array<command_buffer, 2> more;
    device float *data;
};
struct Plain { command_buffer icb; compute_pipeline_state pipeline; };

static void encode(command_buffer icb, uint index, compute_pipeline_state pipeline, device float *x,
                   constant uint &n) {
    if (is_null_command_buffer(icb) || is_null_compute_pipeline_state(pipeline) || index >= icb.size()) return;
    compute_command command(icb, index);
    command.set_compute_pipeline_state(pipeline);
    command.set_kernel_buffer(x, 0);
    command.set_kernel_buffer(&n, 1);
    command.set_kernel_buffer((device const uchar *)x, 2);
    command.set_kernel_buffer(x, size_t(16), 3);
    command.set_barrier();
    command.clear_barrier();
    command.set_threadgroup_memory_length(256, 0);
    command.concurrent_dispatch_threadgroups(uint3(n / 64, 1, 1), uint3(64, 1, 1));
}

kernel void fill(device Arguments &a [[buffer(0)]], constant Plain *plain [[buffer(1)]],
                 constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    encode(a.commands, i, a.pipelines[i % 3], a.data + i, n);
    compute_command copy = compute_command(a.more[i & 1], i);
    copy.copy_command(compute_command(plain[0].icb, 0));
    copy.concurrent_dispatch_threads(uint3(n), uint3(8, 4, 1));
    if (i == 0) copy.reset();
    command_buffer none = nullptr;
    compute_pipeline_state nothing = nullptr;
    if (none.size() == 0 && is_null_compute_pipeline_state(nothing)) a.data[i] = 0;
}

// What Metal refuses of indirect command buffers, at the line of the program.
#include <metal_stdlib>
#include <metal_command_buffer>
using namespace metal;
struct A { command_buffer icb; };
kernel void stage_in(constant A &a [[buffer(0)]]) {
    compute_command c(a.icb, 0);
    c.set_stage_in_region(uint3(0), uint3(1)); // expect-error: no member named 'set_stage_in_region'
}
kernel void from_number(constant A &a [[buffer(0)]]) {
    compute_command c = 3; // expect-error: no viable conversion from 'int'
}
kernel void thread_memory(constant A &a [[buffer(0)]]) {
    float x = 0;
    compute_command(a.icb, 0).set_kernel_buffer(&x, 0); // expect-error: no matching member function for call to 'set_kernel_buffer'
}

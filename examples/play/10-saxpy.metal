/*play {"title": "A kernel: a x + y", "function": "saxpy", "grid": [64],
 "buffers": {"x": "f32[64]=iota", "y": "f32[64]=random:1"}, "values": {"a": 0.1}, "ranges": {"a": [-1, 1]}} */
// A kernel: one thread for each element. Its buffers are tables and plots.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                  constant float &a [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i] + y[i];
}

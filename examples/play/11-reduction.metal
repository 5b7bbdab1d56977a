/*play {"title": "A sum in threadgroups", "function": "total", "grid": [1024], "group": [128],
 "buffers": {"x": "f32[1024]=fill:0.5", "sums": "f32[8]"}} */
// 128 threads of a threadgroup add their numbers in 7 steps; a barrier stands between the steps.
#include <metal_stdlib>
using namespace metal;

kernel void total(device const float *x [[buffer(0)]], device float *sums [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                  uint g [[threadgroup_position_in_grid]]) {
    threadgroup float part[128];
    part[t] = x[i];
    for (uint half_ = 64; half_ > 0; half_ /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < half_) part[t] += part[t + half_];
    }
    if (t == 0) sums[g] = part[0];
}

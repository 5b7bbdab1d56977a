/*play {"title": "A histogram with atomics", "function": "count", "grid": [65536],
 "buffers": {"x": "f32[65536]=random:7", "bins": "u32[64]"}, "values": {"power": 2}, "ranges": {"power": [0.2, 8]}} */
// Many threads add to the same numbers at the same time: that takes atomic operations.
#include <metal_stdlib>
using namespace metal;

kernel void count(device const float *x [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
                  constant float &power [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    uint bin = min(63u, uint(pow(x[i], power) * 64));
    atomic_fetch_add_explicit(&bins[bin], 1, memory_order_relaxed);
}

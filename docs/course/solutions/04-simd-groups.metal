/*play {
 "title": "4. SIMD-groups",
 "function": "center",
 "grid": [
  64
 ],
 "group": [
  64
 ],
 "buffers": {
  "x": "f32[64]=iota",
  "y": "f32[64]"
 },
 "checks": [
  {
   "expect": [
    {
     "buffer": "y",
     "is": "f32:-15.5,-14.5,-13.5,-12.5,-11.5,-10.5,-9.5,-8.5,-7.5,-6.5,-5.5,-4.5,-3.5,-2.5,-1.5,-0.5,0.5,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5,10.5,11.5,12.5,13.5,14.5,15.5,-15.5,-14.5,-13.5,-12.5,-11.5,-10.5,-9.5,-8.5,-7.5,-6.5,-5.5,-4.5,-3.5,-2.5,-1.5,-0.5,0.5,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5,10.5,11.5,12.5,13.5,14.5,15.5"
    }
   ]
  },
  {
   "buffers": {
    "x": "f32[64]=fill:3"
   },
   "expect": [
    {
     "buffer": "y",
     "is": "f32[64]"
    }
   ]
  }
 ]
} */
/*lesson
# 4. SIMD-groups

The threads of a threadgroup run in **SIMD-groups** of 32, in step with each other. Within one, threads can hand each
other values without memory and without barriers:

- `simd_sum(v)` is the sum of the `v` of all its threads, and each of them gets it; `simd_max`, `simd_min` likewise;
- `simd_prefix_inclusive_sum(v)` is the sum of the threads up to this one;
- `simd_shuffle(v, k)` is the `v` of thread `k`; `simd_shuffle_down(v, 1)` that of the next one;
- `simd_broadcast_first(v)` is that of the first thread.

This is the fast way to sums: 32 numbers in one call, then the sums of SIMD-groups through threadgroup memory.

When threads of a SIMD-group go different ways at an `if`, both ways are run, one after the other. A SIMD-group function
inside it sees only the threads that are there.

## Exercise

Subtract from each element the mean of its SIMD-group: 32 elements have mean 0 then. The plot becomes two lines from
-15.5 to 15.5.
*/
#include <metal_stdlib>
using namespace metal;

kernel void center(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    float mean = simd_sum(x[i]) / 32;
    y[i] = x[i] - mean;
}

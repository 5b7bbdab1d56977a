/*play {
 "title": "3. Barriers",
 "function": "sums",
 "grid": [
  64
 ],
 "group": [
  16
 ],
 "buffers": {
  "x": "f32[64]=iota",
  "sum": "f32[4]"
 },
 "checks": [
  {
   "expect": [
    {
     "buffer": "sum",
     "is": "f32:120,376,632,888"
    }
   ]
  },
  {
   "buffers": {
    "x": "f32[64]=fill:0.5"
   },
   "expect": [
    {
     "buffer": "sum",
     "is": "f32:8,8,8,8"
    }
   ]
  }
 ]
} */
/*lesson
# 3. Barriers

Memory with `threadgroup` before it is shared by the threads of one threadgroup. A thread that reads what another has
written must be sure that it *was* written. That is what a **barrier** is for: no thread goes on before all threads of
the threadgroup have come to it.

    threadgroup_barrier(mem_flags::mem_threadgroup);

A sum shows it. Each of 16 threads brings a number. In the first step, thread 0 adds the number of thread 8 to its own,
thread 1 that of thread 9, and so on: 8 sums are left. In the next step 4, then 2, then 1. Before each step there must
be a barrier: the numbers that a thread reads come from others.

**All** threads must come to a barrier. Do not put it behind an `if` that some of them do not enter.

## Exercise

Complete the loop: `step` is 8, 4, 2, 1. In each turn wait, then let the threads below `step` add the number that is
`step` places further on.
*/
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float *x [[buffer(0)]], device float *sum [[buffer(1)]],
                 uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]]) {
    threadgroup float part[16];
    part[t] = x[i];
    for (uint step = 8; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < step) part[t] += part[t + step];
    }
    if (t == 0) sum[g] = part[0];
}

/*play {
 "title": "2. Threadgroups",
 "function": "places",
 "grid": [
  24
 ],
 "group": [
  8
 ],
 "buffers": {
  "out": "u32[24]"
 },
 "checks": [
  {
   "expect": [
    {
     "buffer": "out",
     "is": "u32:0,1,2,3,4,5,6,7,100,101,102,103,104,105,106,107,200,201,202,203,204,205,206,207"
    }
   ]
  },
  {
   "grid": [
    12
   ],
   "group": [
    4
   ],
   "buffers": {
    "out": "u32[12]"
   },
   "expect": [
    {
     "buffer": "out",
     "is": "u32:0,1,2,3,100,101,102,103,200,201,202,203"
    }
   ]
  }
 ]
} */
/*lesson
# 2. Threadgroups

A grid is cut into **threadgroups**. The threads of one threadgroup run close together: they can share memory and wait
for each other (lesson 3). Threads of different threadgroups cannot; nobody knows which threadgroup runs first.

A thread can ask where it is in its threadgroup, and which threadgroup that is:

    uint t [[thread_index_in_threadgroup]]
    uint g [[threadgroup_position_in_grid]]
    uint n [[threads_per_threadgroup]]

Without other arithmetic, `g * n + t` is the thread's position in the grid. How large threadgroups are is decided by who
starts the kernel: try other numbers in `Threadgroup` on the right.

## Exercise

Write `100 * (number of the threadgroup) + (place in the threadgroup)` to `out`, so that the plot becomes a row of
short steps. Do not compute with 8: the check also runs threadgroups of 4.
*/
#include <metal_stdlib>
using namespace metal;

kernel void places(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    out[i] = 100 * g + t;
}

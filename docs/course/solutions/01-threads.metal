/*play {
 "title": "1. Threads",
 "function": "parabola",
 "grid": [
  16
 ],
 "buffers": {
  "x": "f32[16]=iota",
  "y": "f32[16]"
 },
 "checks": [
  {
   "expect": [
    {
     "buffer": "y",
     "is": "f32:1,2,5,10,17,26,37,50,65,82,101,122,145,170,197,226"
    }
   ]
  },
  {
   "grid": [
    4
   ],
   "buffers": {
    "x": "f32:-2,0.5,3,10",
    "y": "f32[4]"
   },
   "expect": [
    {
     "buffer": "y",
     "is": "f32:5,1.25,10,101"
    }
   ]
  }
 ]
} */
/*lesson
# 1. Threads

A **kernel** is a function that the GPU calls many times at once: once for each **thread** of a grid. All calls run
the same lines. What differs is the thread's position in the grid, which it asks for with an attribute:

    uint i [[thread_position_in_grid]]

So there is no loop over the elements: thread `i` takes care of element `i`. Below, a grid of 16 threads reads `x`
and writes `y`; on the right both are shown as plots and tables. Change the source and look: it runs as you type.

The arguments with `device` are **buffers**, memory that the host made. What stands in brackets behind them is the
place where the host puts them.

## Exercise

Let each thread write `x * x + 1` of its own element. Then press **Check**: it runs your kernel on these numbers and
on others.

Also try a `Grid` of 20 on the right. Threads 16 to 19 then write behind the end of `y`. On a real GPU that destroys
something else; the playground checks every access and tells you the line.
*/
#include <metal_stdlib>
using namespace metal;

kernel void parabola(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
    y[i] = x[i] * x[i] + 1;
}

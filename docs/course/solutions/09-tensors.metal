/*play {
 "title": "9. Tensors",
 "function": "product",
 "grid": [
  32
 ],
 "group": [
  32
 ],
 "buffers": {
  "a": "f32[64]=iota",
  "b": "f32[64]=iota",
  "c": "f32[64]"
 },
 "checks": [
  {
   "expect": [
    {
     "buffer": "c",
     "is": "f32:1120,1148,1176,1204,1232,1260,1288,1316,2912,3004,3096,3188,3280,3372,3464,3556,4704,4860,5016,5172,5328,5484,5640,5796,6496,6716,6936,7156,7376,7596,7816,8036,8288,8572,8856,9140,9424,9708,9992,10276,10080,10428,10776,11124,11472,11820,12168,12516,11872,12284,12696,13108,13520,13932,14344,14756,13664,14140,14616,15092,15568,16044,16520,16996"
    }
   ]
  },
  {
   "buffers": {
    "a": "f32[64]=fill:-1"
   },
   "expect": [
    {
     "buffer": "c",
     "is": "f32[64]"
    }
   ]
  },
  {
   "buffers": {
    "a": "f32[64]=fill:0.5",
    "b": "f32[64]=fill:2"
   },
   "expect": [
    {
     "buffer": "c",
     "is": "f32[64]=fill:8"
    }
   ]
  }
 ]
} */
/*lesson
# 9. Tensors

Metal 4 has **tensors**: memory with a shape. Of a buffer one is made in the kernel with its sizes, the innermost first,
so a matrix is (columns, rows):

    auto a = tensor(pointer, dextents<int, 2>(8, 8));

A tensor's element is `a[column, row]`, and `a.slice(...)` is a part of it. What makes tensors fast are operations that
a whole SIMD-group, or several, do together. `matmul2d` multiplies matrices: a descriptor says how large the result is
(rows, columns, length of the sums), and how many SIMD-groups work on it.

Its result can stay in the registers of the threads, as a **cooperative tensor**: each thread holds some elements of it
and works on those, whichever they are. That is where a bias or an activation is applied before anything is stored.

## Exercise

The kernel multiplies two matrices of 8 x 8. Apply a ReLU before the result is stored: elements below 0 become 0. Loop
over `sum.get_capacity()` elements, leave out those for which `sum.is_valid_element(i)` is false, and change `sum[i]`.
The check also multiplies with negative numbers.
*/
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

kernel void product(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]]) {
    auto left = tensor(a, dextents<int, 2>(8, 8));
    auto right = tensor(b, dextents<int, 2>(8, 8));
    auto out = tensor(c, dextents<int, 2>(8, 8));
    constexpr auto shape = matmul2d_descriptor(8, 8, 8);
    matmul2d<shape, execution_simdgroup> multiply;
    auto sum = multiply.get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
    multiply.run(left, right, sum);
    for (ushort i = 0; i < sum.get_capacity(); i++)
        if (sum.is_valid_element(i)) sum[i] = max(sum[i], 0.0f);
    sum.store(out);
}

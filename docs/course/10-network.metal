/*play {
 "title": "10. A network",
 "function": "network",
 "grid": [
  4
 ],
 "buffers": {
  "x": "f32:0,0,0,1,1,0,1,1",
  "hidden": "f32:1,1,0,1,1,-1",
  "last": "f32:1,-2,0",
  "y": "f32[4]"
 },
 "checks": [
  {
   "expect": [
    {
     "buffer": "y",
     "is": "f32:0,1,1,0"
    }
   ]
  },
  {
   "grid": [
    2
   ],
   "buffers": {
    "x": "f32:0.5,0.25,2,-1",
    "y": "f32[2]"
   },
   "expect": [
    {
     "buffer": "y",
     "is": "f32:0.75,1"
    }
   ]
  },
  {
   "grid": [
    2
   ],
   "buffers": {
    "x": "f32:-1,-1,0,0",
    "last": "f32:3,1,0.5",
    "y": "f32[2]"
   },
   "expect": [
    {
     "buffer": "y",
     "is": "f32:0.5,0.5"
    }
   ]
  }
 ]
} */
/*lesson
# 10. A network

A neural network is sums and a bend. A **neuron** multiplies its inputs by weights, adds a bias, and bends the result:
`max(0, sum)` is the bend called ReLU. Without it, any number of layers would be one straight line.

Exclusive or (1 if exactly one of two inputs is 1) is the smallest thing that one neuron cannot do and three can. The
weights are below, as a training would have found them: in `hidden` three numbers for each of two neurons (two weights
and the bias), in `last` those of the output neuron, which does not bend.

Each thread runs the whole network for one pair of inputs; a grid of 4 gives all four answers. Real networks are the
same with more numbers: a layer is then a matrix product (lesson 9), and training is `ingot.nn` in Python or the tensor
library in C.

## Exercise

Compute the two hidden neurons: `h[k]` is the ReLU of the sum of both inputs with the weights of neuron `k`, and its
bias. `y` becomes 0, 1, 1, 0. Then change a weight in `hidden` on the right and see what the network makes of it.
*/
#include <metal_stdlib>
using namespace metal;

kernel void network(device const float *x [[buffer(0)]],      // two inputs for each thread
                    device const float *hidden [[buffer(1)]], // weight, weight, bias of each neuron
                    device const float *last [[buffer(2)]],   // the same of the output
                    device float *y [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    float a = x[2 * i], b = x[2 * i + 1], h[2];
    for (uint k = 0; k < 2; k++) {
        h[k] = 0;
    }
    y[i] = last[0] * h[0] + last[1] * h[1] + last[2];
}

// Headers that are read after a program's macros must not trip over them.
#include <metal_stdlib>
#define M 64
#define N 32
#define K 16
#define A 1
#define B 2
#define C 3
#define D 4
#define E 5
#define L 7
#define P 8
#define R 9
#define S 10
#define X 6
#define HALF half
#define FLOAT float
#define INT8 char
#define BLOCK 8
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
kernel void tiles(tensor<device half, dextents<int, 2>> a, tensor<device half, dextents<int, 2>> b,
                  tensor<device float, dextents<int, 2>> c) {
    mpp::tensor_ops::matmul2d<mpp::tensor_ops::matmul2d_descriptor(M, N, K), execution_simdgroup> op;
    op.run(a, b, c);
}

// SPDX-License-Identifier: Apache-2.0
// along_axis.metal: elements by position along rows (along_axis.c).
//
// Macros: ELEMENT=half,float,bfloat,char,short,int,long,uchar
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// p: n, k
kernel void take(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device const int *index [[buffer(2)]], device T *y [[buffer(3)]],
                 uint2 at [[thread_position_in_grid]]) {
    int i = int(at.y) * p[1] + int(at.x), from = index[i];
    y[i] = from < 0 ? T(-INFINITY) : x[int(at.y) * p[0] + from];
}

kernel void put(constant int *p [[buffer(0)]], device const T *y [[buffer(1)]],
                device const int *index [[buffer(2)]], device T *x [[buffer(3)]],
                uint2 at [[thread_position_in_grid]]) {
    int i = int(at.y) * p[1] + int(at.x);
    const int to = index[i];
    if (to >= 0) x[int(at.y) * p[0] + to] = y[i];
}

// p: in (2), out (2), kernel (2), stride (2), padding (2), dilation (2)
kernel void put_windows(constant int *p [[buffer(0)]], device const T *y [[buffer(1)]],
                        device const int *index [[buffer(2)]], device T *x [[buffer(3)]],
                        uint2 at [[thread_position_in_grid]]) {
    int self = int(at.x), row = self / p[1] + p[8], column = self % p[1] + p[9];
    int reach_y = (p[4] - 1) * p[10], reach_x = (p[5] - 1) * p[11];
    int y0 = max(0, (row - reach_y + p[6] - 1) / p[6]), y1 = min(p[2] - 1, row / p[6]);
    int x0 = max(0, (column - reach_x + p[7] - 1) / p[7]), x1 = min(p[3] - 1, column / p[7]);
    float sum = 0;
    for (int i = y0; i <= y1; i++)
        for (int j = x0; j <= x1; j++) {
            int from = (int(at.y) * p[2] + i) * p[3] + j;
            if (index[from] == self) sum += float(y[from]);
        }
    x[int(at.y) * p[0] * p[1] + self] = T(sum);
}

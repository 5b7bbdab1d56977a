// SPDX-License-Identifier: Apache-2.0
// index.metal: rows by number (index.c). ELEMENT: for "take", which copies bits, an unsigned type
// as large as an element; for "add" the type itself.
//
// Macros: ELEMENT=uchar,ushort,uint,ulong,half,float,bfloat
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// p: inner
kernel void take(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device const int *index [[buffer(2)]], device T *y [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
    int inner = p[0], row = int(i) / inner;
    y[i] = x[index[row] * inner + int(i) % inner];
}

// p: inner, rows; index: the first place of each row in the list, one behind the last, the list
kernel void add(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                device const int *index [[buffer(2)]], device T *y [[buffer(3)]],
                uint i [[thread_position_in_grid]]) {
    int inner = p[0], row = int(i) / inner, column = int(i) % inner;
    float sum = 0;
    for (int k = index[row]; k < index[row + 1]; k++)
        sum += float(x[index[p[1] + 1 + k] * inner + column]);
    y[i] = T(sum);
}

// p: inner; y is 0 before. Every row of x goes where the index says, in any order.
kernel void add_atomic(constant int *p [[buffer(0)]], device const float *x [[buffer(1)]],
                       device const int *index [[buffer(2)]],
                       device atomic_float *y [[buffer(3)]], uint2 at [[thread_position_in_grid]]) {
    const int column = int(at.x), row = int(at.y);
    atomic_fetch_add_explicit(y + index[row] * p[0] + column, x[row * p[0] + column],
                              memory_order_relaxed);
}

// The same for long rows: threadgroups know their rows, so that neighbours read neighbours.
// p: inner, rows, columns of a threadgroup, rows of one
#define ROWS_OF_GROUP                                                                              \
    const int column = int(group.x) * p[2] + int(local.x);                                         \
    const int end = min(p[1], int(group.y + 1) * p[3]);                                            \
    if (column >= p[0]) return;                                                                    \
    for (int row = int(group.y) * p[3]; row < end; row++)

kernel void take_rows(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                      device const int *index [[buffer(2)]], device T *y [[buffer(3)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 local [[thread_position_in_threadgroup]]) {
    ROWS_OF_GROUP y[row * p[0] + column] = x[index[row] * p[0] + column];
}

kernel void add_rows(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                     device const int *index [[buffer(2)]], device T *y [[buffer(3)]],
                     uint2 group [[threadgroup_position_in_grid]],
                     uint2 local [[thread_position_in_threadgroup]]) {
    ROWS_OF_GROUP {
        float sum = 0;
        for (int k = index[row]; k < index[row + 1]; k++)
            sum += float(x[index[p[1] + 1 + k] * p[0] + column]);
        y[row * p[0] + column] = T(sum);
    }
}

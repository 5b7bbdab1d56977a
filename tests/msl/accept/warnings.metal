// Accepted, with the warnings Metal shows by default.
#include <metal_stdlib>
using namespace metal;
kernel void k(device float *a [[bufer(0)]]) { // expect-warning: unknown attribute 'bufer' ignored
    int unused = 3; // expect-warning: unused variable 'unused'
    a[0] = 1;
    if (a[0] = 2) // expect-warning: using the result of an assignment as a condition without parentheses
        a[1] = 0;
}

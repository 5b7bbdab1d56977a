// Metal has no call stack to recurse on.
#include <metal_stdlib>
using namespace metal;
int fibonacci(int n) { return n < 2 ? 1 : fibonacci(n - 2) + fibonacci(n - 1); } // expect-error: recursive call of function 'fibonacci' is not supported in Metal
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); } // expect-error: recursive call of function 'even' is not supported in Metal
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int missing(int n); // expect-error: function 'missing' is used but not defined
[[visible]] int self(int n) { return n ? self(n - 1) * self(n / 2) - 1 : 0; } // expect-error: recursive call of function 'self' is not supported in Metal
kernel void inner(device int *a) { a[0] = 1; } // expect-error: entry point 'inner' cannot be called
kernel void outer(device int *a) {
    a[0] = fibonacci(a[1]) + even(a[2]) + missing(3);
    inner(a);
}

// What C++ has and Metal leaves out.
#include <metal_stdlib>
using namespace metal;
double twice(float x); // expect-error: 'double' is not supported in Metal
void jump() { goto end; end: return; } // expect-error: 'goto' is not supported in Metal
struct V { virtual void f() {} }; // expect-error: 'virtual' is not supported in Metal
void *make() { return new int(3); } // expect-error: 'new' is not supported in Metal
// expect-error@7: pointer type must have explicit address space qualifier
void drop(thread int *p) { delete p; } // expect-error: 'delete' is not supported in Metal
void attempt() { try { } catch (int) { } } // expect-error: exception handling is not supported in Metal
struct D : V {};
thread D *cast(thread V *v) { return dynamic_cast<thread D *>(v); } // expect-error: 'dynamic_cast' is not supported in Metal
thread_local int per_thread; // expect-error: 'thread_local' is not supported in Metal
asm("nop"); // expect-error: inline assembly is not supported in Metal
static int counter = 3; // expect-error: program scope variable must reside in constant address space
const int limit = 4; // expect-error: program scope variable must reside in constant address space
threadgroup float shared_by_all[3]; // expect-error: program scope variable must reside in constant address space
struct S { static constexpr int n = 3; }; // expect-error: program scope variable must reside in constant address space
void remember() { static int calls = 0; calls++; } // expect-error: static local variable must reside in constant address space
constant int empty; // expect-error: must be initialized
kernel void wide(device long *a) { long long b = 1; a[0] = b; } // expect-error: 'long long' is not supported in Metal

// C++ that Metal leaves out, and mistakes of everyday life.
#include <metal_stdlib>
using namespace metal;
// ====
double f(float x) { return x; } // expect-error: 'double' is not supported in Metal
// ====
long double f(float x) { return x; } // expect-error: 'double' is not supported in Metal
// ====
kernel void k(device float *a) { long long x = 1; a[0] = x; } // expect-error: 'long long' is not supported in Metal
// ====
kernel void k(device float *a) { unsigned long long x = 1; a[0] = x; } // expect-error: 'long long' is not supported in Metal
// ====
kernel void k(device float *a) { goto end; end: a[0] = 1; } // expect-error: 'goto' is not supported in Metal
// ====
struct S { virtual void f() {} }; // expect-error: 'virtual' is not supported in Metal
// ====
struct A { int x; }; struct B : virtual A {}; // expect-error: 'virtual' is not supported in Metal
// ====
kernel void k(device float *a) { auto p = new int(3); a[0] = *p; } // expect-error: 'new' is not supported in Metal
// ====
void f(thread int *p) { delete p; } // expect-error: 'delete' is not supported in Metal
// ====
void f() { try { } catch (int) { } } // expect-error: exception handling is not supported in Metal
// ====
void f() { throw 1; } // expect-error: exception handling is not supported in Metal
// ====
struct A { int x; }; struct B : A {}; thread B *f(thread A *p) { return dynamic_cast<thread B *>(p); } // expect-error: 'dynamic_cast' is not supported in Metal
// ====
kernel void k(device float *a) { a[0] = typeid(float) == typeid(int); } // expect-error: 'typeid' is not supported in Metal
// ====
thread_local int x; // expect-error: 'thread_local' is not supported in Metal
// ====
asm("nop"); // expect-error: inline assembly is not supported in Metal
// ====
kernel void k(device float *a) { asm("nop"); } // expect-error: inline assembly is not supported in Metal
// ====
kernel void k(device float *a) { register int x = 1; a[0] = x; } // expect-error: register
// ====
kernel void k(device float *a) { int n = int(a[0]); float x[n]; a[0] = x[0]; } // expect-error: array size is not a constant expression
// ====
int fib(int n) { return n < 2 ? 1 : fib(n - 2) + fib(n - 1); } // expect-error: recursive call of function 'fib'
kernel void k(device float *a) { a[0] = fib(int(a[1])); }
// ====
int odd(int n);
int even(int n) { return n ? odd(n - 1) + 1 : 1; } // expect-error: recursive call of function 'even'
int odd(int n) { return n ? even(n - 1) + 1 : 0; }
kernel void k(device float *a) { a[0] = even(int(a[1])); }
// ====
int x = 3; // expect-error: program scope variable must reside in constant address space
// ====
static float x[4]; // expect-error: program scope variable must reside in constant address space
// ====
const int x = 3; // expect-error: program scope variable must reside in constant address space
// ====
device float x; // expect-error: program scope variable must reside in constant address space
// ====
thread float x = 1; // expect-error: program scope variable must reside in constant address space
// ====
threadgroup float x[4]; // expect-error: program scope variable must reside in constant address space
// ====
namespace n { int x = 3; } // expect-error: program scope variable must reside in constant address space
// ====
struct S { static int x; }; // expect-error: program scope variable must reside in constant address space
// ====
struct S { static const int x = 4; }; // expect-error: program scope variable must reside in constant address space
// ====
kernel void k(device float *a) { static int calls = 0; a[0] = ++calls; } // expect-error: static local variable must reside in constant address space
// ====
constant int x; // expect-error: must be initialized
// ====
int f(int x); // expect-error: function 'f' is used but not defined
kernel void k(device float *a) { a[0] = f(1); }
// ====
#include <vector> // expect-error: 'vector' file not found
// ====
#include <math.h> // expect-error: 'math.h' file not found
// ====
#include <cstdint> // expect-error: file not found
// ====
kernel void k(device float *a) { a[0] = std::sqrt(a[1]); } // expect-error: std
// ====
kernel void k(device float *a) { print(a[0]); } // expect-error: print
// ====
kernel void k(device float *a) { auto p = malloc(4); } // expect-error: malloc
// ====
kernel void k(device float *a) { co_return; } // expect-error: coroutine
// ====
kernel void k(device float *a) { int x = 3; int &r = x; a[0] = r; } // expect-error: reference type must have explicit address space qualifier
// ====
kernel void k(device float *a) { a[0] = 1 } // expect-error: expected ';' after expression
// ====
kernel void k(device float *a) { a[0] = nothing; } // expect-error: use of undeclared identifier 'nothing'
// ====
kernel void k(device float *a) { a[0] = a.x; } // expect-error: member reference
// ====
kernel void k(device float *a) { int x = "text"; a[0] = x; } // expect-error: cannot initialize a variable of type 'int'
// ====
kernel void k(device float *a) { switch (a[0]) { case 1: break; } } // expect-error: integer
// ====
kernel void k(device float *a) { const float x = 1; x = 2; a[0] = x; } // expect-error: const
// ====
kernel void k(device float *a) { int x = 1; int x = 2; a[0] = x; } // expect-error: redefinition of 'x'
// ====
kernel void k(device float *a) { break; } // expect-error: 'break' statement not in loop or switch statement
// ====
kernel void k(device float *a) { continue; } // expect-error: 'continue' statement not in loop statement
// ====
kernel void k(device float *a) { return 1; } // expect-error: should not return a value
// ====
float f() { return float2(1); } // expect-error: no viable conversion
// ====
struct S { float x; S s; }; // expect-error: incomplete type
// ====
static_assert(sizeof(float3) == 12, "size of float3"); // expect-error: size of float3
// ====
struct S { private: int x; };
void f(thread S &s) { s.x = 1; } // expect-error: private member
// ====
template <typename T> T f(T x) { return x.nothing; } // expect-error: member reference
kernel void k(device float *a) { a[0] = f(1.0f); }
// ====
template <int N> int f() { return N; }
kernel void k(device float *a) { int n = a[0]; a[0] = f<n>(); } // expect-error: no matching function
// ====
enum E { A, B }; E f() { return 1; } // expect-error: cannot initialize return object
// ====
union U { int a; float b; }; void f(U u) { u.c = 1; } // expect-error: no member named 'c'
// ====
#error no such thing // expect-error: no such thing
// ====
#if 1 // expect-error: unterminated conditional directive

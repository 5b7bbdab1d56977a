// Pointers, references and variables in the wrong address space.
#include <metal_stdlib>
using namespace metal;
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; device float *p = c; (void)p; } // expect-error: cannot initialize a variable of type 'device float *' with an lvalue of type 'constant float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; device float *p = t; (void)p; } // expect-error: cannot initialize a variable of type 'device float *' with an lvalue of type 'threadgroup float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; device float *p = h; (void)p; } // expect-error: cannot initialize a variable of type 'device float *' with an lvalue of type 'thread float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; constant float *p = d; (void)p; } // expect-error: cannot initialize a variable of type 'constant float *' with an lvalue of type 'device float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; constant float *p = t; (void)p; } // expect-error: cannot initialize a variable of type 'constant float *' with an lvalue of type 'threadgroup float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; constant float *p = h; (void)p; } // expect-error: cannot initialize a variable of type 'constant float *' with an lvalue of type 'thread float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; threadgroup float *p = d; (void)p; } // expect-error: cannot initialize a variable of type 'threadgroup float *' with an lvalue of type 'device float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; threadgroup float *p = c; (void)p; } // expect-error: cannot initialize a variable of type 'threadgroup float *' with an lvalue of type 'constant float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; threadgroup float *p = h; (void)p; } // expect-error: cannot initialize a variable of type 'threadgroup float *' with an lvalue of type 'thread float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; thread float *p = d; (void)p; } // expect-error: cannot initialize a variable of type 'thread float *' with an lvalue of type 'device float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; thread float *p = c; (void)p; } // expect-error: cannot initialize a variable of type 'thread float *' with an lvalue of type 'constant float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; thread float *p = t; (void)p; } // expect-error: cannot initialize a variable of type 'thread float *' with an lvalue of type 'threadgroup float *'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; device float &r = c[0]; (void)r; } // expect-error: 'device float'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; d = c; } // expect-error: assigning
// ====
void f(device float *p) { p[0] = 1; }
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; f(c); } // expect-error: no matching function for call to 'f'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; auto p = static_cast<device float *>(c); (void)p; } // expect-error: static_cast
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; auto p = (device float *)c; (void)p; } // expect-error: address space
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; threadgroup float &r = d[0]; (void)r; } // expect-error: 'threadgroup float'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; t = d; } // expect-error: assigning
// ====
void f(threadgroup float *p) { p[0] = 1; }
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; f(d); } // expect-error: no matching function for call to 'f'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; auto p = static_cast<threadgroup float *>(d); (void)p; } // expect-error: static_cast
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; auto p = (threadgroup float *)d; (void)p; } // expect-error: address space
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; thread float &r = c[0]; (void)r; } // expect-error: changes address space
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; h = c; } // expect-error: assigning
// ====
void f(thread float *p) { p[0] = 1; }
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; f(c); } // expect-error: no matching function for call to 'f'
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; auto p = static_cast<thread float *>(c); (void)p; } // expect-error: static_cast
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; auto p = (thread float *)c; (void)p; } // expect-error: address space
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; c[0] = 1; } // expect-error: not assignable
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; c[0]++; } // expect-error: not assignable
// ====
kernel void k(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) { float l[4] = {}; thread float *h = l; constant float x = 1; x = 2; } // expect-error: cannot be declared in constant address space
// ====
constant float table[2] = {1, 2};
kernel void k() { table[0] = 3; } // expect-error: cannot assign to variable 'table'
// ====
kernel void k(device const float *a) { a[0] = 1; } // expect-error: not assignable
// ====
kernel void k(const device float &a) { a = 1; } // expect-error: const
// ====
kernel void k(constant float &a) { a = 1; } // expect-error: assign
// ====
struct S { device float x; }; // expect-error: address space
// ====
struct S { threadgroup float x; }; // expect-error: address space
// ====
struct S { constant float x; }; // expect-error: address space
// ====
void f(device float x) {} // expect-error: address space
// ====
void f(threadgroup float x) {} // expect-error: address space
// ====
struct S { float *p; }; // expect-error: pointer type must have explicit address space qualifier
// ====
void f(float *p) {} // expect-error: pointer type must have explicit address space qualifier
// ====
void f(float &r) {} // expect-error: reference type must have explicit address space qualifier
// ====
void f(float *device p) {} // expect-error: address space
// ====
float *f() { return nullptr; } // expect-error: pointer type must have explicit address space qualifier
// ====
using P = float *; void f(P p) {} // expect-error: pointer type must have explicit address space qualifier
// ====
float f() { threadgroup float t[4]; return t[0]; } // expect-error: declared in kernel, fragment, object and mesh functions only
kernel void k(device float *a) { a[0] = f(); }
// ====
vertex float4 v() { threadgroup float t[4]; t[0] = 1; return t[0]; } // expect-error: threadgroup
// ====
kernel void k() { device float x = 1; } // expect-error: address space
// ====
struct S { float x; void set() { x = 1; } };
kernel void k(device S *s) { s->set(); } // expect-error: device
// ====
struct S { float x; void set() { x = 1; } };
kernel void k(constant S &s) { s.set(); } // expect-error: constant
// ====
struct S { float x; float get() const device { return x; } };
kernel void k(constant S &s, device float *o) { o[0] = s.get(); } // expect-error: constant
// ====
device float *f(threadgroup float *t) { return t; } // expect-error: cannot initialize return object
// ====
void f(thread float *p); void f(device float *p);
kernel void k(constant float *c) { f(c); } // expect-error: no matching function
// ====
device float *device f(device float *p) { return p; } // expect-error: address space

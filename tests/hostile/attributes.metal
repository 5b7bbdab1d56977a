// Attributes by which a program could place code, run it when a library is loaded, or leave its
// frame: each is refused where it stands, however it is spelt.
#include <metal_stdlib>
using namespace metal;
// ==== code of the program's own
__attribute__((section(".text"))) constant uchar code[] = {0xc3}; // expect-error: attribute 'section' is not supported in Metal
// ====
__attribute__((__section__(".init_array"))) constant ulong start[] = {1}; // expect-error: attribute '__section__' is not supported in Metal
// ====
__attribute((section(".preinit_array"))) constant ulong start[] = {1}; // expect-error: attribute 'section' is not supported
// ====
[[gnu::section(".fini_array")]] constant ulong stop[] = {1}; // expect-error: attribute 'section' is not supported
// ====
[[__gnu__::__section__(".fini_array")]] constant ulong stop[] = {1}; // expect-error: attribute '__section__' is not supported
// ====
[[using gnu: section(".init_array"), aligned(8)]] constant ulong start[] = {1}; // expect-error: attribute 'section' is not supported
// ====
[[maybe_unused, gnu::section(".init_array")]] constant ulong start[] = {1}; // expect-error: attribute 'section' is not supported
// ====
<:<:gnu::section(".init_array"):>:> constant ulong start<::> = {1}; // expect-error: attribute 'section' is not supported
// ====
__declspec(allocate(".init_array")) constant ulong start[] = {1}; // expect-error: '__declspec' is not supported in Metal
// ==== hidden in macros
#define WORD(a, b) a##b
#define PLACE(x) __attribute__((aligned(8), WORD(sec, tion)(x)))
PLACE(".init_array") constant ulong start[] = {1}; // expect-error: attribute 'section' is not supported
// ==== run at load and unload
__attribute__((constructor)) void f() {} // expect-error: attribute 'constructor' is not supported
// ====
__attribute__((destructor(101))) void f() {} // expect-error: attribute 'destructor' is not supported
// ====
[[gnu::constructor]] void f() {} // expect-error: attribute 'constructor' is not supported
// ====
__attribute__((init_priority(200))) constant int x = 1; // expect-error: attribute 'init_priority' is not supported
// ==== other symbols
extern "C" void g() {}
extern "C" void f() __attribute__((alias("g"))); // expect-error: attribute 'alias' is not supported
// ====
extern "C" thread void *g() { return 0; }
void f() __attribute__((ifunc("g"))); // expect-error: attribute 'ifunc' is not supported
// ====
__attribute__((weak)) void f() {} // expect-error: attribute 'weak' is not supported
// ====
static void f() __attribute__((weakref("system"))); // expect-error: attribute 'weakref' is not supported
// ====
__attribute__((used)) static void f() {} // expect-error: attribute 'used' is not supported
// ====
[[gnu::retain]] void f() {} // expect-error: attribute 'retain' is not supported
// ====
[[clang::internal_linkage]] void f() {} // expect-error: attribute 'internal_linkage' is not supported
// ====
void f() __asm__("system"); // expect-error: inline assembly is not supported
// ====
asm(".section .init_array"); // expect-error: inline assembly is not supported
// ====
extern constant ulong x asm("rsp"); // expect-error: inline assembly is not supported
// ==== other calls
__attribute__((naked)) void f() {} // expect-error: attribute 'naked' is not supported
// ====
__attribute__((interrupt)) void f() {} // expect-error: attribute 'interrupt' is not supported
// ====
void c(thread int *p) {}
void f() { __attribute__((cleanup(c))) int x = 0; } // expect-error: attribute 'cleanup' is not supported
// ====
__attribute__((ms_abi)) void f() {} // expect-error: attribute 'ms_abi' is not supported
// ====
__attribute__((regcall)) void f() {} // expect-error: attribute 'regcall' is not supported
// ====
void __vectorcall f() {} // expect-error: '__vectorcall' is not supported
// ====
int g(int x) { return x; }
int f(int x) { [[clang::musttail]] return g(x); } // expect-error: attribute 'musttail' is not supported
// ====
__attribute__((target("avx512f"))) void f() {} // expect-error: attribute 'target' is not supported
// ====
__attribute__((patchable_function_entry(16))) void f() {} // expect-error: attribute 'patchable_function_entry' is not supported
// ====
__attribute__((no_sanitize("address"))) void f() {} // expect-error: attribute 'no_sanitize' is not supported
// ==== memory that is not Metal's
__thread int x; // expect-error: '__thread' is not supported
// ====
_Thread_local int x; // expect-error: '_Thread_local' is not supported
// ====
thread_local int x; // expect-error: 'thread_local' is not supported
// ====
constant int x __attribute__((tls_model("initial-exec"))) = 1; // expect-error: attribute 'tls_model' is not supported
// ====
kernel void k(device int *a) { a[0] = *(__attribute__((address_space(257))) int *)40; } // expect-error: attribute 'address_space' is not supported
// ==== what reflection reads is the compiler's to say
__attribute__((annotate("msl.kernel"))) void f() {} // expect-error: attribute 'annotate' is not supported
// ====
[[clang::annotate("msl.buffer", 99)]] constant int x = 1; // expect-error: attribute 'annotate' is not supported
// ==== allowed
typedef struct __attribute__((packed, aligned(4))) { half d; char q[6]; } Block;
static inline __attribute__((always_inline, unused)) float f(float x) { return x; }
[[gnu::noinline]] float g(float x) { return x; }
[[using clang: noinline]] float h(float x) { return x; }
typedef float f4 __attribute__((ext_vector_type(4)));
METAL_FUNC float i(float x) { return x; }
kernel void k(device float *a [[buffer(0)]]) { a[0] = f(g(h(i(a[1])))); }

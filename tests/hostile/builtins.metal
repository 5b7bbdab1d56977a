// Built-ins of Clang's that reach out of a kernel, tell where code lies, or end the process.
#include <metal_stdlib>
using namespace metal;
// ====
kernel void k(device ulong *a) { __builtin_eh_return(0, (thread void *)a[0]); } // expect-error: '__builtin_eh_return' is not supported in Metal
// ====
kernel void k() { __builtin_debugtrap(); } // expect-error: '__builtin_debugtrap' is not supported
// ====
kernel void k() { __builtin_trap(); } // expect-error: '__builtin_trap' is not supported
// ====
kernel void k() { __builtin_verbose_trap("a", "b"); } // expect-error: '__builtin_verbose_trap' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_frame_address(0); } // expect-error: '__builtin_frame_address' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_return_address(0); } // expect-error: '__builtin_return_address' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_extract_return_addr(__builtin_return_address(0)); } // expect-error: is not supported in Metal
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_stack_address(); } // expect-error: '__builtin_stack_address' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_sponentry(); } // expect-error: '__builtin_sponentry' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_alloca(a[1]); } // expect-error: '__builtin_alloca' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_alloca_with_align(a[1], 64); } // expect-error: '__builtin_alloca_with_align' is not supported
// ====
void f(int n, ...) { __builtin_va_list v; __builtin_va_start(v, n); __builtin_va_end(v); } // expect-error: is not supported in Metal
// ====
void f(void **a) { __builtin_setjmp(a); } // expect-error: '__builtin_setjmp' is not supported
// ====
kernel void k() { __builtin_unwind_init(); } // expect-error: '__builtin_unwind_init' is not supported
// ====
kernel void k() { __builtin_abort(); } // expect-error: '__builtin_abort' is not supported
// ====
kernel void k() { __builtin_exit(0); } // expect-error: '__builtin_exit' is not supported
// ====
kernel void k() { __builtin_printf("a"); } // expect-error: '__builtin_printf' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_malloc(8); } // expect-error: '__builtin_malloc' is not supported
// ====
kernel void k(device ulong *a) { a[0] = (ulong)__builtin_operator_new(8); } // expect-error: '__builtin_operator_new' is not supported
// ====
kernel void k(device ulong *a) { a[0] = __builtin_readcyclecounter(); } // expect-error: '__builtin_readcyclecounter' is not supported
// ====
kernel void k(device int *a) { a[0] = __builtin_cpu_supports("avx2"); } // expect-error: '__builtin_cpu_supports' is not supported
// ====
kernel void k(device int *a) { __builtin_prefetch(a); } // expect-error: '__builtin_prefetch' is not supported
// ====
kernel void k(device int *a) { __sync_fetch_and_add(a, 1); } // expect-error: '__sync_fetch_and_add' is not supported
// ====
kernel void k(device int *a) { __atomic_fetch_add(a, 1, 0); } // expect-error: '__atomic_fetch_add' is not supported
// ==== hidden in macros
#define WORD(a, b) a##b
kernel void k() { WORD(__builtin_debug, trap)(); } // expect-error: '__builtin_debugtrap' is not supported
// ==== allowed
struct S { int a, b; };
kernel void k(device uint *a, device float4 *v) {
    if (__builtin_expect(a[0] == 0, 0)) return;
    __builtin_assume(a[0] > 0);
    a[1] = __builtin_popcount(a[0]) + __builtin_clz(a[0]) + __builtin_ctz(a[0]) + __builtin_offsetof(S, b);
    a[2] = __builtin_bswap32(a[0]) + __builtin_rotateleft32(a[0], 3u);
    a[3] = __builtin_bit_cast(uint, 1.0f) + (__builtin_is_constant_evaluated() ? 1 : 0);
    __builtin_memcpy(a + 4, a, 16);
    __builtin_memset(a + 8, 0, 16);
    if (a[0] == 7) __builtin_unreachable();
    if (isnan(v[0].x) || v[0].x == INFINITY) a[9] = 1;
}
// ==== where a label lies
kernel void k(device ulong *a) { b: a[0] = (ulong)&&b; } // expect-error: the address of a label is not supported in Metal
// ==== and how far it is to another
kernel void k(device long *a) { b: a[0]++; c: a[1] = (thread char *)&&c - (thread char *)&&b; } // expect-error: the address of a label is not supported in Metal
// ==== a jump to an address
kernel void k(device ulong *a) { goto *(thread void *)a[0]; } // expect-error: is not supported in Metal

// SPDX-License-Identifier: Apache-2.0
// invoke.h: calls whose arguments are known at run time only: the frame of registers and stack that
// a message arrives with, or that a call is made from. The assembly knows the layout.
#ifndef INGOT_OBJC_INVOKE_H
#define INGOT_OBJC_INVOKE_H
#include <objc/objc-api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <objc/objc.h>

#if defined(__x86_64__)
enum { FRAME_INTEGERS = 6, FRAME_FLOATS = 8 };
#elif defined(__aarch64__)
enum { FRAME_INTEGERS = 8, FRAME_FLOATS = 8 };
#else
#error "the Objective-C runtime knows x86-64 and AArch64"
#endif

// Offsets are fixed: msgsend_*.S fills and reads it.
typedef struct ObjcFrame {
    uint64_t integers[FRAME_INTEGERS];
    uint64_t extra; // x86-64: %rax (count of vector registers); AArch64: x8 (address of the result)
    uint64_t memory; // x86-64: 1 if the result is in memory, whose address is the first argument
    uint8_t floats[FRAME_FLOATS][16];
    uint8_t *stack;               // arguments that found no register
    uint64_t n_stack;             // of a call: bytes there, a multiple of 16
    uint64_t results[2];          // rax, rdx; x0, x1
    uint8_t float_results[4][16]; // xmm0, xmm1; v0 to v3
    uint64_t x87;                 // x86-64: 1: the result is x87_result
    uint64_t padding;
    uint8_t x87_result[16];
} ObjcFrame;

static inline unsigned frame_self(const ObjcFrame *f) { return f->memory ? 1 : 0; }
static inline uintptr_t frame_integer(const ObjcFrame *f, unsigned i) { return f->integers[i]; }
static inline void frame_set_integer(ObjcFrame *f, unsigned i, uintptr_t v) { f->integers[i] = v; }

// Types as the compiler writes them: "d24@0:8f16".
OBJC_EXPORT const char *objc_type_skip(const char *type); // behind one type and its offset
OBJC_EXPORT const char *objc_type_unqualified(const char *type);
OBJC_EXPORT size_t objc_type_size(const char *type, size_t *alignment);
OBJC_EXPORT size_t objc_type_count(const char *types); // arguments, with self and the selector

// Where argument i (0 is self) and the result of a method with these types are. Values are copied
// to places of objc_type_size bytes. false: a type that cannot be passed (a union, a bit-field).
OBJC_EXPORT bool objc_frame_get(const ObjcFrame *f, const char *types, void *const *arguments);
OBJC_EXPORT bool objc_frame_set_result(ObjcFrame *f, const char *types, const void *result);
// Calls imp with arguments; result (may be NULL) has room for the type.
OBJC_EXPORT bool objc_frame_call(IMP imp, const char *types, void *const *arguments, void *result);
#endif

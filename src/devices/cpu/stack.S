// SPDX-License-Identifier: Apache-2.0
// stack.S: compiled code runs on a separate stack, and returning does not depend on it.
//
//   int cpu_stack_call(CpuCodeFn *f, const void *a, uint64_t b, uint64_t c, void *d, void *e)
//       calls f(a, b, c, d, e) on the kernel stack of this thread (thread.c); 0 when it came back
//   void cpu_stack_escape(void)
//       makes that call return 1, whatever the registers and the kernel stack hold by now
//
// What the caller wants back lies on the caller's stack. Where that is, is in the thread's record
// (CpuThread.escape, engine.h), which is found by way of the thread, not of a register that f has
// given back. Between `inside` = 1 and 0 a signal may end the call.
// clang-format off
#define SP 0     /* of CpuEscape, which a CpuThread begins with */
#define INSIDE 8
#define TOP 16

    .macro BEGIN name
    .globl \name
    .hidden \name
    .type \name, STT_FUNC
    .p2align 6
\name:
    .cfi_startproc
    .endm

    .macro END name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
#if defined(__x86_64__)
    .macro THREAD register
    movq cpu_current@gottpoff(%rip), \register
    movq %fs:(\register), \register
    .endm

    // The frame is found by %rbp, so that debuggers see who called the code.
    .macro FRAME
    .cfi_def_cfa %rbp, 16
    .cfi_offset %rbp, -16
    .endm

    // An escape leaves out returns: the shadow stack goes back to where it was, up to 255 entries at a time.
    .macro SHADOW place
    testq \place, \place
    je 2f
    xorl %ecx, %ecx
    rdsspq %rcx
    subq %rcx, \place
    shrq $3, \place
1:  cmpq $255, \place
    jbe 2f
    movl $255, %ecx
    incsspq %rcx
    subq $255, \place
    jmp 1b
2:  testq \place, \place
    je 3f
    incsspq \place
3:
    .endm

    BEGIN cpu_stack_call
    pushq %rbp
    movq %rsp, %rbp
    FRAME
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    pushq %rbp
    xorl %eax, %eax
    rdsspq %rax // stays 0 where the system keeps no shadow stack
    pushq %rax
    THREAD %r11
    movq %rsp, SP(%r11)
    movl $1, INSIDE(%r11)
    movq TOP(%r11), %rsp
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %rcx
    movq %r9, %r8
    callq *%rax
    THREAD %r11
    xorl %eax, %eax
.Lback:
    movl $0, INSIDE(%r11)
    movq SP(%r11), %rsp
    popq %rdx
    SHADOW %rdx
    popq %rbp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    .cfi_def_cfa %rsp, 8
    retq
    END cpu_stack_call

    BEGIN cpu_stack_escape
    cld
    THREAD %r11
    movl $1, %eax
    jmp .Lback
    END cpu_stack_escape
#elif defined(__aarch64__)
    .macro THREAD register, other
    mrs \register, tpidr_el0
    adrp \other, :gottprel:cpu_current
    ldr \other, [\other, :gottprel_lo12:cpu_current]
    ldr \register, [\register, \other]
    .endm

    BEGIN cpu_stack_call
    stp x29, x30, [sp, #-160]!
    mov x29, sp
    .cfi_def_cfa x29, 160
    .cfi_offset x29, -160
    .cfi_offset x30, -152
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    THREAD x9, x10
    mov x10, sp
    str x10, [x9, #SP]
    mov w11, #1
    str w11, [x9, #INSIDE]
    ldr x10, [x9, #TOP]
    mov sp, x10
    mov x10, x0
    mov x0, x1
    mov x1, x2
    mov x2, x3
    mov x3, x4
    mov x4, x5
    blr x10
    THREAD x9, x10
    mov w0, #0
.Lback:
    str wzr, [x9, #INSIDE]
    ldr x10, [x9, #SP]
    mov sp, x10
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x29, x30, [sp], #160
    .cfi_def_cfa sp, 0
    ret
    END cpu_stack_call

    BEGIN cpu_stack_escape
    THREAD x9, x10
    mov w0, #1
    b .Lback
    END cpu_stack_escape
#else
#error "no calls on another stack for this architecture"
#endif
    .section .note.GNU-stack, "", %progbits

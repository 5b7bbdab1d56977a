// SPDX-License-Identifier: Apache-2.0
// msgsend_x86_64.S: messages for x86-64 ELF.
//
// The fast way: the class's cache (objc_int.h, Cache) is searched from (selector * 2) & mask on; entries are
// {selector, implementation}, an empty one ends the search. Only %r10 and %r11 are free: all registers of
// arguments and %al (the number of vector registers of a variadic call) belong to the method.
#if defined(__x86_64__)
    .text

    // Jumps to the implementation, or falls through if the cache has none. %r10: the class.
    .macro CACHED selector
    movq 16(%r10), %r10
    leaq (\selector,\selector), %r11
    andq (%r10), %r11
    addq %r10, %r11
8:  cmpq \selector, 16(%r11)
    jne 9f
    jmpq *24(%r11)
9:  cmpq $0, 16(%r11)
    leaq 16(%r11), %r11
    jne 8b
    .endm

    // Arguments are saved, lookup(self, selector, class) is called, its answer jumped to.
    // The class is in %r10.
    .macro UNCACHED self selector lookup
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $192, %rsp
    movq %rdi, -8(%rbp)
    movq %rsi, -16(%rbp)
    movq %rdx, -24(%rbp)
    movq %rcx, -32(%rbp)
    movq %r8, -40(%rbp)
    movq %r9, -48(%rbp)
    movq %rax, -56(%rbp)
    movaps %xmm0, -80(%rbp)
    movaps %xmm1, -96(%rbp)
    movaps %xmm2, -112(%rbp)
    movaps %xmm3, -128(%rbp)
    movaps %xmm4, -144(%rbp)
    movaps %xmm5, -160(%rbp)
    movaps %xmm6, -176(%rbp)
    movaps %xmm7, -192(%rbp)
    movq \self, %rax
    movq \selector, %rsi
    movq %rax, %rdi
    movq %r10, %rdx
    call \lookup
    movq %rax, %r11
    movq -8(%rbp), %rdi
    movq -16(%rbp), %rsi
    movq -24(%rbp), %rdx
    movq -32(%rbp), %rcx
    movq -40(%rbp), %r8
    movq -48(%rbp), %r9
    movq -56(%rbp), %rax
    movaps -80(%rbp), %xmm0
    movaps -96(%rbp), %xmm1
    movaps -112(%rbp), %xmm2
    movaps -128(%rbp), %xmm3
    movaps -144(%rbp), %xmm4
    movaps -160(%rbp), %xmm5
    movaps -176(%rbp), %xmm6
    movaps -192(%rbp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    jmpq *%r11
    .endm

    .macro BEGIN name
    .globl \name
    .type \name, @function
    .p2align 6
\name:
    .cfi_startproc
    .endm

    .macro END name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .hidden objc_message_lookup
    .hidden objc_message_lookup_stret
    .hidden objc_forward

    BEGIN objc_msgSend
    testq %rdi, %rdi
    je 1f
    movq (%rdi), %r10
    CACHED %rsi
    movq (%rdi), %r10
    UNCACHED %rdi, %rsi, objc_message_lookup
1:  xorl %eax, %eax // a message to nil: zero of every kind
    xorl %edx, %edx
    xorps %xmm0, %xmm0
    xorps %xmm1, %xmm1
    retq
    END objc_msgSend

    // The result is in memory: its address comes first, self and the selector behind it.
    BEGIN objc_msgSend_stret
    testq %rsi, %rsi
    je 1f
    movq (%rsi), %r10
    CACHED %rdx
    movq (%rsi), %r10
    UNCACHED %rsi, %rdx, objc_message_lookup_stret
1:  movq %rdi, %rax // the caller has cleared the memory: its size is not known here
    retq
    END objc_msgSend_stret

    // long double comes in the x87 register. metal-cpp sends messages with float and double results here,
    // too: for nil both kinds of zero are given, on an x87 stack that is emptied first so that those who
    // do not take theirs leave no more than one behind.
    BEGIN objc_msgSend_fpret
    testq %rdi, %rdi
    je 1f
    movq (%rdi), %r10
    CACHED %rsi
    movq (%rdi), %r10
    UNCACHED %rdi, %rsi, objc_message_lookup
1:  emms
    fldz
    xorl %eax, %eax
    xorps %xmm0, %xmm0
    retq
    END objc_msgSend_fpret

    BEGIN objc_msgSend_fp2ret
    testq %rdi, %rdi
    je 1f
    movq (%rdi), %r10
    CACHED %rsi
    movq (%rdi), %r10
    UNCACHED %rdi, %rsi, objc_message_lookup
1:  emms
    fldz
    fldz
    retq
    END objc_msgSend_fp2ret

    // {receiver, class}: the receiver takes the place of the pair. Super2 begins above the class.
    .macro SUPER name above
    BEGIN \name
    movq 8(%rdi), %r10
    .if \above
    movq 8(%r10), %r10
    .endif
    movq (%rdi), %rdi
    pushq %r10
    .cfi_adjust_cfa_offset 8
    movq 16(%r10), %r10
    leaq (%rsi,%rsi), %r11
    andq (%r10), %r11
    addq %r10, %r11
    popq %r10
    .cfi_adjust_cfa_offset -8
8:  cmpq %rsi, 16(%r11)
    jne 9f
    jmpq *24(%r11)
9:  cmpq $0, 16(%r11)
    leaq 16(%r11), %r11
    jne 8b
    UNCACHED %rdi, %rsi, objc_message_lookup
    END \name
    .endm
    SUPER objc_msgSendSuper, 0
    SUPER objc_msgSendSuper2, 1

    .macro SUPER_STRET name above
    BEGIN \name
    movq 8(%rsi), %r10
    .if \above
    movq 8(%r10), %r10
    .endif
    movq (%rsi), %rsi
    pushq %r10
    .cfi_adjust_cfa_offset 8
    movq 16(%r10), %r10
    leaq (%rdx,%rdx), %r11
    andq (%r10), %r11
    addq %r10, %r11
    popq %r10
    .cfi_adjust_cfa_offset -8
8:  cmpq %rdx, 16(%r11)
    jne 9f
    jmpq *24(%r11)
9:  cmpq $0, 16(%r11)
    leaq 16(%r11), %r11
    jne 8b
    UNCACHED %rsi, %rdx, objc_message_lookup_stret
    END \name
    .endm
    SUPER_STRET objc_msgSendSuper_stret, 0
    SUPER_STRET objc_msgSendSuper2_stret, 1

    // The whole frame goes to objc_forward (message.c); layout: ObjcFrame in invoke.h, 320 bytes.
    .macro FORWARD name memory again
    BEGIN \name
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $320, %rsp
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movq $\memory, 56(%rsp)
    movaps %xmm0, 64(%rsp)
    movaps %xmm1, 80(%rsp)
    movaps %xmm2, 96(%rsp)
    movaps %xmm3, 112(%rsp)
    movaps %xmm4, 128(%rsp)
    movaps %xmm5, 144(%rsp)
    movaps %xmm6, 160(%rsp)
    movaps %xmm7, 176(%rsp)
    leaq 16(%rbp), %rax
    movq %rax, 192(%rsp)
    movq $0, 200(%rsp)
    movq $0, 288(%rsp)
    movq %rsp, %rdi
    call objc_forward
    testb %al, %al
    jne 1f
    movq 208(%rsp), %rax
    movq 216(%rsp), %rdx
    movaps 224(%rsp), %xmm0
    movaps 240(%rsp), %xmm1
    cmpq $0, 288(%rsp)
    je 2f
    fldt 304(%rsp)
2:  leave
    .cfi_remember_state
    .cfi_def_cfa %rsp, 8
    retq
1:  .cfi_restore_state
    movq (%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movaps 64(%rsp), %xmm0
    movaps 80(%rsp), %xmm1
    movaps 96(%rsp), %xmm2
    movaps 112(%rsp), %xmm3
    movaps 128(%rsp), %xmm4
    movaps 144(%rsp), %xmm5
    movaps 160(%rsp), %xmm6
    movaps 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    jmp \again@PLT
    END \name
    .endm
    FORWARD _objc_msgForward, 0, objc_msgSend
    FORWARD _objc_msgForward_stret, 1, objc_msgSend_stret

    // objc_frame_enter(imp, frame): the call that a frame describes; results go into it.
    .hidden objc_frame_enter
    BEGIN objc_frame_enter
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rbx
    .cfi_offset %rbx, -24
    pushq %r12
    movq %rsi, %rbx
    movq %rdi, %r11
    movq 200(%rbx), %rcx
    subq %rcx, %rsp
    movq 192(%rbx), %rsi
    movq %rsp, %rdi
    cld
    rep movsb
    movq (%rbx), %rdi
    movq 8(%rbx), %rsi
    movq 16(%rbx), %rdx
    movq 24(%rbx), %rcx
    movq 32(%rbx), %r8
    movq 40(%rbx), %r9
    movq 48(%rbx), %rax
    movups 64(%rbx), %xmm0
    movups 80(%rbx), %xmm1
    movups 96(%rbx), %xmm2
    movups 112(%rbx), %xmm3
    movups 128(%rbx), %xmm4
    movups 144(%rbx), %xmm5
    movups 160(%rbx), %xmm6
    movups 176(%rbx), %xmm7
    call *%r11
    movq %rax, 208(%rbx)
    movq %rdx, 216(%rbx)
    movups %xmm0, 224(%rbx)
    movups %xmm1, 240(%rbx)
    cmpq $0, 288(%rbx)
    je 1f
    fstpt 304(%rbx)
1:  leaq -16(%rbp), %rsp
    popq %r12
    popq %rbx
    popq %rbp
    .cfi_def_cfa %rsp, 8
    retq
    END objc_frame_enter
#endif
    .section .note.GNU-stack,"",@progbits

// SPDX-License-Identifier: Apache-2.0
// msgsend_x86_64.S: messages for x86-64 ELF.
//
// The fast way: the class's cache (objc_int.h, Cache) is searched from (selector * 2) & mask on; entries are
// {selector, implementation}, an empty one ends the search. Only %r10 and %r11 are free: all registers of
// arguments and %al (the number of vector registers of a variadic call) belong to the method.
#if defined(__x86_64__)
#include "mac/objc/assembly.h"
    .text

    // Where the search for a selector begins: %r11. %r10: the class, then its cache.
    .macro PLACE selector
    movq 16(%r10), %r10
    leaq (\selector,\selector), %r11
    andq (%r10), %r11
    addq %r10, %r11
    .endm

    // Jumps to the implementation, or falls through if the cache has none.
    .macro SEARCH selector
8:  cmpq \selector, 16(%r11)
    jne 9f
    jmpq *24(%r11)
9:  cmpq $0, 16(%r11)
    leaq 16(%r11), %r11
    jne 8b
    .endm

    .macro ENTER
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    .endm

    // Registers of arguments, as in the first 192 bytes of ObjcFrame (invoke.h).
    .macro SAVE
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movaps %xmm\n, 64 + 16 * \n(%rsp)
    .endr
    .endm

    .macro RESTORE frame
    movq (\frame), %rdi
    movq 8(\frame), %rsi
    movq 16(\frame), %rdx
    movq 24(\frame), %rcx
    movq 32(\frame), %r8
    movq 40(\frame), %r9
    movq 48(\frame), %rax
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups 64 + 16 * \n(\frame), %xmm\n
    .endr
    .endm

    // Arguments are saved, lookup(self, selector, class) is called, its answer jumped to.
    // The class is in %r10.
    .macro UNCACHED self selector lookup
    ENTER
    subq $192, %rsp
    SAVE
    movq \self, %rax
    movq \selector, %rsi
    movq %rax, %rdi
    movq %r10, %rdx
    call \lookup
    movq %rax, %r11
    RESTORE %rsp
    leave
    .cfi_def_cfa %rsp, 8
    jmpq *%r11
    .endm

    // A message to an object; goes on at label 1 if there is none.
    .macro SEND self selector lookup
    testq \self, \self
    je 1f
    movq (\self), %r10
    PLACE \selector
    SEARCH \selector
    movq (\self), %r10
    UNCACHED \self, \selector, \lookup
    .endm

    .hidden objc_message_lookup
    .hidden objc_message_lookup_stret
    .hidden objc_forward

    BEGIN objc_msgSend
    SEND %rdi, %rsi, objc_message_lookup
1:  xorl %eax, %eax // a message to nil: zero of every kind
    xorl %edx, %edx
    xorps %xmm0, %xmm0
    xorps %xmm1, %xmm1
    retq
    END objc_msgSend

    // The result is in memory: its address comes first, self and the selector behind it.
    BEGIN objc_msgSend_stret
    SEND %rsi, %rdx, objc_message_lookup_stret
1:  movq %rdi, %rax // the caller has cleared the memory: its size is not known here
    retq
    END objc_msgSend_stret

    // long double comes in the x87 register. metal-cpp sends messages with float and double results here,
    // too: for nil both kinds of zero are given, on an x87 stack that is emptied first so that those who
    // do not take theirs leave no more than one behind.
    BEGIN objc_msgSend_fpret
    SEND %rdi, %rsi, objc_message_lookup
1:  emms
    fldz
    xorl %eax, %eax
    xorps %xmm0, %xmm0
    retq
    END objc_msgSend_fpret

    BEGIN objc_msgSend_fp2ret
    SEND %rdi, %rsi, objc_message_lookup
1:  emms
    fldz
    fldz
    retq
    END objc_msgSend_fp2ret

    // {receiver, class}: the receiver takes the place of the pair. Super2 begins above the class.
    .macro SUPER name above self selector lookup
    BEGIN \name
    movq 8(\self), %r10
    .if \above
    movq 8(%r10), %r10
    .endif
    movq (\self), \self
    pushq %r10
    .cfi_adjust_cfa_offset 8
    PLACE \selector
    popq %r10
    .cfi_adjust_cfa_offset -8
    SEARCH \selector
    UNCACHED \self, \selector, \lookup
    END \name
    .endm
    SUPER objc_msgSendSuper, 0, %rdi, %rsi, objc_message_lookup
    SUPER objc_msgSendSuper2, 1, %rdi, %rsi, objc_message_lookup
    SUPER objc_msgSendSuper_stret, 0, %rsi, %rdx, objc_message_lookup_stret
    SUPER objc_msgSendSuper2_stret, 1, %rsi, %rdx, objc_message_lookup_stret

    // The whole frame goes to objc_forward (message.c); layout: ObjcFrame in invoke.h, 320 bytes.
    .macro FORWARD name memory again
    BEGIN \name
    ENTER
    subq $320, %rsp
    SAVE
    movq $\memory, 56(%rsp)
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
    RESTORE %rsp
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
    ENTER
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
    RESTORE %rbx
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

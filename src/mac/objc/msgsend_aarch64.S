// SPDX-License-Identifier: Apache-2.0
// msgsend_aarch64.S: messages for AArch64 ELF; see msgsend_x86_64.S for the way. Only x9 to x17 are free:
// x0 to x7, v0 to v7 and x8 (the address of a result in memory) belong to the method.
#if defined(__aarch64__)
#include "mac/objc/assembly.h"
    .text

    // Jumps to the implementation, or falls through. x9: the class. A selector is read with acquire: the
    // implementation was stored before it.
    .macro CACHED
    add x10, x9, #16
    ldar x10, [x10]
    ldr x11, [x10]
    and x11, x11, x1, lsl #1
    add x11, x10, x11
    add x11, x11, #16
8:  ldar x12, [x11]
    cmp x12, x1
    b.ne 9f
    ldr x16, [x11, #8]
    br x16
9:  add x11, x11, #16
    cbnz x12, 8b
    .endm

    // Registers of arguments, as in the first 208 bytes of ObjcFrame (invoke.h): stp and str, or ldp and ldr.
    .macro ARGUMENTS pair one frame
    \pair x0, x1, [\frame, #0]
    \pair x2, x3, [\frame, #16]
    \pair x4, x5, [\frame, #32]
    \pair x6, x7, [\frame, #48]
    \one x8, [\frame, #64]
    \pair q0, q1, [\frame, #80]
    \pair q2, q3, [\frame, #112]
    \pair q4, q5, [\frame, #144]
    \pair q6, q7, [\frame, #176]
    .endm

    .macro ENTER n_bytes
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    .cfi_def_cfa_register x29
    sub sp, sp, #\n_bytes
    .endm

    .macro LEAVE
    mov sp, x29
    .cfi_def_cfa_register sp
    ldp x29, x30, [sp], #16
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    .endm

    .hidden objc_message_lookup
    .hidden objc_forward

    // x0: self, x1: the selector, x9: the class
    .macro UNCACHED
    ENTER 208
    ARGUMENTS stp, str, sp
    mov x2, x9
    bl objc_message_lookup
    mov x16, x0
    ARGUMENTS ldp, ldr, sp
    LEAVE
    br x16
    .endm

    BEGIN objc_msgSend
    cbz x0, 1f
    ldr x9, [x0]
    CACHED
    UNCACHED
1:  mov x1, #0 // a message to nil: zero of every kind
    movi d0, #0
    movi d1, #0
    movi d2, #0
    movi d3, #0
    ret
    END objc_msgSend

    BEGIN objc_msgSendSuper
    ldp x0, x9, [x0]
    CACHED
    UNCACHED
    END objc_msgSendSuper

    BEGIN objc_msgSendSuper2
    ldp x0, x9, [x0]
    ldr x9, [x9, #8]
    CACHED
    UNCACHED
    END objc_msgSendSuper2

    // The whole frame goes to objc_forward (message.c); layout: ObjcFrame in invoke.h, 336 bytes.
    BEGIN _objc_msgForward
    ENTER 336
    ARGUMENTS stp, str, sp
    str xzr, [sp, #72]
    add x9, x29, #16
    stp x9, xzr, [sp, #208]
    str xzr, [sp, #304]
    mov x0, sp
    bl objc_forward
    and w0, w0, #0xff
    cbnz w0, 1f
    ldp x0, x1, [sp, #224]
    ldp q0, q1, [sp, #240]
    ldp q2, q3, [sp, #272]
    .cfi_remember_state
    LEAVE
    ret
1:  .cfi_restore_state
    ARGUMENTS ldp, ldr, sp
    LEAVE
    b objc_msgSend
    END _objc_msgForward

    // objc_frame_enter(imp, frame): the call that a frame describes; results go into it.
    .hidden objc_frame_enter
    BEGIN objc_frame_enter
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    mov x29, sp
    .cfi_def_cfa_register x29
    str x19, [sp, #16]
    .cfi_offset x19, -16
    mov x19, x1
    mov x16, x0
    ldp x9, x10, [x19, #208]
    sub sp, sp, x10
    mov x11, sp
2:  cbz x10, 3f
    ldr x12, [x9], #8
    str x12, [x11], #8
    sub x10, x10, #8
    b 2b
3:  ARGUMENTS ldp, ldr, x19
    blr x16
    stp x0, x1, [x19, #224]
    stp q0, q1, [x19, #240]
    stp q2, q3, [x19, #272]
    mov sp, x29
    ldr x19, [sp, #16]
    .cfi_def_cfa_register sp
    ldp x29, x30, [sp], #32
    .cfi_def_cfa_offset 0
    ret
    END objc_frame_enter
#endif
    .section .note.GNU-stack,"",%progbits

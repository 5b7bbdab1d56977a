// SPDX-License-Identifier: Apache-2.0
// assembly.h: how a function of the files in assembly begins and ends: a symbol, at the start of a
// line of the cache, with notes for unwinding.
// clang-format off
#ifndef INGOT_OBJC_ASSEMBLY_H
#define INGOT_OBJC_ASSEMBLY_H
    .macro BEGIN name
    .globl \name
    .type \name, STT_FUNC
    .p2align 6
\name:
    .cfi_startproc
    .endm

    .macro END name
    .cfi_endproc
    .size \name, . - \name
    .endm
#endif

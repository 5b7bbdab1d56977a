// SPDX-License-Identifier: Apache-2.0
// portable.c: what Debian's archives of Clang, LLVM and lld want of the program that they are
// linked into (portable.cmake) and mslc has no use for.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// lld starts every target that LLVM was built with. MSL_TARGETS_LEFT_OUT lists, as X(Name), those
// whose code generators stay in their archives.
#define EMPTY(name)                                                                                \
    void name(void);                                                                               \
    void name(void) {}
#define X(target)                                                                                  \
    EMPTY(LLVMInitialize##target##TargetInfo)                                                      \
    EMPTY(LLVMInitialize##target##Target)                                                          \
    EMPTY(LLVMInitialize##target##TargetMC)                                                        \
    EMPTY(LLVMInitialize##target##AsmPrinter)                                                      \
    EMPTY(LLVMInitialize##target##AsmParser)
MSL_TARGETS_LEFT_OUT

// getPollyPluginInfo(), which LLVM names where it optimises while linking. Kernels are linked from
// machine code.
void no_polly(void) __asm__("_Z18getPollyPluginInfov");
void no_polly(void) { abort(); }

// The one function of glibc 2.36 that LLVM calls: with it here, 2.35 will do.
uint32_t arc4random(void);
uint32_t arc4random(void) {
    uint32_t word;
    while (getrandom(&word, sizeof word, 0) != (ssize_t)sizeof word) {
    }
    return word;
}

// SPDX-License-Identifier: Apache-2.0
// processor.c: the features of an AArch64 processor, by the bits of the auxiliary vector. The
// compiler may run on a machine of another kind (it is a process of its own, and in an emulator it
// is the machine's): so it is told, and does not look itself.
#include "os/processor.h"
#if defined(__aarch64__)
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

static char features[256];

// Vectors of SVE, where they are longer than NEON's. The word that says how long is ours, not
// LLVM's (codegen/target.c).
static void ask_vectors(void) {
    enum { LENGTH = 0xffff, NEON = 16 };
    if (!(getauxval(AT_HWCAP) & HWCAP_SVE)) return;
    int bytes = prctl(PR_SVE_GET_VL);
    if (bytes < 0 || (bytes & LENGTH) <= NEON) return;
    size_t n = strlen(features);
    snprintf(features + n, sizeof features - n, "%s+sve,sve-bits=%d", n ? "," : "",
             (bytes & LENGTH) * 8);
}

static void ask(void) {
    static const struct {
        unsigned long kind, bit;
        const char *name;
    } known[] = {
        {AT_HWCAP, HWCAP_ATOMICS, "+lse"},      {AT_HWCAP, HWCAP_ASIMDRDM, "+rdm"},
        {AT_HWCAP, HWCAP_ASIMDHP, "+fullfp16"}, {AT_HWCAP, HWCAP_ASIMDDP, "+dotprod"},
        {AT_HWCAP, HWCAP_ASIMDFHM, "+fp16fml"}, {AT_HWCAP2, 1ul << 14, "+bf16"},
        {AT_HWCAP2, 1ul << 13, "+i8mm"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (getauxval(known[i].kind) & known[i].bit) {
            if (*features) strcat(features, ",");
            strcat(features, known[i].name);
        }
    ask_vectors();
}

const char *os_processor_features(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask);
    return features;
}
#else
#include <stddef.h>
const char *os_processor_features(void) { return NULL; }
#endif

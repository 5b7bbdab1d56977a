// SPDX-License-Identifier: Apache-2.0
// philox.h: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011),
// once for C and for kernels: random numbers as a function of a key and a counter, so that the host
// and every thread of a grid can make any of them without the others.
#ifndef INGOT_BASE_PHILOX_H
#define INGOT_BASE_PHILOX_H
#ifdef __METAL_VERSION__
typedef uint PhiloxWord;
#define PHILOX_COUNTER thread PhiloxWord *
#define PHILOX_HIGH(a, b) mulhi(a, b)
#else
#include <stdint.h>
typedef uint32_t PhiloxWord;
#define PHILOX_COUNTER PhiloxWord *
#define PHILOX_HIGH(a, b) ((PhiloxWord)((uint64_t)(a) * (b) >> 32))
#endif

// Before the loop over the rounds: who makes few numbers in a large kernel may keep it rolled.
#ifndef PHILOX_ROUNDS
#define PHILOX_ROUNDS
#endif

// The four words of the counter c become four random ones. The key is (k0, k1).
static inline void philox(PhiloxWord k0, PhiloxWord k1, PHILOX_COUNTER c) {
    PhiloxWord c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    PHILOX_ROUNDS for (int i = 0; i < 10; i++) {
        const PhiloxWord high0 = PHILOX_HIGH(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        const PhiloxWord high2 = PHILOX_HIGH(0xCD9E8D57u, c2), low2 = 0xCD9E8D57u * c2;
        c0 = high2 ^ c1 ^ k0;
        c1 = low2;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    c[0] = c0, c[1] = c1, c[2] = c2, c[3] = c3;
}
#endif

// SPDX-License-Identifier: Apache-2.0
// sha256.c: FIPS 180-4, plain C and the x86 SHA extensions, chosen at run time. Constants are those
// of the standard.
#include "base/sha256.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t k[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void blocks_plain(uint32_t state[8], const unsigned char *p, size_t n_blocks) {
    for (; n_blocks; n_blocks--, p += 64) {
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
                   (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) +
                   (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
        }
        memcpy(v, state, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t e = v[4], a = v[0];
            uint32_t t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                          ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
            uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                          ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += t1;
            v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) state[i] += v[i];
    }
}

#if defined(__x86_64__)
// State is kept as {a,b,e,f} and {c,d,g,h}, the form the instructions want.
__attribute__((target("sha,sse4.1,ssse3"))) static void blocks_sha(uint32_t state[8],
                                                                   const unsigned char *p,
                                                                   size_t n_blocks) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i dcba = _mm_loadu_si128((const __m128i *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; n_blocks; n_blocks--, p += 64) {
        __m128i abef0 = abef, cdgh0 = cdgh, w[4];
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
        for (int i = 0; i < 16; i++) { // four rounds each
            __m128i wk = _mm_add_epi32(w[i & 3], _mm_load_si128((const __m128i *)(k + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
            // w[i & 3] becomes the words of round i + 4.
            __m128i next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
            next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
            w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static int has_sha(void) {
    static int known = -1; // a race only computes the same answer twice
    int v = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (v >= 0) return v;
    unsigned a, b, c, d;
    v = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3) &&
        __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
    __atomic_store_n(&known, v, __ATOMIC_RELAXED);
    return v;
}
#endif

static void blocks(uint32_t state[8], const unsigned char *p, size_t n_blocks) {
#if defined(__x86_64__)
    if (has_sha()) {
        blocks_sha(state, p, n_blocks);
        return;
    }
#endif
    blocks_plain(state, p, n_blocks);
}

void sha256_begin(Sha256 *s) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, start, sizeof start);
    s->n_bytes = 0;
}

void sha256_add(Sha256 *s, const void *data, size_t n) {
    const unsigned char *p = data;
    if (!n) return;
    size_t held = s->n_bytes % 64;
    s->n_bytes += n;
    if (held) {
        size_t take = n < 64 - held ? n : 64 - held;
        memcpy(s->block + held, p, take);
        p += take;
        n -= take;
        if (held + take < 64) return;
        blocks(s->state, s->block, 1);
    }
    blocks(s->state, p, n / 64);
    memcpy(s->block, p + n / 64 * 64, n % 64);
}

void sha256_end(Sha256 *s, unsigned char hash[SHA256_BYTES]) {
    uint64_t n_bits = s->n_bytes * 8;
    unsigned char pad[72] = {0x80};
    size_t n_pad = (s->n_bytes % 64 < 56 ? 56 : 120) - s->n_bytes % 64;
    for (int i = 0; i < 8; i++) pad[n_pad + (size_t)i] = (unsigned char)(n_bits >> (56 - 8 * i));
    sha256_add(s, pad, n_pad + 8);
    for (int i = 0; i < 32; i++) hash[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(const void *data, size_t n, unsigned char hash[SHA256_BYTES]) {
    Sha256 s;
    sha256_begin(&s);
    sha256_add(&s, data, n);
    sha256_end(&s, hash);
}

void sha256_hex(const unsigned char hash[SHA256_BYTES], char hex[SHA256_HEX]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < SHA256_BYTES; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    hex[64] = 0;
}

int sha256_file(const char *path, unsigned char hash[SHA256_BYTES]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    Sha256 s;
    sha256_begin(&s);
    unsigned char buffer[16384];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            int why = errno;
            close(fd);
            errno = why;
            return -1;
        }
        if (!n) break;
        sha256_add(&s, buffer, (size_t)n);
    }
    close(fd);
    sha256_end(&s, hash);
    return 0;
}

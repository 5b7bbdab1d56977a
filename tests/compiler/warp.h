// SPDX-License-Identifier: Apache-2.0
// warp.h: a block of up to four warps on the host, for the GPU's device library
// (codegen/nvptx/library): its threads are
// coroutines that run one after the other and stop at each instruction of the warp until the lanes
// of its mask are there. Instructions are as the PTX manual describes them; what a lane gets from
// one that is not there is rubbish.
#ifndef INGOT_TEST_WARP_H
#define INGOT_TEST_WARP_H
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define API static __attribute__((unused))
#define WARP static __attribute__((unused)) // a test needs some of them
#define UNROLL
#define ONCE
#define FOUR_TIMES
enum { RUBBISH = 0x5a5a5a5a, STACK = 65536, THREADS = 128, SHARED_BYTES = 232448 };

static struct {
    ucontext_t host, lanes[THREADS];
    char stacks[THREADS][STACK];
    u32 self, done[THREADS / 32];
    u32 arrived[THREADS], turn[THREADS]; // of the mask whose first lane it is
    u32 n_arrived, n_turns;              // at the block's barrier
    u32 words[THREADS][6];
    u32 block[3], blocks[2], thread[3]; // of lane 0; threads lie in a line
    _Alignas(1024) unsigned char shared[SHARED_BYTES];
} warp;

WARP u32 lane(void) { return warp.self % 32; }
static u32 *words_of(u32 l) { return warp.words[(warp.self & ~31u) + l % 32]; }
WARP u32 thread_at(u32 d) { return d ? warp.thread[d] : warp.thread[0] + warp.self; }
WARP u32 block_at(u32 d) { return warp.block[d]; }
WARP u32 word_or(u32 x, u32 have, const u32 *at) { return have ? x : *at; }
WARP u32 blocks_at(u32 d) { return warp.blocks[d]; }
WARP void barrier(void) {}

WARP void stop(void) { swapcontext(&warp.lanes[warp.self], &warp.host); }

WARP void wait_for(u32 mask) {
    u32 first = (warp.self & ~31u) + (u32)__builtin_ctz(mask), turn = warp.turn[first];
    warp.arrived[first] |= 1u << lane();
    if (warp.arrived[first] == mask) {
        warp.arrived[first] = 0;
        warp.turn[first]++;
    }
    while (warp.turn[first] == turn) stop();
}
WARP void barrier_of(u32 n_threads) {
    u32 turn = warp.n_turns;
    if (++warp.n_arrived == n_threads) warp.n_arrived = 0, warp.n_turns++;
    while (warp.n_turns == turn) stop();
}

WARP void warp_barrier(u32 mask) { wait_for(mask); }

WARP u32 exchange(u32 mask, u32 x, u32 from) {
    words_of(lane())[0] = x;
    wait_for(mask);
    u32 r = mask >> (from & 31) & 1 ? words_of(from)[0] : (u32)RUBBISH;
    wait_for(mask);
    return r;
}
WARP u32 shuffle(u32 mask, u32 x, u32 from) { return exchange(mask, x, from); }

#define OVER_LANES(type, name, start, step)                                                        \
    WARP type name(u32 mask, type x) {                                                             \
        type r = start;                                                                            \
        words_of(lane())[0] = (u32)x;                                                              \
        wait_for(mask);                                                                            \
        for (u32 l = 0; l < 32; l++) {                                                             \
            type y = (type)words_of(l)[0];                                                         \
            if (mask >> l & 1) r = step;                                                           \
        }                                                                                          \
        wait_for(mask);                                                                            \
        return r;                                                                                  \
    }
OVER_LANES(u32, redux_add, 0, r + y)
OVER_LANES(u32, redux_min, UINT32_MAX, y < r ? y : r)
OVER_LANES(u32, redux_max, 0, y > r ? y : r)
OVER_LANES(i32, redux_min_signed, INT32_MAX, y < r ? y : r)
OVER_LANES(i32, redux_max_signed, INT32_MIN, y > r ? y : r)
OVER_LANES(u32, redux_and, UINT32_MAX, r &y)
OVER_LANES(u32, redux_or, 0, r | y)
OVER_LANES(u32, redux_xor, 0, r ^ y)
OVER_LANES(u32, ballot_bits, 0, r | y << l)
WARP u32 ballot(u32 mask, _Bool x) { return ballot_bits(mask, x); }

// ---- tensor cores ----

WARP f32 half_of(u32 bits) { // finite, not denormal
    u32 exponent = bits >> 10 & 31;
    u32 whole = (bits & 0x8000) << 16 | (exponent + 112) << 23 | (bits & 0x3ff) << 13;
    return exponent ? float_of(whole) : 0;
}
WARP u32 to_half(f32 x) { // of a number that is one
    u32 b = bits_of(x), a = b & 0x7fffffff;
    return (b >> 16 & 0x8000) | (a < 0x38800000 ? 0 : (a - 0x38000000) >> 13);
}
WARP u32 to_halves(f32 low, f32 high) { return to_half(low) | to_half(high) << 16; }
WARP u32 bfloat_bits(f32 x) {
    u32 b = bits_of(x);
    return x != x ? 0x7fff : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}
WARP u32 to_bfloats(f32 low, f32 high) { return bfloat_bits(low) | bfloat_bits(high) << 16; }
WARP u32 to_tf32(f32 x) { return (bits_of(x) + 0x1000) & ~0x1fffu; }

WARP u32 transpose_halves(u32 x) {
    u32 l = lane(), row = l / 4, column = l % 4 * 2, shift = (row & 1) * 16;
    words_of(l)[0] = x;
    wait_for(ALL_LANES);
    u32 low = words_of(column * 4 + row / 2)[0] >> shift & 0xffff;
    u32 high = words_of((column + 1) * 4 + row / 2)[0] >> shift & 0xffff;
    wait_for(ALL_LANES);
    return low | high << 16;
}

// c += a b with eight columns of a; element (row, k) of A and (k, column) of B by `at`.
WARP void multiply8(f32 *c, const u32 *a, const u32 *b, f32 (*at)(int of_b, u32 row, u32 column)) {
    u32 l = lane();
    memcpy(words_of(l), a, 16);
    memcpy(words_of(l) + 4, b, 8);
    wait_for(ALL_LANES);
    for (u32 e = 0; e < 4; e++) {
        double sum = c[e];
        for (u32 k = 0; k < 8; k++)
            sum += (double)at(0, l / 4 + e / 2 * 8, k) * at(1, k, l % 4 * 2 + (e & 1));
        c[e] = (f32)sum;
    }
    wait_for(ALL_LANES);
}
WARP f32 tf32_at(int of_b, u32 row, u32 column) {
    u32 word = of_b ? words_of(column * 4 + row % 4)[4 + row / 4]
                    : words_of(row % 8 * 4 + column % 4)[row / 8 + column / 4 * 2];
    return float_of(word & ~0x1fffu); // cores do not look at the rest
}
WARP f32 half_at(int of_b, u32 row, u32 column) {
    u32 pair =
        of_b ? words_of(column * 4 + row / 2)[4] : words_of(row % 8 * 4 + column / 2)[row / 8];
    return half_of(pair >> ((of_b ? row : column) & 1) * 16 & 0xffff);
}
WARP void mma_tf32(f32 *c, const u32 *a, const u32 *b) { multiply8(c, a, b, tf32_at); }
WARP void mma_f16(f32 *c, u32 a, u32 b) {
    multiply8(c, (const u32[4]){a, 0, 0, 0}, (const u32[2]){b, 0}, half_at);
}

// Along 32 bytes: the word that byte `byte` of row `row` of A, or of column `row` of B, is in.
WARP u32 word_at(int of_b, u32 row, u32 byte) {
    u32 *words = words_of(row % 8 * 4 + byte % 16 / 4);
    return of_b ? words[4 + byte / 16] : words[row / 8 + byte / 16 * 2];
}
#define MMA(name, type, bytes, NUMBER)                                                             \
    WARP void name(type *c, const u32 *a, const u32 *b) {                                          \
        u32 l = lane();                                                                            \
        memcpy(words_of(l), a, 16);                                                                \
        memcpy(words_of(l) + 4, b, 8);                                                             \
        wait_for(ALL_LANES);                                                                       \
        for (u32 e = 0; e < 4; e++) {                                                              \
            double sum = c[e];                                                                     \
            for (u32 k = 0; k < 32; k += bytes) {                                                  \
                u32 x = word_at(0, l / 4 + e / 2 * 8, k) >> k % 4 * 8,                             \
                    y = word_at(1, l % 4 * 2 + (e & 1), k) >> k % 4 * 8;                           \
                sum += (double)NUMBER(x) * NUMBER(y);                                              \
            }                                                                                      \
            c[e] = (type)sum;                                                                      \
        }                                                                                          \
        wait_for(ALL_LANES);                                                                       \
    }
#define HALF(x) half_of((x) & 0xffff)
#define BFLOAT(x) float_of((x) << 16)
MMA(mma_halves, f32, 2, HALF)
MMA(mma_bfloats, f32, 2, BFLOAT)
MMA(mma_bytes, i32, 1, (int8_t))
MMA(mma_unsigned_bytes, i32, 1, (uint8_t))

// ---- shared memory ----

WARP u32 library_memory(void) { return 0; }
WARP _Bool in_shared(const void *p) { return (uintptr_t)p - (uintptr_t)warp.shared < SHARED_BYTES; }
WARP u32 shared_address(const void *p) { return (u32)((uintptr_t)p - (uintptr_t)warp.shared); }
WARP u32 shared_word(u32 at) {
    u32 r = RUBBISH;
    if (at <= SHARED_BYTES - 4) memcpy(&r, warp.shared + at, 4);
    return r;
}
// Rows of 16 bytes; transposed: of columns of halves.
WARP void load_matrices_as(u32 *r, u32 at, _Bool transposed) {
    u32 l = lane();
    words_of(l)[0] = at;
    wait_for(ALL_LANES);
    for (u32 i = 0; i < 4; i++) {
        r[i] = at % 16 ? (u32)RUBBISH : shared_word(words_of(8 * i + l / 4)[0] + l % 4 * 4);
        if (!transposed) continue;
        u32 low = shared_word((words_of(8 * i + l % 4 * 2)[0] + l / 4 * 2) & ~3u),
            high = shared_word((words_of(8 * i + l % 4 * 2 + 1)[0] + l / 4 * 2) & ~3u),
            shift = (l / 4 & 1) * 16;
        r[i] = (low >> shift & 0xffff) | (high >> shift) << 16;
    }
    wait_for(ALL_LANES);
}
WARP void load_matrices(u32 *r, u32 at) { load_matrices_as(r, at, 0); }
WARP void load_matrices_transposed(u32 *r, u32 at) { load_matrices_as(r, at, 1); }
WARP void copy_async(u32 to, const void *from, u32 n_bytes) {
    if (to % 16 || (uintptr_t)from % 16 || n_bytes > 16 || to > SHARED_BYTES - 16) abort();
    memset(warp.shared + to, 0, 16);
    memcpy(warp.shared + to, from, n_bytes);
}
WARP void end_copies(void) {}
WARP void wait_for_copies(u32 but) { (void)but; }

// ---- running ----

static void (*warp_body)(void);
WARP void start_lane(void) {
    warp_body();
    warp.done[warp.self / 32] |= 1u << lane();
    stop();
}

// Runs body once in each of these lanes of so many warps; false: some wait for others that never
// come.
WARP _Bool run_block(u32 n_warps, u32 lanes, void (*body)(void)) {
    warp_body = body;
    memset(warp.arrived, 0, sizeof warp.arrived);
    warp.n_arrived = 0;
    for (u32 w = 0; w < THREADS / 32; w++) warp.done[w] = w < n_warps ? ~lanes : ALL_LANES;
    for (u32 l = 0; l < n_warps * 32; l++) {
        getcontext(&warp.lanes[l]);
        warp.lanes[l].uc_stack.ss_sp = warp.stacks[l];
        warp.lanes[l].uc_stack.ss_size = STACK;
        makecontext(&warp.lanes[l], start_lane, 0);
    }
    for (u32 round = 0;; round++) {
        _Bool all = 1;
        if (round > 1000000) return 0;
        for (u32 k = 0; k < n_warps * 32; k++) {
            warp.self = round & 1 ? n_warps * 32 - 1 - k : k; // no order is to be relied on
            if (warp.done[warp.self / 32] >> lane() & 1) continue;
            all = 0;
            swapcontext(&warp.host, &warp.lanes[warp.self]);
        }
        if (all) return 1;
    }
}
WARP _Bool run_warp(u32 lanes, void (*body)(void)) { return run_block(1, lanes, body); }
#endif

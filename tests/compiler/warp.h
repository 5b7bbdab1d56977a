// SPDX-License-Identifier: Apache-2.0
// warp.h: a warp on the host, for the GPU's device library (codegen/nvptx/device): its lanes are
// coroutines that run one after the other and stop at each instruction of the warp until the lanes
// of its mask are there. Instructions are as the PTX manual describes them; what a lane gets from
// one that is not there is rubbish.
#ifndef INGOT_TEST_WARP_H
#define INGOT_TEST_WARP_H
#include <string.h>
#include <ucontext.h>

#define API static __attribute__((unused))
#define UNROLL
enum { RUBBISH = 0x5a5a5a5a, STACK = 65536 };

static struct {
    ucontext_t host, lanes[32];
    char stacks[32][STACK];
    u32 self, done;
    u32 arrived[32], turn[32]; // of the mask whose first lane it is
    u32 words[32][6];
    u32 block[3], thread[3]; // of lane 0; threads lie in a line
} warp;

static u32 lane(void) { return warp.self; }
static u32 thread_at(u32 d) { return d ? warp.thread[d] : warp.thread[0] + warp.self; }
static u32 block_at(u32 d) { return warp.block[d]; }
static void barrier(void) {}

static void wait_for(u32 mask) {
    u32 first = (u32)__builtin_ctz(mask), self = warp.self, turn = warp.turn[first];
    warp.arrived[first] |= 1u << self;
    if (warp.arrived[first] == mask) {
        warp.arrived[first] = 0;
        warp.turn[first]++;
    }
    while (warp.turn[first] == turn) swapcontext(&warp.lanes[self], &warp.host);
}

static void warp_barrier(u32 mask) { wait_for(mask); }

static u32 exchange(u32 mask, u32 x, u32 from) {
    u32 self = warp.self;
    warp.words[self][0] = x;
    wait_for(mask);
    u32 r = mask >> (from & 31) & 1 ? warp.words[from & 31][0] : (u32)RUBBISH;
    wait_for(mask);
    return r;
}
static u32 shuffle(u32 mask, u32 x, u32 from) { return exchange(mask, x, from); }

#define OVER_LANES(type, name, start, step)                                                        \
    static type name(u32 mask, type x) {                                                           \
        type r = start;                                                                            \
        warp.words[warp.self][0] = (u32)x;                                                         \
        wait_for(mask);                                                                            \
        for (u32 l = 0; l < 32; l++) {                                                             \
            type y = (type)warp.words[l][0];                                                       \
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
static u32 ballot(u32 mask, _Bool x) { return ballot_bits(mask, x); }

// ---- tensor cores ----

static f32 half_of(u32 bits) { // finite, not denormal
    u32 exponent = bits >> 10 & 31;
    u32 whole = (bits & 0x8000) << 16 | (exponent + 112) << 23 | (bits & 0x3ff) << 13;
    return exponent ? float_of(whole) : 0;
}
static u32 to_half(f32 x) { // of a number that is one
    u32 b = bits_of(x), a = b & 0x7fffffff;
    return (b >> 16 & 0x8000) | (a < 0x38800000 ? 0 : (a - 0x38000000) >> 13);
}
static u32 to_halves(f32 low, f32 high) { return to_half(low) | to_half(high) << 16; }
static u32 to_tf32(f32 x) { return (bits_of(x) + 0x1000) & ~0x1fffu; }

static u32 transpose_halves(u32 x) {
    u32 l = warp.self, row = l / 4, column = l % 4 * 2, shift = (row & 1) * 16;
    warp.words[l][0] = x;
    wait_for(ALL_LANES);
    u32 low = warp.words[column * 4 + row / 2][0] >> shift & 0xffff;
    u32 high = warp.words[(column + 1) * 4 + row / 2][0] >> shift & 0xffff;
    wait_for(ALL_LANES);
    return low | high << 16;
}

// c += a b with eight columns of a; element (row, k) of A and (k, column) of B by `at`.
static void multiply(f32 *c, const u32 *a, const u32 *b, f32 (*at)(int of_b, u32 row, u32 column)) {
    u32 l = warp.self;
    memcpy(warp.words[l], a, 16);
    memcpy(warp.words[l] + 4, b, 8);
    wait_for(ALL_LANES);
    for (u32 e = 0; e < 4; e++) {
        double sum = c[e];
        for (u32 k = 0; k < 8; k++)
            sum += (double)at(0, l / 4 + e / 2 * 8, k) * at(1, k, l % 4 * 2 + (e & 1));
        c[e] = (f32)sum;
    }
    wait_for(ALL_LANES);
}
static f32 tf32_at(int of_b, u32 row, u32 column) {
    return float_of(of_b ? warp.words[column * 4 + row % 4][4 + row / 4]
                         : warp.words[row % 8 * 4 + column % 4][row / 8 + column / 4 * 2]);
}
static f32 half_at(int of_b, u32 row, u32 column) {
    u32 pair =
        of_b ? warp.words[column * 4 + row / 2][4] : warp.words[row % 8 * 4 + column / 2][row / 8];
    return half_of(pair >> ((of_b ? row : column) & 1) * 16 & 0xffff);
}
static void mma_tf32(f32 *c, const u32 *a, const u32 *b) { multiply(c, a, b, tf32_at); }
static void mma_f16(f32 *c, u32 a, u32 b) {
    multiply(c, (const u32[4]){a, 0, 0, 0}, (const u32[2]){b, 0}, half_at);
}

// ---- running ----

static void (*warp_body)(void);
static void start_lane(void) {
    u32 self = warp.self;
    warp_body();
    warp.done |= 1u << self;
    swapcontext(&warp.lanes[self], &warp.host);
}

// Runs body once in each of the lanes; false: some wait for others that never come.
static _Bool run_warp(u32 lanes, void (*body)(void)) {
    warp_body = body;
    warp.done = ~lanes;
    memset(warp.arrived, 0, sizeof warp.arrived);
    for (u32 l = 0; l < 32; l++) {
        getcontext(&warp.lanes[l]);
        warp.lanes[l].uc_stack.ss_sp = warp.stacks[l];
        warp.lanes[l].uc_stack.ss_size = STACK;
        makecontext(&warp.lanes[l], start_lane, 0);
    }
    for (u32 round = 0; warp.done != UINT32_MAX; round++) {
        if (round > 100000) return 0;
        for (u32 k = 0; k < 32; k++) {
            warp.self = round & 1 ? 31 - k : k; // no order of lanes is to be relied on
            if (!(warp.done >> warp.self & 1)) swapcontext(&warp.host, &warp.lanes[warp.self]);
        }
    }
    return 1;
}
#endif

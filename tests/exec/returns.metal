// Ways out of loops by `return`, of kernels and of functions in them, with SIMD-group functions on the way: as exits.metal.
#include <metal_stdlib>
using namespace metal;

static uint turn(uint lane) { return lane * 7 % 11; }

// run: return_from_loops grid=96 group=96
// arg 0 = np.full(96, 77, u32)
// expect 0 = [sum(m for m in range(32) if m != 9 and m % 3 == l % 3 and m * 5 % 4 == l * 5 % 4) if l != 9 else 1000 for l in list(range(32)) * 3]
kernel void return_from_loops(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    if (lane != 9)
        for (uint a = 0; a < 3; a++)
            for (uint b = 0; b < 4; b++)
                if (a == lane % 3 && b == lane * 5 % 4) {
                    out[i] = simd_sum(lane);
                    return;
                }
    out[i] = 1000;
}

// A function that leaves its loop by return, in a loop: (turn of the caller, turn of the callee).
static uint find(uint from, uint lane) {
    for (uint b = from; b < 100; b++)
        if (b % 7 == lane % 7) return simd_sum(1u);
    return 0;
}
// run: return_of_function grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [3 * sum(1 for m in range(32) if m % 7 == l % 7) for l in range(32)]
kernel void return_of_function(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0;
    for (uint a = 0; a < 3; a++) s += find(a, lane);
    out[i] = s;
}

template <typename T> static T choose(uint lane) {
    for (T k = 0;; k++)
        if (k == T(turn(lane))) return lane & 1 ? T(simd_sum(1u)) + 100 : T(simd_sum(1u));
}
// run: return_of_choice grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(1 for m in range(32) if m * 7 % 11 == l * 7 % 11 and m % 2 == l % 2) + 100 * (l % 2) for l in range(32)]
kernel void return_of_choice(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    out[i] = choose<ushort>(lane);
}

// Lanes that returned early take no part in what follows, and do not hold the barrier up.
// run: return_before_barrier grid=128 group=64
// arg 0 = np.zeros(128, u32)
// expect 0 = [0 if i % 3 == 0 else 10 * sum(1 for m in range(i // 64 * 64, i // 64 * 64 + 64) if m % 3) for i in range(128)]
kernel void return_before_barrier(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint g [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint part[2];
    if (i % 3 == 0) return;
    uint s = simd_sum(1u);
    if (simd_is_first()) part[g] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = 10 * (part[0] + part[1]);
}

// Loops that run at compile time, where there are no lanes, and at run time; a lambda with a loop of its own.
static constexpr uint twice(uint v) { return 2 * v; }
static constexpr uint root(uint n) {
    for (uint k = 0;; k++)
        if (k * k >= n) return twice(k);
}
constant uint at_compile_time = root(10);
static_assert(root(17) == 10, "five times two");
// run: constant_and_lambda grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [8 + 2 * next(k for k in range(9) if k * k >= l) + 100 * sum(1 for m in range(32) if m % 5 == l % 5) for l in range(32)]
kernel void constant_and_lambda(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    auto count_at = [lane](uint rest) {
        for (uint k = 0;; k++)
            if (k == rest) return simd_sum(1u);
    };
    uint s = 0;
    for (uint k = 0; k < 1; k++) s += count_at(lane % 5) * 100;
    out[i] = at_compile_time + root(lane) + s;
}

// Two functions with questions in one kernel, one of them a generic lambda.
template <typename F> static uint with(F f, uint turn_out) {
    for (uint k = 0;; k++)
        if (k == turn_out) return f(k);
}
// run: generic_lambda grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [10 * (l % 4 % 3) + sum(1 for m in range(32) if m % 4 == l % 4) for l in range(32)]
kernel void generic_lambda(device uint *out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
    out[lane] = with([](auto k) {
        for (uint j = 0;; j++)
            if (j == k % 3) return simd_sum(1u) + 10 * j;
    }, lane % 4);
}

// SIMD-group and quad-group functions on paths that leave a loop: they run where they stand, with the lanes that
// leave there. Most kernels let lane l leave in turn l * 7 % 11, so that those with the same rest are together.
#include <metal_stdlib>
using namespace metal;

static uint turn(uint lane) { return lane * 7 % 11; }

// run: one_by_one grid=64 group=64
// arg 0 = np.zeros(64, u32)
// expect 0 = [min(3, 32 - l // 3 * 3) + 100 * (l // 3) for l in range(32)] * 2
kernel void one_by_one(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0, turns = 0;
    while (true) { // each turn serves the lanes that want what the first one wants
        uint want = simd_broadcast_first(lane / 3);
        if (want == lane / 3) {
            s = simd_sum(1u);
            break;
        }
        turns++;
    }
    out[i] = s + 100 * turns;
}

// run: votes_at_break grid=64 group=32
// arg 0 = np.zeros((64, 6), u32)
// expect 0 = [(lambda g: [sum(1 << m for m in g), sum(1 << m for m in g), int(l == g[0]), g[0], g.index(l), sum(g)])([m for m in range(32) if m * 7 % 11 == l * 7 % 11]) for l in list(range(32)) * 2]
kernel void votes_at_break(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    device uint *o = out + 6 * i;
    for (uint k = 0; k < 40; k++) {
        if (k == turn(lane)) {
            o[0] = uint(uint64_t(simd_ballot(true)));
            o[1] = uint(uint64_t(simd_active_threads_mask()));
            o[2] = simd_is_first();
            o[3] = simd_broadcast_first(lane);
            o[4] = simd_prefix_exclusive_sum(1u);
            o[5] = simd_sum(lane);
            break;
        }
    }
}

// run: votes_not_all grid=32 group=32
// arg 0 = np.zeros((32, 4), u32)
// expect 0 = [(lambda g: [max(g), min(g), int(all(m > 5 for m in g)), int(any(m > 25 for m in g))])([m for m in range(32) if m * 7 % 11 == l * 7 % 11]) for l in range(32)]
kernel void votes_not_all(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint k = 0;
    do {
        if (k == turn(lane)) {
            out[4 * i] = simd_max(lane), out[4 * i + 1] = simd_min(lane);
            out[4 * i + 2] = simd_all(lane > 5), out[4 * i + 3] = simd_any(lane > 25);
            break;
        }
        k++;
    } while (k < 20);
}

// run: quads_at_break grid=64 group=64
// arg 0 = np.zeros((64, 5), u32)
// expect 0 = [(lambda g: [sum(g), sum(1 << m % 4 for m in g), sum(1 << m % 4 for m in g), int(l == g[0]), g[0]])([m for m in range(32) if m // 4 == l // 4 and m * 3 % 5 == l * 3 % 5]) for l in list(range(32)) * 2]
kernel void quads_at_break(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    device uint *o = out + 5 * i;
    for (uint k = 0;; k++) {
        if (k != lane * 3 % 5) continue;
        o[0] = quad_sum(lane);
        o[1] = uint(quad_vote::vote_t(quad_ballot(true)));
        o[2] = uint(quad_vote::vote_t(quad_active_threads_mask()));
        o[3] = quad_is_first();
        o[4] = quad_broadcast_first(lane);
        break;
    }
}

// Lanes 2m and 2m + 1 leave together: a shuffle between them is defined.
// run: shuffles_at_break grid=32 group=32
// arg 0 = np.zeros((32, 3), u32)
// expect 0 = [[100 + (l ^ 1), 100 + l // 2 * 2, 100 + l // 2 * 2 + 1] for l in range(32)]
kernel void shuffles_at_break(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    for (uint k = 0; k < 16; k++) {
        uint v = lane + 100 * (k == lane / 2); // the others hold other values then
        if (k == lane / 2) {
            out[3 * i] = simd_shuffle_xor(v, 1);
            out[3 * i + 1] = simd_shuffle(v, ushort(lane & ~1u));
            out[3 * i + 2] = simd_broadcast(v, ushort(2 * k + 1));
            break;
        }
    }
}

// run: nested_break grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(sum(1 for m in range(32) if (m + a) % 5 == (l + a) % 5) for a in range(4)) for l in range(32)]
kernel void nested_break(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0;
    for (uint a = 0; a < 4; a++)
        for (uint b = 0;; b++)
            if (b == (lane + a) % 5) {
                s += simd_sum(1u);
                break;
            }
    out[i] = s;
}

// Both loops are left, the outer one by what the inner one noted; the last sum runs in the outer one.
// run: two_levels grid=32 group=32
// arg 0 = np.zeros((32, 2), u32)
// expect 0 = [(lambda same: [len([m for m in same if m % 3 == l % 3]), len(same)])([m for m in range(32) if m % 4 == l % 4]) for l in range(32)]
kernel void two_levels(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    for (uint a = 0; a < 10; a++) {
        bool found = false;
        for (uint b = 0; b < 3; b++) {
            if (a == lane % 4 && b == lane % 3) {
                out[2 * i] = simd_sum(1u);
                found = true;
                break;
            }
        }
        if (found) {
            out[2 * i + 1] = simd_sum(1u);
            break;
        }
    }
}

// Case 1 falls into case 2; the break of a switch leaves no loop, that of case 3's loop does.
// run: switch_in_loop grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [(lambda l: {0: 8, 1: 8 + 16 * 100, 2: 16 * 100, 3: sum(1 for m in range(3, 32, 4) if m // 8 == l // 8) * 10000}[l % 4])(l) for l in range(32)]
kernel void switch_in_loop(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0;
    for (uint k = 0; k < 4; k++) {
        switch (lane % 4) {
        case 0:
            if (k == 0) s += simd_sum(1u);
            break;
        case 1:
            if (k == 1) s += simd_sum(1u);
        case 2:
            if (k == 1) s += simd_sum(1u) * 100;
            break;
        case 3:
            if (k == lane / 8) {
                s += simd_sum(1u) * 10000;
                out[i] = s;
                return;
            }
        }
    }
    out[i] = s;
}

// run: continue_with_sum grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(sum(1 for m in range(32) if (m + k) % 3 == (l + k) % 3) * (10 if (l + k) % 3 == 0 else 1 if (l + k) % 3 == 1 else 0) for k in range(5)) for l in range(32)]
kernel void continue_with_sum(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0;
    for (uint k = 0; k < 5; k++) {
        if ((lane + k) % 3 == 0) {
            s += simd_sum(1u) * 10;
            continue;
        }
        if ((lane + k) % 3 == 2) continue;
        s += simd_sum(1u);
    }
    out[i] = s;
}

// The way out has a loop of its own, and a function of the program's in it.
static uint count() { return simd_sum(1u); }
// run: loop_on_the_way grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(sum(1 for m in range(32) if m * 7 % 11 == l * 7 % 11 and m % 3 > j) for j in range(l % 3)) for l in range(32)]
kernel void loop_on_the_way(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0;
    for (uint k = 0;; k++)
        if (k == turn(lane)) {
            for (uint j = 0; j < lane % 3; j++) s += count();
            break;
        }
    out[i] = s;
}

// Everybody leaves in the same turn, and all sum behind the loop.
// run: behind_the_loop grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = np.full(32, 32 + 32 * 100)
kernel void behind_the_loop(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint k = 0, s = 0;
    while (true) {
        if (k == turn(lane)) break;
        k++;
    }
    s = simd_sum(1u);
    for (k = 0; k < 20; k++) {
        if (k == 3) {
            s += simd_sum(1u) * 100;
            break;
        }
    }
    out[i] = s;
}

// Who returned in a loop decides behind it.
// run: returned_or_not grid=128 group=64
// arg 0 = ints(128, 1, 6).astype(u32)
// arg 1 = np.zeros(128, u32)
// arg 2 = u32(0)
// expect 1 = [30 * sum(a0[t // 32 * 32:][:32] == 3) if v == 3 else 0 for t, v in enumerate(a0)]
// run: returned_or_not grid=128 group=64
// arg 0 = ints(128, 1, 6).astype(u32)
// arg 1 = np.full(128, 9999, u32)
// arg 2 = u32(1)
// expect 1 = [1000 + sum(a0[t // 32 * 32:][:32] == 3) if v == 3 else 0 for t, v in enumerate(a0)]
kernel void returned_or_not(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], constant uint &leave [[buffer(2)]],
                            uint i [[thread_position_in_grid]]) {
    uint s = 0, k = 0, n = in[i];
    do {
        if (k++ == 20) break;
        if (n == 3) {
            if (leave) {
                out[i] = 1000 + simd_sum(1u);
                return;
            }
            s += simd_sum(10u);
        }
    } while (k < n);
    out[i] = s;
}

// The same, with a loop behind it.
// run: returned_or_looped grid=128 group=64
// arg 0 = ints(128, 1, 6).astype(u32)
// arg 1 = np.full(128, 9999, u32)
// arg 2 = u32(1)
// expect 1 = [1000 + sum(a0[t // 32 * 32:][:32] == 3) if v == 3 else sum(a0[:v]) for t, v in enumerate(a0)]
kernel void returned_or_looped(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], constant uint &leave [[buffer(2)]],
                               uint i [[thread_position_in_grid]]) {
    uint s = 0, k = 0, n = in[i];
    do {
        if (k++ == 20) break;
        if (n == 3) {
            if (leave) {
                out[i] = 1000 + simd_sum(1u);
                return;
            }
            s += simd_sum(10u);
        }
    } while (k < n);
    k = 0;
    do s += in[k];
    while (++k < n);
    out[i] = s;
}

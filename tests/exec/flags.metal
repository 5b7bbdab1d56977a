// SIMD-group functions in loops that are left by what a flag says: they run in the turn in which a lane comes to
// them, with the lanes that do so then, also where the flag shows that the lane leaves. Most kernels let lane l come
// there in turn l * 7 % 11, so that those with the same rest are together.
#include <metal_stdlib>
using namespace metal;

static uint turn(uint lane) { return lane * 7 % 11; }
// Of a lane: the number of those that share its turn, and 100 times the turn.
// run: flag_while grid=64 group=64
// arg 0 = np.zeros(64, u32)
// expect 0 = [sum(m * 7 % 11 == l * 7 % 11 for m in range(32)) + 100 * (l * 7 % 11 + 1) for l in range(32)] * 2
kernel void flag_while(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0, k = 0;
    bool done = false;
    while (!done) {
        if (k == turn(lane)) {
            s = simd_sum(1u);
            done = true;
        }
        k++;
    }
    out[i] = s + 100 * k;
}

// run: flag_before grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(m * 7 % 11 == l * 7 % 11 for m in range(32)) for l in range(32)]
kernel void flag_before(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    bool go = true;
    for (uint k = 0; go && k < 40; k++)
        if (k == turn(lane)) {
            go = false;
            out[i] = simd_sum(1u);
        }
}

// run: flag_do grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(m for m in range(32) if m * 7 % 11 == l * 7 % 11) for l in range(32)]
kernel void flag_do(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    int left = 1;
    uint k = 0;
    do {
        if (k++ == turn(lane)) {
            out[i] = simd_sum(lane);
            left = 0;
        }
    } while (left > 0);
}

// The counter itself is the flag.
// run: flag_counter grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(m * 7 % 11 == l * 7 % 11 for m in range(32)) for l in range(32)]
kernel void flag_counter(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    for (uint k = 0; k < 40; k++)
        if (k == turn(lane)) {
            out[i] = simd_sum(1u);
            k = 40;
        }
}

// One condition decides twice.
// run: flag_twice grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(m * 7 % 11 == l * 7 % 11 for m in range(32)) for l in range(32)]
kernel void flag_twice(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    for (uint k = 0;; k++) {
        bool now = k == turn(lane);
        if (now) out[i] = simd_sum(1u);
        if (now) break;
    }
}

// A structure's member, set by a function; the lanes do more before they leave.
struct State {
    bool done;
    uint sum;
    void finish(uint s) {
        sum = s;
        done = true;
    }
    bool running() const { return !done; }
};
// run: flag_member grid=32 group=32
// arg 0 = np.zeros((32, 2), u32)
// expect 0 = [[sum(m * 7 % 11 == l * 7 % 11 for m in range(32)), 4 * sum(m for m in range(32) if m * 7 % 11 == l * 7 % 11)] for l in range(32)]
kernel void flag_member(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    State state = {false, 0};
    uint k = 0, more = 0;
    while (state.running()) {
        if (k == turn(lane)) {
            for (int j = 0; j < 4; j++) more += simd_sum(lane);
            state.finish(simd_sum(1u));
        }
        k++;
    }
    out[2 * i] = state.sum, out[2 * i + 1] = more;
}

// Through a second variable, and out of two loops.
// run: flag_of_flag grid=32 group=32
// arg 0 = np.zeros(32, u32)
// expect 0 = [sum(m * 7 % 11 == l * 7 % 11 for m in range(32)) for l in range(32)]
kernel void flag_of_flag(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    bool done = false;
    for (uint k = 0; !done; k += 4) {
        bool found = false;
        for (uint j = 0; j < 4 && !found; j++)
            if (k + j == turn(lane)) {
                out[i] = simd_sum(1u);
                found = true;
            }
        done = found;
    }
}

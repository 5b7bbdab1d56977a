// Loops whose lanes leave at different times, by break, continue and return, nested.
#include <metal_stdlib>
using namespace metal;

// run: collatz grid=1000 group=64
// arg 0 = iota(1000, u32) + 1
// arg 1 = np.zeros(1000, u32)
// expect 1 = [(lambda f: f(f, int(v), 0))(lambda f, v, k: k if v == 1 else f(f, v // 2 if v % 2 == 0 else 3 * v + 1, k + 1)) for v in a0]
kernel void collatz(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    uint v = in[i], steps = 0;
    while (v != 1) {
        v = v % 2 == 0 ? v / 2 : 3 * v + 1;
        steps++;
    }
    out[i] = steps;
}

// run: break_continue_return grid=777 group=96
// arg 0 = ints(777, 0, 50)  .astype(i32)
// arg 1 = np.full(777, -1, i32)
// expect 1 = [(lambda s: s)(__import__('functools').reduce(lambda s, k: s if s[1] else ((s[0], 2) if k == v else (s[0], 0) if k % 3 == 0 else (s[0] + k, 1 if s[0] + k > 200 else 0)), range(100), (0, 0))) for v in a0] and [(-1 if r[1] == 2 and v % 7 == 3 else r[0]) for v in a0 for r in [__import__('functools').reduce(lambda s, k: s if s[1] else ((s[0], 2) if k == v else (s[0], 0) if k % 3 == 0 else (s[0] + k, 1 if s[0] + k > 200 else 0)), range(100), (0, 0))]]
kernel void break_continue_return(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    int v = in[i], sum = 0;
    for (int k = 0; k < 100; k++) {
        if (k == v) {
            if (v % 7 == 3) return; // leaves -1
            break;
        }
        if (k % 3 == 0) continue;
        sum += k;
        if (sum > 200) break;
    }
    out[i] = sum;
}

// run: nested grid=500 group=32
// arg 0 = np.zeros(500, u32)
// expect 0 = [sum(1 for p in range(2, v) if all(p % d for d in range(2, int(p ** 0.5) + 1))) for v in range(500)]
kernel void nested(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint count = 0;
    for (uint p = 2; p < i; p++) { // primes below i, by trial division
        bool prime = true;
        for (uint d = 2; d * d <= p; d++)
            if (p % d == 0) {
                prime = false;
                break;
            }
        if (!prime) continue;
        count++;
    }
    out[i] = count;
}

// run: early_return_three_levels grid=300 group=48
// arg 0 = np.full(300, 9999, u32)
// arg 1 = u32(8)
// expect 0 = [next((a * 100 + b * 10 + c for a in range(8) for b in range(8) for c in range(8) if (a * 3 + b * 5 + c * 7) % 300 == v), 5555) if v % 2 else 9999 for v in range(300)]
kernel void early_return_three_levels(device uint *out [[buffer(0)]], constant uint &n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    if (i % 2 == 0) return;
    for (uint a = 0; a < n; a++)
        for (uint b = 0; b < n; b++)
            for (uint c = 0; c < n; c++)
                if ((a * 3 + b * 5 + c * 7) % 300 == i) {
                    out[i] = a * 100 + b * 10 + c;
                    return;
                }
    out[i] = 5555;
}

// run: switch_in_loop grid=640 group=64
// arg 0 = ints(640, 0, 1 << 16).astype(u32)
// arg 1 = np.zeros(640, u32)
// expect 1 = [__import__('functools').reduce(lambda s, k: (s + 1, s * 3, s ^ 0x55, s)[(v >> 2 * k) & 3] & 0xffffffff, range(8), int(v)) for v in a0.astype(int)]
kernel void switch_in_loop(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    uint v = in[i], s = v;
    for (uint k = 0; k < 8; k++) {
        switch ((v >> (2 * k)) & 3) {
        case 0: s += 1; break;
        case 1: s *= 3; break;
        case 2: s ^= 0x55; // falls through to nothing
        default: break;
        }
    }
    out[i] = s;
}

// SPDX-License-Identifier: Apache-2.0
// update.metal: the second half of a step: partial gradients are added in order, then Adam. Master
// weights and moments are float whatever the precision of the products.
#include "network.h"

constant uint storage [[function_constant(0)]]; // 0: float, 1: half, 2: bfloat
constant uint n_parts [[function_constant(1)]];
constant constexpr uint MAX_PARTS = 8;

// A sum over partial gradients. Threads of n_parts SIMD-groups each add some of them; the first one
// has the sum, the others leave.
inline bool add_up(thread float &sum, device const float *from, constant Step &step, uint part,
                   uint lane, threadgroup float *parts) {
    if (n_parts == 1) {
        for (uint k = 0; k < step.n_groups; k++) sum += from[ulong(k) * step.gradient_size];
        return true;
    }
    constexpr uint AT_ONCE = 8; // loads under way
    for (uint k = part; k < step.n_groups; k += AT_ONCE * n_parts) {
        float values[AT_ONCE];
        for (uint i = 0; i < AT_ONCE; i++) {
            const uint at = k + i * n_parts;
            values[i] = at < step.n_groups ? from[ulong(at) * step.gradient_size] : 0.0f;
        }
        for (uint i = 0; i < AT_ONCE; i++) sum += values[i];
    }
    parts[part * 32 + lane] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (part) return false;
    sum = 0;
    for (uint k = 0; k < n_parts; k++) sum += parts[k * 32 + lane];
    return true;
}

// Grid of threadgroups of (32, n_parts) threads: (neurons / 32, inputs and one more row for the
// biases, layers), each of the largest. forward and transposed are what the products of the next step
// read; forward is the masters themselves in float.
template <typename T>
void update(device float *params, device float *moment1, device float *moment2,
            device const float *gradients, device T *forward, device T *transposed,
            constant Layer *layers, constant Step &step, device const float *squares,
            device float *losses, threadgroup float *parts, uint3 group, uint3 t) {
    const uint3 p = uint3(group.x * 32 + t.x, group.y, group.z);
    if (n_parts == 1 && all(p == 0)) {
        float sum = 0;
        for (uint i = 0; i < step.n_groups; i++) sum += squares[i];
        losses[step.slot] = sum * step.loss_scale;
    }
    if (n_parts > 1 && all(group == 0) && t.y == 0) {
        float sum = 0;
        for (uint i = t.x; i < step.n_groups; i += 32) sum += squares[i];
        sum = simd_sum(sum);
        if (t.x == 0) losses[step.slot] = sum * step.loss_scale;
    }
    constant Layer &layer = layers[p.z];
    int column = p.x, row = p.y, n_out = layer.n_out, n_in = layer.n_in;
    const bool inside = column < n_out && row <= n_in;
    if (n_parts == 1 && !inside) return;
    int i = (row < n_in ? int(layer.weights) + row * n_out : int(layer.biases)) + column;

    float g = 0;
    if (!add_up(g, gradients + (inside ? i : 0), step, t.y, t.x, parts) || !inside) return;
    g *= step.gradient_scale;
    float m = step.beta1 * moment1[i] + (1 - step.beta1) * g;
    float v = step.beta2 * moment2[i] + (1 - step.beta2) * g * g;
    float w = params[i] -
              step.rate * m / (precise::sqrt(v * step.correction2) + step.epsilon);
    moment1[i] = m;
    moment2[i] = v;
    params[i] = w;
    if (storage != 0) forward[i] = T(w);
    if (row < n_in) transposed[int(layer.weights) + column * n_in + row] = T(w);
}

#define UPDATE_ARGUMENTS(T)                                                                        \
    device float *params [[buffer(0)]], device float *moment1 [[buffer(1)]],                       \
        device float *moment2 [[buffer(2)]], device const float *gradients [[buffer(3)]],          \
        device T *forward [[buffer(4)]], device T *transposed [[buffer(5)]],                       \
        constant Layer *layers [[buffer(6)]], constant Step &step [[buffer(7)]],                   \
        device const float *squares [[buffer(8)]], device float *losses [[buffer(9)]],             \
        uint3 group [[threadgroup_position_in_grid]], uint3 t [[thread_position_in_threadgroup]]
#define UPDATE_PASSED                                                                              \
    params, moment1, moment2, gradients, forward, transposed, layers, step, squares, losses,    \
        parts, group, t

#define UPDATE(T)                                                                                  \
    kernel void update_##T(UPDATE_ARGUMENTS(T)) {                                                  \
        threadgroup float parts[MAX_PARTS * 32];                                                   \
        update(UPDATE_PASSED);                                                                     \
    }
UPDATE(float)
UPDATE(half)
UPDATE(bfloat)

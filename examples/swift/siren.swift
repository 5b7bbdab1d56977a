// SPDX-License-Identifier: Apache-2.0
// siren.swift: trains a SIREN (a network with sines, Sitzmann et al. 2020) on a picture, with Metal kernels for the
// forward pass, the gradients and Adam. A network of two layers; one thread computes a sample of the batch.
import Metal

let source = """
#include <metal_stdlib>
using namespace metal;
constant uint H = 32;                       // neurons of the hidden layer
constant float OMEGA = 12;
constant uint N = 2 * H + H + H + 1;        // w1 (H x 2), b1, w2, b2
float target(float2 p) { return 0.5 + 0.5 * sin(6 * p.x) * cos(5 * p.y); }
float network(device const float *w, float2 p, thread float *h, thread float *s) {
    float out = w[4 * H];
    for (uint j = 0; j < H; j++) {
        s[j] = OMEGA * (w[2 * j] * p.x + w[2 * j + 1] * p.y + w[2 * H + j]);
        h[j] = sin(s[j]);
        out += w[3 * H + j] * h[j];
    }
    return out;
}
kernel void gradients(device const float *w [[buffer(0)]], device atomic_float *g [[buffer(1)]], device atomic_float *loss [[buffer(2)]],
                      constant uint &side [[buffer(3)]], uint2 id [[thread_position_in_grid]]) {
    float h[H], s[H];
    float2 p = float2(id) / (side - 1) * 2 - 1;
    float e = network(w, p, h, s) - target(p), scale = 2.0 / (side * side);
    atomic_fetch_add_explicit(loss, e * e / (side * side), memory_order_relaxed);
    atomic_fetch_add_explicit(&g[4 * H], e * scale, memory_order_relaxed);
    for (uint j = 0; j < H; j++) {
        float back = e * scale * w[3 * H + j] * cos(s[j]) * OMEGA;
        atomic_fetch_add_explicit(&g[3 * H + j], e * scale * h[j], memory_order_relaxed);
        atomic_fetch_add_explicit(&g[2 * j], back * p.x, memory_order_relaxed);
        atomic_fetch_add_explicit(&g[2 * j + 1], back * p.y, memory_order_relaxed);
        atomic_fetch_add_explicit(&g[2 * H + j], back, memory_order_relaxed);
    }
}
kernel void adam(device float *w [[buffer(0)]], device float *g [[buffer(1)]], device float2 *moments [[buffer(2)]],
                 constant uint &step [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    float2 m = moments[i] = float2(0.9, 0.99) * moments[i] + float2(0.1, 0.01) * float2(g[i], g[i] * g[i]);
    float2 fair = m / (1 - pow(float2(0.9, 0.99), float(step)));
    w[i] -= 0.003 * fair.x / (sqrt(fair.y) + 1e-8);
    g[i] = 0;
}
"""
let device = MTLCreateSystemDefaultDevice()!
let library = try device.makeLibrary(source: source, options: nil)
let gradients = try device.makeComputePipelineState(function: library.makeFunction(name: "gradients")!)
let adam = try device.makeComputePipelineState(function: library.makeFunction(name: "adam")!)

let hidden = 32, count = 4 * hidden + 1
var seed: UInt64 = 1
func uniform(_ bound: Float) -> Float {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (Float(seed >> 40) / Float(1 << 24) * 2 - 1) * bound
}
// The first layer as the paper has it, the second so that its sums stay small.
let start = (0..<count).map { $0 < 2 * hidden ? uniform(0.5) : $0 < 3 * hidden ? uniform(0.5) : uniform(0.1) }
let weights = device.makeBuffer(bytes: start, length: count * 4)!
let sums = device.makeBuffer(length: count * 4)!, moments = device.makeBuffer(length: count * 8)!, loss = device.makeBuffer(length: 4)!
let queue = device.makeCommandQueue()!
var side: UInt32 = 32

var first: Float = 0
for step in 1...600 {
    loss.contents().storeBytes(of: 0, as: Float.self)
    let commands = queue.makeCommandBuffer()!, encoder = commands.makeComputeCommandEncoder()!
    encoder.setComputePipelineState(gradients)
    encoder.setBuffers([weights, sums, loss], offsets: [0, 0, 0], range: 0..<3)
    encoder.setBytes(&side, length: 4, index: 3)
    encoder.dispatchThreads(MTLSize(width: 32, height: 32, depth: 1), threadsPerThreadgroup: MTLSize(width: 32, height: 1, depth: 1))
    encoder.setComputePipelineState(adam)
    encoder.setBuffer(moments, offset: 0, index: 2)
    var number = UInt32(step)
    encoder.setBytes(&number, length: 4, index: 3)
    encoder.dispatchThreads(MTLSize(width: count, height: 1, depth: 1), threadsPerThreadgroup: MTLSize(width: 32, height: 1, depth: 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    let now = loss.contents().load(as: Float.self)
    if step == 1 { first = now }
    if step % 200 == 0 { print("step \(step): loss \(now)") }
    if step == 600 { print(now < first / 20 ? "learned" : "not learned: \(first) -> \(now)") }
}
// prints: ^learned$

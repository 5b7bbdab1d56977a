// SPDX-License-Identifier: Apache-2.0
// compute.swift: y = a x + y on the device, as on a Mac: nothing in it knows where it runs.
//   ingot swiftc -O compute.swift -o compute && ingot swift exec ./compute
import Metal

let source = """
#include <metal_stdlib>
using namespace metal;
struct Params { float a; uint count; };
kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                  constant Params &p [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < p.count) y[i] = p.a * x[i] + y[i];
}
"""
struct Params {
    var a: Float
    var count: UInt32
}

guard let device = MTLCreateSystemDefaultDevice(), let queue = device.makeCommandQueue() else { fatalError("no Metal device") }
let library = try device.makeLibrary(source: source, options: nil)
let pipeline = try device.makeComputePipelineState(function: library.makeFunction(name: "saxpy")!)

let n = 1 << 16
let x = (0..<n).map { Float($0) }
let bufferX = device.makeBuffer(bytes: x, length: n * MemoryLayout<Float>.stride)!
let bufferY = device.makeBuffer(length: n * MemoryLayout<Float>.stride, options: .storageModeShared)!
bufferY.label = "y"
let y = bufferY.contents().bindMemory(to: Float.self, capacity: n)
for i in 0..<n { y[i] = 1 }

let commands = queue.makeCommandBuffer()!
let encoder = commands.makeComputeCommandEncoder()!
var params = Params(a: 10, count: UInt32(n))
encoder.setComputePipelineState(pipeline)
encoder.setBuffers([bufferX, bufferY], offsets: [0, 0], range: 0..<2)
encoder.setBytes(&params, length: MemoryLayout<Params>.stride, index: 2)
encoder.dispatchThreads(MTLSize(width: n, height: 1, depth: 1), threadsPerThreadgroup: MTLSize(width: 256, height: 1, depth: 1))
encoder.endEncoding()
commands.commit()
await commands.completed()

let wrong = (0..<n).filter { y[$0] != 10 * Float($0) + 1 }.count
print("\(bufferY.label ?? "-")[7] = \(y[7]), \(wrong) wrong, \(commands.status == .completed ? "completed" : "not completed")")
do {
    _ = try device.makeLibrary(source: "kernel void broken(", options: nil)
} catch MTLLibraryError.compileFailure {
    print("a source that is broken: MTLLibraryError.compileFailure")
}
// prints: y\[7\] = 71.0, 0 wrong, completed
// prints: a source that is broken: MTLLibraryError.compileFailure

// SPDX-License-Identifier: Apache-2.0
import Metal

public final class Adder {
    let device: MTLDevice, queue: MTLCommandQueue, pipeline: MTLComputePipelineState
    public init() throws {
        device = MTLCreateSystemDefaultDevice()!
        queue = device.makeCommandQueue()!
        let library = try device.makeDefaultLibrary(bundle: Bundle.module)
        pipeline = try device.makeComputePipelineState(function: library.makeFunction(name: "add")!)
    }
    public func add(_ a: [Float], _ b: [Float]) -> [Float] {
        let size = a.count * MemoryLayout<Float>.stride
        let buffers = [device.makeBuffer(bytes: a, length: size)!, device.makeBuffer(bytes: b, length: size)!, device.makeBuffer(length: size)!]
        let commands = queue.makeCommandBuffer()!, encoder = commands.makeComputeCommandEncoder()!
        encoder.setComputePipelineState(pipeline)
        encoder.setBuffers(buffers, offsets: [0, 0, 0], range: 0..<3)
        encoder.dispatchThreads(MTLSize(width: a.count, height: 1, depth: 1), threadsPerThreadgroup: MTLSize(width: 32, height: 1, depth: 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        return Array(UnsafeBufferPointer(start: buffers[2].contents().assumingMemoryBound(to: Float.self), count: a.count))
    }
}

// SPDX-License-Identifier: Apache-2.0
// tensors.swift: Metal 4: tensors as arguments of a kernel, an argument table, a command allocator, a queue that says
// when it is done by an event.
import Metal

let device = MTLCreateSystemDefaultDevice()!
let source = """
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
kernel void scale(tensor<device float, dextents<int, 2>> a [[buffer(0)]], constant float &by [[buffer(1)]],
                  uint2 id [[thread_position_in_grid]]) {
    a[id.x, id.y] *= by;
}
"""
let compiler = try device.makeCompiler(descriptor: MTL4CompilerDescriptor())
let libraryDescriptor = MTL4LibraryDescriptor()
libraryDescriptor.source = source
libraryDescriptor.name = "scale"
let function = MTL4LibraryFunctionDescriptor()
function.library = try compiler.makeLibrary(descriptor: libraryDescriptor)
function.name = "scale"
let pipelineDescriptor = MTL4ComputePipelineDescriptor()
pipelineDescriptor.computeFunctionDescriptor = function
let pipeline = try compiler.makeComputePipelineState(descriptor: pipelineDescriptor)

let tensorDescriptor = MTLTensorDescriptor()
tensorDescriptor.dataType = .float32
tensorDescriptor.dimensions = MTLTensorExtents([4, 3])!
tensorDescriptor.usage = .compute
let tensor = try device.makeTensor(descriptor: tensorDescriptor)
let values = (0..<12).map { Float($0) }
let whole = MTLTensorExtents([4, 3])!, origin = MTLTensorExtents([0, 0])!, strides = MTLTensorExtents([1, 4])!
tensor.replace(sliceOrigin: origin, sliceDimensions: whole, withBytes: values, strides: strides)
let factor = device.makeBuffer(bytes: [Float(3)], length: 4)!

let tableDescriptor = MTL4ArgumentTableDescriptor()
tableDescriptor.maxBufferBindCount = 2
let table = try device.makeArgumentTable(descriptor: tableDescriptor)
table.setResource(tensor.gpuResourceID, bufferIndex: 0)
table.setAddress(factor.gpuAddress, index: 1)

let queue = device.makeMTL4CommandQueue()!, allocator = device.makeCommandAllocator()!, commands = device.makeCommandBuffer()!
let event = device.makeSharedEvent()!
let residency = try device.makeResidencySet(descriptor: MTLResidencySetDescriptor())
residency.addAllocations([tensor, factor])
residency.commit()
queue.addResidencySet(residency)
commands.beginCommandBuffer(allocator: allocator)
let encoder = commands.makeComputeCommandEncoder()!
encoder.setComputePipelineState(pipeline)
encoder.setArgumentTable(table)
encoder.dispatchThreads(threadsPerGrid: MTLSize(width: 4, height: 3, depth: 1), threadsPerThreadgroup: MTLSize(width: 4, height: 3, depth: 1))
encoder.endEncoding()
commands.endCommandBuffer()
queue.commit([commands])
queue.signalEvent(event, value: 1)
let done = event.wait(untilSignaledValue: 1, timeoutMS: 10_000)

var result = [Float](repeating: 0, count: 12)
tensor.getBytes(&result, strides: strides, sliceOrigin: origin, sliceDimensions: whole)
print(done ? "done" : "not done", tensor.dimensions.extents, result.map { Int($0) })
// prints: done \[4, 3\] \[0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33\]

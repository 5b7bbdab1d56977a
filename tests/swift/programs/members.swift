// SPDX-License-Identifier: Apache-2.0
// members.swift: members that are made by hand or in a way of their own: dictionaries, ranges, errors, async, queues,
// option sets, arrays of attachments, and the functions of simd.
import Metal
import QuartzCore
import os
import simd

var wrong = 0
func check(_ what: String, _ yes: Bool) {
    if !yes {
        print("WRONG:", what)
        wrong += 1
    }
}
let device = MTLCreateSystemDefaultDevice()!, queue = device.makeCommandQueue()!

let options = MTLCompileOptions()
options.preprocessorMacros = ["FACTOR": NSNumber(value: 3), "TYPE": "float" as NSString]
check("macros", options.preprocessorMacros?.count == 2)
let library = try device.makeLibrary(source: "kernel void f(device TYPE *a [[buffer(0)]]) { a[0] *= FACTOR; }", options: options)
check("names", library.functionNames == ["f"])
let function = library.makeFunction(name: "f")!
check("a name that is not there", library.makeFunction(name: "g") == nil)
let (pipeline, reflection) = try device.makeComputePipelineState(descriptor: {
    let d = MTLComputePipelineDescriptor()
    d.computeFunction = function
    return d
}(), options: [.bindingInfo])
check("reflection", reflection?.bindings.first?.name == "a" && pipeline.device === device)
let made = try device.makeComputePipelineState(function: function)
check("one object for one", made.device === device && library.device === device)

do {
    _ = try device.makeLibrary(source: "no", options: nil)
    check("a broken source throws", false)
} catch let error as MTLLibraryError {
    check("its code", error.code == .compileFailure && !error.localizedDescription.isEmpty && (error as NSError).domain == MTLLibraryErrorDomain)
}
func compile(_ source: String) async throws -> any MTLLibrary { try await device.makeLibrary(source: source, options: nil) }
check("async", try await compile("kernel void g() {}").functionNames == ["g"])
do {
    _ = try await compile("no")
    check("async errors", false)
} catch { check("as an error of Metal's", error is MTLLibraryError) }

let buffer = device.makeBuffer(bytes: [Float(2), 0], length: 8, options: [.storageModeShared, .cpuCacheModeWriteCombined])!
check("options", buffer.resourceOptions.contains(.storageModeShared) && buffer.storageMode == .shared && buffer.cpuCacheMode == .writeCombined)
let commands = queue.makeCommandBuffer()!, encoder = commands.makeComputeCommandEncoder()!
let event = device.makeSharedEvent()!, own = DispatchQueue(label: "own")
let heard = DispatchSemaphore(value: 0)
event.notify(MTLSharedEventListener(dispatchQueue: own), atValue: 1) { e, value in
    dispatchPrecondition(condition: .onQueue(own))
    check("the event", e === event && value == 1)
    heard.signal()
}
encoder.setComputePipelineState(pipeline)
encoder.setBuffers([buffer, nil], offsets: [0, 0], range: 0..<2)
encoder.dispatchThreadgroups(MTLSizeMake(1, 1, 1), threadsPerThreadgroup: MTLSizeMake(1, 1, 1))
encoder.endEncoding()
let blit = commands.makeBlitCommandEncoder()!
blit.fill(buffer: buffer, range: 4..<8, value: 1)
blit.endEncoding()
commands.encodeSignalEvent(event, value: 1)
commands.commit()
await commands.completed()
check("heard", heard.wait(timeout: .now() + 10) == .success)
check("computed", buffer.contents().load(as: Float.self) == 6 && buffer.contents().load(fromByteOffset: 4, as: UInt32.self) == 0x0101_0101)

let pass = MTLRenderPassDescriptor()
pass.colorAttachments[1].clearColor = MTLClearColorMake(1, 0.5, 0, 1)
check("attachments", pass.colorAttachments[1].clearColor.green == 0.5 && pass.colorAttachments[1] === pass.colorAttachments[1])
let texture = device.makeTexture(descriptor: .texture2DDescriptor(pixelFormat: .rgba8Unorm_srgb, width: 4, height: 4, mipmapped: true))!
let view = texture.makeTextureView(pixelFormat: .rgba8Unorm, textureType: .type2D, levels: 1..<2, slices: 0..<1)!
check("a view", view.width == 2 && view.parent === texture && texture.mipmapLevelCount == 3)
let vertices = MTLVertexDescriptor()
vertices.attributes[0].format = .float3
vertices.layouts[0].stepFunction = .perInstance
check("vertices", vertices.attributes[0].format == .float3 && (vertices.copy() as! MTLVertexDescriptor).layouts[0].stepFunction == .perInstance)
check("families", device.supportsFamily(.common1) && device.supportsFamily(.metal3))
let bytes = [UInt8](repeating: 0, count: 16).withUnsafeBytes { DispatchData(bytes: $0) }
check("data that is no library", (try? device.makeLibrary(data: bytes)) == nil)
check("languages", MTLLanguageVersion.version3_0.rawValue == 3 << 16)
check("the clock", CACurrentMediaTime() > 0 && MTLCopyAllDevices().contains { $0 === device })
Logger(subsystem: "test", category: "members").debug("not shown \(wrong, privacy: .public)")

let turn = simd_quatf(angle: .pi / 2, axis: [0, 0, 1])
check("a turn", simd_distance(turn.act([1, 0, 0]), [0, 1, 0]) < 1e-6)
let m = float4x4(turn) * float4x4(diagonal: [2, 2, 2, 1])
check("matrices", simd_distance(m * SIMD4<Float>(1, 0, 0, 1), [0, 2, 0, 1]) < 1e-6 && abs(m.determinant - 8) < 1e-4)
check("an inverse", simd_length((m * m.inverse - matrix_identity_float4x4).columns.0) < 1e-5)
check("a quaternion back", abs(simd_dot(simd_quatf(m * float4x4(diagonal: [0.5, 0.5, 0.5, 1])), turn)) > 0.9999)
check("slerp", abs(simd_slerp(simd_quatf(angle: 0, axis: [0, 0, 1]), turn, 0.5).angle - .pi / 4) < 1e-5)
check("transposes", float2x3(rows: [[1, 2], [3, 4], [5, 6]]).transpose[1] == [3, 4] && cross(float3(1, 0, 0), [0, 1, 0]) == [0, 0, 1])
print(wrong == 0 ? "all fine" : "\(wrong) wrong")
// prints: ^all fine$

// SPDX-License-Identifier: Apache-2.0
// triangle.swift: a triangle drawn into a texture and written as a PNG file (triangle.png, or the file that is named).
import MetalKit

let device = MTLCreateSystemDefaultDevice()!
let library = try device.makeLibrary(source: """
#include <metal_stdlib>
using namespace metal;
struct Vertex { packed_float2 position; packed_float3 color; };
struct Out { float4 position [[position]]; float3 color; };
vertex Out corner(uint id [[vertex_id]], constant Vertex *v [[buffer(0)]], constant float4x4 &turn [[buffer(1)]]) {
    return {turn * float4(v[id].position, 0, 1), v[id].color};
}
fragment float4 shade(Out in [[stage_in]]) { return float4(in.color, 1); }
""", options: nil)

let descriptor = MTLRenderPipelineDescriptor()
descriptor.vertexFunction = library.makeFunction(name: "corner")
descriptor.fragmentFunction = library.makeFunction(name: "shade")
descriptor.colorAttachments[0].pixelFormat = .rgba8Unorm
let pipeline = try device.makeRenderPipelineState(descriptor: descriptor)

let size = 256
let textureDescriptor = MTLTextureDescriptor.texture2DDescriptor(pixelFormat: .rgba8Unorm, width: size, height: size, mipmapped: false)
textureDescriptor.usage = [.renderTarget, .shaderRead]
textureDescriptor.storageMode = .shared
let target = device.makeTexture(descriptor: textureDescriptor)!
let pass = MTLRenderPassDescriptor()
pass.colorAttachments[0].texture = target
pass.colorAttachments[0].loadAction = .clear
pass.colorAttachments[0].storeAction = .store
pass.colorAttachments[0].clearColor = MTLClearColor(red: 0.1, green: 0.1, blue: 0.2, alpha: 1)

let commands = device.makeCommandQueue()!.makeCommandBuffer()!
let encoder = commands.makeRenderCommandEncoder(descriptor: pass)!
encoder.setRenderPipelineState(pipeline)
let corners: [Float] = [0, 0.8, 1, 0, 0, -0.7, -0.5, 0, 1, 0, 0.7, -0.5, 0, 0, 1]
encoder.setVertexBytes(corners, length: corners.count * 4, index: 0)
var turn = float4x4(simd_quatf(angle: 0, axis: [0, 0, 1]))
encoder.setVertexBytes(&turn, length: MemoryLayout<float4x4>.stride, index: 1)
encoder.drawPrimitives(type: .triangle, vertexStart: 0, vertexCount: 3)
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()

var pixels = [UInt8](repeating: 0, count: size * size * 4)
target.getBytes(&pixels, bytesPerRow: size * 4, from: MTLRegionMake2D(0, 0, size, size), mipmapLevel: 0)

/// A PNG file without compression: stored blocks of zlib, with the checksums of both formats.
func png(_ pixels: [UInt8], width: Int, height: Int) -> Data {
    func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    func crc(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xffff_ffff
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? (sum >> 1) ^ 0xedb8_8320 : sum >> 1 }
        }
        return ~sum
    }
    var out: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]
    func chunk(_ name: String, _ body: [UInt8]) {
        var named = Array(name.utf8)
        named.append(contentsOf: body)
        out.append(contentsOf: big(UInt32(body.count)))
        out.append(contentsOf: named)
        out.append(contentsOf: big(crc(named)))
    }
    var rows: [UInt8] = []
    for y in 0..<height {
        rows.append(0) // no filter
        rows.append(contentsOf: pixels[y * width * 4..<(y + 1) * width * 4])
    }
    var stream: [UInt8] = [0x78, 1]
    for start in stride(from: 0, to: rows.count, by: 65535) {
        let end = Swift.min(start + 65535, rows.count), n = UInt16(end - start)
        stream.append(end == rows.count ? 1 : 0)
        for half in [n, ~n] { stream.append(contentsOf: [UInt8(half & 255), UInt8(half >> 8)]) }
        stream.append(contentsOf: rows[start..<end])
    }
    var a: UInt32 = 1, b: UInt32 = 0
    for byte in rows {
        a = (a + UInt32(byte)) % 65521
        b = (b + a) % 65521
    }
    stream.append(contentsOf: big(b << 16 | a))
    var head = big(UInt32(width))
    head.append(contentsOf: big(UInt32(height)))
    head.append(contentsOf: [8, 6, 0, 0, 0])
    chunk("IHDR", head)
    chunk("IDAT", stream)
    chunk("IEND", [])
    return Data(out)
}
let file = CommandLine.arguments.dropFirst().first ?? "triangle.png"
try png(pixels, width: size, height: size).write(to: URL(fileURLWithPath: file))
let middle = (size / 2 * size + size / 2) * 4
let again = try MTKTextureLoader(device: device).newTexture(URL: URL(fileURLWithPath: file), options: [.SRGB: false])
print("the file has \(again.width) x \(again.height) pixels")
print("the middle: \(pixels[middle..<middle + 3].map { $0 > 40 ? "some" : "little" }), a corner: \(Array(pixels[0..<3]))")
// prints: the middle: \["some", "some", "some"\], a corner: \[26, 26, 51\]
// prints: the file has 256 x 256 pixels

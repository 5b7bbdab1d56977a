// SPDX-License-Identifier: Apache-2.0
// memory.swift: objects made and dropped, on one thread and on eight; prints `flat` if the process did not grow.
// With the argument `few`: a tenth of it, for the sanitizers.
import Metal

let few = CommandLine.arguments.contains("few"), rounds = few ? 1_000 : 10_000
let device = MTLCreateSystemDefaultDevice()!, queue = device.makeCommandQueue()!
let library = try device.makeLibrary(source: "kernel void k(device int *a [[buffer(0)]]) { a[0] += 1; }", options: nil)
let pipeline = try device.makeComputePipelineState(function: library.makeFunction(name: "k")!)

func resident() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return Int(text.split(separator: " ").dropFirst().first ?? "0")! * 4096
}
func round(_ i: Int) {
    let buffer = device.makeBuffer(length: 256)!
    buffer.label = "number \(i) ä"
    precondition(buffer.device === device && buffer.label == "number \(i) ä")
    let descriptor = MTLTextureDescriptor()
    descriptor.width = 8
    precondition((descriptor.copy() as! MTLTextureDescriptor).width == 8)
    let commands = queue.makeCommandBuffer()!
    commands.addCompletedHandler { precondition($0.status == .completed) }
    let encoder = commands.makeComputeCommandEncoder()!
    encoder.setComputePipelineState(pipeline)
    encoder.setBuffer(buffer, offset: 0, index: 0)
    encoder.dispatchThreads(MTLSize(width: 1, height: 1, depth: 1), threadsPerThreadgroup: MTLSize(width: 1, height: 1, depth: 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    precondition(buffer.contents().load(as: Int32.self) == 1)
}

for i in 0..<rounds / 5 { round(i) }
let before = resident()
for i in 0..<rounds { round(i) }
let grown = resident() - before
let threads = (0..<8).map { _ in Thread { for i in 0..<rounds / 20 { round(i) } } }
threads.forEach { $0.start() }
while !threads.allSatisfy(\.isFinished) { usleep(1000) }
print(few || grown < 4 << 20 ? "flat" : "grown by \(grown) bytes in \(rounds) rounds")

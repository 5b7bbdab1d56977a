// SPDX-License-Identifier: Apache-2.0
// Overlay.swift: what Apple's Metal has in Swift alone, and members that no rule of the generator gives. The latter are
// named by a line "by hand: CLASS SELECTOR", so that none is forgotten (api/gen/swift/module.py).
import CIngotMetal
import Dispatch

public func MTLCreateSystemDefaultDevice() -> (any MTLDevice)? { _made(ingot_create_device()) }
public func MTLCopyAllDevices() -> [any MTLDevice] { _list(ingot_copy_devices())! }

// ---- Makers of structs ----

public func MTLSizeMake(_ width: Int, _ height: Int, _ depth: Int) -> MTLSize { MTLSize(width: width, height: height, depth: depth) }
public func MTLOriginMake(_ x: Int, _ y: Int, _ z: Int) -> MTLOrigin { MTLOrigin(x: x, y: y, z: z) }
public func MTLRegionMake1D(_ x: Int, _ width: Int) -> MTLRegion { MTLRegionMake3D(x, 0, 0, width, 1, 1) }
public func MTLRegionMake2D(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> MTLRegion { MTLRegionMake3D(x, y, 0, width, height, 1) }
public func MTLRegionMake3D(_ x: Int, _ y: Int, _ z: Int, _ width: Int, _ height: Int, _ depth: Int) -> MTLRegion {
    MTLRegion(origin: MTLOriginMake(x, y, z), size: MTLSizeMake(width, height, depth))
}
public func MTLClearColorMake(_ red: Double, _ green: Double, _ blue: Double, _ alpha: Double) -> MTLClearColor {
    MTLClearColor(red: red, green: green, blue: blue, alpha: alpha)
}
public func MTLSamplePositionMake(_ x: Float, _ y: Float) -> MTLSamplePosition { MTLSamplePosition(x: x, y: y) }
public func MTLCoordinate2DMake(_ x: Float, _ y: Float) -> MTLCoordinate2D { MTLCoordinate2D(x: x, y: y) }
public func MTLTextureSwizzleChannelsMake(_ r: MTLTextureSwizzle, _ g: MTLTextureSwizzle, _ b: MTLTextureSwizzle,
                                          _ a: MTLTextureSwizzle) -> MTLTextureSwizzleChannels {
    MTLTextureSwizzleChannels(red: r, green: g, blue: b, alpha: a)
}
public func MTLIndirectCommandBufferExecutionRangeMake(_ location: UInt32, _ length: UInt32) -> MTLIndirectCommandBufferExecutionRange {
    MTLIndirectCommandBufferExecutionRange(location: location, length: length)
}
public func MTLPackedFloat3Make(_ x: Float, _ y: Float, _ z: Float) -> MTLPackedFloat3 { MTLPackedFloat3(x: x, y: y, z: z) }
extension MTLPackedFloat3 {
    public init(_ x: Float, _ y: Float, _ z: Float) { self.init(x: x, y: y, z: z) }
}
public let MTLCounterErrorValue = UInt64.max
public let MTLCounterDontSample = -1
public let MTLMaxBlitPassSampleBuffers = 4, MTLMaxComputePassSampleBuffers = 4, MTLMaxRenderPassSampleBuffers = 4

public typealias MTLAutoreleasedComputePipelineReflection = MTLComputePipelineReflection
public typealias MTLAutoreleasedRenderPipelineReflection = MTLRenderPipelineReflection
public typealias MTLAutoreleasedArgument = MTLArgument

// ---- Command buffers ----

extension MTLCommandBuffer {
    /// A handler cannot be added behind commit(), and programs call this there: a thread waits.
    public func completed() async { await _wait { $0.waitUntilCompleted() } }
    public func scheduled() async { await _wait { $0.waitUntilScheduled() } }
    func _wait(_ body: @escaping @Sendable (Self) -> Void) async {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
            DispatchQueue.global().async { body(self); c.resume() }
        }
    }
}

// ---- Pipelines with their reflection, as Apple's overlay has them ----

extension MTLDevice {
    // by hand: MTLDevice newTextureWithDescriptor:iosurface:plane:
    // Swift on Linux has no IOSurface: a program that asks for one does not compile.

    public func getDefaultSamplePositions(sampleCount: Int) -> [MTLSamplePosition] {
        [MTLSamplePosition](unsafeUninitializedCapacity: sampleCount) { room, n in
            ingot_MTLDevice_getDefaultSamplePositions_count_(_ingot, room.baseAddress, UInt(sampleCount))
            n = sampleCount
        }
    }
    public func makeComputePipelineState(descriptor: MTLComputePipelineDescriptor, options: MTLPipelineOption) throws
        -> (any MTLComputePipelineState, MTLComputePipelineReflection?) {
        var reflection: MTLComputePipelineReflection?
        return (try makeComputePipelineState(descriptor: descriptor, options: options, reflection: &reflection), reflection)
    }
    public func makeRenderPipelineState(descriptor: MTLRenderPipelineDescriptor, options: MTLPipelineOption) throws
        -> (any MTLRenderPipelineState, MTLRenderPipelineReflection?) {
        var reflection: MTLRenderPipelineReflection?
        return (try makeRenderPipelineState(descriptor: descriptor, options: options, reflection: &reflection), reflection)
    }
    public func makeRenderPipelineState(tileDescriptor: MTLTileRenderPipelineDescriptor, options: MTLPipelineOption) throws
        -> (any MTLRenderPipelineState, MTLRenderPipelineReflection?) {
        var reflection: MTLRenderPipelineReflection?
        return (try makeRenderPipelineState(tileDescriptor: tileDescriptor, options: options, reflection: &reflection), reflection)
    }
    public func makeRenderPipelineState(descriptor: MTLMeshRenderPipelineDescriptor, options: MTLPipelineOption) throws
        -> (any MTLRenderPipelineState, MTLRenderPipelineReflection?) {
        var reflection: MTLRenderPipelineReflection?
        return (try makeRenderPipelineState(descriptor: descriptor, options: options, reflection: &reflection), reflection)
    }
    public func sampleTimestamps() -> (cpu: MTLTimestamp, gpu: MTLTimestamp) {
        var cpu: MTLTimestamp = 0, gpu: MTLTimestamp = 0
        sampleTimestamps(&cpu, gpuTimestamp: &gpu)
        return (cpu, gpu)
    }
}
extension MTLTexture {
    // by hand: MTLTexture iosurface
}
extension MTLRenderPassDescriptor {
    public func getSamplePositions() -> [MTLSamplePosition] {
        let n = Int(ingot_MTLRenderPassDescriptor_getSamplePositions_count_(_ingot, nil, 0))
        return [MTLSamplePosition](unsafeUninitializedCapacity: n) { room, count in
            _ = ingot_MTLRenderPassDescriptor_getSamplePositions_count_(_ingot, room.baseAddress, UInt(n))
            count = n
        }
    }
}

// ---- Queues of Swift's: the work comes back on them ----

/// What a program gave an object that Ingot cannot keep: Swift's queues.
final class _Kept: @unchecked Sendable {
    static let queues = _Kept()
    private let lock = NSLock()
    private var kept: [ObjectIdentifier: (object: () -> AnyObject?, queue: DispatchQueue)] = [:]
    subscript(object: AnyObject) -> DispatchQueue? {
        get { lock.withLock { kept[ObjectIdentifier(object)].flatMap { $0.object() === object ? $0.queue : nil } } }
        set {
            lock.withLock {
                kept = kept.filter { $0.value.object() != nil }
                kept[ObjectIdentifier(object)] = newValue.map { queue in ({ [weak object] in object }, queue) }
            }
        }
    }
}
extension MTLSharedEventListener {
    // by hand: MTLSharedEventListener dispatchQueue
    public var dispatchQueue: DispatchQueue { _Kept.queues[self] ?? DispatchQueue.global() }
    // by hand: MTLSharedEventListener initWithDispatchQueue:
    public convenience init(dispatchQueue: DispatchQueue) {
        self.init()
        _Kept.queues[self] = dispatchQueue
    }
}
extension MTLSharedEvent {
    // by hand: MTLSharedEvent notifyListener:atValue:block:
    @preconcurrency public func notify(_ listener: MTLSharedEventListener, atValue value: UInt64,
                                       block: @escaping MTLSharedEventNotificationBlock) {
        let queue = listener.dispatchQueue
        let body = _block { (event, value, _, _) in
            let event: any MTLSharedEvent = _lent(event)!
            queue.async { block(event, UInt64(value)) }
        }
        defer { ingot_release(body) }
        ingot_notify(_ingot, listener._ingot, value, body)
    }
    public func valueSignaled(_ value: UInt64) async {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
            notify(MTLSharedEventListener(), atValue: value) { _, _ in c.resume() }
        }
    }
}
extension MTL4CommandQueueDescriptor {
    // by hand: MTL4CommandQueueDescriptor feedbackQueue
    public var feedbackQueue: DispatchQueue? {
        get { _Kept.queues[self] }
        set { _Kept.queues[self] = newValue }
    }
}

// ---- Tensors ----

extension MTLTensorExtents {
    // by hand: MTLTensorExtents initWithRank:values:
    public convenience init?(_ extents: [Int]) {
        guard let id = ingot_extents(extents, extents.count) else { return nil }
        self.init(_ingot: id)
    }
    // by hand: MTLTensorExtents extentAtDimensionIndex:
    public var extents: [Int] { (0..<rank).map { ingot_extent(_ingot, $0) } }
}

// ---- Dictionaries and objects of any class ----

extension MTLCaptureDescriptor {
    // by hand: MTLCaptureDescriptor captureObject
    public var captureObject: Any? {
        get { ingot_capture_object(_ingot).map { _wrap($0) } }
        set { ingot_set_capture_object(_ingot, (newValue as? any _IngotSends)?._ingot) }
    }
}

/// A dictionary for one call, and back.
func _dictionary(_ values: [String: UnsafeMutableRawPointer?]) -> UnsafeMutableRawPointer? {
    let keys = values.keys.map { ingot_text_object($0) }, held = values.keys.map { values[$0]! }
    defer { (keys + held).forEach { ingot_release($0) } }
    return ingot_dictionary(keys, held, keys.count)
}
func _pairs<T>(_ id: UnsafeMutableRawPointer?, _ value: (UnsafeMutableRawPointer) -> T) -> [String: T]? {
    guard let id else { return nil }
    let keys = ingot_keys(id)
    defer { ingot_release(keys); ingot_release(id) }
    var out: [String: T] = [:]
    for i in 0..<ingot_count(keys) {
        let key = ingot_item(keys, i)!
        out[_text(ingot_retain(key))!] = value(ingot_value(id, key)!)
        ingot_release(key)
    }
    return out
}
extension MTLCompileOptions {
    // by hand: MTLCompileOptions preprocessorMacros
    public var preprocessorMacros: [String: NSObject]? {
        get {
            _pairs(ingot_macros(_ingot)) { value in
                guard ingot_is_number(value) else { return NSString(string: _text(value)!) }
                defer { ingot_release(value) }
                return NSNumber(value: ingot_number_value(value))
            }
        }
        set {
            let made = newValue.flatMap { _dictionary($0.mapValues { value in
                let number = value as? NSNumber
                return number.map { ingot_number($0.doubleValue, $0.doubleValue == $0.doubleValue.rounded()) } ??
                    ingot_text_object((value as? NSString).map { String(describing: $0) } ?? value.description)
            }) }
            defer { ingot_release(made) }
            ingot_set_macros(_ingot, made)
        }
    }
}
extension MTLLinkedFunctions {
    // by hand: MTLLinkedFunctions groups
    public var groups: [String: [any MTLFunction]]? {
        get { _pairs(ingot_groups(_ingot)) { _list($0)! } }
        set {
            let made = newValue.flatMap { _dictionary($0.mapValues { _array($0) }) }
            defer { ingot_release(made) }
            ingot_set_groups(_ingot, made)
        }
    }
}
extension MTL4StaticLinkingDescriptor {
    // by hand: MTL4StaticLinkingDescriptor groups
    public var groups: [String: [MTL4FunctionDescriptor]]? {
        get { _pairs(ingot_groups(_ingot)) { _list($0)! } }
        set {
            let made = newValue.flatMap { _dictionary($0.mapValues { _array($0) }) }
            defer { ingot_release(made) }
            ingot_set_groups(_ingot, made)
        }
    }
}
extension MTLFunction {
    // by hand: MTLFunction functionConstantsDictionary
    public var functionConstantsDictionary: [String: MTLFunctionConstant] { _pairs(ingot_constants(_ingot)) { _made($0)! } ?? [:] }
}

// ---- Layers ----

/// A layer without a tree of layers: what CAMetalLayer has of it.
open class CALayer: _IngotObject {
    public convenience init() { self.init(_ingot: ingot_new("CALayer")!) }
}
extension CAMetalLayer {
    // by hand: CAMetalLayer colorspace
    // Swift on Linux has no CoreGraphics: a program that sets one does not compile.
}

// ---- Rasterisation rates ----

extension MTLRasterizationRateSampleArray {
    // by hand: MTLRasterizationRateSampleArray objectAtIndexedSubscript:
    // by hand: MTLRasterizationRateSampleArray setObject:atIndexedSubscript:
    public subscript(index: Int) -> Float {
        get { ingot_rate(_ingot, index) }
        set { ingot_set_rate(_ingot, index, newValue) }
    }
}
extension MTLRasterizationRateMapDescriptor {
    // by hand: MTLRasterizationRateMapDescriptor rasterizationRateMapDescriptorWithScreenSize:layerCount:layers:
    public convenience init(screenSize: MTLSize, layers: [MTLRasterizationRateLayerDescriptor], label: String? = nil) {
        let ids = layers.map { Optional($0._ingot) }
        self.init(_ingot: ingot_rate_map(C_CGSize(width: Double(screenSize.width), height: Double(screenSize.height)), ids, ids.count)!)
        self.label = label
    }
}
extension MTLRasterizationRateLayerDescriptor {
    public convenience init(horizontal: [Float], vertical: [Float]) {
        self.init(sampleCount: MTLSize(width: horizontal.count, height: vertical.count, depth: 0), horizontal: horizontal,
                  vertical: vertical)
    }
}

// ---- Metal 4 ----

extension MTL4RenderPassDescriptor {
    public var samplePositions: [MTLSamplePosition] {
        get {
            let n = Int(ingot_MTL4RenderPassDescriptor_getSamplePositions_count_(_ingot, nil, 0))
            return [MTLSamplePosition](unsafeUninitializedCapacity: n) { room, count in
                _ = ingot_MTL4RenderPassDescriptor_getSamplePositions_count_(_ingot, room.baseAddress, UInt(n))
                count = n
            }
        }
        set { setSamplePositions(newValue) }
    }
}
extension MTLLogicalToPhysicalColorAttachmentMap {
    public subscript(logicalIndex: Int) -> Int {
        get { getPhysicalIndex(forLogicalIndex: logicalIndex) }
        set { setPhysicalIndex(newValue, forLogicalIndex: logicalIndex) }
    }
}
extension MTL4CommandQueue {
    public func commit(_ commandBuffers: [any MTL4CommandBuffer], options: MTL4CommitOptions?) {
        if let options { commit(commandBuffers, options: options) } else { commit(commandBuffers) }
    }
}
extension MTL4MachineLearningPipelineDescriptor {
    public func setInputDimensions(_ dimensions: [MTLTensorExtents], bufferIndex: Int) {
        setInputDimensions(dimensions, range: bufferIndex..<bufferIndex + dimensions.count)
    }
}
extension MTL4RenderCommandEncoder {
    public func setVertexAmplificationCount(_ count: Int) { setVertexAmplificationCount(count, viewMappings: nil) }
    public func setVertexAmplificationCount(_ viewMappings: [MTLVertexAmplificationViewMapping]) {
        setVertexAmplificationCount(viewMappings.count, viewMappings: viewMappings)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Runtime.swift: Ingot's objects as Swift's. One Swift object stands for one object of Ingot's as long as it lives, so
// that === and what a program keeps beside its objects work as on a Mac.
@_exported import Foundation
@_exported import Dispatch
import CIngotMetal

/// What all of Metal's protocols refine: an object of this module that holds one of Ingot's.
public protocol _IngotSends: NSObjectProtocol {
    var _ingot: UnsafeMutableRawPointer { get }
}

open class _IngotObject: NSObject, _IngotSends {
    public let _ingot: UnsafeMutableRawPointer
    /// Takes the reference.
    public required init(_ingot id: UnsafeMutableRawPointer) {
        _ingot = id
        super.init()
        _ = _begun
        _ = ingot_know(id, Unmanaged.passUnretained(self).toOpaque())
    }
    public override convenience init() { fatalError("objects of this class are made by a device") }
    deinit {
        ingot_forget(_ingot, Unmanaged.passUnretained(self).toOpaque())
        ingot_release(_ingot)
    }
}

/// Swift's own way to take a reference to an object that may be about to go, as its weak references do.
let _begun: Void = ingot_begin(unsafeBitCast(dlsym(nil, "swift_tryRetain"), to: (@convention(c) (UnsafeMutableRawPointer?)
    -> UnsafeMutableRawPointer?).self))

// ---- Objects that come from Ingot ----

/// The Swift object of an object, whose reference it takes.
func _wrap(_ id: UnsafeMutableRawPointer) -> _IngotObject {
    if let known = ingot_known(id) {
        ingot_release(id)
        return Unmanaged<_IngotObject>.fromOpaque(known).takeRetainedValue()
    }
    let made = _type(of: id).init(_ingot: id)
    // Another thread may have been first.
    guard let now = ingot_known(id) else { return made }
    return Unmanaged<_IngotObject>.fromOpaque(now).takeRetainedValue()
}

/// The Swift class of an object: that of its Objective-C class, or of the nearest above that has one.
func _type(of id: UnsafeMutableRawPointer) -> _IngotObject.Type {
    var above: Int32 = 0
    while let name = ingot_class_name(id, above) {
        let text = String(cString: name)
        if let type = _classes[text.hasPrefix("_") ? String(text.dropFirst()) : text] { return type }
        above += 1
    }
    fatalError("Metal: no Swift class for \(String(cString: ingot_class_name(id, 0)!))")
}

func _made<T>(_ id: UnsafeMutableRawPointer?) -> T? { id.map { _wrap($0) as! T } }
/// The same where the class is known: no conformance is looked up.
@inline(__always) func _made<T: _IngotObject>(_ id: UnsafeMutableRawPointer?, as type: T.Type) -> T? {
    guard let id else { return nil }
    let object = _wrap(id)
    return Swift.type(of: object) == type ? unsafeDowncast(object, to: type) : (object as! T)
}

func _text(_ id: UnsafeMutableRawPointer?) -> String? {
    guard let id else { return nil }
    let pool = ingot_pool_push()
    var n = 0
    let bytes = UnsafeRawPointer(ingot_text(id, &n)!).assumingMemoryBound(to: UInt8.self)
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: n), as: UTF8.self)
    ingot_pool_pop(pool)
    ingot_release(id)
    return text
}
func _url(_ id: UnsafeMutableRawPointer?) -> URL? {
    guard let id else { return nil }
    defer { ingot_release(id) }
    return _text(ingot_url_path(id)).map { URL(fileURLWithPath: $0) }
}
func _bytes(_ id: UnsafeMutableRawPointer?) -> Data? {
    guard let id else { return nil }
    defer { ingot_release(id) }
    var n = 0
    return ingot_bytes(id, &n).map { Data(bytes: $0, count: n) } ?? Data()
}
func _list<T>(_ id: UnsafeMutableRawPointer?) -> [T]? {
    guard let id else { return nil }
    defer { ingot_release(id) }
    return (0..<ingot_count(id)).map { i in
        T.self == String.self ? _text(ingot_item(id, i))! as! T : _wrap(ingot_item(id, i)!) as! T
    }
}

/// The error of an object; one of Metal's domains is of Metal's type.
func _error(_ id: UnsafeMutableRawPointer) -> any Error {
    defer { ingot_release(id) }
    let error = NSError(domain: _text(ingot_error_domain(id))!, code: ingot_error_code(id),
                        userInfo: [NSLocalizedDescriptionKey: _text(ingot_error_text(id))!])
    return _errors[error.domain]?(error) ?? error
}
func _failure(_ id: UnsafeMutableRawPointer?) -> any Error {
    id.map { _error($0) } ?? NSError(domain: "MTLError", code: 0, userInfo: [NSLocalizedDescriptionKey: "Metal gave no reason"])
}

// Arguments of handlers, which are lent.
func _lent<T>(_ bits: UInt) -> T? { UnsafeMutableRawPointer(bitPattern: bits).map { _wrap(ingot_retain($0)!) as! T } }
func _lentError(_ bits: UInt) -> (any Error)? { UnsafeMutableRawPointer(bitPattern: bits).map { _error(ingot_retain($0)!) } }
func _lentText(_ bits: UInt) -> String? { _text(UnsafeMutableRawPointer(bitPattern: bits).map { ingot_retain($0)! }) }

// ---- What goes to Ingot for one call ----

@inline(__always) func _range(_ r: Range<Int>) -> C_NSRange { C_NSRange(location: UInt(r.lowerBound), length: UInt(r.count)) }
@inline(__always) func _range(_ r: C_NSRange) -> Range<Int> { Int(r.location)..<Int(r.location + r.length) }

func _data(_ data: Data?) -> UnsafeMutableRawPointer? { data?.withUnsafeBytes { ingot_data($0.baseAddress, $0.count) } }
/// Swift's dispatch data stays on its side: Ingot gets the bytes.
func _data(_ data: DispatchData) -> UnsafeMutableRawPointer? { Data(data).withUnsafeBytes { ingot_data($0.baseAddress, $0.count) } }

func _array(_ items: [any _IngotSends]?) -> UnsafeMutableRawPointer? {
    items.map { let ids = $0.map { Optional($0._ingot) }; return ingot_array(ids, ids.count) }
}
func _array(_ items: [String]?) -> UnsafeMutableRawPointer? {
    guard let items else { return nil }
    let texts = items.map { strdup($0) }
    defer { texts.forEach { free($0) } }
    return texts.map { UnsafePointer<CChar>($0) }.withUnsafeBufferPointer { ingot_strings($0.baseAddress, $0.count) }
}

typealias _Body = @Sendable (UInt, UInt, UInt, UInt) -> Void
final class _Closure: Sendable {
    let body: _Body
    init(_ body: @escaping _Body) { self.body = body }
}
func _block(_ body: @escaping _Body) -> UnsafeMutableRawPointer? {
    ingot_block(Unmanaged.passRetained(_Closure(body)).toOpaque(),
                { Unmanaged<_Closure>.fromOpaque($0!).takeUnretainedValue().body($1, $2, $3, $4) },
                { Unmanaged<_Closure>.fromOpaque($0!).release() })
}

public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    let pool = ingot_pool_push()
    defer { ingot_pool_pop(pool) }
    return try body()
}

// ---- For the neighbours of this module ----

/// The error and the texture of an object, whose reference they take.
public func _ingotError(_ id: UnsafeMutableRawPointer?) -> any Error { _failure(id) }
public func _ingotTexture(_ id: UnsafeMutableRawPointer) -> any MTLTexture { _made(id, as: _MTLTexture.self)! }

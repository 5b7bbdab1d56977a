// SPDX-License-Identifier: Apache-2.0
// MTKTextureLoader.swift: textures from PNG and JPEG files. MTKView is Objective-C's alone here: Swift on Linux has no views.
@_exported import Metal
@_exported import QuartzCore
@_exported import simd
import CIngotMetal

public let MTKTextureLoaderErrorDomain = "MTKTextureLoaderErrorDomain"

open class MTKTextureLoader: NSObject {
    public struct Option: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let allocateMipmaps = Option(rawValue: "MTKTextureLoaderOptionAllocateMipmaps")
        public static let generateMipmaps = Option(rawValue: "MTKTextureLoaderOptionGenerateMipmaps")
        public static let SRGB = Option(rawValue: "MTKTextureLoaderOptionSRGB")
        public static let textureUsage = Option(rawValue: "MTKTextureLoaderOptionTextureUsage")
        public static let textureStorageMode = Option(rawValue: "MTKTextureLoaderOptionTextureStorageMode")
        public static let textureCPUCacheMode = Option(rawValue: "MTKTextureLoaderOptionTextureCPUCacheMode")
        public static let origin = Option(rawValue: "MTKTextureLoaderOptionOrigin")
    }
    public struct Origin: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let topLeft = Origin(rawValue: "MTKTextureLoaderOriginTopLeft")
        public static let bottomLeft = Origin(rawValue: "MTKTextureLoaderOriginBottomLeft")
        public static let flippedVertically = Origin(rawValue: "MTKTextureLoaderOriginFlippedVertically")
    }

    public let device: any MTLDevice
    public init(device: any MTLDevice) { self.device = device }

    public func newTexture(URL: URL, options: [Option: Any]? = nil) throws -> any MTLTexture {
        try load(path: URL.path, data: nil, options)
    }
    public func newTexture(data: Data, options: [Option: Any]? = nil) throws -> any MTLTexture {
        try load(path: nil, data: data, options)
    }

    private func load(path: String?, data: Data?, _ options: [Option: Any]?) throws -> any MTLTexture {
        let names = (options ?? [:]).keys.map { $0 }
        let values = names.map { Self.object(options![$0]!) }
        defer { values.forEach { ingot_release($0) } }
        let keys = names.map { ingot_texture_option($0.rawValue) }
        defer { keys.forEach { ingot_release($0) } }
        let dictionary = ingot_dictionary(keys, values, keys.count)
        defer { ingot_release(dictionary) }
        var error: UnsafeMutableRawPointer?
        let bytes = data.map { data in data.withUnsafeBytes { ingot_data($0.baseAddress, $0.count) } } ?? nil
        defer { ingot_release(bytes) }
        guard let texture = ingot_load_texture(device._ingot, path, bytes, dictionary, &error) else { throw _ingotError(error) }
        return _ingotTexture(texture)
    }
    /// Numbers, raw values of enumerations and option sets, and origins, as the loader takes them.
    private static func object(_ value: Any) -> UnsafeMutableRawPointer? {
        switch value {
        case let origin as Origin: return ingot_texture_option(origin.rawValue)
        case let number as NSNumber: return ingot_number(number.doubleValue, true)
        case let flag as Bool: return ingot_number(flag ? 1 : 0, true)
        case let number as UInt: return ingot_number(Double(number), true)
        case let number as Int: return ingot_number(Double(number), true)
        default: return ingot_text_object("\(value)")
        }
    }
}

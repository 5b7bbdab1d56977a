// SPDX-License-Identifier: Apache-2.0
// os.swift: Logger and signposts as far as programs use them: messages go to standard error; intervals are not kept.
import Foundation

public struct OSLogType: RawRepresentable, Equatable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let `default` = OSLogType(rawValue: 0), info = OSLogType(rawValue: 1), debug = OSLogType(rawValue: 2)
    public static let error = OSLogType(rawValue: 16), fault = OSLogType(rawValue: 17)
}
public final class OSLog: Sendable {
    public let subsystem: String, category: String
    public init(subsystem: String, category: String) { (self.subsystem, self.category) = (subsystem, category) }
    public static let `default` = OSLog(subsystem: "", category: "")
}
/// A message with its values; whether one is private is not asked here.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    public enum Privacy: Sendable { case `public`, `private`, auto, sensitive }
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        var text = ""
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) { text += literal }
        public mutating func appendInterpolation<T>(_ value: @autoclosure () -> T, privacy: Privacy = .auto) { text += "\(value())" }
    }
    let text: String
    public init(stringLiteral text: String) { self.text = text }
    public init(stringInterpolation i: StringInterpolation) { text = i.text }
}
public struct Logger: Sendable {
    let head: String
    public init() { head = "" }
    public init(subsystem: String, category: String) { head = "[\(subsystem):\(category)] " }
    public init(_ log: OSLog) { self.init(subsystem: log.subsystem, category: log.category) }
    public func log(level: OSLogType = .default, _ message: OSLogMessage) {
        if level != .debug && level != .info { FileHandle.standardError.write(Data((head + message.text + "\n").utf8)) }
    }
    public func log(_ message: OSLogMessage) { log(level: .default, message) }
    public func trace(_ message: OSLogMessage) { log(level: .debug, message) }
    public func debug(_ message: OSLogMessage) { log(level: .debug, message) }
    public func info(_ message: OSLogMessage) { log(level: .info, message) }
    public func notice(_ message: OSLogMessage) { log(level: .default, message) }
    public func warning(_ message: OSLogMessage) { log(level: .error, message) }
    public func error(_ message: OSLogMessage) { log(level: .error, message) }
    public func critical(_ message: OSLogMessage) { log(level: .fault, message) }
    public func fault(_ message: OSLogMessage) { log(level: .fault, message) }
}
public func os_log(_ message: StaticString, log: OSLog = .default, type: OSLogType = .default, _ arguments: any CVarArg...) {
    let format = message.description.replacingOccurrences(of: "%{public}", with: "%").replacingOccurrences(of: "%{private}", with: "%")
    Logger(log).log(level: type, OSLogMessage(stringLiteral: String(format: format, arguments: arguments)))
}

public struct OSSignpostID: Sendable {
    public static let exclusive = OSSignpostID()
    public init() {}
    public init(log: OSLog) {}
}
public struct OSSignpostIntervalState: Sendable {}
public struct OSSignposter: Sendable {
    public init() {}
    public init(subsystem: String, category: String) {}
    public init(logger: Logger) {}
    public var isEnabled: Bool { false }
    public func makeSignpostID() -> OSSignpostID { OSSignpostID() }
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState { OSSignpostIntervalState() }
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {}
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {}
    public func withIntervalSignpost<T>(_ name: StaticString, id: OSSignpostID = .exclusive, around body: () throws -> T) rethrows -> T {
        try body()
    }
}
public enum OSSignpostType: Sendable { case begin, end, event }
public func os_signpost(_ type: OSSignpostType, log: OSLog, name: StaticString, signpostID: OSSignpostID = .exclusive) {}

/// A lock with what it protects.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    private final class Box: @unchecked Sendable {
        let lock = NSLock()
        var state: State
        init(_ state: State) { self.state = state }
    }
    private let box: Box
    public init(initialState: State) { box = Box(initialState) }
    public func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
        box.lock.lock()
        defer { box.lock.unlock() }
        return try body(&box.state)
    }
}
extension OSAllocatedUnfairLock where State == Void {
    public init() { self.init(initialState: ()) }
}

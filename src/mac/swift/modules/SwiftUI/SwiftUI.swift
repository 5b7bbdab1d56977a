// SPDX-License-Identifier: Apache-2.0
// SwiftUI.swift: NOT SwiftUI: a stand-in of Ingot's for the model files of Xcode projects, with the few names that they
// take from it. Nothing here draws; files with views are left out by `ingot swift --project`.
@_exported import Foundation

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}
public struct EnvironmentValues {
    private var values: [ObjectIdentifier: Any] = [:]
    public init() {}
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

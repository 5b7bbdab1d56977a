# SPDX-License-Identifier: Apache-2.0
"""simd.py: the Swift module simd. Vectors are the standard library's; their functions, matrices of columns (floatCxR has C
columns of R rows, as Metal's) and quaternions are written here for both types and all sizes."""

NAMES = {"Float": "float", "Double": "double", "Int32": "int", "UInt32": "uint", "Int16": "short", "UInt16": "ushort",
         "Int8": "char", "UInt8": "uchar", "Int": "long", "UInt": "ulong"}
SIZES = (2, 3, 4)

OF_VECTORS = """
public func dot(_ a: $V, _ b: $V) -> $T { (a * b).sum() }
public func length_squared(_ a: $V) -> $T { dot(a, a) }
public func length(_ a: $V) -> $T { dot(a, a).squareRoot() }
public func distance(_ a: $V, _ b: $V) -> $T { length(a - b) }
public func distance_squared(_ a: $V, _ b: $V) -> $T { length_squared(a - b) }
public func normalize(_ a: $V) -> $V { a / length(a) }
public func reflect(_ a: $V, n: $V) -> $V { a - 2 * dot(a, n) * n }
public func project(_ a: $V, _ b: $V) -> $V { b * (dot(a, b) / dot(b, b)) }
public func mix(_ a: $V, _ b: $V, t: $T) -> $V { a + (b - a) * t }
public func mix(_ a: $V, _ b: $V, t: $V) -> $V { a + (b - a) * t }
public func abs(_ a: $V) -> $V { a.replacing(with: -a, where: a .< 0) }
public func sign(_ a: $V) -> $V { $V(repeating: 0).replacing(with: 1, where: a .> 0).replacing(with: -1, where: a .< 0) }
public func min(_ a: $V, _ b: $V) -> $V { pointwiseMin(a, b) }
public func max(_ a: $V, _ b: $V) -> $V { pointwiseMax(a, b) }
public func clamp(_ a: $V, min low: $V, max high: $V) -> $V { a.clamped(lowerBound: low, upperBound: high) }
public func clamp(_ a: $V, min low: $T, max high: $T) -> $V { clamp(a, min: $V(repeating: low), max: $V(repeating: high)) }
public func fract(_ a: $V) -> $V { a - a.rounded(.down) }
public func floor(_ a: $V) -> $V { a.rounded(.down) }
public func ceil(_ a: $V) -> $V { a.rounded(.up) }
public func step(_ a: $V, edge: $V) -> $V { $V(repeating: 1).replacing(with: 0, where: a .< edge) }
public func smoothstep(_ a: $V, edge0: $V, edge1: $V) -> $V {
    let t = clamp((a - edge0) / (edge1 - edge0), min: 0, max: 1)
    return t * t * (3 - 2 * t)
}
public func reduce_add(_ a: $V) -> $T { a.sum() }
public func reduce_min(_ a: $V) -> $T { a.min() }
public func reduce_max(_ a: $V) -> $T { a.max() }
public func simd_dot(_ a: $V, _ b: $V) -> $T { dot(a, b) }
public func simd_length(_ a: $V) -> $T { length(a) }
public func simd_length_squared(_ a: $V) -> $T { length_squared(a) }
public func simd_distance(_ a: $V, _ b: $V) -> $T { distance(a, b) }
public func simd_normalize(_ a: $V) -> $V { normalize(a) }
public func simd_mix(_ a: $V, _ b: $V, _ t: $V) -> $V { mix(a, b, t: t) }
public func simd_min(_ a: $V, _ b: $V) -> $V { min(a, b) }
public func simd_max(_ a: $V, _ b: $V) -> $V { max(a, b) }
public func simd_clamp(_ a: $V, _ low: $V, _ high: $V) -> $V { clamp(a, min: low, max: high) }
public func simd_abs(_ a: $V) -> $V { abs(a) }
public func simd_reduce_add(_ a: $V) -> $T { a.sum() }
"""

OF_THREE = """
public func cross(_ a: SIMD3<$T>, _ b: SIMD3<$T>) -> SIMD3<$T> {
    SIMD3<$T>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}
public func simd_cross(_ a: SIMD3<$T>, _ b: SIMD3<$T>) -> SIMD3<$T> { cross(a, b) }
public func simd_make_$N2(_ x: $T, _ y: $T) -> SIMD2<$T> { SIMD2(x, y) }
public func simd_make_$N3(_ x: $T, _ y: $T, _ z: $T) -> SIMD3<$T> { SIMD3(x, y, z) }
public func simd_make_$N4(_ x: $T, _ y: $T, _ z: $T, _ w: $T) -> SIMD4<$T> { SIMD4(x, y, z, w) }
public func simd_make_$N4(_ v: SIMD3<$T>, _ w: $T) -> SIMD4<$T> { SIMD4(v, w) }
public func simd_make_$N3(_ v: SIMD4<$T>) -> SIMD3<$T> { SIMD3(v.x, v.y, v.z) }
public func simd_clamp(_ a: $T, _ low: $T, _ high: $T) -> $T { Swift.min(Swift.max(a, low), high) }
public func simd_mix(_ a: $T, _ b: $T, _ t: $T) -> $T { a + (b - a) * t }
"""

MATRIX = """
public struct $M: Equatable, Sendable {
    public var columns: ($COLUMNS)
    public init() { columns = ($ZEROS) }
    public init(columns: ($COLUMNS)) { self.columns = columns }
    public init($ARGS) { columns = ($NAMED) }
    public init(_ c: [$C]) { columns = ($LISTED) }
    public init(rows: [$R]) { self.init($FROMROWS) }
    public init(diagonal d: SIMD$D<$T>) {
        self.init()
        for i in 0..<$D { self[i, i] = d[i] }
    }
    public init(_ x: $T) { self.init(diagonal: SIMD$D<$T>(repeating: x)) }
    public subscript(column: Int) -> $C {
        get {
            precondition(column >= 0 && column < $W, "Index out of range")
            return withUnsafeBytes(of: columns) { $0.bindMemory(to: $C.self)[column] }
        }
        set {
            precondition(column >= 0 && column < $W, "Index out of range")
            withUnsafeMutableBytes(of: &columns) { $0.bindMemory(to: $C.self)[column] = newValue }
        }
    }
    public subscript(column: Int, row: Int) -> $T {
        get { self[column][row] }
        set { self[column][row] = newValue }
    }
    public var transpose: $X { $X($TRANSPOSED) }
    public static func == (a: $M, b: $M) -> Bool { $SAME }
    public static func + (a: $M, b: $M) -> $M { $M($SUM) }
    public static func - (a: $M, b: $M) -> $M { $M($DIFFERENCE) }
    public static prefix func - (a: $M) -> $M { -1 * a }
    public static func * (s: $T, a: $M) -> $M { $M($SCALED) }
    public static func * (a: $M, s: $T) -> $M { s * a }
    public static func * (a: $M, v: $R) -> $C { $APPLIED }
    public static func * (v: $C, a: $M) -> $R { a.transpose * v }
    public static func += (a: inout $M, b: $M) { a = a + b }
    public static func -= (a: inout $M, b: $M) { a = a - b }
    public static func *= (a: inout $M, s: $T) { a = s * a }
}
public typealias $N$SIZE = $M
public typealias matrix_$N$SIZE = $M
public func transpose(_ a: $M) -> $X { a.transpose }
public func simd_transpose(_ a: $M) -> $X { a.transpose }
public func simd_mul(_ a: $M, _ v: $R) -> $C { a * v }
public func matrix_multiply(_ a: $M, _ v: $R) -> $C { a * v }
"""

SQUARE = """
extension $M {
    public static func *= (a: inout $M, b: $M) { a = a * b }
    /// Gauss and Jordan, with the largest pivot of each column; of a singular matrix no number is right.
    public var inverse: $M {
        var a = self, b = $M(1)
        for i in 0..<$W {
            let p = (i..<$W).max { Swift.abs(a[i, $0]) < Swift.abs(a[i, $1]) }!
            for c in 0..<$W {
                (a[c, i], a[c, p]) = (a[c, p], a[c, i])
                (b[c, i], b[c, p]) = (b[c, p], b[c, i])
            }
            let d = 1 / a[i, i]
            for c in 0..<$W {
                a[c, i] *= d
                b[c, i] *= d
            }
            for r in 0..<$W where r != i {
                let f = a[i, r]
                for c in 0..<$W {
                    a[c, r] -= f * a[c, i]
                    b[c, r] -= f * b[c, i]
                }
            }
        }
        return b
    }
    public var determinant: $T {
        var a = self, out: $T = 1
        for i in 0..<$W {
            let p = (i..<$W).max { Swift.abs(a[i, $0]) < Swift.abs(a[i, $1]) }!
            if a[i, p] == 0 { return 0 }
            if p != i { out = -out }
            for c in 0..<$W { (a[c, i], a[c, p]) = (a[c, p], a[c, i]) }
            out *= a[i, i]
            for r in 0..<$W where r > i {
                let f = a[i, r] / a[i, i]
                for c in 0..<$W { a[c, r] -= f * a[c, i] }
            }
        }
        return out
    }
}
public let matrix_identity_$N$SIZE = $M(1)
public func simd_mul(_ a: $M, _ b: $M) -> $M { a * b }
public func matrix_multiply(_ a: $M, _ b: $M) -> $M { a * b }
public func simd_inverse(_ a: $M) -> $M { a.inverse }
public func simd_determinant(_ a: $M) -> $T { a.determinant }
"""

QUATERNION = """
public struct $Q: Equatable, Sendable {
    public var vector: SIMD4<$T>
    public init() { vector = .zero }
    public init(vector: SIMD4<$T>) { self.vector = vector }
    public init(ix: $T, iy: $T, iz: $T, r: $T) { vector = SIMD4(ix, iy, iz, r) }
    public init(real: $T, imag: SIMD3<$T>) { vector = SIMD4(imag, real) }
    public init(angle: $T, axis: SIMD3<$T>) { self.init(real: cos(angle / 2), imag: sin(angle / 2) * axis) }
    /// The shortest rotation of one unit vector onto another.
    public init(from: SIMD3<$T>, to: SIMD3<$T>) {
        let half = from + to
        if simd_length_squared(half) > 1e-12 {
            let h = simd_normalize(half)
            self.init(real: simd_dot(from, h), imag: cross(from, h))
        } else {
            let other: SIMD3<$T> = Swift.abs(from.x) < 0.9 ? SIMD3(1, 0, 0) : SIMD3(0, 1, 0)
            self.init(real: 0, imag: simd_normalize(cross(from, other)))
        }
    }
    public init(_ m: simd_$N3x3) {
        let (a, b, c) = m.columns, trace = a.x + b.y + c.z
        if trace > 0 {
            let s = 2 * (trace + 1).squareRoot()
            self.init(real: s / 4, imag: SIMD3(b.z - c.y, c.x - a.z, a.y - b.x) / s)
        } else if a.x >= b.y && a.x >= c.z {
            let s = 2 * (1 + a.x - b.y - c.z).squareRoot()
            self.init(real: (b.z - c.y) / s, imag: SIMD3(s / 4, (b.x + a.y) / s, (c.x + a.z) / s))
        } else if b.y >= c.z {
            let s = 2 * (1 + b.y - a.x - c.z).squareRoot()
            self.init(real: (c.x - a.z) / s, imag: SIMD3((b.x + a.y) / s, s / 4, (c.y + b.z) / s))
        } else {
            let s = 2 * (1 + c.z - a.x - b.y).squareRoot()
            self.init(real: (a.y - b.x) / s, imag: SIMD3((c.x + a.z) / s, (c.y + b.z) / s, s / 4))
        }
    }
    public init(_ m: simd_$N4x4) {
        let c = m.columns
        self.init(simd_$N3x3(simd_make_$N3(c.0), simd_make_$N3(c.1), simd_make_$N3(c.2)))
    }
    public var real: $T {
        get { vector.w }
        set { vector.w = newValue }
    }
    public var imag: SIMD3<$T> {
        get { simd_make_$N3(vector) }
        set { vector = SIMD4(newValue, vector.w) }
    }
    public var length: $T { simd_length(vector) }
    public var normalized: $Q { $Q(vector: simd_normalize(vector)) }
    public var conjugate: $Q { $Q(real: real, imag: -imag) }
    public var inverse: $Q { $Q(vector: conjugate.vector / simd_dot(vector, vector)) }
    public var angle: $T { 2 * atan2(simd_length(imag), real) }
    public var axis: SIMD3<$T> { simd_normalize(imag) }
    /// The vector turned by the rotation.
    public func act(_ v: SIMD3<$T>) -> SIMD3<$T> {
        let t = 2 * cross(imag, v)
        return v + real * t + cross(imag, t)
    }
    public static func * (a: $Q, b: $Q) -> $Q {
        $Q(real: a.real * b.real - simd_dot(a.imag, b.imag), imag: a.real * b.imag + b.real * a.imag + cross(a.imag, b.imag))
    }
    public static func * (s: $T, a: $Q) -> $Q { $Q(vector: s * a.vector) }
    public static func + (a: $Q, b: $Q) -> $Q { $Q(vector: a.vector + b.vector) }
    public static func - (a: $Q, b: $Q) -> $Q { $Q(vector: a.vector - b.vector) }
    public static prefix func - (a: $Q) -> $Q { $Q(vector: -a.vector) }
    public static func *= (a: inout $Q, b: $Q) { a = a * b }
}
public func simd_normalize(_ q: $Q) -> $Q { q.normalized }
public func simd_inverse(_ q: $Q) -> $Q { q.inverse }
public func simd_conjugate(_ q: $Q) -> $Q { q.conjugate }
public func simd_mul(_ a: $Q, _ b: $Q) -> $Q { a * b }
public func simd_act(_ q: $Q, _ v: SIMD3<$T>) -> SIMD3<$T> { q.act(v) }
public func simd_dot(_ a: $Q, _ b: $Q) -> $T { simd_dot(a.vector, b.vector) }
/// Along the shorter great circle.
public func simd_slerp(_ a: $Q, _ b: $Q, _ t: $T) -> $Q {
    let c = simd_dot(a, b), near = c < 0 ? -b : b, d = Swift.min(Swift.abs(c), 1)
    if d > 0.9995 { return $Q(vector: a.vector + (near.vector - a.vector) * t).normalized }
    let angle = acos(d)
    return $Q(vector: (a.vector * sin((1 - t) * angle) + near.vector * sin(t * angle)) / sin(angle))
}
extension simd_$N3x3 {
    public init(_ q: $Q) { self.init(q.act(SIMD3(1, 0, 0)), q.act(SIMD3(0, 1, 0)), q.act(SIMD3(0, 0, 1))) }
}
extension simd_$N4x4 {
    public init(_ q: $Q) {
        let m = simd_$N3x3(q).columns
        self.init(SIMD4(m.0, 0), SIMD4(m.1, 0), SIMD4(m.2, 0), SIMD4(0, 0, 0, 1))
    }
}
"""


def fill(text, **words):
    """$NAME by its word, the longest names first; closures' $0 and $1 stay."""
    for name in sorted(words, key=len, reverse=True):
        text = text.replace("$" + name, str(words[name]))
    return text


def matrix(t, n, w, h):
    """Of w columns with h rows."""
    column, row = f"SIMD{h}<{t}>", f"SIMD{w}<{t}>"

    def each(text, count=w, between=", "):
        return between.join(text.replace("#", str(i)) for i in range(count))

    def turned(outer, inner, vector, item):
        return ", ".join(f"{vector}(" + ", ".join(item(o, i) for i in range(inner)) + ")" for o in range(outer))
    m = f"simd_{n}{w}x{h}"
    out = fill(MATRIX, M=m, X=f"simd_{n}{h}x{w}", N=n, SIZE=f"{w}x{h}", T=t, C=column, R=row, W=w, D=min(w, h),
               COLUMNS=each(column), ZEROS=each(f"{column}()"), ARGS=each(f"_ c#: {column}"), NAMED=each("c#"), LISTED=each("c[#]"),
               FROMROWS=turned(w, h, column, lambda o, i: f"rows[{i}][{o}]"),
               TRANSPOSED=turned(h, w, row, lambda o, i: f"columns.{i}[{o}]"),
               SAME=each("a.columns.# == b.columns.#", between=" && "), SUM=each("a.columns.# + b.columns.#"),
               DIFFERENCE=each("a.columns.# - b.columns.#"), SCALED=each("s * a.columns.#"),
               APPLIED=each("a.columns.# * v[#]", between=" + "))
    for k in SIZES:
        out += (f"public func * (a: {m}, b: simd_{n}{k}x{w}) -> simd_{n}{k}x{h} {{\n    simd_{n}{k}x{h}(" +
                each("a * b.columns.#", k) + ")\n}\n")
    return out + (fill(SQUARE, M=m, N=n, SIZE=f"{w}x{h}", T=t, W=w) if w == h else "")


def vectors(note):
    out = note + "@_exported import Foundation\n"
    for t, n in NAMES.items():
        out += "".join(f"public typealias simd_{n}{k} = SIMD{k}<{t}>\n" for k in (2, 3, 4, 8, 16))
        out += "".join(f"public typealias vector_{n}{k} = SIMD{k}<{t}>\n" for k in SIZES)
    for t in ("Float", "Double", "Int32", "UInt32"):
        out += "".join(f"public typealias {NAMES[t]}{k} = SIMD{k}<{t}>\n" for k in SIZES)
    for t in ("Float", "Double"):
        out += "".join(fill(OF_VECTORS, V=f"SIMD{k}<{t}>", T=t) for k in SIZES) + fill(OF_THREE, T=t, N=NAMES[t])
    return out


def matrices(note):
    out = note
    for t, n in (("Float", "float"), ("Double", "double")):
        out += "".join(matrix(t, n, w, h) for w in SIZES for h in SIZES)
        out += fill(QUATERNION, Q="simd_quatf" if t == "Float" else "simd_quatd", T=t, N=n)
    return out

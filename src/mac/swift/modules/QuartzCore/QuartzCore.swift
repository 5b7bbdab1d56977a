// SPDX-License-Identifier: Apache-2.0
// QuartzCore.swift: the clock; CAMetalLayer and CAMetalDrawable are the module Metal's here.
@_exported import Metal

public func CACurrentMediaTime() -> CFTimeInterval {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
}
public typealias CFTimeInterval = Double

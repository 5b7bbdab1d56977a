// SPDX-License-Identifier: Apache-2.0
import XCTest
@testable import Scaler

final class ScalerTests: XCTestCase {
    func testScales() throws { XCTAssertEqual(try Scaler().scale([1, 2, 3, 4, 5], by: 3), [3, 6, 9, 12, 15]) }
    // Metal's names without an import, which XCTest re-exports on a Mac.
    func testDevice() { XCTAssertFalse((MTLCreateSystemDefaultDevice()! as MTLDevice).name.isEmpty) }
    func testStandIn() { XCTAssertEqual(ModeKey.defaultValue, .once) }
}

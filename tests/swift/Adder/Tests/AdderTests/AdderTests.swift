// SPDX-License-Identifier: Apache-2.0
import XCTest
@testable import Adder

final class AdderTests: XCTestCase {
    func testAdds() throws { XCTAssertEqual(try Adder().add([1, 2, 3], [10, 20, 30]), [11, 22, 33]) }
    func testReusesDevice() throws { XCTAssertTrue(try Adder().device === Adder().device) }
}

# SPDX-License-Identifier: Apache-2.0
"""The Swift module has every member of the table, with Apple's names. usage: test_module.py BUILD-FOLDER"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "api/gen"))
import table  # noqa: E402
from swift.calls import Calls  # noqa: E402
from swift.kinds import Kinds  # noqa: E402
from swift.module import Module  # noqa: E402
from types_ import Types  # noqa: E402

# As Apple's documentation spells them.
NAMES = """
func makeBuffer(length: Int, options: MTLResourceOptions = []) -> (any MTLBuffer)?
func makeBuffer(bytes pointer: UnsafeRawPointer, length: Int, options: MTLResourceOptions = []) -> (any MTLBuffer)?
func makeLibrary(source: String, options: MTLCompileOptions?) throws -> any MTLLibrary
func makeLibrary(source: String, options: MTLCompileOptions?) async throws -> any MTLLibrary
func makeCommandQueue() -> (any MTLCommandQueue)?
func makeComputePipelineState(function computeFunction: any MTLFunction) throws -> any MTLComputePipelineState
func makeFunction(name functionName: String) -> (any MTLFunction)?
func dispatchThreads(_ threadsPerGrid: MTLSize, threadsPerThreadgroup: MTLSize)
func dispatchThreads(threadsPerGrid: MTLSize, threadsPerThreadgroup: MTLSize)
func setBuffers(_ buffers: [(any MTLBuffer)?], offsets: [Int], range: Range<Int>)
func useResources(_ resources: [any MTLResource], usage: MTLResourceUsage)
func copy(from sourceBuffer: any MTLBuffer, sourceOffset: Int, to destinationBuffer: any MTLBuffer, destinationOffset: Int, size: Int)
func copy(sourceTexture: any MTLTexture, destinationTexture: any MTLTexture)
func setStencilReferenceValues(front frontReferenceValue: UInt32, back backReferenceValue: UInt32)
func setFrontFacing(_ frontFacingWinding: MTLWinding)
func reset(_ range: Range<Int>)
func build(accelerationStructure: any MTLAccelerationStructure, descriptor: MTLAccelerationStructureDescriptor, \
scratchBuffer: any MTLBuffer, scratchBufferOffset: Int)
func commit(_ commandBuffers: [any MTL4CommandBuffer])
func wait(untilSignaledValue value: UInt64, timeoutMS milliseconds: UInt64) -> Bool
var isHeadless: Bool
var gpuAddress: 
var parent: (any MTLTexture)?
case rgba8Unorm_srgb = 71
case astc_4x4_hdr = 222
case version3_0 = 196608
case typeCube = 5
case tierNone = 0
static let storageModePrivate: MTLResourceOptions = MTLResourceOptions(rawValue: 32)
static var compileFailure: Code { .compileFailure }
convenience init(sampleCount: MTLSize)
""".strip().split("\n")


def expect(what, condition):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def members(api):
    """How many the table has that programs see."""
    n = 0
    for c in api.order:
        above = {p.name for a in api.chain(c)[1:] for p in a.properties} if c.kind == "class" else ()
        n += sum(not p.hidden and p.name not in above for p in c.properties) + 2 * (c.kind == "array")
        n += sum(not (m.static and c.kind == "protocol") for m in c.methods)
    return n


def main():
    build = pathlib.Path(sys.argv[1])
    api = table.read(ROOT / "api")
    types = Types(api)
    kinds = Kinds(api, types)
    overlay = "".join(p.read_text() for p in sorted((ROOT / "src/mac/swift/modules/Metal").glob("*.swift")))
    by_hand = set(re.findall(r"// by hand: (.+)", overlay))
    module = Module(api, types, kinds, Calls(api, types, kinds), by_hand)
    files = module.files()
    expect(f"{members(api)} members, {module.written} written", module.written == members(api))
    text = "".join(files.values())
    for name in NAMES:
        expect(f"the module has: {name}", f"public {name}" in text or f"    {name}\n" in text or name in text)
    for path in ("Metal/API.swift", "Metal/Types.swift"):
        there = (build / "share/ingot/swift/modules" / path).read_text()
        expect(f"{path} is what the table says", there == files[path.split("/")[1]])
    signatures = re.findall(r"^(?:extension|open class) (\w+)|^    (?:@\w+ )*public (?:class )?(?:func|convenience init)[^{]*", text, re.M)
    expect("the module is not empty", len(signatures) > 900)
    row = "MTLDevice currentAllocatedSize"
    try:
        Module(api, types, kinds, Calls(api, types, kinds), by_hand | {"MTLDevice noSuchThing"}).files()
        expect("a row by hand that the table has not is refused", False)
    except SystemExit as said:
        expect(f"it says which: {said}", "noSuchThing" in str(said) and row not in str(said))
    exported = subprocess.run(["nm", "-D", "--defined-only", str(build / "lib/mac/libIngotFace.so")], check=True, capture_output=True,
                              text=True).stdout
    strange = [line.split()[-1] for line in exported.splitlines() if not line.split()[-1].startswith("ingot_")]
    expect(f"nothing but the border is seen outside: {strange[:5]}", not strange)
    print(f"{module.written} members, {len(by_hand)} of them by hand")


if __name__ == "__main__":
    main()

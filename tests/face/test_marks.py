# SPDX-License-Identifier: Apache-2.0
"""Names in Swift and first versions of macOS, as the table of the API (api/*.api) has them.

    python3 tests/face/test_marks.py

A name has a label for every argument but the error, and no mark says what the rule gives. Some of each are compared with
Apple's documentation.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "api/gen"))
sys.dont_write_bytecode = True
import names  # noqa: E402
import table  # noqa: E402

SWIFT = {
    "MTLDevice newBufferWithLength:options:": "makeBuffer(length:options:)",
    "MTLDevice newLibraryWithSource:options:error:": "makeLibrary(source:options:)",
    "MTLCommandQueue commandBuffer": "makeCommandBuffer()",
    "MTLCommandBuffer renderCommandEncoderWithDescriptor:": "makeRenderCommandEncoder(descriptor:)",
    "MTLCommandBuffer presentDrawable:": "present(_:)",
    "MTLComputeCommandEncoder setBuffer:offset:atIndex:": "setBuffer(_:offset:index:)",
    "MTLBlitCommandEncoder copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:":
        "copy(from:sourceOffset:to:destinationOffset:size:)",
    "MTL4ComputeCommandEncoder copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:":
        "copy(sourceBuffer:sourceOffset:destinationBuffer:destinationOffset:size:)",
    "MTLRenderCommandEncoder drawPrimitives:vertexStart:vertexCount:": "drawPrimitives(type:vertexStart:vertexCount:)",
    "MTL4RenderCommandEncoder drawPrimitives:vertexStart:vertexCount:": "drawPrimitives(primitiveType:vertexStart:vertexCount:)",
    "MTLCaptureManager sharedCaptureManager": "shared()",
}
SINCE = {
    "MTLDevice newBufferWithLength:options:": "macos10.11", "MTLHeap newBufferWithLength:options:": "macos10.13",
    "MTLBuffer gpuAddress": "macos13.0", "MTLDevice newBufferWithLength:options:placementSparsePageSize:": "macos26.0",
    "MTL4ComputeCommandEncoder setArgumentTable:": "macos26.0", "MTLLogLevelDebug": "macos15.0",
    "MTLPixelFormatASTC_5x5_LDR": "macos11.0",
}


def main():
    api, swift, since, wrong = table.read(ROOT / "api"), {}, {}, []
    for cls in api.order:
        for method, prop in api.messages(cls):
            key = f"{cls.name} {method.selector}"
            since[key] = api.since(method, cls)
            if prop:
                continue
            rule = names.swift(cls.name, method)
            swift[key] = method.swift or rule
            wants = len(method.params) - method.selector.endswith("rror:")
            if method.swift != "-" and swift[key].count(":") != wants:
                wrong.append(f"{key}: {swift[key]} has not {wants} labels")
            if method.swift == rule:
                wrong.append(f"{key}: the mark says what the rule gives")
    for enum in api.enums.values():
        since |= {item.name: api.since(item, enum) for item in enum.items}
    wrong += [f"{key}: {value}" for key, value in since.items() if not re.fullmatch(r"macos\d+\.\d+(\.\d+)?", value)]
    for known, ours in ((SWIFT, swift), (SINCE, since)):
        wrong += [f"{key}: {ours.get(key)}, Apple's {value}" for key, value in known.items() if ours.get(key) != value]
    print("\n".join(wrong + [f"{len(swift)} names, {len(since)} versions, {len(wrong)} wrong"]))
    return 1 if wrong or len(swift) < 700 else 0


if __name__ == "__main__":
    sys.exit(main())

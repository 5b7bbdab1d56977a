# SPDX-License-Identifier: Apache-2.0
"""Type encodings of Metal's methods are those that the compiler gives them.

    python3 tests/face/test_encodings.py INGOT-TOOL OUT-FOLDER

The program that is made here declares for every protocol and class of the table (api/*.api) a class of its own with the
same methods, which the compiler encodes, and compares them with those of the class in libMetal. objc2 (Rust) checks
the same at run time. Structs without a tag, arrays of objects and BOOL are also compared with what a Mac has.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "api/gen"))
sys.dont_write_bytecode = True
import table  # noqa: E402

HEAD = """#import <Metal/Metal.h>
#import <QuartzCore/CAMetalLayer.h>
#import <objc/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#pragma clang diagnostic ignored "-Weverything"
"""
MAIN = """
static int n, wrong;
static void compare(Class mine, Class theirs) {
    unsigned count;
    Method *list = class_copyMethodList(mine, &count);
    for (unsigned i = 0; i < count; i++) {
        Method found = theirs ? class_getInstanceMethod(theirs, method_getName(list[i])) : NULL;
        if (!found) continue; // of a protocol whose subclasses have it
        n++;
        if (!strcmp(method_getTypeEncoding(list[i]), method_getTypeEncoding(found))) continue;
        wrong++;
        printf("%s %s: %s here, %s by the compiler\\n", class_getName(theirs), sel_getName(method_getName(found)),
               method_getTypeEncoding(found), method_getTypeEncoding(list[i]));
    }
    free(list);
}
static void is(const char *cls, const char *selector, const char *expected) {
    const char *got = method_getTypeEncoding(class_getInstanceMethod(objc_getClass(cls), sel_registerName(selector)));
    if (strcmp(got, expected)) wrong++, printf("%s %s: %s, a Mac has %s\\n", cls, selector, got, expected);
}
int main(void) {
"""
# From a Mac's headers: MTLSize has no tag, NSUInteger is Q, BOOL c on x86-64 and B on ARM.
FACTS = """#ifdef __x86_64__
#define B "c"
#else
#define B "B"
#endif
    is("_MTLDevice", "maxThreadsPerThreadgroup", "{?=QQQ}16@0:8");
    is("_MTLDevice", "heapTextureSizeAndAlignWithDescriptor:", "{?=QQ}24@0:8@16");
    is("_MTLComputeCommandEncoder", "dispatchThreads:threadsPerThreadgroup:", "v64@0:8{?=QQQ}16{?=QQQ}40");
    is("_MTLComputeCommandEncoder", "setBuffers:offsets:withRange:", "v48@0:8r^@16r^Q24{_NSRange=QQ}32");
    is("_MTLBuffer", "gpuAddress", "Q16@0:8");
    is("_MTLTexture", "gpuResourceID", "{MTLResourceID=Q}16@0:8");
    is("MTLSamplerDescriptor", "setSupportArgumentBuffers:", "v20@0:8" B "16");
"""


def probe(api, cls):
    """A class with the methods of the row, and the name of libMetal's."""
    rows = []
    owner = {m.selector for m, _ in api.messages(api.classes[cls.on])} if cls.on and cls.on != cls.name else set()
    for m, _ in api.messages(cls):
        if m.static or m.selector in owner:  # MTLArgument and MTLBinding are one class: the latter's are its methods
            continue
        keys = m.selector.split(":")
        text = " ".join(f"{k}:({t.replace('null_resettable ', 'nullable ')}){n}" for k, (t, n) in zip(keys, m.params)) or m.selector
        rows.append(f"- ({m.result.replace('null_resettable ', '')}){text} {{ __builtin_trap(); }}\n")
    name = f"Probe_{cls.name}"
    theirs = cls.on or cls.name
    theirs = "_" + theirs if api.classes[theirs].kind == "protocol" else theirs
    return (f"@interface {name} : NSObject\n@end\n@implementation {name}\n{''.join(rows)}@end\n",
            f"    compare(objc_getClass(\"{name}\"), objc_getClass(\"{theirs}\"));\n")


def main():
    tool, out = sys.argv[1], pathlib.Path(sys.argv[2])
    api = table.read(ROOT / "api")
    probes = [probe(api, cls) for cls in api.order if cls.kind != "array" and not (cls.on and cls.on not in api.classes)]
    source, program = out / "encodings.m", out / "encodings"
    source.write_text(HEAD + "".join(p for p, _ in probes) + MAIN + "".join(c for _, c in probes) + FACTS
                      + '    printf("%d methods, %d things wrong\\n", n, wrong);\n    return wrong || n < 1500;\n}\n')
    subprocess.run([tool, "cc", "-w", str(source), "-o", str(program), "-framework", "Metal", "-framework", "QuartzCore",
                    "-framework", "Foundation"], check=True)
    return subprocess.run([str(program)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

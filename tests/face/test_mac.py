#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ingot mac`: what a program that calls macOS by name finds. usage: test_mac.py INGOT

Run without INGOT it is that program: it is started under `ingot mac` by itself."""
import ctypes
import ctypes.util
import os
import platform
import struct
import subprocess
import sys

FRAMEWORKS = "/System/Library/Frameworks/"
NAMES = {"/usr/lib/libobjc.A.dylib": "objc_msgSend", "/usr/lib/libobjc.dylib": "sel_registerName", "libobjc.dylib": "objc_getClass",
         "/usr/lib/libSystem.dylib": "dispatch_data_create", "/usr/lib/libSystem.B.dylib": "sysctlbyname",
         FRAMEWORKS + "Metal.framework/Metal": "MTLCreateSystemDefaultDevice",
         FRAMEWORKS + "Metal.framework/Versions/A/Metal": "MTLCopyAllDevices",
         FRAMEWORKS + "Foundation.framework/Foundation": "NSLog",
         FRAMEWORKS + "CoreFoundation.framework/CoreFoundation": "CFRelease",
         FRAMEWORKS + "CoreGraphics.framework/CoreGraphics": "kCGColorSpaceSRGB",
         FRAMEWORKS + "QuartzCore.framework/QuartzCore": "MTLCreateSystemDefaultDevice",
         "/System/Library/PrivateFrameworks/MTLCompiler.framework/MTLCompiler": "MTLCodeGenServiceBuildRequest"}
SOURCE = b"kernel void seven(device int *x [[buffer(0)]]) { x[0] = 7; }"


def service(request, kind=13):
    """A request to the compiler service: error number, reply, message. The block has nothing but `invoke`."""
    lib = ctypes.CDLL("/System/Library/PrivateFrameworks/MTLCompiler.framework/MTLCompiler")
    lib.MTLCodeGenServiceCreate.restype = ctypes.c_void_p
    made = ctypes.c_void_p(lib.MTLCodeGenServiceCreate(b"test"))
    answers = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
    def invoke(block, error, data, n, message):
        answers.append((error, ctypes.string_at(data, n) if data else b"", message))
    lib.MTLCodeGenServiceBuildRequest(made, None, kind, request, ctypes.c_size_t(len(request)), ctypes.byref(invoke, -0x10))
    lib.MTLCodeGenServiceDestroy(made)
    assert len(answers) == 1
    return answers[0]


def ask(source, options=b"-fno-fast-math -std=metal3.1 --driver-mode=metal -x metal -fmodules-cache-path=\"/a b\""):
    source, options = source + b"\0", options + b"\0"
    return service(struct.pack("<QQ", len(source), len(options)) + source + options)


def check_service():
    error, reply, message = ask(SOURCE)
    assert error == 0, message
    header, warnings = struct.unpack("<LL", reply[8:16])
    library = reply[header + warnings:]
    assert library[:4] == b"MTLB" and library[-4:] == b"ENDT"
    error, _, message = ask(b"kernel void f() { oops }")
    assert error and b"oops" in message
    error, _, message = ask(SOURCE, b"--nonsense")
    assert error and b"--nonsense" in message
    assert service(b"short")[0] and service(struct.pack("<QQ", 1 << 60, 1 << 60))[0] and service(bytes(16), kind=99)[0]
    return library


def opens(library):
    """Whether newLibraryWithData: takes it and has the kernel."""
    metal = ctypes.CDLL(FRAMEWORKS + "Metal.framework/Metal")
    objc = ctypes.CDLL(ctypes.util.find_library("objc"))
    system = ctypes.CDLL("/usr/lib/libSystem.dylib")
    pointer = ctypes.c_void_p
    for f in (metal.MTLCreateSystemDefaultDevice, objc.sel_registerName, system.dispatch_data_create):
        f.restype = pointer

    def send(receiver, selector, *args, result=pointer):
        call = ctypes.CFUNCTYPE(result, pointer, pointer, *[pointer] * len(args))(("objc_msgSend", objc))
        return call(receiver, objc.sel_registerName(selector.encode()), *args)
    error = pointer()
    data = system.dispatch_data_create(library, ctypes.c_size_t(len(library)), None, None)
    made = send(metal.MTLCreateSystemDefaultDevice(), "newLibraryWithData:error:", data, ctypes.addressof(error))
    if not made:
        return ""
    return send(send(send(made, "functionNames"), "firstObject"), "UTF8String", result=ctypes.c_char_p).decode()


def inside():
    for path, symbol in NAMES.items():
        assert hasattr(ctypes.CDLL(path), symbol), f"{path} has no {symbol}"
    for name in ("objc", "Metal", "Foundation", "System"):
        found = ctypes.util.find_library(name)
        assert found and ctypes.CDLL(found), f"find_library({name!r})"
    assert hasattr(ctypes.CDLL(ctypes.util.find_library("objc")), "objc_msgSend")
    assert hasattr(ctypes.CDLL("libm.so.6"), "cos")  # the system's own as ever
    try:
        ctypes.CDLL("/usr/lib/libnowhere.dylib")
        assert False, "a library that is not there was opened"
    except OSError:
        pass
    assert platform.mac_ver()[0] == "26.0" and platform.system() == "Linux"
    assert os.path.exists("/System/Library/CoreServices/SystemVersion.plist")
    assert not os.path.exists("/System/Library/CoreServices/Other.plist")
    system, size = ctypes.CDLL("/usr/lib/libSystem.dylib"), ctypes.c_size_t(8)
    memory = ctypes.c_uint64()
    assert system.sysctlbyname(b"hw.memsize", ctypes.byref(memory), ctypes.byref(size), None, 0) == 0 and memory.value > 1 << 28
    assert system.sysctlbyname(b"hw.nothing", ctypes.byref(memory), ctypes.byref(size), None, 0) == -1
    for command, answer in (("sw_vers -productVersion", "26.0"), ("sysctl -n hw.memsize", str(memory.value)),
                            ("xcrun --show-sdk-version", "26.0")):
        assert subprocess.run(command, shell=True, capture_output=True, text=True).stdout.strip() == answer, command
    library = check_service()
    assert opens(library) == "seven"
    # The caller keeps libraries on disk: one of another compiler is made again from the source in it.
    at = library.index(b"INGOTLIB")
    other = bytearray(library)
    other[at + 8] ^= 0xff
    assert opens(bytes(other)) == "seven"
    assert opens(library[:-8]) == "" and opens(b"MTLB" + bytes(200)) == ""
    # What is started inherits it, an executable that is not there is said.
    code = "import platform; print(platform.mac_ver()[0])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "26.0\n"
    print("fine")


if len(sys.argv) == 1:
    inside()
else:
    r = subprocess.run([sys.argv[1], "mac", sys.executable, __file__], capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout == "fine\n", r.stdout + r.stderr
    r = subprocess.run([sys.argv[1], "mac", "no-such-program"], capture_output=True, text=True)
    assert r.returncode == 1 and "no-such-program" in r.stderr
    assert subprocess.run([sys.argv[1], "mac"], capture_output=True).returncode == 2
    assert "PROGRAM" in subprocess.run([sys.argv[1], "mac", "--help"], capture_output=True, text=True).stdout

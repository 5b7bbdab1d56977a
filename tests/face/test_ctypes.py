#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Metal from Python through objc_msgSend alone, as programs with no Objective-C compiler call it.

usage: test_ctypes.py LIBRARY-FOLDER
"""
import ctypes
import sys

folder = sys.argv[1]
objc = ctypes.CDLL(f"{folder}/libobjc.so", mode=ctypes.RTLD_GLOBAL)
metal = ctypes.CDLL(f"{folder}/libMetal.so", mode=ctypes.RTLD_GLOBAL)
objc.objc_getClass.restype = objc.sel_registerName.restype = ctypes.c_void_p
objc.objc_getClass.argtypes = objc.sel_registerName.argtypes = [ctypes.c_char_p]
objc.objc_autoreleasePoolPush.restype = ctypes.c_void_p
objc.objc_autoreleasePoolPop.argtypes = [ctypes.c_void_p]
metal.MTLCreateSystemDefaultDevice.restype = ctypes.c_void_p


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_ulong), ("height", ctypes.c_ulong), ("depth", ctypes.c_ulong)]


def send(receiver, selector, *args, types=(), result=ctypes.c_void_p):
    """A message: the function of its shape, made anew for each."""
    call = ctypes.CFUNCTYPE(result, ctypes.c_void_p, ctypes.c_void_p, *types)(("objc_msgSend", objc))
    return call(receiver, objc.sel_registerName(selector.encode()), *args)


def string(text):
    return send(objc.objc_getClass(b"NSString"), "stringWithUTF8String:", text.encode(), types=[ctypes.c_char_p])


def utf8(object_):
    return send(object_, "UTF8String", result=ctypes.c_char_p).decode()


def main():
    pool = objc.objc_autoreleasePoolPush()
    pointer, number = ctypes.c_void_p, ctypes.c_ulong
    device = metal.MTLCreateSystemDefaultDevice()
    assert utf8(send(device, "name"))
    error = pointer(1)  # garbage: the method stores nil
    source = "#include <metal_stdlib>\n" \
        "kernel void square(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) { data[i] *= data[i]; }"
    library = send(device, "newLibraryWithSource:options:error:", string(source), None, ctypes.byref(error),
                   types=[pointer, pointer, pointer])
    assert library and not error.value
    assert not send(device, "newLibraryWithSource:options:error:", string("kernel void"), None, ctypes.byref(error),
                    types=[pointer, pointer, pointer])
    assert "error" in utf8(send(error.value, "localizedDescription"))
    function = send(library, "newFunctionWithName:", string("square"), types=[pointer])
    state = send(device, "newComputePipelineStateWithFunction:error:", function, ctypes.byref(error), types=[pointer, pointer])
    data = send(device, "newBufferWithLength:options:", 32, 0, types=[number, number])
    contents = (ctypes.c_float * 8).from_address(send(data, "contents"))
    contents[:] = range(8)
    queue = send(device, "newCommandQueue")
    commands = send(queue, "commandBuffer")
    encoder = send(commands, "computeCommandEncoder")
    send(encoder, "setComputePipelineState:", state, types=[pointer], result=None)
    send(encoder, "setBuffer:offset:atIndex:", data, 0, 0, types=[pointer, number, number], result=None)
    send(encoder, "dispatchThreads:threadsPerThreadgroup:", Size(8, 1, 1), Size(8, 1, 1), types=[Size, Size], result=None)
    send(encoder, "endEncoding", result=None)
    send(commands, "commit", result=None)
    send(commands, "waitUntilCompleted", result=None)
    assert send(commands, "status", result=number) == 4
    assert not send(commands, "error")
    assert list(contents) == [i * i for i in range(8)], list(contents)
    # A BOOL is read as an int here: the whole register must be 0 or 1.
    assert send(device, "hasUnifiedMemory", result=ctypes.c_int) == 1
    assert send(device, "supportsFamily:", 12345, types=[number], result=ctypes.c_int) == 0
    for owned in (data, queue, state, function, library, device):
        send(owned, "release", result=None)
    objc.objc_autoreleasePoolPop(pool)


main()

# SPDX-License-Identifier: Apache-2.0
"""The package: version, submodules, identity, keywords, names that programs import."""

import importlib
import importlib.resources
import pathlib
import sys

import pytest

import pymetal as pm
from helpers import SHARED, python

SUBMODULES = {
    "enums": ["StorageMode", "PixelFormat", "ResourceStorageModeShared", "ColorWriteMaskAll"],
    "types": ["Origin", "Size", "Range", "ClearColor"],
    "compute": ["ComputePipelineState", "ComputeCommandEncoder"],
    "graphics": ["Texture", "TextureDescriptor", "SamplerState", "RenderPipelineState",
                 "RenderPassDescriptor", "RenderCommandEncoder", "DepthStencilState",
                 "VertexDescriptor", "MetalLayer", "MetalDrawable"],
    "advanced": ["BlitCommandEncoder", "Heap", "Fence", "Event", "SharedEvent", "ArgumentEncoder",
                 "IndirectCommandBuffer", "BinaryArchive", "CaptureScope", "CaptureManager",
                 "shared_capture_manager"],
    "metal4": ["MTL4CommandQueue", "MTL4CommandAllocator", "MTL4CommandBuffer", "MTL4ArgumentTable",
               "MTL4ComputeCommandEncoder", "MTL4RenderCommandEncoder", "MTL4Compiler",
               "MTL4MachineLearningCommandEncoder", "Tensor", "TensorDescriptor"],
    "shader": ["ShaderPreprocessor", "ShaderTemplate", "create_compute_kernel"],
    "exceptions": ["MetalError", "CompileError", "PipelineError", "ResourceError",
                   "ValidationError"],
}


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodule(name):
    module = importlib.import_module(f"pymetal.{name}")
    assert getattr(pm, name) is module and name in pm.__all__ and module.__doc__
    assert set(SUBMODULES[name]) <= set(module.__all__)
    for member in module.__all__:
        assert getattr(module, member) is not None, member
        if name != "shader":
            assert getattr(pm, member) is getattr(module, member)


def test_every_name_has_a_place():
    """Whatever the package exports stands in one of the submodules, or is of the core."""
    core = {"create_system_default_device", "create_isolated_device", "create_device_named",
            "copy_all_devices", "Device", "CommandQueue", "CommandBuffer", "Buffer", "BufferView", "Library", "Function"}
    placed = set().union(*(importlib.import_module(f"pymetal.{name}").__all__
                           for name in SUBMODULES))
    assert set(pm.__all__) - placed - set(SUBMODULES) == core


def test_version_and_star():
    project = pathlib.Path(__file__).parents[2] / "CMakeLists.txt"  # the one place that says it
    assert f"project(ingot VERSION {pm.__version__} " in project.read_text() and pm.__doc__
    assert importlib.import_module("ingot").__version__ == pm.__version__
    names = {}
    exec("from pymetal import *", names)
    assert "Device" in names and "Triangle" not in names
    assert all(hasattr(pm, name) for name in pm.__all__)


def test_whole_names():
    assert pm.MTLTensor is pm.Tensor and pm.MTLDevice is pm.Device
    assert pm.MTLPixelFormat is pm.PixelFormat and pm.MTLStageDispatch == pm.StageDispatch
    for name in ("MTLNothing", "MTL", "MTL_pymetal", "MTLcreate_system_default_device", "nothing"):
        with pytest.raises(AttributeError, match=name):
            getattr(pm, name)


def test_typed():
    folder = importlib.resources.files("pymetal")
    assert folder.joinpath("py.typed").is_file() and folder.joinpath("__init__.pyi").is_file()


class TestIdentity:
    def test_the_same_object(self, device):
        queue = device.new_command_queue()
        assert queue.device is device
        commands = queue.command_buffer()
        assert commands.command_queue is queue and commands.device is device
        assert device.new_event().device is device

    def test_equality_and_hash(self, device):
        a, b = device.new_buffer(4, SHARED), device.new_buffer(4, SHARED)
        assert a == a and a != b and len({a, b, a}) == 2

    def test_new_objects_are_new(self, device):
        buffers = [device.new_buffer(4, SHARED) for _ in range(100)]
        assert len({id(buffer) for buffer in buffers}) == 100
        assert len({buffer.gpu_address for buffer in buffers}) == 100

    def test_attributes_cannot_be_invented(self, device):
        with pytest.raises(AttributeError):
            device.new_buffer(4, SHARED).colour = 1
        with pytest.raises((AttributeError, TypeError)):
            pm.Buffer.length = 3

    def test_repr(self, device):
        buffer = device.new_buffer(4, SHARED)
        buffer.label = "weights"
        assert "Buffer" in repr(buffer)


def test_import_without_numpy():
    """Without NumPy contents() is a memoryview."""
    assert python("""
        import sys
        sys.modules["numpy"] = None
        import pymetal as pm
        device = pm.create_system_default_device()
        buffer = device.new_buffer(16, 0)
        memoryview(buffer)[:4] = b"abcd"
        print(bytes(buffer)[:4].decode())
        print(type(buffer.contents()).__name__)
        """) == "abcd\nmemoryview"


# One program for the interfaces of 3.11, 3.12 and 3.13.
INTERPRETERS = '''
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def run(isolated, program):
    if sys.version_info >= (3, 13):
        one = interpreters.create("isolated" if isolated else "legacy")
    elif sys.version_info >= (3, 12):
        one = interpreters.create(isolated=isolated)
    else:
        one = interpreters.create()
    try:
        failure = interpreters.run_string(one, program)
    except Exception as error:
        failure = error
    interpreters.destroy(one)
    return failure

import pymetal as pm
device = pm.create_system_default_device()
WORK = """
import pymetal as pm
device = pm.create_system_default_device()
buffer = device.new_buffer(16, 0)
memoryview(buffer)[0] = 7
commands = device.new_command_queue().command_buffer()
commands.commit()
commands.wait_until_completed()
assert bytes(buffer)[0] == 7
"""
'''


def test_sub_interpreter():
    """An interpreter that shares the GIL has a module of its own."""
    assert python(INTERPRETERS + """
for _ in range(3):
    print(run(False, WORK))
print(device.new_buffer(4, 0).device is device)
""") == "None\nNone\nNone\nTrue"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the GIL is one for all before 3.12")
def test_isolated_interpreter():
    """One with a GIL of its own is told that it cannot have the module: handlers need the other."""
    assert "subinterpreters" in python(INTERPRETERS + "print(run(True, WORK))")


def test_exit_with_everything_alive():
    """Objects, encoders and work in flight when the interpreter ends."""
    done = python("""
        import pymetal as pm
        device = pm.create_system_default_device()
        queue = device.new_command_queue()
        keep = [device.new_buffer(1 << 16, 0) for _ in range(100)]
        commands = [queue.command_buffer() for _ in range(10)]
        for one in commands[:5]:
            one.add_completed_handler(lambda buffer: None)
            one.commit()
        encoder = commands[9].compute_command_encoder()
        """, check=False)
    assert done.returncode == 0 and done.stderr == ""

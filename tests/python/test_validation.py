# SPDX-License-Identifier: Apache-2.0
"""Exceptions and their texts; wrong types everywhere; nothing crashes the interpreter."""

import enum
import os

import pytest

import pymetal as pm
from helpers import ADD_ONE, SHARED, pipeline, python

CLASSES = sorted(name for name, value in vars(pm).items()
                 if isinstance(value, type) and not issubclass(value, (enum.Enum, Exception)))
VALUES = {"Origin", "Size", "Range", "ClearColor"}
# Descriptors that PyMetal does not have may be made by calling their class.
OURS = {"AccelerationStructureDescriptor", "AccelerationStructureGeometryDescriptor",
        "CaptureDescriptor", "CommandQueueDescriptor", "CompileOptions",
        "ComputePipelineDescriptor", "FunctionConstantValues", "MotionKeyframeData",
        "SharedEventListener", "TensorDescriptor"}


class TestExceptions:
    def test_tree(self):
        assert pm.MetalError.__bases__ == (RuntimeError,)
        for name in ("CompileError", "PipelineError", "ResourceError", "ValidationError"):
            kind = getattr(pm, name)
            assert kind.__bases__ == (pm.MetalError,) and kind is getattr(pm.exceptions, name)
            assert kind.__module__ == "pymetal.exceptions" and kind.__doc__
            with pytest.raises(pm.MetalError, match="text"):
                raise kind("text")


class TestIndices:
    @pytest.mark.parametrize("index", [32, 100, 2**32 - 1])
    def test_buffer(self, device, encoder, index):
        with pytest.raises(pm.ValidationError) as caught:
            encoder.set_buffer(device.new_buffer(4, SHARED), 0, index)
        assert str(caught.value) == (
            f"ComputeCommandEncoder.set_buffer: buffer index {index} exceeds maximum (31)")

    def test_bytes(self, encoder):
        with pytest.raises(pm.ValidationError, match=r"^ComputeCommandEncoder.set_bytes: "
                           r"buffer index 32 exceeds maximum \(31\)$"):
            encoder.set_bytes(b"1234", 32)

    def test_texture(self, device, encoder):
        texture = device.new_texture(
            pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.RGBA8Unorm, 1, 1, False))
        encoder.set_texture(texture, 31)
        with pytest.raises(pm.ValidationError, match=r"^ComputeCommandEncoder.set_texture: "
                           r"texture index 32 exceeds maximum \(31\)$"):
            encoder.set_texture(texture, 32)

    def test_sampler(self, device, encoder):
        sampler = device.new_sampler_state(pm.SamplerDescriptor.sampler_descriptor())
        encoder.set_sampler_state(sampler, 15)
        encoder.set_sampler_state(sampler, 16)
        with pytest.raises(pm.ValidationError, match=r"^ComputeCommandEncoder.set_sampler_state: "
                           r"sampler index 17 exceeds maximum \(16\)$"):
            encoder.set_sampler_state(sampler, 17)

    def test_the_last_ones(self, device, encoder):
        encoder.set_buffer(device.new_buffer(4, SHARED), 0, 30)
        encoder.set_buffer(device.new_buffer(4, SHARED), 0, 31)

    @pytest.mark.parametrize("index", [-1, 2**32, 1.0, None, "0"])
    def test_no_index(self, device, encoder, index):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            encoder.set_buffer(device.new_buffer(4, SHARED), 0, index)

    def test_render(self, device, commands):
        descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
        descriptor.color_attachment(0).texture = device.new_texture(
            pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.RGBA8Unorm, 4, 4, False))
        encoder = commands.render_command_encoder(descriptor)
        buffer = device.new_buffer(4, SHARED)
        for name, argument, what, limit in (
                ("set_vertex_buffer", (buffer, 0), "buffer", 31),
                ("set_fragment_buffer", (buffer, 0), "buffer", 31),
                ("set_vertex_texture", (descriptor.color_attachment(0).texture,), "texture", 31),
                ("set_fragment_texture", (descriptor.color_attachment(0).texture,), "texture", 31),
                ("set_vertex_sampler_state", (device.new_sampler_state(
                    pm.SamplerDescriptor.sampler_descriptor()),), "sampler", 16)):
            with pytest.raises(pm.ValidationError) as caught:
                getattr(encoder, name)(*argument, limit + 1)
            assert str(caught.value) == (f"RenderCommandEncoder.{name}: {what} index {limit + 1} "
                                         f"exceeds maximum ({limit})")
        encoder.end_encoding()


class TestTextures:
    @pytest.mark.parametrize("size", [(0, 4), (4, 0), (0, 0)])
    def test_no_texels(self, device, size):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.R8Unorm, *size, False)
        with pytest.raises(pm.ValidationError, match=f"2D of {size[0]} x {size[1]} x 1"):
            device.new_texture(descriptor)


class TestDispatch:
    @pytest.mark.parametrize("position", range(6))
    @pytest.mark.parametrize("method", ["dispatch_threads", "dispatch_threadgroups"])
    def test_zero(self, device, encoder, method, position):
        encoder.set_compute_pipeline_state(pipeline(device, ADD_ONE, "add_one"))
        sizes = [1] * 6
        sizes[position] = 0
        with pytest.raises(pm.ValidationError, match="must be greater than 0") as caught:
            getattr(encoder, method)(*sizes)
        text = str(caught.value).lower()
        if position >= 3:
            assert "threads" in text and "threadgroup" in text
        else:
            assert "grid" in text and (method == "dispatch_threadgroups" or "thread grid" in text)

    @pytest.mark.parametrize("bad", [-1, 1.0, None, "1", 2**70])
    def test_types(self, encoder, bad):
        for method in (encoder.dispatch_threads, encoder.dispatch_threadgroups):
            with pytest.raises(TypeError, match="incompatible function arguments"):
                method(bad, 1, 1, 1, 1, 1)
            with pytest.raises(TypeError, match="incompatible function arguments"):
                method(1, 1, 1, 1, 1)

    def test_too_many_threads(self, device, queue):
        """Metal leaves it to validation; here it is an exception, or an error of the commands."""
        state = pipeline(device, ADD_ONE, "add_one")
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        encoder.set_buffer(device.new_buffer(4, SHARED), 0, 0)
        try:
            encoder.dispatch_threadgroups(1, 1, 1, 1 << 20, 1 << 10, 1)
        except pm.MetalError:
            pass
        encoder.end_encoding()


class TestForeign:
    """Objects of another class, released objects, None."""

    @pytest.mark.parametrize("bad", [None, 3, "x", object(), pm.Size(1)])
    def test_objects(self, device, encoder, bad):
        calls = [lambda: encoder.set_compute_pipeline_state(bad),
                 lambda: encoder.set_buffer(bad, 0, 0), lambda: encoder.set_texture(bad, 0),
                 lambda: encoder.set_sampler_state(bad, 0), lambda: encoder.update_fence(bad),
                 lambda: device.new_compute_pipeline_state(bad), lambda: device.new_texture(bad),
                 lambda: device.new_sampler_state(bad), lambda: device.new_heap(bad),
                 lambda: device.new_depth_stencil_state(bad),
                 lambda: device.new_render_pipeline_state(bad),
                 lambda: device.new_binary_archive(bad)]
        for call in calls:
            with pytest.raises(TypeError, match="incompatible function arguments"):
                call()

    def test_no_repr(self, device):
        """Messages name the type of what they cannot show."""
        class Silent:
            def __repr__(self):
                raise ValueError("no")

        for bad, name in ((Silent(), "Silent"), (bytes(10 ** 6), "bytes"), ("x" * 10 ** 6, "str")):
            with pytest.raises(TypeError, match=f"not .*{name}") as caught:
                device.new_buffer(bad, 0)
            assert len(str(caught.value)) < 500

    def test_unbound_methods_check_self(self, device):
        with pytest.raises(TypeError):
            pm.Buffer.contents(device)
        with pytest.raises(TypeError):
            pm.CommandBuffer.commit(3)

    def test_class_cannot_be_forged(self, device):
        with pytest.raises(TypeError):
            object.__new__(pm.Buffer)
        with pytest.raises(TypeError):
            device.new_buffer(4, SHARED).__class__ = pm.Texture


@pytest.mark.parametrize("name", CLASSES)
def test_no_constructor(name):
    kind = getattr(pm, name)
    if name in VALUES | OURS or name.startswith("MTL4") and kind.__text_signature__:
        return
    with pytest.raises(TypeError, match="no constructor defined"):
        kind()
    with pytest.raises(TypeError):
        type("Sub", (kind,), {})()


@pytest.mark.parametrize("name", CLASSES)
def test_documented(name):
    kind = getattr(pm, name)
    assert kind.__doc__, name
    for member, value in vars(kind).items():
        if not member.startswith("_"):
            assert getattr(kind, member).__doc__, f"{name}.{member}"


FUZZ = """
import random, sys
import pymetal as pm
sys.path.insert(0, sys.argv[2])
from helpers import ADD_ONE
random.seed(int(sys.argv[1]))
device = pm.create_system_default_device()
queue = device.new_command_queue()
library = device.new_library_with_source(ADD_ONE)
function = library.new_function("add_one")

def fresh():
    commands = queue.command_buffer()
    return [commands, commands.compute_command_encoder(), queue.command_buffer(),
            queue.command_buffer().blit_command_encoder()]

static = [device, queue, library, function, device.new_compute_pipeline_state(function),
          device.new_buffer(256, 0), device.new_buffer(256, 32), device.new_event(),
          device.new_shared_event(), device.new_fence(), pm.Size(4, 4, 1), pm.Origin(1, 1, 0),
          pm.Range(0, 64), pm.ClearColor(0, 0, 0, 1), pm.MetalLayer.layer(),
          pm.shared_capture_manager()]
for name in dir(pm):
    kind = getattr(pm, name)
    if isinstance(kind, type) and name.endswith("Descriptor"):
        for method in dir(kind):
            if method.endswith("descriptor") and callable(getattr(kind, method)):
                try:
                    static.append(getattr(kind, method)())
                except TypeError:
                    static.append(getattr(kind, method)(pm.PixelFormat.RGBA8Unorm, 8, 8, False)
                                  if "2d" in method else
                                  getattr(kind, method)(pm.PixelFormat.RGBA8Unorm, 8, False))
values = [None, 0, 1, 2, 7, 31, 32, 64, 255, -1, 2**31, 2**32, 2**63, 2**64, 1.5, float("nan"),
          True, "", "add_one", b"", b"x" * 64, bytearray(64), memoryview(b"abcd"), [], [1], (), {},
          id, object, pm.PixelFormat.RGBA8Unorm, pm.StorageMode.Shared, "/nonexistent/x"]
# Calls that would wait for ever, or write where they are told to.
skip = {"wait_until_completed", "wait_until_scheduled", "wait_until_signaled_value",
        "serialize_to_url", "encode_wait_for_event", "start_capture_with_scope", "commit",
        "start_capture", "set_log_handler", "stop_capture"}
pool = static + fresh()
for step in range(int(sys.argv[3])):
    if step % 200 == 0:
        pool = static + fresh()
    thing = random.choice(pool)
    names = [n for n in dir(thing) if not n.startswith("__") and n not in skip]
    name = random.choice(names)
    try:
        if random.random() < 0.2:
            setattr(thing, name, random.choice(values + pool))
            continue
        member = getattr(thing, name)
        if callable(member):
            count = random.choice([0, 1, 1, 2, 2, 3, 3, 4, 6, 7, 9])
            arguments = [random.choice(random.choice([values, pool])) for _ in range(count)]
            result = member(*arguments)
            if result is not None and type(result).__module__.startswith("pymetal"):
                pool.append(result)
    except (TypeError, ValueError, AttributeError, OverflowError, IndexError, KeyError,
            BufferError, MemoryError, OSError, pm.MetalError) as error:
        assert str(error), (name, type(error))
print("alive")
"""


@pytest.mark.parametrize("seed", range(4))
def test_random_calls(seed):
    """Random methods with random arguments: exceptions, but no crash."""
    done = python(FUZZ, str(seed), os.path.dirname(__file__), "6000", check=False)
    assert done.returncode == 0 and done.stdout.endswith("alive\n"), (
        f"seed {seed}: exit {done.returncode}\n{done.stderr[-3000:]}")

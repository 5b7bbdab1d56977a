# SPDX-License-Identifier: Apache-2.0
"""Textures, samplers, and the descriptors and states of the render half."""

import time
import numpy as np
import pytest

import pymetal as pm
from helpers import SHARED, pipeline

RGBA8 = pm.PixelFormat.RGBA8Unorm


def texture_2d(device, width, height, format=RGBA8, mipmapped=False, usage=None):
    descriptor = pm.TextureDescriptor.texture2d_descriptor(format, width, height, mipmapped)
    if usage is not None:
        descriptor.usage = usage
    return device.new_texture(descriptor)


class TestTextureDescriptor:
    def test_two_dimensions(self):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(RGBA8, 256, 128, False)
        assert descriptor.texture_type is pm.TextureType.Type2D
        assert descriptor.pixel_format is RGBA8
        assert (descriptor.width, descriptor.height, descriptor.depth) == (256, 128, 1)
        assert descriptor.mipmap_level_count == 1 and descriptor.sample_count == 1
        assert descriptor.array_length == 1 and descriptor.usage == pm.TextureUsageShaderRead

    def test_mipmapped(self):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(
            format=RGBA8, width=100, height=30, mipmapped=True)
        assert descriptor.mipmap_level_count == 7

    def test_cube(self, device):
        descriptor = pm.TextureDescriptor.texturecube_descriptor(RGBA8, 16, False)
        assert descriptor.texture_type is pm.TextureType.TypeCube
        assert device.new_texture(descriptor).height == 16

    @pytest.mark.parametrize("name, value", [
        ("texture_type", pm.TextureType.Type3D), ("pixel_format", pm.PixelFormat.R32Float),
        ("width", 8), ("height", 9), ("depth", 10), ("mipmap_level_count", 2), ("sample_count", 4),
        ("storage_mode", pm.StorageMode.Private), ("array_length", 3), ("usage", 3),
        ("cpu_cache_mode", pm.CPUCacheMode.WriteCombined)])
    def test_properties(self, name, value):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(RGBA8, 4, 4, False)
        setattr(descriptor, name, value)
        assert getattr(descriptor, name) == value
        for bad in (None, "x", 1.5, object()):
            with pytest.raises(TypeError):
                setattr(descriptor, name, bad)
        assert getattr(descriptor, name) == value

    @pytest.mark.parametrize("arguments", [
        (), (RGBA8, 4, 4), (RGBA8, -1, 4, False), (RGBA8, 4.0, 4, False), (None, 4, 4, False),
        (RGBA8, 4, 4, False, 1), ("RGBA8", 4, 4, False), (pm.TextureType.Type2D, 4, 4, False)])
    def test_bad_arguments(self, arguments):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            pm.TextureDescriptor.texture2d_descriptor(*arguments)


class TestTexture:
    @pytest.mark.parametrize("width, height", [(1, 1), (1024, 1), (1, 1024), (127, 63)])
    def test_properties(self, device, width, height):
        texture = texture_2d(device, width, height)
        assert (texture.width, texture.height, texture.depth) == (width, height, 1)
        assert texture.pixel_format is RGBA8 and texture.texture_type is pm.TextureType.Type2D
        assert texture.mipmap_level_count == texture.sample_count == texture.array_length == 1
        assert texture.label == "" and texture.device is device
        texture.label = "image"
        assert texture.label == "image"
        with pytest.raises(AttributeError):
            texture.width = 3

    def test_upload_and_download(self, device):
        texture = texture_2d(device, 8, 4)
        pixels = np.arange(8 * 4 * 4, dtype=np.uint8)
        texture.replace_region(pixels.tobytes(), 32, 0, 0, 8, 4)
        assert texture.get_bytes(32, 0, 0, 8, 4) == pixels.tobytes()
        texture.replace_region(data=b"\xff" * 4, bytes_per_row=4, x=1, y=2, width=1, height=1,
                               level=0)
        pixels.reshape(4, 8, 4)[2, 1] = 255
        assert texture.get_bytes(32, 0, 0, 8, 4, 0) == pixels.tobytes()
        assert texture.get_bytes(8, 1, 2, 2, 1) == pixels.reshape(4, 8, 4)[2, 1:3].tobytes()

    def test_levels(self, device):
        texture = texture_2d(device, 8, 8, mipmapped=True)
        assert texture.mipmap_level_count == 4
        texture.replace_region(b"\x07" * 16, 8, 0, 0, 2, 2, 2)
        assert texture.get_bytes(8, 0, 0, 2, 2, level=2) == b"\x07" * 16

    def test_pvrtc_levels_have_no_rows(self, device):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.PVRTC_RGBA_2BPP, 32, 32, True)
        texture = device.new_texture(descriptor)
        for level, n_bytes in enumerate([256, 64, 32, 32, 32, 32]):
            size, data = 32 >> level, bytes((level + 3 * i) % 256 for i in range(n_bytes))
            with pytest.raises(pm.MetalError):
                texture.replace_region(data[1:], 0, 0, 0, size, size, level)
            texture.replace_region(data, 0, 0, 0, size, size, level)
            assert texture.get_bytes(0, 0, 0, size, size, level) == data

    @pytest.mark.parametrize("data, row, region", [
        (b"\0" * 4, 4, (8, 0, 1, 1, 0)), (b"\0" * 4, 4, (0, 8, 1, 1, 0)),
        (b"\0" * 4, 4, (0, 0, 9, 1, 0)), (b"\0" * 3, 4, (0, 0, 1, 1, 0)),
        (b"\0" * 8, 4, (0, 0, 2, 1, 0)), (b"", 32, (0, 0, 8, 8, 0)),
        (b"\0" * 4, 4, (0, 0, 1, 1, 5)), (b"\0" * 4, 2**40, (0, 0, 1, 1, 9))])
    def test_bad_regions(self, device, data, row, region):
        texture = texture_2d(device, 8, 8)
        with pytest.raises((pm.MetalError, ValueError, TypeError)):
            texture.replace_region(data, row, *region)

    @pytest.mark.parametrize("bad", [None, 3, "text", [1, 2, 3, 4], bytearray(4)])
    def test_data_is_bytes(self, device, bad):
        with pytest.raises(TypeError):
            texture_2d(device, 8, 8).replace_region(bad, 4, 0, 0, 1, 1)

    def test_impossible_textures(self, device):
        for change in ({"width": 0}, {"width": 1 << 30}, {"pixel_format": pm.PixelFormat.Invalid},
                       {"mipmap_level_count": 30}, {"depth": 7}):
            descriptor = pm.TextureDescriptor.texture2d_descriptor(RGBA8, 4, 4, False)
            for name, value in change.items():
                setattr(descriptor, name, value)
            try:
                assert device.new_texture(descriptor) is None or change == {"width": 0}, change
            except pm.MetalError:
                pass

    def test_none(self, device):
        for bad in (None, 3, RGBA8, pm.SamplerDescriptor.sampler_descriptor()):
            with pytest.raises(TypeError):
                device.new_texture(bad)

    def test_three_dimensions(self, device):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.R8Unorm, 4, 4, False)
        descriptor.texture_type = pm.TextureType.Type3D
        descriptor.depth = 4
        texture = device.new_texture(descriptor)
        assert texture.depth == 4 and texture.texture_type is pm.TextureType.Type3D

    def test_view(self, device):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(RGBA8, 4, 4, False)
        descriptor.usage = pm.TextureUsageShaderRead | pm.TextureUsagePixelFormatView
        texture = device.new_texture(descriptor)
        view = texture.new_texture_view(pm.PixelFormat.RGBA8Uint)
        assert view.pixel_format is pm.PixelFormat.RGBA8Uint
        texture.replace_region(b"\x09" * 64, 16, 0, 0, 4, 4)
        assert view.get_bytes(16, 0, 0, 4, 4) == b"\x09" * 64

    def test_kernels_read_and_write(self, device, queue):
        source = """
        #include <metal_stdlib>
        using namespace metal;
        kernel void invert(texture2d<float, access::read> a [[texture(0)]],
                           texture2d<float, access::write> b [[texture(1)]],
                           uint2 p [[thread_position_in_grid]]) {
            float4 c = a.read(p);
            b.write(float4(1.0 - c.rgb, c.a), p);
        }"""
        a = texture_2d(device, 16, 16)
        b = texture_2d(device, 16, 16, usage=pm.TextureUsageShaderWrite)
        pixels = np.random.default_rng(1).integers(0, 256, (16, 16, 4), dtype=np.uint8)
        a.replace_region(pixels.tobytes(), 64, 0, 0, 16, 16)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline(device, source, "invert"))
        encoder.set_texture(a, 0)
        encoder.set_texture(texture=b, index=1)
        encoder.dispatch_threads(16, 16, 1, 8, 8, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        expected = pixels.copy()
        expected[:, :, :3] = 255 - expected[:, :, :3]
        result = np.frombuffer(b.get_bytes(64, 0, 0, 16, 16), np.uint8).reshape(16, 16, 4)
        assert (result == expected).all()


class TestSampler:
    def test_properties(self, device):
        descriptor = pm.SamplerDescriptor.sampler_descriptor()
        assert descriptor.min_filter is pm.SamplerMinMagFilter.Nearest
        assert descriptor.mip_filter is pm.SamplerMipFilter.NotMipmapped
        assert descriptor.s_address_mode is pm.SamplerAddressMode.ClampToEdge
        assert descriptor.max_anisotropy == 1 and descriptor.normalized_coordinates is True
        for name, value in (("min_filter", pm.SamplerMinMagFilter.Linear),
                            ("mag_filter", pm.SamplerMinMagFilter.Linear),
                            ("mip_filter", pm.SamplerMipFilter.Linear),
                            ("s_address_mode", pm.SamplerAddressMode.Repeat),
                            ("t_address_mode", pm.SamplerAddressMode.MirrorRepeat),
                            ("r_address_mode", pm.SamplerAddressMode.ClampToZero),
                            ("max_anisotropy", 8), ("lod_min_clamp", 0.5), ("lod_max_clamp", 3.0),
                            ("compare_function", pm.CompareFunction.Less)):
            setattr(descriptor, name, value)
            assert getattr(descriptor, name) == value, name
            with pytest.raises(TypeError):
                setattr(descriptor, name, "x")
        assert device.new_sampler_state(descriptor).label == ""

    def test_none(self, device):
        for bad in (None, 1, pm.SamplerDescriptor):
            with pytest.raises(TypeError):
                device.new_sampler_state(bad)

    def test_anisotropy_out_of_range(self, device):
        """Only the debug layer minds; the sampler has the most there is."""
        descriptor = pm.SamplerDescriptor.sampler_descriptor()
        descriptor.max_anisotropy = 1000
        assert device.new_sampler_state(descriptor) is not None

    def test_sampling(self, device, queue):
        source = """
        #include <metal_stdlib>
        using namespace metal;
        kernel void f(texture2d<float> a [[texture(0)]], sampler s [[sampler(0)]],
                      device float *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
            o[i] = a.sample(s, float2(i / 4.0, 0.5)).r;
        }"""
        texture = texture_2d(device, 2, 1, pm.PixelFormat.R32Float)
        texture.replace_region(np.array([0, 1], np.float32).tobytes(), 8, 0, 0, 2, 1)
        descriptor = pm.SamplerDescriptor.sampler_descriptor()
        descriptor.mag_filter = descriptor.min_filter = pm.SamplerMinMagFilter.Linear
        out = device.new_buffer(20, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline(device, source, "f"))
        encoder.set_texture(texture, 0)
        encoder.set_sampler_state(device.new_sampler_state(descriptor), 0)
        encoder.set_buffer(out, 0, 0)
        encoder.dispatch_threads(5, 1, 1, 5, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert out.contents().view(np.float32).tolist() == [0, 0, 0.5, 1, 1]


class TestRenderPipelineDescriptor:
    def test_defaults_and_properties(self):
        descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
        assert descriptor.vertex_function is None and descriptor.fragment_function is None
        assert descriptor.label == ""
        assert descriptor.depth_attachment_pixel_format is pm.PixelFormat.Invalid
        descriptor.depth_attachment_pixel_format = pm.PixelFormat.Depth32Float
        descriptor.stencil_attachment_pixel_format = pm.PixelFormat.Stencil8
        descriptor.label = "pipeline"
        assert descriptor.depth_attachment_pixel_format is pm.PixelFormat.Depth32Float
        assert descriptor.stencil_attachment_pixel_format is pm.PixelFormat.Stencil8
        assert descriptor.label == "pipeline"

    def test_functions(self, device):
        library = device.new_library_with_source(
            "#include <metal_stdlib>\nvertex float4 v(uint i [[vertex_id]]) { return float4(i); }")
        descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
        function = library.new_function("v")
        descriptor.vertex_function = function
        assert descriptor.vertex_function is function
        with pytest.raises(TypeError):
            descriptor.vertex_function = 3

    def test_vertex_descriptor(self):
        descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
        vertex = pm.VertexDescriptor.vertex_descriptor()
        vertex.attribute(0).format = pm.VertexFormat.Float3
        descriptor.vertex_descriptor = vertex
        assert descriptor.vertex_descriptor.attribute(0).format is pm.VertexFormat.Float3

    def test_color_attachment(self):
        attachment = pm.RenderPipelineDescriptor.render_pipeline_descriptor().color_attachment(0)
        assert attachment.blending_enabled is False
        assert attachment.source_rgb_blend_factor is pm.BlendFactor.One
        assert attachment.destination_rgb_blend_factor is pm.BlendFactor.Zero
        assert attachment.rgb_blend_operation is pm.BlendOperation.Add
        assert attachment.source_alpha_blend_factor is pm.BlendFactor.One
        assert attachment.destination_alpha_blend_factor is pm.BlendFactor.Zero
        assert attachment.alpha_blend_operation is pm.BlendOperation.Add
        assert attachment.write_mask == pm.ColorWriteMaskAll
        for name, value in (("pixel_format", RGBA8), ("blending_enabled", True),
                            ("source_rgb_blend_factor", pm.BlendFactor.SourceAlpha),
                            ("destination_rgb_blend_factor", pm.BlendFactor.OneMinusSourceAlpha),
                            ("rgb_blend_operation", pm.BlendOperation.Max),
                            ("source_alpha_blend_factor", pm.BlendFactor.Zero),
                            ("destination_alpha_blend_factor", pm.BlendFactor.One),
                            ("alpha_blend_operation", pm.BlendOperation.Min),
                            ("write_mask", pm.ColorWriteMaskRed | pm.ColorWriteMaskBlue)):
            setattr(attachment, name, value)
            assert getattr(attachment, name) == value, name
            with pytest.raises(TypeError):
                setattr(attachment, name, object())

    def test_attachments_are_kept(self):
        descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
        descriptor.color_attachment(1).pixel_format = RGBA8
        assert descriptor.color_attachment(1).pixel_format is RGBA8
        assert descriptor.color_attachment(0).pixel_format is pm.PixelFormat.Invalid
        attachment = descriptor.color_attachment(2)
        del descriptor
        attachment.pixel_format = RGBA8  # keeps its parent
        assert attachment.pixel_format is RGBA8

    @pytest.mark.parametrize("index", [8, 31, 1000])
    def test_bad_index(self, index):
        with pytest.raises((pm.ValidationError, IndexError)):
            pm.RenderPipelineDescriptor.render_pipeline_descriptor().color_attachment(index)
        with pytest.raises((pm.ValidationError, IndexError)):
            pm.RenderPassDescriptor.render_pass_descriptor().color_attachment(index)

    def test_state_without_vertex_function(self, device):
        descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
        with pytest.raises(pm.PipelineError, match="^Failed to create render pipeline: ."):
            device.new_render_pipeline_state(descriptor)


class TestRenderPass:
    def test_color(self, device):
        render_pass = pm.RenderPassDescriptor.render_pass_descriptor()
        color = render_pass.color_attachment(0)
        assert isinstance(color, pm.RenderPassAttachmentDescriptor)
        assert isinstance(color, pm.RenderPassColorAttachmentDescriptor)
        assert color.texture is None
        texture = texture_2d(device, 4, 4)
        color.texture = texture
        color.load_action = pm.LoadAction.Clear
        color.store_action = pm.StoreAction.Store
        color.clear_color = pm.ClearColor(0.1, -1.0, 2.0, 1)
        color.level = 0
        color.slice = 0
        again = render_pass.color_attachment(0)
        assert again.texture is texture and again.load_action is pm.LoadAction.Clear
        assert again.store_action is pm.StoreAction.Store
        assert (again.clear_color.red, again.clear_color.green) == (0.1, -1.0)
        color.texture = None
        assert color.texture is None

    def test_depth_and_stencil(self, device):
        render_pass = pm.RenderPassDescriptor.render_pass_descriptor()
        depth = render_pass.depth_attachment
        assert isinstance(depth, pm.RenderPassDepthAttachmentDescriptor)
        assert depth.clear_depth == 1.0
        depth.clear_depth = 0.25
        depth.texture = texture_2d(device, 4, 4, pm.PixelFormat.Depth32Float)
        assert render_pass.depth_attachment.clear_depth == 0.25
        stencil = render_pass.stencil_attachment
        assert stencil.clear_stencil == 0
        stencil.clear_stencil = 7
        assert render_pass.stencil_attachment.clear_stencil == 7
        with pytest.raises(AttributeError):
            render_pass.depth_attachment = depth

    def test_wrong_types(self):
        color = pm.RenderPassDescriptor.render_pass_descriptor().color_attachment(0)
        for name, bad in (("texture", 3), ("load_action", pm.StoreAction.Store),
                          ("store_action", 77), ("clear_color", (0, 0, 0, 1)), ("level", -1)):
            with pytest.raises(TypeError):
                setattr(color, name, bad)


class TestVertexDescriptor:
    def test_round_trip(self):
        descriptor = pm.VertexDescriptor.vertex_descriptor()
        attribute, layout = descriptor.attribute(3), descriptor.layout(1)
        assert attribute.format is pm.VertexFormat.Invalid
        assert layout.step_function is pm.VertexStepFunction.PerVertex and layout.step_rate == 1
        attribute.format = pm.VertexFormat.Float4
        attribute.offset, attribute.buffer_index = 16, 2
        layout.stride, layout.step_rate = 32, 4
        layout.step_function = pm.VertexStepFunction.PerInstance
        again = descriptor.attribute(3)
        assert (again.format, again.offset, again.buffer_index) == (pm.VertexFormat.Float4, 16, 2)
        again = descriptor.layout(1)
        assert (again.stride, again.step_rate) == (32, 4)
        assert again.step_function is pm.VertexStepFunction.PerInstance
        descriptor.reset()
        assert descriptor.attribute(3).format is pm.VertexFormat.Invalid

    @pytest.mark.parametrize("index", [31, 1000])
    def test_bad_index(self, index):
        descriptor = pm.VertexDescriptor.vertex_descriptor()
        for method in (descriptor.attribute, descriptor.layout):
            with pytest.raises((pm.ValidationError, IndexError)):
                method(index)
            with pytest.raises(TypeError):
                method("0")


class TestDepthStencil:
    def test_state(self, device):
        descriptor = pm.DepthStencilDescriptor.depth_stencil_descriptor()
        assert descriptor.depth_compare_function is pm.CompareFunction.Always
        assert descriptor.depth_write_enabled is False
        descriptor.depth_compare_function = pm.CompareFunction.Less
        descriptor.depth_write_enabled = True
        descriptor.label = "depth"
        assert descriptor.depth_compare_function is pm.CompareFunction.Less
        assert device.new_depth_stencil_state(descriptor).label == "depth"
        with pytest.raises(TypeError):
            device.new_depth_stencil_state(None)

    def test_stencil(self):
        stencil = pm.StencilDescriptor.stencil_descriptor()
        assert stencil.stencil_compare_function is pm.CompareFunction.Always
        assert stencil.read_mask == stencil.write_mask == 0xFFFFFFFF
        assert stencil.stencil_failure_operation is pm.StencilOperation.Keep
        for name, value in (("stencil_compare_function", pm.CompareFunction.Equal),
                            ("stencil_failure_operation", pm.StencilOperation.Zero),
                            ("depth_failure_operation", pm.StencilOperation.Invert),
                            ("depth_stencil_pass_operation", pm.StencilOperation.Replace),
                            ("read_mask", 0x0F), ("write_mask", 0xF0)):
            setattr(stencil, name, value)
            assert getattr(stencil, name) == value
        descriptor = pm.DepthStencilDescriptor.depth_stencil_descriptor()
        descriptor.front_face_stencil = stencil
        assert descriptor.front_face_stencil.read_mask == 0x0F
        assert descriptor.back_face_stencil is None or descriptor.back_face_stencil.read_mask == (
            0xFFFFFFFF)


class TestLayer:
    def test_drawable(self, device):
        layer = pm.MetalLayer.layer()
        assert layer.next_drawable() is None  # neither device nor size
        layer.device = device
        with pytest.raises(pm.ValidationError):
            layer.pixel_format = RGBA8  # no display takes it
        layer.pixel_format = pm.PixelFormat.BGRA8Unorm_sRGB
        layer.framebuffer_only = False
        layer.drawable_size = (64, 32)
        assert layer.device is device and layer.pixel_format is pm.PixelFormat.BGRA8Unorm_sRGB
        assert layer.drawable_size == (64.0, 32.0) and layer.framebuffer_only is False
        drawable = layer.next_drawable()
        assert isinstance(drawable, pm.MetalDrawable) and drawable.layer is layer
        assert (drawable.texture.width, drawable.texture.height) == (64, 32)
        assert drawable.drawable_id == 0 and drawable.presented_time == 0
        drawable.present()
        with pytest.raises(pm.ValidationError):
            drawable.present()  # once

    def test_presented_with_commands(self, device):
        layer, queue = pm.MetalLayer.layer(), device.new_command_queue()
        layer.device, layer.drawable_size = device, (8, 8)
        for i in range(5):  # more than there are at a time
            drawable = layer.next_drawable()
            descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
            color = descriptor.color_attachment(0)
            color.texture, color.load_action = drawable.texture, pm.LoadAction.Clear
            color.store_action, color.clear_color = pm.StoreAction.Store, pm.ClearColor(1, 0, i / 17, 1)
            commands = queue.command_buffer()
            commands.render_command_encoder(descriptor).end_encoding()
            commands.present_drawable(drawable)
            commands.commit()
            commands.wait_until_completed()
            assert drawable.presented_time > 0 and drawable.drawable_id == i
            assert list(drawable.texture.get_bytes(4, 0, 0, 1, 1)) == [15 * i, 0, 255, 255]

    def test_times_and_the_pool(self, device):
        layer = pm.MetalLayer.layer()
        layer.device, layer.drawable_size = device, (8, 8)
        assert layer.maximum_drawable_count == 3 and layer.allows_next_drawable_timeout
        layer.maximum_drawable_count, layer.allows_next_drawable_timeout = 2, False
        with pytest.raises(pm.ValidationError):
            layer.maximum_drawable_count = 7
        first, second = layer.next_drawable(), layer.next_drawable()
        first.present_at_time(time.monotonic() + 0.03)
        second.present_after_minimum_duration(0.02)
        until = time.monotonic() + 20
        while not second.presented_time and time.monotonic() < until:
            time.sleep(0.002)
        assert second.presented_time >= first.presented_time + 0.02
        layer.close_window()

    def test_no_display(self, device, monkeypatch):
        monkeypatch.delenv("DISPLAY", raising=False)
        layer = pm.MetalLayer.layer()
        layer.device, layer.drawable_size = device, (8, 8)
        with pytest.raises(pm.MetalError, match="no window can be opened"):
            layer.open_window("Ingot")
        assert layer.poll_window() is False and layer.window_number == 0

    @pytest.mark.parametrize("bad", [None, 3, (1,), (1, 2, 3), ("a", "b"), "ab"])
    def test_bad_sizes(self, bad):
        with pytest.raises((TypeError, ValueError)):
            pm.MetalLayer.layer().drawable_size = bad

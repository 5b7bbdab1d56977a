# SPDX-License-Identifier: Apache-2.0
"""Metal 4 from Python: drawing in all its ways, linked functions, every field of the descriptors."""

import numpy as np
import pytest

import pymetal as pm
from helpers import SHARED, Metal4, array_of, buffer_of, texels_of

SHADERS = """
#include <metal_stdlib>
using namespace metal;
struct Vertex { float4 position [[position]]; };
vertex Vertex place(device const float4 *corners [[buffer(0)]], uint i [[vertex_id]]) {
    return {corners[i]};
}
fragment float4 paint(Vertex v [[stage_in]], constant float4 &colour [[buffer(1)]]) {
    return colour;
}
using Mesh = metal::mesh<Vertex, void, 3, 1, topology::triangle>;
[[mesh, max_total_threads_per_threadgroup(32)]]
void cover(Mesh m, uint i [[thread_index_in_threadgroup]]) {
    if (i == 0) m.set_primitive_count(1);
    if (i < 3) {
        m.set_vertex(i, {float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1)});
        m.set_index(i, i);
    }
}
[[object, max_total_threads_per_threadgroup(1), max_total_threadgroups_per_mesh_grid(1)]]
void start(mesh_grid_properties grid) { grid.set_threadgroups_per_grid(uint3(1)); }
struct Colour { half4 value [[color(0)]]; };
kernel void swap(imageblock<Colour, imageblock_layout_implicit> block,
                 ushort2 at [[thread_position_in_threadgroup]]) {
    Colour c = block.read(at);
    c.value = c.value.grba;
    block.write(c, at);
}
"""
FUNCTIONS = """
#include <metal_stdlib>
using namespace metal;
[[visible]] float plus(float x) { return x + 10; }
[[visible]] float minus(float x) { return x - 10; }
kernel void call(visible_function_table<float(float)> table [[buffer(1)]],
                 device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = table[i & 1](x[i]);
}
"""


@pytest.fixture
def work(device):
    return Metal4(device)


class Drawing:
    """A picture of 16 x 16, a triangle over all of it at depth 0.5, and a colour."""

    def __init__(self, device):
        self.work = work = Metal4(device)
        shape = pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.RGBA8Unorm, 16, 16, False)
        shape.usage = pm.TextureUsageRenderTarget
        self.picture = device.new_texture(shape)
        shape.pixel_format = pm.PixelFormat.Depth32Float_Stencil8
        self.depth = device.new_texture(shape)
        self.corners = buffer_of(device, np.array(
            [[-1, -1, 0.5, 1], [3, -1, 0.5, 1], [-1, 3, 0.5, 1]], np.float32))
        self.colour = buffer_of(device, np.array([1, 0, 0, 0.5], np.float32))
        self.counts = device.new_buffer(64, SHARED)
        self.numbers = buffer_of(device, np.array([3, 1, 0, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0], np.uint32))
        work.resident(self.picture, self.depth, self.corners, self.colour, self.counts, self.numbers)
        self.library = work.compiler.new_library(pm.MTL4LibraryDescriptor(SHADERS))
        self.table = work.table(self.corners.gpu_address, self.colour.gpu_address)

    def function(self, name):
        return pm.MTL4LibraryFunctionDescriptor(name, self.library)

    def descriptor(self):
        d = pm.MTL4RenderPipelineDescriptor(self.function("place"), self.function("paint"))
        d.color_attachment(0).pixel_format = pm.PixelFormat.RGBA8Unorm
        return d

    def mesh_descriptor(self):
        d = pm.MTL4MeshRenderPipelineDescriptor(
            object_function_descriptor=self.function("start"),
            mesh_function_descriptor=self.function("cover"),
            fragment_function_descriptor=self.function("paint"))
        d.color_attachment(0).pixel_format = pm.PixelFormat.RGBA8Unorm
        return d

    def tile_descriptor(self):
        d = pm.MTL4TileRenderPipelineDescriptor(tile_function_descriptor=self.function("swap"),
                                                threadgroup_size_matches_tile_size=True)
        d.color_attachment(0).pixel_format = pm.PixelFormat.RGBA8Unorm
        return d

    def render_pass(self):
        d = pm.MTL4RenderPassDescriptor.render_pass_descriptor()
        d.color_attachment(0).texture = self.picture
        d.color_attachment(0).load_action = pm.LoadAction.Clear
        d.color_attachment(0).clear_color = pm.ClearColor(0, 1, 0, 1)
        d.depth_attachment.texture = d.stencil_attachment.texture = self.depth
        d.visibility_result_buffer = self.counts
        return d

    def draw(self, descriptor, commands, render_pass=None):
        """The picture that `commands(encoder)` leave."""
        mesh = isinstance(descriptor, pm.MTL4MeshRenderPipelineDescriptor)
        make = (self.work.compiler.new_mesh_render_pipeline_state if mesh
                else self.work.compiler.new_render_pipeline_state)
        encoder = self.work.begin().render_command_encoder(render_pass or self.render_pass())
        encoder.set_render_pipeline_state(make(descriptor))
        encoder.set_argument_table(self.table, pm.RenderStageVertex | pm.RenderStageFragment)
        commands(encoder)
        encoder.end_encoding()
        self.work.finish()
        return texels_of(self.picture)


@pytest.fixture
def drawing(device):
    return Drawing(device)


TRIANGLE = pm.PrimitiveType.Triangle
RED, GREEN = [255, 0, 0, 128], [0, 255, 0, 255]


class TestDraws:
    def test_all_kinds(self, drawing):
        at = drawing.numbers.gpu_address
        for draw in (lambda e: e.draw_primitives(TRIANGLE, 0, 3),
                     lambda e: e.draw_indexed_primitives(TRIANGLE, 3, pm.IndexType.UInt32, at + 20, 12),
                     lambda e: e.draw_primitives_indirect(TRIANGLE, at),
                     lambda e: e.draw_indexed_primitives_indirect(
                         TRIANGLE, pm.IndexType.UInt32, at + 20, 12, at + 32)):
            assert drawing.draw(drawing.descriptor(), draw)[7, 7].tolist() == RED
        assert drawing.draw(drawing.descriptor(), lambda e: None)[7, 7].tolist() == GREEN

    def test_meshes(self, drawing):
        ones = buffer_of(drawing.work.device, np.ones(3, np.uint32))
        drawing.work.resident(ones)
        for draw in (lambda e: e.draw_mesh_threadgroups(1, 1, 32),
                     lambda e: e.draw_mesh_threads(1, 1, 32),
                     lambda e: e.draw_mesh_threadgroups_indirect(ones.gpu_address, 1, 32)):
            assert drawing.draw(drawing.mesh_descriptor(), draw)[7, 7].tolist() == RED

    def test_tiles(self, drawing):
        tiles = drawing.work.compiler.new_tile_render_pipeline_state(drawing.tile_descriptor())
        texels = drawing.draw(drawing.descriptor(), lambda e: (
            e.set_scissor_rect(0, 0, 8, 16), e.draw_primitives(TRIANGLE, 0, 3),
            e.set_render_pipeline_state(tiles), e.dispatch_threads_per_tile((32, 32))))
        assert texels[7, 7].tolist() == [0, 255, 0, 128] and texels[7, 8].tolist() == [255, 0, 0, 255]

    def test_state(self, drawing):
        def draw(encoder):
            assert encoder.tile_width == encoder.tile_height == 32
            encoder.set_viewport(0, 0, 16, 16)
            encoder.set_scissor_rect(0, 0, 8, 16)
            encoder.set_cull_mode(pm.CullMode.None_)
            encoder.set_front_facing_winding(pm.Winding.Clockwise)
            encoder.set_depth_clip_mode(pm.DepthClipMode.Clamp)
            encoder.set_depth_bias(0, 0, 0)
            encoder.set_triangle_fill_mode(pm.TriangleFillMode.Fill)
            encoder.set_stencil_reference_value(1)
            encoder.set_stencil_front_back_reference_values(1, 2)
            encoder.set_visibility_result_mode(pm.VisibilityResultMode.Counting, 8)
            encoder.set_vertex_amplification_count(1)
            encoder.barrier_after_queue_stages(pm.StageAll, pm.StageVertex)
            encoder.draw_primitives(TRIANGLE, 0, 3)
            encoder.barrier_after_stages(pm.StageFragment, pm.StageAll)
        texels = drawing.draw(drawing.descriptor(), draw)
        assert texels[7, 7].tolist() == RED and texels[7, 8].tolist() == GREEN
        assert array_of(drawing.counts, np.uint64)[1] == 8 * 16

    def test_lines(self, drawing):
        texels = drawing.draw(drawing.descriptor(), lambda e: (
            e.set_triangle_fill_mode(pm.TriangleFillMode.Lines), e.draw_primitives(TRIANGLE, 0, 3)))
        assert texels[7, 7].tolist() == GREEN

    def test_depth(self, drawing):
        test = pm.DepthStencilDescriptor.depth_stencil_descriptor()
        test.depth_compare_function = pm.CompareFunction.Less
        state = drawing.work.device.new_depth_stencil_state(test)
        for clear, colour in ((1.0, RED), (0.25, GREEN)):
            render_pass = drawing.render_pass()
            render_pass.depth_attachment.clear_depth = clear
            render_pass.depth_attachment.store_action = pm.StoreAction.Unknown
            render_pass.stencil_attachment.store_action = pm.StoreAction.Unknown
            render_pass.color_attachment(0).store_action = pm.StoreAction.Unknown
            texels = drawing.draw(drawing.descriptor(), lambda e: (
                e.set_depth_stencil_state(state), e.set_depth_test_min_bound(0, 1),
                e.set_color_store_action(pm.StoreAction.Store, 0),
                e.set_depth_store_action(pm.StoreAction.DontCare),
                e.set_stencil_store_action(pm.StoreAction.DontCare),
                e.draw_primitives(TRIANGLE, 0, 3)), render_pass)
            assert texels[7, 7].tolist() == colour

    def test_blending(self, drawing):
        descriptor = drawing.descriptor()
        colour = descriptor.color_attachment(0)
        assert descriptor.color_attachment(0) is colour
        colour.blending_state = pm.MTL4BlendState.Enabled
        colour.source_rgb_blend_factor = pm.BlendFactor.BlendColor
        colour.destination_rgb_blend_factor = pm.BlendFactor.One
        texels = drawing.draw(descriptor, lambda e: (
            e.set_blend_color(0.2, 0, 0, 0), e.draw_primitives(TRIANGLE, 0, 3)))
        assert texels[7, 7].tolist() == [51, 255, 0, 128]
        with pytest.raises(pm.ValidationError, match="exceeds maximum"):
            descriptor.color_attachment(8)

    def test_left_open(self, drawing):
        descriptor = drawing.descriptor()
        descriptor.color_attachment(0).blending_state = pm.MTL4BlendState.Unspecialized
        compiler = drawing.work.compiler
        pipeline = compiler.new_render_pipeline_state(descriptor)
        descriptor.color_attachment(0).blending_state = pm.MTL4BlendState.Enabled
        assert isinstance(compiler.new_render_pipeline_state_by_specialization(descriptor, pipeline),
                          pm.RenderPipelineState)
        with pytest.raises(pm.PipelineError):
            compiler.new_render_pipeline_state_by_specialization(
                descriptor, compiler.new_render_pipeline_state(drawing.descriptor()))

    def test_in_the_background(self, drawing):
        made = []
        compiler = drawing.work.compiler
        for start, descriptor in ((compiler.new_render_pipeline_state_async, drawing.descriptor()),
                                  (compiler.new_mesh_render_pipeline_state_async,
                                   drawing.mesh_descriptor()),
                                  (compiler.new_tile_render_pipeline_state_async,
                                   drawing.tile_descriptor())):
            start(descriptor, lambda *result: made.append(result)).wait_until_completed()
            state, error = made.pop()
            assert error is None and isinstance(state, pm.RenderPipelineState)

    def test_archives(self, drawing, tmp_path):
        device = drawing.work.device
        serializer = device.new_pipeline_data_set_serializer(
            pm.PipelineDataSetSerializerCaptureBinaries)
        compiler = device.new_compiler(
            pm.MTL4CompilerDescriptor(pipeline_data_set_serializer=serializer))
        compiler.new_render_pipeline_state(drawing.descriptor())
        compiler.new_mesh_render_pipeline_state(drawing.mesh_descriptor())
        compiler.new_tile_render_pipeline_state(drawing.tile_descriptor())
        serializer.serialize_as_archive_and_flush_to_url(tmp_path / "code")
        archive = device.new_archive_with_url(tmp_path / "code")
        assert archive.new_render_pipeline_state(drawing.descriptor()) is not None
        assert archive.new_mesh_render_pipeline_state(drawing.mesh_descriptor()) is not None
        assert archive.new_tile_render_pipeline_state(drawing.tile_descriptor()) is not None

    def test_misuse(self, drawing):
        encoder = drawing.work.begin().render_command_encoder(drawing.render_pass())
        for call in (lambda: encoder.draw_primitives(TRIANGLE, 0, 3),
                     lambda: encoder.dispatch_threads_per_tile((32, 32)),
                     lambda: encoder.set_threadgroup_memory_length(16, 0, 0)):
            with pytest.raises(pm.ValidationError):
                call()
        encoder.set_object_threadgroup_memory_length(16, 0)
        encoder.end_encoding()

    def test_suspended(self, drawing):
        """One pass in two command buffers."""
        work, device = drawing.work, drawing.work.device
        pipeline = work.compiler.new_render_pipeline_state(drawing.descriptor())
        parts = [device.new_command_buffer() for _ in range(2)]
        for part, option in zip(parts, (pm.RenderEncoderOptionSuspending,
                                        pm.RenderEncoderOptionResuming)):
            part.begin_command_buffer(device.new_command_allocator())
            encoder = part.render_command_encoder(drawing.render_pass(), option)
            encoder.set_render_pipeline_state(pipeline)
            encoder.set_argument_table(drawing.table, pm.RenderStageVertex | pm.RenderStageFragment)
            encoder.set_scissor_rect(*((0, 0, 8, 16) if part is parts[0] else (8, 0, 4, 16)))
            encoder.draw_primitives(TRIANGLE, 0, 3)
            encoder.end_encoding()
            part.end_command_buffer()
        work.queue.commit(parts)
        work.queue.signal_event(work.event, 1)
        assert work.event.wait_until_signaled_value(1, 60000)
        texels = texels_of(drawing.picture)
        assert [texels[5, x].tolist() for x in (3, 9, 13)] == [RED, RED, GREEN]


class TestFunctions:
    def table(self, state, *handles):
        table = state.new_visible_function_table(len(handles))
        for index, handle in enumerate(handles):
            table.set_function(handle, index)
        return table

    def run(self, work, state, functions):
        x = buffer_of(work.device, np.zeros(4, np.float32))
        work.resident(x, functions)
        table = work.table(x.gpu_address, 0)
        table.set_resource(functions.gpu_resource_id, 1)
        work.dispatch(state, table, 4, 4)
        return array_of(x).tolist()

    def test_linked_statically(self, device, work):
        library = work.compiler.new_library(pm.MTL4LibraryDescriptor(FUNCTIONS))
        plus, minus = (pm.MTL4LibraryFunctionDescriptor(name, library) for name in ("plus", "minus"))
        linking = pm.MTL4StaticLinkingDescriptor(function_descriptors=[plus, minus],
                                                 private_function_descriptors=())
        state = work.compiler.new_compute_pipeline_state(pm.MTL4ComputePipelineDescriptor(
            compute_function_descriptor=pm.MTL4LibraryFunctionDescriptor("call", library),
            static_linking_descriptor=linking))
        handles = [state.function_handle(library.new_function(name)) for name in ("plus", "minus")]
        assert self.run(work, state, self.table(state, *handles)) == [10, -10, 10, -10]
        with pytest.raises(TypeError):
            pm.MTL4StaticLinkingDescriptor([library])

    def test_added_later(self, device, work):
        library = work.compiler.new_library(pm.MTL4LibraryDescriptor(FUNCTIONS))
        binaries = []
        for name in ("plus", "minus"):
            descriptor = pm.MTL4BinaryFunctionDescriptor(
                function_descriptor=pm.MTL4LibraryFunctionDescriptor(name, library))
            work.compiler.new_binary_function_async(
                descriptor, lambda *result: binaries.append(result[0])).wait_until_completed()
        linking = pm.MTL4PipelineStageDynamicLinkingDescriptor(binary_linked_functions=binaries[:1])
        state = work.compiler.new_compute_pipeline_state(
            pm.MTL4ComputePipelineDescriptor(pm.MTL4LibraryFunctionDescriptor("call", library),
                                             support_binary_linking=True),
            dynamic_linking_descriptor=linking)
        state = state.new_compute_pipeline_state_with_binary_functions(binaries[1:])
        handles = [state.function_handle_with_binary_function(binary) for binary in binaries]
        assert self.run(work, state, self.table(state, *handles)) == [10, -10, 10, -10]


def test_indirect_commands(device, work):
    source = ("#include <metal_stdlib>\nkernel void twice(device float *x [[buffer(0)]], "
              "uint i [[thread_position_in_grid]]) { x[i] *= 2; }")
    state = work.pipeline(source, "twice", support_indirect_command_buffers=True)
    d = pm.IndirectCommandBufferDescriptor.indirect_command_buffer_descriptor()
    d.command_types = pm.IndirectCommandTypeConcurrentDispatchThreads
    d.inherit_buffers = d.inherit_pipeline_state = False
    d.max_kernel_buffer_bind_count = 1
    commands = device.new_indirect_command_buffer(d, 2, 0)
    x = buffer_of(device, np.ones(8, np.float32))
    work.resident(x, commands)
    for i in range(2):
        command = commands.indirect_compute_command_at_index(i)
        command.set_compute_pipeline_state(state)
        command.set_kernel_buffer(x, 0, 0)
        command.concurrent_dispatch_threads(8, 1, 1, 8, 1, 1)
    span = buffer_of(device, np.array([1, 1], np.uint32))
    work.resident(span)
    encoder = work.begin().compute_command_encoder()
    encoder.optimize_indirect_command_buffer(commands, pm.Range(0, 2))
    encoder.execute_commands_in_buffer(commands, pm.Range(0, 1))
    encoder.barrier_after_encoder_stages(pm.StageDispatch, pm.StageDispatch)
    encoder.execute_commands_in_buffer_indirect(commands, span.gpu_address)
    encoder.end_encoding()
    work.finish()
    assert np.all(array_of(x) == 4)


def test_textures(device, work):
    shape = pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.RGBA8Unorm, 4, 4, True)
    shape.usage = pm.TextureUsageShaderRead
    one, two = device.new_texture(shape), device.new_texture(shape)
    memory = buffer_of(device, np.arange(64, dtype=np.uint8))
    work.resident(one, two, memory)
    encoder = work.begin().compute_command_encoder()
    stages = pm.StageBlit, pm.StageBlit
    encoder.copy_from_buffer_to_texture(memory, 0, 16, 64, (4, 4), one, 0, 0, pm.Origin())
    encoder.barrier_after_encoder_stages(*stages)
    encoder.generate_mipmaps(one)
    encoder.barrier_after_encoder_stages(*stages)
    encoder.copy_from_texture_slices(one, 0, 0, two, 0, 0, 1, 3)
    encoder.barrier_after_encoder_stages(*stages)
    encoder.optimize_contents_for_gpu_access(two)
    encoder.optimize_contents_for_cpu_access(two, 0, 0)
    encoder.copy_from_texture(two, 0, 0, pm.Origin(), (2, 2), one, 0, 0, pm.Origin(2, 2, 0))
    encoder.barrier_after_queue_stages(pm.StageAll, pm.StageBlit)
    encoder.barrier_after_stages(pm.StageBlit, pm.StageAll)
    encoder.copy_from_texture_to_texture(one, two)
    encoder.end_encoding()
    work.finish()
    texels = texels_of(two).reshape(-1)
    expected = np.arange(64, dtype=np.uint8).reshape(4, 4, 4)
    expected[2:, 2:] = expected[:2, :2]
    assert np.array_equal(texels, expected.reshape(-1))


def test_networks_order(device, work):
    encoder = work.begin().machine_learning_command_encoder()
    fence = device.new_fence()
    encoder.barrier_after_queue_stages(pm.StageAll, pm.StageMachineLearning)
    encoder.wait_for_fence(fence, pm.StageMachineLearning)
    encoder.barrier_after_stages(pm.StageMachineLearning, pm.StageAll, pm.VisibilityOptionNone)
    encoder.update_fence(fence, pm.StageMachineLearning)
    encoder.push_debug_group("a")
    encoder.insert_debug_signpost("b")
    encoder.pop_debug_group()
    with pytest.raises(pm.ValidationError):
        encoder.dispatch_network()
    encoder.end_encoding()
    work.commands.end_command_buffer()


def test_residency(device, work):
    sets = [device.new_residency_set(str(i)) for i in range(2)]
    work.queue.add_residency_sets(sets)
    work.queue.remove_residency_sets(sets)
    work.begin().use_residency_sets(sets)
    work.commands.use_residency_set(sets[0])
    work.finish()
    with pytest.raises(TypeError):
        work.queue.add_residency_sets([device])


def test_drawables(device, work):
    layer = pm.MetalLayer.layer()
    layer.device, layer.drawable_size = device, (16, 16)
    drawable = layer.next_drawable()
    work.queue.wait_for_drawable(drawable)
    work.queue.signal_drawable(drawable)
    drawable.present()


def test_tensor_size(device):
    descriptor = pm.TensorDescriptor.tensor_descriptor()
    descriptor.dimensions = 16, 4
    size, align = device.tensor_size_and_align(descriptor)
    assert size >= 256 and align >= 1


FIELDS = {
    "MTL4ArgumentTableDescriptor": {
        "max_buffer_bind_count": 3, "max_texture_bind_count": 2, "max_sampler_state_bind_count": 1,
        "initialize_bindings": True, "support_attribute_strides": True},
    "MTL4CommitOptions": {},
    "MTL4PipelineOptions": {"shader_validation": pm.ShaderValidation.Enabled,
                            "shader_reflection": pm.ShaderReflectionBindingInfo},
    "MTL4CompilerTaskOptions": {"lookup_archives": ()},
    "MTL4SpecializedFunctionDescriptor": {"function_descriptor": None, "specialized_name": "other"},
    "MTL4MachineLearningPipelineDescriptor": {"machine_learning_function_descriptor": None},
    "MTL4RenderPipelineDescriptor": {
        "vertex_function_descriptor": None, "fragment_function_descriptor": None,
        "input_primitive_topology": pm.PrimitiveTopologyClass.Triangle,
        "vertex_static_linking_descriptor": None, "fragment_static_linking_descriptor": None,
        "alpha_to_coverage_state": True, "alpha_to_one_state": True, "rasterization_enabled": False,
        "max_vertex_amplification_count": 2},
    "MTL4MeshRenderPipelineDescriptor": {
        "max_total_threads_per_object_threadgroup": 32, "max_total_threads_per_mesh_threadgroup": 32,
        "payload_memory_length": 16, "max_total_threadgroups_per_mesh_grid": 1,
        "object_static_linking_descriptor": None, "mesh_static_linking_descriptor": None},
}
PASS_FIELDS = {
    "visibility_result_type": pm.VisibilityResultType.Accumulate, "render_target_array_length": 2,
    "render_target_width": 4, "render_target_height": 5, "default_raster_sample_count": 4,
    "support_color_attachment_mapping": True, "tile_width": 16, "tile_height": 16,
    "imageblock_sample_length": 8, "threadgroup_memory_length": 16}


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name):
    kind = getattr(pm, name)
    by_keyword, assigned = kind(**FIELDS[name]), kind()
    for field, value in FIELDS[name].items():
        setattr(assigned, field, value)
        assert getattr(assigned, field) == getattr(by_keyword, field) == value
        with pytest.raises(TypeError):
            setattr(assigned, field, object())


def test_fields_of_a_pass():
    render_pass = pm.MTL4RenderPassDescriptor.render_pass_descriptor()
    for field, value in PASS_FIELDS.items():
        setattr(render_pass, field, value)
        assert getattr(render_pass, field) == value
    options = pm.MTL4CommitOptions.commit_options()
    assert options.feedback_handlers is None


def test_strides_of_vertices(device):
    table = device.new_argument_table(pm.MTL4ArgumentTableDescriptor(
        max_buffer_bind_count=1, max_texture_bind_count=1, max_sampler_state_bind_count=1,
        support_attribute_strides=True))
    table.set_address(0, 0, 16)
    table.set_texture(0, 0)
    table.set_sampler_state(0, 0)
    with pytest.raises(pm.ValidationError):
        table.set_texture(0, 1)

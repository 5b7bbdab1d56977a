# SPDX-License-Identifier: Apache-2.0
"""Acceleration structures from Python: built, traced, refitted, compacted; instances; functions."""

import numpy as np
import pytest

import pymetal as pm
from helpers import SHARED, array_of, buffer_of

HEAD = """
#include <metal_stdlib>
#include <metal_raytracing>
using namespace metal;
using namespace metal::raytracing;
"""
TRACE = HEAD + """
kernel void trace(primitive_acceleration_structure s [[buffer(0)]],
                  device const float2 *at [[buffer(1)]], device float2 *out [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    intersector<triangle_data> x;
    x.assume_geometry_type(geometry_type::all);
    auto h = x.intersect(ray(float3(at[i], -1), float3(0, 0, 1)), s);
    out[i] = h.type == intersection_type::none ? float2(-1) : float2(h.distance, h.primitive_id);
}
kernel void moving(acceleration_structure<primitive_motion> s [[buffer(0)]],
                   device const float2 *at [[buffer(1)]], device float2 *out [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    intersector<primitive_motion> x;
    auto h = x.intersect(ray(float3(at[0], -1), float3(0, 0, 1)), s, 0.25f * i);
    out[i] = h.type == intersection_type::none ? float2(-1) : float2(h.distance, h.primitive_id);
}
kernel void instances(instance_acceleration_structure s [[buffer(0)]],
                      device const float2 *at [[buffer(1)]], device float2 *out [[buffer(2)]],
                      uint i [[thread_position_in_grid]]) {
    auto h = intersector<instancing>().intersect(ray(float3(at[i], -1), float3(0, 0, 1)), s);
    out[i] = h.type == intersection_type::none ? float2(-1) : float2(h.distance, h.instance_id);
}
[[intersection(triangle, triangle_data)]]
bool even(uint n [[primitive_id]], const device uint *skip [[buffer(0)]]) { return n != skip[0]; }
kernel void asked(primitive_acceleration_structure s [[buffer(0)]],
                  device const float2 *at [[buffer(1)]], device float2 *out [[buffer(2)]],
                  intersection_function_table<triangle_data> f [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    auto h = intersector<triangle_data>().intersect(ray(float3(at[i], -1), float3(0, 0, 1)), s, f);
    out[i] = h.type == intersection_type::none ? float2(-1) : float2(h.distance, h.primitive_id);
}
"""
# Two squares of two triangles each, at z = 0 and, smaller, at z = 1.
CORNERS = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0],
                    [1, 1, 1], [9, 1, 1], [1, 9, 1], [9, 1, 1], [9, 9, 1], [1, 9, 1]], np.float32)
POINTS = np.array([[1, 1], [3, 3.5], [5, 2], [8, 8], [20, 1]], np.float32)


@pytest.fixture(autouse=True)
def rays(device):
    if not device.supports_raytracing:
        pytest.skip("built without ray tracing")


def triangles(device, corners=CORNERS, **settings):
    geometry = pm.AccelerationStructureGeometryDescriptor()
    geometry.vertex_buffer = buffer_of(device, corners)
    geometry.triangle_count = len(corners) // 3
    for name, value in settings.items():
        setattr(geometry, name, value)
    descriptor = pm.AccelerationStructureDescriptor()
    descriptor.geometry_descriptors = [geometry]
    return descriptor


def encode(queue, body):
    commands = queue.command_buffer()
    encoder = commands.acceleration_structure_command_encoder()
    body(encoder)
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    assert commands.status is pm.CommandBufferStatus.Completed


def build(device, queue, descriptor):
    sizes = device.acceleration_structure_sizes(descriptor)
    structure = device.new_acceleration_structure(sizes.acceleration_structure_size)
    scratch = device.new_buffer(sizes.build_scratch_buffer_size, SHARED)
    encode(queue, lambda e: e.build_acceleration_structure(structure, descriptor, scratch))
    return structure


def trace(device, queue, structure, kernel="trace", state=None, table=None):
    if state is None:
        function = device.new_library_with_source(TRACE).new_function(kernel)
        state = device.new_compute_pipeline_state(function)
    out = device.new_buffer(POINTS.nbytes, SHARED)
    commands = queue.command_buffer()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(state)
    encoder.set_acceleration_structure(structure, 0)
    encoder.set_buffer(buffer_of(device, POINTS), 0, 1)
    encoder.set_buffer(out, 0, 2)
    if table is not None:
        encoder.set_intersection_function_table(table, 3)
    encoder.dispatch_threads(len(POINTS), 1, 1, len(POINTS), 1, 1)
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    assert commands.status is pm.CommandBufferStatus.Completed
    return array_of(out, np.float32).reshape(-1, 2)


HITS = np.array([[1, 0], [1, 1], [2, 2], [2, 3], [-1, -1]], np.float32)


def test_triangles(device, queue):
    structure = build(device, queue, triangles(device))
    assert structure.size > 0 and structure.gpu_resource_id and structure.device is device
    structure.label = "squares"
    assert structure.label == "squares"
    np.testing.assert_array_equal(trace(device, queue, structure), HITS)


def keyframes(device, *corners):
    """Buffers of all keyframes in one, and where each begins."""
    buffer = buffer_of(device, np.concatenate(corners))
    frames = []
    for i in range(len(corners)):
        frame = pm.MotionKeyframeData()
        frame.buffer, frame.offset = buffer, i * corners[0].nbytes
        frames.append(frame)
    return frames


def test_motion(device, queue):
    """A square that goes from z = 0 to z = 2 between the times 0.25 and 0.75, and is not there before."""
    d = triangles(device, CORNERS[:6], vertex_buffer=None,
                  vertex_buffers=keyframes(device, CORNERS[:6], CORNERS[:6] + np.float32([0, 0, 2])))
    d.motion_keyframe_count, d.motion_start_time, d.motion_end_time = 2, 0.25, 0.75
    d.motion_start_border_mode = pm.MotionBorderMode.Vanish
    hits = trace(device, queue, build(device, queue, d), kernel="moving")
    np.testing.assert_allclose(hits[:, 0], [-1, 1, 2, 3, 3], atol=1e-5)
    with pytest.raises(TypeError, match="MotionKeyframeData"):
        device.acceleration_structure_sizes(triangles(device, vertex_buffers=[3]))


def test_indices(device, queue):
    d = triangles(device, CORNERS[:6], triangle_count=1, index_type=pm.IndexType.UInt32,
                  index_buffer=buffer_of(device, np.array([3, 4, 5], np.uint32)))
    hits = trace(device, queue, build(device, queue, d))
    np.testing.assert_array_equal(hits[:, 0], [-1, 1, -1, -1, -1])


def test_refit_copy_and_compact(device, queue):
    d = triangles(device)
    d.usage = 1
    structure = build(device, queue, d)
    moved = triangles(device, CORNERS + np.array([0, 0, 2], np.float32))
    moved.usage = 1
    sizes = device.acceleration_structure_sizes(moved)
    scratch = device.new_buffer(sizes.refit_scratch_buffer_size, SHARED)
    size = device.new_buffer(4, SHARED)
    encode(queue, lambda e: e.refit_acceleration_structure(structure, moved, None, scratch))
    encode(queue, lambda e: e.write_compacted_acceleration_structure_size(structure, size))
    compact = device.new_acceleration_structure(int(array_of(size, np.uint32)[0]))
    same = device.new_acceleration_structure(structure.size)
    encode(queue, lambda e: e.copy_and_compact_acceleration_structure(structure, compact))
    encode(queue, lambda e: e.copy_acceleration_structure(structure, same))
    expected = HITS + np.where(HITS < 0, 0, np.array([2, 0], np.float32))
    for s in (structure, compact, same):
        np.testing.assert_array_equal(trace(device, queue, s), expected)


def test_instances(device, queue):
    part = build(device, queue, triangles(device, CORNERS[:6]))
    record = np.dtype([("matrix", np.float32, (4, 3)), ("options", np.uint32), ("mask", np.uint32),
                       ("function", np.uint32), ("structure", np.uint32)])
    records = np.zeros(2, record)
    for i, place in enumerate([(0, 0, 5), (4, 0, 0)]):
        records[i]["matrix"][:3] = np.eye(3)
        records[i]["matrix"][3] = place
        records[i]["mask"] = 0xff
    d = pm.AccelerationStructureDescriptor()
    d.kind = pm.AccelerationStructureKind.Instance
    d.instance_descriptor_buffer = buffer_of(device, records.view(np.uint8))
    d.instance_count = 2
    d.instanced_acceleration_structures = [part]
    hits = trace(device, queue, build(device, queue, d), "instances")
    np.testing.assert_array_equal(hits, [[6, 0], [6, 0], [1, 1], [-1, -1], [-1, -1]])


def test_functions(device, queue):
    library = device.new_library_with_source(TRACE)
    even = library.new_function("even")
    descriptor = pm.ComputePipelineDescriptor()
    descriptor.compute_function = library.new_function("asked")
    descriptor.linked_functions = [even]
    state = device.new_compute_pipeline_state_with_descriptor(descriptor)
    table = state.new_intersection_function_table(2)
    table.set_function(state.function_handle(even), 0)
    table.set_buffer(buffer_of(device, np.array([1], np.uint32)), 0, 0)
    structure = build(device, queue, triangles(device, non_opaque=True))
    hits = trace(device, queue, structure, state=state, table=table)
    np.testing.assert_array_equal(hits, [HITS[0], [2, 2], HITS[2], HITS[3], HITS[4]])
    table.set_function(None, 0)  # nothing counts then
    assert (trace(device, queue, structure, state=state, table=table) == -1).all()
    table.set_opaque_triangle_intersection_function(2, 0)  # triangle_data
    np.testing.assert_array_equal(trace(device, queue, structure, state=state, table=table), HITS)


def test_boxes_and_curves(device, queue):
    boxes = pm.AccelerationStructureGeometryDescriptor()
    boxes.kind = pm.AccelerationStructureGeometryKind.BoundingBoxes
    boxes.bounding_box_buffer = buffer_of(device, np.array([0, 0, 0, 1, 1, 1], np.float32))
    boxes.bounding_box_count = 1
    curve = pm.AccelerationStructureGeometryDescriptor()
    curve.kind = pm.AccelerationStructureGeometryKind.Curves
    curve.curve_type = pm.CurveType.Round
    curve.curve_basis = pm.CurveBasis.Bezier
    curve.curve_end_caps = pm.CurveEndCaps.Sphere
    curve.control_point_buffer = buffer_of(
        device, np.array([[4, 2, 2], [5, 2, 2], [6, 2, 2], [7, 2, 2]], np.float32))
    curve.radius_buffer = buffer_of(device, np.full(4, 0.5, np.float32))
    curve.index_buffer = buffer_of(device, np.zeros(2, np.uint16))
    curve.control_point_count = curve.segment_control_point_count = 4
    curve.segment_count = 1
    d = pm.AccelerationStructureDescriptor()
    d.geometry_descriptors = [boxes, curve]
    hits = trace(device, queue, build(device, queue, d))
    np.testing.assert_allclose(hits[:, 0], [-1, -1, 2.5, -1, -1], atol=1e-3)


def test_moving_boxes_and_curves(device, queue):
    """A tube from z = 2 to z = 4 between the times 0 and 0.5, gone afterwards; boxes stop no ray."""
    box = np.array([[0, 0, 0, 1, 1, 1]], np.float32)
    boxes = pm.AccelerationStructureGeometryDescriptor()
    boxes.kind = pm.AccelerationStructureGeometryKind.BoundingBoxes
    boxes.bounding_box_buffers = keyframes(device, box, box + 1)
    boxes.bounding_box_count = 1
    points = np.array([[0, 1, 2], [1, 1, 2], [2, 1, 2], [3, 1, 2]], np.float32)
    curve = pm.AccelerationStructureGeometryDescriptor()
    curve.kind = pm.AccelerationStructureGeometryKind.Curves
    curve.curve_basis = pm.CurveBasis.Bezier
    curve.control_point_buffers = keyframes(device, points, points + np.float32([0, 0, 2]))
    curve.radius_buffers = keyframes(device, *[np.full(4, 0.5, np.float32)] * 2)
    curve.index_buffer = buffer_of(device, np.zeros(2, np.uint16))
    curve.control_point_count = curve.segment_control_point_count = 4
    curve.segment_count = 1
    d = pm.AccelerationStructureDescriptor()
    d.geometry_descriptors = [boxes, curve]
    d.motion_keyframe_count, d.motion_end_time = 2, 0.5
    d.motion_end_border_mode = pm.MotionBorderMode.Vanish
    hits = trace(device, queue, build(device, queue, d), kernel="moving")
    np.testing.assert_allclose(hits[:, 0], [2.5, 3.5, 4.5, -1, -1], atol=1e-3)


FIELDS = {
    "AccelerationStructureGeometryDescriptor": (
        "intersection_function_table_offset primitive_data_buffer_offset "
        "primitive_data_element_size primitive_data_stride vertex_buffer_offset vertex_stride "
        "index_buffer_offset bounding_box_buffer_offset bounding_box_stride "
        "control_point_buffer_offset control_point_stride radius_buffer_offset radius_stride"),
    "AccelerationStructureDescriptor": (
        "instance_descriptor_buffer_offset instance_descriptor_stride "
        "motion_transform_buffer_offset motion_transform_count max_instance_count "
        "max_motion_transform_count instance_count_buffer_offset"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields(device, name):
    d = getattr(pm, name)()
    for i, field in enumerate(FIELDS[name].split()):
        assert getattr(d, field) == 0
        setattr(d, field, i + 1)
        assert getattr(d, field) == i + 1
    for field in ("primitive_data_buffer", "motion_transform_buffer", "instance_count_buffer"):
        if hasattr(d, field):
            b = device.new_buffer(16, SHARED)
            setattr(d, field, b)
            assert getattr(d, field) is b
    assert pm.AccelerationStructureGeometryDescriptor.acceleration_structure_geometry_descriptor(
        ).vertex_format is pm.VertexFormat.Invalid
    assert pm.MotionKeyframeData.motion_keyframe_data().offset == 0
    made = pm.AccelerationStructureDescriptor.acceleration_structure_descriptor()
    assert made.instance_descriptor_type is (
        pm.AccelerationStructureInstanceDescriptorType.Default)


def test_indirect_instances(device, queue):
    part = build(device, queue, triangles(device, CORNERS[:6]))
    record = np.dtype([("matrix", np.float32, (4, 3)), ("options", np.uint32), ("mask", np.uint32),
                       ("function", np.uint32), ("user", np.uint32), ("structure", np.uint64)])
    records = np.zeros(3, record)
    for i in range(3):
        records[i]["matrix"][:3] = np.eye(3)
        records[i]["matrix"][3] = (4 * i, 0, i)
        records[i]["mask"] = 1
        records[i]["structure"] = part.gpu_resource_id
    d = pm.AccelerationStructureDescriptor()
    d.kind = pm.AccelerationStructureKind.IndirectInstance
    d.instance_descriptor_type = pm.AccelerationStructureInstanceDescriptorType.Indirect
    d.instance_descriptor_buffer = buffer_of(device, records.view(np.uint8))
    d.max_instance_count = 3
    d.instance_count_buffer = buffer_of(device, np.array([2], np.uint32))
    hits = trace(device, queue, build(device, queue, d), "instances")
    np.testing.assert_array_equal(hits, [[1, 0], [1, 0], [2, 1], [-1, -1], [-1, -1]])


def test_misuse(device, queue):
    d = pm.AccelerationStructureDescriptor()
    with pytest.raises(TypeError):
        d.geometry_descriptors = [1]
    with pytest.raises(TypeError):
        device.acceleration_structure_sizes(None)
    bad = triangles(device, kind=pm.AccelerationStructureGeometryKind.Curves)
    with pytest.raises(pm.ValidationError):
        device.acceleration_structure_sizes(bad)
    sizes = device.acceleration_structure_sizes(triangles(device))
    with pytest.raises(AttributeError):
        sizes.acceleration_structure_size = 1
    encoder = queue.command_buffer().acceleration_structure_command_encoder()
    with pytest.raises(TypeError):
        encoder.build_acceleration_structure(d, d)
    encoder.end_encoding()
    with pytest.raises(pm.ValidationError):
        encoder.end_encoding()

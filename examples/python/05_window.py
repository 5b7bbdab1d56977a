# SPDX-License-Identifier: Apache-2.0
"""A triangle that turns, in a window where there is a display (X11), else off-screen.

    python 05_window.py [FRAMES]

A layer hands out drawables; a command buffer presents one when it is done. Ends when the window is
closed or after FRAMES frames, with status 1 if the last picture has no triangle in it.
"""

import struct
import sys

import pymetal as pm

SOURCE = """
#include <metal_stdlib>
using namespace metal;
struct Corner { float4 position [[position]]; float3 color; };
vertex Corner corners(uint i [[vertex_id]], constant float2 &turn_aspect [[buffer(0)]]) {
    float a = turn_aspect.x + float(i) * 2.0944;
    float2 p = 0.8 * float2(cos(a) / max(turn_aspect.y, 1.0), sin(a) * min(turn_aspect.y, 1.0));
    return {float4(p, 0, 1), float3(i == 0, i == 1, i == 2)};
}
fragment float4 colors(Corner in [[stage_in]]) { return float4(sqrt(in.color), 1); }
"""


def make_pipeline(device, pixel_format):
    library = device.new_library_with_source(SOURCE)
    descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
    descriptor.vertex_function = library.new_function("corners")
    descriptor.fragment_function = library.new_function("colors")
    descriptor.color_attachment(0).pixel_format = pixel_format
    return device.new_render_pipeline_state(descriptor)


def draw(layer, queue, pipeline, turn):
    """One frame; the texture it is in."""
    drawable = layer.next_drawable()
    width, height = layer.drawable_size
    descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
    color = descriptor.color_attachment(0)
    color.texture, color.load_action, color.store_action = drawable.texture, pm.LoadAction.Clear, pm.StoreAction.Store
    color.clear_color = pm.ClearColor(0.1, 0.1, 0.15, 1)
    commands = queue.command_buffer()
    encoder = commands.render_command_encoder(descriptor)
    encoder.set_render_pipeline_state(pipeline)
    encoder.set_vertex_bytes(struct.pack("ff", turn, width / height), 0)
    encoder.draw_primitives(pm.PrimitiveType.Triangle, 0, 3)
    encoder.end_encoding()
    commands.present_drawable(drawable)
    commands.commit()
    commands.wait_until_completed()
    return drawable.texture


def main():
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    device = pm.create_system_default_device()
    queue = device.new_command_queue()
    layer = pm.MetalLayer.layer()
    layer.device, layer.drawable_size = device, (480, 360)
    pipeline = make_pipeline(device, layer.pixel_format)
    try:
        layer.open_window("A triangle that turns")
        window = True
    except pm.MetalError as reason:
        print(f"off-screen: {reason}")
        window = False
    count, texture = 0, None
    while count < frames and (not window or layer.poll_window()):
        texture = draw(layer, queue, pipeline, count * 0.05)
        count += 1
    print(f"{count} frames")
    if texture is None:
        return 0
    x, y = texture.width // 2, texture.height // 2
    blue, green, red, _ = texture.get_bytes(4, x, y, 1, 1)
    print(f"the middle is {red}, {green}, {blue}")
    return 0 if min(red, green, blue) > 100 else 1  # a third of each colour


if __name__ == "__main__":
    sys.exit(main())

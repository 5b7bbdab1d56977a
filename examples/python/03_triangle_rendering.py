# SPDX-License-Identifier: Apache-2.0
"""A triangle with a colour at each corner, drawn off screen with a depth test, as a PPM file.

    python 03_triangle_rendering.py [FILE]

The vertex function holds the corners itself. A blit copies the finished texture into a buffer,
which NumPy sees without a copy. Ends with status 1 if the picture is not the right one.
"""

import pathlib
import sys
import tempfile

import numpy as np

import pymetal as pm

WIDTH = HEIGHT = 512
BACKGROUND = (0.1, 0.1, 0.15)

SOURCE = """
#include <metal_stdlib>
using namespace metal;

struct Corner {
    float4 position [[position]];
    float4 color;
};

vertex Corner corners(uint i [[vertex_id]]) {
    float2 places[3] = {float2(0.0, 0.5), float2(-0.5, -0.5), float2(0.5, -0.5)};
    float4 colors[3] = {float4(1, 0, 0, 1), float4(0, 1, 0, 1), float4(0, 0, 1, 1)};
    Corner corner;
    corner.position = float4(places[i], 0.0, 1.0);
    corner.color = colors[i];
    return corner;
}

fragment float4 colors(Corner in [[stage_in]]) {
    return in.color;
}
"""


def make_pipeline(device):
    print("Compiling shaders...")
    library = device.new_library_with_source(SOURCE)
    print("Creating render pipeline...")
    descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
    descriptor.vertex_function = library.new_function("corners")
    descriptor.fragment_function = library.new_function("colors")
    descriptor.color_attachment(0).pixel_format = pm.PixelFormat.RGBA8Unorm
    descriptor.depth_attachment_pixel_format = pm.PixelFormat.Depth32Float
    return device.new_render_pipeline_state(descriptor)


def make_depth_state(device):
    descriptor = pm.DepthStencilDescriptor.depth_stencil_descriptor()
    descriptor.depth_compare_function = pm.CompareFunction.Less
    descriptor.depth_write_enabled = True
    return device.new_depth_stencil_state(descriptor)


def make_target(device, pixel_format, usage, storage):
    descriptor = pm.TextureDescriptor.texture2d_descriptor(pixel_format, WIDTH, HEIGHT, False)
    descriptor.usage = usage
    descriptor.storage_mode = storage
    return device.new_texture(descriptor)


def render(device):
    """The pixels: rows from the top, four bytes each."""
    pipeline, depth_state = make_pipeline(device), make_depth_state(device)
    target = pm.TextureUsageRenderTarget
    color = make_target(device, pm.PixelFormat.RGBA8Unorm, target, pm.StorageMode.Shared)
    depth = make_target(device, pm.PixelFormat.Depth32Float, target, pm.StorageMode.Private)
    pixels = device.new_buffer(4 * WIDTH * HEIGHT, pm.ResourceStorageModeShared)

    descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
    attachment = descriptor.color_attachment(0)
    attachment.texture = color
    attachment.load_action = pm.LoadAction.Clear
    attachment.store_action = pm.StoreAction.Store
    attachment.clear_color = pm.ClearColor(*BACKGROUND, 1.0)
    descriptor.depth_attachment.texture = depth
    descriptor.depth_attachment.load_action = pm.LoadAction.Clear
    descriptor.depth_attachment.clear_depth = 1.0

    print("Rendering triangle...")
    commands = device.new_command_queue().command_buffer()
    encoder = commands.render_command_encoder(descriptor)
    encoder.set_render_pipeline_state(pipeline)
    encoder.set_depth_stencil_state(depth_state)
    encoder.draw_primitives(pm.PrimitiveType.Triangle, 0, 3)
    encoder.end_encoding()
    blit = commands.blit_command_encoder()
    blit.copy_from_texture_to_buffer(color, 0, 0, pm.Origin(0, 0, 0), pm.Size(WIDTH, HEIGHT, 1),
                                     pixels, 0, 4 * WIDTH, 4 * WIDTH * HEIGHT)
    blit.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    return pixels.contents().view(np.uint8).reshape(HEIGHT, WIDTH, 4)


def is_right(image):
    """Red at the top, green left, blue right; an eighth of the picture is the triangle."""
    background = np.array([26, 26, 38, 255])
    inside = (image != background).any(axis=2)
    top, left, right = image[131, 256], image[382, 130], image[382, 381]
    middle = image[HEIGHT // 2, WIDTH // 2].astype(int)
    return (abs(inside.sum() - WIDTH * HEIGHT / 8) < 300 and top[0] > 240 and left[1] > 240 and
            right[2] > 240 and abs(middle[0] - 127) <= 2 and abs(middle[1] - middle[2]) <= 2)


def main():
    device = pm.create_system_default_device()
    print(f"Rendering {WIDTH}x{HEIGHT} triangle on {device.name}")
    image = render(device)
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                        else pathlib.Path(tempfile.gettempdir()) / "pymetal_triangle.ppm")
    rows = "\n".join(" ".join(map(str, row)) for row in image[..., :3].reshape(HEIGHT, -1).tolist())
    path.write_text(f"P3\n{WIDTH} {HEIGHT}\n255\n{rows}\n")
    print(f"✓ Image saved to: {path}")
    if not is_right(image):
        sys.exit("the picture is not the right one")


if __name__ == "__main__":
    main()

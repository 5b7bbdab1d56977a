// SPDX-License-Identifier: Apache-2.0
// image.metal: filters of Metal Performance Shaders: a weighted sum of the pixels around each one.
#include <metal_stdlib>
using namespace metal;

// Also in MPSImage.m.
struct Filter {
    int2 clip, size; // of the destination
    int2 offset;     // the pixel of the source that belongs to the first of the destination
    int2 window;     // width and height
    int edge;        // MPSImageEdgeMode
    float bias;
    float4 outside; // of edge mode Constant
};
enum { ZERO, CLAMP, MIRROR, MIRROR_WITH_EDGE, CONSTANT };

// The pixel that stands for one outside; -1: none does.
static int inside(int i, int n, int edge) {
    if (i >= 0 && i < n) return i;
    if (edge == CLAMP) return clamp(i, 0, n - 1);
    if (edge == MIRROR && n > 1) {
        const int period = 2 * n - 2, at = (i % period + period) % period;
        return at < n ? at : period - at;
    }
    if (edge == MIRROR) return 0;
    if (edge == MIRROR_WITH_EDGE) {
        const int period = 2 * n, at = (i % period + period) % period;
        return at < n ? at : period - 1 - at;
    }
    return -1;
}

kernel void convolve(constant Filter &f [[buffer(0)]], constant float *weights [[buffer(1)]],
                     texture2d<float, access::read> source [[texture(0)]],
                     texture2d<float, access::write> destination [[texture(1)]],
                     uint2 at [[thread_position_in_grid]]) {
    if (any(int2(at) >= f.size)) return;
    const int2 n = int2(source.get_width(), source.get_height());
    const int2 first = int2(at) + f.offset - f.window / 2;
    const float4 none = f.edge == CONSTANT ? f.outside : float4(0);
    float4 sum = f.bias;
    for (int y = 0; y < f.window.y; y++) {
        const int row = inside(first.y + y, n.y, f.edge);
        for (int x = 0; x < f.window.x; x++) {
            const int column = inside(first.x + x, n.x, f.edge);
            const float4 pixel = row < 0 || column < 0 ? none : source.read(uint2(column, row));
            sum += weights[y * f.window.x + x] * pixel;
        }
    }
    destination.write(sum, uint2(int2(at) + f.clip));
}

/*play {"title": "Cells", "function": "cells", "values": {"u.scale": 6, "u.edge": 0.08, "u.color": [0.2, 0.5, 0.7]},
 "ranges": {"u.scale": [1, 20], "u.edge": [0, 0.3]}} */
// The nearest of points that lie one in each square of a grid: a Voronoi diagram.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float time;
    float2 resolution;
    float scale;
    float edge;
    float3 color;
};

static float2 scatter(float2 p) {
    return fract(sin(float2(dot(p, float2(127.1, 311.7)), dot(p, float2(269.5, 183.3)))) * 43758.5453);
}

fragment float4 cells(float4 position [[position]], constant Uniforms &u [[buffer(0)]]) {
    float2 p = position.xy / u.resolution.y * u.scale, square = floor(p);
    float first = 8, second = 8;
    float2 owner = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
            float2 at = square + float2(x, y), s = scatter(at);
            float d = distance(p, at + 0.5 + 0.4 * sin(u.time + 6.2832 * s));
            if (d < first) {
                second = first;
                first = d;
                owner = s;
            } else {
                second = min(second, d);
            }
        }
    float line = smoothstep(0.0f, u.edge + 0.001f, second - first);
    return float4((0.5 + 0.5 * cos(6.2832 * (owner.x + u.color))) * line * (1.1 - first * 0.5), 1);
}

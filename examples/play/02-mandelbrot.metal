/*play {"title": "Mandelbrot set", "function": "mandelbrot",
 "values": {"u.center": [-0.743, 0.131], "u.zoom": 2, "u.turns": 200, "u.color": [0.1, 0.35, 0.6]},
 "ranges": {"u.center": [-2, 1], "u.zoom": [0, 12], "u.turns": [10, 1000]}} */
// Each pixel is a number c. z = z * z + c stays near 0 for those of the set.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float2 resolution;
    float2 center;
    float zoom; // a power of two
    int turns;
    float3 color;
};

fragment float4 mandelbrot(float4 position [[position]], constant Uniforms &u [[buffer(0)]]) {
    float2 c = (position.xy * 2 - u.resolution) / u.resolution.y * exp2(-u.zoom) + u.center;
    float2 z = 0;
    int i = 0;
    while (i < u.turns && dot(z, z) < 64) {
        z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        i++;
    }
    if (i == u.turns) return float4(0, 0, 0, 1);
    float smooth = i + 2 - log2(log2(dot(z, z)));
    return float4(0.5 - 0.5 * cos(0.15 * smooth + u.color * 6.2832), 1);
}

/*play {"title": "Plasma", "function": "plasma", "values": {"u.speed": 1, "u.zoom": 6, "u.tint": [0.9, 0.5, 0.3]},
 "ranges": {"u.speed": [0, 4], "u.zoom": [1, 20]}} */
// A picture: a fragment function is called for every pixel. `time`, `mouse`, `resolution` and
// `frame` are filled by their names; the other members of the struct get sliders.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float time;
    float2 resolution;
    float2 mouse; // pixels
    float speed;
    float zoom;
    float3 tint;
};

fragment float4 plasma(float4 position [[position]], constant Uniforms &u [[buffer(0)]]) {
    float2 p = (position.xy * 2 - u.resolution) / u.resolution.y * u.zoom;
    float2 m = (u.mouse * 2 - u.resolution) / u.resolution.y * u.zoom;
    float t = u.time * u.speed;
    float v = sin(p.x + t) + sin(p.y * 0.7 - t * 1.3) + sin(length(p - m) - t * 2);
    float3 color = 0.5 + 0.5 * cos(v + u.tint * 6.2832);
    return float4(color, 1);
}

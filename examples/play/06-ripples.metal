/*play {"title": "Sampling a texture", "function": "ripples", "textures": {"picture": "hills"},
 "values": {"u.strength": 0.02, "u.waves": 40}, "ranges": {"u.strength": [0, 0.1], "u.waves": [5, 100]}} */
// A texture, a sampler, and coordinates that waves have moved. `uv` comes from the playground's own
// vertex function: 0 to 1 across the picture.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float time;
    float2 resolution;
    float2 mouse;
    float strength;
    float waves;
};
struct Point {
    float4 position [[position]];
    float2 uv;
};

fragment float4 ripples(Point in [[stage_in]], texture2d<float> picture [[texture(0)]],
                        sampler smooth [[sampler(0)]], constant Uniforms &u [[buffer(0)]]) {
    float2 from = in.uv - u.mouse / u.resolution;
    float d = length(from) + 0.0001;
    float2 moved = in.uv + from / d * sin(d * u.waves - u.time * 6) * u.strength;
    return picture.sample(smooth, moved);
}

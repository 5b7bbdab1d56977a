/*play {"title": "Clouds of noise", "function": "clouds", "values": {"u.cover": 0.5, "u.speed": 0.3}} */
// Value noise at several scales, added up.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float time;
    float2 resolution;
    float cover;
    float speed;
};

static float hash(float2 p) { return fract(sin(dot(p, float2(127.1, 311.7))) * 43758.5453); }

static float noise(float2 p) {
    float2 i = floor(p), f = fract(p), w = f * f * (3 - 2 * f);
    return mix(mix(hash(i), hash(i + float2(1, 0)), w.x), mix(hash(i + float2(0, 1)), hash(i + 1), w.x), w.y);
}

fragment float4 clouds(float4 position [[position]], constant Uniforms &u [[buffer(0)]]) {
    float2 p = position.xy / u.resolution.y * 4 + u.time * u.speed;
    float sum = 0, weight = 0.5;
    for (int i = 0; i < 5; i++) {
        sum += weight * noise(p);
        p = p * 2.03 + float2(1.7, 9.2);
        weight *= 0.5;
    }
    float cloud = smoothstep(1 - u.cover - 0.2, 1 - u.cover + 0.25, sum);
    float3 sky = mix(float3(0.2, 0.45, 0.85), float3(0.65, 0.8, 1), position.y / u.resolution.y);
    return float4(mix(sky, float3(0.98), cloud), 1);
}

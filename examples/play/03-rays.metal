/*play {"title": "Shapes by marching rays", "function": "march",
 "values": {"u.melt": 0.5, "u.color": [0.9, 0.45, 0.2]}, "ranges": {"u.melt": [0.01, 1.5]}} */
// No triangles: a function says how far the nearest surface is, and a ray steps as far as that.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float time;
    float2 resolution;
    float2 mouse;
    float melt;
    float3 color;
};

// The smaller of two, with a round transition.
static float blend(float a, float b, float k) {
    float h = saturate(0.5 + 0.5 * (b - a) / k);
    return mix(b, a, h) - k * h * (1 - h);
}

static float away(float3 p, constant Uniforms &u) {
    float ball = length(p - float3(0.9 * sin(u.time), 0.2, 0)) - 0.7;
    float3 q = abs(p - float3(-0.5, 0.1, 0.4 * cos(u.time))) - 0.45;
    float box = length(max(q, 0.0f)) + min(max(q.x, max(q.y, q.z)), 0.0f) - 0.1;
    return min(blend(ball, box, u.melt), p.y + 0.9);
}

fragment float4 march(float4 position [[position]], constant Uniforms &u [[buffer(0)]]) {
    float2 s = (position.xy * 2 - u.resolution) / u.resolution.y * float2(1, -1);
    float turn = (u.mouse.x / u.resolution.x - 0.5) * 4;
    float3 eye = float3(4 * sin(turn), 1.6, 4 * cos(turn));
    float3 ahead = normalize(-eye), right = normalize(cross(ahead, float3(0, 1, 0)));
    float3 ray = normalize(ahead * 1.8 + right * s.x + cross(right, ahead) * s.y);
    float way = 0;
    for (int i = 0; i < 80 && way < 20; i++) {
        float d = away(eye + ray * way, u);
        if (d < 0.001) break;
        way += d;
    }
    float3 sky = mix(float3(0.75, 0.85, 1), float3(0.25, 0.45, 0.8), saturate(ray.y * 2));
    if (way >= 20) return float4(sky, 1);
    float3 p = eye + ray * way;
    float2 e = float2(0.001, 0);
    float3 n = normalize(float3(away(p + e.xyy, u) - away(p - e.xyy, u), away(p + e.yxy, u) - away(p - e.yxy, u),
                                away(p + e.yyx, u) - away(p - e.yyx, u)));
    float3 sun = normalize(float3(0.6, 0.9, 0.4));
    float shadow = 1, t = 0.03;
    for (int i = 0; i < 24; i++) {
        float d = away(p + sun * t, u);
        shadow = min(shadow, 10 * d / t);
        t += clamp(d, 0.03f, 0.3f);
    }
    float light = 0.25 + 0.75 * saturate(dot(n, sun)) * saturate(shadow);
    float3 color = p.y < -0.89 ? float3(0.55) : u.color;
    return float4(sqrt(mix(color * light, sky, saturate(way / 20))), 1);
}

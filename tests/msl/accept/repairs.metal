// Correct MSL that Clang rejects in our dialect and the repair rounds put right.
#include <metal_stdlib>
using namespace metal;
struct Item { float4 v; int n; };

template <typename V> void scale(thread V &v, float s) {
    v.xy *= s;
    v.yx += v.xy * 2;
    v.x -= 1;
    v.xy = v.yx * 2 + 2 * v.xy;
    v.xy = -v.xy;
    v.x += v.xyz[1] + v.xyz.yz.x;
    bool2 less = v.xy < v.yx;
    v.xy = select(v.xy, v.yx, less);
    v.y = dot(v.xy, v.yx) + (less.x ? v.xy : v.yx).x;
    v.xy = v.x > 0 ? v.xy * 3 : -v.yx - 1;
    v.xy++;
    float2 pair = v.xy, other{v.yx};
    pair += v.xy / v.yx;
    v = V(pair, other);
    if (any(v.xy == v.zw) || !all(v.xy != 1))
        v.zw = max(v.xy, 0.0f) - v.wz;
}
template <typename T> T through(half h) { return static_cast<T>(h); }
template <typename A, typename B> A cast(B b) { return A(b); }

kernel void mixed(device float4 *d [[buffer(0)]], constant float4 *c [[buffer(1)]], threadgroup float4 *t [[threadgroup(0)]],
                  device Item *items [[buffer(2)]], constant Item &one [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    float4 local = 1;
    float4 a = i > 1 ? d[i] : t[i];
    float4 b = i > 2 ? c[i] : local;
    float4 e = i > 3 ? (i > 4 ? d[i] : c[i]) : t[0];
    Item item = i > 5 ? items[i] : one;
    scale(a, 2);
    bfloat x = (bfloat)(half)a.x;
    half y = (half)x;
    bfloat z = through<bfloat>(y) + cast<bfloat>(1.5h);
    half w = cast<half>(z);
    bfloat4 xs = bfloat4(half4(a));
    d[i] = a + b + e + item.v + float(z) + float(w) + float4(xs) + float4(half4(xs));
    d[i].xy = i & 1 ? b.xy : c[0].zw;
    d[i].zw += e.xy;
    t[i].x = i > 1 ? d[i].x : t[i].y;
}

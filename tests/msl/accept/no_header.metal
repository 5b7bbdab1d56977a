// The language itself needs no header: scalars, vectors, address spaces, attributes, threadgroup memory, bfloat, and the
// namespace metal, which published shaders use without any.
using namespace metal;
constant float scale [[function_constant(0)]];
struct Pair { float a; half b; };
[[visible]] float twice(float x) { return 2 * x; }
template <typename T> T third(thread const T *p) { return p[2]; }
kernel void k(device float *x [[buffer(0)]], constant Pair &pair [[buffer(1)]],
              unsigned i [[thread_position_in_grid]], unsigned short l [[thread_index_in_threadgroup]]) {
    threadgroup float t[64];
    t[l] = x[i] * scale + pair.a;
    float three[3] = {1, 2, t[l]};
    bfloat b = 1.5bf;
    auto add = [&](float y) { return y + b + pair.b; };
    x[i] = add(third(three)) + twice(0.5);
}
struct Colored { float4 position [[position]]; float4 color; };
struct Packed { packed_float3 at; uchar4 color; };
vertex Colored v(const device Packed *p [[buffer(0)]], uint i [[vertex_id]]) {
    metal::uint2 odd = uint2(i, i + 1) & 1;
    size_t n = sizeof(float4);
    return {float4(float3(p[i].at).zyx, n), float4(p[i].color) / 255 + half4(1).x + as_type<float>(odd.y)};
}
fragment float4 f(Colored in [[stage_in]]) { return in.color.bgra * 2; }
// Apple's compiler knows the library without its headers.
kernel void rotated(device uint *o [[buffer(0)]]) { o[0] = metal::rotate(o[0], 8u); }
fragment float4 sampled(metal::texture2d<float> t [[texture(0)]]) { return t.read(uint2(0)); }

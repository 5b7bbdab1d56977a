// Meshes pulled from buffers of bytes, vertex functions that write, matrices in packed form.
#include <metal_stdlib>
using namespace metal;
typedef struct __attribute__((packed)) { packed_short4 position; packed_uchar4 normal; packed_half2 uv; } PackedVertex;
struct V2F { float4 position [[position]]; half3 normal; float2 uv; ushort id [[flat]]; short2 cell [[flat]]; };
vertex V2F pulled(const device uchar *bytes [[buffer(0)]], const device ushort *indices [[buffer(1)]], constant float4x4 &m [[buffer(2)]], device atomic_uint *visible [[buffer(3)]], uint v [[vertex_id]]) {
    uint i = indices[v];
    device const PackedVertex &p = ((device const PackedVertex *)bytes)[i];
    V2F o;
    o.position = m * float4(float3(short3(p.position[0], p.position[1], p.position[2])) / 32767.0f, 1);
    o.normal = half3(p.normal[0], p.normal[1], p.normal[2]) / 127.5h - 1;
    o.uv = float2(half2(p.uv));
    o.id = ushort(i);
    o.cell = short2(short(v / 16), short(-int(v % 16)));
    if (o.position.w > 0) atomic_fetch_or_explicit(&visible[i / 32], 1u << (i & 31), memory_order_relaxed);
    return o;
}
struct Targets { uint4 id [[color(0)]]; int2 cell [[color(1)]]; half4 normal [[color(2)]]; float depth [[color(3)]]; };
fragment Targets picked(V2F in [[stage_in]], texture2d<uint> ids [[texture(0)]], device uint *histogram [[buffer(0)]]) {
    Targets t;
    t.id = uint4(in.id, ids.read(uint2(in.position.xy)).xyz);
    t.cell = int2(in.cell);
    t.normal = half4(normalize(in.normal), 1);
    t.depth = in.position.z;
    if (!simd_is_helper_thread()) histogram[in.id & 255] = simd_sum(1u);
    return t;
}

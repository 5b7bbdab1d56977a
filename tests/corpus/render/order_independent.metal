// Linked lists of transparent fragments in buffers; early tests; writes to textures.
#include <metal_stdlib>
using namespace metal;
struct Node { uint next; float depth; half4 color; };
struct FragIn { float4 position [[position]]; half4 color; };
[[early_fragment_tests]]
fragment void gather_fragments(FragIn in [[stage_in]], device Node *nodes [[buffer(0)]], device atomic_uint *heads [[buffer(1)]], device atomic_uint &counter [[buffer(2)]], constant uint2 &size [[buffer(3)]], constant uint &capacity [[buffer(4)]]) {
    uint at = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    if (at >= capacity) return;
    uint2 p = uint2(in.position.xy);
    nodes[at].color = in.color;
    nodes[at].depth = in.position.z;
    nodes[at].next = atomic_exchange_explicit(&heads[p.y * size.x + p.x], at + 1, memory_order_relaxed);
}
fragment half4 resolve_fragments(float4 position [[position]], device const Node *nodes [[buffer(0)]], device const uint *heads [[buffer(1)]], constant uint2 &size [[buffer(3)]], texture2d<uint, access::read_write> overdraw [[texture(0)]]) {
    uint2 p = uint2(position.xy);
    uint at = heads[p.y * size.x + p.x], n = 0;
    half4 colors[8];
    float depths[8];
    while (at && n < 8) {
        Node node = nodes[at - 1];
        uint i = n++;
        while (i > 0 && depths[i - 1] < node.depth) { depths[i] = depths[i - 1]; colors[i] = colors[i - 1]; i--; }
        depths[i] = node.depth;
        colors[i] = node.color;
        at = node.next;
    }
    half4 sum = 0;
    for (uint i = 0; i < n; i++) sum = colors[i] + sum * (1 - colors[i].a);
    overdraw.write(uint4(n), p);
    return sum;
}

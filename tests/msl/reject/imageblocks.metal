// What tile functions and imageblocks may not be.
#include <metal_stdlib>
using namespace metal;
struct C { half4 c [[color(0)]]; };
struct G { half4 a; float b; };
struct Big { float4 a[17]; };
kernel void plain_members(imageblock<G, imageblock_layout_implicit> b) {} // expect-error: 'b': every member of an imageblock with implicit layout needs the attribute 'color(n)'
kernel void two(imageblock<C> a, imageblock<C> b) {} // expect-error: 'b': function 'two' has more than one imageblock of colors
kernel void scalar(imageblock<float> b) {} // expect-error: 'b': the pixels of an imageblock are structures
kernel void big(imageblock<Big> b) {} // expect-error: an imageblock of 'big' takes 272 bytes for a pixel: there may be 256
fragment float4 block(imageblock<C> b) { return 0; } // expect-error: 'b' of 'block': an imageblock is an argument of kernels; fragment functions have 'imageblock_data'
fragment float4 number(float b [[imageblock_data]]) { return b; } // expect-error: type 'float' is not valid for attribute 'imageblock_data': it must be a structure
fragment float4 view(G b [[imageblock_data(Big)]]) { return b.b; } // expect-error: 'imageblock_data(Big)' of type 'G': views of another structure are not supported
fragment float4 tile(float2 p [[pixel_position_in_tile]]) { return p.x; } // expect-error: type 'float2' is not valid for attribute 'pixel_position_in_tile'

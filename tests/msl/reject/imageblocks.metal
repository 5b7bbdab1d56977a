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
struct Wide { float a; float2 b [[user(b)]]; struct N { int x [[user(x)]]; } n [[user(n)]]; };
struct Missing { float c; }; // expect-error: 'c' is no member of the imageblock 'Wide'
fragment float4 missing(Missing m [[imageblock_data(Wide)]]) { return m.c; }
struct OtherType { half a; }; // expect-error: 'a' has another type in the imageblock 'Wide'
fragment float4 other_type(OtherType m [[imageblock_data(Wide)]]) { return m.a; }
struct NoUser { float2 b; }; // expect-error: 'b' is no member of the imageblock 'Wide'
fragment float4 no_user(NoUser m [[imageblock_data(Wide)]]) { return m.b.x; }
struct Nested { int x; }; // expect-error: 'x' is no member of the imageblock 'Wide'
fragment float4 nested(Nested m [[imageblock_data(Wide)]]) { return m.x; }
struct Alias { int x [[user(x)]]; Wide::N n [[user(n)]]; }; // expect-error: 'n' and another member of the view are the same member of the imageblock 'Wide'
fragment float4 alias(Alias m [[imageblock_data(Wide)]]) { return m.x; }
fragment float4 view(G b [[imageblock_data(Big)]]) { return b.b; } // expect-error: an imageblock of 'view' takes 272 bytes for a pixel: there may be 256
fragment float4 no_structure(G b [[imageblock_data(int)]]) { return b.b; } // expect-error: 'imageblock_data' attribute takes a structure
fragment float4 tile(float2 p [[pixel_position_in_tile]]) { return p.x; } // expect-error: type 'float2' is not valid for attribute 'pixel_position_in_tile'

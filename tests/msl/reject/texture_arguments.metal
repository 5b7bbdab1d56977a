// Texture and sampler arguments of entry points that Metal refuses.
#include <metal_stdlib>
using namespace metal;
kernel void far(texture2d<float> t [[texture(128)]]) {} // expect-error: 'texture' attribute parameter is out of bounds: must be between 0 and 127
kernel void far_sampler(sampler s [[sampler(16)]]) {} // expect-error: 'sampler' attribute parameter is out of bounds: must be between 0 and 15
kernel void past(array<texture2d<float>, 8> t [[texture(121)]]) {} // expect-error: must be between 0 and 127
kernel void negative(texture2d<float> t [[texture(-1)]]) {} // expect-error: must be between 0 and 127
kernel void twice(texture2d<float> a [[texture(3)]], texture2d<float> b [[texture(3)]]) {} // expect-error: cannot reserve 'texture' resource location at index 3
kernel void inside(array<texture2d<float>, 4> a [[texture(2)]], texture2d<float> b [[texture(5)]]) {} // expect-error: cannot reserve 'texture' resource location at index 5
kernel void samplers(sampler a [[sampler(0)]], sampler b [[sampler(0)]]) {} // expect-error: cannot reserve 'sampler' resource location at index 0
kernel void as_buffer(texture2d<float> t [[buffer(0)]]) {} // expect-error: 'buffer' attribute cannot be applied to a texture
kernel void as_sampler(texture2d<float> t [[sampler(0)]]) {} // expect-error: 'sampler' attribute cannot be applied to a texture
kernel void sampler_as_texture(sampler s [[texture(0)]]) {} // expect-error: 'texture' attribute cannot be applied to a sampler
kernel void buffer_as_texture(device float *p [[texture(0)]]) {} // expect-error: 'texture' attribute only applies to textures
kernel void pointer_as_sampler(device float *p [[sampler(0)]]) {} // expect-error: 'sampler' attribute only applies to samplers
kernel void too_many(array<texture2d<float>, 129> t) {} // expect-error: no 'texture' resource location is left for parameter 't'
kernel void no_room(array<sampler, 16> a, sampler b) {} // expect-error: no 'sampler' resource location is left for parameter 'b'
struct Mixed { texture2d<float> a [[texture(0)]]; int n; };
kernel void mixed(Mixed m) {} // expect-error: invalid type 'Mixed' for parameter 'm' of an entry point
struct Empty {};
kernel void empty(Empty m) {} // expect-error: invalid type 'Empty' for parameter 'm' of an entry point
struct Two { texture2d<float> a [[texture(1)]]; texture2d<float> b [[texture(1)]]; };
kernel void clash(Two m) {} // expect-error: cannot reserve 'texture' resource location at index 1
struct Wrong { texture2d<float> a [[sampler(1)]]; }; // expect-error: 'sampler' attribute cannot be applied to a texture
kernel void wrong(Wrong m) {}

/*play {
 "title": "5. Textures",
 "function": "mirror",
 "grid": [
  256,
  256
 ],
 "size": [
  256,
  256
 ],
 "textures": {
  "from": "gradient"
 },
 "checks": [
  {
   "expect": [
    {
     "pixel": [
      10,
      200
     ],
     "color": [
      0.959,
      0.783,
      0.5,
      1
     ]
    },
    {
     "pixel": [
      200,
      30
     ],
     "color": [
      0.217,
      0.119,
      0.5,
      1
     ]
    },
    {
     "pixel": [
      255,
      0
     ],
     "color": [
      0,
      0,
      0.5,
      1
     ]
    },
    {
     "pixel": [
      0,
      255
     ],
     "color": [
      1,
      1,
      0.5,
      1
     ]
    }
   ]
  }
 ]
} */
/*lesson
# 5. Textures

A **texture** is a picture that the GPU knows how to read. A kernel reads a pixel by its place, and writes one:

    float4 color = from.read(uint2(x, y));
    to.write(color, uint2(x, y));

Colours are four numbers, red, green, blue, alpha, from 0 to 1, however the texture stores them. The grid here has two
dimensions, one thread for each pixel, and `at` is a `uint2`.

With a **sampler** a texture is read between its pixels, at coordinates from 0 to 1:

    constexpr sampler smooth(filter::linear, address::clamp_to_edge);
    float4 color = from.sample(smooth, float2(0.5, 0.25));

Choose other pictures for `from` on the right.

## Exercise

Mirror the picture: left becomes right. The first pixel of a row must come from the last one, whose place is
`from.get_width() - 1`. With the picture `gradient` red is then at the left.
*/
#include <metal_stdlib>
using namespace metal;

kernel void mirror(texture2d<float> from [[texture(0)]], texture2d<float, access::write> to [[texture(1)]],
                   uint2 at [[thread_position_in_grid]]) {
    uint2 source = uint2(from.get_width() - 1 - at.x, at.y);
    to.write(from.read(source), at);
}

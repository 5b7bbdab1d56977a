/*play {
 "title": "7. Depth",
 "function": "paint",
 "vertex": "corner",
 "vertices": 3,
 "instances": 3,
 "depth": true,
 "size": [
  256,
  256
 ],
 "clear": [
  0.1,
  0.1,
  0.14,
  1
 ],
 "checks": [
  {
   "expect": [
    {
     "pixel": [
      64,
      200
     ],
     "color": [
      0.9,
      0.3,
      0.2,
      1
     ]
    },
    {
     "pixel": [
      112,
      150
     ],
     "color": [
      0.2,
      0.7,
      0.4,
      1
     ]
    },
    {
     "pixel": [
      155,
      150
     ],
     "color": [
      0.2,
      0.7,
      0.4,
      1
     ]
    },
    {
     "pixel": [
      225,
      200
     ],
     "color": [
      0.25,
      0.45,
      0.9,
      1
     ]
    },
    {
     "pixel": [
      10,
      10
     ],
     "color": [
      0.1,
      0.1,
      0.14,
      1
     ]
    }
   ]
  }
 ]
} */
/*lesson
# 7. Depth

What is drawn later covers what was drawn before, unless there is a **depth** texture. It holds, for each pixel, how
far away the thing is that was drawn there: 0 is nearest, 1 is farthest. A fragment that is not nearer than that is
thrown away. So things may be drawn in any order.

The depth of a fragment is the third number of its position, interpolated between the corners (divided by the fourth,
which is how perspective is made: far things have a large fourth number, and shrink).

Here three triangles are drawn as three **instances**: the same vertices, with another `instance_id`. They should lie
like cards: the green one in front of both others, the red one next, the blue one behind.

## Exercise

All three have the depth 0.5, so the first that was drawn stays: nothing is nearer than it. Give each instance `n` a
depth of its own, between 0 and 1, so that the green one, instance 1, is in front, and the blue one, instance 2, behind.
Then untick `depth` on the right: the last one that is drawn covers the others.
*/
#include <metal_stdlib>
using namespace metal;

struct Corner {
    float4 position [[position]];
    float3 color;
};

vertex Corner corner(uint i [[vertex_id]], uint n [[instance_id]]) {
    const float2 places[3] = {float2(-0.5, -0.7), float2(0.5, -0.7), float2(0, 0.7)};
    const float3 colors[3] = {float3(0.9, 0.3, 0.2), float3(0.2, 0.7, 0.4), float3(0.25, 0.45, 0.9)};
    float2 p = places[i] + float2(0.35 * n - 0.35, 0);
    float depth = n == 1 ? 0.2 : n == 0 ? 0.4 : 0.6;
    return {float4(p, depth, 1), colors[n]};
}

fragment float4 paint(Corner in [[stage_in]]) {
    return float4(in.color, 1);
}

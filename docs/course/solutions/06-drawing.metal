/*play {
 "title": "6. Drawing",
 "function": "paint",
 "vertex": "corner",
 "vertices": 6,
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
      100,
      160
     ],
     "color": [
      0.31,
      0.69,
      0.5,
      1
     ],
     "tolerance": 0.2
    },
    {
     "pixel": [
      80,
      180
     ],
     "color": [
      0.19,
      0.83,
      0.5,
      1
     ],
     "tolerance": 0.2
    },
    {
     "pixel": [
      180,
      76
     ],
     "color": [
      0.81,
      0.19,
      0.5,
      1
     ],
     "tolerance": 0.2
    },
    {
     "pixel": [
      20,
      20
     ],
     "color": [
      0.1,
      0.1,
      0.14,
      1
     ]
    },
    {
     "pixel": [
      236,
      20
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
# 6. Drawing

Two functions draw. The **vertex function** is called for each corner of the triangles and says where it lies; the
hardware finds the pixels inside; the **fragment function** is called for each of these and says its colour.

Places are four numbers. The picture is the square from (-1, -1), at the bottom left, to (1, 1), at the top right;
the third number is depth (lesson 7), the fourth is 1 for now.

What else the vertex function returns is **interpolated**: in the middle between two corners a fragment gets the middle
of their values. Here that is `color`.

Three corners in a row make a triangle. The draw on the right has 6 of them: two triangles. Tick `wireframe` to see
their edges.

## Exercise

Only the first triangle is there: the upper left half of a square. Add the three corners of the other half, so that the
square from (-0.6, -0.6) to (0.6, 0.6) is full. The colour follows from the place.
*/
#include <metal_stdlib>
using namespace metal;

struct Corner {
    float4 position [[position]];
    float3 color;
};

vertex Corner corner(uint i [[vertex_id]]) {
    const float2 places[6] = {
        float2(-1, -1), float2(-1, 1), float2(1, 1),
        float2(-1, -1), float2(1, 1), float2(1, -1),
    };
    float2 p = places[i] * 0.6;
    return {float4(p, 0, 1), float3(p.x / 1.2 + 0.5, 0.5 - p.y / 1.2, 0.5)};
}

fragment float4 paint(Corner in [[stage_in]]) {
    return float4(in.color, 1);
}

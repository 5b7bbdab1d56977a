// SPDX-License-Identifier: Apache-2.0
// bench_resources.metal: sampling for `ingot bench` (bench_resources.c).
#include <metal_stdlib>
using namespace metal;

kernel void resample(texture2d<float> in [[texture(0)]],
                     texture2d<float, access::write> out [[texture(1)]], sampler s [[sampler(0)]],
                     uint2 p [[thread_position_in_grid]]) {
    if (p.x >= out.get_width() || p.y >= out.get_height()) return;
    float2 uv = (float2(p) + 0.5f) / float2(out.get_width(), out.get_height());
    out.write(in.sample(s, uv), p);
}

/*play {"title": "A kernel that writes a picture", "function": "blur", "grid": [256, 256], "size": [256, 256],
 "textures": {"from": "hills"}, "values": {"radius": 4}, "ranges": {"radius": [0, 12]}} */
// A kernel with textures: one thread for each pixel, which reads its neighbours and writes the mean.
#include <metal_stdlib>
using namespace metal;

kernel void blur(texture2d<float> from [[texture(0)]], texture2d<float, access::write> to [[texture(1)]],
                 constant int &radius [[buffer(0)]], uint2 at [[thread_position_in_grid]]) {
    float4 sum = 0;
    int2 last = int2(from.get_width(), from.get_height()) - 1;
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++)
            sum += from.read(uint2(clamp(int2(at) + int2(x, y), int2(0), last)));
    int n = 2 * radius + 1;
    to.write(sum / float(n * n), at);
}

/*play {"title": "A buffer of structs", "function": "launch", "grid": [48],
 "values": {"u.speed": 3, "u.steps": 60}, "ranges": {"u.speed": [0, 10], "u.steps": [1, 200]}} */
// The table shows the members of the struct as they lie in memory.
#include <metal_stdlib>
using namespace metal;

struct Particle {
    float2 place;
    float2 speed;
    uint bounces;
};
struct Uniforms {
    float speed;
    int steps;
};

kernel void launch(device Particle *particles [[buffer(0)]], constant Uniforms &u [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    float angle = i / 47.0 * M_PI_F;
    Particle p = {float2(0, 1), u.speed * float2(cos(angle), sin(angle)), 0};
    for (int k = 0; k < u.steps; k++) {
        p.speed.y -= 9.81 * 0.016;
        p.place += p.speed * 0.016;
        if (p.place.y < 0) {
            p.place.y = -p.place.y;
            p.speed.y *= -0.8;
            p.bounces++;
        }
    }
    particles[i] = p;
}

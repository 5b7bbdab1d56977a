// Visible functions and tables of them, in the forms that programs use.
#include <metal_stdlib>
#include <metal_visible_function_table>
using namespace metal;

struct Light { float3 position; float power; };
struct Hit { packed_float3 at; uint material; };
struct Lighting { float3 colour; };

[[visible]] Lighting area(Light light, Hit hit) { return {light.position * light.power + float3(hit.at)}; }
Lighting spot(Light light, Hit hit) [[visible]] { Lighting r; r.colour = light.position - float3(hit.at); return r; }
[[visible, host_name("renamed")]] float3 skin(constant Light &l, thread Lighting &out) { out.colour += l.power; return out.colour; }
namespace shading { [[visible]] float3 hair(device const Hit *hits, threadgroup float *t, uint i) { return float3(hits[i].at) + t[0]; } }
template <typename T> [[visible]] T doubled(T x) { return x + x; }
template [[visible, host_name("doubled_float")]] float doubled<float>(float);
template [[visible, host_name("doubled_int4")]] int4 doubled<int4>(int4);
[[visible]] inline float quick(float x) { return x; }
[[visible]] static float hidden(float x) { return -x; }
[[stitchable]] half4 tint(half4 c, half s) { return c * s; }
[[visible]] float declared_only(float x);
extern float from_elsewhere(float x);

using LightingFunction = Lighting(Light, Hit);
using Scalar = float(float);
typedef float3 Hair(device const Hit *, threadgroup float *, uint);
struct Scene {
    visible_function_table<LightingFunction> lights;
    array<visible_function_table<Scalar>, 3> scalars;
    visible_function_table<Scalar> more[2];
    device Hit *hits;
};

Lighting shade(LightingFunction *lighting, Light l, Hit h) {
    [[function_groups("lighting")]] Lighting r = lighting(l, h);
    return r;
}
float through(const thread visible_function_table<Scalar> &t, float x) { return t[0](x); }
float by_value(visible_function_table<Scalar> t, float x) { [[function_groups("a", "b")]] return t[1](x); }
float chosen(bool c, float x) { Scalar *f = c ? quick : hidden; return f(x); }
float twice(Scalar &f, float x) { return f(f(x)); }
using Pointer = Scalar *;
constant Pointer fixed[2] = {quick, &hidden};

kernel void render(visible_function_table<Lighting(Light, Hit)> lights [[buffer(0)]],
                   constant Scene &scene [[buffer(1)]],
                   device const Scene &other [[buffer(2)]],
                   visible_function_table<Hair> hairs [[buffer(3)]],
                   device float3 *out [[buffer(4)]],
                   array<visible_function_table<Scalar>, 2> pair [[buffer(5)]],
                   threadgroup float *t [[threadgroup(0)]],
                   uint i [[thread_position_in_grid]]) {
    Light l = {float3(1, 2, 3), 4};
    Hit h = other.hits[i];
    float3 sum = 0;
    if (!is_null_visible_function_table(lights) && h.material < lights.size()) sum += lights[h.material](l, h).colour;
    sum += shade(scene.lights[i], l, h).colour;
    LightingFunction *f = scene.lights[i & 3];
    if (f != nullptr) sum += (*f)(l, h).colour;
    if (f) sum += 1;
    visible_function_table<Scalar> local = pair[i & 1];
    sum += local[i](sum.x) + through(local, sum.y) + by_value(other.scalars[2], sum.z) + other.more[i & 1][0](1.0f);
    sum += hairs[0](scene.hits, t, i) + chosen(i & 1, 2.0f) + twice(quick, 3.0f) + doubled(sum.x) + fixed[i & 1](1);
    if (i == 0xffffffff) sum += declared_only(1) + from_elsewhere(2);
    if (local.empty()) local = nullptr;
    out[i] = sum;
}

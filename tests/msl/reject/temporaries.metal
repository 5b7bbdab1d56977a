// What looks like the accepted forms beside it, and is not.
#include <metal_stdlib>
using namespace metal;
struct OnDevice {
    float e[4];
    device float &operator[](size_t i) device { return e[i]; }
    float get() const constant { return e[0]; }
};
OnDevice make();
OnDevice make() { return OnDevice{{1, 2, 3, 4}}; }
kernel void k(device float *o, device float4 *v, device uint4 *u) {
    o[0] = make()[0u]; // expect-error: a temporary is in thread memory
    o[1] = make().get(); // expect-error: cannot initialize object parameter of type 'constant OnDevice'
    float3 cut = v[0]; // expect-error: no viable conversion
    float4 more = {1, 2, 3, 4, 5}; // expect-error: no matching constructor
}

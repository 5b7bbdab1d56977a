// The language itself needs no header: scalars, address spaces, attributes, threadgroup memory, bfloat.
constant float scale [[function_constant(0)]];
struct Pair { float a; half b; };
[[visible]] float twice(float x) { return 2 * x; }
template <typename T> T third(thread const T *p) { return p[2]; }
kernel void k(device float *x [[buffer(0)]], constant Pair &pair [[buffer(1)]],
              unsigned i [[thread_position_in_grid]], unsigned short l [[thread_index_in_threadgroup]]) {
    threadgroup float t[64];
    t[l] = x[i] * scale + pair.a;
    float three[3] = {1, 2, t[l]};
    bfloat b = 1.5bf;
    auto add = [&](float y) { return y + b + pair.b; };
    x[i] = add(third(three)) + twice(0.5);
}

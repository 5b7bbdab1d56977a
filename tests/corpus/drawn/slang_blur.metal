// Slang: a context that carries the globals by pointer; names with _0 and _S; one direction of a blur.
#include <metal_stdlib>
#include <metal_math>
#include <metal_texture>
using namespace metal;

#line 1 "blur.slang"
struct Params_0 { float2 direction_0; int radius_0; float sigma_0; };
struct KernelContext_0 {
    Params_0 constant* params_0;
    texture2d<float, access::sample> source_0;
    sampler smp_0;
};
float weight_0(int i_0, KernelContext_0 thread* kernelContext_0) {
    float x_0 = float(i_0) / kernelContext_0->params_0->sigma_0;
    return exp(-0.5 * x_0 * x_0);
}
float4 blur_0(float2 uv_0, KernelContext_0 thread* kernelContext_1) {
    float4 sum_0 = float4(0.0);
    float total_0 = 0.0;
    int i_1 = - kernelContext_1->params_0->radius_0;
    for (;;) {
        if (i_1 <= (kernelContext_1->params_0->radius_0)) {
        } else {
            break;
        }
        float w_0 = weight_0(i_1, kernelContext_1);
        sum_0 = sum_0 + (((kernelContext_1->source_0).sample((kernelContext_1->smp_0), (uv_0 + kernelContext_1->params_0->direction_0 * float2(float(i_1))), level((0.0))))) * float4(w_0);
        total_0 = total_0 + w_0;
        i_1 = i_1 + int(1);
    }
    return sum_0 / float4(total_0);
}
struct VOut_0 { float4 position_0 [[position]]; float2 uv_1 [[user(UV)]]; };
[[vertex]] VOut_0 vertexMain(uint id_0 [[vertex_id]]) {
    float2 _S1 = float2(float((id_0 << 1U) & 2U), float(id_0 & 2U));
    thread VOut_0 result_0;
    (&result_0)->position_0 = float4(_S1 * float2(2.0, -2.0) + float2(-1.0, 1.0), 0.0, 1.0);
    (&result_0)->uv_1 = _S1;
    return result_0;
}
struct pixelOutput_0 { float4 output_0 [[color(0)]]; };
struct pixelInput_0 { float2 uv_2 [[user(UV)]]; };
[[fragment]] pixelOutput_0 fragmentMain(pixelInput_0 _S2 [[stage_in]], float4 position_1 [[position]], Params_0 constant* params_1 [[buffer(0)]], texture2d<float, access::sample> source_1 [[texture(0)]], sampler smp_1 [[sampler(0)]]) {
    KernelContext_0 kernelContext_2;
    (&kernelContext_2)->params_0 = params_1;
    (&kernelContext_2)->source_0 = source_1;
    (&kernelContext_2)->smp_0 = smp_1;
    pixelOutput_0 _S3 = { blur_0(_S2.uv_2, &kernelContext_2) };
    return _S3;
}

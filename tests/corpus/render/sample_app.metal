// As sample code of the platform is written: shared header enums, a static triangle, a textured quad.
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;
typedef enum AAPLVertexInputIndex { AAPLVertexInputIndexVertices = 0, AAPLVertexInputIndexViewportSize = 1 } AAPLVertexInputIndex;
typedef enum AAPLTextureIndex { AAPLTextureIndexBaseColor = 0 } AAPLTextureIndex;
typedef struct { vector_float2 position; vector_float4 color; } AAPLVertex;
typedef struct { vector_float2 position; vector_float2 textureCoordinate; } AAPLTexturedVertex;
struct RasterizerData {
    float4 position [[position]];
    float4 color;
};
vertex RasterizerData
vertexShader(uint vertexID [[vertex_id]],
             constant AAPLVertex *vertices [[buffer(AAPLVertexInputIndexVertices)]],
             constant vector_uint2 *viewportSizePointer [[buffer(AAPLVertexInputIndexViewportSize)]])
{
    RasterizerData out;
    float2 pixelSpacePosition = vertices[vertexID].position.xy;
    vector_float2 viewportSize = vector_float2(*viewportSizePointer);
    out.position = vector_float4(0.0, 0.0, 0.0, 1.0);
    out.position.xy = pixelSpacePosition / (viewportSize / 2.0);
    out.color = vertices[vertexID].color;
    return out;
}
fragment float4 fragmentShader(RasterizerData in [[stage_in]]) { return in.color; }

struct TexturedData { float4 position [[position]]; float2 textureCoordinate; };
vertex TexturedData
texturedVertex(uint vertexID [[ vertex_id ]],
               constant AAPLTexturedVertex *vertexArray [[ buffer(AAPLVertexInputIndexVertices) ]],
               constant float &aspect [[ buffer(AAPLVertexInputIndexViewportSize) ]])
{
    TexturedData out;
    float2 p = vertexArray[vertexID].position.xy;
    out.position = vector_float4(p.x / aspect, p.y, 0.0, 1.0);
    out.textureCoordinate = vertexArray[vertexID].textureCoordinate;
    return out;
}
fragment float4 samplingShader(TexturedData in [[stage_in]],
                               texture2d<half> colorTexture [[ texture(AAPLTextureIndexBaseColor) ]])
{
    constexpr sampler textureSampler (mag_filter::linear, min_filter::linear);
    const half4 colorSample = colorTexture.sample(textureSampler, in.textureCoordinate);
    return float4(colorSample);
}

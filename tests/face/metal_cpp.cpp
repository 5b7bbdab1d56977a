// SPDX-License-Identifier: Apache-2.0
// metal_cpp.cpp: C++ with Apple's header-only metal-cpp (INGOT_METAL_CPP names its folder): compute
// with function constants, blits, events, heaps, and a triangle.
#define NS_PRIVATE_IMPLEMENTATION
#define CA_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <QuartzCore/QuartzCore.hpp>
#include <cstdio>
#include <cstring>

static int failures;
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (void)(failures++, std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

static NS::String *text(const char *s) { return NS::String::string(s, NS::UTF8StringEncoding); }

static MTL::Library *compile(MTL::Device *device, const char *source) {
    NS::Error *error = nullptr;
    MTL::Library *library = device->newLibrary(text(source), nullptr, &error);
    if (!library) failures++, std::printf("%s\n", error->localizedDescription()->utf8String());
    return library;
}

static void compute(MTL::Device *device, MTL::CommandQueue *queue) {
    NS::Error *error = nullptr;
    MTL::Library *library = compile(
        device,
        "constant int factor [[function_constant(0)]];\n"
        "kernel void scale(device int *data [[buffer(0)]], uint i [[thread_position_in_grid]])\n"
        "{ data[i] *= factor; }\n");
    MTL::FunctionConstantValues *values = MTL::FunctionConstantValues::alloc()->init();
    int factor = 3;
    values->setConstantValue(&factor, MTL::DataTypeInt, NS::UInteger(0));
    MTL::Function *function = library->newFunction(text("scale"), values, &error);
    MTL::ComputePipelineState *state = device->newComputePipelineState(function, &error);
    CHECK(state && !error);
    MTL::Buffer *data = device->newBuffer(16, MTL::ResourceStorageModeShared);
    for (int i = 0; i < 4; i++) static_cast<int *>(data->contents())[i] = i;
    MTL::CommandBuffer *commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder *encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state);
    encoder->setBuffer(data, 0, 0);
    encoder->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
    encoder->endEncoding();
    bool called = false;
    commands->addCompletedHandler([&](MTL::CommandBuffer *buffer) {
        called = buffer->status() == MTL::CommandBufferStatusCompleted;
    });
    commands->commit();
    commands->waitUntilCompleted();
    CHECK(called);
    CHECK(static_cast<int *>(data->contents())[3] == 9);
    CHECK(device->maxThreadsPerThreadgroup().width == 1024); // a result in memory
    data->release();
    state->release();
    function->release();
    values->release();
    library->release();
}

static void events_and_heaps(MTL::Device *device, MTL::CommandQueue *queue) {
    MTL::HeapDescriptor *descriptor = MTL::HeapDescriptor::alloc()->init();
    descriptor->setSize(1 << 20);
    descriptor->setStorageMode(MTL::StorageModeShared);
    MTL::Heap *heap = device->newHeap(descriptor);
    MTL::Buffer *buffer = heap->newBuffer(256, MTL::ResourceStorageModeShared);
    CHECK(buffer->heap() == heap);
    MTL::SharedEvent *event = device->newSharedEvent();
    MTL::CommandBuffer *commands = queue->commandBuffer();
    MTL::BlitCommandEncoder *blit = commands->blitCommandEncoder();
    blit->fillBuffer(buffer, NS::Range::Make(0, 256), 5);
    blit->endEncoding();
    commands->encodeSignalEvent(event, 1);
    commands->commit();
    CHECK(event->waitUntilSignaledValue(1, 10000));
    CHECK(static_cast<unsigned char *>(buffer->contents())[255] == 5);
    commands->waitUntilCompleted();
    event->release();
    buffer->release();
    heap->release();
    descriptor->release();
}

static void triangle(MTL::Device *device, MTL::CommandQueue *queue) {
    NS::Error *error = nullptr;
    MTL::Library *library =
        compile(device, "vertex float4 corner(uint i [[vertex_id]]) { return float4(i & 1 ? 3 : "
                        "-1, i & 2 ? 3 : -1, 0, 1); }\n"
                        "fragment float4 red() { return float4(1, 0, 0, 1); }\n");
    MTL::Function *vertex = library->newFunction(text("corner")),
                  *fragment = library->newFunction(text("red"));
    MTL::RenderPipelineDescriptor *descriptor = MTL::RenderPipelineDescriptor::alloc()->init();
    descriptor->setVertexFunction(vertex);
    descriptor->setFragmentFunction(fragment);
    descriptor->colorAttachments()->object(0)->setPixelFormat(MTL::PixelFormatRGBA8Unorm);
    MTL::RenderPipelineState *state = device->newRenderPipelineState(descriptor, &error);
    CHECK(state && !error);
    MTL::TextureDescriptor *shape =
        MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatRGBA8Unorm, 8, 8, false);
    shape->setUsage(MTL::TextureUsageRenderTarget);
    MTL::Texture *texture = device->newTexture(shape);
    MTL::RenderPassDescriptor *pass = MTL::RenderPassDescriptor::renderPassDescriptor();
    pass->colorAttachments()->object(0)->setTexture(texture);
    pass->colorAttachments()->object(0)->setLoadAction(MTL::LoadActionClear);
    MTL::CommandBuffer *commands = queue->commandBuffer();
    MTL::RenderCommandEncoder *encoder = commands->renderCommandEncoder(pass);
    encoder->setRenderPipelineState(state);
    encoder->drawPrimitives(MTL::PrimitiveTypeTriangle, NS::UInteger(0), NS::UInteger(3));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    unsigned pixels[64];
    texture->getBytes(pixels, 32, MTL::Region::Make2D(0, 0, 8, 8), 0);
    int wrong = 0;
    for (unsigned p : pixels) wrong += p != 0xff0000ffu;
    CHECK(wrong == 0);
    texture->release();
    state->release();
    descriptor->release();
    fragment->release();
    vertex->release();
    library->release();
}

int main() {
    NS::AutoreleasePool *pool = NS::AutoreleasePool::alloc()->init();
    MTL::Device *device = MTL::CreateSystemDefaultDevice();
    CHECK(device && std::strlen(device->name()->utf8String()) > 0);
    CHECK(device->supportsFamily(MTL::GPUFamilyApple7));
    MTL::CommandQueue *queue = device->newCommandQueue();
    compute(device, queue);
    events_and_heaps(device, queue);
    triangle(device, queue);
    queue->release();
    device->release();
    pool->release();
    return failures != 0;
}

// SPDX-License-Identifier: Apache-2.0
// metal_cpp.cpp: C++ with Apple's header-only metal-cpp (INGOT_METAL_CPP names its folder): compute
// with function constants, a triangle, a mesh, events, heaps, and Metal 4 where the headers know
// it. An argument names the part that runs; without one all do.
#define NS_PRIVATE_IMPLEMENTATION
#define CA_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <QuartzCore/QuartzCore.hpp>
#include <atomic>
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
        "#include <metal_stdlib>\n"
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

// A shared event in both directions: two queues take turns, the host is called in between.
static void events(MTL::Device *device, MTL::CommandQueue *queue) {
    MTL::CommandQueue *other = device->newCommandQueue();
    MTL::Buffer *buffer = device->newBuffer(256, MTL::ResourceStorageModeShared);
    MTL::SharedEvent *event = device->newSharedEvent();
    MTL::SharedEventListener *listener = MTL::SharedEventListener::alloc()->init();
    std::atomic<int> seen{0};
    event->notifyListener(listener, 1, [&](MTL::SharedEvent *e, std::uint64_t value) {
        seen = value == 1 ? static_cast<unsigned char *>(buffer->contents())[0] : -1;
        e->setSignaledValue(2); // what comes behind may go
    });
    MTL::CommandBuffer *second = other->commandBuffer(); // waits for what is committed later
    second->encodeWait(event, 2);
    MTL::BlitCommandEncoder *blit = second->blitCommandEncoder();
    blit->fillBuffer(buffer, NS::Range::Make(128, 128), 7);
    blit->endEncoding();
    second->encodeSignalEvent(event, 3);
    second->commit();
    MTL::CommandBuffer *first = queue->commandBuffer();
    blit = first->blitCommandEncoder();
    blit->fillBuffer(buffer, NS::Range::Make(0, 128), 5);
    blit->endEncoding();
    first->encodeSignalEvent(event, 1);
    first->commit();
    CHECK(event->waitUntilSignaledValue(3, 10000));
    CHECK(event->signaledValue() == 3 && seen == 5);
    second->waitUntilCompleted();
    const unsigned char *bytes = static_cast<unsigned char *>(buffer->contents());
    CHECK(bytes[127] == 5 && bytes[128] == 7 && bytes[255] == 7);
    // Within a queue: a fence between two encoders of a resource that nobody tracks.
    MTL::Fence *fence = device->newFence();
    MTL::Event *plain = device->newEvent();
    MTL::CommandBuffer *commands = queue->commandBuffer();
    blit = commands->blitCommandEncoder();
    blit->fillBuffer(buffer, NS::Range::Make(0, 256), 1);
    blit->updateFence(fence);
    blit->endEncoding();
    commands->encodeSignalEvent(plain, 1);
    commands->encodeWait(plain, 1);
    blit = commands->blitCommandEncoder();
    blit->waitForFence(fence);
    blit->fillBuffer(buffer, NS::Range::Make(0, 1), 2);
    blit->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    CHECK(bytes[0] == 2 && bytes[1] == 1);
    NS::Object *made[] = {fence, plain, listener, event, buffer, other};
    for (NS::Object *object : made) object->release();
}

// An automatic heap, whose resources become aliasable, and one where the program says what lies
// where.
static void heaps(MTL::Device *device, MTL::CommandQueue *queue) {
    MTL::HeapDescriptor *descriptor = MTL::HeapDescriptor::alloc()->init();
    descriptor->setSize(1 << 20);
    descriptor->setStorageMode(MTL::StorageModeShared);
    MTL::Heap *heap = device->newHeap(descriptor);
    MTL::Buffer *buffer = heap->newBuffer(1 << 19, MTL::ResourceStorageModeShared);
    CHECK(buffer->heap() == heap && heap->usedSize() >= (1 << 19));
    CHECK(heap->newBuffer(1 << 20, MTL::ResourceStorageModeShared) == nullptr); // no room
    buffer->makeAliasable();
    CHECK(buffer->isAliasable());
    MTL::Buffer *again = heap->newBuffer(1 << 20, MTL::ResourceStorageModeShared);
    CHECK(again != nullptr);
    descriptor->setType(MTL::HeapTypePlacement);
    MTL::Heap *placed = device->newHeap(descriptor);
    MTL::SizeAndAlign needs = device->heapBufferSizeAndAlign(4096, MTL::ResourceStorageModeShared);
    MTL::Buffer *one = placed->newBuffer(4096, MTL::ResourceStorageModeShared, needs.align);
    MTL::Buffer *same = placed->newBuffer(4096, MTL::ResourceStorageModeShared, needs.align);
    CHECK(one && same && one->heapOffset() == needs.align);
    MTL::CommandBuffer *commands = queue->commandBuffer();
    MTL::BlitCommandEncoder *blit = commands->blitCommandEncoder();
    blit->fillBuffer(one, NS::Range::Make(0, 4096), 9);
    blit->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    CHECK(static_cast<unsigned char *>(same->contents())[4095] == 9); // one memory, two names
    NS::Object *made[] = {same, one, placed, again, buffer, heap, descriptor};
    for (NS::Object *object : made) object->release();
}

static MTL::Texture *new_target(MTL::Device *device) {
    MTL::TextureDescriptor *shape =
        MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatRGBA8Unorm, 8, 8, false);
    shape->setUsage(MTL::TextureUsageRenderTarget);
    return device->newTexture(shape);
}

static int wrong_pixels(MTL::Texture *texture, unsigned expected) {
    unsigned pixels[64];
    int wrong = 0;
    texture->getBytes(pixels, 32, MTL::Region::Make2D(0, 0, 8, 8), 0);
    for (unsigned p : pixels) wrong += p != expected;
    return wrong;
}

static void triangle(MTL::Device *device, MTL::CommandQueue *queue) {
    NS::Error *error = nullptr;
    MTL::Library *library =
        compile(device, "#include <metal_stdlib>\n"
                        "vertex float4 corner(uint i [[vertex_id]]) { return float4(i & 1 ? 3 : "
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
    MTL::Texture *texture = new_target(device);
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
    CHECK(wrong_pixels(texture, 0xff0000ffu) == 0);
    texture->release();
    state->release();
    descriptor->release();
    fragment->release();
    vertex->release();
    library->release();
}

// Two triangles out of a mesh function, by an object function that asks for one mesh.
static void mesh(MTL::Device *device, MTL::CommandQueue *queue) {
    NS::Error *error = nullptr;
    MTL::Library *library = compile(
        device,
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "struct V { float4 place [[position]]; };\n"
        "struct P { float4 color; };\n"
        "struct Payload { float blue; };\n"
        "[[object]] void ask(object_data Payload &p [[payload]], mesh_grid_properties grid) {\n"
        "    p.blue = 1;\n"
        "    grid.set_threadgroups_per_grid(uint3(1, 1, 1));\n"
        "}\n"
        "[[mesh]] void quad(mesh<V, P, 4, 2, topology::triangle> out,\n"
        "                   object_data const Payload &p [[payload]],\n"
        "                   uint i [[thread_index_in_threadgroup]]) {\n"
        "    if (i == 0) out.set_primitive_count(2);\n"
        "    out.set_vertex(i, {float4(i & 1 ? 1 : -1, i & 2 ? 1 : -1, 0, 1)});\n"
        "    if (i < 2) {\n"
        "        for (uint k = 0; k < 3; k++) out.set_index(i * 3 + k, i + k);\n"
        "        out.set_primitive(i, {float4(0, 1, p.blue, 1)});\n"
        "    }\n"
        "}\n"
        "fragment float4 paint(P p [[stage_in]]) { return p.color; }\n");
    MTL::Function *ask = library->newFunction(text("ask")),
                  *quad = library->newFunction(text("quad")),
                  *paint = library->newFunction(text("paint"));
    MTL::MeshRenderPipelineDescriptor *descriptor =
        MTL::MeshRenderPipelineDescriptor::alloc()->init();
    descriptor->setObjectFunction(ask);
    descriptor->setMeshFunction(quad);
    descriptor->setFragmentFunction(paint);
    descriptor->setPayloadMemoryLength(16);
    descriptor->colorAttachments()->object(0)->setPixelFormat(MTL::PixelFormatRGBA8Unorm);
    MTL::RenderPipelineState *state =
        device->newRenderPipelineState(descriptor, MTL::PipelineOptionNone, nullptr, &error);
    if (error) std::printf("%s\n", error->localizedDescription()->utf8String());
    CHECK(state && !error);
    MTL::Texture *texture = new_target(device);
    MTL::RenderPassDescriptor *pass = MTL::RenderPassDescriptor::renderPassDescriptor();
    pass->colorAttachments()->object(0)->setTexture(texture);
    pass->colorAttachments()->object(0)->setLoadAction(MTL::LoadActionClear);
    MTL::CommandBuffer *commands = queue->commandBuffer();
    MTL::RenderCommandEncoder *encoder = commands->renderCommandEncoder(pass);
    encoder->setRenderPipelineState(state);
    encoder->drawMeshThreadgroups(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1), MTL::Size(4, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    CHECK(wrong_pixels(texture, 0xffffff00u) == 0);
    texture->release();
    state->release();
    descriptor->release();
    paint->release();
    quad->release();
    ask->release();
    library->release();
}

#if __has_include(<Metal/MTL4CommandQueue.hpp>)
static void metal4(MTL::Device *device, MTL::CommandQueue *) {
    NS::Error *error = nullptr;
    MTL::Library *library = compile(
        device, "#include <metal_stdlib>\n"
                "kernel void add(device int *x [[buffer(0)]], constant int &n [[buffer(1)]],\n"
                "                uint i [[thread_position_in_grid]]) { x[i] += n; }\n");
    MTL::Function *function = library->newFunction(text("add"));
    MTL::ComputePipelineState *state = device->newComputePipelineState(function, &error);
    MTL::Buffer *data = device->newBuffer(64, MTL::ResourceStorageModeShared);
    MTL::Buffer *number = device->newBuffer(16, MTL::ResourceStorageModeShared);
    *static_cast<int *>(number->contents()) = 40;
    for (int i = 0; i < 16; i++) static_cast<int *>(data->contents())[i] = i;
    MTL4::ArgumentTableDescriptor *shape = MTL4::ArgumentTableDescriptor::alloc()->init();
    shape->setMaxBufferBindCount(2);
    MTL4::ArgumentTable *table = device->newArgumentTable(shape, &error);
    CHECK(table && !error);
    table->setAddress(data->gpuAddress(), 0);
    table->setAddress(number->gpuAddress(), 1);
    MTL::ResidencySetDescriptor *which = MTL::ResidencySetDescriptor::alloc()->init();
    MTL::ResidencySet *set = device->newResidencySet(which, &error);
    set->addAllocation(data);
    set->addAllocation(number);
    set->commit();
    MTL4::CommandQueue *queue = device->newMTL4CommandQueue();
    queue->addResidencySet(set);
    MTL4::CommandAllocator *allocator = device->newCommandAllocator();
    MTL4::CommandBuffer *commands = device->newCommandBuffer();
    commands->beginCommandBuffer(allocator);
    MTL4::ComputeCommandEncoder *encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state);
    encoder->setArgumentTable(table);
    encoder->dispatchThreads(MTL::Size(16, 1, 1), MTL::Size(16, 1, 1));
    encoder->endEncoding();
    commands->endCommandBuffer();
    MTL::SharedEvent *event = device->newSharedEvent();
    const MTL4::CommandBuffer *all[] = {commands};
    queue->commit(all, 1);
    queue->signalEvent(event, 1);
    CHECK(event->waitUntilSignaledValue(1, 10000));
    CHECK(static_cast<int *>(data->contents())[15] == 55);
    NS::Object *made[] = {event, commands, allocator, queue, set,      which,  table,
                          shape, number,   data,      state, function, library};
    for (NS::Object *object : made) object->release();
}
#endif

int main(int argc, char **argv) {
    using Part = void (*)(MTL::Device *, MTL::CommandQueue *);
    static const struct {
        const char *name;
        Part run;
    } parts[] = {
        {"compute", compute}, {"render", triangle}, {"mesh", mesh},
        {"events", events},   {"heaps", heaps},
#if __has_include(<Metal/MTL4CommandQueue.hpp>)
        {"metal4", metal4},
#endif
    };
    NS::AutoreleasePool *pool = NS::AutoreleasePool::alloc()->init();
    MTL::Device *device = MTL::CreateSystemDefaultDevice();
    CHECK(device && std::strlen(device->name()->utf8String()) > 0);
    CHECK(device->supportsFamily(MTL::GPUFamilyApple7));
    MTL::CommandQueue *queue = device->newCommandQueue();
    int ran = 0;
    for (const auto &part : parts) // those that are named, or all
        if (argc < 2 || std::strcmp(argv[1], part.name) == 0) part.run(device, queue), ran++;
    if (!ran) failures++, std::printf("these headers have no '%s'\n", argv[1]);
    queue->release();
    device->release();
    pool->release();
    return failures != 0;
}

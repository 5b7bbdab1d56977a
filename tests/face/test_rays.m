// SPDX-License-Identifier: Apache-2.0
// test_rays.m: ray tracing through Objective-C: descriptors of all kinds become structures, which a
// kernel looks at; intersection functions; sizes, copies, refits, heaps.
#include "face_test.h"

static NSString *const source =
    @"#include <metal_stdlib>\n#include <metal_raytracing>\nusing namespace metal;\n"
     "using namespace metal::raytracing;\n"
     "kernel void look(instance_acceleration_structure s [[buffer(0)]],\n"
     "    device float4 *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
     "    intersector<instancing, triangle_data> x;\n"
     "    auto h = x.intersect(ray(float3(i, 0, -5), float3(0, 0, 1)), s, 1);\n"
     "    out[i] = float4(float(h.type), h.distance, h.instance_id, h.user_instance_id);\n"
     "}\n"
     "[[visible]] bool chosen(uint i, uint which) { return i == which; }\n"
     "[[intersection(triangle, instancing)]] bool only(uint i [[instance_id]],\n"
     "    constant uint &which [[buffer(2)]],\n"
     "    visible_function_table<bool(uint, uint)> f [[buffer(3)]]) {\n"
     "    return f[0](i, which);\n"
     "}\n"
     "kernel void ask(instance_acceleration_structure s [[buffer(0)]],\n"
     "    device float4 *out [[buffer(1)]], intersection_function_table<instancing> f "
     "[[buffer(2)]],\n"
     "    uint i [[thread_position_in_grid]]) {\n"
     "    intersector<instancing> x;\n"
     "    x.force_opacity(forced_opacity::non_opaque);\n"
     "    auto h = x.intersect(ray(float3(i, 0, -5), float3(0, 0, 1)), s, f);\n"
     "    out[i] = float4(float(h.type), h.distance, h.instance_id, h.user_instance_id);\n"
     "}\n";

static id<MTLAccelerationStructure> build(id<MTLDevice> device, id<MTLCommandQueue> queue,
                                          MTLAccelerationStructureDescriptor *d) {
    MTLAccelerationStructureSizes sizes = [device accelerationStructureSizesWithDescriptor:d];
    CHECK(sizes.accelerationStructureSize > 0);
    id<MTLAccelerationStructure> s =
        [device newAccelerationStructureWithSize:sizes.accelerationStructureSize];
    id<MTLBuffer> scratch = [device newBufferWithLength:sizes.buildScratchBufferSize
                                                options:MTLResourceStorageModePrivate];
    CHECK_EQUAL(s.size, sizes.accelerationStructureSize);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLAccelerationStructureCommandEncoder> e = [commands accelerationStructureCommandEncoder];
    [e buildAccelerationStructure:s descriptor:d scratchBuffer:scratch scratchBufferOffset:0];
    [e endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(commands.status, MTLCommandBufferStatusCompleted);
    RELEASE(scratch);
    return s;
}

// Intersection functions: only the second instance is taken, then both.
static void ask(id<MTLDevice> device, id<MTLCommandQueue> queue, id<MTLLibrary> library,
                id<MTLAccelerationStructure> scene, id<MTLBuffer> out) {
    NSError *error = nil;
    MTLIntersectionFunctionDescriptor *which = [MTLIntersectionFunctionDescriptor new];
    which.name = @"only";
    id<MTLFunction> only = [library newIntersectionFunctionWithDescriptor:which error:&error];
    id<MTLFunction> chosen = [library newFunctionWithName:@"chosen"];
    CHECK_EQUAL(only.functionType, MTLFunctionTypeIntersection);
    MTLComputePipelineDescriptor *d = [MTLComputePipelineDescriptor new];
    id<MTLFunction> kernel = [library newFunctionWithName:@"ask"];
    MTLLinkedFunctions *linked = [MTLLinkedFunctions linkedFunctions];
    linked.functions = @[ only, chosen ];
    d.computeFunction = kernel;
    d.linkedFunctions = linked;
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithDescriptor:d
                                                                              options:0
                                                                           reflection:NULL
                                                                                error:&error];
    CHECK(state != nil);
    MTLIntersectionFunctionTableDescriptor *entries =
        [MTLIntersectionFunctionTableDescriptor intersectionFunctionTableDescriptor];
    entries.functionCount = 1;
    id<MTLIntersectionFunctionTable> table =
        [state newIntersectionFunctionTableWithDescriptor:entries];
    MTLVisibleFunctionTableDescriptor *more =
        [MTLVisibleFunctionTableDescriptor visibleFunctionTableDescriptor];
    more.functionCount = 1;
    id<MTLVisibleFunctionTable> helpers = [state newVisibleFunctionTableWithDescriptor:more];
    uint32_t second = 1;
    id<MTLBuffer> number = [device newBufferWithBytes:&second length:4 options:0];
    [helpers setFunction:[state functionHandleWithFunction:chosen] atIndex:0];
    [table setFunction:[state functionHandleWithFunction:only] atIndex:0];
    [table setBuffer:number offset:0 atIndex:2];
    [table setVisibleFunctionTable:helpers atBufferIndex:3];
    CHECK(table.gpuResourceID._impl != 0);
    CHECK([state functionHandleWithFunction:only].gpuResourceID._impl != 0);
    for (int k = 0; k < 2; k++) {
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        id<MTLComputeCommandEncoder> e = [commands computeCommandEncoder];
        [e setComputePipelineState:state];
        [e setAccelerationStructure:scene atBufferIndex:0];
        [e setBuffer:out offset:0 atIndex:1];
        [e setIntersectionFunctionTable:table atBufferIndex:2];
        [e dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
        [e endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        const float *h = out.contents;
        CHECK_EQUAL(h[0], k);
        CHECK_EQUAL(h[8], 1);
        CHECK_EQUAL(h[10], 1);
        [table setOpaqueTriangleIntersectionFunctionWithSignature:
                   MTLIntersectionFunctionSignatureInstancing
                                                          atIndex:0];
    }
    RELEASE(number), RELEASE(helpers), RELEASE(table), RELEASE(state), RELEASE(kernel);
    RELEASE(d), RELEASE(chosen), RELEASE(only), RELEASE(which);
}

// Curves, and Metal 4: addresses for buffers.
static void shapes(id<MTLDevice> device, id<MTLCommandQueue> queue, id<MTLBuffer> vertices) {
    const float radii[] = {0.1f, 0.1f, 0.1f};
    const uint16_t first[] = {0, 1};
    id<MTLBuffer> sizes = [device newBufferWithBytes:radii length:sizeof radii options:0];
    id<MTLBuffer> indices = [device newBufferWithBytes:first length:sizeof first options:0];
    MTLAccelerationStructureCurveGeometryDescriptor *curve =
        [MTLAccelerationStructureCurveGeometryDescriptor descriptor];
    CHECK_EQUAL(curve.curveBasis, MTLCurveBasisBSpline);
    curve.controlPointBuffer = vertices;
    curve.controlPointCount = 3;
    curve.radiusBuffer = sizes;
    curve.indexBuffer = indices;
    curve.curveBasis = MTLCurveBasisLinear;
    curve.curveEndCaps = MTLCurveEndCapsSphere;
    curve.segmentCount = 2;
    curve.segmentControlPointCount = 2;
    MTLPrimitiveAccelerationStructureDescriptor *d =
        [MTLPrimitiveAccelerationStructureDescriptor descriptor];
    d.geometryDescriptors = @[ curve ];
    id<MTLAccelerationStructure> threads = build(device, queue, d);

    MTL4AccelerationStructureTriangleGeometryDescriptor *triangle =
        [MTL4AccelerationStructureTriangleGeometryDescriptor new];
    triangle.vertexBuffer = MTL4BufferRangeMake(vertices.gpuAddress, vertices.length);
    triangle.triangleCount = 1;
    MTL4PrimitiveAccelerationStructureDescriptor *four =
        [MTL4PrimitiveAccelerationStructureDescriptor new];
    four.geometryDescriptors = @[ triangle ];
    MTLAccelerationStructureSizes need = [device accelerationStructureSizesWithDescriptor:four];
    CHECK(need.accelerationStructureSize > 0);
    id<MTLAccelerationStructure> s =
        [device newAccelerationStructureWithSize:need.accelerationStructureSize];
    id<MTL4CommandQueue> commits = [device newMTL4CommandQueue];
    id<MTL4CommandAllocator> allocator = [device newCommandAllocator];
    id<MTL4CommandBuffer> commands = [device newCommandBuffer];
    id<MTLResidencySet> set =
        [device newResidencySetWithDescriptor:[MTLResidencySetDescriptor new] error:NULL];
    id<MTLBuffer> size = [device newBufferWithLength:8 options:0];
    id<MTLSharedEvent> event = [device newSharedEvent];
    [set addAllocation:s], [set addAllocation:vertices], [set addAllocation:size], [set commit];
    [commits addResidencySet:set];
    [commands beginCommandBufferWithAllocator:allocator];
    id<MTL4ComputeCommandEncoder> e = [commands computeCommandEncoder];
    [e buildAccelerationStructure:s descriptor:four scratchBuffer:MTL4BufferRangeMake(0, 0)];
    [e writeCompactedAccelerationStructureSize:s
                                      toBuffer:MTL4BufferRangeMake(size.gpuAddress, 8)];
    [e endEncoding];
    [commands endCommandBuffer];
    [commits commit:&commands count:1];
    [commits signalEvent:event value:1];
    CHECK([event waitUntilSignaledValue:1 timeoutMS:10000]);
    CHECK(*(uint64_t *)size.contents > 0);
    RELEASE(event), RELEASE(size), RELEASE(set), RELEASE(commands), RELEASE(allocator);
    RELEASE(commits), RELEASE(s), RELEASE(four), RELEASE(triangle), RELEASE(threads);
    RELEASE(indices), RELEASE(sizes);
}

static void body(id<MTLDevice> device) {
    CHECK(device.supportsRaytracing);
    const float corners[] = {-0.25f, -1, 0, 0.25f, -1, 0, 0, 1, 0};
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLBuffer> vertices = [device newBufferWithBytes:corners length:sizeof corners options:0];

    MTLAccelerationStructureTriangleGeometryDescriptor *triangles =
        [MTLAccelerationStructureTriangleGeometryDescriptor descriptor];
    CHECK(triangles.opaque && triangles.vertexStride == 12);
    CHECK_EQUAL(triangles.vertexFormat, MTLAttributeFormatFloat3);
    triangles.vertexBuffer = vertices;
    triangles.triangleCount = 1;
    MTLMotionKeyframeData *frame = [MTLMotionKeyframeData data];
    frame.buffer = vertices;
    MTLAccelerationStructureMotionTriangleGeometryDescriptor *moving =
        [MTLAccelerationStructureMotionTriangleGeometryDescriptor descriptor];
    moving.vertexBuffers = @[ frame, frame ];
    moving.triangleCount = 1;
    MTLPrimitiveAccelerationStructureDescriptor *primitive =
        [MTLPrimitiveAccelerationStructureDescriptor descriptor];
    CHECK_EQUAL(primitive.motionKeyframeCount, 1);
    primitive.geometryDescriptors = @[ triangles ];
    primitive.usage = MTLAccelerationStructureUsageRefit;
    id<MTLAccelerationStructure> still = build(device, queue, primitive);
    primitive.geometryDescriptors = @[ moving ];
    primitive.motionKeyframeCount = 2;
    id<MTLAccelerationStructure> in_motion = build(device, queue, primitive);

    MTLAccelerationStructureUserIDInstanceDescriptor records[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) ((float *)&records[i].transformationMatrix)[k * 4] = 1;
        records[i].transformationMatrix.columns[3].x = (float)(2 * i);
        records[i].mask = 1, records[i].accelerationStructureIndex = (uint32_t)i;
        records[i].userID = (uint32_t)(40 + i);
    }
    id<MTLBuffer> list = [device newBufferWithBytes:records length:sizeof records options:0];
    MTLInstanceAccelerationStructureDescriptor *instances =
        [MTLInstanceAccelerationStructureDescriptor descriptor];
    instances.instanceDescriptorBuffer = list;
    instances.instanceDescriptorType = MTLAccelerationStructureInstanceDescriptorTypeUserID;
    instances.instanceCount = 2;
    instances.instancedAccelerationStructures = @[ still, in_motion ];
    id<MTLAccelerationStructure> scene = build(device, queue, instances);

    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"look"];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function
                                                                              error:&error];
    CHECK(state != nil);
    id<MTLBuffer> out = [device newBufferWithLength:64 options:0];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> e = [commands computeCommandEncoder];
    [e setComputePipelineState:state];
    [e setAccelerationStructure:scene atBufferIndex:0];
    [e setBuffer:out offset:0 atIndex:1];
    [e useResource:still usage:MTLResourceUsageRead];
    [e dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [e endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    const float *h = out.contents;
    CHECK_EQUAL(h[0], 1); // the ray at 0 hits the first, that at 2 the second, others nothing
    CHECK_EQUAL(h[1], 5);
    CHECK_EQUAL(h[3], 40);
    CHECK_EQUAL(h[4], 0);
    CHECK_EQUAL(h[8], 1);
    CHECK_EQUAL(h[10], 1);
    CHECK_EQUAL(h[11], 41);
    CHECK_EQUAL(h[12], 0);
    ask(device, queue, library, scene, out);
    shapes(device, queue, vertices);

    MTLHeapDescriptor *where = [MTLHeapDescriptor new];
    where.size = 1 << 20;
    where.storageMode = MTLStorageModePrivate;
    id<MTLHeap> heap = [device newHeapWithDescriptor:where];
    id<MTLAccelerationStructure> placed = [heap newAccelerationStructureWithSize:still.size];
    CHECK(placed != nil && placed.heap == heap);
    CHECK(placed.gpuResourceID._impl != 0);
    CHECK([device heapAccelerationStructureSizeAndAlignWithSize:1000].size == 1024);
    commands = [queue commandBuffer];
    id<MTLAccelerationStructureCommandEncoder> a = [commands accelerationStructureCommandEncoder];
    id<MTLBuffer> size = [device newBufferWithLength:8 options:0];
    [a copyAccelerationStructure:still toAccelerationStructure:placed];
    [a writeCompactedAccelerationStructureSize:still toBuffer:size offset:0];
    primitive.geometryDescriptors = @[ triangles ];
    primitive.motionKeyframeCount = 1;
    [a refitAccelerationStructure:still
                       descriptor:primitive
                      destination:nil
                    scratchBuffer:vertices
              scratchBufferOffset:0];
    [a endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(commands.status, MTLCommandBufferStatusCompleted);
    CHECK(*(uint32_t *)size.contents > 0);
    RELEASE(size), RELEASE(placed), RELEASE(heap), RELEASE(where), RELEASE(out), RELEASE(state);
    RELEASE(function), RELEASE(library), RELEASE(scene), RELEASE(list), RELEASE(in_motion);
    RELEASE(still), RELEASE(vertices), RELEASE(queue);
}

int main(void) { return run_tests(body); }

// SPDX-License-Identifier: Apache-2.0
// host_records.h: records that a kernel writes and the host's commands read: arguments of indirect commands, and
// instances of acceleration structures. Metal's own names, as Apple's headers declare them for shaders.
#pragma once

struct MTLDispatchThreadgroupsIndirectArguments { uint threadgroupsPerGrid[3]; };
struct MTLDispatchThreadsIndirectArguments {
    uint threadsPerGrid[3];
    uint threadsPerThreadgroup[3];
};
struct MTLStageInRegionIndirectArguments {
    uint stageInOrigin[3];
    uint stageInSize[3];
};
struct MTLDrawPrimitivesIndirectArguments {
    uint vertexCount;
    uint instanceCount;
    uint vertexStart;
    uint baseInstance;
};
struct MTLDrawIndexedPrimitivesIndirectArguments {
    uint indexCount;
    uint instanceCount;
    uint indexStart;
    int baseVertex;
    uint baseInstance;
};
struct MTLDrawPatchIndirectArguments {
    uint patchCount;
    uint instanceCount;
    uint patchStart;
    uint baseInstance;
};
struct MTLIndirectCommandBufferExecutionRange {
    uint location;
    uint length;
};

struct MTLPackedFloat4x3 {
    packed_float3 columns[4];
    packed_float3 operator[](uint column) const device { return columns[column]; }
    packed_float3 operator[](uint column) const constant { return columns[column]; }
    packed_float3 operator[](uint column) const thread { return columns[column]; }
    device packed_float3 &operator[](uint column) device { return columns[column]; }
    thread packed_float3 &operator[](uint column) thread { return columns[column]; }
};
enum MTLAccelerationStructureInstanceOptions : uint {
    MTLAccelerationStructureInstanceOptionNone = 0,
    MTLAccelerationStructureInstanceOptionDisableTriangleCulling = 1,
    MTLAccelerationStructureInstanceOptionTriangleFrontFacingWindingCounterClockwise = 2,
    MTLAccelerationStructureInstanceOptionOpaque = 4,
    MTLAccelerationStructureInstanceOptionNonOpaque = 8,
};
struct MTLAccelerationStructureInstanceDescriptor {
    MTLPackedFloat4x3 transformationMatrix;
    MTLAccelerationStructureInstanceOptions options;
    uint mask;
    uint intersectionFunctionTableOffset;
    uint accelerationStructureIndex;
};
struct MTLAccelerationStructureUserIDInstanceDescriptor {
    MTLPackedFloat4x3 transformationMatrix;
    MTLAccelerationStructureInstanceOptions options;
    uint mask;
    uint intersectionFunctionTableOffset;
    uint accelerationStructureIndex;
    uint userID;
};

// SPDX-License-Identifier: Apache-2.0
// test_no_rays.c: libingot without libingot_rays, as -DINGOT_RAYS=OFF leaves it: everything that
// needs it says so by name, and kernels with rays in them still compile.
#include "api_test.h"

TEST(test_says_so) {
    NEEDS_RESULTS();
    assert_false(mtl_device_supports_raytracing(device));
    clear_messages();
    assert_null(mtl_device_new_acceleration_structure(device, 4096));
    assert_non_null(strstr(last_text, "libingot_rays"));
    clear_messages();
    MTLBuffer *corners = mtl_device_new_buffer(device, 36, 0);
    MTLAccelerationStructureSizes sizes = mtl_device_acceleration_structure_sizes(
        device, &(MTLAccelerationStructureDescriptor){
                    .geometry_descriptors =
                        &(MTLAccelerationStructureGeometryDescriptor){.vertex_buffer = corners,
                                                                      .triangle_count = 1},
                    .geometry_descriptor_count = 1});
    assert_int_equal(sizes.acceleration_structure_size, 0);
    assert_non_null(strstr(last_text, "libingot_rays"));
    mtl_release(corners);
}

// No structure can be made, so none is bound: a null one hits nothing.
TEST(test_kernels_hit_nothing) {
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(
        "#include <metal_stdlib>\n#include <metal_raytracing>\n"
        "using namespace metal;\nusing namespace metal::raytracing;\n"
        "struct Args { primitive_acceleration_structure s; };\n"
        "kernel void shoot(constant Args &a [[buffer(0)]], device uint *out [[buffer(1)]]) {\n"
        "  auto h = intersector<>().intersect(ray(float3(0), float3(0, 0, 1)), a.s);\n"
        "  out[0] = uint(h.type) + 5; }\n",
        "shoot");
    const uint64_t none = 0;
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *out = mtl_device_new_buffer(device, 4, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_bytes(e, &none, sizeof none, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    assert_int_equal(*(const uint32_t *)mtl_buffer_contents(out), 5);
    mtl_release(out);
    mtl_release(queue);
    mtl_release(p);
}

int main(void) { return unit_run(open_device, close_device); }

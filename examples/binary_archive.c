// SPDX-License-Identifier: Apache-2.0
// binary_archive.c: a program that compiles its kernels once. The first run makes the archive, the
// later ones open it and need no compiler: here both, one after the other.
#include "util.h"
#include <string.h>
#include <unistd.h>

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void wave(device float *y [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    y[i] = sin(0.001f * float(i));\n"
    "}\n";

// Runs the kernel; the size of its threadgroups is one the archive should know.
static void run(MTLDevice *device, MTLComputePipelineState *state) {
    enum { N = 1 << 16 };
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *y = mtl_device_new_buffer(device, N * sizeof(float), 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, state);
    mtl_compute_command_encoder_set_buffer(encoder, y, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(N, 1, 1),
                                                 mtl_size_make(256, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    complete(commands);
    mtl_release(commands), mtl_release(y), mtl_release(queue);
}

// The first run: compile, work, and keep the code that the work needed.
static void make_archive(MTLDevice *device, MTLFunction *function, const char *path) {
    MTLError *error = NULL;
    double t = now_ms();
    MTLComputePipelineState *state =
        mtl_device_new_compute_pipeline_state(device, function, &error);
    require(state, error, "pipeline");
    printf("pipeline from the compiler or its cache: %.2f ms\n", now_ms() - t);
    run(device, state); // tells which threadgroup sizes are in use
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, &error);
    require(archive, error, "archive");
    MTLComputePipelineDescriptor descriptor = {.compute_function = function};
    if (!mtl_binary_archive_add_compute_pipeline_functions(archive, &descriptor, &error) ||
        !mtl_binary_archive_serialize_to_url(archive, path, &error))
        require(NULL, error, "archive");
    mtl_release(archive), mtl_release(state);
}

int main(void) {
    char path[] = "/tmp/wave-XXXXXX.binarchive";
    int fd = mkstemps(path, (int)strlen(".binarchive"));
    if (fd < 0) return 1;
    close(fd); // a file of 0 bytes is a new archive, too
    MTLDevice *device = mtl_create_system_default_device();
    MTLError *error = NULL;
    // A real program would ship the library as well: `ingot build wave.metal -o wave.metallib`.
    MTLLibrary *library = library_of(device, source);
    MTLFunction *function = mtl_library_new_function(library, "wave");
    make_archive(device, function, path);

    // The later run.
    double t = now_ms();
    MTLBinaryArchive *archive =
        mtl_device_new_binary_archive(device, &(MTLBinaryArchiveDescriptor){.url = path}, &error);
    require(archive, error, "archive"); // another machine or compiler? make it again
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = function, .binary_archives = &archive, .binary_archive_count = 1},
        MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error);
    require(state, error, "pipeline from the archive");
    printf("archive opened, pipeline made from it: %.2f ms\n", now_ms() - t);
    run(device, state);

    unlink(path);
    mtl_release(state), mtl_release(archive), mtl_release(function), mtl_release(library);
    mtl_release(device);
    return 0;
}

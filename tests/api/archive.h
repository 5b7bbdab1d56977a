// SPDX-License-Identifier: Apache-2.0
// archive.h: what the archive tests share: a library with a few kernels, folders, and this program
// run again as another process that has neither compiler nor cache.
#ifndef INGOT_TESTS_ARCHIVE_H
#define INGOT_TESTS_ARCHIVE_H
#include "api_test.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char archive_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant float factor [[function_constant(0)]];\n"
    "kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    x[i] *= is_function_constant_defined(factor) ? factor : 2.0f;\n"
    "}\n"
    "kernel void group_sum(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],\n"
    "                      uint i [[thread_position_in_grid]],\n"
    "                      uint t [[thread_index_in_threadgroup]],\n"
    "                      uint n [[threads_per_threadgroup]],\n"
    "                      uint g [[threadgroup_position_in_grid]]) {\n"
    "    threadgroup float s[256];\n"
    "    s[t] = x[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (t == 0) { float sum = 0; for (uint k = 0; k < n; k++) sum += s[k]; y[g] = sum; }\n"
    "}\n";

// The graph of fourfold(x) = twice(twice(x)).
static inline const MTLFunctionStitchingGraph *fourfold(void) {
    static MTLFunctionStitchingNode x, inner, outer;
    static const MTLFunctionStitchingNode *to_inner[] = {&x}, *to_outer[] = {&inner};
    static MTLFunctionStitchingGraph graph;
    inner = (MTLFunctionStitchingNode){.name = "twice", .arguments = to_inner, .argument_count = 1};
    outer = (MTLFunctionStitchingNode){.name = "twice", .arguments = to_outer, .argument_count = 1};
    graph = (MTLFunctionStitchingGraph){.function_name = "fourfold", .output_node = &outer};
    return &graph;
}

static char folder[64];

static inline int make_folder(void **state) {
    snprintf(folder, sizeof folder, "/tmp/ingot-archive-XXXXXX");
    return mkdtemp(folder) && open_device(state) == 0 ? 0 : -1;
}

static inline int remove_folder(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    close_device(state);
    return system(command);
}

static inline const char *in_folder(const char *name) {
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void write_file(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline unsigned char *read_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("cannot open %s", path);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*n + 1);
    assert_int_equal(fread(data, 1, *n, f), *n);
    fclose(f);
    return data;
}

static inline MTLBinaryArchive *open_archive(const char *path) {
    MTLError *error = NULL;
    MTLBinaryArchive *archive =
        mtl_device_new_binary_archive(device, &(MTLBinaryArchiveDescriptor){.url = path}, &error);
    if (!archive) fail_msg("%s", mtl_error_localized_description(error));
    assert_null(error);
    return archive;
}

static inline MTLComputePipelineState *from_archive(MTLFunction *function,
                                                    MTLBinaryArchive *archive,
                                                    MTLPipelineOption options, MTLError **error) {
    MTLBinaryArchive *archives[] = {archive};
    return mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = function, .binary_archives = archives, .binary_archive_count = 1},
        options, NULL, error);
}

// x[i] = i, i < n, through the kernel with threadgroups of `group`; a second buffer for what it
// may write. The two buffers are the caller's.
static inline void run_kernel(MTLComputePipelineState *state, size_t n, size_t group,
                              MTLBuffer *buffers[2]) {
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    for (int i = 0; i < 2; i++) buffers[i] = mtl_device_new_buffer(device, n * sizeof(float), 0);
    float *x = mtl_buffer_contents(buffers[0]);
    for (size_t i = 0; i < n; i++) x[i] = (float)i;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    mtl_compute_command_encoder_set_buffer(e, buffers[0], 0, 0);
    mtl_compute_command_encoder_set_buffer(e, buffers[1], 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(group, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    mtl_release(commands);
    mtl_release(queue);
}

static inline void check_scale(MTLComputePipelineState *state, size_t group, float factor) {
    enum { N = 1000 };
    MTLBuffer *buffers[2];
    run_kernel(state, N, group, buffers);
    const float *x = mtl_buffer_contents(buffers[0]);
    for (int i = 0; i < N; i++) assert_float_equal(x[i], factor * (float)i, 0);
    mtl_release(buffers[0]), mtl_release(buffers[1]);
}

// Runs this program again with other arguments and no compiler, no cache; its exit status.
static inline int without_compiler(const char *const *arguments) {
    char *argv[16] = {"self"};
    size_t n = 0, k = 0;
    for (; arguments[n]; n++) argv[n + 1] = (char *)(uintptr_t)arguments[n];
    while (environ[k]) k++;
    char **environment = calloc(k + 3, sizeof *environment);
    k = 0;
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "INGOT_MSLC=", 11) != 0 && strncmp(*e, "INGOT_CACHE_DIR=", 16) != 0)
            environment[k++] = *e;
    environment[k++] = "INGOT_MSLC=/nowhere/mslc";
    environment[k++] = "INGOT_CACHE_DIR=off";
    pid_t pid;
    int status = -1;
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environment), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    free(environment);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
#endif

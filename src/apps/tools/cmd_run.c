// SPDX-License-Identifier: Apache-2.0
// cmd_run.c: `ingot run`: one kernel on data from the command line. Follows a Metal program step by
// step: library, function, pipeline, buffers, encoder, commit, wait, results.
#include "apps/tools/run_int.h"
#include "base/progress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MTLSize default_group(const MTLComputePipelineState *p, MTLSize grid) {
    MTLSize required = mtl_compute_pipeline_state_required_threads_per_threadgroup(p);
    if (required.width) return required;
    size_t max = mtl_compute_pipeline_state_max_total_threads_per_threadgroup(p);
    size_t most = max < 256 ? max : 256; // enough SIMD-groups to share work, small enough to spread
    MTLSize g = {grid.width, 1, 1};
    if (g.width > 32 && (grid.height > 1 || grid.depth > 1)) g.width = 32;
    if (g.width > most) g.width = most;
    g.height = most / g.width < grid.height ? most / g.width : grid.height;
    g.depth = most / (g.width * g.height) < grid.depth ? most / (g.width * g.height) : grid.depth;
    return g;
}

// One command buffer with one dispatch; its time on the device in seconds, or -1 (said why).
static double dispatch(const RunOptions *o, MTLCommandQueue *queue,
                       MTLComputePipelineState *pipeline) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e =
        commands ? mtl_command_buffer_compute_command_encoder(commands) : NULL;
    double seconds = -1;
    if (!e) {
        complain(EXIT_INPUT, "run", "cannot encode (out of memory?)");
        goto done;
    }
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    for (size_t i = 0; i < o->n_args; i++) {
        const RunArg *a = &o->args[i];
        if (a->is_value)
            mtl_compute_command_encoder_set_bytes(
                e, a->array.data, a->array.n_elements * a->array.type->n_bytes, a->index);
        else
            mtl_compute_command_encoder_set_buffer(e, a->buffer, 0, a->index);
    }
    for (size_t i = 0; i < o->n_groups; i++)
        mtl_compute_command_encoder_set_threadgroup_memory_length(e, o->groups[i].n_bytes,
                                                                  o->groups[i].index);
    mtl_compute_command_encoder_dispatch_threads(e, o->grid, o->group);
    mtl_compute_command_encoder_end_encoding(e);
    char what[512];
    snprintf(what, sizeof what, "'%s'", o->kernel);
    seconds = run_and_time(commands, "run", what);
done:
    mtl_release(commands);
    return seconds;
}

static void print_time(const char *what, double seconds) {
    if (seconds < 1e-3)
        printf("%s%.2f us", what, seconds * 1e6);
    else if (seconds < 1)
        printf("%s%.3f ms", what, seconds * 1e3);
    else
        printf("%s%.3f s", what, seconds);
}

static int run_kernel(RunOptions *o, MTLDevice *device, MTLCommandQueue *queue,
                      MTLComputePipelineState *pipeline) {
    if (!o->group.width) o->group = default_group(pipeline, o->grid);
    int status = run_bind(o, device, pipeline);
    if (status) return status;
    size_t n = o->repeat ? o->repeat : 1;
    double *times = must_alloc(n, sizeof *times);
    Progress progress;
    progress_begin(&progress, "running", n);
    for (size_t i = 0; i < n; i++) {
        times[i] = dispatch(o, queue, pipeline);
        if (times[i] < 0) {
            progress_end(&progress);
            free(times);
            return EXIT_INPUT;
        }
        if (!i) run_fetch(o); // later runs are for the clock: the results are those of the first
        progress_step(&progress, i + 1, o->kernel);
    }
    progress_end(&progress);
    if (!o->quiet) {
        printf("%s: %zu x %zu x %zu threads in groups of %zu x %zu x %zu", o->kernel, o->grid.width,
               o->grid.height, o->grid.depth, o->group.width, o->group.height, o->group.depth);
        double middle = median(times, n);
        print_time(", ", middle);
        if (n > 1) {
            printf(" (median of %zu", n);
            print_time(", best ", times[0]);
            putchar(')');
        }
        putchar('\n');
    }
    free(times);
    return check_reports(run_report(o), "run", o->kernel);
}

int cmd_run(int argc, char **argv) {
    RunOptions o = {0};
    int status = run_options(argc, argv, &o);
    MTLDevice *device = NULL;
    MTLLibrary *library = NULL;
    MTLFunction *function = NULL;
    MTLComputePipelineState *pipeline = NULL;
    MTLCommandQueue *queue = NULL;
    MTLError *error = NULL;
    if (status != OPTIONS_GO_ON) goto done;
    status = EXIT_INPUT;
    device = open_device_named(o.device, "run");
    if (!device) goto done;
    if (o.timeout_ms) mtl_device_set_timeout(device, o.timeout_ms);
    show_logs(&o.source);
    library = load_library(device, &o.source, o.path, "run");
    if (!library) goto done;
    function = get_function(
        library,
        &(FunctionQuery){
            .path = o.path, .name = o.kernel, .what = "kernel", .constants = &o.constants},
        "run");
    if (!function) goto done;
    pipeline = mtl_device_new_compute_pipeline_state(device, function, &error);
    queue = mtl_device_new_command_queue(device);
    if (!pipeline || !queue) {
        complain(EXIT_INPUT, "run", "'%s': %s", o.kernel,
                 error ? mtl_error_localized_description(error) : "out of memory");
        goto done;
    }
    status = run_kernel(&o, device, queue, pipeline);
done:
    mtl_release(error);
    mtl_release(queue);
    mtl_release(pipeline);
    mtl_release(function);
    mtl_release(library);
    run_options_free(&o);
    mtl_release(device);
    return status;
}

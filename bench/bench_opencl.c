// SPDX-License-Identifier: Apache-2.0
// bench_opencl.c: the benchmark cases on an OpenCL CPU device (PoCL), the peer of bench_ingot.c.
// usage: bench_opencl kernels.cl [substring]; one tab-separated line a case: name, median ms,
// checksum.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "cases.h"

static void check(cl_int rc, const char *what) {
    if (rc == CL_SUCCESS) return;
    fprintf(stderr, "bench_opencl: %s failed (%d)\n", what, rc);
    exit(1);
}

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    char *text = calloc(1, 1 << 16);
    if (!text || !fread(text, 1, (1 << 16) - 1, f)) exit(1);
    fclose(f);
    return text;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_opencl kernels.cl [substring]\n");
        return 2;
    }
    cl_int rc;
    cl_platform_id platform;
    cl_device_id device;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    check(rc, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &rc);
    check(rc, "clCreateCommandQueue");
    const char *text = read_text(argv[1]);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &rc);
    check(rc, "clCreateProgramWithSource");
    // what Metal's default math mode allows
    check(clBuildProgram(program, 1, &device, "-cl-fast-relaxed-math", NULL, NULL),
          "clBuildProgram");

    for (int i = 0; i < n_cases; i++) {
        const Case *k = &cases[i];
        if (argc > 2 && !strstr(k->name, argv[2])) continue;
        cl_kernel kernel = clCreateKernel(program, k->kernel, &rc);
        check(rc, k->kernel);
        size_t sizes[3] = {k->a, k->b, k->c};
        cl_mem mem[3] = {0};
        cl_uint arg = 0;
        for (int m = 0; m < 3; m++) {
            if (!sizes[m]) continue;
            float *host = malloc(sizes[m] * sizeof *host);
            if (!host) return 1;
            fill_input(host, sizes[m], 1u + (uint32_t)m);
            mem[m] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                    sizes[m] * sizeof *host, host, &rc);
            check(rc, "clCreateBuffer");
            free(host);
            check(clSetKernelArg(kernel, arg++, sizeof mem[m], &mem[m]), "clSetKernelArg");
        }
        for (int n = 0; n < k->n_ints; n++)
            check(clSetKernelArg(kernel, arg++, sizeof(cl_int), &k->ints[n]), "clSetKernelArg");
        size_t grid[2] = {k->grid[0], k->grid[1]}, group[2] = {k->group[0], k->group[1]};
        double times[64];
        for (int r = -2; r < k->repeats; r++) {
            double t0 = now_ms();
            check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, grid, group, 0, NULL, NULL),
                  "clEnqueueNDRangeKernel");
            check(clFinish(queue), "clFinish");
            if (r >= 0) times[r] = now_ms() - t0;
        }
        float *out = malloc(k->c * sizeof *out);
        if (!out) return 1;
        check(
            clEnqueueReadBuffer(queue, mem[2], CL_TRUE, 0, k->c * sizeof *out, out, 0, NULL, NULL),
            "clEnqueueReadBuffer");
        print_case(k, median(times, k->repeats), checksum(out, k->c));
        free(out);
        for (int m = 0; m < 3; m++)
            if (mem[m]) clReleaseMemObject(mem[m]);
        clReleaseKernel(kernel);
    }
    return 0;
}

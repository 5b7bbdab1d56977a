// SPDX-License-Identifier: Apache-2.0
// device_info.c: the devices of this machine and their limits.
#include "util.h"

int main(void) {
    MTLDevice *devices[16];
    size_t n = mtl_copy_all_devices(devices, 16);
    if (n == 0) {
        fprintf(stderr, "no Metal device\n");
        return 1;
    }
    for (size_t i = 0; i < n && i < 16; i++) {
        MTLDevice *d = devices[i];
        MTLSize threads = mtl_device_max_threads_per_threadgroup(d);
        printf("%s (%s)\n", mtl_device_name(d), mtl_device_architecture_name(d));
        printf("  threads per threadgroup    %zu x %zu x %zu at most\n", threads.width,
               threads.height, threads.depth);
        printf("  threadgroup memory         %zu bytes\n",
               mtl_device_max_threadgroup_memory_length(d));
        printf("  buffer length              %zu bytes at most\n", mtl_device_max_buffer_length(d));
        printf("  unified memory             %s\n",
               mtl_device_has_unified_memory(d) ? "yes" : "no");
        printf("  worker threads             %zu\n", mtl_device_worker_count(d));
        printf("  Apple 7 / Metal 3 family   %s / %s\n",
               mtl_device_supports_family(d, MTLGPUFamilyApple7) ? "yes" : "no",
               mtl_device_supports_family(d, MTLGPUFamilyMetal3) ? "yes" : "no");
        mtl_release(d);
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// list.c: the devices of this build. A new one is a declaration and a line.
#include "devices/table/device.h"

extern const DevTable cpu_device, cuda_device, isolated_device, hosted_cuda_device, null_device;

const DevTable *const device_list[] = {&cpu_device,         &cuda_device, &isolated_device,
                                       &hosted_cuda_device, &null_device, NULL};

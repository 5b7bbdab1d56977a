// SPDX-License-Identifier: Apache-2.0
// foreign.h: memory that another library of the program made on the same device, such as a
// CUDA tensor of PyTorch. Not Apple's, and not part of metal.h: include both.
//
//     mtl_device_wait_for_others(device); // what the other library has started
//     MTLBuffer *buffer =
//         mtl_device_new_buffer_with_device_memory(device, address, n_bytes, let_go, context);
//     ... kernels read and write the same memory as the other library's
#ifndef INGOT_FOREIGN_H
#define INGOT_FOREIGN_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

// A buffer over memory at an address of the device's, in the device's primary context (CUDA). Its
// storage mode is managed: contents() is the host's own copy, which synchronizeResource fills.
// `deallocator` (may be NULL) runs once when the buffer goes, with contents() as its pointer. NULL:
// validation message, no memory, or a device whose memory is the host's.
MTL_API MTLBuffer *mtl_device_new_buffer_with_device_memory(MTLDevice *device, uint64_t address,
                                                            size_t length,
                                                            MTLBufferDeallocator deallocator,
                                                            void *context);
// Waits for what other libraries have started on the device up to now, in its default stream and
// in those that wait for it; who has other streams waits for them. On a device that is the host:
// true at once. False: the device is lost, or a graph is being recorded there.
MTL_API bool mtl_device_wait_for_others(MTLDevice *device);

#ifdef __cplusplus
}
#endif
#endif

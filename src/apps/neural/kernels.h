// SPDX-License-Identifier: Apache-2.0
// kernels.h: the MSL sources that were put into the library (kernels/*.metal and *.h), by name.
#ifndef INGOT_NEURAL_KERNELS_H
#define INGOT_NEURAL_KERNELS_H
#include "ingot/metal.h"

// The text of one of them; NULL if there is none of that name.
const char *neural_kernel_source(const char *name);
// A library from it; it may #include the others. NULL and the message (MESSAGE_BYTES) on
// failure.
MTLLibrary *neural_kernel_library(MTLDevice *device, const char *name, char *message);
#endif

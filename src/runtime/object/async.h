// SPDX-License-Identifier: Apache-2.0
// async.h: work that waits for the compiler and that nobody waits for here: libraries and pipelines
// with completion handlers, code for a threadgroup's shape.
#ifndef INGOT_RUNTIME_ASYNC_H
#define INGOT_RUNTIME_ASYNC_H
#include <stdbool.h>

// Calls run(context) on a background thread, in order of submission except that two may run at
// once. False: no memory or no thread; run was not and will not be called.
bool rt_async(void (*run)(void *context), void *context);
// Waits until nothing is left to do, at most so long.
void rt_async_wait(unsigned milliseconds);
#endif

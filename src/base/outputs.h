// SPDX-License-Identifier: Apache-2.0
// outputs.h: files that a tool is going to write, looked at before the work begins.
#ifndef INGOT_BASE_OUTPUTS_H
#define INGOT_BASE_OUTPUTS_H
#include <stdbool.h>
#include <stddef.h>

// Whether a file can be written at path, found out without changing what is there: for tools that
// want to know before hours of work.
bool output_check(const char *path, char *message);
// The same of several (NULL: none), of which no two may be one file, and none may be an input.
bool outputs_check(const char *const *outputs, size_t n_outputs, const char *const *inputs,
                   size_t n_inputs, char *message);
#endif

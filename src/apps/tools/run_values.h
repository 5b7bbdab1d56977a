// SPDX-License-Identifier: Apache-2.0
// run_values.h: what stands after `--arg N=`: a .npy file, an array such as f32[1024]=iota, or a
// value such as u32:7.
#ifndef INGOT_TOOLS_RUN_VALUES_H
#define INGOT_TOOLS_RUN_VALUES_H
#include "base/npy.h"

// NULL if all is well; else why not (malloc'd). *is_value: the kernel gets a copy, not a buffer.
char *run_value_parse(const char *text, NpyArray *a, bool *is_value);
// The same of a stranger's text: no files, and not more bytes than these.
char *run_value_parse_within(const char *text, size_t most_bytes, NpyArray *a, bool *is_value);
// "f32[64,64]" (malloc'd)
char *run_value_name(const NpyArray *a);
// The first numbers, and the last, and what they are like: one line of text (malloc'd).
char *run_value_summary(const NpyArray *a);
// The first `count` numbers (all if 0), a row of the last dimension on each line. On standard
// output.
void run_value_print(const NpyArray *a, size_t count);
#endif

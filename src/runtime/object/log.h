// SPDX-License-Identifier: Apache-2.0
// log.h: MTLLogState and what kernels log.
#ifndef INGOT_RUNTIME_LOG_H
#define INGOT_RUNTIME_LOG_H
#include "runtime/object/object.h"

// Records of a log call, pairs of 64-bit words, as stdlib/detail/logging.h writes them. Tag: bits
// 0-7 the kind, bits 8-15 the bytes of the element, bits 16-23 the components of its vector left
// from here.
typedef enum RtLogKind {
    RT_LOG_SIGNED = 1,
    RT_LOG_UNSIGNED,
    RT_LOG_FLOAT, // value: bits of a float
    RT_LOG_POINTER,
    RT_LOG_STRING, // address of constant text
} RtLogKind;

// printf for tagged arguments: n records of {tag, value}. A conversion that does not fit its
// argument prints the argument in its own way; one without an argument prints "(?)". Always
// terminated; returns the length it would have had.
size_t rt_log_format(char *text, size_t n_bytes, const char *format, const uint64_t *args,
                     uint32_t n_args);

// DevRun.log of a command buffer's run; the context is the MTLLogState, or NULL.
void rt_log_from_kernel(void *context, uint32_t type, const char *subsystem_category,
                        const char *format, const uint64_t *args, uint32_t n_args);
#endif

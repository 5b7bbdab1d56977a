// SPDX-License-Identifier: Apache-2.0
// counters.h: counter sample buffers, for the encoders that sample into them.
#ifndef INGOT_RUNTIME_COUNTERS_H
#define INGOT_RUNTIME_COUNTERS_H
#include "runtime/command/command_buffer.h"

// Takes over the attachments of a pass: samples at its start now, at its end with
// rt_counters_end_pass. Reports what is wrong with them.
void rt_counters_begin_pass(void *encoder, const MTLPassSampleBufferAttachment attachments[4],
                            const char *call);
void rt_counters_end_pass(MTLCommandEncoder *encoder);
#endif

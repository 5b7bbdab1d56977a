// SPDX-License-Identifier: Apache-2.0
// processor.h: what this processor has beyond every other of its architecture.
#ifndef INGOT_OS_PROCESSOR_H
#define INGOT_OS_PROCESSOR_H

// In LLVM's words ("+fullfp16,+lse"), as the system tells it. NULL where the compiler asks the
// processor itself, as on x86-64. Any thread.
const char *os_processor_features(void);
#endif

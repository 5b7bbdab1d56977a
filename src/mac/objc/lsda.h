// SPDX-License-Identifier: Apache-2.0
// lsda.h: the table of handlers that the compiler writes for a function (language specific data
// area).
#ifndef INGOT_OBJC_LSDA_H
#define INGOT_OBJC_LSDA_H
#include <stdbool.h>
#include <stdint.h>
#include <unwind.h>

typedef struct LsdaHandler {
    uintptr_t landing_pad; // 0: the frame has nothing to do
    intptr_t selector;     // 0: a cleanup; else what the compiler expects for the handler
} LsdaHandler;

// type NULL: the handler takes everything
typedef bool (*LsdaMatch)(const void *type, void *exception);
bool lsda_only_all(const void *type, void *exception);

// For the place where a frame stands: the first handler that matches, else a cleanup.
LsdaHandler lsda_find(struct _Unwind_Context *context, LsdaMatch match, void *exception,
                      bool cleanups_only);
#endif

// SPDX-License-Identifier: Apache-2.0
// queue.h: what a CommandBuffer object holds besides the library's command buffer.
#ifndef PYMETAL_QUEUE_H
#define PYMETAL_QUEUE_H
#include "object.h"

typedef struct Commands {
    struct Completion *completion; // since commit
    bool render_open, has_render;  // render passes exist on this side only
} Commands;

// NULL for an object that was made for a handler, long after the commit.
Commands *commands_of(const Object *buffer);
#endif

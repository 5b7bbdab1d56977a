// SPDX-License-Identifier: Apache-2.0
// shown.h: the window of a layer, for files in Objective-C: libingot's types have the names of
// Metal's classes, so this header names none. A layer is a CAMetalLayer.
#ifndef INGOT_APPKIT_SHOWN_H
#define INGOT_APPKIT_SHOWN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ShownAnswer { SHOWN_OPEN, SHOWN_LATER, SHOWN_NEVER } ShownAnswer;
// LATER: the layer has no device or size yet; NEVER: no display, `why` says more.
ShownAnswer shown_open(void *layer, const char *title, char *why, size_t n_bytes);
typedef struct ShownEvents {
    bool close_wanted; // by its user
    bool gone;         // the display is
    bool resized;
    double width, height; // if resized
} ShownEvents;
ShownEvents shown_poll(void *layer);
void shown_close(void *layer);
uint32_t shown_number(void *layer);
#endif

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
// What its user did with mouse and keyboard: one input a call, false when none is left.
typedef enum ShownKind {
    SHOWN_BUTTON_DOWN = 1,
    SHOWN_BUTTON_UP,
    SHOWN_MOVED,
    SHOWN_SCROLLED,
    SHOWN_KEY_DOWN,
    SHOWN_KEY_UP,
} ShownKind;
enum { SHOWN_SHIFT = 1, SHOWN_CAPS = 2, SHOWN_CONTROL = 4, SHOWN_OPTION = 8, SHOWN_COMMAND = 16 };
typedef struct ShownInput {
    ShownKind kind;
    double x, y; // from the upper left corner
    uint32_t button;
    double scroll_x, scroll_y;
    uint32_t key, text; // keysyms of X11
    uint32_t modifiers;
    bool repeats;
    double time;
} ShownInput;
bool shown_next_input(void *layer, ShownInput *input);
void shown_close(void *layer);
uint32_t shown_number(void *layer);
#endif

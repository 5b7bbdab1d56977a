// SPDX-License-Identifier: Apache-2.0
// layer_window.h: the window of a layer, for Objective-C files: libingot's types have the names of
// Metal's classes, so this header names none. A layer is a CAMetalLayer.
#ifndef INGOT_APPKIT_LAYER_WINDOW_H
#define INGOT_APPKIT_LAYER_WINDOW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum LayerWindowAnswer {
    LAYER_WINDOW_OPEN,
    LAYER_WINDOW_LATER,
    LAYER_WINDOW_NEVER
} LayerWindowAnswer;
// LATER: the layer has no device or size yet; NEVER: no display, `why` says more.
LayerWindowAnswer layer_window_open(void *layer, const char *title, char *why, size_t n_bytes);
typedef struct LayerWindowEvents {
    bool close_wanted; // by its user
    bool gone;         // the display is
    bool resized;
    double width, height; // if resized
} LayerWindowEvents;
LayerWindowEvents layer_window_poll(void *layer);
// What its user did with mouse and keyboard: one input a call, false when none is left.
typedef enum LayerWindowKind {
    LAYER_WINDOW_BUTTON_DOWN = 1,
    LAYER_WINDOW_BUTTON_UP,
    LAYER_WINDOW_MOVED,
    LAYER_WINDOW_SCROLLED,
    LAYER_WINDOW_KEY_DOWN,
    LAYER_WINDOW_KEY_UP,
} LayerWindowKind;
enum {
    LAYER_WINDOW_SHIFT = 1,
    LAYER_WINDOW_CAPS = 2,
    LAYER_WINDOW_CONTROL = 4,
    LAYER_WINDOW_OPTION = 8,
    LAYER_WINDOW_COMMAND = 16
};
typedef struct LayerWindowInput {
    LayerWindowKind kind;
    double x, y; // from the upper left corner
    uint32_t button;
    double scroll_x, scroll_y;
    uint32_t key, text; // keysyms of X11
    uint32_t modifiers;
    bool repeats;
    double time;
} LayerWindowInput;
bool layer_window_next_input(void *layer, LayerWindowInput *input);
void layer_window_close(void *layer);
uint32_t layer_window_number(void *layer);
#endif

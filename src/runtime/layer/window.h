// SPDX-License-Identifier: Apache-2.0
// window.h: a window that shows pixels: what a layer needs of a windowing system. Calls on one
// window are made one at a time (under its layer's lock).
#ifndef INGOT_RUNTIME_WINDOW_H
#define INGOT_RUNTIME_WINDOW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ingot/metal.h"

typedef struct RtWindow RtWindow;

typedef struct RtWindowEvents {
    bool close_wanted; // by its user
    bool gone;         // the display is
    bool resized;
    uint32_t width, height; // if resized
} RtWindowEvents;

// NULL and *error (if not NULL) where there is no display.
RtWindow *rt_window_open(const char *title, uint32_t width, uint32_t height, MTLError **error);
void rt_window_close(RtWindow *window); // NULL is a no-op
// Memory for a picture of that size, rows of width * 4 bytes, blue first; valid until the next
// call. NULL: no memory, or the display is gone.
void *rt_window_pixels(RtWindow *window, uint32_t width, uint32_t height);
void rt_window_show(RtWindow *window); // what is in those pixels
RtWindowEvents rt_window_poll(RtWindow *window);
bool rt_window_next_input(RtWindow *window, CAWindowInput *input); // false: none is left
uint32_t rt_window_number(const RtWindow *window);
#endif

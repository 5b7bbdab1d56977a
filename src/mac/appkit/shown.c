// SPDX-License-Identifier: Apache-2.0
// shown.c: the window of a layer (shown.h).
#include "mac/appkit/shown.h"
#include <stdio.h>
#include "ingot/metal.h"

ShownAnswer shown_open(void *layer, const char *title, char *why, size_t n_bytes) {
    MTLError *error = NULL;
    if (ca_metal_layer_open_window(layer, title, &error)) return SHOWN_OPEN;
    bool later = mtl_error_code(error) == CAMetalLayerErrorNoDevice;
    snprintf(why, n_bytes, "%s", mtl_error_localized_description(error));
    mtl_release(error);
    return later ? SHOWN_LATER : SHOWN_NEVER;
}

ShownEvents shown_poll(void *layer) {
    ShownEvents events = {0};
    CGSize before = ca_metal_layer_drawable_size(layer);
    events.gone = !ca_metal_layer_poll_window_asked(layer, &events.close_wanted);
    CGSize now = ca_metal_layer_drawable_size(layer);
    events.resized = now.width != before.width || now.height != before.height;
    events.width = now.width, events.height = now.height;
    return events;
}

_Static_assert((int)SHOWN_KEY_UP == CAWindowInputKeyUp &&
                   (int)SHOWN_COMMAND == CAWindowModifierCommand,
               "the layer's numbers");

bool shown_next_input(void *layer, ShownInput *input) {
    CAWindowInput in;
    if (!ca_metal_layer_next_input(layer, &in)) return false;
    *input = (ShownInput){.kind = (ShownKind)in.kind,
                          .x = in.x,
                          .y = in.y,
                          .button = in.button,
                          .scroll_x = in.scroll_x,
                          .scroll_y = in.scroll_y,
                          .key = in.key,
                          .text = in.text,
                          .modifiers = in.modifiers,
                          .repeats = in.repeats,
                          .time = in.time};
    return true;
}

void shown_close(void *layer) { ca_metal_layer_close_window(layer); }
uint32_t shown_number(void *layer) { return ca_metal_layer_window_number(layer); }

// SPDX-License-Identifier: Apache-2.0
// shown.c: the window of a layer (shown.h).
#include "appkit/shown.h"
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

void shown_close(void *layer) { ca_metal_layer_close_window(layer); }
uint32_t shown_number(void *layer) { return ca_metal_layer_window_number(layer); }

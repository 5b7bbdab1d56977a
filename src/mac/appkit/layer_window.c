// SPDX-License-Identifier: Apache-2.0
// layer_window.c: the window of a layer (layer_window.h).
#include "mac/appkit/layer_window.h"
#include <stdio.h>
#include "ingot/metal.h"

LayerWindowAnswer layer_window_open(void *layer, const char *title, char *why, size_t n_bytes) {
    MTLError *error = NULL;
    if (ca_metal_layer_open_window(layer, title, &error)) return LAYER_WINDOW_OPEN;
    bool later = mtl_error_code(error) == CAMetalLayerErrorNoDevice;
    snprintf(why, n_bytes, "%s", mtl_error_localized_description(error));
    mtl_release(error);
    return later ? LAYER_WINDOW_LATER : LAYER_WINDOW_NEVER;
}

LayerWindowEvents layer_window_poll(void *layer) {
    LayerWindowEvents events = {0};
    CGSize before = ca_metal_layer_drawable_size(layer);
    events.gone = !ca_metal_layer_poll_window_asked(layer, &events.close_wanted);
    CGSize now = ca_metal_layer_drawable_size(layer);
    events.resized = now.width != before.width || now.height != before.height;
    events.width = now.width, events.height = now.height;
    return events;
}

_Static_assert((int)LAYER_WINDOW_KEY_UP == CAWindowInputKeyUp &&
                   (int)LAYER_WINDOW_COMMAND == CAWindowModifierCommand,
               "the layer's numbers");

bool layer_window_next_input(void *layer, LayerWindowInput *input) {
    CAWindowInput in;
    if (!ca_metal_layer_next_input(layer, &in)) return false;
    *input = (LayerWindowInput){.kind = (LayerWindowKind)in.kind,
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

void layer_window_close(void *layer) { ca_metal_layer_close_window(layer); }
uint32_t layer_window_number(void *layer) { return ca_metal_layer_window_number(layer); }

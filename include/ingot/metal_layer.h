// SPDX-License-Identifier: Apache-2.0
// metal_layer.h: layers and drawables: where a program draws what is to be seen. A layer hands out
// drawables; each has a texture of the layer's size; presenting one shows it. A layer is off-screen
// (a presented drawable is seen by its handlers only) until it has a window. Included by metal.h.
//
//     CAMetalLayer *layer = ca_metal_layer_new();
//     ca_metal_layer_set_device(layer, device);
//     ca_metal_layer_set_drawable_size(layer, (CGSize){640, 480});
//     ca_metal_layer_open_window(layer, "Ingot", &error); // ours: X11, where there is a display
//     while (ca_metal_layer_poll_window(layer)) {
//         MTLDrawable *drawable = ca_metal_layer_next_drawable(layer);
//         pass.color_attachments[0].texture = ca_metal_drawable_texture(drawable);
//         ... encode ...
//         mtl_command_buffer_present_drawable(commands, drawable);
//         mtl_command_buffer_commit(commands);
//         mtl_release(commands), mtl_release(drawable);
//     }
//
// Any thread may call these; the setters of a layer are for one thread at a time.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_LAYER_H
#define INGOT_METAL_LAYER_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct CAMetalLayer CAMetalLayer;
typedef struct MTLDrawable MTLDrawable; // also Apple's CAMetalDrawable: all come from a layer

typedef struct CGSize {
    double width, height;
} CGSize;

#define CAMetalLayerErrorDomain "CAMetalLayerErrorDomain" // ours: of windows
typedef enum CAMetalLayerError {
    CAMetalLayerErrorNoDisplay = 1, // no X11 library, no DISPLAY, or it does not answer
    CAMetalLayerErrorNoDevice = 2,
    CAMetalLayerErrorUnsupported = 3, // a display without 24 bits of true colour
} CAMetalLayerError;

// ---- CAMetalLayer ----

// Apple's [CAMetalLayer layer]: BGRA8Unorm, framebuffer only, three drawables, no device, no size.
MTL_API CAMetalLayer *ca_metal_layer_new(void);
MTL_API MTLDevice *ca_metal_layer_device(const CAMetalLayer *layer);
MTL_API void ca_metal_layer_set_device(CAMetalLayer *layer, MTLDevice *device);
MTL_API MTLPixelFormat ca_metal_layer_pixel_format(const CAMetalLayer *layer);
// BGRA8Unorm, BGRA8Unorm_sRGB, RGBA16Float, RGB10A2Unorm, BGR10A2Unorm.
MTL_API void ca_metal_layer_set_pixel_format(CAMetalLayer *layer, MTLPixelFormat format);
MTL_API bool ca_metal_layer_framebuffer_only(const CAMetalLayer *layer);
// False: shaders and blits may read and write the textures too.
MTL_API void ca_metal_layer_set_framebuffer_only(CAMetalLayer *layer, bool only);
MTL_API CGSize ca_metal_layer_drawable_size(const CAMetalLayer *layer);
// Of the drawables to come, in pixels, 0 to 16384. A window that is resized changes it.
MTL_API void ca_metal_layer_set_drawable_size(CAMetalLayer *layer, CGSize size);
MTL_API size_t ca_metal_layer_maximum_drawable_count(const CAMetalLayer *layer);
MTL_API void ca_metal_layer_set_maximum_drawable_count(CAMetalLayer *layer, size_t count); // 2, 3
MTL_API bool ca_metal_layer_allows_next_drawable_timeout(const CAMetalLayer *layer);
MTL_API void ca_metal_layer_set_allows_next_drawable_timeout(CAMetalLayer *layer,
                                                             bool allows_next_drawable_timeout);
// A drawable with one reference for the caller. Waits while maximum_drawable_count of them exist: a
// second, then NULL (or for ever, without the timeout). NULL too without a device or a size.
MTL_API MTLDrawable *ca_metal_layer_next_drawable(CAMetalLayer *layer);
// The textures of the drawables, for queues of Metal 4; it follows them by itself. Borrowed, the
// same one each time until the device changes; NULL without a device.
MTL_API MTLResidencySet *ca_metal_layer_residency_set(CAMetalLayer *layer);

// ---- Drawables ----

MTL_API MTLTexture *ca_metal_drawable_texture(const MTLDrawable *drawable); // borrowed
MTL_API CAMetalLayer *ca_metal_drawable_layer(const MTLDrawable *drawable); // borrowed
MTL_API size_t mtl_drawable_drawable_id(const MTLDrawable *drawable); // from 0 on, of the layer
// Once, when committed work that draws into it is done; the second form not before a moment of
// the host's clock (as gpu_end_time has it), the third not before the drawable shown before has
// been seen that long (seconds).
MTL_API void mtl_drawable_present(MTLDrawable *drawable);
MTL_API void mtl_drawable_present_at_time(MTLDrawable *drawable, double time);
MTL_API void mtl_drawable_present_after_minimum_duration(MTLDrawable *drawable, double duration);
MTL_API double mtl_drawable_presented_time(const MTLDrawable *drawable); // 0: not yet
typedef void (*MTLDrawablePresentedHandler)(MTLDrawable *drawable, void *context);
// Called when it has been shown, on another thread; before it is presented only.
MTL_API void mtl_drawable_add_presented_handler(MTLDrawable *drawable,
                                                MTLDrawablePresentedHandler handler, void *context);

// The same when the commands are done. Before commit.
MTL_API void mtl_command_buffer_present_drawable(MTLCommandBuffer *buffer, MTLDrawable *drawable);
MTL_API void mtl_command_buffer_present_drawable_at_time(MTLCommandBuffer *buffer,
                                                         MTLDrawable *drawable, double time);
MTL_API void mtl_command_buffer_present_drawable_after_minimum_duration(MTLCommandBuffer *buffer,
                                                                        MTLDrawable *drawable,
                                                                        double duration);

// ---- Windows (ours; on a Mac a view has the layer) ----

// A window of the drawable size that shows what is presented. False and *error where there is no
// display (environment variable DISPLAY), no device or no size. With INGOT_WINDOW=1 a layer tries
// this by itself at its first drawable, so that a program that knows of no windows has one.
MTL_API bool ca_metal_layer_open_window(CAMetalLayer *layer, const char *title, MTLError **error);
// Takes what happened: a new size becomes the drawable size. False: there is no window, or it was
// closed (then layer goes on off-screen).
MTL_API bool ca_metal_layer_poll_window(CAMetalLayer *layer);
// The same, but a window that its user wants to close stays, and *close_wanted says so.
MTL_API bool ca_metal_layer_poll_window_asked(CAMetalLayer *layer, bool *close_wanted);
MTL_API void ca_metal_layer_close_window(CAMetalLayer *layer);
// What the user of the window did with mouse and keyboard, as polling took it, in its order. False:
// nothing is left. The oldest are lost when nobody asks.
typedef enum CAWindowInputKind {
    CAWindowInputButtonDown = 1,
    CAWindowInputButtonUp,
    CAWindowInputMoved,
    CAWindowInputScrolled,
    CAWindowInputKeyDown,
    CAWindowInputKeyUp,
} CAWindowInputKind;
enum { // of CAWindowInput.modifiers
    CAWindowModifierShift = 1 << 0,
    CAWindowModifierCapsLock = 1 << 1,
    CAWindowModifierControl = 1 << 2,
    CAWindowModifierOption = 1 << 3,  // Alt
    CAWindowModifierCommand = 1 << 4, // Super
};
typedef struct CAWindowInput {
    CAWindowInputKind kind;
    double x, y;               // in pixels from the upper left corner
    uint32_t button;           // 0 left, 1 right, 2 middle, then the others
    double scroll_x, scroll_y; // in steps of the wheel: to the right and down are negative
    uint32_t key;              // X11's keysym of the key alone
    uint32_t text;             // the same with shift and caps lock
    uint32_t modifiers;        // held down
    bool repeats;              // a key that is held
    double time;               // in seconds, of the display's clock
} CAWindowInput;
MTL_API bool ca_metal_layer_next_input(CAMetalLayer *layer, CAWindowInput *input);
// Apple's name for what X11 calls it: the number of the window, 0 if there is none.
MTL_API uint32_t ca_metal_layer_window_number(const CAMetalLayer *layer);

#ifdef __cplusplus
}
#endif
#endif

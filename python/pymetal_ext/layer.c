// SPDX-License-Identifier: Apache-2.0
// layer.c: MetalLayer and MetalDrawable: off-screen, or in a window (see metal_layer.h).
#include <math.h>
#include "object.h"

static PyObject *drawable_size(Object *self) {
    CGSize size = ca_metal_layer_drawable_size(self->native);
    return Py_BuildValue("(dd)", size.width, size.height);
}

static void set_drawable_size(Object *self, PyObject *value) {
    PyObject *tuple = PySequence_Check(value) ? PySequence_Tuple(value) : NULL;
    double size[2] = {-1, -1};
    if (tuple && PyTuple_Size(tuple) == 2)
        for (int i = 0; i < 2 && !PyErr_Occurred(); i++)
            size[i] = PyFloat_AsDouble(PyTuple_GetItem(tuple, i));
    Py_XDECREF(tuple);
    if (PyErr_Occurred() || !(size[0] >= 0) || !(size[1] >= 0) || !isfinite(size[0] + size[1])) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "incompatible function arguments: MetalLayer.drawable_size must be "
                     "(width, height), not %R",
                     value);
        return;
    }
    ca_metal_layer_set_drawable_size(self->native, (CGSize){size[0], size[1]});
}

#define METAL_LAYER_PROPS(RO, RW)                                                                  \
    RW(MetalLayer, device, "Device | None", "What the drawables are made by.",                     \
       wrap(state, C_Device, ca_metal_layer_device(self->native)), OPTIONAL("device", Device),     \
       ca_metal_layer_set_device(self->native, v->p))                                              \
    RW(MetalLayer, pixel_format, "PixelFormat", "Of the drawables.",                               \
       from_enum(state, E_PixelFormat, (long)ca_metal_layer_pixel_format(self->native)),           \
       ENUMERATION("pixel_format", PixelFormat),                                                   \
       ca_metal_layer_set_pixel_format(self->native, (MTLPixelFormat)v->u))                        \
    RW(MetalLayer, framebuffer_only, "bool", "Whether drawables are only drawn into.",             \
       PyBool_FromLong(ca_metal_layer_framebuffer_only(self->native)), BOOL("framebuffer_only"),   \
       ca_metal_layer_set_framebuffer_only(self->native, v->b))                                    \
    RW(MetalLayer, maximum_drawable_count, "int", "Two or three.",                                 \
       PyLong_FromSize_t(ca_metal_layer_maximum_drawable_count(self->native)),                     \
       SIZE("maximum_drawable_count"),                                                             \
       ca_metal_layer_set_maximum_drawable_count(self->native, v->u))                              \
    RW(MetalLayer, allows_next_drawable_timeout, "bool",                                           \
       "Whether next_drawable gives up after a second.",                                           \
       PyBool_FromLong(ca_metal_layer_allows_next_drawable_timeout(self->native)),                 \
       BOOL("allows_next_drawable_timeout"),                                                       \
       ca_metal_layer_set_allows_next_drawable_timeout(self->native, v->b))                        \
    RO(MetalLayer, window_number, "int", "The number of its X11 window, 0 if there is none.",      \
       PyLong_FromUnsignedLong(ca_metal_layer_window_number(self->native)))                        \
    RW(MetalLayer, drawable_size, "tuple[float, float]", "Width and height of the drawables.",     \
       drawable_size(self), ANY("drawable_size"), set_drawable_size(self, v->py))
PROPS(MetalLayer, METAL_LAYER_PROPS);

CLASS_METHOD0(MetalLayer, layer, "MetalLayer", "A new layer, off-screen.") {
    (void)self, (void)a;
    return wrap_new(state, C_MetalLayer, ca_metal_layer_new());
}

METHOD0(MetalLayer, next_drawable, "MetalDrawable | None",
        "A drawable, when one is free; None without a device and a size, or after a second.") {
    MTLDrawable *drawable;
    (void)a;
    WITHOUT_GIL(drawable = ca_metal_layer_next_drawable(self->native));
    return wrap_new(state, C_MetalDrawable, drawable);
}

METHOD(MetalLayer, open_window, "None",
       "Shows what is presented in a window (of X11); MetalError where there is no display.",
       STR_OR("title")) {
    MTLError *error = NULL;
    bool ok;
    WITHOUT_GIL(ok = ca_metal_layer_open_window(self->native, a[0].s ? a[0].s : "Ingot", &error));
    return ok ? none(state) : raise_error(state, ERROR_METAL, "", error);
}

METHOD0(MetalLayer, poll_window, "bool",
        "Takes what happened to the window, such as a new size; False once it is closed.") {
    (void)state, (void)a;
    return PyBool_FromLong(ca_metal_layer_poll_window(self->native));
}

METHOD0(MetalLayer, close_window, "None", "Goes on off-screen.") {
    (void)a;
    ca_metal_layer_close_window(self->native);
    return none(state);
}

static const Method *const MetalLayer_methods[] = {
    &MetalLayer_layer,       &MetalLayer_next_drawable, &MetalLayer_open_window,
    &MetalLayer_poll_window, &MetalLayer_close_window,  NULL};
DEFINE_CLASS(MetalLayer, "A layer that hands out drawables.", .methods = MetalLayer_methods,
             .props = MetalLayer_props);

#define METAL_DRAWABLE_PROPS(RO, RW)                                                               \
    RO(MetalDrawable, texture, "Texture", "What is drawn into.",                                   \
       wrap(state, C_Texture, ca_metal_drawable_texture(self->native)))                            \
    RO(MetalDrawable, layer, "MetalLayer", "The layer it came from.",                              \
       wrap(state, C_MetalLayer, ca_metal_drawable_layer(self->native)))                           \
    RO(MetalDrawable, drawable_id, "int", "Its number, from 0 on.",                                \
       PyLong_FromSize_t(mtl_drawable_drawable_id(self->native)))                                  \
    RO(MetalDrawable, presented_time, "float", "When it was shown; 0 before.",                     \
       PyFloat_FromDouble(mtl_drawable_presented_time(self->native)))
PROPS(MetalDrawable, METAL_DRAWABLE_PROPS);

METHOD0(MetalDrawable, present, "None", "Shows it when the work on it is done.") {
    (void)a;
    WITHOUT_GIL(mtl_drawable_present(self->native));
    return none(state);
}

METHOD(MetalDrawable, present_at_time, "None", "Not before that moment (of time.monotonic()).",
       DOUBLE("time")) {
    WITHOUT_GIL(mtl_drawable_present_at_time(self->native, a[0].f));
    return none(state);
}

METHOD(MetalDrawable, present_after_minimum_duration, "None",
       "When the one before has been seen for so many seconds.", DOUBLE("duration")) {
    WITHOUT_GIL(mtl_drawable_present_after_minimum_duration(self->native, a[0].f));
    return none(state);
}

static const Method *const MetalDrawable_methods[] = {
    &MetalDrawable_present, &MetalDrawable_present_at_time,
    &MetalDrawable_present_after_minimum_duration, NULL};
DEFINE_CLASS(MetalDrawable, "A texture that a layer shows.", .methods = MetalDrawable_methods,
             .props = MetalDrawable_props);

// SPDX-License-Identifier: Apache-2.0
// layer.c: MetalLayer: its size, and its window (see metal_layer.h).
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
    RW(MetalLayer, drawable_size, "tuple[float, float]", "Width and height of the drawables.",     \
       drawable_size(self), ANY("drawable_size"), set_drawable_size(self, v->py))
PROPS(MetalLayer, METAL_LAYER_PROPS);

CLASS_METHOD0(MetalLayer, layer, "MetalLayer", "A new layer, off-screen.") {
    (void)self, (void)a;
    return wrap_new(state, C_MetalLayer, ca_metal_layer_new());
}

METHOD(MetalLayer, open_window, "None",
       "Shows what is presented in a window (of X11); MetalError where there is no display.",
       STR_OR("title")) {
    MTLError *error = NULL;
    bool ok;
    WITHOUT_GIL(ok = ca_metal_layer_open_window(self->native, a[0].s ? a[0].s : "Ingot", &error));
    return ok ? none(state) : raise_error(state, ERROR_METAL, "", error);
}

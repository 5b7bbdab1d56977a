// SPDX-License-Identifier: Apache-2.0
// layer.c: MetalLayer and MetalDrawable, off-screen: a layer hands out textures of its size, and
// presenting one shows it to nobody.
#include <math.h>
#include "object.h"

static const Field MetalLayer_fields[] = {
    {OPTIONAL("device", Device), "What the drawables are made by.", false},
    {ENUM_OR("pixel_format", PixelFormat, BGRA8Unorm, 80), "Of the drawables.", false},
    {BOOL_OR("framebuffer_only", true), "Whether drawables are only drawn into.", false},
    NO_FIELD,
};

static PyObject *drawable_size(Object *self) {
    return self->owner ? Py_NewRef(self->owner) : Py_BuildValue("(dd)", 0.0, 0.0);
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
    PyObject *pair = Py_BuildValue("(dd)", size[0], size[1]), *old = self->owner;
    if (!pair) return;
    self->owner = pair;
    Py_XDECREF(old);
}

#define METAL_LAYER_PROPS(RO, RW)                                                                  \
    RW(MetalLayer, drawable_size, "tuple[float, float]", "Width and height of the drawables.",     \
       drawable_size(self), ANY("drawable_size"), set_drawable_size(self, v->py))
PROPS(MetalLayer, METAL_LAYER_PROPS);

METHOD0(MetalLayer, next_drawable, "MetalDrawable | None",
        "A drawable with a texture of its own; None without a device and a size.") {
    MTLDevice *device = field_p(self, "device");
    double width = 0, height = 0;
    (void)a;
    if (self->owner) {
        width = PyFloat_AsDouble(PyTuple_GetItem(self->owner, 0));
        height = PyFloat_AsDouble(PyTuple_GetItem(self->owner, 1));
    }
    if (!device || !(width >= 1) || !(height >= 1) || width > 65536 || height > 65536)
        return none(state);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(
        (MTLPixelFormat)field_u(self, "pixel_format"), (size_t)width, (size_t)height, false);
    d.usage = MTLTextureUsageRenderTarget;
    if (!field_b(self, "framebuffer_only"))
        d.usage |= MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    PyObject *texture = wrap_new(state, C_Texture, mtl_device_new_texture(device, &d));
    if (!texture || texture == Py_None) return texture;
    Object *drawable = object_new(state, C_MetalDrawable, NULL);
    if (drawable) {
        Py_DECREF(drawable->values[0]);
        Py_DECREF(drawable->values[1]);
        drawable->values[0] = Py_NewRef(texture);
        drawable->values[1] = Py_NewRef((PyObject *)self);
    }
    Py_DECREF(texture);
    return (PyObject *)drawable;
}

static const Method *const MetalLayer_methods[] = {&MetalLayer_next_drawable, NULL};
const Class class_MetalLayer = {.name = "MetalLayer",
                                .doc = "An off-screen layer that hands out drawables.",
                                .methods = MetalLayer_methods,
                                .props = MetalLayer_props,
                                .fields = MetalLayer_fields,
                                .factory = "layer"};

static const Field MetalDrawable_fields[] = {
    {OPTIONAL("texture", Texture), "What is drawn into.", true},
    {OPTIONAL("layer", MetalLayer), "The layer it came from.", true},
    NO_FIELD,
};

METHOD0(MetalDrawable, present, "None", "Shows it; there is no screen.") {
    (void)self, (void)a;
    return none(state);
}

static const Method *const MetalDrawable_methods[] = {&MetalDrawable_present, NULL};
const Class class_MetalDrawable = {.name = "MetalDrawable",
                                   .doc = "A texture that a layer shows.",
                                   .methods = MetalDrawable_methods,
                                   .fields = MetalDrawable_fields};

// SPDX-License-Identifier: Apache-2.0
// blit.c: BlitCommandEncoder: what PyMetal lets programs say of memory that is not managed.
#include "object.h"

METHOD(BlitCommandEncoder, synchronize_resource, "None",
       "For managed storage. Memory is one here: nothing to do.", OBJECT("buffer", Buffer)) {
    if (mtl_buffer_storage_mode(a[0].p) == MTLStorageModeManaged)
        mtl_blit_command_encoder_synchronize_resource(self->native, a[0].p);
    return none(state);
}

METHOD(BlitCommandEncoder, synchronize_texture, "None",
       "For managed storage. Memory is one here: nothing to do.", OBJECT("texture", Texture),
       SIZE("slice"), SIZE("level")) {
    if (mtl_texture_storage_mode(a[0].p) == MTLStorageModeManaged)
        mtl_blit_command_encoder_synchronize_texture(self->native, a[0].p, a[1].u, a[2].u);
    return none(state);
}

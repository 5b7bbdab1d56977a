// SPDX-License-Identifier: Apache-2.0
// metal4_compute.c: MTL4ComputeCommandEncoder: hints for a texture, or for a slice and level of it.
#include "object.h"

#define HINT(who)                                                                                  \
    METHOD(MTL4ComputeCommandEncoder, optimize_contents_for_##who##_access, "None",                \
           "A hint; with slice and level, for that.", OBJECT("texture", Texture),                  \
           {"slice", K_U64, 0, "None", 0, true}, {"level", K_U64, 0, "None", 0, true}) {           \
        if (!a[1].py && !a[2].py)                                                                  \
            mtl4_compute_command_encoder_optimize_contents_for_##who##_access(self->native,        \
                                                                              a[0].p);             \
        else                                                                                       \
            mtl4_compute_command_encoder_optimize_contents_for_##who##_access_slice(               \
                self->native, a[0].p, a[1].u, a[2].u);                                             \
        return none(state);                                                                        \
    }
HINT(gpu)
HINT(cpu)

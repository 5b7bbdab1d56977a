// SPDX-License-Identifier: Apache-2.0
// library_fixture.c: see library_fixture.h.
#include "library_fixture.h"
#include "abi/compiler_id.h"
#include <stdlib.h>
#include <string.h>

static RfMember member(const char *name, uint32_t type, uint32_t offset) {
    return (RfMember){strdup(name), type, offset, -1};
}

RfLibrary *fixture_reflection(void) {
    RfLibrary *lib = calloc(1, sizeof *lib);
    lib->n_types = 4;
    lib->types = calloc(4, sizeof *lib->types);
    lib->types[0] = (RfType){
        .data_type = 3, .name = strdup("float"), .size = 4, .align = 4, .element = UINT32_MAX};
    lib->types[1] = (RfType){.data_type = 2,
                             .name = strdup("float[4]"),
                             .size = 16,
                             .align = 4,
                             .n_elements = 4,
                             .stride = 4,
                             .element = 0};
    lib->types[2] = (RfType){.data_type = 60,
                             .name = strdup("device Node *"),
                             .size = 8,
                             .align = 8,
                             .element = 3,
                             .space = RF_DEVICE,
                             .access = RF_READ_WRITE};
    lib->types[3] = (RfType){.data_type = 1,
                             .name = strdup("Node"),
                             .size = 24,
                             .align = 8,
                             .element = UINT32_MAX,
                             .n_members = 2};
    lib->types[3].members = calloc(2, sizeof(RfMember));
    lib->types[3].members[0] = member("values", 1, 0);
    lib->types[3].members[1] = member("next", 2, 16);

    lib->n_constants = 1;
    lib->constants = calloc(1, sizeof *lib->constants);
    lib->constants[0] = (RfConstant){strdup("scale"), strdup("_ZL5scale"), 7, 0, 0};

    lib->n_functions = 2;
    lib->functions = calloc(2, sizeof *lib->functions);
    RfFunction *f = &lib->functions[0];
    f->name = strdup("first");
    f->symbol = strdup("_Z5first");
    f->max_total_threads = 256;
    f->required_threads[0] = 64;
    f->n_slots = 3;
    f->n_args = 3;
    f->args = calloc(3, sizeof *f->args);
    f->args[0] = (RfArg){.name = strdup("nodes"),
                         .kind = RF_ARG_BUFFER,
                         .space = RF_DEVICE,
                         .access = RF_READ_WRITE,
                         .count = 1,
                         .type = 3,
                         .condition = strdup("")};
    f->args[1] = (RfArg){.name = strdup("list"), .kind = RF_ARG_BUFFER, .space = RF_CONSTANT};
    f->args[1].access = RF_READ_ONLY;
    f->args[1].member = f->args[1].param = f->args[1].index = f->args[1].slot = 1;
    f->args[1].offset = 8, f->args[1].count = 2;
    f->args[1].condition = strdup("_ZL5scale");
    f->args[2] = (RfArg){.name = strdup("gid"),
                         .kind = RF_ARG_BUILTIN,
                         .builtin = RF_THREADS_PER_GRID,
                         .param = 2,
                         .index = UINT32_MAX,
                         .slot = UINT32_MAX,
                         .condition = strdup("")};
    f->n_constants = 1;
    f->constants = calloc(1, sizeof *f->constants);
    lib->functions[1].name = strdup("second");
    lib->functions[1].symbol = strdup("_Z6second");
    return lib;
}

Blob *fixture_metallib(const char *name, const char *bitcode) {
    RfLibrary *rf = fixture_reflection();
    Metallib m = {.compiler_id = (char *)(uintptr_t)compiler_id(),
                  .source_name = (char *)(uintptr_t)name,
                  .math_mode = 2,
                  .language_version = 4 << 16,
                  .log = "a warning\n",
                  .reflection = rf,
                  .bitcode = (const unsigned char *)bitcode,
                  .bitcode_bytes = strlen(bitcode)};
    Blob *b = metallib_encode(&m);
    rf_free(rf);
    return b;
}

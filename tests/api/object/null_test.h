// SPDX-License-Identifier: Apache-2.0
// null_test.h: what the tests of the null device share: a library made by hand. Nothing compiles
// it: the device takes a function for code as it is.
#ifndef INGOT_TESTS_NULL_TEST_H
#define INGOT_TESTS_NULL_TEST_H
#include "abi/metallib.h"
#include "api_test.h"
#include "devices/null/null.h"

// kernel void nothing(device float *x [[buffer(0)]]), and vertex and fragment functions that have
// nothing but a position.
static inline MTLLibrary *hand_made_library(MTLDevice *on) {
    static RfType types[] = {{.data_type = MTLDataTypeFloat,
                              .size = 4,
                              .align = 4,
                              .name = (char *)"float",
                              .element = UINT32_MAX}};
    static RfArg arg[] = {{.name = (char *)"x",
                           .kind = RF_ARG_BUFFER,
                           .space = RF_DEVICE,
                           .access = RF_READ_WRITE,
                           .count = 1,
                           .condition = (char *)""}};
    static RfValue position[] = {{.name = (char *)"position",
                                  .role = RF_POSITION,
                                  .data_type = MTLDataTypeFloat4,
                                  .n = 4,
                                  .condition = (char *)""}};
    static RfFunction functions[] = {{.name = (char *)"nothing",
                                      .symbol = (char *)"nothing",
                                      .signature = (char *)"",
                                      .stage = RF_KERNEL,
                                      .n_slots = 1,
                                      .n_args = 1,
                                      .args = arg},
                                     {.name = (char *)"corner",
                                      .symbol = (char *)"corner",
                                      .signature = (char *)"",
                                      .stage = RF_VERTEX,
                                      .n_outputs = 1,
                                      .outputs = position},
                                     {.name = (char *)"paint",
                                      .symbol = (char *)"paint",
                                      .signature = (char *)"",
                                      .stage = RF_FRAGMENT}};
    static RfLibrary reflection = {
        .n_types = 1, .types = types, .n_functions = 3, .functions = functions};
    const Metallib lib = {.compiler_id = (char *)"by hand",
                          .source_name = (char *)"",
                          .log = (char *)"",
                          .install_name = (char *)"",
                          .reflection = &reflection,
                          .bitcode = (const unsigned char *)"",
                          .bitcode_bytes = 0};
    Blob *bytes = metallib_encode(&lib);
    assert_non_null(bytes);
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_data(on, bytes->data, bytes->n_bytes, &error);
    if (!library) fail_msg("%s", mtl_error_localized_description(error));
    blob_release(bytes);
    return library;
}

static inline MTLDevice *device_at(size_t i) {
    MTLDevice *all[4];
    size_t n = mtl_copy_all_devices(all, 4);
    assert_true(i < n && n <= 4);
    for (size_t k = 0; k < n; k++)
        if (k != i) mtl_release(all[k]);
    return all[i];
}
#endif

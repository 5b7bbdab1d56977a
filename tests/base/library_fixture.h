// SPDX-License-Identifier: Apache-2.0
// library_fixture.h: a small but complete reflection and library to test with.
#ifndef INGOT_TESTS_BASE_LIBRARY_FIXTURE_H
#define INGOT_TESTS_BASE_LIBRARY_FIXTURE_H
#include "abi/metallib.h"

// Two functions (`first`, `second`), a struct with an array and a pointer to itself, a function
// constant. Owned by the caller (rf_free).
RfLibrary *fixture_reflection(void);
// A container around it with the given source name and bitcode.
Blob *fixture_metallib(const char *name, const char *bitcode);
#endif

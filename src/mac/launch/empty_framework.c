// SPDX-License-Identifier: Apache-2.0
// empty_framework.c: libingot-empty, which stands under the name of each framework of which Ingot
// has nothing (CMakeLists.txt). One symbol, since some linkers drop a library without any.
extern const char ingot_empty_framework[];
__attribute__((visibility("default"))) const char ingot_empty_framework[] = "empty";

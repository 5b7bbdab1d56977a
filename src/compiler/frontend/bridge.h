// SPDX-License-Identifier: Apache-2.0
// bridge.h: the C face of bridge.cpp, the project's only C++ file. Everything that needs Clang's or
// lld's C++ API happens behind these calls; everything that can be decided in C is decided by the
// callbacks of BridgeClient (token pass, wording of diagnostics, reflection, the finished module).
#ifndef INGOT_FRONTEND_BRIDGE_H
#define INGOT_FRONTEND_BRIDGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Links one relocatable x86-64 ELF object into a shared object, in process. Undefined symbols are
// left to the loader (memcpy, memset). On success *so is malloc'd; on failure *error is (one or more
// lines). Calls from several threads are serialised: lld keeps global state.
bool msl_link_shared(const void *object, size_t n, unsigned char **so, size_t *so_bytes, char **error);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// compiler_id.h: names the compiler by the content of its sources and headers (made at build time
// by compiler_id.cmake). Cache entries carry it, so a changed compiler never meets old results.
#ifndef INGOT_ABI_COMPILER_ID_H
#define INGOT_ABI_COMPILER_ID_H
const char *compiler_id(void);
#endif

// SPDX-License-Identifier: Apache-2.0
// bench_objc.h: bench_objc_c.c for bench_objc.m, which cannot include the C headers: they have the
// same names.
#ifndef INGOT_BENCH_OBJC_H
#define INGOT_BENCH_OBJC_H

// A command buffer of one dispatch, committed; the caller's.
void *bench_c_commit(void *queue, void *pipeline, void *buffer);
void bench_c_dispatch(void *encoder, void *buffer);
#endif

// SPDX-License-Identifier: Apache-2.0
// single_flight_int.h: single flight: threads that request the same result at the same time compute
// it once. The first one (the leader) computes it; the others wait and share it.
#ifndef INGOT_RUNTIME_SINGLE_FLIGHT_INT_H
#define INGOT_RUNTIME_SINGLE_FLIGHT_INT_H
#include "runtime/program/cache.h"

typedef struct Flight Flight;

// Joins the flight for a key. *leader: this thread makes the result and must call flight_land; else
// the call returns after the leader has landed. NULL without memory: make the result alone.
Flight *flight_join(const CacheKey *key, bool *leader);
// The leader's result, kept until everybody has left: `result` and what `drop` frees. Takes them
// over.
void flight_land(Flight *f, void *result, void (*drop)(void *));
void *flight_result(const Flight *f); // borrowed until flight_leave
void flight_leave(Flight *f);         // everybody once, the leader too
void flight_before_fork(void);
void flight_after_fork(bool child);
#endif

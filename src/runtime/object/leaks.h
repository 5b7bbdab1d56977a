// SPDX-License-Identifier: Apache-2.0
// leaks.h: INGOT_LEAKS=1: a list of the objects that are alive, written to stderr at exit.
#ifndef INGOT_RUNTIME_LEAKS_H
#define INGOT_RUNTIME_LEAKS_H
#include "runtime/object/object.h"

extern atomic_int rt_leaks_state; // 0: the environment was not looked at yet, 1: no, 2: yes
bool rt_leaks_ask(void);
static inline bool rt_leaks_wanted(void) {
    int state = atomic_load_explicit(&rt_leaks_state, memory_order_relaxed);
    return state == 2 || (state == 0 && rt_leaks_ask());
}

void rt_leaks_born(RtObject *object);
void rt_leaks_died(RtObject *object);
#endif

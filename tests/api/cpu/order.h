// SPDX-License-Identifier: Apache-2.0
// order.h: what test_cpu tells the hand-made kernel of code_object.c to do.
#ifndef INGOT_TESTS_ORDER_H
#define INGOT_TESTS_ORDER_H
#include <stdint.h>

typedef struct Order {
    enum {
        BEHAVE,
        LOOP_FOR_EVER,
        TOUCH_NOTHING,
        TRAP,
        OVERFLOW_STACK,
        LOG,
        WRITE_UP,   // over everything above its frame
        WRITE_DOWN, // and below
        BREAK,
        DIVIDE,
        JUMP_AWAY,
        LOSE_STACK, // and loop for ever
        LOSE_REGISTERS,
    } what;
    uint64_t at;   // in this threadgroup; UINT64_MAX: in none
    unsigned work; // iterations of busy waiting per threadgroup,
    uint64_t idle; // from this one on
    void *address;
    volatile int go_on;
    volatile int result;
    unsigned collisions;
} Order;
#endif

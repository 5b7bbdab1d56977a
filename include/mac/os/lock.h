// SPDX-License-Identifier: Apache-2.0
// os/lock.h: a lock of one word.
#ifndef INGOT_MAC_OS_LOCK_H
#define INGOT_MAC_OS_LOCK_H
#include <stdbool.h>
#include <stdint.h>
typedef struct os_unfair_lock_s {
    uint32_t _os_unfair_lock_opaque;
} os_unfair_lock, *os_unfair_lock_t;
#ifdef __cplusplus
#define OS_UNFAIR_LOCK_INIT (os_unfair_lock())
extern "C" {
#else
#define OS_UNFAIR_LOCK_INIT ((os_unfair_lock){0})
#endif
void os_unfair_lock_lock(os_unfair_lock_t lock);
bool os_unfair_lock_trylock(os_unfair_lock_t lock);
void os_unfair_lock_unlock(os_unfair_lock_t lock);
#ifdef __cplusplus
}
#endif
#endif

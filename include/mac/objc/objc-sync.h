// SPDX-License-Identifier: Apache-2.0
// objc/objc-sync.h: what @synchronized calls.
#ifndef INGOT_MAC_OBJC_SYNC_H
#define INGOT_MAC_OBJC_SYNC_H
#include <objc/objc.h>
enum { OBJC_SYNC_SUCCESS = 0, OBJC_SYNC_NOT_OWNING_THREAD_ERROR = -1 };
OBJC_EXPORT int objc_sync_enter(id object);
OBJC_EXPORT int objc_sync_exit(id object);
#endif

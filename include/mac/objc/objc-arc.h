// SPDX-License-Identifier: Apache-2.0
// objc/objc-arc.h: the functions that the compiler calls for automatic counting.
#ifndef INGOT_MAC_OBJC_ARC_H
#define INGOT_MAC_OBJC_ARC_H
#include <objc/objc.h>
#if !__has_feature(objc_arc)
OBJC_EXPORT id objc_retain(id object);
OBJC_EXPORT void objc_release(id object);
OBJC_EXPORT id objc_autorelease(id object);
OBJC_EXPORT id objc_retainBlock(id block);
OBJC_EXPORT id objc_retainAutorelease(id object);
OBJC_EXPORT id objc_autoreleaseReturnValue(id object);
OBJC_EXPORT id objc_retainAutoreleaseReturnValue(id object);
OBJC_EXPORT id objc_retainAutoreleasedReturnValue(id object);
OBJC_EXPORT id objc_claimAutoreleasedReturnValue(id object);
OBJC_EXPORT id objc_unsafeClaimAutoreleasedReturnValue(id object);
OBJC_EXPORT void objc_storeStrong(id *location, id object);
OBJC_EXPORT id objc_initWeak(id *location, id object);
OBJC_EXPORT void objc_destroyWeak(id *location);
OBJC_EXPORT id objc_loadWeakRetained(id *location);
OBJC_EXPORT id objc_storeWeakOrNil(id *location, id object);
OBJC_EXPORT id objc_initWeakOrNil(id *location, id object);
OBJC_EXPORT void objc_copyWeak(id *to, id *from);
OBJC_EXPORT void objc_moveWeak(id *to, id *from);
#endif
OBJC_EXPORT void *objc_autoreleasePoolPush(void);
OBJC_EXPORT void objc_autoreleasePoolPop(void *pool);
#endif

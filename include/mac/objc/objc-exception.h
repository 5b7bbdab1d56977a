// SPDX-License-Identifier: Apache-2.0
// objc/objc-exception.h: what @throw and @catch call.
#ifndef INGOT_MAC_OBJC_EXCEPTION_H
#define INGOT_MAC_OBJC_EXCEPTION_H
#include <objc/objc.h>
typedef void (*objc_uncaught_exception_handler)(id exception);
OBJC_EXPORT void objc_exception_throw(id exception) __attribute__((noreturn));
OBJC_EXPORT void objc_exception_rethrow(void) __attribute__((noreturn));
OBJC_EXPORT id objc_begin_catch(void *exception);
OBJC_EXPORT void objc_end_catch(void);
OBJC_EXPORT void objc_terminate(void) __attribute__((noreturn));
OBJC_EXPORT objc_uncaught_exception_handler
objc_setUncaughtExceptionHandler(objc_uncaught_exception_handler handler); // the one before
#endif

// SPDX-License-Identifier: Apache-2.0
// objc/message.h: sending messages by hand. Cast a function to the method's type before a call.
#ifndef INGOT_MAC_OBJC_MESSAGE_H
#define INGOT_MAC_OBJC_MESSAGE_H
#include <objc/objc.h>

struct objc_super {
    id receiver;
    Class super_class; // objc_msgSendSuper: where the search begins; Super2: the class below it
};

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wincompatible-library-redeclaration" // variadic to the compiler
#endif
OBJC_EXPORT void objc_msgSend(void /* id self, SEL selector, ... */);
OBJC_EXPORT void objc_msgSendSuper(void /* struct objc_super *, SEL selector, ... */);
OBJC_EXPORT void objc_msgSendSuper2(void /* struct objc_super *, SEL selector, ... */);
#if defined(__x86_64__)
OBJC_EXPORT void objc_msgSend_stret(void);       // results in memory
OBJC_EXPORT void objc_msgSendSuper_stret(void);  // results in memory
OBJC_EXPORT void objc_msgSendSuper2_stret(void); // results in memory
OBJC_EXPORT void objc_msgSend_fpret(void);       // long double
OBJC_EXPORT void objc_msgSend_fp2ret(void);      // _Complex long double
OBJC_EXPORT void _objc_msgForward_stret(void);
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif
OBJC_EXPORT void _objc_msgForward(void); // what a class answers for a method that it has not
#endif

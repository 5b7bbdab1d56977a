// SPDX-License-Identifier: Apache-2.0
// CoreFoundation/CoreFoundation.h: the little of Core Foundation that Metal's headers and programs
// name.
#ifndef INGOT_MAC_COREFOUNDATION_H
#define INGOT_MAC_COREFOUNDATION_H
// Programs rely on this header for C's own, as Apple's includes them.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <CoreFoundation/CFBase.h>
#include <dispatch/dispatch.h>

enum {
    kCFStringEncodingASCII = 0x0600,
    kCFStringEncodingUTF8 = 0x08000100,
    kCFStringEncodingUTF16 = 0x0100,
    kCFStringEncodingISOLatin1 = 0x0201
};
CF_EXPORT CFStringRef
__CFStringMakeConstantString(const char *text); // lives for ever, one for each text
#define CFSTR(text) ((CFStringRef)__builtin___CFStringMakeConstantString("" text ""))
CF_EXPORT CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text,
                                                CFStringEncoding encoding);
CF_EXPORT CFStringRef CFStringCreateCopy(CFAllocatorRef allocator, CFStringRef string);
CF_EXPORT CFIndex CFStringGetLength(CFStringRef string);
CF_EXPORT UniChar CFStringGetCharacterAtIndex(CFStringRef string, CFIndex index);
CF_EXPORT Boolean CFStringGetCString(CFStringRef string, char *buffer, CFIndex room,
                                     CFStringEncoding encoding);
CF_EXPORT const char *CFStringGetCStringPtr(CFStringRef string, CFStringEncoding encoding);
CF_EXPORT CFComparisonResult CFStringCompare(CFStringRef a, CFStringRef b, CFOptionFlags options);
CF_EXPORT CFIndex CFArrayGetCount(CFArrayRef array);
CF_EXPORT const void *CFArrayGetValueAtIndex(CFArrayRef array, CFIndex index);
CF_EXPORT CFIndex CFDictionaryGetCount(CFDictionaryRef dictionary);
CF_EXPORT const void *CFDictionaryGetValue(CFDictionaryRef dictionary, const void *key);
CF_EXPORT CFIndex CFDataGetLength(CFDataRef data);
CF_EXPORT const uint8_t *CFDataGetBytePtr(CFDataRef data);
CF_EXPORT CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);
#endif

// SPDX-License-Identifier: Apache-2.0
// CoreFoundation/CFBase.h: types of Core Foundation. Its objects are Foundation's.
#ifndef INGOT_MAC_CFBASE_H
#define INGOT_MAC_CFBASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <CoreFoundation/CFAvailability.h>
#include <objc/objc-api.h>
#ifndef TRUE
#define TRUE 1
#define FALSE 0
#endif
#define CF_EXPORT OBJC_EXPORT
#define CF_INLINE static inline
#ifdef __OBJC__
#define CF_BRIDGED_TYPE(name) __attribute__((objc_bridge(name)))
#define CF_BRIDGED_MUTABLE_TYPE(name) __attribute__((objc_bridge_mutable(name)))
#define CF_RELATED_TYPE(T, C, I) __attribute__((objc_bridge_related(T, C, I)))
#else
#define CF_BRIDGED_TYPE(name)
#define CF_BRIDGED_MUTABLE_TYPE(name)
#define CF_RELATED_TYPE(T, C, I)
#endif
typedef const void *CFTypeRef;
typedef long CFIndex;
typedef unsigned long CFTypeID;
typedef unsigned long CFHashCode;
typedef unsigned long CFOptionFlags;
typedef unsigned char Boolean;
typedef int32_t SInt32;
typedef uint32_t UInt32;
typedef uint16_t UniChar;
typedef double CFTimeInterval;
typedef double CFAbsoluteTime;
typedef uint32_t CFStringEncoding;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef const struct CF_BRIDGED_TYPE(NSString) __CFString *CFStringRef;
typedef struct CF_BRIDGED_MUTABLE_TYPE(NSMutableString) __CFString *CFMutableStringRef;
typedef const struct CF_BRIDGED_TYPE(NSArray) __CFArray *CFArrayRef;
typedef struct CF_BRIDGED_MUTABLE_TYPE(NSMutableArray) __CFArray *CFMutableArrayRef;
typedef const struct CF_BRIDGED_TYPE(NSDictionary) __CFDictionary *CFDictionaryRef;
typedef struct CF_BRIDGED_MUTABLE_TYPE(NSMutableDictionary) __CFDictionary *CFMutableDictionaryRef;
typedef const struct CF_BRIDGED_TYPE(NSNumber) __CFNumber *CFNumberRef;
typedef const struct CF_BRIDGED_TYPE(NSData) __CFData *CFDataRef;
typedef const struct CF_BRIDGED_TYPE(NSURL) __CFURL *CFURLRef;
typedef struct CF_BRIDGED_TYPE(NSError) __CFError *CFErrorRef;
typedef struct CF_BRIDGED_TYPE(NSBundle) __CFBundle *CFBundleRef;
typedef const struct CF_BRIDGED_TYPE(NSNumber) __CFBoolean *CFBooleanRef;
typedef struct {
    CFIndex location, length;
} CFRange;
CF_INLINE CFRange CFRangeMake(CFIndex location, CFIndex length) {
    CFRange r = {location, length};
    return r;
}
#define kCFAllocatorDefault ((CFAllocatorRef)0)
typedef CF_ENUM(CFIndex, CFComparisonResult) {
    kCFCompareLessThan = -1L,
    kCFCompareEqualTo = 0,
    kCFCompareGreaterThan = 1
};
CF_EXPORT CFTypeRef CFRetain(CFTypeRef object);
CF_EXPORT void CFRelease(CFTypeRef object);
CF_EXPORT CFTypeRef CFAutorelease(CFTypeRef object);
CF_EXPORT CFIndex CFGetRetainCount(CFTypeRef object);
CF_EXPORT Boolean CFEqual(CFTypeRef a, CFTypeRef b);
CF_EXPORT CFHashCode CFHash(CFTypeRef object);
CF_EXPORT CFStringRef CFCopyDescription(CFTypeRef object);
CF_EXPORT void CFShow(CFTypeRef object);
#endif

// SPDX-License-Identifier: Apache-2.0
// Foundation/NSObject.h: the root class and the protocols of copying.
#ifndef INGOT_MAC_FOUNDATION_NSOBJECT_H
#define INGOT_MAC_FOUNDATION_NSOBJECT_H
#include <Foundation/NSObjCRuntime.h>
#include <objc/NSObject.h>
#include <CoreFoundation/CFBase.h>
#ifdef __OBJC__
@class NSArray<ObjectType>, NSCoder, NSDictionary<KeyType, ObjectType>;
@protocol NSCopying
- (id)copyWithZone:(NSZone *)zone;
@end
@protocol NSMutableCopying
- (id)mutableCopyWithZone:(NSZone *)zone;
@end
@protocol NSCoding
- (void)encodeWithCoder:(NSCoder *)coder;
- (instancetype)initWithCoder:(NSCoder *)coder;
@end
@protocol NSSecureCoding <NSCoding>
@property(class, readonly) BOOL supportsSecureCoding;
@end
@protocol NSDiscardableContent
@end
@interface NSObject (Foundation)
- (NSString *)description;
- (NSString *)debugDescription;
+ (NSInteger)version;
+ (void)setVersion:(NSInteger)version;
- (void)performSelector:(SEL)selector withObject:(id)argument afterDelay:(NSTimeInterval)delay;
- (void)performSelectorOnMainThread:(SEL)selector withObject:(id)argument waitUntilDone:(BOOL)wait;
- (void)performSelectorInBackground:(SEL)selector withObject:(id)argument;
- (id)valueForKey:(NSString *)key;
- (void)setValue:(id)value forKey:(NSString *)key;
@end
@interface NSObject (KeyPaths)
- (id)valueForKeyPath:(NSString *)path; // "a.b", and @count, @sum, @avg, @max, @min of collections
- (void)setValue:(id)value forKeyPath:(NSString *)path;
- (NSDictionary *)dictionaryWithValuesForKeys:(NSArray *)keys;
@end
FOUNDATION_EXPORT id NSAllocateObject(Class cls, NSUInteger extra_bytes,
                                      NSZone *zone) NS_RETURNS_RETAINED OBJC_ARC_UNAVAILABLE;
FOUNDATION_EXPORT void NSDeallocateObject(id object) OBJC_ARC_UNAVAILABLE;
#if __has_feature(objc_arc)
NS_INLINE CFTypeRef CFBridgingRetain(id object) { return (__bridge_retained CFTypeRef)object; }
NS_INLINE id CFBridgingRelease(CFTypeRef object) { return (__bridge_transfer id)object; }
#else
FOUNDATION_EXPORT CFTypeRef CFBridgingRetain(id object);
FOUNDATION_EXPORT id CFBridgingRelease(CFTypeRef object);
#endif
#endif
#endif

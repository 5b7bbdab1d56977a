// SPDX-License-Identifier: Apache-2.0
// Foundation/NSNotification.h: notifications inside the process.
#ifndef INGOT_MAC_FOUNDATION_NSNOTIFICATION_H
#define INGOT_MAC_FOUNDATION_NSNOTIFICATION_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSDictionary<KeyType, ObjectType>, NSOperationQueue;
typedef NSString *NSNotificationName;
@interface NSNotification : NSObject <NSCopying>
@property(readonly, copy) NSNotificationName name;
@property(readonly, retain) id object;
@property(readonly, copy) NSDictionary *userInfo;
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)object;
+ (instancetype)notificationWithName:(NSNotificationName)name
                              object:(id)object
                            userInfo:(NSDictionary *)info;
@end
@interface NSNotificationCenter : NSObject
@property(class, readonly, retain) NSNotificationCenter *defaultCenter;
- (void)addObserver:(id)observer
           selector:(SEL)selector
               name:(NSNotificationName)name
             object:(id)object;
- (id<NSObject>)addObserverForName:(NSNotificationName)name
                            object:(id)object
                             queue:(NSOperationQueue *)queue
                        usingBlock:(void (^)(NSNotification *notification))block;
- (void)postNotification:(NSNotification *)notification;
- (void)postNotificationName:(NSNotificationName)name object:(id)object;
- (void)postNotificationName:(NSNotificationName)name
                      object:(id)object
                    userInfo:(NSDictionary *)info;
- (void)removeObserver:(id)observer;
- (void)removeObserver:(id)observer name:(NSNotificationName)name object:(id)object;
@end
#endif
#endif

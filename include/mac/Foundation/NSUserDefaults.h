// SPDX-License-Identifier: Apache-2.0
// Foundation/NSUserDefaults.h: settings: what the environment says; what is set lives as long as
// the process.
#ifndef INGOT_MAC_FOUNDATION_NSUSERDEFAULTS_H
#define INGOT_MAC_FOUNDATION_NSUSERDEFAULTS_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSArray<ObjectType>, NSDictionary<KeyType, ObjectType>;
@interface NSUserDefaults : NSObject
@property(class, readonly, retain) NSUserDefaults *standardUserDefaults;
- (id)objectForKey:(NSString *)key;
- (NSString *)stringForKey:(NSString *)key;
- (NSInteger)integerForKey:(NSString *)key;
- (float)floatForKey:(NSString *)key;
- (double)doubleForKey:(NSString *)key;
- (BOOL)boolForKey:(NSString *)key;
- (void)setObject:(id)value forKey:(NSString *)key;
- (void)setInteger:(NSInteger)value forKey:(NSString *)key;
- (void)setFloat:(float)value forKey:(NSString *)key;
- (void)setDouble:(double)value forKey:(NSString *)key;
- (void)setBool:(BOOL)value forKey:(NSString *)key;
- (void)removeObjectForKey:(NSString *)key;
- (void)registerDefaults:(NSDictionary<NSString *, id> *)defaults;
- (BOOL)synchronize;
@end
#endif
#endif

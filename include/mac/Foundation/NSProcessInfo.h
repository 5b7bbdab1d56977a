// SPDX-License-Identifier: Apache-2.0
// Foundation/NSProcessInfo.h: the process.
#ifndef INGOT_MAC_FOUNDATION_NSPROCESSINFO_H
#define INGOT_MAC_FOUNDATION_NSPROCESSINFO_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSArray<ObjectType>, NSDictionary<KeyType, ObjectType>;
typedef struct {
    NSInteger majorVersion, minorVersion, patchVersion;
} NSOperatingSystemVersion;
typedef NS_ENUM(NSInteger, NSProcessInfoThermalState) {
    NSProcessInfoThermalStateNominal,
    NSProcessInfoThermalStateFair,
    NSProcessInfoThermalStateSerious,
    NSProcessInfoThermalStateCritical
};
typedef uint64_t NSActivityOptions;
#define NSActivityUserInitiated 0x00FFFFFFULL
#define NSActivityBackground 0xFFULL
#define NSActivityLatencyCritical 0xFF00000000ULL
@interface NSProcessInfo : NSObject
@property(class, readonly, retain) NSProcessInfo *processInfo;
@property(readonly, copy) NSArray<NSString *> *arguments;
@property(readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property(readonly, copy) NSString *hostName;
@property(copy) NSString *processName;
@property(readonly) int processIdentifier;
@property(readonly, copy) NSString *userName;
@property(readonly, copy) NSString *fullUserName;
@property BOOL automaticTerminationSupportEnabled;
@property(readonly, copy) NSString *globallyUniqueString;
@property(readonly, copy) NSString *operatingSystemVersionString;
@property(readonly) NSOperatingSystemVersion operatingSystemVersion;
@property(readonly) NSUInteger operatingSystem;
@property(readonly) NSUInteger processorCount;
@property(readonly) NSUInteger activeProcessorCount;
@property(readonly) unsigned long long physicalMemory;
@property(readonly) NSTimeInterval systemUptime;
@property(readonly) NSProcessInfoThermalState thermalState;
@property(readonly, getter=isLowPowerModeEnabled) BOOL lowPowerModeEnabled;
@property(readonly, getter=isiOSAppOnMac) BOOL iOSAppOnMac;
@property(readonly, getter=isMacCatalystApp) BOOL macCatalystApp;
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version;
- (id<NSObject>)beginActivityWithOptions:(NSActivityOptions)options reason:(NSString *)reason;
- (void)endActivity:(id<NSObject>)activity;
- (void)performActivityWithOptions:(NSActivityOptions)options
                            reason:(NSString *)reason
                        usingBlock:(void (^)(void))block;
- (void)performExpiringActivityWithReason:(NSString *)reason
                               usingBlock:(void (^)(BOOL expired))block;
- (BOOL)hasPerformanceProfile:(NSInteger)profile;
- (BOOL)isDeviceCertifiedFor:(NSInteger)tier;
- (void)disableAutomaticTermination:(NSString *)reason;
- (void)enableAutomaticTermination:(NSString *)reason;
- (void)disableSuddenTermination;
- (void)enableSuddenTermination;
@end
FOUNDATION_EXPORT NSString *const NSProcessInfoThermalStateDidChangeNotification;
FOUNDATION_EXPORT NSString *const NSProcessInfoPowerStateDidChangeNotification;
#endif
#endif

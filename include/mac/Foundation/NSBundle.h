// SPDX-License-Identifier: Apache-2.0
// Foundation/NSBundle.h: the program's folder and what lies in it.
#ifndef INGOT_MAC_FOUNDATION_NSBUNDLE_H
#define INGOT_MAC_FOUNDATION_NSBUNDLE_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSArray<ObjectType>, NSDictionary<KeyType, ObjectType>, NSURL, NSError;
@interface NSBundle : NSObject
@property(class, readonly, retain) NSBundle *mainBundle;
@property(class, readonly, copy) NSArray<NSBundle *> *allBundles;
@property(class, readonly, copy) NSArray<NSBundle *> *allFrameworks;
@property(readonly, copy) NSString *bundlePath;
@property(readonly, copy) NSString *resourcePath;
@property(readonly, copy) NSString *executablePath;
@property(readonly, copy) NSString *bundleIdentifier;
@property(readonly, copy)
    NSString *builtInPlugInsPath; // folders that a Mac's bundle may have: those that are there
@property(readonly, copy) NSString *privateFrameworksPath;
@property(readonly, copy) NSString *sharedFrameworksPath;
@property(readonly, copy) NSString *sharedSupportPath;
@property(readonly, copy) NSURL *builtInPlugInsURL;
@property(readonly, copy) NSURL *privateFrameworksURL;
@property(readonly, copy) NSURL *sharedFrameworksURL;
@property(readonly, copy) NSURL *sharedSupportURL;
@property(readonly, copy) NSURL *appStoreReceiptURL;
@property(readonly, copy) NSDictionary<NSString *, id> *localizedInfoDictionary;
@property(readonly, copy) NSURL *bundleURL;
@property(readonly, copy) NSURL *resourceURL;
@property(readonly, copy) NSURL *executableURL;
@property(readonly, copy) NSDictionary<NSString *, id> *infoDictionary;
@property(readonly, getter=isLoaded) BOOL loaded;
+ (NSBundle *)bundleForClass:(Class)cls;
+ (instancetype)bundleWithPath:(NSString *)path;
+ (instancetype)bundleWithURL:(NSURL *)url;
+ (NSBundle *)bundleWithIdentifier:(NSString *)identifier;
- (instancetype)initWithPath:(NSString *)path;
- (instancetype)initWithURL:(NSURL *)url;
- (BOOL)load;
- (BOOL)loadAndReturnError:(NSError **)error;
- (BOOL)preflightAndReturnError:(NSError **)error;
- (BOOL)unload;
- (NSString *)pathForResource:(NSString *)name ofType:(NSString *)type;
- (NSString *)pathForResource:(NSString *)name
                       ofType:(NSString *)type
                  inDirectory:(NSString *)folder;
- (NSString *)pathForAuxiliaryExecutable:(NSString *)name;
- (NSURL *)URLForResource:(NSString *)name withExtension:(NSString *)type;
- (NSURL *)URLForResource:(NSString *)name
            withExtension:(NSString *)type
             subdirectory:(NSString *)folder;
- (NSURL *)URLForAuxiliaryExecutable:(NSString *)name;
- (id)objectForInfoDictionaryKey:(NSString *)key;
- (NSString *)localizedStringForKey:(NSString *)key value:(NSString *)value table:(NSString *)table;
- (Class)classNamed:(NSString *)name;
@end
#define NSLocalizedString(key, comment)                                                            \
    [NSBundle.mainBundle localizedStringForKey:(key) value:@"" table:nil]
FOUNDATION_EXPORT NSString *const NSBundleDidLoadNotification;
#endif
#endif

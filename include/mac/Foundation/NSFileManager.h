// SPDX-License-Identifier: Apache-2.0
// Foundation/NSFileManager.h: files and folders.
#ifndef INGOT_MAC_FOUNDATION_NSFILEMANAGER_H
#define INGOT_MAC_FOUNDATION_NSFILEMANAGER_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSArray<ObjectType>, NSDictionary<KeyType, ObjectType>, NSURL, NSData, NSError;
typedef NSString *NSFileAttributeKey;
typedef NSString *NSFileAttributeType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileSize;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileModificationDate;
FOUNDATION_EXPORT NSFileAttributeKey const NSFilePosixPermissions;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeRegular;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeDirectory;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeSymbolicLink;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeUnknown;
@interface NSFileManager : NSObject
@property(class, readonly, retain) NSFileManager *defaultManager;
@property(readonly, copy) NSString *currentDirectoryPath;
@property(readonly, copy) NSURL *temporaryDirectory;
@property(readonly, copy) NSURL *homeDirectoryForCurrentUser;
- (BOOL)fileExistsAtPath:(NSString *)path;
- (BOOL)fileExistsAtPath:(NSString *)path isDirectory:(BOOL *)directory;
- (BOOL)isReadableFileAtPath:(NSString *)path;
- (BOOL)isWritableFileAtPath:(NSString *)path;
- (BOOL)isExecutableFileAtPath:(NSString *)path;
- (BOOL)changeCurrentDirectoryPath:(NSString *)path;
- (BOOL)createDirectoryAtPath:(NSString *)path
    withIntermediateDirectories:(BOOL)intermediate
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error;
- (BOOL)createDirectoryAtURL:(NSURL *)url
    withIntermediateDirectories:(BOOL)intermediate
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error;
- (BOOL)createFileAtPath:(NSString *)path
                contents:(NSData *)data
              attributes:(NSDictionary *)attributes;
- (NSData *)contentsAtPath:(NSString *)path;
- (NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path error:(NSError **)error;
- (NSDictionary<NSFileAttributeKey, id> *)attributesOfItemAtPath:(NSString *)path
                                                           error:(NSError **)error;
- (NSString *)destinationOfSymbolicLinkAtPath:(NSString *)path error:(NSError **)error;
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError **)error;
- (BOOL)removeItemAtURL:(NSURL *)url error:(NSError **)error;
- (BOOL)moveItemAtPath:(NSString *)from toPath:(NSString *)to error:(NSError **)error;
- (BOOL)copyItemAtPath:(NSString *)from toPath:(NSString *)to error:(NSError **)error;
@end
FOUNDATION_EXPORT NSString *NSTemporaryDirectory(void);
FOUNDATION_EXPORT NSString *NSHomeDirectory(void);
FOUNDATION_EXPORT NSString *NSUserName(void);
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// Foundation/NSURL.h: addresses.
#ifndef INGOT_MAC_FOUNDATION_NSURL_H
#define INGOT_MAC_FOUNDATION_NSURL_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSArray<ObjectType>, NSError;
@interface NSURL : NSObject <NSCopying, NSSecureCoding>
@property(readonly, copy) NSString *absoluteString;
@property(readonly, copy) NSString *relativeString;
@property(readonly, copy) NSString *path;
@property(readonly, copy) NSString *relativePath;
@property(readonly, copy) NSString *scheme;
@property(readonly, copy) NSString *host;
@property(readonly, copy) NSString *query;
@property(readonly, copy) NSString *fragment;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly, copy) NSString *pathExtension;
@property(readonly, copy) NSArray<NSString *> *pathComponents;
@property(readonly, copy) NSURL *URLByDeletingLastPathComponent;
@property(readonly, copy) NSURL *URLByDeletingPathExtension;
@property(readonly, copy) NSURL *absoluteURL;
@property(readonly, copy) NSURL *URLByStandardizingPath;
@property(readonly, copy) NSURL *URLByResolvingSymlinksInPath;
@property(readonly, getter=isFileURL) BOOL fileURL;
@property(readonly) BOOL hasDirectoryPath;
@property(readonly) const char *fileSystemRepresentation NS_RETURNS_INNER_POINTER;
+ (instancetype)URLWithString:(NSString *)text;
+ (instancetype)URLWithString:(NSString *)text relativeToURL:(NSURL *)base;
+ (NSURL *)fileURLWithPath:(NSString *)path;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)directory;
+ (NSURL *)fileURLWithFileSystemRepresentation:(const char *)path
                                   isDirectory:(BOOL)directory
                                 relativeToURL:(NSURL *)base;
- (instancetype)initWithString:(NSString *)text;
- (instancetype)initFileURLWithPath:(NSString *)path;
- (instancetype)initFileURLWithPath:(NSString *)path isDirectory:(BOOL)directory;
- (NSURL *)URLByAppendingPathComponent:(NSString *)component;
- (NSURL *)URLByAppendingPathComponent:(NSString *)component isDirectory:(BOOL)directory;
- (NSURL *)URLByAppendingPathExtension:(NSString *)extension;
- (BOOL)checkResourceIsReachableAndReturnError:(NSError **)error;
@end
#endif
#endif

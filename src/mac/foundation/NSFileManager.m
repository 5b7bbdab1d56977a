// SPDX-License-Identifier: Apache-2.0
// NSFileManager.m: files and folders.
#include "mac/foundation/foundation_int.h"
#include <dirent.h>
#include <pwd.h>
#include <sys/stat.h>

NSFileAttributeKey const NSFileType = @"NSFileType";
NSFileAttributeKey const NSFileSize = @"NSFileSize";
NSFileAttributeKey const NSFileModificationDate = @"NSFileModificationDate";
NSFileAttributeKey const NSFilePosixPermissions = @"NSFilePosixPermissions";
NSFileAttributeType const NSFileTypeRegular = @"NSFileTypeRegular";
NSFileAttributeType const NSFileTypeDirectory = @"NSFileTypeDirectory";
NSFileAttributeType const NSFileTypeSymbolicLink = @"NSFileTypeSymbolicLink";
NSFileAttributeType const NSFileTypeUnknown = @"NSFileTypeUnknown";

NSString *NSTemporaryDirectory(void) {
    const char *folder = getenv("TMPDIR");
    NSString *path = [NSString stringWithUTF8String:folder && *folder ? folder : "/tmp"];
    return [path hasSuffix:@"/"] ? path : [path stringByAppendingString:@"/"];
}
NSString *NSHomeDirectory(void) {
    const char *home = getenv("HOME");
    struct passwd *user = home && *home ? NULL : getpwuid(getuid());
    return [NSString stringWithUTF8String:home && *home ? home : user ? user->pw_dir : "/"];
}
NSString *NSUserName(void) {
    struct passwd *user = getpwuid(getuid());
    return user ? [NSString stringWithUTF8String:user->pw_name] : @"";
}

@implementation NSFileManager
ONE_OBJECT(NSFileManager, defaultManager)
static BOOL done(bool good, NSString *path, NSError **error) {
    if (!good && error) *error = posix_error(errno, path, true);
    return good;
}
- (NSString *)currentDirectoryPath {
    char *folder = getcwd(NULL, 0);
    NSString *path = [NSString stringWithUTF8String:folder ? folder : "/"];
    free(folder);
    return path;
}
- (NSURL *)temporaryDirectory {
    return [NSURL fileURLWithPath:NSTemporaryDirectory() isDirectory:YES];
}
- (NSURL *)homeDirectoryForCurrentUser {
    return [NSURL fileURLWithPath:NSHomeDirectory() isDirectory:YES];
}
- (BOOL)fileExistsAtPath:(NSString *)path {
    return [self fileExistsAtPath:path isDirectory:NULL];
}
- (BOOL)fileExistsAtPath:(NSString *)path isDirectory:(BOOL *)directory {
    struct stat about;
    bool there = path.length && !stat(path.fileSystemRepresentation, &about);
    if (directory) *directory = there && S_ISDIR(about.st_mode);
    return there;
}
- (BOOL)isReadableFileAtPath:(NSString *)path {
    return path && !access(path.fileSystemRepresentation, R_OK);
}
- (BOOL)isWritableFileAtPath:(NSString *)path {
    return path && !access(path.fileSystemRepresentation, W_OK);
}
- (BOOL)isExecutableFileAtPath:(NSString *)path {
    return path && !access(path.fileSystemRepresentation, X_OK);
}
- (BOOL)changeCurrentDirectoryPath:(NSString *)path {
    return path && !chdir(path.fileSystemRepresentation);
}
- (BOOL)createDirectoryAtPath:(NSString *)path
    withIntermediateDirectories:(BOOL)intermediate
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error {
    (void)attributes;
    BOOL folder;
    if (intermediate && [self fileExistsAtPath:path isDirectory:&folder] && folder) return YES;
    NSString *above = path.stringByDeletingLastPathComponent;
    if (intermediate && above.length && ![self fileExistsAtPath:above] &&
        ![self createDirectoryAtPath:above
            withIntermediateDirectories:YES
                             attributes:nil
                                  error:error])
        return NO;
    return done(!mkdir(path.fileSystemRepresentation, 0777), path, error);
}
- (BOOL)createDirectoryAtURL:(NSURL *)url
    withIntermediateDirectories:(BOOL)intermediate
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error {
    return [self createDirectoryAtPath:url.path
           withIntermediateDirectories:intermediate
                            attributes:attributes
                                 error:error];
}
- (BOOL)createFileAtPath:(NSString *)path
                contents:(NSData *)data
              attributes:(NSDictionary *)attributes {
    (void)attributes;
    return [data ? data : [NSData data] writeToFile:path atomically:NO];
}
- (NSData *)contentsAtPath:(NSString *)path {
    return [NSData dataWithContentsOfFile:path];
}
- (NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path error:(NSError **)error {
    DIR *folder = path ? opendir(path.fileSystemRepresentation) : NULL;
    if (!folder) {
        if (error) *error = posix_error(path ? errno : EINVAL, path, false);
        return nil;
    }
    NSMutableArray *names = [NSMutableArray array];
    for (struct dirent *e; (e = readdir(folder));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            [names addObject:[NSString stringWithUTF8String:e->d_name]];
    closedir(folder);
    return names;
}
- (NSDictionary *)attributesOfItemAtPath:(NSString *)path error:(NSError **)error {
    struct stat about;
    if (!path || lstat(path.fileSystemRepresentation, &about)) {
        if (error) *error = posix_error(path ? errno : EINVAL, path, false);
        return nil;
    }
    NSString *type = S_ISREG(about.st_mode)   ? NSFileTypeRegular
                     : S_ISDIR(about.st_mode) ? NSFileTypeDirectory
                     : S_ISLNK(about.st_mode) ? NSFileTypeSymbolicLink
                                              : NSFileTypeUnknown;
    double seconds = (double)about.st_mtim.tv_sec + (double)about.st_mtim.tv_nsec * 1e-9;
    return @{
        NSFileType : type,
        NSFileSize : @((unsigned long long)about.st_size),
        NSFilePosixPermissions : @(about.st_mode & 07777),
        NSFileModificationDate : [NSDate dateWithTimeIntervalSince1970:seconds]
    };
}
- (NSString *)destinationOfSymbolicLinkAtPath:(NSString *)path error:(NSError **)error {
    char text[4096];
    ssize_t n =
        path ? readlink(path.fileSystemRepresentation, text, sizeof text) : (errno = EINVAL, -1);
    if (n < 0 && error) *error = posix_error(errno, path, false);
    return n < 0 ? nil
                 : AUTORELEASED([[NSString alloc] initWithBytes:text
                                                         length:(NSUInteger)n
                                                       encoding:NSUTF8StringEncoding]);
}
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError **)error {
    struct stat about;
    if (!lstat(path.fileSystemRepresentation, &about) && S_ISDIR(about.st_mode))
        for (NSString *name in [self contentsOfDirectoryAtPath:path error:NULL])
            if (![self removeItemAtPath:[path stringByAppendingPathComponent:name] error:error])
                return NO;
    return done(!remove(path.fileSystemRepresentation), path, error);
}
- (BOOL)removeItemAtURL:(NSURL *)url error:(NSError **)error {
    return [self removeItemAtPath:url.path error:error];
}
- (BOOL)moveItemAtPath:(NSString *)from toPath:(NSString *)to error:(NSError **)error {
    if ([self fileExistsAtPath:to]) return done((errno = EEXIST, false), to, error);
    return done(!rename(from.fileSystemRepresentation, to.fileSystemRepresentation), from, error);
}
- (BOOL)copyItemAtPath:(NSString *)from toPath:(NSString *)to error:(NSError **)error {
    BOOL folder;
    if ([self fileExistsAtPath:to]) return done((errno = EEXIST, false), to, error);
    if ([self fileExistsAtPath:from isDirectory:&folder] && folder) {
        if (![self createDirectoryAtPath:to
                withIntermediateDirectories:NO
                                 attributes:nil
                                      error:error])
            return NO;
        for (NSString *name in [self contentsOfDirectoryAtPath:from error:NULL])
            if (![self copyItemAtPath:[from stringByAppendingPathComponent:name]
                               toPath:[to stringByAppendingPathComponent:name]
                                error:error])
                return NO;
        return YES;
    }
    NSData *data = [NSData dataWithContentsOfFile:from options:0 error:error];
    return data && [data writeToFile:to options:0 error:error];
}
@end

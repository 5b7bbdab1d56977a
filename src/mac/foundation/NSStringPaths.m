// SPDX-License-Identifier: Apache-2.0
// NSStringPaths.m: strings that are paths.
#include "mac/foundation/foundation_int.h"

@implementation NSString (Paths)
+ (NSString *)pathWithComponents:(NSArray<NSString *> *)components {
    NSString *path = @"";
    for (NSString *part in components)
        path = path.length ? [path stringByAppendingPathComponent:part] : part;
    return path;
}
static NSString *without_last_slashes(NSString *path) {
    NSUInteger n = path.length;
    while (n > 1 && [path characterAtIndex:n - 1] == '/') n--;
    return n == path.length ? path : [path substringToIndex:n];
}
- (NSArray<NSString *> *)pathComponents {
    NSMutableArray *parts = [NSMutableArray array];
    if ([self hasPrefix:@"/"]) [parts addObject:@"/"];
    for (NSString *part in [self componentsSeparatedByString:@"/"])
        if (part.length) [parts addObject:part];
    return parts;
}
- (BOOL)isAbsolutePath {
    return [self hasPrefix:@"/"] || [self hasPrefix:@"~"];
}
- (NSString *)lastPathComponent {
    NSString *path = without_last_slashes(self);
    NSRange slash = [path rangeOfString:@"/" options:NSBackwardsSearch];
    return slash.location == NSNotFound || path.length == 1
               ? path
               : [path substringFromIndex:slash.location + 1];
}
- (NSString *)stringByDeletingLastPathComponent {
    NSString *path = without_last_slashes(self);
    NSRange slash = [path rangeOfString:@"/" options:NSBackwardsSearch];
    if (slash.location == NSNotFound) return @"";
    return slash.location ? without_last_slashes([path substringToIndex:slash.location]) : @"/";
}
- (NSString *)pathExtension {
    NSString *last = self.lastPathComponent;
    NSRange dot = [last rangeOfString:@"." options:NSBackwardsSearch];
    return dot.location == NSNotFound || !dot.location ? @""
                                                       : [last substringFromIndex:dot.location + 1];
}
- (NSString *)stringByDeletingPathExtension {
    NSUInteger n = self.pathExtension.length;
    NSString *path = without_last_slashes(self);
    NSString *last = path.lastPathComponent;
    if (!n && !([last hasSuffix:@"."] && last.length > 1)) return path;
    return [path substringToIndex:path.length - n - 1];
}
- (NSString *)stringByAppendingPathComponent:(NSString *)part {
    nil_check(self, _cmd, part);
    while ([part hasPrefix:@"/"]) part = [part substringFromIndex:1];
    if (!self.length) return without_last_slashes(part);
    NSString *path = without_last_slashes(self);
    if (!part.length) return path;
    return without_last_slashes(
        [path stringByAppendingFormat:@"%@%@", [path hasSuffix:@"/"] ? @"" : @"/", part]);
}
- (NSString *)stringByAppendingPathExtension:(NSString *)extension {
    nil_check(self, _cmd, extension);
    return [without_last_slashes(self) stringByAppendingFormat:@".%@", extension];
}
- (NSString *)stringByExpandingTildeInPath {
    if (![self isEqualToString:@"~"] && ![self hasPrefix:@"~/"]) return self;
    return [NSHomeDirectory() stringByAppendingPathComponent:[self substringFromIndex:1]];
}
- (NSString *)stringByStandardizingPath {
    NSMutableArray *parts = [NSMutableArray array];
    for (NSString *part in self.stringByExpandingTildeInPath.pathComponents) {
        if ([part isEqualToString:@"."]) continue;
        NSString *before = parts.lastObject;
        if ([part isEqualToString:@".."] && before && ![before isEqualToString:@".."]) {
            if (![before isEqualToString:@"/"]) [parts removeLastObject];
            continue;
        }
        [parts addObject:part];
    }
    return [NSString pathWithComponents:parts];
}
- (NSString *)stringByResolvingSymlinksInPath {
    char *real = realpath(self.fileSystemRepresentation, NULL);
    if (!real) return self.stringByStandardizingPath;
    NSString *path = [NSString stringWithUTF8String:real];
    free(real);
    return path;
}
- (const char *)fileSystemRepresentation {
    return self.UTF8String;
}
@end

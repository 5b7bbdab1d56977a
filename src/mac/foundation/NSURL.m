// SPDX-License-Identifier: Apache-2.0
// NSURL.m: addresses: of files, mostly; others are taken apart as RFC 3986 says.
#include "mac/foundation/foundation_int.h"

@implementation NSURL {
    NSString *_text; // escaped
}
+ (instancetype)URLWithString:(NSString *)text {
    return AUTORELEASED([[self alloc] initWithString:text]);
}
+ (instancetype)URLWithString:(NSString *)text relativeToURL:(NSURL *)base {
    if (!base || [text rangeOfString:@"://"].location != NSNotFound)
        return [self URLWithString:text];
    NSString *folder = [base.absoluteString hasSuffix:@"/"]
                           ? base.absoluteString
                           : [base.URLByDeletingLastPathComponent absoluteString];
    return [self URLWithString:[folder stringByAppendingString:text]];
}
+ (NSURL *)fileURLWithPath:(NSString *)path {
    return AUTORELEASED([[self alloc] initFileURLWithPath:path]);
}
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)directory {
    return AUTORELEASED([[self alloc] initFileURLWithPath:path isDirectory:directory]);
}
+ (NSURL *)fileURLWithFileSystemRepresentation:(const char *)path
                                   isDirectory:(BOOL)directory
                                 relativeToURL:(NSURL *)base {
    NSString *text = [NSString stringWithUTF8String:path];
    if (base && !text.absolutePath) text = [base.path stringByAppendingPathComponent:text];
    return [self fileURLWithPath:text isDirectory:directory];
}
static bool allowed(char c, bool path) {
    return isalnum((unsigned char)c) || strchr("-._~!$&'()*+,;=:@/", c) ||
           (!path && strchr("?#[]%", c));
}
static NSString *escaped(NSString *text) {
    NSMutableString *made = [NSMutableString string];
    for (const char *s = text.UTF8String; *s; s++)
        [made appendFormat:allowed(*s, true) ? @"%c" : @"%%%02X", *(const unsigned char *)s];
    return made;
}
static NSString *unescaped(NSString *text) {
    NSMutableData *bytes = [NSMutableData data];
    for (const char *s = text.UTF8String; *s; s++) {
        char c = *s;
        if (c == '%' && isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2])) {
            char hex[3] = {s[1], s[2], 0};
            c = (char)strtol(hex, NULL, 16), s += 2;
        }
        [bytes appendBytes:&c length:1];
    }
    return AUTORELEASED([[NSString alloc] initWithData:bytes encoding:NSUTF8StringEncoding]);
}
- (instancetype)initWithString:(NSString *)text {
    nil_check(self, _cmd, text);
    bool good = text.length > 0;
    for (const char *s = text.UTF8String; *s && good; s++)
        good = (unsigned char)*s < 0x80 && allowed(*s, false);
    if (good && (self = [super init])) {
        _text = [text copy];
        return self;
    }
    [self release]; // empty, or with characters that stand in no address
    return nil;
}
- (instancetype)initFileURLWithPath:(NSString *)path {
    BOOL directory = NO;
    [NSFileManager.defaultManager fileExistsAtPath:path isDirectory:&directory];
    return [self initFileURLWithPath:path isDirectory:directory || [path hasSuffix:@"/"]];
}
- (instancetype)initFileURLWithPath:(NSString *)path isDirectory:(BOOL)directory {
    nil_check(self, _cmd, path);
    if (!(self = [super init])) return nil;
    NSString *full = path.stringByExpandingTildeInPath;
    if (!full.absolutePath)
        full =
            [NSFileManager.defaultManager.currentDirectoryPath stringByAppendingPathComponent:full];
    _text = [[NSString alloc] initWithFormat:@"file://%@%@", escaped(full),
                                             directory && ![full hasSuffix:@"/"] ? @"/" : @""];
    return self;
}
CODES_NOTHING
- (void)dealloc {
    [_text release];
    [super dealloc];
}
COPIES_ITSELF

static NSString *between(NSString *text, NSUInteger start, NSUInteger stop) {
    return [text substringWithRange:NSMakeRange(start, stop - start)];
}
static NSUInteger find_any_of(NSString *text, NSString *set,
                              NSUInteger from) { // the first of these characters, or the end
    for (; from < text.length; from++)
        if ([set rangeOfString:between(text, from, from + 1)].location != NSNotFound) break;
    return from;
}
- (NSString *)scheme {
    NSUInteger colon = find_any_of(_text, @":/?#", 0);
    return colon < _text.length && [_text characterAtIndex:colon] == ':'
               ? [_text substringToIndex:colon]
               : nil;
}
static NSUInteger authority(NSURL *self, NSUInteger *stop) { // where it begins
    NSUInteger at = self.scheme ? self.scheme.length + 1 : 0;
    if (![[self->_text substringFromIndex:at] hasPrefix:@"//"]) return *stop = at;
    *stop = find_any_of(self->_text, @"/?#", at + 2);
    return at + 2;
}
- (NSString *)host {
    NSUInteger stop, start = authority(self, &stop);
    NSString *text = between(_text, start, stop);
    NSRange at = [text rangeOfString:@"@"], port = [text rangeOfString:@":"
                                                               options:NSBackwardsSearch];
    if (port.location != NSNotFound) text = [text substringToIndex:port.location];
    if (at.location != NSNotFound) text = [text substringFromIndex:at.location + 1];
    return text.length ? text : nil;
}
static NSString *raw_path(NSURL *self) {
    NSUInteger stop;
    authority(self, &stop);
    return between(self->_text, stop, find_any_of(self->_text, @"?#", stop));
}
- (NSString *)path {
    NSString *path = unescaped(raw_path(self));
    return path.length > 1 && [path hasSuffix:@"/"] ? [path substringToIndex:path.length - 1]
                                                    : path;
}
- (NSString *)relativePath {
    return self.path;
}
- (NSString *)query {
    NSUInteger mark = find_any_of(_text, @"?#", 0);
    if (mark >= _text.length || [_text characterAtIndex:mark] != '?') return nil;
    return between(_text, mark + 1, find_any_of(_text, @"#", mark));
}
- (NSString *)fragment {
    NSUInteger mark = find_any_of(_text, @"#", 0);
    return mark < _text.length ? [_text substringFromIndex:mark + 1] : nil;
}
- (NSString *)absoluteString {
    return _text;
}
- (NSString *)relativeString {
    return _text;
}
- (NSURL *)absoluteURL {
    return self;
}
- (BOOL)isFileURL {
    return [self.scheme isEqualToString:@"file"];
}
- (BOOL)hasDirectoryPath {
    return [raw_path(self) hasSuffix:@"/"];
}
- (const char *)fileSystemRepresentation {
    return self.path.fileSystemRepresentation;
}
- (NSString *)lastPathComponent {
    return self.path.lastPathComponent;
}
- (NSString *)pathExtension {
    return self.path.pathExtension;
}
- (NSArray<NSString *> *)pathComponents {
    return self.path.pathComponents;
}
static NSURL *with_path(NSURL *self, NSString *path, bool directory) {
    if (self.fileURL) return [NSURL fileURLWithPath:path isDirectory:directory];
    NSUInteger stop, start = authority(self, &stop);
    (void)start;
    return [NSURL
        URLWithString:[NSString stringWithFormat:@"%@%@%@", [self->_text substringToIndex:stop],
                                                 escaped(path),
                                                 directory && ![path hasSuffix:@"/"] ? @"/" : @""]];
}
- (NSURL *)URLByDeletingLastPathComponent {
    return with_path(self, self.path.stringByDeletingLastPathComponent, true);
}
- (NSURL *)URLByDeletingPathExtension {
    return with_path(self, self.path.stringByDeletingPathExtension, self.hasDirectoryPath);
}
- (NSURL *)URLByAppendingPathComponent:(NSString *)part {
    return [self URLByAppendingPathComponent:part isDirectory:[part hasSuffix:@"/"]];
}
- (NSURL *)URLByAppendingPathComponent:(NSString *)part isDirectory:(BOOL)directory {
    return with_path(self, [self.path stringByAppendingPathComponent:part], directory);
}
- (NSURL *)URLByAppendingPathExtension:(NSString *)extension {
    return with_path(self, [self.path stringByAppendingPathExtension:extension],
                     self.hasDirectoryPath);
}
- (NSURL *)URLByStandardizingPath {
    return with_path(self, self.path.stringByStandardizingPath, self.hasDirectoryPath);
}
- (NSURL *)URLByResolvingSymlinksInPath {
    return self.fileURL
               ? with_path(self, self.path.stringByResolvingSymlinksInPath, self.hasDirectoryPath)
               : self;
}
- (BOOL)checkResourceIsReachableAndReturnError:(NSError **)error {
    if (self.fileURL && !access(self.fileSystemRepresentation, F_OK)) return YES;
    if (error) *error = posix_error(self.fileURL ? errno : EINVAL, self.path, false);
    return NO;
}
- (BOOL)isEqual:(id)other {
    return self == other ||
           ([other isKindOfClass:[NSURL class]] && [_text isEqual:[other absoluteString]]);
}
- (NSUInteger)hash {
    return _text.hash;
}
- (NSString *)description {
    return _text;
}
@end

// SPDX-License-Identifier: Apache-2.0
// NSScanner.m: reading numbers and words out of a string, from front to end.
#include "mac/foundation/foundation_int.h"
#import <Foundation/NSScanner.h>

@implementation NSScanner {
    NSString *_string;
    NSUInteger _at;
    NSCharacterSet *_skipped;
    BOOL _caseSensitive;
}
@synthesize string = _string, caseSensitive = _caseSensitive, charactersToBeSkipped = _skipped;
+ (instancetype)scannerWithString:(NSString *)string {
    return AUTORELEASED([[self alloc] initWithString:string]);
}
- (instancetype)initWithString:(NSString *)string {
    nil_check(self, _cmd, string);
    if ((self = [super init]))
        _string = [string copy],
        _skipped = [NSCharacterSet.whitespaceAndNewlineCharacterSet retain];
    return self;
}
- (void)dealloc {
    [_string release], [_skipped release];
    [super dealloc];
}
- (NSUInteger)scanLocation {
    return _at;
}
- (void)setScanLocation:(NSUInteger)at {
    range_check(self, _cmd, at, _string.length + 1);
    _at = at;
}
static NSUInteger start(NSScanner *self) { // behind what is passed over
    NSUInteger at = self->_at;
    while (at < self->_string.length && [self->_skipped
                                            characterIsMember:[self->_string characterAtIndex:at]])
        at++;
    return at;
}
- (BOOL)isAtEnd {
    return start(self) >= _string.length;
}

// The text from the start on, for C's functions; what they read must be ASCII.
static BOOL number(NSScanner *self, bool (*read)(const char *text, char **end, void *to),
                   void *to) {
    const char *text = [self->_string substringFromIndex:start(self)].UTF8String;
    char *end;
    if (isspace((unsigned char)*text) || !read(text, &end, to) || end == text) return NO;
    self->_at = start(self) + (NSUInteger)(end - text);
    return YES;
}
static bool read_double(const char *text, char **end, void *to) {
    double v = strtod(text, end);
    if (to && *end != text) *(double *)to = v;
    return true;
}
static bool read_long(const char *text, char **end, void *to) {
    long long v = strtoll(text, end, 10);
    if (to && *end != text) *(long long *)to = v;
    return true;
}
static bool read_hex(const char *text, char **end, void *to) {
    unsigned long long v = strtoull(text, end, 16);
    if (to && *end != text) *(unsigned long long *)to = v;
    return *text != '-' && *text != '+';
}
- (BOOL)scanDouble:(double *)to {
    return number(self, read_double, to);
}
- (BOOL)scanFloat:(float *)to {
    double v;
    if (![self scanDouble:&v]) return NO;
    if (to) *to = (float)v;
    return YES;
}
- (BOOL)scanLongLong:(long long *)to {
    return number(self, read_long, to);
}
- (BOOL)scanInteger:(NSInteger *)to {
    long long v;
    if (![self scanLongLong:&v]) return NO;
    if (to) *to = (NSInteger)v;
    return YES;
}
- (BOOL)scanInt:(int *)to {
    long long v;
    if (![self scanLongLong:&v]) return NO;
    if (to) *to = v > INT_MAX ? INT_MAX : v < INT_MIN ? INT_MIN : (int)v;
    return YES;
}
- (BOOL)scanHexLongLong:(unsigned long long *)to {
    return number(self, read_hex, to);
}
- (BOOL)scanHexInt:(unsigned *)to {
    unsigned long long v;
    if (![self scanHexLongLong:&v]) return NO;
    if (to) *to = v > UINT_MAX ? UINT_MAX : (unsigned)v;
    return YES;
}

static BOOL accept_range(NSScanner *self, NSUInteger from, NSUInteger stop, NSString **to) {
    if (stop == from) return NO;
    if (to) *to = [self->_string substringWithRange:NSMakeRange(from, stop - from)];
    self->_at = stop;
    return YES;
}
- (BOOL)scanString:(NSString *)text intoString:(NSString **)to {
    NSUInteger from = start(self);
    NSStringCompareOptions options =
        NSAnchoredSearch | (_caseSensitive ? 0 : NSCaseInsensitiveSearch);
    NSRange found = [_string rangeOfString:text
                                   options:options
                                     range:NSMakeRange(from, _string.length - from)];
    return found.location != NSNotFound && accept_range(self, from, NSMaxRange(found), to);
}
- (BOOL)scanUpToString:(NSString *)text intoString:(NSString **)to {
    NSUInteger from = start(self);
    NSRange found = [_string rangeOfString:text
                                   options:_caseSensitive ? 0 : NSCaseInsensitiveSearch
                                     range:NSMakeRange(from, _string.length - from)];
    return accept_range(self, from, found.location == NSNotFound ? _string.length : found.location,
                        to);
}
static BOOL span(NSScanner *self, NSCharacterSet *set, BOOL member, NSString **to) {
    NSUInteger from = start(self), stop = from;
    while (stop < self->_string.length &&
           [set characterIsMember:[self->_string characterAtIndex:stop]] == member)
        stop++;
    return accept_range(self, from, stop, to);
}
- (BOOL)scanCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)to {
    return span(self, set, YES, to);
}
- (BOOL)scanUpToCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)to {
    return span(self, set, NO, to);
}
@end

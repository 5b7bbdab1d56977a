// SPDX-License-Identifier: Apache-2.0
// NSStringEditing.m: strings made from strings: comparing in order, searching, parts, replacing; mutable strings.
#include "mac/foundation/foundation_int.h"

static unichar lower(unichar c) {
    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 32; // Latin-1
    if ((c >= 0x391 && c <= 0x3a9 && c != 0x3a2) || (c >= 0x410 && c <= 0x42f))
        return c + 32; // Greek, Cyrillic
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}
static unichar upper(unichar c) {
    if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
    if (c >= 0xe0 && c <= 0xfe && c != 0xf7) return c - 32;
    if ((c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2) || (c >= 0x430 && c <= 0x44f)) return c - 32;
    return c >= 0x450 && c <= 0x45f ? c - 80 : c;
}
static bool same(unichar a, unichar b, NSStringCompareOptions options) {
    return a == b || (options & NSCaseInsensitiveSearch && lower(a) == lower(b));
}
static bool matches(const StringBuffer *text, size_t at, const StringBuffer *part,
                    NSStringCompareOptions options) {
    if (part->length > text->length - at) return false;
    for (size_t i = 0; i < part->length; i++)
        if (!same(buffer_at(text, at + i), buffer_at(part, i), options)) return false;
    return true;
}
static bool digit(unichar c) { return c >= '0' && c <= '9'; }

// Numbers in the texts are compared by their value (NSNumericSearch): leading zeros are passed over.
static NSComparisonResult compare_numbers(const StringBuffer *a, size_t *i, const StringBuffer *b,
                                          size_t *k) {
    while (*i < a->length && buffer_at(a, *i) == '0') (*i)++;
    while (*k < b->length && buffer_at(b, *k) == '0') (*k)++;
    size_t first = *i, second = *k;
    while (*i < a->length && digit(buffer_at(a, *i))) (*i)++;
    while (*k < b->length && digit(buffer_at(b, *k))) (*k)++;
    if (*i - first != *k - second)
        return *i - first < *k - second ? NSOrderedAscending : NSOrderedDescending;
    for (; first < *i; first++, second++)
        if (buffer_at(a, first) != buffer_at(b, second))
            return buffer_at(a, first) < buffer_at(b, second) ? NSOrderedAscending
                                                              : NSOrderedDescending;
    return NSOrderedSame;
}

static NSString *mapped(NSString *self, unichar (*map)(unichar)) {
    StringBuffer view = string_view(self), made = {0};
    buffer_reserve(&made, view.length);
    for (size_t i = 0; i < view.length; i++)
        buffer_append_wide(&made, &(unichar){map(buffer_at(&view, i))}, 1);
    return AUTORELEASED(string_taking(&made));
}

@implementation NSString (Editing)
- (NSComparisonResult)compare:(NSString *)other {
    return [self compare:other options:0];
}
- (NSComparisonResult)caseInsensitiveCompare:(NSString *)other {
    return [self compare:other options:NSCaseInsensitiveSearch];
}
- (NSComparisonResult)localizedCompare:(NSString *)other {
    return [self compare:other options:0];
}
- (NSComparisonResult)localizedStandardCompare:(NSString *)other {
    return [self compare:other options:NSCaseInsensitiveSearch | NSNumericSearch];
}
- (NSComparisonResult)compare:(NSString *)other options:(NSStringCompareOptions)options {
    nil_check(self, _cmd, other);
    StringBuffer a = string_view(self), b = string_view(other);
    size_t i = 0, k = 0;
    while (i < a.length && k < b.length) {
        unichar x = buffer_at(&a, i), y = buffer_at(&b, k);
        if (options & NSNumericSearch && digit(x) && digit(y)) {
            NSComparisonResult order = compare_numbers(&a, &i, &b, &k);
            if (order) return order;
            continue;
        }
        if (options & NSCaseInsensitiveSearch) x = lower(x), y = lower(y);
        if (x != y) return x < y ? NSOrderedAscending : NSOrderedDescending;
        i++, k++;
    }
    return i < a.length ? NSOrderedDescending : k < b.length ? NSOrderedAscending : NSOrderedSame;
}
- (BOOL)hasPrefix:(NSString *)text {
    nil_check(self, _cmd, text);
    StringBuffer a = string_view(self), b = string_view(text);
    return matches(&a, 0, &b, 0);
}
- (BOOL)hasSuffix:(NSString *)text {
    nil_check(self, _cmd, text);
    StringBuffer a = string_view(self), b = string_view(text);
    return b.length <= a.length && matches(&a, a.length - b.length, &b, 0);
}
- (BOOL)containsString:(NSString *)text {
    return [self rangeOfString:text].location != NSNotFound;
}
- (BOOL)localizedCaseInsensitiveContainsString:(NSString *)text {
    return [self rangeOfString:text options:NSCaseInsensitiveSearch].location != NSNotFound;
}
- (NSRange)rangeOfString:(NSString *)text {
    return [self rangeOfString:text options:0];
}
- (NSRange)rangeOfString:(NSString *)text options:(NSStringCompareOptions)options {
    return [self rangeOfString:text options:options range:NSMakeRange(0, self.length)];
}
- (NSRange)rangeOfString:(NSString *)text
                 options:(NSStringCompareOptions)options
                   range:(NSRange)range {
    nil_check(self, _cmd, text);
    StringBuffer a = string_view(self), b = string_view(text);
    range_check_range(self, _cmd, range, a.length);
    NSRange none = {NSNotFound, 0};
    if (!b.length || b.length > range.length) return none;
    size_t last = range.length - b.length;
    bool backwards = options & NSBackwardsSearch;
    for (size_t i = 0; i <= last; i++) {
        size_t at = range.location + (backwards ? last - i : i);
        if (matches(&a, at, &b, options)) return NSMakeRange(at, b.length);
        if (options & NSAnchoredSearch) break;
    }
    return none;
}
- (NSRange)rangeOfCharacterFromSet:(NSCharacterSet *)set {
    StringBuffer view = string_view(self);
    for (size_t i = 0; i < view.length; i++)
        if ([set characterIsMember:buffer_at(&view, i)]) return NSMakeRange(i, 1);
    return NSMakeRange(NSNotFound, 0);
}
- (NSString *)substringFromIndex:(NSUInteger)index {
    range_check(self, _cmd, index, self.length + 1);
    return [self substringWithRange:NSMakeRange(index, self.length - index)];
}
- (NSString *)substringToIndex:(NSUInteger)index {
    range_check(self, _cmd, index, self.length + 1);
    return [self substringWithRange:NSMakeRange(0, index)];
}
- (NSString *)substringWithRange:(NSRange)range {
    StringBuffer view = string_view(self), made = {0};
    range_check_range(self, _cmd, range, view.length);
    buffer_append(&made, &view, range.location, range.length);
    return AUTORELEASED(string_taking(&made));
}
- (NSString *)stringByAppendingString:(NSString *)text {
    nil_check(self, _cmd, text);
    StringBuffer a = string_view(self), b = string_view(text), made = {0};
    buffer_reserve(&made, a.length + b.length);
    buffer_append(&made, &a, 0, a.length);
    buffer_append(&made, &b, 0, b.length);
    return AUTORELEASED(string_taking(&made));
}
- (NSString *)stringByAppendingFormat:(NSString *)format, ... {
    StringBuffer a = string_view(self), made = {0};
    buffer_append(&made, &a, 0, a.length);
    StringBuffer tail = {0};
    va_list list;
    va_start(list, format);
    string_format(&tail, format, list);
    va_end(list);
    buffer_append(&made, &tail, 0, tail.length);
    buffer_free(&tail);
    return AUTORELEASED(string_taking(&made));
}
- (NSString *)stringByReplacingOccurrencesOfString:(NSString *)text
                                        withString:(NSString *)replacement {
    NSMutableString *copy = AUTORELEASED([self mutableCopy]);
    [copy replaceOccurrencesOfString:text
                          withString:replacement
                             options:0
                               range:NSMakeRange(0, copy.length)];
    return AUTORELEASED([copy copy]);
}
- (NSString *)stringByReplacingCharactersInRange:(NSRange)range withString:(NSString *)replacement {
    NSMutableString *copy = AUTORELEASED([self mutableCopy]);
    [copy replaceCharactersInRange:range withString:replacement];
    return AUTORELEASED([copy copy]);
}
- (NSString *)stringByTrimmingCharactersInSet:(NSCharacterSet *)set {
    StringBuffer view = string_view(self);
    size_t start = 0, stop = view.length;
    while (start < stop && [set characterIsMember:buffer_at(&view, start)]) start++;
    while (stop > start && [set characterIsMember:buffer_at(&view, stop - 1)]) stop--;
    return [self substringWithRange:NSMakeRange(start, stop - start)];
}
- (NSString *)stringByPaddingToLength:(NSUInteger)length
                           withString:(NSString *)text
                      startingAtIndex:(NSUInteger)index {
    StringBuffer a = string_view(self), b = string_view(text), made = {0};
    if (!b.length && length > a.length)
        [NSException raise:NSInvalidArgumentException
                    format:@"*** -[NSString %s]: empty padding", sel_getName(_cmd)];
    buffer_append(&made, &a, 0, a.length < length ? a.length : length);
    while (made.length < length) buffer_append(&made, &b, index++ % b.length, 1);
    return AUTORELEASED(string_taking(&made));
}
- (NSString *)uppercaseString {
    return mapped(self, upper);
}
- (NSString *)lowercaseString {
    return mapped(self, lower);
}
- (NSString *)capitalizedString {
    StringBuffer view = string_view(self), made = {0};
    bool first = true;
    for (size_t i = 0; i < view.length; i++) {
        unichar c = buffer_at(&view, i);
        buffer_append_wide(&made, &(unichar){first ? upper(c) : lower(c)}, 1);
        first = c == ' ' || c == '\t' || c == '\n';
    }
    return AUTORELEASED(string_taking(&made));
}
- (NSArray<NSString *> *)componentsSeparatedByString:(NSString *)text {
    nil_check(self, _cmd, text);
    StringBuffer a = string_view(self), b = string_view(text);
    NSMutableArray *parts = [NSMutableArray array];
    size_t start = 0;
    for (size_t i = 0; b.length && i + b.length <= a.length;) {
        if (!matches(&a, i, &b, 0)) {
            i++;
            continue;
        }
        [parts addObject:[self substringWithRange:NSMakeRange(start, i - start)]];
        start = i += b.length;
    }
    [parts addObject:[self substringFromIndex:start]];
    return parts;
}
- (NSArray<NSString *> *)componentsSeparatedByCharactersInSet:(NSCharacterSet *)set {
    StringBuffer a = string_view(self);
    NSMutableArray *parts = [NSMutableArray array];
    size_t start = 0;
    for (size_t i = 0; i < a.length; i++) {
        if (![set characterIsMember:buffer_at(&a, i)]) continue;
        [parts addObject:[self substringWithRange:NSMakeRange(start, i - start)]];
        start = i + 1;
    }
    [parts addObject:[self substringFromIndex:start]];
    return parts;
}
- (void)enumerateLinesUsingBlock:(void (^)(NSString *line, BOOL *stop))block {
    BOOL stop = NO;
    NSArray *lines = [[self stringByReplacingOccurrencesOfString:@"\r\n" withString:@"\n"]
        componentsSeparatedByString:@"\n"];
    for (NSUInteger i = 0; i < lines.count && !stop; i++)
        if (i + 1 < lines.count || [lines[i] length]) block(lines[i], &stop);
}
@end

@implementation NSMutableString
static StringBuffer *own(NSMutableString *self) { return &((StringBody *)self)->buffer; }
+ (instancetype)stringWithCapacity:(NSUInteger)capacity {
    return AUTORELEASED([[self alloc] initWithCapacity:capacity]);
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
    if ((self = [self init])) buffer_reserve(own(self), capacity);
    return self;
}
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString *)text {
    nil_check(self, _cmd, text);
    range_check_range(self, _cmd, range, own(self)->length);
    StringBuffer view = string_view(text);
    buffer_replace(own(self), range.location, range.length, &view);
}
- (void)insertString:(NSString *)text atIndex:(NSUInteger)index {
    [self replaceCharactersInRange:NSMakeRange(index, 0) withString:text];
}
- (void)deleteCharactersInRange:(NSRange)range {
    [self replaceCharactersInRange:range withString:@""];
}
- (void)appendString:(NSString *)text {
    nil_check(self, _cmd, text);
    if (text == self) text = AUTORELEASED([text copy]);
    StringBuffer view = string_view(text);
    buffer_append(own(self), &view, 0, view.length);
}
- (void)appendFormat:(NSString *)format, ... {
    StringBuffer tail = {0};
    va_list list;
    va_start(list, format);
    string_format(&tail, format, list); // may read this very string
    va_end(list);
    buffer_append(own(self), &tail, 0, tail.length);
    buffer_free(&tail);
}
- (void)setString:(NSString *)text {
    [self replaceCharactersInRange:NSMakeRange(0, self.length) withString:text];
}
- (NSUInteger)replaceOccurrencesOfString:(NSString *)text
                              withString:(NSString *)replacement
                                 options:(NSStringCompareOptions)options
                                   range:(NSRange)range {
    nil_check(self, _cmd, text);
    nil_check(self, _cmd, replacement);
    range_check_range(self, _cmd, range, self.length);
    StringBuffer a = string_view(self), b = string_view(text), with = string_view(replacement),
                 made = {0};
    NSUInteger n = 0;
    buffer_append(&made, &a, 0, range.location);
    size_t i = range.location, stop = NSMaxRange(range);
    while (i < stop) {
        if (b.length && i + b.length <= stop && matches(&a, i, &b, options)) {
            buffer_append(&made, &with, 0, with.length);
            i += b.length, n++;
        } else
            buffer_append(&made, &a, i++, 1);
    }
    buffer_append(&made, &a, stop, a.length - stop);
    buffer_free(own(self));
    *own(self) = made;
    return n;
}
@end
@implementation NSConstantString
@end

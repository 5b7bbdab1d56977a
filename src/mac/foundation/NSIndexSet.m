// SPDX-License-Identifier: Apache-2.0
// NSIndexSet.m: sets of indices and of characters.
#include "mac/foundation/foundation_int.h"

@implementation NSIndexSet {
  @protected
    NSUInteger *_items; // sorted
    NSUInteger _count;
}
+ (instancetype)indexSet {
    return AUTORELEASED([[self alloc] init]);
}
+ (instancetype)indexSetWithIndex:(NSUInteger)index {
    return AUTORELEASED([[self alloc] initWithIndex:index]);
}
+ (instancetype)indexSetWithIndexesInRange:(NSRange)range {
    return AUTORELEASED([[self alloc] initWithIndexesInRange:range]);
}
static NSUInteger place(NSIndexSet *self, NSUInteger index) { // the first that is not below
    NSUInteger low = 0, high = self->_count;
    while (low < high) {
        NSUInteger middle = (low + high) / 2;
        if (self->_items[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
static void add_index(NSIndexSet *self, NSUInteger index) {
    if (index >= NSNotFound)
        [NSException raise:NSRangeException
                    format:@"*** -[NSIndexSet addIndex:]: index %lu is out of range", index];
    NSUInteger at = place(self, index);
    if (at < self->_count && self->_items[at] == index) return;
    self->_items = realloc(self->_items, (self->_count + 1) * sizeof *self->_items);
    memmove(self->_items + at + 1, self->_items + at, (self->_count++ - at) * sizeof *self->_items);
    self->_items[at] = index;
}
- (instancetype)initWithIndex:(NSUInteger)index {
    return [self initWithIndexesInRange:NSMakeRange(index, 1)];
}
- (instancetype)initWithIndexesInRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) add_index(self, range.location + i);
    return self;
}
- (instancetype)initWithIndexSet:(NSIndexSet *)set {
    for (NSUInteger i = 0; i < set->_count; i++) add_index(self, set->_items[i]);
    return self;
}
- (void)dealloc {
    free(_items);
    [super dealloc];
}
COPIES_AS(NSIndexSet, NSMutableIndexSet, initWithIndexSet, self)
- (NSUInteger)count {
    return _count;
}
- (NSUInteger)firstIndex {
    return _count ? _items[0] : NSNotFound;
}
- (NSUInteger)lastIndex {
    return _count ? _items[_count - 1] : NSNotFound;
}
- (BOOL)containsIndex:(NSUInteger)index {
    NSUInteger at = place(self, index);
    return at < _count && _items[at] == index;
}
- (NSUInteger)indexGreaterThanIndex:(NSUInteger)index {
    NSUInteger at = place(self, index + 1);
    return at < _count ? _items[at] : NSNotFound;
}
- (BOOL)isEqual:(id)other {
    return self == other ||
           ([other isKindOfClass:[NSIndexSet class]] && [self isEqualToIndexSet:other]);
}
- (BOOL)isEqualToIndexSet:(NSIndexSet *)other {
    return _count == other->_count &&
           (!_count || !memcmp(_items, other->_items, _count * sizeof *_items));
}
- (NSUInteger)hash {
    return _count;
}
- (void)enumerateIndexesUsingBlock:(void (^)(NSUInteger index, BOOL *stop))block {
    BOOL stop = NO;
    for (NSUInteger i = 0; i < _count && !stop; i++) block(_items[i], &stop);
}
@end
@implementation NSMutableIndexSet
- (void)addIndex:(NSUInteger)index {
    add_index(self, index);
}
- (void)addIndexesInRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) add_index(self, range.location + i);
}
- (void)removeIndex:(NSUInteger)index {
    if (![self containsIndex:index]) return;
    NSUInteger at = place(self, index);
    memmove(_items + at, _items + at + 1, (--_count - at) * sizeof *_items);
}
- (void)removeAllIndexes {
    _count = 0;
}
@end

// ---- Characters ----

typedef bool (*Member)(unichar c);
static bool blank(unichar c) {
    return c == ' ' || c == '\t' || c == 0xa0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200b);
}
static bool newline(unichar c) {
    return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
}
static bool blank_or_newline(unichar c) { return blank(c) || newline(c); }
static bool decimal(unichar c) { return c >= '0' && c <= '9'; }
static bool lower_letter(unichar c) {
    return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0xff && c != 0xf7) ||
           (c >= 0x3b1 && c <= 0x3c9) || (c >= 0x430 && c <= 0x45f);
}
static bool upper_letter(unichar c) {
    return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
           (c >= 0x391 && c <= 0x3a9) || (c >= 0x400 && c <= 0x42f);
}
static bool letter(unichar c) {
    return lower_letter(c) || upper_letter(c) || (c >= 0x100 && c < 0x2000) ||
           (c >= 0x3040 && c < 0xd800);
}
static bool alphanumeric(unichar c) { return letter(c) || decimal(c); }
static bool punctuation(unichar c) {
    return (c < 0x80 && ispunct(c) && !strchr("$+<=>^`|~", c)) || (c >= 0x2010 && c <= 0x2027);
}

@implementation NSCharacterSet {
    Member _member;        // or
    NSString *_characters; // or
    NSRange _range;
    bool _inverted;
}
static NSCharacterSet *with_member(Member member) {
    NSCharacterSet *set = [NSCharacterSet new];
    set->_member = member;
    return AUTORELEASED(set);
}
+ (NSCharacterSet *)whitespaceCharacterSet {
    return with_member(blank);
}
+ (NSCharacterSet *)whitespaceAndNewlineCharacterSet {
    return with_member(blank_or_newline);
}
+ (NSCharacterSet *)newlineCharacterSet {
    return with_member(newline);
}
+ (NSCharacterSet *)decimalDigitCharacterSet {
    return with_member(decimal);
}
+ (NSCharacterSet *)letterCharacterSet {
    return with_member(letter);
}
+ (NSCharacterSet *)alphanumericCharacterSet {
    return with_member(alphanumeric);
}
+ (NSCharacterSet *)punctuationCharacterSet {
    return with_member(punctuation);
}
+ (NSCharacterSet *)uppercaseLetterCharacterSet {
    return with_member(upper_letter);
}
+ (NSCharacterSet *)lowercaseLetterCharacterSet {
    return with_member(lower_letter);
}
+ (NSCharacterSet *)characterSetWithCharactersInString:(NSString *)characters {
    nil_check(self, _cmd, characters);
    NSCharacterSet *set = [NSCharacterSet new];
    set->_characters = [characters copy];
    return AUTORELEASED(set);
}
+ (NSCharacterSet *)characterSetWithRange:(NSRange)range {
    NSCharacterSet *set = [NSCharacterSet new];
    set->_range = range;
    return AUTORELEASED(set);
}
- (void)dealloc {
    [_characters release];
    [super dealloc];
}
COPIES_ITSELF
- (NSCharacterSet *)invertedSet {
    NSCharacterSet *set = [NSCharacterSet new];
    set->_member = _member, set->_characters = [_characters copy], set->_range = _range,
    set->_inverted = !_inverted;
    return AUTORELEASED(set);
}
- (BOOL)characterIsMember:(unichar)c {
    bool in = _member ? _member(c) : NSLocationInRange(c, _range);
    if (_characters) {
        StringBuffer view = string_view(_characters);
        for (size_t i = 0; i < view.length && !in; i++) in = buffer_at(&view, i) == c;
    }
    return in != _inverted;
}
@end

// SPDX-License-Identifier: Apache-2.0
// NSValue.m: values of any type, and numbers.
#include "mac/foundation/foundation_int.h"

@implementation NSValue {
    char *_type;
    void *_bytes;
}
+ (NSValue *)valueWithBytes:(const void *)bytes objCType:(const char *)type {
    return AUTORELEASED([[self alloc] initWithBytes:bytes objCType:type]);
}
+ (NSValue *)value:(const void *)bytes withObjCType:(const char *)type {
    return [self valueWithBytes:bytes objCType:type];
}
+ (NSValue *)valueWithPointer:(const void *)p {
    return [self valueWithBytes:&p objCType:@encode(void *)];
}
+ (NSValue *)valueWithNonretainedObject:(id)object {
    return [self valueWithBytes:&object objCType:@encode(void *)];
}
+ (NSValue *)valueWithRange:(NSRange)v {
    return [self valueWithBytes:&v objCType:@encode(NSRange)];
}
+ (NSValue *)valueWithPoint:(NSPoint)v {
    return [self valueWithBytes:&v objCType:@encode(NSPoint)];
}
+ (NSValue *)valueWithSize:(NSSize)v {
    return [self valueWithBytes:&v objCType:@encode(NSSize)];
}
+ (NSValue *)valueWithRect:(NSRect)v {
    return [self valueWithBytes:&v objCType:@encode(NSRect)];
}
- (instancetype)initWithBytes:(const void *)bytes objCType:(const char *)type {
    NSUInteger n;
    NSGetSizeAndAlignment(type, &n, NULL);
    _type = strdup(type), _bytes = malloc(n ? n : 1);
    if (!_type || !_bytes) abort();
    memcpy(_bytes, bytes, n);
    return self;
}
CODES_NOTHING
- (void)dealloc {
    free(_type), free(_bytes);
    [super dealloc];
}
COPIES_ITSELF
- (const char *)objCType {
    return _type;
}
- (void)getValue:(void *)to {
    NSUInteger n;
    NSGetSizeAndAlignment(self.objCType, &n, NULL);
    memcpy(to, _bytes, n);
}
- (void)getValue:(void *)to size:(NSUInteger)size {
    NSUInteger n;
    NSGetSizeAndAlignment(self.objCType, &n, NULL);
    if (n != size)
        [NSException raise:NSInvalidArgumentException
                    format:@"*** -[NSValue %s]: the value has %lu bytes, not %lu",
                           sel_getName(_cmd), n, size];
    [self getValue:to];
}
static void value_of(NSValue *self, void *to, NSUInteger size) { // zeros if it is another type
    NSUInteger n;
    NSGetSizeAndAlignment(self.objCType, &n, NULL);
    memset(to, 0, size);
    if (n == size) [self getValue:to];
}
#define VALUE(type, name)                                                                          \
    -(type)name {                                                                                  \
        type v;                                                                                    \
        value_of(self, &v, sizeof v);                                                              \
        return v;                                                                                  \
    }
VALUE(void *, pointerValue)
VALUE(id, nonretainedObjectValue)
VALUE(NSRange, rangeValue)
VALUE(NSPoint, pointValue)
VALUE(NSSize, sizeValue)
VALUE(NSRect, rectValue)
- (BOOL)isEqual:(id)other {
    return self == other || ([other isKindOfClass:[NSValue class]] && [self isEqualToValue:other]);
}
- (BOOL)isEqualToValue:(NSValue *)other {
    if (!other || [other isKindOfClass:[NSNumber class]] || strcmp(_type, other->_type)) return NO;
    NSUInteger n;
    NSGetSizeAndAlignment(_type, &n, NULL);
    return !memcmp(_bytes, other->_bytes, n);
}
- (NSUInteger)hash {
    NSUInteger n, h = 5381;
    NSGetSizeAndAlignment(_type, &n, NULL);
    for (NSUInteger i = 0; i < n; i++) h = h * 33 + ((uint8_t *)_bytes)[i];
    return h;
}
- (NSString *)description {
    NSUInteger n;
    NSGetSizeAndAlignment(_type, &n, NULL);
    NSMutableString *text = [NSMutableString stringWithFormat:@"{length = %lu, bytes = 0x", n];
    for (NSUInteger i = 0; i < n; i++) [text appendFormat:@"%02x", ((uint8_t *)_bytes)[i]];
    [text appendString:@"}"];
    return text;
}
@end

// ---- Numbers ----

@implementation NSNumber {
    char _kind[2]; // the type's letter; 'B' for booleans
    union {
        long long i;
        unsigned long long u;
        double d;
    } _v;
}
static bool floating(NSNumber *n) { return n->_kind[0] == 'f' || n->_kind[0] == 'd'; }
static bool is_unsigned(NSNumber *n) { return n->_kind[0] == 'Q' || n->_kind[0] == 'L'; }
static NSNumber *number(NSNumber *self, char kind, long long i) {
    self->_kind[0] = kind, self->_v.i = i;
    return self;
}
static NSNumber *real(NSNumber *self, char kind, double d) {
    self->_kind[0] = kind, self->_v.d = d;
    return self;
}
static long long whole(NSNumber *n) {
    if (!floating(n)) return n->_v.i;
    return n->_v.d >= 9223372036854775808.0    ? LLONG_MAX
           : n->_v.d <= -9223372036854775808.0 ? LLONG_MIN
           : n->_v.d != n->_v.d                ? 0
                                               : (long long)n->_v.d;
}
- (instancetype)initWithBytes:(const void *)bytes objCType:(const char *)type {
    switch (*type) {
#define X(letter, ctype)                                                                           \
    case letter: return number(self, letter, (long long)*(const ctype *)bytes);
    X('c', signed char)
    X('C', unsigned char) X('B', bool) X('s', short) X('S', unsigned short) X('i', int)
        X('I', unsigned) X('l', int) X('L', unsigned) X('q', long long) X('Q', unsigned long long)
#undef X
            case 'f':
        return real(self, 'f', *(const float *)bytes);
    case 'd': return real(self, 'd', *(const double *)bytes);
        default : [NSException
             raise:NSInvalidArgumentException
            format:@"*** -[NSNumber %s]: no number has the type %s", sel_getName(_cmd), type];
    }
    return nil;
}
- (const char *)objCType {
    return _kind[0] == 'B' ? "c" : _kind;
}
- (void)getValue:(void *)to {
    NSUInteger n;
    NSGetSizeAndAlignment(_kind, &n, NULL);
    if (_kind[0] == 'f')
        memcpy(to, &(float){(float)_v.d}, n);
    else
        memcpy(to, &_v, n);
}
#define KIND(Name, name, type, letter)                                                             \
    -(NSNumber *)initWith##Name : (type)value {                                                    \
        return number(self, letter, (long long)value);                                             \
    }                                                                                              \
    +(NSNumber *)numberWith##Name : (type)value {                                                  \
        return AUTORELEASED([[self alloc] initWith##Name:value]);                                  \
    }                                                                                              \
    -(type)name##Value {                                                                           \
        return is_unsigned(self) ? (type)_v.u : (type)whole(self);                                 \
    }
KIND(Char, char, char, 'c')
KIND(UnsignedChar, unsignedChar, unsigned char, 'C')
KIND(Short, short, short, 's')
KIND(UnsignedShort, unsignedShort, unsigned short, 'S')
KIND(Int, int, int, 'i')
KIND(UnsignedInt, unsignedInt, unsigned int, 'I')
KIND(Long, long, long, 'q')
KIND(UnsignedLong, unsignedLong, unsigned long, 'Q')
KIND(LongLong, longLong, long long, 'q')
KIND(UnsignedLongLong, unsignedLongLong, unsigned long long, 'Q')
KIND(Integer, integer, NSInteger, 'q')
KIND(UnsignedInteger, unsignedInteger, NSUInteger, 'Q')
- (NSNumber *)initWithBool:(BOOL)value {
    return number(self, 'B', value != 0);
}
- (NSNumber *)initWithFloat:(float)value {
    return real(self, 'f', value);
}
- (NSNumber *)initWithDouble:(double)value {
    return real(self, 'd', value);
}
+ (NSNumber *)numberWithBool:
    (BOOL)value { // two objects for the whole process, as the literals @YES and @NO expect
    static NSNumber *both[2];
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      both[0] = [[NSNumber alloc] initWithBool:NO], both[1] = [[NSNumber alloc] initWithBool:YES];
    });
    return both[value != 0];
}
+ (NSNumber *)numberWithFloat:(float)value {
    return AUTORELEASED([[self alloc] initWithFloat:value]);
}
+ (NSNumber *)numberWithDouble:(double)value {
    return AUTORELEASED([[self alloc] initWithDouble:value]);
}
- (double)doubleValue {
    return floating(self) ? _v.d : is_unsigned(self) ? (double)_v.u : (double)_v.i;
}
- (float)floatValue {
    return (float)self.doubleValue;
}
- (BOOL)boolValue {
    return floating(self) ? _v.d != 0 : _v.i != 0;
}
- (NSString *)stringValue {
    if (_kind[0] == 'f') return shortest(_v.d, true);
    if (_kind[0] == 'd') return shortest(_v.d, false);
    return is_unsigned(self) ? [NSString stringWithFormat:@"%llu", _v.u]
                             : [NSString stringWithFormat:@"%lld", _v.i];
}
static NSString *shortest(double d, bool single) { // the fewest digits that give the number back
    char text[40];
    for (int digits = single ? 6 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (single ? strtof(text, NULL) == (float)d : strtod(text, NULL) == d) break;
    }
    return [NSString stringWithUTF8String:text];
}
- (NSString *)description {
    return self.stringValue;
}
- (NSString *)descriptionWithLocale:(id)locale {
    (void)locale;
    return self.stringValue;
}
- (BOOL)isEqual:(id)other {
    return self == other ||
           ([other isKindOfClass:[NSNumber class]] && [self isEqualToNumber:other]);
}
- (BOOL)isEqualToValue:(NSValue *)other {
    return [self isEqual:other];
}
- (BOOL)isEqualToNumber:(NSNumber *)other {
    return other && [self compare:other] == NSOrderedSame;
}
- (NSComparisonResult)compare:(NSNumber *)other {
    nil_check(self, _cmd, other);
    if (floating(self) || floating(other)) {
        double a = self.doubleValue, b = other.doubleValue;
        return a < b ? NSOrderedAscending : a > b ? NSOrderedDescending : NSOrderedSame;
    }
    bool big = is_unsigned(self) && _v.i < 0,
         other_big = is_unsigned(other) && other->_v.i < 0; // beyond 2^63
    if (big != other_big) return big ? NSOrderedDescending : NSOrderedAscending;
    return _v.i < other->_v.i   ? NSOrderedAscending
           : _v.i > other->_v.i ? NSOrderedDescending
                                : NSOrderedSame;
}
- (NSUInteger)hash { // equal numbers of different types are equal
    double d = self.doubleValue;
    if (floating(self) && d == (double)whole(self)) return (NSUInteger)whole(self);
    NSUInteger bits;
    memcpy(&bits, &d, sizeof bits);
    return floating(self) ? bits : (NSUInteger)_v.i;
}
@end

// SPDX-License-Identifier: Apache-2.0
// NSString.m: strings: making, reading, comparing, searching. One class holds ASCII and UTF-16
// (string_buffer.h); a subclass of a program's own that has length and characterAtIndex: works,
// too.
#include "mac/foundation/foundation_int.h"
#import <objc/objc-ingot.h>

@implementation NSString {
    StringBuffer _buffer; // flags 0: a subclass with characters of its own
}

// ---- Making ----

+ (instancetype)string {
    return AUTORELEASED([[self alloc] init]);
}
+ (instancetype)stringWithString:(NSString *)string {
    return AUTORELEASED([[self alloc] initWithString:string]);
}
+ (instancetype)stringWithCharacters:(const unichar *)c length:(NSUInteger)n {
    return AUTORELEASED([[self alloc] initWithCharacters:c length:n]);
}
+ (instancetype)stringWithUTF8String:(const char *)text {
    return AUTORELEASED([[self alloc] initWithUTF8String:text]);
}
+ (instancetype)stringWithCString:(const char *)text encoding:(NSStringEncoding)encoding {
    return AUTORELEASED([[self alloc] initWithCString:text encoding:encoding]);
}
+ (instancetype)stringWithFormat:(NSString *)format, ... {
    va_list list;
    va_start(list, format);
    NSString *made = [[self alloc] initWithFormat:format arguments:list];
    va_end(list);
    return AUTORELEASED(made);
}
+ (instancetype)localizedStringWithFormat:(NSString *)format, ... {
    va_list list;
    va_start(list, format);
    NSString *made = [[self alloc] initWithFormat:format arguments:list];
    va_end(list);
    return AUTORELEASED(made);
}
+ (instancetype)stringWithContentsOfFile:(NSString *)path
                                encoding:(NSStringEncoding)encoding
                                   error:(NSError **)error {
    return AUTORELEASED([[self alloc] initWithContentsOfFile:path encoding:encoding error:error]);
}
+ (instancetype)stringWithContentsOfURL:(NSURL *)url
                               encoding:(NSStringEncoding)encoding
                                  error:(NSError **)error {
    return AUTORELEASED([[self alloc] initWithContentsOfFile:url.path
                                                    encoding:encoding
                                                       error:error]);
}

static bool ours(NSString *self) { // a class whose characters are in the buffer
    return class_getMethodImplementation(object_getClass(self), @selector(characterAtIndex:)) ==
           class_getMethodImplementation([NSString class], @selector(characterAtIndex:));
}
- (instancetype)init {
    if ((self = [super init]) && ours(self)) buffer_append_ascii(&_buffer, "", 0);
    return self;
}
- (instancetype)initWithString:(NSString *)string {
    nil_check(self, _cmd, string);
    StringBuffer view = string_view(string);
    buffer_append(&_buffer, &view, 0, view.length);
    return self;
}
- (instancetype)initWithCharacters:(const unichar *)characters length:(NSUInteger)n {
    buffer_append_wide(&_buffer, characters, n);
    return self;
}
- (instancetype)initWithUTF8String:(const char *)text {
    return [self initWithCString:text encoding:NSUTF8StringEncoding];
}
- (instancetype)initWithCString:(const char *)text encoding:(NSStringEncoding)encoding {
    if (!text) {
        [self release];
        [NSException raise:NSInvalidArgumentException
                    format:@"*** -[NSString %s]: NULL cString", sel_getName(_cmd)];
    }
    return [self initWithBytes:text length:strlen(text) encoding:encoding];
}
- (instancetype)initWithBytes:(const void *)bytes
                       length:(NSUInteger)n
                     encoding:(NSStringEncoding)encoding {
    if (string_decode(&_buffer, bytes, n, encoding)) return self;
    [self release]; // not of that encoding
    return nil;
}
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)n
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)owned {
    self = [self initWithBytes:bytes length:n encoding:encoding];
    if (self && owned) free(bytes);
    return self;
}
- (instancetype)initWithData:(NSData *)data encoding:(NSStringEncoding)encoding {
    return [self initWithBytes:data.bytes length:data.length encoding:encoding];
}
- (instancetype)initWithFormat:(NSString *)format, ... {
    va_list list;
    va_start(list, format);
    self = [self initWithFormat:format arguments:list];
    va_end(list);
    return self;
}
- (instancetype)initWithFormat:(NSString *)format arguments:(va_list)arguments {
    nil_check(self, _cmd, format);
    string_format(&_buffer, format, arguments);
    return self;
}
- (instancetype)initWithContentsOfFile:(NSString *)path
                              encoding:(NSStringEncoding)encoding
                                 error:(NSError **)error {
    NSData *data = [[NSData alloc] initWithContentsOfFile:path options:0 error:error];
    bool good = data && string_decode(&_buffer, data.bytes, data.length, encoding);
    if (data && !good && error)
        *error = [NSError
            errorWithDomain:NSCocoaErrorDomain
                       code:NSFileReadInapplicableStringEncodingError
                   userInfo:@{
                       NSFilePathErrorKey : path,
                       NSLocalizedDescriptionKey : [NSString
                           stringWithFormat:
                               @"The file \"%@\" is not text of the encoding that was asked for.",
                               path.lastPathComponent]
                   }];
    [data release];
    if (good) return self;
    [self release];
    return nil;
}
- (instancetype)initWithContentsOfURL:(NSURL *)url
                             encoding:(NSStringEncoding)encoding
                                error:(NSError **)error {
    return [self initWithContentsOfFile:url.path encoding:encoding error:error];
}
CODES_NOTHING
- (void)dealloc {
    buffer_free(&_buffer);
    [super dealloc];
}
- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return [self isKindOfClass:[NSMutableString class]] || !_buffer.flags
               ? [[NSString alloc] initWithString:self]
               : [self retain];
}
- (id)mutableCopyWithZone:(NSZone *)zone {
    (void)zone;
    return [[NSMutableString alloc] initWithString:self];
}

// ---- Reading ----

- (NSUInteger)length {
    return _buffer.length;
}
- (unichar)characterAtIndex:(NSUInteger)index {
    range_check(self, _cmd, index, _buffer.length);
    return buffer_at(&_buffer, index);
}
- (void)getCharacters:(unichar *)to range:(NSRange)range {
    StringBuffer view = string_view(self);
    range_check_range(self, _cmd, range, view.length);
    for (NSUInteger i = 0; i < range.length; i++) to[i] = buffer_at(&view, range.location + i);
}
- (const char *)UTF8String {
    StringBuffer view = string_view(self);
    if (!(view.flags & STRING_WIDE) && ![self isKindOfClass:[NSMutableString class]])
        return view.data;
    NSMutableData *bytes = [NSMutableData dataWithLength:buffer_utf8(&view, NULL) + 1];
    buffer_utf8(&view, bytes.mutableBytes);
    return bytes.bytes; // as long as the pool
}
- (NSString *)description {
    return self;
}
- (NSUInteger)hash {
    StringBuffer view = string_view(self);
    NSUInteger h = 1469598103934665603u;
    for (size_t i = 0; i < view.length; i++) h = (h ^ buffer_at(&view, i)) * 1099511628211u;
    return h ^ h >> 29;
}
- (BOOL)isEqual:(id)other {
    return self == other ||
           ([other isKindOfClass:[NSString class]] && [self isEqualToString:other]);
}
- (BOOL)isEqualToString:(NSString *)other {
    if (self == other) return YES;
    if (!other) return NO;
    StringBuffer a = string_view(self), b = string_view(other);
    if (a.length != b.length) return NO;
    if (!((a.flags | b.flags) & STRING_WIDE)) return !memcmp(a.data, b.data, a.length);
    for (size_t i = 0; i < a.length; i++)
        if (buffer_at(&a, i) != buffer_at(&b, i)) return NO;
    return YES;
}

// ---- Numbers ----

- (double)doubleValue {
    return strtod(self.UTF8String, NULL);
}
- (float)floatValue {
    return strtof(self.UTF8String, NULL);
}
- (long long)longLongValue {
    return strtoll(self.UTF8String, NULL, 10);
}
- (NSInteger)integerValue {
    return (NSInteger)self.longLongValue;
}
- (int)intValue {
    long long v = self.longLongValue;
    return v > INT_MAX ? INT_MAX : v < INT_MIN ? INT_MIN : (int)v;
}
- (BOOL)boolValue { // Y, y, T, t or a digit that is not 0, after blanks, a sign and zeros
    const char *s = self.UTF8String;
    while (*s == ' ' || *s == '\t' || *s == '\n') s++;
    if (*s == '+' || *s == '-') s++;
    while (*s == '0') s++;
    return *s && strchr("YyTt123456789", *s) != NULL;
}

// ---- Encodings ----

- (const char *)cStringUsingEncoding:(NSStringEncoding)encoding {
    if (encoding == NSUTF8StringEncoding) return self.UTF8String;
    if (![self canBeConvertedToEncoding:encoding]) return NULL;
    NSMutableData *data = [[[self dataUsingEncoding:encoding] mutableCopy] autorelease];
    [data increaseLengthBy:4]; // zeros of the widest character
    return data.bytes;
}
- (BOOL)getCString:(char *)to maxLength:(NSUInteger)room encoding:(NSStringEncoding)encoding {
    NSData *data = [self dataUsingEncoding:encoding];
    if (!data || data.length + 1 > room) return NO;
    memcpy(to, data.bytes, data.length);
    to[data.length] = 0;
    return YES;
}
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
    StringBuffer view = string_view(self);
    if (encoding == NSUTF8StringEncoding) return buffer_utf8(&view, NULL);
    if (encoding == NSUTF16StringEncoding) return 2 * self.length; // without the mark of order
    return [self dataUsingEncoding:encoding].length;
}
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
    return self.length * (encoding == NSASCIIStringEncoding || encoding == NSISOLatin1StringEncoding
                              ? 1
                          : encoding == NSUTF8StringEncoding ? 3
                                                             : 4);
}
- (BOOL)canBeConvertedToEncoding:(NSStringEncoding)encoding {
    return [self dataUsingEncoding:encoding] != nil;
}
- (NSStringEncoding)fastestEncoding {
    return _buffer.flags & STRING_WIDE ? NSUnicodeStringEncoding : NSASCIIStringEncoding;
}
- (NSStringEncoding)smallestEncoding {
    return self.fastestEncoding;
}
- (NSData *)dataUsingEncoding:(NSStringEncoding)encoding {
    return [self dataUsingEncoding:encoding allowLossyConversion:NO];
}
- (NSData *)dataUsingEncoding:(NSStringEncoding)encoding allowLossyConversion:(BOOL)lossy {
    StringBuffer view = string_view(self);
    NSMutableData *data = [NSMutableData data];
    unsigned limit = encoding == NSASCIIStringEncoding       ? 0x80
                     : encoding == NSISOLatin1StringEncoding ? 0x100
                                                             : 0;
    if (encoding == NSUTF8StringEncoding) {
        data.length = buffer_utf8(&view, NULL) + 1;
        buffer_utf8(&view, data.mutableBytes);
        data.length = data.length - 1;
        return data;
    }
    if (encoding == NSUnicodeStringEncoding || encoding == NSUTF16LittleEndianStringEncoding) {
        if (encoding == NSUnicodeStringEncoding) [data appendBytes:"\xff\xfe" length:2];
        for (size_t i = 0; i < view.length; i++)
            [data appendBytes:&(unichar){buffer_at(&view, i)} length:2];
        return data;
    }
    if (!limit) return nil; // an encoding that is not known here
    for (size_t i = 0; i < view.length; i++) {
        unichar c = buffer_at(&view, i);
        if (c >= limit && !lossy) return nil;
        [data appendBytes:&(char){c < limit ? (char)c : '?'} length:1];
    }
    return data;
}
- (BOOL)writeToFile:(NSString *)path
         atomically:(BOOL)atomically
           encoding:(NSStringEncoding)encoding
              error:(NSError **)error {
    NSData *data = [self dataUsingEncoding:encoding];
    if (!data) {
        if (error)
            *error = [NSError errorWithDomain:NSCocoaErrorDomain
                                         code:NSFileWriteUnknownError
                                     userInfo:nil];
        return NO;
    }
    return [data writeToFile:path options:atomically ? NSDataWritingAtomic : 0 error:error];
}
- (BOOL)writeToURL:(NSURL *)url
        atomically:(BOOL)atomically
          encoding:(NSStringEncoding)encoding
             error:(NSError **)error {
    return [self writeToFile:url.path atomically:atomically encoding:encoding error:error];
}
@end

// ---- What other files use ----

StringBuffer string_view(NSString *string) {
    const StringBuffer *b = &((StringBody *)string)->buffer;
    if (b->flags) // a constant has no room: what lies behind it is not read
        return (StringBuffer){.flags = b->flags, .data = b->data, .length = b->length};
    NSUInteger n = string.length;
    NSMutableData *copy = [NSMutableData dataWithLength:(n + 1) * 2];
    unichar *units = copy.mutableBytes;
    for (NSUInteger i = 0; i < n; i++) units[i] = [string characterAtIndex:i];
    return (StringBuffer){.flags = STRING_WIDE, .data = units, .length = n};
}

NSString *string_taking(StringBuffer *buffer) {
    NSString *made = [NSString alloc];
    if (!buffer->data) buffer_append_ascii(buffer, "", 0);
    ((StringBody *)made)->buffer = *buffer;
    *buffer = (StringBuffer){0};
    return made;
}

bool string_decode(StringBuffer *to, const void *bytes, NSUInteger n, NSStringEncoding encoding) {
    const uint8_t *b = bytes;
    switch (encoding) {
    case NSUTF8StringEncoding: return buffer_append_utf8(to, bytes, n);
    case NSASCIIStringEncoding: // lenient, as on a Mac: programs give sources with a copyright sign
    case NSISOLatin1StringEncoding: buffer_append_latin1(to, b, n); return true;
    case NSUnicodeStringEncoding:
    case NSUTF16LittleEndianStringEncoding:
    case NSUTF16BigEndianStringEncoding: {
        bool big = encoding == NSUTF16BigEndianStringEncoding;
        NSUInteger i = 0;
        if (n % 2) return false;
        if (encoding == NSUnicodeStringEncoding && n >= 2 && (b[0] ^ b[1]) == 1 && b[0] >= 0xfe)
            big = b[0] == 0xfe, i = 2;
        buffer_append_ascii(to, "", 0);
        for (; i < n; i += 2)
            buffer_append_wide(to,
                               &(uint16_t){big ? (uint16_t)(b[i] << 8 | b[i + 1])
                                               : (uint16_t)(b[i + 1] << 8 | b[i])},
                               1);
        return true;
    }
    case NSUTF32LittleEndianStringEncoding:
    case NSUTF32StringEncoding:
        if (n % 4) return false;
        buffer_append_ascii(to, "", 0);
        for (NSUInteger i = 0; i < n; i += 4) {
            uint32_t code = b[i] | (uint32_t)b[i + 1] << 8 | (uint32_t)b[i + 2] << 16 |
                            (uint32_t)b[i + 3] << 24;
            if (code > 0x10ffff) return false;
            buffer_append_code(to, code);
        }
        return true;
    default: return false;
    }
}

// ---- Constants ----

// The class of the compiler's constant strings: a record with a name of its own.
OBJC_EXPORT void *__CFConstantStringClassReference[OBJC_INGOT_CLASS_WORDS];
void *__CFConstantStringClassReference[OBJC_INGOT_CLASS_WORDS];
static void keep(void *constant) { (void)constant; }
static size_t for_ever(void *constant) {
    (void)constant;
    return SIZE_MAX;
}
static id itself(id self, SEL name, void *zone) {
    (void)name, (void)zone;
    return self;
}

__attribute__((constructor(102))) static void constants_start(void) {
    static const objc_ingot_counting immortal = {keep, keep, NULL, for_ever};
    static const objc_ingot_method methods[] = {{"-copyWithZone:", (IMP)itself, "@24@0:8^v16"},
                                                {NULL, NULL, NULL}};
    Class cls = objc_ingot_adopt(__CFConstantStringClassReference, "__NSCFConstantString",
                                 [NSString class], &immortal);
    objc_ingot_add_methods(cls, methods);
}

// SPDX-License-Identifier: Apache-2.0
// NSJSONSerialization.m: JSON as objects of Foundation, and back.
#include "mac/foundation/foundation_int.h"

enum { MOST_LEVELS = 512 };

typedef struct Reader {
    const char *at, *start, *end;
    const char *wrong; // what, at `at`; NULL so far
    bool changing;     // containers that can change
    int level;
} Reader;

static id fail(Reader *r, const char *wrong) {
    if (!r->wrong) r->wrong = wrong;
    return nil;
}
static void skip_space(Reader *r) {
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) r->at++;
}
static bool accept_char(Reader *r, char c) {
    skip_space(r);
    if (r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static int hex4(Reader *r) {
    int v = 0;
    if (r->end - r->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const char c = *r->at++;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        v = v * 16 + digit;
    }
    return v;
}

// After the first quotation mark. Pieces between escapes are UTF-8 that NSString checks.
static NSString *read_string(Reader *r) {
    NSMutableString *text = AUTORELEASED([NSMutableString new]);
    for (const char *from = r->at;;) {
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20)
            r->at++;
        if (r->at >= r->end || (unsigned char)*r->at < 0x20)
            return fail(r, r->at >= r->end ? "the text ends inside a string"
                                           : "a control character inside a string");
        NSString *piece = [[NSString alloc] initWithBytes:from
                                                   length:(NSUInteger)(r->at - from)
                                                 encoding:NSUTF8StringEncoding];
        if (!piece) return fail(r, "bytes that are no UTF-8");
        [text appendString:piece];
        [piece release];
        if (*r->at++ == '"') return text;
        if (r->at >= r->end) return fail(r, "the text ends inside a string");
        static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
        const char c = *r->at++;
        unichar unit = 0;
        for (size_t i = 0; i + 1 < sizeof escapes; i += 2)
            if (escapes[i] == c) unit = (unsigned char)escapes[i + 1];
        if (c == 'u') {
            const int v = hex4(r);
            if (v < 0) return fail(r, "\\u needs four hexadecimal digits");
            unit = (unichar)v;
        } else if (!unit) {
            return fail(r, "an unknown escape");
        }
        [text appendString:[NSString stringWithCharacters:&unit length:1]];
        from = r->at;
    }
}

static bool is_digit(const Reader *r) { return r->at < r->end && *r->at >= '0' && *r->at <= '9'; }

static NSNumber *read_number(Reader *r) {
    const char *from = r->at;
    bool whole = true;
    if (*r->at == '-') r->at++;
    if (!is_digit(r)) return fail(r, "a number needs a digit");
    if (*r->at++ == '0' && is_digit(r)) return fail(r, "a number begins with 0");
    while (is_digit(r)) r->at++;
    if (r->at < r->end && *r->at == '.') {
        r->at++, whole = false;
        if (!is_digit(r)) return fail(r, "a number ends with its point");
        while (is_digit(r)) r->at++;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++, whole = false;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        if (!is_digit(r)) return fail(r, "an exponent needs a digit");
        while (is_digit(r)) r->at++;
    }
    char text[400]; // the digits of the largest double
    const size_t n = (size_t)(r->at - from);
    if (n >= sizeof text) return fail(r, "a number is too long");
    memcpy(text, from, n);
    text[n] = 0;
    errno = 0;
    if (whole) {
        const long long v = strtoll(text, NULL, 10);
        if (!errno) return [NSNumber numberWithLongLong:v];
        errno = 0;
        const unsigned long long u = strtoull(text, NULL, 10);
        if (!errno && *text != '-') return [NSNumber numberWithUnsignedLongLong:u];
    }
    const double v = strtod(text, NULL);
    return isfinite(v) ? [NSNumber numberWithDouble:v] : fail(r, "a number is too large");
}

static id read_value(Reader *r);

static id read_array(Reader *r) {
    NSMutableArray *all = AUTORELEASED([NSMutableArray new]);
    if (!accept_char(r, ']')) {
        do {
            id value = read_value(r);
            if (!value) return nil;
            [all addObject:value];
        } while (accept_char(r, ','));
        if (!accept_char(r, ']')) return fail(r, "an array needs , or ]");
    }
    return r->changing ? all : AUTORELEASED([all copy]);
}

static id read_object(Reader *r) {
    NSMutableDictionary *all = AUTORELEASED([NSMutableDictionary new]);
    if (!accept_char(r, '}')) {
        do {
            if (!accept_char(r, '"')) return fail(r, "an object needs a key in quotation marks");
            NSString *key = read_string(r);
            if (!key) return nil;
            if (!accept_char(r, ':')) return fail(r, "a key needs :");
            id value = read_value(r);
            if (!value) return nil;
            all[key] = value;
        } while (accept_char(r, ','));
        if (!accept_char(r, '}')) return fail(r, "an object needs , or }");
    }
    return r->changing ? all : AUTORELEASED([all copy]);
}

static id read_value(Reader *r) {
    static const struct {
        const char *text;
        size_t n;
    } words[] = {{"true", 4}, {"false", 5}, {"null", 4}};
    id value = nil;
    skip_space(r);
    if (r->at >= r->end) return fail(r, "the text ends where a value should be");
    if (++r->level > MOST_LEVELS) return fail(r, "too many levels");
    const size_t left = (size_t)(r->end - r->at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (left < words[i].n || memcmp(r->at, words[i].text, words[i].n)) continue;
        r->at += words[i].n;
        r->level--;
        return i == 2 ? NSNull.null : i == 0 ? @YES : @NO;
    }
    const char c = *r->at;
    if (c == '{')
        r->at++, value = read_object(r);
    else if (c == '[')
        r->at++, value = read_array(r);
    else if (c == '"')
        r->at++, value = read_string(r);
    else if (c == '-' || (c >= '0' && c <= '9'))
        value = read_number(r);
    else
        fail(r, "no value begins like this");
    r->level--;
    return value;
}

// ---- Writing ----

static bool is_json(id object, int level) {
    if (level > MOST_LEVELS) return false;
    if ([object isKindOfClass:NSString.class] || object == NSNull.null) return true;
    if ([object isKindOfClass:NSNumber.class]) return isfinite([object doubleValue]);
    if ([object isKindOfClass:NSArray.class]) {
        for (id value in object)
            if (!is_json(value, level + 1)) return false;
        return true;
    }
    if (![object isKindOfClass:NSDictionary.class]) return false;
    for (id key in object)
        if (![key isKindOfClass:NSString.class] || !is_json([object objectForKey:key], level + 1))
            return false;
    return true;
}

static void write_string(NSMutableString *to, NSString *text, NSJSONWritingOptions options) {
    [to appendString:@"\""];
    for (NSUInteger i = 0; i < text.length; i++) {
        const unichar c = [text characterAtIndex:i];
        static const char plain[] = "\b\f\n\r\t\"\\/", letters[] = "bfnrt\"\\/";
        const char *found = c && c < 0x80 ? strchr(plain, c) : NULL;
        if (c == '/' && (options & NSJSONWritingWithoutEscapingSlashes)) found = NULL;
        if (found)
            [to appendFormat:@"\\%c", letters[found - plain]];
        else if (c < 0x20)
            [to appendFormat:@"\\u%04x", c];
        else
            [to appendString:[NSString stringWithCharacters:&c length:1]];
    }
    [to appendString:@"\""];
}

static void write_line(NSMutableString *to, int level, NSJSONWritingOptions options) {
    if (!(options & NSJSONWritingPrettyPrinted)) return;
    [to appendString:@"\n"];
    for (int i = 0; i < level; i++) [to appendString:@"  "];
}

static void write_value(NSMutableString *to, id object, int level, NSJSONWritingOptions options) {
    id const yes = @YES, no = @NO; // one object each
    if ([object isKindOfClass:NSString.class]) {
        write_string(to, object, options);
    } else if (object == NSNull.null) {
        [to appendString:@"null"];
    } else if (object == yes || object == no) {
        [to appendString:object == yes ? @"true" : @"false"];
    } else if ([object isKindOfClass:NSNumber.class]) {
        const char type = *[object objCType];
        if (type != 'd' && type != 'f') {
            [to appendString:[object stringValue]];
            return;
        }
        char text[40]; // the fewest digits that give the number back
        const double v = [object doubleValue];
        for (int digits = type == 'f' ? 6 : 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, v);
            const double back = strtod(text, NULL);
            if (back == v || (type == 'f' && (float)back == (float)v)) break;
        }
        [to appendString:[NSString stringWithUTF8String:text]];
    } else {
        const bool array = [object isKindOfClass:NSArray.class];
        NSArray *items = array ? object : [object allKeys];
        if (!array && (options & NSJSONWritingSortedKeys))
            items = [items sortedArrayUsingSelector:@selector(compare:)];
        [to appendString:array ? @"[" : @"{"];
        bool first = true;
        for (id item in items) {
            if (!first) [to appendString:@","];
            first = false;
            write_line(to, level + 1, options);
            if (!array) {
                write_string(to, item, options);
                [to appendString:options & NSJSONWritingPrettyPrinted ? @" : " : @":"];
            }
            write_value(to, array ? item : [object objectForKey:item], level + 1, options);
        }
        if (!first) write_line(to, level, options);
        [to appendString:array ? @"]" : @"}"];
    }
}

static bool is_container(id object) {
    return [object isKindOfClass:NSArray.class] || [object isKindOfClass:NSDictionary.class];
}

@implementation NSJSONSerialization
+ (BOOL)isValidJSONObject:(id)object {
    return is_container(object) && is_json(object, 0);
}
+ (id)JSONObjectWithData:(NSData *)data
                 options:(NSJSONReadingOptions)options
                   error:(NSError **)error {
    nil_check(self, _cmd, data);
    Reader r = {.at = data.bytes,
                .start = data.bytes,
                .changing = options & NSJSONReadingMutableContainers};
    r.end = r.start + data.length;
    if (data.length >= 3 && !memcmp(r.at, "\xef\xbb\xbf", 3)) r.at += 3;
    id value = read_value(&r);
    skip_space(&r);
    if (value && r.at != r.end) value = fail(&r, "something stands after the value");
    if (value && !(options & NSJSONReadingFragmentsAllowed) && !is_container(value))
        value = fail(&r, "the text is neither an array nor an object");
    if (error) *error = nil;
    if (!value && error) {
        NSString *text =
            [NSString stringWithFormat:@"The data is not in the correct format: %s at byte %zu.",
                                       r.wrong, (size_t)(r.at - r.start)];
        *error = [NSError errorWithDomain:NSCocoaErrorDomain
                                     code:3840 // NSPropertyListReadCorruptError
                                 userInfo:@{NSLocalizedDescriptionKey : text}];
    }
    return value;
}
+ (NSData *)dataWithJSONObject:(id)object
                       options:(NSJSONWritingOptions)options
                         error:(NSError **)error {
    const bool fits = options & NSJSONWritingFragmentsAllowed || is_container(object);
    if (!fits || !is_json(object, 0))
        [NSException raise:NSInvalidArgumentException
                    format:@"*** +[NSJSONSerialization %@]: invalid object for JSON (%@)",
                           NSStringFromSelector(_cmd), [object class]];
    if (error) *error = nil;
    NSMutableString *text = AUTORELEASED([NSMutableString new]);
    write_value(text, object, 0, options);
    return [text dataUsingEncoding:NSUTF8StringEncoding];
}
@end

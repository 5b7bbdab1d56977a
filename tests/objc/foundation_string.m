// SPDX-License-Identifier: Apache-2.0
// NSString and NSMutableString: encodings, formats, searching, editing, paths; bad input.
#import <Foundation/Foundation.h>
#include "check.h"
#include "check_foundation.h"

static void making(void) {
    CHECK_STRING([NSString stringWithUTF8String:"plain"], @"plain");
    NSString *wide = [NSString stringWithUTF8String:"h\xc3\xa9llo \xf0\x9d\x84\x9e"];
    CHECK_NUMBER(wide.length, 8);
    CHECK([wide characterAtIndex:1] == 0xe9 && [wide characterAtIndex:6] == 0xd834);
    CHECK_TEXT(wide.UTF8String, "h\xc3\xa9llo \xf0\x9d\x84\x9e");
    CHECK([wide isEqualToString:@"héllo 𝄞"] && wide.hash == @"héllo 𝄞".hash);
    CHECK([[NSString alloc] initWithBytes:"\xff\xfe" length:2
                                 encoding:NSUTF8StringEncoding] == nil);
    CHECK([[NSString alloc] initWithBytes:"\xc0\x80" length:2
                                 encoding:NSUTF8StringEncoding] == nil); // too long a form
    CHECK([[NSString alloc] initWithBytes:"\xed\xa0\x80" length:3
                                 encoding:NSUTF8StringEncoding] == nil); // a surrogate
    NSString *eight_bits = [NSString stringWithCString:"\xe9t\xe9" encoding:NSASCIIStringEncoding];
    CHECK_TEXT(eight_bits.UTF8String, "\u00e9t\u00e9");
    NSString *latin = [[NSString alloc] initWithBytes:"\xe9"
                                               length:1
                                             encoding:NSISOLatin1StringEncoding];
    CHECK_STRING(latin, @"é");
    CHECK_RAISES([NSString stringWithUTF8String:NULL], NSInvalidArgumentException);
    CHECK_RAISES([@"abc" characterAtIndex:3], NSRangeException);
    CHECK_NUMBER([wide lengthOfBytesUsingEncoding:NSUTF8StringEncoding], 11);
    NSData *utf16 = [wide dataUsingEncoding:NSUTF16LittleEndianStringEncoding];
    CHECK_NUMBER(utf16.length, 16);
    NSString *back = [[NSString alloc] initWithData:utf16
                                           encoding:NSUTF16LittleEndianStringEncoding];
    CHECK_STRING(back, wide);
    CHECK([wide dataUsingEncoding:NSASCIIStringEncoding] == nil);
    CHECK_TEXT([@"abc" cStringUsingEncoding:NSASCIIStringEncoding], "abc");
}

static void formats(void) {
    CHECK_STRING(
        ([NSString stringWithFormat:@"%d %5.2f %s %@ %c %%", 7, 2.5, "text", @"object", 'x']),
        @"7  2.50 text object x %");
    CHECK_STRING(([NSString stringWithFormat:@"%lu %lld %llu %zu %hhd", 1ul, -2ll, 3ull, (size_t)4,
                                             (signed char)5]),
                 @"1 -2 3 4 5");
    CHECK_STRING(([NSString stringWithFormat:@"%x %X %#o %+d %05d|%-5d|", 255, 255, 8, 1, 42, 7]),
                 @"ff FF 010 +1 00042|7    |");
    CHECK_STRING(([NSString stringWithFormat:@"%@ %@", nil, @[ @1, @"b c" ]]),
                 @"(null) (\n    1,\n    \"b c\"\n)");
    CHECK_STRING(([NSString stringWithFormat:@"%*d|%.3s|%8@|%-8@|", 4, 9, "abcdef", @"r", @"l"]),
                 @"   9|abc|       r|l       |");
    CHECK_STRING(([NSString stringWithFormat:@"%2$@ %1$@", @"a", @"b"]), @"b a");
    // A stranger's formats: places that nobody has, and lengths that nobody wants.
    NSString *far = @"%99999999$d|%4294967297$d|", *wide = @"%2147483647d",
             *fine = @"%.2147483647f";
    CHECK_STRING(([NSString stringWithFormat:far, 1]), @"d|d|");
    CHECK(([NSString stringWithFormat:wide, 7].length) == 1 << 20);
    CHECK(([NSString stringWithFormat:fine, 0.5].length) == (1 << 20) + 2);
    CHECK(([NSString stringWithFormat:@"%*d", -2147483647 - 1, 7].length) == 1 << 20);
    CHECK_STRING(
        ([NSString stringWithFormat:@"%C%S", (unichar)0xe9, (const unichar[]){0x41, 0x42, 0}]),
        @"éAB");
    CHECK_STRING(([NSString stringWithFormat:@"%g %e %Lf", 0.1, 1e10, 1.5L]),
                 @"0.1 1.000000e+10 1.500000");
    CHECK_STRING(([NSString stringWithFormat:@"%s", "h\xc3\xa9"]), @"hé");
    NSMutableString *m = [NSMutableString stringWithString:@"a"];
    [m appendFormat:@"%@%@", m, m];
    CHECK_STRING(m, @"aaa");
}

static void searching(void) {
    NSString *s = @"the cat and the dog";
    CHECK([s hasPrefix:@"the"] && [s hasSuffix:@"dog"] && [s containsString:@"and"] &&
          ![s containsString:@"cow"]);
    CHECK_NUMBER([s rangeOfString:@"the" options:NSBackwardsSearch].location, 12);
    CHECK_NUMBER([s rangeOfString:@"CAT" options:NSCaseInsensitiveSearch].location, 4);
    CHECK_NUMBER([s rangeOfString:@"cow"].location, NSNotFound);
    CHECK_STRING([s substringWithRange:NSMakeRange(4, 3)], @"cat");
    CHECK_RAISES([s substringFromIndex:100], NSRangeException);
    CHECK_RAISES([s substringWithRange:NSMakeRange(18, 2)], NSRangeException);
    CHECK_NUMBER([@"a2" compare:@"a10"], NSOrderedDescending);
    CHECK_NUMBER([@"a2" compare:@"a10" options:NSNumericSearch], NSOrderedAscending);
    CHECK_NUMBER([@"ABC" caseInsensitiveCompare:@"abc"], NSOrderedSame);
    CHECK_NUMBER([@"ab" compare:@"abc"], NSOrderedAscending);
    CHECK_STRING([s stringByReplacingOccurrencesOfString:@"the" withString:@"a"],
                 @"a cat and a dog");
    CHECK_STRING([[@"a,b,,c" componentsSeparatedByString:@","] componentsJoinedByString:@"|"],
                 @"a|b||c");
    CHECK_STRING(
        [@"  x y\n"
            stringByTrimmingCharactersInSet:NSCharacterSet.whitespaceAndNewlineCharacterSet],
        @"x y");
    CHECK_STRING(@"Straße é".uppercaseString, @"STRAßE É");
    CHECK_NUMBER(@"42abc".intValue, 42);
    CHECK_NUMBER(@"-2.5e2".doubleValue, -250);
    CHECK(@"YES".boolValue && @"1".boolValue && !@"no".boolValue && !@"0".boolValue);
    CHECK_RAISES([s stringByAppendingString:(id)nil], NSInvalidArgumentException);
}

static void editing(void) {
    NSMutableString *m = [NSMutableString string];
    [m appendString:@"hello"];
    [m insertString:@"é" atIndex:0];
    [m replaceCharactersInRange:NSMakeRange(1, 2) withString:@"HE"];
    CHECK_STRING(m, @"éHEllo");
    [m deleteCharactersInRange:NSMakeRange(0, 1)];
    CHECK_NUMBER([m replaceOccurrencesOfString:@"l"
                                    withString:@"LL"
                                       options:0
                                         range:NSMakeRange(0, m.length)],
                 2);
    CHECK_STRING(m, @"HELLLLo");
    NSString *copy = [m copy];
    [m setString:@"x"];
    CHECK_STRING(copy, @"HELLLLo");
    CHECK(![copy isKindOfClass:[NSMutableString class]]);
    CHECK_RAISES([m deleteCharactersInRange:NSMakeRange(0, 2)], NSRangeException);
}

static void scanning(void) {
    NSScanner *s = [NSScanner scannerWithString:@"  size = 12 x -3.5e1, 0xff rest"];
    NSString *word = nil;
    int n = 0;
    double d = 0;
    unsigned hex = 0;
    CHECK([s scanUpToString:@"=" intoString:&word]);
    CHECK_STRING(word, @"size ");
    CHECK(![s scanInt:&n] && [s scanString:@"=" intoString:NULL] && [s scanInt:&n] && n == 12);
    CHECK([s scanString:@"X" intoString:NULL] && [s scanDouble:&d] && d == -35);
    CHECK([s scanString:@"," intoString:NULL] && [s scanHexInt:&hex] && hex == 255);
    CHECK([s scanCharactersFromSet:NSCharacterSet.letterCharacterSet intoString:&word] && s.atEnd);
    CHECK_STRING(word, @"rest");
    CHECK_RAISES([s setScanLocation:1000], NSRangeException);
}

static void paths(void) {
    CHECK_STRING(@"/a/b/c.txt".lastPathComponent, @"c.txt");
    CHECK_STRING(@"/a/b/".lastPathComponent, @"b");
    CHECK_STRING(@"/a/b/c.txt".pathExtension, @"txt");
    CHECK_STRING(@"/a/.hidden".pathExtension, @"");
    CHECK_STRING(@"/a/b/c.txt".stringByDeletingLastPathComponent, @"/a/b");
    CHECK_STRING(@"/a".stringByDeletingLastPathComponent, @"/");
    CHECK_STRING(@"a".stringByDeletingLastPathComponent, @"");
    CHECK_STRING(@"/a/b.tar.gz".stringByDeletingPathExtension, @"/a/b.tar");
    CHECK_STRING([@"/a/" stringByAppendingPathComponent:@"/b"], @"/a/b");
    CHECK_STRING([@"" stringByAppendingPathComponent:@"b"], @"b");
    CHECK_STRING([@"/a/b" stringByAppendingPathExtension:@"c"], @"/a/b.c");
    CHECK_STRING(([NSString pathWithComponents:@[ @"/", @"a", @"b" ]]), @"/a/b");
    CHECK_STRING(@"/a/./b/../c".stringByStandardizingPath, @"/a/c");
}

// A string class of a program's own: length and characterAtIndex: are enough.
@interface Stars : NSString {
    NSUInteger n;
}
@end
@implementation Stars
- (instancetype)initWithCount:(NSUInteger)count {
    if ((self = [super init])) n = count;
    return self;
}
- (NSUInteger)length {
    return n;
}
- (unichar)characterAtIndex:(NSUInteger)i {
    (void)i;
    return '*';
}
@end

int main(void) {
    @autoreleasepool {
        making(), formats(), searching(), editing(), scanning(), paths();
        Stars *stars = [[Stars alloc] initWithCount:3];
        CHECK_STRING(stars, @"***");
        CHECK_STRING([stars stringByAppendingString:@"!"], @"***!");
        CHECK_STRING(([NSString stringWithFormat:@"<%@>", stars]), @"<***>");
    }
    return check_result();
}

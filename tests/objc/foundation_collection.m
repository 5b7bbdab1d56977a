// SPDX-License-Identifier: Apache-2.0
// Arrays, dictionaries, sets, numbers, values, data: literals, subscripts, enumeration; bad input; deaths.
#import <Foundation/Foundation.h>
#include "check.h"
#include "check_foundation.h"

static int deaths;
@interface Item : NSObject
@end
@implementation Item
COUNT_DEATHS
@end

static void arrays(void) {
    NSArray *a = @[ @1, @"two", @3.5 ];
    CHECK_NUMBER(a.count, 3);
    CHECK([a[1] isEqual:@"two"] && [a.firstObject isEqual:@1] && [a.lastObject isEqual:@3.5]);
    CHECK_RAISES(a[3], NSRangeException);
    CHECK_RAISES([NSMutableArray.array addObject:(id)nil], NSInvalidArgumentException);
    CHECK_RAISES([NSArray arrayWithObjects:(const id[]){nil} count:1], NSInvalidArgumentException);
    NSMutableArray *m = [a mutableCopy];
    [m addObject:@4], m[0] = @0, m[4] = @5;
    [m insertObject:@"x" atIndex:1];
    [m removeObjectAtIndex:2];
    CHECK_STRING([m componentsJoinedByString:@" "], @"0 x 3.5 4 5");
    [m removeObject:@"x"], [m removeLastObject];
    CHECK_NUMBER([m indexOfObject:@4], 2);
    CHECK_NUMBER([m indexOfObject:@9], NSNotFound);
    double sum = 0;
    for (NSNumber *n in m) sum += n.doubleValue;
    CHECK_NUMBER(sum, 7.5);
    CHECK_RAISES(({
                     for (id x in m) [m addObject:x];
                     0;
                 }),
                 NSGenericException);
    NSArray *sorted = [@[ @3, @1, @2 ] sortedArrayUsingSelector:@selector(compare:)];
    CHECK([sorted isEqual:(@[ @1, @2, @3 ])]);
    NSMutableArray *seen = [NSMutableArray array];
    for (id x in sorted.reverseObjectEnumerator) [seen addObject:x];
    CHECK([seen isEqual:(@[ @3, @2, @1 ])]);
    __block NSUInteger stopped = 0;
    [sorted enumerateObjectsUsingBlock:^(id x, NSUInteger i, BOOL *stop) {
      (void)x;
      stopped = i;
      *stop = i == 1;
    }];
    CHECK_NUMBER(stopped, 1);
    CHECK(([[NSArray arrayWithObjects:@"a", @"b", nil] isEqual:@[ @"a", @"b" ]]));
    CHECK([[a subarrayWithRange:NSMakeRange(1, 1)] isEqual:@[ @"two" ]]);
}

static void dictionaries(void) {
    NSDictionary *d = @{@"one" : @1, @"two" : @2, @3 : @"three"};
    CHECK([d[@"two"] isEqual:@2] && [d[@3] isEqual:@"three"] && d[@"none"] == nil);
    NSMutableDictionary *m = [NSMutableDictionary dictionary];
    for (int i = 0; i < 1000; i++) m[@(i)] = [NSString stringWithFormat:@"%d", i];
    CHECK_NUMBER(m.count, 1000);
    for (int i = 0; i < 1000; i += 2) [m removeObjectForKey:@(i)];
    for (int i = 0; i < 10; i++) m[[NSString stringWithFormat:@"k%d", i]] = @(i);
    CHECK_NUMBER(m.count, 510);
    CHECK([m[@777] isEqual:@"777"] && m[@776] == nil && [m[@"k7"] isEqual:@7]);
    m[@777] = nil;
    CHECK(m[@777] == nil);
    NSUInteger n = 0;
    for (id key in m) n += m[key] != nil;
    CHECK_NUMBER(n, 509);
    CHECK_RAISES([m setObject:(id)nil forKey:@"x"], NSInvalidArgumentException);
    NSMutableString *key = [NSMutableString stringWithString:@"key"];
    m[key] = @"v";
    [key appendString:@"!"];
    CHECK([m[@"key"] isEqual:@"v"]); // it was copied
    CHECK([[d mutableCopy] isEqual:d] && d.hash == [[d mutableCopy] hash]);
    CHECK_STRING((@{@"a" : @1}).description, @"{\n    a = 1;\n}");
    CHECK_STRING([[d.allKeys sortedArrayUsingComparator:^(id a, id b) {
                   return [[a description] compare:[b description]];
                 }] componentsJoinedByString:@","],
                 @"3,one,two");
}

static void sets(void) {
    NSMutableSet *s = [NSMutableSet setWithArray:@[ @1, @2, @2, @3 ]];
    CHECK_NUMBER(s.count, 3);
    CHECK([s containsObject:@2] && ![s containsObject:@4]);
    [s removeObject:@2], [s addObject:@9];
    [s unionSet:[NSSet setWithObjects:@9, @10, nil]];
    CHECK_NUMBER(s.count, 4);
    [s intersectSet:[NSSet setWithArray:@[ @9, @10, @11 ]]];
    CHECK([s isEqualToSet:[NSSet setWithArray:@[ @10, @9 ]]]);
    CHECK([s isSubsetOfSet:[NSSet setWithArray:@[ @10, @9, @8 ]]]);
}

static void ordered_sets(void) {
    NSMutableOrderedSet *s = [[NSOrderedSet orderedSetWithArray:@[ @3, @1, @3, @2 ]] mutableCopy];
    CHECK([s.array isEqual:(@[ @3, @1, @2 ])]);
    [s insertObject:@9 atIndex:0], [s addObject:@1], [s removeObject:@3];
    CHECK([s.array isEqual:(@[ @9, @1, @2 ])]);
    CHECK_NUMBER([s indexOfObject:@2], 2);
    CHECK_NUMBER([s indexOfObject:@3], NSNotFound);
    CHECK_RAISES([s objectAtIndex:3], NSRangeException);
    CHECK_RAISES([s addObject:(id)nil], NSInvalidArgumentException);
}

static void numbers(void) {
    CHECK([@1 isEqual:@1.0] && @(1).hash == @(1.0).hash && ![@1 isEqual:@2] && ![@1 isEqual:@"1"]);
    CHECK_STRING(@(0.1).stringValue, @"0.1");
    CHECK_STRING(@(0.1f).stringValue, @"0.1");
    CHECK_STRING(@(18446744073709551615ull).stringValue, @"18446744073709551615");
    CHECK_NUMBER([@(-1) compare:@(18446744073709551615ull)], NSOrderedAscending);
    CHECK_NUMBER(@(3.99).intValue, 3);
    CHECK_NUMBER(@(1e30).longLongValue, 9223372036854775807ll);
    CHECK((id) @YES == (id)[NSNumber numberWithBool:YES] && @YES.boolValue && !@NO.boolValue);
    CHECK_TEXT(@(1.5).objCType, "d");
    struct {
        int a;
        double b;
    } in = {3, 4.5}, out = {0};
    NSValue *v = [NSValue valueWithBytes:&in objCType:@encode(__typeof(in))];
    [v getValue:&out];
    CHECK(out.a == 3 && out.b == 4.5);
    CHECK_RAISES([v getValue:&out size:3], NSInvalidArgumentException);
    CHECK_NUMBER([NSValue valueWithRange:NSMakeRange(3, 4)].rangeValue.length, 4);
    CHECK_NUMBER([NSValue valueWithSize:NSMakeSize(3, 4)].sizeValue.height, 4);
    CHECK([NSValue valueWithPointer:&in].pointerValue == &in);
    CHECK([[NSValue valueWithPointer:&in] isEqual:[NSValue valueWithPointer:&in]]);
}

static void data(void) {
    NSMutableData *d = [NSMutableData dataWithBytes:"abc" length:3];
    [d appendBytes:"def" length:4];
    CHECK_TEXT(d.bytes, "abcdef");
    d.length = 10;
    CHECK_NUMBER(((const char *)d.bytes)[9], 0);
    CHECK([[d subdataWithRange:NSMakeRange(1, 2)] isEqual:[NSData dataWithBytes:"bc" length:2]]);
    CHECK_RAISES([d subdataWithRange:NSMakeRange(9, 2)], NSRangeException);
    NSError *error = nil;
    CHECK([NSData dataWithContentsOfFile:@"/no/such/file" options:0 error:&error] == nil);
    CHECK([error.domain isEqual:NSCocoaErrorDomain] && error.code == NSFileReadNoSuchFileError);
    __block int freed = 0;
    @autoreleasepool {
        NSData *lent = [[NSData alloc] initWithBytesNoCopy:(void *)"x"
                                                    length:1
                                               deallocator:^(void *b, NSUInteger n) {
                                                 (void)b;
                                                 freed = (int)n;
                                               }];
        CHECK_NUMBER(lent.length, 1);
#if !__has_feature(objc_arc)
        [lent release];
#endif
    }
    CHECK_NUMBER(freed, 1);
}

static void counted(void) {
    deaths = 0;
    @autoreleasepool {
        NSMutableArray *a = [NSMutableArray array];
        NSMutableDictionary *d = [NSMutableDictionary dictionary];
        NSMutableSet *s = [NSMutableSet set];
        for (int i = 0; i < 100; i++) {
            Item *item = [Item new];
            [a addObject:item], [s addObject:item], d[@(i % 10)] = item;
#if !__has_feature(objc_arc)
            [item release];
#endif
        }
        [a removeAllObjects], [s removeAllObjects];
#if !__has_feature(objc_arc)
        CHECK_NUMBER(deaths, 90);
#endif
    }
    CHECK_NUMBER(deaths, 100);
}

int main(void) {
    @autoreleasepool {
        arrays(), dictionaries(), sets(), ordered_sets(), numbers(), data();
    }
    counted();
    return check_result();
}

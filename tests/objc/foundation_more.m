// SPDX-License-Identifier: Apache-2.0
// Foundation beyond strings and collections: JSON, key paths, base 64, identifiers, caches,
// operations, dates.
#import <Foundation/Foundation.h>
#include "check.h"
#include "check_foundation.h"

static id parse(NSString *text) {
    NSError *error = nil;
    id value = [NSJSONSerialization JSONObjectWithData:[text dataUsingEncoding:NSUTF8StringEncoding]
                                               options:NSJSONReadingFragmentsAllowed
                                                 error:&error];
    CHECK((value == nil) == (error != nil));
    return value;
}
static NSString *written(id object, NSJSONWritingOptions options) {
    NSData *data = [NSJSONSerialization dataWithJSONObject:object options:options error:NULL];
    return [[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding];
}

static void json(void) {
    id v = parse(
        @" {\"a\": [1, -2.5e3, true, false, null, \"\\u00e9\\ud83d\\ude00\\n/\"], \"b\": {}} ");
    CHECK([v[@"a"] count] == 6 && [v[@"a"][0] longLongValue] == 1 &&
          [v[@"a"][1] doubleValue] == -2500);
    id yes = @YES, no = @NO;
    CHECK(v[@"a"][2] == yes && v[@"a"][3] == no && v[@"a"][4] == NSNull.null &&
          [v[@"b"] count] == 0);
    CHECK([v[@"a"][5] isEqualToString:@"é😀\n/"]);
    CHECK([parse(@"18446744073709551615") unsignedLongLongValue] == UINT64_MAX &&
          [parse(@"\"x\"") isEqual:@"x"]);
    for (NSString *wrong in @[
             @"",       @"{",    @"[1,]", @"[1 2]", @"{\"a\"}",    @"{a:1}",   @"01",
             @"1.",     @"-",    @"1e",   @"tru",   @"\"",         @"\"\\x\"", @"\"\\u12\"",
             @"\"\t\"", @"[1]]", @"nul",  @"1e999", @"{\"a\":1,}", @"\x01"
         ])
        CHECK(parse(wrong) == nil);
    NSMutableString *deep = [NSMutableString string];
    for (int i = 0; i < 100000; i++) [deep appendString:@"["];
    CHECK(parse(deep) == nil);
    NSError *error = nil;
    const char bad[] = {'"', (char)0xff, '"'};
    CHECK(![NSJSONSerialization JSONObjectWithData:[NSData dataWithBytes:bad length:3]
                                           options:4
                                             error:&error]);
    CHECK([error.domain isEqualToString:NSCocoaErrorDomain] &&
          [error.localizedDescription containsString:@"UTF-8"]);
    NSDictionary *d = @{@"b" : @[ @1, @0.1, @YES, NSNull.null ], @"a" : @"x\"/\x01é"};
    CHECK_TEXT(written(d, NSJSONWritingSortedKeys).UTF8String,
               "{\"a\":\"x\\\"\\/\\u0001é\",\"b\":[1,0.1,true,null]}");
    CHECK_TEXT(written(
                   @{@"k" : @[ @1 ]}, NSJSONWritingPrettyPrinted)
                   .UTF8String,
               "{\n  \"k\" : [\n    1\n  ]\n}");
    CHECK([parse(written(d, NSJSONWritingPrettyPrinted)) isEqual:d]);
    CHECK(![NSJSONSerialization isValidJSONObject:@[ @(NAN) ]] &&
          ![NSJSONSerialization isValidJSONObject:@"x"]);
    CHECK_RAISES(written(@{@1 : @2}, 0), NSInvalidArgumentException);
}

static void keys(void) {
    NSArray *words = @[ @"a", @"bcd", @"ef" ];
    CHECK([[words valueForKey:@"length"] isEqual:(@[ @1, @3, @2 ])]);
    CHECK([[words valueForKeyPath:@"@sum.length"] intValue] == 6 &&
          [[words valueForKeyPath:@"@max.length"] intValue] == 3);
    CHECK([[words valueForKeyPath:@"@avg.length"] doubleValue] == 2 &&
          [[words valueForKeyPath:@"@count"] intValue] == 3);
    NSMutableDictionary *inner = [NSMutableDictionary dictionary];
    NSDictionary *outer = @{@"in" : inner};
    [outer setValue:@5 forKeyPath:@"in.x"];
    CHECK([[outer valueForKeyPath:@"in.x"] isEqual:@5] && [inner[@"x"] isEqual:@5]);
    CHECK_RAISES([words valueForKeyPath:@"@mode.length"], NSInvalidArgumentException);
}

static void base64(void) {
    for (NSUInteger n = 0; n < 200; n++) {
        NSMutableData *data = [NSMutableData data];
        for (NSUInteger i = 0; i < n; i++) {
            unsigned char c = (unsigned char)(i * 37 + n);
            [data appendBytes:&c length:1];
        }
        NSString *text =
            [data base64EncodedStringWithOptions:NSDataBase64Encoding64CharacterLineLength];
        CHECK([[[NSData alloc] initWithBase64EncodedString:text options:1] isEqual:data]);
        CHECK(n < 60 || ![[NSData alloc] initWithBase64EncodedString:text
                                                             options:0]); // the ends of lines
    }
    NSData *man = [@"light w" dataUsingEncoding:NSUTF8StringEncoding];
    CHECK_TEXT([man base64EncodedStringWithOptions:0].UTF8String, "bGlnaHQgdw==");
    for (NSString *wrong in @[ @"b", @"bGln*", @"bG=n", @"====", @"bGlnaHQgdw=" ])
        CHECK(![[NSData alloc] initWithBase64EncodedString:wrong options:0]);
}

// What an operation waits for may be added while its queue looks whether it can run.
static void late_dependencies(void) {
    NSOperationQueue *queue = [NSOperationQueue new];
    NSMutableArray *order = [NSMutableArray array];
    NSBlockOperation *last = [NSBlockOperation blockOperationWithBlock:^{
      @synchronized(order) {
          [order addObject:@"last"];
      }
    }];
    for (int i = 0; i < 20; i++) {
        NSBlockOperation *o = [NSBlockOperation blockOperationWithBlock:^{
          @synchronized(order) {
              [order addObject:@"first"];
          }
        }];
        [last addDependency:o];
        if (i == 0) [queue addOperation:last]; // before most of what it waits for
        [queue addOperation:o];
    }
    [queue waitUntilAllOperationsAreFinished];
    CHECK(queue.operationCount == 0 && last.finished && [order containsObject:@"last"]);
}

static void operations(void) {
    for (int i = 0; i < 200; i++) @autoreleasepool {
            late_dependencies();
        }
    NSOperationQueue *queue = [NSOperationQueue new];
    __block int running = 0, most = 0;
    queue.maxConcurrentOperationCount = 1;
    NSObject *lock = [NSObject new];
    for (int i = 0; i < 50; i++)
        [queue addOperationWithBlock:^{
          @synchronized(lock) {
              running++;
              most = MAX(most, running);
          }
          @synchronized(lock) {
              running--;
          }
        }];
    [queue waitUntilAllOperationsAreFinished];
    CHECK_NUMBER(most, 1);
    queue.suspended = YES;
    __block bool ran = false;
    NSBlockOperation *never = [NSBlockOperation blockOperationWithBlock:^{
      ran = true;
    }];
    [queue addOperation:never];
    [queue cancelAllOperations];
    queue.suspended = NO;
    [never waitUntilFinished];
    CHECK(!ran && never.cancelled && never.finished);
    CHECK_RAISES([never start], NSInvalidArgumentException);
    __block bool told = false;
    id token = [NSNotificationCenter.defaultCenter addObserverForName:@"Q"
                                                               object:nil
                                                                queue:queue
                                                           usingBlock:^(NSNotification *n) {
                                                             told =
                                                                 !NSThread.isMainThread && n != nil;
                                                           }];
    [NSNotificationCenter.defaultCenter postNotificationName:@"Q" object:nil];
    [NSNotificationCenter.defaultCenter removeObserver:token];
    CHECK(told);
}

static void the_rest(void) {
    NSUUID *id1 = [NSUUID UUID], *id2 = [[NSUUID alloc] initWithUUIDString:id1.UUIDString];
    CHECK([id1 isEqual:id2] && id1.hash == id2.hash && ![id1 isEqual:[NSUUID UUID]] &&
          id1.UUIDString.length == 36);
    CHECK(![[NSUUID alloc] initWithUUIDString:@"68753A44-4D6F-1226-9C60-0050E4C00O67"]);
    CHECK(![[NSUUID alloc] initWithUUIDString:@"short"]);
    NSCache *cache = [NSCache new];
    cache.countLimit = 2;
    for (int i = 0; i < 3; i++) [cache setObject:@(i) forKey:@(i)];
    CHECK(![cache objectForKey:@0] && [[cache objectForKey:@2] isEqual:@2]);
    cache.totalCostLimit = 10;
    [cache setObject:@9 forKey:@9 cost:20]; // alone it stays
    CHECK(![cache objectForKey:@2] && [cache objectForKey:@9]);
    setenv("TZ", "UTC", 1), tzset();
    NSDateFormatter *f = [NSDateFormatter new];
    f.dateFormat = @"yyyy-MM-dd'T'HH:mm:ss.SSS EEE MMM d h a ''yy''";
    CHECK_TEXT([f stringFromDate:[NSDate dateWithTimeIntervalSince1970:1700000000.25]].UTF8String,
               "2023-11-14T22:13:20.250 Tue Nov 14 10 PM '23'");
    CHECK_NUMBER([@"héllo" lengthOfBytesUsingEncoding:NSUTF16StringEncoding], 10);
}

int main(void) {
    @autoreleasepool {
        json(), keys(), base64(), operations(), the_rest();
    }
    return check_result();
}

// SPDX-License-Identifier: Apache-2.0
// Objects of the system: addresses, files, the bundle, the process, dates, locks, threads, run loops, errors,
// exceptions, invocations, notifications.
#import <Foundation/Foundation.h>
#include "check.h"
#pragma clang diagnostic ignored "-Wmissing-selector-name" // the formatter's a:(int)b
#include "check_foundation.h"

static void urls(void) {
    NSURL *u = [NSURL fileURLWithPath:@"/tmp/a b/c.metal"];
    CHECK_STRING(u.absoluteString, @"file:///tmp/a%20b/c.metal");
    CHECK_STRING(u.path, @"/tmp/a b/c.metal");
    CHECK(u.fileURL && [u.pathExtension isEqual:@"metal"] &&
          [u.lastPathComponent isEqual:@"c.metal"]);
    CHECK_STRING(u.URLByDeletingLastPathComponent.path, @"/tmp/a b");
    CHECK_STRING([u.URLByDeletingPathExtension URLByAppendingPathExtension:@"air"].path,
                 @"/tmp/a b/c.air");
    NSURL *web = [NSURL URLWithString:@"https://user@host.org:80/a/b?x=1&y=2#part"];
    CHECK_STRING(web.scheme, @"https");
    CHECK_STRING(web.host, @"host.org");
    CHECK_STRING(web.path, @"/a/b");
    CHECK_STRING(web.query, @"x=1&y=2");
    CHECK_STRING(web.fragment, @"part");
    CHECK([NSURL URLWithString:@""] == nil && [NSURL URLWithString:@"a b"] == nil);
    CHECK(![u checkResourceIsReachableAndReturnError:NULL]);
    CHECK([[NSURL fileURLWithPath:@"/x"] isEqual:[NSURL URLWithString:@"file:///x"]]);
}

static void files(void) {
    NSError *missing = nil;
    CHECK(![[NSData alloc] initWithContentsOfURL:[NSURL fileURLWithPath:@"/no/such/file"]
                                         options:0
                                           error:&missing] &&
          missing);
    NSFileManager *fm = NSFileManager.defaultManager;
    NSString *folder = [NSTemporaryDirectory()
        stringByAppendingPathComponent:NSProcessInfo.processInfo.globallyUniqueString];
    NSString *deep = [folder stringByAppendingPathComponent:@"x/y"],
             *file = [deep stringByAppendingPathComponent:@"f.txt"];
    NSError *error = nil;
    CHECK(![fm createDirectoryAtPath:deep
              withIntermediateDirectories:NO
                               attributes:nil
                                    error:&error] &&
          error);
    CHECK([fm createDirectoryAtPath:deep
        withIntermediateDirectories:YES
                         attributes:nil
                              error:NULL]);
    CHECK([@"text é" writeToFile:file atomically:YES encoding:NSUTF8StringEncoding error:NULL]);
    CHECK_STRING([NSString stringWithContentsOfFile:file encoding:NSUTF8StringEncoding error:NULL],
                 @"text é");
    error = nil;
    const unsigned char no_text[] = {'t', 0xff, 0xfe, 'x'}; // in UTF-8
    NSString *other = [deep stringByAppendingPathComponent:@"other"];
    CHECK([[NSData dataWithBytes:no_text length:4] writeToFile:other atomically:YES]);
    CHECK([NSString stringWithContentsOfFile:other encoding:NSUTF8StringEncoding
                                       error:&error] == nil &&
          error.code == NSFileReadInapplicableStringEncodingError);
    CHECK([fm removeItemAtPath:other error:NULL]);
    BOOL is_folder = NO;
    CHECK([fm fileExistsAtPath:deep isDirectory:&is_folder] && is_folder);
    CHECK_NUMBER([[fm attributesOfItemAtPath:file error:NULL][NSFileSize] intValue], 7);
    CHECK([[fm contentsOfDirectoryAtPath:deep error:NULL] isEqual:@[ @"f.txt" ]]);
    CHECK([fm copyItemAtPath:deep toPath:[folder stringByAppendingPathComponent:@"z"] error:NULL]);
    CHECK(![fm moveItemAtPath:file toPath:[folder stringByAppendingPathComponent:@"z"] error:NULL]);
    CHECK([fm removeItemAtPath:folder error:NULL] && ![fm fileExistsAtPath:folder]);
    CHECK(![fm removeItemAtPath:folder error:&error]);
    CHECK(![fm isReadableFileAtPath:@"/no/such"] &&
          [fm destinationOfSymbolicLinkAtPath:@"/no/such" error:NULL] == nil);
}

static void process(void) {
    NSProcessInfo *p = NSProcessInfo.processInfo;
    CHECK(p.arguments.count == 1 && p.processIdentifier == getpid() && p.physicalMemory > 0 &&
          p.activeProcessorCount > 0);
    setenv("INGOT_TEST_SETTING", "17", 1);
    CHECK_STRING(p.environment[@"INGOT_TEST_SETTING"], @"17");
    CHECK_NUMBER([NSUserDefaults.standardUserDefaults integerForKey:@"INGOT_TEST_SETTING"], 17);
    [NSUserDefaults.standardUserDefaults registerDefaults:@{@"ingot_default" : @YES}];
    CHECK([NSUserDefaults.standardUserDefaults boolForKey:@"ingot_default"]);
    CHECK([p isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion){15, 0, 0}] &&
          ![p isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion){99, 0, 0}]);
    NSBundle *b = NSBundle.mainBundle;
    CHECK([b.executablePath.lastPathComponent isEqual:p.processName] &&
          [NSBundle bundleForClass:[NSObject class]] != nil);
    CHECK_STRING([b pathForResource:b.executablePath.lastPathComponent ofType:nil],
                 b.executablePath);
    CHECK([b pathForResource:@"none" ofType:@"metallib"] == nil &&
          [NSBundle bundleWithPath:@"/no/such"] == nil);
    CHECK(fabs([NSDate dateWithTimeIntervalSinceNow:5].timeIntervalSinceNow - 5) < 1);
    CHECK_STRING([NSDate dateWithTimeIntervalSince1970:86400].description,
                 @"1970-01-02 00:00:00 +0000");
    CHECK_STRING(NSStringFromClass(NSClassFromString(@"NSString")), @"NSString");
    CHECK_STRING(NSStringFromSelector(@selector(a:b:)), @"a:b:");
    CHECK(NSClassFromString(@"NoClass") == Nil);
}

static void locks(void) {
    NSLock *lock = [NSLock new];
    [lock lock];
    CHECK(![lock tryLock] && ![lock lockBeforeDate:[NSDate dateWithTimeIntervalSinceNow:0.01]]);
    [lock unlock];
    NSRecursiveLock *again = [NSRecursiveLock new];
    [again lock];
    CHECK([again tryLock]);
    [again unlock], [again unlock];
    NSConditionLock *stage = [[NSConditionLock alloc] initWithCondition:1];
    __block int value = 0;
    [NSThread detachNewThreadWithBlock:^{
      [stage lockWhenCondition:2];
      value = 42;
      CHECK(!NSThread.isMainThread);
      [stage unlockWithCondition:3];
    }];
    [stage lockWhenCondition:1];
    [stage unlockWithCondition:2];
    [stage lockWhenCondition:3];
    CHECK_NUMBER(value, 42);
    [stage unlock];
    CHECK(NSThread.isMainThread && NSThread.currentThread == NSThread.mainThread);
}

static void loops(void) {
    __block int ticks = 0, blocks = 0;
    [NSTimer scheduledTimerWithTimeInterval:0.005
                                    repeats:YES
                                      block:^(NSTimer *t) {
                                        if (++ticks == 3) [t invalidate];
                                      }];
    dispatch_async(dispatch_get_main_queue(), ^{
      blocks++;
    });
    dispatch_async(dispatch_get_global_queue(0, 0), ^{
      dispatch_async(dispatch_get_main_queue(), ^{
        blocks++;
      });
    });
    NSDate *limit = [NSDate dateWithTimeIntervalSinceNow:20];
    while ((ticks < 3 || blocks < 2) && limit.timeIntervalSinceNow > 0)
        [NSRunLoop.currentRunLoop runMode:NSDefaultRunLoopMode beforeDate:limit];
    CHECK_NUMBER(ticks, 3);
    CHECK_NUMBER(blocks, 2);
}

@interface Proxy : NSObject {
  @public
    id target;
    int forwarded;
}
@end
@interface Target : NSObject
@end
typedef struct {
    double a, b, c;
} Big;
@implementation Target
- (double)add:(double)a to:(int)b and:(float)c {
    return a + b + c;
}
- (Big)big:(NSSize)size {
    return (Big){size.width, size.height, 3};
}
- (NSSize)half:(NSSize)size {
    return NSMakeSize(size.width / 2, size.height / 2);
}
- (NSString *)join:(NSString *)
                 a:(NSString *)b
                  :(NSString *)c
                  :(NSString *)d
                  :(NSString *)e
                  :(NSString *)f {
    return [NSString stringWithFormat:@"%@%@%@%@%@%@", a, b, c, d, e, f];
}
@end
@implementation Proxy
- (NSMethodSignature *)methodSignatureForSelector:(SEL)s {
    return [super methodSignatureForSelector:s] ?: [target methodSignatureForSelector:s];
}
- (void)forwardInvocation:(NSInvocation *)v {
    forwarded++;
    [v invokeWithTarget:target];
}
@end
static void messages(void) {
    Target *target = [Target new];
    Proxy *proxy = [Proxy new];
    proxy->target = target;
    CHECK_NUMBER([(Target *)(id)proxy add:1.5 to:2 and:3], 6.5);
    CHECK_NUMBER([(Target *)(id)proxy big:NSMakeSize(7, 8)].b, 8);
    CHECK_NUMBER([(Target *)(id)proxy half:NSMakeSize(7, 8)].width, 3.5);
    CHECK_STRING(([(Target *)(id)proxy join:@"a":@"b":@"c":@"d":@"e":@"f"]), @"abcdef");
    CHECK_NUMBER(proxy->forwarded, 4);
    CHECK_RAISES([(id)proxy performSelector:@selector(nothing)], NSInvalidArgumentException);
    @try {
        [(id)target performSelector:@selector(nothing:) withObject:nil];
    } @catch (NSException *e) {
        CHECK_STRING(
            e.reason,
            ([NSString
                stringWithFormat:@"-[Target nothing:]: unrecognized selector sent to instance %p",
                                 (void *)target]));
    }
    NSInvocation *v = [NSInvocation
        invocationWithMethodSignature:[target methodSignatureForSelector:@selector(add:to:and:)]];
    double a = 10, result = 0;
    int b = 20;
    float c = 30;
    v.selector = @selector(add:to:and:);
    [v setArgument:&a atIndex:2], [v setArgument:&b atIndex:3], [v setArgument:&c atIndex:4];
    [v invokeWithTarget:target];
    [v getReturnValue:&result];
    CHECK_NUMBER(result, 60);
    CHECK_RAISES([v setArgument:&a atIndex:5], NSRangeException);
    CHECK([[target valueForKey:@"description"] hasPrefix:@"<Target: 0x"]);
    CHECK_RAISES([target valueForKey:@"nokey"], NSUndefinedKeyException);
}

static int asserted(void) {
    NSCAssert(getpid() == -2, @"never %d", 1);
    return 0;
}
static void errors(void) {
    NSError *e = [NSError errorWithDomain:@"D"
                                     code:5
                                 userInfo:@{NSLocalizedDescriptionKey : @"what"}];
    CHECK_STRING(e.localizedDescription, @"what");
    CHECK([[NSError errorWithDomain:@"D" code:5
                           userInfo:nil].localizedDescription containsString:@"(D error 5.)"]);
    CHECK_RAISES(asserted(), NSInternalInconsistencyException);
    CHECK_RAISES([NSException raise:NSRangeException format:@"1"], NSRangeException);
    __block int seen = 0;
    id token = [NSNotificationCenter.defaultCenter addObserverForName:@"N"
                                                               object:nil
                                                                queue:nil
                                                           usingBlock:^(NSNotification *n) {
                                                             seen += [n.userInfo[@"x"] intValue];
                                                           }];
    [NSNotificationCenter.defaultCenter postNotificationName:@"N" object:nil userInfo:@{@"x" : @3}];
    [NSNotificationCenter.defaultCenter postNotificationName:@"Other" object:nil];
    [NSNotificationCenter.defaultCenter removeObserver:token];
    [NSNotificationCenter.defaultCenter postNotificationName:@"N" object:nil userInfo:@{@"x" : @3}];
    CHECK_NUMBER(seen, 3);
    NSMutableIndexSet *set = [NSMutableIndexSet indexSetWithIndexesInRange:NSMakeRange(3, 3)];
    [set addIndex:1], [set removeIndex:4];
    CHECK(set.count == 3 && set.firstIndex == 1 && [set indexGreaterThanIndex:3] == 5 &&
          ![set containsIndex:4]);
    CFStringRef s = CFStringCreateWithCString(NULL, "cf", kCFStringEncodingUTF8);
    CHECK(CFStringGetLength(s) == 2 && CFEqual(s, CFSTR("cf")) &&
          CFStringCompare(s, CFSTR("cg"), 0) == kCFCompareLessThan);
    CFRelease(s);
}

int main(void) {
    @autoreleasepool {
        urls(), files(), process(), locks(), loops(), messages(), errors();
    }
    return check_result();
}

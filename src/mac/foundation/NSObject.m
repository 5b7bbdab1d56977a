// SPDX-License-Identifier: Apache-2.0
// NSObject.m: what Foundation adds to the root class, and functions that name classes and selectors.
#include "mac/foundation/foundation_int.h"
#import <objc/objc-exception.h>
#import <objc/objc-ingot.h>
#include "mac/objc/invoke.h"
#include <pthread.h>

@implementation NSObject (Foundation)
+ (NSString *)description {
    return NSStringFromClass(self);
}
+ (NSString *)debugDescription {
    return NSStringFromClass(self);
}
- (NSString *)description {
    return [NSString stringWithFormat:@"<%s: %p>", object_getClassName(self), (void *)self];
}
- (NSString *)debugDescription {
    return [self description];
}
+ (NSInteger)version {
    return class_getVersion(self);
}
+ (void)setVersion:(NSInteger)version {
    class_setVersion(self, (int)version);
}
- (void)doesNotRecognizeSelector:(SEL)selector {
    bool meta = object_isClass(self);
    [NSException raise:NSInvalidArgumentException
                format:@"%c[%s %s]: unrecognized selector sent to %s %p", meta ? '+' : '-',
                       meta ? class_getName((Class)self) : object_getClassName(self),
                       sel_getName(selector), meta ? "class" : "instance", (void *)self];
}
- (void)performSelector:(SEL)selector withObject:(id)argument afterDelay:(NSTimeInterval)delay {
    dispatch_after(dispatch_time(DISPATCH_TIME_NOW, (int64_t)(delay * 1e9)),
                   dispatch_get_main_queue(), ^{
                     [self performSelector:selector withObject:argument];
                   });
}
- (void)performSelectorOnMainThread:(SEL)selector withObject:(id)argument waitUntilDone:(BOOL)wait {
    if (wait && NSThread.isMainThread)
        [self performSelector:selector withObject:argument];
    else if (wait)
        dispatch_sync(dispatch_get_main_queue(), ^{
          [self performSelector:selector withObject:argument];
        });
    else
        dispatch_async(dispatch_get_main_queue(), ^{
          [self performSelector:selector withObject:argument];
        });
}
- (void)performSelectorInBackground:(SEL)selector withObject:(id)argument {
    [NSThread detachNewThreadSelector:selector toTarget:self withObject:argument];
}

// Keys are methods: name, or setName:. Numbers are wrapped as their type says.
#define NUMBERS(X)                                                                                 \
    X('c', char, Char, char)                                                                       \
    X('C', unsigned char, UnsignedChar, unsignedChar)                                              \
    X('B', bool, Bool, bool)                                                                       \
    X('s', short, Short, short)                                                                    \
    X('S', unsigned short, UnsignedShort, unsignedShort)                                           \
    X('i', int, Int, int)                                                                          \
    X('I', unsigned, UnsignedInt, unsignedInt)                                                     \
    X('q', long long, LongLong, longLong)                                                          \
    X('Q', unsigned long long, UnsignedLongLong, unsignedLongLong)                                 \
    X('f', float, Float, float)                                                                    \
    X('d', double, Double, double)
static id wrapped(id self, SEL selector, const char *type) {
    IMP imp = [self methodForSelector:selector];
    switch (*objc_type_unqualified(type)) {
#define X(letter, ctype, Name, name)                                                               \
    case letter: return [NSNumber numberWith##Name:((ctype (*)(id, SEL))imp)(self, selector)];
        NUMBERS(X)
#undef X
    default: return ((id (*)(id, SEL))imp)(self, selector);
    }
}
static Method keyed_method(id self, SEL selector, const char *call, NSString *key) {
    Method method = class_getInstanceMethod(object_getClass(self), selector);
    if (!method)
        [NSException raise:NSUndefinedKeyException
                    format:@"[<%s %p> %s:]: this class is not key value "
                           @"coding-compliant for the key %@.",
                           object_getClassName(self), (void *)self, call, key];
    return method;
}
- (id)valueForKey:(NSString *)key {
    SEL selector = NSSelectorFromString(key);
    Method method = keyed_method(self, selector, "valueForUndefinedKey", key);
    return wrapped(self, selector, method_getTypeEncoding(method));
}
- (void)setValue:(id)value forKey:(NSString *)key {
    NSString *name =
        key.length
            ? [NSString stringWithFormat:@"set%@%@:", [key substringToIndex:1].uppercaseString,
                                         [key substringFromIndex:1]]
            : @"";
    SEL selector = NSSelectorFromString(name);
    Method method = keyed_method(self, selector, "setValue:forUndefinedKey", key);
    char *type = method_copyArgumentType(method, 2);
    IMP imp = method_getImplementation(method);
    switch (type ? *type : '@') {
#define X(letter, ctype, Name, name)                                                               \
    case letter: ((void (*)(id, SEL, ctype))imp)(self, selector, [value name##Value]); break;
        NUMBERS(X)
#undef X
    default: ((void (*)(id, SEL, id))imp)(self, selector, value);
    }
    free(type);
}
@end

id NSAllocateObject(Class cls, NSUInteger extra_bytes, NSZone *zone) {
    (void)zone;
    return class_createInstance(cls, extra_bytes);
}
void NSDeallocateObject(id object) { object_dispose(object); }
CFTypeRef CFBridgingRetain(id object) { return [object retain]; }
id CFBridgingRelease(CFTypeRef object) { return [(id)object autorelease]; }

NSString *NSStringFromSelector(SEL selector) {
    return selector ? [NSString stringWithUTF8String:sel_getName(selector)] : nil;
}
SEL NSSelectorFromString(NSString *name) { return name ? sel_registerName(name.UTF8String) : NULL; }
NSString *NSStringFromClass(Class cls) {
    return cls ? [NSString stringWithUTF8String:class_getName(cls)] : nil;
}
Class NSClassFromString(NSString *name) { return name ? objc_lookUpClass(name.UTF8String) : Nil; }
NSString *NSStringFromProtocol(Protocol *protocol) {
    return [NSString stringWithUTF8String:protocol_getName(protocol)];
}
Protocol *NSProtocolFromString(NSString *name) { return objc_getProtocol(name.UTF8String); }
const char *NSGetSizeAndAlignment(const char *type, NSUInteger *size, NSUInteger *alignment) {
    size_t align, n = objc_type_size(type, &align);
    if (size) *size = n;
    if (alignment) *alignment = align;
    return objc_type_skip(type);
}

NSRange NSUnionRange(NSRange a, NSRange b) {
    NSUInteger start = MIN(a.location, b.location);
    return NSMakeRange(start, MAX(NSMaxRange(a), NSMaxRange(b)) - start);
}
NSRange NSIntersectionRange(NSRange a, NSRange b) {
    NSUInteger start = MAX(a.location, b.location), stop = MIN(NSMaxRange(a), NSMaxRange(b));
    return start < stop ? NSMakeRange(start, stop - start) : NSMakeRange(0, 0);
}
NSString *NSStringFromRange(NSRange r) {
    return [NSString stringWithFormat:@"{%lu, %lu}", r.location, r.length];
}

void NSLogv(NSString *format, va_list arguments) {
    @autoreleasepool {
        NSString *text = AUTORELEASED([[NSString alloc] initWithFormat:format arguments:arguments]);
        struct timespec now;
        struct tm local;
        char stamp[64];
        clock_gettime(CLOCK_REALTIME, &now);
        localtime_r(&now.tv_sec, &local);
        strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
        fprintf(stderr, "%s.%03ld %s[%d:%lx] %s\n", stamp, now.tv_nsec / 1000000,
                NSProcessInfo.processInfo.processName.UTF8String, getpid(),
                (unsigned long)pthread_self() & 0xffffff, text.UTF8String);
    }
}
void NSLog(NSString *format, ...) {
    va_list list;
    va_start(list, format);
    NSLogv(format, list);
    va_end(list);
}

@implementation NSNull
ONE_OBJECT(NSNull, null)
COPIES_ITSELF
- (NSString *)description {
    return @"<null>";
}
@end

@implementation NSAutoreleasePool {
    void *_pool;
}
OBJC_EXPORT size_t objc_ingot_pool_count(void);
- (instancetype)init {
    if ((self = [super init])) _pool = objc_autoreleasePoolPush();
    return self;
}
+ (void)addObject:(id)object {
    [object autorelease];
}
+ (void)showPools {
    fprintf(stderr, "%zu objects in the pools of this thread\n", objc_ingot_pool_count());
}
- (void)addObject:(id)object {
    [object autorelease];
}
- (void)drain {
    [self release];
}
- (instancetype)retain {
    [NSException raise:NSInvalidArgumentException
                format:@"*** -[NSAutoreleasePool retain]: Cannot retain an autorelease pool"];
    return nil;
}
- (instancetype)autorelease {
    [NSException
         raise:NSInvalidArgumentException
        format:@"*** -[NSAutoreleasePool autorelease]: Cannot autorelease an autorelease pool"];
    return nil;
}
- (void)dealloc {
    objc_autoreleasePoolPop(_pool);
    [super dealloc];
}
@end
